//! The search where texts have met.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{Float64Array, RecordBatch, UInt64Array};
use arrow_pyarrow::PyArrowType;
use nearkin_engine::Result;
use nearkin_engine::cluster::{Keep, Linkage};
use nearkin_engine::distributed;
use nearkin_engine::family::OnePermutation;
use nearkin_engine::item::Texts;
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::Settings;
use pyo3::prelude::*;

use super::columns::{batch, longs, numbers, texts};
use super::distributed::of_elements;
use super::settings::settings;
use crate::error::Raise;

/// Batches from Python.
pub(super) type Batches = Vec<PyArrowType<RecordBatch>>;

/// The texts of some batches in the order of their positions, each once.
fn gathered<'a>(
    batches: &'a Batches,
    settings: &Settings,
) -> Result<(Vec<u64>, Vec<Cow<'a, str>>)> {
    let mut all = Vec::new();
    for batch in batches {
        let texts = texts(&batch.0, of_elements(settings))?;
        all.extend(longs(&batch.0, "position")?.values().iter().map(|&at| at as u64).zip(texts));
    }
    all.sort_unstable_by_key(|text| text.0);
    all.dedup_by_key(|text| text.0);
    Ok(all.into_iter().unzip())
}

/// Pairs of positions, and how similar they are.
#[derive(Default)]
struct Matches {
    a: Vec<u64>,
    b: Vec<u64>,
    similarity: Vec<f64>,
}

impl Matches {
    fn push(&mut self, a: u64, b: u64, similarity: f64) {
        self.a.push(a);
        self.b.push(b);
        self.similarity.push(similarity);
    }

    fn finish(self) -> RecordBatch {
        let similarity = Float64Array::from(self.similarity);
        let (a, b) = (numbers(self.a), numbers(self.b));
        batch(vec![("a", a), ("b", b), ("similarity", Arc::new(similarity))])
    }
}

/// Every similar pair of the texts (`position`, `text`) that met: `a`, `b`, `similarity`.
#[pyfunction]
pub(crate) fn pairs(
    py: Python<'_>,
    batches: Batches,
    options: &str,
) -> PyResult<PyArrowType<RecordBatch>> {
    let settings = settings(py, options)?;
    let work = || -> Result<RecordBatch> {
        let (positions, texts) = gathered(&batches, &settings)?;
        let similar = Search::new(&settings).pairs(SourceItems::new(&Texts(&texts)))?;
        let mut matches = Matches::default();
        similar.each(|one, other, value| {
            matches.push(positions[one as usize], positions[other as usize], value);
            Ok(())
        })?;
        Ok(matches.finish())
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// Groups of similar texts among those that met: for every text but the first of its group, `a` the first, `b` it, and
/// how similar they are.
#[pyfunction]
pub(crate) fn clusters(
    py: Python<'_>,
    batches: Batches,
    options: &str,
) -> PyResult<PyArrowType<RecordBatch>> {
    let settings = settings(py, options)?;
    let work = || -> Result<RecordBatch> {
        let (positions, texts) = gathered(&batches, &settings)?;
        let found = Search::new(&settings).dedup(
            SourceItems::new(&Texts(&texts)),
            &Keep::First,
            Linkage::Chains,
        )?;
        let mut matches = Matches::default();
        for (&at, cluster) in positions.iter().zip(found.clusters()) {
            let Some((first, similarity)) = cluster else { continue };
            let first = positions[first as usize];
            if first != at {
                matches.push(first, at, similarity);
            }
        }
        Ok(matches.finish())
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// How many of these texts (`position`, `text`) have an element, where several have: `element`, `count`.
#[pyfunction]
pub(crate) fn frequent(
    py: Python<'_>,
    batches: Batches,
    options: &str,
) -> PyResult<PyArrowType<RecordBatch>> {
    let settings = settings(py, options)?;
    let work = || -> Result<RecordBatch> {
        let (_, texts) = gathered(&batches, &settings)?;
        let mut all: Vec<u64> = texts.iter().flat_map(|text| settings.elements(text)).collect();
        all.sort_unstable();
        let runs = || all.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        let elements: UInt64Array = runs().map(|run| run[0]).collect::<Vec<u64>>().into();
        let counts: UInt64Array = runs().map(|run| run.len() as u64).collect::<Vec<u64>>().into();
        Ok(batch(vec![("element", Arc::new(elements)), ("count", Arc::new(counts))]))
    };
    py.detach(work).raise(py).map(PyArrowType)
}

/// How similar texts are to the first of their component.
#[pyclass(module = "nearkin._nearkin")]
pub(crate) struct Likeness {
    likeness: distributed::Likeness,
    component: Option<i64>,
    of_elements: bool,
}

#[pymethods]
impl Likeness {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let settings = settings(py, options)?;
        let likeness = distributed::Likeness::new(&settings).raise(py)?;
        Ok(Self { likeness, component: None, of_elements: of_elements(&settings) })
    }

    /// For a batch of `component` and `text`, sorted by component, the similarity of each text to the first of its
    /// component, which may have come with an earlier batch.
    fn compare_with_first(
        &mut self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let texts = texts(&batch.0, self.of_elements)?;
            let mut values = Vec::with_capacity(texts.len());
            for (component, text) in longs(&batch.0, "component")?.values().iter().zip(&texts) {
                values.push(if self.component == Some(*component) {
                    self.likeness.to_centre(text)
                } else {
                    self.component = Some(*component);
                    self.likeness.set_centre(text);
                    self.likeness.to_itself(text)
                });
            }
            let values = Arc::new(Float64Array::from(values));
            Ok(super::columns::batch(vec![("similarity", values)]))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }

    /// How similar the texts of a batch are to their copies.
    fn compare_with_themselves(
        &self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let texts = texts(&batch.0, self.of_elements)?;
            let values = texts.iter().map(|text| self.likeness.to_itself(text));
            Ok(super::columns::batch(vec![(
                "similarity",
                Arc::new(Float64Array::from_iter_values(values)),
            )]))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }
}

/// Which text of its component stands for each.
#[pyclass(module = "nearkin._nearkin")]
pub(crate) struct Stars {
    stars: distributed::Stars,
    component: Option<i64>,
    /// The texts that are kept of this component.
    kept: Vec<i64>,
    of_elements: bool,
}

#[pymethods]
impl Stars {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let settings = settings(py, options)?;
        let stars = distributed::Stars::new(&settings).raise(py)?;
        Ok(Self { stars, component: None, kept: Vec::new(), of_elements: of_elements(&settings) })
    }

    /// For a batch of `component`, `position` and `text`, sorted by component and in order of preference: `first`, the
    /// position, `centre`, that of the text that stands for it, and how similar they are. A component may go on in the
    /// next batch.
    fn stand_ins(
        &mut self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let texts = texts(&batch.0, self.of_elements)?;
            let (positions, components) =
                (longs(&batch.0, "position")?.values(), longs(&batch.0, "component")?.values());
            let mut centres = Vec::with_capacity(texts.len());
            let mut similarities = Vec::with_capacity(texts.len());
            for ((&position, &component), text) in positions.iter().zip(components).zip(&texts) {
                if self.component != Some(component) {
                    self.component = Some(component);
                    self.kept.clear();
                    self.stars.next_component();
                }
                let (centre, similarity) = self.stars.stands_for(text)?;
                if centre == self.kept.len() {
                    self.kept.push(position);
                }
                centres.push(self.kept[centre] as u64);
                similarities.push(similarity);
            }
            let firsts = numbers(positions.iter().map(|&position| position as u64));
            let similarities = Arc::new(Float64Array::from(similarities));
            Ok(super::columns::batch(vec![
                ("first", firsts),
                ("centre", numbers(centres)),
                ("similarity", similarities),
            ]))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }

    /// How many elements each text of a batch has (`position`, `size`).
    fn sizes(
        &self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let work = || -> Result<RecordBatch> {
            let texts = texts(&batch.0, self.of_elements)?;
            let positions = longs(&batch.0, "position")?.values().iter();
            let sizes = numbers(texts.iter().map(|text| self.stars.size(text) as u64));
            let positions = numbers(positions.map(|&position| position as u64));
            Ok(super::columns::batch(vec![("position", positions), ("size", sizes)]))
        };
        py.detach(work).raise(py).map(PyArrowType)
    }
}

/// The sketches of the texts of a batch, as lists of `functions` numbers; with `partial`, what parts of sets say of
/// them, of which the smaller number counts.
#[pyfunction]
pub(crate) fn sketches(
    py: Python<'_>,
    batch: PyArrowType<RecordBatch>,
    options: &str,
    functions: usize,
    partial: bool,
) -> PyResult<PyArrowType<RecordBatch>> {
    let settings = settings(py, options)?;
    let work = || -> Result<RecordBatch> {
        let sketcher = OnePermutation::new(functions, settings.seed)?;
        let mut lists = ListBuilder::new(Int64Builder::new());
        let (mut values, mut parts) = (vec![0; functions], vec![0; functions]);
        for text in texts(&batch.0, of_elements(&settings))? {
            let mut elements = settings.elements(&text);
            if partial {
                // A part adds its shingles; a text without any counts as one only as a whole.
                if elements.len() == 1 && settings.shingling.set(&text).is_empty() {
                    elements.clear();
                }
                sketcher.partial(&elements, &mut parts);
                lists
                    .values()
                    .append_slice(&parts.iter().map(|&value| value as i64).collect::<Vec<_>>());
            } else {
                sketcher.sketch(&elements, &mut values);
                lists
                    .values()
                    .append_slice(&values.iter().map(|&value| value.into()).collect::<Vec<_>>());
            }
            lists.append(true);
        }
        Ok(super::columns::batch(vec![("sketch", Arc::new(lists.finish()))]))
    };
    py.detach(work).raise(py).map(PyArrowType)
}
