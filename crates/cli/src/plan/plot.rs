//! The curve as a picture: over a histogram of similarities, where a collection was looked at.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Plan;
use super::numbers::count;
use crate::picture::{self, CURVE, DrawResult, FOUND, Figure, INK, MISSED, PAIRS, Pen, WASTED};
use crate::report::grouped;

/// Bars of the histogram.
const BARS: usize = 50;

/// The picture as a file of the kind that the path's extension says.
pub(super) fn draw(plan: &Plan, path: &Path) -> anyhow::Result<Vec<u8>> {
    picture::draw(&PlanFigure { plan }, path)
}

/// A drawing of a plan.
struct PlanFigure<'a> {
    plan: &'a Plan<'a>,
}

impl Figure for PlanFigure<'_> {
    fn heading(&self) -> [String; 2] {
        let plan = self.plan;
        let title = match (plan.bands, &plan.options.and_or) {
            (Some(bands), None) => {
                format!("Which pairs are compared: {} bands of {} rows", bands.count, bands.rows)
            }
            _ => plan.expression.to_string(),
        };
        let formula = match plan.options.and_or {
            None => format!("P(s) = {}", typeset(&plan.expression.formula().replace('p', "s"))),
            Some(_) => format!("P = {}", typeset(&plan.expression.formula())),
        };
        let about = plan.corpus.as_ref().map_or(String::new(), |corpus| {
            let records = grouped(corpus.survey.records);
            let similar = count(corpus.forecast.similar);
            let similar = format!("{} {}", similar.0, similar.1);
            format!("; {records} items, {} similar pairs", similar.trim())
        });
        [title, formula + &about]
    }

    fn legend(&self) -> Vec<(RGBColor, bool, &'static str)> {
        let mut entries = vec![(CURVE, true, "chance to be compared")];
        if self.plan.corpus.is_some() {
            entries.push((PAIRS, false, "pairs, not compared"));
        }
        if self.plan.marked_threshold().is_some() {
            if self.plan.corpus.is_some() {
                entries.push((FOUND, false, "found"));
            }
            entries.push((WASTED, false, "compared in vain"));
            entries.push((MISSED, false, "missed"));
        }
        entries
    }

    fn chart<B: DrawingBackend>(&self, pen: Pen, body: &DrawingArea<B, Shift>) -> DrawResult<B> {
        let plan = self.plan;
        let histogram = plan.corpus.as_ref().map(|corpus| corpus.survey.histogram(BARS));
        let most = histogram.iter().flatten().copied().fold(10.0, f64::max);
        let mut chart = picture::frame(pen, body, histogram.is_some())
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?
            .set_secondary_coord(0.0..1.0, (1.0..picture::top_of(most)).log_scale());
        let across = match plan.options.and_or {
            Some(_) => "chance p that one function agrees on a pair",
            None => "similarity s of a pair",
        };
        picture::mesh(pen, &mut chart.configure_mesh())
            .x_label_formatter(&|s| format!("{s:.1}"))
            .y_label_formatter(&|p| format!("{p:.1}"))
            .x_desc(across)
            .y_desc("chance that the pair is compared")
            .draw()?;
        if histogram.is_some() {
            chart
                .configure_secondary_axes()
                .axis_style(INK.stroke_width(pen.px(1) as u32))
                .label_style(pen.font(12))
                .axis_desc_style(pen.font(13))
                .y_label_formatter(&picture::power_of_ten)
                .y_desc("pairs for each 0.02 of similarity (log scale)")
                .set_all_tick_mark_size(pen.px(4))
                .draw()?;
        }
        let threshold = plan.marked_threshold();
        for (colour, bars) in self.bars(histogram.as_deref(), threshold) {
            chart.draw_secondary_series(
                bars.into_iter().map(|bar| Rectangle::new(bar, colour.filled())),
            )?;
        }
        let points = |from: f64, to: f64| {
            let at = move |i: i32| from + (to - from) * f64::from(i) / 400.0;
            (0..=400).map(at).map(|s| (s, plan.probability(s)))
        };
        if let Some(t) = threshold {
            // Over bars, which have these colours themselves, areas would be told from them with difficulty.
            if histogram.is_none() {
                let (wasted, missed) = (WASTED.mix(0.35), MISSED.mix(0.35));
                chart.draw_series(AreaSeries::new(points(0.0, t), 0.0, wasted))?;
                chart.draw_series(AreaSeries::new(points(t, 1.0), 1.0, missed))?;
            }
            let floor = INK.stroke_width(pen.px(1) as u32);
            chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 0.0)], floor))?;
            picture::threshold(pen, body, &mut chart, t)?;
        }
        let line = CURVE.stroke_width(pen.px(5) as u32 / 2);
        chart.draw_series(LineSeries::new(points(0.0, 1.0), line))?;
        self.half_way(pen, &mut chart)
    }
}

impl PlanFigure<'_> {
    fn half_way<B: DrawingBackend, C>(&self, pen: Pen, chart: &mut Chart<'_, B, C>) -> DrawResult<B>
    where
        C: CoordTranslate<From = (f64, f64)>,
    {
        let at = self.plan.expression.half_way();
        let radius = pen.px(5);
        let dot = |size: i32, colour: RGBColor| {
            std::iter::once(Circle::new((at, 0.5), size, colour.filled()))
        };
        chart.draw_series(dot(radius, WHITE))?;
        chart.draw_series(dot(radius - pen.px(3) / 2, CURVE))?;
        let right = at < 0.5;
        let anchor = Pos::new(if right { HPos::Left } else { HPos::Right }, VPos::Center);
        let label = format!("half way {at:.3}");
        let beside = if right { pen.px(10) } else { -pen.px(10) };
        let text =
            EmptyElement::at((at, 0.5)) + Text::new(label, (beside, 0), pen.font(12).pos(anchor));
        chart.draw_series(std::iter::once(text))?;
        Ok(())
    }

    /// Bars of the pairs below the threshold and of those at or above it, and before them bars of those that are
    /// compared in vain, or missed.
    fn bars(&self, histogram: Option<&[f64]>, threshold: Option<f64>) -> Vec<(RGBColor, Bars)> {
        let (Some(histogram), Some(threshold)) = (histogram, threshold) else {
            return Vec::new();
        };
        let (mut all, mut found) = (Vec::new(), Vec::new());
        let (mut wasted, mut missed) = (Vec::new(), Vec::new());
        let width = 1.0 / histogram.len() as f64;
        let gap = 0.1 * width;
        for (i, &pairs) in histogram.iter().enumerate() {
            let (left, right) = (i as f64 * width, (i + 1) as f64 * width);
            let p = self.plan.probability(0.5 * (left + right));
            let bar = |height: f64| [(left + gap, 1.0), (right - gap, height.max(1.0))];
            if 0.5 * (left + right) < threshold {
                all.push(bar(pairs));
                wasted.push(bar(pairs * p));
            } else {
                found.push(bar(pairs));
                missed.push(bar(pairs * (1.0 - p)));
            }
        }
        vec![(PAIRS, all), (FOUND, found), (WASTED, wasted), (MISSED, missed)]
    }
}

/// Two corners of each.
type Bars = Vec<[(f64, f64); 2]>;

type Chart<'a, B, C> = ChartContext<'a, B, C>;

/// A formula as it is printed: 1 − (1 − s⁶)¹⁶.
fn typeset(formula: &str) -> String {
    let mut raised = false;
    let mut text = String::new();
    for sign in formula.chars() {
        raised = sign == '^' || (raised && sign.is_ascii_digit());
        match (sign, sign.to_digit(10)) {
            ('^', _) => {}
            ('-', _) => text.push_str(" − "),
            ('*', _) => text.push_str(" · "),
            (_, Some(digit)) if raised => text.extend("⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize)),
            _ => text.push(sign),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::typeset;
    use crate::picture::power_of_ten;

    #[test]
    fn formulas_and_counts_are_printed_as_in_a_book() {
        assert_eq!(typeset("1-(1-s^6)^16"), "1 − (1 − s⁶)¹⁶");
        assert_eq!(typeset("(1-(1-p[a])^4)*p[b2]"), "(1 − (1 − p[a])⁴) · p[b2]");
        assert_eq!((power_of_ten(&1e6), power_of_ten(&2e5)), ("1,000,000".into(), String::new()));
    }
}
