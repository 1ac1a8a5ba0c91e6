//! Shingles of URLs: hosts that mirror one another have paths of the same parts.
//!
//! A path is cut at whatever is no letter, so that versions and numbers do not count, and parts that say nothing
//! (`index`, `html`) are left out. Two parts that follow each other are a shingle, together with where in the path they
//! stand. A host is the set of the shingles of its paths (Bharat, Broder, Dean and Henzinger, "A comparison of techniques to
//! find mirrored hosts on the WWW", 2000).

use std::collections::HashSet;

use nearkin_kernels::combine;

use super::hash::{default_key, hash_bytes};

/// Parts of URLs that say nothing of where they are.
const USUAL: &str = "htm html shtml xhtml txt php asp aspx jsp cgi bin main index home default";

/// How URLs become shingles.
#[derive(Debug, Clone)]
pub struct UrlShingles {
    stop: HashSet<String>,
}

impl Default for UrlShingles {
    fn default() -> Self {
        Self::without(USUAL.split_ascii_whitespace())
    }
}

impl UrlShingles {
    /// With a list of your own of parts that are left out.
    pub fn without<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self { stop: parts.into_iter().map(str::to_lowercase).collect() }
    }

    /// The parts of a host or a path: runs of letters in lower case, but for those left out.
    pub fn parts(&self, text: &str) -> Vec<String> {
        let runs = text.split(|c: char| !c.is_alphabetic()).filter(|run| !run.is_empty());
        runs.map(str::to_lowercase).filter(|part| !self.stop.contains(part)).collect()
    }

    /// Appends the hash of every two parts of a path that follow each other, with their place.
    pub fn shingle(&self, path: &str, out: &mut Vec<u64>) {
        let parts = self.parts(path);
        let places = (0u64..).zip(parts.windows(2));
        out.extend(places.map(|(place, pair)| {
            let [one, other] = [&pair[0], &pair[1]].map(|part| hash_bytes(part.as_bytes()));
            combine(default_key(), &[one, other, place])
        }));
    }

    /// Every two parts of a path that follow each other, and their hash.
    pub fn pieces(&self, path: &str) -> Vec<([String; 2], u64)> {
        let mut hashes = Vec::new();
        self.shingle(path, &mut hashes);
        let parts = self.parts(path);
        let pairs = parts.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]);
        pairs.zip(hashes).collect()
    }
}
