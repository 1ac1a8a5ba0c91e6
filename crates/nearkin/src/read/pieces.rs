//! Pieces of files with a record a line, for whoever reads only a part of a file: another machine, say.

use super::{Format, Ids, ReadOptions, Wanted, copy::Stretches, gather::Asked, lines};
use crate::Result;
use crate::item::Batch;
use std::path::PathBuf;

/// How the records of a file with one a line are read, where its bytes come from elsewhere.
#[derive(Debug)]
pub struct Pieces {
    path: PathBuf,
    options: ReadOptions,
    ids: Ids,
    is_text: bool,
}

impl Pieces {
    /// Pieces of the file at `path`: lines of text by [`ReadOptions::format`], else of JSON. Every record has an id in
    /// the field that the options name, or none has one.
    pub fn new(path: PathBuf, options: ReadOptions) -> Self {
        let ids = match &options.id {
            Some(name) => Ids::Field(name.clone()),
            None => Ids::Ignored,
        };
        let is_text = options.format == Some(Format::Txt);
        Self { path, options, ids, is_text }
    }

    /// Takes the wanted records apart. The piece holds whole lines, of which the first has this number.
    ///
    /// # Errors
    /// When a record cannot be used, unless such are skipped.
    pub fn decode(&self, piece: &[u8], first: u64, wanted: Wanted) -> Result<Batch<'static>> {
        let asked = Asked { path: &self.path, options: &self.options, ids: &self.ids };
        match self.is_text {
            true => lines::decode_txt(piece, first, asked, wanted),
            false => lines::decode_jsonl(piece, first, asked, wanted),
        }
    }

    /// Appends the wanted records as they came, and says how many the piece has.
    pub fn copy(&self, piece: &[u8], wanted: Wanted, out: &mut Vec<u8>) -> u32 {
        let mut stretches = Stretches::new(b"\n");
        let records = lines::copy(piece, self.is_text, wanted, &mut stretches);
        stretches.of(piece).for_each(|stretch| out.extend_from_slice(stretch));
        records
    }
}
