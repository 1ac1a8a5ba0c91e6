//! The few items that are shown: typed in, or taken from a collection.

use super::options::{List, ShowOptions, Step};
use crate::options::{ItemKind, Keyword, Options};
use crate::{Error, Result};

/// What an item that is typed in is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    /// A text.
    Text,
    /// The elements of a set.
    Set,
    /// The components of a vector.
    Vector,
    /// The values of a signature.
    Signature,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A text.
    Text(String),
    /// The elements of a set.
    Set(Vec<String>),
    /// The components of a vector.
    Vector(Vec<f64>),
    /// The values of a signature.
    Signature(Vec<u64>),
}

/// An item that is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowItem {
    /// Its id, or the name that the user gave it.
    pub name: Option<String>,
    /// What it is.
    pub content: Content,
}

impl ItemForm {
    /// What items of a step are, of which `typed` says whether they are typed in: then sets come without being asked for.
    ///
    /// # Errors
    /// When a step does not show items of the kind asked for.
    pub fn of(step: Step, typed: bool, options: &Options, show: &ShowOptions) -> Result<Self> {
        let texts = matches!(step, Step::Shingles | Step::Identical) || !typed || show.urls;
        match (step, options.kind) {
            (Step::Sketch | Step::Near, None | Some(ItemKind::Vector)) => Ok(Self::Vector),
            (Step::Sketch | Step::Near, Some(other)) => {
                Err(Error::parameter("as", other.word(), "vector: this step is of vectors"))
            }
            (_, Some(ItemKind::Set | ItemKind::Bag)) => Ok(Self::Set),
            (_, Some(ItemKind::Text)) => Ok(Self::Text),
            (_, Some(other)) => Err(Error::parameter("as", other.word(), "text or set")),
            _ if show.signatures => Ok(Self::Signature),
            _ if options.kind() != ItemKind::Text => Ok(Self::Set), // of a long table, or a graph
            _ if texts || options.shingle.is_some() => Ok(Self::Text),
            _ => Ok(Self::Set),
        }
    }
}

impl ShowItem {
    /// An item of this form that is typed in: `a,b,d`, or with a name `S1=a,b,d`.
    ///
    /// # Errors
    /// When a component is no number.
    pub fn typed(word: &str, form: ItemForm, letters: bool) -> Result<Self> {
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters.next().is_none_or(char::is_alphabetic)
                && name.chars().count() <= 20
                && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
        };
        let (name, rest) = match word.split_once('=') {
            Some((name, rest)) if is_name(name) => (name, rest),
            _ => ("", word),
        };
        let name = (!name.is_empty()).then(|| name.to_owned());
        let content = Content::of(List::Text(rest.to_owned()), form, letters)?;
        Ok(Self { name, content })
    }
}

impl Content {
    /// What a list or a text means.
    ///
    /// # Errors
    /// When a component is no number.
    pub fn of(list: List, form: ItemForm, letters: bool) -> Result<Self> {
        Ok(match (form, list) {
            (ItemForm::Text, List::Text(text)) => Self::Text(text),
            (ItemForm::Text, List::Words(_)) => {
                return Err(Error::parameter("item", "a list", "a text")
                    .or(crate::error::Advice::set("as", "set")));
            }
            (ItemForm::Set, List::Text(text)) if letters => {
                Self::Set(text.chars().filter(|c| c.is_alphanumeric()).map(String::from).collect())
            }
            (ItemForm::Set, list) => {
                let words = list.words();
                if words.iter().any(String::is_empty) {
                    let must = "elements with a comma between each two";
                    return Err(Error::parameter("set", words.join(","), must));
                }
                Self::Set(words)
            }
            (ItemForm::Vector, list) => Self::Vector(numbers(&list, "a vector")?),
            (ItemForm::Signature, list) => {
                Self::Signature(whole_numbers(&list, "a signature: whole numbers")?)
            }
        })
    }
}

/// The words of a list as numbers.
pub(super) fn numbers(list: &List, what: &str) -> Result<Vec<f64>> {
    let number = |word: &String| word.trim_start_matches('+').replace('−', "-").parse::<f64>().ok();
    let words = list.words();
    let numbers: Option<Vec<f64>> = words.iter().map(number).collect();
    let wrong = |must: String| Error::parameter("item", words.join(","), must);
    match numbers {
        Some(numbers) if numbers.is_empty() => Err(wrong(format!("{what} with a component"))),
        Some(numbers) if numbers.iter().all(|number| number.is_finite()) => Ok(numbers),
        _ => Err(wrong(format!("{what}: numbers with commas between them, such as 3,4,5"))),
    }
}

/// The words of a list as whole numbers.
pub(super) fn whole_numbers(list: &List, what: &str) -> Result<Vec<u64>> {
    let words = list.words();
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    numbers.ok_or_else(|| {
        Error::parameter("item", words.join(","), format!("{what} with commas between them"))
    })
}

/// The names of items: their own, or a letter and their number.
pub(super) fn names(items: &[ShowItem], letter: &str) -> Vec<String> {
    let name = |(at, item): (usize, &ShowItem)| {
        item.name.clone().unwrap_or_else(|| format!("{letter}{}", at + 1))
    };
    items.iter().enumerate().map(name).collect()
}

/// An error unless there are at least so many items.
pub(super) fn at_least(items: &[ShowItem], least: usize) -> Result<()> {
    if items.len() >= least {
        return Ok(());
    }
    let must = match least {
        1 => "at least 1: type one, or name a collection",
        _ => "at least 2: a pair has two",
    };
    Err(Error::parameter("number of items", items.len(), must))
}

#[cfg(feature = "files")]
mod collection {
    use super::*;
    use crate::item::{Id, Source};
    use crate::read::{Place, load_vectors};
    use crate::shingle::elements;

    impl ShowItem {
        /// Items of a collection: those with these ids in the order of the ids, or the first `most` if none is named.
        ///
        /// # Errors
        /// When an input cannot be read, or has no item of an id.
        pub fn read(
            options: &Options,
            form: ItemForm,
            places: &[Place],
            ids: &[String],
            most: usize,
        ) -> Result<Vec<Self>> {
            let mut found: Vec<Option<Self>> = vec![None; ids.len()];
            let mut first = Vec::new();
            let mut take = |id: String, content: &dyn Fn() -> Content| {
                let item = || Self { name: Some(id.clone()), content: content() };
                if ids.is_empty() {
                    first.push(item());
                    return first.len() >= most;
                }
                for (found, _) in found.iter_mut().zip(ids).filter(|(_, wanted)| **wanted == id) {
                    found.get_or_insert_with(item);
                }
                found.iter().all(Option::is_some)
            };
            match form {
                ItemForm::Vector => each_vector(options, places, &mut take)?,
                _ => each_text(options, form, places, &mut take)?,
            }
            if ids.is_empty() {
                return Ok(first);
            }
            let item = |(item, id): (Option<Self>, &String)| {
                item.ok_or_else(|| {
                    let problem = format!(
                        "no item has the id `{id}`; ids are those that `nearkin pairs` prints"
                    );
                    Error::file(places[0].name(), problem)
                })
            };
            found.into_iter().zip(ids).map(item).collect()
        }
    }

    /// Takes an item, and says whether that was the last that is wanted.
    type Take<'a> = &'a mut dyn FnMut(String, &dyn Fn() -> Content) -> bool;

    fn each_text(
        options: &Options,
        form: ItemForm,
        places: &[Place],
        take: Take<'_>,
    ) -> Result<()> {
        let input = options.open(places, None)?;
        let mut position = 0;
        for chunk in input.scan(&|_| false) {
            let chunk = chunk?;
            let batch = input.decode(&chunk, &|_| true)?;
            for (at, item) in batch.items.iter().enumerate() {
                let here = position + u64::from(item.ordinal);
                let id = item.id.as_ref().map_or_else(|| here.to_string(), Id::to_string);
                let text = batch.text(at);
                let content = || match form {
                    ItemForm::Set => {
                        let mut set = Vec::new();
                        elements::each_element(text, |element, _| set.push(element.to_owned()));
                        Content::Set(set)
                    }
                    _ => Content::Text(text.to_owned()),
                };
                if take(id, &content) {
                    return Ok(());
                }
            }
            position += u64::from(batch.records);
        }
        Ok(())
    }

    fn each_vector(options: &Options, places: &[Place], take: Take<'_>) -> Result<()> {
        let options = Options { kind: Some(ItemKind::Vector), ..options.clone() };
        let loaded = load_vectors(places, &options.read_options())?;
        let (vectors, names) = (loaded.items, loaded.names.into_item_names());
        for at in 0..vectors.len() {
            let position = names.positions.as_ref().map_or(at, |positions| positions[at] as usize);
            let id = names.ids.as_ref().map(|ids| ids[at].to_string());
            let components = || vectors.get(at).iter().map(|&x| f64::from(x)).collect();
            let content = || Content::Vector(components());
            if take(id.unwrap_or_else(|| position.to_string()), &content) {
                return Ok(());
            }
        }
        Ok(())
    }
}
