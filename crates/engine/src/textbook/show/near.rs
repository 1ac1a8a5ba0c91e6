//! The (c, r) near-neighbour index: how large it is, how much a query looks at, and how often it succeeds.

use super::ShowRequest;
use super::items::{at_least, names};
use super::sketch::NamedVectors;
use super::table::{Cell, Shown, ShownTable};
use crate::family::{Family, Hyperplanes, LineDirection, Lines, Normals};
use crate::options::MeasureName;
use crate::space::{Space, VectorMeasure, VectorSpace};
use crate::textbook::NearIndex;
use crate::textbook::near_neighbour::{NearIndexShape, check_near};
use crate::{Error, Result};

/// The factor c unless the user says which.
const FACTOR: f64 = 2.0;

impl ShowRequest<'_> {
    /// The index of all items, and what each of them finds in it when it asks for another.
    pub(super) fn near(&self) -> Result<Shown> {
        at_least(self.items, 2)?;
        let vectors = NamedVectors::of(self)?.held()?;
        let (r, c) = match self.options.within {
            Some(r) => (r, self.show.factor.unwrap_or(FACTOR)),
            None => return Err(Error::missing("within", "the distance r of near items")),
        };
        check_near((c, r))?;
        let seed = self.options.seed_or_default();
        match self.options.measure {
            Some(MeasureName::Cosine) => {
                let family = Hyperplanes::new(&vectors, Normals::Gaussian, seed);
                let space = VectorSpace::new(&vectors, VectorMeasure::Angle)?;
                self.index(&space, &family, (c, r), "degrees, signs of hyperplanes".into())
            }
            None | Some(MeasureName::Norm(2.0)) => {
                let direction = LineDirection::Gaussian;
                let width = direction.width_for(r, c, vectors.len(), vectors.dimension());
                let family = Lines::new(&vectors, direction, width, seed)?;
                let space = VectorSpace::new(&vectors, VectorMeasure::L2)?;
                let how = format!("Euclidean distance, lines with buckets {width:.4} wide");
                self.index(&space, &family, (c, r), how)
            }
            Some(other) => Err(Error::parameter("measure", other, "l2 or cosine")),
        }
    }

    fn index<S: Space, F: Family>(
        &self,
        space: &S,
        family: &F,
        near: (f64, f64),
        how: String,
    ) -> Result<Shown> {
        let count = self.items.len() as u32;
        let index = NearIndex::new(space, family, count, near, &|| false)?;
        let NearIndexShape { p1, p2, rho, rows, tables } = index.shape();
        let mut shape = ShownTable::new(
            "index",
            "The index",
            ["n", "r", "c·r", "P1", "P2", "ρ", "k", "L", "n^ρ", "2L"],
        );
        let far = near.0 * near.1;
        shape.push([
            Cell::from(u64::from(count)),
            near.1.into(),
            far.into(),
            p1.into(),
            p2.into(),
            rho.into(),
            rows.into(),
            tables.into(),
            f64::from(count).powf(rho).into(),
            (2 * tables).into(),
        ]);
        let names = names(self.items, "x");
        let mut queries = ShownTable::new(
            "queries",
            "What each item finds",
            [
                "item",
                "within r",
                "within c·r",
                "far items looked at",
                "gave up",
                "found",
                "distance",
            ],
        );
        let (mut asked, mut succeeded, mut looked) = (0usize, 0usize, 0usize);
        for item in 0..count {
            let others = (0..count).filter(|&other| other != item);
            let reached: Vec<f64> =
                others.filter_map(|other| space.reaching(item, other, far)).collect();
            let close = reached.iter().filter(|&&distance| distance <= near.1).count();
            let answer = index.query(item);
            looked += answer.far + usize::from(answer.found.is_some());
            if close > 0 {
                asked += 1;
                succeeded += usize::from(answer.found.is_some());
            }
            let gave_up = if answer.gave_up { "yes" } else { "no" };
            queries.push([
                Cell::from(&*names[item as usize]),
                close.into(),
                reached.len().into(),
                answer.far.into(),
                gave_up.into(),
                answer.found.as_ref().map(|pair| &*names[pair.b as usize]).into(),
                answer.found.as_ref().map(|pair| pair.value).into(),
            ]);
        }
        let mut success = ShownTable::new(
            "success",
            "How often it succeeds",
            [
                "items with another within r",
                "found one within c·r",
                "share",
                "looked at by a query",
            ],
        );
        success.push([
            Cell::from(asked),
            succeeded.into(),
            (asked > 0).then(|| succeeded as f64 / asked as f64).into(),
            (looked as f64 / f64::from(count)).into(),
        ]);
        let notes = vec![
            format!("Measured in {how}; seed {}.", self.options.seed_or_default()),
            "k = ln n / ln(1/P2) functions make a key, L = P1^−k tables are built, and a query gives up after 2L far \
             items. Over all seeds, an item with another within r finds one within c·r with a chance of 1 − 1/e = 0.63 and more \
             where few items lie just beyond c·r, and of 1/2 − 1/e at least."
                .into(),
        ];
        Ok(Shown { show: "near", tables: vec![shape, queries, success], notes })
    }
}
