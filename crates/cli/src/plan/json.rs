//! The plan for programs.

use nearkin_engine::plan::Estimate;
use serde_json::{Value, json};

use super::{Corpus, Plan};
use crate::report;

impl Plan<'_> {
    pub(super) fn as_json(&self) -> Value {
        let expression = &self.expression;
        let (at, slope) = expression.steepest();
        let point = |&s: &f64| json!({ "s": s, "p": self.probability(s) });
        let curve: Vec<Value> = self.view.at.iter().map(point).collect();
        let mut plan = json!({
            "expression": expression.to_string(),
            "bands": self.bands.map(|bands| bands.count),
            "rows": self.bands.map(|bands| bands.rows),
            "threshold": self.asked,
            "recall": self.recall,
            "recall_at_threshold": self.probability(self.threshold),
            "half_way": expression.half_way(),
            "estimate": self.bands.map(|bands| bands.estimate()),
            "fixed_point": expression.fixed_point(),
            "steepest": { "at": at, "slope": slope },
            "missed_area": self.bands.map(|bands| bands.false_negative_area(self.threshold)),
            "wasted_area": self.bands.map(|bands| bands.false_positive_area(self.threshold)),
            "formula": expression.formula(),
            "latex": expression.latex(),
            "functions": expression.functions(),
            "tables": expression.tables(),
            "functions_for_estimates": self.functions,
            "curve": curve,
        });
        if let Some(one) = &self.sensitive {
            let all = one.amplified(expression);
            plan["sensitive"] = json!({
                "d1": one.d1,
                "d2": one.d2,
                "one": { "p1": one.p1, "p2": one.p2 },
                "all": { "p1": all.p1, "p2": all.p2 },
            });
        }
        if let Some(corpus) = &self.corpus {
            plan["corpus"] = corpus.as_json();
        }
        plan
    }
}

impl Corpus {
    fn as_json(&self) -> Value {
        let forecast = &self.forecast;
        let error = |estimate: Estimate| estimate.error;
        let advice = self.texts.as_ref().and_then(|texts| texts.advice.as_ref());
        json!({
            "records": self.survey.records,
            "sampled": self.survey.drawn,
            "compared": self.survey.compared,
            "empty": self.texts.as_ref().map(|texts| texts.short.empty),
            "unshingled": self.texts.as_ref().map(|texts| texts.short.none),
            "short": self.texts.as_ref().map(|texts| texts.short.one),
            "shingle": advice.map(|advice| format!("chars:{}", advice.k)),
            "reason": advice.map(ToString::to_string),
            "expected": {
                "similar": forecast.similar.value,
                "missed": forecast.missed.value,
                "wasted": forecast.wasted.value,
                "candidates": forecast.candidates.value,
                "items": forecast.items.value,
            },
            "standard_error": {
                "similar": error(forecast.similar),
                "missed": error(forecast.missed),
                "wasted": error(forecast.wasted),
                "candidates": error(forecast.candidates),
                "items": error(forecast.items),
            },
            "ways": self.ways.as_ref().map(|ways| report::expected_json(ways, true)),
            "histogram": self.survey.histogram(50),
        })
    }
}
