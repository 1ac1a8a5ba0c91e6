//! Where items come from, how records are read, and what an item is.

use std::path::PathBuf;

use clap::Args;
use nearkin_engine::Error;
use nearkin_engine::options::{Edges, ItemKind, Options};
use nearkin_engine::read::{Digits, Format, OnError, Place, Ratings, TextEncoding};
use nearkin_engine::shingle::Grid;

use super::{Fill, format_parser, item_bytes, keyword_parser, parsed, place_parser};

/// Where items come from, and how they are read.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    #[command(flatten)]
    places: PlaceArgs,
    #[command(flatten)]
    pub(crate) fields: FieldArgs,
}

impl InputArgs {
    /// All inputs.
    pub(crate) fn places(&self) -> nearkin_engine::Result<Vec<Place>> {
        self.places.all()
    }
}

/// Where items come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct PlaceArgs {
    /// Files, folders, or - for standard input
    ///
    /// Formats: .jsonl .ndjson .json .parquet .pq .csv .tsv .txt; for vectors and bits also .npy .fvecs .bvecs .ivecs; any
    /// of them packed with gzip or zstd. In a folder without such files, each file is one document, and so are several files
    /// of other names, such as a.py b.py. Standard input is JSON unless --format says otherwise.
    #[arg(value_name = "INPUT", required_unless_present = "files_from", value_parser = place_parser())]
    inputs: Vec<Place>,
    /// Read the files and folders too that this list names, one per line or each ended by a byte 0; - for standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

impl PlaceArgs {
    /// All inputs: those that were named, and behind them those of the list.
    pub(crate) fn all(&self) -> nearkin_engine::Result<Vec<Place>> {
        let mut places = self.inputs.clone();
        if let Some(list) = &self.files_from {
            if list.as_os_str() == "-" && places.iter().any(Place::is_stdin) {
                let must = "another file than standard input, which is an input";
                return Err(Error::parameter("files_from", "-", must));
            }
            places.extend(Place::listed(list)?);
        }
        Ok(places)
    }
}

impl Fill for InputArgs {
    fn fill(&self, options: &mut Options) {
        self.fields.fill(options);
    }
}

/// What the fields of the collection in --against are called.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct AgainstArgs {
    /// Field or column that holds the text of --against [default: that of --text]
    #[arg(long, value_name = "FIELD")]
    against_text: Option<String>,
    /// Field or column that holds the id of --against [default: that of --id]
    #[arg(long, value_name = "FIELD")]
    against_id: Option<String>,
}

impl Fill for AgainstArgs {
    fn fill(&self, options: &mut Options) {
        options.against_text.clone_from(&self.against_text);
        options.against_id.clone_from(&self.against_id);
    }
}

/// How records are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct FieldArgs {
    /// Field or column that holds the text, or whatever --as names [default: text]
    ///
    /// For other kinds of items, these names are tried before text: items, set (sets and bags); vector, embedding;
    /// bits, hash; string.
    #[arg(long, value_name = "FIELD")]
    text: Option<String>,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    items: ItemArgs,
}

impl Fill for FieldArgs {
    fn fill(&self, options: &mut Options) {
        options.text.clone_from(&self.text);
        self.table.fill(options);
        self.items.fill(options);
    }
}

/// How files are laid out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct TableArgs {
    /// Field or column that holds the id [default: id if there is one, else the position, from 0]
    #[arg(long, value_name = "FIELD")]
    id: Option<String>,
    /// Use positions as ids, even if there is a field id
    ///
    /// For inputs whose ids each start again at 1.
    #[arg(long)]
    positions: bool,
    /// Read every input in this format, whatever its extension
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    format: Option<Format>,
    /// Of folders, read only files that match this glob, such as '*.py' or 'src/**' (repeatable)
    ///
    /// A glob means what it does in a .gitignore file: without a slash, it matches names in every folder.
    #[arg(long, value_name = "GLOB")]
    include: Option<Vec<String>>,
    /// Leave files and folders that match this glob out of folders (repeatable)
    #[arg(long, value_name = "GLOB")]
    exclude: Option<Vec<String>>,
    /// Read documents that a .gitignore file names, too
    #[arg(long)]
    no_ignore: bool,
    /// Encoding of text files, such as latin1, windows-1252, utf-16le or shift_jis [default: utf-8, or by the byte-order mark]
    ///
    /// Names are those of the web, where latin1 is windows-1252. What is written is UTF-8.
    #[arg(long, value_name = "NAME", value_parser = parsed::<TextEncoding>)]
    encoding: Option<TextEncoding>,
    /// Separator of CSV fields, such as ';' or '::' [default: a comma; a tab in .tsv]
    #[arg(long, value_name = "TEXT")]
    delimiter: Option<String>,
    /// CSV files have no header row; their columns are called 1, 2, 3 …
    #[arg(long)]
    no_header: bool,
    /// What to do with a record that cannot be used [default: stop]
    #[arg(long, value_name = "WHAT", value_parser = keyword_parser::<OnError>())]
    on_error: Option<OnError>,
    /// Largest line, record, cell or document, such as 64M [default: 1G, or less where --memory has no room for it]
    ///
    /// A larger one cannot be used; see --on-error.
    #[arg(long, value_name = "SIZE", value_parser = item_bytes)]
    max_item: Option<usize>,
}

impl Fill for TableArgs {
    fn fill(&self, options: &mut Options) {
        options.id.clone_from(&self.id);
        options.positions = self.positions;
        options.format = self.format;
        options.include.clone_from(&self.include);
        options.exclude.clone_from(&self.exclude);
        options.no_ignore = self.no_ignore;
        options.encoding = self.encoding;
        options.delimiter.clone_from(&self.delimiter);
        options.no_header = self.no_header;
        options.on_error = self.on_error;
        options.max_item = self.max_item;
    }
}

/// What an item is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Items")]
struct ItemArgs {
    /// Kind of item [default: text; set or bag with --group or --edges]
    #[arg(id = "as", long = "as", value_name = "KIND", value_parser = keyword_parser::<ItemKind>())]
    kind: Option<ItemKind>,
    /// Read a long table: rows with the same value in this column form one item
    ///
    /// The value is the item's id. Needs --element.
    #[arg(long, value_name = "FIELD")]
    group: Option<String>,
    /// Column that holds the element of each row of --group
    #[arg(long, value_name = "FIELD")]
    element: Option<String>,
    /// Column that holds how often the element counts; items become bags
    #[arg(long, value_name = "FIELD")]
    count: Option<String>,
    /// Column that holds a rating of the element; needs --ratings
    #[arg(long, value_name = "FIELD")]
    rating: Option<String>,
    /// How ratings count: drop:MIN, likes:MIN or stars
    ///
    /// drop:MIN ignores ratings below MIN. likes:MIN makes two elements of each film: liked (MIN or more) and hated.
    /// stars counts an element once per star, so items become bags.
    #[arg(long, value_name = "HOW", value_parser = parsed::<Ratings>)]
    ratings: Option<Ratings>,
    /// Table of elements and their groups, in its first two columns: elements of one group count as the same
    ///
    /// Two people who bought different books of one kind are alike then. An element that is not in the table stands for
    /// itself.
    #[arg(long, value_name = "FILE")]
    element_groups: Option<PathBuf>,
    /// Read edges: each node is an item, and its neighbours are its elements
    ///
    /// Edges are the first two columns of a table or line, or --group and --element.
    #[arg(
        long,
        value_name = "WHICH",
        value_parser = keyword_parser::<Edges>(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both"
    )]
    edges: Option<Edges>,
    /// Columns to use with --as answers [default: all but the id]
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    questions: Option<Vec<String>>,
    /// Put points, such as the minutiae of fingerprints, into the squares of this grid: COLUMNSxROWS:SIDE:MARGIN
    ///
    /// Items are lists of points [x, y], in the field minutiae or points, and become sets of squares. Points beyond the grid
    /// are left out. With a margin, a point closer than that to a border is also in the square behind it.
    #[arg(long, value_name = "GRID", value_parser = parsed::<Grid>)]
    grid: Option<Grid>,
    /// How bit strings are written [default: told]
    #[arg(long, value_name = "HOW", value_parser = keyword_parser::<Digits>())]
    digits: Option<Digits>,
}

impl Fill for ItemArgs {
    fn fill(&self, options: &mut Options) {
        options.kind = self.kind;
        options.group.clone_from(&self.group);
        options.element.clone_from(&self.element);
        options.count.clone_from(&self.count);
        options.rating.clone_from(&self.rating);
        options.ratings = self.ratings;
        options.element_groups.clone_from(&self.element_groups);
        options.edges = self.edges;
        options.questions.clone_from(&self.questions);
        options.grid = self.grid;
        options.digits = self.digits;
    }
}
