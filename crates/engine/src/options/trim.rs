//! What a user may say of `trim`, beside where documents are and what a run may use.

use serde::{Deserialize, Serialize};

use super::serde_forms::{keyword, text};
use super::{Goal, Keyword, Options, RunFiles};
use crate::search::Job;
use crate::settings::Settings;
use crate::trim::{KeepPiece, PieceUnit, TrimSettings};
use crate::{Error, Result};

/// What is removed of documents; what was left unsaid has its default when it is needed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrimOptions {
    /// What a piece is: `line`, `paragraph`, `sentence` or `words:N`. There is no default.
    #[serde(with = "text")]
    pub unit: Option<PieceUnit>,
    /// In how many documents a piece has to stand. Default: in two places, wherever they are.
    pub at_least: Option<u32>,
    /// Which place of a repeated piece is kept. Default: the first.
    #[serde(with = "keyword")]
    pub keep: Option<KeepPiece>,
    /// A document that lost something and has fewer words left is dropped. Default: 0, none is.
    pub min_left: Option<usize>,
}

impl Keyword for KeepPiece {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "The first place in input order stays"),
        (Self::Nothing, "none", "Every place goes"),
    ];
}

impl TrimOptions {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// When it has an unknown key, or a value that an option cannot have.
    pub fn from_json(json: &str) -> Result<Self> {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json)
            .map_err(|error| Error::parameter("options", json, error.to_string()))?;
        let mut options = Self::default();
        for (key, value) in object {
            let (name, must) = match key.as_str() {
                "unit" => ("unit", "line, paragraph, sentence or words:N, such as words:50"),
                "at_least" => ("at_least", "a whole number, at least 2"),
                "keep" => ("keep", "first or none"),
                "min_left" => ("min_left", "a whole number of words"),
                _ => return Err(Error::parameter("options", key, "one that there is")),
            };
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let one = serde_json::Value::Object([(key, value)].into_iter().collect());
            let one: Self =
                serde_json::from_value(one).map_err(|_| Error::parameter(name, shown, must))?;
            options = Self {
                unit: one.unit.or(options.unit),
                at_least: one.at_least.or(options.at_least),
                keep: one.keep.or(options.keep),
                min_left: one.min_left.or(options.min_left),
            };
        }
        Ok(options)
    }

    /// The settings of a run, and those of a search that reads the same way.
    ///
    /// # Errors
    /// When the unit is missing, or an option cannot have its value.
    pub fn settings(&self, options: &Options) -> Result<(TrimSettings, Settings)> {
        let settings = options.settings(Goal::Groups)?;
        let unit = self.unit.ok_or_else(|| {
            let must = "given: line, paragraph, sentence or words:N, such as words:50";
            Error::parameter("unit", "missing", must)
        })?;
        if let Some(least @ 0..=1) = self.at_least {
            let must =
                "at least 2: what stands in one document alone is not repeated across documents";
            return Err(Error::parameter("at_least", least, must));
        }
        if options.threshold.is_some() && matches!(unit, PieceUnit::Words(_)) {
            let must = "left out with words:N: runs of words are removed where they are the same";
            return Err(Error::parameter("threshold", "given", must));
        }
        let trim = TrimSettings {
            similar: options.threshold.map(|_| Settings { audit: Some(0), ..settings.clone() }),
            at_least: self.at_least,
            keep: self.keep.unwrap_or_default(),
            min_left: self.min_left.unwrap_or_default(),
            ..TrimSettings::new(unit, &settings)
        };
        Ok((trim, settings))
    }

    /// The job to which a run belongs, where there is a folder for temporary files and the inputs can be read again.
    ///
    /// # Errors
    /// When the folder cannot be used, or another run of the job is under way.
    pub fn job(
        &self,
        options: &Options,
        files: RunFiles<'_>,
        settings: &Settings,
    ) -> Result<Option<Job>> {
        options.job_of(&format!("trim {self:?}"), files, settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_named() {
        for (json, message) in [
            (r#"{"unit": "word"}"#, "unit"),
            (r#"{"unit": "words:3"}"#, "unit"),
            (r#"{"at_least": "x"}"#, "at_least"),
            (r#"{"keep": "longest"}"#, "first or none"),
            (r#"{"minleft": 3}"#, "minleft"),
        ] {
            let error = TrimOptions::from_json(json).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let options = TrimOptions::from_json(
            r#"{"unit": "words:50", "at_least": 2, "keep": "none", "min_left": 3}"#,
        );
        let options = options.unwrap();
        assert_eq!(options.unit, Some(PieceUnit::Words(50)));
        let (settings, _) = options.settings(&Options::default()).unwrap();
        assert_eq!((settings.keep, settings.min_left), (KeepPiece::Nothing, 3));
        assert!(TrimOptions::default().settings(&Options::default()).is_err());
        let once = TrimOptions { at_least: Some(1), ..options };
        assert!(once.settings(&Options::default()).is_err());
        let similar = Options { threshold: Some(0.8), ..Options::default() };
        let words = TrimOptions { at_least: None, ..once };
        assert!(words.settings(&similar).is_err());
        let lines = TrimOptions { unit: Some(PieceUnit::Line), ..words };
        assert!(lines.settings(&similar).unwrap().0.similar.is_some());
    }
}
