//! nearkin finds similar items in large collections.
//!
//! The data takes this way:
//! `item`, `measure` → `shingle` → `family` → `passages` → `amplify` → `candidates` → `verify` → `join` → `near` →
//! `cluster`, `records` → `read`, `write` → `pipeline` → `index`, `hosts`. Each module may use those before it and none
//! after it; `error`, `parallel` and `spill` are for all.

pub mod amplify;
pub mod audit;
pub mod candidates;
pub mod cluster;
pub mod error;
pub mod family;
#[cfg(feature = "hosts")]
pub mod hosts;
pub mod index;
pub mod item;
pub mod join;
pub mod measure;
pub mod near;
pub mod options;
mod parallel;
pub mod passages;
pub mod pipeline;
#[cfg(feature = "files")]
pub mod read;
pub mod records;
pub mod shingle;
pub mod space;
mod spill;
pub mod verify;
#[cfg(feature = "files")]
pub mod write;

pub use error::{Error, Result};
