//! Memory that is filled once, from one end to the other, or will be looked at soon.

/// Asks the system to back the room that a list has with large pages, where it knows how: filling many
/// megabytes then takes a few page faults instead of thousands. The list has the same content and room after.
pub fn use_large_pages(list: &mut Vec<u64>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let start = list.as_mut_ptr() as usize;
        let end = (start + 8 * list.capacity()) / PAGE * PAGE;
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

/// Asks for the first 256 bytes of something that will be looked at soon: what has been asked for comes while other
/// things are done.
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
