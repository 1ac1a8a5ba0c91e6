//! Where the kept pieces stand: the documents with them are read once more, if somebody wants to know.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::Trim;
use super::cuts::{KeptPlace, TextPlaces, changed, id_of};
use super::rule::{NO_PLACE, Place};
use super::stretches::Stretches;
use crate::Result;
use crate::item::{ChunkNumber, ChunkStarts, Id, Source};
use crate::observe::Stage;
use crate::parallel::in_lanes;
use crate::spill::{Block, Cache, Lists, Partitions};

/// Where the kept places are, by the chunk of their document.
pub(super) struct KeptPlaces {
    /// Documents and numbers in them, in order.
    places: Lists<u64>,
    /// Where each of them begins in its text, in bytes.
    offsets: Lists<u64>,
    /// The documents in order: position, line, and where its id and its file end among `names`.
    documents: Lists<u64>,
    names: Lists<u8>,
}

/// The lists that were read last.
#[derive(Default)]
pub(super) struct KeptCaches {
    numbers: [Cache<u64>; 3],
    names: Cache<u8>,
}

impl KeptPlaces {
    /// Reads the documents with kept places.
    pub(super) fn find<S: Source>(run: &Trim<'_, S>, found: &Stretches) -> Result<Self> {
        let Trim { source, settings, budget, .. } = run;
        let places = kept_by_chunk(run, found)?;
        let list = || Lists::new(budget.share(1), &budget.temp);
        let (mut offsets, mut documents) = (list(), list());
        let mut names: Lists<u8> = Lists::new(budget.share(1), &budget.temp);
        let starts = &found.gathered.starts;
        let is_free = |number: ChunkNumber| {
            let index = starts.index(number);
            index >= places.len() || places.length(index) == 0
        };
        let _clock = run.begin(Stage::Load);
        in_lanes(
            settings.threads,
            run.room(),
            source.lanes(&is_free),
            |chunk| {
                let (number, bytes) = source.place(&chunk);
                if is_free(number) {
                    return Ok((number, bytes, KeptChunk::default()));
                }
                let mut cache = Cache::one();
                let places = places.get(starts.index(number), &mut cache)?;
                let start = starts.start(number).unwrap_or_default() as u32;
                let kept = KeptChunk::read(run, (&chunk, number, start), places)?;
                Ok((number, bytes, kept))
            },
            |(_, _, kept)| 8 * (kept.offsets.len() + kept.documents.len()) + kept.names.len(),
            |(number, bytes, kept)| {
                run.advance(bytes)?;
                let index = starts.index(number);
                while offsets.len() < index {
                    offsets.push(&[])?;
                    documents.push(&[])?;
                    names.push(&[])?;
                }
                if index < places.len() {
                    offsets.push(&[&kept.offsets])?;
                    documents.push(&[&kept.documents])?;
                    names.push(&[&kept.names])?;
                }
                Ok(())
            },
        )?;
        Ok(Self { places, offsets, documents, names })
    }

    /// Where a kept place is.
    pub(super) fn get(
        &self,
        kept: u64,
        starts: &ChunkStarts,
        caches: &mut KeptCaches,
    ) -> Result<Option<KeptPlace>> {
        if kept == NO_PLACE {
            return Ok(None);
        }
        let place = Place::of(kept);
        let chunk = starts.chunk_of(u64::from(place.document));
        let index = starts.index(chunk);
        let [places, offsets, documents] = &mut caches.numbers;
        let places = self.places.get(index, places)?;
        let Ok(at) = places.binary_search(&kept.rotate_left(32)) else { return Ok(None) };
        let offset = self.offsets.get(index, offsets)?.get(at).copied().unwrap_or_default();
        let documents = self.documents.get(index, documents)?.as_chunks::<4>().0;
        let at = documents.partition_point(|it| it[0] < u64::from(place.document));
        let Some(&[_, line, id, file]) = documents.get(at) else { return Ok(None) };
        let first = at.checked_sub(1).map_or(0, |before| documents[before][3]);
        let names = self.names.get(index, &mut caches.names)?;
        let name = |from: u64, to: u64| names.get(from as usize..to as usize).unwrap_or_default();
        let file = PathBuf::from(OsStr::from_bytes(name(id, file)));
        Ok(Some(KeptPlace { id: id_from(name(first, id)), file, line, offset }))
    }
}

/// The places that are kept, each once and in order, by the chunk of their document.
fn kept_by_chunk<S: Source>(run: &Trim<'_, S>, found: &Stretches) -> Result<Lists<u64>> {
    const PARTITIONS: usize = 256;
    let gathered = &found.gathered;
    let mut all: Partitions<1> = Partitions::new(PARTITIONS, run.budget.share(2), &run.budget.temp);
    let mut cache = Cache::one();
    for index in 0..found.lists.len() {
        let list = found.lists.get(index, &mut cache)?;
        let kept = Stretches::of(list).map(|it| it.kept).filter(|&kept| kept != NO_PLACE);
        let entries =
            kept.map(|kept| (gathered.partition(Place::of(kept).document, PARTITIONS), [kept]));
        all.push(Block::new(PARTITIONS, entries))?;
    }
    let mut lists = Lists::new(run.budget.share(1), &run.budget.temp);
    let mut open: Vec<u64> = Vec::new();
    let starts = gathered.starts.parts().0;
    all.each(
        run.settings.threads,
        |_, mut entries, found: &mut Vec<u64>| {
            // By document first.
            entries.iter_mut().for_each(|entry| entry[0] = entry[0].rotate_left(32));
            entries.sort_unstable();
            entries.dedup();
            found.extend(entries.as_flattened());
            Ok(())
        },
        |found| {
            for place in found {
                while starts.get(lists.len() + 1).is_some_and(|&next| next <= place >> 32) {
                    lists.push(&[&open])?;
                    open.clear();
                }
                open.push(place);
            }
            Ok(())
        },
    )?;
    while lists.len() < starts.len() {
        lists.push(&[&open])?;
        open.clear();
    }
    Ok(lists)
}

/// What is told of the kept places of a chunk.
#[derive(Default)]
struct KeptChunk {
    offsets: Vec<u64>,
    documents: Vec<u64>,
    names: Vec<u8>,
}

impl KeptChunk {
    fn read<S: Source>(
        run: &Trim<'_, S>,
        (chunk, number, start): (&S::Chunk, ChunkNumber, u32),
        places: &[u64],
    ) -> Result<Self> {
        let document = |place: &u64| (place >> 32) as u32;
        let is_wanted =
            |ordinal: u32| places.binary_search_by_key(&(start + ordinal), document).is_ok();
        let batch = run.source.decode(chunk, &is_wanted)?;
        let before = run.source.lines_before(number)?;
        let mut kept = Self::default();
        let mut reader = TextPlaces::new(run.settings.unit);
        for (index, item) in batch.items.iter().enumerate().filter(|it| is_wanted(it.1.ordinal)) {
            let position = start + item.ordinal;
            let first = places.partition_point(|place| document(place) < position);
            reader.read(batch.text(index));
            for place in places[first..].iter().take_while(|place| document(place) == position) {
                let offset = reader.start(*place as u32).ok_or_else(|| changed(&batch))?;
                kept.offsets.push(offset.into());
            }
            push_id(&id_of(item, start), &mut kept.names);
            let id = kept.names.len() as u64;
            kept.names.extend_from_slice(batch.file(index).as_os_str().as_bytes());
            let file = kept.names.len() as u64;
            kept.documents.extend([position.into(), item.line + before, id, file]);
        }
        match kept.offsets.len() == places.len() {
            true => Ok(kept),
            false => Err(changed(&batch)),
        }
    }
}

/// Appends an id as bytes: which kind it is, and what.
fn push_id(id: &Id, out: &mut Vec<u8>) {
    match id {
        Id::Int(number) => {
            out.push(0);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Id::Text(text) => {
            out.push(1);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// What [`push_id`] appended.
fn id_from(bytes: &[u8]) -> Id {
    match bytes {
        [0, number @ ..] => {
            Id::Int(number.first_chunk().map_or(0, |number| i64::from_le_bytes(*number)))
        }
        [_, text @ ..] => Id::Text(String::from_utf8_lossy(text).into()),
        [] => Id::Int(0),
    }
}
