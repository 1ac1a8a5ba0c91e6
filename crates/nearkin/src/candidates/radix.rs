//! Sorting by the high half of 64-bit entries, as good as random, in three passes.

/// Fewer entries than this are sorted faster by comparing.
const FEW: usize = 512;
const BITS: u32 = 11;

/// Sorts by the high half; entries that agree in it stay in order.
pub(super) fn sort(entries: &mut Vec<u64>) {
    if entries.len() < FEW {
        // Entries mostly come with their low halves ascending, and all that agree need not.
        entries.sort_by_key(|entry| entry >> 32);
        return;
    }
    let mut counts = [[0u32; 1 << BITS]; 3];
    let digit = |entry: u64, pass: u32| (entry >> (32 + pass * BITS)) as usize & ((1 << BITS) - 1);
    for &entry in &*entries {
        for pass in 0..3 {
            counts[pass as usize][digit(entry, pass)] += 1;
        }
    }
    let mut other = vec![0; entries.len()];
    for pass in 0..3 {
        let places = &mut counts[pass as usize];
        let mut start = 0;
        for place in places.iter_mut() {
            start += std::mem::replace(place, start);
        }
        for &entry in &*entries {
            let place = &mut places[digit(entry, pass)];
            other[*place as usize] = entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::hash::mix64;

    #[test]
    fn entries_come_out_as_from_a_stable_sort() {
        for (count, keys) in
            [(0, 1), (1, 1), (FEW - 1, 100), (FEW, 100), (10_000, 50), (70_000, u32::MAX)]
        {
            let entry = |i: usize| (mix64(i as u64, 3) % u64::from(keys)) << 32 | i as u64;
            let mut entries: Vec<u64> = (0..count).map(entry).collect();
            let mut expected = entries.clone();
            expected.sort_by_key(|entry| entry >> 32);
            sort(&mut entries);
            assert_eq!(entries, expected);
        }
    }
}
