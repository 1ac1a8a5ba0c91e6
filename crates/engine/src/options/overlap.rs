//! What counts as an overlap of training texts with test items, and how test items are read.

use super::reading::chunk_bytes;
use super::{Goal, ItemKind, Keyword, Options};
use crate::overlap::OverlapSettings;
use crate::read::{Input, Place, ReadOptions};
use crate::settings::Settings;
use crate::{Error, Result};

/// Words of a stretch, where nobody says otherwise: what most reports on contamination take.
const WORDS: usize = 13;

/// Test items that are named for one stretch.
const MOST_TESTS: usize = 10;

impl Options {
    /// The settings of a run, and what counts as an overlap.
    ///
    /// # Errors
    /// When an option is out of its range, or items are no texts.
    pub fn overlap_settings(&self) -> Result<(Settings, OverlapSettings)> {
        if self.kind() != ItemKind::Text {
            let must = "text: stretches of words are looked for in texts only";
            return Err(Error::parameter("as", self.kind().word(), must));
        }
        let words = self.words.unwrap_or(WORDS);
        if !(1..=1000).contains(&words) {
            return Err(Error::parameter("words", words, "from 1 to 1000"));
        }
        if let Some(share) = self.share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            return Err(Error::parameter("share", share, "above 0 and at most 1"));
        }
        let most_tests = self.most_tests.unwrap_or(MOST_TESTS);
        if most_tests == 0 {
            return Err(Error::parameter("most_tests", 0, "at least 1"));
        }
        let settings = self.settings(Goal::Groups)?;
        let overlap = OverlapSettings {
            words,
            share: self.share,
            most_tests,
            threads: settings.threads,
            memory: settings.memory,
            temp: self.temp.clone(),
        };
        Ok((settings, overlap))
    }

    /// Opens the test items of a run with these settings. Their fields may have names of their own.
    ///
    /// # Errors
    /// When an input cannot be read or has not the fields that were asked for.
    pub fn open_tests(&self, tests: &[Place], settings: &Settings) -> Result<Input> {
        let options =
            self.other_options((&self.test_text, "test_text"), (&self.test_id, "test_id"));
        Input::open(tests, ReadOptions { chunk_bytes: chunk_bytes(settings), ..options })
    }
}
