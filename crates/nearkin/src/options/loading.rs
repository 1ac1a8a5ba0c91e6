//! Whole collections into memory: vectors, bit strings, strings, answers, sets, tf-idf vectors.

use super::{ItemKind, Options, Query};
use crate::item::{Bits, Id, Sets, Strings, Vectors};
use crate::near::Items;
use crate::read::{
    Names, Place, ReadOptions, load_answers, load_bits, load_directions, load_sets, load_strings,
    load_vectors,
};
use crate::shingle::{Repeats, Shingling, Vocabulary};
use crate::space::{SparseSpace, StringSpace};
use crate::{Error, Result};

use super::{Goal, MeasureName};

/// One or two collections in memory, with what their items are called.
#[derive(Debug)]
pub struct InMemoryItems {
    /// The items, those of the second collection behind those of the first.
    pub items: Items,
    names: Vec<Names>,
}

impl InMemoryItems {
    /// Where the second collection begins.
    pub fn split(&self) -> Option<u32> {
        (self.names.len() > 1).then(|| self.names[0].len() as u32)
    }

    /// The id of an item, counted over both collections.
    pub fn id(&self, item: u32) -> Id {
        match self.split().filter(|&split| item >= split) {
            Some(split) => self.names[1].id((item - split) as usize),
            None => self.names[0].id(item as usize),
        }
    }

    /// Whether the ids of the items on the left and on the right of pairs are whole numbers.
    pub fn ids_are_numbers(&self) -> [bool; 2] {
        [0, self.names.len() - 1].map(|side| self.names[side].ids_are_numbers())
    }

    /// What was wrong with the records that were left out.
    pub fn skipped(&self) -> impl Iterator<Item = &Error> {
        self.names.iter().flat_map(|names| &names.skipped)
    }

    /// Bytes that the items take, as far as they are known.
    pub fn bytes(&self) -> usize {
        match &self.items {
            Items::Vectors(vectors, _) => 4 * vectors.values().len(),
            Items::Bits(bits, ..) => 8 * bits.len() * bits.words_each(),
            Items::Sets(sets, ..) => 8 * sets.elements(),
            Items::Strings(_) | Items::Sparse(_) => 0,
        }
    }
}

impl Options {
    /// Reads one or two collections into memory.
    ///
    /// # Errors
    /// When an input cannot be read or an item cannot be used.
    pub fn load(
        &self,
        inputs: &[Place],
        against: &[Place],
        query: &Query,
    ) -> Result<InMemoryItems> {
        let options = self.read_options();
        let mut sides = vec![inputs];
        sides.extend((!against.is_empty()).then_some(against));
        match self.kind() {
            ItemKind::Vector => vectors(&sides, &options, query),
            ItemKind::Bits => self.bits(&sides, &options, query),
            ItemKind::Answers => self.answers(&sides, &options, query),
            ItemKind::String => {
                let (texts, names) = texts(&sides, &options)?;
                let mut strings = Strings::default();
                texts.iter().for_each(|text| strings.push(text));
                let items = Items::Strings(StringSpace::new(strings, query.strings()));
                Ok(InMemoryItems { items, names })
            }
            ItemKind::Text | ItemKind::Set | ItemKind::Bag => {
                if query.measure.is_jaccard_or_bag() {
                    self.sets(&sides, query)
                } else {
                    self.tf_idf(&sides, &options, query)
                }
            }
        }
    }

    fn bits(
        &self,
        sides: &[&[Place]],
        options: &ReadOptions,
        query: &Query,
    ) -> Result<InMemoryItems> {
        let digits = self.digits.unwrap_or_default();
        let loaded = sides.iter().map(|paths| load_bits(paths, options, digits));
        let (bits, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
        let lengths: Vec<usize> = bits.iter().map(Bits::length).collect();
        same_length(&names, &lengths, "bits")?;
        let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
        Ok(InMemoryItems { items: Items::Bits(all, query.form, 1.0), names })
    }

    fn answers(
        &self,
        sides: &[&[Place]],
        options: &ReadOptions,
        query: &Query,
    ) -> Result<InMemoryItems> {
        let first = load_answers(sides[0], options, self.questions.as_deref())?;
        let mut both = vec![first.records];
        for paths in &sides[1..] {
            // The same questions in the same places.
            both.push(load_answers(paths, options, Some(&first.questions))?.records);
        }
        let (bits, names): (Vec<Bits>, Vec<Names>) =
            both.into_iter().map(|named| (named.items, named.names)).unzip();
        let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
        // Two bits an answer, so that a gap is half way between yes and no.
        Ok(InMemoryItems { items: Items::Bits(all, query.form, 2.0), names })
    }

    /// Texts, sets and bags as sets of elements.
    fn sets(&self, sides: &[&[Place]], query: &Query) -> Result<InMemoryItems> {
        // How they are found is no affair of how they are read.
        let plain = Self { probes: None, ..self.clone() };
        let settings = plain.settings(Goal::Pairs)?;
        let on_error = self.on_error.unwrap_or_default();
        let read = |paths: &&[Place]| {
            let source = self.open(paths, None)?;
            let repeats = settings.measure.counts_repeats();
            let named = load_sets(&source, &settings.shingling, repeats, on_error)?;
            Ok((named.items, named.names))
        };
        let (sets, names) = apart(sides.iter().map(read))?;
        let all = joined(sets, Sets::is_empty, |all, more| Ok(all.followed_by(more)))?;
        Ok(InMemoryItems { items: Items::Sets(all, settings.measure, query.form), names })
    }

    fn tf_idf(
        &self,
        sides: &[&[Place]],
        options: &ReadOptions,
        query: &Query,
    ) -> Result<InMemoryItems> {
        let (texts, names) = texts(sides, options)?;
        let shingling = match &self.shingle {
            Some(_) => self.text_shingling()?,
            None => Shingling::words(1),
        };
        let vectors = Vocabulary::new(&texts, shingling).vectors(&texts, Repeats::Raw)?;
        let items = Items::Sparse(SparseSpace::new(vectors, query.sparse()));
        Ok(InMemoryItems { items, names })
    }
}

fn vectors(sides: &[&[Place]], options: &ReadOptions, query: &Query) -> Result<InMemoryItems> {
    let by_angle = query.measure == MeasureName::Cosine;
    let read = if by_angle { load_directions } else { load_vectors };
    let loaded = sides.iter().map(|paths| read(paths, options));
    let (vectors, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    let lengths: Vec<usize> = vectors.iter().map(Vectors::dimension).collect();
    same_length(&names, &lengths, "components")?;
    let all = joined(vectors, Vectors::is_empty, Vectors::followed_by)?;
    Ok(InMemoryItems { items: Items::Vectors(all, query.vectors()), names })
}

/// The items and the names of each side.
fn apart<T>(loaded: impl Iterator<Item = Result<(T, Names)>>) -> Result<(Vec<T>, Vec<Names>)> {
    loaded.collect::<Result<Vec<_>>>().map(|sides| sides.into_iter().unzip())
}

fn texts(sides: &[&[Place]], options: &ReadOptions) -> Result<(Vec<String>, Vec<Names>)> {
    let loaded = sides.iter().map(|paths| load_strings(paths, options));
    let (texts, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    Ok((texts.concat(), names))
}

/// One collection of one or two, of which one may be empty.
fn joined<T: Default>(
    sides: Vec<T>,
    is_empty: impl Fn(&T) -> bool,
    join: impl Fn(T, &T) -> Result<T>,
) -> Result<T> {
    let mut sides = sides.into_iter().filter(|side| !is_empty(side));
    let Some(first) = sides.next() else { return Ok(T::default()) };
    sides.try_fold(first, |all, more| join(all, &more))
}

/// An error about the first item of the second collection, if those of the first are longer or shorter.
fn same_length(names: &[Names], lengths: &[usize], what: &str) -> Result<()> {
    match (names, lengths) {
        ([first, second], [a, b]) if a != b && !first.is_empty() && !second.is_empty() => {
            let what =
                format!("{b} {what}, those of INPUT have {a}; both sides must be equally long");
            Err(second.error(0, what))
        }
        _ => Ok(()),
    }
}
