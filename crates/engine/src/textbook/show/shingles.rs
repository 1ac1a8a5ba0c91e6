//! The shingles of texts: which they are, who has them, their hashes.

use super::ShowRequest;
use super::items::{Content, at_least, names};
use super::matrix::pieces;
use super::table::{Cell, Shown, ShownTable};
use crate::shingle::Unit;
use crate::{Error, Result};

impl ShowRequest<'_> {
    /// Every shingle with the items that have it and how often.
    pub(super) fn shingles(&self) -> Result<Shown> {
        at_least(self.items, 1)?;
        let shingling = self.shingling()?;
        let names = names(self.items, "D");
        let mut order: Vec<(String, u64)> = Vec::new();
        let mut rows = std::collections::HashMap::new();
        let mut counts: Vec<Vec<usize>> = Vec::new();
        let mut totals = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            let pieces = pieces(item, &shingling, self.show.urls)?;
            totals.push(pieces.len());
            for piece in pieces {
                let row = *rows.entry(piece.0.clone()).or_insert_with(|| {
                    counts.push(vec![0; self.items.len()]);
                    order.push(piece);
                    order.len() - 1
                });
                counts[row][at] += 1;
            }
        }
        if order.is_empty() {
            let cut = if self.show.urls { "of URLs".to_owned() } else { shingling.to_string() };
            let what = if self.items.len() == 1 {
                "the text has none"
            } else {
                "none of the texts has one"
            };
            let must =
                "shingles that a text has; a text without letters and digits has none of words";
            return Err(Error::parameter("shingle", format!("{cut}: {what}"), must));
        }
        let title = match &shingling.unit {
            _ if self.show.urls => "Parts of hosts and shingles of paths".to_owned(),
            Unit::Elements => "Elements".to_owned(),
            _ => format!("Shingles, {shingling}"),
        };
        let columns = ["shingle", "hash"].into_iter().chain(names.iter().map(String::as_str));
        let mut table = ShownTable::new("shingles", title, columns.chain(["in how many"]));
        for ((text, hash), counts) in order.iter().zip(&counts) {
            let who = counts.iter().filter(|&&count| count > 0).count();
            let cells = counts.iter().map(|&count| Cell::from(count));
            let first = [Cell::from(&**text), format!("{hash:016x}").into()];
            table.push(first.into_iter().chain(cells).chain([who.into()]));
        }
        let mut notes = Vec::new();
        let mut sizes = ShownTable::new(
            "texts",
            "What the items consist of",
            ["item", "length", "shingles", "different ones", "in no other"],
        );
        for (at, (name, item)) in names.iter().zip(self.items).enumerate() {
            let own = counts.iter().filter(|counts| counts[at] > 0);
            let alone = own.clone().filter(|counts| counts.iter().filter(|&&c| c > 0).count() == 1);
            let length = match &item.content {
                Content::Text(text) => text.chars().count(),
                Content::Set(set) => set.len(),
                Content::Vector(_) | Content::Signature(_) => 0,
            };
            let cells = [length, totals[at], own.count(), alone.count()].map(Cell::from);
            sizes.push(std::iter::once(Cell::from(&**name)).chain(cells));
            notes.extend((totals[at] == 0).then(|| match &item.content {
                Content::Text(text) if !text.is_empty() => {
                    format!("{name} has no shingle: runs compare it as a whole.")
                }
                _ => format!("{name} is empty: it is similar to nothing."),
            }));
        }
        Ok(Shown { show: "shingles", tables: vec![table, sizes], notes })
    }
}
