//! A signature that elements are added to one by one or many at a time.
//!
//! Its values are a NumPy array for everyone who looks at them, and may be written to as such. An array is made when
//! somebody asks for it and then counts; with the next update its holder keeps it, unchanged.

use std::borrow::Cow;

use nearkin_kernels as kernels;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyTuple};

use super::permutations::{Permutations, Scheme, Values};
use super::{function, refused};

/// From how many elements on other threads may run meanwhile.
const MANY: usize = 64;

/// How bytes become a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digest {
    /// The first four bytes of their SHA-1.
    Sha32,
    /// The first eight.
    Sha64,
    /// As a Python function does it.
    Other,
}

/// The state of a MinHash.
#[pyclass(subclass, module = "nearkin._nearkin")]
pub(crate) struct Signature {
    scheme: Scheme,
    values: Values,
    /// The array of the values that somebody has seen, which counts if there is one.
    shown: Option<Py<PyAny>>,
    permutations: Option<Py<Permutations>>,
    digest: Digest,
    hashfunc: Option<Py<PyAny>>,
    /// What the permutations were drawn with.
    #[pyo3(get, set)]
    seed: Option<Py<PyAny>>,
    /// How many values there are to be.
    #[pyo3(get, set)]
    num_perm: usize,
}

#[pymethods]
impl Signature {
    /// Takes whatever a subclass takes; `_start` gives it a state.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Signature {
        Signature {
            scheme: Scheme::Affine32,
            values: Values::Narrow(Vec::new()),
            shown: None,
            permutations: None,
            digest: Digest::Other,
            hashfunc: None,
            seed: None,
            num_perm: 0,
        }
    }

    /// Begins with these values, or those of an empty set.
    fn _start(
        &mut self,
        py: Python<'_>,
        scheme: &str,
        seed: Py<PyAny>,
        num_perm: usize,
        values: Option<&[u8]>,
        permutations: Option<Py<Permutations>>,
    ) -> PyResult<()> {
        self.scheme = Scheme::named(py, scheme)?;
        self.values = match values {
            Some(bytes) => self.scheme.values(bytes),
            None => self.scheme.empty(num_perm),
        };
        self.shown = None;
        self.permutations = permutations;
        self.seed = Some(seed);
        self.num_perm = num_perm;
        Ok(())
    }

    /// Sets the hash function; `digest` is "sha32" or "sha64" where it is known to be that.
    fn _hash_with(&mut self, hashfunc: Option<Py<PyAny>>, digest: &str) {
        self.hashfunc = hashfunc;
        self.digest = match digest {
            "sha32" => Digest::Sha32,
            "sha64" => Digest::Sha64,
            _ => Digest::Other,
        };
    }

    /// Takes over all of another's state, with values of its own.
    fn _copy_from(&mut self, py: Python<'_>, other: &Bound<'_, Signature>) -> PyResult<()> {
        let other = other.try_borrow()?;
        self.scheme = other.scheme;
        self.values = other.current(py)?.into_owned();
        self.shown = None;
        self.permutations = other.permutations.as_ref().map(|it| it.clone_ref(py));
        self.digest = other.digest;
        self.hashfunc = other.hashfunc.as_ref().map(|it| it.clone_ref(py));
        self.seed = other.seed.as_ref().map(|it| it.clone_ref(py));
        self.num_perm = other.num_perm;
        Ok(())
    }

    /// The name of the permutations' arithmetic.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    #[getter]
    fn _hashfunc(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.hashfunc.as_ref().map(|it| it.clone_ref(py))
    }

    #[getter]
    fn _permutations(&self, py: Python<'_>) -> Option<Py<Permutations>> {
        self.permutations.as_ref().map(|it| it.clone_ref(py))
    }

    #[setter(_permutations)]
    fn set_permutations(&mut self, permutations: Py<Permutations>) {
        self.permutations = Some(permutations);
    }

    /// The values, an array that may be written to.
    #[getter]
    fn hashvalues(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.shown.is_none() {
            self.shown = Some(array(py, &self.values, self.scheme)?);
        }
        match &self.shown {
            Some(shown) => Ok(shown.clone_ref(py)),
            None => Ok(py.None()),
        }
    }

    #[setter]
    fn set_hashvalues(&mut self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.values = self.scheme.values(plain(py, values, self.scheme)?.as_bytes());
        self.shown = Some(values.clone().unbind());
        Ok(())
    }

    /// A new array of the values.
    fn digest(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let values = self.current(py)?;
        array(py, &values, self.scheme)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match &self.shown {
            Some(shown) => shown.bind(py).len(),
            None => Ok(self.values.len()),
        }
    }

    /// Whether it is that of a set without elements.
    fn is_empty(&self, py: Python<'_>) -> PyResult<bool> {
        let values = self.current(py)?;
        Ok(*values == self.scheme.empty(values.len()))
    }

    /// Makes it that of a set without elements.
    fn clear(&mut self, py: Python<'_>) -> PyResult<()> {
        self.values = self.scheme.empty(self.__len__(py)?);
        self.shown = None;
        Ok(())
    }

    /// Adds an element.
    fn update(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let hash = Self::hash(slf, b)?;
        let mut signature = slf.try_borrow_mut()?;
        signature.check(py, &[hash])?;
        let Signature { permutations: Some(permutations), values, .. } = &mut *signature else {
            return Err(frozen());
        };
        permutations.get().lower(&[hash], values);
        Ok(())
    }

    /// Adds many elements.
    fn update_batch(slf: &Bound<'_, Self>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let elements = b.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let digest = slf.try_borrow()?.digest;
        let bytes: Option<Vec<&[u8]>> = match digest {
            Digest::Other => None,
            _ => elements.iter().map(bytes_of).collect(),
        };
        match bytes {
            Some(messages) => Self::lower_to_messages(slf, &messages, digest),
            None => {
                let hashes = elements.iter().map(|element| Self::hash(slf, element));
                Self::lower_to_hashes(slf, &hashes.collect::<PyResult<Vec<_>>>()?)
            }
        }
    }

    /// Adds the pieces of `size` bytes, where the hash function is one of bytes; whether it is.
    fn _update_pieces(slf: &Bound<'_, Self>, bytes: &[u8], size: usize) -> PyResult<bool> {
        let digest = slf.try_borrow()?.digest;
        if digest == Digest::Other || size == 0 {
            return Ok(false);
        }
        let messages: Vec<&[u8]> = bytes.chunks(size).collect();
        Self::lower_to_messages(slf, &messages, digest)?;
        Ok(true)
    }

    /// The share of values that agree with those of another.
    fn jaccard(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<f64> {
        Self::compared(slf, other, "compare", |own, others| {
            own.agreeing(others) as f64 / own.len() as f64
        })
    }

    /// Makes it the signature of the union with another.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let merged = Self::compared(slf, other, "merge", |own, others| {
            let mut merged = own.clone();
            merged.lower_to(others);
            merged
        })?;
        let mut signature = slf.try_borrow_mut()?;
        signature.values = merged;
        signature.shown = None;
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for object in [&self.hashfunc, &self.shown, &self.seed].into_iter().flatten() {
            visit.call(object)?;
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.hashfunc = None;
    }
}

impl Signature {
    pub(crate) fn scheme_of(&self) -> Scheme {
        self.scheme
    }

    /// The values as they are now.
    pub(crate) fn current(&self, py: Python<'_>) -> PyResult<Cow<'_, Values>> {
        match &self.shown {
            None => Ok(Cow::Borrowed(&self.values)),
            Some(shown) => {
                let bytes = plain(py, shown.bind(py), self.scheme)?;
                Ok(Cow::Owned(self.scheme.values(bytes.as_bytes())))
            }
        }
    }

    fn seed_of<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.seed {
            Some(seed) => seed.bind(py).clone(),
            None => py.None().into_bound(py),
        }
    }

    /// The hash of an element. Python code may run, so nothing is borrowed meanwhile.
    fn hash(slf: &Bound<'_, Self>, element: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (digest, hashfunc) = {
            let signature = slf.try_borrow()?;
            match (signature.digest, bytes_of(element)) {
                (Digest::Sha32, Some(bytes)) => return Ok(short(kernels::sha1_prefix(bytes))),
                (Digest::Sha64, Some(bytes)) => return Ok(kernels::sha1_prefix(bytes)),
                (digest, _) => {
                    (digest, signature.hashfunc.as_ref().map(|it| it.clone_ref(slf.py())))
                }
            }
        };
        let hashfunc = hashfunc.ok_or_else(frozen)?;
        let hash = hashfunc.bind(slf.py()).call1((element,))?;
        if digest != Digest::Other {
            return hash.extract();
        }
        slf.try_borrow()?.number(&hash)
    }

    /// The hash that a user's function gave.
    fn number(&self, hash: &Bound<'_, PyAny>) -> PyResult<u64> {
        static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = hash.py();
        let number = if hash.is_instance_of::<PyInt>() {
            hash.extract()
        } else {
            // What is no whole number becomes one as NumPy would have it.
            function(py, &ARRAY, "numpy", "array")?
                .call1(((hash,), self.scheme.dtype()))
                .and_then(|array| array.call_method1("item", (0,))?.extract())
        };
        number.map_err(|error: PyErr| {
            if self.scheme != Scheme::Legacy && error.is_instance_of::<PyOverflowError>(py) {
                self.too_wide(py)
            } else {
                error
            }
        })
    }

    fn too_wide(&self, py: Python<'_>) -> PyErr {
        let (name, bits) = match self.scheme {
            Scheme::Affine32 => ("affine32", 32),
            _ => (self.scheme.name(), 64),
        };
        refused(
            py,
            format!(
                "hashfunc gave a value that does not fit the {bits} bits of scheme {name:?}; give it one of that \
                 width, or use scheme=\"affine64\""
            ),
        )
    }

    /// Makes ready for hashes: they fit, there is a permutation for each value, and no array counts any longer.
    fn check(&mut self, py: Python<'_>, hashes: &[u64]) -> PyResult<()> {
        if self.shown.is_some() {
            self.values = self.current(py)?.into_owned();
            self.shown = None;
        }
        let permutations = self.permutations.as_ref().ok_or_else(frozen)?.get();
        if permutations.__len__() != self.values.len() {
            let message = format!(
                "there are {} values and {} permutations; set as many hashvalues as permutations",
                self.values.len(),
                permutations.__len__()
            );
            return Err(refused(py, message));
        }
        if self.scheme == Scheme::Affine32 && hashes.iter().any(|&hash| hash > u64::from(u32::MAX))
        {
            return Err(self.too_wide(py));
        }
        Ok(())
    }

    fn lower_to_messages(
        slf: &Bound<'_, Self>,
        messages: &[&[u8]],
        digest: Digest,
    ) -> PyResult<()> {
        let digested = || {
            let mut hashes = Vec::with_capacity(messages.len());
            kernels::sha1_prefixes(messages, &mut hashes);
            if digest == Digest::Sha32 {
                hashes.iter_mut().for_each(|hash| *hash = short(*hash));
            }
            hashes
        };
        let hashes = if messages.len() < MANY { digested() } else { slf.py().detach(digested) };
        Self::lower_to_hashes(slf, &hashes)
    }

    fn lower_to_hashes(slf: &Bound<'_, Self>, hashes: &[u64]) -> PyResult<()> {
        let py = slf.py();
        if hashes.is_empty() {
            return Ok(());
        }
        let mut signature = slf.try_borrow_mut()?;
        signature.check(py, hashes)?;
        let permutations = match &signature.permutations {
            Some(permutations) => permutations.clone_ref(py),
            None => return Err(frozen()),
        };
        let permutations = permutations.get();
        if hashes.len() < MANY {
            permutations.lower(hashes, &mut signature.values);
            return Ok(());
        }
        // Another thread may use the signature meanwhile, and must not find it borrowed.
        let mut values = signature.scheme.empty(signature.values.len());
        drop(signature);
        py.detach(|| permutations.lower(hashes, &mut values));
        let mut signature = slf.try_borrow_mut()?;
        signature.check(py, &[])?;
        signature.values.lower_to(&values);
        Ok(())
    }

    /// What `compare` makes of the values of both, where they may be compared.
    fn compared<T>(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        to: &str,
        compare: impl Fn(&Values, &Values) -> T,
    ) -> PyResult<T> {
        let py = slf.py();
        let own = slf.try_borrow()?;
        let values = own.current(py)?;
        let other_signature = other.cast::<Signature>().ok();
        let other_signature = other_signature.map(|other| other.try_borrow()).transpose()?;
        let (scheme, seed) = match &other_signature {
            Some(other) => (Some(other.scheme), other.seed_of(py)),
            None => foreign(other)?,
        };
        let seeds_differ = || -> PyResult<bool> {
            let own = own.seed_of(py);
            Ok(!own.is(&seed) && own.ne(&seed)?)
        };
        let refuse =
            |reason: &str| refused(py, format!("cannot {to} signatures of different {reason}"));
        if scheme != Some(own.scheme) {
            return Err(refuse("schemes; make both by one"));
        }
        if seeds_differ()? {
            return Err(refuse("seeds; make both with one"));
        }
        let others = match &other_signature {
            Some(other) => other.current(py)?,
            None => {
                let bytes = plain(py, &other.getattr("hashvalues")?, own.scheme)?;
                Cow::Owned(own.scheme.values(bytes.as_bytes()))
            }
        };
        if values.len() != others.len() {
            return Err(refuse("length; make both with one num_perm"));
        }
        Ok(compare(&values, &others))
    }
}

/// Scheme and seed of a signature of the original.
fn foreign<'py>(other: &Bound<'py, PyAny>) -> PyResult<(Option<Scheme>, Bound<'py, PyAny>)> {
    let name = other.getattr_opt("scheme")?.and_then(|name| name.extract::<String>().ok());
    let scheme = name.and_then(|name| Scheme::named(other.py(), &name).ok());
    let seed =
        other.getattr_opt("seed")?.unwrap_or_else(|| other.py().None().into_bound(other.py()));
    Ok((scheme, seed))
}

/// The first four bytes of a digest's first eight.
fn short(prefix: u64) -> u64 {
    prefix & 0xffff_ffff
}

fn bytes_of<'a>(element: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    element.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes())
}

fn frozen() -> PyErr {
    PyTypeError::new_err("a signature without permutations cannot be updated; make a MinHash of it")
}

/// A new array of values.
fn array(py: Python<'_>, values: &Values, scheme: Scheme) -> PyResult<Py<PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let bytes = PyByteArray::new(py, &values.bytes());
    let from_buffer = function(py, &FROM_BUFFER, "numpy", "frombuffer")?;
    Ok(from_buffer.call1((bytes, scheme.dtype()))?.unbind())
}

/// The bytes of an array of the scheme's type.
fn plain<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    scheme: Scheme,
) -> PyResult<Bound<'py, PyBytes>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let array = function(py, &AS_ARRAY, "numpy", "asarray")?.call1((values, scheme.dtype()))?;
    Ok(array.call_method0("tobytes")?.cast_into()?)
}
