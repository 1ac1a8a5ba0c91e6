//! What groups matches make.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Float64Array, RecordBatch};
use arrow_pyarrow::PyArrowType;
use nearkin_engine::cluster::{self, UnionFind};
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

/// Stars of pairs (`a`, `b`) of the positions in `order` of preference, others left out: for every `position`, its
/// `centre`.
#[pyfunction]
pub(crate) fn stars(
    py: Python<'_>,
    batches: Batches,
    order: Vec<u64>,
) -> PyResult<PyArrowType<RecordBatch>> {
    let work = || -> Result<RecordBatch> {
        let places: HashMap<u64, u32> = order.iter().copied().zip(0u32..).collect();
        let place = |position: u64| places.get(&position).copied();
        let pairs = pairs(&batches, "a", "b")?;
        let pairs = pairs.into_iter().filter_map(|(a, b)| place(a).zip(place(b)));
        let centres = stars_of(order.len(), pairs)?;
        let centres = numbers(centres.iter().map(|&centre| order[centre as usize]));
        Ok(batch(vec![("position", numbers(order.iter().copied())), ("centre", centres)]))
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// Stars of pairs of items, of which the first is the most preferred.
fn stars_of(items: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Vec<u32>> {
    let mut partners = vec![Vec::new(); items];
    for (a, b) in pairs {
        partners[a as usize].push(b);
        partners[b as usize].push(a);
    }
    let order: Vec<u32> = (0..items as u32).collect();
    cluster::stars(&order, |item, partner| {
        partners[item as usize].iter().for_each(|&other| partner(other));
        Ok(())
    })
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

    /// The items of groups of several: `position`, `first`, the kept item of the group (`to`), the first item with its
    /// text (`centre`), and how similar that is, where it is known. Items are preferred in this order, else by position;
    /// copies have this similarity, or it is not known of any. Without chains, groups are stars.
    #[pyo3(signature = (order, chains, copies))]
    fn settle(
        &self,
        py: Python<'_>,
        order: Option<Vec<u64>>,
        chains: bool,
        copies: Option<f64>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let ranks = self.ranks(order);
            let kept = if chains { self.kept_of_components(&ranks) } else { self.stars(&ranks)? };
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

    /// For every item the kept one of its component.
    fn kept_of_components(&self, ranks: &[u32]) -> Vec<u32> {
        let mut sets = UnionFind::new(self.positions.len());
        self.matches.iter().for_each(|&(a, b, _)| sets.join(a, b));
        let groups: Vec<u32> = self.firsts.iter().map(|&first| sets.find(first)).collect();
        let best = self.preferred(&groups, ranks);
        groups.iter().map(|&group| best[group as usize]).collect()
    }

    /// For every item the kept one of its star.
    fn stars(&self, ranks: &[u32]) -> Result<Vec<u32>> {
        let best = self.preferred(&self.firsts, ranks);
        let mut texts = self.firsts.clone();
        texts.sort_unstable_by_key(|&first| (ranks[best[first as usize] as usize], first));
        texts.dedup();
        let mut places = vec![0; self.positions.len()];
        (0u32..).zip(&texts).for_each(|(place, &first)| places[first as usize] = place);
        let place = |first: u32| places[first as usize];
        let matches = self.matches.iter().map(|&(a, b, _)| (place(a), place(b)));
        let centres = stars_of(texts.len(), matches)?;
        let centre = |first: u32| texts[centres[place(first) as usize] as usize];
        Ok(self.firsts.iter().map(|&first| best[centre(first) as usize]).collect())
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
