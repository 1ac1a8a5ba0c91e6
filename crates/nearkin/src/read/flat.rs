//! The fast way through the most common kind of line: an object whose values are strings, numbers and
//! literals.
//!
//! In: one line. Out: what [`fields::take`](super::fields::take) would give, or nothing: whatever is nested,
//! rare or wrong is left to the full parser, which also words the errors. What is accepted here is valid
//! JSON and means the same there; a property test holds the two against each other.

use nearkin_kernels::string_special;

use super::fields::{Found, Names, Scalar, WANTED};

/// Reads one object. Strings found are appended to `arena`, which is as before where nothing comes out.
pub(super) fn take(json: &str, names: &Names<'_>, arena: &mut String) -> Option<Found> {
    let before = arena.len();
    let found = Line { json, at: 0 }.object(names, arena);
    if found.is_none() {
        arena.truncate(before);
    }
    found
}

struct Line<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    fn object(&mut self, names: &Names<'_>, arena: &mut String) -> Option<Found> {
        let mut found = Found::default();
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return self.end().then_some(found);
        }
        loop {
            let key = self.key()?;
            self.expect(b':')?;
            let wanted = names.map(|name| name == Some(key));
            let scalar = self.value(wanted.contains(&true), arena)?;
            for slot in (0..WANTED).filter(|&slot| wanted[slot]) {
                found.set(slot, 1, scalar);
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
        &self.json.as_bytes()[self.at..]
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.at += self.rest().iter().take_while(|byte| is_space(**byte)).count();
        self.rest().first().copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let next = self.peek()? == byte;
        self.at += usize::from(next);
        next.then_some(())
    }

    fn end(&self) -> bool {
        self.rest().iter().all(|byte| is_space(*byte))
    }

    /// A key without escapes.
    fn key(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        self.at += string_special(self.rest());
        let key = &self.json[start..self.at];
        self.expect_here(b'"')?;
        Some(key)
    }

    /// The next byte, white space or not.
    fn expect_here(&mut self, byte: u8) -> Option<()> {
        let next = *self.rest().first()? == byte;
        self.at += usize::from(next);
        next.then_some(())
    }

    fn value(&mut self, wanted: bool, arena: &mut String) -> Option<Scalar> {
        match self.peek()? {
            b'"' if wanted => {
                let start = arena.len();
                self.at += 1;
                self.string(arena)?;
                Some(Scalar::Text(start, arena.len()))
            }
            b'"' => {
                self.at += 1;
                self.skip_string()?;
                Some(Scalar::Null) // not looked at
            }
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
        let start = self.at;
        self.at += usize::from(self.rest()[0] == b'-');
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let leading_zero = digits > 1 && self.rest()[0] == b'0';
        self.at += digits;
        let goes_on = matches!(self.rest().first(), Some(b'.' | b'e' | b'E'));
        let negative_zero = self.json[start..self.at] == *"-0"; // a float to the full parser
        if digits == 0 || digits > 18 || leading_zero || goes_on || negative_zero {
            return None;
        }
        self.json[start..self.at].parse().ok().map(Scalar::Int)
    }

    /// The rest of a string, with its escapes undone.
    fn string(&mut self, arena: &mut String) -> Option<()> {
        loop {
            let start = self.at;
            self.at += string_special(self.rest());
            arena.push_str(&self.json[start..self.at]);
            match self.rest() {
                [b'"', ..] => break,
                [b'\\', escape, ..] => {
                    self.at += 2;
                    arena.push(match escape {
                        b'"' => '"',
                        b'\\' => '\\',
                        b'/' => '/',
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        b'u' => self.unicode()?,
                        _ => return None,
                    });
                }
                _ => return None, // a control character, or the end of the line
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
        let digits = self.json.get(self.at..self.at + 4)?;
        self.at += 4;
        let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        all.then(|| u32::from_str_radix(digits, 16).ok())?
    }

    /// The rest of a string that nobody looks at.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            self.at += string_special(self.rest());
            match self.rest() {
                [b'"', ..] => break,
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                _ => return None, // rare escapes too
            }
        }
        self.at += 1;
        Some(())
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fields;
    use super::*;

    const NAMES: Names<'static> = [Some("text"), Some("id"), Some("n")];

    /// Whether the fast way takes the line; if so, it must say what the full parser says.
    fn agrees(line: &str) -> bool {
        let (mut fast, mut full) = (String::from("before"), String::from("before"));
        let Some(found) = take(line, &NAMES, &mut fast) else {
            assert_eq!(fast, "before", "{line}");
            return false;
        };
        let truth = fields::take_any(line, &NAMES, &mut full)
            .unwrap_or_else(|error| panic!("taken, but {error:?}: {line}"));
        for slot in 0..WANTED {
            let seen = |found: &Found, arena: &str| match found.get(slot) {
                Some(Scalar::Text(start, end)) => (None, Some(arena[start..end].to_owned())),
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
            r#"{"x":"\u00e9","text":"a"}"#,
        ] {
            let mut arena = String::new();
            assert!(take(line, &NAMES, &mut arena).is_none(), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]
        #[test]
        fn both_ways_agree(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "\"", ":", ",", "\"text\"", "\"id\"", "\"n\"", "\"x\"", "\"a\\nb\"", "\"\\u00e9\"",
                    "\\", "1", "-7", "0", "1.5", "true", "null", "[1]", " ", "é", "\\ud83d\\ude00", "\"plain words\"",
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
