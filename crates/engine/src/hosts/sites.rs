//! Hosts, each with its paths and the shingles of its paths.
//!
//! Mirrors may be called what they like, so the names of hosts do not count: a host is the set of the positional
//! bigrams of its paths ([`UrlShingles`]), as 64-bit hashes.

use super::{Address, SkippedRecords, each_batch};
use crate::Result;
use crate::item::{Batch, Interner, Source};
use crate::observe::Observer;
use crate::read::OnError;
use crate::shingle::UrlShingles;

/// Hosts in the order in which they first appear.
#[derive(Debug, Default)]
pub struct Hosts {
    names: Interner,
    sites: Vec<Site>,
    /// URLs that were read, copies included.
    pub urls: u64,
    /// What was left out.
    pub skipped: SkippedRecords,
}

/// What is known of a host.
#[derive(Debug, Default)]
struct Site {
    paths: DistinctHashes,
    shingles: DistinctHashes,
}

impl Hosts {
    /// Reads a collection whose texts are URLs. Empty texts are passed over.
    ///
    /// # Errors
    /// When it was stopped, when it cannot be read, and when a text is no URL of a page, unless bad records are skipped.
    pub fn read<S: Source>(
        source: &S,
        shingles: &UrlShingles,
        on_error: OnError,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut hosts = Self::default();
        let part = |batch: &mut Batch<'_>| BatchUrls::of(batch, shingles, on_error);
        each_batch(source, observer, part, |part| {
            hosts.take(part);
            Ok(())
        })?;
        for site in &mut hosts.sites {
            site.paths.sort();
            site.shingles.sort();
        }
        Ok(hosts)
    }

    fn take(&mut self, part: BatchUrls) {
        let names = part.hosts.values().iter();
        let places: Vec<usize> = names.map(|name| self.names.number(name) as usize).collect();
        self.sites.resize_with(self.names.values().len(), Site::default);
        for (host, path) in part.paths {
            self.sites[places[host as usize]].paths.push(path);
        }
        for (host, shingle) in part.shingles {
            self.sites[places[host as usize]].shingles.push(shingle);
        }
        self.urls += part.urls;
        self.skipped += part.skipped;
    }

    /// Number of hosts.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Whether there is no host.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// A host's name.
    pub fn name(&self, host: u32) -> &str {
        self.names.values().get(host as usize)
    }

    /// The host of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.find(name)
    }

    /// The hashes of a host's distinct paths, sorted: one per URL.
    pub fn paths(&self, host: u32) -> &[u64] {
        &self.sites[host as usize].paths.hashes
    }

    /// A host's shingles, sorted.
    pub fn shingles(&self, host: u32) -> &[u64] {
        &self.sites[host as usize].shingles.hashes
    }

    /// Bytes of all paths and shingles.
    pub fn bytes(&self) -> usize {
        let hashes = |site: &Site| site.paths.hashes.len() + site.shingles.hashes.len();
        8 * self.sites.iter().map(hashes).sum::<usize>()
    }
}

/// What the URLs of a batch say, hosts by their place in it.
#[derive(Default)]
struct BatchUrls {
    hosts: Interner,
    paths: Vec<(u32, u64)>,
    shingles: Vec<(u32, u64)>,
    urls: u64,
    skipped: SkippedRecords,
}

impl BatchUrls {
    fn of(batch: &mut Batch<'_>, shingles: &UrlShingles, on_error: OnError) -> Result<Self> {
        let mut part = Self::default();
        part.skipped.add(std::mem::take(&mut batch.bad));
        let mut of_path = Vec::new();
        for (index, item) in batch.items.iter().enumerate() {
            let text = batch.text(index);
            if text.trim().is_empty() {
                continue;
            }
            let address = match Address::parse(text) {
                Ok(address) => address,
                Err(problem) => {
                    part.skipped.refuse(&batch.path, item.line, problem, on_error)?;
                    continue;
                }
            };
            let host = part.hosts.number(&address.host);
            part.paths.push((host, address.path_hash()));
            shingles.shingle(&address.path, &mut of_path);
            part.shingles.extend(of_path.drain(..).map(|shingle| (host, shingle)));
            part.urls += 1;
        }
        // Sorted here, on many threads: most shingles are those of a folder, and come again.
        part.shingles.sort_unstable();
        part.shingles.dedup();
        Ok(part)
    }
}

/// Hashes, each once after [`DistinctHashes::sort`], and until then at most twice as many.
#[derive(Debug, Default)]
pub(super) struct DistinctHashes {
    pub(super) hashes: Vec<u64>,
    known: usize,
}

impl DistinctHashes {
    const FEW: usize = 64;

    pub(super) fn push(&mut self, hash: u64) {
        self.hashes.push(hash);
        if self.hashes.len() > Self::FEW.max(2 * self.known) {
            self.sort();
        }
    }

    pub(super) fn sort(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.known = self.hashes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Texts;
    use crate::observe::NoObserver;

    fn read(urls: &[&str], on_error: OnError) -> Result<Hosts> {
        Hosts::read(&Texts(urls), &UrlShingles::default(), on_error, &NoObserver)
    }

    #[test]
    fn a_host_is_the_set_of_its_shingles() {
        let urls = [
            "http://a.example/cellblock16/inmates/dilbert/personal/foo.htm",
            "https://A.example:443/cellblock16/inmates/dilbert/personal/foo.htm#end",
            "",
            "http://b.example/",
            "http://a.example/cellblock17/inmates/wally/index.html",
        ];
        let hosts = read(&urls, OnError::Stop).unwrap();
        assert_eq!((hosts.len(), hosts.urls, hosts.skipped.count), (2, 4, 0));
        assert_eq!((hosts.name(0), hosts.find("b.example")), ("a.example", Some(1)));
        assert_eq!(hosts.paths(0).len(), 2);
        // Four of the first path, and (inmates, wally, 1) of the other.
        assert_eq!(hosts.shingles(0).len(), 5);
        assert!(hosts.shingles(1).is_empty());
    }

    #[test]
    fn what_is_no_url_ends_it_or_is_counted() {
        let urls = ["http://a.example/", "nonsense", "http://a.example/b", "http://"];
        let error = read(&urls, OnError::Stop).unwrap_err().to_string();
        assert!(error.contains(":2: `nonsense`"), "{error}");
        let hosts = read(&urls, OnError::Skip).unwrap();
        assert_eq!((hosts.urls, hosts.skipped.count, hosts.skipped.first.len()), (2, 2, 2));
    }

    #[test]
    fn repeats_are_sorted_out_before_they_fill_memory() {
        let mut distinct = DistinctHashes::default();
        for hash in 0..10_000 {
            distinct.push(hash % 100);
            assert!(distinct.hashes.len() <= 200);
        }
        distinct.sort();
        assert_eq!(distinct.hashes, (0..100).collect::<Vec<_>>());
    }
}
