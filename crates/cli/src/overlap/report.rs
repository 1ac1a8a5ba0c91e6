//! What was found of the overlaps: tables, a listing for people, and the report at the end.

use std::fmt::Write as _;

use nearkin_engine::Result;
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::item::PassedOver;
use nearkin_engine::observe::Observer;
use nearkin_engine::overlap::{SharedStretch, TrainOverlap};
use nearkin_engine::write::{Cell, Column, ColumnKind, TableWriter};
use serde_json::{Value, json};

use super::FoundOverlaps;
use crate::compare::shorten;
use crate::engine::go_on;
use crate::report::{
    RunReport, grouped, lines, passed_over, passed_over_json, peak_memory, stages_json,
};
use crate::screen::harmless;

fn column(name: &str, kind: ColumnKind) -> Column<'_> {
    Column { name, kind }
}

fn id_column(name: &str, numbers: bool) -> Column<'_> {
    column(name, if numbers { ColumnKind::IntId } else { ColumnKind::Id })
}

impl FoundOverlaps {
    /// One row per stretch: `train`, `test`, `words`, where it stands in either, `passage`, and with a share `share`.
    pub(crate) fn write_pairs(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        observer: &dyn Observer,
    ) -> Result<TableWriter> {
        let tests = &self.overlaps.tests;
        let mut columns = vec![
            id_column("train", self.overlaps.ids_are_numbers),
            id_column("test", tests.ids_are_numbers()),
            column("words", ColumnKind::Count),
            column("train_file", ColumnKind::Text),
            column("train_line", ColumnKind::Count),
            column("train_offset", ColumnKind::Count),
            column("train_length", ColumnKind::Count),
            column("test_file", ColumnKind::Text),
            column("test_line", ColumnKind::Count),
            column("test_offset", ColumnKind::Count),
            column("test_length", ColumnKind::Count),
            column("passage", ColumnKind::Text),
        ];
        columns.extend(self.measure.share.map(|_| column("share", ColumnKind::Float)));
        let mut table = create(&columns)?.with_resources((&self.settings).into());
        self.overlaps.each(|overlap| {
            go_on(observer)?;
            let train_file = self.file_of(&overlap);
            for stretch in &overlap.stretches {
                let SharedStretch { test, share, words, train, place, passage } = stretch;
                let test_id = tests.id(*test);
                let (test_file, test_line) = tests.place(*test);
                let test_file = test_file.to_string_lossy();
                let mut row = vec![
                    Cell::from(&overlap.id),
                    Cell::from(&test_id),
                    Cell::Count(*words),
                    Cell::Text(&train_file),
                    Cell::Count(overlap.line),
                    Cell::Count(train.start),
                    Cell::Count(train.end - train.start),
                    Cell::Text(&test_file),
                    Cell::Count(test_line),
                    Cell::Count(place.start),
                    Cell::Count(place.end - place.start),
                    Cell::Text(passage),
                ];
                row.extend(share.map(|(have, all)| Cell::Float(have as f64 / all as f64)));
                table.row(&row)?;
            }
            Ok(())
        })?;
        Ok(table)
    }

    /// One row per document that overlaps: where it stands, and the test item with which it shares most words.
    pub(crate) fn write_removed(
        &self,
        create: impl FnOnce(&[Column<'_>]) -> Result<TableWriter>,
        observer: &dyn Observer,
    ) -> Result<TableWriter> {
        let tests = &self.overlaps.tests;
        let columns = [
            id_column("id", self.overlaps.ids_are_numbers),
            column("file", ColumnKind::Text),
            column("line", ColumnKind::Count),
            id_column("test", tests.ids_are_numbers()),
            column("test_file", ColumnKind::Text),
            column("test_line", ColumnKind::Count),
            column("words", ColumnKind::Count),
            column("reason", ColumnKind::Text),
        ];
        let mut table = create(&columns)?.with_resources((&self.settings).into());
        self.overlaps.each(|overlap| {
            go_on(observer)?;
            let (test, words) = overlap.most;
            let test_id = tests.id(test);
            let (test_file, test_line) = tests.place(test);
            table.row(&[
                Cell::from(&overlap.id),
                Cell::Text(&self.file_of(&overlap)),
                Cell::Count(overlap.line),
                Cell::from(&test_id),
                Cell::Text(&test_file.to_string_lossy()),
                Cell::Count(test_line),
                Cell::Count(words),
                Cell::Text(if self.cut { "cut" } else { "contaminated" }),
            ])
        })?;
        Ok(table)
    }

    fn file_of(&self, overlap: &TrainOverlap) -> String {
        self.overlaps.files()[overlap.file].to_string_lossy().into_owned()
    }

    /// How many documents overlap, and those that share most words, each with its longest passage.
    pub(crate) fn listing(&self) -> Result<String> {
        let counts = self.overlaps.counts;
        let mut text = format!(
            "{} of {} training documents overlap with {} of {} test items\n",
            grouped(counts.overlapping),
            grouped(counts.items),
            grouped(counts.tests_found),
            grouped(self.overlaps.tests.counts().items),
        );
        for overlap in &self.overlaps.worst {
            self.list(overlap, &mut text);
        }
        let others = counts.overlapping - self.overlaps.worst.len() as u64;
        if others > 0 {
            let _ = writeln!(
                text,
                "\nand {} more; --report-pairs FILE writes all of them",
                grouped(others)
            );
        }
        Ok(text)
    }

    fn list(&self, overlap: &TrainOverlap, text: &mut String) {
        let (test, words) = overlap.most;
        let tests = &self.overlaps.tests;
        let (test_file, test_line) = tests.place(test);
        let place = |id: String, file: &str, line: u64| {
            format!("{} ({}:{line})", harmless(&id, false), harmless(file, false))
        };
        let train = place(overlap.id.to_string(), &self.file_of(overlap), overlap.line);
        let test_place = place(tests.id(test).to_string(), &test_file.to_string_lossy(), test_line);
        let _ = writeln!(
            text,
            "\n{train}: {} of {} words",
            grouped(overlap.shared),
            grouped(overlap.words)
        );
        let _ = writeln!(text, "  {} of them in {test_place}", grouped(words));
        let of_test = overlap.stretches.iter().filter(|stretch| stretch.test == test);
        // The first of several that are equally long.
        if let Some(longest) = of_test.rev().max_by_key(|stretch| stretch.words) {
            let passage = longest.passage.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "  “{}”", shorten(&harmless(&passage, false), 200));
        }
    }

    /// The report at the end.
    pub(crate) fn report(&self) -> RunReport {
        let skipped = self.overlaps.skipped.iter().chain(self.overlaps.tests.skipped());
        let report = RunReport::new(self.as_json(), self.funnel(), skipped);
        RunReport { warnings: self.warnings(), ..report }
    }

    fn as_json(&self) -> Value {
        let (counts, tests) = (self.overlaps.counts, self.overlaps.tests.counts());
        json!({
            "items": counts.items,
            "skipped": counts.skipped + tests.skipped,
            "passed_over": passed_over_json(self.passed_over()),
            "short": counts.short,
            "overlapping": counts.overlapping,
            "cut": self.cut,
            "kept": if self.cut { counts.items } else { counts.items - counts.overlapping },
            "shared_words": counts.shared_words,
            "stretches": counts.stretches,
            "crowded": counts.crowded,
            "tests": {
                "items": tests.items,
                "skipped": tests.skipped,
                "short": tests.short,
                "empty": tests.empty,
                "windows": tests.windows,
                "found": counts.tests_found,
            },
            "words": self.measure.words,
            "share": self.measure.share,
            "most_tests": self.measure.most_tests,
            "stages": stages_json(&self.stages),
            "peak_memory": peak_memory(),
        })
    }

    /// Files of the folders of either side that were passed over.
    fn passed_over(&self) -> PassedOver {
        let mut both = self.overlaps.counts.passed_over;
        both += self.overlaps.tests.counts().passed_over;
        both
    }

    fn funnel(&self) -> String {
        let (counts, tests) = (self.overlaps.counts, self.overlaps.tests.counts());
        let words = self.measure.words;
        let mut rows = vec![(tests.items, "test items read".to_owned())];
        let skipped = counts.skipped + tests.skipped;
        if tests.short > 0 {
            let short = format!("of them have fewer than {words} words, and cannot be found");
            rows.push((tests.short, short));
        }
        rows.push((counts.items, "training documents read".to_owned()));
        if skipped > 0 {
            let what = "records skipped because they could not be used";
            rows.push((skipped, what.to_owned()));
        }
        rows.extend(passed_over(self.passed_over()));
        rows.push((counts.tests_found, "test items found in training documents".to_owned()));
        rows.push((counts.overlapping, "training documents overlap with them".to_owned()));
        if counts.crowded > 0 {
            rows.push((
                counts.crowded,
                format!(
                    "of them share a stretch with more than {} test items, of which the first are named",
                    self.measure.most_tests
                ),
            ));
        }
        rows.push((
            counts.items - counts.overlapping,
            "training documents without an overlap".to_owned(),
        ));
        let seconds: f64 = self.stages.iter().map(|stage| stage.seconds).sum();
        let what = match self.measure.share {
            None => format!("an overlap is at least {words} words in a row"),
            Some(share) => {
                format!(
                    "an overlap has at least {share} of a test item's stretches of {words} words"
                )
            }
        };
        format!("{}  {what}; none is missed; took {seconds:.1} s", lines(&rows))
    }

    fn warnings(&self) -> Vec<Problem> {
        let (counts, tests) = (self.overlaps.counts, self.overlaps.tests.counts());
        let nothing = |what: &str| {
            Problem::new(format!("there are no {what}: the input has no record"))
                .or("check that it is the right file")
                .or(Advice::with("format", "name its format"))
        };
        let mut warnings = self.input().warnings();
        warnings.extend((tests.items == 0).then(|| nothing("test items")));
        warnings.extend((counts.items == 0).then(|| nothing("training documents")));
        warnings.extend(self.short_tests());
        // More than a tenth is no accident.
        if counts.overlapping >= 10 && 10 * counts.overlapping > counts.items {
            warnings.push(
                Problem::new(format!(
                    "{} of {} training documents overlap: the test items may come from the training documents, or \
                     both quote the same text",
                    grouped(counts.overlapping),
                    grouped(counts.items),
                ))
                .or("look at the passages")
                .or(Advice::with("words", "ask for longer stretches")),
            );
        }
        warnings
    }

    /// The warning of test items that no stretch can find.
    fn short_tests(&self) -> Option<Problem> {
        let (tests, words) = (self.overlaps.tests.counts(), self.measure.words);
        if tests.short == 0 {
            return None;
        }
        let of = |some: u64| format!("{} of {} test items", grouped(some), grouped(tests.items));
        if tests.empty == tests.short {
            let what = format!("{} have no word, and cannot be found", of(tests.empty));
            let field = Advice::with("test_text", "name the field with their text");
            return Some(Problem::new(what).or(field));
        }
        let what =
            format!("{} have fewer than {words} words, and cannot be found", of(tests.short));
        let usual = self.overlaps.tests.usual_words_of_short().unwrap_or(0);
        // Fewer words in a row stand in many texts that have nothing to do with one another.
        let shorter = [8, 5].into_iter().find(|&shorter| shorter < words && shorter <= usual);
        let problem = Problem::new(what);
        Some(match shorter {
            Some(shorter) => problem.or(Advice::set("words", shorter.to_string())),
            None => problem.or("make them longer, such as a question with its answers"),
        })
    }
}
