//! amplify
