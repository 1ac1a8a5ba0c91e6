//! Memory that is filled once, from one end to the other, or will be looked at soon.

use core::ffi::c_int;

/// Asks the system to back the room that a list has with large pages, where it knows how: filling many
/// megabytes then takes a few page faults instead of thousands. The list has the same content and room after.
pub fn use_large_pages<T>(list: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let start = list.as_mut_ptr() as usize;
        let end = (start + size_of::<T>() * list.capacity()) / PAGE * PAGE;
        let start = start.next_multiple_of(PAGE);
        if start < end {
            // SAFETY: the pages lie within the list's own memory, and the advice changes no content. Where
            // the system does not take it, nothing is different.
            let _ = unsafe {
                rustix::mm::madvise(
                    start as *mut core::ffi::c_void,
                    end - start,
                    rustix::mm::Advice::LinuxHugepage,
                )
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}

/// Tells the allocator to keep freed memory instead of giving it back to the system, where it is known how. Threads that give
/// memory back and ask again wait for each other in the system. So do threads that ask for a little more each time, so the
/// heap now grows in large steps; memory is taken only when it is used. Pieces of a megabyte and more are still given back.
/// A program calls this before it starts threads.
pub fn keep_freed_memory() {
    set_allocator(&[
        (M_TRIM_THRESHOLD, 16 << 20),
        (M_TOP_PAD, 16 << 20),
        (M_MMAP_THRESHOLD, 1 << 20),
    ]);
}

/// Tells the allocator to keep larger pieces, too, for a program that may use gigabytes: pages of Parquet are unpacked into pieces
/// of one to a few megabytes, and the system clears such a piece whenever it is asked for.
pub fn keep_large_pieces() {
    // No larger one is taken.
    set_allocator(&[(M_TRIM_THRESHOLD, 64 << 20), (M_MMAP_THRESHOLD, 32 << 20)]);
}

/// Tells the allocator how many pools of memory threads may share, where it is known how. Each thread has its own
/// otherwise, and what is freed there stays there: with eight threads and texts of a megabyte that was 90 MB.
pub fn share_memory(pools: usize) {
    set_allocator(&[(M_ARENA_MAX, pools.max(1))]);
}

// As <malloc.h> has them.
const M_TRIM_THRESHOLD: c_int = -1;
const M_TOP_PAD: c_int = -2;
const M_MMAP_THRESHOLD: c_int = -3;
const M_ARENA_MAX: c_int = -8;

/// Sets parameters of the allocator, where there is one that has them.
fn set_allocator(parameters: &[(c_int, usize)]) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        for &(parameter, value) in parameters {
            let value = c_int::try_from(value).unwrap_or(c_int::MAX);
            // SAFETY: these change how much memory is asked for at a time and where it is taken from, not what is in it.
            unsafe { mallopt(parameter, value) };
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = parameters;
}

/// Asks the processor to load the first 256 bytes of something that will be read soon, while other work goes on.
#[inline]
pub fn fetch<T: ?Sized>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let start = std::ptr::from_ref(place).cast::<i8>();
        for line in (0..size_of_val(place).min(4 * LINE)).step_by(LINE) {
            // SAFETY: asking for memory has no effect but on time, wherever it is.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
