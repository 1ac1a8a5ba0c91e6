//! `nearkin pairs --show`: groups of similar texts for people, with the longest passages that they share.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use nearkin_engine::Error;
use nearkin_engine::item::{Id, Source};
use nearkin_engine::options::{ItemKind, Keyword, Options};
use nearkin_engine::shingle::Unit;
use serde_json::Value;

use crate::dedup::{self, DedupOutputs, KeptItems, RecordSource};
use crate::pairs::PairsArgs;
use crate::passages::SharedPassages;
use crate::progress::Progress;
use crate::report::grouped;
use crate::screen::{Screen, harmless, print};

/// Groups that are shown, the largest first.
const GROUPS: usize = 20;
/// Items of a group that are shown.
const MEMBERS: usize = 10;
/// Passages of a group that are shown.
const PASSAGES: usize = 3;

/// The item of a group to which all others are similar, and these, the most similar first.
struct ShownGroup {
    first: u32,
    others: Vec<(u32, f64)>,
}

impl ShownGroup {
    /// The other item that is the most similar and not the same.
    fn closest(&self) -> Option<u32> {
        self.others.iter().find(|(_, similarity)| *similarity < 1.0).map(|(position, _)| *position)
    }
}

pub(crate) fn run(args: &PairsArgs) -> anyhow::Result<()> {
    let options = args.search.options();
    check(args, &options)?;
    let progress = Progress::start(args.search.run.quiet)?;
    let inputs = args.search.input.places()?;
    let mut found = dedup::find(&options, (&inputs, &[]), DedupOutputs::default(), &progress)?;
    // Nothing is removed here.
    found.result.stats.kept = None;
    let all = groups(&found);
    let shown = &all[..all.len().min(GROUPS)];
    let texts = texts(&found, shown)?;
    let least = match options.text_shingling()?.unit {
        Unit::Words(words) => words,
        _ => 5,
    };
    let mut text = String::new();
    for (number, group) in (1..).zip(shown) {
        let _ = writeln!(text, "group {number} of {}: {} items", all.len(), group.others.len() + 1);
        show(group, &names(&found, group)?, &texts, least, &mut text);
        text.push('\n');
    }
    match all.len() - shown.len() {
        0 if all.is_empty() => text.push_str("no two items are similar\n"),
        0 => {}
        more => {
            let more = grouped(more as u64);
            let _ = writeln!(text, "and {more} more groups; without --show, all pairs are written");
        }
    }
    progress.finish();
    print(Screen::of_stdout().show(&text).as_bytes())?;
    found.into_report()?.finish(&args.search.run, Vec::new())
}

/// Refuses what does not go together with a listing.
fn check(args: &PairsArgs, options: &Options) -> nearkin_engine::Result<()> {
    if args.search.output.is_some() {
        return Err(Error::conflict("show", "output"));
    }
    if !args.search.against.is_empty() {
        return Err(Error::conflict("show", "against"));
    }
    let bounds = [("at_most", options.at_most), ("at_least", options.at_least)];
    if let Some((name, _)) = bounds.iter().find(|(_, bound)| bound.is_some()) {
        return Err(Error::conflict(name, "show"));
    }
    if options.kind() != ItemKind::Text {
        let must = "text: passages are of texts";
        return Err(Error::parameter("as", options.kind().word(), must));
    }
    Ok(())
}

/// All groups of two items or more, the largest first.
fn groups(found: &KeptItems) -> Vec<ShownGroup> {
    let mut others: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
    for (position, cluster) in (0u32..).zip(found.result.clusters()) {
        if let Some((first, similarity)) = cluster.filter(|(first, _)| *first != position) {
            others.entry(first).or_default().push((position, similarity));
        }
    }
    let group = |(first, mut others): (u32, Vec<(u32, f64)>)| {
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        ShownGroup { first, others }
    };
    let mut groups: Vec<ShownGroup> = others.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.others.len()));
    groups
}

/// The ids of the items of a group that are shown.
fn names(found: &KeptItems, group: &ShownGroup) -> nearkin_engine::Result<Vec<String>> {
    let mut ids = found.result.collection.ids();
    let positions = std::iter::once(group.first).chain(group.others.iter().map(|it| it.0));
    let name = |position| {
        let id: Id = ids.get(position)?;
        Ok(harmless(&id.to_string(), false).into_owned())
    };
    positions.take(MEMBERS + 1).map(name).collect()
}

/// The texts of which passages are shown, by their positions.
fn texts(found: &KeptItems, shown: &[ShownGroup]) -> nearkin_engine::Result<HashMap<u32, String>> {
    let pairs = shown.iter().filter_map(|group| Some([group.first, group.closest()?]));
    let mut texts: HashMap<u32, String> =
        pairs.flatten().map(|position| (position, String::new())).collect();
    let RecordSource::Records(source) = &found.source else { return Ok(texts) };
    let mut start = 0;
    for chunk in source.scan(&|_| false) {
        let chunk = chunk?;
        let batch = source.decode(&chunk, &|ordinal| texts.contains_key(&(start + ordinal)))?;
        for (at, item) in batch.items.iter().enumerate() {
            texts.insert(start + item.ordinal, batch.text(at).to_owned());
        }
        start += batch.records;
    }
    Ok(texts)
}

fn show(
    group: &ShownGroup,
    names: &[String],
    texts: &HashMap<u32, String>,
    least: usize,
    out: &mut String,
) {
    let _ = writeln!(out, "          {}", names[0]);
    for ((_, similarity), name) in group.others.iter().zip(&names[1..]) {
        // Cut and not rounded, so that only 1 is shown as 1.
        let similarity = (similarity * 1e4).floor() / 1e4;
        let _ = writeln!(out, "  {similarity:.4}  {name}");
    }
    if group.others.len() > MEMBERS {
        let _ =
            writeln!(out, "          and {} more", grouped((group.others.len() - MEMBERS) as u64));
    }
    let Some(closest) = group.closest() else { return };
    let pair = [group.first, closest].map(|position| texts.get(&position).map(String::as_str));
    let [Some(a), Some(b)] = pair else { return };
    let shared = SharedPassages::of([a, b], least).as_json(Some(PASSAGES));
    let place = group.others.iter().position(|(position, _)| *position == closest);
    let Some(name) = place.and_then(|at| names.get(at + 1)) else { return };
    if !shared.is_empty() {
        let _ = writeln!(out, "  longest passages of {} and {name}:", names[0]);
    }
    for passage in &shared {
        let lines = |side: &str| {
            let [first, last] = ["line", "last_line"].map(|key| passage[side][key].as_u64());
            format!("{}–{}", first.unwrap_or(0), last.unwrap_or(0))
        };
        let words = passage["words"].as_u64().unwrap_or(0);
        let _ = writeln!(
            out,
            "  {words:>6} words, lines {} and {}: {}",
            lines("a"),
            lines("b"),
            start_of(&passage["a"]["text"])
        );
    }
}

/// The first words of a passage.
fn start_of(text: &Value) -> String {
    const MOST: usize = 60;
    let text = text.as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(MOST).collect();
    let line = words.join(" ");
    let line = harmless(&line, false);
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.into_owned(),
    }
}
