//! Copies: a first look at a few positions, and the whole content only where that is the same (*Mining of Massive Datasets*,
//! 3.9.1).

use super::ShowRequest;
use super::items::{Content, at_least, names};
use super::table::{Cell, Shown, ShownTable};
use crate::candidates::identical::{fingerprint, glance, groups};
use crate::shingle::default_key;
use crate::{Error, Result};

impl ShowRequest<'_> {
    /// What the first look sees of each item, and who is a copy of whom.
    pub(super) fn identical(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let names = names(self.items, "D");
        let mut texts: Vec<&str> = Vec::new();
        for (item, name) in self.items.iter().zip(&names) {
            match &item.content {
                Content::Text(text) => texts.push(text),
                _ => {
                    return Err(Error::parameter(
                        "item",
                        name,
                        "a text: others are compared whole",
                    ));
                }
            }
        }
        let glances: Vec<u64> = texts.iter().map(|text| glance(text.as_bytes())).collect();
        let (copies, read) = groups(&texts);
        let columns = ["item", "bytes", "first look", "read whole", "hash of all bytes", "same as"];
        let mut table = ShownTable::new("items", "First look, then whole contents", columns);
        for (at, name) in names.iter().enumerate() {
            let is_read = glances.iter().filter(|&&other| other == glances[at]).count() > 1;
            let whole = is_read.then(|| fingerprint(default_key(), texts[at].as_bytes()));
            let first = copies.iter().find(|group| group.contains(&at)).map(|group| group[0]);
            table.push([
                Cell::from(&**name),
                texts[at].len().into(),
                format!("{:016x}", glances[at]).into(),
                if is_read { "yes" } else { "no" }.into(),
                whole.map(|whole| format!("{whole:032x}")).into(),
                first.filter(|&first| first != at).map(|first| names[first].clone()).into(),
            ]);
        }
        let note = format!(
            "The first look sees the length and 16 bytes at positions that are fixed for each length. {read} of {} items share \
             theirs with another and are read whole.",
            names.len()
        );
        Ok(Shown { show: "identical", tables: vec![table], notes: vec![note] })
    }
}
