//! What groups matches make.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Float64Array, RecordBatch};
use arrow_pyarrow::PyArrowType;
use nearkin_engine::cluster::UnionFind;
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;

use super::columns::{batch, longs, numbers};
use super::search::Batches;
use crate::error::Raise;

/// The pairs in two columns of positions.
fn pairs(batches: &Batches, one: &'static str, other: &'static str) -> Result<Vec<(u64, u64)>> {
    let mut pairs = Vec::new();
    for batch in batches {
        let (one, other) = (longs(&batch.0, one)?.values(), longs(&batch.0, other)?.values());
        pairs.extend(one.iter().zip(other).map(|(&one, &other)| (one as u64, other as u64)));
    }
    Ok(pairs)
}

/// Positions in order, each once.
fn ordered(mut positions: Vec<u64>) -> Vec<u64> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// The number that a position has among those in order.
fn number(positions: &[u64], position: u64) -> Option<u32> {
    positions.binary_search(&position).ok().map(|number| number as u32)
}

/// The connected components of edges (`a`, `b`): for every `position` in one, its smallest as `component`.
#[pyfunction]
pub(crate) fn components(py: Python<'_>, batches: Batches) -> PyResult<PyArrowType<RecordBatch>> {
    let work = || -> Result<RecordBatch> {
        let edges = pairs(&batches, "a", "b")?;
        let positions = ordered(edges.iter().flat_map(|&(a, b)| [a, b]).collect());
        let mut sets = UnionFind::new(positions.len());
        for (a, b) in edges {
            if let Some((a, b)) = number(&positions, a).zip(number(&positions, b)) {
                sets.join(a, b);
            }
        }
        let component = (0..positions.len() as u32).map(|item| positions[sets.find(item) as usize]);
        let component = numbers(component.collect::<Vec<u64>>());
        Ok(batch(vec![("position", numbers(positions)), ("component", component)]))
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// Groups of items, from matches that one machine can hold.
#[pyclass(module = "nearkin._nearkin")]
pub(crate) struct Groups {
    /// The items that are similar to another one.
    positions: Vec<u64>,
    /// For each, the number of the first item with the same text.
    firsts: Vec<u32>,
    /// Matches of first items by their numbers, the smaller number first, in order.
    matches: Vec<(u32, u32, f64)>,
}

#[pymethods]
impl Groups {
    /// From matches (`a`, `b`, `similarity`) of first items and some of their copies (`position`, `first`).
    #[new]
    fn new(py: Python<'_>, matches: Batches, copies: Batches) -> PyResult<Self> {
        py.detach(|| Self::of(&matches, &copies)).raise(py)
    }

    /// The items of groups: `position`, `first`.
    fn members(&self) -> PyArrowType<RecordBatch> {
        let firsts = numbers(self.firsts.iter().map(|&first| self.positions[first as usize]));
        let positions = numbers(self.positions.iter().copied());
        PyArrowType(batch(vec![("position", positions), ("first", firsts)]))
    }

    /// The texts whose stars matches do not tell, in components of several: `position`, `component`, and `rank`, their
    /// place in the order of preference. Two similar texts are a star, whichever is kept, unless all are asked for.
    fn open(
        &self,
        py: Python<'_>,
        order: Option<Vec<u64>>,
        all: bool,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let ranks = self.ranks(order);
            let best = self.preferred(&self.firsts, &ranks);
            let components = self.components();
            let texts = || (0u32..).zip(&self.firsts).filter(|(item, first)| item == *first);
            let mut sizes = vec![0u32; self.positions.len()];
            texts().for_each(|(text, _)| sizes[components[text as usize] as usize] += 1);
            let least = if all { 2 } else { 3 };
            let is_open = |text: u32| sizes[components[text as usize] as usize] >= least;
            let open: Vec<u32> =
                texts().map(|(text, _)| text).filter(|&text| is_open(text)).collect();
            let position = |number: u32| self.positions[number as usize];
            let rank = |text: u32| u64::from(ranks[best[text as usize] as usize]);
            let component = |text: u32| position(components[text as usize]);
            Ok(batch(vec![
                ("position", numbers(open.iter().map(|&text| position(text)))),
                ("component", numbers(open.iter().map(|&text| component(text)))),
                ("rank", numbers(open.iter().map(|&text| rank(text)))),
            ]))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }

    /// The items of groups of several: `position`, `first`, the kept item of the group (`to`), the first item with its
    /// text (`centre`), and how similar that is, where it is known. Items are preferred in this order, else by position;
    /// copies have this similarity, or it is not known of any. A group is a component, or with the `stars` of those
    /// that are [open](Self::open) (`first`, `centre`) all that a kept text stands for.
    #[pyo3(signature = (order, copies, stars=None))]
    fn settle(
        &self,
        py: Python<'_>,
        order: Option<Vec<u64>>,
        copies: Option<f64>,
        stars: Option<Batches>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let ranks = self.ranks(order);
            let components = self.components();
            let best = self.preferred(&components, &ranks);
            let mut kept: Vec<u32> = components.iter().map(|&group| best[group as usize]).collect();
            if let Some(stars) = stars {
                let number = |position: u64| number(&self.positions, position).unwrap_or_default();
                let stars = pairs(&stars, "first", "centre")?.into_iter();
                let centres: HashMap<u32, u32> =
                    stars.map(|(first, centre)| (number(first), number(centre))).collect();
                let best = self.preferred(&self.firsts, &ranks);
                for (kept, first) in kept.iter_mut().zip(&self.firsts) {
                    *kept = centres.get(first).map_or(*kept, |&centre| best[centre as usize]);
                }
            }
            Ok(self.settled(&kept, copies))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }
}

impl Groups {
    fn of(matches: &Batches, copies: &Batches) -> Result<Self> {
        let edges = pairs(matches, "a", "b")?;
        let mut similarities = Vec::with_capacity(edges.len());
        for batch in matches {
            let column = batch.0.column_by_name("similarity");
            let column = column.and_then(|column| column.as_primitive_opt::<Float64Type>());
            let wrong = || Error::parameter("column", "similarity", "numbers");
            similarities.extend_from_slice(column.ok_or_else(wrong)?.values());
        }
        let matched = ordered(edges.iter().flat_map(|&(a, b)| [a, b]).collect());
        // Copies that share too little to be similar are in no group.
        let copies: HashMap<u64, u64> = pairs(copies, "position", "first")?
            .into_iter()
            .filter(|&(_, first)| number(&matched, first).is_some())
            .collect();
        let positions = ordered(matched.into_iter().chain(copies.keys().copied()).collect());
        let first = |position: u64| *copies.get(&position).unwrap_or(&position);
        let number = |position: u64| number(&positions, position).unwrap_or_default();
        let firsts = positions.iter().map(|&position| number(first(position))).collect();
        let mut matches: Vec<(u32, u32, f64)> = edges
            .into_iter()
            .zip(similarities)
            .map(|((a, b), similarity)| (number(first(a)), number(first(b)), similarity))
            .filter(|(a, b, _)| a != b)
            .map(|(a, b, similarity)| (a.min(b), a.max(b), similarity))
            .collect();
        matches.sort_unstable_by_key(|&(a, b, _)| (a, b));
        matches.dedup_by_key(|&mut (a, b, _)| (a, b));
        Ok(Self { positions, firsts, matches })
    }

    /// How late each item comes in the order of preference.
    fn ranks(&self, order: Option<Vec<u64>>) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.positions.len()];
        let preferred = order.unwrap_or_else(|| self.positions.clone());
        for (rank, position) in (0u32..).zip(preferred) {
            if let Some(number) = number(&self.positions, position) {
                ranks[number as usize] = rank;
            }
        }
        ranks
    }

    /// The preferred item of each group, at the number that names the group.
    fn preferred(&self, groups: &[u32], ranks: &[u32]) -> Vec<u32> {
        let mut best: Vec<u32> = (0..groups.len() as u32).collect();
        for (item, &group) in (0u32..).zip(groups) {
            let best = &mut best[group as usize];
            if ranks[item as usize] < ranks[*best as usize] {
                *best = item;
            }
        }
        best
    }

    /// For every item its component's smallest number.
    fn components(&self) -> Vec<u32> {
        let mut sets = UnionFind::new(self.positions.len());
        self.matches.iter().for_each(|&(a, b, _)| sets.join(a, b));
        self.firsts.iter().map(|&first| sets.find(first)).collect()
    }

    fn settled(&self, kept: &[u32], copies: Option<f64>) -> RecordBatch {
        let mut sizes = vec![0u32; self.positions.len()];
        kept.iter().for_each(|&to| sizes[to as usize] += 1);
        let members = || (0..kept.len()).filter(|&item| sizes[kept[item] as usize] > 1);
        let position = |number: u32| self.positions[number as usize];
        let similarity = |item: usize| {
            let copies = copies?;
            let (first, centre) = (self.firsts[item], self.firsts[kept[item] as usize]);
            if first == centre {
                return Some(copies);
            }
            let pair = (first.min(centre), first.max(centre));
            let at = self.matches.binary_search_by_key(&pair, |&(a, b, _)| (a, b)).ok()?;
            Some(self.matches[at].2)
        };
        let similarities: Float64Array = members().map(similarity).collect();
        let centre = |item: usize| position(self.firsts[kept[item] as usize]);
        batch(vec![
            ("position", numbers(members().map(|item| self.positions[item]))),
            ("first", numbers(members().map(|item| position(self.firsts[item])))),
            ("to", numbers(members().map(|item| position(kept[item])))),
            ("centre", numbers(members().map(centre))),
            ("similarity", Arc::new(similarities)),
        ])
    }
}
