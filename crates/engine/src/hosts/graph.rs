//! Pages and the links between them.

use std::collections::{HashMap, HashSet};

use super::pages::{Check, shingled};
use super::{Address, Contraction};
use crate::error::{Problem, Result};
use crate::item::{Interner, Source, Values};
use crate::observe::Observer;

/// Pages in the order in which the links first name them.
#[derive(Debug, Default)]
pub struct Graph {
    hosts: Interner,
    pages: Vec<Page>,
    /// Pages by their host and the hash of their path.
    places: HashMap<(u32, u64), u32>,
    /// From page to page, as they came.
    links: Vec<(u32, u32)>,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    /// As it was first written.
    pub(super) url: Box<str>,
    pub(super) host: u32,
    pub(super) path: u64,
    /// The shingles of its text; none where it is not known.
    pub(super) text: Vec<u64>,
}

impl Graph {
    /// Adds a link.
    ///
    /// # Errors
    /// When one of the two is no URL of a page.
    pub fn link(&mut self, from: &str, to: &str) -> Result<(), Problem> {
        let [from_address, to_address] = [Address::parse(from)?, Address::parse(to)?];
        let link = (self.page(from, &from_address), self.page(to, &to_address));
        self.links.push(link);
        Ok(())
    }

    fn page(&mut self, url: &str, address: &Address) -> u32 {
        let (host, path) = (self.hosts.number(&address.host), address.path_hash());
        let next = self.pages.len() as u32;
        let place = *self.places.entry((host, path)).or_insert(next);
        if place == next {
            self.pages.push(Page { url: url.trim().into(), host, path, text: Vec::new() });
        }
        place
    }

    /// Reads the texts of pages that links name; the ids of the collection are URLs. Returns how many there are.
    ///
    /// # Errors
    /// When it was stopped, when it cannot be read, and when an id is no URL of a page, unless bad records are skipped.
    pub fn read_texts<S: Source>(
        &mut self,
        pages: &S,
        check: &Check,
        observer: &dyn Observer,
    ) -> Result<usize> {
        let find = |address: &Address| {
            let host = self.hosts.find(&address.host)?;
            self.places.get(&(host, address.path_hash())).copied()
        };
        let texts = shingled(pages, check, &find, observer)?;
        let count = texts.values().filter(|text| !text.is_empty()).count();
        texts.into_iter().for_each(|(page, text)| self.pages[page as usize].text = text);
        Ok(count)
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The links, as they came.
    pub fn links(&self) -> &[(u32, u32)] {
        &self.links
    }

    /// The host of a name, where a link names one of its pages.
    pub fn find(&self, host: &str) -> Option<u32> {
        self.hosts.find(host)
    }

    /// The names of all hosts.
    pub fn hosts(&self) -> &Values {
        self.hosts.values()
    }

    /// A page's URL, as it was first written.
    pub fn url(&self, page: u32) -> &str {
        &self.pages[page as usize].url
    }

    #[cfg(test)]
    pub(super) fn set_text(&mut self, page: usize, mut text: Vec<u64>) {
        text.sort_unstable();
        self.pages[page].text = text;
    }

    pub(super) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The links between the pages that are left, each once, in the order of their first appearance. What led from a
    /// page to one that is the same page is no link any more.
    pub fn contracted_links(&self, contracted: &Contraction) -> Vec<(u32, u32)> {
        let mut seen = HashSet::new();
        let ends = |&(from, to): &(u32, u32)| {
            (contracted.kept[from as usize], contracted.kept[to as usize])
        };
        let left = self.links.iter().map(ends).filter(|(from, to)| from != to);
        left.filter(|link| seen.insert(*link)).collect()
    }
}
