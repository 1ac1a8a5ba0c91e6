//! Items in memory: how they are compared, and how far apart two may be.

use super::{Goal, ItemKind, Keyword, MeasureName, Options};
use crate::amplify::MAX_FUNCTIONS;
use crate::error::Advice;
use crate::space::{Form, SparseMeasure, StringMeasure, VectorMeasure};
use crate::verify::Limit;
use crate::{Error, Result};

/// What counts as similar among items in memory: a measure that applies to them, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// Whether the limit is a similarity or a distance.
    pub form: Form,
    /// The least similarity or the largest distance; infinite where the closest are wanted however far they are.
    pub limit: f64,
    /// How items are compared.
    pub measure: MeasureName,
}

impl Options {
    /// What is looked for among items in memory.
    ///
    /// # Errors
    /// When options contradict one another or do not apply to the items.
    pub fn query(&self, goal: Goal) -> Result<Query> {
        self.check()?;
        self.check_for_memory(goal)?;
        let kind = self.kind();
        if kind.is_in_memory() {
            self.check_no_shingles()?;
        }
        let measure = self.measure.unwrap_or(match kind {
            ItemKind::Vector => MeasureName::Norm(2.0),
            ItemKind::Bits | ItemKind::Answers => MeasureName::Hamming,
            ItemKind::String => MeasureName::Edit,
            ItemKind::Bag => MeasureName::Bag,
            ItemKind::Text | ItemKind::Set => MeasureName::Jaccard,
        });
        applies(kind, measure)?;
        if self.grid.is_some() && kind != ItemKind::Set {
            let must = "set with a grid, whose squares are the elements";
            return Err(Error::parameter("as", kind.word(), must));
        }
        self.check_estimate(measure, goal)?;
        let (form, limit) = self.limit_of(kind, measure, goal)?;
        if limit.is_nan() || (form == Form::Distance && limit < 0.0) {
            return Err(Error::parameter("within", limit, "a number from 0 on"));
        }
        Ok(Query { form, limit, measure })
    }

    /// The closest value that a pair may have, where one is given for pairs that reach `limit`.
    ///
    /// # Errors
    /// When it is a similarity and pairs are looked for by their distance, or the other way round, or no pair can be both.
    pub(super) fn no_closer(&self, form: Form, limit: f64, goal: Goal) -> Result<Option<f64>> {
        let given = [("at_most", self.at_most), ("at_least", self.at_least)];
        let Some((name, bound)) = given.into_iter().find_map(|(name, bound)| Some((name, bound?)))
        else {
            return Ok(None);
        };
        if goal == Goal::Groups {
            let must = "left out where one item of each group is kept: the closest items are what it removes";
            return Err(Error::parameter(name, bound, must));
        }
        let other = match (form, name) {
            (Form::Distance, "at_most") => Some((
                "left out where pairs are looked for by their distance",
                Advice::with("at_least", "give the smallest distance of a pair"),
            )),
            (Form::Similarity, "at_least") => Some((
                "left out where pairs are looked for by their similarity",
                Advice::with("at_most", "give the largest similarity of a pair"),
            )),
            _ => None,
        };
        match other {
            Some((must, advice)) => Err(Error::parameter(name, bound, must).or(advice)),
            None => {
                let limit = match form {
                    Form::Similarity => Limit::Similarity(limit),
                    Form::Distance => Limit::Distance(limit),
                };
                limit.check_no_closer(bound).map(|()| Some(bound))
            }
        }
    }

    /// An error where similarities are to be estimated that minhashes do not tell, or that must be exact.
    fn check_estimate(&self, measure: MeasureName, goal: Goal) -> Result<()> {
        let Some(functions) = self.estimate else { return Ok(()) };
        if !(1..=MAX_FUNCTIONS).contains(&functions) {
            let must = format!("from 1 to {MAX_FUNCTIONS} functions");
            return Err(Error::parameter("estimate", functions, must));
        }
        if self.kind().is_in_memory() {
            let must = "left out for these items: minhashes are of texts, sets and bags";
            return Err(Error::parameter("estimate", functions, must));
        }
        if !matches!(measure, MeasureName::Jaccard | MeasureName::Bag) {
            let must = "jaccard or bag with estimates: minhashes tell no other similarity";
            return Err(Error::parameter("measure", measure, must));
        }
        if goal == Goal::Groups {
            let must = "left out where items are removed: they are compared exactly";
            return Err(Error::parameter("estimate", functions, must));
        }
        match self.threshold {
            Some(least) if !(least > 0.0 && least <= 1.0) => {
                Err(Error::threshold(least, 1.0, "above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }

    /// An error for options of searches that are not done in memory, and of those that `goal` does not have.
    fn check_for_memory(&self, goal: Goal) -> Result<()> {
        let of_texts = [("filters", self.filters.is_some()), ("approximate", self.approximate)];
        if let Some((name, _)) = of_texts.iter().find(|(_, given)| *given) {
            let must = "left out here: it is for texts, sets and bags that are found by shingles or elements";
            return Err(Error::parameter(name, "given", must));
        }
        let by_tables = [("and_or", self.and_or.is_some()), ("bands", self.bands.is_some())];
        match by_tables.iter().find(|(_, given)| *given && goal == Goal::Closest) {
            Some((name, _)) => {
                let must = "left out with top, which misses none of these items";
                Err(Error::parameter(name, "given", must))
            }
            None => Ok(()),
        }
    }

    fn limit_of(&self, kind: ItemKind, measure: MeasureName, goal: Goal) -> Result<(Form, f64)> {
        let is_similarity =
            measure == MeasureName::Cosine || kind == ItemKind::Bits || measure.is_jaccard_or_bag();
        let every = goal == Goal::Closest;
        Ok(match (self.threshold, self.within) {
            (Some(least), _) if is_similarity && (-1.0..=1.0).contains(&least) => {
                (Form::Similarity, least)
            }
            (Some(least), _) if is_similarity => {
                return Err(Error::threshold(least, 1.0, "a similarity, at most 1"));
            }
            (Some(least), _) => {
                let must = format!("left out with {measure}, which is a distance");
                let advice = Advice::with("within", "say how far apart pairs may be");
                return Err(Error::parameter("threshold", least, must).or(advice));
            }
            (_, Some(most)) => (Form::Distance, most),
            (_, None) if measure == MeasureName::BagSum => (Form::Similarity, 0.444),
            _ if every && measure == MeasureName::Cosine => (Form::Similarity, f64::NEG_INFINITY),
            _ if every && (self.estimate.is_some() || self.grid.is_some()) => {
                (Form::Similarity, 0.3)
            }
            _ if every => (Form::Distance, f64::INFINITY),
            _ if is_similarity => (Form::Similarity, 0.8),
            _ if kind == ItemKind::String => (Form::Distance, 2.0),
            _ => return Err(Error::missing("within", "the largest distance of a pair")),
        })
    }
}

/// An error where a measure does not apply to items of a kind.
fn applies(kind: ItemKind, measure: MeasureName) -> Result<()> {
    let (allowed, applies) = match kind {
        ItemKind::Vector => (
            "l2, l1, another norm such as l3 or linf, or cosine for vectors",
            matches!(measure, MeasureName::Norm(_) | MeasureName::Cosine),
        ),
        ItemKind::Bits => ("hamming for bits", measure == MeasureName::Hamming),
        ItemKind::Answers => ("hamming for answers", measure == MeasureName::Hamming),
        ItemKind::String => (
            "edit, damerau or hamming for strings",
            matches!(measure, MeasureName::Edit | MeasureName::Damerau | MeasureName::Hamming),
        ),
        ItemKind::Set => ("jaccard for sets", measure == MeasureName::Jaccard),
        ItemKind::Text | ItemKind::Bag => (
            "jaccard, bag or bag-sum, or for texts cosine",
            measure.is_jaccard_or_bag()
                || (kind == ItemKind::Text && measure == MeasureName::Cosine),
        ),
    };
    if applies { Ok(()) } else { Err(Error::parameter("measure", measure, allowed)) }
}

impl Query {
    /// The measure of vectors.
    pub fn vectors(&self) -> VectorMeasure {
        match (self.measure, self.form) {
            (MeasureName::Cosine, Form::Similarity) => VectorMeasure::Cosine,
            (MeasureName::Cosine, Form::Distance) => VectorMeasure::Angle,
            (MeasureName::Norm(order), _) => VectorMeasure::Lr(order),
            _ => VectorMeasure::L2,
        }
    }

    /// The measure of strings.
    pub fn strings(&self) -> StringMeasure {
        match self.measure {
            MeasureName::Damerau => StringMeasure::Mutation,
            MeasureName::Hamming => StringMeasure::Hamming,
            _ => StringMeasure::InsertDelete,
        }
    }

    /// The measure of tf-idf vectors.
    pub fn sparse(&self) -> SparseMeasure {
        match self.form {
            Form::Similarity => SparseMeasure::Cosine,
            Form::Distance => SparseMeasure::Angle,
        }
    }

    /// The limit, where there is one.
    pub fn finite_limit(&self) -> Option<f64> {
        self.limit.is_finite().then_some(self.limit)
    }
}
