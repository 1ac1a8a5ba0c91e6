//! Looks over the headers of a Parquet file before its decoder does.
//!
//! Headers are structures of Thrift's compact protocol, and the decoder passes over fields that it does not know. To it, a
//! list of booleans takes no bytes, so eight damaged bytes made it count to 2^31 (25 s), and lists in lists for hours. Here
//! each element takes one byte at least, as in any file that is not damaged: lists of more than that are refused.

use std::io::{self, Read, Seek};

// The types of fields and elements.
const I32: u8 = 5;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// As deep as the decoder goes.
const DEPTH: u8 = 64;

/// A page header has no lists at all. A later version may have some, with this many elements altogether.
const PAGE_ELEMENTS: u64 = 1 << 16;

/// Passes over a page header; returns its length.
pub(super) fn page_header(bytes: impl Read + Seek) -> io::Result<i64> {
    let mut header = Header { bytes, passed: 0, elements_left: PAGE_ELEMENTS };
    header.fields(&PAGE, DEPTH)?;
    Ok(header.passed)
}

/// Passes over the metadata at the end of a file.
pub(super) fn footer(bytes: &[u8]) -> io::Result<()> {
    let elements_left = bytes.len() as u64;
    let mut header = Header { bytes: io::Cursor::new(bytes), passed: 0, elements_left };
    header.fields(&UNKNOWN, DEPTH)
}

/// Which fields the decoder takes for numbers and for structures without a look at their types. Other types would lead it
/// somewhere else than this look.
struct Shape {
    /// Fields 1 to this are numbers.
    numbers: i16,
    structures: &'static [(i16, Shape)],
}

const UNKNOWN: Shape = Shape::of_numbers(0);

/// `PageHeader`, with the headers of data, index and dictionary pages, and of data pages of the second version.
const PAGE: Shape = Shape {
    numbers: 4,
    structures: &[
        (5, Shape::of_numbers(4)),
        (6, Shape::of_numbers(0)),
        (7, Shape::of_numbers(2)),
        (8, Shape::of_numbers(6)),
    ],
};

impl Shape {
    const fn of_numbers(numbers: i16) -> Self {
        Self { numbers, structures: &[] }
    }
}

struct Header<B> {
    bytes: B,
    passed: i64,
    elements_left: u64,
}

impl<B: Read + Seek> Header<B> {
    fn fields(&mut self, shape: &Shape, depth: u8) -> io::Result<()> {
        let mut id = 0_i16;
        loop {
            let start = self.byte()?;
            let (step, kind) = (start >> 4, start & 15);
            if kind == 0 {
                return Ok(());
            }
            id = match step {
                0 => self.id()?,
                _ => id.wrapping_add(i16::from(step)),
            };
            let is_number = (1..=shape.numbers).contains(&id);
            let inner = shape.structures.iter().find(|(field, _)| *field == id);
            match inner {
                _ if is_number && kind != I32 => return Err(damaged("a field of a wrong type")),
                Some(_) if kind != STRUCT => return Err(damaged("a field of a wrong type")),
                Some((_, inner)) => self.fields(inner, depth - 1)?,
                None => self.skip(kind, depth)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u8) -> io::Result<()> {
        if depth == 0 {
            return Err(damaged("fields in fields in fields"));
        }
        match kind {
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.number().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            LIST | SET => {
                let start = self.byte()?;
                let count = match start >> 4 {
                    15 => self.number()?,
                    count => u64::from(count),
                };
                self.elements(count, &[start & 15], depth)
            }
            MAP => match self.number()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 15], depth)
                }
            },
            STRUCT => self.fields(&UNKNOWN, depth - 1),
            13 => self.pass(16),
            _ => Err(damaged("a field of an unknown type")),
        }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u8) -> io::Result<()> {
        let all = count.saturating_mul(kinds.len() as u64);
        let left = self.elements_left.checked_sub(all);
        self.elements_left =
            left.ok_or_else(|| damaged("a list of more elements than there can be"))?;
        for _ in 0..count {
            for kind in kinds {
                self.skip(*kind, depth - 1)?;
            }
        }
        Ok(())
    }

    /// A field's number where it is written out.
    fn id(&mut self) -> io::Result<i16> {
        let number = self.number()?;
        Ok(((number >> 1) as i64 ^ -((number & 1) as i64)) as i16)
    }

    /// A number of seven bits a byte, the lowest first.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        let mut shift = 0_u32;
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).wrapping_shl(shift);
            if byte < 128 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        self.passed += 1;
        Ok(byte[0])
    }

    fn pass(&mut self, length: u64) -> io::Result<()> {
        let length = i64::try_from(length).map_err(|_| damaged("a text without an end"))?;
        self.bytes.seek_relative(length)?;
        self.passed = self.passed.checked_add(length).ok_or_else(|| damaged("too long a text"))?;
        Ok(())
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("a header has {what}"))
}
