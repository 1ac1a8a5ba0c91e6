//! Joins a file of raw `f32` vectors within a Euclidean distance, and says how long each step took.
//!
//! usage: within FILE DIMENSION RADIUS WAY [OUT]
//!
//! WAY is `blocks`, `dense` or `best`; OUT gets the pairs as little-endian `u32`s.

use std::time::Instant;

use nearkin::item::Vectors;
use nearkin::join::{self, Blocks, Dense};
use nearkin::space::{Join, VectorMeasure, VectorSpace};

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, dimension, radius, way, out @ ..] = &arguments[..] else {
        return Err("usage: within FILE DIMENSION RADIUS blocks|dense|best [OUT]".into());
    };
    let bytes = std::fs::read(file)?;
    let values = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    drop(bytes);
    let vectors = Vectors::new(dimension.parse()?, values)?;
    let start = Instant::now();
    let space = VectorSpace::new(&vectors, VectorMeasure::L2)?;
    let join = Join { limit: radius.parse()?, split: None, stopped: &|| false };
    let (found, build) = match way.as_str() {
        "blocks" => {
            let blocks = Blocks::new(&space);
            let build = start.elapsed();
            (blocks.within(&join)?.0, build)
        }
        "dense" => {
            let dense = Dense::new(&space);
            let build = start.elapsed();
            (dense.within(&join)?, build)
        }
        "best" => (join::prepare(&space, &join).0.within(&space, &join)?.0, start.elapsed()),
        _ => return Err("the way is blocks, dense or best".into()),
    };
    let (all, build) = (start.elapsed().as_secs_f64(), build.as_secs_f64());
    println!(r#"{{"build": {build}, "search": {}, "pairs": {}}}"#, all - build, found.len());
    if let [out, ..] = out {
        let pairs = found.iter().flat_map(|found| [found.a, found.b]);
        std::fs::write(out, pairs.flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
    }
    Ok(())
}
