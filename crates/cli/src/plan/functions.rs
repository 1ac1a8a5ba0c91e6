//! What an expression does to distances in the scale of their measure: degrees, bits, lengths.

use std::fmt::Write as _;

use nearkin_engine::amplify::{Expression, Sensitivity};
use nearkin_engine::options::{FunctionCurve, Options};
use nearkin_engine::{Error, Result};
use serde_json::{Value, json};

use super::numbers::{chance, odds};
use super::{AT, PlanRequest, curve};
use crate::screen::Screen;

/// The functions of an expression, and what is known of each.
pub(super) struct ExpressionCurve<'a> {
    expression: &'a Expression,
    functions: Vec<(&'a str, FunctionCurve)>,
}

impl<'a> ExpressionCurve<'a> {
    pub(super) fn new(
        expression: &'a Expression,
        options: &Options,
        bits: Option<usize>,
    ) -> Result<Self> {
        let curve = |name: &'a str| Ok((name, options.function_curve(name, bits)?));
        let functions = expression.names().into_iter().map(curve).collect::<Result<_>>()?;
        Ok(Self { expression, functions })
    }

    /// The first function, whose scale is that of all.
    fn first(&self) -> FunctionCurve {
        self.functions[0].1
    }

    fn farthest(&self) -> f64 {
        self.functions.iter().map(|(_, function)| function.farthest()).fold(0.0, f64::max)
    }

    /// The chance of the whole at a distance.
    fn probability(&self, distance: f64) -> f64 {
        self.expression.probability_with(&|name| {
            let known = self.functions.iter().find(|(other, _)| *other == name);
            known.map_or(0.0, |(_, function)| function.agreement(distance))
        })
    }

    /// What each function, and at the end the whole, promises at two distances.
    fn sensitivities(&self, (near, far): (f64, f64)) -> Result<Vec<(String, Sensitivity)>> {
        let farthest = self.first().farthest();
        let is_bounded =
            !matches!(self.first(), FunctionCurve::Line(_) | FunctionCurve::CauchyLine(_));
        if is_bounded && far > farthest {
            let must = format!("two distances up to {farthest}: {}", self.first().unit());
            return Err(Error::parameter("sensitive", far, must));
        }
        let mut all = Vec::new();
        for (name, function) in &self.functions {
            all.push((
                (*name).to_owned(),
                Sensitivity::new(near, far, |it| function.agreement(it))?,
            ));
        }
        all.push(("all of it".to_owned(), Sensitivity::new(near, far, |it| self.probability(it))?));
        Ok(all)
    }

    /// The lines that say how well pairs at two distances are told apart.
    pub(super) fn sensitive_text(&self, at: (f64, f64)) -> Result<String> {
        let unit = self.first().unit();
        let mut text = format!(
            "\n  (d1, d2, p1, p2)-sensitive, by the {unit}: pairs within d1 agree with chance p1 or more, pairs at d2 or \
             beyond with p2 or less\n"
        );
        let all = self.sensitivities(at)?;
        let width = all.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, Sensitivity { d1, d2, p1, p2 }) in all {
            let _ = writeln!(text, "  {name:width$}  ({d1}, {d2}, {}, {})", chance(p1), chance(p2));
        }
        Ok(text)
    }

    pub(super) fn sensitive_json(&self, at: (f64, f64)) -> Result<Value> {
        let all = self.sensitivities(at)?;
        let promises = |of: &Sensitivity| json!({ "p1": of.p1, "p2": of.p2 });
        let (whole, functions) =
            all.split_last().map_or((None, &all[..]), |(last, rest)| (Some(last), rest));
        let functions: serde_json::Map<String, Value> =
            functions.iter().map(|(name, of)| (name.clone(), promises(of))).collect();
        Ok(json!({
            "d1": at.0,
            "d2": at.1,
            "unit": self.first().unit(),
            "one": functions.values().next(),
            "functions": functions,
            "all": whole.map(|(_, of)| promises(of)),
        }))
    }
}

/// The plan of an expression of other functions than minhash, before there are items.
pub(super) fn tell(
    request: &PlanRequest,
    expression: &Expression,
    screen: Screen,
) -> anyhow::Result<String> {
    let view = &request.view;
    let curve_of = ExpressionCurve::new(expression, &request.options, None)?;
    let farthest = curve_of.farthest();
    let at: Vec<f64> = match view.at == AT {
        true => (1..=9).map(|tenth| farthest * f64::from(tenth) / 10.0).collect(),
        false => view.at.clone(),
    };
    if let Some(wrong) = at.iter().find(|at| !(**at >= 0.0 && at.is_finite())) {
        return Err(Error::parameter("at", wrong, "a distance, from 0 on").into());
    }
    let unit = curve_of.first().unit();
    if view.json {
        let point =
            |&distance: &f64| json!({ "distance": distance, "p": curve_of.probability(distance) });
        let mut plan = json!({
            "expression": expression.to_string(),
            "unit": unit,
            "functions": expression.functions(),
            "tables": expression.tables(),
            "formula": expression.formula(),
            "latex": expression.latex(),
            "curve": at.iter().map(point).collect::<Vec<_>>(),
        });
        if let Some(two) = view.sensitive {
            plan["sensitive"] = curve_of.sensitive_json(two)?;
        }
        return Ok(format!("{plan:#}\n"));
    }
    let mut text =
        format!("The chance that {expression} makes a pair a candidate, by its {unit}\n");
    let _ = writeln!(text, "(1 on the axis is {farthest}):\n");
    text.push_str(&curve::draw(&|x| curve_of.probability(x * farthest), None, &[], screen));
    text.push('\n');
    for distance in at {
        let p = curve_of.probability(distance);
        let distance = (distance * 1e4).round() / 1e4;
        let _ = writeln!(text, "  {distance:>10}  {:<14}{}", chance(p), odds(p));
    }
    let (functions, tables) = (expression.functions(), expression.tables());
    let _ = writeln!(
        text,
        "\n  an item costs {functions} functions and leaves {tables} keys of 8 bytes"
    );
    if view.latex {
        let _ = writeln!(text, "  LaTeX: {}", expression.latex());
    }
    if let Some(two) = view.sensitive {
        text.push_str(&curve_of.sensitive_text(two)?);
    }
    Ok(text)
}
