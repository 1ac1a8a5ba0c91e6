//! Joins a file of raw `f32` vectors within a distance, and says how long each step took.
//!
//! usage: within FILE DIMENSION RADIUS [OUT]     OUT gets a, b as little-endian `u32`s

use std::time::Instant;

use nearkin::item::Vectors;
use nearkin::join::Blocks;
use nearkin::space::{Join, VectorMeasure, VectorSpace};

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, dimension, radius, out @ ..] = &arguments[..] else {
        return Err("usage: within FILE DIMENSION RADIUS [OUT]".into());
    };
    let bytes = std::fs::read(file)?;
    let values = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    drop(bytes);
    let vectors = Vectors::new(dimension.parse()?, values)?;
    let space = VectorSpace::new(&vectors, VectorMeasure::L2)?;
    let start = Instant::now();
    let blocks = Blocks::new(&space);
    let build = start.elapsed().as_secs_f64();
    let join = Join { limit: radius.parse()?, split: None, stopped: &|| false };
    let (found, counts) = blocks.within(&join)?;
    let search = start.elapsed().as_secs_f64() - build;
    println!(r#"{{"build": {build:.3}, "search": {search:.3}, "pairs": {}}}"#, found.len());
    println!("{counts:?}");
    if let [out, ..] = out {
        let pairs = found.iter().flat_map(|found| [found.a, found.b]);
        std::fs::write(out, pairs.flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
    }
    Ok(())
}
