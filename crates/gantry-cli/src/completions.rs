//! `gantry completions` and `gantry man`: what shells and readers of manuals need.

use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::exit::{self, Fault};

/// Print a script that completes commands and options in a shell
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry completions bash > ~/.local/share/bash-completion/completions/gantry\n  gantry completions zsh > ~/.zfunc/_gantry"
)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or that of a command
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  gantry man > gantry.1\n  gantry man gate | man -l -")]
pub struct ManArgs {
    /// The command [default: the program itself]
    command: Option<String>,
}

pub fn run(args: &Args, mut program: Command) -> Result<ExitCode, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "gantry", &mut script);
    exit::print_bytes(&script)?;
    Ok(ExitCode::from(exit::DONE))
}

pub fn man(args: &ManArgs, mut program: Command) -> Result<ExitCode, Fault> {
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                Fault::bad_input(format!("there is no command `{name}`")).hint("see which there are with `gantry help`")
            })?
        }
    };
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(page).render(&mut text);
    written.map_err(|error| Fault::internal(format!("the manual page cannot be made: {error}")))?;
    exit::print_bytes(&text)?;
    Ok(ExitCode::from(exit::DONE))
}
