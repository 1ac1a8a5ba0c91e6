//! Numbers as people read them.

use nearkin_engine::plan::Estimate;

use crate::report::grouped;

/// A chance with enough decimals to show how far it is from 0 or 1.
pub(super) fn chance(p: f64) -> String {
    let rest = p.min(1.0 - p);
    if rest <= 1e-12 {
        return p.round().to_string();
    }
    let decimals = (1.0 - rest.log10().floor()).clamp(4.0, 9.0) as usize;
    match rest < 1e-9 {
        true if p < 0.5 => format!("{p:.2e}"),
        true => format!("1 - {rest:.2e}"),
        false => format!("{p:.decimals$}"),
    }
}

/// A chance in words.
pub(super) fn odds(p: f64) -> String {
    let one_in = |p: f64| match 1.0 / p {
        n if n < 9.95 => format!("1 in {n:.1}"),
        n if n < 1e9 => format!("1 in {}", grouped(n.round() as u64)),
        _ => "fewer than 1 in 1,000,000,000".into(),
    };
    match p {
        p if p <= 0.0 => "never".into(),
        p if p >= 1.0 - 1e-12 => "always".into(),
        p if p <= 0.5 => one_in(p),
        p => format!("all but {}", one_in(1.0 - p)),
    }
}

/// A count and its standard error, both to the error's second digit.
pub(super) fn count(estimate: Estimate) -> (String, String) {
    let Estimate { value, error } = estimate;
    if error < 1e-9 {
        return (plain(value, 1.0), String::new());
    }
    let step = 10f64.powf((error.log10().floor() - 1.0).max(-1.0));
    (plain(value, step), format!("± {}", plain(error, step)))
}

fn plain(value: f64, step: f64) -> String {
    if step < 1.0 {
        return format!("{value:.1}");
    }
    grouped(((value / step).round() * step) as u64)
}

/// A number of bytes.
pub(super) fn bytes(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let power = (bytes.max(1.0).log10() / 3.0).floor().min(4.0);
    let value = bytes / 1000f64.powf(power);
    let decimals = usize::from(power > 0.0 && value < 10.0);
    format!("{value:.decimals$} {}", units[power as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_show_how_far_they_are_from_never_and_always() {
        for (p, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.47, "0.4700"),
            (0.9996439, "0.99964"),
            (0.0000163, "0.000016"),
            (0.8019, "0.8019"),
        ] {
            assert_eq!(chance(p), text);
        }
        assert_eq!(odds(0.0474), "1 in 21");
        assert_eq!(odds(0.9996439), "all but 1 in 2,808");
        assert_eq!(odds(0.47), "1 in 2.1");
    }

    #[test]
    fn counts_are_not_more_precise_than_they_are() {
        let show = |value, error| count(Estimate { value, error });
        assert_eq!(show(98_172.3, 8_613.0), ("98,200".into(), "± 8,600".into()));
        assert_eq!(show(13.0, 0.0), ("13".into(), String::new()));
        assert_eq!(show(3.21, 0.4), ("3.2".into(), "± 0.4".into()));
        assert_eq!(bytes(128.0), "128 bytes");
        assert_eq!(bytes(4_822_272.0), "4.8 MB");
    }
}
