//! Which of several similar items is kept: rules that are tried in order.
//!
//! A rule looks at an item's length or at the value of one of its fields. Where it prefers none of two items, the next rule
//! decides, and at last the order of the input.

use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::str::FromStr;

use crate::item::Value;
use crate::{Error, Result};

/// Which item of a cluster is kept. Ties go to the one that comes first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Keep {
    /// The first in input order.
    #[default]
    First,
    /// The one with the longest text, in characters.
    Longest,
    /// The one with the largest value of a field.
    Max(String),
    /// The one with the smallest value of a field.
    Min(String),
    /// The one whose value of a field comes first in a list. All values that are not in it come last, as equals.
    Prefer(String, Vec<String>),
    /// What the first of these rules says; where it prefers none of two items, the next one, and so on.
    InTurn(Vec<Keep>),
}

impl Keep {
    /// The fields whose values decide, each once.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = Vec::new();
        for field in self.rules().iter().filter_map(Self::field) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::First | Self::Longest | Self::InTurn(_) => None,
            Self::Max(field) | Self::Min(field) | Self::Prefer(field, _) => Some(field),
        }
    }

    /// Whether the lengths of items count.
    pub fn counts_lengths(&self) -> bool {
        self.rules().contains(&Self::Longest)
    }

    /// Whether nothing counts but the order of the input.
    pub fn is_first(&self) -> bool {
        self.rules().first().is_none_or(|rule| *rule == Self::First)
    }

    /// The rules in their order.
    pub fn rules(&self) -> &[Self] {
        match self {
            Self::InTurn(rules) => rules,
            rule => std::slice::from_ref(rule),
        }
    }

    /// The values that rules prefer, in order.
    pub(super) fn preferred_values(&self) -> Vec<PreferredValue> {
        let fields = self.fields();
        let mut all = Vec::new();
        for rule in self.rules() {
            let Self::Prefer(field, values) = rule else { continue };
            let place = fields.iter().position(|known| known == field).unwrap_or(0);
            all.extend(values.iter().map(|text| PreferredValue {
                place,
                field: field.clone(),
                text: text.clone(),
                forms: listed(text),
            }));
        }
        all
    }

    /// The rules with what they look at.
    pub(crate) fn ranking(&self) -> Ranking {
        let fields = self.fields();
        let place = |field: &String| fields.iter().position(|known| known == field).unwrap_or(0);
        let criterion = |rule: &Self| match rule {
            Self::First | Self::InTurn(_) => Criterion::Position,
            Self::Longest => Criterion::Length,
            Self::Max(field) => Criterion::Largest(place(field)),
            Self::Min(field) => Criterion::Smallest(place(field)),
            Self::Prefer(field, values) => {
                Criterion::Listed(place(field), values.iter().map(|it| listed(it)).collect())
            }
        };
        Ranking(self.rules().iter().map(criterion).collect())
    }
}

/// A value that a rule prefers.
pub(super) struct PreferredValue {
    /// The number of its field among those that decide.
    pub(super) place: usize,
    pub(super) field: String,
    /// As it was given.
    pub(super) text: String,
    forms: Vec<Value>,
}

impl PreferredValue {
    /// Whether a value of the field is this one.
    pub(super) fn is(&self, value: Option<&Value>) -> bool {
        value.is_some_and(|value| self.forms.contains(value))
    }
}

/// What a listed value stands for: the text, and the number if it is one.
fn listed(text: &str) -> Vec<Value> {
    let number = text.trim().parse().map(Value::Int).ok().or_else(|| {
        let number: Option<f64> = text.trim().parse().ok();
        number.filter(|number| !number.is_nan()).map(Value::Number)
    });
    number.into_iter().chain([Value::Text(text.into())]).collect()
}

/// What decides whether an item is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Merits<'a> {
    /// The item's position in the input.
    pub(crate) position: u32,
    /// Its text's length in characters.
    pub(crate) length: u32,
    /// Its values in the [fields that decide](Keep::fields); none where all are null.
    pub(crate) values: &'a [Option<Value>],
}

/// Criteria in order.
#[derive(Debug)]
pub(crate) struct Ranking(Vec<Criterion>);

#[derive(Debug)]
enum Criterion {
    Position,
    Length,
    Largest(usize),
    Smallest(usize),
    /// Values in order of preference, each in all its forms.
    Listed(usize, Vec<Vec<Value>>),
}

impl Ranking {
    /// Orders two items by preference. Items without a value come last.
    pub(crate) fn prefer(&self, a: &Merits<'_>, b: &Merits<'_>) -> Ordering {
        let orders = self.0.iter().map(|criterion| criterion.prefer(a, b));
        orders.fold(Ordering::Equal, Ordering::then).then(a.position.cmp(&b.position))
    }
}

impl Criterion {
    fn prefer(&self, a: &Merits<'_>, b: &Merits<'_>) -> Ordering {
        let value = |field: usize| [a, b].map(|it| it.values.get(field).and_then(Option::as_ref));
        match self {
            Self::Position => a.position.cmp(&b.position),
            Self::Length => Reverse(a.length).cmp(&Reverse(b.length)),
            Self::Largest(field) => match value(*field) {
                [Some(a), Some(b)] => b.cmp(a),
                [a, b] => a.is_none().cmp(&b.is_none()),
            },
            Self::Smallest(field) => match value(*field) {
                [Some(a), Some(b)] => a.cmp(b),
                [a, b] => a.is_none().cmp(&b.is_none()),
            },
            Self::Listed(field, list) => {
                let [a, b] = value(*field).map(|value| match value {
                    Some(value) => list.iter().position(|forms| forms.contains(value)),
                    None => None,
                });
                a.unwrap_or(list.len()).cmp(&b.unwrap_or(list.len()))
            }
        }
    }
}

/// What `keep` may be.
const FORMS: &str =
    "first, longest, max:FIELD, min:FIELD or prefer:FIELD=VALUE,VALUE; several with | between them";

impl FromStr for Keep {
    type Err = Error;

    /// Reads `first`, `longest`, `max:FIELD`, `min:FIELD`, `prefer:FIELD=VALUE,VALUE`, or several with `|` between them.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::parameter("keep", text, FORMS);
        let mut rules = Vec::new();
        for rule in text.split('|') {
            rules.push(rule_of(rule.trim()).ok_or_else(wrong)?);
        }
        let one = (rules.len() == 1).then(|| rules.pop()).flatten();
        Ok(one.unwrap_or(Self::InTurn(rules)))
    }
}

fn rule_of(text: &str) -> Option<Keep> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    Some(match (name, rest) {
        _ if text == "first" => Keep::First,
        _ if text == "longest" => Keep::Longest,
        ("max", field) if !field.is_empty() => Keep::Max(field.into()),
        ("min", field) if !field.is_empty() => Keep::Min(field.into()),
        ("prefer", rest) => {
            let (field, values) = rest.split_once('=')?;
            let values: Vec<String> = values.split(',').map(|it| it.trim().to_owned()).collect();
            if field.is_empty() || values.iter().any(String::is_empty) {
                return None;
            }
            Keep::Prefer(field.trim().to_owned(), values)
        }
        _ => return None,
    })
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Longest => f.write_str("longest"),
            Self::Max(field) => write!(f, "max:{field}"),
            Self::Min(field) => write!(f, "min:{field}"),
            Self::Prefer(field, values) => write!(f, "prefer:{field}={}", values.join(",")),
            Self::InTurn(rules) => {
                let rules: Vec<String> = rules.iter().map(Self::to_string).collect();
                f.write_str(&rules.join("|"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_tried_in_order() {
        let number = |number: f64| Some(Value::Number(number));
        let text = |text: &str| Some(Value::Text(text.into()));
        // quality, source
        let values = [
            [number(1.0), text("books")],
            [None, text("web")],
            [number(2.0), text("wiki")],
            [text("2026-01-01"), None],
            [number(2.0), text("wiki")],
        ];
        let lengths = [5, 9, 8, 1, 9];
        let items: Vec<Merits<'_>> = (0..5u32)
            .map(|at| Merits {
                position: at,
                length: lengths[at as usize],
                values: &values[at as usize],
            })
            .collect();
        let best = |keep: &str| {
            let keep: Keep = keep.parse().unwrap();
            // The fields stand in the order in which the rules name them.
            let order: Vec<usize> =
                keep.fields().iter().map(|field| usize::from(*field == "source")).collect();
            let own: Vec<Vec<Option<Value>>> = items
                .iter()
                .map(|it| order.iter().map(|&at| it.values[at].clone()).collect())
                .collect();
            let ranking = keep.ranking();
            let merits = |at: &usize| Merits { values: &own[*at], ..items[*at] };
            (0..5).min_by(|a, b| ranking.prefer(&merits(a), &merits(b))).unwrap()
        };
        for (keep, expected) in [
            ("first", 0),
            ("longest", 1),
            ("max:quality", 3),
            ("min:quality", 0),
            ("prefer:source=wiki,books", 2),
            ("prefer:source=books", 0),
            ("prefer:source=none", 0),
            ("prefer:source=wiki|longest", 4),
            ("prefer:source=wiki | min:quality|longest", 4),
            ("prefer:quality=2|first|longest", 2),
            ("min:source|max:quality", 0),
            ("longest|max:quality", 4),
        ] {
            assert_eq!(best(keep), expected, "{keep}");
        }
    }

    #[test]
    fn rules_are_read_and_written() {
        for keep in ["first", "longest", "max:a b", "prefer:a=1,x y|max:b|longest", "min:a:b"] {
            assert_eq!(keep.parse::<Keep>().unwrap().to_string(), keep);
        }
        for wrong in [
            "",
            "last",
            "max",
            "max:",
            "first:x",
            "prefer:a",
            "prefer:=b",
            "prefer:a=",
            "prefer:a=b,",
            "first|",
        ] {
            assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
        }
        let keep: Keep = "max:a|prefer:b=1|min:a".parse().unwrap();
        assert_eq!(keep.fields(), ["a", "b"]);
    }
}
