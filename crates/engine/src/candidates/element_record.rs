//! What is kept of a text while it is a candidate: its keys, a byte of every value of its sketch, a bitmap
//! and the elements, in one list of words.
//!
//! Most candidates are told apart without looking at their elements. The bytes agree in about as many places
//! as the texts are similar. In the bitmap each element turns one bit, so that two bitmaps differ in no more
//! bits than there are elements in one of the sets only (the bitmap filter of Sandes, Teodoro and Melo,
//! 2020): what differs too much for the threshold is not similar.

use nearkin_kernels::{hamming, last_bytes, turn_bits};

use crate::amplify::Bands;
use crate::verify::{Overlap, Verifier};

use super::sort_elements;

/// How such a list is laid out: keys and bytes, the head; a word with the lengths of the last two parts, bitmap,
/// elements, and what may be left behind them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordLayout {
    /// Words of the keys.
    keys: usize,
    functions: usize,
    bytes: usize,
    has_bitmap: bool,
}

/// Set in the word with the lengths of a record whose elements are sorted.
const FINISHED: u64 = 1 << 63;

/// The words of the bitmap, and the elements, by that word.
fn lengths(word: u64) -> (usize, usize) {
    (((word & !FINISHED) >> 32) as usize, word as u32 as usize)
}

/// What comes behind the head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElementBody<'a> {
    bitmap: &'a [u64],
    pub(crate) elements: &'a [u64],
}

impl RecordLayout {
    pub(crate) fn new(bands: Bands) -> Self {
        let functions = bands.functions();
        let (keys, bytes) = (bands.count.div_ceil(2), functions.div_ceil(8));
        Self { keys, functions, bytes, has_bitmap: true }
    }

    /// The same without keys, for whoever keeps those elsewhere.
    pub(crate) fn without_keys(bands: Bands) -> Self {
        Self { keys: 0, ..Self::new(bands) }
    }

    /// Bitmap and elements.
    pub(crate) fn with_bitmap() -> Self {
        Self { has_bitmap: true, ..Self::bare() }
    }

    /// Elements alone.
    pub(crate) fn bare() -> Self {
        Self { keys: 0, functions: 0, bytes: 0, has_bitmap: false }
    }

    /// Words of the bitmap for so many elements: two to four bits each.
    fn bitmap_words(self, elements: usize) -> usize {
        if self.has_bitmap { (elements / 32).next_power_of_two().max(8) } else { 0 }
    }

    /// Appends a record with elements that are not sorted yet: [`finish`](Self::finish) has to follow before
    /// they are looked at, and [`put_head`](Self::put_head) where there is a head.
    pub(crate) fn append(self, elements: &[u64], words: &mut Vec<u64>) {
        let bitmap = self.bitmap_words(elements.len());
        words.resize(words.len() + self.head_words(), 0);
        words.push((bitmap as u64) << 32 | elements.len() as u64);
        words.resize(words.len() + bitmap, 0);
        words.extend_from_slice(elements);
    }

    /// Gives a record its head: the last 32 bits of its keys, two in a word, and the last byte of every value of its
    /// sketch, eight in a word. Keys differ in the bits before those alone in one of 2³² cases.
    pub(crate) fn put_head(self, keys: &[u64], sketch: &[u32], record: &mut [u64]) {
        let (own, rest) = record[..self.head_words()].split_at_mut(self.keys);
        for (word, keys) in own.iter_mut().zip(keys.chunks(2)) {
            *word = keys.iter().rev().fold(0, |word, key| word << 32 | key & 0xffff_ffff);
        }
        // A set without elements has no sketch.
        if !sketch.is_empty() {
            last_bytes(sketch, rest);
        }
    }

    /// The elements of a record, which need not be finished.
    pub(crate) fn elements(self, record: &[u64]) -> &[u64] {
        let (bitmap, count) = lengths(record[self.head_words()]);
        &record[self.start() + bitmap..][..count]
    }

    /// Sorts the elements of a record, leaves each in it once, and fills the bitmap. How long the record is
    /// then.
    pub(crate) fn finish(self, words: &mut [u64]) -> usize {
        let first = words[self.head_words()];
        let (bitmap, count) = lengths(first);
        if first & FINISHED != 0 {
            return self.start() + bitmap + count;
        }
        let (head, elements) = words.split_at_mut(self.start() + bitmap);
        let count = sort_elements(elements);
        if bitmap > 0 {
            turn_bits(&elements[..count], &mut head[self.start()..]);
        }
        head[self.head_words()] = FINISHED | (bitmap as u64) << 32 | count as u64;
        self.start() + bitmap + count
    }

    /// The head of a record, which comes first and is looked at most.
    pub(crate) fn head_of(self, words: &[u64]) -> &[u64] {
        &words[..self.head_words()]
    }

    /// The bytes of the sketch in a head.
    pub(crate) fn bytes_of(self, head: &[u64]) -> &[u64] {
        &head[self.keys..]
    }

    /// Words of a head.
    pub(crate) fn head_words(self) -> usize {
        self.keys + self.bytes
    }

    /// See [`nearkin_kernels::agreeing`]: which heads agree with one, those left out that share an earlier key.
    pub(crate) fn agreeing(
        self,
        head: &[u64],
        heads: &[u64],
        before: usize,
        agreement: usize,
        out: &mut Vec<u32>,
    ) -> usize {
        nearkin_kernels::agreeing(head, heads, self.keys, before, agreement, out)
    }

    /// Whether two heads share one of their keys, at its place.
    pub(crate) fn share_key(self, head: &[u64], other: &[u64], keys: usize) -> bool {
        (0..keys).any(|key| {
            let differ = (head[key / 2] ^ other[key / 2]) >> (32 * (key % 2));
            differ as u32 == 0
        })
    }

    /// Fetches what [`body`](Self::body) looks at first.
    pub(crate) fn fetch_body(self, words: &[u64]) {
        nearkin_kernels::fetch(&words[self.head_words()..]);
    }

    /// The rest of a whole record.
    pub(crate) fn body(self, words: &[u64]) -> ElementBody<'_> {
        let (bitmap, count) = lengths(words[self.head_words()]);
        let (bitmap, rest) = words[self.start()..].split_at(bitmap);
        ElementBody { bitmap, elements: &rest[..count] }
    }

    /// How many bytes of two records agree at least, but for this chance, when the texts have this
    /// similarity. Bytes of different values may agree, which only adds.
    pub(crate) fn least_agreement(self, similarity: f64, chance: f64) -> usize {
        let padding = 8 * self.bytes - self.functions;
        fewest_successes(self.functions, similarity, chance) + padding
    }

    /// Words before the bitmap: the head, and that with the lengths.
    fn start(self) -> usize {
        self.head_words() + 1
    }

    /// Words of a record with so many elements.
    pub(crate) fn words(self, elements: usize) -> usize {
        self.start() + self.bitmap_words(elements) + elements
    }
}

impl ElementBody<'_> {
    /// What the two have in common, if they are similar.
    pub(crate) fn similar(self, other: ElementBody<'_>, verifier: &Verifier) -> Option<Overlap> {
        let need = self.shared_needed(other, verifier)?;
        verifier.similar_with(self.elements, other.elements, need)
    }

    /// How many elements the two must share to be similar; none where sizes and bitmaps tell that they are not.
    pub(crate) fn shared_needed(
        self,
        other: ElementBody<'_>,
        verifier: &Verifier,
    ) -> Option<usize> {
        let (a, b) = (self.elements.len(), other.elements.len());
        let need = verifier.shared_needed(a, b)?;
        (self.least_difference(&other) <= a + b - 2 * need).then_some(need)
    }

    /// Elements that are in one of the two and not in the other: not fewer than this.
    pub(crate) fn least_difference(&self, other: &ElementBody<'_>) -> usize {
        let (short, long) = match self.bitmap.len() <= other.bitmap.len() {
            true => (self.bitmap, other.bitmap),
            false => (other.bitmap, self.bitmap),
        };
        if short.len() == long.len() {
            return hamming(short, long) as usize;
        }
        // The longer one folds down to the shorter one's length.
        let folded = |i: usize| long.iter().skip(i).step_by(short.len()).fold(0, |all, x| all ^ x);
        let bits = short.iter().enumerate().map(|(i, word)| (word ^ folded(i)).count_ones());
        bits.sum::<u32>() as usize
    }
}

/// The largest m such that fewer than m of so many trials succeed with a chance of at most `chance`.
pub(crate) fn fewest_successes(trials: usize, success: f64, chance: f64) -> usize {
    if success >= 1.0 {
        return trials;
    }
    // The chance of just m successes, as a logarithm: it may be too small for a double.
    let mut just = trials as f64 * (-success).ln_1p();
    let mut fewer = 0.0;
    for m in 0..trials {
        fewer += just.exp();
        if fewer > chance {
            return m;
        }
        just += ((trials - m) as f64 / (m + 1) as f64).ln() + (success / (1.0 - success)).ln();
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_bitmaps_never_differ_more_than_the_sets() {
        let layout = RecordLayout::new(Bands::new(2, 5).unwrap());
        let record = |elements: &[u64]| {
            let mut words = vec![7];
            layout.append(elements, &mut words);
            assert_eq!(layout.elements(&words[1..]), elements);
            let sketch = [0x101, 2, 3, 4, 5, 6, 7, 8, 9, 10];
            layout.put_head(&[11, 12], &sketch, &mut words[1..]);
            let length = layout.finish(&mut words[1..]);
            words[1..=length].to_vec()
        };
        let three = record(&[5, 1, 5, 3]);
        let (keys, bytes) = layout.head_of(&three).split_at(1);
        assert_eq!(layout.bytes_of(layout.head_of(&three)), bytes);
        let ElementBody { bitmap, elements } = layout.body(&three);
        assert_eq!((keys, elements), (&[12 << 32 | 11][..], &[1, 3, 5][..]));
        assert_eq!((bytes, bitmap[0]), (&[0x0807_0605_0403_0201, 0x0a09][..], 0b10_1010));
        let numbers = |start: u64, end: u64| -> Vec<u64> {
            (start..end).map(|i| crate::family::hash::mix64(i, 1)).collect()
        };
        for (a, b) in [((0, 100), (50, 150)), ((0, 900), (100, 1500)), ((0, 10), (0, 5000))] {
            let [a_set, b_set] = [a, b].map(|(start, end)| record(&numbers(start, end)));
            let (x, y) = (layout.body(&a_set), layout.body(&b_set));
            let differ = a.0.abs_diff(b.0) + a.1.abs_diff(b.1);
            let least = x.least_difference(&y);
            assert_eq!(y.least_difference(&x), least);
            assert!(least as u64 <= differ, "{least} of {differ}");
            assert!(least as u64 > differ / 2 || b.1 > 4000, "{least} of {differ}");
        }
    }

    #[test]
    fn rare_failures_are_counted_exactly() {
        // Of two fair trials none succeeds with 1/4, at most one with 3/4.
        for (chance, fewest) in [(0.1, 0), (0.3, 1), (0.7, 1), (0.8, 2)] {
            assert_eq!(fewest_successes(2, 0.5, chance), fewest);
        }
        // By summing exact binomial coefficients in Python.
        assert_eq!(fewest_successes(96, 0.8, 1e-4), 61);
        assert_eq!(fewest_successes(1000, 0.9, 1e-6), 852);
        assert_eq!(fewest_successes(7, 1.0, 0.01), 7);
        assert_eq!(fewest_successes(0, 0.5, 0.01), 0);
    }
}
