//! Elements thrown into groups, and minima under many functions.

use crate::Throw;

/// The numbers that the later steps of a throw multiply by.
pub(crate) const FACTORS: [[u32; 2]; 2] = [[0xd6e8_feb9, 0x9e37_79b1], [0x85eb_ca6b, 0xc2b2_ae35]];

/// The difference between the keys of two rounds that follow each other.
const NEXT_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

impl Throw {
    /// The group of an element in the upper half, its value there in the lower.
    #[inline(always)]
    pub fn throw(&self, element: u64) -> u64 {
        let x = mix_halves(element ^ self.key, self.factors);
        let x = mix_halves(mix_halves(x, FACTORS[0]), FACTORS[1]);
        let group = ((x >> 32) * u64::from(self.groups)) >> 32;
        group << 32 | x & 0xffff_ffff
    }

    /// The throw of a later round: each has another key.
    #[inline(always)]
    #[must_use]
    pub fn round(&self, number: u64) -> Self {
        Self { key: self.key.wrapping_add(number.wrapping_mul(NEXT_KEY)), ..*self }
    }

    #[inline(always)]
    fn assert_places(&self, places: &[u32]) {
        assert!(self.groups > 0 && places.len() == self.groups as usize, "a place for each group");
    }
}

/// One step of a throw.
#[inline(always)]
fn mix_halves(x: u64, [low, high]: [u32; 2]) -> u64 {
    let (low, high) = ((x & 0xffff_ffff) * u64::from(low), (x >> 32) * u64::from(high));
    low ^ high.rotate_left(32)
}

/// See [`crate::throw_all`].
pub fn throw_all(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    thrown_all(throw, elements, values, throw_portion);
}

/// See [`crate::fill_open`].
pub fn fill_open(throw: &Throw, elements: &[u64], values: &mut [u32]) {
    open_filled(throw, elements, values, throw_portion);
}

/// Elements that are thrown at a time, before any value is looked at.
pub(crate) const PORTION: usize = 32;

/// Throws the first `count` of the elements.
fn throw_portion(throw: &Throw, elements: &[u64; PORTION], count: usize) -> [u64; PORTION] {
    let mut thrown = *elements;
    thrown.iter_mut().take(count).for_each(|x| *x = throw.throw(*x));
    thrown
}

/// [`throw_all`] for any way of throwing a portion.
#[inline(always)]
pub(crate) fn thrown_all(
    throw: &Throw,
    elements: &[u64],
    values: &mut [u32],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
) {
    throw.assert_places(values);
    in_portions(throw, elements, portion, |thrown| {
        for &thrown in thrown {
            // SAFETY: an element's group is below the number of groups.
            let value = unsafe { values.get_unchecked_mut((thrown >> 32) as usize) };
            *value = (*value).min(thrown as u32);
        }
    });
}

/// [`fill_open`] for any way of throwing a portion, to be compiled for several machines.
#[inline(always)]
pub(crate) fn open_filled(
    throw: &Throw,
    elements: &[u64],
    values: &mut [u32],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
) {
    /// Up to this many groups, the list of the open ones stands on the stack.
    const FEW: usize = 128;
    /// Elements that are gone over together: a whole number of portions.
    const MANY: usize = 8 * PORTION;
    throw.assert_places(values);
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let open = if values.len() <= FEW {
        &mut few[..]
    } else {
        many.resize(values.len(), 0);
        &mut many[..]
    };
    let mut count = 0;
    for (group, &value) in (0u32..).zip(&*values) {
        // Always written: which are open cannot be predicted.
        open[count] = group;
        count += usize::from(value == u32::MAX);
    }
    let throw = Throw { groups: 1, ..throw.round(1) };
    for elements in elements.chunks(MANY) {
        let mut mixed = [0; MANY];
        let mut length = 0;
        in_portions(&throw, elements, &portion, |thrown| {
            for (place, &thrown) in mixed[length..].iter_mut().zip(thrown) {
                *place = thrown as u32;
            }
            length += thrown.len();
        });
        let (groups, last) = open[..count].as_chunks();
        for groups in groups {
            fill_together(groups, &mixed[..length], values);
        }
        fill_last(last, &mut mixed, length, values);
    }
}

/// Brings the values of the last open groups, fewer than [`BLOCK`], down to the least of the first `length` elements.
#[inline(always)]
fn fill_last(last: &[u32], mixed: &mut [u32], length: usize, values: &mut [u32]) {
    /// Fewer open groups are filled one by one, each with several elements at a time.
    const ALONE: usize = 16;
    if last.len() >= ALONE {
        // Groups are filled together: one more often than once changes nothing.
        let mut together = [last[0]; BLOCK];
        together[..last.len()].copy_from_slice(last);
        return fill_together(&together, &mixed[..length], values);
    }
    // Blocks are whole: one element more often than once changes no minimum.
    let blocks = length.div_ceil(BLOCK);
    let first = mixed[0];
    mixed[length..blocks * BLOCK].fill(first);
    for &group in last {
        let mut least = [u32::MAX - 1; BLOCK];
        for block in &mixed.as_chunks::<BLOCK>().0[..blocks] {
            for (least, &mixed) in least.iter_mut().zip(block) {
                *least = (*least).min(value_in(mixed, group));
            }
        }
        let least = least.into_iter().fold(u32::MAX - 1, u32::min);
        let place = &mut values[group as usize];
        *place = (*place).min(least);
    }
}

/// Groups that are filled together, or elements that a group alone takes on together.
const BLOCK: usize = 32;

/// Brings the values of open groups down to the least of these elements.
#[inline(always)]
fn fill_together(groups: &[u32; BLOCK], mixed: &[u32], values: &mut [u32]) {
    let mut least = [u32::MAX - 1; BLOCK];
    for &mixed in mixed {
        for (least, &group) in least.iter_mut().zip(groups) {
            *least = (*least).min(value_in(mixed, group));
        }
    }
    for (&group, &least) in groups.iter().zip(&least) {
        let place = &mut values[group as usize];
        *place = (*place).min(least);
    }
}

/// The value of a mixed element in an open group: another order of the elements for each group.
#[inline(always)]
pub(crate) fn value_in(mixed: u32, group: u32) -> u32 {
    let x = (mixed ^ group.wrapping_add(1).wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
    (x ^ x >> 15).wrapping_mul(0xc2b2_ae35)
}

#[inline(always)]
fn in_portions(
    throw: &Throw,
    elements: &[u64],
    portion: impl Fn(&Throw, &[u64; PORTION], usize) -> [u64; PORTION],
    mut take: impl FnMut(&[u64]),
) {
    let (portions, rest) = elements.as_chunks();
    portions.iter().for_each(|elements| take(&portion(throw, elements, PORTION)));
    if !rest.is_empty() {
        let mut last = [0; PORTION];
        last[..rest.len()].copy_from_slice(rest);
        take(&portion(throw, &last, rest.len())[..rest.len()]);
    }
}

/// See [`crate::minima`].
pub fn minima(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    minima_lowered(keys, elements, values);
}

/// [`minima`], to be compiled for several machines: a few functions at a time over all elements.
#[inline(always)]
pub(crate) fn minima_lowered(keys: &[u64], elements: &[u64], values: &mut [u64]) {
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let (keys, last_keys) = keys.as_chunks::<16>();
    let (values, last_values) = values.as_chunks_mut::<16>();
    for (keys, values) in keys.iter().zip(values) {
        let mut least = *values;
        for &x in elements {
            for i in 0..16 {
                least[i] = least[i].min(mix(x, keys[i]));
            }
        }
        *values = least;
    }
    for (&key, value) in last_keys.iter().zip(last_values) {
        *value = elements.iter().fold(*value, |least, &x| least.min(mix(x, key)));
    }
}

/// The value of an element under the function with this key: the finaliser of SplitMix64, with the key in two
/// places.
#[inline(always)]
pub fn mix(x: u64, key: u64) -> u64 {
    let x = x ^ key;
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_add(key.rotate_left(32)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
