//! The machine and the tools at the moment of a checkpoint.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::observe::find_program;
use crate::work::Place;

/// Tools whose version may matter.
const TOOLS: [&str; 4] = ["git", "rustc", "python3", "node"];

/// A tool that takes longer to say its version is left out.
const WITHIN: Duration = Duration::from_secs(5);

/// What is known about the machine.
pub(super) async fn environment(place: &Place) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::from([
        ("os".to_owned(), std::env::consts::OS.to_owned()),
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
    ]);
    // Asked at the root: a tool may act on settings that it finds in a folder, such as installing another version.
    let root = Path::new("/");
    let [git, rustc, python, node] = TOOLS.map(|tool| ask(root, tool, &["--version"]));
    let (git, rustc, python, node) = tokio::join!(git, rustc, python, node);
    let versions = TOOLS.into_iter().zip([git, rustc, python, node]);
    facts.extend(versions.filter_map(|(tool, version)| Some((tool.to_owned(), version?))));
    if place.root.join(".git").exists()
        && let Some(head) = ask(&place.root, "git", &["rev-parse", "HEAD"]).await
    {
        facts.insert("git_head".to_owned(), head);
    }
    facts
}

/// The first line that a tool says. The tool is the operator's own, found in the `PATH`; it reads nothing of the plan.
async fn ask(folder: &Path, tool: &str, args: &[&str]) -> Option<String> {
    let mut command = tokio::process::Command::new(find_program(tool)?);
    command.args(args).current_dir(folder).stdin(std::process::Stdio::null()).kill_on_drop(true);
    // Settings of a folder that is not trusted must not make git run anything.
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    let output = tokio::time::timeout(WITHIN, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
