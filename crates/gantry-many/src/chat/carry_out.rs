//! Carries out what is proposed, one action after the other, and tells what came of each.

use std::time::Duration;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::{Change as Wish, Input, TakeBack};
use gantry_core::life::Life;
use gantry_core::plan::{Action, Input as Given, Place, Task, Tool, diff};
use gantry_planner::commands;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::create;
use super::hands::{Hands, Trouble};
use super::operations::{self, Operation};
use super::turns::{Bound, Turn, listed};
use crate::decompose::{Unbroken, Wanted, broken_down};
use crate::edits::{self, Edit};

/// How often something whose trouble may pass is tried again at most, and how long it is waited in between.
const RETRIES_MAX: u32 = 5;
const BACKOFF_SECS_MAX: f64 = 10.0;
/// How many siblings may stand before a task.
const POSITION_MAX: u64 = 1_000_000;
/// How many plans a list has.
const LISTED_MAX: u64 = 20;

/// An action as a model proposes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Proposed {
    /// Which sort it is.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// With what.
    pub parameters: Map<String, Value>,
    /// Later ones make no sense without it.
    pub blocking: bool,
    /// When it is its turn.
    pub order: u32,
    /// What to do when it does not succeed.
    pub retry_policy: RetryPolicy,
    /// Whatever the model says beside it; it is handed on.
    pub metadata: Value,
}

/// How often an action is tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// How often.
    pub max_retries: u32,
    /// How long it is waited in between.
    pub backoff_sec: f64,
}

/// What came of an action.
pub struct Outcome {
    pub action: Proposed,
    /// In words.
    pub words: String,
    /// For programs.
    pub result: Value,
    /// The plan that it was about.
    pub plan: Option<Bound>,
    /// It made that plan.
    pub created: bool,
    /// What was not used of it.
    pub left_out: Vec<String>,
    /// Why it was not done.
    pub problem: Option<Trouble>,
    /// It was not even tried.
    skipped: bool,
}

impl Outcome {
    /// One that was not tried.
    pub fn skipped(action: Proposed, why: &str) -> Self {
        let trouble = Trouble::new(409, "chat::skipped", format!("{} was not tried: {why}", action.name));
        Self { skipped: true, ..Self::failed(action, trouble) }
    }

    fn failed(action: Proposed, trouble: Trouble) -> Self {
        let (result, plan, created, left_out, skipped) = (Value::Null, None, false, Vec::new(), false);
        let hint = trouble.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let words = format!("Not done: {}{hint}.", trouble.message.trim_end_matches('.'));
        Self { action, words, result, plan, created, left_out, problem: Some(trouble), skipped }
    }

    /// For programs.
    pub fn told(&self) -> Value {
        let Proposed { kind, name, parameters, blocking, order, metadata, .. } = &self.action;
        let status = match &self.problem {
            _ if self.skipped => "skipped",
            None => "done",
            Some(trouble) if trouble.status < 500 => "refused",
            Some(_) => "failed",
        };
        let mut told = json!({
            "kind": kind, "name": name, "parameters": parameters, "blocking": blocking, "order": order, "status": status,
            "message": self.words, "result": self.result, "left_out": self.left_out,
        });
        if !metadata.is_null() {
            told["metadata"] = metadata.clone();
        }
        if let Some((no, id)) = &self.plan {
            (told["plan_id"], told["plan"]) = (json!(no), json!(id));
        }
        if let Some(trouble) = &self.problem {
            told["problem"] = json!({
                "status": trouble.status, "code": trouble.code, "detail": trouble.message, "hint": trouble.hint,
            });
        }
        told
    }
}

/// What an action gave.
struct Done {
    words: String,
    result: Value,
    plan: Option<PlanId>,
    created: bool,
}

impl Done {
    fn new(words: impl Into<String>, result: Value) -> Self {
        Self { words: words.into(), result, plan: None, created: false }
    }

    fn about(self, plan: &PlanId) -> Self {
        Self { plan: Some(plan.clone()), ..self }
    }
}

/// One action on its way.
struct Job<'a> {
    hands: &'a dyn Hands,
    turn: &'a Turn,
    bound: Option<&'a Bound>,
    order: usize,
}

/// Carries out an action.
pub async fn carried_out(hands: &dyn Hands, turn: &Turn, bound: Option<&Bound>, action: Proposed) -> Outcome {
    let job = Job { hands, turn, bound, order: action.order as usize };
    let (operation, given, mut left_out) = if action.kind == "tool_operation" {
        (None, action.parameters.clone(), Vec::new())
    } else {
        let Some(operation) = operations::known(&action.kind, &action.name) else {
            let shown = gantry_view::named(&format!("{}.{}", action.kind, action.name));
            let trouble =
                Trouble::new(502, "chat::unknown-action", format!("the model proposed `{shown}`, which there is not"));
            return Outcome::failed(action, trouble);
        };
        let (given, unknown) = operation.read(action.parameters.clone());
        (Some(operation), given, unknown)
    };
    let RetryPolicy { max_retries, backoff_sec } = action.retry_policy;
    let pause = Duration::try_from_secs_f64(backoff_sec.clamp(0.0, BACKOFF_SECS_MAX)).unwrap_or_default();
    let mut tries = 0;
    let end = loop {
        let end = match operation {
            Some(operation) => Box::pin(job.done(operation, given.clone())).await,
            None => job.tool(&action.name, given.clone()).await,
        };
        match end {
            Err(trouble) if trouble.status >= 500 && tries < max_retries.min(RETRIES_MAX) => {
                tries += 1;
                tokio::time::sleep(pause).await;
            }
            end => break end,
        }
    };
    for name in &mut left_out {
        *name = format!("`{name}` is no parameter of {}", action.name);
    }
    let mut outcome = match end {
        Err(trouble) => Outcome::failed(action, trouble),
        Ok(Done { words, result, plan, created }) => {
            let plan = match plan {
                Some(id) => hands.engine().store().plan(id.as_str()).await.ok().map(|card| (card.no.0, id)),
                None => None,
            };
            let (left_out, problem, skipped) = (Vec::new(), None, false);
            Outcome { action, words, result, plan, created, left_out, problem, skipped }
        }
    };
    if !left_out.is_empty() {
        outcome.words = format!("{} Left out: {}.", outcome.words, left_out.join("; "));
    }
    outcome.left_out = left_out;
    outcome
}

impl Job<'_> {
    async fn done(&self, operation: &Operation, mut given: Map<String, Value>) -> Result<Done, Trouble> {
        if operation.changes {
            self.hands.may_change()?;
        }
        let edit = match operation.name {
            "create_plan" => return self.create(&given).await,
            "list_plans" => return self.list(&given).await,
            "help" => return Ok(Done::new(operations::help(), operations::told())),
            "create_task" => edits::read(without_plan(&given)?).map(Edit::Add),
            "move_task" => edits::read(without_plan(&given)?).map(Edit::Move),
            "update_task" | "update_task_instruction" => edits::read(without_plan(&given)?).map(Edit::Change),
            "delete_task" => edits::read(without_plan(&given)?).map(Edit::Delete),
            _ => return self.about_plan(operation.name, &mut given).await,
        };
        let plan = self.plan(given.get("plan_id")).await?;
        if operation.name == "delete_task" {
            self.is_named(&plan, Some(given.get("task_id").unwrap_or(&Value::Null))).await?;
        }
        self.edit(&plan, edit?).await
    }

    async fn about_plan(&self, name: &str, given: &mut Map<String, Value>) -> Result<Done, Trouble> {
        let plan = self.plan(given.get("plan_id")).await?;
        let why = create::text(given, "why")?.unwrap_or_default().to_owned();
        let by = self.hands.by().to_owned();
        match name {
            "execute_plan" => {
                self.hands.go_on(&plan).await?;
                self.status(&plan, None).await
            }
            "delete_plan" => {
                self.is_named(&plan, None).await?;
                self.hands.tell(&plan, Input::Cancel { by, why, undo: TakeBack::Nothing }).await?;
                let card = self.card(&plan).await?;
                let words = format!("Plan {} “{}” is given up; it stays on record.", card.no, card.card.title);
                Ok(Done::new(words, gantry_view::tree::summary(&card)).about(&plan))
            }
            "rerun_task" => {
                let task = edits::known(&self.life(&plan).await?, given.get("task_id").unwrap_or(&Value::Null))?;
                self.hands.tell(&plan, Input::Retry { task: task.clone(), by, why }).await?;
                let words = format!("`{task}` is done again.");
                Ok(Done { words, ..self.status(&plan, Some(&task)).await? })
            }
            "show_tasks" => {
                let (card, life) = (self.card(&plan).await?, self.life(&plan).await?);
                let words = format!("Plan {} “{}”:\n{}", card.no, card.card.title, gantry_view::tree::outline(&life));
                Ok(Done::new(words.trim_end(), gantry_view::tree::tree(&card, &life)).about(&plan))
            }
            "query_status" => {
                let task = match given.get("task_id") {
                    Some(task) => Some(edits::known(&self.life(&plan).await?, task)?),
                    None => None,
                };
                self.status(&plan, task.as_ref()).await
            }
            "request_subgraph" => self.part(&plan, given).await,
            _ => self.decompose(&plan, given).await,
        }
    }

    async fn part(&self, plan: &PlanId, given: &Map<String, Value>) -> Result<Done, Trouble> {
        let (card, life) = (self.card(plan).await?, self.life(plan).await?);
        let levels = number(given, "max_depth", 1, u64::from(gantry_view::tree::LEVELS_MAX))?.unwrap_or(2);
        let top = match given.get("node_id") {
            Some(task) => Some(edits::known(&life, task)?),
            None => life.task_ids().into_iter().next(),
        };
        let levels = u32::try_from(levels).unwrap_or(2);
        let part = top.and_then(|top| gantry_view::tree::part(&card, &life, top.as_str(), levels));
        let part = part.ok_or_else(|| Trouble::new(404, "life::unknown-task", "the plan has no task"))?;
        let words = part["outline"].as_str().unwrap_or_default().trim_end().to_owned();
        Ok(Done::new(words, part).about(plan))
    }

    async fn decompose(&self, plan: &PlanId, given: &Map<String, Value>) -> Result<Done, Trouble> {
        let mut settings = Map::new();
        for (name, setting, max) in [("expand_depth", "depth", 20), ("node_budget", "budget", 10_000)] {
            settings.extend(number(given, name, 1, max)?.map(|value| (setting.to_owned(), json!(value))));
        }
        settings.extend(
            flag(given, "allow_existing_children")?.map(|allow| ("allow_existing_children".to_owned(), json!(allow))),
        );
        let engine = self.hands.engine_for(plan).await?;
        let life = self.life(plan).await?;
        let task = given.get("task_id").map(|task| edits::known(&life, task)).transpose()?;
        let what = task.as_ref().map_or_else(|| "the plan".to_owned(), |task| format!("`{task}`"));
        let wanted = Wanted { task, settings, by: self.hands.by().to_owned(), today: self.hands.today() };
        let made = match Box::pin(broken_down(&engine, plan, wanted)).await {
            Ok(made) => made,
            Err(Unbroken::Engine(error)) => return Err(self.hands.trouble(error)),
            Err(Unbroken::Nothing(why)) => return Err(Trouble::new(502, "plan::not-broken-down", why)),
            Err(Unbroken::Changing) => {
                return Err(Trouble::new(409, "plan::changing", "the plan is being changed all the time"));
            }
        };
        if made.outcome == gantry_planner::decompose::Outcome::Failed {
            let why = format!("{what} was not broken down: {}", made.stopped_reason);
            return Err(Trouble::new(502, "plan::not-broken-down", why));
        }
        let named = |node: &gantry_planner::decompose::Node| format!("\n- {} ({})", node.name, node.id);
        let names = made.created_tasks.iter().map(named).collect::<Vec<_>>().concat();
        let words = match made.created_tasks.len() {
            0 => format!("Nothing was broken down in {what}: {}", made.stopped_reason.trim_end_matches('.')),
            count => format!(
                "Broke {what} down into {} ({}).{names}",
                gantry_view::count(count, "task"),
                made.stopped_reason
            ),
        };
        let degraded = made.degraded.as_ref().map(|why| format!("\nDegraded: {why}.")).unwrap_or_default();
        let words = words + &degraded;
        Ok(Done::new(words, json!(made)).about(plan))
    }

    async fn create(&self, given: &Map<String, Value>) -> Result<Done, Trouble> {
        let at_once = self.hands.breaks_down_at_once()?;
        let plan = create::create(self.hands, self.turn, self.order, given).await?;
        let is_new = self.life(&plan).await?.state() == gantry_core::life::PlanState::Pending;
        if is_new && at_once {
            self.hands.go_on(&plan).await?;
        }
        let (card, life) = (self.card(&plan).await?, self.life(&plan).await?);
        let (no, title) = (card.no, &card.card.title);
        let words = if is_new && !at_once {
            format!("Plan {no} “{title}” is made, and not broken down yet: “execute plan {no}” does it.")
        } else {
            let tasks = gantry_view::count(life.task_count() as usize, "task");
            format!("Plan {no} “{title}” is made; it has {tasks} now and is {}.", card.card.state)
        };
        let result = json!({
            "plan_id": card.no, "plan": card.id, "title": card.card.title, "state": card.card.state,
            "task_count": life.task_count(), "url": format!("/api/v1/plans/{}", card.id),
        });
        Ok(Done { created: true, ..Done::new(words, result).about(&plan) })
    }

    async fn list(&self, given: &Map<String, Value>) -> Result<Done, Trouble> {
        let limit = number(given, "limit", 1, 200)?.unwrap_or(LISTED_MAX);
        let cards = listed(self.hands, u32::try_from(limit).unwrap_or(20)).await?;
        let lines: Vec<String> =
            cards.iter().map(|card| format!("- {}: {} ({})", card.no, card.card.title, card.card.state)).collect();
        let words = if lines.is_empty() { "There are no plans yet.".to_owned() } else { lines.join("\n") };
        let one = |card: &gantry_store::PlanCard| json!({"id": card.no, "plan": card.id, "title": card.card.title, "state": card.card.state, "updated_at": card.updated_at});
        Ok(Done::new(words, json!({"plans": cards.iter().map(one).collect::<Vec<_>>()})))
    }

    async fn status(&self, plan: &PlanId, task: Option<&TaskId>) -> Result<Done, Trouble> {
        let (card, life) = (self.card(plan).await?, self.life(plan).await?);
        if let Some(task) = task {
            let about = gantry_view::standing::about(&life, task);
            let state = life.task_state(task.as_str());
            let shown = state.map_or_else(String::new, |state| state.to_string());
            let words = format!("`{task}` of plan {} is {shown}{}.", card.no, joined(&about));
            let result = json!({"plan_id": card.no, "task": task, "state": state, "about": about});
            return Ok(Done::new(words, result).about(plan));
        }
        let mut result = gantry_view::tree::summary(&card);
        result["status"] = json!(card.card.state);
        result["waiting_for"] = json!(card.card.waiting);
        let count = |word: &str| result[word].as_u64().unwrap_or(0);
        let waits: Vec<&str> = card.card.waiting.iter().take(5).map(|line| line.what.as_str()).collect();
        let waits = if waits.is_empty() { String::new() } else { format!(" It waits for {}.", waits.join("; ")) };
        let words = format!(
            "Plan {} “{}” is {}: {} of {} tasks are completed.{waits}",
            card.no,
            card.card.title,
            card.card.state,
            count("completed"),
            count("total_tasks"),
        );
        Ok(Done::new(words, result).about(plan))
    }

    async fn edit(&self, plan: &PlanId, edit: Edit) -> Result<Done, Trouble> {
        let _alone = self.hands.turn(plan).await;
        let life = self.life(plan).await?;
        let marker = self.marker();
        let prepared = edits::prepare(&life, &edit, self.hands.by(), "");
        // Whoever was interrupted has done it before.
        if life.revisions().any(|(_, why)| why.ends_with(&marker)) {
            return Ok(Done::new("It is done already.", json!({"revision": life.revision()})).about(plan));
        }
        let edits::Prepared { mut input, task, words, mut more } = prepared?;
        if let Input::Revise { rationale, .. } = &mut input {
            rationale.push_str(&marker);
        }
        self.hands.tell(plan, input).await?;
        let life = self.life(plan).await?;
        more.extend([("task".to_owned(), json!(task)), ("task_id".to_owned(), json!(life.number(task.as_str())))]);
        more.insert("revision".to_owned(), json!(life.revision()));
        let words = format!("{}{}: revision {}.", words[..1].to_uppercase(), &words[1..], life.revision());
        Ok(Done::new(words, Value::Object(more)).about(plan))
    }

    /// A tool is called as a task of a plan, so that the plan's policy counts, with its guards and approvals.
    async fn tool(&self, name: &str, mut given: Map<String, Value>) -> Result<Done, Trouble> {
        self.hands.may_change()?;
        let named = given.remove("plan_id").or_else(|| given.remove("plan"));
        if named.is_none() && self.bound.is_none() {
            return Err(Trouble::new(
                403,
                "chat::tool-without-plan",
                format!("`{}` is not called by itself", gantry_view::named(name)),
            )
            .hint("name a plan: a tool is called as a task of it, as far as its policy allows"));
        }
        let plan = self.plan(named.as_ref()).await?;
        let args = match given.remove("args") {
            Some(Value::Object(args)) => args,
            None => std::mem::take(&mut given),
            Some(_) => return Err(Trouble::new(422, "chat::bad-parameter", "`args` is an object")),
        };
        let _alone = self.hands.turn(&plan).await;
        let life = self.life(&plan).await?;
        if !life.header().policy.tools.allows(name) {
            let shown = gantry_view::named(name);
            return Err(Trouble::new(
                403,
                "chat::tool-forbidden",
                format!("the policy of plan `{plan}` does not allow `{shown}`"),
            )
            .hint("its `policy.tools` says which tools it may call"));
        }
        // A tool may do what cannot be taken back: it is called only where the message itself asks for it.
        if !self.turn.said().message.to_lowercase().contains(&name.to_lowercase()) {
            let shown = gantry_view::named(name);
            return Err(Trouble::new(403, "chat::not-named", format!("your message does not name the tool `{shown}`"))
                .hint("say in your own words which tool is to be called"));
        }
        let mut next = life.plan();
        let mut id = TaskId::slugged(&name.to_lowercase().replace('.', "-"));
        let first = id.clone();
        let mut numbers = 2_u32..;
        while next.task(id.as_str()).is_some() {
            id = first.with_ending(&format!("-{}", numbers.next().unwrap_or(u32::MAX)));
        }
        let mut task = Task::new(id.clone());
        let args = args.into_iter().map(|(name, value)| (name, Given::Value(value))).collect();
        task.action = Some(Action::Tool(Tool { name: name.to_owned(), args }));
        next.put(task, &Place::Last { parent: None })
            .map_err(|why| Trouble::new(422, "task::misplaced", why.to_string()))?;
        let (rationale, base) = (format!("a call of {name}{}", self.marker()), life.revision());
        let change = Wish::By(Box::new(diff(&life.plan(), &next)));
        let by = self.hands.by().to_owned();
        self.hands.tell(&plan, Input::Revise { by, rationale, base, change }).await?;
        let words = format!(
            "Added the task `{id}`, which calls `{}`; it runs when the plan goes on.",
            gantry_view::named(name)
        );
        Ok(Done::new(words, json!({"task": id})).about(&plan))
    }

    /// Says which action of which message a revision comes from.
    fn marker(&self) -> String {
        format!(" [{} #{}]", self.turn.plan(), self.order)
    }

    /// The plan that is named, or else the one that the talk is about.
    async fn plan(&self, named: Option<&Value>) -> Result<PlanId, Trouble> {
        let name = match (named, self.bound) {
            (Some(Value::String(name)), _) if !name.trim().is_empty() => name.trim().trim_start_matches('#').to_owned(),
            (Some(Value::Number(no)), _) => no.to_string(),
            (Some(_), _) => {
                return Err(Trouble::new(422, "chat::bad-parameter", "`plan_id` is the number or the id of a plan"));
            }
            (None, Some((_, id))) => return Ok(id.clone()),
            (None, None) => {
                return Err(Trouble::new(422, "chat::no-plan", "nothing says which plan is meant")
                    .hint("name it by its number, as in “the tasks of plan 3”"));
            }
        };
        match self.hands.engine().store().plan(&name).await {
            Ok(card) => Ok(card.id),
            Err(error @ gantry_store::StoreError::NotFound { .. }) => {
                // People call plans by what they are called.
                let all = listed(self.hands, 1_000).await?;
                let mut same = all.iter().filter(|card| card.card.title.eq_ignore_ascii_case(&name));
                match (same.next(), same.next()) {
                    (Some(card), None) => Ok(card.id.clone()),
                    _ => Err(self.hands.store_trouble(error)),
                }
            }
            Err(error) => Err(self.hands.store_trouble(error)),
        }
    }

    /// What cannot simply be taken back is done only to what the message itself names: words of plans, of earlier answers
    /// and of anyone else that a model has read are data.
    async fn is_named(&self, plan: &PlanId, task: Option<&Value>) -> Result<(), Trouble> {
        let (card, life) = (self.card(plan).await?, self.life(plan).await?);
        let message = self.turn.said().message.to_lowercase();
        let words = words_of(&message);
        let says = |names: &[String]| {
            names
                .iter()
                .map(|name| name.to_lowercase())
                .any(|name| words.contains(&name) || (name.contains(' ') && message.contains(&name)))
        };
        let names = |no: u64, id: &str, title: &str| [no.to_string(), id.to_owned(), title.to_owned()];
        let is_bound = self.bound.as_ref().is_some_and(|(_, bound)| bound == plan);
        let plan_is_named = says(&names(card.no.0, card.id.as_str(), &card.card.title))
            || message.contains("@last")
            || (is_bound && (task.is_some() || commands::speaks_of_a_plan(&message)));
        let (named, what) = match task {
            None => (plan_is_named, format!("plan {}", card.no)),
            Some(task) => {
                let id = edits::known(&life, task)?;
                let no = life.number(id.as_str()).map_or(0, |no| u64::from(no.0));
                let title = life.definition(id.as_str()).map(|task| task.name().to_owned()).unwrap_or_default();
                (plan_is_named && says(&names(no, id.as_str(), &title)), format!("task `{id}` of plan {}", card.no))
            }
        };
        if named {
            return Ok(());
        }
        Err(Trouble::new(403, "chat::not-named", format!("your message does not name {what}"))
            .hint("say in your own words what is to be deleted, by its number"))
    }

    async fn card(&self, plan: &PlanId) -> Result<gantry_store::PlanCard, Trouble> {
        self.hands.engine().store().plan(plan.as_str()).await.map_err(|error| self.hands.store_trouble(error))
    }

    async fn life(&self, plan: &PlanId) -> Result<Life, Trouble> {
        Ok(self.hands.engine().open(plan).await.map_err(|error| self.hands.trouble(error))?.life)
    }
}

/// The words of a message; Hangul behind digits and Latin letters is a word of its own, as in `4를`.
fn words_of(message: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for letter in message.chars() {
        let is_part = letter.is_alphanumeric() || letter == '-' || letter == '_';
        let is_other = matches!(letter, '\u{ac00}'..='\u{d7a3}') && word.ends_with(|last: char| last.is_ascii());
        if (!is_part || is_other) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.extend(is_part.then_some(letter));
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// What is said about a task, without the plan.
fn without_plan(given: &Map<String, Value>) -> Result<Map<String, Value>, Trouble> {
    for name in ["name", "instruction", "owner", "anchor_position"] {
        create::text(given, name)?;
    }
    for name in ["top", "detach"] {
        flag(given, name)?;
    }
    let mut fields = given.clone();
    fields.remove("plan_id");
    // Numbers that come as text are numbers.
    if let Some(position) = number(given, "position", 0, POSITION_MAX)? {
        fields.insert("position".to_owned(), json!(position));
    }
    Ok(fields)
}

fn joined(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!(": {about}") }
}

fn number(given: &Map<String, Value>, name: &str, min: u64, max: u64) -> Result<Option<u64>, Trouble> {
    let Some(value) = given.get(name) else { return Ok(None) };
    let read = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let read = read.filter(|number| (min..=max).contains(number));
    let trouble = || Trouble::new(422, "chat::bad-parameter", format!("`{name}` is a number from {min} to {max}"));
    read.map(Some).ok_or_else(trouble)
}

fn flag(given: &Map<String, Value>, name: &str) -> Result<Option<bool>, Trouble> {
    match given.get(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Trouble::new(422, "chat::bad-parameter", format!("`{name}` is true or false"))),
    }
}
