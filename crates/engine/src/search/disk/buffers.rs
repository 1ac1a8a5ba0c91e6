//! What a thread keeps from text to text.

use std::cell::RefCell;

use crate::audit::capture::{Capture, CaptureScratch};
use crate::candidates::{ElementBuffers, GIANT};
use crate::settings::Settings;

/// Buffers for the elements of a text, its sketch, and the elements that are kept for the audit.
#[derive(Default)]
pub(crate) struct TextBuffers {
    inner: ElementBuffers,
    pub(crate) sketch: Vec<u32>,
    pub(super) capture: CaptureScratch,
}

thread_local! {
    static BUFFERS: RefCell<TextBuffers> = RefCell::default();
}

/// Lends a thread its buffers. What a giant text needed is not kept for all that follow.
pub(super) fn with_buffers<R>(work: impl FnOnce(&mut TextBuffers) -> R) -> R {
    BUFFERS.with_borrow_mut(|buffers| {
        let result = work(buffers);
        if buffers.inner.elements.capacity() > GIANT {
            *buffers = TextBuffers::default();
        }
        result
    })
}

impl TextBuffers {
    /// Takes the elements by which a text is compared, not yet sorted. Says whether it has no shingles and is compared as a
    /// whole.
    pub(crate) fn take(&mut self, text: &str, settings: &Settings) -> bool {
        self.inner.take(text, &settings.shingling, settings.measure.counts_repeats())
    }

    /// The elements of the last text.
    pub(crate) fn elements(&self) -> &[u64] {
        &self.inner.elements
    }

    /// The elements and the room for a sketch.
    pub(crate) fn parts(&mut self) -> (&mut Vec<u64>, &mut Vec<u32>) {
        (&mut self.inner.elements, &mut self.sketch)
    }

    /// Appends the keys of the elements at hand that are kept for the audit.
    pub(super) fn captured(&mut self, capture: Capture, keys: &mut Vec<u64>) -> usize {
        capture.keys(&self.inner.elements, &mut self.capture, keys)
    }
}
