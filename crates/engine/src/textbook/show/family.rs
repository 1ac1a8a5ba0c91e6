//! How far functions are from min-wise independence.

use super::ShowRequest;
use super::signer::LinearFunction;
use super::table::{Cell, Shown, ShownTable};
use crate::textbook::min_wise::{self, Enumeration, MAX_UNIVERSE, Quality};
use crate::textbook::{MixHashes, Permutation, UniversalHashes};
use crate::{Error, Result};

/// The universe whose subsets are counted unless the user says how large.
const SIZE: usize = 7;
/// More elements have too many orders for all of them to be gone through.
const MOST_ORDERS: usize = 8;
/// Halving has 12,870 times as many permutations of 16 elements as of 8.
const MOST_HALVED: usize = 8;
/// Functions of a large family unless the user says how many.
const FUNCTIONS: usize = 2000;
/// How many sets are looked at, and how many elements each has.
const SETS: (usize, usize) = (40, 16);

impl ShowRequest<'_> {
    /// The largest relative error with which an element of a set is its minimum.
    pub(super) fn family(&self) -> Result<Shown> {
        let show = self.show;
        let is_own = !show.functions.is_empty() || !show.permutation.is_empty();
        let mut counted: Vec<(String, usize, Enumeration)> = Vec::new();
        if is_own {
            let (n, orders) = self.own_orders()?;
            let name = format!("{} given", orders.len());
            counted.push((name, n, min_wise::enumerate(orders.into_iter(), n)?));
        } else {
            let n = self.universe(show.size.unwrap_or(SIZE))?;
            let few = n.min(MOST_ORDERS);
            counted.push((
                "all orders".into(),
                few,
                min_wise::enumerate(Permutation::all(few), few)?,
            ));
            let even = 1 << n.min(MOST_HALVED).ilog2();
            if even > 1 {
                counted.push((
                    "recursive halving".into(),
                    even,
                    min_wise::enumerate(min_wise::halving(even)?, even)?,
                ));
            }
            let is_prime = |n: &usize| (2..*n).all(|d| !n.is_multiple_of(d));
            if let Some(prime) = (2..=n).rev().find(is_prime) {
                counted.push((
                    "ax + b mod n".into(),
                    prime,
                    min_wise::enumerate(min_wise::linear(prime)?, prime)?,
                ));
            }
            counted.push(("cyclic orders".into(), n, min_wise::enumerate(cyclic(n), n)?));
        }
        let mut tables = vec![exactly(&counted), least(&counted)];
        if !is_own {
            tables.push(self.sampled()?);
        }
        let note = "ε: the largest relative error with which an element of any subset is its minimum; 0 means min-wise, and then \
                    minhash estimates are unbiased for every pair.";
        Ok(Shown { show: "family", tables, notes: vec![note.into()] })
    }

    fn universe(&self, n: usize) -> Result<usize> {
        match n {
            2..=MAX_UNIVERSE => Ok(n),
            _ => {
                let must = format!("from 2 to {MAX_UNIVERSE}, because all subsets are counted");
                Err(Error::parameter("size", n, must))
            }
        }
    }

    /// The permutations that the user gave, and of how many elements they are.
    fn own_orders(&self) -> Result<(usize, Vec<Permutation>)> {
        let show = self.show;
        if !show.functions.is_empty() && !show.permutation.is_empty() {
            return Err(Error::conflict("functions", "permutation"));
        }
        if let Some(first) = show.permutation.first() {
            let letters = |list: &super::List| match &list.words()[..] {
                [word] => word.chars().map(String::from).collect(),
                words => words.to_vec(),
            };
            let mut elements = letters(first);
            elements.sort_unstable();
            let n = self.universe(elements.len())?;
            let order = |list: &super::List| {
                let words = letters(list);
                let rows: Option<Vec<usize>> =
                    words.iter().map(|word| elements.binary_search(word).ok()).collect();
                rows.and_then(|rows| Permutation::from_order(rows).ok())
                    .filter(|permutation| permutation.len() == n)
                    .ok_or_else(|| {
                        let must = format!("an order of {}, each once", elements.join(", "));
                        Error::parameter("permutation", words.join(","), must)
                    })
            };
            return Ok((n, show.permutation.iter().map(order).collect::<Result<_>>()?));
        }
        let functions = LinearFunction::all(&show.functions)?;
        let n = match show.size {
            Some(n) => n,
            None => functions.iter().map(LinearFunction::values_at_most).min().unwrap_or(0),
        };
        let n = self.universe(n)?;
        let order = |function: &LinearFunction| {
            let mut rows: Vec<usize> = (0..n).collect();
            rows.sort_by_key(|&row| function.value(row as u64));
            let is_one = rows
                .windows(2)
                .all(|two| function.value(two[0] as u64) != function.value(two[1] as u64));
            match is_one {
                true => Permutation::from_order(rows),
                false => {
                    let must = format!(
                        "a permutation of 0 to {}, with a value of its own for each",
                        n - 1
                    );
                    Err(Error::parameter("functions", &*function.label, must))
                }
            }
        };
        Ok((n, functions.iter().map(order).collect::<Result<_>>()?))
    }

    /// What large families show on sets drawn at random.
    fn sampled(&self) -> Result<ShownTable> {
        let functions = self.show.values.unwrap_or(FUNCTIONS);
        let seed = self.options.seed_or_default();
        let columns =
            ["functions", "sets of 16", "how many", "ε seen", "by chance alone", "typical error"];
        let mut table = ShownTable::new("large", "Large families, measured", columns);
        let kinds = [
            ("runs of numbers", min_wise::runs(SETS.1, SETS.0, seed)),
            ("random numbers", min_wise::scattered(SETS.1, SETS.0, seed)),
        ];
        for (kind, sets) in &kinds {
            let universal = Quality::measure(&UniversalHashes::new(functions, seed), sets)?;
            let mixed = Quality::measure(&MixHashes::new(functions, seed), sets)?;
            for (name, quality) in
                [("ax + b mod 2^61 − 1", universal), ("mix64, the engine's", mixed)]
            {
                table.push([
                    name.into(),
                    (*kind).into(),
                    quality.functions.into(),
                    quality.epsilon.into(),
                    quality.chance.into(),
                    quality.typical.into(),
                ]);
            }
        }
        Ok(table)
    }
}

/// The orders that start at an element and go round.
fn cyclic(n: usize) -> impl Iterator<Item = Permutation> {
    let order =
        move |from: usize| Permutation::from_order((0..n).map(|at| (from + at) % n).collect());
    (0..n).filter_map(move |from| order(from).ok())
}

/// ε of each family, by counting.
fn exactly(counted: &[(String, usize, Enumeration)]) -> ShownTable {
    let columns = ["family", "elements", "orders", "ε", "min-wise"];
    let mut table = ShownTable::new("families", "Over all subsets of a small universe", columns);
    for (name, n, it) in counted {
        let is_min_wise = if it.epsilon == 0.0 { "exactly" } else { "no" };
        table.push([
            Cell::from(&**name),
            (*n).into(),
            it.permutations.into(),
            it.epsilon.into(),
            is_min_wise.into(),
        ]);
    }
    table
}

/// The smallest chance with which an element is the minimum, by the size of the set.
fn least(counted: &[(String, usize, Enumeration)]) -> ShownTable {
    let columns = ["size of the set".to_owned(), "1 / size".to_owned()].into_iter();
    let names = counted.iter().map(|(name, n, _)| format!("{name} of {n}"));
    let title = "Smallest chance with which an element is the minimum";
    let mut table = ShownTable::new("least", title, columns.chain(names));
    let most = counted.iter().map(|(_, n, _)| *n).max().unwrap_or(0);
    for size in 1..=most {
        let cells = counted.iter().map(|(_, _, it)| Cell::from(it.least.get(size).copied()));
        table.push([size.into(), (1.0 / size as f64).into()].into_iter().chain(cells));
    }
    table
}
