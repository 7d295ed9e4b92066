//! `gantry diff`: says what changed between two versions of a plan.

mod figures;

use std::process::ExitCode;

use gantry_core::plan::{Diff, FieldChange};
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::session::{self, Record};
use crate::show::{plain, text_of};
use crate::talk::talk;
use crate::version;
use figures::Figures;

/// Show what changed between two plan files or plans: dates, cost, risks and scope, then task by task and field by field
///
/// Of a plan that plans itself first, what there is to do is compared, accepted or not.
#[derive(clap::Args)]
#[command(
    after_help = "Lines start with + for a new task, - for one that is gone, > for one that moved, ~ for a changed field.\n\nExamples:\n  gantry diff before.yaml after.yaml\n  gantry diff 7@r1 7\n  gantry diff @last changed.yaml"
)]
pub struct Args {
    /// The version before: a file, or a plan, perhaps with @rN for its revision N
    before: String,
    /// The version after
    after: String,
    #[command(flatten)]
    record: Record,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    if args.before == "-" && args.after == "-" {
        return Err(Fault::bad_input("standard input can be only one of the two files"));
    }
    let (before, after) = session::block_on(async {
        Ok((version::seen(&args.record, &args.before).await?, version::seen(&args.record, &args.after).await?))
    })?;
    let (mut before, mut after) = (before.proposed(), after.proposed());
    // Where there is the same to do, the way there may differ.
    if before.work() != after.work() {
        (before, after) = (before.work(), after.work());
    }
    let diff = gantry_core::plan::diff(&before, &after);
    let figures = if diff.is_empty() { (None, None) } else { (Some(Figures::of(&before)), Some(Figures::of(&after))) };
    if args.record.json {
        let (came, went) = diff.edges(&before);
        let (before, after) = &figures;
        exit::print_json(&json!({
            "diff": written(&diff), "edges": {"added": came, "removed": went},
            "figures": {"before": before, "after": after},
        }))?;
    } else if diff.is_empty() {
        talk!("nothing changed");
    } else {
        if let (Some(before), Some(after)) = &figures {
            exit::print(&figures::drawn(before, after))?;
        }
        exit::print(&drawn(&diff))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// What changed, for people: one line for each change, a text of several lines as its lines.
pub fn drawn(diff: &Diff) -> String {
    text_of(diff.to_string().lines().map(plain).collect())
}

/// What changed, for programs, in the words of a plan file.
pub fn written(diff: &Diff) -> Value {
    fn list<'v>(value: &'v mut Value, name: &str) -> impl Iterator<Item = &'v mut Value> {
        value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
    }
    let mut value = json!(diff);
    for (written, change) in list(&mut value, "changed").zip(&diff.changed) {
        written["fields"] = json!(change.fields.iter().flat_map(FieldChange::as_written).collect::<Vec<_>>());
    }
    for added in list(&mut value, "added") {
        let Some(task) = added["task"].as_object_mut() else { continue };
        if let Some(Value::Object(action)) = task.shift_remove("action") {
            task.extend(action);
        }
    }
    value
}
