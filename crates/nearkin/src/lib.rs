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
//! Vectors, bit strings, strings, sets and sparse vectors come as [`Items`](items::Items), with the measure they are
//! compared by.
//!
//! ```
//! use nearkin::items::{Items, StringMeasure, Strings};
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
//! With the feature `files`, which is on by default, the options are those of the command, and collections may exceed memory.
//!
#![cfg_attr(feature = "files", doc = "```")]
#![cfg_attr(not(feature = "files"), doc = "```ignore")]
//! use nearkin::files::{Goal, Options, Place, Search, SourceItems};
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
//! # What else there is
//!
//! [`index`] answers queries while it grows and shrinks. The command and the Python package do more: they link records, find
//! mirrored hosts, compare two texts passage by passage, and plan. They are built on the crate `nearkin-engine`, which you may
//! use too, but which changes with every version.

mod request;

pub use nearkin_engine::{Error, Result};
pub use request::{
    ClosestItems, EveryPair, FoundPairs, ItemList, KeptItems, OneOfEach, Pair, Request, closest,
    dedup, pairs,
};

/// Collections that are not of texts, and how their items are compared.
pub mod items {
    pub use nearkin_engine::item::{Bits, Sets, Sparse, Strings, Vectors};
    pub use nearkin_engine::search::Items;
    pub use nearkin_engine::space::{Form, SparseMeasure, StringMeasure, VectorMeasure};
    pub use nearkin_engine::verify::Measure;
}

/// What a search may be told, and what it tells.
pub mod settings {
    pub use nearkin_engine::cluster::Keep;
    pub use nearkin_engine::matches::Stats;
    pub use nearkin_engine::observe::{Observer, Stage};
    pub use nearkin_engine::settings::{Settings, Strategy};
    pub use nearkin_engine::shingle::Shingling;
}

/// Files as collections, with the options of the command.
#[cfg(feature = "files")]
pub mod files {
    pub use nearkin_engine::matches::Matches;
    pub use nearkin_engine::options::{Goal, Options};
    pub use nearkin_engine::read::Place;
    pub use nearkin_engine::search::{Search, SourceItems};
}

/// A collection that takes queries while items come and go.
pub mod index {
    pub use nearkin_engine::index::{Content, Index};
    pub use nearkin_engine::item::Id;
}
