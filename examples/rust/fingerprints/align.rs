//! Lays one print over another: which turn and shift brings most minutiae together?
//!
//! Every minutia of one print and every one of the other suggest a turn, by the difference of their directions, and with it a
//! shift. Suggestions that fall into one window are counted (a generalised Hough transform; Ballard 1981), and the windows
//! with the most are tried. Skin stretches, and nothing here does.

use super::prints::Minutia;

/// Prints are turned by no more than this.
const MOST_TURN: f64 = 60.0;
/// Windows overlap by half: they begin every so many degrees and pixels and are twice as wide.
const TURN_STEP: f64 = 12.0;
const SHIFT_STEP: f64 = 20.0;
/// Windows that are tried.
const TRIED: usize = 3;
/// How far apart two minutiae of the same place may lie in the end, in pixels and in degrees.
const APART: f64 = 15.0;
const TURNED: f64 = 30.0;

/// A turn about the origin and then a shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Motion {
    degrees: f64,
    x: f64,
    y: f64,
}

impl Motion {
    /// A turn by so many degrees.
    pub(crate) fn turn(degrees: f64) -> Self {
        Self { degrees, x: 0.0, y: 0.0 }
    }

    /// The turn about the origin that is followed by the shift that brings `from` to `to`.
    fn between(from: &Minutia, to: &Minutia, degrees: f64) -> Self {
        let turned = Self::turn(degrees).of(from);
        Self { degrees, x: to.x - turned.x, y: to.y - turned.y }
    }

    /// Where it brings a minutia.
    pub(crate) fn of(&self, minutia: &Minutia) -> Minutia {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let Minutia { x, y, degrees } = *minutia;
        // Counter-clockwise for the eye, as y points down.
        let (x, y) = (cos * x + sin * y + self.x, cos * y - sin * x + self.y);
        Minutia { x, y, degrees: degrees + self.degrees }
    }
}

/// How well a print fits on another: m² / (a·b) for m minutiae that come together of a and b, at the best motion found; and that
/// motion. None where there is no minutia, or all directions are too different.
pub(crate) fn align(a: &[Minutia], b: &[Minutia]) -> Option<(f64, Motion)> {
    let tried = windows(a, b).into_iter().map(|motion| {
        let moved: Vec<Minutia> = a.iter().map(|minutia| motion.of(minutia)).collect();
        let together = together(&moved, b) as f64;
        (together * together / (a.len() * b.len()) as f64, motion)
    });
    tried.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// The motions that most pairs of minutiae suggest.
fn windows(a: &[Minutia], b: &[Minutia]) -> Vec<Motion> {
    let pairs = || a.iter().flat_map(|from| b.iter().map(move |to| (from, to)));
    let suggested = || {
        let turns = pairs().map(|(from, to)| (from, to, difference(to.degrees, from.degrees)));
        turns.filter(|(_, _, turn)| turn.abs() <= MOST_TURN)
    };
    let mut votes: Vec<([i32; 3], usize)> = Vec::new();
    for (place, (from, to, turn)) in suggested().enumerate() {
        let motion = Motion::between(from, to, turn);
        let steps = [turn / TURN_STEP, motion.x / SHIFT_STEP, motion.y / SHIFT_STEP];
        let [turn, x, y] = steps.map(|step| step.floor() as i32);
        for window in 0..8 {
            votes.push(([turn - (window & 1), x - (window >> 1 & 1), y - (window >> 2)], place));
        }
    }
    votes.sort_unstable();
    let mut windows: Vec<&[([i32; 3], usize)]> = votes.chunk_by(|a, b| a.0 == b.0).collect();
    windows.sort_by_key(|votes| std::cmp::Reverse(votes.len()));
    let suggested: Vec<_> = suggested().collect();
    let mean = |votes: &[([i32; 3], usize)]| {
        let share = 1.0 / votes.len() as f64;
        let voters = || votes.iter().map(|(_, place)| suggested[*place]);
        let degrees = voters().map(|(_, _, turn)| turn).sum::<f64>() * share;
        // All with the mean turn: far from the origin, a degree shifts by many pixels.
        let shifts = voters().map(|(from, to, _)| Motion::between(from, to, degrees));
        let (x, y) = shifts.fold((0.0, 0.0), |(x, y), shift| (x + shift.x, y + shift.y));
        Motion { degrees, x: x * share, y: y * share }
    };
    windows.into_iter().take(TRIED).map(mean).collect()
}

/// How many minutiae of two prints can be put together, the closest first, each once.
fn together(a: &[Minutia], b: &[Minutia]) -> usize {
    let mut close = Vec::new();
    for (i, one) in a.iter().enumerate() {
        for (j, other) in b.iter().enumerate() {
            let apart = (one.x - other.x).hypot(one.y - other.y);
            if apart <= APART && difference(one.degrees, other.degrees).abs() <= TURNED {
                close.push((apart, i, j));
            }
        }
    }
    close.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut free_a, mut free_b) = (vec![true; a.len()], vec![true; b.len()]);
    let mut pairs = 0;
    for (_, i, j) in close {
        if free_a[i] && free_b[j] {
            (free_a[i], free_b[j]) = (false, false);
            pairs += 1;
        }
    }
    pairs
}

/// The difference of two directions, from −180 up to 180 degrees.
fn difference(a: f64, b: f64) -> f64 {
    (a - b + 180.0).rem_euclid(360.0) - 180.0
}
