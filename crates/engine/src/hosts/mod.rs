//! Hosts that mirror one another: from their URLs alone, then by their pages, then by what their pages link to.
//!
//! | file | answers |
//! |---|---|
//! | [`address`] | which host and which path does this URL name? |
//! | [`sites`] | which shingles do the URLs of each host have? |
//! | [`mirrors`] | which hosts have enough of them in common? |
//! | [`pages`] | are the pages at the same paths of two such hosts the same? |
//! | [`graph`] | which pages link to which? |
//! | [`contract`] | which of them are one page, by what they say and what they link to? |
//!
//! A list of URLs is all that a crawler has before it fetches a page, and often enough to tell that the page is
//! known already; texts and links come later and say more. That order, and the contraction of links, are those of a
//! course on similarity search; see also Bharat, Broder, Dean and Henzinger, "A comparison of techniques to find
//! mirrored hosts on the WWW" (2000).
//!
//! All is held in memory: eight bytes for each URL and for each shingle of a host.

pub mod address;
pub mod contract;
pub mod graph;
pub mod mirrors;
pub mod pages;
pub mod sites;

pub use address::Address;
pub use contract::{Contraction, Fold, Rule};
pub use graph::Graph;
pub use mirrors::{Mirror, MirrorSearch, Mirrors};
pub use pages::{Check, PageComparison, Verdict};
pub use sites::Hosts;

use std::ops::AddAssign;
use std::path::Path;

use crate::error::{Error, Problem, Result};
use crate::item::{Batch, Source};
use crate::observe::Observer;
use crate::parallel::in_order;
use crate::read::OnError;

/// Records that were left out because something was wrong with them.
#[derive(Debug, Default)]
pub struct SkippedRecords {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Error>,
}

/// Messages of skipped records that are kept.
const KEPT: usize = 10;

impl SkippedRecords {
    /// Counts a record that cannot be used, or ends the run with it.
    fn refuse(
        &mut self,
        path: &Path,
        line: u64,
        problem: Problem,
        on_error: OnError,
    ) -> Result<()> {
        let error = Error::input(path, line, problem);
        match on_error {
            OnError::Stop => Err(error),
            OnError::Skip => {
                self.add([error]);
                Ok(())
            }
        }
    }

    /// Counts those as well.
    pub fn add(&mut self, errors: impl IntoIterator<Item = Error>) {
        for error in errors {
            self.count += 1;
            if self.first.len() < KEPT {
                self.first.push(error);
            }
        }
    }
}

impl AddAssign for SkippedRecords {
    fn add_assign(&mut self, other: Self) {
        let kept = other.first.len() as u64;
        self.add(other.first);
        self.count += other.count - kept;
    }
}

/// Goes through a collection: `work` on many threads with each batch, `take` with the results in order.
fn each_batch<S: Source, R: Send>(
    source: &S,
    observer: &dyn Observer,
    work: impl Fn(&mut Batch<'_>) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let read = |chunk: S::Chunk| {
        let (number, bytes) = source.place(&chunk);
        let mut batch = source.decode(&chunk, &|_| true)?;
        let before = source.lines_before(number)?;
        batch.items.iter_mut().for_each(|item| item.line += before);
        Ok((bytes, work(&mut batch)?))
    };
    in_order(rayon::current_num_threads(), source.scan(&|_| false), read, |(bytes, result)| {
        observer.advance(bytes);
        if observer.stopped() { Err(Error::Interrupted) } else { take(result) }
    })
}
