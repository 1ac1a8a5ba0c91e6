//! A set laid out so that others are quickly compared with it.

use crate::found_in;

/// A set of numbers that are as good as random, to be compared with several others.
///
/// A number stands at the place that its first bits name, or up to three places behind it if that is taken: a single load
/// looks at all four. There are two to four places per number, so all but about one in a hundred find room. The others are
/// looked up one by one.
#[derive(Debug, Default)]
pub struct Lookup {
    places: Vec<u64>,
    shift: u32,
    without_place: Vec<u64>,
}

/// Places that are looked at for a number.
pub(crate) const WINDOW: usize = 4;

impl Lookup {
    /// Takes a set, sorted and without repeats, in place of the one before. Returns false if that would not pay: for numbers
    /// whose first bits are all the same, or if they would take too much room.
    pub fn take(&mut self, set: &[u64]) -> bool {
        const MOST: usize = 1 << 16;
        if set.len() > MOST {
            return false;
        }
        let bits = set.len().max(4).ilog2() + 2;
        self.shift = 64 - bits;
        self.without_place.clear();
        // What stands in a free place must not be looked for there: 0 is looked for in the first places only, and the
        // largest number in none of them.
        self.places.clear();
        self.places.resize((1 << bits) + WINDOW - 1, 0);
        self.places[..WINDOW].fill(u64::MAX);
        let mut next = 0;
        for &number in set {
            let first = (number >> self.shift) as usize;
            let place = first.max(next);
            if place < first + WINDOW {
                self.places[place] = number;
                next = place + 1;
            } else {
                self.without_place.push(number);
            }
        }
        self.without_place.len() <= 4 + set.len() / 16
    }

    /// How many numbers of another set, sorted and without repeats, are in this one.
    pub fn shared(&self, other: &[u64]) -> usize {
        let without_place = self.without_place.iter().filter(|&&number| contains(other, number));
        found_in(&self.places, self.shift, other) + without_place.count()
    }
}

/// Whether a sorted list of numbers that are as good as random contains a number: it is not far from where it should be.
fn contains(numbers: &[u64], number: u64) -> bool {
    /// Steps after which they are not taken for random any more.
    const FAR: usize = 256;
    let guess = ((u128::from(number) * numbers.len() as u128) >> 64) as usize;
    let mut at = guess;
    while at > 0 && numbers[at - 1] >= number && guess - at < FAR {
        at -= 1;
    }
    while at < numbers.len() && numbers[at] < number && at < guess + FAR {
        at += 1;
    }
    numbers.get(at) == Some(&number) || numbers.binary_search(&number).is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_shared_is_counted(
            a in btree_set(0u64..300, 0..200),
            b in btree_set(0u64..300, 0..200),
            factor in prop_oneof![Just(1), Just(u64::MAX / 299), any::<u64>().prop_map(|x| x | 1)],
            turn in 0u32..64,
        ) {
            let expected = a.intersection(&b).count();
            // Spread evenly, at either end, or all over the place: some get no place.
            let slice = |set: &BTreeSet<u64>| {
                let spread = set.iter().map(|x| x.wrapping_mul(factor).rotate_left(turn));
                spread.collect::<BTreeSet<u64>>().into_iter().collect::<Vec<u64>>()
            };
            let mut lookup = Lookup::default();
            lookup.take(&[1, 2, 3]);
            lookup.take(&slice(&a));
            prop_assert_eq!(lookup.shared(&slice(&b)), expected);
        }
    }

    #[test]
    fn it_is_known_what_makes_no_sense() {
        let mut lookup = Lookup::default();
        let random = |count: u64| {
            let mut set: Vec<u64> = (0..count).map(|i| crate::scalar::mix(i, 3)).collect();
            set.sort_unstable();
            set
        };
        assert!([0, 1, 9, 127, 128, 1000, 60_000].iter().all(|&count| lookup.take(&random(count))));
        assert!(!lookup.take(&random(70_000)));
        let narrow: Vec<u64> = random(1000).iter().map(|number| number >> 32).collect();
        assert!(!lookup.take(&narrow));
    }

    #[test]
    fn the_smallest_and_the_largest_number_are_not_taken_for_free_places() {
        let ends = [0, 1, u64::MAX - 1, u64::MAX];
        for set in [&[][..], &[5], &[0], &[u64::MAX], &[1 << 63], &ends] {
            let mut lookup = Lookup::default();
            lookup.take(set);
            let expected = ends.iter().filter(|end| set.contains(end)).count();
            assert_eq!(lookup.shared(&ends), expected, "{set:?}");
        }
    }
}
