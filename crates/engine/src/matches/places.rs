//! Where records of a run stand: they are looked up in the sources when a row names them.

use std::path::PathBuf;

use crate::Result;
use crate::item::{Item, RecordPlaces, Source};
use crate::parallel::{LaneRoom, in_lanes};

use super::Collection;

impl Collection {
    /// Where the wanted records stand. Chunks with such are read again, unless it is known from reading items into memory.
    ///
    /// # Errors
    /// When a source cannot be read.
    pub fn places<S: Source>(
        &self,
        sources: &[&S],
        threads: usize,
        wanted: impl Fn(u32) -> bool + Sync,
    ) -> Result<RecordPlaces> {
        if let Some(places) = self.known_places() {
            return Ok(places.clone());
        }
        let mut places = RecordPlaces::default();
        for (input, source) in sources.iter().enumerate() {
            let read = |chunk| {
                let number = source.place(&chunk).0;
                let start = self.chunk(input, number).start;
                let batch = source.decode(&chunk, &|ordinal| wanted(start + ordinal))?;
                let before = source.lines_before(number)?;
                let place = |(at, item): (usize, &Item)| {
                    let file: PathBuf = batch.file(at).to_path_buf();
                    (start + item.ordinal, file, item.line + before)
                };
                let is_wanted = |(_, item): &(usize, &Item)| wanted(start + item.ordinal);
                Ok(batch.items.iter().enumerate().filter(is_wanted).map(place).collect::<Vec<_>>())
            };
            let has_none = |number| !self.chunk(input, number).any(&wanted);
            in_lanes(
                threads,
                LaneRoom::of_numbers(threads),
                source.lanes(&has_none),
                read,
                |found| 64 * found.len(),
                |found| {
                    found.iter().for_each(|(position, file, line)| {
                        places.push(*position, file, *line);
                    });
                    Ok(())
                },
            )?;
        }
        Ok(places)
    }
}
