//! The fuzz targets on their seeds, and on what they once failed on.

#[path = "../../../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn every_fuzz_target_takes_its_seeds() {
    nearkin_engine::read::hide_caught_panics();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, target) in targets::ALL {
        let folder =
            fs::read_dir(seeds.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut count = 0;
        for seed in folder {
            let seed = seed.unwrap().path();
            println!("{}", seed.display()); // shown where it fails
            target(&fs::read(&seed).unwrap());
            count += 1;
        }
        assert!(count > 0, "{name} has no seeds");
    }
}
