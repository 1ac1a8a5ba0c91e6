//! A field of the items of a collection, as numbers that are the same for equal values.

use std::collections::BTreeMap;

use super::Value;

/// The values of a field, one number per item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldKeys {
    /// The field.
    pub name: String,
    /// By item, the number of its value, or [`NO_VALUE`](Self::NO_VALUE).
    pub keys: Vec<u64>,
}

impl FieldKeys {
    /// Stands for no value. It is equal to nothing, not even to itself.
    pub const NO_VALUE: u64 = u64::MAX;

    /// The keys of these values.
    pub fn new<'v>(
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<&'v Value>>,
    ) -> Self {
        let mut known: BTreeMap<&Value, u64> = BTreeMap::new();
        let mut key = |value: Option<&'v Value>| match value {
            None => Self::NO_VALUE,
            Some(value) => {
                let next = known.len() as u64;
                *known.entry(value).or_insert(next)
            }
        };
        Self { name: name.into(), keys: values.into_iter().map(&mut key).collect() }
    }

    /// The keys of these items.
    pub fn select(&self, items: &[usize]) -> Self {
        let keys = items.iter().map(|&item| self.keys[item]).collect();
        Self { name: self.name.clone(), keys }
    }

    /// Whether two items have the same value.
    pub fn are_equal(&self, a: usize, b: usize) -> bool {
        self.keys[a] == self.keys[b] && self.keys[a] != Self::NO_VALUE
    }

    /// The chance that two items drawn at random have the same value.
    pub fn chance(&self) -> f64 {
        let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
        let given = self.keys.iter().filter(|&&key| key != Self::NO_VALUE);
        given.for_each(|&key| *counts.entry(key).or_default() += 1.0);
        let all = self.keys.len() as f64;
        let pairs: f64 = counts.values().map(|count| count * (count - 1.0)).sum();
        if all < 2.0 { 0.0 } else { pairs / (all * (all - 1.0)) }
    }
}
