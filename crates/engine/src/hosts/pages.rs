//! The thorough check: are the pages at the same paths of two hosts the same?
//!
//! Pages come with their URLs. Of each pair of hosts, those at paths that both have are compared by the resemblance of
//! their texts, up to a number of them: the ones whose paths have the smallest hashes, which is a random choice that comes
//! out the same every time. The collection is read twice, so that only the texts that are compared are held.

use std::collections::{HashMap, HashSet};

use super::sites::DistinctHashes;
use super::{Address, Hosts, Mirror, SkippedRecords, each_batch};
use crate::Result;
use crate::item::{Batch, Id, Source};
use crate::measure::jaccard;
use crate::observe::Observer;
use crate::read::OnError;
use crate::shingle::Shingling;

/// How pages are compared.
#[derive(Debug, Clone)]
pub struct Check {
    /// What their texts are cut into.
    pub shingling: Shingling,
    /// The resemblance from which two are near the same.
    pub alike: f64,
    /// How many of each pair of hosts are compared at most.
    pub most: usize,
    /// What to do with a page that cannot be used.
    pub on_error: OnError,
}

/// What was found of a pair of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageComparison {
    /// Pages that were compared: those with words, at paths that both hosts have.
    pub compared: usize,
    /// Those with the same shingles.
    pub same: usize,
    /// Those that are near the same, the same included.
    pub alike: usize,
}

/// What pages say of two hosts, after the levels of Bharat and Broder, "Mirror, mirror on the Web: a study of host pairs
/// with replicated content" (1999).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every page compared is the same.
    Identical,
    /// Nine of ten are near the same, or more.
    Similar,
    /// Half of them are, or more.
    Partial,
    /// Fewer are: the hosts look alike by their URLs only.
    Different,
    /// Fewer than three pages could be compared.
    Unchecked,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Self; 5] =
        [Self::Identical, Self::Similar, Self::Partial, Self::Different, Self::Unchecked];

    /// Its name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Similar => "similar",
            Self::Partial => "partial",
            Self::Different => "different",
            Self::Unchecked => "unchecked",
        }
    }
}

impl PageComparison {
    /// Pages that must be compared before they say anything.
    const FEW: usize = 3;

    /// What they say.
    pub fn verdict(self) -> Verdict {
        match self {
            _ if self.compared < Self::FEW => Verdict::Unchecked,
            _ if self.same == self.compared => Verdict::Identical,
            _ if 10 * self.alike >= 9 * self.compared => Verdict::Similar,
            _ if 2 * self.alike >= self.compared => Verdict::Partial,
            _ => Verdict::Different,
        }
    }
}

/// A page: its host and the hash of its path.
type PageKey = (u32, u64);

impl Hosts {
    /// Compares the pages of each pair. The ids of the collection are URLs, its texts those of the pages; where a URL
    /// comes again, the first counts.
    ///
    /// # Errors
    /// When it was stopped, when it cannot be read, and when an id is no URL of a page, unless bad records are skipped.
    pub fn check<S: Source>(
        &self,
        pairs: &[Mirror],
        pages: &S,
        check: &Check,
        observer: &dyn Observer,
    ) -> Result<(Vec<PageComparison>, SkippedRecords)> {
        let suspects: HashSet<u32> = pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
        let place = |address: &Address| {
            let host = self.find(&address.host).filter(|host| suspects.contains(host))?;
            Some((host, address.path_hash()))
        };
        let mut paths: HashMap<u32, DistinctHashes> = HashMap::new();
        let mut skipped = SkippedRecords::default();
        let find = |batch: &mut Batch<'_>| {
            let mut keys = Vec::new();
            let skipped = each_page(batch, check.on_error, |address, text| {
                keys.extend(place(address).filter(|_| !text.trim().is_empty()));
            })?;
            Ok((keys, skipped))
        };
        each_batch(pages, observer, find, |(keys, more)| {
            keys.iter().for_each(|&(host, path)| paths.entry(host).or_default().push(path));
            skipped += more;
            Ok(())
        })?;
        paths.values_mut().for_each(DistinctHashes::sort);
        let chosen: Vec<Vec<u64>> =
            pairs.iter().map(|pair| in_both(&paths, pair, check.most)).collect();
        let keys = pairs.iter().zip(&chosen);
        let wanted: HashSet<PageKey> = keys
            .flat_map(|(pair, paths)| {
                paths.iter().flat_map(|&path| [(pair.a, path), (pair.b, path)])
            })
            .collect();
        let texts = shingled(
            pages,
            check,
            &|address| place(address).filter(|key| wanted.contains(key)),
            observer,
        )?;
        let checked = pairs
            .iter()
            .zip(&chosen)
            .map(|(pair, paths)| compare(&texts, pair, paths, check.alike));
        Ok((checked.collect(), skipped))
    }
}

/// The shingles of the pages to which `key` gives a key, by that key.
pub(super) fn shingled<S: Source, K: Eq + std::hash::Hash + Send>(
    pages: &S,
    check: &Check,
    key: &(dyn Fn(&Address) -> Option<K> + Sync),
    observer: &dyn Observer,
) -> Result<HashMap<K, Vec<u64>>> {
    let mut texts = HashMap::new();
    let cut = |batch: &mut Batch<'_>| {
        let mut cut = Vec::new();
        each_page(batch, check.on_error, |address, text| {
            cut.extend(key(address).map(|key| (key, check.shingling.set(text))));
        })?;
        Ok(cut)
    };
    each_batch(pages, observer, cut, |cut| {
        for (key, set) in cut {
            texts.entry(key).or_insert(set);
        }
        Ok(())
    })?;
    Ok(texts)
}

/// Calls `each` with the address and the text of every page; returns what was skipped.
pub(super) fn each_page(
    batch: &mut Batch<'_>,
    on_error: OnError,
    mut each: impl FnMut(&Address, &str),
) -> Result<SkippedRecords> {
    let mut skipped = SkippedRecords::default();
    skipped.add(std::mem::take(&mut batch.bad));
    for (index, item) in batch.items.iter().enumerate() {
        let url = item.id.as_ref().map(Id::to_string).unwrap_or_default();
        match Address::parse(&url) {
            Ok(address) => each(&address, batch.text(index)),
            Err(problem) => skipped.refuse(&batch.path, item.line, problem, on_error)?,
        }
    }
    Ok(skipped)
}

/// The first paths that both hosts have.
fn in_both(paths: &HashMap<u32, DistinctHashes>, pair: &Mirror, most: usize) -> Vec<u64> {
    let [Some(a), Some(b)] = [pair.a, pair.b].map(|host| paths.get(&host)) else {
        return Vec::new();
    };
    let both = a.hashes.iter().filter(|path| b.hashes.binary_search(path).is_ok());
    both.take(most).copied().collect()
}

fn compare(
    texts: &HashMap<PageKey, Vec<u64>>,
    pair: &Mirror,
    paths: &[u64],
    alike: f64,
) -> PageComparison {
    let mut checked = PageComparison::default();
    for &path in paths {
        let [Some(a), Some(b)] = [pair.a, pair.b].map(|host| texts.get(&(host, path))) else {
            continue;
        };
        if a.is_empty() || b.is_empty() {
            continue; // no words: similar to nothing
        }
        checked.compared += 1;
        checked.same += usize::from(a == b);
        checked.alike += usize::from(jaccard::similarity(a, b) >= alike);
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_shares() {
        for (compared, same, alike, verdict) in [
            (0, 0, 0, Verdict::Unchecked),
            (2, 2, 2, Verdict::Unchecked),
            (3, 3, 3, Verdict::Identical),
            (20, 19, 20, Verdict::Similar),
            (20, 0, 18, Verdict::Similar),
            (20, 17, 17, Verdict::Partial),
            (20, 0, 10, Verdict::Partial),
            (20, 9, 9, Verdict::Different),
        ] {
            assert_eq!(
                PageComparison { compared, same, alike }.verdict(),
                verdict,
                "{alike} of {compared}"
            );
        }
    }
}
