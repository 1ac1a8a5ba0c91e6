//! The tests of the command by its real output, in one binary: linking each file on its own takes longer than running most
//! of them.

#![allow(unreachable_pub, reason = "nothing is reached from outside a test")]

mod common;
#[path = "../../../engine/tests/all/common/data.rs"]
mod data;

mod audit;
mod bounds;
mod compare_items;
mod course;
mod crafted;
mod dedup_kinds;
mod errors;
mod exact;
mod families;
mod fuzz;
mod growth;
mod held;
mod hosts;
mod increments;
mod inputs;
mod matching;
mod max_item;
mod memory;
mod outputs;
mod overlap;
mod page;
mod passages;
mod plan;
mod promise;
mod readme;
mod real_data;
mod recipes;
mod sets;
mod shards;
mod short_texts;
mod show;
mod signals;
mod stats;
mod syllabus;
mod trim;
