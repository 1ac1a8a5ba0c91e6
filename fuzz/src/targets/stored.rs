//! What nearkin wrote itself: stage files of runs that go on, and saved indexes. Both have a checksum, which the targets
//! put in order, so that what is behind it is reached.

use nearkin_engine::fuzz::{stage_file, with_checksum};
use nearkin_engine::index::Index;

use super::{check_message, choices, file};

pub(crate) fn stages(data: &[u8]) {
    stage_file(&file(0, &with_checksum(data)));
    assert_eq!(stage_file(&file(0, data)), [false; 4], "a checksum that happens to be right");
}

/// An index that can be read answers, and is written as it was.
pub(crate) fn index(data: &[u8]) {
    let ([flags], data) = choices(data);
    let bytes = with_checksum(data);
    let index = match Index::from_bytes(&bytes) {
        Ok(index) => index.with_threads(1),
        Err(error) => return check_message(&error),
    };
    // Stop words and limits have several ways to be written.
    let again = index.to_bytes().expect("it has no tokenizer");
    let same = Index::from_bytes(&again).expect("what was written").to_bytes().expect("as before");
    assert!(again == same, "an index that changes when it is read again");
    let found =
        index.query("the text of a question, with some words in it", Some(usize::from(flags)));
    assert!(found.len() <= index.len());
    let ids: Vec<_> = index.ids().cloned().collect();
    for id in ids {
        assert!(index.get(&id).is_some());
    }
}
