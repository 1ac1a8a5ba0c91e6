//! The engine of nearkin, which the library, the command and the Python package share. **To find similar items from your own
//! program, take the crate `nearkin`**: it has what such a program needs, and keeps it from one version to the next. What is
//! here may change with every version.
//!
//! The modules, in the order in which the data takes them; each may use those before it and none after it. `error`,
//! `observe`, `parallel` and `spill` are for all.
//!
//! [`item`], [`measure`], [`space`] → [`shingle`] → [`family`] → [`amplify`] → [`verify`] → [`candidates`] → [`join`] →
//! [`settings`] → [`plan`] → [`audit`] → [`matches`](mod@matches) → [`cluster`] → [`search`] → [`distributed`], [`index`],
//! [`overlap`], [`passages`], [`records`], [`trim`] → [`read`], [`write`](mod@write) → [`hosts`], [`options`]. [`textbook`] has what no run uses and every student asks for.

pub mod amplify;
pub mod audit;
pub mod candidates;
pub mod cluster;
pub mod distributed;
pub mod error;
pub mod family;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod fuzz;
#[cfg(feature = "hosts")]
pub mod hosts;
pub mod index;
pub mod item;
pub mod join;
pub mod matches;
pub mod measure;
pub mod observe;
pub mod options;
pub mod overlap;
mod parallel;
pub mod passages;
pub mod plan;
#[cfg(feature = "files")]
pub mod read;
pub mod records;
pub mod search;
pub mod settings;
pub mod shingle;
pub mod space;
mod spill;
pub mod textbook;
pub mod trim;
pub mod verify;
#[cfg(feature = "files")]
pub mod write;

pub use error::{Error, Result};
pub use parallel::with_threads;
pub use spill::{LEAST_MEMORY, fair_share};
