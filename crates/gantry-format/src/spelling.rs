//! The names of fields: one canonical spelling, and every other one that is accepted.
//!
//! This is the only place that knows other spellings. Whatever is read afterwards has canonical
//! names, and whatever is written uses them.
//!
//! | Where | Accepted | Canonical |
//! | --- | --- | --- |
//! | everywhere | the camelCase form of a name: `dependsOn`, `createdAt`, `requireGateForProd` | `snake_case` |
//! | plan | `plan_id` | `id` |
//! | plan | `nodes`, `steps` | `tasks` |
//! | plan | `policies` | `policy` |
//! | plan | `state` | `status`, which is checked and not kept: a plan's state is in its journal |
//! | plan | `memory: {keys: […]}` | `memory: […]` |
//! | plan | `gates: [{id, checks, …}]` | `gate` of the task with that id |
//! | plan | a file that is one task | a plan with this task alone |
//! | task | `needs`, `waiting_for`, `waitingForId`, `dependencies` | `depends_on` |
//! | task | `subplan`, `subtasks`, `children`, `nodes`, `steps` | `tasks`, the tasks inside this one |
//! | task | a bare text among the tasks | a task with this `title` and `command`, and the id `<parent>-<n>` |
//! | task | an id that ends in `-*` | a `map` over what the one task before it hands out |
//! | task | `depends_on: a`, `capabilities: a` | a list of one |
//! | task | `outputs: [kb/q1.md]` | a map from a name to the path |
//! | task | `checks` of a task with `kind: gate` | `gate: {checks}` |
//! | task | `checks` of any other task, `expect` | `success_criteria` |
//! | task | `kind: gate` without an action | `gate: {}` |
//! | task | `commands: [a, b]` | `command: a; b` |
//! | task | `input`, `using`, `env`, `rollback`, `state` | `inputs`, `capabilities`, `environment`, `undo`, `status` |
//! | task | `action: {run: …}` | `run: …` |
//! | task | `undo: {action: {run: …}}` | `undo: {run: …}` |
//! | task | `kind` and `status` that list alternatives: `research\|debug` | the first, with a warning |
//! | budget | `timeMin: 30` | `time: 30m` |
//! | budget | `costUSD` | `cost_usd` |
//! | schedule | `people` | `resources` |
//! | schedule's calendar | `holidays` | `days_off` |
//! | schedule's task | `after: a`, `needs: a` | a list of one |
//!
//! A field without a value counts as absent, except for an action (`gate:` alone is a gate).
//! A field under two spellings is an error that shows both.

mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use gantry_core::plan::{Action, Gate, Plan, Scheduling, Task, TaskScheduling};
use gantry_core::policy::{Budget, Policy, Retry};
use gantry_schedule::project::{Calendar, Resource};

use crate::de::field_names;
use crate::diagnostic::{Diagnostic, Findings};
use crate::node::{Key, Node, Span, Value};
use crate::number;
use crate::suggest::{nearest, shorten};

/// What a map describes, and so which names it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Plan,
    Task,
    Policy,
    Budget,
    Gate,
    Retry,
    Schedule,
    Scheduled,
    Calendar,
    Resource,
}

/// The other spellings: where, as written, and what it means.
const SPELLINGS: &[(Level, &str, &str)] = &[
    (Level::Plan, "plan_id", "id"),
    (Level::Plan, "planId", "id"),
    (Level::Plan, "nodes", "tasks"),
    (Level::Plan, "steps", "tasks"),
    (Level::Plan, "policies", "policy"),
    (Level::Plan, "state", "status"),
    (Level::Task, "needs", "depends_on"),
    (Level::Task, "waiting_for", "depends_on"),
    (Level::Task, "waiting_for_id", "depends_on"),
    (Level::Task, "waitingFor", "depends_on"),
    (Level::Task, "waitingForId", "depends_on"),
    (Level::Task, "dependencies", "depends_on"),
    (Level::Task, "subplan", "tasks"),
    (Level::Task, "subtasks", "tasks"),
    (Level::Task, "children", "tasks"),
    (Level::Task, "nodes", "tasks"),
    (Level::Task, "steps", "tasks"),
    (Level::Task, "state", "status"),
    (Level::Task, "input", "inputs"),
    (Level::Task, "using", "capabilities"),
    (Level::Task, "env", "environment"),
    (Level::Task, "rollback", "undo"),
    (Level::Task, "expect", "success_criteria"),
    (Level::Task, "commands", "command"),
    (Level::Budget, "timeMin", "time"),
    (Level::Budget, "time_min", "time"),
    (Level::Budget, "costUSD", "cost_usd"),
    (Level::Budget, "costUsd", "cost_usd"),
    (Level::Schedule, "people", "resources"),
    (Level::Calendar, "holidays", "days_off"),
];

impl Level {
    /// Returns the canonical names: the model's fields, with the actions as fields of their own.
    pub(crate) fn names(self) -> &'static [&'static str] {
        static PLAN: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
            let more = ["status", "gates"];
            field_names::<Plan>().iter().copied().chain(more).collect()
        });
        static TASK: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
            let fields = field_names::<Task>().iter().copied();
            fields.chain(Action::KEYS).chain(["tasks", "checks"]).collect()
        });
        match self {
            Self::Plan => &PLAN,
            Self::Task => &TASK,
            Self::Policy => field_names::<Policy>(),
            Self::Budget => field_names::<Budget>(),
            Self::Gate => field_names::<Gate>(),
            Self::Retry => field_names::<Retry>(),
            Self::Schedule => field_names::<Scheduling>(),
            Self::Scheduled => field_names::<TaskScheduling>(),
            Self::Calendar => field_names::<Calendar>(),
            Self::Resource => field_names::<Resource>(),
        }
    }

    /// Returns the canonical name of a field.
    pub(crate) fn canonical(self, written: &str) -> Option<&'static str> {
        let known = |wanted: &str| self.names().iter().copied().find(|name| *name == wanted);
        known(written)
            .or_else(|| {
                let mut rows = SPELLINGS.iter();
                rows.find(|(level, spelling, _)| *level == self && *spelling == written).map(|(_, _, means)| *means)
            })
            .or_else(|| known(&snake_case(written)?))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Plan => "a plan",
            Self::Task => "a task",
            Self::Policy => "a policy",
            Self::Budget => "a budget",
            Self::Gate => "a gate",
            Self::Retry => "`retry`",
            Self::Schedule => "a schedule",
            Self::Scheduled => "a task of the schedule",
            Self::Calendar => "a calendar",
            Self::Resource => "a resource of the schedule",
        }
    }
}

/// Gives every field its canonical name and its canonical form.
///
/// Unknown fields, and fields under two spellings, are reported and left out.
pub(crate) fn respell(entries: Vec<(Key, Node)>, level: Level, findings: &mut Findings) -> Vec<(Key, Node)> {
    let mut fields: Vec<(Key, Node)> = Vec::with_capacity(entries.len());
    for (key, node) in entries {
        let Some(name) = level.canonical(&key.text) else {
            findings.push_with(|| unknown_field(&key, level));
            continue;
        };
        let node = convert(level, &key.text, node);
        let is_action = level == Level::Task && Action::KEYS.contains(&name);
        if node.value == Value::Null && !is_action {
            continue;
        }
        if let Some((first, _)) = fields.iter().find(|(field, _)| field.text == name) {
            findings.push(twice(name, first.span, &key));
            continue;
        }
        let text = name.to_owned();
        fields.push((Key { text, span: key.span }, node));
    }
    for (key, node) in &mut fields {
        shape(level, &key.text, node, findings);
    }
    fields
}

/// Gives the fields of a map inside another one their canonical names.
pub(crate) fn respell_inside(node: &mut Node, level: Level, findings: &mut Findings) {
    if let Value::Map(entries) = &mut node.value {
        *entries = respell(std::mem::take(entries), level, findings);
    }
}

/// Turns a value that another spelling writes differently into its canonical form.
fn convert(level: Level, written: &str, mut node: Node) -> Node {
    match (level, written) {
        (Level::Budget, "timeMin" | "time_min") => {
            if let Value::Number(raw) = &node.value
                && let Some(text) = minutes(raw)
            {
                node.value = Value::Str { text, plain: true };
            }
        }
        (Level::Task, "commands") => {
            if let Value::Seq(items) = &node.value
                && let Some(texts) = items.iter().map(Node::as_str).collect::<Option<Vec<_>>>()
            {
                node = Node::text(node.span, texts.join("; "));
            }
        }
        _ => {}
    }
    node
}

/// Turns minutes into the text of a duration; nothing when they are no number of minutes.
fn minutes(raw: &str) -> Option<String> {
    match number::value(raw)? {
        number::Number::Unsigned(minutes) => Some(format!("{minutes}m")),
        number::Number::Signed(minutes) => Some(format!("{minutes}m")),
        number::Number::Float(minutes) => {
            let ms = (minutes * 60_000.0).round();
            Some(format!("{ms}ms"))
        }
    }
}

/// Turns the forms that a canonical field may also have into the one that the model reads.
fn shape(level: Level, name: &str, node: &mut Node, findings: &mut Findings) {
    match (level, name) {
        (Level::Task, "depends_on" | "capabilities") | (Level::Scheduled, "after" | "needs") => {
            if matches!(node.value, Value::Str { .. } | Value::Number(_)) {
                let only = std::mem::replace(node, Node::new(node.span, Value::Null));
                node.value = Value::Seq(vec![only]);
            }
        }
        (Level::Task, "outputs") => name_outputs(node),
        (Level::Plan, "memory") => {
            if let Value::Map(entries) = &mut node.value
                && let [(key, _)] = entries.as_slice()
                && key.text == "keys"
                && let Some((_, keys)) = entries.pop()
            {
                *node = keys;
            }
        }
        (Level::Plan, "schedule") => respell_inside(node, Level::Schedule, findings),
        (Level::Schedule, name) => schedule::respell_parts(name, node, findings),
        (Level::Plan, "policy") => respell_inside(node, Level::Policy, findings),
        (Level::Task | Level::Policy, "budget") => respell_inside(node, Level::Budget, findings),
        (Level::Task | Level::Policy, "retry") => respell_inside(node, Level::Retry, findings),
        (Level::Task, "gate") => respell_inside(node, Level::Gate, findings),
        _ => {}
    }
}

/// Gives each path of a list of outputs a name: the file's name without its ending, then with it,
/// then with a number.
fn name_outputs(node: &mut Node) {
    let Value::Seq(items) = &mut node.value else {
        return;
    };
    let mut named: Vec<(Key, Node)> = Vec::with_capacity(items.len());
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for item in std::mem::take(items) {
        let path = item.as_str().unwrap_or("output");
        let file = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let mut text = identifier(if stem.is_empty() { file } else { stem });
        if taken.contains(&text) {
            text = identifier(file);
        }
        let base = text.clone();
        while !taken.insert(text.clone()) {
            let number = numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            text = format!("{base}_{number}");
        }
        let span = item.span;
        named.push((Key { text, span }, item));
    }
    node.value = Value::Map(named);
}

/// Makes a name that expressions can use.
fn identifier(text: &str) -> String {
    let letters = text.trim_start_matches('.').chars();
    let name: String = letters.map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    match name.chars().next() {
        None => "output".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}

/// Turns `dependsOn` into `depends_on`; nothing when it is no camelCase name.
fn snake_case(name: &str) -> Option<String> {
    if name.len() > 64 || !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    Some(snake)
}

/// The refusal of one field under two spellings.
pub(crate) fn twice(name: &str, first: Span, second: &Key) -> Diagnostic {
    let message = if second.text == name {
        format!("`{name}` is given twice, once under another name")
    } else {
        format!("`{}` is another name for `{name}`, which is given too", shorten(&second.text))
    };
    Diagnostic::error("plan::field-twice", message)
        .at(second.span)
        .label("given again here")
        .other(first, "first given here")
        .hint(format!("keep one of them, best as `{name}`"))
}

fn unknown_field(key: &Key, level: Level) -> Diagnostic {
    let name = &key.text;
    let others = SPELLINGS.iter().filter(|(other, ..)| *other == level).map(|(_, written, _)| *written);
    let hint = match nearest(name, level.names().iter().copied().chain(others)) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None => elsewhere(name, level),
    };
    Diagnostic::error("plan::unknown-field", format!("{} has no field `{}`", level.word(), shorten(name)))
        .at(key.span)
        .label("unknown field")
        .hint_opt(hint.or_else(|| {
            Some("anything else can be kept under `metadata`".to_owned())
                .filter(|_| level.names().contains(&"metadata"))
        }))
}

/// Says where a field that is unknown here belongs.
fn elsewhere(name: &str, level: Level) -> Option<String> {
    let places = [
        (Level::Policy, "stands under `policy`"),
        (Level::Task, "is a field of a task"),
        (Level::Plan, "is a field of the plan itself"),
    ];
    let (_, place) = places.iter().find(|(other, _)| *other != level && other.canonical(name).is_some())?;
    Some(format!("`{}` {place}", shorten(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_means_a_field_that_exists_and_is_none_itself() {
        for (level, written, means) in SPELLINGS {
            assert!(level.names().contains(means), "{level:?}: {means}");
            assert!(!level.names().contains(written), "{level:?}: {written}");
        }
    }

    #[test]
    fn camel_case_is_accepted_for_every_field() {
        assert_eq!(Level::Task.canonical("dependsOn"), Some("depends_on"));
        assert_eq!(Level::Task.canonical("successCriteria"), Some("success_criteria"));
        assert_eq!(Level::Policy.canonical("requireGateForProd"), Some("require_gate_for_prod"));
        assert_eq!(Level::Plan.canonical("createdAt"), Some("created_at"));
        assert_eq!(Level::Task.canonical("DependsOn"), None);
    }

    #[test]
    fn outputs_in_a_list_get_names_that_do_not_clash() {
        let paths = ["a/q1.json", "kb/q1.md", "x/q1.md", ".env", "2025 plan.txt", "dir/"];
        let items = paths.iter().map(|path| Node::text(Span::default(), *path)).collect();
        let mut node = Node::new(Span::default(), Value::Seq(items));
        name_outputs(&mut node);
        let names: Vec<&str> = node.as_map().unwrap().iter().map(|(key, _)| key.text.as_str()).collect();
        assert_eq!(names, ["q1", "q1_md", "q1_md_2", "env", "_2025_plan", "dir"]);
    }
}
