//! Signatures, step by step (*Mining of Massive Datasets*, 3.3.2 to 3.3.7).

use super::ShowRequest;
use super::estimate::estimates;
use super::items::at_least;
use super::matrix::SetMatrix;
use super::signer::{Groups, LinearFunction, RowValues, SignatureMatrix, Signer};
use super::table::{Cell, Shown, ShownTable};
use crate::Result;
use crate::family::INFINITY;
use crate::textbook::MinHash;

/// Values of the engine's sketch that are shown unless the user says how many.
const VALUES: usize = 12;
/// Rows up to which signatures are traced row by row, and functions.
const TRACED: (usize, usize) = (40, 12);

impl ShowRequest<'_> {
    /// The signature matrix, and the way to it.
    pub(super) fn signatures(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let matrix = SetMatrix::of(self)?;
        let signer = Signer::of(self, &matrix, VALUES)?;
        let signatures = SignatureMatrix::of(self, &matrix, &signer)?;
        let mut tables = Vec::new();
        let mut notes = matrix.notes.clone();
        if let Some(values) = signer.row_values(&matrix)? {
            tables.push(with_values(&matrix, &signer, &values));
            let is_short = matrix.rows() <= TRACED.0 && values.0.len() <= TRACED.1;
            let is_whole = self.show.groups.is_none() && self.show.truncate.is_none();
            if let (Signer::Functions(functions), true) = (&signer, is_whole) {
                tables.push(permutations(functions, &matrix, &values));
                if is_short {
                    tables.push(trace(&matrix, functions, &values));
                }
            }
        }
        tables.push(signatures.table());
        if let (Signer::Orders(orders), true) = (&signer, self.show.groups.is_none()) {
            let rows = orders.iter().map(|order| &order.rows);
            tables.push(first_elements(&matrix, &signatures, rows));
        }
        if self.show.groups.is_some() {
            tables.push(by_groups(self, &matrix)?);
            let left = matrix.rows() % Groups::of(self, &matrix)?.count;
            if left > 0 {
                notes.push(format!("The last {left} rows are in no group."));
            }
        }
        if self.items.len() > 1 {
            tables.push(estimates(&signatures, Some(&matrix)));
        }
        let has_gaps = signatures.signatures.iter().any(|it| it.values().contains(&INFINITY));
        notes.extend(has_gaps.then(|| {
            "∞: no row of the set was looked at. Two ∞ are no evidence, one ∞ counts as unequal.".into()
        }));
        notes.extend(matches!(signer, Signer::Sketch(_)).then(|| {
            format!(
                "The engine throws every element once, with seed {}; a group that gets none takes the minhash of the whole set.",
                self.options.seed_or_default()
            )
        }));
        Ok(Shown { show: "signatures", tables, notes })
    }
}

impl SignatureMatrix {
    /// The signatures as columns.
    pub(super) fn table(&self) -> ShownTable {
        let columns = std::iter::once("h").chain(self.names.iter().map(String::as_str));
        let mut table = ShownTable::new("signatures", "Signature matrix", columns);
        for (at, label) in self.labels.iter().enumerate() {
            let values = self.signatures.iter().map(|signature| value(signature.values()[at]));
            table.push(std::iter::once(Cell::from(&**label)).chain(values));
        }
        table
    }
}

fn value(value: u64) -> Cell {
    if value == INFINITY { Cell::Infinity } else { value.into() }
}

/// The matrix with the values of its rows beside it (figure 3.4).
fn with_values(matrix: &SetMatrix, signer: &Signer, values: &RowValues) -> ShownTable {
    let mut table = matrix.table(
        "matrix",
        "Characteristic matrix with the values of its rows".into(),
        0..matrix.rows(),
    );
    if let Signer::Functions(_) = signer {
        // What x is.
        table.columns.insert(1, "x".into());
        for (row, x) in table.rows.iter_mut().zip(matrix.numbers()) {
            row.insert(1, x.into());
        }
    }
    for (label, values) in signer.labels().iter().zip(&values.0) {
        table.columns.push(match signer {
            Signer::Orders(_) => format!("place in {label}"),
            _ => label.clone(),
        });
        table.rows.iter_mut().zip(values).for_each(|(row, &value)| row.push(value.into()));
    }
    table
}

/// Which functions are permutations of the rows (exercise 3.3.3).
fn permutations(
    functions: &[LinearFunction],
    matrix: &SetMatrix,
    values: &RowValues,
) -> ShownTable {
    let columns = ["function", "different values", "rows", "a permutation"];
    let mut table = ShownTable::new("functions", "Functions", columns);
    for (function, values) in functions.iter().zip(&values.0) {
        let mut different = values.clone();
        different.sort_unstable();
        different.dedup();
        let is_one = different.len() == values.len();
        table.push([
            Cell::from(&*function.label),
            different.len().into(),
            matrix.rows().into(),
            if is_one { "yes" } else { "no" }.into(),
        ]);
    }
    table
}

/// The signature matrix after each row (example 3.8).
fn trace(matrix: &SetMatrix, functions: &[LinearFunction], values: &RowValues) -> ShownTable {
    let columns = ["after row", "h"].into_iter().chain(matrix.names.iter().map(String::as_str));
    let mut table = ShownTable::new("trace", "Signatures, row by row", columns);
    let minhash = MinHash::new(values.clone());
    for seen in 0..=matrix.rows() {
        let known: Vec<_> = matrix
            .sets
            .iter()
            .map(|set| {
                let rows = set.iter().filter(|&&row| row < seen).map(|&row| row as u64);
                minhash.signature(&rows.collect::<Vec<u64>>())
            })
            .collect();
        for (at, function) in functions.iter().enumerate() {
            let row = match (seen.checked_sub(1), at) {
                (_, 1..) => Cell::Empty,
                (None, _) => "start".into(),
                (Some(row), _) => matrix.universe[row].as_str().into(),
            };
            let cells = known.iter().map(|signature| value(signature.values()[at]));
            table.push([row, function.label.as_str().into()].into_iter().chain(cells));
        }
    }
    table
}

/// The elements that minhashes stand for (example 3.7).
fn first_elements<'a>(
    matrix: &SetMatrix,
    signatures: &SignatureMatrix,
    orders: impl Iterator<Item = &'a Vec<usize>>,
) -> ShownTable {
    let columns = std::iter::once("h").chain(matrix.names.iter().map(String::as_str));
    let mut table = ShownTable::new("elements", "The same as elements", columns);
    for (at, rows) in orders.enumerate() {
        let cells = signatures.signatures.iter().map(|signature| match signature.values()[at] {
            INFINITY => Cell::Infinity,
            place => matrix.universe[rows[place as usize - 1]].as_str().into(),
        });
        table.push(std::iter::once(Cell::from(&*signatures.labels[at])).chain(cells));
    }
    table
}

/// What each group of rows may say of each pair (example 3.9).
fn by_groups(request: &ShowRequest<'_>, matrix: &SetMatrix) -> Result<ShownTable> {
    let groups = Groups::of(request, matrix)?;
    let columns = ["a", "b"].map(String::from).into_iter().chain(groups.labels(matrix));
    let columns = columns.chain(["expected".to_owned(), "Jaccard".to_owned()]);
    let title = "Jaccard similarity within each group, and its mean: the expected share of matches";
    let mut table = ShownTable::new("groups", title, columns);
    for (a, b) in matrix.pairs() {
        let within: Vec<Option<f64>> = (0..groups.count)
            .map(|group| {
                let is_in = |set: usize, row: &usize| matrix.holds(set, *row);
                let rows = groups.range(group);
                let shared = rows.clone().filter(|row| is_in(a, row) && is_in(b, row)).count();
                let union = rows.filter(|row| is_in(a, row) || is_in(b, row)).count();
                (union > 0).then(|| shared as f64 / union as f64)
            })
            .collect();
        let seen: Vec<f64> = within.iter().flatten().copied().collect();
        let mean = (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64);
        let names = [a, b].map(|set| Cell::from(&*matrix.names[set]));
        let cells = within.into_iter().map(|share| share.map_or(Cell::Infinity, Cell::Real));
        table.push(
            names.into_iter().chain(cells).chain([mean.into(), matrix.similarity(a, b).into()]),
        );
    }
    Ok(table)
}
