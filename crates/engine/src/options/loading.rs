//! Whole collections into memory: vectors, bit strings, strings, answers, sets, tf-idf vectors.

use super::{Goal, ItemKind, MeasureName, Options, Query};
use crate::amplify::Expression;
use crate::cluster::Keep;
use crate::family::MinHashes;
use crate::item::{Bits, Sets, Strings, Vectors};
use crate::read::{
    Names, Place, ReadOptions, load_answers, load_bits, load_directions, load_points, load_sets,
    load_strings, load_vectors,
};
use crate::search::{ItemNames, Items, MemoryItems};
use crate::shingle::{Grid, Repeats, Shingling, Vocabulary};
use crate::verify::Measure;
use crate::{Error, Result};

/// One collection, and how it is read.
struct Side<'a> {
    places: &'a [Place],
    options: ReadOptions,
    /// Whether it is the one that INPUT is compared with or grows.
    is_other: bool,
}

/// One or two collections.
type Sides<'a> = [Side<'a>];

/// The items of all sides, and what those of each are called.
type SideItems = (Items, Vec<ItemNames>);

impl Options {
    /// Reads one or two collections into memory. Where the field of `keep` decides what is kept, it is read too.
    ///
    /// # Errors
    /// When an input cannot be read, an item cannot be used, or the items take more memory than may be used.
    pub fn load(&self, goal: Goal, inputs: &[Place], against: &[Place]) -> Result<MemoryItems> {
        let query = self.query(goal)?;
        let own = ReadOptions { values: self.value_fields(), ..self.read_options() };
        let compared = self.and_or.as_ref().map(Expression::fields).unwrap_or_default();
        let mut sides = vec![Side { places: inputs, options: own, is_other: false }];
        let options = ReadOptions { values: compared.clone(), ..self.against_options() };
        let other = Side { places: against, options, is_other: true };
        sides.extend((!against.is_empty()).then_some(other));
        if goal == Goal::Groups {
            sides.reverse(); // the collection that INPUT grows comes first
        }
        let (items, names) = match (self.kind(), &self.grid) {
            (_, Some(grid)) => points(&sides, &query, grid)?,
            (ItemKind::Vector, _) => vectors(&sides, &query)?,
            (ItemKind::Bits, _) => self.bits(&sides, &query)?,
            (ItemKind::Answers, _) => self.answers(&sides, &query)?,
            (ItemKind::String, _) => {
                let (texts, names) = texts(&sides)?;
                let mut strings = Strings::default();
                texts.iter().for_each(|text| strings.push(text));
                (Items::Strings(strings, query.strings()), names)
            }
            _ if query.measure.is_jaccard_or_bag() => self.sets(&sides, &query)?,
            _ => self.tf_idf(&sides, &query)?,
        };
        let items = match (items, self.estimate) {
            (Items::Sets(sets, ..), Some(functions)) => {
                let minhashes = MinHashes::new(&sets, self.seed_or_default());
                Items::Signatures(minhashes.signatures(functions)?)
            }
            (items, _) => items,
        };
        self.check_fits(items.bytes())?;
        MemoryItems::named(items, names)?.with_fields(&compared)
    }

    fn bits(&self, sides: &Sides<'_>, query: &Query) -> Result<SideItems> {
        let digits = self.digits.unwrap_or_default();
        let loaded = sides.iter().map(|side| load_bits(side.places, &side.options, digits));
        let (bits, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
        let lengths: Vec<usize> = bits.iter().map(Bits::length).collect();
        same_length(&names, &lengths, "bits")?;
        let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
        Ok((Items::Bits(all, query.form, 1.0), item_names(names)))
    }

    fn answers(&self, sides: &Sides<'_>, query: &Query) -> Result<SideItems> {
        let [first, others @ ..] = sides else { return Err(Error::missing("INPUT", "a file")) };
        let first = load_answers(first.places, &first.options, self.questions.as_deref())?;
        let mut both = vec![first.records];
        for side in others {
            // The same questions in the same places.
            let loaded = load_answers(side.places, &side.options, Some(&first.questions))?;
            both.push(loaded.records);
        }
        let (bits, names): (Vec<Bits>, Vec<Names>) =
            both.into_iter().map(|named| (named.items, named.names)).unzip();
        let all = joined(bits, Bits::is_empty, Bits::followed_by)?;
        // Two bits per answer, so that a gap is half way between yes and no.
        Ok((Items::Bits(all, query.form, 2.0), item_names(names)))
    }

    /// Texts, sets and bags as sets of elements.
    fn sets(&self, sides: &Sides<'_>, query: &Query) -> Result<SideItems> {
        // How they are found is no affair of how they are read.
        let plain = Self { probes: None, and_or: None, estimate: None, ..self.clone() };
        let settings = plain.set_settings(Goal::Pairs)?;
        let on_error = self.on_error.unwrap_or_default();
        let read = |side: &Side<'_>| {
            let source = match side.is_other {
                true => self.open_against(side.places, None),
                false => self.open(side.places, None),
            }?;
            let repeats = settings.measure.counts_repeats();
            let named = load_sets(&source, &settings.shingling, repeats, on_error)?;
            Ok((named.items, named.names))
        };
        let (sets, names) = apart(sides.iter().map(read))?;
        let all = joined(sets, Sets::is_empty, |all, more| Ok(all.followed_by(more)))?;
        Ok((Items::Sets(all, settings.measure, query.form), item_names(names)))
    }

    fn tf_idf(&self, sides: &Sides<'_>, query: &Query) -> Result<SideItems> {
        let (texts, mut names) = texts(sides)?;
        if self.keep.as_ref().is_some_and(Keep::counts_lengths) {
            let mut lengths = texts.iter().map(|text| text.chars().count() as u32);
            for names in &mut names {
                names.lengths = Some(lengths.by_ref().take(names.items()).collect());
            }
        }
        let shingling = match &self.shingle {
            Some(_) => self.text_shingling()?,
            None => Shingling::words(1).with_seed(self.seed_or_default()),
        };
        let vectors = Vocabulary::new(&texts, shingling).vectors_or_wholes(&texts, Repeats::Raw)?;
        Ok((Items::Sparse(vectors, query.sparse()), names))
    }
}

fn vectors(sides: &Sides<'_>, query: &Query) -> Result<SideItems> {
    let by_angle = query.measure == MeasureName::Cosine;
    let read = if by_angle { load_directions } else { load_vectors };
    let loaded = sides.iter().map(|side| read(side.places, &side.options));
    let (vectors, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    let lengths: Vec<usize> = vectors.iter().map(Vectors::dimension).collect();
    same_length(&names, &lengths, "components")?;
    let all = joined(vectors, Vectors::is_empty, Vectors::followed_by)?;
    Ok((Items::Vectors(all, query.vectors()), item_names(names)))
}

/// Points as the sets of the squares that they are in.
fn points(sides: &Sides<'_>, query: &Query, grid: &Grid) -> Result<SideItems> {
    let loaded = sides.iter().map(|side| load_points(side.places, &side.options, grid));
    let (sets, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    let all = joined(sets, Sets::is_empty, |all, more| Ok(all.followed_by(more)))?;
    Ok((Items::Sets(all, Measure::Jaccard, query.form), item_names(names)))
}

fn item_names(names: Vec<Names>) -> Vec<ItemNames> {
    names.into_iter().map(Names::into_item_names).collect()
}

/// The items and the names of each side.
fn apart<T>(loaded: impl Iterator<Item = Result<(T, Names)>>) -> Result<(Vec<T>, Vec<Names>)> {
    loaded.collect::<Result<Vec<_>>>().map(|sides| sides.into_iter().unzip())
}

fn texts(sides: &Sides<'_>) -> Result<(Vec<String>, Vec<ItemNames>)> {
    let loaded = sides.iter().map(|side| load_strings(side.places, &side.options));
    let (texts, names) = apart(loaded.map(|named| named.map(|it| (it.items, it.names))))?;
    Ok((texts.concat(), item_names(names)))
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
                format!("{b} {what}, those of the other side have {a}; both must be equally long");
            Err::<(), Error>(second.error(0, what))
        }
        _ => Ok(()),
    }
}
