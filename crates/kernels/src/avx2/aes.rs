//! AES by the processor's instructions, on one block or on four in four registers, so that they need not wait for each
//! other.

use std::arch::x86_64::*;

use crate::hash::Blocks;
use crate::scalar::Block;

/// One block in a register.
#[derive(Clone, Copy)]
pub(crate) struct OneBlock(pub(crate) __m128i);

// SAFETY, of all blocks here: only functions compiled for AVX2 and AES name this type, loads and stores ask for no
// alignment, and what the trait asks for is what each reads or writes.
impl Blocks for OneBlock {
    type One = Self;
    const N: usize = 1;
    #[inline(always)]
    fn all(block: &Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_loadu_si128(block.as_ptr().cast::<__m128i>()) })
    }
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_loadu_si128(from.cast::<__m128i>()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(to.cast::<__m128i>(), self.0) }
    }
    #[inline(always)]
    unsafe fn neighbours(from: *const u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_loadu_si128(from.cast::<__m128i>()) })
    }
    #[inline(always)]
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self {
        let length = length(0);
        // SAFETY: as above.
        unsafe {
            let bytes = _mm_loadu_si128(place(0).cast::<__m128i>());
            let bytes = _mm_and_si128(bytes, Self::all(masks.get_unchecked(length)).0);
            Self(_mm_xor_si128(bytes, Self::all(added.get_unchecked(length)).0))
        }
    }
    #[inline(always)]
    unsafe fn put_low(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm_storel_epi64(to.cast::<__m128i>(), self.0) }
    }
    #[inline(always)]
    fn round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesenc_si128(self.0, key.0) })
    }
    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesenclast_si128(self.0, key.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }
}

/// Four blocks in four registers.
#[derive(Clone, Copy)]
pub(crate) struct FourRegisters([OneBlock; 4]);

/// The same for each of the four.
macro_rules! each {
    (|$i:ident| $of:expr) => {
        FourRegisters([
            {
                const $i: usize = 0;
                $of
            },
            {
                const $i: usize = 1;
                $of
            },
            {
                const $i: usize = 2;
                $of
            },
            {
                const $i: usize = 3;
                $of
            },
        ])
    };
}

// SAFETY, of all blocks here: as above, for four blocks.
impl Blocks for FourRegisters {
    type One = OneBlock;
    const N: usize = 4;
    #[inline(always)]
    fn all(block: &Block) -> Self {
        Self([OneBlock::all(block); 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const Block) -> Self {
        // SAFETY: as above.
        unsafe { each!(|I| OneBlock::load(from.add(I))) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Block) {
        for (i, one) in self.0.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { one.store(to.add(i)) };
        }
    }
    #[inline(always)]
    unsafe fn neighbours(from: *const u64) -> Self {
        // SAFETY: as above.
        unsafe { each!(|I| OneBlock::neighbours(from.add(I))) }
    }
    #[inline(always)]
    unsafe fn pieces(
        place: impl Fn(usize) -> *const u8,
        length: impl Fn(usize) -> usize,
        masks: &[Block; 16],
        added: &[Block; 16],
    ) -> Self {
        // SAFETY: as above.
        unsafe { each!(|I| OneBlock::pieces(|_| place(I), |_| length(I), masks, added)) }
    }
    #[inline(always)]
    unsafe fn put_low(self, to: *mut u64) {
        for (i, one) in self.0.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { one.put_low(to.add(i)) };
        }
    }
    #[inline(always)]
    fn round(self, key: Self) -> Self {
        each!(|I| self.0[I].round(key.0[I]))
    }
    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        each!(|I| self.0[I].last_round(key.0[I]))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        each!(|I| self.0[I].xor(other.0[I]))
    }
}
