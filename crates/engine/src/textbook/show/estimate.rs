//! Similarity of columns beside similarity of signatures.

use super::ShowRequest;
use super::items::at_least;
use super::matrix::SetMatrix;
use super::signer::{SignatureMatrix, Signer};
use super::table::{Cell, Shown, ShownTable};
use crate::Result;

/// Values of the engine's sketch unless the user says how many.
const VALUES: usize = 100;

impl ShowRequest<'_> {
    /// All pairs: the truth, the estimate, and how far estimates are off.
    pub(super) fn estimate(&self) -> Result<Shown> {
        at_least(self.items, 2)?;
        if self.show.signatures {
            let signatures = SignatureMatrix::given(self)?;
            let tables = vec![estimates(&signatures, None)];
            return Ok(Shown { show: "estimate", tables, notes: Vec::new() });
        }
        let matrix = SetMatrix::of(self)?;
        let signer = Signer::of(self, &matrix, VALUES)?;
        let signatures = SignatureMatrix::of(self, &matrix, &signer)?;
        let tables = vec![estimates(&signatures, Some(&matrix))];
        let mut notes = matrix.notes;
        notes.push(format!(
            "{} values for each set. col/col: shared elements over all. sig/sig: equal values over those that are evidence, \
             which two ∞ are not. Standard error: √(s(1 − s)/n) with s = col/col and n = equal + unequal, if the functions are \
             drawn at random.",
            signatures.labels.len()
        ));
        Ok(Shown { show: "estimate", tables, notes })
    }
}

/// For each pair what the sets are and what their signatures say.
pub(super) fn estimates(signatures: &SignatureMatrix, matrix: Option<&SetMatrix>) -> ShownTable {
    let truth = ["shared", "union", "col/col"];
    let columns = ["a", "b"].into_iter().chain(matrix.map_or(&[][..], |_| &truth).iter().copied());
    let columns = columns.chain(["equal", "unequal", "both ∞", "sig/sig"]);
    let columns =
        columns.chain(matrix.map_or(&[][..], |_| &["standard error", "off by"]).iter().copied());
    let title = match matrix {
        Some(_) => "Similarity of columns beside that of signatures",
        None => "Similarity of signatures",
    };
    let mut table = ShownTable::new("pairs", title, columns);
    let count = signatures.signatures.len();
    for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
        let (x, y) = (&signatures.signatures[a], &signatures.signatures[b]);
        let (agreement, estimate) = (x.agreement(y), x.estimate(y));
        let mut row: Vec<Cell> = [a, b].map(|set| Cell::from(&*signatures.names[set])).into();
        if let Some(matrix) = matrix {
            let (shared, union) = matrix.overlap(a, b);
            row.extend([shared.into(), union.into(), matrix.similarity(a, b).into()]);
        }
        row.extend([agreement.equal, agreement.unequal, agreement.silent].map(Cell::from));
        row.push(estimate.into());
        if let Some(matrix) = matrix {
            let s = matrix.similarity(a, b);
            let evidence = agreement.equal + agreement.unequal;
            let error = (evidence > 0).then(|| (s * (1.0 - s) / evidence as f64).sqrt());
            row.extend([error.into(), estimate.map(|estimate| estimate - s).into()]);
        }
        table.push(row);
    }
    table
}
