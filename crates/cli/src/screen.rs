//! What standard output can show.

use std::io::{self, IsTerminal};

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

/// Whether the locale says UTF-8, by the first variable that says anything.
fn speaks_unicode() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = names.iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.find(|value| !value.is_empty()).unwrap_or_default().to_lowercase();
    let dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    !dumb && (locale.contains("utf-8") || locale.contains("utf8"))
}
