//! Passages that two texts share: for people side by side, for programs as JSON.

use std::fmt::Write as _;
use std::ops::Range;

use nearkin_engine::passages::{Passage, Words, find};
use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::screen::{Screen, harmless};

/// What two texts share.
pub(crate) struct SharedPassages<'a> {
    words: [Words<'a>; 2],
    least: usize,
    passages: Vec<Passage>,
}

impl<'a> SharedPassages<'a> {
    pub(crate) fn of(texts: [&'a str; 2], least: usize) -> Self {
        let words = texts.map(Words::of);
        let passages = find(&words[0], &words[1], least);
        Self { words, least, passages }
    }

    /// The share of either text's words that stand in passages and are the same in both.
    pub(crate) fn covered(&self) -> [f64; 2] {
        let same: usize = self.passages.iter().map(Passage::words).sum();
        self.words.each_ref().map(|words| same as f64 / words.len().max(1) as f64)
    }

    /// The longest passages, as the first text has them.
    pub(crate) fn longest(&self, most: usize) -> impl Iterator<Item = &'a str> {
        let [words, _] = &self.words;
        self.passages.iter().take(most).map(|found| slice(words, found.spans()[0].clone()))
    }

    /// The longest passages, with where they stand: characters from 0, lines from 1.
    pub(crate) fn as_json(&self, most: Option<usize>) -> Vec<Value> {
        let passages = &self.passages[..most.unwrap_or(usize::MAX).min(self.passages.len())];
        let places = [0, 1].map(|side| Places::of(&self.words[side], passages, side));
        let stretch = |side: usize, words: Range<usize>| {
            let span = self.words[side].span(words);
            let [start, end] = [span.start, span.end].map(|at| places[side].character_and_line(at));
            (start, end, &self.words[side].text()[span])
        };
        let whole = |side: usize, words: Range<usize>| {
            let ((start, line), (end, last_line), text) = stretch(side, words);
            json!({ "start": start, "end": end, "line": line, "last_line": last_line, "text": text })
        };
        let part = |side: usize, words: Range<usize>| {
            let ((start, _), (end, _), text) = stretch(side, words);
            json!({ "start": start, "end": end, "text": text })
        };
        let passage = |passage: &Passage| {
            let [a, b] = passage.spans();
            let gaps = passage.gaps().map(|[a, b]| json!({ "a": part(0, a), "b": part(1, b) }));
            json!({
                "words": passage.words(),
                "a": whole(0, a),
                "b": whole(1, b),
                "differ": gaps.collect::<Vec<_>>(),
            })
        };
        passages.iter().map(passage).collect()
    }

    /// All passages in two columns, the longest first.
    pub(crate) fn side_by_side(&self, screen: Screen) -> String {
        if self.passages.is_empty() {
            return format!("\nno {} are the same in both\n", in_a_row(self.least));
        }
        let mut text = String::from("\nshared passages, the longest first: ");
        text.push_str("[-only in a-] {+only in b+}\n");
        let places = [0, 1].map(|side| Places::of(&self.words[side], &self.passages, side));
        for (number, passage) in (1..).zip(&self.passages) {
            self.show(number, passage, &places, screen, &mut text);
        }
        text
    }

    fn show(
        &self,
        number: usize,
        passage: &Passage,
        places: &[Places; 2],
        screen: Screen,
        text: &mut String,
    ) {
        let spans = passage.spans();
        let other = spans.each_ref().map(|span| span.len() - passage.words());
        let _ = match (passage.words(), other) {
            (words, [0, 0]) => writeln!(text, "\n{number}. {}", counted(words)),
            (words, [a, b]) => {
                writeln!(text, "\n{number}. {}; {a} in a and {b} in b differ", counted(words))
            }
        };
        let mut columns = Columns::new(screen, text);
        let headings = ["a", "b"].into_iter().enumerate().map(|(side, name)| {
            let bytes = self.words[side].span(spans[side].clone());
            let lines = [bytes.start, bytes.end].map(|at| places[side].character_and_line(at).1);
            heading(name, &spans[side], lines, places[side].lines)
        });
        columns.put_heading(&headings.collect::<Vec<_>>());
        let gaps = passage.gaps().map(Some).chain([None]);
        for (run, gap) in passage.runs().iter().zip(gaps) {
            for word in 0..run.words {
                columns.put([0, 1].map(|side| self.piece(side, run.at[side] + word, &spans[side])));
            }
            let [a, b] = gap.unwrap_or_default();
            for word in 0..a.len().max(b.len()) {
                columns.put([(0, &a), (1, &b)].map(|(side, gap)| {
                    let at = gap.start + word;
                    if at >= gap.end {
                        return Piece::default();
                    }
                    let piece = self.piece(side, at, &spans[side]);
                    piece.marked(side, at == gap.start, at + 1 == gap.end, screen.colours)
                }));
            }
        }
        columns.end_row();
    }

    /// A word with what stands around it, white space folded: a piece starts behind the last white space before its word.
    fn piece(&self, side: usize, word: usize, span: &Range<usize>) -> Piece {
        let words = &self.words[side];
        let start_of = |word: usize| {
            let start = words.span(word..word + 1).start;
            let before = words.span(word - 1..word).end;
            let between = words.text()[before..start].char_indices();
            let white = between.rev().find(|(_, c)| c.is_whitespace());
            white.map_or(start, |(at, c)| before + at + c.len_utf8())
        };
        let whole = words.span(span.clone());
        let start = if word == span.start { whole.start } else { start_of(word) };
        let end = if word + 1 == span.end { whole.end } else { start_of(word + 1) };
        let raw = &words.text()[start..end];
        let text: Vec<&str> = raw.split_whitespace().collect();
        let text = harmless(&text.join(" "), false).into_owned();
        Piece { text, blank: raw.ends_with(char::is_whitespace), colour: None }
    }
}

fn slice<'a>(words: &Words<'a>, range: Range<usize>) -> &'a str {
    &words.text()[words.span(range)]
}

fn counted(words: usize) -> String {
    format!("{words} {}", if words == 1 { "word" } else { "words" })
}

fn in_a_row(words: usize) -> String {
    if words == 1 { "words".into() } else { format!("{words} words in a row") }
}

/// What a column has: words from 1, and lines where there are several.
fn heading(name: &str, words: &Range<usize>, lines: [usize; 2], of: usize) -> String {
    let range = |first: usize, last: usize, what: &str| match first == last {
        true => format!("{what} {first}"),
        false => format!("{what}s {first} to {last}"),
    };
    let words = range(words.start + 1, words.end, "word");
    match of {
        1 => format!("{name}: {words}"),
        _ => format!("{name}: {}, {words}", range(lines[0], lines[1], "line")),
    }
}

/// On which lines, and at which characters, some bytes of a text stand.
struct Places {
    /// Bytes, characters before them, and the line.
    known: Vec<(usize, usize, usize)>,
    /// Lines of the whole text.
    lines: usize,
}

impl Places {
    /// All places at which something of these passages starts or ends.
    fn of(words: &Words<'_>, passages: &[Passage], side: usize) -> Self {
        let mut bytes = Vec::new();
        for passage in passages {
            let gaps = passage.gaps().map(|gap| gap[side].clone());
            for part in gaps.chain([passage.spans()[side].clone()]) {
                let span = words.span(part);
                bytes.extend([span.start, span.end]);
            }
        }
        bytes.sort_unstable();
        bytes.dedup();
        let text = words.text();
        let (mut from, mut characters, mut line) = (0, 0, 1);
        let known = bytes.into_iter().map(|at| {
            characters += text[from..at].chars().count();
            line += text[from..at].matches('\n').count();
            from = at;
            (at, characters, line)
        });
        Self { known: known.collect(), lines: text.lines().count() }
    }

    fn character_and_line(&self, byte: usize) -> (usize, usize) {
        let found = self.known.binary_search_by_key(&byte, |known| known.0);
        let (_, character, line) = self.known[found.expect("a place of a passage")];
        (character, line)
    }
}

/// Something that stays on one line where it can.
#[derive(Default)]
struct Piece {
    text: String,
    /// Whether a blank follows.
    blank: bool,
    colour: Option<u8>,
}

impl Piece {
    /// The piece as one that the other text does not have.
    fn marked(self, side: usize, first: bool, last: bool, colours: bool) -> Self {
        let (open, close, colour) = [("[-", "-]", 31), ("{+", "+}", 32)][side];
        let open = if first { open } else { "" };
        let close = if last { close } else { "" };
        let text = format!("{open}{}{close}", self.text);
        Self { text, colour: colours.then_some(colour), ..self }
    }

    /// Cuts off what goes beyond this width, where it does.
    fn cut(&mut self, width: usize) -> Option<Self> {
        let mut used = 0;
        let beyond = |&(at, c): &(usize, char)| {
            used += c.width().unwrap_or(0);
            at > 0 && used > width
        };
        let (at, _) = self.text.char_indices().find(beyond)?;
        let text = self.text.split_off(at);
        Some(Self { text, blank: self.blank, colour: self.colour })
    }
}

/// One row of one column.
#[derive(Default)]
struct Cell {
    text: String,
    width: usize,
    blank: bool,
}

impl Cell {
    fn width_with(&self, piece: &Piece) -> usize {
        self.width + usize::from(self.blank) + piece.text.width()
    }

    fn push(&mut self, piece: &Piece) {
        if piece.text.is_empty() {
            return;
        }
        self.width = self.width_with(piece);
        if self.blank {
            self.text.push(' ');
        }
        match piece.colour {
            Some(colour) => {
                let _ = write!(self.text, "\u{1b}[{colour}m{}\u{1b}[0m", piece.text);
            }
            None => self.text.push_str(&piece.text),
        }
        self.blank = piece.blank;
    }
}

/// Two columns that are filled row by row, so that pieces which belong together stand side by side.
struct Columns<'a> {
    width: usize,
    between: &'static str,
    cells: [Cell; 2],
    out: &'a mut String,
}

impl<'a> Columns<'a> {
    const INDENT: usize = 2;
    const NARROWEST: usize = 12;

    fn new(screen: Screen, out: &'a mut String) -> Self {
        let between = if screen.unicode { " │ " } else { " | " };
        let width = screen.width.saturating_sub(Self::INDENT + between.width()) / 2;
        Self { width: width.max(Self::NARROWEST), between, cells: Default::default(), out }
    }

    /// Adds a text to either column, and ends the row.
    fn put_heading(&mut self, texts: &[String]) {
        let mut words: Vec<_> = texts.iter().map(|text| text.split(' ')).collect();
        loop {
            let next = [0, 1].map(|side| words[side].next());
            if next == [None, None] {
                return self.end_row();
            }
            let piece = |word: &str| Piece { text: word.to_owned(), blank: true, colour: None };
            self.put(next.map(|word| word.map_or_else(Piece::default, piece)));
        }
    }

    /// Adds a piece to either column, in the same row.
    fn put(&mut self, pieces: [Piece; 2]) {
        let fits = |(cell, piece): (&Cell, &Piece)| cell.width_with(piece) <= self.width;
        if !self.cells.iter().zip(&pieces).all(fits) {
            self.end_row();
        }
        for (side, mut piece) in pieces.into_iter().enumerate() {
            while let Some(rest) = piece.cut(self.width) {
                self.cells[side].push(&piece);
                self.end_row();
                piece = rest;
            }
            self.cells[side].push(&piece);
        }
    }

    fn end_row(&mut self) {
        let [a, b] = std::mem::take(&mut self.cells);
        if a.text.is_empty() && b.text.is_empty() {
            return;
        }
        let (indent, padding) = (Self::INDENT, self.width.saturating_sub(a.width));
        let row = format!("{:indent$}{}{:padding$}{}{}", "", a.text, "", self.between, b.text);
        self.out.push_str(row.trim_end());
        self.out.push('\n');
    }
}
