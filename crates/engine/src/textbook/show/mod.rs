//! What an item becomes, step by step, for a few items: every table that a course on the subject draws.
//!
//! Items and options come in, tables go out as values: [`Shown`]. They hold what the definitions of this folder's
//! neighbours give, or the engine itself where it is asked for, and never a second copy of either. The command prints them
//! (`nearkin show`), Python hands them on (`nk.show`).
//!
//! | step | what is shown | in *Mining of Massive Datasets* |
//! |---|---|---|
//! | [`Step::Shingles`] | the texts of shingles, who has them, their hashes | 3.2 |
//! | [`Step::Matrix`] | the characteristic matrix | 3.3.1 |
//! | [`Step::Signatures`] | permutations, functions row by row, truncated scans, groups, the engine's sketch | 3.3.2 to 3.3.7 |
//! | [`Step::Estimate`] | similarity of columns beside that of signatures | 3.3.4 |
//! | [`Step::Buckets`] | bands, keys, who meets whom | 3.4.1 |
//! | [`Step::Sketch`] | signs under hyperplanes, buckets on lines | 3.7 |
//! | [`Step::Prefix`] | strings, sizes, prefixes, positions, the pyramid, what each filter lets through | 3.9 |
//! | [`Step::Family`] | how far functions are from min-wise | (Broder and others 2000) |
//! | [`Step::Perfect`] | a perfect hash of a few keys | (Fredman and others 1984) |
//! | [`Step::Near`] | the (c, r) near-neighbour index and what queries find | (Indyk and Motwani 1998) |
//! | [`Step::Identical`] | copies by a first look | 3.9.1 |

mod buckets;
mod estimate;
mod family;
mod identical;
mod items;
mod matrix;
mod near;
mod options;
mod perfect;
mod prefix;
mod shingles;
mod signatures;
mod signer;
mod sketch;
mod table;

pub use items::{Content, ItemForm, ShowItem};
pub use options::{List, ShowOptions, Step};
pub use table::{Cell, Shown, ShownTable};

use crate::Result;
use crate::options::Options;
use crate::shingle::Shingling;

/// A step for some items.
#[derive(Debug, Clone, Copy)]
pub struct ShowRequest<'a> {
    /// What is shown.
    pub step: Step,
    /// The items.
    pub items: &'a [ShowItem],
    /// What a search would be asked for: shingles, bands, rows, threshold, seed.
    pub options: &'a Options,
    /// What only this step is asked for.
    pub show: &'a ShowOptions,
}

impl ShowRequest<'_> {
    /// The tables.
    ///
    /// # Errors
    /// When items or options do not go with the step: an element that is in no set, an order that is no permutation, a modulus
    /// that is too small, vectors of several dimensions.
    pub fn show(&self) -> Result<Shown> {
        match self.step {
            Step::Shingles => self.shingles(),
            Step::Matrix => self.matrix(),
            Step::Signatures => self.signatures(),
            Step::Estimate => self.estimate(),
            Step::Buckets => self.buckets(),
            Step::Sketch => self.sketch(),
            Step::Prefix => self.prefix(),
            Step::Family => self.family(),
            Step::Perfect => self.perfect(),
            Step::Near => self.near(),
            Step::Identical => self.identical(),
        }
    }

    /// How these items are cut.
    fn shingling(&self) -> Result<Shingling> {
        let are_texts = self.items.iter().any(|item| matches!(item.content, Content::Text(_)));
        if are_texts && !self.show.urls {
            return self.options.text_shingling();
        }
        self.options.check_no_shingles()?;
        let bits = self.options.hash_bits.unwrap_or_default();
        Ok(Shingling { bits, ..Shingling::elements() }.with_seed(self.options.seed_or_default()))
    }
}
