//! The permutations of a signature, by one of three schemes.

use nearkin_kernels as kernels;
use pyo3::prelude::*;

use super::refused;

/// How elements become values: which arithmetic, and how wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// The finaliser of MurmurHash3 on 32 bits, then ax + b modulo 2³².
    Affine32,
    /// Like `Affine32`, on 64 bits.
    Affine64,
    /// The low 32 bits of ax + b modulo 2⁶¹ − 1, with the carry beyond 64 bits lost on the way.
    Legacy,
}

impl Scheme {
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Scheme> {
        [Scheme::Affine32, Scheme::Affine64, Scheme::Legacy]
            .into_iter()
            .find(|scheme| scheme.name() == name)
            .ok_or_else(|| {
                refused(
                    py,
                    format!("no scheme {name:?}; use \"affine32\", \"affine64\" or \"legacy\""),
                )
            })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::Affine32 => "affine32",
            Scheme::Affine64 => "affine64",
            Scheme::Legacy => "legacy",
        }
    }

    /// The type of its values, as NumPy calls it.
    pub(crate) fn dtype(self) -> &'static str {
        match self {
            Scheme::Affine32 => "uint32",
            Scheme::Affine64 | Scheme::Legacy => "uint64",
        }
    }

    /// As many values of a set without elements.
    pub(crate) fn empty(self, count: usize) -> Values {
        match self {
            Scheme::Affine32 => Values::Narrow(vec![u32::MAX; count]),
            Scheme::Affine64 => Values::Wide(vec![u64::MAX; count]),
            Scheme::Legacy => Values::Wide(vec![u64::from(u32::MAX); count]),
        }
    }

    /// Values from the bytes of an array of its type.
    pub(crate) fn values(self, bytes: &[u8]) -> Values {
        match self {
            Scheme::Affine32 => {
                Values::Narrow(bytes.as_chunks().0.iter().map(|&b| u32::from_ne_bytes(b)).collect())
            }
            Scheme::Affine64 | Scheme::Legacy => {
                Values::Wide(bytes.as_chunks().0.iter().map(|&b| u64::from_ne_bytes(b)).collect())
            }
        }
    }
}

/// The values of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Narrow(values) => values.len(),
            Values::Wide(values) => values.len(),
        }
    }

    /// The bytes of an array of them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Values::Narrow(values) => joined(values, |value| value.to_ne_bytes()),
            Values::Wide(values) => joined(values, |value| value.to_ne_bytes()),
        }
    }

    /// The bytes of the first `count`, each with its bytes turned round.
    pub(crate) fn swapped(&self, count: usize) -> Vec<u8> {
        match self {
            Values::Narrow(values) => {
                joined(&values[..count], |value| value.swap_bytes().to_ne_bytes())
            }
            Values::Wide(values) => {
                joined(&values[..count], |value| value.swap_bytes().to_ne_bytes())
            }
        }
    }

    /// In how many places two signatures agree.
    pub(crate) fn agreeing(&self, other: &Values) -> usize {
        fn count<T: PartialEq>(a: &[T], b: &[T]) -> usize {
            a.iter().zip(b).filter(|(a, b)| a == b).count()
        }
        match (self, other) {
            (Values::Narrow(a), Values::Narrow(b)) => count(a, b),
            (Values::Wide(a), Values::Wide(b)) => count(a, b),
            _ => 0,
        }
    }

    /// Lowers each value to that of the other where it is smaller.
    pub(crate) fn lower_to(&mut self, other: &Values) {
        fn lower<T: Ord + Copy>(a: &mut [T], b: &[T]) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).min(*b));
        }
        match (self, other) {
            (Values::Narrow(a), Values::Narrow(b)) => lower(a, b),
            (Values::Wide(a), Values::Wide(b)) => lower(a, b),
            _ => {}
        }
    }
}

/// The bytes of all values, one after the other.
fn joined<T: Copy, const SIZE: usize>(values: &[T], of: impl Fn(T) -> [u8; SIZE]) -> Vec<u8> {
    let mut bytes = vec![0; SIZE * values.len()];
    bytes.as_chunks_mut().0.iter_mut().zip(values).for_each(|(bytes, &value)| *bytes = of(value));
    bytes
}

#[derive(Debug)]
enum Numbers {
    Narrow { factors: Vec<u32>, terms: Vec<u32> },
    Wide { factors: Vec<u64>, terms: Vec<u64> },
}

/// Permutations, shared by all signatures that use them.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Permutations {
    scheme: Scheme,
    numbers: Numbers,
    /// The array they came from.
    #[pyo3(get)]
    array: Py<PyAny>,
}

#[pymethods]
impl Permutations {
    /// From the bytes of the factors and of the terms.
    #[new]
    fn new(
        py: Python<'_>,
        scheme: &str,
        factors: &[u8],
        terms: &[u8],
        array: Py<PyAny>,
    ) -> PyResult<Permutations> {
        let scheme = Scheme::named(py, scheme)?;
        let numbers = match (scheme.values(factors), scheme.values(terms)) {
            (Values::Narrow(factors), Values::Narrow(terms)) if factors.len() == terms.len() => {
                Numbers::Narrow { factors, terms }
            }
            (Values::Wide(factors), Values::Wide(terms)) if factors.len() == terms.len() => {
                Numbers::Wide { factors, terms }
            }
            _ => return Err(refused(py, "give as many terms as factors of permutations")),
        };
        Ok(Permutations { scheme, numbers, array })
    }

    pub(crate) fn __len__(&self) -> usize {
        match &self.numbers {
            Numbers::Narrow { factors, .. } => factors.len(),
            Numbers::Wide { factors, .. } => factors.len(),
        }
    }
}

impl Permutations {
    /// Lowers values to the smallest of these hashes under each permutation. There must be as many values, and
    /// hashes fit the scheme.
    pub(crate) fn lower(&self, hashes: &[u64], values: &mut Values) {
        match (&self.numbers, values) {
            (Numbers::Narrow { factors, terms }, Values::Narrow(values)) => {
                by_portions(
                    hashes,
                    |x| mix_32(x as u32),
                    |elements| {
                        kernels::affine_minima_32(factors, terms, elements, values);
                    },
                );
            }
            (Numbers::Wide { factors, terms }, Values::Wide(values)) => {
                if self.scheme == Scheme::Legacy {
                    kernels::mersenne_minima(factors, terms, hashes, values);
                } else {
                    by_portions(hashes, mix_64, |elements| {
                        kernels::affine_minima_64(factors, terms, elements, values);
                    });
                }
            }
            _ => {}
        }
    }
}

/// Calls `take` with all hashes, mixed, some at a time.
fn by_portions<T: Copy + Default>(
    hashes: &[u64],
    mix: impl Fn(u64) -> T,
    mut take: impl FnMut(&[T]),
) {
    if let &[hash] = hashes {
        return take(&[mix(hash)]);
    }
    let mut mixed = [T::default(); 128];
    for portion in hashes.chunks(mixed.len()) {
        mixed.iter_mut().zip(portion).for_each(|(mixed, &hash)| *mixed = mix(hash));
        take(&mixed[..portion.len()]);
    }
}

/// The finaliser of MurmurHash3 (Appleby 2011) for 32 bits.
fn mix_32(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// Like [`mix_32`], for 64 bits.
fn mix_64(x: u64) -> u64 {
    let x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}
