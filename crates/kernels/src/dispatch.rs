//! Which version of a kernel is called.
//!
//! [`kernels`] makes of each signature the function that calls the first of its versions that this machine
//! can run, and a list of all that it can, for tests and measurements.

/// Whether this machine can run the functions of a file.
pub(crate) mod has {
    #[cfg(target_arch = "x86_64")]
    use std::sync::atomic::{AtomicU8, Ordering};

    /// What was found out: nothing yet, or 1 and 2 for what AVX2 and AVX-512 need. Asking again would give
    /// the same, so it does not matter who asks first.
    #[cfg(target_arch = "x86_64")]
    static FOUND: AtomicU8 = AtomicU8::new(0);
    #[cfg(target_arch = "x86_64")]
    const ASKED: u8 = 4;

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn found() -> u8 {
        match FOUND.load(Ordering::Relaxed) {
            0 => ask(),
            found => found,
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[cold]
    fn ask() -> u8 {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("fma");
        // The parts that processors have since Ice Lake and Zen 4; those with less use AVX2.
        let avx512 = avx2
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq");
        let found = ASKED | u8::from(avx2) | u8::from(avx512) << 1;
        FOUND.store(found, Ordering::Relaxed);
        found
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn avx2() -> bool {
        found() & 1 != 0
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn avx512() -> bool {
        found() & 2 != 0
    }

    /// Every 64-bit Arm processor has NEON.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    pub(crate) fn neon() -> bool {
        cfg!(target_feature = "neon")
    }

    /// Most have AES; some of the smallest do not.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    pub(crate) fn neon_aes() -> bool {
        std::arch::is_aarch64_feature_detected!("aes")
    }
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty, in $versions:tt;
    )*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name($($arg: $type),*) -> $result {
                call!($versions $name($($arg),*));
                scalar::$name($($arg),*)
            }
        )*

        /// The versions of each kernel that this machine can run, with their names; the first is the
        /// reference.
        pub mod versions {
            use super::*;
            $(
                /// Versions of the kernel of this name.
                pub fn $name() -> Vec<(&'static str, fn($($type),*) -> $result)> {
                    let mut list: Vec<(&'static str, fn($($type),*) -> $result)> = Vec::new();
                    list.push(("scalar", scalar::$name));
                    list!($versions list $name($($arg: $type),*) -> $result);
                    list
                }
            )*
        }
    };
}

/// Returns what the first version gives that the machine can run.
macro_rules! call {
    ([] $name:ident $args:tt) => {};
    ([avx512 $($more:ident)*] $name:ident($($arg:ident),*)) => {
        #[cfg(target_arch = "x86_64")]
        if dispatch::has::avx512() {
            // SAFETY: the processor has what the file is compiled for.
            return unsafe { avx512::$name($($arg),*) };
        }
        call!([$($more)*] $name($($arg),*));
    };
    ([avx2 $($more:ident)*] $name:ident($($arg:ident),*)) => {
        #[cfg(target_arch = "x86_64")]
        if dispatch::has::avx2() {
            // SAFETY: the processor has what the file is compiled for.
            return unsafe { avx2::$name($($arg),*) };
        }
        call!([$($more)*] $name($($arg),*));
    };
    ([neon $($more:ident)*] $name:ident($($arg:ident),*)) => {
        #[cfg(target_arch = "aarch64")]
        if dispatch::has::neon() {
            // SAFETY: the processor has what the file is compiled for.
            return unsafe { neon::$name($($arg),*) };
        }
        call!([$($more)*] $name($($arg),*));
    };
    ([neon_aes $($more:ident)*] $name:ident($($arg:ident),*)) => {
        #[cfg(target_arch = "aarch64")]
        if dispatch::has::neon_aes() {
            // SAFETY: the processor has what the file is compiled for.
            return unsafe { neon::$name($($arg),*) };
        }
        call!([$($more)*] $name($($arg),*));
    };
}

/// Adds those versions to a list that the machine can run.
macro_rules! list {
    ([] $($rest:tt)*) => {};
    ([avx512 $($more:ident)*] $list:ident $name:ident($($arg:ident: $type:ty),*) -> $result:ty) => {
        #[cfg(target_arch = "x86_64")]
        if dispatch::has::avx512() {
            fn version($($arg: $type),*) -> $result {
                // SAFETY: a version is listed only where the processor has what it is compiled for.
                unsafe { avx512::$name($($arg),*) }
            }
            $list.push(("avx512", version));
        }
        list!([$($more)*] $list $name($($arg: $type),*) -> $result);
    };
    ([avx2 $($more:ident)*] $list:ident $name:ident($($arg:ident: $type:ty),*) -> $result:ty) => {
        #[cfg(target_arch = "x86_64")]
        if dispatch::has::avx2() {
            fn version($($arg: $type),*) -> $result {
                // SAFETY: a version is listed only where the processor has what it is compiled for.
                unsafe { avx2::$name($($arg),*) }
            }
            $list.push(("avx2", version));
        }
        list!([$($more)*] $list $name($($arg: $type),*) -> $result);
    };
    ([neon $($more:ident)*] $list:ident $name:ident($($arg:ident: $type:ty),*) -> $result:ty) => {
        #[cfg(target_arch = "aarch64")]
        if dispatch::has::neon() {
            fn version($($arg: $type),*) -> $result {
                // SAFETY: a version is listed only where the processor has what it is compiled for.
                unsafe { neon::$name($($arg),*) }
            }
            $list.push(("neon", version));
        }
        list!([$($more)*] $list $name($($arg: $type),*) -> $result);
    };
    ([neon_aes $($more:ident)*] $list:ident $name:ident($($arg:ident: $type:ty),*) -> $result:ty) => {
        #[cfg(target_arch = "aarch64")]
        if dispatch::has::neon_aes() {
            fn version($($arg: $type),*) -> $result {
                // SAFETY: a version is listed only where the processor has what it is compiled for.
                unsafe { neon::$name($($arg),*) }
            }
            $list.push(("neon", version));
        }
        list!([$($more)*] $list $name($($arg: $type),*) -> $result);
    };
}
