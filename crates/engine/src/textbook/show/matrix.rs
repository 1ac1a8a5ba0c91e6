//! Sets as the columns of their characteristic matrix (*Mining of Massive Datasets*, 3.3.1).

use std::cmp::Ordering;
use std::collections::HashMap;

use super::ShowRequest;
use super::items::{Content, ShowItem, at_least, names};
use super::signer::Order;
use super::table::{Cell, Shown, ShownTable};
use crate::error::Advice;
use crate::shingle::{Shingling, UrlShingles};
use crate::{Error, Result};

/// Sets over a universe of elements, which are rows.
#[derive(Debug)]
pub(super) struct SetMatrix {
    /// What the sets are called.
    pub(super) names: Vec<String>,
    /// The elements in the order of the rows.
    pub(super) universe: Vec<String>,
    /// The elements as hashes.
    pub(super) hashes: Vec<u64>,
    /// The rows of each set, sorted.
    pub(super) sets: Vec<Vec<usize>>,
    /// What is to be said about it.
    pub(super) notes: Vec<String>,
}

/// An element, and its hash.
type Piece = (String, u64);

impl SetMatrix {
    /// The matrix of the request's items.
    pub(super) fn of(request: &ShowRequest<'_>) -> Result<Self> {
        let shingling = request.shingling()?;
        let mut notes = Vec::new();
        let mut columns = Vec::new();
        let are_texts = request.items.iter().any(|item| matches!(item.content, Content::Text(_)));
        let names = names(request.items, if are_texts { "D" } else { "S" });
        let mut without = 0;
        for (item, name) in request.items.iter().zip(&names) {
            let pieces = pieces(item, &shingling, request.show.urls)?;
            if let (Content::Text(text), true) = (&item.content, pieces.is_empty()) {
                without += 1;
                if text.is_empty() {
                    notes.push(format!("{name} is empty: it is similar to nothing."));
                    columns.push(Vec::new());
                } else {
                    notes.push(format!("{name} has no shingle: it is compared as a whole."));
                    columns.push(vec![(format!("all of {name}"), shingling.whole(text))]);
                }
                continue;
            }
            columns.push(pieces);
        }
        if without > 0 && without == request.items.len() {
            let must = "texts of which one has a shingle";
            let what = if without == 1 { "a text without one" } else { "texts without any" };
            return Err(Error::parameter("shingle", format!("{shingling}: {what}"), must)
                .or(Advice::with("shingle", "cut them into shorter pieces")));
        }
        let one_each = columns.iter().all(|column| column.len() <= 1);
        let is_word =
            |piece: &Piece| piece.0.chars().count() > 1 && piece.0.parse::<f64>().is_err();
        if !are_texts && one_each && columns.iter().flatten().any(is_word) {
            notes.push(
                "Every set has one element. If letters are elements, ask for `letters`.".into(),
            );
        }
        let mut matrix = Self::over(request, names, columns, are_texts, &shingling)?;
        matrix.notes = notes;
        Ok(matrix)
    }

    fn over(
        request: &ShowRequest<'_>,
        names: Vec<String>,
        columns: Vec<Vec<Piece>>,
        are_texts: bool,
        shingling: &Shingling,
    ) -> Result<Self> {
        let mut rows: HashMap<String, usize> = HashMap::new();
        let (mut universe, mut hashes) = (Vec::new(), Vec::new());
        let mut elements: Vec<Piece> = columns.iter().flatten().cloned().collect();
        let is_given = request.show.universe.is_some();
        if let Some(list) = &request.show.universe {
            let known: Vec<&String> = elements.iter().map(|piece| &piece.0).collect();
            let words = expanded(list.words_or_letters(|word| known.iter().any(|it| *it == word)));
            elements = words
                .into_iter()
                .map(|word| {
                    let hash = shingling.hash_of(&word);
                    (word, hash)
                })
                .collect();
        } else if !are_texts {
            elements.sort_by(|a, b| naturally(&a.0, &b.0));
        }
        for (element, hash) in elements {
            if rows.contains_key(&element) {
                if is_given {
                    let must = "elements, each once";
                    return Err(Error::parameter("universe", format!("`{element}` twice"), must));
                }
                continue;
            }
            rows.insert(element.clone(), universe.len());
            universe.push(element);
            hashes.push(hash);
        }
        let mut sets = Vec::new();
        for (column, name) in columns.iter().zip(&names) {
            let mut set = Vec::new();
            for (element, hash) in column {
                let Some(&row) = rows.get(element) else {
                    let must = format!("a list with `{element}`, which is in {name}");
                    return Err(Error::parameter("universe", universe.join(","), must));
                };
                // Shingles are hashed in another way than elements.
                hashes[row] = *hash;
                set.push(row);
            }
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
        Ok(Self { names, universe, hashes, sets, notes: Vec::new() })
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.universe.len()
    }

    /// Whether an element is in a set.
    pub(super) fn holds(&self, set: usize, row: usize) -> bool {
        self.sets[set].binary_search(&row).is_ok()
    }

    /// What two sets share, and what either has.
    pub(super) fn overlap(&self, a: usize, b: usize) -> (usize, usize) {
        let shared = self.sets[a].iter().filter(|&&row| self.holds(b, row)).count();
        (shared, self.sets[a].len() + self.sets[b].len() - shared)
    }

    /// The Jaccard similarity of two sets; of two empty ones 1.
    pub(super) fn similarity(&self, a: usize, b: usize) -> f64 {
        let (shared, union) = self.overlap(a, b);
        if union == 0 { 1.0 } else { shared as f64 / union as f64 }
    }

    /// The elements as the engine hashes them.
    pub(super) fn hashes_of(&self, set: usize) -> Vec<u64> {
        self.sets[set].iter().map(|&row| self.hashes[row]).collect()
    }

    /// The row of an element.
    pub(super) fn row(&self, element: &str) -> Option<usize> {
        self.universe.iter().position(|known| known == element)
    }

    /// The numbers that functions are of: the elements themselves where all are whole numbers, else their rows, from 0.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let own: Option<Vec<u64>> = self.universe.iter().map(|word| word.parse().ok()).collect();
        own.unwrap_or_else(|| (0..self.rows() as u64).collect())
    }

    /// All pairs of sets.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.names.len();
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
    }

    /// The rows in this order as a table.
    pub(super) fn table(
        &self,
        name: &'static str,
        title: String,
        order: impl Iterator<Item = usize>,
    ) -> ShownTable {
        let columns = std::iter::once("element").chain(self.names.iter().map(String::as_str));
        let mut table = ShownTable::new(name, title, columns);
        for row in order {
            let cells = (0..self.sets.len()).map(|set| usize::from(self.holds(set, row)).into());
            table.push(std::iter::once(Cell::from(&*self.universe[row])).chain(cells));
        }
        table
    }
}

impl ShowRequest<'_> {
    /// The characteristic matrix, and the same with its rows in other orders.
    pub(super) fn matrix(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let matrix = SetMatrix::of(self)?;
        let mut tables =
            vec![matrix.table("matrix", "Characteristic matrix".into(), 0..matrix.rows())];
        for order in Order::all(self, &matrix)? {
            let title = format!("Its rows in the order {}", order.label);
            tables.push(matrix.table("permuted", title, order.rows.iter().copied()));
        }
        let mut sets = ShownTable::new("sets", "Sets", ["set", "size", "rows", "share of rows"]);
        for (name, set) in matrix.names.iter().zip(&matrix.sets) {
            let share = set.len() as f64 / matrix.rows().max(1) as f64;
            sets.push([Cell::from(&**name), set.len().into(), matrix.rows().into(), share.into()]);
        }
        tables.push(sets);
        tables.push(similarities(&matrix));
        Ok(Shown { show: "matrix", tables, notes: matrix.notes })
    }
}

/// All pairs with the kinds of rows that they have: in both, in one, in neither.
fn similarities(matrix: &SetMatrix) -> ShownTable {
    let columns = ["a", "b", "in both", "in a only", "in b only", "in neither", "Jaccard"];
    let mut table = ShownTable::new("pairs", "Rows of each pair", columns);
    for (a, b) in matrix.pairs() {
        let (shared, union) = matrix.overlap(a, b);
        table.push([
            Cell::from(&*matrix.names[a]),
            Cell::from(&*matrix.names[b]),
            shared.into(),
            (matrix.sets[a].len() - shared).into(),
            (matrix.sets[b].len() - shared).into(),
            (matrix.rows() - union).into(),
            matrix.similarity(a, b).into(),
        ]);
    }
    table
}

/// What an item consists of, in order, repeats included.
pub(super) fn pieces(item: &ShowItem, shingling: &Shingling, are_urls: bool) -> Result<Vec<Piece>> {
    match &item.content {
        Content::Text(url) if are_urls => Ok(url_pieces(url)),
        Content::Text(text) => Ok(shingling.pieces(text)),
        Content::Set(set) => {
            Ok(set.iter().map(|element| (element.clone(), shingling.hash_of(element))).collect())
        }
        Content::Vector(_) | Content::Signature(_) => {
            Err(Error::parameter("item", "a list of numbers", "a text or a set"))
        }
    }
}

/// The parts of the host of a URL, or where there is a path, its shingles: two parts and their place.
fn url_pieces(url: &str) -> Vec<Piece> {
    let shingles = UrlShingles::default();
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = match behind_scheme.find('/') {
        Some(at) => behind_scheme.split_at(at),
        None => (behind_scheme, ""),
    };
    let host = shingles.parts(host).into_iter();
    let mut pieces: Vec<Piece> =
        host.map(|part| (part.clone(), crate::shingle::hash_bytes(part.as_bytes()))).collect();
    let pairs = shingles.pieces(path).into_iter().enumerate();
    pieces.extend(pairs.map(|(at, ([one, other], hash))| (format!("({one},{other},{at})"), hash)));
    pieces
}

/// Numbers by their size, before texts by their letters.
fn naturally(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x.total_cmp(&y),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        _ => a.cmp(b),
    }
}

/// `0..7` means the numbers from 0 to 7.
fn expanded(words: Vec<String>) -> Vec<String> {
    /// More rows would fill no page.
    const MOST: u64 = 100_000;
    if let [word] = &words[..]
        && let Some((from, to)) = word.split_once("..")
        && let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.trim_start_matches('=').parse::<u64>())
        && from <= to
        && to - from < MOST
    {
        return (from..=to).map(|number| number.to_string()).collect();
    }
    words
}
