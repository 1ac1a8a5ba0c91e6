//! Hosts whose URLs look alike: every pair of them, by the exact join of sets.
//!
//! A list knows a part of each host only. Two hosts with the same pages, of which it knows a random share f each, have
//! f² of the pages in common there and 2f − f² in either, so their similarity is f / (2 − f): a third where it knows
//! one half. That is the usual threshold. A host with few URLs resembles another by accident, such as all those that
//! have nothing but `/article/12` and `/article/13`; two with twenty shingles or more share at least ten where they reach a
//! third.

use std::sync::{Mutex, PoisonError};

use nearkin_kernels::shared;

use super::Hosts;
use crate::Result;
use crate::join::sets::{Filters, SetJoin, SetPair, pairs};
use crate::verify::{Limit, Measure, Verifier};

/// Which pairs of hosts are mirrors.
#[derive(Clone, Copy)]
pub struct MirrorSearch<'a> {
    /// The Jaccard similarity that two hosts must reach.
    pub threshold: f64,
    /// Hosts with fewer URLs are not judged.
    pub least_urls: usize,
    /// Nor those with fewer shingles.
    pub least_shingles: usize,
    /// Whether to give up.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Two hosts that may be mirrors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mirror {
    /// The one that appears first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// The Jaccard similarity of their shingles.
    pub similarity: f64,
    /// Paths that both have, to the letter.
    pub shared_paths: usize,
}

/// What was found.
#[derive(Debug)]
pub struct Mirrors {
    /// The pairs, in the order of the hosts.
    pub pairs: Vec<Mirror>,
    /// Hosts that had enough to be judged.
    pub judged: usize,
    /// Pairs of them whose shingles were compared.
    pub compared: u64,
}

impl Hosts {
    /// Every pair of hosts that are similar enough.
    ///
    /// # Errors
    /// When the threshold is out of range, and when it was stopped.
    pub fn mirrors(&self, search: &MirrorSearch<'_>) -> Result<Mirrors> {
        let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(search.threshold))?;
        let enough = |host: &u32| {
            self.paths(*host).len() >= search.least_urls
                && self.shingles(*host).len() >= search.least_shingles
        };
        let judged: Vec<u32> = (0..self.len() as u32).filter(enough).collect();
        let sets: Vec<&[u64]> = judged.iter().map(|&host| self.shingles(host)).collect();
        let (filters, stopped) = (Filters::default(), search.stopped);
        let join = SetJoin { verifier: &verifier, filters, split: None, stopped };
        let found = Mutex::new(Vec::new());
        let counts = pairs(&sets, &join, &|hits: &[SetPair]| {
            found.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(hits);
            Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable();
        let mirror = |hit: &SetPair| {
            let [a, b] = [hit.a, hit.b].map(|set| judged[set as usize]);
            let [first, second] = [a, b].map(|host| self.shingles(host).len());
            let overlap = Measure::overlap(hit.shared as usize, first, second);
            let shared_paths = shared(self.paths(a), self.paths(b));
            Mirror { a, b, similarity: verifier.value(overlap), shared_paths }
        };
        let pairs = found.iter().map(mirror).collect();
        Ok(Mirrors { pairs, judged: judged.len(), compared: counts.verified })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Texts;
    use crate::observe::NoObserver;
    use crate::read::OnError;
    use crate::shingle::UrlShingles;

    fn hosts(urls: &[String]) -> Hosts {
        Hosts::read(&Texts(urls), &UrlShingles::default(), OnError::Stop, &NoObserver).unwrap()
    }

    /// A name that no other number has, in letters.
    fn word(number: usize) -> String {
        let letter = |place: u32| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8);
        (0..3).map(letter).collect()
    }

    fn found(hosts: &Hosts, least_urls: usize, least_shingles: usize) -> Vec<(String, String)> {
        let search =
            MirrorSearch { threshold: 0.33, least_urls, least_shingles, stopped: &|| false };
        let pair = |pair: &Mirror| (hosts.name(pair.a).to_owned(), hosts.name(pair.b).to_owned());
        hosts.mirrors(&search).unwrap().pairs.iter().map(pair).collect()
    }

    #[test]
    fn s8_6_two_thirds_of_one_site_each_are_mirrors() {
        // Each has two of every three pages; a third host has the same words in another order.
        let page = |n: usize| format!("docs/{}/{}/{}{n}.html", word(n / 5), word(n), word(n * 7));
        let urls: Vec<String> = (0..90)
            .flat_map(|n| {
                let other = format!("http://c.example/{}/{}/docs", word(n), word(n / 5));
                let first = (n % 3 != 2).then(|| format!("http://a.example/{}", page(n)));
                let second = (n % 3 != 1).then(|| format!("http://b.example/{}", page(n)));
                [first, second, Some(other)].into_iter().flatten()
            })
            .collect();
        let hosts = hosts(&urls);
        assert_eq!(found(&hosts, 10, 20), [("a.example".to_owned(), "b.example".to_owned())]);
        let search = MirrorSearch {
            threshold: 0.33,
            least_urls: 10,
            least_shingles: 20,
            stopped: &|| false,
        };
        let mirrors = hosts.mirrors(&search).unwrap();
        assert_eq!((mirrors.judged, mirrors.pairs[0].shared_paths), (3, 30));
        assert_eq!(
            mirrors.pairs[0].similarity,
            crate::measure::jaccard::similarity(hosts.shingles(0), hosts.shingles(1))
        );
    }

    #[test]
    fn hosts_of_which_little_is_known_are_not_judged() {
        let url = |host: &str, n: usize| format!("http://{host}/article/read/{n}");
        let urls: Vec<String> = (0..30).flat_map(|n| [url("a", n), url("b", n)]).collect();
        let hosts = hosts(&urls);
        assert_eq!(hosts.shingles(0).len(), 1, "numbers do not count");
        assert!(found(&hosts, 10, 20).is_empty());
        assert!(found(&hosts, 31, 1).is_empty());
        assert_eq!(found(&hosts, 30, 1).len(), 1);
    }

    #[test]
    fn a_host_without_shingles_is_similar_to_none() {
        let urls = ["http://a.example/", "http://b.example/"].map(str::to_owned);
        assert!(found(&hosts(&urls), 0, 0).is_empty());
        assert!(found(&hosts(&[]), 0, 0).is_empty());
    }
}
