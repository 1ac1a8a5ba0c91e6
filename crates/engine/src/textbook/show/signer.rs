//! What gives the rows of a matrix their order: permutations, functions, the engine's own sketch.

use super::ShowRequest;
use super::items::{Content, names, whole_numbers};
use super::matrix::SetMatrix;
use super::options::List;
use crate::family::{INFINITY, OnePermutation};
use crate::textbook::{GroupMinima, HashFamily, MinHash, Permutation, Signature};
use crate::{Error, Result};

/// An order of the rows, as the user wrote it.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// What it is called.
    pub(super) label: String,
    /// The rows in this order.
    pub(super) rows: Vec<usize>,
}

impl Order {
    /// The orders of the request.
    ///
    /// # Errors
    /// When one is no permutation of the rows.
    pub(super) fn all(request: &ShowRequest<'_>, matrix: &SetMatrix) -> Result<Vec<Self>> {
        let (show, count) = (request.show, matrix.rows());
        let mut orders = Vec::new();
        for list in &show.permutation {
            orders.push(Self::of_elements(list, matrix)?);
        }
        for list in &show.places {
            orders.push(Self::of_places(list, matrix)?);
        }
        let of = |permutation: Permutation| Self::of_rows(permutation.order().to_vec(), matrix);
        if show.cyclic {
            orders.extend((0..count).map(|from| {
                Self::of_rows((0..count).map(|at| (from + at) % count).collect(), matrix)
            }));
        }
        if show.all_permutations {
            if count > MOST_PERMUTED {
                let must = format!("at most {MOST_PERMUTED}, because n rows have n! orders");
                return Err(Error::parameter("number of rows", count, must));
            }
            orders.extend(Permutation::all(count).map(of));
        }
        Ok(orders)
    }

    fn of_rows(rows: Vec<usize>, matrix: &SetMatrix) -> Self {
        let label: Vec<&str> = rows.iter().map(|&row| &*matrix.universe[row]).collect();
        Self { label: label.join(" "), rows }
    }

    /// `b,e,a,d,c`: the elements in their order.
    fn of_elements(list: &List, matrix: &SetMatrix) -> Result<Self> {
        let words = list.words_or_letters(|word| matrix.row(word).is_some());
        let wrong = |must: String| Error::parameter("permutation", words.join(","), must);
        let mut rows: Vec<usize> = Vec::new();
        for word in &words {
            match matrix.row(word) {
                None => {
                    let must = format!(
                        "an order of the rows {}; `{word}` is none of them",
                        list_of(&matrix.universe)
                    );
                    return Err(wrong(must));
                }
                Some(row) if rows.contains(&row) => {
                    return Err(wrong(format!("an order of the rows; `{word}` comes twice")));
                }
                Some(row) => rows.push(row),
            }
        }
        if let Some(left) = (0..matrix.rows()).find(|row| !rows.contains(row)) {
            let left = &matrix.universe[left];
            return Err(wrong(format!("an order of all rows; `{left}` is missing")));
        }
        Ok(Self::of_rows(rows, matrix))
    }

    /// `2,3,7,6,1,5,4`: the place of each row.
    fn of_places(list: &List, matrix: &SetMatrix) -> Result<Self> {
        let places = whole_numbers(list, "the place of each row")?;
        let count = matrix.rows();
        let words = list.words().join(",");
        let wrong = |must: String| Error::parameter("places", words.clone(), must);
        if places.len() != count {
            return Err(wrong(format!(
                "{count} numbers, one for each row, and not {}",
                places.len()
            )));
        }
        let mut rows = vec![count; count];
        for (row, &place) in places.iter().enumerate() {
            let free = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
            match free.and_then(|at| rows.get_mut(at)) {
                Some(free) if *free == count => *free = row,
                _ => return Err(wrong(format!("each of 1 to {count} once; `{place}` is not"))),
            }
        }
        Ok(Self::of_rows(rows, matrix))
    }
}

/// Rows of which all orders are taken, at most: 8! is 40,320.
const MOST_PERMUTED: usize = 8;

/// The first of these words.
fn list_of(words: &[String]) -> String {
    const SHOWN: usize = 12;
    let rest = if words.len() > SHOWN { ", …" } else { "" };
    words[..words.len().min(SHOWN)].join(", ") + rest
}

/// A function (a·x + b) mod p of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinearFunction {
    /// As the user wrote it.
    pub(super) label: String,
    factor: i128,
    constant: i128,
    modulus: i128,
}

impl LinearFunction {
    /// The functions of a request.
    pub(super) fn all(texts: &[String]) -> Result<Vec<Self>> {
        texts.iter().flat_map(|text| text.split(',')).map(|text| Self::of(text.trim())).collect()
    }

    /// Reads `3x+1 mod 5`.
    fn of(text: &str) -> Result<Self> {
        let wrong = || {
            let must = "functions such as 3x+1 mod 5, with commas between them";
            Error::parameter("functions", text, must)
        };
        let body = text.split_once("(x)").and_then(|(_, rest)| rest.trim().strip_prefix('='));
        let plain: String = body.unwrap_or(text).replace('−', "-").replace(['*', '·'], "");
        let (left, right) = plain.split_once("mod").ok_or_else(wrong)?;
        let outer = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
        let left: String = left.chars().filter(|&c| !outer(c)).collect();
        let right: String = right.chars().filter(|&c| !outer(c)).collect();
        let (factor, constant) = left.split_once('x').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<i64>().map(i128::from).map_err(|_| wrong());
        let factor = match factor {
            "" | "+" => 1,
            "-" => -1,
            factor => number(factor)?,
        };
        let constant = if constant.is_empty() { 0 } else { number(constant)? };
        let modulus = number(&right)?;
        if modulus < 1 {
            return Err(wrong());
        }
        Ok(Self { label: text.to_owned(), factor, constant, modulus })
    }

    /// The value of x.
    pub(super) fn value(&self, x: u64) -> u64 {
        let value = (self.factor * i128::from(x) + self.constant).rem_euclid(self.modulus);
        u64::try_from(value).unwrap_or(u64::MAX)
    }

    /// How many different values there can be.
    pub(super) fn values_at_most(&self) -> usize {
        usize::try_from(self.modulus).unwrap_or(usize::MAX)
    }

    /// The values of all rows.
    ///
    /// # Errors
    /// When there are fewer values than rows, so that rows must share one.
    fn values(&self, numbers: &[u64]) -> Result<Vec<u64>> {
        if self.modulus < numbers.len() as i128 {
            let must = format!(
                "functions of which each has a modulus of {} or more: there are so many rows, and rows with one value cannot \
                 be told apart",
                numbers.len()
            );
            return Err(Error::parameter("functions", &*self.label, must));
        }
        Ok(numbers.iter().map(|&x| self.value(x)).collect())
    }
}

/// The value of each row under each function.
#[derive(Debug, Clone)]
pub(super) struct RowValues(pub(super) Vec<Vec<u64>>);

impl HashFamily for RowValues {
    fn hash(&self, function: usize, x: u64) -> u64 {
        self.0[function][x as usize]
    }

    fn functions(&self) -> usize {
        self.0.len()
    }
}

/// Where the values of a signature come from.
#[derive(Debug)]
pub(super) enum Signer {
    /// Orders of the rows; a value is a place, from 1.
    Orders(Vec<Order>),
    /// Functions of the rows.
    Functions(Vec<LinearFunction>),
    /// The engine's sketch.
    Sketch(OnePermutation),
}

impl Signer {
    /// What the request asks for, with the engine's sketch of so many values where it asks for nothing.
    pub(super) fn of(request: &ShowRequest<'_>, matrix: &SetMatrix, values: usize) -> Result<Self> {
        let show = request.show;
        if show.groups.is_some() && show.truncate.is_some() {
            return Err(Error::conflict("groups", "truncate"));
        }
        let orders = Order::all(request, matrix)?;
        let functions = LinearFunction::all(&show.functions)?;
        let given = [
            ("functions", !show.functions.is_empty()),
            ("permutation", !show.permutation.is_empty()),
            ("places", !show.places.is_empty()),
            ("cyclic", show.cyclic),
        ];
        let of_rows = given.iter().find(|(_, given)| *given).map_or("all_permutations", |it| it.0);
        match (orders.is_empty(), functions.is_empty()) {
            (false, false) => Err(Error::conflict("functions", "permutation")),
            (false, true) | (true, false) if show.values.is_some() => {
                Err(Error::conflict("values", of_rows))
            }
            (false, true) => Ok(Self::Orders(orders)),
            (true, false) => Ok(Self::Functions(functions)),
            // Groups need no order of their own: the rows as they come are one.
            (true, true) if show.groups.is_some() => {
                Ok(Self::Orders(vec![Order::of_rows((0..matrix.rows()).collect(), matrix)]))
            }
            (true, true) => {
                if show.truncate.is_some() {
                    return Err(Error::needed("permutation", "truncate"));
                }
                let groups = show.values.unwrap_or(values);
                Ok(Self::Sketch(OnePermutation::new(groups, request.options.seed_or_default())?))
            }
        }
    }

    /// What each function is called.
    pub(super) fn labels(&self) -> Vec<String> {
        match self {
            Self::Orders(orders) => orders.iter().map(|order| order.label.clone()).collect(),
            Self::Functions(functions) => functions.iter().map(|f| f.label.clone()).collect(),
            Self::Sketch(sketch) => (1..=sketch.groups).map(|at| at.to_string()).collect(),
        }
    }

    /// The value of each row under each function; none for the engine's sketch.
    pub(super) fn row_values(&self, matrix: &SetMatrix) -> Result<Option<RowValues>> {
        let values = match self {
            Self::Orders(orders) => orders
                .iter()
                .map(|order| {
                    let mut places = vec![0; matrix.rows()];
                    (1..).zip(&order.rows).for_each(|(place, &row)| places[row] = place);
                    places
                })
                .collect(),
            Self::Functions(functions) => {
                let numbers = matrix.numbers();
                functions.iter().map(|f| f.values(&numbers)).collect::<Result<_>>()?
            }
            Self::Sketch(_) => return Ok(None),
        };
        Ok(Some(RowValues(values)))
    }
}

/// Signatures of sets, and what their values are called.
#[derive(Debug)]
pub(super) struct SignatureMatrix {
    /// What the sets are called.
    pub(super) names: Vec<String>,
    /// What the values are called.
    pub(super) labels: Vec<String>,
    /// The signature of each set.
    pub(super) signatures: Vec<Signature>,
}

impl SignatureMatrix {
    /// The signatures that the request asks for.
    pub(super) fn of(
        request: &ShowRequest<'_>,
        matrix: &SetMatrix,
        signer: &Signer,
    ) -> Result<Self> {
        let show = request.show;
        let (names, mut labels) = (matrix.names.clone(), signer.labels());
        let rows = |set: &Vec<usize>| set.iter().map(|&row| row as u64).collect::<Vec<u64>>();
        let sets = matrix.sets.iter().map(rows);
        let signatures = match (signer, signer.row_values(matrix)?) {
            (Signer::Sketch(sketch), _) => {
                let mut values = vec![0; sketch.groups];
                let sign = |set: usize| {
                    sketch.sketch(&matrix.hashes_of(set), &mut values);
                    let is_empty = matrix.sets[set].is_empty();
                    let wide = values.iter().map(|&x| if is_empty { INFINITY } else { x.into() });
                    Signature::from_values(wide.collect(), is_empty)
                };
                (0..matrix.sets.len()).map(sign).collect()
            }
            (_, Some(values)) if show.groups.is_some() => {
                if values.0.len() > 1 {
                    let must = "one function or permutation: each group takes its smallest value";
                    return Err(Error::parameter("groups", "with several functions", must));
                }
                let groups = Groups::of(request, matrix)?;
                labels = groups.labels(matrix);
                let minima = GroupMinima::by_rows(values, groups.count, groups.rows as u64)?;
                sets.map(|set| minima.signature(&set)).collect()
            }
            (_, Some(values)) => {
                let minhash = match show.truncate {
                    None => MinHash::new(values),
                    Some(0) => return Err(Error::parameter("truncate", 0, "at least 1")),
                    // Places count from 1, values of functions from 0.
                    Some(rows) => {
                        let first = u64::from(matches!(signer, Signer::Orders(_)));
                        MinHash::new(values).truncated(rows as u64 + first)
                    }
                };
                sets.map(|set| minhash.signature(&set)).collect()
            }
            (_, None) => Vec::new(),
        };
        Ok(Self { names, labels, signatures })
    }

    /// Signatures that the user gave.
    pub(super) fn given(request: &ShowRequest<'_>) -> Result<Self> {
        let mut signatures = Vec::new();
        for item in request.items {
            match &item.content {
                Content::Signature(values) => {
                    signatures.push(Signature::from_values(values.clone(), values.is_empty()));
                }
                _ => return Err(Error::parameter("item", "no signature", "whole numbers")),
            }
        }
        let names = names(request.items, "S");
        let length = signatures.first().map_or(0, |first| first.values().len());
        let other = signatures.iter().position(|other| other.values().len() != length);
        if let Some(other) = other {
            let must = format!("{length} values, as of {}", names[0]);
            let is = format!("{} with {}", names[other], signatures[other].values().len());
            return Err(Error::parameter("signature", is, must));
        }
        let labels = (1..=length).map(|at| at.to_string()).collect();
        Ok(Self { names, labels, signatures })
    }
}

/// Rows in groups of the same number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups {
    pub(super) count: usize,
    pub(super) rows: usize,
}

impl Groups {
    /// The groups of a request.
    pub(super) fn of(request: &ShowRequest<'_>, matrix: &SetMatrix) -> Result<Self> {
        let count = request.show.groups.unwrap_or(1);
        let all = matrix.rows();
        if count == 0 || count > all {
            return Err(Error::parameter("groups", count, format!("from 1 to {all}, the rows")));
        }
        Ok(Self { count, rows: all / count })
    }

    /// The rows of a group.
    pub(super) fn range(&self, group: usize) -> std::ops::Range<usize> {
        group * self.rows..(group + 1) * self.rows
    }

    /// What the groups are called: by their first and last rows.
    pub(super) fn labels(&self, matrix: &SetMatrix) -> Vec<String> {
        let label = |group: usize| {
            let range = self.range(group);
            format!("{} to {}", matrix.universe[range.start], matrix.universe[range.end - 1])
        };
        (0..self.count).map(label).collect()
    }
}
