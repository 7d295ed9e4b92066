//! `command: search(q) -> links; fetch(links) -> docs`: capability calls, one after the other.
//!
//! An argument is a number, a quoted text, `true`, `false`, `null`, a JSON list or object, or the name of an earlier result or
//! an input (with fields: `links.first`); `key=value` gives it a name, otherwise its position does. The result of a call is its
//! only output, or all of them as an object. The results are the outputs of the task, under their names.
//!
//! All calls are guarded before the first one runs.

use gantry_core::effect::{ArtifactRef, Failure};
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::{Action, Call};
use gantry_core::policy::Usage;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::policy::{check_tool, wrong};
use crate::ports::Ports;
use crate::registry::{Runners, signed_run};
use crate::runner::{Ended, Preview};
use crate::text::shortened;
use crate::work::{Place, Work};

/// The calls of a command that is a pipeline.
pub(crate) fn calls(work: &Work) -> Option<&[Call]> {
    match &work.action {
        Action::Command(command) => command.calls(),
        _ => None,
    }
}

/// Guards every call as far as its arguments are known beforehand.
pub(crate) fn guard(runners: &Runners, calls: &[Call], work: &Work, place: &Place) -> Result<(), Failure> {
    for call in calls {
        let runner = runners.get(&call.name)?;
        let made = calls.iter().filter_map(|call| call.result.as_deref());
        let later = call.args.iter().any(|arg| made.clone().any(|name| reads(arg, name)));
        if !later {
            let args = arguments(call, runner.parameters(&call.name), &work.inputs)?;
            runner.guard(&work.calling(&call.name, args), place)?;
        }
    }
    Ok(())
}

/// Shows the calls; those whose arguments are known are previewed in full.
pub(crate) async fn preview(runners: &Runners, calls: &[Call], work: &Work, place: &Place) -> Result<Preview, Failure> {
    let (mut text, mut diff) = (Vec::new(), String::new());
    for call in calls {
        let runner = runners.get(&call.name)?;
        match arguments(call, runner.parameters(&call.name), &work.inputs) {
            Ok(args) => {
                let shown = runner.preview(&work.calling(&call.name, args), place).await?;
                text.push(format!("{}: {}", call.name, shown.text));
                diff += &shown.diff.unwrap_or_default();
            }
            Err(_) => text.push(format!("{}: depends on what comes before it", call.name)),
        }
    }
    Ok(Preview { text: text.join("\n"), diff: (!diff.is_empty()).then_some(diff) })
}

/// Makes the calls. The first that fails ends the pipeline; what was done before is in the intents.
pub(crate) async fn run(
    runners: &Runners,
    calls: &[Call],
    work: &Work,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
) -> Ended {
    let mut known = work.inputs.clone();
    let mut outputs = Outputs::new();
    let mut artifacts: Vec<ArtifactRef> = Vec::new();
    let (mut usage, mut undo) = (Usage::default(), None);
    for (index, call) in calls.iter().enumerate() {
        let ended = match runners.get(&call.name).and_then(|runner| {
            let args = arguments(call, runner.parameters(&call.name), &known)?;
            let part = work.calling(&call.name, args);
            check_tool(&call.name, place)?;
            runner.guard(&part, place).map(|()| (runner, part))
        }) {
            Ok((runner, part)) => signed_run(runner.as_ref(), &part, place, ports, stop).await,
            Err(failure) => Ended::with(Err(failure)),
        };
        usage = usage.plus(ended.usage);
        undo = ended.undo.or(undo);
        match ended.end {
            Ok(success) => {
                artifacts.extend(success.artifacts);
                let value = result(success.outputs);
                if let Some(name) = &call.result {
                    known.insert(name.clone(), value.clone());
                    outputs.insert(name.clone(), value);
                }
            }
            Err(failure) => {
                let message = format!("call {} ({}): {}", index + 1, call.name, failure.message);
                return Ended { end: Err(Failure { message, ..failure }), usage, undo };
            }
        }
    }
    Ended { end: Ok(Success { outputs, artifacts, ..Success::default() }), usage, undo }
}

/// The only output, or all of them.
fn result(outputs: Outputs) -> Value {
    if outputs.len() == 1 {
        return outputs.into_values().next().unwrap_or_default();
    }
    Value::Object(outputs.into_iter().collect())
}

/// Whether an argument is this name, or a field of it.
fn reads(arg: &str, name: &str) -> bool {
    let value = arg.split_once('=').map_or(arg, |(_, value)| value).trim();
    value == name || value.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// The arguments of a call by name.
fn arguments(call: &Call, parameters: &[&str], known: &Outputs) -> Result<Map<String, Value>, Failure> {
    let mut args = Map::new();
    for (index, arg) in call.args.iter().enumerate() {
        let (name, text) = match Call::named(arg) {
            Some((name, text)) => (name, text),
            None => match parameters.get(index) {
                Some(name) => (*name, arg.as_str()),
                None => {
                    let takes = if parameters.is_empty() { "none".to_owned() } else { parameters.join(", ") };
                    let shown = shortened(arg, 40);
                    return Err(wrong(format!(
                        "`{}` takes no argument at the place of `{shown}`; by place it takes {takes}",
                        call.name
                    )));
                }
            },
        };
        args.insert(name.to_owned(), value(text.trim(), known)?);
    }
    Ok(args)
}

fn value(text: &str, known: &Outputs) -> Result<Value, Failure> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(Value::String(inner.replace("\\'", "'")));
    }
    let mut parts = text.split('.');
    let first = parts.next().and_then(|name| known.get(name));
    let found = first.and_then(|value| {
        parts.try_fold(value, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
    });
    found.cloned().ok_or_else(|| {
        let hint = gantry_core::suggest::nearest(text, known.keys().map(String::as_str));
        let hint = hint.map_or("write a text in quotes".to_owned(), |near| format!("did you mean `{near}`?"));
        wrong(format!(
            "`{}` is neither a value nor the name of an input or an earlier result; {hint}",
            shortened(text, 60)
        ))
    })
}
