//! What AND, OR and NOT do to a chance, to its derivatives, and to anything else that follows an
//! expression.
//!
//! AND and NOT are enough: an OR is the NOT of an AND of NOTs. [`Logic`] is implemented for everything that follows from
//! an expression: a probability ([`Chance`]), a curve at a point ([`Jet`]), the least numbers of functions that decide
//! ([`DecisionCounts`]), and a formula.

/// Something that is known of independent parts and follows for AND, OR and NOT of them.
pub(super) trait Logic: Sized {
    /// What always holds.
    fn certain() -> Self;

    /// This and the other.
    fn both(self, other: Self) -> Self;

    /// `n` of its kind, all of them.
    fn all(self, n: usize) -> Self;

    /// The opposite.
    fn not(self) -> Self;

    /// This or the other.
    fn either(self, other: Self) -> Self {
        self.not().both(other.not()).not()
    }

    /// `n` of its kind, any of them.
    fn any(self, n: usize) -> Self {
        self.not().all(n).not()
    }
}

/// A probability and its complement, each with the full precision of a double: where one is nearly 1,
/// the other says by how little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chance {
    pub(super) yes: f64,
    pub(super) no: f64,
}

impl Chance {
    /// `p` is taken into 0..=1.
    pub(super) fn new(p: f64) -> Self {
        let yes = p.clamp(0.0, 1.0);
        Self { yes, no: 1.0 - yes }
    }
}

impl Logic for Chance {
    fn certain() -> Self {
        Self::new(1.0)
    }

    fn both(self, other: Self) -> Self {
        // A sum of chances may round to more than 1.
        Self { yes: self.yes * other.yes, no: (self.no + self.yes * other.no).min(1.0) }
    }

    fn all(self, n: usize) -> Self {
        if self.yes < 0.5 {
            return Self::new(self.yes.powf(n as f64));
        }
        let log = n as f64 * (-self.no).ln_1p();
        Self { yes: log.exp(), no: -log.exp_m1() }
    }

    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// A curve at a point: its value there, its first and its second derivative.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jet {
    value: Chance,
    pub(super) slope: f64,
    pub(super) bend: f64,
}

impl Jet {
    /// The probability `p` itself.
    pub(super) fn new(p: f64) -> Self {
        Self { value: Chance::new(p), slope: 1.0, bend: 0.0 }
    }
}

impl Logic for Jet {
    fn certain() -> Self {
        Self { value: Chance::certain(), slope: 0.0, bend: 0.0 }
    }

    fn both(self, other: Self) -> Self {
        let (u, v) = (self.value.yes, other.value.yes);
        Self {
            value: self.value.both(other.value),
            slope: self.slope * v + u * other.slope,
            bend: self.bend * v + 2.0 * self.slope * other.slope + u * other.bend,
        }
    }

    // (uⁿ)′ = n·uⁿ⁻¹·u′ and (uⁿ)″ = n·(n − 1)·uⁿ⁻²·u′² + n·uⁿ⁻¹·u″
    fn all(self, n: usize) -> Self {
        let times = n as f64;
        let first = times * self.value.all(n.saturating_sub(1)).yes;
        let second = times * (times - 1.0) * self.value.all(n.saturating_sub(2)).yes;
        Self {
            value: self.value.all(n),
            slope: first * self.slope,
            bend: second * self.slope * self.slope + first * self.bend,
        }
    }

    // 0 − 0 is 0, where −0 would be shown as such.
    fn not(self) -> Self {
        Self { value: self.value.not(), slope: 0.0 - self.slope, bend: 0.0 - self.bend }
    }
}

/// The least number of functions that decide a pair by agreeing, and the least that decide it by not
/// agreeing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DecisionCounts {
    pub(super) agreeing: usize,
    pub(super) differing: usize,
}

impl Logic for DecisionCounts {
    fn certain() -> Self {
        Self { agreeing: 0, differing: usize::MAX }
    }

    fn both(self, other: Self) -> Self {
        Self {
            agreeing: self.agreeing.saturating_add(other.agreeing),
            differing: self.differing.min(other.differing),
        }
    }

    fn all(self, n: usize) -> Self {
        Self { agreeing: self.agreeing.saturating_mul(n), ..self }
    }

    fn not(self) -> Self {
        Self { agreeing: self.differing, differing: self.agreeing }
    }
}

/// The point between 0 and 1 up to which `below` holds, by halving down to neighbouring doubles.
pub(super) fn last_below(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if below(middle) { low = middle } else { high = middle }
    }
}

/// The point inside 0..1 that a curve leaves as it is, where it has one: below it the curve damps, above it
/// the curve amplifies. The signs are taken on the side that is small, so that a point near 0 or near 1 is
/// found as well.
pub(super) fn fixed_point(curve: impl Fn(f64) -> Chance) -> f64 {
    last_below(0.0, 1.0, |p| {
        let chance = curve(p);
        if p < 0.5 { chance.yes < p } else { chance.no > 1.0 - p }
    })
}
