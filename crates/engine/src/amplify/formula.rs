//! The curve of an expression, written as a formula.
//!
//! An expression comes in, a text such as `1-(1-p^5)^20` goes out, plain or for LaTeX. Only powers of powers and
//! complements of complements are simplified. The formula keeps the order of the expression, so a reader can find one in
//! the other.

use super::chance::Logic;

/// How a formula is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `1-(1-p^5)^20`, as calculators and plotting programs read it.
    Plain,
    /// `1-(1-p^{5})^{20}`.
    Latex,
}

/// A product of powers, or 1 minus one. Neither a complement of a complement nor a product in a product
/// occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormulaTerm {
    Probability(String),
    Not(Box<FormulaTerm>),
    Product(Vec<(FormulaTerm, usize)>),
}

impl FormulaTerm {
    fn factors(self) -> Vec<(Self, usize)> {
        match self {
            Self::Product(factors) => factors,
            other => vec![(other, 1)],
        }
    }

    fn product(mut factors: Vec<(Self, usize)>) -> Self {
        match factors.pop() {
            Some((only, 1)) if factors.is_empty() => only,
            last => {
                factors.extend(last);
                Self::Product(factors)
            }
        }
    }

    /// The formula; `name` writes a probability.
    pub(super) fn write(&self, notation: Notation, name: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Probability(function) => name(function),
            Self::Not(term) => match &**term {
                Self::Product(factors) if factors.is_empty() => "0".to_owned(),
                term => format!("1-{}", term.write(notation, name)),
            },
            Self::Product(factors) if factors.is_empty() => "1".to_owned(),
            Self::Product(factors) => {
                let times = if notation == Notation::Plain { "*" } else { r"\cdot " };
                let powers = factors.iter().map(|(base, n)| base.power(*n, notation, name));
                powers.collect::<Vec<_>>().join(times)
            }
        }
    }

    fn power(&self, n: usize, notation: Notation, name: &dyn Fn(&str) -> String) -> String {
        let base = self.write(notation, name);
        let base = match self {
            Self::Probability(_) => base,
            _ => format!("({base})"),
        };
        match (n, notation) {
            (1, _) => base,
            (_, Notation::Plain) => format!("{base}^{n}"),
            (_, Notation::Latex) => format!("{base}^{{{n}}}"),
        }
    }
}

impl Logic for FormulaTerm {
    fn certain() -> Self {
        Self::Product(Vec::new())
    }

    fn both(self, other: Self) -> Self {
        let mut factors = self.factors();
        for (base, n) in other.factors() {
            match factors.last_mut() {
                Some((last, power)) if *last == base => *power += n,
                _ => factors.push((base, n)),
            }
        }
        Self::product(factors)
    }

    fn all(self, n: usize) -> Self {
        let factors = match self {
            Self::Product(factors) if factors.len() > 1 => vec![(Self::Product(factors), n)],
            other => other.factors().into_iter().map(|(base, m)| (base, m * n)).collect(),
        };
        Self::product(factors)
    }

    fn not(self) -> Self {
        match self {
            Self::Not(term) => *term,
            other => Self::Not(Box::new(other)),
        }
    }
}

/// A name as text in LaTeX's mathematics.
pub(super) fn latex_text(name: &str) -> String {
    let mut text = String::from(r"\text{");
    for c in name.chars() {
        match c {
            '_' | '&' | '%' | '#' | '$' | '{' | '}' => text.extend(['\\', c]),
            '\\' => text.push_str(r"\textbackslash{}"),
            '^' => text.push_str(r"\textasciicircum{}"),
            '~' => text.push_str(r"\textasciitilde{}"),
            _ => text.push(c),
        }
    }
    text + "}"
}
