//! All fuzz targets in one program: `TARGET=json ./fuzz -runs=1000000 corpus/json`. `fuzz/run` starts it for all of them.

#![no_main]

mod targets;

use std::sync::OnceLock;

use targets::Target;

static TARGET: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        // After libFuzzer's own hook, which ends the process: what the Parquet reader catches is no finding.
        nearkin_engine::read::hide_caught_panics();
        let name = std::env::var("TARGET").unwrap_or_default();
        let Some(target) = targets::ALL.iter().find(|target| target.0 == name) else {
            let names: Vec<_> = targets::ALL.iter().map(|target| target.0).collect();
            eprintln!("TARGET is {name:?}; it must be one of {}", names.join(" "));
            std::process::exit(2);
        };
        TARGET.get_or_init(|| *target);
    },
    |data: &[u8]| TARGET.get().expect("set at the start").1(data)
);
