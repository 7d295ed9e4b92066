//! What can be done in a talk: one table for the model that proposes, the code that checks, and the help that people get.

use serde_json::{Map, Value, json};

/// Something that can be done.
#[derive(Debug)]
pub struct Operation {
    /// Which sort it is.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its parameters, each with the other names that it goes by.
    pub parameters: &'static [&'static [&'static str]],
    /// It changes something.
    pub changes: bool,
    /// What it does.
    pub about: &'static str,
}

/// Names for the plan that is meant.
const PLAN: &[&str] = &["plan_id", "plan"];
/// Names for the task that is meant.
const TASK: &[&str] = &["task_id", "task"];
const NAME: &[&str] = &["name", "task_name", "title"];
const WORDS: &[&str] = &["instruction", "description"];
const PARENT: &[&str] = &["parent_id", "new_parent_id", "parent"];
const ANCHOR: &[&str] = &["anchor_task_id", "anchor"];
const SIDE: &[&str] = &["anchor_position"];
const POSITION: &[&str] = &["position", "new_position"];
const WAITS: &[&str] = &["dependencies", "depends_on"];

/// Everything that can be done. A tool has no line: whether it may be called is for the policy of a plan to say.
pub const ALL: [Operation; 15] = [
    Operation {
        kind: "plan_operation",
        name: "create_plan",
        parameters: &[&["goal", "objective"], &["title"], &["description"], &["owner"], &["template"], &["metadata"]],
        changes: true,
        about: "makes a plan for a goal and breaks it down into tasks",
    },
    Operation {
        kind: "plan_operation",
        name: "list_plans",
        parameters: &[&["limit"]],
        changes: false,
        about: "lists the newest plans",
    },
    Operation {
        kind: "plan_operation",
        name: "execute_plan",
        parameters: &[PLAN],
        changes: true,
        about: "begins a plan, or goes on with it",
    },
    Operation {
        kind: "plan_operation",
        name: "delete_plan",
        parameters: &[PLAN, &["why", "reason"]],
        changes: true,
        about: "gives a plan up; it stays on record",
    },
    Operation {
        kind: "task_operation",
        name: "create_task",
        parameters: &[PLAN, NAME, WORDS, PARENT, ANCHOR, SIDE, POSITION, WAITS, &["owner"], &["metadata"]],
        changes: true,
        about: "adds a task; anchor_position is before, after, first_child or last_child of anchor_task_id",
    },
    Operation {
        kind: "task_operation",
        name: "update_task",
        parameters: &[PLAN, TASK, NAME, WORDS, WAITS, &["owner"], &["metadata"]],
        changes: true,
        about: "describes a task otherwise; dependencies are all that it waits for",
    },
    Operation {
        kind: "task_operation",
        name: "update_task_instruction",
        parameters: &[PLAN, TASK, WORDS],
        changes: true,
        about: "says otherwise what is to be done in a task",
    },
    Operation {
        kind: "task_operation",
        name: "move_task",
        parameters: &[PLAN, TASK, PARENT, ANCHOR, SIDE, POSITION, &["top"]],
        changes: true,
        about: "moves a task with everything below it",
    },
    Operation {
        kind: "task_operation",
        name: "delete_task",
        parameters: &[PLAN, TASK, &["detach"]],
        changes: true,
        about: "deletes a task with everything below it",
    },
    Operation {
        kind: "task_operation",
        name: "decompose_task",
        parameters: &[PLAN, TASK, &["expand_depth", "depth"], &["node_budget", "budget"], &["allow_existing_children"]],
        changes: true,
        about: "breaks a task, or without task_id the whole plan, down into smaller tasks",
    },
    Operation {
        kind: "task_operation",
        name: "show_tasks",
        parameters: &[PLAN],
        changes: false,
        about: "shows the tasks of a plan",
    },
    Operation {
        kind: "task_operation",
        name: "query_status",
        parameters: &[PLAN, TASK],
        changes: false,
        about: "tells where a plan, or a task of it, stands",
    },
    Operation {
        kind: "task_operation",
        name: "rerun_task",
        parameters: &[PLAN, TASK, &["why", "reason"]],
        changes: true,
        about: "has a task done again that has ended",
    },
    Operation {
        kind: "context_request",
        name: "request_subgraph",
        parameters: &[PLAN, &["node_id", "task_id", "logical_id"], &["max_depth"]],
        changes: false,
        about: "shows a task with what is below it, 1 to 6 levels deep",
    },
    Operation {
        kind: "system_operation",
        name: "help",
        parameters: &[],
        changes: false,
        about: "says what can be done",
    },
];

/// The operation of this kind and name.
pub fn known(kind: &str, name: &str) -> Option<&'static Operation> {
    ALL.iter().find(|one| one.kind == kind && one.name == name)
}

/// All of them, for a model.
pub fn told() -> Value {
    let one = |one: &Operation| {
        let names: Vec<&str> = one.parameters.iter().filter_map(|names| names.first().copied()).collect();
        json!({"kind": one.kind, "name": one.name, "parameters": names.join(", "), "about": one.about})
    };
    let mut all: Vec<Value> = ALL.iter().map(one).collect();
    all.push(json!({
        "kind": "tool_operation", "name": "NAME", "parameters": "plan_id, args",
        "about": "adds a task to a plan that calls the tool of this name, if the plan's policy allows it",
    }));
    Value::Array(all)
}

/// What can be done, for people.
pub fn help() -> String {
    let lines = ALL.iter().map(|one| format!("- {}: {}", one.name, one.about));
    lines.collect::<Vec<_>>().join("\n")
}

impl Operation {
    /// The parameters under their first names, and those that it does not have.
    pub fn read(&self, given: Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
        let (mut known, mut unknown) = (Map::new(), Vec::new());
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            match self.parameters.iter().find(|names| names.contains(&name.as_str())) {
                Some(names) if !known.contains_key(names[0]) => drop(known.insert(names[0].to_owned(), value)),
                _ => unknown.push(gantry_view::named(&name)),
            }
        }
        (known, unknown)
    }
}
