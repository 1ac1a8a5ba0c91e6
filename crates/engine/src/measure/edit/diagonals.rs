//! Edit distances of strings that are few edits apart: how far does each diagonal of the edit grid get?
//!
//! On a diagonal, the numbers of symbols used up of x and y have a fixed difference. With each further edit it is enough to
//! know the furthest point of every diagonal, because from there everything is reached that a nearer point can reach:
//! Ukkonen, "Algorithms for Approximate String Matching" (1985), and Myers (1986).

/// Up to this many edits, the points of [`furthest_swapping`] fit on the stack, and diagonals are faster than words, however
/// short the strings are.
pub(super) const FEW_EDITS: usize = 8;

const DIAGONALS: usize = 2 * FEW_EDITS + 1;

/// Stands for a diagonal that is not reached; stays below 0 when a few edits are added.
const NEVER: isize = isize::MIN / 2;

/// The fewest inserts and deletes, if at most `limit`.
///
/// Points beyond the end of a string are points of a string with symbols there that match nothing; going
/// through them is no shorter.
pub(super) fn furthest_reaching<T: Eq>(x: &[T], y: &[T], limit: usize) -> Option<usize> {
    let goal = x.len() as isize - y.len() as isize;
    // The distance has the parity of |x| − |y|.
    let limit = limit.min(x.len() + y.len()) as isize;
    let limit = limit - (limit - goal).rem_euclid(2);
    // reach[centre + k]: the most symbols of x used up on diagonal k, which is x used − y used.
    let centre = limit + 1;
    let (mut few, mut many) = ([0; DIAGONALS + 2], Vec::new());
    let reach = if limit <= FEW_EDITS as isize {
        &mut few[..]
    } else {
        many.resize(2 * centre as usize + 1, 0isize);
        &mut many[..]
    };
    for edits in 0..=limit {
        // Diagonals from which the goal takes more edits than are left are not followed.
        let left = limit - edits;
        for k in ((-edits).max(goal - left)..=edits.min(goal + left)).step_by(2) {
            let at = (centre + k) as usize;
            let insert = k == -edits || (k != edits && reach[at - 1] < reach[at + 1]);
            let i = match edits {
                0 => 0,
                _ if insert => reach[at + 1],
                _ => reach[at - 1] + 1,
            };
            reach[at] = slide(x, y, i, k);
            if k == goal && reach[at] >= x.len() as isize {
                return Some(edits as usize);
            }
        }
    }
    None
}

/// From a point of diagonal k that has used up i symbols of x, past all that are equal.
#[inline]
fn slide<T: Eq>(x: &[T], y: &[T], i: isize, k: isize) -> isize {
    match (x.get(i as usize..), y.get((i - k) as usize..)) {
        (Some(x), Some(y)) => i + x.iter().zip(y).take_while(|(p, q)| p == q).count() as isize,
        _ => i,
    }
}

/// The fewest inserts, deletes, replacements and swaps, if at most `limit`, which is at most [`FEW_EDITS`].
///
/// A swap with g symbols of one string in its gap costs g + 1 edits and leads g diagonals to the side. It,
/// too, may start from the furthest point only: one that starts before that ends no further than g edits of
/// that gap and a replacement from the furthest point do.
pub(super) fn furthest_swapping<T: Eq>(x: &[T], y: &[T], limit: usize) -> Option<usize> {
    let goal = x.len() as isize - y.len() as isize;
    let limit = limit.min(FEW_EDITS) as isize;
    // reach[e][FEW_EDITS + k]: the most symbols of x used up on diagonal k after e edits.
    let mut reach = [[NEVER; DIAGONALS]; FEW_EDITS + 1];
    for edits in 0..=limit {
        let left = limit - edits;
        for k in (-edits).max(goal - left)..=edits.min(goal + left) {
            let i = if edits == 0 { 0 } else { furthest(x, y, &reach, edits, k) };
            let i = slide(x, y, i, k);
            reach[edits as usize][(FEW_EDITS as isize + k) as usize] = i;
            if k == goal && i >= x.len() as isize {
                return Some(edits as usize);
            }
        }
    }
    None
}

/// Where the last edit of `edits` leads on diagonal k.
#[inline]
fn furthest<T: Eq>(
    x: &[T],
    y: &[T],
    reach: &[[isize; DIAGONALS]; FEW_EDITS + 1],
    edits: isize,
    k: isize,
) -> isize {
    let before = |fewer: isize, k: isize| match (FEW_EDITS as isize + k) as usize {
        at @ ..DIAGONALS => reach[(edits - fewer) as usize][at],
        _ => NEVER,
    };
    let mut best = (before(1, k - 1) + 1).max(before(1, k + 1)).max(before(1, k) + 1);
    for gap in 0..edits {
        // The gap's symbols lie in x between the swapped ones, or in y.
        for (from, [in_x, in_y]) in [(k - gap, [gap, 0]), (k + gap, [0, gap])] {
            let i = before(gap + 1, from);
            if i >= 0 && swapped(x, y, [i, i - from], [in_x, in_y]) {
                best = best.max(i + in_x + 2);
            }
        }
    }
    best
}

/// Whether each of the symbols at these places of x and y stands in the other string as well, with `in_x` and `in_y`
/// symbols between.
#[inline]
fn swapped<T: Eq>(x: &[T], y: &[T], [i, j]: [isize; 2], [in_x, in_y]: [isize; 2]) -> bool {
    let (of_x, of_y) = (x.get(i as usize..), y.get(j as usize..));
    match (of_x.unwrap_or_default(), of_y.unwrap_or_default()) {
        ([a, rest_x @ ..], [b, rest_y @ ..]) => {
            rest_y.get(in_y as usize) == Some(a) && rest_x.get(in_x as usize) == Some(b)
        }
        _ => false,
    }
}
