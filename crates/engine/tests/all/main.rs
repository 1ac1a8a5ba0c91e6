//! The tests of the library through its public functions, in one binary: linking each file on its own takes longer than
//! running most of them. Files that begin with `s` and a number follow the syllabus of the subject, row by row, and so do the
//! names of their tests.

#![allow(unreachable_pub, reason = "nothing is reached from outside a test")]

mod common;
mod cut_records;

// The subject.
mod bags;
mod s1_measures;
mod s2_12_tfidf;
mod s2_shingles;
mod s3_minhash;
mod s4_5_audit;
mod s4_6_signatures;
mod s4_banding;
mod s4_curve;
mod s4_search;
mod s5_cascades;
mod s5_search;
mod s6_5_near_neighbour;
mod s6_families;
mod s7_8_perfect;
mod s7_exact;
mod s7_identical;
mod s8_1_passages;
mod s8_3_records;
mod s8_4_fingerprints;

// Whole runs.
mod index;
mod made_slow;
mod memory_dedup;
mod memory_items;
mod promise;
mod resume;
mod safe_removal;
mod scanned;
mod scanned_files;
mod strings;
mod survey;
mod trim;
mod vectors;

// Files in, files out.
mod read_content;
mod read_documents;
mod read_encodings;
mod read_errors;
mod read_frames;
mod read_inputs;
mod read_items;
mod read_json;
mod write_files;
mod write_records;
