//! Pages that are one page, by what they say and by what they link to.
//!
//! A link to a page and a link to its mirror are the same link, once it is known that the two are one page; and then
//! pages that have these links look more alike than before, may turn out to be one page too, and so on up, until whole
//! sites have folded into one. So:
//!
//! - a page with a known text is the set of the shingles of its text and of the pages it links to;
//! - a page without is the set of the pages it links to, and is compared only with pages at the same path of other hosts:
//!   the pages of a site have much the same links, and would all become one;
//! - two pages whose sets are similar enough are one page, and so are two that are one page with a third;
//! - whatever became one page is one target of links in the next round.
//!
//! A round that makes nothing one is the last. Every other leaves fewer pages than there were, and they are never taken
//! apart again, so there are fewer rounds than pages. Which pages become one does not depend on the order of the links.

use std::collections::BTreeMap;

use super::Graph;
use crate::Result;
use crate::cluster::UnionFind;
use crate::family::hash::mix64;
use crate::item::Sets;
use crate::join::sets::{Filters, SetJoin, components};
use crate::verify::{Limit, Measure, Verifier};

/// When two pages are one.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The Jaccard similarity of their sets from which they are.
    pub alike: f64,
    /// A page whose text is not known is not judged by fewer different links than this.
    pub least_links: usize,
}

/// What became of the pages of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contraction {
    /// The page that stands for each: of those that are one page the one on the host with the most pages, else the first.
    pub kept: Vec<u32>,
    /// How many pages each round saved.
    pub rounds: Vec<usize>,
}

/// How much of a host has become part of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// The host.
    pub host: u32,
    /// Where pages of it went.
    pub into: u32,
    /// All its pages.
    pub pages: usize,
    /// Those that went there.
    pub merged: usize,
}

/// The pages whose sets are not empty, equal ones side by side.
fn equal_sets(sets: &Sets) -> Vec<u32> {
    let mut pages: Vec<u32> =
        (0..sets.len() as u32).filter(|&page| !sets.get(page as usize).is_empty()).collect();
    pages.sort_by_key(|&page| sets.get(page as usize));
    pages
}

/// What makes a link of a page with text different from all shingles.
const LINK: u64 = 0x6c69_6e6b;

impl Graph {
    /// Makes pages one until there are no more that are.
    ///
    /// # Errors
    /// When `alike` is no similarity, and when it was stopped.
    pub fn contract(
        &self,
        rule: &Rule,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Contraction> {
        let verifier = Verifier::new(Measure::Jaccard, Limit::Similarity(rule.alike))?;
        let filters = Filters::default();
        let join = SetJoin { verifier: &verifier, filters, split: None, stopped };
        let links = Outlinks::of(self);
        let mut classes = UnionFind::new(self.len());
        let mut rounds = Vec::new();
        loop {
            let class: Vec<u32> = (0..self.len() as u32).map(|page| classes.find(page)).collect();
            let sets = self.sets(&links, &class, rule.least_links);
            let mut saved = 0;
            let mut same = |page: u32, other: u32| {
                saved += usize::from(classes.find(page) != classes.find(other));
                classes.join(page, other);
            };
            // Pages that are equal to the letter go by one of them.
            let mut firsts: Vec<u32> = Vec::new();
            for equal in
                equal_sets(&sets).chunk_by(|&a, &b| sets.get(a as usize) == sets.get(b as usize))
            {
                equal[1..].iter().for_each(|&page| same(page, equal[0]));
                firsts.push(equal[0]);
            }
            let distinct: Vec<&[u64]> =
                firsts.iter().map(|&page| sets.get(page as usize)).collect();
            let (alike, _) = components(&distinct, &join)?;
            for (&page, other) in firsts.iter().zip(alike) {
                same(page, firsts[other as usize]);
            }
            if saved == 0 {
                return Ok(Contraction { kept: self.kept(&class), rounds });
            }
            rounds.push(saved);
        }
    }

    /// What each page is compared by, links by the class that their target is in.
    fn sets(&self, links: &Outlinks, class: &[u32], least_links: usize) -> Sets {
        let mut sets = Sets::default();
        let mut targets = Vec::new();
        let mut set = Vec::new();
        for ((page, own), number) in self.pages().iter().zip(class).zip(0..) {
            targets.clear();
            targets.extend(links.of_page(number).iter().map(|target| class[*target as usize]));
            targets.retain(|target| target != own);
            targets.sort_unstable();
            targets.dedup();
            set.clear();
            set.extend_from_slice(&page.text);
            if !page.text.is_empty() {
                set.extend(targets.iter().map(|&target| mix64(target.into(), LINK)));
            } else if targets.len() >= least_links {
                set.extend(targets.iter().map(|&target| mix64(target.into(), page.path)));
            }
            set.sort_unstable();
            set.dedup();
            sets.push(&set);
        }
        sets
    }

    /// The page that stands for each class.
    fn kept(&self, class: &[u32]) -> Vec<u32> {
        let pages = self.pages_of_hosts();
        let place = |page: u32| {
            let host = self.pages()[page as usize].host;
            (std::cmp::Reverse(pages[host as usize]), host, page)
        };
        let mut kept: Vec<u32> = (0..self.len() as u32).collect();
        for (page, &class) in (0..).zip(class) {
            let best = &mut kept[class as usize];
            *best = std::cmp::min_by_key(*best, page, |page| place(*page));
        }
        class.iter().map(|&class| kept[class as usize]).collect()
    }

    fn pages_of_hosts(&self) -> Vec<usize> {
        let mut pages = vec![0; self.hosts().len()];
        self.pages().iter().for_each(|page| pages[page.host as usize] += 1);
        pages
    }

    /// Which hosts have pages that another's stand for, and how many, in the order of the hosts.
    pub fn folds(&self, contracted: &Contraction) -> Vec<Fold> {
        let pages = self.pages_of_hosts();
        let mut merged: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (page, &kept) in self.pages().iter().zip(&contracted.kept) {
            let into = self.pages()[kept as usize].host;
            if into != page.host {
                *merged.entry((page.host, into)).or_default() += 1;
            }
        }
        let fold =
            |((host, into), merged)| Fold { host, into, pages: pages[host as usize], merged };
        merged.into_iter().map(fold).collect()
    }

    /// The pages that stand for those of each host, sorted.
    pub fn kept_of_hosts(&self, contracted: &Contraction) -> Vec<Vec<u32>> {
        let mut kept = vec![Vec::new(); self.hosts().len()];
        for (page, &stands) in self.pages().iter().zip(&contracted.kept) {
            kept[page.host as usize].push(stands);
        }
        for pages in &mut kept {
            pages.sort_unstable();
            pages.dedup();
        }
        kept
    }
}

/// The targets of each page's links.
struct Outlinks {
    targets: Vec<u32>,
    starts: Vec<usize>,
}

impl Outlinks {
    fn of(graph: &Graph) -> Self {
        let mut links = graph.links().to_vec();
        links.sort_unstable();
        links.dedup();
        let starts = (0..=graph.len() as u32).map(|page| links.partition_point(|it| it.0 < page));
        Self { starts: starts.collect(), targets: links.iter().map(|link| link.1).collect() }
    }

    fn of_page(&self, page: usize) -> &[u32] {
        &self.targets[self.starts[page]..self.starts[page + 1]]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::measure::jaccard;

    const RULE: Rule = Rule { alike: 0.8, least_links: 3 };

    /// A graph of lines such as `a/home > a/x b/y`, where `a` is the host a.example.
    fn graph(lines: &[&str]) -> Graph {
        let url = |page: &str| format!("http://{}", page.replacen('/', ".example/", 1));
        let mut graph = Graph::default();
        for line in lines {
            let (from, to) = line.split_once(" > ").unwrap();
            to.split(' ').for_each(|to| graph.link(&url(from), &url(to)).unwrap());
        }
        graph
    }

    fn contract(graph: &Graph) -> Contraction {
        graph.contract(&RULE, &|| false).unwrap()
    }

    /// Sets of pages that are one page, by their URLs without what all have.
    fn classes(graph: &Graph, contracted: &Contraction) -> BTreeSet<BTreeSet<String>> {
        let mut classes: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for (page, &kept) in (0..).zip(&contracted.kept) {
            let url = graph.url(page).trim_start_matches("http://").replacen(".example", "", 1);
            classes.entry(kept).or_default().insert(url);
        }
        classes.into_values().filter(|class| class.len() > 1).collect()
    }

    fn sets(of: &[&[&str]]) -> BTreeSet<BTreeSet<String>> {
        of.iter().map(|set| set.iter().map(|page| (*page).to_owned()).collect()).collect()
    }

    /// Leaves with the same links outwards, pages above them that link to their own site's.
    const TWO_SITES: [&str; 6] = [
        "a/leaf > x/1 x/2 x/3",
        "b/leaf > x/3 x/2 x/1",
        "a/mid > a/leaf x/4 x/5",
        "b/mid > b/leaf x/4 x/5",
        "a/home > a/mid a/leaf x/6",
        "b/home > b/leaf b/mid x/6",
    ];

    #[test]
    fn s8_6_a_collapse_makes_the_next_possible() {
        let graph = graph(&TWO_SITES);
        let contracted = contract(&graph);
        // The leaves at once; the pages above them share two of four links before, and all after it.
        assert_eq!(contracted.rounds, [1, 1, 1]);
        let one = sets(&[&["a/leaf", "b/leaf"], &["a/mid", "b/mid"], &["a/home", "b/home"]]);
        assert_eq!(classes(&graph, &contracted), one);
        let [a, b] = ["a.example", "b.example"].map(|host| graph.find(host).unwrap());
        assert_eq!(graph.folds(&contracted), [Fold { host: b, into: a, pages: 3, merged: 3 }]);
        // Each of the nine links of a site is there once.
        assert_eq!(graph.contracted_links(&contracted).len(), 9);
        assert_eq!(graph.links().len(), 18);
        let kept = graph.kept_of_hosts(&contracted);
        assert_eq!(kept[a as usize], kept[b as usize]);
    }

    #[test]
    fn without_the_first_collapse_there_is_none() {
        let mut lines = TWO_SITES;
        lines[1] = "b/leaf > x/7 x/8 x/9";
        let graph = graph(&lines);
        let contracted = contract(&graph);
        assert!(contracted.rounds.is_empty() && classes(&graph, &contracted).is_empty());
        assert!(graph.folds(&contracted).is_empty());
        assert_eq!(graph.contracted_links(&contracted), graph.links());
    }

    #[test]
    fn the_order_of_links_does_not_matter() {
        let forwards = graph(&TWO_SITES);
        let mut lines = TWO_SITES;
        lines.reverse();
        let backwards = graph(&lines);
        let [one, other] = [&forwards, &backwards].map(|graph| classes(graph, &contract(graph)));
        assert_eq!(one, other);
    }

    #[test]
    fn as_many_rounds_as_a_site_is_deep_and_then_an_end() {
        let deep = 60;
        let mut lines = vec!["a/p0 > x/1 x/2 x/3".to_owned(), "b/p0 > x/1 x/2 x/3".to_owned()];
        for level in 1..deep {
            let below = level - 1;
            lines
                .extend(["a", "b"].map(|host| {
                    format!("{host}/p{level} > {host}/p{below} x/l{level} x/m{level}")
                }));
        }
        let graph = graph(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(contract(&graph).rounds, vec![1; deep]);
    }

    #[test]
    fn pages_that_only_link_to_one_another_stay_apart() {
        // Nothing outside says that a and b are the same: what is not shown is not assumed.
        let graph = graph(&[
            "a/1 > a/2 a/3 a/4",
            "a/2 > a/1 a/3 a/4",
            "a/3 > a/1 a/2 a/4",
            "a/4 > a/1 a/2 a/3",
            "b/1 > b/2 b/3 b/4",
            "b/2 > b/1 b/3 b/4",
            "b/3 > b/1 b/2 b/4",
            "b/4 > b/1 b/2 b/3",
        ]);
        assert!(contract(&graph).rounds.is_empty());
    }

    #[test]
    fn the_pages_of_a_site_do_not_become_one_for_their_menu() {
        let graph = graph(&[
            "a/1 > a/home a/news a/about",
            "a/2 > a/home a/news a/about",
            "a/3 > a/home a/news a/about",
            "b/2 > a/home a/news a/about",
        ]);
        assert_eq!(classes(&graph, &contract(&graph)), sets(&[&["a/2", "b/2"]]));
    }

    #[test]
    fn two_links_say_too_little() {
        let graph = graph(&["a/ > x/1 x/2", "b/ > x/1 x/2"]);
        assert!(contract(&graph).rounds.is_empty());
        let rule = Rule { least_links: 2, ..RULE };
        assert_eq!(graph.contract(&rule, &|| false).unwrap().rounds, [1]);
    }

    /// Gives a page so many shingles from a number on.
    fn write(graph: &mut Graph, url: &str, shingles: std::ops::Range<u64>) {
        let page = graph.pages().iter().position(|page| &*page.url == url).unwrap();
        graph.set_text(page, shingles.map(|shingle| mix64(shingle, 1)).collect());
    }

    #[test]
    fn texts_decide_where_they_are_known() {
        let mut graph = graph(&[
            "a/1 > x/1 x/2 x/3",
            "b/1 > x/1 x/2 x/3",
            "a/2 > x/1 x/2 x/3",
            "b/other > x/4",
        ]);
        // The same links under other texts; and the same text at another path.
        write(&mut graph, "http://a.example/1", 0..100);
        write(&mut graph, "http://b.example/1", 100..200);
        write(&mut graph, "http://a.example/2", 200..300);
        write(&mut graph, "http://b.example/other", 200..300);
        assert_eq!(classes(&graph, &contract(&graph)), sets(&[&["a/2", "b/other"]]));
    }

    #[test]
    fn links_that_became_one_tip_the_balance_of_texts() {
        let mut graph = graph(&["a/1 > a/2", "b/1 > b/2", "a/2 > x/1", "b/2 > x/1"]);
        write(&mut graph, "http://a.example/2", 0..50);
        write(&mut graph, "http://b.example/2", 0..50);
        // 8 of 9 shingles shared: 8 of 11 with links that differ, 9 of 10 once they are one.
        write(&mut graph, "http://a.example/1", 100..109);
        write(&mut graph, "http://b.example/1", 100..108);
        let contracted = contract(&graph);
        assert_eq!(contracted.rounds, [1, 1]);
        assert_eq!(classes(&graph, &contracted), sets(&[&["a/1", "b/1"], &["a/2", "b/2"]]));
    }

    #[test]
    fn the_host_with_most_pages_stands_for_all() {
        let graph = graph(&[
            "a/1 > x/1 x/2 x/3",
            "b/1 > x/1 x/2 x/3",
            "b/2 > x/4 x/5 x/6",
            "c/1 > x/1 x/2 x/3",
        ]);
        let contracted = contract(&graph);
        let names =
            |fold: &Fold| [fold.host, fold.into].map(|host| graph.hosts().get(host as usize));
        let folds: Vec<_> = graph.folds(&contracted).iter().map(names).collect();
        assert_eq!(folds, [["a.example", "b.example"], ["c.example", "b.example"]]);
    }

    #[test]
    fn an_empty_graph_is_left_as_it_is() {
        assert_eq!(contract(&Graph::default()), Contraction { kept: vec![], rounds: vec![] });
    }

    #[test]
    fn it_can_be_stopped() {
        let graph = graph(&TWO_SITES);
        assert!(matches!(graph.contract(&RULE, &|| true), Err(crate::Error::Interrupted)));
    }

    /// The pages that a page links to, by the pages that stand for them, without itself.
    fn targets(graph: &Graph, contracted: &Contraction, page: u32) -> Vec<u32> {
        let kept = |page: u32| contracted.kept[page as usize];
        let own = graph.links().iter().filter(|link| link.0 == page);
        let targets: BTreeSet<u32> = own.map(|link| kept(link.1)).collect();
        targets.into_iter().filter(|&target| target != kept(page)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_ends_with_nothing_left_to_merge(links in vec((0usize..3, 0usize..4, 0usize..4, 0usize..4), 1..60)) {
            let mut graph = Graph::default();
            for (host, path, to_host, to_path) in links {
                let url = |host: usize, path: usize| format!("http://h{host}.example/p{path}");
                graph.link(&url(host, path), &url(to_host, to_path)).unwrap();
            }
            let rule = Rule { alike: 0.6, least_links: 2 };
            let contracted = graph.contract(&rule, &|| false).unwrap();
            let left: BTreeSet<u32> = contracted.kept.iter().copied().collect();
            prop_assert_eq!(graph.len() - left.len(), contracted.rounds.iter().sum::<usize>());
            prop_assert!(contracted.rounds.len() < graph.len() && !contracted.rounds.contains(&0));
            for a in 0..graph.len() as u32 {
                for b in 0..a {
                    let [one, other] = [a, b].map(|page| targets(&graph, &contracted, page));
                    let judged = graph.pages()[a as usize].path == graph.pages()[b as usize].path
                        && one.len().min(other.len()) >= rule.least_links;
                    if judged && jaccard::similarity(&one, &other) >= rule.alike {
                        prop_assert_eq!(contracted.kept[a as usize], contracted.kept[b as usize]);
                    }
                }
            }
        }
    }
}
