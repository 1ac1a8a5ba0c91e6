//! Long tables as sets and bags: all rows of one group make one item.
//!
//! Tables in databases often have one row per purchase, per rating, or per edge of a graph. The rows of a
//! customer are the customer's basket (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets",
//! 3.1.3, with its three ways to use ratings), the edges of a node its neighbours. Groups come in the order
//! in which they first appear, and their names are the ids.
//!
//! The table is read once and held in memory: four bytes per row, four more with counts, and each name once.

use super::{
    Chunk as FileChunk, Format, Input, Kind, OnError, Place, ReadOptions, Syntax,
    batch_builder::ReadRequest, csv, rows, rows::Row, shape,
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::{
    Batch, ChunkNumber, Id, Interner, Item, KeepValues, Lanes, PassedOver, SkipChunk, Source,
    TextColumn, Values, one_lane,
};
use crate::shingle::elements::{push_element, start_list};
use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// How the rows of a table make sets or bags.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// The column that says to which item a row belongs.
    pub group: String,
    /// The column with the element.
    pub element: String,
    /// What a further column says of it.
    pub weight: Weight,
    /// A table of elements, each with the group that stands for it: elements of one group are the same element.
    pub element_groups: Option<PathBuf>,
}

/// What else a row says of its element.
#[derive(Clone, Debug)]
pub enum Weight {
    /// Nothing: the element is in the group.
    Once,
    /// This column says how often the element is there.
    Count(String),
    /// This column has a rating, which is used in this way.
    Rating(String, Ratings),
    /// The row is an edge between two nodes, `group` and `element`: each is an element of the other, or where
    /// edges have a direction the second of the first.
    Edge {
        /// Whether edges lead from the first to the second only.
        directed: bool,
    },
}

impl Weight {
    /// Whether it says how often an element is there, so that only bags make sense.
    pub fn repeats(&self) -> bool {
        matches!(self, Self::Count(_) | Self::Rating(_, Ratings::Stars))
    }

    fn column(&self) -> Option<&String> {
        match self {
            Self::Count(name) | Self::Rating(name, _) => Some(name),
            Self::Once | Self::Edge { .. } => None,
        }
    }
}

/// Three ways to use ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ratings {
    /// Rows with a lower rating than this do not count.
    Drop(f64),
    /// An element is liked from this rating on, else hated, and the two are different elements.
    Likes(f64),
    /// An element is there as often as it has stars, which must be whole.
    Stars,
}

impl FromStr for Ratings {
    type Err = Error;

    /// Reads `drop:LEAST`, `likes:LEAST` or `stars`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::parameter("ratings", text, "drop:LEAST, likes:LEAST or stars, LEAST a number")
        };
        let least = |least: &str| {
            let least = least.parse().ok().filter(|least: &f64| least.is_finite());
            least.ok_or_else(wrong)
        };
        match text.split_once(':') {
            Some(("drop", number)) => Ok(Self::Drop(least(number)?)),
            Some(("likes", number)) => Ok(Self::Likes(least(number)?)),
            None if text == "stars" => Ok(Self::Stars),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Ratings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop(least) => write!(f, "drop:{least}"),
            Self::Likes(least) => write!(f, "likes:{least}"),
            Self::Stars => f.write_str("stars"),
        }
    }
}

/// The groups of elements: two baskets with different books of one kind share an element.
#[derive(Debug)]
struct ElementGroups {
    path: PathBuf,
    /// By element, its group and the line that says so.
    groups: HashMap<Box<str>, (Box<str>, u64)>,
    /// How many rows named an element that has a group.
    used: u64,
}

impl ElementGroups {
    /// Reads a table whose first column has the element, and whose second has its group. A row of names is a row like any
    /// other: no element is called so.
    fn read(path: &Path) -> Result<Self> {
        let options = ReadOptions {
            columns: vec!["1".to_owned(), "2".to_owned()],
            positions: true,
            header: false,
            piped: Format::Csv,
            ..ReadOptions::default()
        };
        let input = Input::open(&[Place::from(path.to_path_buf())], options)?;
        let mut groups: HashMap<Box<str>, (Box<str>, u64)> = HashMap::new();
        for chunk in input.scan() {
            let chunk: FileChunk = chunk?;
            rows::rows(&input, &chunk, &mut |line, row| {
                let mut take = |row: Row| {
                    let [element, group, ..] = &row.cells[..] else { return Ok(()) };
                    let (element, group) = (element.value()?, group.value()?);
                    match groups.get(element) {
                        Some((known, first)) if **known != *group => Err(Problem::new(format!(
                            "`{element}` is in the group `{group}`, and by line {first} in `{known}`"
                        ))
                        .or("leave one group for each element")),
                        Some(_) => Ok(()),
                        None => {
                            groups.insert(element.into(), (group.into(), line));
                            Ok(())
                        }
                    }
                };
                row.and_then(&mut take).map_err(|problem| Error::input(path, line, problem))
            })?;
        }
        Ok(Self { path: path.to_path_buf(), groups, used: 0 })
    }

    /// The group of an element; an element without one stands for itself.
    fn of<'a>(&'a mut self, element: &'a str) -> &'a str {
        match self.groups.get(element) {
            Some((group, _)) => {
                self.used += 1;
                group
            }
            None => element,
        }
    }
}

/// The items of a long table.
#[derive(Debug)]
pub struct Groups {
    input: Input,
    path: PathBuf,
    ids: Vec<Id>,
    /// The line on which each group first appears.
    lines: Vec<u64>,
    names: Values,
    /// Group by group: the elements by their place among the names, and how often each is there.
    elements: Vec<u32>,
    counts: Option<Vec<u32>>,
    /// Where each group's elements start, and the last's end.
    starts: Vec<usize>,
    /// For each row of the table the groups it belongs to; none of a row that was left out.
    rows: Vec<[u32; 2]>,
    bad: Vec<Error>,
    /// The table of groups of elements that has none of the elements.
    unused: Option<PathBuf>,
}

/// No group.
const NONE: u32 = u32::MAX;

impl Groups {
    /// Reads a table.
    ///
    /// # Errors
    /// When a column is not there, a rating or a count is not a number, a count is negative or not whole, and
    /// when a file cannot be read.
    pub fn read(
        places: &[impl Into<Place> + Clone],
        options: &ReadOptions,
        grouping: &Grouping,
    ) -> Result<Self> {
        let mut columns = vec![grouping.group.clone(), grouping.element.clone()];
        columns.extend(grouping.weight.column().cloned());
        let options = ReadOptions {
            columns,
            positions: true,
            id: None,
            values: Vec::new(),
            ..options.clone()
        };
        let on_error = options.on_error;
        let input = Input::open(places, options)?;
        let mut building = GroupsBuilder::new(grouping)?;
        for chunk in input.scan() {
            let chunk: FileChunk = chunk?;
            let path = &input.sources[chunk.source()].name;
            let start = building.rows.len();
            let count = rows::rows(&input, &chunk, &mut |line, row| {
                let ordinal = row.as_ref().ok().map(|row| row.ordinal);
                let taken = row.and_then(|row| building.take(&row, start));
                match taken.map_err(|problem| Error::input(path, line, problem)) {
                    Err(error) if on_error == OnError::Skip => {
                        building.bad.push(error);
                        building.mark(start, ordinal, [NONE; 2]);
                        Ok(())
                    }
                    taken => taken,
                }
            })?;
            building.rows.resize(start + count as usize, [NONE; 2]);
        }
        let first = input.sources.first();
        let path = first.map(|source| source.name.clone()).unwrap_or_default();
        building.finish(input, path)
    }

    /// The files behind it.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// What the user should look at: columns that were asked for by number in a file that seems to have names. A first row
    /// of values would be left out.
    pub fn warning(&self) -> Option<Problem> {
        if let Some(path) = &self.unused {
            let what = format!(
                "{}: none of the elements has a group there, so each stands for itself",
                path.display()
            );
            let advice = "write one row for each element: the element as the other table has it, then its group";
            return Some(Problem::new(what).or(advice));
        }
        let asked = &self.input.options.columns;
        let is_numbered = |header: &csv::Header| {
            !header.row.is_empty() && asked.iter().any(|name| !header.has(name))
        };
        self.input.sources.iter().find_map(|source| match &source.kind {
            Kind::Text { syntax: Syntax::Csv(header), .. } if is_numbered(header) => {
                let row = String::from_utf8_lossy(&header.row);
                let row = row.trim_end();
                let what = format!(
                    "{}: columns are asked for by number, and the first row, `{row}`, is taken for their names and not \
                     for a record",
                    source.name.display()
                );
                Some(Problem::new(what).or(Advice::turn_on("no_header")).or("name the columns"))
            }
            _ => None,
        })
    }

    /// Whether a row of the table, by its number over all files, belongs to groups that are all kept.
    pub fn is_row_kept(&self, row: u64, kept: impl Fn(u32) -> bool) -> bool {
        let groups = usize::try_from(row).ok().and_then(|row| self.rows.get(row));
        groups.is_some_and(|groups| {
            groups[0] != NONE && groups.iter().all(|group| *group == NONE || kept(*group))
        })
    }

    /// The text that stands for a group.
    fn text(&self, group: usize, arena: &mut String) {
        start_list(arena);
        for at in self.starts[group]..self.starts[group + 1] {
            let count = self.counts.as_ref().map_or(1, |counts| counts[at]);
            push_element(arena, self.names.get(self.elements[at] as usize), count);
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Groups as they are read: a triple for each element of each group, sorted at the end.
struct GroupsBuilder<'a> {
    grouping: &'a Grouping,
    groups: HashMap<Id, u32>,
    ids: Vec<Id>,
    lines: Vec<u64>,
    names: Interner,
    element_groups: Option<ElementGroups>,
    /// The group, the element and its count.
    entries: Vec<(u32, u32, u32)>,
    rows: Vec<[u32; 2]>,
    bad: Vec<Error>,
}

impl<'a> GroupsBuilder<'a> {
    fn new(grouping: &'a Grouping) -> Result<Self> {
        let element_groups = grouping.element_groups.as_deref().map(ElementGroups::read);
        Ok(Self {
            grouping,
            element_groups: element_groups.transpose()?,
            groups: HashMap::new(),
            ids: Vec::new(),
            lines: Vec::new(),
            names: Interner::default(),
            entries: Vec::new(),
            rows: Vec::new(),
            bad: Vec::new(),
        })
    }

    /// Takes a row of the chunk whose first row is `start`.
    fn take(&mut self, row: &Row, start: usize) -> Result<(), Problem> {
        let [group, element, rest @ ..] = &row.cells[..] else { return Ok(()) };
        let (id, name) = (group.id()?, element.value()?);
        let number = rest.first().map(|cell| cell.number()).transpose()?.unwrap_or(1.0);
        let (suffix, count) = match &self.grouping.weight {
            Weight::Once | Weight::Edge { .. } => ("", 1),
            Weight::Count(_) | Weight::Rating(_, Ratings::Stars) => {
                ("", shape::count(name, number)?)
            }
            Weight::Rating(_, Ratings::Drop(least)) => ("", u32::from(number >= *least)),
            Weight::Rating(_, Ratings::Likes(least)) if number >= *least => (":liked", 1),
            Weight::Rating(_, Ratings::Likes(_)) => (":hated", 1),
        };
        let group_place = self.group(id, row.line)?;
        if count > 0 {
            let name = match &mut self.element_groups {
                Some(groups) => groups.of(name),
                None => name,
            };
            let place = match suffix {
                "" => self.names.number(name),
                _ => self.names.number(&format!("{name}{suffix}")),
            };
            self.entries.push((group_place, place, count));
        }
        let mut groups = [group_place, NONE];
        if let Weight::Edge { directed: false } = self.grouping.weight {
            let other = self.group(element.id()?, row.line)?;
            if other != group_place {
                let place = self.names.number(group.value()?);
                self.entries.push((other, place, 1));
                groups[1] = other;
            }
        }
        self.mark(start, Some(row.ordinal), groups);
        Ok(())
    }

    fn mark(&mut self, start: usize, ordinal: Option<u32>, groups: [u32; 2]) {
        let Some(ordinal) = ordinal else { return };
        self.rows.resize(start + ordinal as usize, [NONE; 2]);
        self.rows.push(groups);
    }

    fn group(&mut self, id: Id, line: u64) -> Result<u32, Problem> {
        if let Some(place) = self.groups.get(&id) {
            return Ok(*place);
        }
        let place = u32::try_from(self.ids.len()).ok().filter(|place| *place != NONE);
        let place = place.ok_or("more than four billion groups; split the table")?;
        self.groups.insert(id.clone(), place);
        self.ids.push(id);
        self.lines.push(line);
        Ok(place)
    }

    fn finish(mut self, input: Input, path: PathBuf) -> Result<Groups> {
        self.entries.sort_by_key(|entry| entry.0); // stable: elements stay in the order of the table
        let mut starts = Vec::with_capacity(self.ids.len() + 1);
        let mut at = 0;
        for group in 0..self.ids.len() as u32 {
            starts.push(at);
            at += self.entries[at..].partition_point(|entry| entry.0 == group);
        }
        starts.push(at);
        let counted = self.entries.iter().any(|entry| entry.2 != 1);
        let is_unused = |groups: &ElementGroups| groups.used == 0 && !self.entries.is_empty();
        let unused = self.element_groups.take_if(|groups| is_unused(groups));
        Ok(Groups {
            unused: unused.map(|groups| groups.path),
            input,
            path,
            ids: self.ids,
            lines: self.lines,
            names: self.names.into_values(),
            elements: self.entries.iter().map(|entry| entry.1).collect(),
            counts: counted.then(|| self.entries.iter().map(|entry| entry.2).collect()),
            starts,
            rows: self.rows,
            bad: self.bad,
        })
    }
}

/// Groups in a chunk.
const CHUNK: usize = 256;

impl Source for Groups {
    type Chunk = usize;

    fn bytes(&self) -> u64 {
        self.input.bytes()
    }

    fn lanes<'a>(&'a self, skip: SkipChunk<'a>) -> Lanes<'a, usize> {
        let chunks = 0..self.ids.len().div_ceil(CHUNK).max(1);
        one_lane(chunks.filter(|&chunk| !skip(ChunkNumber::of_one(chunk))).map(Ok))
    }

    fn place(&self, &number: &usize) -> (ChunkNumber, u64) {
        let chunks = self.ids.len().div_ceil(CHUNK).max(1) as u64;
        let share = |number: u64| self.bytes() / chunks * number;
        let end = if number as u64 + 1 == chunks { self.bytes() } else { share(number as u64 + 1) };
        (ChunkNumber::of_one(number), end - share(number as u64))
    }

    fn decode<'a>(&'a self, &number: &usize, wanted: &dyn Fn(u32) -> bool) -> Result<Batch<'a>> {
        let start = number * CHUNK;
        let end = (start + CHUNK).min(self.ids.len());
        let mut arena = String::new();
        let mut items = Vec::new();
        for (group, ordinal) in (start..end).zip(0..).filter(|(_, ordinal)| wanted(*ordinal)) {
            let from = arena.len();
            self.text(group, &mut arena);
            let (line, id) = (self.lines[group], Some(self.ids[group].clone()));
            items.push(Item {
                ordinal,
                line,
                id,
                values: KeepValues::new(),
                at: (from, arena.len()),
            });
        }
        let Input { options, ids, .. } = &self.input;
        ReadRequest { path: self.path(), options, ids }.within_limit(Batch {
            path: self.path().to_path_buf(),
            records: (end - start) as u32,
            items,
            passed_over: PassedOver::default(),
            bad: if number == 0 { self.bad.clone() } else { Vec::new() },
            texts: TextColumn::Arena(arena),
            files: Vec::new(),
        })
    }
}
