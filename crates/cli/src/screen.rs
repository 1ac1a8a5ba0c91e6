//! What standard output can show.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// Writes a text to standard output, all of it.
pub(crate) fn print(text: &[u8]) -> anyhow::Result<()> {
    nearkin_engine::write::check_stdout()?;
    let mut stdout = io::stdout();
    stdout.write_all(text)?;
    Ok(stdout.flush()?)
}

/// What the terminal can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) unicode: bool,
    pub(crate) colours: bool,
}

impl Screen {
    /// No terminal, but a text that anyone may print.
    pub(crate) const PAPER: Self = Self { width: 80, unicode: true, colours: false };

    /// The terminal that standard output goes to, or 80 columns where it goes elsewhere.
    pub(crate) fn of_stdout() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let colours = io::stdout().is_terminal();
        let width = if colours {
            terminal_size::terminal_size().map(|size| usize::from(size.0.0))
        } else {
            None
        };
        // Nobody reads lines longer than that.
        let width = width.or(columns).unwrap_or(80).min(1000);
        Self { width, unicode: speaks_unicode(), colours }
    }

    /// A text for people, without what the terminal cannot show.
    pub(crate) fn show(self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let ascii =
            [("≥", ">="), ("±", "+-"), ("−", "-"), ("→", ">"), ("…", "..."), ("°", " degrees")];
        ascii.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// A text of somebody else's with its control characters spelled out: they could move the cursor, hide what was written, or
/// break a message into lines. Line ends and tabs stay where there may be several lines.
pub(crate) fn harmless(text: &str, has_lines: bool) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let stays = |c: char| has_lines && matches!(c, '\n' | '\t');
    let is_harmful = |c: char| (c.is_control() || turns(c)) && !stays(c);
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmful(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether the locale says UTF-8, by the first variable that says anything.
fn speaks_unicode() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = names.iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.find(|value| !value.is_empty()).unwrap_or_default().to_lowercase();
    let dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    !dumb && (locale.contains("utf-8") || locale.contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn escape_sequences_of_documents_reached_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc", false), "a\\u{1b}[2Jb\\nc");
        assert_eq!(harmless("a\u{9b}31m\nc\td\re", true), "a\\u{9b}31m\nc\td\\re");
        assert_eq!(harmless("x\u{202e}txt.exe", true), "x\\u{202e}txt.exe");
        for plain in ["", "漢字 é 👩\u{200d}👧", "שלום"] {
            assert_eq!(harmless(plain, false), plain);
        }
    }
}
