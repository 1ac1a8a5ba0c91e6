//! From a text to the elements by which it is compared.

use std::cell::RefCell;

use nearkin_kernels::{each_once, sort_hashes};

use crate::family::weighted::numbered;
use crate::shingle::{Scratch, Shingling};

/// Elements of a text that is so large that no buffer for it is kept. Buffers for 2²⁰ took 80 MB on eight threads.
pub(crate) const GIANT: usize = 1 << 17;

/// Buffers that a thread keeps from text to text.
#[derive(Default)]
pub(crate) struct ElementBuffers {
    scratch: Scratch,
    bag: Vec<u64>,
    /// The elements of the last text.
    pub(crate) elements: Vec<u64>,
}

impl ElementBuffers {
    /// Puts the elements of a text into `elements`, not yet sorted: its shingles, or where repeats count its shingles
    /// numbered by occurrence. Says whether the text has no shingles and is compared as a whole.
    pub(crate) fn take(&mut self, text: &str, shingling: &Shingling, repeats: bool) -> bool {
        let Self { scratch, bag, elements } = self;
        elements.clear();
        if !repeats {
            return shingling.once_or_whole(text, scratch, elements);
        }
        bag.clear();
        let is_whole = shingling.shingle_or_whole(text, scratch, bag);
        bag.sort_unstable();
        numbered(bag, elements);
        is_whole
    }
}

thread_local! {
    static BUFFERS: RefCell<ElementBuffers> = RefCell::default();
    static SORTING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Lends a thread its buffers. What a giant text needed is not kept.
pub(crate) fn with_element_buffers<R>(work: impl FnOnce(&mut ElementBuffers) -> R) -> R {
    BUFFERS.with_borrow_mut(|buffers| {
        let result = work(buffers);
        if buffers.elements.capacity() > GIANT {
            *buffers = ElementBuffers::default();
        }
        result
    })
}

/// Sorts elements, puts each once in front, and says how many that makes.
pub(crate) fn sort_elements(elements: &mut [u64]) -> usize {
    SORTING.with_borrow_mut(|buffer| {
        sort_hashes(elements, buffer);
        if buffer.len() > GIANT {
            *buffer = Vec::new();
        }
    });
    each_once(elements)
}
