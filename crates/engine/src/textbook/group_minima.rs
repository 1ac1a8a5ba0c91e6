//! Plain one-permutation hashing: one pass, one hash, the elements thrown into groups, each of which keeps its smallest.
//!
//! Elements come in, one minimum per group goes out (*Mining of Massive Datasets*, 3.3.7; Li, Owen and Zhang 2012).
//! Groups may stay unfilled, which is fine for estimating and bad for banding: two small sets that leave the same groups
//! unfilled would look alike there, and a band of unfilled groups is a bucket for everyone. Runs use
//! [`OnePermutation`](crate::family::OnePermutation), which fills them.

use super::hash_family::HashFamily;
use super::signature::Signature;
use crate::{Error, Result};

/// Plain one-permutation hashing, with function 0 of a family.
#[derive(Debug, Clone)]
pub struct GroupMinima<F> {
    family: F,
    groups: usize,
    rows: Option<u64>,
}

impl<F: HashFamily> GroupMinima<F> {
    /// The rows 0, 1, 2, … in consecutive groups of `rows` each: element x belongs to group
    /// x / `rows`. Elements after the last group are left out.
    ///
    /// # Errors
    /// When `groups` or `rows` is 0, or the family has no function.
    pub fn by_rows(family: F, groups: usize, rows: u64) -> Result<Self> {
        if rows == 0 {
            return Err(Error::parameter("rows", rows, "at least 1"));
        }
        Ok(Self { rows: Some(rows), ..Self::by_hash(family, groups)? })
    }

    /// Elements in the group that their hash value modulo `groups` names.
    ///
    /// # Errors
    /// When `groups` is 0 or the family has no function.
    pub fn by_hash(family: F, groups: usize) -> Result<Self> {
        if groups == 0 {
            return Err(Error::parameter("groups", groups, "at least 1"));
        }
        if family.functions() == 0 {
            return Err(Error::parameter("functions", 0, "at least 1"));
        }
        Ok(Self { family, groups, rows: None })
    }

    /// The smallest hash value of each group, ∞ where no element fell. Compare two with
    /// [`Signature::estimate`], which leaves out the groups that both sets left unfilled.
    pub fn signature(&self, elements: &[u64]) -> Signature {
        let mut signature = Signature::empty(self.groups);
        for &x in elements {
            signature.has_elements();
            let value = self.family.hash(0, x);
            let group = self.rows.map_or(value % self.groups as u64, |rows| x / rows);
            if group < self.groups as u64 {
                signature.lower(group as usize, value);
            }
        }
        signature
    }
}

/// The variance of the similarity estimated from [`GroupMinima::by_hash`] signatures of `groups` groups,
/// for sets of the given similarity whose union has `union` elements.
///
/// The m groups that hold something have m different elements of the union as minima, drawn without
/// replacement, so the estimate is hypergeometric given m:
/// `Var = J(1 − J) · (E[1/m]·(1 + 1/(f − 1)) − 1/(f − 1))` with f the size of the union, the formula
/// of Li, Owen and Zhang. E\[1/m\] is computed exactly. Because nothing is drawn twice this never
/// exceeds the J(1 − J)/k of k independent hash functions.
pub fn variance(similarity: f64, union: usize, groups: usize) -> f64 {
    if union <= 1 || groups == 0 {
        return 0.0;
    }
    let rest = 1.0 / (union as f64 - 1.0);
    similarity * (1.0 - similarity) * (mean_inverse_filled(union, groups) * (1.0 + rest) - rest)
}

/// E[1/m] for m the number of groups hit by `throws` ≥ 1 random throws.
fn mean_inverse_filled(throws: usize, groups: usize) -> f64 {
    let k = groups as f64;
    // share[m] = P[m groups are filled]; a throw hits one of them with probability m/k.
    let mut share = vec![0.0; groups + 1];
    share[1] = 1.0;
    for thrown in 1..throws {
        for m in (1..=groups.min(thrown + 1)).rev() {
            share[m] = share[m] * m as f64 / k + share[m - 1] * (groups - m + 1) as f64 / k;
        }
        if 1.0 - share[groups] < 1e-15 {
            break; // every group is filled, and stays so
        }
    }
    share.iter().enumerate().skip(1).map(|(m, p)| p / m as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 throws into 2 groups: 1 group with probability 1/4, else 2; E[1/m] = 1/4 + 3/8.
    #[test]
    fn mean_inverse_of_filled_groups() {
        assert_eq!(mean_inverse_filled(1, 5), 1.0);
        assert!((mean_inverse_filled(3, 2) - 0.625).abs() < 1e-15);
        assert!((mean_inverse_filled(1_000_000, 8) - 0.125).abs() < 1e-14);
    }
}
