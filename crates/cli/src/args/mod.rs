//! The options that several commands share: each is defined once, with its help. What they mean, and what they stand
//! for when they are left out, is the library's: every struct here fills its part of an [`Options`].

mod files;
mod input;
mod outputs;
mod search;

use std::str::FromStr;

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use nearkin_engine::Error;
use nearkin_engine::options::{Keyword, Options, file_size, item_size, memory_size};
use nearkin_engine::read::{Format, Place};
use nearkin_engine::shingle::Shingling;

pub(crate) use files::{RealFiles, check_once, real_files};
pub(crate) use input::{AgainstArgs, FieldArgs, InputArgs, PlaceArgs, TableArgs};
pub(crate) use outputs::{RunArgs, TempArgs, check_folders, check_outputs, check_plot};
pub(crate) use search::{ShingleArgs, SimilarityArgs, WayArgs};

/// Arguments that fill a part of the options.
pub(crate) trait Fill {
    /// Enters what was given.
    fn fill(&self, options: &mut Options);
}

/// The options that several groups of arguments say.
pub(crate) fn options_of(groups: &[&dyn Fill]) -> Options {
    let mut options = Options::default();
    groups.iter().for_each(|group| group.fill(&mut options));
    options
}

/// A path, as the command line has it.
pub(crate) fn place_parser() -> impl TypedValueParser<Value = Place> {
    PathBufValueParser::new().map(Place::from)
}

/// The name of a format.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = [
        "jsonl", "json", "parquet", "csv", "tsv", "txt", "npy", "fvecs", "bvecs", "ivecs", "folder",
    ];
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

/// One of the words of an option.
pub(crate) fn keyword_parser<T: Keyword + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let word =
        |(_, word, help): &(T, &'static str, &'static str)| PossibleValue::new(*word).help(*help);
    PossibleValuesParser::new(T::ALL.iter().map(word))
        .try_map(|word| T::of_word(&word).ok_or_else(T::words))
}

/// A value that the library reads from a text.
pub(crate) fn parsed<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(must)
}

/// What a value must be, without the option's name, which stands before it.
fn must(error: Error) -> String {
    match error {
        Error::Parameter { must, .. } => format!("it must be {must}"),
        other => other.to_string(),
    }
}

/// A similarity, a distance or a chance. A percentage and a decimal comma are answered with the number they mean.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| {
        let (digits, unit) = text.strip_suffix('%').map_or((text, 1.0), |rest| (rest, 100.0));
        match digits.trim().replacen(',', ".", 1).parse::<f64>() {
            Ok(meant) => format!("write {}", meant / unit),
            Err(_) => "it must be a number, such as 0.8".to_owned(),
        }
    })
}

/// A seed.
pub(crate) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it must be a whole number from 0 to {}", u64::MAX))
}

/// The name of a shingling.
fn shingle(text: &str) -> Result<String, String> {
    parsed::<Shingling>(text).map(|_| text.to_owned())
}

/// A number of bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    memory_size(text).map_err(must)
}

/// How large a file of an output may be.
pub(crate) fn file_bytes(text: &str) -> Result<usize, String> {
    file_size(text).map_err(must)
}

/// How large an item may be.
pub(crate) fn item_bytes(text: &str) -> Result<usize, String> {
    item_size(text).map_err(must)
}
