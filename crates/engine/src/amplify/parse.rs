//! The text form of an expression.
//!
//! `and(…)` and `or(…)` hold several expressions, or a count and one expression, which is repeated with functions drawn
//! anew. Everything else is a function: a word, and an argument in parentheses where it takes one. Case matters only in
//! arguments, which may be field names.
//!
//! ```text
//! expression = ("and" | "or") "(" count "," expression ")"
//!            | ("and" | "or") "(" expression {"," expression} ")"
//!            | word ["(" argument ")"]
//! ```

use super::expression::{Expression, MAX_DEPTH, MOST_FUNCTIONS};
use crate::{Error, Result};

/// The expression in `text`.
pub(super) fn parse(text: &str) -> Result<Expression> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expression = parser.expression()?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.expected("nothing more"));
    }
    expression.check()?;
    Ok(expression)
}

/// Whether a function may be called so: `minhash`, `equal(city)`.
pub(super) fn is_function(name: &str) -> bool {
    let mut parser = Parser { text: name, at: 0, depth: 0 };
    let function = parser.word().map(|word| (group(word), parser.function(word)));
    matches!(function, Some((None, Ok(parsed))) if parsed == name && parser.at == name.len())
}

/// What makes one expression of several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connective {
    And,
    Or,
}

fn group(word: &str) -> Option<Connective> {
    match word {
        _ if word.eq_ignore_ascii_case("and") => Some(Connective::And),
        _ if word.eq_ignore_ascii_case("or") => Some(Connective::Or),
        _ => None,
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// What belongs to a run of such characters.
    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    /// A word: a letter or underscore first, then digits, points and hyphens too.
    fn word(&mut self) -> Option<&'a str> {
        let first = |c: char| c.is_alphabetic() || c == '_';
        self.rest()
            .starts_with(first)
            .then(|| self.run(|c| c.is_alphanumeric() || "_-.".contains(c)))
    }

    fn sign(&mut self, sign: char) -> bool {
        self.space();
        let there = self.rest().starts_with(sign);
        self.at += usize::from(there);
        there
    }

    fn expression(&mut self) -> Result<Expression> {
        self.space();
        let Some(word) = self.word() else {
            return Err(self.expected("and(…), or(…) or a function such as minhash"));
        };
        match group(word) {
            None => self.function(word).map(Expression::Function),
            Some(_) if self.depth + 1 >= MAX_DEPTH => {
                Err(self.expected(&format!("at most {MAX_DEPTH} levels of and(…) and or(…)")))
            }
            Some(group) => {
                self.depth += 1;
                let inside = self.group(group)?;
                self.depth -= 1;
                Ok(inside)
            }
        }
    }

    /// What follows `and` or `or`.
    fn group(&mut self, group: Connective) -> Result<Expression> {
        if !self.sign('(') {
            return Err(self.expected("\"(\""));
        }
        self.space();
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return self.repeated(group);
        }
        let mut parts = vec![self.expression()?];
        while self.sign(',') {
            parts.push(self.expression()?);
        }
        if !self.sign(')') {
            return Err(self.expected("\",\" or \")\""));
        }
        Ok(match group {
            Connective::And => Expression::All(parts),
            Connective::Or => Expression::Any(parts),
        })
    }

    /// A count, a comma and the one expression that is repeated.
    fn repeated(&mut self, group: Connective) -> Result<Expression> {
        let start = self.at;
        let count: Option<usize> = self.run(|c| c.is_ascii_digit()).parse().ok();
        let Some(count) = count.filter(|count| (1..=MOST_FUNCTIONS).contains(count)) else {
            self.at = start;
            return Err(self.expected(&format!("a count from 1 to {MOST_FUNCTIONS}")));
        };
        if !self.sign(',') {
            return Err(self.expected("\",\" and what is to be repeated"));
        }
        let inside = Box::new(self.expression()?);
        if !self.sign(')') {
            return Err(self.expected("\")\", for a count repeats one expression,"));
        }
        Ok(match group {
            Connective::And => Expression::And(count, inside),
            Connective::Or => Expression::Or(count, inside),
        })
    }

    /// The name of a function with its argument.
    fn function(&mut self, word: &str) -> Result<String> {
        let word = word.to_lowercase();
        if !self.sign('(') {
            return Ok(word);
        }
        self.space();
        let argument = self.run(|c| !matches!(c, '(' | ')')).trim_end();
        if argument.is_empty() {
            return Err(self.expected(&format!("the argument of {word}, or no parentheses,")));
        }
        if !self.sign(')') {
            let closing = "\")\" (only and(…) and or(…) hold expressions)";
            return Err(self.expected(closing));
        }
        Ok(format!("{word}({argument})"))
    }

    /// An error at this place.
    fn expected(&self, what: &str) -> Error {
        /// Enough to recognise the place by.
        const SHOWN: usize = 60;
        let cut = |text: &str| match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        let place = self.text[..self.at].chars().count() + 1;
        let found = match self.rest() {
            "" => "where it ends".to_owned(),
            rest => format!("not {:?}", cut(rest)),
        };
        let must = format!("written with {what} at character {place}, {found}");
        Error::parameter("expression", cut(self.text), must)
    }
}
