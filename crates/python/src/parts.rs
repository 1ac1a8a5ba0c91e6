//! The parts of the library for people who build their own: an index, sketches, measures, shingles, expressions.

mod amplify;
mod columns;
mod index;
mod measure;
mod minhash;
mod shingle;

pub(crate) use amplify::{Expression, best_or, functions_needed, planned, sensitivity};
pub(crate) use index::Index;
pub(crate) use measure::{edits, hamming, sets_compared, vectors_compared};
pub(crate) use minhash::{Sketcher, keys_of_sketches};
pub(crate) use shingle::{
    grid_squares, hash_of, list_text, list_texts, shingles, stop_word_shingles,
};

use nearkin_engine::amplify::Bands;
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::shingle::Shingling;
use nearkin_engine::verify::Measure;
use nearkin_engine::{Error, Result};

/// The measure of this name.
fn measure_named(name: &str) -> Result<Measure> {
    use Measure::{Bag, BagSum, Containment, Cosine, Dice, Hamming, Jaccard, Overlap};
    let all = [Jaccard, Bag, BagSum, Dice, Cosine, Containment, Overlap, Hamming];
    all.into_iter().find(|measure| measure.name() == name.replace('_', "-")).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|measure| measure.name()).collect();
        Error::parameter("measure", name, format!("one of {}", names.join(", ")))
    })
}

/// How many threads to use, where that is asked for.
pub(crate) fn threads_of(asked: Option<usize>) -> Result<Option<usize>> {
    const MOST: usize = u16::MAX as usize;
    match asked {
        Some(threads) if !(1..=MOST).contains(&threads) => {
            Err(Error::parameter("threads", threads, format!("between 1 and {MOST}")))
        }
        _ => Ok(asked),
    }
}

/// The settings of a search by bands.
#[derive(Debug, Clone, Copy)]
struct BandSettings<'a> {
    threshold: f64,
    within: Option<f64>,
    recall: f64,
    shingle: &'a str,
    measure: &'a str,
    bands: Option<(usize, usize)>,
    seed: u64,
    threads: Option<usize>,
}

impl BandSettings<'_> {
    fn settings(self) -> Result<Settings> {
        let default = Settings::default();
        Ok(Settings {
            shingling: self.shingle.parse::<Shingling>()?.with_seed(self.seed),
            measure: measure_named(self.measure)?,
            threshold: self.threshold,
            within: self.within,
            recall: self.recall,
            strategy: match self.bands {
                Some((count, rows)) => Strategy::Bands(Bands::new(count, rows)?),
                None => Strategy::Approximate,
            },
            seed: self.seed,
            threads: threads_of(self.threads)?.unwrap_or(default.threads),
            ..default
        })
    }
}
