//! A fast parser for the most common kind of line: an object of which strings and whole numbers are wanted.
//!
//! In: bytes that start with a line. Out: what [`fields::take`](super::fields::take) would give for it and
//! how long it is, or nothing: whatever is rare or wrong is left to the full parser, which also words the
//! errors. What is accepted here is valid JSON and means the same there; a property test holds
//! the two against each other.
//!
//! A line feed is a control character and ends the strings, numbers and blanks of a damaged line like any
//! other, so the end of a line need not be known beforehand. Strings that are taken may not be UTF-8, which
//! is cheaper to check for many at once.

use nearkin_kernels::{meaning, string_special, unescape};

use super::fields::{FieldValues, Scalar, WANTED, WantedNames};

/// Reads the object on the first line. Strings found are appended to `arena`, which is as before where
/// nothing comes out. The length is with the line feed.
pub(super) fn take(
    data: &[u8],
    names: &WantedNames<'_>,
    arena: &mut Vec<u8>,
) -> Option<(FieldValues, usize)> {
    let before = arena.len();
    let mut line = JsonLine { data, at: 0 };
    let found = line.object(names, arena);
    if found.is_none() {
        arena.truncate(before);
    }
    found.map(|found| (found, line.at))
}

/// Levels of lists and objects that are passed over here; few lines have more.
const DEPTH: usize = 16;

struct JsonLine<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> JsonLine<'a> {
    fn object(&mut self, names: &WantedNames<'_>, arena: &mut Vec<u8>) -> Option<FieldValues> {
        let mut found = FieldValues::default();
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return self.end().then_some(found);
        }
        loop {
            let key = self.key()?;
            self.expect(b':')?;
            let is_wanted = |slot: &usize| names[*slot].is_some_and(|name| name.as_bytes() == key);
            if let Some(slot) = (0..WANTED).find(is_wanted) {
                let scalar = self.value(arena)?;
                (slot..WANTED).filter(is_wanted).for_each(|slot| found.set(slot, 1, scalar));
            } else {
                expect_utf8(key)?;
                self.unwanted(key, names)?;
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return None,
            }
        }
        self.at += 1;
        self.end().then_some(found)
    }

    fn rest(&self) -> &'a [u8] {
        &self.data[self.at..]
    }

    fn here(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.here() {
            if !is_space(byte) {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.peek()?;
        self.expect_here(byte)
    }

    /// The next byte, white space or not.
    fn expect_here(&mut self, byte: u8) -> Option<()> {
        let next = self.here()? == byte;
        self.at += usize::from(next);
        next.then_some(())
    }

    /// Whether nothing more is on the line.
    fn end(&mut self) -> bool {
        let next = self.peek();
        self.at += usize::from(next == Some(b'\n'));
        next.is_none_or(|byte| byte == b'\n')
    }

    /// A key without escapes.
    fn key(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        self.at += string_special(self.rest());
        let key = &self.data[start..self.at];
        self.expect_here(b'"')?;
        Some(key)
    }

    fn value(&mut self, arena: &mut Vec<u8>) -> Option<Scalar> {
        if self.peek()? != b'"' {
            return self.plain();
        }
        let start = arena.len();
        self.at += 1;
        self.string(arena)?;
        Some(Scalar::Text(start, arena.len()))
    }

    /// A value that is not wanted, unless a wanted name leads into it.
    fn unwanted(&mut self, key: &[u8], names: &WantedNames<'_>) -> Option<()> {
        let first_step = |name: &&str| {
            let rest = name.as_bytes().strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with(b"."))
        };
        if self.peek()? == b'{' && names.iter().flatten().any(first_step) {
            return None;
        }
        let start = self.at;
        self.pass_over(DEPTH)?;
        expect_utf8(&self.data[start..self.at])
    }

    /// Any value, of up to this many levels.
    fn pass_over(&mut self, levels: usize) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.skip_string()
            }
            b'{' => self.members(b'}', levels, |line, levels| {
                line.expect(b'"')?;
                line.skip_string()?;
                line.expect(b':')?;
                line.pass_over(levels)
            }),
            b'[' => self.members(b']', levels, Self::pass_over),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => self.plain().map(drop),
        }
    }

    /// What stands between brackets.
    fn members(
        &mut self,
        close: u8,
        levels: usize,
        member: impl Fn(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        self.at += 1;
        if self.peek()? != close {
            member(self, levels)?;
            while self.peek()? == b',' {
                self.at += 1;
                member(self, levels)?;
            }
        }
        self.expect_here(close)
    }

    /// A number or a literal.
    fn plain(&mut self) -> Option<Scalar> {
        match self.here()? {
            b'-' | b'0'..=b'9' => self.whole_number(),
            b't' => self.literal("true", Scalar::Bool),
            b'f' => self.literal("false", Scalar::Bool),
            b'n' => self.literal("null", Scalar::Null),
            _ => None,
        }
    }

    fn literal(&mut self, name: &str, scalar: Scalar) -> Option<Scalar> {
        let here = self.rest().starts_with(name.as_bytes());
        self.at += name.len();
        here.then_some(scalar)
    }

    /// A whole number of up to 18 digits; others are for the full parser.
    fn whole_number(&mut self) -> Option<Scalar> {
        let negative = self.here() == Some(b'-');
        self.at += usize::from(negative);
        let start = self.at;
        let mut number = 0i64;
        while let Some(digit @ b'0'..=b'9') = self.here()
            && self.at - start < 19
        {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - start;
        let leading_zero = digits > 1 && self.data[start] == b'0';
        let goes_on = matches!(self.here(), Some(b'.' | b'e' | b'E'));
        let negative_zero = negative && number == 0; // a float to the full parser
        if digits == 0 || digits > 18 || leading_zero || goes_on || negative_zero {
            return None;
        }
        Some(Scalar::Int(if negative { -number } else { number }))
    }

    fn skip_number(&mut self) -> Option<()> {
        self.at += usize::from(self.here() == Some(b'-'));
        let start = self.at;
        let digits = self.skip_digits()?;
        if digits > 1 && self.data[start] == b'0' {
            return None;
        }
        if self.here() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.here() {
            self.at += 1;
            self.at += usize::from(matches!(self.here(), Some(b'+' | b'-')));
            self.skip_digits()?;
        }
        Some(())
    }

    /// One digit or more.
    fn skip_digits(&mut self) -> Option<usize> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        (digits > 0).then_some(digits)
    }

    /// The rest of a string, with its escapes undone.
    fn string(&mut self, arena: &mut Vec<u8>) -> Option<()> {
        loop {
            self.at += unescape(self.rest(), arena);
            match *self.rest() {
                [b'"', ..] => break,
                [b'\\', b'u', ..] => {
                    self.at += 2;
                    let character = self.unicode()?;
                    arena.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return None, // another escape, a control character, or the end of the line
            }
        }
        self.at += 1;
        Some(())
    }

    /// The character of a `\u` escape, or of two that make a pair.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hexadecimal()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.expect_here(b'\\')?;
        self.expect_here(b'u')?;
        let second = self.hexadecimal()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10 | low))
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.rest().first_chunk::<4>()?;
        self.at += 4;
        let add = |number, digit: &u8| Some(16 * number + char::from(*digit).to_digit(16)?);
        digits.iter().try_fold(0, add)
    }

    /// The rest of a string that is not wanted.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            self.at += string_special(self.rest());
            match *self.rest() {
                [b'"', ..] => break,
                [b'\\', b'u', ..] => {
                    self.at += 2;
                    self.unicode()?;
                }
                [b'\\', escape, ..] if meaning(escape).is_some() => self.at += 2,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }
}

/// Checks that these bytes are UTF-8. Most are so short that looking for ASCII is the fastest way.
fn expect_utf8(bytes: &[u8]) -> Option<()> {
    (bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()).then_some(())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fields;
    use super::*;

    const NAMES: WantedNames<'static> = [Some("text"), Some("id"), Some("n")];

    /// Whether the fast way takes the line; if so, it must say what the full parser says.
    fn agrees(line: &str) -> bool {
        let (mut fast, mut full) = (Vec::from("before"), Vec::from("before"));
        let Some((found, length)) = take(line.as_bytes(), &NAMES, &mut fast) else {
            assert_eq!(fast, b"before", "{line}");
            return false;
        };
        assert_eq!(length, line.len(), "{line}");
        let truth = fields::take_any(line, &NAMES, false, &mut full)
            .unwrap_or_else(|error| panic!("taken, but {error:?}: {line}"));
        for slot in 0..WANTED {
            let seen = |found: &FieldValues, arena: &[u8]| match found.get(slot) {
                Some(Scalar::Text(start, end)) => (None, Some(arena[start..end].to_vec())),
                other => (other, None),
            };
            assert_eq!(seen(&found, &fast), seen(&truth, &full), "{line}");
        }
        true
    }

    #[test]
    fn ordinary_lines_go_the_fast_way() {
        for line in [
            "{}",
            " { } \r",
            r#"{"id":"a","text":"b"}"#,
            r#"{ "id" : -12 , "text" : "tab\t quote\" slash\/ back\\ \u00e9 \ud83d\ude00 é" , "x" : true }"#,
            r#"{"x":"skipped \n \" text","text":"","n":null,"id":0}"#,
            r#"{"text":"first","text":"last wins","meta":false}"#,
            r#"{"x":{"a":[1.5,-0,2e+7,{}],"b":{"text":"not this"}},"text":"this","y":[ ]}"#,
            r#"{"x":"caf\u00e9 \ud83d\ude00","text":"a"}"#,
        ] {
            assert!(agrees(line), "{line}");
        }
    }

    #[test]
    fn what_is_rare_or_wrong_is_left_to_the_full_parser() {
        for line in [
            "",
            "x",
            "[]",
            "1",
            "{",
            r#"{"text"}"#,
            r#"{"text":}"#,
            r#"{"text":"a",}"#,
            r#"{"text":"a"} x"#,
            r#"{"text":"a" "id":1}"#,
            r#"{"text":"\ud800"}"#,
            r#"{"text":"\ud800\u0041"}"#,
            r#"{"text":"\udc00"}"#,
            r#"{"text":"\x"}"#,
            r#"{"text":"\u12"}"#,
            r#"{"text":"\u+123"}"#,
            r#"{"text":"a"#,
            r#"{"te\u0078t":"a"}"#,
            r#"{"n":01}"#,
            r#"{"n":1.5}"#,
            r#"{"n":1e5}"#,
            r#"{"n":-}"#,
            r#"{"n":-0}"#,
            r#"{"n":12345678901234567890}"#,
            r#"{"n":{}}"#,
            r#"{"n":[]}"#,
            r#"{"n":tru}"#,
            r#"{"n":nullx}"#,
            "{\"text\":\"a\tb\"}",
            "{\"text\":\"a\0b\"}",
            r#"{"x":"\ud800","text":"a"}"#,
            r#"{"x":01}"#,
            r#"{"x":1.}"#,
            r#"{"x":-}"#,
            r#"{"x":1e}"#,
            r#"{"x":[1,]}"#,
            r#"{"x":[1}"#,
            r#"{"x":{"y"}}"#,
            r#"{"x":{"y":1,}}"#,
            r#"{"x":[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}"#,
            "{\"x\":\n1}",
            "{\"x\":1\n}",
        ] {
            let mut arena = Vec::new();
            assert!(take(line.as_bytes(), &NAMES, &mut arena).is_none(), "{line}");
        }
    }

    #[test]
    fn a_line_ends_at_its_line_feed() {
        let lines = b"{\"text\":\"a\"} \r\n{\"text\":\"b\"}";
        let mut arena = Vec::new();
        let (_, length) = take(lines, &NAMES, &mut arena).unwrap();
        assert_eq!(&lines[length..], b"{\"text\":\"b\"}");
        assert_eq!(arena, b"a");
    }

    #[test]
    fn a_path_that_leads_into_an_object_is_left_to_the_full_parser() {
        let names = [Some("meta.text"), None, None];
        let mut arena = Vec::new();
        let mut taken = |line: &str| take(line.as_bytes(), &names, &mut arena).is_some();
        assert!(!taken(r#"{"meta":{"text":"a"}}"#));
        assert!(taken(r#"{"meta":"none","meta.text":"a","met":{}}"#));
    }

    #[test]
    fn what_is_passed_over_has_to_be_utf8() {
        for line in [&b"{\"x\":\"\xff\"}"[..], b"{\"\xff\":1}", b"{\"x\":[\"\xc3\",1]}"] {
            assert!(take(line, &NAMES, &mut Vec::new()).is_none(), "{line:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]
        #[test]
        fn both_ways_agree(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "\"", ":", ",", "\"text\"", "\"id\"", "\"n\"", "\"x\"", "\"a\\nb\"", "\"\\u00e9\"",
                    "\\", "1", "-7", "0", "1.5", "1e5", "[", "]", "{\"a\":", "true", "null", "[1]", " ", "é", "\\ud83d\\ude00", "\"plain words\"",
                ]),
                0..14,
            ),
            cut in 0usize..40,
        ) {
            agrees(&parts.concat());
            // Closer to what lines look like, and damaged somewhere.
            let line = format!("{{\"id\":7,\"text\":{},\"n\":3}}", parts.concat());
            agrees(&line);
            let damaged: String = line.chars().enumerate().filter(|(i, _)| *i != cut).map(|(_, c)| c).collect();
            agrees(&damaged);
        }
    }
}
