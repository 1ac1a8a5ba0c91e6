//! Shell completions and the manual page.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use clap_complete::Shell;

use crate::command::command;
use crate::screen::print;

/// Print completions for a shell
///
/// Example, for bash: nearkin completions bash > ~/.local/share/bash-completion/completions/nearkin
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write one page per command into a folder
///
/// Example: nearkin man | man -l -
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for nearkin.1, nearkin-pairs.1 and so on
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    // Made in memory first: the generator panics on a closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "nearkin", &mut text);
    print(&text)
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let command = command();
    match &args.folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder))
            .with_context(|| format!("{}: cannot write manual pages", folder.display())),
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            print(&text)
        }
    }
}
