//! Expressions of functions, and plans.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use arrow_array::Float64Array;
use nearkin_engine::Error;
use nearkin_engine::amplify::{Expression as Inner, Sensitivity};
use pyo3::prelude::*;

use super::BandSettings;
use super::columns::{Column, doubles, handed_out};
use crate::error::{Raise, raised};
use crate::run::parse_options;

/// An AND and OR of functions.
#[pyclass(frozen, skip_from_py_object, module = "nearkin._nearkin")]
#[derive(Clone)]
pub(crate) struct Expression(Inner);

impl Expression {
    fn checked(py: Python<'_>, inner: Inner) -> PyResult<Self> {
        inner.check().raise(py)?;
        Ok(Self(inner))
    }
}

#[pymethods]
impl Expression {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse::<Inner>().raise(py).map(Self)
    }

    #[staticmethod]
    fn function(py: Python<'_>, name: &str) -> PyResult<Self> {
        Self::checked(py, Inner::function(name))
    }

    fn repeated(&self, py: Python<'_>, all: bool, count: usize) -> PyResult<Self> {
        let inner = self.0.clone();
        Self::checked(py, if all { inner.and(count) } else { inner.or(count) })
    }

    /// Both, or one of the two; what is a list of that kind already gets longer.
    fn joined(&self, py: Python<'_>, all: bool, other: PyRef<'_, Self>) -> PyResult<Self> {
        let parts = |inner: &Inner| match inner {
            Inner::All(parts) if all => parts.clone(),
            Inner::Any(parts) if !all => parts.clone(),
            other => vec![other.clone()],
        };
        let parts = [parts(&self.0), parts(&other.0)].concat();
        Self::checked(py, if all { Inner::All(parts) } else { Inner::Any(parts) })
    }

    fn probability(&self, p: f64) -> f64 {
        self.0.probability(p)
    }

    fn missed(&self, p: f64) -> f64 {
        self.0.missed(p)
    }

    /// The probability, or the chance to miss, at many points.
    fn curve<'py>(&self, py: Python<'py>, at: Column, missed: bool) -> PyResult<Bound<'py, PyAny>> {
        let at = doubles(py, at)?;
        let value = |&p: &f64| if missed { self.0.missed(p) } else { self.0.probability(p) };
        let curve: Vec<f64> = py.detach(|| at.values().iter().map(value).collect());
        handed_out(py, &Float64Array::from(curve))
    }

    /// The probability when each function agrees with one of its own.
    fn probability_with(&self, py: Python<'_>, agreement: Vec<(String, f64)>) -> PyResult<f64> {
        let of = |name: &str| agreement.iter().find(|(other, _)| other == name).map(|(_, p)| *p);
        if let Some(name) = self.0.names().into_iter().find(|name| of(name).is_none()) {
            let must = "given for every function of the expression";
            return Err(raised(
                py,
                &Error::parameter("the chance", format!("missing for {name}"), must),
            ));
        }
        Ok(self.0.probability_with(&|name| of(name).unwrap_or(0.0)))
    }

    fn slope(&self, p: f64) -> f64 {
        self.0.slope(p)
    }

    #[getter]
    fn half_way(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.0.half_way())
    }

    #[getter]
    fn fixed_point(&self, py: Python<'_>) -> Option<f64> {
        py.detach(|| self.0.fixed_point())
    }

    #[getter]
    fn steepest(&self, py: Python<'_>) -> (f64, f64) {
        py.detach(|| self.0.steepest())
    }

    #[getter]
    fn functions(&self) -> usize {
        self.0.functions()
    }

    #[getter]
    fn tables(&self) -> usize {
        self.0.tables()
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().into_iter().map(str::to_owned).collect()
    }

    #[getter]
    fn formula(&self) -> String {
        self.0.formula()
    }

    #[getter]
    fn latex(&self) -> String {
        self.0.latex()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: PyRef<'_, Self>) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}

/// Functions for estimates from sketches alone.
#[pyfunction]
pub(crate) fn functions_needed(
    py: Python<'_>,
    delta: f64,
    epsilon: f64,
    c: f64,
) -> PyResult<usize> {
    nearkin_engine::amplify::functions_needed(delta, epsilon, c).raise(py)
}

/// How many functions an OR should have to err least.
#[pyfunction]
pub(crate) fn best_or(py: Python<'_>, p1: f64, p2: f64) -> PyResult<usize> {
    nearkin_engine::amplify::best_or(p1, p2).raise(py)
}

/// The chances that a function agrees at two distances, in the scale of the measure.
#[pyfunction]
pub(crate) fn sensitivity(
    py: Python<'_>,
    options: &str,
    function: &str,
    bits: Option<usize>,
    d1: f64,
    d2: f64,
) -> PyResult<(f64, f64)> {
    let options = parse_options(py, options)?;
    let curve = options.function_curve(function, bits).raise(py)?;
    let of = Sensitivity::new(d1, d2, |distance| curve.agreement(distance)).raise(py)?;
    Ok((of.p1, of.p2))
}

/// The bands for these wishes, the promised recall, and the threshold as a Jaccard similarity.
#[pyfunction]
#[pyo3(signature = (*, threshold, within, recall, shingle, measure, bands))]
pub(crate) fn planned(
    py: Python<'_>,
    threshold: f64,
    within: Option<f64>,
    recall: f64,
    shingle: &str,
    measure: &str,
    bands: Option<(usize, usize)>,
) -> PyResult<(usize, usize, f64, f64)> {
    let asked = BandSettings {
        threshold,
        within,
        recall,
        shingle,
        measure,
        bands,
        seed: 1,
        threads: Some(1),
    };
    py.detach(|| {
        let settings = asked.settings()?;
        if !settings.measure.follows_jaccard() {
            let must = "jaccard, bag, bag-sum or dice here: others are found by an exact search, which misses none";
            return Err(Error::parameter("measure", settings.measure.name(), must));
        }
        let bands = settings.bands()?;
        Ok((bands.count, bands.rows, settings.promised()?, settings.jaccard_threshold()))
    })
    .raise(py)
}
