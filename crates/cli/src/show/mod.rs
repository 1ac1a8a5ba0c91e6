//! `nearkin show`: what a few items become, step by step.

mod args;
#[cfg(feature = "plot")]
mod plot;

use std::path::Path;

use nearkin_engine::options::Options;
use nearkin_engine::read::Place;
use nearkin_engine::textbook::show::{
    Content, ItemForm, List, ShowItem, ShowOptions, ShowRequest, Shown, Step,
};
use nearkin_engine::write::Output;
use nearkin_engine::{Error, Result};

use crate::args::{check_outputs, check_plot};
use crate::screen::print;
use crate::wording::speak_of_steps;

pub(crate) use args::ShowArgs;

/// Items that a user names: what they typed, or ids of a collection.
pub(crate) struct NamedItems<'a> {
    /// Items that are typed in, with or without a name.
    pub(crate) typed: Typed<'a>,
    /// The collection that holds them.
    pub(crate) collection: &'a [Place],
    /// Their ids.
    pub(crate) ids: &'a [String],
    /// How many are taken where no id is given.
    pub(crate) first: usize,
}

/// Items that are typed in.
pub(crate) enum Typed<'a> {
    /// Words of a command line, such as `S1=a,b`.
    Words(&'a [String]),
    /// Names and contents.
    Named(Vec<(Option<String>, List)>),
}

impl NamedItems<'_> {
    fn items(self, step: Step, options: &Options, show: &ShowOptions) -> Result<Vec<ShowItem>> {
        if !self.collection.is_empty() {
            let form = ItemForm::of(step, false, options, show)?;
            return ShowItem::read(options, form, self.collection, self.ids, self.first);
        }
        let form = ItemForm::of(step, true, options, show)?;
        match self.typed {
            Typed::Words(words) => words
                .iter()
                .map(|word| {
                    check_is_no_file(word)?;
                    ShowItem::typed(word, form, show.letters)
                })
                .collect(),
            Typed::Named(items) => items
                .into_iter()
                .map(|(name, list)| {
                    Ok(ShowItem { name, content: Content::of(list, form, show.letters)? })
                })
                .collect(),
        }
    }
}

/// An error for the name of a file where an item is typed in: its letters would be taken for the item.
fn check_is_no_file(word: &str) -> Result<()> {
    let is_path = word.contains(['.', '/', '\\']) && Path::new(word).exists();
    if !is_path {
        return Ok(());
    }
    let must = format!("an item; to take items from that file write --in {word}, or type x={word}");
    Err(Error::parameter("item", format!("the file {word}"), must))
}

/// The tables of a step.
pub(crate) fn shown(
    step: Step,
    options: &Options,
    show: &ShowOptions,
    items: NamedItems<'_>,
) -> Result<Shown> {
    let items = items.items(step, options, show)?;
    ShowRequest { step, items: &items, options, show }.show()
}

/// How tables are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Json,
    Latex,
}

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<()> {
    speak_of_steps();
    let job = args.job();
    if let Some(path) = job.plot {
        check_plot(path)?;
        check_outputs(&[], &[Some(path)], &job.items.collection.iter().collect::<Vec<_>>())?;
    }
    let shown = shown(job.step, &job.options, &job.show, job.items)?;
    let text = match job.form {
        Form::Json => format!("{:#}\n", serde_json::to_value(&shown)?),
        Form::Latex => shown.as_latex(job.most),
        Form::Text => shown.as_text(job.most),
    };
    if let Some(path) = job.plot {
        let picture = picture(&shown, path)?;
        let mut output = Output::create(Some(path))?;
        output.put(&picture)?;
        output.finish()?;
    }
    print(text.as_bytes())
}

#[cfg(feature = "plot")]
fn picture(shown: &Shown, path: &Path) -> anyhow::Result<Vec<u8>> {
    plot::draw(shown, path)
}

#[cfg(not(feature = "plot"))]
fn picture(_: &Shown, _: &Path) -> anyhow::Result<Vec<u8>> {
    Ok(Vec::new())
}
