//! Texts that are not UTF-8: decoded while they are read, so that everything behind sees UTF-8.
//!
//! Names of encodings are those of the web (WHATWG), where `latin1` is windows-1252. A file that begins with the byte-order
//! mark of UTF-16 is decoded without being asked.

use std::{
    fmt,
    io::{self, Read},
    str::FromStr,
};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Advice, Error, Problem, Result};

/// How the characters of a text are written as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl FromStr for TextEncoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Encoding::for_label_no_replacement(name.as_bytes()).map(Self).ok_or_else(|| {
            let must =
                "the name of an encoding, such as latin1, windows-1252, utf-16le or shift_jis";
            Error::parameter("encoding", name, must)
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

/// How many bytes of a text tell whether it is UTF-16.
pub(super) const ENCODING_BYTES: usize = 8;

/// What stands in place of what cannot be decoded: never part of UTF-8, so that its reader says where it is.
pub(super) const UNDECODABLE: &[u8] = b"\xff\xfd";

impl TextEncoding {
    /// How a text that begins with these bytes is decoded; none if it is UTF-8.
    ///
    /// # Errors
    /// When it is written in a way that is not read, or only if it is asked for.
    pub(super) fn tell(start: &[u8], asked: Option<Self>) -> Result<Option<Self>, Problem> {
        let marked = match start {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
                return Err(Problem::new("is UTF-32, which is not read").or("convert it to UTF-8"));
            }
            [0xff, 0xfe, ..] => Some(Self(UTF_16LE)),
            [0xfe, 0xff, ..] => Some(Self(UTF_16BE)),
            _ => None,
        };
        match asked.map(|it| it.0) {
            Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Ok(marked.or(asked)),
            Some(encoding) if encoding != UTF_8 => Ok(asked),
            _ if marked.is_some() => Ok(marked),
            _ => {
                let is_letter = |byte: u8| byte != 0 && byte.is_ascii();
                let order = match *start {
                    [a, 0, b, 0, ..] if is_letter(a) && is_letter(b) => "utf-16le",
                    [0, a, 0, b, ..] if is_letter(a) && is_letter(b) => "utf-16be",
                    _ => return Ok(None),
                };
                let what = "looks like UTF-16 without a byte-order mark";
                Err(Problem::new(what).or(Advice::set("encoding", order)))
            }
        }
    }

    /// Whether texts may have bytes 0.
    pub(super) fn has_zeros(self) -> bool {
        self.0 == UTF_16LE || self.0 == UTF_16BE
    }

    /// A whole text, without its byte-order mark; none if it is not written so.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<String> {
        let mut decoder = self.0.new_decoder_with_bom_removal();
        let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len())?;
        let mut text = String::with_capacity(most);
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
        (result == DecoderResult::InputEmpty).then_some(text)
    }
}

/// Gives the text of a reader in UTF-8.
pub(super) struct DecodingReader<R> {
    inner: R,
    decoder: Decoder,
    /// Read and not yet decoded, from `at` on.
    input: Vec<u8>,
    at: usize,
    /// Decoded and not yet handed out, from `given` on.
    text: Vec<u8>,
    given: usize,
    has_ended: bool,
    is_done: bool,
}

/// Bytes that are decoded at once.
const STEP: usize = 32 << 10;

impl<R: Read> DecodingReader<R> {
    pub(super) fn new(inner: R, encoding: TextEncoding) -> Self {
        Self {
            inner,
            decoder: encoding.0.new_decoder_with_bom_removal(),
            input: Vec::new(),
            at: 0,
            text: Vec::new(),
            given: 0,
            has_ended: false,
            is_done: false,
        }
    }

    fn decode_more(&mut self) -> io::Result<()> {
        if self.at == self.input.len() && !self.has_ended {
            self.input.resize(STEP, 0);
            self.at = 0;
            let read = self.inner.read(&mut self.input);
            self.input.truncate(read.as_ref().map_or(0, |read| *read));
            let read = read?;
            self.has_ended = read == 0;
        }
        // Three bytes for one are enough for every encoding, and a character takes up to four.
        self.text.resize(3 * STEP + 16, 0);
        let input = &self.input[self.at..];
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(input, &mut self.text, self.has_ended);
        self.at += read;
        self.given = 0;
        self.text.truncate(written);
        match result {
            DecoderResult::InputEmpty => self.is_done = self.has_ended,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => self.text.extend_from_slice(UNDECODABLE),
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.is_done {
            self.decode_more()?;
        }
        let count = buffer.len().min(self.text.len() - self.given);
        buffer[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
