//! The `nearkin` command, and its jobs for callers that have items in memory: see [`engine`].

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod command;
mod compare;
mod dedup;
pub mod engine;
pub mod hosts;
mod limit;
mod listing;
pub mod matching;
mod mistyped;
mod output;
mod overlap;
mod pairs;
mod passages;
#[cfg(feature = "plot")]
mod picture;
mod plan;
mod progress;
mod report;
mod screen;
mod search;
mod shell;
mod show;
mod top;
mod trim;
mod wording;

pub use command::main;
pub use progress::{out_of_memory, when_threads_are_refused};
pub use wording::CommandWording;
