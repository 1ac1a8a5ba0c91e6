//! Vectors and bit strings as they are written in texts.

use super::shape::number_text;
use crate::error::{Advice, Problem};

/// Appends the components of a vector that is written as a JSON list, or as numbers between white space,
/// commas or semicolons. Returns how many there are.
pub(super) fn vector(text: &str, out: &mut Vec<f32>) -> Result<usize, Problem> {
    let start = out.len();
    components(inner(text, "vector")?, |number, token| {
        out.push(component(number, token)?);
        Ok(())
    })?;
    match out.len() - start {
        0 => Err(no_components()),
        dimension => Ok(dimension),
    }
}

pub(super) fn no_components() -> Problem {
    Problem::new("a vector without components").or("mend or drop it").or(Advice::SKIP)
}

/// What stands between the brackets, where there are some.
fn inner<'a>(text: &'a str, what: &str) -> Result<&'a str, Problem> {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('[') else { return Ok(text) };
    let open = || {
        Problem::new(format!("a {what} that begins with [ and does not end with ]")).or("close it")
    };
    rest.strip_suffix(']').ok_or_else(open)
}

/// Calls `each` with every component and its number, from 1.
fn components(
    text: &str,
    mut each: impl FnMut(usize, &str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut number = 0;
    let whole = text.trim();
    if whole.is_empty() {
        return Ok(());
    }
    for part in whole.split([',', ';']) {
        let before = number;
        for token in part.split_ascii_whitespace() {
            number += 1;
            each(number, token)?;
        }
        if number == before {
            let what = format!("component {} is empty", number + 1);
            return Err(Problem::new(what).or("write a number"));
        }
    }
    Ok(())
}

fn component(number: usize, token: &str) -> Result<f32, Problem> {
    match token.parse::<f64>() {
        Ok(wide) => single(number, wide),
        Err(_) => {
            let shown: String = token.chars().take(20).collect();
            let what = format!("component {number} is `{shown}`, not a number");
            Err(Problem::new(what).or("mend it").or(Advice::SKIP))
        }
    }
}

/// A component, counted from 1, in single precision; an error where that would make it infinite or another whole
/// number.
pub(super) fn single(number: usize, wide: f64) -> Result<f32, Problem> {
    let value = wide as f32;
    if wide.is_finite() && value.is_infinite() {
        let wide = number_text(wide);
        let what = format!("component {number} is {wide}, beyond 32-bit floats");
        return Err(Problem::new(what).or("scale the vectors"));
    }
    if wide.fract() == 0.0 && f64::from(value) != wide && wide.is_finite() {
        let wide = number_text(wide);
        let what =
            format!("component {number} is {wide}, a whole number that 32-bit floats cannot hold");
        let subtract = "subtract what all have in common";
        return Err(Problem::new(what).or(subtract).or("scale the vectors"));
    }
    finite(number, value)?;
    Ok(value)
}

/// An error for a component, counted from 1, that is NaN or infinite.
pub(super) fn finite(number: usize, value: f32) -> Result<(), Problem> {
    if value.is_finite() {
        return Ok(());
    }
    let value = number_text(value.into());
    Err(Problem::new(format!("component {number} is {value}"))
        .or("components must be finite: mend or drop the vector")
        .or(Advice::SKIP))
}

/// How bit strings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// Hexadecimal where a digit other than 0 and 1 or a `0x` says so, else bit by bit.
    #[default]
    Told,
    /// Bit by bit.
    Binary,
    /// Hexadecimal.
    Hex,
}

/// How a bit string was written. `Binary` and `Hex` are guesses that another one may contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitNotation {
    Clear,
    Binary,
    Hex,
}

/// Appends the words of a bit string: the first digit is bit 0, a hexadecimal digit has its most significant
/// bit first. Blanks and underscores do not count. Returns the number of bits.
pub(super) fn bits(
    text: &str,
    digits: Digits,
    out: &mut Vec<u64>,
) -> Result<(usize, BitNotation), Problem> {
    let text = text.trim();
    let mut bits = BitWords::new(out);
    if text.starts_with('[') {
        components(inner(text, "list of bits")?, |number, token| match token {
            "0" | "false" => bits.push(0, 1),
            "1" | "true" => bits.push(1, 1),
            _ => Err(Problem::new(format!("component {number} is `{token}`, not 0 or 1"))
                .or("bits are 0, 1, true or false")),
        })?;
        return bits.end(BitNotation::Clear);
    }
    let prefixed = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let counts = |c: &char| !c.is_whitespace() && *c != '_';
    let plain = prefixed.unwrap_or(text);
    let only_bits = plain.chars().filter(counts).all(|c| c == '0' || c == '1');
    let hex = match digits {
        Digits::Told => prefixed.is_some() || !only_bits,
        Digits::Hex => true,
        Digits::Binary => false,
    };
    let (radix, width) = if hex { (16, 4) } else { (2, 1) };
    for c in plain.chars().filter(counts) {
        let digit = c.to_digit(radix).ok_or_else(|| {
            let known = if hex { "hexadecimal digits" } else { "0 and 1" };
            let write = format!("write {known}");
            Problem::new(format!("`{c}` in a bit string")).or(write).or(Advice::SKIP)
        })?;
        bits.push(u64::from(digit), width)?;
    }
    bits.end(match (digits, prefixed.is_some(), hex) {
        (Digits::Told, false, true) => BitNotation::Hex,
        (Digits::Told, false, false) => BitNotation::Binary,
        _ => BitNotation::Clear,
    })
}

/// Appends the words of a bit string that is given as bytes, the most significant bit of each first, as
/// `numpy.packbits` makes them.
pub(super) fn bytes(bytes: &[u8], out: &mut Vec<u64>) -> Result<(usize, BitNotation), Problem> {
    let mut bits = BitWords::new(out);
    bytes.iter().try_for_each(|byte| bits.push(u64::from(*byte), 8))?;
    bits.end(BitNotation::Clear)
}

/// Appends the words of a bit string that is given as one byte per bit.
pub(super) fn booleans(bytes: &[u8], out: &mut Vec<u64>) -> Result<(usize, BitNotation), Problem> {
    let mut bits = BitWords::new(out);
    bytes.iter().try_for_each(|byte| bits.push(u64::from(*byte != 0), 1))?;
    bits.end(BitNotation::Clear)
}

/// A bit string that grows at the end of `out`, from the lowest bit of each word up.
pub(super) struct BitWords<'a> {
    out: &'a mut Vec<u64>,
    length: usize,
}

impl<'a> BitWords<'a> {
    pub(super) fn new(out: &'a mut Vec<u64>) -> Self {
        Self { out, length: 0 }
    }

    /// Appends the lowest `width` bits of `digit`, of up to eight, the highest of them first.
    pub(super) fn push(&mut self, digit: u64, width: u32) -> Result<(), Problem> {
        for place in (0..width).rev() {
            if self.length.is_multiple_of(64) {
                self.out.push(0);
            }
            if let Some(word) = self.out.last_mut() {
                *word |= (digit >> place & 1) << (self.length % 64);
            }
            self.length += 1;
        }
        Ok(())
    }

    pub(super) fn end(self, written: BitNotation) -> Result<(usize, BitNotation), Problem> {
        match self.length {
            0 => Err(Problem::new("an empty bit string").or("mend or drop it").or(Advice::SKIP)),
            length => Ok((length, written)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<f32>, Problem> {
        let mut out = Vec::new();
        vector(text, &mut out).map(|dimension| {
            assert_eq!(dimension, out.len());
            out
        })
    }

    #[test]
    fn vectors_in_all_their_spellings() {
        for text in
            ["[1, 2.5, -3e-2]", "1 2.5 -0.03", " 1,2.5,-.03 ", "1;2.5;-3e-2", "1\t2.5 , -0.03"]
        {
            assert_eq!(read(text).unwrap(), [1.0, 2.5, -0.03], "{text}");
        }
        for (wrong, part) in [
            ("", "without components"),
            ("[]", "without components"),
            ("[1, 2", "does not end with ]"),
            ("1,,2", "component 2 is empty"),
            ("1,2,", "component 3 is empty"),
            ("1 x", "component 2 is `x`"),
            ("[1, null]", "component 2 is `null`"),
            ("[[1], [2]]", "component 1 is `[1]`"),
            ("1 NaN", "component 2 is NaN"),
            ("inf", "component 1 is inf"),
            ("1e39", "beyond 32-bit floats"),
        ] {
            let what = read(wrong).unwrap_err().what;
            assert!(what.contains(part), "{wrong}: {what}");
        }
    }

    fn places(text: &str, digits: Digits) -> Result<(Vec<usize>, usize, BitNotation), Problem> {
        let mut out = Vec::new();
        let (length, written) = bits(text, digits, &mut out)?;
        let set = |place: &usize| out[place / 64] >> (place % 64) & 1 == 1;
        Ok(((0..length).filter(set).collect(), length, written))
    }

    #[test]
    fn the_first_digit_is_bit_0() {
        let told = |text| places(text, Digits::Told).unwrap();
        assert_eq!(told("0110"), (vec![1, 2], 4, BitNotation::Binary));
        assert_eq!(told("01_1 0"), (vec![1, 2], 4, BitNotation::Binary));
        assert_eq!(told("[0, 1, true, false]"), (vec![1, 2], 4, BitNotation::Clear));
        assert_eq!(told("6"), (vec![1, 2], 4, BitNotation::Hex));
        assert_eq!(told("8F"), (vec![0, 4, 5, 6, 7], 8, BitNotation::Hex));
        assert_eq!(told("0x10"), (vec![3], 8, BitNotation::Clear));
        assert_eq!(places("10", Digits::Hex).unwrap(), (vec![3], 8, BitNotation::Clear));
        let long = format!("{}1", "0".repeat(70));
        assert_eq!(told(&long), (vec![70], 71, BitNotation::Binary));
        let mut out = Vec::new();
        assert_eq!(bytes(&[0x8f, 0x01], &mut out), Ok((16, BitNotation::Clear)));
        assert_eq!(out, [0b1000_0000_1111_0001]);
        for (wrong, part) in
            [("", "empty"), ("0x", "empty"), ("01g", "`g`"), ("[0, 2]", "component 2 is `2`")]
        {
            assert!(places(wrong, Digits::Told).unwrap_err().what.contains(part), "{wrong}");
        }
        let problem = places("6", Digits::Binary).unwrap_err();
        assert_eq!(problem.advice[0], "write 0 and 1".into());
    }
}
