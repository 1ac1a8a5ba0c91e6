//! What an item is: a text, or a set or a bag, from a field of its own or from the rows of a long table.

use clap::{Args, ValueEnum};
use nearkin::read::{Grouping, Ratings, Weight};
use nearkin::{Error, Result};

/// What an item is.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Items")]
pub(crate) struct ItemArgs {
    /// What the field --text holds [default: text; set or bag with --group or --edges]
    #[arg(long = "as", value_name = "KIND", value_enum)]
    kind: Option<KindName>,
    /// Read a long table: all rows with the same value in this column are one item, whose id it is
    #[arg(long, value_name = "FIELD", requires = "element")]
    group: Option<String>,
    /// Column with the element that a row of --group adds
    #[arg(long, value_name = "FIELD", requires = "group")]
    element: Option<String>,
    /// Column that says how often a row's element counts: the groups are bags
    #[arg(long, value_name = "FIELD", requires = "group", conflicts_with = "rating")]
    count: Option<String>,
    /// Column with a rating of a row's element, for --ratings
    #[arg(long, value_name = "FIELD", requires_all = ["group", "ratings"])]
    rating: Option<String>,
    /// How ratings count: drop:LEAST leaves lower ones out, likes:LEAST makes one element of a film that is
    /// liked and another of the same film hated, stars takes an element as often as it has stars (a bag)
    #[arg(long, value_name = "HOW", requires = "rating")]
    ratings: Option<Ratings>,
    /// Read edges: the first two columns of a table or a line, or --group and --element; an item is a node,
    /// its elements are the nodes it has an edge to [with =directed: edges from the first to the second]
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both",
        conflicts_with_all = ["count", "rating"]
    )]
    edges: Option<EdgeName>,
    /// Columns that are questions, for --as answers [default: all but the id]
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    pub(crate) questions: Option<Vec<String>>,
    /// How bit strings are written, where 0 and 1 alone do not tell
    #[arg(long, value_name = "HOW", value_enum, default_value_t = DigitsName::Told)]
    pub(crate) digits: DigitsName,
}

/// How bit strings are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DigitsName {
    /// In hexadecimal where a digit other than 0 and 1 says so
    #[default]
    Told,
    /// Bit by bit
    Binary,
    /// In hexadecimal
    Hex,
}

/// Kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// A text, cut into shingles
    Text,
    /// A list, or elements between white space, each counted once
    Set,
    /// The same with repeats counted; an object {"element": count} is one too
    Bag,
    /// A list of numbers; .npy and .fvecs files hold them too
    Vector,
    /// A string of 0 and 1 or of hexadecimal digits; bytes in .npy files
    Bits,
    /// A text, compared character by character
    String,
    /// Yes, no or nothing in each of several columns
    Answers,
}

impl KindName {
    /// Whether items of this kind are held in memory and searched there.
    pub(crate) fn is_held(self) -> bool {
        matches!(self, Self::Vector | Self::Bits | Self::String | Self::Answers)
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |kind| kind.get_name().to_owned())
    }
}

/// Directions of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EdgeName {
    /// An edge makes each end an element of the other
    Both,
    /// An edge makes its second end an element of the first
    Directed,
}

impl ItemArgs {
    /// What an item is.
    pub(crate) fn kind(&self) -> KindName {
        let weighted = self.count.is_some() || self.ratings == Some(Ratings::Stars);
        match self.kind {
            Some(kind) => kind,
            None if weighted => KindName::Bag,
            None if self.group.is_some() || self.edges.is_some() => KindName::Set,
            None => KindName::Text,
        }
    }

    /// How the rows of a table make items, where they do.
    pub(crate) fn grouping(&self) -> Result<Option<Grouping>> {
        if self.group.is_none() && self.edges.is_none() {
            return Ok(None);
        }
        let weight = match (&self.count, self.rating.clone().zip(self.ratings), self.edges) {
            (Some(count), _, _) => Weight::Count(count.clone()),
            (_, Some((rating, how)), _) => Weight::Rating(rating, how),
            (_, _, Some(which)) => Weight::Edge { directed: which == EdgeName::Directed },
            _ => Weight::Once,
        };
        let must = match self.kind() {
            KindName::Set if weight.repeats() => Some("bag, for elements with counts or stars"),
            KindName::Set | KindName::Bag => None,
            _ => Some("set or bag, for the groups of a table"),
        };
        if let Some(must) = must {
            return Err(Error::parameter("--as", self.kind().name(), must));
        }
        let column =
            |name: &Option<String>, number: &str| name.clone().unwrap_or_else(|| number.to_owned());
        let (group, element) = (column(&self.group, "1"), column(&self.element, "2"));
        Ok(Some(Grouping { group, element, weight }))
    }
}
