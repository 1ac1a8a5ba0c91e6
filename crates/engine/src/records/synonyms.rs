//! Words that mean the same: nicknames, abbreviations.
//!
//! A table has one group per line, its words separated by commas, semicolons or blanks; what follows a `#` does not count. A word may
//! be in several groups: Al may be Albert, Alan or Alfred, but Alan is not Alfred.

use std::collections::HashMap;

/// Groups of words that mean the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synonyms {
    /// What the table is called in the rules.
    pub name: String,
    /// By word, its groups, ascending.
    groups: HashMap<Box<str>, Vec<u32>>,
}

impl Synonyms {
    /// Reads a table.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut groups: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        for (line, number) in lines.zip(0..) {
            let words = line.split(|c: char| matches!(c, ',' | ';') || c.is_whitespace());
            for word in words.filter(|word| !word.is_empty()) {
                let of = groups.entry(word.to_lowercase().into()).or_default();
                if of.last() != Some(&number) {
                    of.push(number);
                }
            }
        }
        Self { name: name.to_owned(), groups }
    }

    /// The tables that come with nearkin: English `nicknames`, and `abbreviations` of addresses, firms and
    /// publications.
    pub fn shipped(name: &str) -> Option<Self> {
        match name {
            "nicknames" => Some(Self::parse(name, include_str!("tables/nicknames.txt"))),
            "abbreviations" => Some(Self::parse(name, include_str!("tables/abbreviations.txt"))),
            _ => None,
        }
    }

    /// Whether a word is in a group.
    pub fn has(&self, word: &str) -> bool {
        self.groups.contains_key(word)
    }

    /// Whether two words are in one group.
    pub fn same(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.groups.get(a), self.groups.get(b)) else { return false };
        a.iter().any(|group| b.contains(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_be_in_several_groups() {
        let table = Synonyms::parse("mine", "albert, al; bert # a comment\n\nalan,al\n# al all\n");
        for (a, b, same) in [
            ("al", "albert", true),
            ("al", "alan", true),
            ("alan", "albert", false),
            ("al", "all", false),
            ("al", "al", true),
        ] {
            assert_eq!(table.same(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn the_shipped_tables_have_what_the_book_names() {
        let nicknames = Synonyms::shipped("nicknames").expect("it is shipped");
        assert!(nicknames.same("bill", "william") && nicknames.same("bob", "robert"));
        assert!(!nicknames.same("william", "robert"));
        let abbreviations = Synonyms::shipped("abbreviations").expect("it is shipped");
        assert!(abbreviations.same("st", "street") && abbreviations.same("ave", "avenue"));
    }
}
