//! What the user wants: candidates, points, grouping.

use std::fmt;
use std::str::FromStr;

use crate::shingle::Shingling;
use crate::{Error, Result};

/// Names of output columns, which no field can have.
pub const TAKEN: [&str; 4] = ["a", "b", "score", "probability"];

/// Signs of conditions, which no name of a field may contain.
pub(super) const SIGNS: [&str; 6] = ["&", "~", "|", " and ", " within ", " by "];

/// How records are matched.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Pairs are looked at where one of these holds.
    pub candidates: Vec<Alternative>,
    /// What is compared, in the order in which it is shown.
    pub fields: Vec<FieldRule>,
    /// The score that matches reach; else [`check`](Self::check) finds it.
    pub threshold: Option<f64>,
    /// What is made of the pairs that reach it.
    pub grouping: GroupingRule,
    /// Values that stand for one that is missing, besides an empty one.
    pub missing: Vec<String>,
    /// The field by which the share of true matches is found.
    pub check: Option<CheckRule>,
    /// How probable a match of a score is, where it is known.
    pub probability: Option<Probability>,
    /// What whoever uses these rules should know.
    pub warnings: Vec<String>,
}

/// How probable a match of a score is: p = 1 / (1 + 2^((even − score) / doubling)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probability {
    /// The score at which a match is as likely as not.
    pub even: f64,
    /// The points that double the odds.
    pub doubling: f64,
    /// How many matches there are in all, about.
    pub matches: f64,
}

impl Probability {
    /// The probability of a pair with this score.
    ///
    /// ```
    /// use nearkin_engine::records::Probability;
    /// let probability = Probability { even: 100.0, doubling: 10.0, matches: 0.0 };
    /// assert_eq!(probability.of(100.0), 0.5);
    /// assert_eq!(probability.of(120.0), 0.8); // odds of four to one
    /// ```
    pub fn of(&self, score: f64) -> f64 {
        1.0 / (1.0 + ((self.even - score) / self.doubling).exp2())
    }
}

/// What is made of the pairs that reach the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupingRule {
    /// A record is in at most one pair, the one with the highest score.
    OneToOne,
    /// Records fall into clusters; a pair is in one when its clusters match on average.
    Clusters,
    /// Every pair stands for itself.
    All,
}

/// Conditions that hold together.
#[derive(Debug, Clone)]
pub struct Alternative(pub Vec<FieldCondition>);

/// A condition on one field.
#[derive(Debug, Clone)]
pub struct FieldCondition {
    /// The field, by its place among the fields.
    pub field: usize,
    /// The condition.
    pub how: ValueRelation,
}

/// What is asked of the values of a field in two records.
#[derive(Debug, Clone)]
pub enum ValueRelation {
    /// They are equal.
    Equal,
    /// They reach this similarity, by the field's own measure or by these shingles.
    Similar(f64, Option<Shingling>),
    /// They are at most this far apart, in edits, units or days.
    Within(f64),
}

/// A field and what it is worth.
#[derive(Debug, Clone)]
pub struct FieldRule {
    /// Its name in the rules and in the output.
    pub name: String,
    /// Its column in the first table and in the second.
    pub columns: [String; 2],
    /// How far apart two values are.
    pub distance: Distance,
    /// The distance at which all of the penalty is due.
    pub lost_at: LossDistance,
    /// What equal values score; none where the field is for candidates only.
    pub points: f64,
    /// What is taken off where the values are entirely different.
    pub penalty: f64,
    /// What a missing value scores.
    pub missing: f64,
    /// What values score by how far apart they are: shares of `lost_at` and points, in order, from 0 to 1, straight lines
    /// between. Where there are none, points and penalty say it.
    pub curve: Vec<(f64, f64)>,
    /// Tables of words that mean the same.
    pub tables: Vec<super::synonyms::Synonyms>,
}

/// How far apart two values are.
#[derive(Debug, Clone)]
pub enum Distance {
    /// Edits: inserts, deletes, replacements, swaps of neighbours.
    Edit,
    /// 1 − the cosine of their words, weighted by rarity.
    Words,
    /// 1 − the Jaccard similarity of their shingles.
    Shingles(Shingling),
    /// The difference of two numbers.
    Number,
    /// The days between two dates.
    Days,
    /// How many digits of two dates differ; day and month exchanged count as one.
    Date,
    /// Edits of the digits, whatever stands between them: telephones, numbers of cards.
    Digits,
    /// Edits of the letters and digits, whatever stands between them: numbers of models and parts.
    Code,
    /// 0 where they are equal, else 1.
    Equal,
}

/// The distance at which all of the penalty is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LossDistance {
    /// This distance.
    Distance(f64),
    /// This share of the length of the longer value, or of the larger number.
    Share(f64),
}

/// A field that is not scored, by which the share of true matches is found.
#[derive(Debug, Clone)]
pub struct CheckRule {
    /// Its column in the first table and in the second.
    pub columns: [String; 2],
    /// How far apart two values are.
    pub distance: Distance,
    /// Distances above this count as this.
    pub most: Option<f64>,
    /// Only pairs count whose days, from the first table to the second, are between these; days before the first have a
    /// minus. What is averaged then are these days with their sign.
    pub window: Option<[f64; 2]>,
    /// The threshold is the lowest score from which on this share of the pairs is true.
    pub share: f64,
}

impl Distance {
    /// Whether it is one of dates.
    pub fn is_of_dates(&self) -> bool {
        matches!(self, Self::Days | Self::Date)
    }

    /// Where all of the penalty is due unless the user says otherwise.
    pub fn lost_at(&self) -> LossDistance {
        match self {
            Self::Edit | Self::Code => LossDistance::Share(0.4),
            Self::Words | Self::Shingles(_) => LossDistance::Distance(0.8),
            Self::Number => LossDistance::Share(0.1),
            Self::Days => LossDistance::Distance(31.0),
            Self::Date | Self::Digits => LossDistance::Distance(3.0),
            Self::Equal => LossDistance::Distance(1.0),
        }
    }
}

impl FromStr for Distance {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "edit" => Ok(Self::Edit),
            "words" => Ok(Self::Words),
            "number" => Ok(Self::Number),
            "days" => Ok(Self::Days),
            "date" => Ok(Self::Date),
            "digits" => Ok(Self::Digits),
            "code" => Ok(Self::Code),
            "equal" => Ok(Self::Equal),
            _ => name.parse().map(Self::Shingles).map_err(|_: Error| {
                format!(
                    "`{name}` is no distance; write edit, words, digits, code, number, days, date, equal, or shingles such as chars:3"
                )
            }),
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit => f.write_str("edit"),
            Self::Words => f.write_str("words"),
            Self::Shingles(shingling) => shingling.fmt(f),
            Self::Number => f.write_str("number"),
            Self::Days => f.write_str("days"),
            Self::Date => f.write_str("date"),
            Self::Digits => f.write_str("digits"),
            Self::Code => f.write_str("code"),
            Self::Equal => f.write_str("equal"),
        }
    }
}

impl fmt::Display for LossDistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distance(distance) => distance.fmt(f),
            Self::Share(share) => write!(f, "\"{}%\"", (share * 1e4).round() / 1e2),
        }
    }
}

impl GroupingRule {
    /// Its name in the rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneToOne => "one-to-one",
            Self::Clusters => "clusters",
            Self::All => "all",
        }
    }
}

impl FromStr for GroupingRule {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::OneToOne, Self::Clusters, Self::All];
        all.into_iter().find(|grouping| grouping.name() == name).ok_or_else(|| {
            format!("`{name}` is no way to match; write one-to-one, clusters or all")
        })
    }
}

impl Alternative {
    /// Reads conditions joined by `&` or `and`: `surname & birth`, `title ~ 0.5`, `name ~ 0.6 by chars:3`,
    /// `phone within 1`.
    ///
    /// # Errors
    /// In words, where a field is not known or a condition cannot be read.
    pub fn parse(text: &str, fields: &[FieldRule]) -> Result<Self, String> {
        let parts = text.split('&').flat_map(|part| part.split(" and "));
        let terms = parts.map(|part| FieldCondition::parse(part.trim(), fields));
        terms.collect::<Result<_, _>>().map(Self)
    }

    /// As it is read.
    pub fn display(&self, fields: &[FieldRule]) -> String {
        let terms = self.0.iter().map(|term| {
            let name = &fields[term.field].name;
            match &term.how {
                ValueRelation::Equal => name.clone(),
                ValueRelation::Similar(least, None) => format!("{name} ~ {least}"),
                ValueRelation::Similar(least, Some(shingling)) => {
                    format!("{name} ~ {least} by {shingling}")
                }
                ValueRelation::Within(most) => format!("{name} within {most}"),
            }
        });
        terms.collect::<Vec<_>>().join(" & ")
    }
}

impl FieldCondition {
    fn parse(text: &str, fields: &[FieldRule]) -> Result<Self, String> {
        let number = |text: &str| {
            let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("`{}` is no number", text.trim()))
        };
        let (name, how) = if let Some((name, rest)) = text.split_once('~') {
            let (least, shingling) = match rest.split_once(" by ") {
                Some((least, by)) => (least, Some(by.trim())),
                None => (rest, None),
            };
            let least = number(least)?;
            if !(least > 0.0 && least <= 1.0) {
                return Err(format!("{least} is no similarity; write one above 0 and up to 1"));
            }
            let shingling =
                shingling.map(|by| by.parse().map_err(|error: Error| error.to_string()));
            (name, ValueRelation::Similar(least, shingling.transpose()?))
        } else if let Some((name, most)) = text.split_once(" within ") {
            let most = number(most)?;
            if most < 0.0 {
                return Err(format!("{most} is no distance; write one from 0 on"));
            }
            (name, ValueRelation::Within(most))
        } else {
            (text, ValueRelation::Equal)
        };
        let name = name.trim();
        let field = fields.iter().position(|field| field.name == name).ok_or_else(|| {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            format!(
                "`{name}` is none of the fields, which are {}; a column that is for candidates only is a field with \
                 points = 0",
                known.join(", ")
            )
        })?;
        let term = Self { field, how };
        term.fits(&fields[field])?;
        Ok(term)
    }

    /// Whether the values of the field can be compared so.
    fn fits(&self, field: &FieldRule) -> Result<(), String> {
        let (name, distance) = (&field.name, &field.distance);
        match (&self.how, distance) {
            (
                ValueRelation::Within(_),
                Distance::Edit
                | Distance::Digits
                | Distance::Code
                | Distance::Number
                | Distance::Days,
            )
            | (ValueRelation::Equal, _)
            | (
                ValueRelation::Similar(..),
                Distance::Edit
                | Distance::Words
                | Distance::Digits
                | Distance::Code
                | Distance::Shingles(_)
                | Distance::Equal,
            ) => Ok(()),
            (ValueRelation::Within(_), _) => Err(format!(
                "`{name}` is compared by {distance}; `within` is for edit, digits, code, number and days, write `{name} ~ 0.5`"
            )),
            (ValueRelation::Similar(..), _) => Err(format!(
                "`{name}` is compared by {distance}; write `{name}` or `{name} within N`"
            )),
        }
    }
}

impl Rules {
    /// Whether they can be followed.
    ///
    /// # Errors
    /// When something is missing or out of range.
    pub fn validate(&self) -> Result<()> {
        if self.scored().count() == 0 {
            let must = "at least one with points";
            return Err(Error::parameter("[fields]", "empty", must));
        }
        if self.candidates.is_empty() {
            let must = "a list of what makes two records worth a look, such as [\"phone\", \"name ~ 0.5\"]";
            return Err(Error::parameter("candidates", "empty", must));
        }
        match self.threshold {
            Some(threshold) if threshold > self.most() => {
                let must = format!("at most {}, the points that a pair can have", self.most());
                Err(Error::parameter("the threshold", threshold, must))
            }
            _ => Ok(()),
        }
    }

    /// The places of the fields that count in the score; the others are for candidates only.
    pub fn scored(&self) -> impl Iterator<Item = usize> {
        (0..self.fields.len()).filter(|&at| self.fields[at].is_scored())
    }

    /// The most that a pair can score.
    pub fn most(&self) -> f64 {
        self.fields.iter().map(FieldRule::most).sum()
    }
}

impl FieldRule {
    /// A field of this name and distance, worth 100 points.
    pub fn new(name: &str, distance: Distance) -> Self {
        Self {
            name: name.to_owned(),
            columns: [name.to_owned(), name.to_owned()],
            lost_at: distance.lost_at(),
            distance,
            points: 100.0,
            penalty: 100.0,
            missing: 0.0,
            curve: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Whether it counts in the score.
    pub fn is_scored(&self) -> bool {
        match &self.curve[..] {
            [] => self.points != 0.0 || self.penalty != 0.0,
            curve => curve.iter().any(|&(_, points)| points != 0.0),
        }
    }

    /// The most that it can score.
    pub fn most(&self) -> f64 {
        let most = match &self.curve[..] {
            [] => self.points.max(self.points - self.penalty),
            curve => curve.iter().fold(f64::NEG_INFINITY, |most, &(_, points)| most.max(points)),
        };
        most.max(self.missing)
    }

    /// What it can cost, from the best to the worst.
    pub fn range(&self) -> f64 {
        let least = self.curve.iter().fold(f64::INFINITY, |least, &(_, points)| least.min(points));
        if self.curve.is_empty() { self.penalty } else { self.most() - least }
    }

    /// What values score that are this share of `lost_at` apart.
    pub fn part(&self, share: f64) -> f64 {
        let share = share.min(1.0);
        let behind = self.curve.partition_point(|&(at, _)| at < share);
        match (self.curve.get(behind.wrapping_sub(1)), self.curve.get(behind)) {
            (Some(near), Some(far)) => {
                near.1 + (far.1 - near.1) * (share - near.0) / (far.0 - near.0)
            }
            (None, Some(end)) | (Some(end), None) => end.1,
            (None, None) => self.points - self.penalty * share.powi(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Vec<FieldRule> {
        vec![
            FieldRule::new("name", Distance::Edit),
            FieldRule::new("full title", Distance::Words),
            FieldRule::new("born", Distance::Days),
        ]
    }

    #[test]
    fn conditions_are_read_and_shown_alike() {
        for text in [
            "name",
            "name & born",
            "full title ~ 0.5",
            "name ~ 0.6 by chars:3",
            "born within 31 & name within 1",
        ] {
            let read = Alternative::parse(text, &fields()).expect(text);
            assert_eq!(read.display(&fields()), text);
        }
        let with_and = Alternative::parse("name and born", &fields()).expect("valid");
        assert_eq!(with_and.display(&fields()), "name & born");
    }

    #[test]
    fn conditions_that_make_no_sense_are_refused() {
        for (text, why) in [
            ("nam", "none of the fields"),
            ("name ~ 1.5", "no similarity"),
            ("name ~ much", "no number"),
            ("name within -1", "no distance"),
            ("born ~ 0.5", "compared by days"),
            ("full title within 2", "compared by words"),
            ("name ~ 0.5 by sylables:2", "sylables"),
            ("", "none of the fields"),
        ] {
            let error = Alternative::parse(text, &fields()).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_penalty_is_quadratic() {
        let field = FieldRule::new("name", Distance::Edit);
        for (share, part) in [(0.0, 100.0), (0.1, 99.0), (0.5, 75.0), (1.0, 0.0), (7.0, 0.0)] {
            assert_eq!(field.part(share), part, "{share}");
        }
    }
}
