//! The plan for people.

use std::fmt::{self, Write as _};

use nearkin_engine::amplify::{Bands, Cost};
use nearkin_engine::plan::{SearchCost, Way};

use super::curve::{Mark, draw};
use super::numbers::{bytes, chance, count, odds};
use super::{Corpus, Plan};
use crate::report::grouped;
use crate::screen::Screen;
use crate::wording::CommandWording;

/// Bytes of a key.
const KEY: usize = 8;

impl Plan<'_> {
    pub(super) fn as_text(&self, screen: Screen) -> Result<String, fmt::Error> {
        let mut text = String::new();
        let ways = self.corpus.as_ref().and_then(|corpus| corpus.ways.as_ref());
        if ways.is_some_and(|ways| ways.is_exact()) {
            writeln!(
                text,
                "A run searches this input exactly, which is expected to be faster and misses none (see below). What \
                 follows is what bands would do: --approximate.\n"
            )?;
        }
        self.what(&mut text)?;
        self.picture_of_curve(screen, &mut text)?;
        self.facts(&mut text)?;
        self.table(&mut text)?;
        if self.options.and_or.is_none() {
            self.why(&mut text)?;
        }
        if let Some(corpus) = &self.corpus {
            corpus.outlook(self.asked, &mut text)?;
        }
        if self.options.and_or.is_none() {
            self.estimates(&mut text)?;
        }
        if let Some(corpus) = &self.corpus {
            corpus.shingles(&mut text)?;
        }
        Ok(screen.show(&wrapped(&text, screen.width.clamp(40, 100))))
    }

    /// What is searched with, and what that means.
    fn what(&self, text: &mut String) -> fmt::Result {
        let formula = self.expression.formula();
        match (self.bands, &self.options.and_or) {
            (Some(bands), None) => {
                writeln!(
                    text,
                    "{} bands of {} rows: {}\n",
                    bands.count, bands.rows, self.expression
                )?;
                writeln!(
                    text,
                    "Two items agree in one minhash with a chance equal to their similarity s. A \
                     band is {} minhashes; a pair is compared when it agrees in all of one of the \
                     {} bands. That happens with chance P(s) = {}.",
                    bands.rows,
                    bands.count,
                    formula.replace('p', "s"),
                )?;
                if self.asked != self.threshold {
                    writeln!(
                        text,
                        "Similarities here are Jaccard similarities of numbered shingles: {} in \
                         the measure asked for is {:.4} there.",
                        self.asked, self.threshold
                    )?;
                }
            }
            _ => {
                writeln!(text, "{}\n", self.expression)?;
                writeln!(
                    text,
                    "When one function agrees on a pair with chance p, the pair is compared with \
                     chance P = {formula}."
                )?;
                if self.expression.names().len() > 1 {
                    writeln!(text, "Below, p is taken to be the same for all functions.")?;
                }
            }
        }
        if self.view.latex {
            writeln!(text, "LaTeX: {}", self.expression.latex())?;
        }
        Ok(())
    }

    fn picture_of_curve(&self, screen: Screen, text: &mut String) -> fmt::Result {
        let threshold = self.marked_threshold();
        let half_way = self.expression.half_way();
        let mut marks = vec![Mark { at: half_way, label: format!("half way: {half_way:.3}") }];
        if let Some(at) = threshold {
            marks.push(Mark { at, label: format!("threshold: {}", short(at)) });
        }
        marks.sort_by(|a, b| a.at.total_cmp(&b.at));
        let name = match self.options.and_or {
            Some(_) => "chance that one function agrees",
            None => "similarity of the pair",
        };
        writeln!(text, "\n chance that a pair is compared")?;
        text.push_str(&draw(&|s| self.probability(s), threshold, &marks, screen));
        let shades = if screen.unicode { ['░', '▒'] } else { ['.', '%'] };
        writeln!(text, "      across: {name}")?;
        if threshold.is_some() {
            writeln!(text, "      {} compared in vain   {} missed", shades[0], shades[1])?;
        }
        Ok(())
    }

    /// The numbers by which one judges the curve.
    fn facts(&self, text: &mut String) -> fmt::Result {
        let expression = &self.expression;
        writeln!(text)?;
        if let Some(at) = self.marked_threshold() {
            let found = self.probability(at);
            let asked = match (&self.options.and_or, self.options.bands) {
                (None, None) => format!("; asked for: {}", self.recall),
                _ => String::new(),
            };
            let (at, chance, odds) = (short(at), chance(found), odds(found));
            writeln!(text, "  at {at:<9} compared with chance {chance} ({odds}{asked})")?;
        }
        let estimate = self.bands.map_or(String::new(), |bands| {
            format!("; the usual estimate (1/b)^(1/r) is {:.4}", bands.estimate())
        });
        writeln!(text, "  half way     {:.4}{estimate}", expression.half_way())?;
        let (at, slope) = expression.steepest();
        writeln!(text, "  steepest     at {at:.4}, with slope {slope:.2}")?;
        match expression.fixed_point() {
            Some(fixed) => writeln!(
                text,
                "  fixed point  {fixed:.4}: pairs above it are raised, pairs below it lowered"
            )?,
            None => writeln!(text, "  fixed point  none between 0 and 1")?,
        }
        let (functions, tables) = (expression.functions(), expression.tables());
        write!(
            text,
            "  an item      costs {} and leaves {} of {KEY} bytes: {}",
            counted(functions, "hash function"),
            counted(tables, "key"),
            bytes((KEY * tables) as f64),
        )?;
        if let Some(corpus) = &self.corpus {
            let all = (KEY * tables) as f64 * corpus.survey.records as f64;
            write!(text, ", {} in all", bytes(all))?;
        }
        writeln!(text)
    }

    fn table(&self, text: &mut String) -> fmt::Result {
        let name = if self.options.and_or.is_some() { "p" } else { "similarity" };
        writeln!(text, "\n  {name:>10}  chance that a pair is compared")?;
        for &s in &self.view.at {
            let p = self.probability(s);
            writeln!(text, "  {s:>10}  {:<12}  {}", chance(p), odds(p))?;
        }
        let Some(one) = &self.sensitive else { return Ok(()) };
        let all = one.amplified(&self.expression);
        writeln!(
            text,
            "\n  (d1, d2, p1, p2)-sensitive: pairs within d1 agree with chance p1 or more, pairs at d2 or beyond with p2 or less"
        )?;
        for (who, it) in [("one function", *one), ("all of it", all)] {
            let [p1, p2] = [it.p1, it.p2].map(chance);
            writeln!(text, "  {who:<12}  ({}, {}, {p1}, {p2})", it.d1, it.d2)?;
        }
        Ok(())
    }

    /// Why these bands and no others.
    fn why(&self, text: &mut String) -> fmt::Result {
        let Some(bands) = self.bands else { return Ok(()) };
        if self.options.bands.is_some() {
            return writeln!(
                text,
                "\nWhy {} bands of {} rows? You asked for them. Without --bands and --rows, the \
                 cheapest are taken that keep --recall.",
                bands.count, bands.rows
            );
        }
        let t = short(self.threshold);
        writeln!(
            text,
            "\nWhy {} rows? For every number of rows there is a least number of bands that finds a \
             pair at {t} with chance {}. More rows compare fewer pairs in vain, fewer rows have \
             less to compute; taken together, this choice costs least.\n",
            bands.rows, self.recall
        )?;
        let vain = if self.corpus.is_some() { "pairs" } else { "share" };
        writeln!(text, "    rows  bands  hash functions  {vain} compared in vain    cost")?;
        let near = |choice: &&Bands| choice.rows.abs_diff(bands.rows) <= 2;
        for choice in self.choices.iter().filter(near) {
            let cost = Cost::default();
            let cost = cost.of(choice, self.threshold) / cost.of(&bands, self.threshold);
            writeln!(
                text,
                "  {} {:>4}  {:>5}  {:>14}  {:>22}  {cost:>6.2}",
                if *choice == bands { '→' } else { ' ' },
                choice.rows,
                choice.count,
                choice.functions(),
                self.in_vain(choice),
            )?;
        }
        let (share, not) = match self.corpus {
            Some(_) => (String::new(), ", not those of this collection"),
            None => (
                format!(
                    "Share: of the pairs below {t}, if all similarities were equally common; with \
                     INPUT, numbers of pairs. "
                ),
                "",
            ),
        };
        writeln!(
            text,
            "\n{share}Cost: of hashing, sorting and comparing, by rough averages{not}; that of the \
             choice is 1."
        )?;
        Ok(())
    }

    fn in_vain(&self, bands: &Bands) -> String {
        match &self.corpus {
            Some(corpus) => count(corpus.survey.forecast(&|s| bands.probability(s)).wasted).0,
            None => {
                let share = bands.false_positive_area(self.threshold) / self.threshold;
                format!("{:.1} %", 100.0 * share)
            }
        }
    }

    fn estimates(&self, text: &mut String) -> fmt::Result {
        writeln!(
            text,
            "\nTo estimate similarities of {} and more from sketches alone, without comparing, at most \
             {} % too low but for a chance of {}, a sketch needs {} minhashes.",
            short(self.threshold),
            100.0 * self.view.delta,
            self.view.epsilon,
            grouped(self.functions as u64),
        )
    }
}

impl Corpus {
    /// What is expected of the collection.
    fn outlook(&self, threshold: f64, text: &mut String) -> fmt::Result {
        self.sampling(text)?;
        self.expected_pairs(threshold, text)?;
        self.expected_items(text)?;
        writeln!(text, "Copies of a text are counted as pairs here; a run folds them first.")?;
        self.ways(text)
    }

    /// How many records were drawn and compared.
    fn sampling(&self, text: &mut String) -> fmt::Result {
        let survey = &self.survey;
        let (records, drawn) = (grouped(survey.records), grouped(survey.drawn as u64));
        match (survey.is_complete(), survey.compared >= survey.records) {
            (true, _) => writeln!(text, "\nExpected of these {records} records, all compared:\n"),
            (_, true) => writeln!(
                text,
                "\nExpected of these {records} records; {drawn} were drawn at random and compared \
                 with all others:\n"
            ),
            _ => writeln!(
                text,
                "\nExpected of these {records} records; {drawn} were drawn at random and compared \
                 with {} others:\n",
                grouped(survey.compared)
            ),
        }
    }

    fn expected_pairs(&self, threshold: f64, text: &mut String) -> fmt::Result {
        let forecast = &self.forecast;
        let rows = [
            (forecast.similar, format!("pairs at or above {threshold}")),
            (forecast.missed, "of them missed".to_owned()),
            (forecast.candidates, "pairs share a bucket and are compared".to_owned()),
            (forecast.wasted, "of them in vain".to_owned()),
        ]
        .map(|(estimate, what)| (count(estimate), what));
        let width = rows.iter().map(|row| row.0.0.len()).max().unwrap_or(0).max(8);
        let error = rows.iter().map(|row| row.0.1.chars().count()).max().unwrap_or(0);
        for ((value, off), what) in &rows {
            let off = if error == 0 { String::new() } else { format!(" {off:<error$}") };
            writeln!(text, "  {value:>width$}{off}  {what}")?;
        }
        writeln!(text)
    }

    /// How many items have a similar one, and how sure that is.
    fn expected_items(&self, text: &mut String) -> fmt::Result {
        let (survey, forecast) = (&self.survey, &self.forecast);
        let (records, drawn) = (grouped(survey.records), grouped(survey.drawn as u64));
        if forecast.similar.value > 0.0 {
            let recall = 1.0 - forecast.missed.value / forecast.similar.value;
            let items = count(forecast.items);
            writeln!(
                text,
                "{}{} items{} have a similar one; of all their pairs, a share of {} should be found.",
                if survey.compared < survey.records { "At least " } else { "" },
                items.0,
                if items.1.is_empty() { String::new() } else { format!(" ({})", items.1) },
                chance(recall),
            )?;
        } else if !survey.is_complete() && survey.drawn > 0 {
            // Nothing in n draws: fewer than 3 in n, but for a chance of 5 %.
            writeln!(
                text,
                "None of the {drawn} has a similar one, so fewer than {} of the {records} do \
                 (95 % sure).",
                grouped((3.0 * survey.records as f64 / survey.drawn as f64).ceil() as u64)
            )?;
        }
        if survey.is_complete() {
            return Ok(());
        }
        writeln!(
            text,
            "What follows ± is the standard error, from how much the drawn records differ; a few \
             large groups of copies that none of them belongs to would not show."
        )
    }

    /// What an exact search would take, and what bands.
    fn ways(&self, text: &mut String) -> fmt::Result {
        let Some(ways) = &self.ways else {
            return writeln!(
                text,
                "\nAn exact search was not considered: the input is too large for that, or the bands were given. \
                 --exact takes it all the same."
            );
        };
        writeln!(text, "\nOf the two ways, once texts are read, on one thread:\n")?;
        let by_bands = ways.tables.as_ref().and_then(|tables| tables.cost);
        let both = [("exact search", ways.exact, Way::Exact), ("bands", by_bands, Way::Tables)];
        for (name, cost, way) in both {
            let Some(SearchCost { seconds, compared }) = cost else { continue };
            let arrow = if ways.way == way { '→' } else { ' ' };
            let pairs = grouped(compared.unwrap_or(0.0).round() as u64);
            writeln!(
                text,
                "  {arrow} {name:<12}  about {seconds:>6.2} s, {pairs} pairs compared element by element"
            )?;
        }
        writeln!(text, "\nA run takes the faster one; --exact and --approximate decide otherwise.")
    }

    fn shingles(&self, text: &mut String) -> fmt::Result {
        let Some(texts) = &self.texts else { return Ok(()) };
        if let Some(warning) = &texts.warning {
            writeln!(text, "\nIn the sample, {}.", warning.worded(&CommandWording))?;
        }
        match &texts.advice {
            Some(advice) => writeln!(text, "\nIf you shingle by characters, take {advice}."),
            None => writeln!(text, "\nToo few texts to advise on the length of shingles."),
        }
    }
}

/// A similarity without trailing digits.
fn short(similarity: f64) -> String {
    ((similarity * 1e4).round() / 1e4).to_string()
}

fn counted(number: usize, of: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {of}{s}", grouped(number as u64))
}

/// Breaks the lines that are too long and begin with a letter: sentences, not tables.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.chars().count() <= width
            || !line.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '(')
        {
            lines.push(line.to_owned());
            continue;
        }
        let mut short = " ".repeat(indent);
        for word in line.split_whitespace() {
            let room = short.chars().count() + 1 + word.chars().count() <= width;
            if !room && !short.trim().is_empty() {
                lines.push(std::mem::replace(&mut short, " ".repeat(indent)));
            }
            if !short.trim().is_empty() {
                short.push(' ');
            }
            short.push_str(word);
        }
        lines.push(short);
    }
    lines.join("\n") + "\n"
}
