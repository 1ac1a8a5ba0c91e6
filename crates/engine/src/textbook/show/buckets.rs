//! Bands and their buckets: who meets whom (*Mining of Massive Datasets*, 3.4.1).

use std::collections::BTreeMap;

use super::ShowRequest;
use super::items::at_least;
use super::matrix::SetMatrix;
use super::signer::{SignatureMatrix, Signer};
use super::table::{Cell, Shown, ShownTable};
use crate::amplify::Bands;
use crate::candidates::bands::Banding;
use crate::family::INFINITY;
use crate::{Error, Result};

/// Bands and rows unless the user says how many.
const BANDS: (usize, usize) = (20, 5);
/// A band of more rows is shown by its key alone.
const SHORT: usize = 6;

impl ShowRequest<'_> {
    /// Keys of all items, buckets of two and more, and in how many each pair meets.
    pub(super) fn buckets(&self) -> Result<Shown> {
        at_least(self.items, 2)?;
        if self.show.signatures {
            let signatures = SignatureMatrix::given(self)?;
            let bands = self.bands(Some(signatures.labels.len()))?;
            return Ok(shown(&signatures, None, bands, None));
        }
        let matrix = SetMatrix::of(self)?;
        let is_sketch = self.show.functions.is_empty()
            && self.show.permutation.is_empty()
            && self.show.places.is_empty()
            && !self.show.all_permutations
            && !self.show.cyclic
            && self.show.groups.is_none();
        if let (true, Some(values)) = (is_sketch, self.show.values) {
            let must = "left out: a sketch has a value for each row of each band";
            return Err(Error::parameter("values", values, must));
        }
        let asked = self.bands(None)?;
        let signer = Signer::of(self, &matrix, asked.functions())?;
        let signatures = SignatureMatrix::of(self, &matrix, &signer)?;
        let bands = self.bands(Some(signatures.labels.len()))?;
        let keys = match &signer {
            Signer::Sketch(_) => Some(Banding::new(bands, self.options.seed_or_default())?),
            _ => None,
        };
        Ok(shown(&signatures, Some(&matrix), bands, keys.as_ref()))
    }

    /// The bands that are asked for, of signatures of so many values where these are known.
    fn bands(&self, values: Option<usize>) -> Result<Bands> {
        let (count, rows) = match (self.options.bands, self.options.rows) {
            (Some(count), Some(rows)) => (count, rows),
            (Some(_), None) => return Err(Error::needed("rows", "bands")),
            (None, Some(_)) => return Err(Error::needed("bands", "rows")),
            (None, None) => match values {
                Some(values) if values < BANDS.1 => (1, values.max(1)),
                Some(values) => (values / BANDS.1, BANDS.1),
                None => BANDS,
            },
        };
        let bands = Bands::new(count, rows)?;
        match values {
            Some(values) if bands.functions() > values => {
                let must = format!(
                    "few enough for signatures of {values} values; {count} bands of {rows} rows take {}",
                    bands.functions()
                );
                Err(Error::parameter("bands", count, must))
            }
            _ => Ok(bands),
        }
    }
}

/// The key of each item in each band: none where it has no elements, or a value that was not seen.
fn keys_of(
    signatures: &SignatureMatrix,
    matrix: Option<&SetMatrix>,
    bands: Bands,
    banding: Option<&Banding>,
) -> Vec<Vec<Option<String>>> {
    let of_values = |values: &[u64]| {
        (!values.contains(&INFINITY))
            .then(|| values.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
    };
    let keys = |item: usize| match (banding, matrix) {
        (Some(banding), Some(matrix)) => {
            let mut keys = Vec::new();
            banding.keys(&matrix.hashes_of(item), &mut Vec::new(), &mut keys);
            let keys = keys.iter().map(|key| Some(format!("{key:x}"))).collect::<Vec<_>>();
            if keys.is_empty() { vec![None; bands.count] } else { keys }
        }
        _ => {
            let values = signatures.signatures[item].values();
            values.chunks_exact(bands.rows).take(bands.count).map(of_values).collect()
        }
    };
    (0..signatures.signatures.len()).map(keys).collect()
}

fn shown(
    signatures: &SignatureMatrix,
    matrix: Option<&SetMatrix>,
    bands: Bands,
    banding: Option<&Banding>,
) -> Shown {
    let keys = keys_of(signatures, matrix, bands, banding);
    let mut tables = Vec::new();
    if banding.is_none() && bands.rows <= SHORT {
        tables.push(signatures.table());
    }
    tables.push(keys_table(signatures, &keys, bands));
    let members = members_of(&keys, bands);
    tables.push(buckets_table(signatures, &members));
    tables.push(pairs_table(signatures, matrix, bands, &members));
    let mut notes = matrix.map_or(Vec::new(), |matrix| matrix.notes.clone());
    let left = signatures.labels.len() - bands.functions();
    if left > 0 {
        notes.push(format!("The last {left} values of the signatures are in no band."));
    }
    if keys.iter().flatten().any(Option::is_none) {
        notes.push(
            "An item without elements, or with ∞ in a band, is in no bucket of that band.".into(),
        );
    }
    let Bands { count, rows } = bands;
    notes.push(format!(
        "With {count} bands of {rows} rows, a pair of similarity s meets with chance 1-(1-s^{rows})^{count}."
    ));
    Shown { show: "buckets", tables, notes }
}

/// The keys of all items, band by band.
fn keys_table(
    signatures: &SignatureMatrix,
    keys: &[Vec<Option<String>>],
    bands: Bands,
) -> ShownTable {
    let columns = std::iter::once("band").chain(signatures.names.iter().map(String::as_str));
    let mut table = ShownTable::new("keys", "Keys of the items", columns);
    for band in 0..bands.count {
        let cells = keys.iter().map(|keys| keys[band].clone().into());
        table.push(std::iter::once(Cell::from(band + 1)).chain(cells));
    }
    table
}

/// Who is in a bucket with others: band, key and items.
type Members = Vec<(usize, String, Vec<usize>)>;

fn members_of(keys: &[Vec<Option<String>>], bands: Bands) -> Members {
    let mut members = Vec::new();
    for band in 0..bands.count {
        let mut buckets: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (item, keys) in keys.iter().enumerate() {
            if let Some(key) = &keys[band] {
                buckets.entry(key).or_default().push(item);
            }
        }
        let mut shared: Vec<_> = buckets.into_iter().filter(|(_, items)| items.len() > 1).collect();
        shared.sort_by_key(|(_, items)| items[0]);
        members.extend(shared.into_iter().map(|(key, items)| (band, key.clone(), items)));
    }
    members
}

fn buckets_table(signatures: &SignatureMatrix, members: &Members) -> ShownTable {
    let columns = ["band", "key", "items", "who"];
    let mut table = ShownTable::new("buckets", "Buckets of two and more items", columns);
    for (band, key, items) in members {
        let who: Vec<&str> = items.iter().map(|&item| &*signatures.names[item]).collect();
        let count = items.len().into();
        table.push([(band + 1).into(), key.as_str().into(), count, who.join(" ").into()]);
    }
    table
}

fn pairs_table(
    signatures: &SignatureMatrix,
    matrix: Option<&SetMatrix>,
    bands: Bands,
    members: &Members,
) -> ShownTable {
    let truth: &[&str] = if matrix.is_some() { &["Jaccard", "chance to meet"] } else { &[] };
    let columns = ["a", "b", "bands shared", "which", "candidate"].iter().chain(truth).copied();
    let mut table = ShownTable::new("pairs", "Who meets whom", columns);
    let count = signatures.names.len();
    for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
        let met: Vec<String> = members
            .iter()
            .filter(|(_, _, items)| items.contains(&a) && items.contains(&b))
            .map(|(band, _, _)| (band + 1).to_string())
            .collect();
        let mut row: Vec<Cell> = [a, b].map(|item| Cell::from(&*signatures.names[item])).into();
        row.extend([met.len().into(), met.join(" ").into()]);
        row.push(if met.is_empty() { "no" } else { "yes" }.into());
        if let Some(matrix) = matrix {
            let s = matrix.similarity(a, b);
            // The empty set meets nobody.
            let chance = if matrix.sets[a].is_empty() { 0.0 } else { bands.probability(s) };
            row.extend([s.into(), chance.into()]);
        }
        table.push(row);
    }
    table
}
