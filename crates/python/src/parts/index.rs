//! The index.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use nearkin_engine::index::{Content, Index as Inner, check_different};
use nearkin_engine::item::Id;
use nearkin_engine::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::columns::{Column, Texts, handed_out, ids};
use super::{BandSettings, threads_of};
use crate::error::{Raise, raised};

/// Items between two looks for Ctrl-C.
const PORTION: usize = 4096;

/// An index behind a lock: queries run side by side. The lock is taken without the GIL and the GIL never under
/// it, so that nobody waits for both.
#[pyclass(frozen, module = "nearkin._nearkin")]
pub(crate) struct Index {
    inner: RwLock<Inner>,
}

/// An id as Python has it.
#[derive(IntoPyObject)]
enum Name {
    Int(i64),
    Text(String),
}

impl From<&Id> for Name {
    fn from(id: &Id) -> Self {
        match id {
            Id::Int(number) => Self::Int(*number),
            Id::Text(text) => Self::Text(text.as_ref().into()),
        }
    }
}

fn id(given: &Bound<'_, PyAny>) -> PyResult<Id> {
    if let Ok(text) = given.extract::<&str>() {
        return Ok(Id::Text(text.into()));
    }
    given.extract::<i64>().map(Id::Int).map_err(|_| {
        let value = given.repr().map_or_else(|_| "?".into(), |repr| repr.to_string());
        raised(given.py(), &Error::parameter("id", value, "a whole number of 64 bits or a text"))
    })
}

impl Index {
    fn new_from(inner: Inner) -> Self {
        Self { inner: RwLock::new(inner) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a portion of items.
    fn add_portion(&self, ids: &[Id], contents: &[Content<'_>], replace: bool) -> Result<()> {
        let mut index = self.write();
        if replace {
            index.replace_many(ids.to_vec(), contents).map(drop)
        } else {
            index.add_many(ids.to_vec(), contents)
        }
    }
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (*, threshold, within, recall, shingle, measure, bands, seed, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        threshold: f64,
        within: Option<f64>,
        recall: f64,
        shingle: &str,
        measure: &str,
        bands: Option<(usize, usize)>,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let asked =
            BandSettings { threshold, within, recall, shingle, measure, bands, seed, threads };
        let inner = asked.settings().and_then(Inner::new).raise(py)?;
        Ok(Self::new_from(inner))
    }

    fn add(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        text: &str,
        replace: bool,
    ) -> PyResult<()> {
        let id = self::id(id)?;
        py.detach(|| {
            let mut index = self.write();
            if replace { index.replace(id, text).map(drop) } else { index.add(id, text) }
        })
        .raise(py)
    }

    fn add_many(&self, py: Python<'_>, ids: Column, texts: Column, replace: bool) -> PyResult<()> {
        let (ids, texts) = (self::ids(py, ids)?, Texts::new(py, texts)?);
        if ids.len() != texts.len() {
            let must = format!("as many as there are texts, {}", texts.len());
            return Err(raised(py, &Error::parameter("the number of ids", ids.len(), must)));
        }
        if replace {
            py.detach(|| check_different(&ids)).raise(py)?;
        }
        for start in (0..ids.len()).step_by(PORTION) {
            let rows = start..ids.len().min(start + PORTION);
            let added = py.check_signals().and_then(|()| {
                let portion = || {
                    let contents: Vec<Content<'_>> =
                        rows.clone().map(|row| texts.get(row).into()).collect();
                    self.add_portion(&ids[rows.clone()], &contents, replace)
                };
                py.detach(portion).raise(py)
            });
            if let Err(error) = added {
                if !replace {
                    py.detach(|| remove_all(&mut self.write(), &ids[..start]));
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = self::id(id)?;
        Ok(py.detach(|| self.write().remove(&id)))
    }

    fn query(&self, py: Python<'_>, text: &str, k: Option<usize>) -> Vec<(Name, f64)> {
        py.detach(|| {
            let index = self.read();
            index.query(text, k).into_iter().map(|(id, value)| (id.into(), value)).collect()
        })
    }

    /// The rows of the queries, the ids and the similarities.
    fn query_many<'py>(
        &self,
        py: Python<'py>,
        texts: Column,
        k: Option<usize>,
    ) -> PyResult<[Bound<'py, PyAny>; 3]> {
        let texts = Texts::new(py, texts)?;
        let (mut rows, mut ids, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for start in (0..texts.len()).step_by(PORTION) {
            py.check_signals()?;
            let portion = || -> Result<()> {
                let asked = start..texts.len().min(start + PORTION);
                let contents: Vec<Content<'_>> =
                    asked.clone().map(|row| texts.get(row).into()).collect();
                let index = self.read();
                for (row, found) in asked.zip(index.query_many(&contents, k)?) {
                    for (id, value) in found {
                        rows.push(row as i64);
                        ids.push(id.clone());
                        values.push(value);
                    }
                }
                Ok(())
            };
            py.detach(portion).raise(py)?;
        }
        let ids: ArrayRef = py.detach(|| {
            // Others may have added and removed some meanwhile, so what was found counts too.
            let has_texts = ids.iter().any(is_text) || self.read().ids().any(is_text);
            column_of(&ids, has_texts)
        });
        Ok([
            handed_out(py, &Int64Array::from(rows))?,
            handed_out(py, &ids)?,
            handed_out(py, &Float64Array::from(values))?,
        ])
    }

    /// Whether there is such an id; what can be none is not there.
    fn contains(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> bool {
        self::id(id).is_ok_and(|id| py.detach(|| self.read().contains(&id)))
    }

    fn ids(&self, py: Python<'_>) -> Vec<Name> {
        py.detach(|| self.read().ids().map(Name::from).collect())
    }

    fn elements<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = self::id(id)?;
        let elements = py.detach(|| self.read().get(&id).map(<[u64]>::to_vec));
        elements.map(|elements| handed_out(py, &UInt64Array::from(elements))).transpose()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().len())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.read().save(&path)).raise(py)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, threads: Option<usize>) -> PyResult<Self> {
        let threads = threads_of(threads).raise(py)?;
        let inner = py.detach(|| Inner::load(&path)).raise(py)?;
        Ok(Self::new_from(match threads {
            Some(threads) => inner.with_threads(threads),
            None => inner,
        }))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.read().to_bytes()).raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Inner::from_bytes(bytes)).raise(py).map(Self::new_from)
    }

    #[getter]
    fn bands(&self, py: Python<'_>) -> (usize, usize) {
        let bands = py.detach(|| self.read().bands());
        (bands.count, bands.rows)
    }

    #[getter]
    fn promised(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.read().promised()).raise(py)
    }

    /// The threshold, the distance instead, the shingling, the measure and the seed.
    #[getter]
    fn settings(&self, py: Python<'_>) -> (f64, Option<f64>, String, &'static str, u64) {
        py.detach(|| {
            let index = self.read();
            let settings = index.settings();
            let shingle = settings.shingling.to_string();
            let name = settings.measure.name();
            (settings.threshold, settings.within, shingle, name, settings.seed)
        })
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().bytes())
    }
}

fn remove_all(index: &mut Inner, ids: &[Id]) {
    for id in ids {
        index.remove(id);
    }
}

fn is_text(id: &Id) -> bool {
    matches!(id, Id::Text(_))
}

/// Numbers, unless there are texts among the ids found or those of the index: then texts.
fn column_of(ids: &[Id], has_texts: bool) -> ArrayRef {
    if has_texts {
        return std::sync::Arc::new(StringArray::from_iter_values(ids.iter().map(Id::to_string)));
    }
    let number = |id: &Id| if let Id::Int(number) = id { *number } else { 0 };
    std::sync::Arc::new(Int64Array::from_iter_values(ids.iter().map(number)))
}
