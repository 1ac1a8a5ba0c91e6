//! Which records look alike, before anything is known about the fields?

use std::collections::HashMap;

use rayon::prelude::*;

use super::super::fields::{Field, weighted_words};
use super::{Scorer, TableSample};
use crate::Result;
use crate::family::hash::mix64;
use crate::item::{Interner, MISSING, Sparse};

/// Pairs below this cosine are not alike.
const ALIKE: f64 = 0.1;
/// Pairs below this one are not guessed to be matches.
const GUESSED: f64 = 0.3;
/// Random pairs, at least.
const LEAST_RANDOM: usize = 100;

/// Pairs of a record of the sample and one of all.
pub(super) struct Neighbours {
    /// Those that share rare words, in order.
    pub(super) alike: Vec<(u32, u32)>,
    /// By pair, whether it is guessed to be a match: each is the other's best.
    pub(super) guessed: Vec<bool>,
    /// Pairs drawn at random, few of which match. If all pairs that look alike do match, only these show what other pairs
    /// look like.
    pub(super) random: Vec<(u32, u32)>,
}

/// Which records of the second table have each word of a field.
struct WordIndex<'a> {
    field: &'a Field,
    /// The words of each value: those of texts, and other values as one.
    words: Sparse,
    having: HashMap<u32, Vec<u32>>,
}

impl<'a> WordIndex<'a> {
    fn new(field: &'a Field, first: u32, all: u32, common: usize) -> Result<Self> {
        // Of dates a year, a month and a day are looked up, each of which may be right.
        let (words, _) = match field.kind().is_of_dates() {
            true => {
                let mut parts = Interner::default();
                field.values.iter().for_each(|value| {
                    parts.number(&value.replace('-', " "));
                });
                weighted_words(&field.codes, &parts.into_values())?
            }
            false => weighted_words(&field.codes, &field.values)?,
        };
        let mut index = Self { field, words, having: HashMap::new() };
        for record in 0..first {
            let of_record: Vec<u32> = index.of(record).0.to_vec();
            for word in of_record {
                index.having.entry(word).or_default();
            }
        }
        let mut having = std::mem::take(&mut index.having);
        for record in first..all {
            for word in index.of(record).0 {
                if let Some(records) = having.get_mut(word).filter(|it| it.len() <= common) {
                    records.push(record);
                }
            }
        }
        having.retain(|_, records| records.len() <= common);
        Ok(Self { having, ..index })
    }

    /// A record's words and their weights.
    fn of(&self, record: u32) -> (&[u32], &[f32]) {
        match self.field.codes[record as usize] {
            MISSING => (&[], &[]),
            code => self.words.get(code as usize),
        }
    }

    fn squares(&self, record: u32) -> f64 {
        self.of(record).1.iter().map(|&weight| f64::from(weight).powi(2)).sum()
    }
}

/// Pairs that are alike in their rare words.
pub(super) fn find(sample: &TableSample, scorer: &Scorer) -> Result<Neighbours> {
    let (first, all) = (sample.len(), scorer.fields[0].codes.len() as u32);
    let words = |field| WordIndex::new(field, first, all, sample.size.common);
    let fields = scorer.fields.iter().map(words).collect::<Result<Vec<_>>>()?;
    let squares = |record: u32| fields.iter().map(|field| field.squares(record)).sum::<f64>();
    let of = |a: u32| {
        let mut dots: HashMap<u32, f64> = HashMap::new();
        for field in &fields {
            let (words, weights) = field.of(a);
            for (word, &weight) in words.iter().zip(weights) {
                for &b in field.having.get(word).into_iter().flatten() {
                    *dots.entry(b).or_default() += f64::from(weight).powi(2);
                }
            }
        }
        let length = squares(a);
        let cosine = |(b, dot): (u32, f64)| (dot / (length * squares(b)).sqrt(), a, b);
        let dots = dots.into_iter().filter(|&(b, _)| !sample.is_same(a, b));
        let mut alike: Vec<(f64, u32, u32)> =
            dots.map(cosine).filter(|pair| pair.0 >= ALIKE).collect();
        alike.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.2.cmp(&y.2)));
        alike.truncate(sample.size.each);
        alike
    };
    let mut alike: Vec<(f64, u32, u32)> = (0..first).into_par_iter().flat_map_iter(of).collect();
    alike.sort_by_key(|pair| (pair.1, pair.2));
    let mut best = vec![0.0f64; all as usize];
    for &(cosine, a, b) in &alike {
        for record in [a, b] {
            best[record as usize] = best[record as usize].max(cosine);
        }
    }
    let guessed = |&(cosine, a, b): &(f64, u32, u32)| {
        cosine >= GUESSED && [a, b].iter().all(|&record| best[record as usize] == cosine)
    };
    Ok(Neighbours {
        random: random(sample, all, (alike.len() / 10).max(LEAST_RANDOM)),
        guessed: alike.iter().map(guessed).collect(),
        alike: alike.iter().map(|&(_, a, b)| (a, b)).collect(),
    })
}

/// Pairs of a record of the sample and another, drawn at random.
pub(super) fn random(sample: &TableSample, all: u32, count: usize) -> Vec<(u32, u32)> {
    const SEED: u64 = 0x6f74_6865_7273;
    let first = sample.len();
    let draw = |number: u64, from: u32, to: u32| {
        from + ((u128::from(mix64(number, SEED)) * u128::from(to - from)) >> 64) as u32
    };
    let pair = |number: u64| (draw(2 * number, 0, first), draw(2 * number + 1, first, all));
    (0..count as u64).map(pair).filter(|&(a, b)| !sample.is_same(a, b)).collect()
}
