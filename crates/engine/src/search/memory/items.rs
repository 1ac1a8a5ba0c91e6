//! Items in memory, what they are called, and which of them are copies.

use xxhash_rust::xxh3::xxh3_64;

use crate::family::hash::mix64;
use crate::item::{
    Bags, Bits, Characters, ChunkNumber, FieldKeys, Id, KeepValues, RecordPlaces, Sets, Signatures,
    Sparse, Strings, Vectors, first_copies,
};
use crate::matches::{Collection, ItemFacts, TextShape};
use crate::settings::Goal;
use crate::space::{Form, SparseMeasure, StringMeasure, VectorMeasure};
use crate::spill::Budget;
use crate::verify::{Measure, Overlap};
use crate::{Error, Result};

/// A collection in memory and how its items are compared.
#[derive(Debug, Clone)]
pub enum Items {
    /// Vectors.
    Vectors(Vectors, VectorMeasure),
    /// Bit strings, by their similarity or distance; this many differing bits count 1.
    Bits(Bits, Form, f64),
    /// Sets, or bags with their elements numbered.
    Sets(Sets, Measure, Form),
    /// Bags with counts.
    Bags(Bags, Measure, Form),
    /// Strings under an edit distance.
    Strings(Strings, StringMeasure),
    /// Sparse vectors, such as tf-idf makes of texts.
    Sparse(Sparse, SparseMeasure),
    /// Signatures, by the share of functions that agree.
    Signatures(Signatures),
}

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Vectors(vectors, _) => vectors.len(),
            Self::Bits(bits, ..) => bits.len(),
            Self::Sets(sets, ..) => sets.len(),
            Self::Bags(bags, ..) => bags.len(),
            Self::Strings(strings, _) => strings.len(),
            Self::Sparse(vectors, _) => vectors.len(),
            Self::Signatures(signatures) => signatures.len(),
        }
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether items are compared by their similarity or by their distance.
    pub fn form(&self) -> Form {
        match self {
            Self::Vectors(_, VectorMeasure::Cosine) | Self::Sparse(_, SparseMeasure::Cosine) => {
                Form::Similarity
            }
            Self::Vectors(..) | Self::Strings(..) | Self::Sparse(..) => Form::Distance,
            Self::Signatures(_) => Form::Similarity,
            Self::Bits(_, form, _) | Self::Sets(_, _, form) | Self::Bags(_, _, form) => *form,
        }
    }

    /// Bytes of memory that the items take, about.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Vectors(vectors, _) => 4 * vectors.values().len(),
            Self::Bits(bits, ..) => 8 * bits.len() * bits.words_each(),
            Self::Sets(sets, ..) => 8 * sets.elements(),
            Self::Bags(bags, ..) => bags.bytes(),
            Self::Strings(strings, _) => strings.bytes(),
            Self::Sparse(vectors, _) => vectors.bytes(),
            Self::Signatures(signatures) => 4 * signatures.len() * signatures.functions(),
        }
    }

    /// Whether an item is similar to nothing: an empty set, and an empty string, which mostly is a value that is missing.
    pub(super) fn is_nothing(&self, item: usize) -> bool {
        match self {
            Self::Sets(sets, ..) => sets.get(item).is_empty(),
            Self::Bags(bags, ..) => bags.get(item).is_empty(),
            Self::Strings(strings, _) => strings.length(item) == 0,
            Self::Signatures(signatures) => {
                signatures.get(item).iter().all(|&value| value == Signatures::NO_VALUE)
            }
            Self::Vectors(..) | Self::Bits(..) | Self::Sparse(..) => false,
        }
    }

    /// How close an item that is similar to nothing is said to be to itself.
    pub(super) fn value_of_nothing(&self) -> f64 {
        match (self.form(), self) {
            (Form::Distance, _) => 0.0,
            (_, Self::Sets(_, measure, _) | Self::Bags(_, measure, _)) => {
                measure.similarity(Overlap::identical(0))
            }
            (Form::Similarity, _) => 1.0,
        }
    }

    /// The length that decides which item is kept: characters of strings.
    fn length(&self, item: usize) -> u32 {
        let length = match self {
            Self::Strings(strings, _) => strings.length(item),
            Self::Sets(sets, ..) => sets.get(item).len(),
            Self::Bags(bags, ..) => usize::try_from(bags.total(item)).unwrap_or(usize::MAX),
            Self::Vectors(..) | Self::Bits(..) | Self::Sparse(..) | Self::Signatures(..) => 0,
        };
        u32::try_from(length).unwrap_or(u32::MAX)
    }

    /// For every item the first that is the same, these fields too, in each of two collections on its own.
    fn first_copies(&self, split: Option<usize>, fields: &[FieldKeys]) -> Vec<u32> {
        let len = self.len();
        let same_bits = |a: &[f32], b: &[f32]| {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
        };
        match self {
            Self::Vectors(all, _) => {
                let same = |a, b| same_bits(all.get(a), all.get(b));
                equal_items(len, split, fields, |item| hash_floats(all.get(item)), same)
            }
            Self::Bits(all, ..) => {
                let same = |a, b| all.get(a) == all.get(b);
                equal_items(len, split, fields, |item| hash_words(all.get(item)), same)
            }
            Self::Sets(all, ..) => {
                let same = |a, b| all.get(a) == all.get(b);
                equal_items(len, split, fields, |item| hash_words(all.get(item)), same)
            }
            Self::Bags(all, ..) => {
                let same = |a, b| all.get(a) == all.get(b);
                let words =
                    |item| all.get(item).iter().flat_map(|&(element, count)| [element, count]);
                let hash = |item| hash_words(&words(item).collect::<Vec<u64>>());
                equal_items(len, split, fields, hash, same)
            }
            Self::Strings(all, _) => {
                let same = |a, b| match all.characters([a, b]) {
                    Characters::Narrow([x, y]) => x == y,
                    Characters::Wide([x, y]) => x == y,
                };
                let hash = |item| match all.characters([item]) {
                    Characters::Narrow([x]) => xxh3_64(x),
                    Characters::Wide([x]) => {
                        hash_words(&x.iter().map(|&c| u64::from(c)).collect::<Vec<u64>>())
                    }
                };
                equal_items(len, split, fields, hash, same)
            }
            Self::Signatures(all) => {
                let same = |a, b| all.get(a) == all.get(b);
                let bytes = |item| -> Vec<u8> {
                    all.get(item).iter().flat_map(|value: &u32| value.to_le_bytes()).collect()
                };
                equal_items(len, split, fields, |item| xxh3_64(&bytes(item)), same)
            }
            Self::Sparse(all, _) => {
                let same = |a, b| {
                    let ((x, v), (y, w)) = (all.get(a), all.get(b));
                    x == y && same_bits(v, w)
                };
                let hash = |item| {
                    let (dimensions, weights) = all.get(item);
                    let words = dimensions.iter().map(|&d| u64::from(d)).collect::<Vec<u64>>();
                    hash_words(&words) ^ hash_floats(weights).rotate_left(32)
                };
                equal_items(len, split, fields, hash, same)
            }
        }
    }

    /// These items of them.
    fn select(self, items: &[usize]) -> Self {
        let each = || items.iter().copied();
        match self {
            Self::Vectors(all, measure) => Self::Vectors(all.select(each()), measure),
            Self::Bits(all, form, scale) => Self::Bits(all.select(each()), form, scale),
            Self::Sets(all, measure, form) => Self::Sets(all.select(each()), measure, form),
            Self::Bags(all, measure, form) => Self::Bags(all.select(each()), measure, form),
            Self::Strings(all, measure) => Self::Strings(all.select(each()), measure),
            Self::Sparse(all, measure) => Self::Sparse(all.select(each()), measure),
            Self::Signatures(all) => Self::Signatures(all.select(each())),
        }
    }
}

/// For every item the first with the same hash, that is the same and has the same fields.
fn equal_items(
    len: usize,
    split: Option<usize>,
    fields: &[FieldKeys],
    hash: impl Fn(usize) -> u64 + Sync,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<u32> {
    let of_fields =
        |item: usize, hash| fields.iter().fold(hash, |hash, field| mix64(field.keys[item], hash));
    first_copies(
        len,
        split,
        |item| of_fields(item, hash(item)),
        |a, b| same(a, b) && fields.iter().all(|field| field.are_equal(a, b)),
    )
}

fn hash_words(words: &[u64]) -> u64 {
    xxh3_64(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

fn hash_floats(values: &[f32]) -> u64 {
    xxh3_64(&values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect::<Vec<u8>>())
}

/// What the items of a collection in memory are called, and what decides which of them is kept.
#[derive(Debug, Default)]
pub struct ItemNames {
    /// The user's ids, where the collection has some; else an item's id is its position.
    pub ids: Option<Vec<Id>>,
    /// The position of each item among the records it was read from; none where no record was left out.
    pub positions: Option<Vec<u32>>,
    /// Number of records, those left out included.
    pub records: u32,
    /// By item, its values in the fields that decide which is kept, where some were asked for.
    pub values: Option<Vec<KeepValues>>,
    /// The length of each item in characters, where the items themselves do not tell.
    pub lengths: Option<Vec<u32>>,
    /// Where the records stand, by position, where they were read from files.
    pub places: Option<RecordPlaces>,
    /// What was wrong with records that were left out.
    pub skipped: Vec<Error>,
}

impl ItemNames {
    /// So many items without names.
    pub fn positions(items: usize) -> Self {
        Self { records: items as u32, ..Self::default() }
    }

    pub(crate) fn items(&self) -> usize {
        self.positions.as_ref().map_or(self.records as usize, Vec::len)
    }

    fn position(&self, item: usize) -> u32 {
        self.positions.as_ref().map_or(item as u32, |positions| positions[item])
    }
}

/// One collection in memory, or two to be paired with each other: the items of the second come after those of the first.
#[derive(Debug)]
pub struct MemoryItems {
    pub(super) items: Items,
    names: Vec<ItemNames>,
    /// Fields that an expression may ask to be equal.
    fields: Vec<FieldKeys>,
}

impl MemoryItems {
    /// Items that are called by their positions.
    pub fn new(items: Items) -> Self {
        let names = vec![ItemNames::positions(items.len())];
        Self { items, names, fields: Vec::new() }
    }

    /// Items with their names, of one or two collections.
    ///
    /// # Errors
    /// When there are more or fewer names than items.
    pub fn named(items: Items, names: Vec<ItemNames>) -> Result<Self> {
        let named: usize = names.iter().map(ItemNames::items).sum();
        if named != items.len() || !(1..=2).contains(&names.len()) {
            let must = format!("{}, one for each item of one or two collections", items.len());
            return Err(Error::parameter("the number of names", named, must));
        }
        Ok(Self { items, names, fields: Vec::new() })
    }

    /// With these fields, which an expression may ask to be equal: the values of the items are those of `names`, in this
    /// order.
    ///
    /// # Errors
    /// When the items have no such values.
    pub fn with_fields(mut self, fields: &[String]) -> Result<Self> {
        for (at, field) in fields.iter().enumerate() {
            let mut values = Vec::with_capacity(self.items.len());
            for names in &self.names {
                let Some(all) = &names.values else {
                    if names.items() == 0 {
                        continue;
                    }
                    let must = "left out: these items have no fields";
                    return Err(Error::parameter("and_or", format!("equal({field})"), must));
                };
                values.extend(all.iter().map(|values| values.get(at).and_then(Option::as_ref)));
            }
            if values.iter().all(Option::is_none) && !values.is_empty() {
                let must = "made of fields that the records have: none has this one";
                return Err(Error::parameter("and_or", format!("equal({field})"), must));
            }
            self.fields.push(FieldKeys::new(field, values));
        }
        Ok(self)
    }

    /// The items.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// The first item of the second collection.
    fn split(&self) -> Option<usize> {
        (self.names.len() > 1).then(|| self.names[0].items())
    }

    /// Folds copies: the collection, and the distinct items in the order of its groups. Where the second collection grows the
    /// first, those that it adds come once more, behind all.
    pub(super) fn fold(
        mut self,
        goal: Goal,
        lengths: bool,
        budget: &Budget,
    ) -> Result<(Collection, Items, Vec<FieldKeys>)> {
        let is_increment = goal == Goal::Groups && self.names.len() > 1;
        let split = self.split().filter(|_| !is_increment);
        let first = self.items.first_copies(split, &self.fields);
        let mut collection = Collection::new(budget.share(1), &budget.temp);
        let (mut positions, mut item) = (Vec::with_capacity(self.items.len()), 0);
        for names in std::mem::take(&mut self.names) {
            collection.begin_input();
            if is_increment && collection.split().is_some() {
                collection.grow();
            }
            let start = collection.begin_chunk(ChunkNumber::default(), names.records)?;
            if let Some(places) = &names.places {
                collection.put_places(start, places);
            }
            for at in 0..names.items() {
                let length = names.lengths.as_ref().map(|lengths| lengths[at]);
                let facts = ItemFacts {
                    id: names.ids.as_ref().map(|ids| ids[at].clone()),
                    values: names
                        .values
                        .as_ref()
                        .map(|values| values[at].clone())
                        .unwrap_or_default(),
                    length: lengths.then(|| length.unwrap_or_else(|| self.items.length(item))),
                    shape: match self.items.is_nothing(item) {
                        true => TextShape::Empty,
                        false => TextShape::Long,
                    },
                };
                positions.push(start + names.position(at));
                collection.put(start + names.position(at), &facts)?;
                item += 1;
            }
            names.skipped.into_iter().for_each(|error| collection.skip(error));
        }
        collection.finish()?;
        let copies = first.iter().zip(&positions).filter_map(|(&first, &position)| {
            let first = positions[first as usize];
            (first != position && !collection.copies().is_empty_item(position))
                .then_some((first, position))
        });
        let copies: Vec<(u32, u32)> = copies.collect();
        collection.fold(copies);
        let is_first = |&item: &usize| {
            first[item] as usize == item && collection.group_of(positions[item]).is_some()
        };
        let mut distinct: Vec<usize> = (0..self.items.len()).filter(is_first).collect();
        if is_increment {
            distinct.extend_from_within(collection.old_groups() as usize..);
        }
        let fields = self.fields.iter().map(|field| field.select(&distinct)).collect();
        let items = match distinct.len() == self.items.len() && !is_increment {
            true => self.items,
            false => self.items.select(&distinct),
        };
        Ok((collection, items, fields))
    }
}
