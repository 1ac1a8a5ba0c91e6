//! How inputs are read, and which earlier run a run goes on with.

use std::path::{Path, PathBuf};

use super::{Goal, ItemKind, Options};
use crate::fair_share;
use crate::read::{
    ALL_COLUMNS, AnyInput, FieldKeys, FolderFilter, Groups, Input, ItemLimit, Place, ReadOptions,
    Shape,
};
use crate::search::Job;
use crate::settings::Settings;
use crate::{Error, Result};

/// The inputs and outputs of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunFiles<'a> {
    /// The collection.
    pub inputs: &'a [Place],
    /// The other collection, if there is one.
    pub against: &'a [Place],
    /// What is written.
    pub outputs: &'a [Option<&'a Path>],
}

impl Options {
    /// How tables are read, whatever their columns are.
    pub fn table_options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            positions: self.positions,
            temp: self.temp.clone(),
            format: self.format,
            encoding: self.encoding,
            folders: FolderFilter {
                include: self.include.clone().unwrap_or_default(),
                exclude: self.exclude.clone().unwrap_or_default(),
                no_ignore: self.no_ignore,
            },
            delimiter: self.delimiter.clone(),
            header: !self.no_header,
            on_error: self.on_error.unwrap_or_default(),
            max_item: self
                .item_limit(self.memory.unwrap_or_else(fair_share), 1)
                .copies(self.copies_counts(None)),
            ..ReadOptions::default()
        }
    }

    /// How large an item may be for a task on another machine, which does not know what memory there is.
    pub fn limit_of_task(&self) -> ItemLimit {
        self.item_limit(usize::MAX, 1)
    }

    /// How large an item may be in a run with this much memory, and on so many threads at a time.
    fn item_limit(&self, memory: usize, threads: usize) -> ItemLimit {
        /// The most that an item may have unless the user says otherwise.
        const MOST: usize = 1 << 30;
        let by_characters = self.shingle.as_ref().is_some_and(|it| it.starts_with("chars"));
        // Bytes of memory for each byte of an item: its text three times over, and its shingles (one for six bytes of
        // words, or for each character) in text order, as they are sorted, in its record, and twice as a set that is joined
        // exactly: with 36 for characters, 16 documents of 861 kB took 119 MB within 64M.
        let each = match self.kind() {
            ItemKind::Text if by_characters => 44,
            ItemKind::Text | ItemKind::Set | ItemKind::Bag => 12,
            _ => 8,
        };
        ItemLimit::new(self.max_item.unwrap_or(MOST), memory, each, threads).of(self.normal_form)
    }

    /// How items are read.
    pub fn read_options(&self) -> ReadOptions {
        let defaults = self.table_options();
        let (rather, shape): (&[&str], Shape) = match self.kind() {
            ItemKind::Text | ItemKind::Answers => (&[], Shape::Text),
            ItemKind::String => (&["string"], Shape::Text),
            ItemKind::Set if self.grid.is_some() => (&["minutiae", "points"], Shape::Value),
            ItemKind::Set | ItemKind::Bag => (&["items", "set"], Shape::Elements),
            ItemKind::Vector => (&["vector", "embedding"], Shape::Value),
            ItemKind::Bits => (&["bits", "hash"], Shape::Value),
        };
        let rather = if self.text.is_none() { rather } else { &[] };
        ReadOptions {
            rather: rather.iter().map(|&name| name.to_owned()).collect(),
            shape,
            text: self.text.clone().unwrap_or(defaults.text),
            ..defaults
        }
    }

    /// Opens a collection of texts, sets or bags for a run with these settings, if any. Also reads the field of
    /// `keep` if it decides what is kept.
    ///
    /// # Errors
    /// When an input cannot be read or has not the fields that were asked for.
    pub fn open(&self, inputs: &[Place], settings: Option<&Settings>) -> Result<AnyInput> {
        self.opened(inputs, settings, self.read_options())
    }

    fn opened(
        &self,
        inputs: &[Place],
        settings: Option<&Settings>,
        defaults: ReadOptions,
    ) -> Result<AnyInput> {
        let fields = self.value_fields();
        let options = ReadOptions {
            chunk_bytes: settings.map_or(defaults.chunk_bytes, chunk_bytes),
            max_item: settings.map_or(defaults.max_item, |settings| {
                let limit = self.item_limit(settings.memory, settings.threads);
                limit.copies(self.copies_counts(Some(settings)))
            }),
            ..defaults
        };
        match (self.grouping()?, fields.first()) {
            (None, _) => {
                let options = ReadOptions { values: fields, ..options };
                Ok(AnyInput::Records(Input::open(inputs, options)?.into()))
            }
            (Some(_), Some(field)) if self.and_or.is_some() => {
                let must = "left out: the groups of a table have no fields";
                Err(Error::parameter("and_or", format!("equal({field})"), must))
            }
            (Some(_), Some(field)) => {
                let must = "first or longest: the groups of a table have no fields";
                Err(Error::parameter("keep", field, must))
            }
            (Some(grouping), None) => {
                Ok(AnyInput::Groups(Groups::read(inputs, &options, &grouping)?.into()))
            }
        }
    }

    /// Opens the collection that INPUT is compared with or grows. Its fields may have names of their own, and none decides what
    /// is kept of it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_against(&self, places: &[Place], settings: Option<&Settings>) -> Result<AnyInput> {
        Self { keep: None, ..self.clone() }.opened(places, settings, self.against_options())
    }

    /// How the collection that INPUT is compared with or grows is read.
    pub(super) fn against_options(&self) -> ReadOptions {
        let (text, id) = (&self.against_text, &self.against_id);
        self.other_options((text, "against_text"), (id, "against_id"))
    }

    /// How a collection is read whose text and id may be in fields with names of their own, which these options say.
    pub(super) fn other_options(
        &self,
        text: (&Option<String>, &'static str),
        id: (&Option<String>, &'static str),
    ) -> ReadOptions {
        let usual = self.read_options();
        // Where INPUT has its field by default, the other name is missing; where it was named, the name may be wrong for both.
        let key = |own: (&Option<String>, _), named: &Option<String>, usual| match own.0 {
            None if named.is_some() => usual,
            _ => own.1,
        };
        let keys = FieldKeys {
            text: key(text, &self.text, usual.keys.text),
            id: key(id, &self.id, usual.keys.id),
        };
        ReadOptions {
            keys,
            rather: if text.0.is_some() { Vec::new() } else { usual.rather },
            text: text.0.clone().unwrap_or(usual.text),
            id: id.0.clone().or(usual.id),
            positions: usual.positions && id.0.is_none(),
            ..usual
        }
    }

    /// Refuses names for the fields of another collection where there is none.
    ///
    /// # Errors
    /// When such a name is given.
    pub fn check_against(&self, against: &[Place]) -> Result<()> {
        let given = [("against_text", &self.against_text), ("against_id", &self.against_id)];
        match given.iter().find(|(_, name)| name.is_some()) {
            Some((option, _)) if against.is_empty() => Err(Error::needed("against", option)),
            _ => Ok(()),
        }
    }

    /// Opens the records behind items in memory, to be copied.
    ///
    /// # Errors
    /// When an input cannot be read or has not the fields that were asked for.
    pub fn open_records(&self, inputs: &[Place]) -> Result<AnyInput> {
        match self.kind() {
            // All columns but the id are answers.
            ItemKind::Answers => {
                let options =
                    ReadOptions { columns: vec![ALL_COLUMNS.to_owned()], ..self.read_options() };
                Ok(AnyInput::Records(Input::open(inputs, options)?.into()))
            }
            _ => self.open(inputs, None),
        }
    }

    /// The job to which a run belongs, where there is a folder for temporary files and the inputs can be read again.
    ///
    /// # Errors
    /// When the folder cannot be used, or another run of the job is under way.
    pub fn job(&self, goal: Goal, files: RunFiles<'_>, settings: &Settings) -> Result<Option<Job>> {
        self.job_of(&format!("{goal:?}"), files, settings)
    }

    /// The job of a run that is for this, which says all that [`Options`] do not.
    pub(super) fn job_of(
        &self,
        what: &str,
        files: RunFiles<'_>,
        settings: &Settings,
    ) -> Result<Option<Job>> {
        let Some(temp) = &self.temp else { return Ok(None) };
        let places = files.inputs.iter().chain(files.against);
        let folders = self.read_options().folders;
        let stamps: Option<Vec<String>> = places.map(|place| place.stamp(&folders)).collect();
        let Some(stamps) = stamps else { return Ok(None) };
        let folder = std::env::current_dir().unwrap_or_default();
        let chunk = chunk_bytes(settings);
        // What the names of files stand for, should it have changed.
        let content =
            |path: &Option<PathBuf>| path.as_ref().and_then(|path| std::fs::read(path).ok());
        let stop_words = content(&self.stop_words);
        let element_groups = content(&self.element_groups);
        let names = |places: &[Place]| -> Vec<_> {
            places.iter().map(|place| place.name().to_owned()).collect()
        };
        let (inputs, against) = (names(files.inputs), names(files.against));
        let purpose = format!(
            "{what} {inputs:?} {against:?} {:?} {} {} {chunk} {stop_words:?} {element_groups:?}",
            files.outputs,
            self.to_json(),
            folder.display()
        );
        Job::open(temp, &purpose, &stamps.join("\n\n")).map(Some)
    }
}

/// How much is read at a time: less where there is little memory for many threads.
pub(super) fn chunk_bytes(settings: &Settings) -> usize {
    let most = ReadOptions::default().chunk_bytes;
    (settings.memory / 64 / settings.threads.max(1)).clamp(64 << 10, most)
}
