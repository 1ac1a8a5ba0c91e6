//! Stars: a kept item is similar to everything that is removed for it.
//!
//! Connected components of similar pairs come in. In a component, items come in order of preference, and each is compared
//! with those kept so far. The first of these that is similar stands for it, and where none is, the item is kept. So
//! nothing is removed that nothing kept stands for, no two kept items of a component are similar, and which they are
//! depends on the components, the order and the items alone.
//!
//! Pairs of sets are not listed: of 100,000 near-identical ones each is compared with one. All comparisons are exact, so
//! sets that bands did not bring together are told apart as well. Of items in memory, the pairs that were found are the
//! similar ones, unless there are too many to list.

use rayon::prelude::*;

use crate::Result;

/// Items of one component that are kept, in order of preference.
pub(crate) trait Centres: Sync {
    /// What a thread needs to compare.
    type Scratch;

    fn scratch(&self) -> Self::Scratch;

    /// How many there are.
    fn len(&self) -> usize;

    /// One more is kept.
    fn push(&mut self, group: u32);

    /// The first of them, from this one on, that is similar to a group.
    fn first_similar(
        &self,
        group: u32,
        from: usize,
        scratch: &mut Self::Scratch,
    ) -> Result<Option<u32>>;

    /// Makes it faster to compare with those that are kept now. None of them is asked for as the first later.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}

/// For every group the one that stands for it: itself if it is kept. `order` has all groups, the most preferred first.
/// Those below `old` are kept whatever they are similar to; they come first.
pub(crate) fn stars<C: Centres>(
    components: &[u32],
    (order, old): (&[u32], u32),
    centres: impl Fn() -> C + Sync,
    go_on: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Vec<u32>> {
    let mut found: Vec<u32> = (0..components.len() as u32).collect();
    let members = ComponentMembers::new(components, order);
    let several: Vec<&[u32]> = members.of_several().collect();
    let of_each: Vec<Vec<u32>> = several
        .par_iter()
        .map(|members| star(members, old, &mut centres(), go_on))
        .collect::<Result<_>>()?;
    for (members, centres) in several.into_iter().zip(of_each) {
        for (&group, centre) in members.iter().zip(centres) {
            found[group as usize] = centre;
        }
    }
    Ok(found)
}

/// For every member of a component, which come in order of preference, the one that stands for it.
fn star<C: Centres>(
    members: &[u32],
    old: u32,
    kept: &mut C,
    go_on: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Vec<u32>> {
    /// Members that are compared with those kept before them side by side.
    const PORTION: usize = 1024;
    /// Comparisons that are worth other threads.
    const MANY: usize = 1 << 12;
    let mut found = Vec::with_capacity(members.len());
    let mut scratch = kept.scratch();
    let (old, mut rest) = members.split_at(members.partition_point(|&group| group < old));
    found.extend_from_slice(old);
    old.iter().for_each(|&group| kept.push(group));
    kept.settle()?;
    while !rest.is_empty() {
        go_on()?;
        // The first ones decide most of it.
        let (portion, later) = rest.split_at(rest.len().min(found.len().clamp(1, PORTION)));
        rest = later;
        let before = kept.len();
        let compare =
            |scratch: &mut C::Scratch, &group: &u32| kept.first_similar(group, 0, scratch);
        let with_those_before: Vec<Option<u32>> = if portion.len() * before < MANY {
            portion.iter().map(|group| compare(&mut scratch, group)).collect::<Result<_>>()?
        } else {
            let groups = portion.par_iter().with_min_len(16);
            groups.map_init(|| kept.scratch(), compare).collect::<Result<_>>()?
        };
        for (&group, centre) in portion.iter().zip(with_those_before) {
            let centre = match centre {
                Some(centre) => Some(centre),
                None => kept.first_similar(group, before, &mut scratch)?,
            };
            if centre.is_none() {
                kept.push(group);
            }
            found.push(centre.unwrap_or(group));
        }
        kept.settle()?;
    }
    Ok(found)
}

/// The groups of each component, in order of preference.
struct ComponentMembers {
    groups: Vec<u32>,
    /// Where those of a component start, by its smallest member.
    starts: Vec<u32>,
}

impl ComponentMembers {
    fn new(components: &[u32], order: &[u32]) -> Self {
        let mut starts = vec![0u32; components.len() + 1];
        components.iter().for_each(|&component| starts[component as usize] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut groups = vec![0; components.len()];
        // From the last on, so that where a component ends becomes where it starts.
        for &group in order.iter().rev() {
            let start = &mut starts[components[group as usize] as usize];
            *start -= 1;
            groups[*start as usize] = group;
        }
        Self { groups, starts }
    }

    /// Those of each component that has two or more.
    fn of_several(&self) -> impl Iterator<Item = &[u32]> {
        let each =
            self.starts.windows(2).map(|ends| &self.groups[ends[0] as usize..ends[1] as usize]);
        each.filter(|members| members.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Kept items and the pairs that are similar.
    struct Listed<'a> {
        similar: &'a HashSet<(u32, u32)>,
        kept: Vec<u32>,
    }

    impl Centres for Listed<'_> {
        type Scratch = ();

        fn scratch(&self) {}

        fn len(&self) -> usize {
            self.kept.len()
        }

        fn push(&mut self, group: u32) {
            self.kept.push(group);
        }

        fn first_similar(&self, group: u32, from: usize, (): &mut ()) -> Result<Option<u32>> {
            let are_similar =
                |kept: u32| self.similar.contains(&(kept.min(group), kept.max(group)));
            Ok(self.kept[from..].iter().copied().find(|&kept| are_similar(kept)))
        }
    }

    fn stars_of(components: &[u32], order: &[u32], pairs: &[(u32, u32)]) -> Vec<u32> {
        let similar: HashSet<(u32, u32)> = pairs.iter().copied().collect();
        let none = || Listed { similar: &similar, kept: Vec::new() };
        stars(components, (order, 0), none, &|| Ok(())).unwrap()
    }

    #[test]
    fn old_items_are_kept_whatever_they_are_similar_to() {
        let similar: HashSet<(u32, u32)> = [(0, 1), (1, 2), (2, 4), (3, 4)].into_iter().collect();
        let none = || Listed { similar: &similar, kept: Vec::new() };
        let of = |old| stars(&[0; 5], (&[0, 1, 2, 3, 4], old), none, &|| Ok(())).unwrap();
        assert_eq!(of(0), [0, 0, 2, 3, 2]);
        assert_eq!(of(2), [0, 1, 1, 3, 3]);
        assert_eq!(of(5), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn stars_do_not_follow_chains() {
        // 0–1–2–3 is a chain, 5–6 a pair, 4 alone.
        let chain = [(0, 1), (1, 2), (2, 3), (5, 6)];
        let components = [0, 0, 0, 0, 4, 5, 5];
        let order: Vec<u32> = (0..7).collect();
        assert_eq!(stars_of(&components, &order, &chain), [0, 0, 2, 2, 4, 5, 5]);
        let backwards: Vec<u32> = (0..7).rev().collect();
        assert_eq!(stars_of(&components, &backwards, &chain), [1, 1, 3, 3, 4, 6, 6]);
    }

    #[test]
    fn large_components_are_as_if_items_came_one_by_one() {
        // Numbers up to two apart are similar: every third is kept, whatever portion it comes in.
        let numbers = 5000u32;
        let pairs: Vec<(u32, u32)> = (0..numbers)
            .flat_map(|a| [(a, a + 1), (a, a + 2)])
            .filter(|pair| pair.1 < numbers)
            .collect();
        let order: Vec<u32> = (0..numbers).collect();
        let expected: Vec<u32> = (0..numbers).map(|number| number - number % 3).collect();
        assert_eq!(stars_of(&vec![0; numbers as usize], &order, &pairs), expected);
    }
}
