//! From minutiae to sets of grid squares, in a frame of the print itself: where is the middle, and which way is up?
//!
//! One frame a print goes by all its minutiae, and a print of half the finger has another middle. A frame at each minutia goes by
//! where that lies and where its ridge leads, and holds what lies near, so that it stays the same in whatever part of the
//! finger is seen; a print has then as many sets as minutiae (geometric hashing; Wolfson and Rigoutsos 1997).

use nearkin_engine::Result;
use nearkin_engine::shingle::Grid;

use super::align::Motion;
use super::prints::{Minutia, Print};

/// The side of a square, in pixels, and how close to a border minutiae are put on both sides.
const SIDE: f64 = 20.0;
const MARGIN: f64 = 5.0;
/// The squares in each direction from a minutia that are held by its frame.
const NEAR: u32 = 6;
/// Fewer minutiae near make no frame: too many others would look like it.
const LEAST: usize = 4;

/// Squares with the origin in their middle.
pub(crate) struct Centred {
    grid: Grid,
    middle: (f64, f64),
}

impl Centred {
    pub(crate) fn new(columns: u32, rows: u32) -> Result<Self> {
        let middle = (f64::from(columns) * SIDE / 2.0, f64::from(rows) * SIDE / 2.0);
        Ok(Self { grid: Grid::new(columns, rows, SIDE)?.with_margin(MARGIN)?, middle })
    }

    /// Those that the frame of a minutia has.
    pub(crate) fn near() -> Result<Self> {
        Self::new(2 * NEAR, 2 * NEAR)
    }

    /// Number of squares.
    pub(crate) fn squares(&self) -> u64 {
        self.grid.squares()
    }

    /// The squares of some minutiae.
    pub(crate) fn set<'a>(
        &self,
        minutiae: impl IntoIterator<Item = &'a Minutia>,
    ) -> Result<Vec<u64>> {
        let (x, y) = self.middle;
        self.grid.set(minutiae.into_iter().map(|minutia| (minutia.x + x, minutia.y + y)))
    }
}

/// The minutiae of a print with their mean as the origin, turned by the direction most ridges have.
pub(crate) fn own_frame(print: &Print) -> Vec<Minutia> {
    let minutiae = &print.minutiae;
    let share = 1.0 / minutiae.len() as f64;
    let mean = |of: &dyn Fn(&Minutia) -> f64| minutiae.iter().map(of).sum::<f64>() * share;
    let (x, y) = (mean(&|minutia| minutia.x), mean(&|minutia| minutia.y));
    // A ridge leads both ways: the mean of doubled angles.
    let doubled = |minutia: &Minutia| (2.0 * minutia.degrees).to_radians();
    let (sin, cos) =
        (mean(&|minutia| doubled(minutia).sin()), mean(&|minutia| doubled(minutia).cos()));
    let turn = Motion::turn(-sin.atan2(cos).to_degrees() / 2.0);
    let centred = |minutia: &Minutia| Minutia { x: minutia.x - x, y: minutia.y - y, ..*minutia };
    minutiae.iter().map(|minutia| turn.of(&centred(minutia))).collect()
}

/// The squares near each minutia of a print, with the minutia as the origin and its ridge leading to the right.
pub(crate) fn near_each(print: &Print, squares: &Centred) -> Result<Vec<Vec<u64>>> {
    let reach = f64::from(NEAR) * SIDE;
    let mut sets = Vec::new();
    for (place, own) in print.minutiae.iter().enumerate() {
        let turn = Motion::turn(-own.degrees);
        let others = print.minutiae.iter().enumerate().filter(|(other, _)| *other != place);
        let seen =
            others.map(|(_, other)| Minutia { x: other.x - own.x, y: other.y - own.y, ..*other });
        let near: Vec<Minutia> = seen
            .filter(|other| other.x.hypot(other.y) <= reach)
            .map(|other| turn.of(&other))
            .collect();
        if near.len() >= LEAST {
            sets.push(squares.set(&near)?);
        }
    }
    Ok(sets)
}
