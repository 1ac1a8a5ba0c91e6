//! From functions that agree with some probability to a search that almost surely finds the similar
//! and almost never the dissimilar.
//!
//! [`bands`] holds the S-curve of b bands of r rows, [`tune`] chooses b and r for what the user asks,
//! and [`functions`] says how many functions an estimate needs.

pub mod bands;
pub mod functions;
pub mod tune;

pub use bands::Bands;
pub use functions::functions_needed;
pub use tune::{Cost, Expected, MAX_FUNCTIONS};
