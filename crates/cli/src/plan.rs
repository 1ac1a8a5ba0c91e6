//! `nearkin plan`: what a run will do, before it runs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use nearkin::amplify::{Bands, Expected, functions_needed};
use nearkin::candidates::brute_force;
use nearkin::measure::jaccard;
use nearkin::pipeline::{Sample, Settings, sample};
use nearkin::shingle::{Advice, advise};
use nearkin::{Error, Result};
use serde_json::{Value, json};

use crate::args::{FieldArgs, RunArgs, SimilarityArgs};
use crate::report::grouped;

/// The parameters a run will use, its S-curve, and what it will miss and waste
///
/// With numbers only, or with INPUT to look at a sample of it: then also how long character shingles
/// should be, and how many pairs are expected to be missed and compared in vain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nearkin plan -t 0.8 --recall 0.99
  nearkin plan articles.jsonl -t 0.5                   with a look at the data
  nearkin plan -t 0.9 --at 0.5,0.7,0.9 --json")]
pub(crate) struct PlanArgs {
    /// Files, folders or - to take a sample of
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    /// Similarities at which to give the curve
    #[arg(long, value_name = "S,…", value_delimiter = ',', default_values_t = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])]
    at: Vec<f64>,
    /// For estimates from sketches alone: how far below the truth one may fall, as a share of it
    #[arg(long, default_value_t = 0.1)]
    delta: f64,
    /// … and with what chance it may fall further
    #[arg(long, default_value_t = 0.05)]
    epsilon: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Texts looked at, which make a quarter of a million pairs.
const SAMPLE: usize = 700;

pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<()> {
    if let Some(wrong) = args.at.iter().find(|s| !(0.0..=1.0).contains(*s)) {
        return Err(Error::parameter("--at", wrong, "similarities from 0 to 1").into());
    }
    let settings = args.similarity.settings(&RunArgs::default(), &args.fields)?;
    let bands = settings.bands()?;
    let threshold = settings.jaccard_threshold();
    let functions = functions_needed(args.delta, args.epsilon, threshold)?;
    let corpus = if args.inputs.is_empty() {
        None
    } else {
        let input = args.fields.open(&args.inputs, None, None)?;
        Some(Corpus::of(sample(&input, SAMPLE, settings.seed)?, &settings, bands, threshold))
    };
    let asked = settings.limit().similarity();
    let plan =
        Plan { args, bands, asked, threshold, recall: settings.promised()?, functions, corpus };
    let text = if args.json { format!("{:#}\n", plan.as_json()) } else { plan.as_text()? };
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// What a sample tells of a collection.
struct Corpus {
    records: u64,
    sampled: usize,
    advice: Option<Advice>,
    /// Expected in the whole collection.
    expected: Expected,
    similar: f64,
    /// Where the sample has no similar pair: how many there may be all the same.
    at_most: Option<f64>,
}

impl Corpus {
    fn of(sample: Sample, settings: &Settings, bands: Bands, threshold: f64) -> Self {
        let texts: Vec<&str> = sample.texts.iter().map(String::as_str).collect();
        let sets: Vec<Vec<u64>> = texts.iter().map(|text| settings.elements(text)).collect();
        let pairs = brute_force::pairs(sets.len() as u32);
        let similarities: Vec<f64> = pairs
            .map(|(a, b)| match [&sets[a as usize], &sets[b as usize]] {
                [a, b] if a.is_empty() && b.is_empty() => 0.0, // similar to nothing
                [a, b] => jaccard::similarity(a, b),
            })
            .collect();
        let all = sample.records as f64 * (sample.records as f64 - 1.0) / 2.0;
        let scale = if similarities.is_empty() { 0.0 } else { all / similarities.len() as f64 };
        let expected = bands.expected(&similarities, threshold);
        let similar = similarities.iter().filter(|s| **s >= threshold).count() as f64;
        Self {
            records: sample.records,
            sampled: texts.len(),
            advice: advise(&texts),
            expected: Expected {
                missed: expected.missed * scale,
                wasted: expected.wasted * scale,
                candidates: expected.candidates * scale,
            },
            similar: similar * scale,
            // Nothing in n pairs: fewer than 3 in n, but for a chance of 5 %.
            at_most: (similar == 0.0).then_some(3.0 * scale),
        }
    }
}

struct Plan<'a> {
    args: &'a PlanArgs,
    bands: Bands,
    /// The threshold as it was asked for, and as a Jaccard similarity of shingles.
    asked: f64,
    threshold: f64,
    recall: f64,
    functions: usize,
    corpus: Option<Corpus>,
}

impl Plan<'_> {
    fn as_json(&self) -> Value {
        let bands = self.bands;
        let (at, slope) = bands.steepest();
        let curve: Vec<Value> =
            self.args.at.iter().map(|&s| json!({ "s": s, "p": bands.probability(s) })).collect();
        let mut plan = json!({
            "expression": bands.expression(),
            "bands": bands.count,
            "rows": bands.rows,
            "threshold": self.asked,
            "recall": self.recall,
            "recall_at_threshold": bands.probability(self.threshold),
            "half_way": bands.half_way(),
            "estimate": bands.estimate(),
            "fixed_point": bands.fixed_point(),
            "steepest": { "at": at, "slope": slope },
            "missed_area": bands.false_negative_area(self.threshold),
            "wasted_area": bands.false_positive_area(self.threshold),
            "functions_for_estimates": self.functions,
            "curve": curve,
        });
        if let Some(corpus) = &self.corpus {
            plan["corpus"] = json!({
                "records": corpus.records,
                "sampled": corpus.sampled,
                "shingle": corpus.advice.as_ref().map(|advice| format!("chars:{}", advice.k)),
                "reason": corpus.advice.as_ref().map(ToString::to_string),
                "expected": {
                    "similar": corpus.similar,
                    "similar_at_most": corpus.at_most,
                    "missed": corpus.expected.missed,
                    "wasted": corpus.expected.wasted,
                    "candidates": corpus.expected.candidates,
                },
            });
        }
        plan
    }

    fn as_text(&self) -> Result<String, std::fmt::Error> {
        let Self { bands, threshold, recall, .. } = self;
        let mut text = String::new();
        let (at, slope) = bands.steepest();
        writeln!(text, "{} bands of {} rows: {}", bands.count, bands.rows, bands.expression())?;
        writeln!(
            text,
            "  a pair at just {threshold} is found with chance {:.6} ({recall} was asked for)",
            bands.probability(*threshold),
        )?;
        writeln!(
            text,
            "  half way at {:.4} (estimate (1/b)^(1/r): {:.4}), steepest at {at:.4} with slope {slope:.2}",
            bands.half_way(),
            bands.estimate(),
        )?;
        if let Some(fixed) = bands.fixed_point() {
            writeln!(
                text,
                "  fixed point at {fixed:.4}: pairs above it are raised, below it lowered"
            )?;
        }
        writeln!(
            text,
            "  areas, were all similarities equally frequent: missed {:.6}, wasted {:.6}",
            bands.false_negative_area(*threshold),
            bands.false_positive_area(*threshold),
        )?;
        writeln!(text, "\n  similarity  chance to be compared")?;
        for &s in &self.args.at {
            writeln!(text, "  {s:>10}  {:.6}", bands.probability(s))?;
        }
        writeln!(
            text,
            "\nTo estimate similarities of {threshold} and more from sketches alone, at most {} % too low \
             but for a chance of {}: {} functions",
            100.0 * self.args.delta,
            self.args.epsilon,
            self.functions,
        )?;
        if let Some(corpus) = &self.corpus {
            corpus.as_text(self.asked, &mut text)?;
        }
        Ok(text)
    }
}

impl Corpus {
    fn as_text(&self, threshold: f64, text: &mut String) -> std::fmt::Result {
        let round = |number: f64| grouped(number.round() as u64);
        writeln!(
            text,
            "\n{} records; expected from a sample of {}:",
            grouped(self.records),
            grouped(self.sampled as u64),
        )?;
        match self.at_most {
            Some(most) => writeln!(
                text,
                "  {:>12}  pairs at or above {threshold} at the most: the sample has none (95 % sure)",
                round(most)
            )?,
            None => {
                writeln!(text, "  {:>12}  pairs at or above {threshold}", round(self.similar))?;
                writeln!(text, "  {:>12}  of them missed", round(self.expected.missed))?;
            }
        }
        writeln!(
            text,
            "  {:>12}  pairs compared, copies not folded",
            round(self.expected.candidates)
        )?;
        writeln!(text, "  {:>12}  of them in vain", round(self.expected.wasted))?;
        match &self.advice {
            Some(advice) => writeln!(text, "\nIf you shingle by characters, take {advice}"),
            None => writeln!(text, "\nToo few texts to advise on the length of shingles"),
        }
    }
}
