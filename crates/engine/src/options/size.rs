//! Sizes of memory.

use crate::LEAST_MEMORY;
use crate::{Error, Result};

/// Reads a number of bytes to use: `4G`, `512M`, `1.5GiB`, in powers of 1024.
///
/// # Errors
/// When it is no size, or less than any run takes.
pub fn memory_size(text: &str) -> Result<usize> {
    let bytes = size("memory", text)?;
    if bytes < LEAST_MEMORY as f64 {
        let mut must = format!("at least {} MiB, which any run takes", LEAST_MEMORY >> 20);
        if text.ends_with(|c: char| c.is_ascii_digit()) {
            let units = if bytes < 16.0 { "GiB" } else { "MiB" };
            must += &format!("; a number alone is bytes: write {text}{} for {units}", &units[..1]);
        }
        return Err(Error::parameter("memory", text, must));
    }
    Ok(bytes as usize)
}

/// Reads how large an item may be: `1G`, in powers of 1024.
///
/// # Errors
/// When it is no size, or less than a usual record.
pub fn item_size(text: &str) -> Result<usize> {
    let bytes = size("max_item", text)?;
    if bytes < LEAST_ITEM as f64 {
        return Err(Error::parameter("max_item", text, "at least 1K"));
    }
    Ok(bytes as usize)
}

/// Reads how large a file of an output may be: `256M`, in powers of 1024.
///
/// # Errors
/// When it is no size, or none at all.
pub fn file_size(text: &str) -> Result<usize> {
    let bytes = size("shard_size", text)?;
    if bytes < 1.0 {
        return Err(Error::parameter("shard_size", text, "at least one byte"));
    }
    Ok(bytes as usize)
}

const LEAST_ITEM: usize = 1 << 10;

/// A number of bytes, as the value of an option.
fn size(option: &'static str, text: &str) -> Result<f64> {
    let wrong = || Error::parameter(option, text, "a size such as 512M or 4G");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };
    Ok(number * 1024f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [
            ("16M", 16 << 20),
            ("512M", 512 << 20),
            ("4G", 4 << 30),
            ("1.5GiB", 3 << 29),
            ("2gb", 2 << 30),
            ("1T", 1 << 40),
            ("33554432", 32 << 20),
        ] {
            assert_eq!(memory_size(text).unwrap(), bytes, "{text}");
        }
        for wrong in ["", "G", "4X", "-4G", "1..5G", "4 G G", "NaN", "1M", "0"] {
            assert!(memory_size(wrong).is_err(), "{wrong}");
        }
        for (text, advice) in [("4", "write 4G for GiB"), ("512", "write 512M for MiB")] {
            let error = memory_size(text).unwrap_err().to_string();
            assert!(error.ends_with(advice), "{error}");
        }
        assert!(!memory_size("4M").unwrap_err().to_string().contains("write"));
        assert_eq!(item_size("1k").unwrap(), 1024);
        assert!(item_size("1000").is_err());
        assert_eq!(file_size("2K").unwrap(), 2048);
        assert!(file_size("0").is_err());
    }
}
