//! Changes of single tasks of a plan, as they are asked for on any surface: a task comes, changes, moves or goes, and what a
//! revision changed is taken back. Each is one ordinary revision.
//!
//! Nothing is left out silently: an unknown field, task or place is told, and what would not hold together is refused by
//! the plan itself.

use gantry_core::event::{Entry, Event};
use gantry_core::id::{Revision, TaskId};
use gantry_core::input::{Change as Wish, Input};
use gantry_core::life::Life;
use gantry_core::plan::{Misplaced, Place, Plan, Task, diff};
use gantry_core::suggest::nearest;
use gantry_core::time::Timestamp;
use gantry_planner::screen::{Verdict, screen};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Why something cannot be done as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Unfit {
    /// Something is wrong in a way that this code stands for.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The status that a server answers with.
    pub fn status(&self) -> u16 {
        match self.code {
            "life::unknown-task" => 404,
            "plan::refused" => 403,
            "task::taken" | "task::awaited" => 409,
            "request::wrong-fields" => 400,
            _ => 422,
        }
    }
}

/// What is to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A task comes.
    Add(Add),
    /// A task is described otherwise.
    Change(Change),
    /// A task goes elsewhere, with everything below it.
    Move(Move),
    /// A task goes, with everything below it.
    Delete(Delete),
}

/// A new task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Add {
    /// What it is called.
    #[serde(alias = "title", alias = "task_name")]
    #[schema(required)]
    pub name: String,
    /// Its id; made from its name where nothing is said.
    pub id: Option<String>,
    /// What is to be done.
    #[serde(alias = "description")]
    pub instruction: Option<String>,
    /// Inside which task.
    #[serde(alias = "parent")]
    pub parent_id: Option<Value>,
    /// The task that the place is told by.
    #[serde(alias = "anchor")]
    pub anchor_task_id: Option<Value>,
    /// `before`, `after`, `first_child` or `last_child` of that.
    pub anchor_position: Option<String>,
    /// How many siblings stand before it.
    pub position: Option<usize>,
    /// The tasks that it waits for.
    #[serde(alias = "depends_on")]
    pub dependencies: Vec<Value>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// What programs keep about it.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// What is different about a task; what is not said stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// The task.
    #[serde(alias = "task")]
    #[schema(ignore)] // it stands in the path
    pub task_id: Value,
    /// What it is called.
    #[serde(alias = "title")]
    pub name: Option<String>,
    /// What is to be done.
    #[serde(alias = "description")]
    pub instruction: Option<String>,
    /// The tasks that it waits for, all of them.
    #[serde(alias = "depends_on")]
    pub dependencies: Option<Vec<Value>>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// What programs keep about it: these are set, and `null` takes one away.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// Where a task goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Move {
    /// The task.
    #[serde(alias = "task")]
    #[schema(ignore)] // it stands in the path
    pub task_id: Value,
    /// Inside which task; where nothing is said it stays where it is inside.
    #[serde(alias = "new_parent_id", alias = "parent")]
    pub parent_id: Option<Value>,
    /// To the top of the plan, inside no task.
    pub top: bool,
    /// The task that the place is told by.
    #[serde(alias = "anchor")]
    pub anchor_task_id: Option<Value>,
    /// `before`, `after`, `first_child` or `last_child` of that.
    pub anchor_position: Option<String>,
    /// How many siblings stand before it.
    #[serde(alias = "new_position")]
    pub position: Option<usize>,
}

/// A task that goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Delete {
    /// The task.
    #[serde(alias = "task")]
    #[schema(ignore)] // it stands in the path
    pub task_id: Value,
    /// Let what waits for it wait no longer, instead of refusing.
    pub detach: bool,
}

/// A change that can be said to the plan.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What is said.
    pub input: Input,
    /// The task that it is about.
    pub task: TaskId,
    /// What happens, in words.
    pub words: String,
    /// More about it, for programs.
    pub more: Map<String, Value>,
}

/// Reads what is asked for; a field that nobody knows is told.
pub fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Unfit> {
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Unfit::new("request::wrong-fields", error.to_string()))
}

/// The task that is meant, by id or by number.
pub fn known(life: &Life, reference: &Value) -> Result<TaskId, Unfit> {
    let name = match reference {
        Value::String(name) if !name.trim().is_empty() => name.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(Unfit::new("request::no-task", "a task is named by its id or its number")),
    };
    if let Some(task) = life.definition(&name).or_else(|| life.numbered(name.parse().ok()?)) {
        return Ok(task.id.clone());
    }
    let ids = life.task_ids();
    let called =
        |id: &&TaskId| life.definition(id.as_str()).is_some_and(|task| task.name().eq_ignore_ascii_case(&name));
    let mut same = ids.iter().filter(called);
    if let (Some(id), None) = (same.next(), same.next()) {
        return Ok(id.clone());
    }
    let shown = gantry_view::named(&name);
    let unfit = Unfit::new("life::unknown-task", format!("there is no task `{shown}` in plan `{}`", life.id()));
    Err(match nearest(&name, ids.iter().map(TaskId::as_str)) {
        Some(near) => unfit.hint(format!("did you mean `{near}`?")),
        None => unfit.hint("see its tasks, with their ids and numbers"),
    })
}

/// Prepares a change of a plan as it is now.
pub fn prepare(life: &Life, edit: &Edit, by: &str, why: &str) -> Result<Prepared, Unfit> {
    let (before, mut plan) = (life.plan(), life.plan());
    let (task, words, more) = match edit {
        Edit::Add(add) => added(life, &mut plan, add)?,
        Edit::Change(change) => changed(life, &mut plan, change)?,
        Edit::Move(shift) => moved(life, &mut plan, shift)?,
        Edit::Delete(delete) => deleted(life, &mut plan, delete)?,
    };
    let rationale = if why.trim().is_empty() { words.clone() } else { why.trim().to_owned() };
    let change = Wish::By(Box::new(diff(&before, &plan)));
    let input = Input::Revise { by: by.to_owned(), rationale, base: life.revision(), change };
    Ok(Prepared { input, task, words, more })
}

type Done = (TaskId, String, Map<String, Value>);

fn added(life: &Life, plan: &mut Plan, add: &Add) -> Result<Done, Unfit> {
    let name = add.name.trim();
    if name.is_empty() {
        return Err(Unfit::new("request::no-name", "a new task needs a name").hint("say what it is called in `name`"));
    }
    let id = match &add.id {
        Some(id) => TaskId::new(id.trim()).map_err(|bad| Unfit::new("request::bad-id", bad.to_string()))?,
        None => free(life, name),
    };
    let mut task = Task::new(id.clone());
    if name != id.as_str() {
        name.clone_into(&mut task.title);
    }
    task.description = said(add.instruction.as_ref());
    task.owner = said(add.owner.as_ref());
    task.depends_on = all_known(life, &add.dependencies)?;
    task.metadata.extend(add.metadata.clone());
    harmless(&[Some(name), task.description.as_deref()])?;
    let place = place(
        life,
        (add.parent_id.as_ref(), add.position),
        add.anchor_task_id.as_ref(),
        add.anchor_position.as_deref(),
    )?;
    plan.put(task, &place.unwrap_or(Place::Last { parent: None })).map_err(misplaced)?;
    let words = format!("added task `{id}`{}", inside(plan, &id));
    Ok((id, words, Map::new()))
}

fn changed(life: &Life, plan: &mut Plan, change: &Change) -> Result<Done, Unfit> {
    let id = known(life, &change.task_id)?;
    let depends_on = change.dependencies.as_ref().map(|all| all_known(life, all)).transpose()?;
    harmless(&[change.name.as_deref(), change.instruction.as_deref()])?;
    let task = plan.tasks.iter_mut().find(|task| task.id == id);
    let task = task.ok_or_else(|| misplaced(Misplaced::Unknown(id.clone())))?;
    if let Some(name) = &change.name {
        if name.trim().is_empty() {
            return Err(Unfit::new("request::no-name", "a task cannot be called nothing"));
        }
        name.trim().clone_into(&mut task.title);
    }
    if change.instruction.is_some() {
        task.description = said(change.instruction.as_ref());
    }
    if change.owner.is_some() {
        task.owner = said(change.owner.as_ref());
    }
    if let Some(depends_on) = depends_on {
        task.depends_on = depends_on;
    }
    for (name, value) in &change.metadata {
        match value {
            Value::Null => drop(task.metadata.remove(name)),
            value => drop(task.metadata.insert(name.clone(), value.clone())),
        }
    }
    Ok((id.clone(), format!("changed task `{id}`"), Map::new()))
}

fn moved(life: &Life, plan: &mut Plan, shift: &Move) -> Result<Done, Unfit> {
    let id = known(life, &shift.task_id)?;
    let own = plan.task(id.as_str()).and_then(|task| task.parent.clone());
    if shift.top && (shift.parent_id.is_some() || shift.anchor_task_id.is_some()) {
        return Err(Unfit::new("request::which-place", "say `top`, a parent or an anchor, not several of them"));
    }
    let anchor = (shift.anchor_task_id.as_ref(), shift.anchor_position.as_deref());
    let place = match (place(life, (shift.parent_id.as_ref(), shift.position), anchor.0, anchor.1)?, shift.top) {
        // Where nothing is said about what it is inside, that stays.
        (Some(Place::At { parent: None, position }), false) if shift.parent_id.is_none() => {
            Place::At { parent: own, position }
        }
        (Some(place), _) => place,
        (None, true) => Place::Last { parent: None },
        (None, false) => {
            return Err(Unfit::new("request::which-place", "nothing says where the task is to go")
                .hint("name a parent, an anchor with its position, a `position`, or `top`"));
        }
    };
    plan.shift(&id, &place).map_err(misplaced)?;
    let words = format!("moved task `{id}`{}", inside(plan, &id));
    Ok((id, words, Map::new()))
}

fn deleted(life: &Life, plan: &mut Plan, delete: &Delete) -> Result<Done, Unfit> {
    let id = known(life, &delete.task_id)?;
    let mut detached = Vec::new();
    if delete.detach {
        let below = plan.below(&id);
        for task in plan.tasks.iter_mut().filter(|task| !below.contains(&task.id)) {
            let gone: Vec<TaskId> = task.depends_on.iter().filter(|other| below.contains(*other)).cloned().collect();
            task.depends_on.retain(|other| !below.contains(other));
            detached.extend(gone.into_iter().map(|other| json!({"task": task.id, "depended_on": other})));
        }
    }
    let gone = plan.take_out(&id).map_err(misplaced)?;
    let more = Map::from_iter([("deleted".to_owned(), json!(gone)), ("detached".to_owned(), json!(detached))]);
    let others = match gone.len() {
        1 => String::new(),
        count => format!(" and {} below it", gantry_view::count(count - 1, "task")),
    };
    Ok((id.clone(), format!("deleted task `{id}`{others}"), more))
}

/// Prepares to take back what a revision changed, as a new revision: from `before` it had become `after`.
pub fn undo(life: &Life, revision: Revision, (before, after): (&Plan, &Plan), by: &str, why: &str) -> Input {
    let words = format!("took back revision {revision}");
    let rationale = if why.trim().is_empty() { words } else { why.trim().to_owned() };
    let change = Wish::By(Box::new(diff(after, before)));
    Input::Revise { by: by.to_owned(), rationale, base: life.revision(), change }
}

/// The place that is asked for; none where nothing is said.
fn place(
    life: &Life,
    (parent, position): (Option<&Value>, Option<usize>),
    anchor: Option<&Value>,
    side: Option<&str>,
) -> Result<Option<Place>, Unfit> {
    let which = |message: &str| Unfit::new("request::which-place", message);
    let parent = parent.filter(|parent| !parent.is_null()).map(|parent| known(life, parent)).transpose()?;
    match (anchor.filter(|anchor| !anchor.is_null()), side) {
        (None, None) => Ok(match (parent, position) {
            (parent, Some(position)) => Some(Place::At { parent, position }),
            (Some(parent), None) => Some(Place::Last { parent: Some(parent) }),
            (None, None) => None,
        }),
        (None, Some("first_child" | "last_child")) if parent.is_some() && position.is_none() => {
            let parent = parent.ok_or_else(|| which("nothing says inside what"))?;
            Ok(Some(if side == Some("first_child") { Place::FirstChild(parent) } else { Place::LastChild(parent) }))
        }
        (Some(_), _) if parent.is_some() || position.is_some() => {
            Err(which("a place is told by an anchor, or by a parent and a position, not by both"))
        }
        (Some(anchor), side) => {
            let anchor = known(life, anchor)?;
            match side {
                Some("before") => Ok(Some(Place::Before(anchor))),
                Some("after") => Ok(Some(Place::After(anchor))),
                Some("first_child") => Ok(Some(Place::FirstChild(anchor))),
                Some("last_child") => Ok(Some(Place::LastChild(anchor))),
                _ => Err(which("`anchor_position` is before, after, first_child or last_child")),
            }
        }
        (None, Some(_)) => Err(which("`anchor_position` needs the task that it is told by, in `anchor_task_id`")),
    }
}

fn all_known(life: &Life, references: &[Value]) -> Result<Vec<TaskId>, Unfit> {
    let mut all = Vec::new();
    for reference in references {
        let id = known(life, reference)?;
        if !all.contains(&id) {
            all.push(id);
        }
    }
    Ok(all)
}

/// How many words of a name become its id.
const ID_WORDS_MAX: usize = 6;

fn free(life: &Life, name: &str) -> TaskId {
    let words: Vec<&str> = name.split_whitespace().take(ID_WORDS_MAX).collect();
    let wanted = TaskId::slugged(&words.join(" ").to_lowercase());
    let ids = life.task_ids();
    let mut numbers = 2_u32..;
    let mut id = wanted.clone();
    while ids.contains(&id) {
        id = wanted.with_ending(&format!("-{}", numbers.next().unwrap_or(u32::MAX)));
    }
    id
}

/// Words that are to command the program, and not to say what is to be done, are refused.
fn harmless(texts: &[Option<&str>]) -> Result<(), Unfit> {
    for text in texts.iter().flatten().filter(|text| !text.trim().is_empty()) {
        let screening = screen(text);
        if matches!(screening.verdict, Verdict::Refuse) {
            return Err(Unfit::new("plan::refused", screening.reason).hint(screening.hint));
        }
    }
    Ok(())
}

fn said(text: Option<&String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn inside(plan: &Plan, id: &TaskId) -> String {
    let parent = plan.task(id.as_str()).and_then(|task| task.parent.as_ref());
    parent.map_or_else(|| " at the top".to_owned(), |parent| format!(" inside `{parent}`"))
}

fn misplaced(why: Misplaced) -> Unfit {
    let message = why.to_string();
    match why {
        Misplaced::Unknown(_) => Unfit::new("life::unknown-task", message),
        Misplaced::Taken(_) => Unfit::new("task::taken", message).hint("give it another `id`, or leave that out"),
        Misplaced::InsideItself(_) => Unfit::new("task::inside-itself", message),
        Misplaced::TooFar { .. } => Unfit::new("task::no-position", message),
        Misplaced::Awaited(_) => Unfit::new("task::awaited", message)
            .hint("change what these wait for first, or delete with `detach`: then they wait no longer"),
    }
}

/// How the note about a snapshot begins; behind it stand the revision and what it is kept for.
const SNAPSHOT: &str = "snapshot of revision ";
/// How long a note about a snapshot may be.
const NOTE_CHARS_MAX: usize = 2_000;

/// A revision that someone keeps in mind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Which revision: it never changes.
    pub revision: u32,
    /// What it is kept for.
    pub note: String,
    /// Who keeps it.
    pub by: String,
    /// Since when.
    pub at: Timestamp,
}

/// Prepares to keep the tree as it is now in mind. Every revision stays on record anyway; this says which one matters.
pub fn snapshot(life: &Life, by: &str, note: &str) -> Result<Input, Unfit> {
    let note = note.trim();
    if note.is_empty() {
        return Err(Unfit::new("snapshot::no-note", "a snapshot needs a note").hint("say what it is kept for"));
    }
    if note.chars().count() > NOTE_CHARS_MAX {
        return Err(Unfit::new("snapshot::long-note", format!("a note has at most {NOTE_CHARS_MAX} characters")));
    }
    let text = format!("{SNAPSHOT}{}: {note}", life.revision());
    Ok(Input::Note { task: None, by: by.to_owned(), text })
}

/// The snapshots of a plan, the newest last.
pub fn snapshots(entries: &[Entry]) -> Vec<Snapshot> {
    let read = |entry: &Entry| match &entry.event {
        Event::NoteAdded { task: None, by, text } => {
            let (revision, note) = text.strip_prefix(SNAPSHOT)?.split_once(": ")?;
            let revision = revision.parse().ok()?;
            Some(Snapshot { revision, note: note.to_owned(), by: by.clone(), at: entry.at })
        }
        _ => None,
    };
    entries.iter().filter_map(read).collect()
}
