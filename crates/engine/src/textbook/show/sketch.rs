//! Sketches of vectors: signs under hyperplanes, and buckets on lines (*Mining of Massive Datasets*, 3.7.2 to 3.7.5).

use super::ShowRequest;
use super::items::{Content, at_least, names, numbers};
use super::options::List;
use super::table::{Cell, Shown, ShownTable};
use crate::family::hyperplane::estimated_degrees;
use crate::family::{Hyperplanes, Normals};
use crate::item::Vectors;
use crate::measure::cosine;
use crate::{Error, Result};

/// Hyperplanes of the engine unless the user says how many.
const HYPERPLANES: usize = 16;
/// Components up to which all vectors of signs are taken.
const MOST_SIGNS: usize = 10;

/// Vectors with their names.
pub(super) struct NamedVectors {
    names: Vec<String>,
    vectors: Vec<Vec<f64>>,
}

impl NamedVectors {
    pub(super) fn of(request: &ShowRequest<'_>) -> Result<Self> {
        let names = names(request.items, "x");
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        for (item, name) in request.items.iter().zip(&names) {
            let Content::Vector(vector) = &item.content else {
                return Err(Error::parameter("item", name, "a vector"));
            };
            if let Some(first) = vectors.first() {
                same_dimension(vector, name, first.len(), &names[0])?;
            }
            vectors.push(vector.clone());
        }
        Ok(Self { names, vectors })
    }

    /// As a search holds them.
    pub(super) fn held(&self) -> Result<Vectors> {
        let values = self.vectors.concat().iter().map(|&x| x as f32).collect();
        Vectors::new(self.dimension(), values)
    }

    fn dimension(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.vectors.len();
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
    }

    /// Vectors of the user's own, such as normals, each with its name.
    fn given(&self, lists: &[List], what: &'static str) -> Result<Vec<(String, Vec<f64>)>> {
        let vector = |list: &List| {
            let vector = numbers(list, "a vector")?;
            let name = list.words().join(",");
            same_dimension(&vector, &format!("{what} {name}"), self.dimension(), &self.names[0])?;
            Ok((name, vector))
        };
        lists.iter().map(vector).collect()
    }

    /// A row of a table: a name, and a cell of each vector.
    fn table(&self, name: &'static str, title: &str, first: &str) -> ShownTable {
        let columns = std::iter::once(first).chain(self.names.iter().map(String::as_str));
        ShownTable::new(name, title, columns)
    }
}

/// An error unless a vector has so many components.
fn same_dimension(vector: &[f64], name: &str, dimension: usize, as_of: &str) -> Result<()> {
    if vector.len() == dimension {
        return Ok(());
    }
    let components = if vector.len() == 1 { "component" } else { "components" };
    let is = format!("{name} with {} {components}", vector.len());
    Err(Error::parameter("vector", is, format!("of {dimension} components, as {as_of}")))
}

impl ShowRequest<'_> {
    /// Sketches, and what they say of the angles.
    pub(super) fn sketch(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let vectors = NamedVectors::of(self)?;
        let show = self.show;
        let (mut tables, mut notes) = (Vec::new(), Vec::new());
        let on_lines = !show.line.is_empty() || show.axes;
        if on_lines {
            self.lines(&vectors, &mut tables)?;
        } else if !show.width.is_empty() {
            return Err(Error::needed("line", "width"));
        }
        let own = self.normals(&vectors)?;
        if !on_lines || !own.is_empty() {
            self.hyperplanes(&vectors, own, &mut tables, &mut notes)?;
        }
        Ok(Shown { show: "sketch", tables, notes })
    }

    /// The normals that the user gave.
    fn normals(&self, vectors: &NamedVectors) -> Result<Vec<(String, Vec<f64>)>> {
        let mut normals = vectors.given(&self.show.normal, "normal")?;
        if self.show.all_signs {
            let dimension = vectors.dimension();
            if dimension > MOST_SIGNS {
                let must = format!("at most {MOST_SIGNS}, because d components have 2^d signs");
                return Err(Error::parameter("number of components", dimension, must));
            }
            normals.extend((0..1u32 << dimension).map(|bits| {
                let sign =
                    |at: usize| if bits >> (dimension - 1 - at) & 1 == 0 { 1.0 } else { -1.0 };
                let vector: Vec<f64> = (0..dimension).map(sign).collect();
                let name = vector.iter().map(|&x| if x > 0.0 { '+' } else { '-' }).collect();
                (name, vector)
            }));
        }
        Ok(normals)
    }

    fn hyperplanes(
        &self,
        vectors: &NamedVectors,
        own: Vec<(String, Vec<f64>)>,
        tables: &mut Vec<ShownTable>,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let mut signs: Vec<(String, Vec<bool>)> = Vec::new();
        if own.is_empty() {
            let count = self.show.values.unwrap_or(HYPERPLANES);
            let held = vectors.held()?;
            let normals = if self.show.signs { Normals::Signs } else { Normals::Gaussian };
            let seed = self.options.seed_or_default();
            let sketches = Hyperplanes::new(&held, normals, seed).sketches(count)?;
            let sides =
                |place: usize| (0..held.len()).map(|item| sketches.bit(item, place)).collect();
            signs.extend((0..count).map(|place| ((place + 1).to_string(), sides(place))));
            let kind = if self.show.signs { "+1 and −1" } else { "normal" };
            notes.push(format!(
                "Hyperplanes of the engine, with {kind} components and seed {seed}."
            ));
        } else {
            if self.show.values.is_some() {
                return Err(Error::conflict("values", "normal"));
            }
            let mut products = vectors.table("products", "Products with the normals", "normal");
            for (name, normal) in own {
                let of =
                    |vector: &Vec<f64>| vector.iter().zip(&normal).map(|(x, y)| x * y).sum::<f64>();
                let row: Vec<f64> = vectors.vectors.iter().map(of).collect();
                let cells = row.iter().map(|&product| Cell::from(product));
                products.push(std::iter::once(Cell::from(&*name)).chain(cells));
                // As in a search, a vector in the hyperplane is on the positive side.
                if row.contains(&0.0) && notes.is_empty() {
                    notes.push("A product of 0 counts as +1, as in a search.".into());
                }
                signs.push((name, row.iter().map(|&product| product >= 0.0).collect()));
            }
            tables.push(products);
        }
        let mut sketches = vectors.table("sketch", "Sketches", "normal");
        for (name, row) in &signs {
            let cells = row.iter().map(|&side| Cell::from(if side { "+1" } else { "-1" }));
            sketches.push(std::iter::once(Cell::from(&**name)).chain(cells));
        }
        tables.push(sketches);
        tables.push(angles(vectors, &signs));
        Ok(())
    }

    fn lines(&self, vectors: &NamedVectors, tables: &mut Vec<ShownTable>) -> Result<()> {
        let show = self.show;
        if show.width.is_empty() {
            return Err(Error::missing("width", "the width of the buckets on a line"));
        }
        if let Some(width) = show.width.iter().find(|width| !(**width > 0.0 && width.is_finite())) {
            return Err(Error::parameter("width", width, "above 0"));
        }
        let dimension = vectors.dimension();
        let mut lines = vectors.given(&show.line, "line")?;
        if show.axes {
            let axis = |at: usize| {
                let unit = (0..dimension).map(|other| f64::from(u8::from(other == at))).collect();
                (format!("axis {}", at + 1), unit)
            };
            lines.extend((0..dimension).map(axis));
        }
        let mut places = vectors.table("places", "Places on the lines", "line");
        let mut rows = Vec::new();
        for (name, direction) in &lines {
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length == 0.0 {
                return Err(Error::parameter("line", name, "a direction, which zeros have not"));
            }
            let of = |vector: &Vec<f64>| {
                vector.iter().zip(direction).map(|(x, y)| x * y).sum::<f64>() / length
            };
            let row: Vec<f64> = vectors.vectors.iter().map(of).collect();
            places.push(std::iter::once(Cell::from(&**name)).chain(row.iter().map(|&x| x.into())));
            rows.push(row);
        }
        tables.push(places);
        tables.push(line_buckets(vectors, &lines, &rows, &show.width));
        tables.push(line_pairs(vectors, &lines, &rows, &show.width));
        tables.push(all_widths(vectors, &rows));
        Ok(())
    }
}

/// Share of equal signs, the angle that it estimates, and the true one.
fn angles(vectors: &NamedVectors, signs: &[(String, Vec<bool>)]) -> ShownTable {
    let columns = ["a", "b", "equal", "of", "share", "estimated angle", "angle", "cosine"];
    let mut table = ShownTable::new("pairs", "Angles in degrees", columns);
    for (a, b) in vectors.pairs() {
        let equal = signs.iter().filter(|(_, row)| row[a] == row[b]).count();
        let (x, y) = (&vectors.vectors[a], &vectors.vectors[b]);
        table.push([
            Cell::from(&*vectors.names[a]),
            Cell::from(&*vectors.names[b]),
            equal.into(),
            signs.len().into(),
            (equal as f64 / signs.len() as f64).into(),
            estimated_degrees(signs.len() - equal, signs.len()).into(),
            cosine::angle_degrees(x, y).ok().into(),
            cosine::similarity(x, y).ok().into(),
        ]);
    }
    table
}

/// The number of the bucket of a place.
fn bucket(place: f64, width: f64) -> f64 {
    (place / width).floor()
}

/// The bucket of each vector on each line, for each width.
fn line_buckets(
    vectors: &NamedVectors,
    lines: &[(String, Vec<f64>)],
    rows: &[Vec<f64>],
    widths: &[f64],
) -> ShownTable {
    let columns = ["width", "line"].into_iter().chain(vectors.names.iter().map(String::as_str));
    let mut table = ShownTable::new("buckets", "Buckets", columns);
    for &width in widths {
        for ((name, _), row) in lines.iter().zip(rows) {
            let cells = row.iter().map(|&place| {
                let from = bucket(place, width) * width;
                Cell::from(format!("[{}, {})", short(from), short(from + width)))
            });
            table.push([width.into(), Cell::from(&**name)].into_iter().chain(cells));
        }
    }
    table
}

/// Which pairs share a bucket, on which lines.
fn line_pairs(
    vectors: &NamedVectors,
    lines: &[(String, Vec<f64>)],
    rows: &[Vec<f64>],
    widths: &[f64],
) -> ShownTable {
    let columns = ["width", "a", "b", "lines shared", "which", "candidate"];
    let mut table = ShownTable::new("pairs", "Who meets whom", columns);
    for &width in widths {
        for (a, b) in vectors.pairs() {
            let together = |row: &&Vec<f64>| bucket(row[a], width) == bucket(row[b], width);
            let met = lines.iter().zip(rows).filter(|(_, row)| together(row));
            let met: Vec<&str> = met.map(|((name, _), _)| &**name).collect();
            table.push([
                width.into(),
                Cell::from(&*vectors.names[a]),
                Cell::from(&*vectors.names[b]),
                met.len().into(),
                met.join(", ").into(),
                if met.is_empty() { "no" } else { "yes" }.into(),
            ]);
        }
    }
    table
}

/// For which widths a pair shares a bucket on some line (exercise 3.7.5 d).
fn all_widths(vectors: &NamedVectors, rows: &[Vec<f64>]) -> ShownTable {
    let mut table = ShownTable::new(
        "widths",
        "Widths a at which a pair meets on some line",
        ["a", "b", "widths"],
    );
    for (a, b) in vectors.pairs() {
        let mut all: Vec<Widths> = Vec::new();
        let mut has_more = false;
        for row in rows {
            let (widths, more) = Widths::of(row[a], row[b]);
            all.extend(widths);
            has_more |= more;
        }
        let mut text = Widths::union(all).iter().map(Widths::text).collect::<Vec<_>>().join(", ");
        if has_more {
            text += ", and narrower ones";
        }
        if text.is_empty() {
            text = "none".into();
        }
        table.push(
            [a, b].map(|at| Cell::from(&*vectors.names[at])).into_iter().chain([text.into()]),
        );
    }
    table
}

/// An interval of widths; no upper end is infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Widths {
    low: f64,
    has_low: bool,
    high: f64,
    has_high: bool,
}

impl Widths {
    /// Intervals that are looked for on one line.
    const MOST: usize = 20;

    /// The widths at which two places share a bucket, of which one begins at 0, and whether there are more intervals.
    ///
    /// For 0 ≤ p < q: k·a ≤ p and q < (k + 1)·a for some k ≥ 0. Left of 0: −m·a ≤ p and q < −(m − 1)·a for some m ≥ 1.
    fn of(one: f64, other: f64) -> (Vec<Self>, bool) {
        let (p, q) = if one <= other { (one, other) } else { (other, one) };
        if p == q {
            return (
                vec![Self { low: 0.0, has_low: false, high: f64::INFINITY, has_high: false }],
                false,
            );
        }
        let (low, high, left) = match () {
            () if p >= 0.0 => (q, p, false),
            () if q < 0.0 => (-p, -q, true),
            () => return (Vec::new(), false),
        };
        let of = |k: usize| {
            let interval = Self {
                low: low / (k + 1) as f64,
                has_low: left,
                high: if k == 0 { f64::INFINITY } else { high / k as f64 },
                has_high: !left && k > 0,
            };
            (interval.low < interval.high).then_some(interval)
        };
        let all: Vec<Self> = (0..=Self::MOST).map_while(of).collect();
        let has_more = all.len() > Self::MOST;
        (all, has_more)
    }

    /// The same widths in as few intervals as possible, in order.
    fn union(mut all: Vec<Self>) -> Vec<Self> {
        all.sort_by(|x, y| x.low.total_cmp(&y.low).then(y.has_low.cmp(&x.has_low)));
        let mut merged: Vec<Self> = Vec::new();
        for next in all {
            match merged.last_mut() {
                Some(last)
                    if next.low < last.high
                        || next.low == last.high && (next.has_low || last.has_high) =>
                {
                    if next.high > last.high {
                        (last.high, last.has_high) = (next.high, next.has_high);
                    } else if next.high == last.high {
                        last.has_high |= next.has_high;
                    }
                }
                _ => merged.push(next),
            }
        }
        merged
    }

    fn text(&self) -> String {
        let (low, high) = (short(self.low), short(self.high));
        match (self.high.is_finite(), self.has_low) {
            (false, true) => format!("a ≥ {low}"),
            (false, false) if self.low == 0.0 => "all".into(),
            (false, false) => format!("a > {low}"),
            (true, has_low) => {
                let [from, to] = [has_low, self.has_high].map(|has| if has { "≤" } else { "<" });
                format!("{low} {from} a {to} {high}")
            }
        }
    }
}

/// A number without trailing zeros.
fn short(number: f64) -> String {
    ((number * 1e4).round() / 1e4 + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every width of a fine grid is in the intervals just when floors are equal.
    #[test]
    fn widths_are_those_at_which_floors_are_equal() {
        let places = [-7.0, -3.5, -2.0, -0.25, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 9.5];
        for &p in &places {
            for &q in &places {
                let (all, has_more) = Widths::of(p, q);
                let merged = Widths::union(all.clone());
                for step in 1..4000 {
                    let width = f64::from(step) / 64.0;
                    let is_in = |set: &[Widths]| {
                        set.iter().any(|it| {
                            (width > it.low || it.has_low && width == it.low)
                                && (width < it.high || it.has_high && width == it.high)
                        })
                    };
                    let narrow = has_more && all.last().is_some_and(|last| width < last.low);
                    let expected = bucket(p, width) == bucket(q, width);
                    assert!(narrow || is_in(&all) == expected, "{p} {q} {width}");
                    assert_eq!(is_in(&all), is_in(&merged), "{p} {q} {width}");
                }
            }
        }
    }
}
