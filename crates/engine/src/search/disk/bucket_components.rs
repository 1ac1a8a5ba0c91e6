//! From buckets to groups: which items do similar pairs connect?
//!
//! Pairs that are known to be connected are not looked at. Round by round, each bucket joins, on its own, what the rounds
//! before left apart. What a bucket does depends on those alone, so the work is the same at any number of threads.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::candidates::each_bucket;
use crate::cluster::UnionFind;
use crate::matches::Stats;
use crate::observe::Observer;
use crate::{Error, Result};

use super::bucket_join::{BucketJoin, Comparisons, ThreadRecords};
use super::heavy_buckets::HeavyClasses;

impl BucketJoin {
    /// The connected components of all similar pairs: for every group its component's smallest member.
    ///
    /// A round is of one table: pairs that share an earlier key are left out, so what they joined has to be known. Otherwise
    /// 8,000 near-copies were as many classes in each table, and took 7 s.
    pub(super) fn components(
        &self,
        observer: &dyn Observer,
        stats: &mut Stats,
    ) -> Result<Vec<u32>> {
        let mut sets = UnionFind::new(self.texts.places.len());
        let (mut compared, mut joined) = (Comparisons::default(), 0);
        let mut heavy = HeavyClasses::default();
        let mut next = 0;
        while let Some(round) = self.round(&mut next, 1 << 17, true)? {
            let buckets: Vec<(usize, &[u32])> = round
                .iter()
                .flat_map(|(table, buckets)| each_bucket(buckets).map(|bucket| (*table, bucket)))
                .collect();
            let results: Vec<BucketLinks> = buckets
                .par_iter()
                .with_min_len(16)
                .map_init(
                    || self.at_hand(),
                    |at, &(table, bucket)| {
                        if observer.stopped() {
                            return Err(Error::Interrupted);
                        }
                        if heavy.hold(bucket) {
                            return Ok(BucketLinks::default());
                        }
                        self.join_bucket(table, bucket, &sets, at, observer)
                    },
                )
                .collect::<Result<_>>()?;
            for (&(_, bucket), links) in buckets.iter().zip(results) {
                compared += links.compared;
                joined += links.joins.len() as u64;
                links.joins.into_iter().for_each(|(a, b)| sets.join(a, b));
                if links.is_heavy {
                    heavy.add(bucket, self.texts.places.len());
                }
            }
        }
        if !heavy.is_empty() {
            let joins = |sets: &UnionFind| {
                (0..self.texts.places.len() as u32)
                    .filter(|&group| sets.root(group) != group)
                    .count()
            };
            let before = joins(&sets);
            compared += self.connect_classes(&heavy, &mut sets, observer)?.into();
            joined += (joins(&sets) - before) as u64;
        }
        self.count(stats, compared, joined);
        Ok((0..self.texts.places.len() as u32).map(|group| sets.find(group)).collect())
    }

    /// The joins that a bucket adds to `before`, and the comparisons it took to find them.
    ///
    /// Members that are connected already form one class. Classes come one by one and are compared
    /// with the clusters so far, with each until a pair agrees: near-identical members take one
    /// comparison each. The first members of all clusters are looked at together.
    fn join_bucket(
        &self,
        table: usize,
        bucket: &[u32],
        before: &UnionFind,
        at: &mut ThreadRecords,
        observer: &dyn Observer,
    ) -> Result<BucketLinks> {
        let mut links = BucketLinks::default();
        let mut roots = bucket.iter().map(|&member| before.root(member));
        let first = roots.next();
        if roots.all(|root| Some(root) == first) {
            return Ok(links);
        }
        // Members on one side are not paired with each other: the others are joined first, and then these to them.
        let on_both = |member: u32| self.sides.as_ref().is_none_or(|it| it.is_on_both(member));
        let (bucket, one_sided): (Vec<u32>, Vec<u32>) =
            bucket.iter().partition(|&&member| on_both(member));
        if bucket.is_empty() {
            return Ok(links);
        }
        let mut classes: Vec<Vec<u32>> = Vec::new();
        let mut class_of: HashMap<u32, usize> = HashMap::new();
        for member in bucket {
            let class = *class_of.entry(before.root(member)).or_insert(classes.len());
            if class == classes.len() {
                classes.push(Vec::new());
            }
            classes[class].push(member);
        }
        let mut clusters = BucketClusters::default();
        for class in classes {
            if observer.stopped() {
                return Err(Error::Interrupted);
            }
            if links.is_heavy() {
                break;
            }
            let similar = match clusters.members.is_empty() {
                true => Vec::new(),
                false => self.similar_clusters(table, &class, &clusters, at, &mut links)?,
            };
            let head = self.texts.head(class[0], &mut at.one_head)?;
            clusters.add(class, head, &similar);
        }
        self.join_one_sided(table, &one_sided, before, &clusters, at, &mut links)?;
        links.is_heavy();
        Ok(links)
    }

    /// Joins members that are not paired with each other to the clusters of those that are.
    fn join_one_sided(
        &self,
        table: usize,
        members: &[u32],
        before: &UnionFind,
        clusters: &BucketClusters,
        at: &mut ThreadRecords,
        links: &mut BucketLinks,
    ) -> Result<()> {
        let mut roots = clusters.members.iter().flatten().map(|&member| before.root(member));
        let first = roots.next();
        let only = first.filter(|first| roots.all(|root| root == *first));
        for &member in members {
            if links.is_heavy() {
                break;
            }
            if only != Some(before.root(member)) {
                self.similar_clusters(table, &[member], clusters, at, links)?;
            }
        }
        Ok(())
    }

    /// The clusters that a class has a similar pair with, ascending; some of them if the bucket turns out heavy.
    fn similar_clusters(
        &self,
        table: usize,
        class: &[u32],
        clusters: &BucketClusters,
        at: &mut ThreadRecords,
        links: &mut BucketLinks,
    ) -> Result<Vec<usize>> {
        let (mut are_similar, mut similar) = (vec![false; clusters.members.len()], 0);
        for &a in class {
            links.members += 1;
            if similar == are_similar.len() || links.is_heavy() {
                break;
            }
            let head = self.texts.head(a, &mut at.one_head)?;
            links.compared += self.agreeing(table, head, &clusters.heads, &mut at.agreeing);
            let agreeing = at.agreeing.iter().map(|&cluster| cluster as usize);
            let agreeing = agreeing.filter(|&cluster| !are_similar[cluster]);
            let agreeing: Vec<usize> = agreeing.collect();
            if agreeing.is_empty() {
                continue;
            }
            let own = self.texts.body(a, &mut at.one)?;
            // All are asked for before the first is needed.
            let first = |&cluster: &usize| clusters.members[cluster][0];
            let records: Vec<Option<&[u64]>> =
                agreeing.iter().map(|cluster| self.texts.fetch(first(cluster))).collect();
            for (cluster, record) in agreeing.into_iter().zip(records) {
                let b = first(&cluster);
                let other = match record {
                    Some(record) => self.texts.layout.body(record),
                    None => self.texts.body(b, &mut at.many)?,
                };
                if own.similar(other, &self.verifier).is_some() {
                    links.joins.push((a.min(b), a.max(b)));
                    are_similar[cluster] = true;
                    similar += 1;
                }
            }
        }
        for &cluster in &clusters.larger {
            if !are_similar[cluster] {
                let rest = clusters.rest(cluster);
                let pair = self.agreement(table, class, rest, at, links)?;
                links.joins.extend(pair);
                are_similar[cluster] = pair.is_some();
            }
        }
        Ok((0..are_similar.len()).filter(|&cluster| are_similar[cluster]).collect())
    }

    /// The first pair of two clusters that is similar, unless the bucket turns out heavy before.
    fn agreement(
        &self,
        table: usize,
        class: &[u32],
        other: &[u32],
        at: &mut ThreadRecords,
        links: &mut BucketLinks,
    ) -> Result<Option<(u32, u32)>> {
        let ThreadRecords { one, many, one_head, many_heads, agreeing, .. } = at;
        for &a in class {
            // Two large clusters have many pairs.
            if links.is_heavy() {
                break;
            }
            let head = self.texts.head(a, one_head)?;
            for &b in other {
                // A pair that shared an earlier key was compared there, and did not agree.
                links.compared +=
                    self.agreeing(table, head, self.texts.head(b, many_heads)?, agreeing);
                if agreeing.is_empty() {
                    continue;
                }
                let (own, other) = (self.texts.body(a, one)?, self.texts.body(b, many)?);
                if own.similar(other, &self.verifier).is_some() {
                    return Ok(Some((a.min(b), a.max(b))));
                }
            }
        }
        Ok(None)
    }
}

impl Comparisons {
    /// Whether a bucket of so many members has taken too much in vain: it compared some pairs for each of them, and most of
    /// those that it looked at, or looked at far more.
    fn are_many(self, members: usize) -> bool {
        const ALL: u64 = 1 << 16;
        const EACH: u64 = 32;
        const ONE_IN: u64 = 4;
        // A look takes 4 to 15 ns, in each of some tables; the exact join some microseconds for each member, once. 100,000
        // members of families that are close took 16 s with eight times as many.
        const LOOKS: u64 = 1 << 18;
        const LOOKS_EACH: u64 = 128;
        let members = members as u64;
        let are_compared = self.exactly > ALL + EACH * members;
        are_compared && ONE_IN * self.exactly > self.candidates
            || self.candidates > LOOKS + LOOKS_EACH * members
    }
}

/// What a bucket joins.
#[derive(Default)]
struct BucketLinks {
    joins: Vec<(u32, u32)>,
    compared: Comparisons,
    /// Members that were gone through.
    members: usize,
    is_heavy: bool,
}

impl BucketLinks {
    /// Whether it is left to the exact join, because too much has been compared in vain.
    fn is_heavy(&mut self) -> bool {
        self.is_heavy = self.is_heavy || self.compared.are_many(self.members);
        self.is_heavy
    }
}

/// Members of a bucket that similar pairs connect.
#[derive(Default)]
struct BucketClusters {
    members: Vec<Vec<u32>>,
    /// The heads of the first members of the first clusters, and how many these are: up to 10 MB in all.
    heads: Vec<u64>,
    first: usize,
    /// The clusters that have members beside these, ascending: one look at all heads leaves little to look at.
    larger: Vec<usize>,
}

impl BucketClusters {
    /// The members of a cluster whose heads are not among those that are looked at together.
    fn rest(&self, cluster: usize) -> &[u32] {
        &self.members[cluster][usize::from(cluster < self.first)..]
    }

    /// Joins a class, whose first member has this head, to the clusters it is similar to, or makes it one more.
    fn add(&mut self, class: Vec<u32>, head: &[u64], similar: &[usize]) {
        const HEADS: usize = 1 << 16;
        let Some((&to, others)) = similar.split_first() else {
            if self.first == self.members.len() && self.first < HEADS {
                self.heads.extend_from_slice(head);
                self.first += 1;
            }
            self.members.push(class);
            let cluster = self.members.len() - 1;
            if !self.rest(cluster).is_empty() {
                self.larger.push(cluster);
            }
            return;
        };
        self.members[to].extend(class);
        let width = self.heads.len() / self.first.max(1);
        for &other in others.iter().rev() {
            let members = self.members.remove(other);
            self.members[to].extend(members);
            if other < self.first {
                self.heads.drain(other * width..(other + 1) * width);
                self.first -= 1;
            }
        }
        match others {
            // One that was larger already is in its place.
            [] => {
                self.larger.binary_search(&to).map_or_else(|at| self.larger.insert(at, to), |_| ())
            }
            _ => {
                let is_larger = |&cluster: &usize| !self.rest(cluster).is_empty();
                self.larger = (0..self.members.len()).filter(is_larger).collect();
            }
        }
    }
}
