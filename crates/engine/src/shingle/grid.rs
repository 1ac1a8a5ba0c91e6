//! Squares of a grid: points in the plane become a set.
//!
//! Points come in, as a fingerprint's minutiae, and the numbers of the squares that they lie in go out. Two pictures of one thing
//! never agree to the pixel, and a point close to a border may lie on the other side of it next time. So it is put into
//! the squares behind that border as well (*Mining of Massive Datasets*, 3.8.4). Pictures have to be brought into one
//! position and size before.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::{Error, Result};

/// Equal squares, side by side from the origin to the right and downwards, numbered row by row from 0.
///
/// ```
/// use nearkin_engine::shingle::Grid;
/// let grid = Grid::new(4, 3, 10.0)?.with_margin(2.0)?;
/// // The second point is less than 2 away from the squares to its left.
/// assert_eq!(grid.set([(5.0, 5.0), (31.0, 15.0)])?, [0, 6, 7]);
/// # Ok::<(), nearkin_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    columns: u32,
    rows: u32,
    side: f64,
    margin: f64,
}

impl FromStr for Grid {
    type Err = Error;

    /// Reads `COLUMNSxROWS:SIDE` or `COLUMNSxROWS:SIDE:MARGIN`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let must = "COLUMNSxROWS:SIDE or COLUMNSxROWS:SIDE:MARGIN, such as 10x18:30:5";
            Error::parameter("grid", text, must)
        };
        let mut parts = text.split(':');
        let (columns, rows) = parts.next().and_then(|it| it.split_once('x')).ok_or_else(wrong)?;
        let count = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let mut length = || parts.next().map(|it| it.trim().parse::<f64>().map_err(|_| wrong()));
        let side = length().ok_or_else(wrong)??;
        let margin = length().transpose()?.unwrap_or(0.0);
        if parts.next().is_some() {
            return Err(wrong());
        }
        Self::new(count(columns)?, count(rows)?, side)?.with_margin(margin)
    }
}

impl Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}:{}", self.columns, self.rows, self.side)?;
        if self.margin > 0.0 { write!(f, ":{}", self.margin) } else { Ok(()) }
    }
}

impl Grid {
    /// A grid in which every point has one square.
    ///
    /// # Errors
    /// When there are no columns or no rows, or `side` is not above 0.
    pub fn new(columns: u32, rows: u32, side: f64) -> Result<Self> {
        for (name, count) in
            [("the number of columns of a grid", columns), ("the number of rows of a grid", rows)]
        {
            if count == 0 {
                return Err(Error::parameter(name, count, "at least 1"));
            }
        }
        if !(side > 0.0 && side.is_finite()) {
            return Err(Error::parameter("the side of a grid square", side, "above 0 and finite"));
        }
        Ok(Self { columns, rows, side, margin: 0.0 })
    }

    /// Widens the squares by `margin`: a point closer than that to a border is also in the square behind it, and near a
    /// corner in all four.
    ///
    /// # Errors
    /// When `margin` is below 0 or above half the side.
    pub fn with_margin(self, margin: f64) -> Result<Self> {
        if !(0.0..=self.side / 2.0).contains(&margin) {
            let must = format!("from 0 to half the side of a square, {}", self.side / 2.0);
            return Err(Error::parameter("the margin of a grid", margin, must));
        }
        Ok(Self { margin, ..self })
    }

    /// Number of squares.
    pub fn squares(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows)
    }

    /// The squares that these points lie in, ascending and each once. A point outside of the grid lies in none, unless
    /// it is close to the border of one.
    ///
    /// # Errors
    /// When a coordinate is infinite or no number.
    pub fn set(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Result<Vec<u64>> {
        let mut set = Vec::new();
        for (place, (x, y)) in points.into_iter().enumerate() {
            if !(x.is_finite() && y.is_finite()) {
                let value = format!("at ({x}, {y}), as number {place} from 0");
                return Err(Error::parameter("a point", value, "at finite coordinates"));
            }
            for row in self.strips(y, self.rows) {
                let first = row * u64::from(self.columns);
                set.extend(self.strips(x, self.columns).map(|column| first + column));
            }
        }
        set.sort_unstable();
        set.dedup();
        Ok(set)
    }

    /// The columns (or rows) of `count` that a coordinate is in: its own, and those behind close borders.
    fn strips(&self, at: f64, count: u32) -> impl Iterator<Item = u64> {
        let own = (at / self.side).floor();
        // By rounding, a point may lie a little outside its own strip.
        let close = |distance: f64| self.margin > 0.0 && distance < self.margin;
        let left = own - f64::from(close(at - own * self.side));
        let right = own + f64::from(close((own + 1.0) * self.side - at));
        let last = f64::from(count) - 1.0;
        let (left, right) = (left.max(0.0), right.min(last));
        // As an unsigned number, what is left of the grid would be its first strip.
        let end = if left <= right { right as u64 + 1 } else { 0 };
        left as u64..end
    }
}
