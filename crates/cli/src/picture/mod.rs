//! Figures as files: SVG, or PNG drawn on a [`Canvas`].
//!
//! plotters draws both. That takes 14 packages and 35 seconds of one core to build; drawing the PNG from the SVG with
//! resvg took 41 packages and 169 seconds.

mod canvas;

use std::path::Path;

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::grouped;
use canvas::Canvas;

/// The picture's size, in units of which a PNG has [`SHARPNESS`] pixels.
const SIZE: (u32, u32) = (800, 520);
const SHARPNESS: u32 = 2;
/// Steps of a unit in an SVG: plotters knows whole numbers only, and a curve of whole units shows steps.
const FINENESS: u32 = 10;

const FONT: &str = "Noto Sans, DejaVu Sans, Arial, sans-serif";

// Okabe and Ito's colours, which people tell apart whatever colours they see.
pub(crate) const CURVE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const WASTED: RGBColor = RGBColor(230, 159, 0);
pub(crate) const FOUND: RGBColor = RGBColor(0, 158, 115);
pub(crate) const MISSED: RGBColor = RGBColor(204, 60, 120);
pub(crate) const PAIRS: RGBColor = RGBColor(218, 220, 224);
pub(crate) const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(232, 232, 232);

pub(crate) type DrawResult<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Something to be drawn under a heading.
pub(crate) trait Figure {
    /// Title, and the line below it.
    fn heading(&self) -> [String; 2];

    /// What the colours mean, and whether each is that of a line.
    fn legend(&self) -> Vec<(RGBColor, bool, &'static str)>;

    /// Draws what stands below.
    fn chart<B: DrawingBackend>(&self, pen: Pen, body: &DrawingArea<B, Shift>) -> DrawResult<B>;
}

/// How large things are drawn: a factor of their size.
#[derive(Clone, Copy)]
pub(crate) struct Pen(f64);

impl Pen {
    /// A length in pixels.
    pub(crate) fn px(self, units: i32) -> i32 {
        (f64::from(units) * self.0).round() as i32
    }

    pub(crate) fn font(self, size: i32) -> TextStyle<'static> {
        // A size in plotters is 1.24 times that of the letters.
        (FONT, f64::from(size) * 1.24 * self.0).into_font().color(&INK)
    }
}

/// The figure as a file of the kind that the path's extension says.
pub(crate) fn draw(figure: &impl Figure, path: &Path) -> anyhow::Result<Vec<u8>> {
    let wanted = |it: &std::ffi::OsStr| it.eq_ignore_ascii_case("svg");
    let wrong = |what: String| anyhow::anyhow!("{}: cannot draw: {what}", path.display());
    if path.extension().is_some_and(wanted) {
        let mut svg = String::new();
        let large = (SIZE.0 * FINENESS, SIZE.1 * FINENESS);
        let area = SVGBackend::with_string(&mut svg, large).into_drawing_area();
        paint(figure, Pen(f64::from(FINENESS)), &area).map_err(|error| wrong(error.to_string()))?;
        drop(area);
        let size = |of: (u32, u32)| format!("width=\"{}\" height=\"{}\"", of.0, of.1);
        return Ok(svg.replacen(&size(large), &size(SIZE), 1).into_bytes());
    }
    let mut canvas = Canvas::new(SIZE, SHARPNESS)?;
    let pen = Pen(f64::from(canvas.scale()));
    paint(figure, pen, &(&mut canvas).into_drawing_area())
        .map_err(|error| wrong(error.to_string()))?;
    canvas.png()
}

fn paint<B: DrawingBackend>(
    figure: &impl Figure,
    pen: Pen,
    root: &DrawingArea<B, Shift>,
) -> DrawResult<B> {
    root.fill(&WHITE)?;
    let (head, body) = root.split_vertically(pen.px(92));
    let [title, subtitle] = figure.heading();
    let bold = pen.font(17).font.style(FontStyle::Bold).color(&INK);
    head.draw(&Text::new(fitted(&title, 78), (pen.px(24), pen.px(12)), bold))?;
    let subtitle = Text::new(fitted(&subtitle, 110), (pen.px(24), pen.px(38)), pen.font(13));
    head.draw(&subtitle)?;
    legend(&figure.legend(), pen, &head)?;
    figure.chart(pen, &body)?;
    root.present()
}

fn legend<B: DrawingBackend>(
    entries: &[(RGBColor, bool, &'static str)],
    pen: Pen,
    head: &DrawingArea<B, Shift>,
) -> DrawResult<B> {
    let style = pen.font(12).pos(Pos::new(HPos::Left, VPos::Center));
    let (mut x, y) = (pen.px(24), pen.px(72));
    for &(colour, line, label) in entries {
        let half = if line { pen.px(3) / 2 } else { pen.px(6) };
        let swatch = [(x, y - half), (x + pen.px(20), y + half)];
        head.draw(&Rectangle::new(swatch, colour.filled()))?;
        head.draw(&Text::new(label, (x + pen.px(26), y), style.clone()))?;
        // Letters are about half as wide as high, whatever the font.
        x += pen.px(26 + 22) + pen.px(label.len() as i32 * 13 / 2);
    }
    Ok(())
}

/// The room for a chart and its labels, with an axis of counts beside it or without.
pub(crate) fn frame<'a, 'b, B: DrawingBackend>(
    pen: Pen,
    body: &'a DrawingArea<B, Shift>,
    counts: bool,
) -> ChartBuilder<'a, 'b, B> {
    let (margin, right) = if counts { (8, 84) } else { (16, 16) };
    let mut chart = ChartBuilder::on(body);
    chart
        .margin_top(pen.px(22))
        .margin_right(pen.px(margin))
        .margin_left(pen.px(8))
        .margin_bottom(pen.px(4))
        .set_label_area_size(LabelAreaPosition::Left, pen.px(58))
        .set_label_area_size(LabelAreaPosition::Bottom, pen.px(48))
        .set_label_area_size(LabelAreaPosition::Right, pen.px(right));
    chart
}

/// Axes and lines of a grid in the style of all figures, with labels at every tenth.
pub(crate) fn mesh<'m, 'a, 'b, X: Ranged, Y: Ranged, B: DrawingBackend>(
    pen: Pen,
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, B>,
) -> &'m mut MeshStyle<'a, 'b, X, Y, B> {
    mesh.axis_style(INK.stroke_width(pen.px(1) as u32))
        .bold_line_style(GRID.stroke_width(pen.px(1) as u32))
        .light_line_style(TRANSPARENT)
        .x_labels(11)
        .y_labels(11)
        .label_style(pen.font(12))
        .axis_desc_style(pen.font(13))
        .set_all_tick_mark_size(pen.px(4))
}

/// The top of an axis of powers of ten for counts up to this.
pub(crate) fn top_of(most: f64) -> f64 {
    10f64.powf((most * 1.3).log10().ceil())
}

/// Marks a threshold by a dashed line with its name above.
pub(crate) fn threshold<B: DrawingBackend, X, Y>(
    pen: Pen,
    body: &DrawingArea<B, Shift>,
    chart: &mut ChartContext<'_, B, Cartesian2d<X, Y>>,
    at: f64,
) -> DrawResult<B>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = INK.stroke_width(pen.px(3) as u32 / 2);
    let dashes = [(at, 0.0), (at, 1.0)];
    chart.draw_series(DashedLineSeries::new(dashes, pen.px(6), pen.px(4), style))?;
    let (x, y) = chart.backend_coord(&(at, 1.0));
    let above = pen.font(12).pos(Pos::new(HPos::Center, VPos::Bottom));
    let origin = body.get_base_pixel();
    let place = (x - origin.0, y - origin.1 - pen.px(4));
    body.draw(&Text::new(format!("threshold {}", (at * 1e4).round() / 1e4), place, above))
}

/// A text cut to `most` characters.
fn fitted(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Labels at powers of ten only.
pub(crate) fn power_of_ten(pairs: &f64) -> String {
    let power = pairs.log10();
    if (power - power.round()).abs() > 1e-6 {
        return String::new();
    }
    grouped(pairs.round() as u64)
}
