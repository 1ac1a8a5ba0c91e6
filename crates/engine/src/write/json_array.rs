//! Lines of JSON as the elements of one array, one on each line.

use std::io::Result;

/// What was written of the array.
#[derive(Debug, Default)]
pub(super) struct ArrayMaker {
    has_begun: bool,
    /// Whether the last line has not ended yet.
    is_in_line: bool,
}

impl ArrayMaker {
    /// Hands the pieces of the array that these bytes of lines become to `put`.
    pub(super) fn each(
        &mut self,
        bytes: &[u8],
        mut put: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_in_line {
                put(if self.has_begun { b",\n" } else { b"[\n" })?;
                self.has_begun = true;
            }
            let text = line.strip_suffix(b"\n");
            self.is_in_line = text.is_none();
            put(text.unwrap_or(line))?;
        }
        Ok(())
    }

    /// The end of the array.
    pub(super) fn end(self) -> &'static [u8] {
        if self.has_begun { b"\n]\n" } else { b"[]\n" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(pieces: &[&str]) -> String {
        let (mut maker, mut out) = (ArrayMaker::default(), Vec::new());
        for piece in pieces {
            let put = |bytes: &[u8]| {
                out.extend_from_slice(bytes);
                Ok(())
            };
            maker.each(piece.as_bytes(), put).unwrap();
        }
        out.extend_from_slice(maker.end());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_become_elements_wherever_they_are_cut() {
        let whole = "[\n{\"a\":1},\n{\"a\":2}\n]\n";
        assert_eq!(array(&["{\"a\":1}\n{\"a\":2}\n"]), whole);
        assert_eq!(array(&["{\"a\":1}", "\n", "{\"a", "\":2}\n", ""]), whole);
        assert_eq!(array(&[]), "[]\n");
    }
}
