//! Whether standard output was open when the program started.
//!
//! Before `main`, Rust opens `/dev/null` in place of a standard output that is closed. From then on nobody can tell it
//! from one that a caller has sent there, and the output is lost without an error. So the system runs this look before.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program started, where the system lets a program see it.
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

// SAFETY: the section holds functions of this type, which the loader calls once, before `main`.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    use std::os::fd::BorrowedFd;
    // SAFETY: nothing is read or written, and no other thread runs that could close it. If it is not open, the system
    // says just that.
    let stdout = unsafe { BorrowedFd::borrow_raw(1) };
    let closed = rustix::io::fcntl_getfd(stdout) == Err(rustix::io::Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}
