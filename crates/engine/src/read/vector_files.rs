//! Files of vectors: `.npy`, and `.fvecs` with its sisters.
//!
//! `.npy` is NumPy's format for one array (NEP 1; versions 1 to 3), here of two dimensions, one vector per row.
//! `.fvecs`, `.bvecs` and `.ivecs` (Jégou, Douze and Schmid 2011) hold vectors one after the other, each
//! after its dimension as a little-endian 32-bit number: floats, bytes, whole numbers.
//!
//! What a header promises is never believed before the bytes are there: memory grows with what is read.

use super::numbers;
use super::{
    Format, ReadOptions,
    buffer::{Buffer, BufferPool},
    format::Compression,
    open::vectors_file,
    place::Place,
    rereadable::Rereadable,
    shards_of::with_shards,
    text::TextReader,
};
use crate::error::{Error, Problem, Result};
use std::path::Path;

/// The type of a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

/// A type and its byte order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberType {
    pub(super) number: Number,
    big_endian: bool,
}

impl NumberType {
    const fn little(number: Number) -> Self {
        Self { number, big_endian: false }
    }

    pub(crate) fn bytes(self) -> usize {
        match self.number {
            Number::Bool => 1,
            Number::Signed(bytes) | Number::Unsigned(bytes) | Number::Float(bytes) => bytes,
        }
    }

    /// The type as NumPy writes it.
    pub(crate) fn numpy(self) -> String {
        let order = match (self.bytes(), self.big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        let (kind, bytes) = match self.number {
            Number::Bool => ('b', 1),
            Number::Signed(bytes) => ('i', bytes),
            Number::Unsigned(bytes) => ('u', bytes),
            Number::Float(bytes) => ('f', bytes),
        };
        format!("{order}{kind}{bytes}")
    }

    /// A type as NumPy writes it, such as `<f4`.
    fn parse(text: &str) -> Option<Self> {
        let (order, kind) = text.split_at_checked(1)?;
        let big_endian = match order {
            "<" | "|" => false,
            "=" => cfg!(target_endian = "big"),
            ">" => true,
            _ => return None,
        };
        let (kind, bytes) = kind.split_at_checked(1)?;
        let bytes: usize = bytes.parse().ok()?;
        let number = match (kind, bytes) {
            ("b", 1) => Number::Bool,
            ("i", 1 | 2 | 4 | 8) => Number::Signed(bytes),
            ("u", 1 | 2 | 4 | 8) => Number::Unsigned(bytes),
            ("f", 2 | 4 | 8) => Number::Float(bytes),
            _ => return None,
        };
        Some(Self { number, big_endian })
    }

    /// Appends the components of a row as 32-bit floats, the nearest where they are of another type.
    pub(crate) fn floats(self, row: &[u8], out: &mut Vec<f32>) -> Result<(), Problem> {
        if self == Self::little(Number::Float(4)) {
            let (words, _) = row.as_chunks::<4>();
            out.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
            return Ok(());
        }
        for (bytes, number) in row.chunks_exact(self.bytes()).zip(1..) {
            out.push(numbers::single(number, self.float(bytes))?);
        }
        Ok(())
    }

    fn float(self, bytes: &[u8]) -> f64 {
        let fold = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        let word = match self.big_endian {
            true => bytes.iter().fold(0, fold),
            false => bytes.iter().rev().fold(0, fold),
        };
        match self.number {
            Number::Bool => f64::from(word != 0),
            Number::Unsigned(_) => word as f64,
            Number::Signed(bytes) => {
                let unused = 64 - 8 * bytes as u32;
                ((word << unused) as i64 >> unused) as f64
            }
            Number::Float(2) => half(word as u16).into(),
            Number::Float(4) => f32::from_bits(word as u32).into(),
            Number::Float(_) => f64::from_bits(word),
        }
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 1023) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

/// Takes the number of a row over all files, from 0, the type of its components, its bytes, and its file.
pub(crate) type EachVectorOfFiles<'a> =
    &'a mut dyn FnMut(u64, NumberType, &[u8], &Path) -> Result<()>;

/// Files of vectors, all of one format, whose rows are copied as they came.
#[derive(Debug)]
pub struct VectorFiles {
    files: Vec<(Rereadable, Compression)>,
    format: Format,
}

impl VectorFiles {
    /// Opens the files, if these places are files of vectors. Standard input and pipes must be [copies](Place::rereadable)
    /// if anybody else reads them.
    ///
    /// # Errors
    /// When a file cannot be read, or they are not all of one format.
    pub fn open(places: &[Place], options: &ReadOptions) -> Result<Option<Self>> {
        let (mut files, mut formats, mut others) = (Vec::new(), Vec::new(), None);
        for place in &with_shards(places, options)? {
            match vectors_file(place, options)? {
                Some((stored, compression, format)) => {
                    formats.push((format, stored.name.clone()));
                    files.push((stored, compression));
                }
                None => others = Some(place.name().to_path_buf()),
            }
        }
        let Some(&(format, _)) = formats.first() else { return Ok(None) };
        let other = formats.into_iter().find(|(other, _)| *other != format).map(|(_, name)| name);
        match other.or(others) {
            Some(name) => {
                let what = format!(
                    "is not .{format} like the first file, and what is kept goes to one file"
                );
                Err(Error::file(&name, Problem::new(what).or("give files of one format")))
            }
            None => Ok(Some(Self { files, format })),
        }
    }

    /// Their format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(stored, _)| stored.len()).sum()
    }

    /// Calls `each` with the number of every row over all files, from 0, the type of its components, and its bytes.
    ///
    /// # Errors
    /// When a file is damaged, and those of `each`.
    pub(crate) fn each_row(&self, each: EachVectorOfFiles<'_>) -> Result<()> {
        let mut number = 0;
        for (stored, compression) in &self.files {
            rows(stored, *compression, self.format, &mut |_, element, bytes| {
                number += 1;
                each(number - 1, element, bytes, &stored.name)
            })?;
        }
        Ok(())
    }
}

/// Takes the number of a row, from 1, the type of its components, and its bytes.
pub(super) type EachVector<'a> = &'a mut dyn FnMut(u64, NumberType, &[u8]) -> Result<()>;

/// Reads every row of a file of vectors.
pub(super) fn rows(
    stored: &Rereadable,
    compression: Compression,
    format: Format,
    each: EachVector,
) -> Result<()> {
    let mut file = TextReader::bytes(stored, compression)?;
    // The size of a file that is not compressed is known beforehand.
    let size = (compression == Compression::Plain).then(|| stored.len());
    match format {
        Format::Npy => npy(stored, &mut file, size, each),
        Format::Bvecs => {
            vecs(stored, &mut file, size, NumberType::little(Number::Unsigned(1)), each)
        }
        Format::Ivecs => vecs(stored, &mut file, size, NumberType::little(Number::Signed(4)), each),
        _ => vecs(stored, &mut file, size, NumberType::little(Number::Float(4)), each),
    }
}

fn vecs(
    stored: &Rereadable,
    file: &mut TextReader,
    size: Option<u64>,
    element: NumberType,
    each: EachVector,
) -> Result<()> {
    let mut rest = size.unwrap_or(u64::MAX);
    let mut buffer = BufferPool::default().take();
    for row in 1.. {
        let failed = |what: String| Error::input(stored.name.clone(), row, what);
        buffer.truncate(0);
        let head = file.fill(&mut buffer, 4)?;
        if head == 0 {
            return Ok(());
        }
        let truncated = || failed("the file ends in the middle of a vector; get it again".into());
        let head: [u8; 4] = buffer[..].try_into().map_err(|_| truncated())?;
        let dimension = i32::from_le_bytes(head);
        let bytes = u64::try_from(dimension).unwrap_or(0) * element.bytes() as u64;
        rest -= 4;
        if bytes == 0 || bytes > rest {
            return Err(match dimension {
                ..=0 => failed(format!(
                    "a vector of {dimension} components; check that the file is what its name says"
                )),
                _ => failed(format!(
                    "a vector of {dimension} components, more than the file has; get it again, or \
                     check that it is what its name says"
                )),
            });
        }
        buffer.truncate(0);
        if file.fill_in_steps(&mut buffer, bytes)? < bytes {
            return Err(truncated());
        }
        rest -= bytes;
        each(row, element, &buffer)?;
    }
    Ok(())
}

/// What the header of an `.npy` file says.
#[derive(Debug, PartialEq)]
struct Npy {
    element: NumberType,
    by_column: bool,
    rows: u64,
    columns: u64,
    /// Bytes of a row.
    row: u64,
    /// Bytes of all rows.
    total: u64,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// More than any header of a plain array takes.
const LONGEST_HEADER: u64 = 1 << 20;

fn npy(
    stored: &Rereadable,
    file: &mut TextReader,
    size: Option<u64>,
    each: EachVector,
) -> Result<()> {
    let mut buffer = BufferPool::default().take();
    let (header, head) = header(stored, file, &mut buffer)?;
    let there = size.map(|size| size.saturating_sub(head));
    let wrong = |there: u64| {
        stored.error(format!(
            "has {there} bytes of data where its header promises {}; get the file again",
            header.total
        ))
    };
    if let Some(there) = there.filter(|there| *there != header.total) {
        return Err(wrong(there));
    }
    buffer.truncate(0);
    let mut done = 0;
    if header.by_column {
        done = file.fill_in_steps(&mut buffer, header.total)?;
        if done == header.total {
            by_column(&header, &buffer, each)?;
        }
    } else {
        for row in 1..=header.rows {
            buffer.truncate(0);
            let read = file.fill_in_steps(&mut buffer, header.row)?;
            done += read;
            if read < header.row {
                break;
            }
            each(row, header.element, &buffer)?;
        }
    }
    if done < header.total {
        return Err(wrong(done));
    }
    match file.fill(&mut buffer, 1)? {
        0 => Ok(()),
        _ => Err(wrong(header.total + 1)),
    }
}

/// The rows of an array that is stored column by column.
fn by_column(header: &Npy, data: &[u8], each: EachVector) -> Result<()> {
    let size = header.element.bytes();
    let mut row = Vec::new();
    for number in 0..header.rows {
        row.clear();
        for column in 0..header.columns {
            let at = (column * header.rows + number) as usize * size;
            row.extend_from_slice(&data[at..at + size]);
        }
        each(number + 1, header.element, &row)?;
    }
    Ok(())
}

/// The header, and how long it is.
fn header(stored: &Rereadable, file: &mut TextReader, buffer: &mut Buffer) -> Result<(Npy, u64)> {
    let short = || stored.error("ends in its header; get the file again".to_owned());
    if file.fill(buffer, 8)? < 8 {
        return Err(match buffer.starts_with(&MAGIC[..buffer.len().min(MAGIC.len())]) {
            true => short(),
            false => not_npy(stored),
        });
    }
    if !buffer.starts_with(MAGIC) {
        return Err(not_npy(stored));
    }
    let width = match buffer[6] {
        1 => 2,
        2 | 3 => 4,
        other => {
            return Err(stored.error(format!(
                "is of version {other} of the .npy format, and 1 to 3 are known; save it again"
            )));
        }
    };
    buffer.truncate(0);
    if file.fill(buffer, width)? < width {
        return Err(short());
    }
    let length = buffer.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte));
    if length > LONGEST_HEADER {
        return Err(stored.error(format!("has a header of {length} bytes; get the file again")));
    }
    buffer.truncate(0);
    if file.fill(buffer, length as usize)? < length as usize {
        return Err(short());
    }
    let text = std::str::from_utf8(buffer).map_err(|_| not_npy(stored))?;
    let header = parse_header(text).map_err(|what| stored.error(what))?;
    Ok((header, 8 + width as u64 + length))
}

fn not_npy(stored: &Rereadable) -> Error {
    stored.error("is not an .npy file; check that it is what its name says".to_owned())
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(text: &str) -> Result<Npy, String> {
    let unclear = || format!("has a header that cannot be read: {}; save it again", text.trim());
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
        text[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let kind = after("descr").ok_or_else(unclear)?;
    let quote = kind.chars().next().filter(|quote| ['\'', '"'].contains(quote));
    let kind = match quote {
        Some(quote) => kind[1..].split(quote).next().unwrap_or_default(),
        None => kind.split([']', '}']).next().unwrap_or_default(),
    };
    let element = NumberType::parse(kind).ok_or_else(|| {
        format!(
            "holds values of type {kind}; give numbers or booleans, such as float32 \
             (array.astype('f4'))"
        )
    })?;
    let by_column = match after("fortran_order").ok_or_else(unclear)? {
        rest if rest.starts_with("True") => true,
        rest if rest.starts_with("False") => false,
        _ => return Err(unclear()),
    };
    let shape = after("shape").and_then(|rest| rest.strip_prefix('(')).ok_or_else(unclear)?;
    let (shape, _) = shape.split_once(')').ok_or_else(unclear)?;
    let shape: Result<Vec<u64>, _> =
        shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse).collect();
    let [rows, columns] = shape.map_err(|_| unclear())?.try_into().map_err(|shape: Vec<u64>| {
        format!(
            "holds an array of {} dimensions; a vector a row is needed, two dimensions: reshape it \
             and save it again",
            shape.len()
        )
    })?;
    if columns == 0 {
        return Err("holds vectors without components; check how it was made".to_owned());
    }
    let row = columns.checked_mul(element.bytes() as u64);
    let total = row.and_then(|row| row.checked_mul(rows));
    let (row, total) = row.zip(total).ok_or_else(unclear)?;
    Ok(Npy { element, by_column, rows, columns, row, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_floats() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), number);
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn types_and_byte_orders() {
        for (kind, bytes, number) in [
            ("<f4", &[0, 0, 0x80, 0x3f][..], 1.0),
            (">f4", &[0x3f, 0x80, 0, 0], 1.0),
            ("<f8", &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 1.0),
            ("|i1", &[0xff], -1.0),
            ("|u1", &[0xff], 255.0),
            ("|b1", &[1], 1.0),
            ("<i2", &[0xfe, 0xff], -2.0),
            (">i8", &[0xff; 8], -1.0),
            (">u4", &[0, 0, 1, 0], 256.0),
        ] {
            let mut out = Vec::new();
            NumberType::parse(kind).unwrap().floats(bytes, &mut out).unwrap();
            assert_eq!(out, [number], "{kind}");
        }
        for wrong in ["", "<", "<f", "<f16", "<c8", "|O", "<U3", "<i3", "?f4", "é4"] {
            assert_eq!(NumberType::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn headers_as_numpy_and_others_write_them() {
        let header =
            parse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n");
        assert_eq!(header.unwrap().total, 48);
        let header = parse_header("{\"shape\":(3,4),\"fortran_order\":True,\"descr\":\">f8\"}");
        assert!(header.unwrap().by_column);
        for (wrong, part) in [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "1 dimensions"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "0 dimensions"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }", "3 dimensions"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }", "without components"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }", "cannot be read"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }", "type |O"),
            (
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 4), }",
                "('a', '<f4')",
            ),
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
                "read",
            ),
            ("{'descr': '<f4', 'shape': (3, 4), }", "cannot be read"),
            ("", "cannot be read"),
        ] {
            let what = parse_header(wrong).unwrap_err();
            assert!(what.contains(part), "{wrong}: {what}");
        }
    }
}
