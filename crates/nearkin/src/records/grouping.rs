//! Which of the pairs that score enough are taken?

use std::collections::HashMap;

use rayon::prelude::*;

use super::{MOST_PAIRS, Match, Scorer, sorted};
use crate::{Error, Result};

/// Each record in at most one pair: the pair with the highest score is taken first, then the next whose records are
/// still free. Of equal scores the records that come first.
pub fn one_to_one(mut matches: Vec<Match>, records: usize) -> Vec<Match> {
    by_score(&mut matches);
    let mut taken = vec![false; records];
    matches.retain(|pair| {
        let free = !taken[pair.a as usize] && !taken[pair.b as usize];
        if free {
            taken[pair.a as usize] = true;
            taken[pair.b as usize] = true;
        }
        free
    });
    sorted(matches)
}

fn by_score(matches: &mut [Match]) {
    matches
        .par_sort_unstable_by(|x, y| y.score.total_cmp(&x.score).then((x.a, x.b).cmp(&(y.a, y.b))));
}

/// Pairs of two clusters that are scored, at most, to see whether they match on average.
const LOOKED_AT: usize = 10_000;

/// By record, the first of its cluster.
///
/// Pairs are taken from the highest score down, and two clusters become one when their records score the threshold on
/// average: one record that is like two clusters does not make one of them, as it does where every chain of matches is
/// a cluster. Scores below 0 count 0 there, so that one odd record does not split what the others hold together.
///
/// # Errors
/// When it was stopped.
pub fn clusters(
    mut matches: Vec<Match>,
    records: usize,
    threshold: f64,
    scorer: &Scorer,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<u32>> {
    by_score(&mut matches);
    let mut of: Vec<u32> = (0..records as u32).collect();
    let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
    // The sizes at which two clusters did not match.
    let mut apart: HashMap<(u32, u32), (usize, usize)> = HashMap::new();
    let floor = if threshold > 0.0 { 0.0 } else { f64::NEG_INFINITY };
    for (at, pair) in matches.iter().enumerate() {
        if at % 1024 == 0 && stopped() {
            return Err(Error::Interrupted);
        }
        let (x, y) = (of[pair.a as usize], of[pair.b as usize]);
        let (x, y) = (x.min(y), x.max(y));
        if x == y {
            continue;
        }
        let [first, second] = [x, y].map(|it| members.get(&it).map_or(1, Vec::len));
        if apart.get(&(x, y)) == Some(&(first, second)) {
            continue;
        }
        let alone = (first, second) == (1, 1);
        let mut xs = members.remove(&x).unwrap_or_else(|| vec![x]);
        let ys = members.remove(&y).unwrap_or_else(|| vec![y]);
        if alone || average(&xs, &ys, scorer, floor) >= threshold {
            ys.iter().for_each(|&record| of[record as usize] = x);
            xs.extend(ys);
            members.insert(x, xs);
        } else {
            apart.insert((x, y), (first, second));
            members.insert(x, xs);
            members.insert(y, ys);
        }
    }
    // Named by the smallest member, which the first of a cluster need not be.
    for cluster in members.values() {
        let first = cluster.iter().min().copied().unwrap_or_default();
        cluster.iter().for_each(|&record| of[record as usize] = first);
    }
    Ok(of)
}

/// The mean score of the records of one cluster with those of another; of large ones, of some evenly spread ones.
fn average(xs: &[u32], ys: &[u32], scorer: &Scorer, floor: f64) -> f64 {
    let pairs = xs.len() * ys.len();
    let step = pairs.div_ceil(LOOKED_AT);
    let looked_at = (0..pairs).step_by(step);
    let count = looked_at.len() as f64;
    let score = |at: usize| scorer.score(xs[at % xs.len()], ys[at / xs.len()]).max(floor);
    looked_at.map(score).sum::<f64>() / count
}

/// Every pair of two records of one cluster, with its score.
///
/// # Errors
/// When they are too many to hold.
pub fn pairs_within(clusters: &[u32], scorer: &Scorer) -> Result<Vec<Match>> {
    let mut records: Vec<u32> = (0..clusters.len() as u32).collect();
    records.sort_by_key(|&record| clusters[record as usize]);
    let same = |a: &u32, b: &u32| clusters[*a as usize] == clusters[*b as usize];
    let groups: Vec<&[u32]> = records.chunk_by(same).filter(|group| group.len() > 1).collect();
    let count: usize = groups.iter().map(|group| group.len() * (group.len() - 1) / 2).sum();
    if count > MOST_PAIRS {
        let must = format!("higher: the clusters have {count} pairs");
        return Err(Error::parameter("threshold", "too low", must));
    }
    let rows =
        groups.par_iter().flat_map_iter(|group| (0..group.len()).map(move |at| &group[at..]));
    let pairs = rows.flat_map_iter(|row| {
        let score = |&b: &u32| Match { a: row[0], b, score: scorer.score(row[0], b) };
        row[1..].iter().map(score)
    });
    Ok(sorted(pairs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_pair_is_taken_first() {
        let pair = |a, b, score| Match { a, b, score };
        let matches = vec![pair(0, 3, 90.0), pair(0, 4, 95.0), pair(1, 4, 94.0), pair(1, 5, 10.0)];
        assert_eq!(one_to_one(matches, 6), [pair(0, 4, 95.0), pair(1, 5, 10.0)]);
        let equal = vec![pair(1, 2, 5.0), pair(0, 2, 5.0)];
        assert_eq!(one_to_one(equal, 3), [pair(0, 2, 5.0)]);
    }
}
