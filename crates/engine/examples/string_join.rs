//! How long the complete join of strings takes, and comparing everything with everything.
//!
//! `cargo run --release -p nearkin-engine --no-default-features --example string_join -- FILE EDITS [brute]`
//!
//! FILE has a string a line.

#![allow(clippy::print_stdout)] // a program, and figures are what it is for

use std::time::Instant;

use nearkin_engine::item::Strings;
use nearkin_engine::join::strings;
use nearkin_engine::space::{JoinQuery, Space, StringMeasure, StringSpace, sorted_pairs};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, edits, rest @ ..] = &arguments[..] else {
        return Err("give FILE EDITS [brute]".into());
    };
    let text = std::fs::read_to_string(file)?;
    let limit: f64 = edits.parse()?;
    for measure in [StringMeasure::InsertDelete, StringMeasure::Mutation, StringMeasure::Hamming] {
        let strings: Strings = text.lines().collect();
        let space = StringSpace::new(strings, measure);
        let begun = Instant::now();
        let join = JoinQuery { limit, split: None, stopped: &|| false };
        let (pairs, counts) = sorted_pairs(|found| strings::join(&space, &join, found))?;
        let searched = begun.elapsed().as_secs_f64();
        println!("{measure:?} within {limit}: {} strings, {counts:?}", space.len());
        println!("  {} pairs, {searched:.3} s", pairs.len());
        if rest.first().is_some_and(|word| word == "brute") {
            let mut distinct: Vec<&str> = text.lines().collect();
            distinct.sort_unstable();
            distinct.dedup();
            let space = StringSpace::new(distinct.iter().collect(), measure);
            let begun = Instant::now();
            let items = space.len() as u32;
            let close =
                |a| (a + 1..items).filter(|&b| space.reaching(a, b, limit).is_some()).count();
            let pairs: usize = (0..items).into_par_iter().map(close).sum();
            println!("  brute force: {pairs} close, {:.3} s", begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
