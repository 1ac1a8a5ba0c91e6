//! Sketches of texts.

use std::thread;

use arrow_array::{UInt32Array, UInt64Array};
use nearkin_engine::amplify::Bands;
use nearkin_engine::candidates::bands::Banding;
use nearkin_engine::family::OnePermutation;
use nearkin_engine::family::one_permutation::EMPTY;
use nearkin_engine::family::weighted::numbered;
use nearkin_engine::shingle::{Scratch, Shingling};
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;

use super::columns::{Column, Texts, handed_out, values};
use super::threads_of;
use crate::error::Raise;

/// Texts between two looks for Ctrl-C, for each thread.
const PORTION: usize = 2048;

/// The key of a text without elements: no other has 64 bits.
const NO_KEY: u64 = u64::MAX;

/// Makes sketches, their parts and keys of texts.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Sketcher {
    sketcher: OnePermutation,
    shingling: Shingling,
    bag: bool,
    threads: usize,
}

/// What is sketched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A text. Without shingles it counts as one.
    Text,
    /// A part of a text, which adds its shingles and nothing else.
    Part,
}

#[pymethods]
impl Sketcher {
    #[new]
    fn new(
        py: Python<'_>,
        functions: usize,
        seed: u64,
        shingle: &str,
        bag: bool,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        Ok(Self {
            sketcher: OnePermutation::new(functions, seed).raise(py)?,
            shingling: shingle.parse::<Shingling>().raise(py)?,
            bag,
            threads: threads_of(threads)
                .raise(py)?
                .unwrap_or_else(|| thread::available_parallelism().map_or(1, |n| n.get())),
        })
    }

    /// The values of all sketches, one behind the other.
    fn sketch<'py>(&self, py: Python<'py>, texts: Column) -> PyResult<Bound<'py, PyAny>> {
        let groups = self.sketcher.groups;
        let sketch = |elements: &[u64], out: &mut [u32]| self.sketcher.sketch(elements, out);
        let made = self.each(py, texts, Piece::Text, groups, sketch)?;
        handed_out(py, &UInt32Array::from(made))
    }

    /// The values of all sketches of parts, one behind the other.
    fn partial<'py>(&self, py: Python<'py>, texts: Column) -> PyResult<Bound<'py, PyAny>> {
        let groups = self.sketcher.groups;
        let partial = |elements: &[u64], out: &mut [u64]| self.sketcher.partial(elements, out);
        let made = self.each(py, texts, Piece::Part, groups, partial)?;
        handed_out(py, &UInt64Array::from(made))
    }

    /// The keys of all texts, one behind the other.
    fn keys<'py>(
        &self,
        py: Python<'py>,
        texts: Column,
        bands: usize,
        rows: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bands = Bands::new(bands, rows).raise(py)?;
        let banding = Banding::new(bands, self.sketcher.seed).raise(py)?;
        let keys = |elements: &[u64], out: &mut [u64]| {
            let mut keys = Vec::with_capacity(out.len());
            banding.keys(elements, &mut Vec::new(), &mut keys);
            keys.resize(out.len(), NO_KEY);
            out.copy_from_slice(&keys);
        };
        let made = self.each(py, texts, Piece::Text, bands.count, keys)?;
        handed_out(py, &UInt64Array::from(made))
    }
}

impl Sketcher {
    /// So many numbers a text, made of its elements on many threads.
    fn each<T: Default + Clone + Send>(
        &self,
        py: Python<'_>,
        texts: Column,
        piece: Piece,
        width: usize,
        make: impl Fn(&[u64], &mut [T]) + Sync,
    ) -> PyResult<Vec<T>> {
        let texts = Texts::new(py, texts)?;
        let mut all = vec![T::default(); texts.len() * width];
        let some = |first: usize, out: &mut [T]| {
            let mut buffers = (Scratch::default(), Vec::new(), Vec::new());
            for (row, out) in (first..).zip(out.chunks_mut(width)) {
                make(self.elements(texts.get(row), piece, &mut buffers), out);
            }
        };
        let portion = PORTION * self.threads.max(1);
        for (number, out) in all.chunks_mut(portion * width).enumerate() {
            py.check_signals()?;
            let share = (out.len() / width).div_ceil(self.threads.max(1));
            let work = || {
                thread::scope(|scope| -> Result<()> {
                    for (part, out) in out.chunks_mut(share * width).enumerate() {
                        let some = &some;
                        let work = move || some(number * portion + part * share, out);
                        thread::Builder::new().spawn_scoped(scope, work).map_err(not_started)?;
                    }
                    Ok(())
                })
            };
            py.detach(work).raise(py)?;
        }
        Ok(all)
    }

    fn elements<'a>(
        &self,
        text: &str,
        piece: Piece,
        (scratch, bag, elements): &'a mut (Scratch, Vec<u64>, Vec<u64>),
    ) -> &'a [u64] {
        elements.clear();
        bag.clear();
        let shingles = if self.bag { &mut *bag } else { &mut *elements };
        let is_whole = self.shingling.shingle_or_whole(text, scratch, shingles);
        if is_whole && piece == Piece::Part {
            shingles.clear();
        }
        if self.bag {
            bag.sort_unstable();
            numbered(bag, elements);
        }
        elements
    }
}

fn not_started(error: std::io::Error) -> Error {
    Error::file("threads", format!("cannot start one: {error}; ask for fewer"))
}

/// The keys of sketches of bands × rows values.
#[pyfunction]
pub(crate) fn keys_of_sketches<'py>(
    py: Python<'py>,
    sketches: Column,
    bands: usize,
    rows: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let sketches = values(py, sketches)?;
    let bands = Bands::new(bands, rows).raise(py)?;
    // The seed has its part in the sketches alone.
    let banding = Banding::new(bands, 0).raise(py)?;
    let keys: Vec<u64> = py.detach(|| {
        let mut keys = Vec::new();
        for sketch in sketches.values().chunks_exact(bands.functions()) {
            if sketch[0] == EMPTY {
                keys.resize(keys.len() + bands.count, NO_KEY);
            } else {
                banding.keys_of(sketch, &mut keys);
            }
        }
        keys
    });
    handed_out(py, &UInt64Array::from(keys))
}
