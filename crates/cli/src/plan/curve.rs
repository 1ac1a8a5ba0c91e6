//! A curve from (0, 0) to (1, 1), drawn with characters.
//!
//! In a terminal that shows Unicode a cell holds two by four dots of braille; elsewhere it holds one of four
//! ASCII marks by height.

use crate::screen::Screen;

/// Lines that the curve is drawn on.
const HEIGHT: usize = 16;
/// What stands left of the curve: the label and the axis.
const MARGIN: usize = 6;

/// How many columns the curve is drawn on.
fn columns(screen: Screen) -> usize {
    screen.width.clamp(40, 100) - MARGIN - 2
}

/// Something to point at on the horizontal axis.
pub(super) struct Mark {
    pub(super) at: f64,
    pub(super) label: String,
}

/// The curve with its axes, the threshold as a line where there is one, and marks under the axis.
///
/// Left of the threshold what lies under the curve is shaded, right of it what lies above: chances to be
/// compared in vain, and to be missed.
pub(super) fn draw(
    curve: &dyn Fn(f64) -> f64,
    threshold: Option<f64>,
    marks: &[Mark],
    screen: Screen,
) -> String {
    let columns = columns(screen);
    let dots = Dots::of(curve, columns);
    let line = threshold.map(|at| column(at, columns));
    let mut text = String::new();
    for row in 0..HEIGHT {
        let label = match row {
            0 => "1",
            _ if row == HEIGHT / 4 => "0.75",
            _ if row == HEIGHT / 2 => "0.5",
            _ if row == HEIGHT * 3 / 4 => "0.25",
            _ => "",
        };
        let axis = match (screen.unicode, label.is_empty()) {
            (true, true) => '│',
            (true, false) => '┤',
            (false, true) => '|',
            (false, false) => '+',
        };
        let cells: String = (0..columns).map(|x| dots.cell(x, row, line, screen.unicode)).collect();
        text.push_str(format!("{label:>4} {axis}{cells}").trim_end());
        text.push('\n');
    }
    text + &axis(columns, screen.unicode) + &below(marks, columns, screen)
}

/// The column in which a similarity lies.
fn column(at: f64, columns: usize) -> usize {
    (at.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize
}

/// For every column of dots the lowest and the highest that is set, counted from below.
struct Dots(Vec<(usize, usize)>);

const DOTS_A_ROW: usize = 4;

impl Dots {
    fn of(curve: &dyn Fn(f64) -> f64, columns: usize) -> Self {
        let top = HEIGHT * DOTS_A_ROW - 1;
        let height = |x: usize| {
            let p = curve(x as f64 / (2 * columns - 1) as f64);
            (p.clamp(0.0, 1.0) * top as f64).round() as usize
        };
        // Each column reaches down to where the one before it ends, so that steep parts hang together.
        let column = |x: usize| match (height(x), height(x.saturating_sub(1))) {
            (here, before) if here > before => (before + 1, here),
            (here, _) => (here, here),
        };
        Self((0..2 * columns).map(column).collect())
    }

    fn is_set(&self, x: usize, y: usize) -> bool {
        let (low, high) = self.0[x];
        (low..=high).contains(&y)
    }

    /// The character in a column and a row, counted from above.
    fn cell(&self, x: usize, row: usize, threshold: Option<usize>, unicode: bool) -> char {
        let bottom = (HEIGHT - 1 - row) * DOTS_A_ROW;
        let set = |dx: usize, dy: usize| self.is_set(2 * x + dx, bottom + dy);
        // Bits of a braille character, from below: left column, right column.
        let bits = [[6, 7], [2, 5], [1, 4], [0, 3]];
        let mut braille = 0u32;
        for (dy, row) in bits.iter().enumerate() {
            for (dx, bit) in row.iter().enumerate() {
                braille |= u32::from(set(dx, dy)) << bit;
            }
        }
        let curve = self.0[2 * x].1;
        match threshold {
            _ if braille != 0 && unicode => char::from_u32(0x2800 + braille).unwrap_or(' '),
            _ if braille != 0 => '*',
            Some(at) if x == at => {
                if unicode {
                    '┊'
                } else {
                    ':'
                }
            }
            Some(at) if x < at && bottom < curve => {
                if unicode {
                    '░'
                } else {
                    '.'
                }
            }
            Some(at) if x > at && bottom > curve => {
                if unicode {
                    '▒'
                } else {
                    '%'
                }
            }
            _ => ' ',
        }
    }
}

/// The horizontal axis with its numbers.
fn axis(columns: usize, unicode: bool) -> String {
    let tenths = if columns < 56 { 5 } else { 10 };
    let (corner, flat, tick) = if unicode { ('└', '─', '┴') } else { ('+', '-', '+') };
    let mut line: Vec<char> = vec![flat; columns];
    let mut numbers: Vec<char> = vec![' '; columns + MARGIN + 2];
    for i in 0..=tenths {
        let at = f64::from(i) / f64::from(tenths);
        let place = column(at, columns);
        line[place] = tick;
        let label = at.to_string();
        let start = MARGIN + place - label.len() / 2;
        for (j, digit) in label.chars().enumerate() {
            if let Some(cell) = numbers.get_mut(start + j) {
                *cell = digit;
            }
        }
    }
    let line: String = line.into_iter().collect();
    let numbers: String = numbers.into_iter().collect();
    format!("   0 {corner}{line}\n{}\n", numbers.trim_end())
}

/// A line for each mark: an arrow under its place, and its label on the side where there is room.
fn below(marks: &[Mark], columns: usize, screen: Screen) -> String {
    let arrow = if screen.unicode { '▲' } else { '^' };
    let mut text = String::new();
    for mark in marks {
        let place = MARGIN + column(mark.at, columns);
        let label = screen.show(&mark.label);
        let before = place.checked_sub(label.chars().count() + 1);
        let line = match before {
            Some(start) if mark.at > 0.5 => format!("{:start$}{label} {arrow}", ""),
            _ => format!("{:place$}{arrow} {label}", ""),
        };
        text += &line;
        text.push('\n');
    }
    text
}
