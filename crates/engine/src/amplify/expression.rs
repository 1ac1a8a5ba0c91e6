//! AND and OR of locality-sensitive functions, nested at will.
//!
//! An [`Expression`] says when a pair becomes a candidate. Under `or(20, and(5, minhash))` it does when all minhashes of
//! one of 20 groups of 5 agree. Every function in it is drawn anew, so functions agree independently, and the chance of
//! the whole follows from the chance p that one agrees (*Mining of Massive Datasets*, 3.6.3).
//! [`Cascade`](crate::candidates::cascade::Cascade) runs the same value.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::bands::Bands;
use super::chance::{Chance, DecisionCounts, Jet, Logic, fixed_point, last_below};
use super::formula::{FormulaTerm, Notation, latex_text};
use super::parse;
use crate::{Error, Result};

/// More functions than this are a slip of the hand.
pub const MOST_FUNCTIONS: usize = 1 << 16;

/// Levels of an expression, its functions being one.
pub(super) const MAX_DEPTH: usize = 64;

/// When a pair becomes a candidate.
///
/// Its text form is read and written by `parse` and `to_string`: `or(20, and(5, minhash))`,
/// `and(or(4, hyperplane), equal(city))`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expression {
    /// When this function agrees: a word, and after it an argument in parentheses where it takes one.
    Function(String),
    /// When this many copies of the part, each with functions drawn anew, are all satisfied.
    And(usize, Box<Expression>),
    /// When at least one of this many copies of the part, each with functions drawn anew, is satisfied.
    Or(usize, Box<Expression>),
    /// When all of these are satisfied.
    All(Vec<Expression>),
    /// When one of these is satisfied.
    Any(Vec<Expression>),
}

impl Expression {
    /// The function of this name.
    pub fn function(name: impl Into<String>) -> Self {
        Self::Function(name.into())
    }

    /// `count` of this, all of which must be satisfied.
    pub fn and(self, count: usize) -> Self {
        Self::And(count, Box::new(self))
    }

    /// `count` of this, one of which must be satisfied.
    pub fn or(self, count: usize) -> Self {
        Self::Or(count, Box::new(self))
    }

    /// The field that a function compares, if it is `equal(FIELD)`.
    pub fn field_of(function: &str) -> Option<&str> {
        function.strip_prefix("equal(")?.strip_suffix(')').map(str::trim)
    }

    /// The fields that its functions compare, each once, in alphabetical order.
    pub fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> =
            self.names().into_iter().filter_map(Self::field_of).map(str::to_owned).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// The fields in which all pairs that satisfy it agree.
    pub fn required_fields(&self) -> Vec<&str> {
        match self {
            Self::Function(name) => Self::field_of(name).into_iter().collect(),
            Self::And(_, inside) | Self::Or(_, inside) => inside.required_fields(),
            Self::All(parts) => parts.iter().flat_map(Self::required_fields).collect(),
            Self::Any(parts) => {
                let mut parts = parts.iter().map(Self::required_fields);
                let mut common = parts.next().unwrap_or_default();
                parts.for_each(|others| common.retain(|field| others.contains(field)));
                common
            }
        }
    }

    /// Whether it can be run; what was read from a text can.
    ///
    /// # Errors
    /// When a count is 0 or a list empty, a name is no word with an argument, or there are more than 65,536
    /// functions or 64 levels.
    pub fn check(&self) -> Result<()> {
        self.check_from(1)?;
        match self.functions() {
            0..=MOST_FUNCTIONS => Ok(()),
            functions => {
                let must = format!("an expression of at most {MOST_FUNCTIONS} functions");
                let value = if functions == usize::MAX {
                    "one of countless functions".to_owned()
                } else {
                    format!("one of {functions} functions")
                };
                Err(Error::parameter("expression", value, must))
            }
        }
    }

    fn check_from(&self, depth: usize) -> Result<()> {
        let wrong = |value: &str, must: &str| Err(Error::parameter("expression", value, must));
        if depth > MAX_DEPTH {
            return wrong("nested deeper", &format!("at most {MAX_DEPTH} levels deep"));
        }
        match self {
            Self::Function(name) if !parse::is_function(name) => wrong(
                &format!("of a function called {name:?}"),
                "of words, with an argument in parentheses where one is needed",
            ),
            Self::Function(_) => Ok(()),
            Self::And(0, _) | Self::Or(0, _) => wrong("a count of 0", "of counts from 1 on"),
            Self::And(_, inside) | Self::Or(_, inside) => inside.check_from(depth + 1),
            Self::All(parts) | Self::Any(parts) if parts.is_empty() => {
                wrong("an and or or of nothing", "of at least one part")
            }
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().try_for_each(|part| part.check_from(depth + 1))
            }
        }
    }

    /// The chance that a pair becomes a candidate when every function agrees with probability `p`, which is
    /// taken into 0..=1.
    pub fn probability(&self, p: f64) -> f64 {
        self.chance(p).yes
    }

    /// The chance that it does not, accurate where it is tiny.
    pub fn missed(&self, p: f64) -> f64 {
        self.chance(p).no
    }

    /// The chance that a pair becomes a candidate when each function agrees with a probability of its own.
    pub fn probability_with(&self, agreement: &dyn Fn(&str) -> f64) -> f64 {
        self.fold(&|name| Chance::new(agreement(name))).yes
    }

    /// The chance that it does not, accurate where it is tiny.
    pub fn missed_with(&self, agreement: &dyn Fn(&str) -> f64) -> f64 {
        self.fold(&|name| Chance::new(agreement(name))).no
    }

    fn chance(&self, p: f64) -> Chance {
        self.fold(&|_| Chance::new(p))
    }

    /// The p at which the chance is ½. It rises from 0 to 1 with p, so there is one.
    pub fn half_way(&self) -> f64 {
        last_below(0.0, 1.0, |p| self.probability(p) < 0.5)
    }

    /// The p between 0 and 1 that is left as it is: lower ones are lowered, higher ones raised.
    ///
    /// There is at most one. The functions of an expression are independent, and each occurs once. Any such curve P of
    /// two functions or more has p·(1 − p)·P′(p) > P(p)·(1 − P(p)) (Moore and Shannon 1956, Esary and Proschan 1963),
    /// so it is steeper than the diagonal where it meets it. There is none if one function alone can make a pair a
    /// candidate, or keep it from being one: then the curve is above the diagonal everywhere, or below it.
    pub fn fixed_point(&self) -> Option<f64> {
        let decisive = self.fold(&|_| DecisionCounts { agreeing: 1, differing: 1 });
        let inside = decisive.agreeing > 1 && decisive.differing > 1;
        inside.then(|| fixed_point(|p| self.chance(p)))
    }

    /// How steep the curve is at `p`.
    pub fn slope(&self, p: f64) -> f64 {
        self.fold(&|_| Jet::new(p)).slope
    }

    /// Where the curve is steepest, and how steep; of equals the first.
    ///
    /// Maxima of the slope are where the second derivative passes from above 0 to below. It is scanned at
    /// points that are evenly spread in ln(p / (1 − p)): with n functions the slope is at most
    /// √(n·P·(1 − P) / (p·(1 − p))), so on that scale the curve of 65,536 functions needs 1/64 to rise, while
    /// the points are 1/73 apart; other curves are flatter.
    pub fn steepest(&self) -> (f64, f64) {
        const POINTS: i32 = 2048;
        let at = |i: i32| match i {
            0 => 0.0,
            POINTS => 1.0,
            _ => 1.0 / (1.0 + (14.0 - 28.0 * f64::from(i) / f64::from(POINTS)).exp()),
        };
        let jet = |p: f64| self.fold(&|_| Jet::new(p));
        let mut best = (0.0, jet(0.0).slope);
        let mut before = jet(0.0).bend;
        for i in 1..=POINTS {
            let here = jet(at(i)).bend;
            let turns = before > 0.0 && here <= 0.0;
            let peak = turns.then(|| last_below(at(i - 1), at(i), |p| jet(p).bend > 0.0));
            for p in peak.into_iter().chain((i == POINTS).then_some(1.0)) {
                let slope = self.slope(p);
                if slope > best.1 {
                    best = (p, slope);
                }
            }
            before = here;
        }
        best
    }

    /// How many functions are evaluated for an item.
    pub fn functions(&self) -> usize {
        match self {
            Self::Function(_) => 1,
            Self::And(count, inside) | Self::Or(count, inside) => {
                inside.functions().saturating_mul(*count)
            }
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().map(Self::functions).fold(0, usize::saturating_add)
            }
        }
    }

    /// How many keys are kept per item: one for each part without an OR in it. Such parts of one AND share a key.
    pub fn tables(&self) -> usize {
        if self.is_table() {
            return 1;
        }
        let sum = |parts: &mut dyn Iterator<Item = usize>| parts.fold(0, usize::saturating_add);
        match self {
            Self::Function(_) => 1,
            Self::And(count, inside) | Self::Or(count, inside) => {
                inside.tables().saturating_mul(*count)
            }
            Self::Any(parts) => sum(&mut parts.iter().map(Self::tables)),
            Self::All(parts) => {
                let apart = parts.iter().filter(|part| !part.is_table()).map(Self::tables);
                let together = usize::from(parts.iter().any(Self::is_table));
                sum(&mut apart.chain([together]))
            }
        }
    }

    /// Whether no choice is in it, so that equality of one key decides.
    pub(crate) fn is_table(&self) -> bool {
        match self {
            Self::Function(_) => true,
            Self::And(_, inside) | Self::Or(1, inside) => inside.is_table(),
            Self::Or(..) => false,
            Self::All(parts) => parts.iter().all(Self::is_table),
            Self::Any(parts) => parts.len() == 1 && parts[0].is_table(),
        }
    }

    /// The names of its functions, each once, in alphabetical order.
    pub fn names(&self) -> BTreeSet<&str> {
        match self {
            Self::Function(name) => BTreeSet::from([name.as_str()]),
            Self::And(_, inside) | Self::Or(_, inside) => inside.names(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::names).collect(),
        }
    }

    /// The curve as a formula in p, such as `1-(1-p^5)^20`. Where functions of several names are in it, each
    /// has a probability of its own: `(1-(1-p[hyperplane])^4)*p[equal(city)]`.
    pub fn formula(&self) -> String {
        self.write(Notation::Plain, &|name| format!("p[{name}]"))
    }

    /// [`formula`](Self::formula) for LaTeX: `1-(1-p^{5})^{20}`, `(1-(1-p_{\text{hyperplane}})^{4})\cdot p_{\text{equal(city)}}`.
    pub fn latex(&self) -> String {
        self.write(Notation::Latex, &|name| format!("p_{{{}}}", latex_text(name)))
    }

    fn write(&self, notation: Notation, own: &dyn Fn(&str) -> String) -> String {
        let term = self.fold(&|name| FormulaTerm::Probability(name.to_owned()));
        if self.names().len() > 1 {
            term.write(notation, own)
        } else {
            term.write(notation, &|_| "p".to_owned())
        }
    }

    /// What follows for the whole from what is known of its functions.
    fn fold<T: Logic>(&self, function: &dyn Fn(&str) -> T) -> T {
        match self {
            Self::Function(name) => function(name),
            Self::And(count, inside) => inside.fold(function).all(*count),
            Self::Or(count, inside) => inside.fold(function).any(*count),
            Self::All(parts) => {
                let parts = parts.iter().map(|part| part.fold(function));
                parts.reduce(T::both).unwrap_or_else(T::certain)
            }
            Self::Any(parts) => {
                let parts = parts.iter().map(|part| part.fold(function));
                parts.reduce(T::either).unwrap_or_else(|| T::certain().not())
            }
        }
    }
}

impl FromStr for Expression {
    type Err = Error;

    /// # Errors
    /// When the text is no expression, with the place and what was expected there; as for
    /// [`check`](Self::check) otherwise.
    fn from_str(text: &str) -> Result<Self> {
        parse::parse(text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, word: &str, parts: &[Self]| {
            write!(f, "{word}(")?;
            for (i, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
            }
            write!(f, ")")
        };
        match self {
            Self::Function(name) => f.write_str(name),
            Self::And(count, inside) => write!(f, "and({count}, {inside})"),
            Self::Or(count, inside) => write!(f, "or({count}, {inside})"),
            Self::All(parts) => list(f, "and", parts),
            Self::Any(parts) => list(f, "or", parts),
        }
    }
}

/// Bands of minhashes.
impl From<Bands> for Expression {
    fn from(bands: Bands) -> Self {
        Self::function("minhash").and(bands.rows).or(bands.count)
    }
}
