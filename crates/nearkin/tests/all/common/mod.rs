//! What several tests share.

pub(crate) mod expressions;
#[cfg(feature = "files")]
pub(crate) mod files;
