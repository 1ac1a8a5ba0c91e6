//! Whose print is this? Every print of a file is looked for among the others, in several ways.

use nearkin_engine::amplify::Expression;
use nearkin_engine::candidates::cascade::Cascade;
use nearkin_engine::family::Squares;
use nearkin_engine::item::Sets;
use nearkin_engine::measure::jaccard;
use nearkin_engine::{Error, Result};
use rayon::prelude::*;

use super::align::align;
use super::frames::{Centred, near_each, own_frame};
use super::generated::EACH;
use super::prints::{Minutia, Print};

/// Squares of the frame that a print has of its own: 400 by 500 pixels.
const COLUMNS: u32 = 20;
const ROWS: u32 = 25;
/// Frames at minutiae that speak for a print.
const VOICES: usize = 5;
/// Prints that are laid over the one that is looked for.
pub(crate) const ALIGNED: usize = 8;
/// Pairs of two fingers that may be accepted.
pub(crate) const FALSELY: f64 = 0.01;

/// How alike every two prints are in some way; 0 where they were not compared.
struct Scores {
    prints: usize,
    values: Vec<f64>,
    /// The share of all comparisons that was made.
    compared: f64,
}

impl Scores {
    fn of(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.prints + b]
    }

    /// The prints of a base that are most like one, closest first; those that are not at all like it are left out.
    fn closest(&self, print: usize, base: &[usize]) -> Vec<usize> {
        let mut met: Vec<usize> =
            base.iter().copied().filter(|&other| self.of(print, other) > 0.0).collect();
        met.sort_by(|&a, &b| self.of(print, b).total_cmp(&self.of(print, a)));
        met
    }
}

/// How well a way of looking for prints does.
pub(crate) struct Way {
    /// The share of all comparisons that it makes.
    pub(crate) compared: f64,
    /// The share of pairs of one finger that are compared at all.
    pub(crate) met: f64,
    /// How many prints have one of the same finger as the one most like them.
    pub(crate) rank_one: usize,
    /// The share of pairs of one finger in which the other print is found first when it is the finger's only one in the base.
    pub(crate) one_mate: f64,
}

impl Way {
    /// `ranked` gives the prints of a base that a print meets, the one most like it first.
    fn new(
        prints: &[Print],
        compared: f64,
        ranked: impl Fn(usize, &[usize]) -> Vec<usize>,
    ) -> Self {
        let (mut rank_one, mut first, mut met, mut pairs) = (0, 0, 0, 0usize);
        for print in 0..prints.len() {
            let others = (0..prints.len()).filter(|&other| other != print);
            let (mates, strangers): (Vec<usize>, Vec<usize>) =
                others.partition(|&other| same(prints, print, other));
            let best = ranked(print, &[&mates[..], &strangers].concat());
            rank_one += usize::from(best.first().is_some_and(|best| mates.contains(best)));
            for mate in mates {
                // Behind the others, so that a draw is lost.
                let found = ranked(print, &[&strangers[..], &[mate]].concat());
                first += usize::from(found.first() == Some(&mate));
                met += usize::from(found.contains(&mate));
                pairs += 1;
            }
        }
        let share = |count: usize| count as f64 / pairs as f64;
        Self { compared, met: share(met), rank_one, one_mate: share(first) }
    }

    fn by(prints: &[Print], scores: &Scores) -> Self {
        Self::new(prints, scores.compared, |print, base| scores.closest(print, base))
    }

    /// The prints that one way puts first, in the order of another.
    fn shortlisted(prints: &[Print], first: &Scores, then: &Scores) -> Self {
        let list = |print, base: &[usize]| {
            let mut list = first.closest(print, base);
            list.truncate(ALIGNED);
            then.closest(print, &list)
        };
        let compared = ALIGNED.min(prints.len() - 1) as f64 / (prints.len() - 1) as f64;
        Self::new(prints, compared, list)
    }
}

fn same(prints: &[Print], a: usize, b: usize) -> bool {
    prints[a].finger == prints[b].finger
}

/// Everything that is measured.
pub(crate) struct Report {
    pub(crate) prints: usize,
    pub(crate) fingers: usize,
    /// What guessing gives: rank one, and with one mate.
    pub(crate) chance: (f64, f64),
    /// One frame a print; all compared, and those that functions of three squares let meet.
    pub(crate) own: [Way; 2],
    /// A frame at each minutia, in the same two ways.
    pub(crate) near: [Way; 2],
    /// The best of the latter, laid over the print.
    pub(crate) short: Way,
    /// Every print laid over every other.
    pub(crate) aligned: Way,
    pub(crate) accepted: Accepted,
    /// Squares of a print's own frame, by share of the grid.
    pub(crate) filled: f64,
    pub(crate) again: Again,
}

/// The share of a print's squares that another has as well.
pub(crate) struct Again {
    pub(crate) two_fingers: f64,
    pub(crate) one_finger: f64,
    /// The same for prints of one finger when one was laid over the other.
    pub(crate) aligned: f64,
}

/// Which pairs a limit on the score of alignment accepts; it is set on one half of the fingers and tried on the other.
pub(crate) struct Accepted {
    pub(crate) limit: f64,
    pub(crate) falsely: f64,
    pub(crate) rightly: f64,
}

/// Looks for every print among the others.
///
/// # Errors
/// When there are fewer than four fingers, or one with a single print.
pub(crate) fn identify(prints: &[Print], expression: &Expression, seed: u64) -> Result<Report> {
    let names = fingers(prints)?;
    let own = prints.iter().map(own_frame).collect::<Vec<_>>();
    let own_grid = Centred::new(COLUMNS, ROWS)?;
    let own_sets = own.iter().map(|print| own_grid.set(print)).collect::<Result<Vec<_>>>()?;
    let alone = Framed::new(own_sets.iter().map(std::slice::from_ref));
    let near_grid = Centred::near()?;
    let near =
        prints.iter().map(|print| near_each(print, &near_grid)).collect::<Result<Vec<_>>>()?;
    let near = Framed::new(near.iter().map(Vec::as_slice));
    let near_found = near.found(expression, near_grid.squares(), seed)?;
    let aligned = aligned(prints);
    let way = |scores: &Scores| Way::by(prints, scores);
    let count = prints.len() as f64;
    let mates =
        pairs(prints.len()).filter(|&(a, b)| same(prints, a, b)).count() as f64 * 2.0 / count;
    Ok(Report {
        prints: prints.len(),
        fingers: names.len(),
        chance: (mates / (count - 1.0), 1.0 / (count - mates)),
        own: [way(&alone.all()), way(&alone.found(expression, own_grid.squares(), seed)?)],
        near: [way(&near.all()), way(&near_found)],
        short: Way::shortlisted(prints, &near_found, &aligned),
        accepted: accepted(prints, &names, &aligned),
        aligned: way(&aligned),
        filled: own_sets.iter().map(Vec::len).sum::<usize>() as f64
            / count
            / own_grid.squares() as f64,
        again: again(prints, &own, &own_sets, &own_grid)?,
    })
}

/// The names of the fingers, each once, in the order of the file.
fn fingers(prints: &[Print]) -> Result<Vec<&str>> {
    let mut names: Vec<&str> = Vec::new();
    for print in prints {
        if !names.contains(&print.finger.as_str()) {
            names.push(&print.finger);
        }
    }
    let single =
        names.iter().find(|name| prints.iter().filter(|print| print.finger == **name).count() < 2);
    if let Some(name) = single {
        let value = format!("1, for {name}");
        return Err(Error::parameter("the number of prints of a finger", value, "at least 2"));
    }
    if names.len() < 4 {
        return Err(Error::parameter("the number of fingers", names.len(), "at least 4"));
    }
    Ok(names)
}

fn pairs(prints: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..prints).flat_map(move |a| (a + 1..prints).map(move |b| (a, b)))
}

/// The sets of all prints, and whose they are.
struct Framed {
    sets: Sets,
    owners: Vec<usize>,
    prints: usize,
}

impl Framed {
    fn new<'a>(prints: impl IntoIterator<Item = &'a [Vec<u64>]>) -> Self {
        let mut framed = Self { sets: Sets::default(), owners: Vec::new(), prints: 0 };
        for sets in prints {
            // Empty sets are like nothing.
            sets.iter().filter(|set| !set.is_empty()).for_each(|set| framed.sets.push(set));
            framed.owners.resize(framed.sets.len(), framed.prints);
            framed.prints += 1;
        }
        framed
    }

    /// Compares everything with everything.
    fn all(&self) -> Scores {
        self.scores(&|_| (0..self.sets.len() as u32).collect())
    }

    /// Compares what satisfies an expression of functions of some of so many squares.
    fn found(&self, expression: &Expression, squares: u64, seed: u64) -> Result<Scores> {
        let family = Squares::new(&self.sets, squares, EACH, seed)?;
        let cascade = Cascade::new(expression, &[("squares", &family)], self.sets.len())?;
        Ok(self.scores(&|set| cascade.candidates_of(cascade.keys(set))))
    }

    /// How alike prints are by the sets that each of theirs meets.
    fn scores(&self, met: &(dyn Fn(u32) -> Vec<u32> + Sync)) -> Scores {
        let rows = (0..self.prints).into_par_iter().map(|print| self.row(print, met));
        let rows: Vec<(Vec<f64>, usize)> = rows.collect();
        let own = |print| self.owners.iter().filter(|&&owner| owner == print).count();
        let all: usize =
            (0..self.prints).map(|print| own(print) * (self.sets.len() - own(print))).sum();
        let compared = rows.iter().map(|(_, compared)| compared).sum::<usize>() as f64 / all as f64;
        let values = rows.into_iter().flat_map(|(row, _)| row).collect();
        Scores { prints: self.prints, values, compared }
    }

    /// How alike the other prints are to one, and how many sets were compared for that. For each set of the print the closest one
    /// of another counts, and of those the [`VOICES`] closest.
    fn row(&self, print: usize, met: &dyn Fn(u32) -> Vec<u32>) -> (Vec<f64>, usize) {
        let (mut closest, mut compared) = (vec![Vec::new(); self.prints], 0);
        for set in (0..self.sets.len()).filter(|&set| self.owners[set] == print) {
            let mut row = vec![0.0; self.prints];
            for other in met(set as u32).into_iter().map(|other| other as usize) {
                let owner = self.owners[other];
                if owner != print {
                    compared += 1;
                    row[owner] = jaccard::similarity(self.sets.get(set), self.sets.get(other))
                        .max(row[owner]);
                }
            }
            closest.iter_mut().zip(row).for_each(|(all, closest)| all.push(closest));
        }
        let sum = |mut closest: Vec<f64>| {
            closest.sort_by(|a, b| b.total_cmp(a));
            closest.iter().take(VOICES).sum()
        };
        (closest.into_iter().map(sum).collect(), compared)
    }
}

fn aligned(prints: &[Print]) -> Scores {
    let all: Vec<(usize, usize)> = pairs(prints.len()).collect();
    let score = |&(a, b): &(usize, usize)| {
        align(&prints[a].minutiae, &prints[b].minutiae).map_or(0.0, |(score, _)| score)
    };
    let scores: Vec<f64> = all.par_iter().map(score).collect();
    let mut values = vec![0.0; prints.len() * prints.len()];
    for ((a, b), score) in all.into_iter().zip(scores) {
        values[a * prints.len() + b] = score;
        values[b * prints.len() + a] = score;
    }
    Scores { prints: prints.len(), values, compared: 1.0 }
}

/// The limit is the lowest at which no more than [`FALSELY`] of the pairs of two fingers are accepted, of the first half of the
/// fingers; what it does is counted on the second.
fn accepted(prints: &[Print], names: &[&str], scores: &Scores) -> Accepted {
    let half = |print: usize| {
        let place = names.iter().position(|name| *name == prints[print].finger);
        place.is_some_and(|place| place >= names.len() / 2)
    };
    let within = |second: bool, one_finger: bool| -> Vec<f64> {
        let both = pairs(prints.len()).filter(|&(a, b)| half(a) == second && half(b) == second);
        let asked = both.filter(|&(a, b)| same(prints, a, b) == one_finger);
        asked.map(|(a, b)| scores.of(a, b)).collect()
    };
    let mut strangers = within(false, false);
    strangers.sort_by(|a, b| b.total_cmp(a));
    let limit = strangers[(strangers.len() as f64 * FALSELY) as usize];
    let above = |scores: Vec<f64>| {
        scores.iter().filter(|&&score| score > limit).count() as f64 / scores.len() as f64
    };
    Accepted { limit, falsely: above(within(true, false)), rightly: above(within(true, true)) }
}

/// Of the squares of two prints, the share that is shared.
fn again(
    prints: &[Print],
    own: &[Vec<Minutia>],
    sets: &[Vec<u64>],
    grid: &Centred,
) -> Result<Again> {
    let share = |a: &[u64], b: &[u64]| {
        2.0 * jaccard::shared(a, b) as f64 / (a.len() + b.len()).max(1) as f64
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let asked = |one_finger: bool| {
        pairs(prints.len()).filter(move |&(a, b)| same(prints, a, b) == one_finger)
    };
    let framed =
        |one_finger| mean(asked(one_finger).map(|(a, b)| share(&sets[a], &sets[b])).collect());
    let laid_over = |(a, b): (usize, usize)| {
        let Some((_, motion)) = align(&own[a], &own[b]) else { return Ok(0.0) };
        let moved: Vec<Minutia> = own[a].iter().map(|minutia| motion.of(minutia)).collect();
        Ok(share(&grid.set(&moved)?, &sets[b]))
    };
    let aligned = mean(asked(true).map(laid_over).collect::<Result<Vec<_>>>()?);
    Ok(Again { two_fingers: framed(false), one_finger: framed(true), aligned })
}
