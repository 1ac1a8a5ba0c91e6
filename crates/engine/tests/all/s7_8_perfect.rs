//! S7.8: a fixed key set in two levels: O(n) space, one probe.

use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::textbook::PerfectHash;
use proptest::collection::hash_set;
use proptest::prelude::*;

/// Every key is at its place, and nothing else is.
fn assert_serves(keys: &[u64], others: impl IntoIterator<Item = u64>) -> PerfectHash {
    let table = PerfectHash::new(keys, 7).expect("the keys differ");
    assert_eq!((table.len(), table.is_empty()), (keys.len(), keys.is_empty()));
    for (place, &key) in keys.iter().enumerate() {
        assert_eq!(table.get(key), Some(place as u32), "{key}");
    }
    for other in others {
        assert_eq!(table.get(other), None, "{other}");
    }
    table
}

#[test]
fn s7_8_no_keys() {
    let table = assert_serves(&[], [0, 1, u64::MAX]);
    assert_eq!(table.slots(), 0);
}

#[test]
fn s7_8_one_key_and_the_ends_of_the_range() {
    for key in [0, 1, u64::MAX] {
        assert_serves(&[key], [2, key.wrapping_add(1), key ^ 1 << 63]);
    }
    assert_serves(&[0, u64::MAX], [1, 1 << 32, u64::from(u32::MAX)]);
}

/// An empty slot has a key of 0 in it, which must not be found.
#[test]
fn s7_8_zero_is_a_key_like_any_other() {
    let keys: Vec<u64> = SplitMix::new(3).take(1000).collect();
    assert_serves(&keys, [0]);
}

#[test]
fn s7_8_random_keys() {
    let mut draw = SplitMix::new(1);
    let keys: Vec<u64> = draw.by_ref().take(200_000).collect();
    let table = assert_serves(&keys, draw.take(200_000));
    // The squares of the bucket sizes sum to 2n − 1 on average.
    assert!((380_000..420_000).contains(&table.slots()), "{} slots", table.slots());
}

/// Keys that weak functions throw together.
#[test]
fn s7_8_regular_keys_take_linear_space_too() {
    let n = 100_000u64;
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let sets: [Box<dyn Fn(u64) -> u64>; 6] = [
        Box::new(|i| i),
        Box::new(|i| i << 32),
        Box::new(|i| i << 46),
        Box::new(|i| u64::MAX - i * 1024),
        Box::new(|i| i * i),
        Box::new(move |i| i.wrapping_mul(golden)),
    ];
    for set in sets {
        let keys: Vec<u64> = (0..n).map(&set).collect();
        let table = assert_serves(&keys, (n..2 * n).map(&set));
        assert!(table.slots() <= 220_000, "{} slots", table.slots());
    }
}

/// The bound of the scheme, 4n slots, also where n is too small for averages to hold.
#[test]
fn s7_8_space_is_linear_at_every_size() {
    for n in 1..300 {
        for seed in 0..20 {
            let keys: Vec<u64> = SplitMix::new(seed).take(n).collect();
            let table = PerfectHash::new(&keys, seed).expect("the keys differ");
            assert!((n..=4 * n).contains(&table.slots()), "{n} keys: {} slots", table.slots());
            assert!(table.bytes() <= 56 * n + 12, "{n} keys: {} bytes", table.bytes());
        }
    }
}

#[test]
fn s7_8_same_seed_same_table() {
    let keys: Vec<u64> = SplitMix::new(5).take(10_000).collect();
    assert_eq!(PerfectHash::new(&keys, 9).ok(), PerfectHash::new(&keys, 9).ok());
}

#[test]
fn s7_8_a_repeated_key_is_an_error() {
    let few = PerfectHash::new(&[4, 9, 4], 1).expect_err("4 is there twice");
    assert_eq!(few.to_string(), "`keys` is 4 twice; it must be different");
    // So many copies that no draw would ever keep to the bound.
    assert!(PerfectHash::new(&[4; 10_000], 1).is_err());
}

proptest! {
    #[test]
    fn s7_8_any_keys(keys in hash_set(any::<u64>(), 0..200), others in hash_set(any::<u64>(), 0..50)) {
        let keys: Vec<u64> = keys.into_iter().collect();
        let others = others.into_iter().filter(|other| !keys.contains(other));
        assert_serves(&keys, others);
    }
}
