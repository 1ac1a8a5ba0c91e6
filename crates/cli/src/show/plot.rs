//! Pictures of a step: estimates against the truth, and who is in whose buckets.

use std::path::Path;

use nearkin_engine::Error;
use nearkin_engine::textbook::show::{Cell, Shown};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::picture::{self, CURVE, DrawResult, FOUND, Figure, INK, MISSED, PAIRS, Pen, WASTED};

/// The picture as a file of the kind that the path's extension says.
pub(super) fn draw(shown: &Shown, path: &Path) -> anyhow::Result<Vec<u8>> {
    match shown.show {
        "estimate" => picture::draw(&Estimates::of(shown)?, path),
        _ => picture::draw(&Buckets::of(shown)?, path),
    }
}

/// A number of a table.
fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Whole(number) => Some(*number as f64),
        Cell::Real(number) => Some(*number),
        _ => None,
    }
}

/// A text of a table.
fn text(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        _ => "",
    }
}

/// Pairs by what they are and what their signatures say.
struct Estimates {
    points: Vec<(f64, f64)>,
    values: f64,
}

impl Estimates {
    fn of(shown: &Shown) -> anyhow::Result<Self> {
        let table = shown.table("pairs");
        let column = |name: &str| {
            let cells = table.and_then(|table| table.column(name)).unwrap_or_default();
            cells.into_iter().map(number).collect::<Vec<_>>()
        };
        let (truth, estimates) = (column("col/col"), column("sig/sig"));
        let points: Vec<(f64, f64)> =
            truth.iter().zip(&estimates).filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
        if points.is_empty() {
            let must = "left out where there are no sets and no estimates to draw";
            return Err(Error::parameter("plot", "given", must).into());
        }
        let evidence = column("equal").into_iter().zip(column("unequal"));
        let values = evidence.filter_map(|(equal, not)| Some(equal? + not?)).fold(0.0, f64::max);
        Ok(Self { points, values })
    }
}

impl Figure for Estimates {
    fn heading(&self) -> [String; 2] {
        let pairs = self.points.len();
        [
            "Similarity of signatures against that of sets".to_owned(),
            format!("{pairs} pairs; signatures of up to {} values", self.values),
        ]
    }

    fn legend(&self) -> Vec<(RGBColor, bool, &'static str)> {
        vec![
            (FOUND, false, "a pair"),
            (CURVE, true, "estimate = truth"),
            (PAIRS, false, "two standard errors"),
        ]
    }

    fn chart<B: DrawingBackend>(&self, pen: Pen, body: &DrawingArea<B, Shift>) -> DrawResult<B> {
        let mut chart = frame(pen, body).build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        picture::mesh(pen, &mut chart.configure_mesh())
            .x_label_formatter(&|s| format!("{s:.1}"))
            .y_label_formatter(&|s| format!("{s:.1}"))
            .x_desc("similarity of the sets")
            .y_desc("similarity of the signatures")
            .draw()?;
        let at = |i: i32| f64::from(i) / 200.0;
        let off = |s: f64| 2.0 * (s * (1.0 - s) / self.values.max(1.0)).sqrt();
        let above = (0..=200).map(at).map(|s| (s, (s + off(s)).min(1.0)));
        let below = (0..=200).rev().map(at).map(|s| (s, (s - off(s)).max(0.0)));
        let band: Vec<(f64, f64)> = above.chain(below).collect();
        chart.draw_series(std::iter::once(Polygon::new(band, PAIRS.mix(0.6))))?;
        let line = CURVE.stroke_width(pen.px(3) as u32 / 2);
        chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], line))?;
        let dot = |&point: &(f64, f64)| Circle::new(point, pen.px(3), FOUND.mix(0.5).filled());
        chart.draw_series(self.points.iter().map(dot))?;
        Ok(())
    }
}

/// Items across, bands down; items of a bucket have one colour.
struct Buckets {
    items: Vec<String>,
    bands: usize,
    /// Band, items, and which bucket of the band it is.
    shared: Vec<(usize, Vec<usize>, usize)>,
    candidates: usize,
}

impl Buckets {
    fn of(shown: &Shown) -> anyhow::Result<Self> {
        let missing = || Error::parameter("plot", "given", "left out where there are no buckets");
        let keys = shown.table("keys").ok_or_else(missing)?;
        let items: Vec<String> = keys.columns[1..].to_vec();
        let mut shared: Vec<(usize, Vec<usize>, usize)> = Vec::new();
        for (at, row) in keys.rows.iter().enumerate() {
            let mut seen: Vec<&str> = Vec::new();
            for cell in &row[1..] {
                let key = text(cell);
                let who: Vec<usize> =
                    (0..items.len()).filter(|&item| text(&row[item + 1]) == key).collect();
                if !key.is_empty() && who.len() > 1 && !seen.contains(&key) {
                    shared.push((at, who, seen.len()));
                    seen.push(key);
                }
            }
        }
        let candidates = shown.table("pairs").and_then(|table| table.column("candidate"));
        let is_one = |cell: &&Cell| text(cell) == "yes";
        let candidates =
            candidates.unwrap_or_default().into_iter().filter(|cell| is_one(cell)).count();
        Ok(Self { bands: keys.rows.len(), items, shared, candidates })
    }
}

impl Figure for Buckets {
    fn heading(&self) -> [String; 2] {
        [
            format!("Who meets whom in {} bands", self.bands),
            format!("{} items, {} candidate pairs", self.items.len(), self.candidates),
        ]
    }

    fn legend(&self) -> Vec<(RGBColor, bool, &'static str)> {
        vec![(PAIRS, false, "alone"), (FOUND, false, "one colour in a row: one bucket")]
    }

    fn chart<B: DrawingBackend>(&self, pen: Pen, body: &DrawingArea<B, Shift>) -> DrawResult<B> {
        const COLOURS: [RGBColor; 4] = [FOUND, WASTED, CURVE, MISSED];
        let (across, down) = (self.items.len() as f64, self.bands as f64);
        // Squares stand around whole numbers, where the labels are; band 1 above the others.
        let mut chart = frame(pen, body).build_cartesian_2d(-0.5..across - 0.5, 0.5..down + 0.5)?;
        let square = |band: usize, item: usize, colour: RGBColor| {
            let (x, y) = (item as f64, down - band as f64);
            Rectangle::new([(x - 0.45, y - 0.4), (x + 0.45, y + 0.4)], colour.filled())
        };
        let all =
            (0..self.bands).flat_map(|band| (0..self.items.len()).map(move |item| (band, item)));
        chart.draw_series(all.map(|(band, item)| square(band, item, PAIRS)))?;
        for (band, who, bucket) in &self.shared {
            let colour = COLOURS[bucket % COLOURS.len()];
            chart.draw_series(who.iter().map(|&item| square(*band, item, colour)))?;
        }
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(INK.stroke_width(pen.px(1) as u32))
            .x_labels(self.items.len().min(20) + 1)
            .y_labels(self.bands.min(20) + 1)
            .label_style(pen.font(12))
            .axis_desc_style(pen.font(13))
            .x_label_formatter(&|at| self.item_at(*at))
            .y_label_formatter(&|at| self.band_at(*at))
            .x_desc("items")
            .y_desc("bands")
            .set_all_tick_mark_size(pen.px(4))
            .draw()
    }
}

impl Buckets {
    /// The item at a place of the axis, as long as there is room.
    fn item_at(&self, at: f64) -> String {
        let room = (100 / self.items.len().max(1)).clamp(2, 12);
        let item = whole(at).and_then(|at| self.items.get(at));
        item.map_or(String::new(), |name| name.chars().take(room).collect())
    }

    /// The band at a place of the axis.
    fn band_at(&self, at: f64) -> String {
        let band = whole(at).filter(|at| (1..=self.bands).contains(at));
        band.map_or(String::new(), |at| (self.bands + 1 - at).to_string())
    }
}

/// A place that is a whole number.
fn whole(at: f64) -> Option<usize> {
    ((at - at.round()).abs() < 1e-9 && at > -0.5).then(|| at.round() as usize)
}

/// The room for a chart without an axis at its right.
fn frame<'a, 'b, B: DrawingBackend>(
    pen: Pen,
    body: &'a DrawingArea<B, Shift>,
) -> ChartBuilder<'a, 'b, B> {
    let mut chart = picture::frame(pen, body, false);
    chart.set_label_area_size(LabelAreaPosition::Right, 0).margin_right(pen.px(32));
    chart
}
