//! What does not go together, and what needs something else: one table for all front ends.

use super::Options;
use crate::{Error, Result};

/// Options of which only one may be given: each with those that exclude it.
pub const CONFLICTS: &[(&str, &[&str])] = &[
    ("positions", &["id"]),
    ("threshold", &["within"]),
    ("at_most", &["at_least"]),
    ("exact", &["recall", "bands", "audit", "approximate", "and_or", "probes"]),
    ("recall", &["bands", "and_or", "probes"]),
    ("and_or", &["bands"]),
    (
        "estimate",
        &[
            "within",
            "at_least",
            "recall",
            "exact",
            "approximate",
            "audit",
            "bands",
            "and_or",
            "probes",
        ],
    ),
    ("count", &["rating"]),
    ("edges", &["count", "rating", "element_groups"]),
    ("grid", &["group", "edges"]),
    ("chains", &["no_chains"]),
    ("against_text", &["group", "edges"]),
    ("against_id", &["group", "edges"]),
];

/// Options that need others: each with those that must be given beside it.
pub const REQUIREMENTS: &[(&str, &[&str])] = &[
    ("filters", &["exact"]),
    ("bands", &["rows"]),
    ("rows", &["bands"]),
    ("group", &["element"]),
    ("element", &["group"]),
    ("count", &["group"]),
    ("rating", &["group", "ratings"]),
    ("ratings", &["rating"]),
    ("element_groups", &["group"]),
];

impl Options {
    /// Whether an option that the tables name was given.
    fn is_given(&self, name: &str) -> bool {
        match name {
            "id" => self.id.is_some(),
            "positions" => self.positions,
            "against_text" => self.against_text.is_some(),
            "against_id" => self.against_id.is_some(),
            "threshold" => self.threshold.is_some(),
            "within" => self.within.is_some(),
            "at_most" => self.at_most.is_some(),
            "at_least" => self.at_least.is_some(),
            "exact" => self.exact,
            "approximate" => self.approximate,
            "recall" => self.recall.is_some(),
            "filters" => self.filters.is_some(),
            "audit" => self.audit.is_some(),
            "bands" => self.bands.is_some(),
            "rows" => self.rows.is_some(),
            "and_or" => self.and_or.is_some(),
            "estimate" => self.estimate.is_some(),
            "probes" => self.probes.is_some(),
            "group" => self.group.is_some(),
            "element" => self.element.is_some(),
            "count" => self.count.is_some(),
            "rating" => self.rating.is_some(),
            "ratings" => self.has_ratings(),
            "element_groups" => self.element_groups.is_some(),
            "edges" => self.edges.is_some(),
            "grid" => self.grid.is_some(),
            "chains" => self.chains,
            "no_chains" => self.no_chains,
            _ => false,
        }
    }

    /// An error where options contradict one another, or where one needs another that was not given.
    ///
    /// # Errors
    /// The first such contradiction.
    pub fn check(&self) -> Result<()> {
        for (name, others) in CONFLICTS.iter().filter(|(name, _)| self.is_given(name)) {
            if let Some(other) = others.iter().find(|other| self.is_given(other)) {
                return Err(Error::conflict(other, name));
            }
        }
        for (name, needed) in REQUIREMENTS.iter().filter(|(name, _)| self.is_given(name)) {
            if let Some(other) = needed.iter().find(|other| !self.is_given(other)) {
                return Err(Error::needed(other, name));
            }
        }
        match self.threads {
            Some(threads) if !(1..=65_535).contains(&threads) => {
                Err(Error::parameter("threads", threads, "from 1 to 65535"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;

    /// Options with these given.
    fn with(names: &[&str]) -> Options {
        let value = |name: &str| match name {
            "positions" | "exact" | "approximate" | "edges" | "chains" | "no_chains" => "true",
            "audit" | "bands" | "rows" | "probes" | "estimate" => "2",
            "threshold" | "within" | "at_most" | "at_least" | "recall" => "0.5",
            "filters" => "\"length\"",
            "grid" => "\"2x2:1\"",
            "and_or" => "\"minhash\"",
            "ratings" => "\"stars\"",
            _ => "\"name\"",
        };
        let fields: Vec<String> =
            names.iter().map(|name| format!("{name:?}: {}", value(name))).collect();
        Options::from_json(&format!("{{{}}}", fields.join(", "))).unwrap()
    }

    #[test]
    fn each_conflict_is_refused_and_names_both() {
        for (name, others) in CONFLICTS {
            for other in *others {
                let options = with(&[name, other]);
                assert!(options.is_given(name) && options.is_given(other), "{name} {other}");
                let message = options.check().unwrap_err().to_string();
                assert!(message.contains(other) && message.contains(name), "{message}");
            }
        }
    }

    #[test]
    fn each_requirement_is_told() {
        for (name, needed) in REQUIREMENTS {
            let message = with(&[name]).check().unwrap_err().to_string();
            assert!(message.contains(name) && message.contains(needed[0]), "{message}");
        }
        for fine in [
            vec!["filters", "exact"],
            vec!["bands", "rows"],
            vec!["group", "element"],
            vec!["group", "element", "count"],
            vec!["group", "element", "rating", "ratings"],
            vec!["edges", "group", "element"],
        ] {
            with(&fine).check().unwrap();
        }
    }

    #[test]
    fn threads_are_some() {
        for (threads, fine) in [(0, false), (1, true), (65_535, true), (65_536, false)] {
            let options = Options { threads: Some(threads), ..Options::default() };
            assert_eq!(options.check().is_ok(), fine, "{threads}");
        }
    }
}
