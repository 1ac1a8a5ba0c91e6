//! Fingerprints as sets of grid squares: what functions of three squares find, predicted and measured.
//!
//! ```sh
//! cargo run --release -p nearkin-engine --no-default-features --example fingerprints                # prints that are drawn
//! cargo run --release -p nearkin-engine --no-default-features --example fingerprints -- FILE        # prints that were taken
//! ```
//!
//! FILE has JSON lines with `finger` and `minutiae`, a list of [x, y, degrees] or [x, y, degrees, type, quality], and may be
//! packed with gzip.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program, and tables are what it is for

mod align;
mod frames;
mod generated;
mod identify;
mod prints;

use std::path::Path;
use std::process::ExitCode;

use generated::{AGAIN, EACH, FILLED, Generated, ManyMany, ManyOne, Rate, independent, on_grid};
use identify::{ALIGNED, FALSELY, Report, Way, identify};
use nearkin_engine::Result;
use nearkin_engine::amplify::Expression;

const SEED: u64 = 1;
const FINGERS: usize = 2000;
/// Prints of one finger share two thirds of their squares, others a ninth.
const LIMIT: f64 = 0.4;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        [] => draw(),
        [file] if !file.starts_with('-') => look_for_each(Path::new(file)),
        _ => {
            eprintln!("usage: fingerprints [FILE]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// 1024 functions, one of which must agree; and two such groups, both of which must.
fn groups() -> [Expression; 2] {
    let one = Expression::function("squares").or(1024);
    [one.clone(), one.and(2)]
}

fn draw() -> Result<()> {
    println!(
        "{FINGERS} fingers, two prints each. A square has a minutia with probability {FILLED}; where one print\n\
         of a finger has one, the other has it with probability {AGAIN}. A function asks for {EACH} squares."
    );
    for grid in [1000, 10_000] {
        let drawn = Generated::new(FINGERS, grid, SEED);
        let title = format!("{grid} squares");
        println!("\n{title:42}independent{:>15}{:>19}", "on this grid", "measured");
        for expression in groups() {
            let (book, here) = (independent(&expression), on_grid(&expression, grid));
            let ManyOne { same, different } = drawn.many_one(&expression, SEED)?;
            println!("{expression}");
            line("prints of the same finger found", book.same, here.same, &same);
            line("prints of other fingers looked at", book.different, here.different, &different);
            println!("  that is one of {:.0} in the base", 1.0 / different.mean);
        }
        let [_, both] = groups();
        let ManyMany { all, compared, same, different } = drawn.many_many(&both, SEED, LIMIT)?;
        println!(
            "all pairs: of {all}, {compared} are compared, and found similar by {LIMIT} are\n  \
             the prints of {same} fingers, and {different} pairs of two fingers"
        );
    }
    Ok(())
}

fn line(what: &str, book: f64, here: f64, measured: &Rate) {
    let measured = format!("{:.5} ± {:.5}", measured.mean, 2.0 * measured.error);
    println!("  {what:40}{book:>11.5}{here:>15.5}{measured:>19}");
}

fn look_for_each(file: &Path) -> Result<()> {
    let [_, expression] = groups();
    let report = identify(&prints::read(file)?, &expression, SEED)?;
    show(&report, &expression);
    Ok(())
}

fn show(report: &Report, expression: &Expression) {
    println!(
        "{} prints of {} fingers, each looked for among the others\n",
        report.prints, report.fingers
    );
    println!("{:38}{:>10}{:>10}{:>10}{:>10}", "", "compared", "mates met", "rank one", "one mate");
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let row = |what: &str, [compared, met, rank_one, one_mate]: [String; 4]| {
        println!("{what:38}{compared:>10}{met:>10}{rank_one:>10}{one_mate:>10}");
    };
    let (first, mate) = report.chance;
    row("by chance", [String::new(), String::new(), percent(first), percent(mate)]);
    let way = |what: &str, way: &Way| {
        let rank_one = way.rank_one as f64 / report.prints as f64;
        row(what, [way.compared, way.met, rank_one, way.one_mate].map(percent));
    };
    way("one frame a print", &report.own[0]);
    way(&format!("  {expression}"), &report.own[1]);
    way("a frame at each minutia", &report.near[0]);
    way(&format!("  {expression}"), &report.near[1]);
    way(&format!("    and the {ALIGNED} best laid over the print"), &report.short);
    way("every print laid over every other", &report.aligned);
    let accepted = &report.accepted;
    println!(
        "\nAccepted above a score of {:.3}, set for {} false on the first half of the fingers: on the second\n  {} of the pairs of one \
         finger, and {} of those of two",
        accepted.limit,
        percent(FALSELY),
        percent(accepted.rightly),
        percent(accepted.falsely)
    );
    let again = &report.again;
    println!(
        "\nIn one frame a print, {} of the squares are filled. Of a print's squares another print has\n  {} if it is of another finger, {} \
         if it is of the same, and {} if it is of the same and was laid over it",
        percent(report.filled),
        percent(again.two_fingers),
        percent(again.one_finger),
        percent(again.aligned)
    );
}
