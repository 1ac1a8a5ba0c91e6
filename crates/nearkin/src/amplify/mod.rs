//! From functions that agree with some probability to a search that almost surely finds the similar
//! and almost never the dissimilar.
//!
//! An [`Expression`] is any AND and OR of functions, with the curve that follows from it; [`sensitivity`] says
//! what that does to a family at two distances. [`bands`] is the expression that most searches run, b bands of
//! r rows, [`tune`] chooses b and r for what the user asks, and [`functions`] says how many functions an
//! estimate needs.

pub mod bands;
mod chance;
pub mod expression;
mod formula;
pub mod functions;
mod parse;
pub mod sensitivity;
pub mod tune;

pub use bands::Bands;
pub use expression::Expression;
pub use functions::functions_needed;
pub use sensitivity::Sensitivity;
pub use tune::{Cost, ExpectedPairs, MAX_FUNCTIONS, SampledPair, TunedBands, WorkCosts};
