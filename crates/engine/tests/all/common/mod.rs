//! What several tests share.

pub mod data;
pub mod expressions;
#[cfg(feature = "files")]
pub mod files;
