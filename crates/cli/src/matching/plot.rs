//! The share of true matches at each score as a picture, over a histogram of scores.

use std::path::Path;

use nearkin_engine::records::check::{Share, Shares};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::picture::{self, CURVE, DrawResult, Figure, INK, PAIRS, Pen};
use crate::report::grouped;

/// The picture as a file of the kind that the path's extension says.
pub(super) fn draw(shares: &Shares, threshold: f64, path: &Path) -> anyhow::Result<Vec<u8>> {
    picture::draw(&ShareFigure { shares, threshold }, path)
}

struct ShareFigure<'a> {
    shares: &'a Shares,
    threshold: f64,
}

impl Figure for ShareFigure<'_> {
    fn heading(&self) -> [String; 2] {
        let Shares { random, certain, .. } = self.shares;
        let pairs: u64 = self.shares.rows.iter().map(|row| row.pairs).sum();
        let formula = format!(
            "f = ({random:.3} − h) / ({random:.3} − {certain:.3}), h the mean distance of the checked field; {} pairs",
            grouped(pairs)
        );
        ["How many pairs of a score are true matches".into(), formula]
    }

    fn legend(&self) -> Vec<(RGBColor, bool, &'static str)> {
        vec![
            (CURVE, true, "share of true matches, ± 2 standard errors"),
            (PAIRS, false, "pairs scored"),
        ]
    }

    fn chart<B: DrawingBackend>(&self, pen: Pen, body: &DrawingArea<B, Shift>) -> DrawResult<B> {
        let rows = &self.shares.rows;
        let from = rows.first().map_or(0.0, |row| row.from);
        let to = rows.last().map_or(1.0, |row| row.to);
        let most = rows.iter().map(|row| row.pairs as f64).fold(10.0, f64::max);
        let mut chart = picture::frame(pen, body, true)
            .build_cartesian_2d(from..to, 0.0..1.0)?
            .set_secondary_coord(from..to, (1.0..picture::top_of(most)).log_scale());
        picture::mesh(pen, &mut chart.configure_mesh())
            .x_label_formatter(&|score| format!("{score}"))
            .y_label_formatter(&|share| format!("{share:.1}"))
            .x_desc("score of a pair")
            .y_desc("share of true matches")
            .draw()?;
        chart
            .configure_secondary_axes()
            .axis_style(INK.stroke_width(pen.px(1) as u32))
            .label_style(pen.font(12))
            .axis_desc_style(pen.font(13))
            .y_label_formatter(&picture::power_of_ten)
            .y_desc("pairs (log scale)")
            .set_all_tick_mark_size(pen.px(4))
            .draw()?;
        let bar = |row: &Share| {
            let gap = 0.1 * (row.to - row.from);
            let corners = [(row.from + gap, 1.0), (row.to - gap, (row.pairs as f64).max(1.0))];
            Rectangle::new(corners, PAIRS.filled())
        };
        chart.draw_secondary_series(rows.iter().map(bar))?;
        let middle = |row: &Share| 0.5 * (row.from + row.to);
        let thin = CURVE.mix(0.6).stroke_width(pen.px(3) as u32 / 2);
        for row in rows {
            let reach = |sign: f64| (row.share + sign * 2.0 * row.error).clamp(0.0, 1.0);
            let ends = [(middle(row), reach(-1.0)), (middle(row), reach(1.0))];
            chart.draw_series(LineSeries::new(ends, thin))?;
        }
        let line = CURVE.stroke_width(pen.px(5) as u32 / 2);
        chart
            .draw_series(LineSeries::new(rows.iter().map(|row| (middle(row), row.share)), line))?;
        if (from..=to).contains(&self.threshold) {
            picture::threshold(pen, body, &mut chart, self.threshold)?;
        }
        Ok(())
    }
}
