//! Ways in for the fuzz targets of `fuzz/`, to what is private. Nothing else uses them.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::audit::Audit;
use crate::cluster::Clustering;
use crate::matches::{Collection, SimilarGroups, Stats};
use crate::observe::Stage;
use crate::spill::{self, Loader, Temp};

/// The bytes with the checksum at their end that stage files and indexes have, so that a target gets past it.
pub fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    [bytes, &xxh3_64(bytes).to_le_bytes()].concat()
}

/// Reads a file as a run that goes on reads the result of each stage; says which could be read.
pub fn stage_file(path: &Path) -> [bool; 4] {
    let limit = usize::MAX;
    let temp = Temp::passing(PathBuf::from("/nowhere"));
    let read = |read: &dyn Fn(&mut Loader) -> Option<()>| {
        spill::load(path, &temp, |load| {
            load.text()?;
            read(load)
        })
        .is_some()
    };
    [
        read(&|load| Stats::default().load(load, Stage::Verify).map(drop)),
        read(&|load| Collection::load(load, limit).map(drop)),
        read(&|load| SimilarGroups::load(load, limit).map(drop)),
        read(&|load| {
            Clustering::load(load)?;
            load.lists::<u32>(limit)?;
            Audit::load(load).map(drop)
        }),
    ]
}
