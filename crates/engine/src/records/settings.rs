//! Rules as a file of TOML.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::rules::{
    Alternative, CheckRule, Distance, FieldRule, GroupingRule, LossDistance, Probability, Rules,
    SIGNS, TAKEN,
};
use super::synonyms::Synonyms;
use crate::error::{Advice, Error, Result};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    r#match: Option<Spanned<String>>,
    threshold: Option<Spanned<f64>>,
    candidates: Vec<Spanned<String>>,
    #[serde(default)]
    missing: Vec<String>,
    fields: Fields,
    check: Option<CheckFile>,
    probability: Option<Spanned<ProbabilityFile>>,
    #[serde(default)]
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbabilityFile {
    even: f64,
    doubling: f64,
    #[serde(default)]
    matches: f64,
}

/// The fields in the order of the file.
struct Fields(Vec<(String, Spanned<FieldFile>)>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldFile {
    column: Option<ColumnNames>,
    distance: Option<Spanned<String>>,
    lost_at: Option<Spanned<LossForm>>,
    points: Option<f64>,
    penalty: Option<f64>,
    missing: Option<f64>,
    curve: Option<Spanned<Vec<[f64; 2]>>>,
    #[serde(default)]
    tables: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckFile {
    column: ColumnNames,
    distance: Spanned<String>,
    most: Option<f64>,
    window: Option<Spanned<[f64; 2]>>,
    share: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a column's name, or a list of its names in the two tables")]
enum ColumnNames {
    Same(String),
    Each([String; 2]),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a distance such as 3, or a share of the length such as \"40%\"")]
enum LossForm {
    At(f64),
    Share(String),
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tables such as [fields.name]")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// What is wrong, and where in the file.
type RuleProblem = (Range<usize>, String);

impl Rules {
    /// Reads rules from a file, for one table or for two. Tables of words that it names lie beside it.
    ///
    /// # Errors
    /// With the line where something is wrong.
    pub fn read(path: &Path, two_tables: bool) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::file(path, format!("cannot read: {error}"))
                .or(Advice::with("suggest", "have one written"))
        })?;
        Self::from_toml(&text, path, two_tables)
    }

    /// Reads rules from the text of such a file, for one table or for two. Messages call it `path`; tables of words that it
    /// names lie beside that path.
    ///
    /// # Errors
    /// With the line where something is wrong.
    pub fn from_toml(text: &str, path: &Path, two_tables: bool) -> Result<Self> {
        Self::parse(text, two_tables, path.parent().unwrap_or(Path::new(""))).map_err(
            |(span, what)| {
                let line = 1 + text[..span.start.min(text.len())].matches('\n').count() as u64;
                Error::input(path, line, what)
            },
        )
    }

    fn parse(text: &str, two_tables: bool, folder: &Path) -> Result<Self, RuleProblem> {
        let file: File = toml::from_str(text).map_err(|error| {
            let plain = [
                ("expected f64", "expected a number"),
                ("expected a sequence", "expected a list, in brackets"),
                ("missing field", "missing"),
                ("unknown field", "unknown key"),
            ];
            let what = error.message().replace('\n', "; ");
            let what = plain.iter().fold(what, |what, (from, to)| what.replace(from, to));
            (error.span().unwrap_or_default(), what)
        })?;
        let fields = file.fields.0.into_iter().map(|(name, field)| field_rule(name, field, folder));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let candidates = file.candidates.iter().map(|text| {
            Alternative::parse(text.get_ref(), &fields).map_err(|what| (text.span(), what))
        });
        let candidates: Vec<Alternative> = candidates.collect::<Result<_, _>>()?;
        let grouping = match file.r#match {
            Some(name) => {
                let span = name.span();
                let grouping = name.get_ref().parse().map_err(|what| (span.clone(), what))?;
                if two_tables && grouping == GroupingRule::Clusters {
                    let what = "clusters are for one table; write one-to-one or all for two, or put \
                                both into one file";
                    return Err((span, what.to_owned()));
                }
                grouping
            }
            None if two_tables => GroupingRule::OneToOne,
            None => GroupingRule::Clusters,
        };
        let check = file.check.map(|check| check_rule(check, two_tables)).transpose()?;
        let threshold = match file.threshold {
            Some(given) if !given.get_ref().is_finite() => {
                let what =
                    format!("the threshold is {}; write a number of points", given.get_ref());
                return Err((given.span(), what));
            }
            given => given.map(Spanned::into_inner),
        };
        if candidates.is_empty() || fields.is_empty() {
            let what = "no candidates; list what makes two records worth a look, such as [\"phone\", \"name ~ 0.5\"]";
            return Err((0..0, what.to_owned()));
        }
        if threshold.is_none() && check.is_none() {
            return Err((0..0, "no threshold; write one, or a [check] that finds it".to_owned()));
        }
        let probability = file.probability.map(probability).transpose()?;
        let (missing, warnings) = (file.missing, file.warnings);
        Ok(Self { candidates, fields, threshold, grouping, missing, check, probability, warnings })
    }
}

fn probability(file: Spanned<ProbabilityFile>) -> Result<Probability, RuleProblem> {
    let span = file.span();
    let ProbabilityFile { even, doubling, matches } = file.into_inner();
    let valid = even.is_finite() && doubling > 0.0 && doubling.is_finite() && matches >= 0.0;
    let what = "even must be a score, doubling points above 0, and matches a number from 0 on";
    valid.then_some(Probability { even, doubling, matches }).ok_or((span, what.to_owned()))
}

/// Points by shares of `lost_at`, from 0 to 1.
fn curve(given: &Spanned<Vec<[f64; 2]>>) -> Result<Vec<(f64, f64)>, RuleProblem> {
    let curve: Vec<(f64, f64)> =
        given.get_ref().iter().map(|[share, points]| (*share, *points)).collect();
    let rises = curve.windows(2).all(|two| two[0].0 < two[1].0);
    let valid =
        curve.iter().all(|(share, points)| (0.0..=1.0).contains(share) && points.is_finite());
    let what = "a curve is a list of shares of lost_at, from 0 to 1 and ascending, and their points: [[0, 90], [0.5, 20], [1, -40]]";
    (rises && valid && !curve.is_empty()).then_some(curve).ok_or((given.span(), what.to_owned()))
}

fn distance(name: &Spanned<String>) -> Result<Distance, RuleProblem> {
    name.get_ref().parse().map_err(|what| (name.span(), what))
}

fn columns(columns: ColumnNames) -> [String; 2] {
    match columns {
        ColumnNames::Same(name) => [name.clone(), name],
        ColumnNames::Each(names) => names,
    }
}

fn field_rule(
    name: String,
    file: Spanned<FieldFile>,
    folder: &Path,
) -> Result<FieldRule, RuleProblem> {
    let span = file.span();
    let file = file.into_inner();
    if TAKEN.contains(&name.as_str()) {
        let what = format!(
            "`{name}` is a column of the output; call the field otherwise and name its `column`"
        );
        return Err((span, what));
    }
    if let Some(sign) = SIGNS.iter().find(|sign| name.contains(**sign)) {
        let what = format!(
            "`{name}` has `{}` in it, which conditions are written with; call the field otherwise and name its \
             `column`",
            sign.trim()
        );
        return Err((span, what));
    }
    let distance = file.distance.as_ref().map_or(Ok(Distance::Edit), distance)?;
    let mut rule = FieldRule::new(&name, distance);
    if let Some(lost) = file.lost_at {
        rule.lost_at = lost_at(&lost)?;
    }
    let numbers = [file.points, file.penalty, file.missing];
    if let Some(wrong) = numbers.into_iter().flatten().find(|number| !number.is_finite()) {
        return Err((span, format!("{wrong} is no number of points")));
    }
    if let Some(penalty) = file.penalty.filter(|penalty| *penalty < 0.0) {
        let what = format!("the penalty is {penalty}; write what is taken off, a number from 0 on");
        return Err((span, what));
    }
    rule.points = file.points.unwrap_or(rule.points);
    rule.penalty = file.penalty.unwrap_or(rule.points.max(0.0));
    rule.missing = file.missing.unwrap_or(0.0);
    if let Some(given) = &file.curve {
        if file.points.is_some() || file.penalty.is_some() {
            let what = "a curve says what points and penalty say; give the one or the others";
            return Err((given.span(), what.to_owned()));
        }
        rule.curve = curve(given)?;
    }
    if let Some(given) = file.column {
        rule.columns = columns(given);
    }
    let tables = file.tables.iter().map(|name| {
        let known = || {
            let path = folder.join(name.get_ref());
            let text = std::fs::read_to_string(&path).map_err(|error| {
                let path = path.display();
                let what = format!(
                    "no table `{}`: {path}: {error}; the tables that come with nearkin are nicknames \
                     and abbreviations",
                    name.get_ref()
                );
                (name.span(), what)
            })?;
            Ok(Synonyms::parse(name.get_ref(), &text))
        };
        Synonyms::shipped(name.get_ref()).map_or_else(known, Ok)
    });
    rule.tables = tables.collect::<Result<_, _>>()?;
    Ok(rule)
}

fn lost_at(lost: &Spanned<LossForm>) -> Result<LossDistance, RuleProblem> {
    let read = match lost.get_ref() {
        LossForm::At(distance) => Some(LossDistance::Distance(*distance)),
        LossForm::Share(text) => {
            let percent = text.strip_suffix('%').and_then(|text| text.trim().parse::<f64>().ok());
            percent.map(|percent| LossDistance::Share(percent / 100.0))
        }
    };
    let positive = |lost: &LossDistance| match *lost {
        LossDistance::Distance(value) | LossDistance::Share(value) => {
            value.is_finite() && value > 0.0
        }
    };
    read.filter(positive).ok_or_else(|| {
        let what = "lost_at must be a distance above 0, such as 3, or a share such as \"40%\"";
        (lost.span(), what.to_owned())
    })
}

fn check_rule(file: CheckFile, two_tables: bool) -> Result<CheckRule, RuleProblem> {
    let distance = distance(&file.distance)?;
    let window = file.window.map(|window| {
        let span = window.span();
        let [first, last] = window.into_inner();
        let wrong = |what: String| Err((span, what));
        if !(first < last && first.is_finite() && last.is_finite()) {
            return wrong(format!("window is [{first}, {last}]; write the first and the last day, such as [0, 90]"));
        }
        if !matches!(distance, Distance::Days) {
            return wrong(format!("a window has days, and the check compares by {distance}; write distance = \"days\""));
        }
        if !two_tables {
            let what = "a window has days from the first table to the second, and there is one table; leave it out";
            return wrong(what.to_owned());
        }
        if file.most.is_some() {
            return wrong("a window needs no most: pairs outside do not count; leave one of them out".to_owned());
        }
        Ok([first, last])
    });
    let window = window.transpose()?;
    let share = match file.share {
        None => 0.5,
        Some(share) if *share.get_ref() > 0.0 && *share.get_ref() <= 1.0 => *share.get_ref(),
        Some(share) => {
            let what = format!("share is {}; write one above 0 and up to 1", share.get_ref());
            return Err((share.span(), what));
        }
    };
    Ok(CheckRule { columns: columns(file.column), distance, most: file.most, window, share })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Rules, RuleProblem> {
        Rules::parse(text, true, Path::new(""))
    }

    #[test]
    fn rules_are_read() {
        let rules = parse(
            "threshold = 120\n\
             candidates = [\"phone\", \"name ~ 0.5 & born within 31\"]\n\
             [fields.name]\ncolumn = [\"full name\", \"name\"]\ntables = [\"nicknames\"]\n\
             [fields.phone]\nlost_at = 3\npoints = 80\npenalty = 120\n\
             [fields.born]\ndistance = \"days\"\nlost_at = \"50%\"\nmissing = -5\n\
             [check]\ncolumn = \"year\"\ndistance = \"number\"\n",
        )
        .expect("valid rules");
        let names: Vec<&str> = rules.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["name", "phone", "born"]);
        assert_eq!(rules.fields[0].columns, ["full name", "name"]);
        assert_eq!((rules.fields[1].points, rules.fields[1].penalty), (80.0, 120.0));
        assert_eq!(rules.fields[1].lost_at, LossDistance::Distance(3.0));
        assert_eq!(rules.fields[2].lost_at, LossDistance::Share(0.5));
        assert_eq!((rules.fields[2].penalty, rules.fields[2].missing), (100.0, -5.0));
        assert_eq!(rules.grouping, GroupingRule::OneToOne);
        assert_eq!(rules.check.expect("a check").share, 0.5);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let start = "candidates = [\"x\"]\nthreshold = 1\n[fields.x]\n";
        let window = "[check]\ncolumn = \"z\"\ndistance = \"days\"\nwindow = ";
        for (text, at, why) in [
            ("candidates = [\"y\"]\n[fields.x]\n", "\"y\"", "none of the fields"),
            (&format!("{start}distance = \"far\"\n"), "\"far\"", "no distance"),
            (&format!("{start}lost_at = 0\n"), "0\n", "above 0"),
            (&format!("{start}lost_at = \"many\"\n"), "\"many\"", "above 0"),
            (&format!("{start}pionts = 3\n"), "pionts", "unknown key"),
            (&format!("{start}tables = [\"no-such-file.txt\"]\n"), "\"no-such", "nicknames"),
            (&format!("match = \"some\"\n{start}"), "\"some\"", "one-to-one, clusters or all"),
            (&format!("match = \"clusters\"\n{start}"), "\"clusters\"", "one table"),
            ("candidates = [\"a\"]\n[fields.a]\n", "[fields.a]", "column of the output"),
            (
                "candidates = [\"x\"]\n[fields.\"x and y\"]\n",
                "[fields",
                "conditions are written with",
            ),
            (&start.replace("1", "nan"), "threshold", "a number of points"),
            (&start.replace("threshold = 1\n", ""), "candidates", "no threshold"),
            (&start.replace("[\"x\"]", "[]"), "candidates", "no candidates"),
            (
                &format!("{start}[check]\ncolumn = \"z\"\ndistance = \"edit\"\nshare = 2\n"),
                "2\n",
                "up to 1",
            ),
            (&format!("{start}{window}[90, 0]\n"), "[90", "the first and the last day"),
            (&format!("{start}{window}[0, inf]\n"), "[0", "the first and the last day"),
            (&format!("{start}{window}[0, 9]\nmost = 3\n"), "[0", "needs no most"),
            (
                &format!("{start}{}[0, 9]\n", window.replace("days", "date")),
                "[0",
                "compares by date",
            ),
        ] {
            let (span, what) = parse(text).expect_err(text);
            assert!(what.contains(why), "{text}: {what}");
            let place = text.find(at).expect("the place stands in the text");
            let line = |place: usize| text[..place].matches('\n').count();
            assert_eq!(line(span.start), line(place), "{text}: {what}");
        }
    }
}
