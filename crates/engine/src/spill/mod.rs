//! More than memory holds.
//!
//! Two shapes of data outgrow memory. [`Partitions`] takes fixed-size entries in any order and gives them
//! back partition by partition, so that each can be sorted on its own. [`Lists`] takes lists and gives each
//! back by its number. Both hold data in memory up to a limit. Beyond it they write to a temporary file, in
//! large pieces, once.
//!
//! Which part is in memory does not change the work. So results, and even the number of comparisons, are the same at
//! every memory limit. For the exact join, which works in blocks, only the results are.

mod budget;
mod file;
mod lists;
mod partitions;
mod saved;

pub(crate) use budget::{Budget, folder};
pub use budget::{LEAST_MEMORY, fair_share};
pub(crate) use file::{Temp, TempFile};
pub(crate) use lists::{Cache, Concatenation, Lists};
pub(crate) use partitions::{Block, Partitions};
pub(crate) use saved::{Loader, Saver, load, save};

/// Numbers as little-endian bytes.
pub(crate) trait Plain: Copy + Default + Send + Sync + 'static {
    /// Bytes of a number.
    const BYTES: usize;
    /// Appends the numbers' bytes.
    fn write(values: &[Self], out: &mut Vec<u8>);
    /// Appends the numbers that these bytes are.
    fn read(bytes: &[u8], out: &mut Vec<Self>);
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const BYTES: usize = size_of::<$number>();

            fn write(values: &[Self], out: &mut Vec<u8>) {
                let start = out.len();
                out.resize(start + values.len() * Self::BYTES, 0);
                let (places, _) = out[start..].as_chunks_mut();
                for (place, value) in places.iter_mut().zip(values) {
                    *place = value.to_le_bytes();
                }
            }

            fn read(bytes: &[u8], out: &mut Vec<Self>) {
                out.extend(bytes.as_chunks().0.iter().map(|&bytes| Self::from_le_bytes(bytes)));
            }
        }
    )*};
}

plain!(u8, u32, u64);

/// A number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1).ilog2() / 10).min(4);
    let number = bytes as f64 / (1u64 << (10 * power)) as f64;
    let digits = usize::from(power > 0 && number < 100.0);
    format!("{number:.digits$} {}", UNITS[power as usize])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short_and_have_a_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (16 << 20, "16.0 MiB"),
            (640 << 20, "640 MiB"),
            (3 << 29, "1.5 GiB"),
            (5 << 50, "5120 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
