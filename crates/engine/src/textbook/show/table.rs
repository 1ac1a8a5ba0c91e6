//! Tables as values: what every step shows, and how it is written as text, LaTeX or HTML.

use std::fmt::Write;

use serde::{Serialize, Serializer};

/// What one field of a table holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
    /// No value was seen: ∞.
    Infinity,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Whole(number) => serializer.serialize_i64(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Infinity => serializer.serialize_str("∞"),
        }
    }
}

impl Cell {
    /// Whether it stands at the right of its column.
    fn is_number(&self) -> bool {
        matches!(self, Self::Whole(_) | Self::Real(_) | Self::Infinity)
    }

    /// As it is printed, with so many decimals.
    fn show(&self, decimals: usize) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => harmless(text),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) if number.is_finite() => format!("{number:.decimals$}"),
            Self::Real(number) => number.to_string(),
            Self::Infinity => "∞".to_owned(),
        }
    }

    /// Decimals that the number has, up to four.
    fn decimals(&self) -> usize {
        let Self::Real(number) = self else { return 0 };
        let text = format!("{number:.4}");
        text.trim_end_matches('0').rsplit_once('.').map_or(0, |(_, decimals)| decimals.len())
    }
}

/// A text whose control characters are spelled out, so that it stays on its line.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// A table with the names of its columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownTable {
    /// What programs know it by.
    pub name: &'static str,
    /// What it shows, for people.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

impl ShownTable {
    /// A table without rows.
    pub(super) fn new(
        name: &'static str,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { name, title: title.into(), columns, rows: Vec::new() }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }

    /// The cells of a column.
    pub fn column(&self, name: &str) -> Option<Vec<&Cell>> {
        let at = self.columns.iter().position(|column| column == name)?;
        Some(self.rows.iter().map(|row| &row[at]).collect())
    }

    /// The rows that are shown, as texts, and which columns hold numbers.
    fn shown(&self, most: usize) -> (Vec<Vec<String>>, Vec<bool>) {
        let rows = &self.rows[..self.rows.len().min(most)];
        let column = |at: usize| rows.iter().map(move |row| &row[at]);
        let decimals: Vec<usize> = (0..self.columns.len())
            .map(|at| column(at).map(Cell::decimals).max().unwrap_or(0))
            .collect();
        let numbers = (0..self.columns.len())
            .map(|at| {
                let some = column(at).any(Cell::is_number);
                some && column(at).all(|cell| cell.is_number() || *cell == Cell::Empty)
            })
            .collect();
        let texts = rows
            .iter()
            .map(|row| row.iter().zip(&decimals).map(|(cell, &many)| cell.show(many)).collect())
            .collect();
        (texts, numbers)
    }

    /// What is left out when only so many rows are shown.
    fn rest(&self, most: usize) -> Option<String> {
        let left = self.rows.len().saturating_sub(most);
        (left > 0).then(|| format!("… and {left} more"))
    }

    /// The table in columns of one width each.
    fn as_text(&self, most: usize) -> String {
        let (rows, numbers) = self.shown(most);
        let width = |at: usize| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.chain([self.columns[at].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let mut text = String::new();
            for ((cell, width), is_number) in cells.iter().zip(&widths).zip(&numbers) {
                let room = " ".repeat(width - cell.chars().count());
                let cell = if *is_number { room + cell } else { cell.clone() + &room };
                text += "  ";
                text += &cell;
            }
            text.trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n", self.title);
        text += &line(&self.columns);
        rows.iter().for_each(|row| text += &line(row));
        if let Some(rest) = self.rest(most) {
            let _ = writeln!(text, "  {rest}");
        }
        text
    }

    /// The table as a `tabular` of LaTeX.
    fn as_latex(&self, most: usize) -> String {
        let (rows, numbers) = self.shown(most);
        let kinds: String = numbers.iter().map(|&number| if number { 'r' } else { 'l' }).collect();
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| latex(cell)).collect();
            cells.join(" & ") + " \\\\\n"
        };
        let mut text = format!("% {}\n\\begin{{tabular}}{{{kinds}}}\n\\hline\n", self.title);
        text += &line(&self.columns);
        text += "\\hline\n";
        rows.iter().for_each(|row| text += &line(row));
        text += "\\hline\n\\end{tabular}\n";
        if let Some(rest) = self.rest(most) {
            let _ = writeln!(text, "% {rest}");
        }
        text
    }

    /// The table for a notebook.
    fn as_html(&self, most: usize) -> String {
        let (rows, numbers) = self.shown(most);
        let line = |cells: &[String], tag: &str| {
            let cells = cells.iter().zip(&numbers).map(|(cell, is_number)| {
                let side = if *is_number { "right" } else { "left" };
                format!("<{tag} style=\"text-align:{side}\">{}</{tag}>", html(cell))
            });
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let body: String = rows.iter().map(|row| line(row, "td")).collect();
        let rest = self.rest(most).map_or(String::new(), |rest| format!("<p>{rest}</p>"));
        format!(
            "<table><caption>{}</caption><thead>{}</thead><tbody>{body}</tbody></table>{rest}",
            html(&self.title),
            line(&self.columns, "th"),
        )
    }
}

/// All that one step shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// The step.
    pub show: &'static str,
    /// Its tables.
    pub tables: Vec<ShownTable>,
    /// What there is to say about them.
    pub notes: Vec<String>,
}

impl Shown {
    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<&ShownTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// For people, with at most so many rows of each table.
    pub fn as_text(&self, most: usize) -> String {
        let mut parts: Vec<String> = self.tables.iter().map(|table| table.as_text(most)).collect();
        let notes: String = self.notes.iter().map(|note| wrapped(note)).collect();
        parts.extend((!notes.is_empty()).then_some(notes));
        parts.join("\n")
    }

    /// The tables for LaTeX. What is said about them stands in comments.
    pub fn as_latex(&self, most: usize) -> String {
        let mut parts: Vec<String> = self.tables.iter().map(|table| table.as_latex(most)).collect();
        parts.extend(self.notes.iter().map(|note| format!("% {note}\n")));
        parts.join("\n")
    }

    /// The tables for a notebook.
    pub fn as_html(&self, most: usize) -> String {
        let tables = self.tables.iter().map(|table| table.as_html(most));
        let notes = self.notes.iter().map(|note| format!("<p>{}</p>", html(note)));
        tables.chain(notes).collect()
    }
}

/// A sentence in lines that end at a blank.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split(' ') {
        let more = word.chars().count();
        if length > 0 {
            let breaks = length + 1 + more > WIDTH;
            lines.push(if breaks { '\n' } else { ' ' });
            length = if breaks { 0 } else { length + 1 };
        }
        lines.push_str(&harmless(word));
        length += more;
    }
    lines + "\n"
}

/// A text as LaTeX prints it.
fn latex(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => shown.extend(['\\', c]),
            '~' => shown.push_str("\\textasciitilde{}"),
            '^' => shown.push_str("\\textasciicircum{}"),
            '\\' => shown.push_str("\\textbackslash{}"),
            '∞' => shown.push_str("$\\infty$"),
            '·' => shown.push_str("$\\cdot$"),
            '≥' => shown.push_str("$\\geq$"),
            '≤' => shown.push_str("$\\leq$"),
            '−' => shown.push_str("$-$"),
            '…' => shown.push_str("\\ldots{}"),
            _ => shown.push(c),
        }
    }
    shown
}

/// A text as HTML shows it.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ShownTable {
        let mut table = ShownTable::new("t", "A title", ["name", "value"]);
        table.push(["a_b".into(), Cell::Real(0.75)]);
        table.push(["<c>\n".into(), Cell::Infinity]);
        table.push([Cell::Empty, Cell::Whole(12)]);
        table
    }

    #[test]
    fn columns_of_numbers_stand_at_the_right() {
        let text = "A title\n  name   value\n  a_b     0.75\n  <c>\\n      ∞\n            12\n";
        assert_eq!(table().as_text(9), text);
        assert!(table().as_text(2).ends_with("∞\n  … and 1 more\n"));
    }

    #[test]
    fn what_latex_and_html_would_take_for_their_own_is_escaped() {
        let tabular = "% A title\n\\begin{tabular}{lr}\n\\hline\nname & value \\\\\n\\hline\na\\_b & 0.75 \\\\\n\
            <c>\\textbackslash{}n & $\\infty$ \\\\\n & 12 \\\\\n\\hline\n\\end{tabular}\n";
        assert_eq!(table().as_latex(9), tabular);
        assert!(
            table().as_html(9).contains("&lt;c&gt;\\n</td><td style=\"text-align:right\">∞</td>")
        );
    }
}
