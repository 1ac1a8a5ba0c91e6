//! From functions that agree with some probability to a search that almost surely finds similar pairs and almost never
//! looks at others.
//!
//! | file | answers |
//! |---|---|
//! | [`expression`] | with this AND and OR of functions, which pairs become candidates with which chance? |
//! | [`sensitivity`] | what does that do to a family at two distances? |
//! | [`bands`] | what is the curve of b bands of r rows, which most searches run? |
//! | [`tune`] | which b and r give what the user asks for? |
//! | [`functions`] | how many functions does an estimate need, and how many an OR? |

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
pub use functions::{best_or, functions_needed};
pub use sensitivity::Sensitivity;
pub use tune::{Cost, ExpectedPairs, MAX_FUNCTIONS, SampledPair, TunedBands, WorkCosts};
