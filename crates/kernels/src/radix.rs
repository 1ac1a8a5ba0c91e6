//! Sorting numbers that are as good as random, digit by digit.

use crate::settle_hashes;

/// Sorts by the high half, which is as good as random; entries that agree in it stay in order.
pub fn sort_by_high_half(entries: &mut [u64], buffer: &mut Vec<u64>) {
    /// Fewer entries are sorted faster by comparing.
    const FEW: usize = 512;
    match entries.len() {
        0..FEW => return entries.sort_by_key(|entry| entry >> 32),
        FEW..MANY => passes::<8, { 1 << 8 }, 2>(entries, buffer, 48),
        _ => return passes::<11, { 1 << 11 }, 3>(entries, buffer, 32),
    }
    if !settle(entries, |entry| entry >> 32) {
        entries.sort_by_key(|entry| entry >> 32);
    }
}

/// Sorts hashes.
pub fn sort_hashes(hashes: &mut [u64], buffer: &mut Vec<u64>) {
    match hashes.len() {
        0..64 => return hashes.sort_unstable(),
        64..MANY => passes::<8, { 1 << 8 }, 2>(hashes, buffer, 48),
        _ => passes::<11, { 1 << 11 }, 2>(hashes, buffer, 42),
    }
    if !settle_hashes(hashes) {
        hashes.sort_unstable();
    }
}

/// Sorts entries by their first number; those that agree in it stay in order. It takes a pass for each byte in which not all
/// numbers agree, so it is for numbers that have few of those.
pub fn sort_entries(entries: &mut Vec<[u64; 2]>, buffer: &mut Vec<[u64; 2]>) {
    /// Fewer entries are sorted faster by comparing.
    const FEW: usize = 64;
    if entries.len() < FEW {
        return entries.sort_by_key(|entry| entry[0]);
    }
    let first = entries[0][0];
    let differing = entries.iter().fold(0, |bits, entry| bits | (entry[0] ^ first));
    buffer.resize(entries.len(), [0; 2]);
    for shift in (0..64).step_by(8).filter(|shift| differing >> shift & 0xff != 0) {
        let digit = |entry: &[u64; 2]| (entry[0] >> shift) as usize & 0xff;
        let mut places = [0usize; 256];
        entries.iter().for_each(|entry| places[digit(entry)] += 1);
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for entry in &*entries {
            let place = &mut places[digit(entry)];
            buffer[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, buffer);
    }
}

/// From this many values on, longer digits take less time.
const MANY: usize = 4096;

/// Sorts values that two passes over their first bits have brought nearly in order; those with the same key stay in order.
/// Returns false if it gave up, as it may where values are not as good as random.
#[inline(always)]
pub(crate) fn settle(values: &mut [u64], key: impl Fn(u64) -> u64) -> bool {
    /// Values that are looked at together: as a rule they are in order.
    const BLOCK: usize = 16;
    let mut steps_left = 8 * values.len();
    let mut from = 1;
    while from < values.len() {
        let end = (from + BLOCK).min(values.len());
        let neighbours = values[from - 1..end - 1].iter().zip(&values[from..end]);
        let descends = |any, (&before, &value): (&u64, &u64)| any | (key(before) > key(value));
        if neighbours.fold(false, descends) {
            for i in from..end {
                let value = values[i];
                let mut at = i;
                while at > 0 && key(values[at - 1]) > key(value) {
                    values[at] = values[at - 1];
                    at -= 1;
                }
                values[at] = value;
                match steps_left.checked_sub(i - at) {
                    Some(left) => steps_left = left,
                    None => return false,
                }
            }
        }
        from = end;
    }
    true
}

/// Sorts by `PASSES` digits of `BITS` bits above `shift`, of `SIZE` values each; what agrees in them stays in
/// order.
fn passes<const BITS: u32, const SIZE: usize, const PASSES: usize>(
    values: &mut [u64],
    buffer: &mut Vec<u64>,
    shift: u32,
) {
    let digit =
        |value: u64, pass: usize| (value >> (shift + pass as u32 * BITS)) as usize & (SIZE - 1);
    let mut places = [[0u32; SIZE]; PASSES];
    for &value in &*values {
        for (pass, places) in places.iter_mut().enumerate() {
            places[digit(value, pass)] += 1;
        }
    }
    if buffer.len() < values.len() {
        buffer.resize(values.len(), 0);
    }
    let count = values.len();
    let (mut from, mut to) = (values, &mut buffer[..count]);
    for (pass, places) in places.iter_mut().enumerate() {
        let mut start = 0;
        for place in places.iter_mut() {
            start += std::mem::replace(place, start);
        }
        for &value in &*from {
            let place = &mut places[digit(value, pass)];
            // SAFETY: the places of a digit are as many as there are values with it, those of all digits
            // together as many as there are values.
            unsafe { *to.get_unchecked_mut(*place as usize) = value };
            *place += 1;
        }
        (from, to) = (to, from);
    }
    if PASSES % 2 == 1 {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::mix;

    #[test]
    fn entries_come_out_as_from_a_stable_sort() {
        for (count, keys) in [
            (0, 1),
            (1, 1),
            (511, 100),
            (512, 100),
            (900, 7),
            (4_000, u32::MAX),
            (10_000, 50),
            (70_000, u32::MAX),
        ] {
            let entry = |i: usize| (mix(i as u64, 3) % u64::from(keys)) << 32 | i as u64;
            let mut entries: Vec<u64> = (0..count).map(entry).collect();
            let mut expected = entries.clone();
            expected.sort_by_key(|entry| entry >> 32);
            sort_by_high_half(&mut entries, &mut Vec::new());
            assert_eq!(entries, expected);
        }
    }

    #[test]
    fn entries_of_two_numbers_come_out_as_from_a_stable_sort() {
        let kinds: [fn(u64) -> u64; 5] = [
            |_| 7,
            |i| mix(i, 5) % 300,
            |i| ((mix(i, 5) % 100) << 32) | (mix(i, 6) % 70_000),
            |i| mix(i, 5),
            |i| u64::MAX - i,
        ];
        for kind in kinds {
            for count in [0, 1, 63, 64, 700, 9000] {
                let mut entries: Vec<[u64; 2]> = (0..count).map(|i| [kind(i), i]).collect();
                let mut expected = entries.clone();
                expected.sort_by_key(|entry| entry[0]);
                sort_entries(&mut entries, &mut vec![[1; 2]; 800]);
                assert_eq!(entries, expected);
            }
        }
    }

    #[test]
    fn all_kinds_of_numbers_are_sorted() {
        let kinds: [fn(u64) -> u64; 6] = [
            |i| mix(i, 5),
            |i| mix(i, 5) >> 32,
            |i| mix(i % 10, 5),
            |i| i,
            |i| u64::MAX - i,
            |i| mix(i, 5) << 60 | mix(i, 6) >> 20,
        ];
        for kind in kinds {
            for count in [0, 1, 63, 64, 65, 700, 4095, 4096, 9000] {
                let mut hashes: Vec<u64> = (0..count).map(kind).collect();
                let mut expected = hashes.clone();
                expected.sort_unstable();
                sort_hashes(&mut hashes, &mut Vec::new());
                assert_eq!(hashes, expected);
            }
        }
    }
}
