//! Sums over the components of vectors: dot products and distances, one pair or many.
//!
//! Each is written once, over sixteen numbers at a time, and compiled for each kind of machine, where sixteen numbers are
//! one register, two or four. Every machine gives the same bits: the order of the additions is fixed, and products are
//! added to sums without rounding between (fused). Fusing halves the instructions on Intel's processors; Zen 3 has adders
//! besides its multipliers and gains nothing. Every processor with AVX2 that is in use can do it. It is slow only where
//! there is no such instruction.
//!
//! A pair of vectors is summed in 32 lanes, component i in lane i mod 32, which are then folded in halves. Many against many
//! are summed component by component, in order: there the lanes are other vectors. For that, vectors stand in panels of
//! sixteen: the first components of all sixteen, then the second components, and so on.

/// Vectors that stand in a panel.
pub const PANEL: usize = 16;

/// Sixteen numbers that are worked on at once.
///
/// Only functions compiled for a machine name the type that stands for its registers.
pub(crate) trait Sixteen: Copy {
    fn all(x: f32) -> Self;
    fn load(from: &[f32; 16]) -> Self;
    fn store(self, to: &mut [f32; 16]);
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn absolute(self) -> Self;
    /// self · factor + sum, rounded once.
    fn times_plus(self, factor: Self, sum: Self) -> Self;
    /// A bit for each number that is at most that of `other`.
    fn at_most(self, other: Self) -> u16;
}

impl Sixteen for [f32; 16] {
    #[inline(always)]
    fn all(x: f32) -> Self {
        [x; 16]
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        *to = self;
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        self.map(f32::abs)
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, sum: Self) -> Self {
        std::array::from_fn(|i| self[i].mul_add(factor[i], sum[i]))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        (0..16).fold(0, |bits, i| bits | u16::from(self[i] <= other[i]) << i)
    }
}

/// What is summed.
pub(crate) trait Term {
    /// `sum` plus what one component of each of two vectors adds to it.
    fn add<V: Sixteen>(a: V, b: V, sum: V) -> V;
}

/// The dot product: a · b.
pub(crate) struct Product;
/// The squared Euclidean distance: (a − b)².
pub(crate) struct Square;
/// The Manhattan distance: |a − b|.
pub(crate) struct Difference;

impl Term for Product {
    #[inline(always)]
    fn add<V: Sixteen>(a: V, b: V, sum: V) -> V {
        a.times_plus(b, sum)
    }
}

impl Term for Square {
    #[inline(always)]
    fn add<V: Sixteen>(a: V, b: V, sum: V) -> V {
        let difference = a.minus(b);
        difference.times_plus(difference, sum)
    }
}

impl Term for Difference {
    #[inline(always)]
    fn add<V: Sixteen>(a: V, b: V, sum: V) -> V {
        sum.plus(a.minus(b).absolute())
    }
}

/// The sum over the components of a pair.
#[inline(always)]
pub(crate) fn pair<V: Sixteen, T: Term>(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len(), "vectors of the same length");
    let (a_blocks, a_rest) = a.as_chunks::<32>();
    let (b_blocks, b_rest) = b.as_chunks::<32>();
    let mut sums = [V::all(0.0); 2];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        add_block::<V, T>(a, b, &mut sums);
    }
    if !a_rest.is_empty() {
        let (mut a, mut b) = ([0.0; 32], [0.0; 32]);
        a[..a_rest.len()].copy_from_slice(a_rest);
        b[..b_rest.len()].copy_from_slice(b_rest);
        add_block::<V, T>(&a, &b, &mut sums);
    }
    let mut lanes = [0.0; 16];
    sums[0].plus(sums[1]).store(&mut lanes);
    folded(lanes)
}

#[inline(always)]
fn add_block<V: Sixteen, T: Term>(a: &[f32; 32], b: &[f32; 32], sums: &mut [V; 2]) {
    let (a, b) = (a.as_chunks().0, b.as_chunks().0);
    sums[0] = T::add(V::load(&a[0]), V::load(&b[0]), sums[0]);
    sums[1] = T::add(V::load(&a[1]), V::load(&b[1]), sums[1]);
}

#[inline(always)]
pub(crate) fn folded(lanes: [f32; 16]) -> f32 {
    let eight: [f32; 8] = std::array::from_fn(|i| lanes[i] + lanes[i + 8]);
    let four: [f32; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The sums of each row with each vector of the panels, `ROWS` rows at a time.
///
/// A panel stays in the nearest caches while all rows pass it; a row by itself takes four panels at once, since a
/// sum has to wait for the one before.
#[inline(always)]
pub(crate) fn many<V: Sixteen, T: Term, const ROWS: usize>(
    rows: &[f32],
    dimension: usize,
    panels: &[f32],
    out: &mut [f32],
) {
    let count = assert_block(rows, dimension, panels, out);
    if count == 0 {
        return;
    }
    let columns = panels.len() / dimension;
    let row = |i: usize| &rows[i * dimension..][..dimension];
    for (number, panel) in panels.as_chunks::<PANEL>().0.chunks_exact(dimension).enumerate() {
        let out = &mut out[number * PANEL..];
        let mut at = 0;
        while at + ROWS <= count {
            let rows: [_; ROWS] = std::array::from_fn(|i| row(at + i));
            put(&sums::<V, T, ROWS, 1>(rows, [panel]), &mut out[at * columns..], columns);
            at += ROWS;
        }
        while at + 2 <= count {
            let rows = [row(at), row(at + 1)];
            put(&sums::<V, T, 2, 1>(rows, [panel]), &mut out[at * columns..], columns);
            at += 2;
        }
    }
    if count % ROWS % 2 == 1 {
        one::<V, T>(row(count - 1), panels, &mut out[(count - 1) * columns..]);
    }
}

#[inline(always)]
fn one<V: Sixteen, T: Term>(row: &[f32], panels: &[f32], out: &mut [f32]) {
    let panels = panels.as_chunks::<PANEL>().0;
    let panel = |i: usize| &panels[i * row.len()..][..row.len()];
    let count = panels.len() / row.len();
    let mut at = 0;
    while at + 4 <= count {
        let four = [panel(at), panel(at + 1), panel(at + 2), panel(at + 3)];
        put(&sums::<V, T, 1, 4>([row], four), &mut out[at * PANEL..], 0);
        at += 4;
    }
    while at < count {
        put(&sums::<V, T, 1, 1>([row], [panel(at)]), &mut out[at * PANEL..], 0);
        at += 1;
    }
}

/// The sums of a few rows with the vectors of a few panels.
#[inline(always)]
fn sums<V: Sixteen, T: Term, const ROWS: usize, const PANELS: usize>(
    rows: [&[f32]; ROWS],
    panels: [&[[f32; PANEL]]; PANELS],
) -> [[V; PANELS]; ROWS] {
    let length = panels[0].len();
    assert!(rows.iter().all(|row| row.len() == length), "rows as long as the panels' vectors");
    assert!(panels.iter().all(|panel| panel.len() == length), "panels of one length");
    let mut sums = [[V::all(0.0); PANELS]; ROWS];
    for i in 0..length {
        // SAFETY: each row and each panel has `length` elements.
        let columns = panels.map(|panel| V::load(unsafe { panel.get_unchecked(i) }));
        for (row, sums) in rows.iter().zip(&mut sums) {
            // SAFETY: as above.
            let component = V::all(unsafe { *row.get_unchecked(i) });
            for (column, sum) in columns.iter().zip(sums) {
                *sum = T::add(component, *column, *sum);
            }
        }
    }
    sums
}

#[inline(always)]
fn put<V: Sixteen, const PANELS: usize>(sums: &[[V; PANELS]], out: &mut [f32], columns: usize) {
    for (i, row) in sums.iter().enumerate() {
        let out = out[i * columns..].as_chunks_mut::<PANEL>().0;
        row.iter().zip(out).for_each(|(sums, out)| sums.store(out));
    }
}

/// How many rows there are.
fn assert_block(rows: &[f32], dimension: usize, panels: &[f32], out: &[f32]) -> usize {
    assert!(dimension > 0 && rows.len().is_multiple_of(dimension), "whole rows");
    assert!(panels.len().is_multiple_of(dimension * PANEL), "whole panels");
    let count = rows.len() / dimension;
    assert_eq!(out.len(), count * (panels.len() / dimension), "room for each sum");
    count
}

/// Appends the places of values that are at most a limit.
#[inline(always)]
pub(crate) fn at_most<V: Sixteen>(values: &[f32], limit: f32, places: &mut Vec<u32>) {
    let (blocks, rest) = values.as_chunks::<16>();
    let limits = V::all(limit);
    for (block, from) in blocks.iter().zip((0u32..).step_by(16)) {
        let mut bits = V::load(block).at_most(limits);
        while bits != 0 {
            places.push(from + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    let rest = rest.iter().zip(16 * blocks.len() as u32..);
    places.extend(rest.filter(|(value, _)| **value <= limit).map(|(_, place)| place));
}

/// Vectors of one dimension put into panels; the last is filled up with zeros.
///
/// # Panics
/// When the values do not make up whole vectors.
pub fn panels_of(vectors: &[f32], dimension: usize) -> Vec<f32> {
    assert!(dimension > 0 && vectors.len().is_multiple_of(dimension), "whole vectors");
    let count = vectors.len() / dimension;
    let mut panels = vec![0.0; count.next_multiple_of(PANEL) * dimension];
    for (number, vector) in vectors.chunks_exact(dimension).enumerate() {
        let panel = &mut panels[number / PANEL * PANEL * dimension..];
        for (place, &component) in vector.iter().enumerate() {
            panel[place * PANEL + number % PANEL] = component;
        }
    }
    panels
}
