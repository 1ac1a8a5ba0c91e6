//! Sets as strings, and what sizes, prefixes, positions and suffixes let through (*Mining of Massive Datasets*, 3.9).

use super::ShowRequest;
use super::matrix::SetMatrix;
use super::options::List;
use super::table::{Cell, Shown, ShownTable};
use crate::join::sets::{Bounds, Filters, SetJoin, SetJoinCounts, pairs};
use crate::verify::{Limit, Measure, Verifier};
use crate::{Error, Result};

/// The threshold unless the user says which.
const THRESHOLD: f64 = 0.8;
/// Rows of tables that list buckets, at most: of long strings there are too many.
const MOST_BUCKETS: usize = 20_000;
/// Strings of which all pairs are counted.
const MOST_COUNTED: usize = 3000;

/// A set as a string of symbols.
struct SymbolText {
    name: String,
    symbols: Vec<String>,
    /// The symbols by their places in the order.
    ranks: Vec<usize>,
}

impl SymbolText {
    fn text(&self) -> String {
        joined(&self.symbols)
    }
}

/// Symbols as one word where each is a letter.
fn joined(symbols: &[String]) -> String {
    let are_letters = symbols.iter().all(|symbol| symbol.chars().count() == 1);
    symbols.join(if are_letters { "" } else { " " })
}

impl ShowRequest<'_> {
    /// Strings, where they are indexed and looked up, and the effect of each filter.
    pub(super) fn prefix(&self) -> Result<Shown> {
        let threshold = self.options.threshold.unwrap_or(THRESHOLD);
        let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(threshold))?;
        let (strings, mut notes) = self.strings()?;
        let longest = strings.iter().map(|string| string.symbols.len()).max().unwrap_or(0);
        // No string that is similar to one of them is longer.
        let bounds = Bounds::new(&verifier, (longest as f64 / threshold).ceil() as usize + 1);
        let mut tables = vec![strings_table(&strings, &bounds)];
        let (index, probes) = (index_table(&strings, &bounds), probe_table(&strings, &bounds));
        let few = |table: &ShownTable| table.rows.len() <= MOST_BUCKETS;
        if few(&index) {
            tables.extend([index, probes]);
        }
        match pyramid_table(&strings, &bounds) {
            Some(pyramid) => tables.push(pyramid),
            None => notes
                .push("The buckets of position and suffix length are too many to be shown.".into()),
        }
        notes.push(format!(
            "J = {threshold}. Sizes from ⌈J·L⌉ to ⌊L/J⌋. Prefix ⌊(1 − J)·L⌋ + 1. A bucket is a symbol, its position j, and the \
             number q of symbols behind it."
        ));
        if strings.len() > MOST_COUNTED {
            notes.push(format!("Pairs are counted of up to {MOST_COUNTED} strings."));
        } else if strings.len() > 1 {
            tables.push(counts_table(&strings, &bounds, &verifier)?);
            notes.push(
                "The book's count: strings by length, each looked up among those before it. The engine also cuts prefixes and \
                 positions to the sizes that there are."
                    .into(),
            );
        }
        Ok(Shown { show: "prefix", tables, notes })
    }

    /// The strings of the items, or one of a length that the user gave.
    fn strings(&self) -> Result<(Vec<SymbolText>, Vec<String>)> {
        match (self.show.length, self.items.is_empty()) {
            (Some(_), false) => Err(Error::parameter(
                "length",
                "given with items",
                "given without: they have lengths",
            )),
            (Some(0), _) => Err(Error::parameter("length", 0, "at least 1")),
            (Some(length), _) if length > 10_000 => {
                Err(Error::parameter("length", length, "at most 10000"))
            }
            (Some(length), _) => {
                let symbols = (1..=length).map(|at| format!("s{at}")).collect();
                let name = format!("L = {length}");
                let string = SymbolText { name, symbols, ranks: (0..length).collect() };
                Ok((vec![string], Vec::new()))
            }
            (None, true) => {
                Err(Error::missing("length", "the length of a string, where no set is given"))
            }
            (None, false) => {
                let matrix = SetMatrix::of(self)?;
                let (ranks, note) = match &self.show.order {
                    Some(order) => (ranks_of(order, &matrix)?, "Symbols in the order given.".to_owned()),
                    None => (
                        rarest_first(&matrix),
                        "Symbols rarest first, by the sets shown; of two as rare, the one whose row comes first.".to_owned(),
                    ),
                };
                let string = |(name, set): (&String, &Vec<usize>)| {
                    let mut rows = set.clone();
                    rows.sort_by_key(|&row| ranks[row]);
                    SymbolText {
                        name: name.clone(),
                        symbols: rows.iter().map(|&row| matrix.universe[row].clone()).collect(),
                        ranks: rows.iter().map(|&row| ranks[row]).collect(),
                    }
                };
                let strings = matrix.names.iter().zip(&matrix.sets).map(string).collect();
                let mut notes = matrix.notes;
                notes.push(note);
                Ok((strings, notes))
            }
        }
    }
}

/// The place of each row in the order that the user gave.
fn ranks_of(order: &List, matrix: &SetMatrix) -> Result<Vec<usize>> {
    let mut words = order.words();
    let are_letters = matrix.universe.iter().all(|element| element.chars().count() == 1);
    if let ([word], true) = (&words[..], are_letters) {
        words = word.chars().map(String::from).collect();
    }
    let mut sorted = words.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
        let must = format!("an order of the symbols; `{}` comes twice", twice[0]);
        return Err(Error::parameter("order", words.join(","), must));
    }
    let rank = |element: &String| {
        words.iter().position(|word| word == element).ok_or_else(|| {
            let must = format!("an order of all symbols; `{element}` is missing");
            Error::parameter("order", words.join(","), must)
        })
    };
    matrix.universe.iter().map(rank).collect()
}

/// The place of each row when the rarest come first.
fn rarest_first(matrix: &SetMatrix) -> Vec<usize> {
    let mut counts = vec![0; matrix.rows()];
    matrix.sets.iter().flatten().for_each(|&row| counts[row] += 1);
    let mut rows: Vec<usize> = (0..matrix.rows()).collect();
    rows.sort_by_key(|&row| (counts[row], row));
    let mut ranks = vec![0; matrix.rows()];
    rows.into_iter().enumerate().for_each(|(rank, row)| ranks[row] = rank);
    ranks
}

/// Each string with the sizes of those it is compared with, and its prefix.
fn strings_table(strings: &[SymbolText], bounds: &Bounds<'_>) -> ShownTable {
    let columns = ["item", "string", "L", "shortest", "longest", "symbols in the prefix", "prefix"];
    let mut table = ShownTable::new("strings", "Strings, and the sizes of similar ones", columns);
    for string in strings {
        let length = string.symbols.len();
        let sizes = bounds.sizes(length);
        let some = (!sizes.is_empty()).then_some(sizes);
        let prefix = bounds.prefix(length);
        table.push([
            Cell::from(&*string.name),
            string.text().into(),
            length.into(),
            some.as_ref().map(|sizes| *sizes.start()).into(),
            some.as_ref().map(|sizes| *sizes.end()).into(),
            prefix.into(),
            joined(&string.symbols[..prefix]).into(),
        ]);
    }
    table
}

/// The positions of the prefix of a string, from 1, with their symbols.
fn prefix_of<'a>(
    string: &'a SymbolText,
    bounds: &Bounds<'_>,
) -> impl Iterator<Item = (usize, &'a String)> {
    (1..).zip(&string.symbols[..bounds.prefix(string.symbols.len())])
}

/// The buckets that strings are put into.
fn index_table(strings: &[SymbolText], bounds: &Bounds<'_>) -> ShownTable {
    let columns = ["item", "symbol", "position", "suffix length"];
    let mut table = ShownTable::new("index", "Where each string is indexed", columns);
    for string in strings {
        for (position, symbol) in prefix_of(string, bounds) {
            let after = string.symbols.len() - position;
            table.push([
                Cell::from(&*string.name),
                Cell::from(&**symbol),
                position.into(),
                after.into(),
            ]);
        }
    }
    table
}

/// Where strings are looked up when buckets have a symbol and a position.
fn probe_table(strings: &[SymbolText], bounds: &Bounds<'_>) -> ShownTable {
    let columns = ["item", "i", "symbol", "j up to", "buckets"];
    let title = "Where each string is looked up by symbol and position";
    let mut table = ShownTable::new("positions", title, columns);
    for string in strings {
        for (i, symbol) in prefix_of(string, bounds) {
            let last = bounds.last_position(string.symbols.len(), i);
            let buckets: Vec<String> = (1..=last).map(|j| format!("({symbol}, {j})")).collect();
            table.push([
                Cell::from(&*string.name),
                i.into(),
                Cell::from(&**symbol),
                last.into(),
                buckets.join(" ").into(),
            ]);
        }
    }
    table
}

/// Where strings are looked up when buckets have a symbol, a position and a suffix length (figure 3.16); none where that
/// would fill too many rows.
fn pyramid_table(strings: &[SymbolText], bounds: &Bounds<'_>) -> Option<ShownTable> {
    let mut rows = Vec::new();
    let mut widest = 0;
    for string in strings {
        let length = string.symbols.len();
        let sizes = bounds.sizes(length);
        for (i, symbol) in prefix_of(string, bounds) {
            for q in 0..*sizes.end() {
                let is_allowed =
                    |j: usize| sizes.contains(&(j + q)) && bounds.allow(length, i, j + q, j);
                let places: Vec<usize> = (1..=sizes.end() - q).filter(|&j| is_allowed(j)).collect();
                if let Some(last) = places.last() {
                    widest = widest.max(*last);
                    rows.push((&*string.name, i, &**symbol, q, places));
                }
            }
            if rows.len() * widest.max(1) > MOST_BUCKETS {
                return None;
            }
        }
    }
    let columns = ["item", "i", "symbol", "q"].map(String::from).into_iter();
    let columns = columns.chain((1..=widest).map(|j| format!("j = {j}")));
    let title = "Where each string is looked up by symbol, position and suffix length";
    let mut table = ShownTable::new("pyramid", title, columns);
    for (name, i, symbol, q, places) in rows {
        let mark = |j| if places.contains(&j) { "x".into() } else { Cell::Empty };
        let first = [Cell::from(name), i.into(), symbol.into(), q.into()];
        table.push(first.into_iter().chain((1..=widest).map(mark)));
    }
    Some(table)
}

/// How many pairs are left to compare by each filter: as the book counts, and in the engine.
fn counts_table(
    strings: &[SymbolText],
    bounds: &Bounds<'_>,
    verifier: &Verifier,
) -> Result<ShownTable> {
    let columns = ["filters", "pairs compared by the book", "by the engine"];
    let mut table = ShownTable::new("filters", "What each filter lets through", columns);
    let counts = BookCounts::of(strings, bounds);
    let rows = [
        ("none", counts.all),
        ("length", counts.length),
        ("prefix", counts.prefix),
        ("length,prefix", counts.length_prefix),
        ("length,prefix,position", counts.position),
        ("length,prefix,position,suffix", counts.suffix),
    ];
    for (name, count) in rows {
        let mut filters: Filters = name.parse()?;
        filters.by_size = filters.prefix;
        table.push([
            name.into(),
            count.into(),
            engine(strings, verifier, filters)?.candidates.into(),
        ]);
    }
    let default = engine(strings, verifier, Filters::default())?;
    table.push(["the engine's own, with bitmaps".into(), Cell::Empty, default.verified.into()]);
    table.push(["similar".into(), counts.similar.into(), default.similar.into()]);
    Ok(table)
}

/// How many pairs the book compares.
#[derive(Default)]
struct BookCounts {
    all: usize,
    length: usize,
    prefix: usize,
    length_prefix: usize,
    position: usize,
    suffix: usize,
    similar: usize,
}

impl BookCounts {
    /// By length, each looked up among those before it. A pair meets at the first symbol that both prefixes have: where that
    /// leaves too little, later ones do too.
    fn of(strings: &[SymbolText], bounds: &Bounds<'_>) -> Self {
        let mut sorted: Vec<&SymbolText> =
            strings.iter().filter(|string| !string.symbols.is_empty()).collect();
        sorted.sort_by_key(|string| string.symbols.len());
        let mut counts = Self::default();
        for (at, s) in sorted.iter().enumerate() {
            for t in &sorted[..at] {
                counts.add(s, t, bounds);
            }
        }
        counts
    }

    fn add(&mut self, s: &SymbolText, t: &SymbolText, bounds: &Bounds<'_>) {
        let [length, other] = [s, t].map(|string| string.symbols.len());
        let fits = bounds.sizes(length).contains(&other);
        let [own, others] = [length, other].map(|length| bounds.prefix(length));
        let met = (1..=own).find_map(|i| {
            let j = t.ranks[..others].iter().position(|rank| *rank == s.ranks[i - 1])?;
            Some((i, j + 1))
        });
        self.all += 1;
        self.length += usize::from(fits);
        self.prefix += usize::from(met.is_some());
        let Some((i, j)) = met.filter(|_| fits) else { return };
        self.length_prefix += 1;
        if j > bounds.last_position(length, i) {
            return;
        }
        self.position += 1;
        self.suffix += usize::from(bounds.allow(length, i, other, j));
        let shared = s.ranks.iter().filter(|rank| t.ranks.contains(rank)).count();
        self.similar += usize::from(bounds.need(length, other).is_some_and(|need| shared >= need));
    }
}

/// What the engine's join looks at.
fn engine(strings: &[SymbolText], verifier: &Verifier, filters: Filters) -> Result<SetJoinCounts> {
    let sets: Vec<Vec<u64>> = strings
        .iter()
        .map(|string| string.ranks.iter().map(|&rank| rank as u64).collect())
        .collect();
    let sets: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let join = SetJoin { verifier, filters, split: None, stopped: &|| false };
    pairs(&sets, &join, &|_| Ok(()))
}
