//! Texts in CSV that a spreadsheet takes for formulas.
//!
//! Rows of CSV go in, in pieces of any size, and come out with an apostrophe before each text that begins like a
//! formula. A spreadsheet that opens the file then shows the text and computes nothing. Numbers stay as they are.

/// What to do with texts that begin like formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// Write them as they are.
    #[default]
    Kept,
    /// Write an apostrophe before them.
    Marked,
}

/// Marks the formulas in rows.
pub(super) struct FormulaMarker {
    delimiter: u8,
    state: State,
    /// The field so far, as it is written.
    field: Vec<u8>,
    marked: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Unquoted,
    Quoted,
    QuoteInQuotes,
}

impl FormulaMarker {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start, field: Vec::new(), marked: Vec::new() }
    }

    /// These bytes with their formulas marked, but for a field that may go on.
    pub(super) fn mark(&mut self, bytes: &[u8]) -> &[u8] {
        self.marked.clear();
        for &byte in bytes {
            let ends = byte == self.delimiter || matches!(byte, b'\n' | b'\r');
            if ends && self.state != State::Quoted {
                self.end_field();
                self.marked.push(byte);
                continue;
            }
            self.field.push(byte);
            self.state = match (self.state, byte) {
                (State::Start | State::QuoteInQuotes, b'"') => State::Quoted,
                (State::Quoted, b'"') => State::QuoteInQuotes,
                (State::Quoted, _) => State::Quoted,
                _ => State::Unquoted,
            };
        }
        &self.marked
    }

    /// The last field, if it has no end.
    pub(super) fn rest(&mut self) -> &[u8] {
        self.marked.clear();
        self.end_field();
        &self.marked
    }

    fn end_field(&mut self) {
        let (quote, text) = match self.field.strip_prefix(b"\"") {
            Some(text) => (&b"\""[..], text),
            None => (&b""[..], &self.field[..]),
        };
        self.marked.extend_from_slice(quote);
        if is_formula(text.strip_suffix(quote).unwrap_or(text)) {
            self.marked.push(b'\'');
        }
        self.marked.extend_from_slice(text);
        self.field.clear();
        self.state = State::Start;
    }
}

fn is_formula(text: &[u8]) -> bool {
    let is_number = || {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        number.is_some_and(f64::is_finite)
    };
    matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) && !is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows with their formulas marked, handed over in pieces of every size.
    fn marked(delimiter: u8, rows: &str) -> String {
        let in_pieces = |size: usize| {
            let mut marker = FormulaMarker::new(delimiter);
            let mut out = Vec::new();
            rows.as_bytes()
                .chunks(size)
                .for_each(|piece| out.extend_from_slice(marker.mark(piece)));
            out.extend_from_slice(marker.rest());
            String::from_utf8(out).unwrap()
        };
        let whole = in_pieces(rows.len());
        (1..rows.len()).for_each(|size| assert_eq!(in_pieces(size), whole, "{size}"));
        whole
    }

    #[test]
    fn texts_that_begin_like_formulas_get_an_apostrophe() {
        for (row, expected) in [
            ("a,=1+1,b\n", "a,'=1+1,b\n"),
            ("=a,+b,-c,@d,\te\n", "'=a,'+b,'-c,'@d,'\te\n"),
            ("\"=SUM(A1,A2)\",\"say \"\"=hi\"\"\"\n", "\"'=SUM(A1,A2)\",\"say \"\"=hi\"\"\"\n"),
            ("\"a\n=b\",\"\n=c\"\n=d\n", "\"a\n=b\",\"\n=c\"\n'=d\n"),
            ("\"\rx\",a=b,'=c\r\n=d", "\"'\rx\",a=b,'=c\r\n'=d"),
            ("-,--1,-inf,-1e999\n", "'-,'--1,'-inf,'-1e999\n"),
        ] {
            assert_eq!(marked(b',', row), expected);
        }
        assert_eq!(marked(b'\t', "=a\t,=b\t-c\n"), "'=a\t,=b\t'-c\n");
    }

    #[test]
    fn numbers_and_other_texts_stay_as_they_are() {
        for row in ["-1,+2.5,-1e-9,\"-3\",-0,+.5\n", "a-b,,\"\",\"\"\"=a\"\"\", =b\n", "\n\r\n,,\n"]
        {
            assert_eq!(marked(b',', row), row);
        }
    }
}
