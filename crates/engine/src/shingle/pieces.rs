//! The shingles of a text as people read them: each with its hash.
//!
//! Searches never need the texts of shingles; who wants to see what a text becomes does.

use nearkin_kernels::hash_piece;

use super::fold::{fold_case, normalized};
use super::{Scratch, Shingling, Tokenizer, UnicodeWords, Unit, Whitespace, chars, elements, hash};

impl Shingling {
    /// Every shingle of a text with its hash, in text order, repeats included: the hashes of [`shingle`](Self::shingle).
    ///
    /// ```
    /// # use nearkin_engine::shingle::Shingling;
    /// let shingling: Shingling = "chars:2".parse()?;
    /// let pieces = shingling.pieces("abca");
    /// assert_eq!(pieces.iter().map(|piece| &*piece.0).collect::<Vec<_>>(), ["ab", "bc", "ca"]);
    /// # Ok::<(), nearkin_engine::Error>(())
    /// ```
    pub fn pieces(&self, text: &str) -> Vec<(String, u64)> {
        let mut hashes = Vec::new();
        self.shingle(text, &mut Scratch::default(), &mut hashes);
        let mut buffer = String::new();
        let form = self.normal_form.filter(|_| !matches!(self.unit, Unit::Elements));
        let texts = self.texts(normalized(text, form, &mut buffer));
        assert_eq!(texts.len(), hashes.len(), "texts and hashes are cut alike");
        texts.into_iter().zip(hashes).collect()
    }

    /// The hash of an element of a set.
    pub(crate) fn hash_of(&self, element: &str) -> u64 {
        self.kept(hash_piece(&self.key, element.as_bytes()))
    }

    /// The hash that stands for a text without a shingle: see [`shingle_or_whole`](Self::shingle_or_whole).
    pub(crate) fn whole(&self, text: &str) -> u64 {
        self.kept(hash::hash_whole(&self.key, text))
    }

    fn texts(&self, text: &str) -> Vec<String> {
        match &self.unit {
            Unit::Chars(k) => {
                let folded = chars::folded(text, self.case, self.space);
                let letters: Vec<char> = folded.chars().collect();
                let blank = self.space != Whitespace::Keep && folded == " ";
                match letters.len() {
                    0 => Vec::new(),
                    _ if blank => Vec::new(),
                    few if few <= *k => vec![folded],
                    _ => letters.windows(*k).map(String::from_iter).collect(),
                }
            }
            Unit::Words(k) => {
                let tokens = self.tokens(text);
                match tokens.len() {
                    0 => Vec::new(),
                    few if few <= *k => vec![tokens.join(" ")],
                    _ => tokens.windows(*k).map(|window| window.join(" ")).collect(),
                }
            }
            Unit::StopWords(list) => list.windows(&self.key, &self.tokens(text)),
            Unit::Elements => {
                let mut all = Vec::new();
                elements::each_element(text, |element, count| {
                    all.extend(std::iter::repeat_n(element.to_owned(), count as usize));
                });
                all
            }
        }
    }

    /// The words, or whatever the tokenizer makes of a text.
    fn tokens(&self, text: &str) -> Vec<String> {
        let mut folded = Vec::new();
        fold_case(text, self.case, &mut folded);
        let folded = String::from_utf8(folded).expect("folding case keeps UTF-8");
        let mut tokens = Vec::new();
        let tokenizer: &dyn Tokenizer = self.tokenizer.as_deref().unwrap_or(&UnicodeWords);
        tokenizer.tokens(&folded, &mut |token| tokens.push(token.to_owned()));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Case, hash_bytes};
    use super::*;

    fn texts(shingling: &str, text: &str) -> Vec<String> {
        let shingling: Shingling = shingling.parse().unwrap();
        shingling.pieces(text).into_iter().map(|piece| piece.0).collect()
    }

    #[test]
    fn pieces_are_cut_as_by_hand() {
        assert_eq!(texts("chars:2", "abcdabd"), ["ab", "bc", "cd", "da", "ab", "bd"]);
        assert_eq!(texts("chars:3", "a \t b"), ["a b"]);
        assert_eq!(texts("words:2", "The cat, the CAT!"), ["the cat", "cat the", "the cat"]);
        assert_eq!(texts("words:5", "Two words"), ["two words"]);
        assert_eq!(texts("elements", "b a b"), ["b", "a", "b"]);
        assert_eq!(
            texts("stopwords", "for the Sudzo Corporation"),
            ["for the sudzo", "the sudzo corporation"]
        );
        for nothing in ["", "...", " "] {
            assert!(texts("words:5", nothing).is_empty(), "{nothing}");
        }
        let plain: Shingling = "elements".parse().unwrap();
        assert_eq!(plain.pieces("x")[0].1, hash_bytes(b"x"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Equal texts have equal hashes and the other way round, for all that a text may hold.
        #[test]
        fn pieces_are_those_that_are_hashed(
            text in "(\\PC|[ab \t\n]|İ|犬|the |ab){0,40}",
            cut in prop_oneof![Just("chars:1"), Just("chars:3"), Just("words:1"), Just("words:2"), Just("stopwords")],
            drop in any::<bool>(),
            fold in any::<bool>(),
        ) {
            let mut shingling: Shingling = cut.parse().unwrap();
            if cut.starts_with("chars") {
                shingling.space = if drop { Whitespace::Drop } else { Whitespace::Keep };
                shingling.case = if fold { Case::Fold } else { Case::Keep };
            }
            let pieces = shingling.pieces(&text);
            for a in &pieces {
                for b in &pieces {
                    prop_assert_eq!(a.0 == b.0, a.1 == b.1, "{:?} {:?}", a, b);
                }
            }
        }
    }
}
