//! Where every field of a plan stands in its file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gantry_core::id::TaskId;
use gantry_core::plan::{Location, Plan, Task};

use crate::node::{Key, Node, Span, Value};

/// The fields of a plan or task under their canonical names.
pub(crate) struct Fields {
    /// The place that stands for the whole: a task's id, or a plan's first field.
    pub(crate) head: Span,
    /// The fields.
    pub(crate) entries: Vec<(Key, Node)>,
    /// The places of the plans that stand in it, each with the path of the field that holds it.
    pub(crate) plans: Vec<(String, Places)>,
}

impl Fields {
    /// Finds the place of a field by its path, such as `next.0.to`; of what is not in the file,
    /// the nearest thing around it.
    fn place(&self, path: &str) -> Span {
        let Some((name, node)) = self.resolve(path) else { return self.head };
        // A block has no place of its own worth showing; its name has.
        match &node.value {
            Value::Seq(_) | Value::Map(_) | Value::Null => name,
            Value::Bool(_) | Value::Number(_) | Value::Str { .. } => node.span,
        }
    }

    /// Follows a path as far as the file has it; returns the place of the last name, and the node.
    fn resolve(&self, path: &str) -> Option<(Span, &Node)> {
        // A family is written as the task that each item becomes.
        let is_family = |path: &&str| path.starts_with("map.") && super::find(&self.entries, "map").is_none();
        let path = Some(path).filter(is_family).and_then(|path| path.strip_prefix("map.each.")).unwrap_or(path);
        let mut names = path.split('.');
        let (key, node) = super::find(&self.entries, names.next()?)?;
        let mut found = (key.span, node);
        for name in names {
            let inner = match &found.1.value {
                Value::Map(entries) => super::find(entries, name).map(|(key, node)| (key.span, node)),
                Value::Seq(items) => {
                    name.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (item.span, item))
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } => None,
            };
            let Some(inner) = inner else { break };
            found = inner;
        }
        Some(found)
    }
}

/// Where everything of a plan stands.
pub(crate) struct Places {
    /// The plan's own fields.
    pub(crate) plan: Fields,
    /// The fields of each task, in the order of [`Plan::tasks`].
    pub(crate) tasks: Vec<Fields>,
    /// What tasks without a usable id may be called.
    pub(crate) unsure: Unsure,
}

/// Names that tasks may have whose ids cannot be used: whoever names one of them is not wrong as well.
#[derive(Default)]
pub(crate) struct Unsure {
    /// Nothing is known about the id of some task: any name may be meant.
    pub(crate) any: bool,
    /// Ids as they are written, and as they are proposed.
    names: BTreeSet<String>,
}

impl Unsure {
    /// Remembers an id that is none.
    pub(crate) fn take(&mut self, written: &str) {
        self.names.insert(written.to_owned());
        self.names.insert(TaskId::slugged(written).to_string());
    }

    /// Tells whether something that names an unknown task, by the text that stands in the file, may mean one of these.
    pub(crate) fn may_mean(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return self.any || !self.names.is_empty() };
        self.any || self.names.iter().any(|name| text == name || text.contains(&format!("tasks.{name}")))
    }
}

impl Places {
    /// Finds a place that the model names.
    pub(crate) fn find(&self, place: &Location) -> Span {
        match (self.inside(place), &place.inside) {
            (Some(inside), Some(there)) => inside.find(there),
            _ => self.fields(place).place(&place.path),
        }
    }

    /// Returns the text that stands at a place.
    pub(crate) fn text(&self, place: &Location) -> Option<&str> {
        match (self.inside(place), &place.inside) {
            (Some(inside), Some(there)) => inside.text(there),
            _ => self.fields(place).resolve(&place.path)?.1.as_str(),
        }
    }

    /// The places of the plan inside that a place leads into.
    pub(crate) fn inside(&self, place: &Location) -> Option<&Self> {
        place.inside.as_ref()?;
        self.fields(place).plans.iter().find(|(path, _)| *path == place.path).map(|(_, places)| places)
    }

    fn fields(&self, place: &Location) -> &Fields {
        place.task.and_then(|index| self.tasks.get(index)).unwrap_or(&self.plan)
    }
}

/// Puts tasks in tree order, which only files that say `parent:` need, and their places with them.
pub(super) fn in_tree_order(read: Vec<(Task, Fields)>) -> (Vec<Task>, Vec<Fields>) {
    let mut places: BTreeMap<String, VecDeque<Fields>> = BTreeMap::new();
    let mut plan = Plan::default();
    for (task, fields) in read {
        places.entry(task.id.as_str().to_owned()).or_default().push_back(fields);
        plan.tasks.push(task);
    }
    plan.sort_tree();
    let sorted = plan.tasks.iter().filter_map(|task| places.get_mut(task.id.as_str())?.pop_front()).collect();
    (plan.tasks, sorted)
}
