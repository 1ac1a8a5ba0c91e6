//! How large an item may be.
//!
//! What a reader holds of an item grows with it: its bytes, its text, its elements twice, its record. An item for which
//! that is more than the run may use is refused before it is held.

use crate::error::{Advice, Problem};
use crate::shingle::NormalForm;
use crate::shingle::elements::each_element;

/// How large a line, record, cell or document may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemLimit {
    /// Its bytes, at most.
    pub(super) bytes: usize,
    /// Larger items come one at a time.
    pub(super) alone: usize,
    /// The memory that a byte of an item takes, if the memory sets the limit and not the user.
    by_memory: Option<usize>,
    /// The memory that there is for an item or what stands for it.
    room: usize,
    /// Whether an element takes memory each time that it is counted.
    copies: bool,
    /// What texts become before they are cut.
    form: Option<NormalForm>,
}

impl Default for ItemLimit {
    fn default() -> Self {
        Self {
            bytes: usize::MAX,
            alone: usize::MAX,
            by_memory: None,
            room: usize::MAX,
            copies: true,
            form: None,
        }
    }
}

/// Memory that an item of this size needs beside what the run holds, as a share of `--memory` and in bytes: with the 13/16
/// that a run holds at most and about 25 MB for the program, it stays within a quarter more than the limit and 32 MB.
const SHARE: (usize, usize) = (3, 8);
const BESIDE: usize = 8 << 20;

impl ItemLimit {
    /// Items have at most `most` bytes, and fewer if there is no room for them in `memory`: each byte takes `each`
    /// bytes of it. With several threads, large items come one at a time, so whoever reads must let go of one before the
    /// next.
    pub fn new(most: usize, memory: usize, each: usize, threads: usize) -> Self {
        let room = (memory / SHARE.1).saturating_mul(SHARE.0).saturating_add(BESIDE);
        let bytes = most.min(room / each);
        let by_memory = (room / each < most).then_some(each);
        let alone = bytes / threads.max(1);
        Self { bytes, alone, by_memory, room, copies: true, form: None }
    }

    /// Whether an element takes memory each time that it is counted, so that its counts are limited.
    pub(crate) fn copies(self, copies: bool) -> Self {
        Self { copies, ..self }
    }

    /// How many bytes an item may have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same limit for texts that become this normal form.
    #[must_use]
    pub fn of(self, form: Option<NormalForm>) -> Self {
        Self { form, ..self }
    }

    /// What is wrong with an item of this many bytes, if it has too many.
    pub(super) fn check(&self, bytes: u64) -> Result<(), Problem> {
        if bytes <= self.bytes as u64 { Ok(()) } else { Err(self.problem(bytes, "has", "bytes")) }
    }

    /// What is wrong with a text that has too many bytes, as it is or in the normal form.
    ///
    /// # Errors
    /// When it has too many.
    pub fn check_text(&self, text: &str) -> Result<(), Problem> {
        self.check(text.len() as u64)?;
        let Some(form) = self.form else { return Ok(()) };
        if text.is_ascii() || text.len().saturating_mul(form.growth()) <= self.bytes {
            return Ok(());
        }
        let bytes = form.bytes_of(text);
        if bytes <= self.bytes as u64 {
            return Ok(());
        }
        Err(self.problem(bytes, "has", "bytes in its normal form"))
    }

    /// What is wrong with a list whose elements occur so often that they take too much memory; nothing unless it has
    /// counts, and each time is an element of its own.
    pub(super) fn check_counts(&self, list: &str) -> Result<(), Problem> {
        if !self.copies || memchr::memchr(b'*', list.as_bytes()).is_none() {
            return Ok(());
        }
        let mut elements = 0;
        each_element(list, |_, count| elements += u64::from(count));
        // As long as a list that has each of them as a word of its own.
        let bytes = elements.saturating_mul(COUNTED);
        if bytes <= self.bytes as u64 {
            return Ok(());
        }
        let what = format!("counts {} elements, which take as much memory as", spelled(elements));
        Err(self
            .problem(bytes, &what, "bytes of text")
            .or("search exactly")
            .or("scale the counts down"))
    }

    /// What is wrong with this many columns of a Parquet file, if there are too many.
    pub(super) fn check_columns(&self, columns: usize) -> Result<(), Problem> {
        /// Memory that the writer takes for a column.
        const COLUMN: u64 = 36 << 10;
        let bytes = (columns as u64).saturating_mul(COLUMN);
        if bytes <= self.room as u64 {
            return Ok(());
        }
        let what =
            format!("has {} fields, too many for the columns of Parquet", spelled(columns as u64));
        Err(Problem::new(what).or("name the output .jsonl").or(memory_for(bytes)))
    }

    fn problem(&self, bytes: u64, has: &str, unit: &str) -> Problem {
        let most = spelled(self.bytes as u64);
        let what = format!("{has} {} {unit}, and an item may have {most}", spelled(bytes));
        match self.by_memory {
            Some(each) => Problem::new(what).or(memory_for(bytes.saturating_mul(each as u64))),
            None => {
                let mib = (bytes >> 20) + 1;
                Problem::new(what).or(Advice::with("max_item", format!("allow {mib}M")))
            }
        }
        .or(Advice::SKIP)
    }
}

/// The advice to allow so much memory that there is room for this many bytes.
fn memory_for(bytes: u64) -> Advice {
    let needed = bytes.saturating_sub(BESIDE as u64) / SHARE.0 as u64;
    let mib = (needed.saturating_mul(SHARE.1 as u64) >> 20) + 1;
    Advice::with("memory", format!("allow {mib}M"))
}

/// Bytes of text for each time that an element is counted.
const COUNTED: u64 = 4;

/// A number with commas.
fn spelled(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
