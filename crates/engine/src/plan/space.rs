//! The ways in which the items of a space can be searched.

use rayon::prelude::*;

use crate::amplify::Expression;
use crate::error::{Advice, Error, Result};
use crate::family::draw::gaussian;
use crate::family::{
    BitSampling, Family, Hyperplanes, LineDirection, Lines, MinHashes, Normals, SparseHyperplanes,
    Squares,
};
use crate::item::{FieldKeys, Vectors};
use crate::join::estimate::{self, VectorJoin};
use crate::join::sets::{Filters, SetJoin, SetPair, pairs};
use crate::join::{self, TopQuery, bags, bits, sparse, strings, top};
use crate::settings::{Settings, Strategy};
use crate::space::{
    BagSpace, BitSpace, ClosePair, Form, JoinQuery, PairSink, ROUNDING, SetSpace, SignatureSpace,
    Space, SparseMeasure, SparseSpace, StringSpace, VectorMeasure, VectorSpace,
};
use crate::verify::{Limit, Measure, Verifier};

/// What is looked for among the distinct items of a space.
#[derive(Clone)]
pub(crate) struct SpaceQuery<'a> {
    /// Pairs that reach this similarity or distance.
    pub(crate) limit: f64,
    /// The chance that a pair at just the limit is found.
    pub(crate) recall: f64,
    /// How they are found.
    pub(crate) strategy: Strategy,
    /// What all random choices derive from.
    pub(crate) seed: u64,
    /// Where the second collection begins, when pairs of one item of each are looked for.
    pub(crate) split: Option<u32>,
    /// Fields of the items that the expression may ask to be equal.
    pub(crate) fields: &'a [FieldKeys],
    /// Whether to give up.
    pub(crate) stopped: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> SpaceQuery<'a> {
    /// What these settings ask for.
    pub(crate) fn new(
        settings: &Settings,
        split: Option<u32>,
        fields: &'a [FieldKeys],
        stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let limit = match settings.limit() {
            Limit::Similarity(limit) | Limit::Distance(limit) => limit,
        };
        // Bands of whatever functions these items have.
        let strategy = match &settings.strategy {
            Strategy::Bands(bands) => {
                let expression = Expression::function("p").and(bands.rows).or(bands.count);
                Strategy::Tables { expression, probes: 1 }
            }
            other => other.clone(),
        };
        let (recall, seed) = (settings.recall, settings.seed);
        Self { limit, recall, strategy, seed, split, fields, stopped }
    }

    /// The pairs that are looked for.
    pub(crate) fn join(&self) -> JoinQuery<'a> {
        JoinQuery { limit: self.limit, split: self.split, stopped: self.stopped }
    }

    /// The field that a function `equal(FIELD)` compares.
    pub(crate) fn field(&self, function: &str) -> Option<&'a FieldKeys> {
        let name = Expression::field_of(function)?;
        self.fields.iter().find(|field| field.name == name)
    }

    /// The expression that was asked for, and its probes.
    pub(crate) fn expression(&self) -> Option<(&Expression, usize)> {
        match &self.strategy {
            Strategy::Tables { expression, probes } => Some((expression, *probes)),
            _ => None,
        }
    }
}

/// A space that can be searched completely, and perhaps by tables.
pub(crate) trait SearchSpace: Space {
    /// What the complete way needs, and the seconds it will take on one core.
    fn prepare(&self, join: &JoinQuery<'_>) -> (VectorJoin<'_>, f64);

    /// Hands on every pair that reaches the limit, and counts how many were compared.
    fn complete(
        &self,
        prepared: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64>;

    /// The closest of each item, of those that reach `limit` where there is one.
    fn closest(&self, top: &TopQuery<'_>, limit: Option<f64>) -> Result<Vec<ClosePair>>;

    /// A value of this space as the distance that its families go by.
    fn distance(&self, value: f64) -> f64 {
        value
    }

    /// The name of the functions that are used unless others are asked for, if there are such.
    fn functions(&self, _query: &SpaceQuery<'_>, _far: f64) -> Option<String> {
        None
    }

    /// The functions of this name; `far` is how far apart most items are.
    ///
    /// # Errors
    /// When there are none of this name for this measure.
    fn family<'a>(
        &'a self,
        name: &str,
        _query: &SpaceQuery<'_>,
        _far: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        Err(unknown(name, "nothing: there are no functions"))
    }

    /// How large each item is, where the larger one of two similar items may contain the other.
    fn sizes(&self) -> Option<Vec<u32>> {
        None
    }

    /// Whether there are functions for these items, so that tables can be an alternative; or at least where they are
    /// `asked` for.
    fn has_tables(&self, _asked: bool) -> bool {
        true
    }

    /// Nanoseconds that a function takes on an item, and an exact comparison.
    fn costs(&self) -> (f64, f64);
}

/// An error about functions that are not there.
pub(crate) fn unknown(name: &str, known: &str) -> Error {
    Error::parameter(
        "the expression",
        format!("one with `{name}`"),
        format!("made of {known} for this measure"),
    )
}

/// A name and the number in parentheses behind it, if there is one.
fn argument(name: &str) -> Option<(&str, Option<f64>)> {
    let Some((word, rest)) = name.split_once('(') else { return Some((name, None)) };
    let number = rest.strip_suffix(')')?.trim().parse().ok()?;
    Some((word.trim(), Some(number)))
}

/// What is drawn for lines under a measure, where there are lines for it.
fn line_of(measure: VectorMeasure) -> Option<LineDirection> {
    match measure {
        VectorMeasure::L1 => Some(LineDirection::Cauchy),
        VectorMeasure::L2 => Some(LineDirection::Gaussian),
        _ => None,
    }
}

/// The width of the stretches of lines, in four digits, so that it can be written down.
fn width_for(space: &VectorSpace<'_>, line: LineDirection, limit: f64, far: f64) -> f64 {
    let vectors = space.vectors();
    let limit = limit.max(f64::MIN_POSITIVE);
    let contrast = (far / limit).clamp(1.1, 100.0);
    let width = line.width_for(limit, contrast, vectors.len(), vectors.dimension());
    format!("{width:.3e}").parse().unwrap_or(width)
}

/// An error where sums of 32-bit floats cannot tell stretches of this width apart: a projection is off by some
/// roundings of the vector's length, and where that is a thousandth of a width, recall is lost.
fn wide_enough(vectors: &Vectors, width: f64) -> Result<()> {
    let squares = |item| {
        let vector: &[f32] = vectors.get(item);
        vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>()
    };
    let longest = (0..vectors.len()).into_par_iter().map(squares).reduce(|| 0.0, f64::max).sqrt();
    if 1e-3 * width >= 8.0 * ROUNDING * longest {
        return Ok(());
    }
    let must = format!(
        "at least {:.3e} for vectors up to {longest:.3e} long, which are projected in single precision",
        8e3 * ROUNDING * longest
    );
    let error = Error::parameter("the width of lines", width, must);
    Err(error.or("take the mean off").or(Advice::turn_on("exact")))
}

impl SearchSpace for VectorSpace<'_> {
    fn prepare(&self, join: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        estimate::prepare(self, join)
    }

    fn complete(
        &self,
        prepared: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        prepared.within(self, join, found)
    }

    fn closest(&self, top: &TopQuery<'_>, _: Option<f64>) -> Result<Vec<ClosePair>> {
        estimate::prepare_closest(self, top).0.closest(self, top)
    }

    fn distance(&self, value: f64) -> f64 {
        match self.measure() {
            VectorMeasure::Cosine => value.clamp(-1.0, 1.0).acos().to_degrees(),
            _ => value,
        }
    }

    fn functions(&self, query: &SpaceQuery<'_>, far: f64) -> Option<String> {
        match line_of(self.measure()) {
            _ if self.measure().is_angular() => Some("hyperplane".to_owned()),
            Some(line) => Some(format!("line({})", width_for(self, line, query.limit, far))),
            None => None,
        }
    }

    fn family<'a>(
        &'a self,
        name: &str,
        query: &SpaceQuery<'_>,
        far: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        let vectors = self.vectors();
        let angular = self.measure().is_angular();
        match (argument(name), line_of(self.measure())) {
            (Some(("hyperplane" | "p", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Gaussian, query.seed)))
            }
            (Some(("signs", None)), _) if angular => {
                Ok(Box::new(Hyperplanes::new(vectors, Normals::Signs, query.seed)))
            }
            (Some(("line" | "p", width)), Some(line)) => {
                let width = width.unwrap_or_else(|| width_for(self, line, query.limit, far));
                wide_enough(vectors, width)?;
                Ok(Box::new(Lines::new(vectors, line, width, query.seed)?))
            }
            _ if angular => Err(unknown(name, "hyperplane, signs or equal(FIELD)")),
            (_, Some(_)) => Err(unknown(name, "line, line(WIDTH) or equal(FIELD)")),
            _ => Err(unknown(name, "nothing: there are no functions")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        let dimension = self.vectors().dimension() as f64;
        (1.0 + 0.05 * dimension, 100.0 + 0.065 * dimension)
    }
}

impl SearchSpace for BitSpace<'_> {
    fn prepare(&self, join: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        // About a nanosecond for eight words of a pair.
        let pairs = join::pairs_of(self.len(), join.split);
        let words = self.bits().words_each() as f64;
        (VectorJoin::Dense, 1e-9 * pairs * (0.2 + 0.12 * words))
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        bits::within(self, join, found)?;
        Ok(join::pairs_of(self.len(), join.split) as u64)
    }

    fn closest(&self, top: &TopQuery<'_>, _: Option<f64>) -> Result<Vec<ClosePair>> {
        top::brute_force(self, top)
    }

    fn distance(&self, value: f64) -> f64 {
        match self.form() {
            Form::Distance => value * self.scale(),
            Form::Similarity => (1.0 - value) * self.bits().length() as f64,
        }
    }

    fn functions(&self, _: &SpaceQuery<'_>, _: f64) -> Option<String> {
        Some("bits".to_owned())
    }

    fn family<'a>(
        &'a self,
        name: &str,
        query: &SpaceQuery<'_>,
        _: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        match argument(name) {
            Some(("bits" | "p", None)) => Ok(Box::new(BitSampling::new(self.bits(), query.seed))),
            _ => Err(unknown(name, "bits or equal(FIELD)")),
        }
    }

    fn costs(&self) -> (f64, f64) {
        (2.0, 20.0 + self.bits().words_each() as f64)
    }
}

impl SearchSpace for SetSpace<'_> {
    fn prepare(&self, _: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        // Ranking elements, and then looking up a share of them.
        (VectorJoin::Dense, 60e-9 * self.sets().elements() as f64)
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        let limit = match self.form() {
            Form::Similarity => Limit::Similarity(join.limit),
            Form::Distance => Limit::Distance(join.limit),
        };
        let verifier = Verifier::new(self.measure(), limit)?;
        let sets: Vec<&[u64]> = (0..self.len()).map(|set| self.sets().get(set)).collect();
        let (split, stopped, filters) = (join.split, join.stopped, Filters::default());
        let search = SetJoin { verifier: &verifier, filters, split, stopped };
        let pair = |&SetPair { a, b, shared }: &SetPair| {
            let [first, second] = [a, b].map(|set| sets[set as usize].len());
            let overlap = Measure::overlap(shared as usize, first, second);
            ClosePair { a, b, value: verifier.value(overlap) }
        };
        let counts = pairs(&sets, &search, &|hits| {
            found(&hits.iter().map(pair).collect::<Vec<ClosePair>>())
        })?;
        Ok(counts.verified)
    }

    fn closest(&self, top: &TopQuery<'_>, _: Option<f64>) -> Result<Vec<ClosePair>> {
        top::brute_force(self, top)
    }

    /// The Jaccard distance of the (numbered) elements.
    fn distance(&self, value: f64) -> f64 {
        let similarity = if self.form() == Form::Similarity { value } else { 1.0 - value };
        1.0 - self.measure().to_jaccard(similarity)
    }

    fn functions(&self, _: &SpaceQuery<'_>, _: f64) -> Option<String> {
        self.measure().follows_jaccard().then(|| "minhash".to_owned())
    }

    fn family<'a>(
        &'a self,
        name: &str,
        query: &SpaceQuery<'_>,
        _: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        match (argument(name), self.measure().follows_jaccard()) {
            (_, false) => Err(unknown(name, "nothing: there are no functions")),
            (Some(("minhash" | "p", None)), _) => {
                Ok(Box::new(MinHashes::new(self.sets(), query.seed)))
            }
            (Some(("squares", each)), _) => {
                let each = each.unwrap_or(3.0);
                if each.fract() != 0.0 || each < 1.0 {
                    let must = "a whole number, such as squares(3)";
                    return Err(Error::parameter("the number of squares", each, must));
                }
                Ok(Box::new(Squares::of_elements(self.sets(), each as usize, query.seed)?))
            }
            _ => Err(unknown(name, "minhash, squares, squares(N) or equal(FIELD)")),
        }
    }

    fn sizes(&self) -> Option<Vec<u32>> {
        let sizes = || (0..self.len()).map(|set| self.sets().get(set).len() as u32).collect();
        self.measure().is_one_sided().then(sizes)
    }

    fn costs(&self) -> (f64, f64) {
        let elements = self.sets().elements() as f64 / self.len().max(1) as f64;
        (2.0 + 0.05 * elements, 40.0 + elements)
    }
}

/// An error where tables are asked for of items that have none.
pub(crate) fn no_tables(query: &SpaceQuery<'_>) -> Result<()> {
    let Some((expression, _)) = query.expression() else { return Ok(()) };
    let must = "left out: these items are searched completely";
    Err(Error::parameter("the expression", expression, must))
}

impl SearchSpace for StringSpace {
    fn prepare(&self, _: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        (VectorJoin::BruteForce, 0.0)
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        Ok(strings::join(self, join, found)?.candidates)
    }

    /// Within one edit, two and so on, until there are enough, and for those that have not enough within eight by comparing
    /// all.
    fn closest(&self, top: &TopQuery<'_>, limit: Option<f64>) -> Result<Vec<ClosePair>> {
        const LIMITS: [f64; 5] = [1.0, 2.0, 3.0, 5.0, 8.0];
        let limit = limit.unwrap_or(f64::INFINITY);
        let mut open: Vec<u32> = top.asking(self.len()).collect();
        let mut all = Vec::new();
        let below = LIMITS.iter().copied().filter(|&at| at < limit);
        let last = (limit <= LIMITS[LIMITS.len() - 1]).then_some(limit);
        for at in below.chain(last) {
            let join = JoinQuery { limit: at, split: top.split, stopped: top.stopped };
            let mut rows = top::of_pairs(self, top, |found| strings::join(self, &join, found))?;
            open.retain(|&item| {
                let row = std::mem::take(&mut rows[item as usize]);
                let enough = row.len() == top.count || Some(at) == last;
                all.extend(row.into_iter().filter(|_| enough));
                !enough
            });
            if open.is_empty() {
                break;
            }
        }
        all.extend(top::brute_force_of(self, top, &open)?);
        // Rows came item by item, in order of closeness.
        all.sort_by_key(|found| found.a);
        Ok(all)
    }

    fn has_tables(&self, _: bool) -> bool {
        false
    }

    fn costs(&self) -> (f64, f64) {
        (0.0, 100.0)
    }
}

impl SearchSpace for BagSpace<'_> {
    fn prepare(&self, _: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        (VectorJoin::BruteForce, 0.0)
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        bags::join(self, join, found)
    }

    fn closest(&self, top: &TopQuery<'_>, limit: Option<f64>) -> Result<Vec<ClosePair>> {
        let Some(limit) = limit else { return top::brute_force(self, top) };
        let join = JoinQuery { limit, split: top.split, stopped: top.stopped };
        Ok(top::of_pairs(self, top, |found| bags::join(self, &join, found))?.concat())
    }

    fn has_tables(&self, _: bool) -> bool {
        false
    }

    fn costs(&self) -> (f64, f64) {
        (0.0, 100.0)
    }
}

impl SearchSpace for SignatureSpace<'_> {
    fn prepare(&self, _: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        (VectorJoin::BruteForce, 0.0)
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        join::counted(self, join, found)
    }

    fn closest(&self, top: &TopQuery<'_>, limit: Option<f64>) -> Result<Vec<ClosePair>> {
        let Some(limit) = limit else { return top::brute_force(self, top) };
        let join = JoinQuery { limit, split: top.split, stopped: top.stopped };
        Ok(top::of_pairs(self, top, |found| join::counted(self, &join, found))?.concat())
    }

    fn has_tables(&self, _: bool) -> bool {
        false
    }

    fn costs(&self) -> (f64, f64) {
        (0.0, 100.0)
    }
}

impl SearchSpace for SparseSpace {
    fn prepare(&self, _: &JoinQuery<'_>) -> (VectorJoin<'_>, f64) {
        (VectorJoin::BruteForce, 0.0)
    }

    fn complete(
        &self,
        _: &VectorJoin<'_>,
        join: &JoinQuery<'_>,
        found: &PairSink<'_>,
    ) -> Result<u64> {
        Ok(sparse::join(self, join, found)?.candidates)
    }

    fn closest(&self, top: &TopQuery<'_>, limit: Option<f64>) -> Result<Vec<ClosePair>> {
        let Some(limit) = limit else { return top::brute_force(self, top) };
        let join = JoinQuery { limit, split: top.split, stopped: top.stopped };
        let rows = top::of_pairs(self, top, |found| sparse::join(self, &join, found))?;
        Ok(rows.concat())
    }

    /// The angle in degrees.
    fn distance(&self, value: f64) -> f64 {
        match self.measure() {
            SparseMeasure::Cosine => value.clamp(-1.0, 1.0).acos().to_degrees(),
            SparseMeasure::Angle => value,
        }
    }

    fn family<'a>(
        &'a self,
        name: &str,
        query: &SpaceQuery<'_>,
        _: f64,
    ) -> Result<Box<dyn Family + 'a>> {
        match argument(name) {
            Some(("hyperplane" | "p", None)) => {
                Ok(Box::new(SparseHyperplanes::new(self.vectors(), gaussian, query.seed)))
            }
            _ => Err(unknown(name, "hyperplane or equal(FIELD)")),
        }
    }

    /// The complete way is fast, and drawing the normals in thousands of dimensions is not.
    fn has_tables(&self, asked: bool) -> bool {
        asked
    }

    fn costs(&self) -> (f64, f64) {
        // The weights of a vector, about: eight bytes each.
        let weights = self.vectors().bytes() as f64 / 8.0 / self.len().max(1) as f64;
        (20.0 * weights, 50.0 + 2.0 * weights)
    }
}
