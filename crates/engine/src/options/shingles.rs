//! How texts become shingles.

use super::{ItemKind, Keyword, Options};
use crate::error::Advice;
use crate::shingle::{Case, Shingling, StopWords, Unit, Whitespace};
use crate::{Error, Result};

impl Options {
    /// What items of this kind are cut into: texts into shingles, sets and bags into their elements.
    ///
    /// # Errors
    /// When an option does not apply to the items, or the stop words cannot be read.
    pub fn shingling(&self) -> Result<Shingling> {
        match self.kind() {
            ItemKind::Text => self.text_shingling(),
            ItemKind::Set | ItemKind::Bag => {
                self.check_no_shingles()?;
                let bits = self.hash_bits.unwrap_or_default();
                Ok(Shingling { bits, ..Shingling::elements() }.with_seed(self.seed_or_default()))
            }
            other => {
                let must = "text, set or bag: other items are not cut into elements";
                Err(Error::parameter("as", other.word(), must))
            }
        }
    }

    /// An error where an option about shingles is given for items that are not cut into them.
    ///
    /// # Errors
    /// The first such option.
    pub fn check_no_shingles(&self) -> Result<()> {
        let for_texts = [
            ("shingle", self.shingle.is_some()),
            ("ignore_case", self.ignore_case),
            ("space", self.space().is_some()),
            ("normal_form", self.normal_form.is_some()),
            ("stop_words", self.stop_words.is_some()),
        ];
        match for_texts.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                let must = "left out: only texts are cut into shingles";
                Err(Error::parameter(name, "given", must))
            }
            None => Ok(()),
        }
    }

    /// What becomes of white space, where it is not folded.
    fn space(&self) -> Option<Whitespace> {
        self.space.filter(|space| *space != Whitespace::Fold)
    }

    /// The shingles of texts.
    ///
    /// # Errors
    /// When options do not go together, or the stop words cannot be read.
    pub fn text_shingling(&self) -> Result<Shingling> {
        let mut shingling = match &self.shingle {
            Some(text) => text.parse()?,
            None => Shingling::default(),
        };
        let by_chars = matches!(shingling.unit, Unit::Chars(_));
        if !by_chars && (self.ignore_case || self.space().is_some()) {
            let name = if self.ignore_case { "ignore_case" } else { "space" };
            let must = "left out: words are lower-cased and have no white space";
            let advice = Advice::set("shingle", "chars:K");
            return Err(Error::parameter(name, "given", must).or(advice));
        }
        if self.ignore_case {
            shingling.case = Case::Fold;
        }
        shingling.space = self.space.unwrap_or(Whitespace::Fold);
        shingling.normal_form = self.normal_form;
        shingling.bits = self.hash_bits.unwrap_or_default();
        if let Some(path) = &self.stop_words {
            if !matches!(shingling.unit, Unit::StopWords(_)) {
                let must = "left out: these shingles have none";
                let advice = Advice::set("shingle", "stopwords");
                return Err(Error::parameter("stop_words", path.display(), must).or(advice));
            }
            let list = std::fs::read_to_string(path).map_err(|error| {
                let problem = format!("cannot be read: {error}");
                Error::file(path.clone(), problem).or("give a text file of words")
            })?;
            shingling.unit = Unit::StopWords(StopWords::new(list.split_whitespace()).into());
        }
        Ok(shingling.with_seed(self.seed_or_default()))
    }
}
