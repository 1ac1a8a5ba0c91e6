//! `trim` removes exactly what a model removes that looks at every place, and what it removed can be put back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use nearkin_engine::family::hash::SplitMix;
use nearkin_engine::item::{ChunkNumber, Texts};
use nearkin_engine::observe::{NoObserver, Observer, Stage};
use nearkin_engine::search::Job;
use nearkin_engine::settings::{Settings, Strategy};
use nearkin_engine::trim::{Cuts, KeepPiece, PieceUnit, RemovedStretch, Trim, TrimSettings};

/// Draws small numbers.
struct Random(SplitMix);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// A number below this one.
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }
}

/// How many documents of a test are in a chunk of [`Texts`].
const CHUNK: usize = 256;

fn settings(unit: PieceUnit) -> TrimSettings {
    TrimSettings::new(unit, &Settings { threads: 1, ..Settings::default() })
}

/// What is left of each document, whether it is kept, and what was removed.
fn trimmed(
    texts: &[String],
    settings: &TrimSettings,
) -> (Vec<(String, bool)>, Vec<RemovedStretch>, Cuts) {
    let source = Texts(texts);
    let run = Trim::new(&source, settings, &NoObserver, None);
    let mut removed = Vec::new();
    let mut sink = |row| {
        removed.push(row);
        Ok(())
    };
    let cuts = run.cuts(run.stretches().unwrap(), Some(&mut sink)).unwrap();
    let mut ranges = HashMap::new();
    for chunk in 0..texts.len().div_ceil(CHUNK) {
        for (ordinal, cut) in cuts.of_chunk(ChunkNumber { part: 0, chunk: chunk as u32 }).unwrap() {
            ranges.insert(CHUNK * chunk + ordinal as usize, cut);
        }
    }
    let left = |(at, text): (usize, &String)| {
        let cut = ranges.get(&at).map_or(&[][..], Vec::as_slice);
        (nearkin_engine::read::without(text, cut), cuts.is_kept(at as u64))
    };
    (texts.iter().enumerate().map(left).collect(), removed, cuts)
}

/// The documents as they were, from what is left and what was removed.
fn undone(left: &[(String, bool)], removed: &[RemovedStretch]) -> Vec<String> {
    let mut rows: BTreeMap<usize, Vec<&RemovedStretch>> = BTreeMap::new();
    removed.iter().for_each(|row| rows.entry(row.position as usize).or_default().push(row));
    let undo = |(at, (left, kept)): (usize, &(String, bool))| {
        let mut rest = if *kept { left.as_str() } else { "" };
        let mut text = String::new();
        for row in rows.get(&at).into_iter().flatten() {
            let (before, behind) = rest.split_at(row.offset as usize - text.len());
            text.push_str(before);
            text.push_str(&row.text);
            rest = behind;
        }
        text + rest
    };
    left.iter().enumerate().map(undo).collect()
}

/// A place: the document and the number of a word or piece in it.
type Spot = (usize, usize);

/// The places that the definition removes, of all places of each piece.
fn model(
    places: &BTreeMap<Vec<String>, Vec<Spot>>,
    apart: usize,
    settings: &TrimSettings,
) -> BTreeSet<Spot> {
    let mut removed = BTreeSet::new();
    for spots in places.values() {
        let is_apart = |a: &Spot, b: &Spot| a.0 != b.0 || a.1 + apart <= b.1;
        let documents: BTreeSet<usize> = spots.iter().map(|spot| spot.0).collect();
        if settings.at_least.is_some_and(|least| documents.len() < least as usize) {
            continue;
        }
        let first = spots.iter().min().unwrap();
        match settings.keep {
            KeepPiece::First => removed.extend(spots.iter().filter(|spot| is_apart(first, spot))),
            KeepPiece::Nothing => {
                let pairs = spots.iter().flat_map(|a| spots.iter().map(move |b| (a, b)));
                if pairs.filter(|(a, b)| a < b).any(|(a, b)| is_apart(a, b)) {
                    removed.extend(spots);
                }
            }
        }
    }
    removed
}

/// Which words of documents are removed where windows of so many are repeated.
fn removed_words(
    documents: &[Vec<String>],
    words: usize,
    settings: &TrimSettings,
) -> Vec<BTreeSet<usize>> {
    let mut places: BTreeMap<Vec<String>, Vec<Spot>> = BTreeMap::new();
    for (document, all) in documents.iter().enumerate() {
        for (at, window) in all.windows(words).enumerate() {
            places.entry(window.to_vec()).or_default().push((document, at));
        }
    }
    let mut removed = vec![BTreeSet::new(); documents.len()];
    for (document, at) in model(&places, words, settings) {
        removed[document].extend(at..at + words);
    }
    removed
}

/// Words of few kinds, some of them repeated from before, or one again and again.
fn documents(random: &mut Random) -> Vec<Vec<String>> {
    let kinds = 1 + random.below(5);
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..=random.below(5) {
        let mut words: Vec<String> = Vec::new();
        while words.len() < random.below(40) {
            match random.below(4) {
                0 if !all.is_empty() => {
                    let from: &[String] = &all[random.below(all.len())];
                    let start = random.below(from.len() + 1);
                    let end = start + random.below(from.len() - start + 1);
                    words.extend_from_slice(&from[start..end]);
                }
                1 => {
                    let period = 1 + random.below(4);
                    for at in 0..random.below(30) {
                        words.push(format!("w{}", at % period));
                    }
                }
                _ => words.push(format!("w{}", random.below(kinds))),
            }
        }
        all.push(words);
    }
    all
}

fn cases(random: &mut Random) -> (usize, KeepPiece, Option<u32>) {
    let keep = if random.below(3) == 0 { KeepPiece::Nothing } else { KeepPiece::First };
    let at_least = (random.below(3) == 0).then(|| 2 + random.below(3) as u32);
    (2 + random.below(9), keep, at_least)
}

#[test]
fn windows_are_removed_as_by_a_dictionary_of_all() {
    let mut random = Random::new(7);
    let mut any = 0;
    for case in 0..4000 {
        let documents = documents(&mut random);
        let (words, keep, at_least) = cases(&mut random);
        let settings = TrimSettings { keep, at_least, ..settings(PieceUnit::Words(words)) };
        let texts: Vec<String> = documents.iter().map(|words| words.join(" ")).collect();
        let (left, removed, cuts) = trimmed(&texts, &settings);
        let expected = removed_words(&documents, words, &settings);
        for (at, words) in documents.iter().enumerate() {
            let stays = |(place, _): &(usize, &String)| !expected[at].contains(place);
            let stays: Vec<&str> =
                words.iter().enumerate().filter(stays).map(|it| it.1.as_str()).collect();
            let left: Vec<&str> = left[at].0.split_whitespace().collect();
            assert_eq!(left, stays, "case {case}: {words:?} of {texts:?} by {settings:?}");
        }
        let count: usize = expected.iter().map(BTreeSet::len).sum();
        assert_eq!(cuts.words, count as u64, "case {case}");
        any += usize::from(count > 0);
        assert_eq!(undone(&left, &removed), texts, "case {case}");
    }
    assert!(any > 1000, "{any}");
}

/// Every word that is removed stands, with those around it, in what is kept.
#[test]
fn what_is_removed_is_kept_before_it() {
    let mut random = Random::new(8);
    for _ in 0..1000 {
        let texts: Vec<String> = documents(&mut random).iter().map(|it| it.join(" ")).collect();
        let words = 2 + random.below(9);
        let (_, removed, _) = trimmed(&texts, &settings(PieceUnit::Words(words)));
        for row in removed {
            let kept = row.kept.unwrap();
            let document: usize = kept.id.to_string().parse().unwrap();
            assert!((document, kept.offset) < (row.position as usize, row.offset));
            let from = texts[document][kept.offset as usize..].split(' ').take(words);
            assert!(from.eq(row.text.split_whitespace().take(words)), "{texts:?}");
        }
    }
}

#[test]
fn pieces_are_removed_as_by_a_dictionary_of_all() {
    let mut random = Random::new(9);
    let marks =
        [("\n", PieceUnit::Line), ("\n\n", PieceUnit::Paragraph), (". ", PieceUnit::Sentence)];
    for case in 0..2000 {
        let (end, unit) = marks[random.below(3)];
        let (_, keep, at_least) = cases(&mut random);
        let settings = TrimSettings { keep, at_least, ..settings(unit) };
        let piece = |random: &mut Random| match random.below(9) {
            0 => "---".to_owned(),
            1 => "  --- ".to_owned(),
            some => format!("{} {}", ["A", "a", "b é", "ß,"][some % 4], random.below(3)),
        };
        let documents: Vec<Vec<String>> = (0..=random.below(5))
            .map(|_| (0..random.below(12)).map(|_| piece(&mut random)).collect())
            .collect();
        let texts: Vec<String> = documents
            .iter()
            .map(|pieces| pieces.iter().map(|piece| format!("{piece}{end}")).collect())
            .collect();
        let mut places: BTreeMap<Vec<String>, Vec<Spot>> = BTreeMap::new();
        for (document, pieces) in documents.iter().enumerate() {
            for (at, piece) in pieces.iter().enumerate() {
                // Words in lower case, and else what is not white space around it. A full stop belongs to its sentence.
                let bare = piece.to_lowercase().replace(',', " ");
                let key = match bare.contains(char::is_alphanumeric) {
                    true => bare.split_whitespace().map(str::to_owned).collect(),
                    false => vec![format!("{piece}{end}").trim().to_owned()],
                };
                places.entry(key).or_default().push((document, at));
            }
        }
        let gone = model(&places, 1, &settings);
        let (left, removed, cuts) = trimmed(&texts, &settings);
        for (document, pieces) in documents.iter().enumerate() {
            let stays =
                pieces.iter().enumerate().filter(|(at, _)| !gone.contains(&(document, *at)));
            let stays: String = stays.map(|(_, piece)| format!("{piece}{end}")).collect();
            // Sentences take the white space before the next with them.
            let same = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            match unit {
                PieceUnit::Sentence => {
                    assert_eq!(same(&left[document].0), same(&stays), "case {case}")
                }
                _ => assert_eq!(left[document].0, stays, "case {case}: {texts:?} {settings:?}"),
            }
        }
        assert_eq!(cuts.stretches, gone.len() as u64, "case {case}");
        assert_eq!(undone(&left, &removed), texts, "case {case}");
    }
}

#[test]
fn white_space_around_a_cut_can_be_put_back() {
    let passage = "one two three four five six";
    for (before, behind, expected) in [
        ("Then ", ", and so on", "Then , and so on"),
        ("Then ", " and so on", "Then and so on"),
        ("Then (", ") ends", "Then () ends"),
        ("", "\n\nnext", "next"),
        ("“", "” ends", "“” ends"),
        ("Then\n", "", "Then\n"),
    ] {
        let texts = [passage.to_owned(), format!("{before}{}{behind}", passage.to_uppercase())];
        let (left, removed, _) = trimmed(&texts, &settings(PieceUnit::Words(6)));
        assert_eq!(left[1].0, expected);
        assert_eq!(undone(&left, &removed), texts);
    }
}

#[test]
fn a_document_of_which_too_little_is_left_is_dropped() {
    let line = "a line that stands twice\n";
    let texts = [format!("{line}and more of it"), format!("{line}x y"), "x".into(), line.into()];
    let settings = TrimSettings { min_left: 3, ..settings(PieceUnit::Line) };
    let (left, removed, cuts) = trimmed(&texts, &settings);
    let kept: Vec<bool> = left.iter().map(|it| it.1).collect();
    assert_eq!(kept, [true, false, true, false]);
    assert_eq!((cuts.dropped, cuts.cut, cuts.words), (2, 2, 12));
    let reasons: Vec<bool> = removed.iter().map(|row| row.is_repeated).collect();
    assert_eq!(reasons, [true, false, true]);
    assert_eq!(undone(&left, &removed), texts);
}

/// Neither a million copies nor a million equal words take longer than their number.
#[test]
fn repeats_without_end_take_no_longer() {
    let periodic = "a ".repeat(300_000);
    let (left, _, cuts) = trimmed(&[periodic], &settings(PieceUnit::Words(50)));
    assert_eq!((left[0].0.split_whitespace().count(), cuts.words), (50, 299_950));
    let copies = vec!["one two three four five six seven\n".repeat(2); 100_000];
    for unit in [PieceUnit::Words(7), PieceUnit::Line] {
        let (left, _, _) = trimmed(&copies, &settings(unit));
        assert_eq!(left.iter().filter(|it| !it.0.is_empty()).count(), 1);
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let mut random = Random::new(10);
    let texts: Vec<String> = (0..3000)
        .flat_map(|_| documents(&mut random))
        .map(|words| words.join(if words.len() % 2 == 0 { " " } else { "\n" }))
        .collect();
    for unit in [PieceUnit::Words(6), PieceUnit::Line] {
        let run = |threads, memory| {
            let settings = TrimSettings { threads, memory, ..settings(unit) };
            let (left, removed, cuts) = trimmed(&texts, &settings);
            let rows: Vec<String> = removed.iter().map(|row| format!("{row:?}")).collect();
            (left, rows, cuts.words)
        };
        let expected = run(1, 1 << 30);
        assert!(expected.2 > 1000);
        for (threads, memory) in [(2, 1 << 30), (8, 1 << 30), (1, 0), (8, 1 << 16)] {
            assert!(run(threads, memory) == expected, "{unit} {threads} {memory}");
        }
    }
}

/// The Jaccard similarity of the sets of runs of five words.
fn similarity(a: &str, b: &str) -> f64 {
    let shingles = |text: &str| -> BTreeSet<Vec<String>> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.windows(words.len().clamp(1, 5)).map(<[String]>::to_vec).collect()
    };
    let (a, b) = (shingles(a), shingles(b));
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared).max(1) as f64
}

/// All are few enough for an exact search, so nothing is missed.
#[test]
fn a_similar_piece_goes_if_one_stays_that_it_is_similar_to() {
    let mut random = Random::new(11);
    let mut texts = Vec::new();
    for _ in 0..60 {
        let line = |random: &mut Random| {
            let (start, skipped) = (random.below(4), 10 + random.below(30));
            let words = (0..24).filter(|at| *at != skipped);
            words.map(|at| format!("w{}", 100 * start + at)).collect::<Vec<_>>().join(" ") + "\n"
        };
        texts.push((0..random.below(6)).map(|_| line(&mut random)).collect::<String>());
    }
    let similar =
        Settings { threshold: 0.6, threads: 1, strategy: Strategy::Exact, ..Settings::default() };
    for (at_least, keep) in
        [(None, KeepPiece::First), (Some(9), KeepPiece::First), (None, KeepPiece::Nothing)]
    {
        let settings = TrimSettings {
            similar: Some(similar.clone()),
            at_least,
            keep,
            ..settings(PieceUnit::Line)
        };
        let (left, removed, _) = trimmed(&texts, &settings);
        assert_eq!(undone(&left, &removed), texts);
        let mut kept: Vec<&str> = Vec::new();
        let mut groups: Vec<Vec<Spot>> = Vec::new();
        for (document, text) in texts.iter().enumerate() {
            for (at, line) in text.lines().enumerate() {
                match kept.iter().position(|other| similarity(other, line) >= 0.6) {
                    Some(group) => groups[group].push((document, at)),
                    None => {
                        kept.push(line);
                        groups.push(vec![(document, at)]);
                    }
                }
            }
        }
        // Which of several groups a piece is in counts only where groups count.
        if (at_least, keep) == (None, KeepPiece::First) {
            let expected: usize = groups.iter().map(|group| group.len() - 1).sum();
            assert_eq!(removed.len(), expected);
        }
        for row in removed.iter().filter(|_| keep == KeepPiece::First) {
            let place = row.kept.as_ref().unwrap();
            let document: usize = place.id.to_string().parse().unwrap();
            let line = texts[document][place.offset as usize..].lines().next().unwrap();
            assert!(similarity(line, &row.text) >= 0.6);
        }
    }
}

/// Stops a run when it enters a stage.
struct StopAt(Stage, AtomicBool);

impl Observer for StopAt {
    fn stage(&self, stage: Stage, _total: Option<u64>) {
        self.1.fetch_or(stage == self.0, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn a_stopped_run_goes_on_with_the_stretches_that_it_found() {
    let texts: Vec<String> = (0..700).map(|at| format!("{} a b c d e f g {at}", at % 9)).collect();
    let source = Texts(&texts);
    let settings = settings(PieceUnit::Words(6));
    let expected = trimmed(&texts, &settings).2;
    let temp = tempfile::tempdir().unwrap();
    let open = || Job::open(temp.path(), "test", "texts").unwrap();
    let stop = StopAt(Stage::Load, AtomicBool::new(false));
    let job = open();
    let run = Trim::new(&source, &settings, &stop, Some(&job));
    assert!(!run.stretches().unwrap().facts().resumed);
    let stretches = run.stretches().unwrap();
    assert!(matches!(run.cuts(stretches, None), Err(nearkin_engine::Error::Interrupted)));
    drop(job);
    let job = open();
    let run = Trim::new(&source, &settings, &NoObserver, Some(&job));
    let cuts = run.cuts(run.stretches().unwrap(), None).unwrap();
    assert!(cuts.facts.resumed);
    assert_eq!((cuts.words, cuts.facts.words), (expected.words, expected.facts.words));
    for chunk in 0..3 {
        let number = ChunkNumber { part: 0, chunk };
        assert_eq!(cuts.of_chunk(number).unwrap(), expected.of_chunk(number).unwrap());
    }
    job.finish();
    assert!(std::fs::read_dir(temp.path()).unwrap().next().is_none());
}
