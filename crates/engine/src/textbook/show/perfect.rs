//! A perfect hash of a few keys: where each lies, and that none meets another.

use super::ShowRequest;
use super::items::at_least;
use super::matrix::SetMatrix;
use super::table::{Cell, Shown, ShownTable};
use crate::textbook::PerfectHash;
use crate::{Error, Result};

impl ShowRequest<'_> {
    /// The table of the elements of all items.
    pub(super) fn perfect(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let matrix = SetMatrix::of(self)?;
        if matrix.rows() == 0 {
            return Err(Error::parameter("number of keys", 0, "at least 1"));
        }
        let own: Option<Vec<u64>> = matrix.universe.iter().map(|key| key.parse().ok()).collect();
        let are_numbers = own.is_some();
        let keys = own.unwrap_or_else(|| matrix.hashes.clone());
        let table = PerfectHash::new(&keys, self.options.seed_or_default())?;
        let columns = ["key", "hash", "bucket", "slots of the bucket", "function", "slot"];
        let mut rows = ShownTable::new("keys", "Where the keys lie", columns);
        let mut found: Vec<_> = keys
            .iter()
            .zip(&matrix.universe)
            .filter_map(|(&key, name)| Some((name, key, table.probe(key)?)))
            .collect();
        found.sort_by_key(|(_, _, probe)| probe.slot);
        for (name, key, probe) in found {
            let hash = if are_numbers { Cell::Empty } else { format!("{key:016x}").into() };
            let places = [probe.bucket, probe.slots, probe.function, probe.slot].map(Cell::from);
            rows.push([Cell::from(&**name), hash].into_iter().chain(places));
        }
        let mut space = ShownTable::new(
            "space",
            "Space",
            ["keys", "slots", "slots per key", "most slots per key", "bytes"],
        );
        let per_key = table.slots() as f64 / table.len().max(1) as f64;
        space.push([
            table.len().into(),
            table.slots().into(),
            per_key.into(),
            PerfectHash::SLOTS.into(),
            table.bytes().into(),
        ]);
        let note = "One look at the bucket and one at the slot: a bucket of b keys has b² slots and a function under which no two \
                    of them meet.";
        Ok(Shown { show: "perfect", tables: vec![rows, space], notes: vec![note.into()] })
    }
}
