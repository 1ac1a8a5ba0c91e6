//! The full suffix filter of PPJoin+ (Xiao, Wang, Lin and Yu, *Efficient Similarity Joins for Near Duplicate
//! Detection*, 2008).
//!
//! A symbol from the middle of one string cuts both in two. Each half of the one can share with the same half of the
//! other no more than the shorter of the two has, and so on within the halves.

/// How often halves are halved.
const DEPTH: u32 = 2;

/// Whether two sorted lists are seen to share fewer than `need`.
pub(super) fn suffixes_differ(a: &[u32], b: &[u32], need: usize) -> bool {
    let (all, shorter) = (a.len() + b.len(), a.len().min(b.len()));
    if shorter < need {
        return true;
    }
    let most = all - 2 * need;
    least_difference(a, b, most, DEPTH) > most
}

/// A lower bound of the number of elements that only one of two lists has. Above `most` it need not be exact.
fn least_difference(a: &[u32], b: &[u32], most: usize, depth: u32) -> usize {
    let lengths = a.len().abs_diff(b.len());
    if depth == 0 || lengths > most || a.is_empty() || b.is_empty() {
        return lengths;
    }
    let middle = b.len() / 2;
    let (b_left, b_right) = (&b[..middle], &b[middle + 1..]);
    let (a_left, rest) = a.split_at(a.partition_point(|&symbol| symbol < b[middle]));
    let shared = rest.first() == Some(&b[middle]);
    let a_right = &rest[usize::from(shared)..];
    let here = usize::from(!shared);
    let right = a_right.len().abs_diff(b_right.len());
    if a_left.len().abs_diff(b_left.len()) + right + here > most {
        return a_left.len().abs_diff(b_left.len()) + right + here;
    }
    let left = least_difference(a_left, b_left, most - right - here, depth - 1);
    if left + right + here > most {
        return left + right + here;
    }
    left + here + least_difference(a_right, b_right, most - left - here, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_shared_is_never_denied(
            a in btree_set(0u32..60, 0..40),
            b in btree_set(0u32..60, 0..40),
        ) {
            let shared = a.intersection(&b).count();
            let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().collect(), b.into_iter().collect());
            for need in 0..=shared {
                prop_assert!(!suffixes_differ(&a, &b, need));
            }
        }
    }

    #[test]
    fn halves_that_do_not_fit_are_noticed() {
        let a: Vec<u32> = (0..8).collect();
        let b: Vec<u32> = (4..12).collect();
        assert!(suffixes_differ(&a, &b, 7));
        assert!(!suffixes_differ(&a, &b, 4));
    }
}
