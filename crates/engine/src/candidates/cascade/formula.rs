//! From an expression to tables: which functions make each table's key, and how keys decide a pair.

use std::ops::Range;

use super::super::KEY_BITS;
use crate::amplify::Expression;
use crate::family::hash::mix64;
use crate::family::{Family, INFINITY};
use crate::{Error, Result};
use nearkin_kernels::any_equal;

/// Families by the names that an expression calls them by.
pub type Families<'a> = [(&'a str, &'a dyn Family)];

/// Some consecutive functions of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FunctionRun {
    family: usize,
    functions: Range<usize>,
}

/// How equal keys decide a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Formula {
    /// The keys of one of these tables are equal.
    Tables(Range<usize>),
    /// All of these hold.
    All(Vec<Formula>),
    /// One of these holds.
    Any(Vec<Formula>),
}

impl Formula {
    /// Whether it holds for two rows of keys.
    pub(super) fn holds(&self, a: &[u64], b: &[u64]) -> bool {
        match self {
            Self::Tables(tables) if tables.len() == 1 => a[tables.start] == b[tables.start],
            Self::Tables(tables) => any_equal(&a[tables.clone()], &b[tables.clone()]),
            Self::All(parts) => parts.iter().all(|part| part.holds(a, b)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(a, b)),
        }
    }

    /// One of these holds; neighbouring tables are taken together.
    fn any(parts: Vec<Self>) -> Self {
        let mut merged: Vec<Self> = Vec::new();
        for part in parts {
            match (merged.last_mut(), part) {
                (Some(Self::Tables(last)), Self::Tables(next)) if last.end == next.start => {
                    last.end = next.end;
                }
                (_, part) => merged.push(part),
            }
        }
        if merged.len() == 1 { merged.remove(0) } else { Self::Any(merged) }
    }

    fn all(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 { parts.remove(0) } else { Self::All(parts) }
    }

    /// Whether there is an AND in it, and with it a choice of tables to search.
    pub(super) fn has_choice(&self) -> bool {
        match self {
            Self::Tables(_) => false,
            Self::All(_) => true,
            Self::Any(parts) => parts.iter().any(Self::has_choice),
        }
    }
}

/// An expression made ready to be run.
#[derive(Debug, Clone)]
pub(super) struct TablePlan {
    pub(super) formula: Formula,
    /// The functions of each table.
    tables: Vec<Vec<FunctionRun>>,
    /// Functions used of each family.
    used: Vec<usize>,
}

impl TablePlan {
    /// Functions are numbered in the order of the expression, those of each family from 0.
    ///
    /// # Errors
    /// When the expression cannot be run, or names a family that is not there.
    pub(super) fn new(expression: &Expression, families: &Families<'_>) -> Result<Self> {
        expression.check()?;
        let names: Vec<&str> = families.iter().map(|(name, _)| *name).collect();
        let used = vec![0; names.len()];
        let mut maker = PlanBuilder { names: &names, used, tables: Vec::new() };
        let formula = maker.formula(expression)?;
        let PlanBuilder { used, tables, .. } = maker;
        Ok(Self { formula, tables, used })
    }

    /// Tables, and with them keys of an item.
    pub(super) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Writes the keys of consecutive items, item by item, one per table. If a function of a table has no value, the key is
    /// one that no other item has.
    pub(super) fn keys(
        &self,
        families: &Families<'_>,
        items: Range<u32>,
        values: &mut Vec<u64>,
        keys: &mut [u64],
    ) {
        // All functions of a family at once: those of vectors are several times as fast then.
        let mut starts = Vec::with_capacity(self.used.len());
        values.clear();
        for (&used, (_, family)) in self.used.iter().zip(families) {
            let start = values.len();
            starts.push(start);
            values.resize(start + used * items.len(), 0);
            family.hash_many(items.clone(), 0, used, &mut values[start..]);
        }
        for ((row, item), keys) in items.enumerate().zip(keys.chunks_mut(self.tables())) {
            for (key, runs) in keys.iter_mut().zip(&self.tables) {
                let of = |run: &FunctionRun| {
                    let start = starts[run.family] + row * self.used[run.family];
                    &values[start + run.functions.start..start + run.functions.end]
                };
                *key = key_of(runs.iter().flat_map(of)).unwrap_or(NO_KEY | u64::from(item));
            }
        }
    }
}

/// Set in keys that stand for none.
pub(super) const NO_KEY: u64 = 1 << 63;

/// The hash of the values of a table's functions; none if one has no value.
fn key_of<'a>(values: impl Iterator<Item = &'a u64>) -> Option<u64> {
    let mut hash = KeyHash::default();
    for &value in values {
        if value == INFINITY {
            return None;
        }
        hash.take(value);
    }
    Some(hash.key())
}

/// Makes a key of several values. An item may have thousands, so each takes one multiplication, with proper mixing at the
/// end. Values that share a key by accident cost a look and change no result.
#[derive(Default)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    pub(super) fn take(&mut self, value: u64) {
        self.0 =
            (self.0.rotate_left(26) ^ value).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    pub(super) fn key(self) -> u64 {
        mix64(self.0, 0) >> (64 - KEY_BITS)
    }
}

/// Numbers functions and tables while it walks through an expression.
struct PlanBuilder<'a> {
    names: &'a [&'a str],
    used: Vec<usize>,
    tables: Vec<Vec<FunctionRun>>,
}

impl PlanBuilder<'_> {
    fn formula(&mut self, expression: &Expression) -> Result<Formula> {
        if expression.is_table() {
            let mut runs = Vec::new();
            self.functions(expression, &mut runs)?;
            return Ok(self.table(runs));
        }
        let repeated = |maker: &mut Self, count: usize, inside: &Expression| {
            (0..count).map(|_| maker.formula(inside)).collect::<Result<Vec<_>>>()
        };
        Ok(match expression {
            Expression::Function(_) => unreachable!("a function is a table"),
            Expression::And(count, inside) => Formula::all(repeated(self, *count, inside)?),
            Expression::Or(count, inside) => Formula::any(repeated(self, *count, inside)?),
            Expression::All(parts) => self.all(parts)?,
            Expression::Any(parts) => {
                let parts = parts.iter().map(|part| self.formula(part));
                Formula::any(parts.collect::<Result<_>>()?)
            }
        })
    }

    /// What has no choice in it becomes one table: fewer keys, and smaller buckets.
    fn all(&mut self, parts: &[Expression]) -> Result<Formula> {
        let (mut runs, mut formulas) = (Vec::new(), Vec::new());
        for part in parts {
            if part.is_table() {
                self.functions(part, &mut runs)?;
            } else {
                formulas.push(self.formula(part)?);
            }
        }
        if !runs.is_empty() {
            formulas.push(self.table(runs));
        }
        Ok(Formula::all(formulas))
    }

    fn table(&mut self, runs: Vec<FunctionRun>) -> Formula {
        self.tables.push(runs);
        Formula::Tables(self.tables.len() - 1..self.tables.len())
    }

    /// Appends the functions of an expression without a choice.
    fn functions(&mut self, expression: &Expression, runs: &mut Vec<FunctionRun>) -> Result<()> {
        match expression {
            Expression::Function(name) => {
                let family = self.family(name)?;
                let number = self.used[family];
                self.used[family] += 1;
                match runs.last_mut() {
                    Some(last) if last.family == family && last.functions.end == number => {
                        last.functions.end += 1;
                    }
                    _ => runs.push(FunctionRun { family, functions: number..number + 1 }),
                }
                Ok(())
            }
            Expression::And(count, inside) | Expression::Or(count, inside) => {
                (0..*count).try_for_each(|_| self.functions(inside, runs))
            }
            Expression::All(parts) | Expression::Any(parts) => {
                parts.iter().try_for_each(|part| self.functions(part, runs))
            }
        }
    }

    fn family(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|known| *known == name).ok_or_else(|| {
            let known = self.names.join(", ");
            Error::parameter("function", name, format!("one of those that apply here: {known}"))
        })
    }
}
