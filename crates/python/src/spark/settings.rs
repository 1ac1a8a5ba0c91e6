//! The command's flags as the library's settings.

use nearkin::amplify::Bands;
use nearkin::pipeline::{Settings, Way};
use nearkin::shingle::{Case, HashBits, NormalForm, Shingling, Space};
use nearkin::verify::Measure;
use nearkin::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A flag's value, if it is given.
fn get<'py, T>(flags: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    match flags.get_item(name)? {
        Some(value) if !value.is_none() => Ok(Some(value.extract().map_err(Into::into)?)),
        _ => Ok(None),
    }
}

/// The settings that these flags describe; one thread each, for an executor has one a task.
pub(super) fn settings(flags: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let measure: Option<String> = get(flags, "measure")?;
    let kind: Option<String> = get(flags, "as")?;
    let measure = of_name(measure.as_deref(), kind.as_deref());
    let usual = if matches!(measure, Ok(Measure::BagSum)) { 0.444 } else { 0.8 };
    let is = |name: &str| get::<bool>(flags, name).map(Option::unwrap_or_default);
    let way = match (is("exact")?, is("approximate")?) {
        (true, _) => Way::Exact,
        (_, true) => Way::Bands,
        _ => Way::Cheapest,
    };
    let (count, rows): (Option<usize>, Option<usize>) = (get(flags, "bands")?, get(flags, "rows")?);
    let defaults = Settings::default();
    let settings = measure.and_then(|measure| Ok((measure, shingling(flags, kind.as_deref())?)));
    let (measure, shingling) = crate::error::Raise::raise(settings, flags.py())?;
    Ok(Settings {
        shingling,
        measure,
        threshold: get(flags, "threshold")?.unwrap_or(usual),
        within: get(flags, "within")?,
        recall: get(flags, "recall")?.unwrap_or(defaults.recall),
        way,
        bands: count.zip(rows).map(|(count, rows)| Bands { count, rows }),
        seed: get(flags, "seed")?.unwrap_or(defaults.seed),
        audit: Some(0),
        threads: 1,
        memory: get(flags, "memory")?.unwrap_or(1 << 30),
        ..defaults
    })
}

fn of_name(name: Option<&str>, kind: Option<&str>) -> Result<Measure> {
    Ok(match (name, kind) {
        (None, Some("bag")) | (Some("bag"), _) => Measure::Bag,
        (None | Some("jaccard"), _) => Measure::Jaccard,
        (Some("bag-sum"), _) => Measure::BagSum,
        (Some("dice"), _) => Measure::Dice,
        (Some("containment"), _) => Measure::Containment,
        (Some("overlap"), _) => Measure::Overlap,
        (Some("hamming"), _) => Measure::Hamming,
        (Some("cosine"), Some("set")) => Measure::Cosine,
        (Some(other), _) => {
            let must =
                "jaccard, bag, bag-sum, dice, containment, overlap, hamming, or cosine of sets";
            return Err(Error::parameter("measure", other, must));
        }
    })
}

fn shingling(flags: &Bound<'_, PyDict>, kind: Option<&str>) -> Result<Shingling> {
    let text = |name: &str| get::<String>(flags, name).ok().flatten();
    let mut shingling = match kind {
        Some("set" | "bag") => Shingling::elements(),
        None | Some("text") => text("shingle").map_or(Ok(Shingling::default()), |s| s.parse())?,
        Some(other) => return Err(Error::parameter("as", other, "text, set or bag on Spark")),
    };
    if get::<bool>(flags, "ignore_case").ok().flatten() == Some(true) {
        shingling.case = Case::Fold;
    }
    shingling.space = match text("space").as_deref() {
        None | Some("fold") => Space::Fold,
        Some("drop") => Space::Drop,
        Some("keep") => Space::Keep,
        Some(other) => return Err(Error::parameter("space", other, "fold, drop or keep")),
    };
    shingling.normal_form = match text("normal_form").as_deref() {
        None => None,
        Some("nfc") => Some(NormalForm::Nfc),
        Some("nfkc") => Some(NormalForm::Nfkc),
        Some(other) => return Err(Error::parameter("normal-form", other, "nfc or nfkc")),
    };
    shingling.bits = match get::<u32>(flags, "hash_bits").ok().flatten() {
        None | Some(64) => HashBits::SixtyFour,
        Some(32) => HashBits::ThirtyTwo,
        Some(other) => return Err(Error::parameter("hash-bits", other, "32 or 64")),
    };
    Ok(shingling)
}
