//! Rows S2.1 to S2.7 and S2.11: from texts, URLs and points to sets. Expected values are those of Mining of Massive Datasets,
//! section 3.2, or written down by hand.

use std::collections::BTreeSet;

use nearkin_engine::measure::{bag, jaccard};
use nearkin_engine::shingle::{
    Case, Grid, HashBits, NormalForm, Scratch, Shingling, StopWords, Tokenizer, UrlShingles,
    Whitespace, advise, hash_bytes,
};

/// The set that has exactly these texts of k characters as shingles.
fn chars_set(shingles: &[&str]) -> Vec<u64> {
    let set: BTreeSet<u64> =
        shingles.iter().map(|shingle| hash_bytes(shingle.as_bytes())).collect();
    set.into_iter().collect()
}

#[test]
fn s2_1_character_shingles() {
    assert_eq!(Shingling::chars(2).set("abcdabd"), chars_set(&["ab", "bc", "cd", "da", "bd"]));
}

#[test]
fn s2_1_white_space_runs_are_one_blank() {
    let shingling = Shingling::chars(3);
    assert_eq!(shingling.set("a \t\r\n\u{a0}\u{3000}b"), chars_set(&["a b"]));
    assert_eq!(shingling.set("a b"), shingling.set("a\n\nb"));
    let keep = Shingling { space: Whitespace::Keep, ..Shingling::chars(3) };
    assert_ne!(keep.set("a b"), keep.set("a\nb"));
}

#[test]
fn s2_1_touch_down() {
    let plane = "The plane was ready for touch down";
    let quarterback = "The quarterback scored a touchdown";
    let touchdown = hash_bytes(b"touchdown");
    let kept = Shingling::chars(9);
    assert!(!kept.set(plane).contains(&touchdown) && kept.set(quarterback).contains(&touchdown));
    assert!(
        chars_set(&["touch dow", "ouch down"])
            .iter()
            .all(|shingle| kept.set(plane).contains(shingle))
    );
    let dropped = Shingling { space: Whitespace::Drop, ..Shingling::chars(9) };
    assert!(
        dropped.set(plane).contains(&touchdown) && dropped.set(quarterback).contains(&touchdown)
    );
    assert!(jaccard::shared(&dropped.set(plane), &dropped.set(quarterback)) > 0);
}

#[test]
fn s2_1_case_is_an_option() {
    let fold = Shingling { case: Case::Fold, ..Shingling::chars(4) };
    assert_eq!(fold.set("ÄÖÜß ΣΑΣ"), fold.set("äöüß σας"));
    assert_ne!(Shingling::chars(4).set("ABCD"), Shingling::chars(4).set("abcd"));
}

#[test]
fn s2_1_characters_are_not_bytes() {
    assert_eq!(Shingling::chars(2).set("東京都"), chars_set(&["東京", "京都"]));
    assert_eq!(Shingling::chars(2).set("aé😀中"), chars_set(&["aé", "é😀", "😀中"]));
    // A text's ASCII parts give the same shingles whatever stands beside them.
    let (plain, mixed) =
        (Shingling::chars(5).set("abcdefgh"), Shingling::chars(5).set("abcdefgh é"));
    assert!(plain.iter().all(|shingle| mixed.contains(shingle)));
}

#[test]
fn s2_1_normal_forms() {
    let composed = "caf\u{e9} bar";
    let decomposed = "cafe\u{301} bar";
    assert_ne!(Shingling::chars(4).set(composed), Shingling::chars(4).set(decomposed));
    let nfc = Shingling { normal_form: Some(NormalForm::Nfc), ..Shingling::chars(4) };
    assert_eq!(nfc.set(composed), nfc.set(decomposed));
    let nfkc = Shingling { normal_form: Some(NormalForm::Nfkc), ..Shingling::words(1) };
    assert_eq!(nfkc.set("ﬁve ＡＢＣ"), nfkc.set("five abc"));
}

#[test]
fn s2_1_short_and_empty_texts() {
    for shingling in [Shingling::chars(5), Shingling::words(5)] {
        assert_eq!(shingling.set("ab").len(), 1);
        for empty in ["", " ", "\n\t "] {
            assert!(shingling.set(empty).is_empty(), "{empty:?}");
        }
    }
    assert!(Shingling::words(5).set("... --- !").is_empty());
    assert_eq!(Shingling::chars(5).set("ab"), chars_set(&["ab"]));
    assert_eq!(Shingling::chars(5).set("abcde"), chars_set(&["abcde"]));
    assert_eq!(Shingling::chars(5).set("中文"), chars_set(&["中文"]));
}

#[test]
fn s2_2_bags_of_shingles() {
    let bag_of = Shingling::chars(2).bag("abcab");
    let mut expected = [hash_bytes(b"ab"), hash_bytes(b"ab"), hash_bytes(b"bc"), hash_bytes(b"ca")];
    expected.sort_unstable();
    assert_eq!(bag_of, expected);
    let other = Shingling::chars(2).bag("abab"); // ab×2, ba
    assert_eq!(bag::similarity(&bag_of, &other, bag::Union::Max), 2.0 / 5.0);
}

#[test]
fn s2_3_word_shingles() {
    let shingling = Shingling::words(3);
    assert_eq!(shingling.set("A rose is a rose is a rose").len(), 3); // a rose is, rose is a, is a rose
    assert_eq!(shingling.set("Don't STOP, me now!"), shingling.set("don t stop me now"));
    assert_eq!(shingling.set("snake_case x2 y").len(), 1);
    assert_ne!(shingling.set("a b"), shingling.set("a b a b"), "two words are not three");
}

#[derive(Debug)]
struct Sentences;

impl Tokenizer for Sentences {
    fn tokens(&self, text: &str, token: &mut dyn FnMut(&str)) {
        text.split('.').map(str::trim).filter(|sentence| !sentence.is_empty()).for_each(token);
    }
}

#[test]
fn s2_3_any_tokenizer_plugs_in() {
    let sentences =
        Shingling { tokenizer: Some(std::sync::Arc::new(Sentences)), ..Shingling::words(2) };
    assert_eq!(sentences.set("One. Two. Three. One. Two.").len(), 3);
    assert_eq!(sentences.set("One.Two"), sentences.set("one .  two."));
}

/// Two texts of 30,000 words from a vocabulary of 2,000, the second a third changed.
fn two_long_texts() -> [String; 2] {
    let word = |i: u64| format!("w{} ", hash_bytes(&i.to_le_bytes()) % 2000);
    let first: String = (0..30_000).map(word).collect();
    let second: String =
        (0..30_000).map(|i| word(if i % 100 < 33 { i + 1_000_000 } else { i })).collect();
    [first, second]
}

#[test]
fn s2_4_shingles_in_32_bits() {
    // About 150,000 different 9-shingles a text: each of them collides with one of the other's with
    // chance 150,000 / 2³² = 3.5e-5, so some five of 150,000 match by accident.
    let [first, second] = two_long_texts();
    let short = Shingling { bits: HashBits::ThirtyTwo, ..Shingling::chars(9) };
    let long = Shingling::chars(9);
    assert!(short.set(&first).iter().all(|&hash| hash < 1 << 32));
    let exact = jaccard::similarity(&long.set(&first), &long.set(&second));
    let hashed = jaccard::similarity(&short.set(&first), &short.set(&second));
    assert!(exact > 0.1 && exact < 0.9, "{exact}");
    assert!((exact - hashed).abs() < 5e-4, "{exact} against {hashed}");
}

#[test]
fn s2_4_64_bits_equal_shingles_kept_as_text() {
    let [first, second] = two_long_texts();
    let as_text = |text: &str| -> BTreeSet<String> {
        let text: Vec<char> = text.chars().collect();
        text.windows(9).map(|window| window.iter().collect()).collect()
    };
    let (a, b) = (as_text(&first), as_text(&second));
    let shared = a.intersection(&b).count();
    let truth = shared as f64 / (a.len() + b.len() - shared) as f64;
    let shingling = Shingling::chars(9);
    assert_eq!(jaccard::similarity(&shingling.set(&first), &shingling.set(&second)), truth);
}

#[test]
fn s2_5_longer_documents_get_longer_shingles() {
    let text = |documents: u64, words: u64| -> Vec<String> {
        let vocabulary = |n: u64| hash_bytes(&n.to_le_bytes());
        let word = |n: u64| {
            let w = vocabulary(n) % 3000;
            (0..2 + w % 7)
                .map(|i| char::from(b'a' + (vocabulary(w * 16 + i) % 20) as u8))
                .collect::<String>()
        };
        (0..documents)
            .map(|d| (0..words).map(|i| word(d * 1_000_000 + i)).collect::<Vec<_>>().join(" "))
            .collect()
    };
    let advice =
        |texts: &[String]| advise(&texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let mails = advice(&text(40, 200));
    let articles = advice(&text(20, 12_000));
    assert!((4..=6).contains(&mails.k), "{mails}");
    assert!(articles.k > mails.k && articles.k <= 10, "{articles}");
    assert!(articles.to_string().contains(&format!("chars:{}", articles.k)));
    assert!(advise(&["only one"]).is_none() && advise(&["", "  "]).is_none());
}

const SUDZO: &str = "A spokesperson for the Sudzo Corporation revealed today that studies have shown it is \
    good for people to buy Sudzo products.";

#[test]
fn s2_6_stop_word_shingles() {
    let shingling: Shingling = "stopwords".parse().unwrap();
    assert_eq!(shingling.set(SUDZO).len(), 9);
    assert!(shingling.set("Buy Sudzo.").is_empty());
    let three = |text: &str| Shingling::words(3).set(text)[0];
    for shingle in ["a spokesperson for", "for the sudzo", "the sudzo corporation"] {
        assert!(shingling.set(SUDZO).contains(&three(shingle)), "{shingle}");
    }
    let own = Shingling::stop_words(StopWords::new(["Sudzo"]));
    assert_eq!(
        own.set(SUDZO),
        [three("sudzo corporation revealed")],
        "the last has no two words after it"
    );
}

#[test]
fn s2_6_the_story_outweighs_the_frame() {
    let story = [
        "The minister said on Monday that the new bridge will be open to all by the end of the year, and \
         that it is to carry trains as well as cars, which has been in doubt since the first of the plans.",
        "It was the third time in a week that the river rose over its banks, and for most of those who live \
         there it is a sign of what is to come if nothing is done about the dams that were built upstream.",
    ];
    let frame = [
        "Home News Sport Weather Travel Jobs Shop Login Register Subscribe Newsletter Contact Imprint Privacy \
         Cookies Advertise Archive Search Videos Podcasts Crosswords Horoscope Recipes Dating Property Cars",
        "Front page Business Markets Technology Science Health Culture Books Film Music Theatre Opinion Blogs \
         Puzzles Games Tickets Vouchers Deals Partners Careers Press Terms Sitemap Feedback Apps Mobile RSS",
    ];
    let page = |s: usize, f: usize| format!("{} {}", frame[f], story[s]);
    let compare = |shingling: &Shingling, a: &str, b: &str| {
        jaccard::similarity(&shingling.set(a), &shingling.set(b))
    };
    let stop: Shingling = "stopwords".parse().unwrap();
    let same_story = compare(&stop, &page(0, 0), &page(0, 1));
    let same_frame = compare(&stop, &page(0, 0), &page(1, 0));
    assert!(same_story > 0.9 && same_frame < 0.1, "story {same_story}, frame {same_frame}");
    let plain = Shingling::words(3);
    assert!(same_story > compare(&plain, &page(0, 0), &page(0, 1)));
}

#[test]
fn shingles_come_in_text_order_and_buffers_carry_nothing_over() {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for shingling in [Shingling::words(2), Shingling::chars(3), "stopwords".parse().unwrap()] {
        for text in ["the end of the road", "", "ÉTÉ à la mer", "the cat sat on the mat"] {
            out.clear();
            shingling.shingle(text, &mut scratch, &mut out);
            let mut sorted = out.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, shingling.bag(text));
        }
    }
}

#[test]
fn specifications_are_read_and_written() {
    for spec in ["chars:5", "words:5", "stopwords", "chars:1", "words:1000"] {
        assert_eq!(spec.parse::<Shingling>().unwrap().to_string(), spec);
    }
    for wrong in
        ["", "chars", "chars:0", "words:-1", "words:1001", "lines:3", "stopwords:3", "chars:x"]
    {
        let error = wrong.parse::<Shingling>().unwrap_err().to_string();
        assert!(error.contains("chars:K"), "{error}");
    }
}

#[test]
fn s2_7_parts_of_urls() {
    let urls = UrlShingles::default();
    assert_eq!(urls.parts("www6.infoseek.com"), ["www", "infoseek", "com"]);
    let path = "/cellblock16/inmates/dilbert/personal/foo.htm";
    assert_eq!(urls.parts(path), ["cellblock", "inmates", "dilbert", "personal", "foo"]);
    assert_eq!(urls.parts("/Index.HTML?ÄPFEL=12&straße"), ["äpfel", "straße"]);
    assert!(urls.parts("/2001/12/30/index.html").is_empty());
    assert_eq!(UrlShingles::without(["Foo"]).parts("/foo/index.htm"), ["index", "htm"]);
}

#[test]
fn s2_7_bigrams_with_their_place() {
    let urls = UrlShingles::default();
    let shingles = |path: &str| {
        let mut out = Vec::new();
        urls.shingle(path, &mut out);
        out
    };
    let four = shingles("/cellblock16/inmates/dilbert/personal/foo.htm");
    assert_eq!(four.len(), 4);
    // The same parts in another version, but for the last.
    assert_eq!(shingles("/cellblock17/inmates/dilbert/personal/bar.htm")[..3], four[..3]);
    // The same two parts at another place, or the other way round, are another shingle.
    assert_ne!(shingles("/inmates/dilbert")[0], four[1]);
    assert_ne!(shingles("/inmates/cellblock")[0], four[0]);
    assert_eq!(shingles("/cellblock/inmates")[0], four[0]);
    assert!(shingles("/foo").is_empty() && shingles("").is_empty());
}

/// Three columns and two rows of squares with sides of 10:
///
/// ```text
///    0    10    20    30
///  0 +-----+-----+-----+
///    |  0  |  1  |  2  |
/// 10 +-----+-----+-----+
///    |  3  |  4  |  5  |
/// 20 +-----+-----+-----+
/// ```
fn six_squares() -> Grid {
    Grid::new(3, 2, 10.0).unwrap()
}

#[test]
fn s2_11_minutiae_become_squares() {
    let grid = six_squares();
    assert_eq!(grid.squares(), 6);
    assert_eq!(grid.set([(5.0, 5.0), (25.0, 15.0), (29.9, 11.0)]).unwrap(), [0, 5]);
    assert_eq!(grid.set([(15.0, 19.0), (3.0, 12.0), (15.0, 2.0)]).unwrap(), [1, 3, 4]);
    // A square begins with its left and upper border and ends before the others.
    assert_eq!(grid.set([(0.0, 0.0)]).unwrap(), [0]);
    assert_eq!(grid.set([(10.0, 10.0)]).unwrap(), [4]);
    assert_eq!(grid.set([(9.999, 9.999)]).unwrap(), [0]);
    assert!(grid.set([]).unwrap().is_empty());
    assert!(grid.set([(30.0, 5.0), (5.0, 20.0), (-0.1, 5.0), (5.0, -7.0)]).unwrap().is_empty());
    assert!(grid.set([(1e300, -1e300)]).unwrap().is_empty());
}

#[test]
fn s2_11_a_minutia_close_to_a_border_is_on_both_sides() {
    let grid = six_squares().with_margin(2.0).unwrap();
    let of = |x: f64, y: f64| grid.set([(x, y)]).unwrap();
    assert_eq!(of(5.0, 5.0), [0]);
    // Left and right of a border, above and below one, and 2 away, which is not closer than 2.
    assert_eq!((of(8.5, 5.0), of(11.5, 5.0)), (vec![0, 1], vec![0, 1]));
    assert_eq!((of(25.0, 9.0), of(25.0, 10.0)), (vec![2, 5], vec![2, 5]));
    assert_eq!((of(8.0, 5.0), of(12.0, 5.0)), (vec![0], vec![1]));
    // Near a corner of four squares all of them, near the grid's own border those there are.
    assert_eq!(of(19.0, 11.0), [1, 2, 4, 5]);
    assert_eq!(of(0.5, 0.5), [0]);
    assert_eq!((of(29.0, 8.5), of(31.0, 8.5), of(32.5, 8.5)), (vec![2, 5], vec![2, 5], vec![]));
    // The same minutia twice, moved by 2 over a border: without the margin the two prints share no square.
    assert_eq!(jaccard::shared(&of(9.0, 5.0), &of(11.0, 5.0)), 2);
    let plain = six_squares();
    let [one, other] = [9.0, 11.0].map(|x| plain.set([(x, 5.0)]).unwrap());
    assert_eq!(jaccard::shared(&one, &other), 0);
    // With half a side as the margin a minutia is in two columns and two rows, but where it is in the middle.
    let widest = six_squares().with_margin(5.0).unwrap();
    assert_eq!(widest.set([(14.0, 14.0)]).unwrap(), [0, 1, 3, 4]);
    assert_eq!(widest.set([(15.0, 15.0)]).unwrap(), [4]);
}

#[test]
fn s2_11_wrong_grids_and_minutiae_say_what_is_wrong() {
    let error = |grid: nearkin_engine::Result<Grid>| grid.unwrap_err().to_string();
    assert_eq!(
        error(Grid::new(0, 2, 10.0)),
        "the number of columns of a grid is 0; it must be at least 1"
    );
    assert_eq!(
        error(Grid::new(3, 0, 10.0)),
        "the number of rows of a grid is 0; it must be at least 1"
    );
    for side in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = error(Grid::new(3, 2, side));
        let expected =
            format!("the side of a grid square is {side}; it must be above 0 and finite");
        assert_eq!(message, expected);
    }
    for margin in [-0.1, 5.1, f64::NAN] {
        let message = error(six_squares().with_margin(margin));
        assert!(message.ends_with("must be from 0 to half the side of a square, 5"), "{message}");
    }
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for point in [(wrong, 1.0), (1.0, wrong)] {
            let message = six_squares().set([(1.0, 1.0), point]).unwrap_err().to_string();
            assert!(message.contains("as number 1 from 0"), "{message}");
            assert!(message.ends_with("it must be at finite coordinates"), "{message}");
        }
    }
}
