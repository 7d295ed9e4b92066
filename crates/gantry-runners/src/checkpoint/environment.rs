//! The machine and the tools at the moment of a checkpoint.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::observe::find_program;
use crate::work::Place;

/// Tools whose version may matter, and how to ask for it.
const TOOLS: [(&str, &str); 4] =
    [("git", "--version"), ("rustc", "--version"), ("python3", "--version"), ("node", "--version")];

/// A tool that takes longer to say its version is left out.
const WITHIN: Duration = Duration::from_secs(5);

/// What is known about the machine.
pub(super) async fn environment(place: &Place) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::from([
        ("os".to_owned(), std::env::consts::OS.to_owned()),
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
    ]);
    for (tool, argument) in TOOLS {
        if let Some(version) = ask(place, tool, &[argument]).await {
            facts.insert(tool.to_owned(), version);
        }
    }
    if place.root.join(".git").exists()
        && let Some(head) = ask(place, "git", &["rev-parse", "HEAD"]).await
    {
        facts.insert("git_head".to_owned(), head);
    }
    facts
}

/// The first line that a tool says. The tool is the operator's own, found in the `PATH`; it reads nothing of the plan.
async fn ask(place: &Place, tool: &str, args: &[&str]) -> Option<String> {
    let mut command = tokio::process::Command::new(find_program(tool)?);
    command.args(args).current_dir(&place.root).stdin(std::process::Stdio::null()).kill_on_drop(true);
    // Settings of a folder that is not trusted must not make git run anything.
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    let output = tokio::time::timeout(WITHIN, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
