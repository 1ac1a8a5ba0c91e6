//! Whole collections of sets and bags into memory: the elements of texts, or their counts.

use super::{
    OnError,
    load::{ItemReader, ItemsBuilder, batch_part, threads},
    named::NamedItems,
    numbers::BitNotation,
};
use crate::Result;
use crate::family::weighted::numbered;
use crate::item::{Bags, Sets, Source};
use crate::parallel::in_order;
use crate::shingle::{Scratch, Shingling};

/// The elements of every text of a collection, cut as `shingling` says: sorted, without repeats unless they
/// are counted, in which case an element's repeats are elements of their own.
///
/// # Errors
/// When a record cannot be used and such are not skipped, and when a file cannot be read.
pub fn load_sets<S: Source>(
    source: &S,
    shingling: &Shingling,
    repeats: bool,
    on_error: OnError,
) -> Result<NamedItems<Sets>> {
    let elements = |text: &str, out: &mut Vec<u64>| {
        let mut set = Vec::new();
        match repeats {
            true => shingling.shingle_or_whole(text, &mut Scratch::default(), &mut set),
            false => shingling.once_or_whole(text, &mut Scratch::default(), &mut set),
        };
        set.sort_unstable();
        if repeats {
            let bag = std::mem::take(&mut set);
            numbered(&bag, &mut set);
            set.sort_unstable();
        }
        set.dedup();
        out.extend_from_slice(&set);
        set.len()
    };
    let loaded = load(source, &elements, on_error)?;
    let mut items = Sets::default();
    loaded.ends.windows(2).for_each(|range| items.push(&loaded.values[range[0]..range[1]]));
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

/// The elements of every list of a collection, with their counts.
///
/// # Errors
/// When a record cannot be used and such are not skipped, and when a file cannot be read.
pub fn load_bags<S: Source>(
    source: &S,
    shingling: &Shingling,
    on_error: OnError,
) -> Result<NamedItems<Bags>> {
    let counts = |list: &str, out: &mut Vec<_>| {
        let bag = shingling.counted(list);
        out.extend_from_slice(&bag);
        bag.len()
    };
    let loaded = load(source, &counts, on_error)?;
    let items = Bags::from_parts(loaded.values, loaded.ends);
    Ok(NamedItems { items, names: loaded.naming.finish() })
}

/// What `append` makes of each text; it says how much that is.
fn load<S: Source, E: Copy + Send>(
    source: &S,
    append: &(dyn Fn(&str, &mut Vec<E>) -> usize + Sync),
    on_error: OnError,
) -> Result<ItemsBuilder<E>> {
    let reading = ItemReader {
        text: &|text, out| Ok((append(text, out), BitNotation::Clear)),
        column: &|_| Ok(None),
        row: &|_, _, _| Err("vectors have no elements".into()),
        unequal: None,
        unfit: |_| false,
        refusal: None,
    };
    let mut loaded = ItemsBuilder::new();
    let chunks = source.scan(&|_| false);
    let read = |chunk| {
        let batch = source.decode(&chunk, &|_| true)?;
        Ok((source.place(&chunk).0, batch.path.clone(), batch_part(batch, &reading)))
    };
    in_order(threads(), chunks, read, |(number, path, mut part)| {
        loaded.naming.file(&path);
        let before = source.lines_before(number)?;
        part.records.iter_mut().for_each(|record| record.line += before);
        loaded.take_part(&path, part, on_error, &reading)
    })?;
    Ok(loaded)
}
