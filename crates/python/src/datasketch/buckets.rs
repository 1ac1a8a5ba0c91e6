//! The tables of an LSH index: who shares a band with this signature?
//!
//! A band's values, as bytes, are a bucket's name, and its hash of 128 bits stands for it: two names share one with a
//! probability that is nothing beside that of two sets sharing a value. Keys are numbered as they come, and a bucket
//! holds numbers. A removed key's number stays in its buckets and is passed over, until more numbers are dead than
//! alive and all are given anew; so a removal costs the same however many share a bucket.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use pyo3::PyTraverseError;
use pyo3::exceptions::PyKeyError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::signature::Signature;
use super::{function, refused};

/// The hash of a bucket's name and its band.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name([u64; 2]);

impl Name {
    fn new(bytes: &[u8], band: usize) -> Name {
        let hash = xxh3_128_with_seed(bytes, band as u64);
        Name([hash as u64, (hash >> 64) as u64])
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0[0]);
    }
}

/// Names are hashes already.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Numbers of keys that share a band; most buckets hold one.
enum Bucket {
    One(u32),
    Many(Vec<u32>),
}

impl Bucket {
    fn push(&mut self, number: u32) {
        match self {
            Bucket::One(first) => *self = Bucket::Many(vec![*first, number]),
            Bucket::Many(numbers) => numbers.push(number),
        }
    }

    fn numbers(&self) -> &[u32] {
        match self {
            Bucket::One(number) => std::slice::from_ref(number),
            Bucket::Many(numbers) => numbers,
        }
    }
}

/// The names of the buckets of a signature.
enum Row {
    /// Its values with their bytes turned round; a name is as many bytes for every band.
    Bytes(Box<[u8]>),
    /// What the user's function made of them.
    Named(Py<PyTuple>),
}

/// The state of a MinHashLSH.
#[pyclass(subclass, module = "nearkin._nearkin")]
pub(crate) struct Buckets {
    length: usize,
    bands: usize,
    rows: usize,
    hashfunc: Option<Py<PyAny>>,
    prepickle: bool,
    /// The scheme of the signatures, known from the first on.
    scheme: Option<String>,
    /// From keys to their numbers.
    numbers: Py<PyDict>,
    /// From numbers to keys; dead ones have None.
    keys: Py<PyList>,
    /// From numbers to rows, more than one where a key was inserted again without looking; dead ones have none.
    held: Vec<Vec<Row>>,
    buckets: HashMap<Name, Bucket, BuildHasherDefault<NameHasher>>,
    /// From numbers to the last query that found them, so that one finds each once.
    seen: Vec<u32>,
    /// How many queries there were.
    queries: u32,
}

#[pymethods]
impl Buckets {
    /// Takes whatever a subclass takes; `_start` gives it a state.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(
        py: Python<'_>,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> Buckets {
        Buckets {
            length: 0,
            bands: 0,
            rows: 0,
            hashfunc: None,
            prepickle: false,
            scheme: None,
            numbers: PyDict::new(py).unbind(),
            keys: PyList::empty(py).unbind(),
            held: Vec::new(),
            buckets: HashMap::default(),
            seen: Vec::new(),
            queries: 0,
        }
    }

    /// Begins an empty index.
    fn _start(
        &mut self,
        py: Python<'_>,
        length: usize,
        bands: usize,
        rows: usize,
        prepickle: bool,
        hashfunc: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        if bands.checked_mul(rows).is_none_or(|used| used > length) {
            return Err(refused(
                py,
                format!("{bands} bands of {rows} rows need more than {length} values"),
            ));
        }
        (self.length, self.bands, self.rows) = (length, bands, rows);
        (self.prepickle, self.hashfunc) = (prepickle, hashfunc);
        Ok(())
    }

    /// The number of values of a signature.
    #[getter]
    fn h(&self) -> usize {
        self.length
    }

    /// The number of bands.
    #[getter]
    fn b(&self) -> usize {
        self.bands
    }

    /// The number of rows of a band.
    #[getter]
    fn r(&self) -> usize {
        self.rows
    }

    /// Whether keys are kept as their pickles.
    #[getter]
    fn prepickle(&self) -> bool {
        self.prepickle
    }

    /// What makes the names of buckets shorter.
    #[getter]
    fn hashfunc(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.hashfunc.as_ref().map(|it| it.clone_ref(py))
    }

    #[getter]
    fn _minhash_scheme(&self) -> Option<String> {
        self.scheme.clone()
    }

    #[setter(_minhash_scheme)]
    fn set_minhash_scheme(&mut self, scheme: Option<String>) {
        self.scheme = scheme;
    }

    /// Adds a key with its signature.
    #[pyo3(signature = (key, minhash, check_duplication = true))]
    fn insert(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        minhash: &Bound<'_, PyAny>,
        check_duplication: bool,
    ) -> PyResult<()> {
        let py = slf.py();
        let scheme = Self::checked(slf, minhash)?;
        if let Some(scheme) = scheme {
            slf.try_borrow_mut()?.scheme.get_or_insert(scheme);
        }
        let row = Self::row(slf, minhash)?;
        let key = Self::stored(slf, key)?;
        if check_duplication && Self::number(slf, &key)?.is_some() {
            return Err(refused(
                py,
                "The given key already exists; remove it first, or give another",
            ));
        }
        Self::add(slf, &key, row)
    }

    /// The keys that share a band with a signature, in the order in which they were inserted.
    fn query<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let bands = slf.try_borrow()?.bands;
        Self::query_bands(slf, minhash, bands)
    }

    /// Those that share one of the first bands.
    fn _query_first<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
        bands: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        Self::query_bands(slf, minhash, bands)
    }

    /// Removes a key.
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let key = Self::stored(slf, key)?;
        let Some(number) = Self::number(slf, &key)? else {
            return Err(refused(py, "The given key does not exist; see which do in keys"));
        };
        let numbers = slf.try_borrow()?.numbers.clone_ref(py);
        numbers.bind(py).del_item(&key)?;
        let sparse = {
            let mut buckets = slf.try_borrow_mut()?;
            buckets.held[number as usize] = Vec::new();
            buckets.keys.bind(py).set_item(number as usize, py.None())?;
            buckets.held.len() > 2 * numbers.bind(py).len() + 1024
        };
        if sparse { Self::number_anew(slf) } else { Ok(()) }
    }

    fn __contains__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(Self::number(slf, &Self::stored(slf, key)?)?.is_some())
    }

    /// Whether no key is in it.
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.numbers.bind(py).is_empty()
    }

    /// The keys as they are stored, in order.
    fn _stored_keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.numbers.bind(py).keys()
    }

    fn _has_stored(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(Self::number(slf, key)?.is_some())
    }

    /// The names of the buckets that a stored key is in, band by band; none where there is no such key.
    fn _names<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let names = PyList::empty(py);
        if let Some(number) = Self::number(slf, key)? {
            let buckets = slf.try_borrow()?;
            for row in &buckets.held[number as usize] {
                for band in 0..buckets.bands {
                    names.append(buckets.name_of(py, row, band)?)?;
                }
            }
        }
        Ok(names)
    }

    /// Adds a stored key by the names of its buckets.
    fn _add_named(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        names: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let bands = slf.try_borrow()?.bands;
        for names in names.chunks_exact(bands.max(1)) {
            let bytes: Option<Vec<&[u8]>> = names
                .iter()
                .map(|name| name.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes()))
                .collect();
            let row = match bytes {
                Some(bytes) if bytes.iter().all(|name| name.len() == bytes[0].len()) => {
                    Row::Bytes(bytes.concat().into())
                }
                _ => Row::Named(PyTuple::new(py, names)?.unbind()),
            };
            Self::add(slf, key, row)?;
        }
        Ok(())
    }

    /// From the names of a band's buckets to the keys in them.
    fn _table<'py>(slf: &Bound<'py, Self>, band: usize) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let table = PyDict::new(py);
        let buckets = slf.try_borrow()?;
        for (key, number) in buckets.numbers.bind(py) {
            for row in &buckets.held[number.extract::<usize>()?] {
                let name = buckets.name_of(py, row, band)?;
                match table.get_item(&name)? {
                    Some(keys) => keys.cast::<PyDict>()?.set_item(&key, py.None())?,
                    None => {
                        let keys = PyDict::new(py);
                        keys.set_item(&key, py.None())?;
                        table.set_item(name, keys)?;
                    }
                }
            }
        }
        Ok(table)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.numbers)?;
        visit.call(&self.keys)?;
        match &self.hashfunc {
            Some(hashfunc) => visit.call(hashfunc),
            None => Ok(()),
        }
    }

    fn __clear__(&mut self) {
        self.hashfunc = None;
    }
}

impl Buckets {
    /// Refuses a signature of another length or scheme; its scheme where it has one.
    fn checked(slf: &Bound<'_, Self>, minhash: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let py = slf.py();
        let length = minhash.len()?;
        let buckets = slf.try_borrow()?;
        if length != buckets.length {
            return Err(refused(
                py,
                format!(
                    "Expecting minhash with length {}, got {length}; make it with that num_perm",
                    buckets.length
                ),
            ));
        }
        let known = buckets.scheme.as_deref();
        let other = match minhash.cast::<Signature>() {
            Ok(signature) => {
                let name = signature.try_borrow()?.scheme_of().name();
                if known == Some(name) {
                    return Ok(None);
                }
                Some(name.to_owned())
            }
            Err(_) => match minhash.getattr_opt("scheme")? {
                Some(scheme) => scheme.extract()?,
                None => None,
            },
        };
        match (known, &other) {
            (Some(known), Some(scheme)) if known != scheme => Err(refused(
                py,
                format!(
                    "MinHash scheme {scheme:?} is not {known:?}, which this index has; make all by one scheme"
                ),
            )),
            _ => Ok(other),
        }
    }

    fn row(slf: &Bound<'_, Self>, minhash: &Bound<'_, PyAny>) -> PyResult<Row> {
        let py = slf.py();
        let (used, bands, hashfunc) = {
            let it = slf.try_borrow()?;
            (it.bands * it.rows, it.bands, it.hashfunc.as_ref().map(|it| it.clone_ref(py)))
        };
        let bytes = match minhash.cast::<Signature>() {
            Ok(signature) => {
                let signature = signature.try_borrow()?;
                let values = signature.current(py)?;
                values.swapped(used.min(values.len()))
            }
            Err(_) => {
                // One of the original, weighted ones with two numbers a place among them.
                let values = minhash.getattr("hashvalues")?;
                let values = values.get_item(pyo3::types::PySlice::new(py, 0, used as isize, 1))?;
                let bytes = values.call_method0("byteswap")?.call_method0("tobytes")?;
                bytes.cast::<PyBytes>()?.as_bytes().to_vec()
            }
        };
        let Some(hashfunc) = hashfunc else { return Ok(Row::Bytes(bytes.into())) };
        let names: PyResult<Vec<_>> = bytes
            .chunks(bytes.len().div_ceil(bands).max(1))
            .map(|name| hashfunc.bind(py).call1((PyBytes::new(py, name),)))
            .collect();
        Ok(Row::Named(PyTuple::new(py, names?)?.unbind()))
    }

    /// A key as it is stored.
    fn stored<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if !slf.try_borrow()?.prepickle {
            return Ok(key.clone());
        }
        function(slf.py(), &DUMPS, "pickle", "dumps")?.call1((key,))
    }

    /// The number of a stored key. Its comparison may be Python code, so nothing is borrowed meanwhile.
    fn number(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let numbers = slf.try_borrow()?.numbers.clone_ref(slf.py());
        numbers.bind(slf.py()).get_item(key)?.map(|number| number.extract()).transpose()
    }

    fn add(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, row: Row) -> PyResult<()> {
        let py = slf.py();
        let number = match Self::number(slf, key)? {
            Some(number) => number,
            None => {
                // The number is taken before the key's own code runs again; should that fail, it is a dead one.
                let (number, numbers) = slf.try_borrow_mut()?.take_number(key)?;
                numbers.bind(py).set_item(key, number)?;
                number
            }
        };
        slf.try_borrow_mut()?.hold(py, number, row)
    }

    /// The next number, for a new key.
    fn take_number(&mut self, key: &Bound<'_, PyAny>) -> PyResult<(u32, Py<PyDict>)> {
        let py = key.py();
        let number = u32::try_from(self.held.len())
            .map_err(|_| refused(py, "an index holds up to 2³² keys; use a second one"))?;
        self.keys.bind(py).append(key)?;
        self.held.push(Vec::new());
        Ok((number, self.numbers.clone_ref(py)))
    }

    fn hold(&mut self, py: Python<'_>, number: u32, row: Row) -> PyResult<()> {
        for name in self.names(py, &row, self.bands)? {
            self.buckets
                .entry(name)
                .and_modify(|bucket| bucket.push(number))
                .or_insert(Bucket::One(number));
        }
        let held = self
            .held
            .get_mut(number as usize)
            .ok_or_else(|| PyKeyError::new_err("the index changed while a key was inserted"))?;
        held.reserve_exact(1);
        held.push(row);
        Ok(())
    }

    /// The hashes of a row's names in the first bands.
    fn names(&self, py: Python<'_>, row: &Row, bands: usize) -> PyResult<Vec<Name>> {
        static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        match row {
            Row::Bytes(bytes) => {
                let size = bytes.len().div_ceil(self.bands.max(1)).max(1);
                let names = bytes.chunks(size).take(bands).enumerate();
                Ok(names.map(|(band, name)| Name::new(name, band)).collect())
            }
            Row::Named(names) => {
                let of = |(band, name): (usize, Bound<'_, PyAny>)| match name.cast::<PyBytes>() {
                    Ok(bytes) => Ok(Name::new(bytes.as_bytes(), band)),
                    Err(_) => {
                        let pickle = function(py, &DUMPS, "pickle", "dumps")?.call1((&name,))?;
                        // Numbered as bands that do not exist, so that it is no bytes' name.
                        Ok(Name::new(pickle.cast::<PyBytes>()?.as_bytes(), self.bands + band))
                    }
                };
                names.bind(py).iter().take(bands).enumerate().map(of).collect()
            }
        }
    }

    /// A row's name in a band, as the user sees it.
    fn name_of<'py>(&self, py: Python<'py>, row: &Row, band: usize) -> PyResult<Bound<'py, PyAny>> {
        match row {
            Row::Bytes(bytes) => {
                let size = bytes.len() / self.bands.max(1);
                Ok(PyBytes::new(py, &bytes[band * size..(band + 1) * size]).into_any())
            }
            Row::Named(names) => names.bind(py).get_item(band),
        }
    }

    fn query_bands<'py>(
        slf: &Bound<'py, Self>,
        minhash: &Bound<'py, PyAny>,
        bands: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = slf.py();
        Self::checked(slf, minhash)?;
        let row = Self::row(slf, minhash)?;
        let mut it = slf.try_borrow_mut()?;
        let names = it.names(py, &row, bands)?;
        let found = it.found(py, &names);
        let (keys, prepickle) = (it.keys.clone_ref(py), it.prepickle);
        drop(it);
        let keys = keys.bind(py);
        let keys = found.iter().map(|&number| keys.get_item(number as usize));
        let mut keys = keys.collect::<PyResult<Vec<_>>>()?;
        if prepickle {
            let loads = function(py, &LOADS, "pickle", "loads")?;
            keys = keys.iter().map(|key| loads.call1((key,))).collect::<PyResult<_>>()?;
        }
        PyList::new(py, keys)
    }

    /// The numbers in these buckets, in order, each once.
    fn found(&mut self, py: Python<'_>, names: &[Name]) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        self.seen.resize(self.held.len(), 0);
        self.queries = self.queries.checked_add(1).unwrap_or_else(|| {
            self.seen.fill(0);
            1
        });
        for name in names {
            let Some(bucket) = self.buckets.get(name) else { continue };
            for &number in bucket.numbers() {
                let seen = &mut self.seen[number as usize];
                if *seen != self.queries {
                    *seen = self.queries;
                    found.push(number);
                }
            }
        }
        // Without dead numbers there is no need to touch each one's rows.
        if self.held.len() != self.numbers.bind(py).len() {
            found.retain(|&number| !self.held[number as usize].is_empty());
        }
        // Every bucket is in order already, which this sort makes use of.
        found.sort();
        found
    }

    /// Gives the keys that are left numbers without gaps, in the same order.
    fn number_anew(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let (old_keys, old_held) = {
            let mut it = slf.try_borrow_mut()?;
            let keys = std::mem::replace(&mut it.keys, PyList::empty(py).unbind());
            it.numbers = PyDict::new(py).unbind();
            it.buckets.clear();
            (keys, std::mem::take(&mut it.held))
        };
        for (key, rows) in old_keys.bind(py).iter().zip(old_held) {
            for row in rows {
                Self::add(slf, &key, row)?;
            }
        }
        Ok(())
    }
}
