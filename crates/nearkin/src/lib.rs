//! nearkin finds similar items in large collections: near-duplicate documents first, and also baskets, vectors, bit
//! strings, strings and records.
//!
//! Three promises hold for every search. **Every pair it reports has been compared exactly.** **The share of pairs it finds
//! is stated before the run**: a pair at just the threshold is found with the chance you ask for, 0.99 by default, and a
//! more similar one more surely; where an exact search is faster, nothing is missed. **The share is measured after the
//! run**: some items are drawn at random, all that is similar to them is found by an exact search, and the run is held
//! against it. The same input and settings give the same result at any number of threads and any limit of memory.
//!
//! # Texts
//!
//! [`pairs`], [`closest`] and [`dedup`] take what you have in memory. Texts are cut into shingles of five words and
//! compared by the Jaccard similarity of their sets of shingles, unless you say otherwise.
//!
//! ```
//! let texts = [
//!     "The ferry to the island leaves at nine and returns at five every day.",
//!     "No ferry today.",
//!     "The ferry to the island leaves at nine and returns at five every single day.",
//! ];
//! let result = nearkin::dedup(&texts).threshold(0.6).run()?;
//! assert_eq!(result.kept, [0, 1]);
//! assert_eq!(result.stands_for[2].0, 0);
//! # Ok::<(), nearkin::Error>(())
//! ```
//!
//! # Other items
//!
//! Vectors, bit strings, strings, sets and sparse vectors come as [`Items`](search::Items), with the measure they are
//! compared by.
//!
//! ```
//! use nearkin::item::Strings;
//! use nearkin::search::Items;
//! use nearkin::space::StringMeasure;
//!
//! let names: Strings = ["kitten", "mitten", "dog"].iter().collect();
//! let items = Items::Strings(names, StringMeasure::Mutation);
//! let found = nearkin::pairs(items).within(1.0).run()?;
//! assert_eq!(found.pairs.len(), 1);
//! assert_eq!((found.pairs[0].a, found.pairs[0].b, found.pairs[0].value), (0, 1, 1.0));
//! # Ok::<(), nearkin::Error>(())
//! ```
//!
//! # Files
//!
//! With the feature `files`, which is on by default, [`Options`](options::Options) say what a user of the command may say,
//! and collections may exceed memory.
//!
#![cfg_attr(feature = "files", doc = "```")]
#![cfg_attr(not(feature = "files"), doc = "```ignore")]
//! use nearkin::options::{Goal, Options};
//! use nearkin::read::Place;
//! use nearkin::search::{SourceItems, Search};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("corpus.jsonl");
//! # std::fs::write(&path, "{\"id\": 7, \"text\": \"a b c d e f\"}\n{\"id\": 9, \"text\": \"A b, c d e f!\"}\n").unwrap();
//! let options = Options { threshold: Some(0.7), memory: Some(64 << 20), ..Options::default() };
//! let settings = options.settings(Goal::Pairs)?;
//! let corpus = options.open(&[Place::from(path)], Some(&settings))?;
//! let matches = Search::new(&settings).pairs(SourceItems::new(&corpus))?;
//! let mut ids = matches.collection.ids();
//! matches.each(|a, b, similarity| {
//!     let pair = (ids.get(a)?.to_string(), ids.get(b)?.to_string(), similarity);
//!     assert_eq!(pair, ("7".to_owned(), "9".to_owned(), 1.0));
//!     Ok(())
//! })?;
//! # Ok::<(), nearkin::Error>(())
//! ```
//!
//! # Where is what
//!
//! The modules, in the order in which the data takes them; each may use those before it and none after it. `error`,
//! `observe`, `parallel` and `spill` are for all.
//!
//! [`item`], [`measure`], [`space`] → [`shingle`] → [`family`] → [`amplify`] → [`verify`] → [`candidates`] → [`join`] →
//! [`settings`] → [`plan`] → [`audit`] → [`matches`](mod@matches) → [`cluster`] → [`search`] → [`distributed`], [`index`],
//! [`passages`], [`records`] → [`read`], [`write`](mod@write) → [`hosts`], [`options`]. [`textbook`] has what no run uses and every student asks for.

pub mod amplify;
pub mod audit;
pub mod candidates;
pub mod cluster;
pub mod distributed;
pub mod error;
pub mod family;
#[cfg(feature = "hosts")]
pub mod hosts;
pub mod index;
pub mod item;
pub mod join;
pub mod matches;
pub mod measure;
pub mod observe;
pub mod options;
mod parallel;
pub mod passages;
pub mod plan;
#[cfg(feature = "files")]
pub mod read;
pub mod records;
mod request;
pub mod search;
pub mod settings;
pub mod shingle;
pub mod space;
mod spill;
pub mod textbook;
pub mod verify;
#[cfg(feature = "files")]
pub mod write;

pub use error::{Error, Result};
pub use parallel::with_threads;
pub use request::{
    ClosestItems, EveryPair, FoundPairs, ItemList, KeptItems, OneOfEach, Pair, Request, closest,
    dedup, pairs,
};
pub use spill::{LEAST_MEMORY, fair_share};
