//! Memory from the system, for a program that must say something when memory runs out.

use core::cell::Cell;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// What a program does when the system refuses it memory: it is told how many bytes were asked for. It must not ask for memory itself.
type Refused = fn(usize);

static REFUSED: OnceLock<Refused> = OnceLock::new();

thread_local! {
    /// Whether this thread knows what to do without the memory it asks for.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator. What [`when_refused`] names is called before a request that is refused fails.
#[derive(Debug, Default)]
pub struct SystemMemory;

/// Says what is called when the system refuses memory; only the first call counts.
pub fn when_refused(call: Refused) {
    let _ = REFUSED.set(call);
}

/// Does work that can go on without the memory it asks for: nothing is called if the system refuses it.
pub fn may_fail<R>(work: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let result = work();
    MAY_FAIL.set(before);
    result
}

/// Ends the program at once: nothing else is done, and other threads are not waited for.
pub fn end_at_once(status: i32) -> ! {
    #[cfg(unix)]
    {
        unsafe extern "C" {
            fn _exit(status: core::ffi::c_int) -> !;
        }
        // SAFETY: it takes any number and does not come back.
        unsafe { _exit(status) }
    }
    #[cfg(not(unix))]
    std::process::exit(status)
}

#[cold]
fn refused(bytes: usize) {
    if let Some(call) = REFUSED.get()
        && !MAY_FAIL.get()
    {
        // Should the call ask for memory all the same, it is not called again.
        MAY_FAIL.set(true);
        call(bytes);
    }
}

// SAFETY: every request goes to the system's allocator as it is, and its answer is handed on.
unsafe impl GlobalAlloc for SystemMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() {
            refused(layout.size());
        }
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises; the place came from the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let place = unsafe { System.alloc_zeroed(layout) };
        if place.is_null() {
            refused(layout.size());
        }
        place
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; the place came from the system's allocator.
        let place = unsafe { System.realloc(place, layout, size) };
        if place.is_null() {
            refused(size);
        }
        place
    }
}
