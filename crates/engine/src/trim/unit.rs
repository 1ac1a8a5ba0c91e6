//! What a piece of a document is: a line, a paragraph, a sentence, or a run of words.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::{Error, Result};

/// What is removed where it is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceUnit {
    /// A line with its end.
    Line,
    /// Lines that are not blank, and the blank ones behind them.
    Paragraph,
    /// What a full stop, a question mark, an exclamation mark or a line end closes, and the white space behind it.
    Sentence,
    /// Any run of at least this many words.
    Words(usize),
}

/// The shortest run of words that a user may ask for: shorter ones are idioms.
pub const LEAST_WINDOW: usize = 5;

impl PieceUnit {
    /// How many words a run has at least, if it is one.
    pub(crate) fn words(self) -> Option<usize> {
        match self {
            Self::Words(words) => Some(words),
            Self::Line | Self::Paragraph | Self::Sentence => None,
        }
    }

    /// What several are called.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Line => "lines",
            Self::Paragraph => "paragraphs",
            Self::Sentence => "sentences",
            Self::Words(_) => "runs of words",
        }
    }

    /// Whether a text without line ends is one piece.
    pub fn is_part_of_lines(self) -> bool {
        matches!(self, Self::Line | Self::Paragraph)
    }

    /// The pieces of a text, in order. What is between two is in none.
    pub(super) fn pieces(self, text: &str) -> Pieces<'_> {
        Pieces { unit: self, text, at: 0 }
    }
}

impl FromStr for PieceUnit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let words = |number: &str| match number.parse() {
            Ok(words @ LEAST_WINDOW..=1_000_000) => Some(Self::Words(words)),
            _ => None,
        };
        let unit = match text {
            "line" => Some(Self::Line),
            "paragraph" => Some(Self::Paragraph),
            "sentence" => Some(Self::Sentence),
            _ => text.strip_prefix("words:").and_then(words),
        };
        unit.ok_or_else(|| {
            let must =
                "line, paragraph, sentence, or words:N with N from 5 to 1000000, such as words:50";
            Error::parameter("unit", text, must)
        })
    }
}

impl fmt::Display for PieceUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Paragraph => f.write_str("paragraph"),
            Self::Sentence => f.write_str("sentence"),
            Self::Words(words) => write!(f, "words:{words}"),
        }
    }
}

/// The pieces of a text, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Pieces<'a> {
    unit: PieceUnit,
    text: &'a str,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let length = match self.unit {
            PieceUnit::Line => first_line(rest),
            PieceUnit::Paragraph => first_paragraph(rest),
            PieceUnit::Sentence => first_sentence(rest),
            PieceUnit::Words(_) => rest.len(),
        };
        self.at += length;
        Some(start..self.at)
    }
}

/// How long the first line is, with its end.
fn first_line(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

/// How long the first paragraph is, with the blank lines behind it; or the blank lines that the text begins with.
fn first_paragraph(text: &str) -> usize {
    let (mut at, mut ended) = (0, false);
    while at < text.len() {
        let line = first_line(&text[at..]);
        let is_blank = text[at..at + line].trim().is_empty();
        if ended && !is_blank {
            break;
        }
        ended |= is_blank;
        at += line;
    }
    at
}

/// How long the first sentence is, with the white space behind it.
fn first_sentence(text: &str) -> usize {
    let closes =
        |c: char| matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）');
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let end = match c {
            '\n' => Some(at + 1),
            '.' | '!' | '?' | '…' | '。' | '！' | '？' => {
                while characters.next_if(|(_, c)| closes(*c)).is_some() {}
                let next = characters.peek();
                let ends =
                    matches!(c, '。' | '！' | '？') || next.is_none_or(|(_, c)| c.is_whitespace());
                ends.then(|| next.map_or(text.len(), |(at, _)| *at))
            }
            _ => None,
        };
        if let Some(end) = end {
            let behind = text[end..].find(|c: char| !c.is_whitespace());
            return behind.map_or(text.len(), |behind| end + behind);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(unit: PieceUnit, text: &str) -> Vec<&str> {
        unit.pieces(text).map(|piece| &text[piece]).collect()
    }

    #[test]
    fn pieces_are_the_whole_text() {
        let line = |text| pieces(PieceUnit::Line, text);
        assert_eq!(line("a\r\n\nb"), ["a\r\n", "\n", "b"]);
        assert!(line("").is_empty());
        let paragraph = |text| pieces(PieceUnit::Paragraph, text);
        assert_eq!(paragraph("\n a\nb\n\n \nc"), ["\n", " a\nb\n\n \n", "c"]);
        let sentence = |text| pieces(PieceUnit::Sentence, text);
        assert_eq!(
            sentence("One 1.5 e.g.this? “Two!” Three\nfour… 五。六"),
            ["One 1.5 e.g.this? ", "“Two!” ", "Three\n", "four… ", "五。", "六"]
        );
    }

    #[test]
    fn units_are_read_as_they_are_written() {
        for unit in ["line", "paragraph", "sentence", "words:5", "words:50"] {
            assert_eq!(unit.parse::<PieceUnit>().unwrap().to_string(), unit);
        }
        for unit in ["words", "words:4", "words:x", "words:1000001", "lines", ""] {
            assert!(unit.parse::<PieceUnit>().is_err(), "{unit}");
        }
    }
}
