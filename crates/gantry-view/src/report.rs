//! What a report is made of, read from a plan and its life: what the steps of planning made and where each part comes
//! from, the work as it is scheduled, what happened.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, TaskState, WaitsFor};
use gantry_core::plan::{Action, Input, Plan, Reference, Task};
use gantry_core::time::Timestamp;
use gantry_report::document::{self, document};
use gantry_report::report::{Source, Subject};
use gantry_schedule::project::Money;
use gantry_schedule::{Moment, Options, Project, Schedule, schedule};
use serde_json::{Map, Value, json};

use crate::changes::is_decision;
use crate::elapsed::{clock, elapsed};
use crate::next::steps;
use crate::standing::{about, has_lost, progress};
use crate::timeline::Timeline;
use crate::under_way::planned_of;
use crate::words::said;

/// The tool that writes a plan down; its arguments name the parts of the report.
const WRITES_DOWN: &str = "plan.report";
/// What it is told besides: the name of its template, and what is computed anew here.
const NO_PARTS: [&str; 3] = ["template", "plan", "repairs"];

/// A plan as it is reported about.
pub struct Told<'a> {
    /// The plan, with what waits to be accepted.
    pub plan: &'a Plan,
    /// The life of a plan of the record.
    pub life: Option<&'a Life>,
    /// Its journal.
    pub entries: &'a [Entry],
    /// The work as a project.
    pub project: Project,
    /// The plan in the form of a plan file.
    pub source: Value,
    /// Some process works on it.
    pub driven: bool,
    /// Now.
    pub now: Timestamp,
}

/// Everything that a report is made of.
pub struct Gathered {
    /// The work as a project.
    pub project: Project,
    /// Its schedule, or why there is none.
    pub schedule: Result<Schedule, Vec<String>>,
    /// The machine-readable plan.
    pub document: Value,
    /// The template that says what is shown, where one made the plan.
    pub template: Option<String>,
    parts: Map<String, Value>,
    sources: Vec<Source>,
    happened: Value,
    title: String,
    day: String,
    begun: bool,
    /// Its planning is not done: its tasks are the steps of planning, and no work yet.
    is_being_planned: bool,
}

impl Gathered {
    /// What a report is about.
    pub fn subject(&self) -> Subject<'_> {
        let mut plan = self.document.clone();
        if self.is_being_planned
            && let Value::Object(fields) = &mut plan
        {
            // Steps of planning have dates and costs, too, and nobody asked when those will be done.
            fields.retain(|name, _| ["title", "objective", "source"].contains(&name.as_str()));
        }
        let schedule = self.schedule.as_ref().ok().filter(|_| !self.is_being_planned);
        Subject {
            title: self.title.clone(),
            day: self.day.clone(),
            parts: self.parts.clone(),
            plan,
            life: self.happened.clone(),
            sources: self.sources.clone(),
            scheduled: schedule.map(|schedule| (&self.project, schedule)),
            begun: self.begun,
        }
    }
}

/// Gathers it.
pub fn gather(told: Told<'_>) -> Gathered {
    let timeline = Timeline::of(told.entries);
    let work = told.plan.work();
    let is_being_planned = told.life.is_some_and(is_being_planned);
    let begun = told.life.is_some() && work.tasks.iter().any(|task| timeline.task(&task.id).began.is_some());
    let scheduled = schedule(&told.project, &Options::usual(&told.project))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    let state_of = |id: &TaskId| Some(told.life?.task_state(id.as_str())?.to_string());
    let kept = told
        .life
        .map(|life| json!({"plan_id": life.id(), "state": life.state().to_string(), "revision": life.revision()}));
    let (parts, sources) = told.life.map(|life| parts(life, &timeline)).unwrap_or_default();
    let document = document(&document::Subject {
        kept: kept.and_then(|kept| kept.as_object().cloned()).unwrap_or_default(),
        plan: &work,
        state_of: &state_of,
        scheduled: scheduled.as_ref().map(|schedule| (&told.project, schedule)).map_err(Vec::as_slice),
        source: told.source.clone(),
        parts: &parts,
    });
    let happened = told.life.map_or(Value::Null, |life| happened(&told, life, &work, &timeline));
    Gathered {
        template: told.life.and_then(template),
        title: told.plan.title.clone(),
        day: clock(told.now)[..10].to_owned(),
        document,
        schedule: scheduled,
        project: told.project,
        parts,
        sources,
        happened,
        begun,
        is_being_planned,
    }
}

/// Tells whether the steps that make a plan have not all been carried out.
fn is_being_planned(life: &Life) -> bool {
    writer(life).is_some_and(|writer| life.task_state(writer.id.as_str()) != Some(TaskState::Completed))
}

/// The step that writes the plan down.
fn writer(life: &Life) -> Option<Task> {
    let is_writer = |task: &Task| matches!(&task.action, Some(Action::Tool(tool)) if tool.name == WRITES_DOWN);
    life.plan().tasks.iter().find(|task| is_writer(task)).cloned()
}

fn args(task: &Task) -> impl Iterator<Item = (&String, &Input)> {
    let args = match &task.action {
        Some(Action::Tool(tool)) => Some(tool.args.iter()),
        _ => None,
    };
    args.into_iter().flatten()
}

fn template(life: &Life) -> Option<String> {
    let writer = writer(life)?;
    let named = args(&writer).find(|(name, _)| *name == "template");
    match named {
        Some((_, Input::Value(Value::String(name)))) => Some(name.clone()),
        _ => None,
    }
}

/// What the steps of planning made, by the names that reports use.
pub fn parts_of(life: &Life) -> Map<String, Value> {
    parts(life, &Timeline::default()).0
}

/// What the steps made, and where each part comes from.
fn parts(life: &Life, timeline: &Timeline) -> (Map<String, Value>, Vec<Source>) {
    let Some(writer) = writer(life) else { return (Map::new(), Vec::new()) };
    let steps: BTreeMap<&TaskId, &String> = args(&writer)
        .filter(|(name, _)| !NO_PARTS.contains(&name.as_str()))
        .filter_map(|(name, input)| match input {
            Input::From(Reference::Task { task, .. }) => Some((task, name)),
            _ => None,
        })
        .collect();
    let (mut parts, mut sources) = (Map::new(), Vec::new());
    for (name, input) in args(&writer).filter(|(name, _)| !NO_PARTS.contains(&name.as_str())) {
        let Input::From(Reference::Task { task, path }) = input else { continue };
        let Some(definition) = life.definition(task.as_str()) else { continue };
        let is_done = life.task_state(task.as_str()) == Some(TaskState::Completed);
        if is_done && let Some(outputs) = life.outputs(task.as_str()) {
            let whole = json!(outputs);
            let part = path.iter().fold(&whole, |value, field| &value[field]);
            parts.insert(name.clone(), part.clone());
        }
        sources.push(source(life, timeline, name, definition, &steps));
    }
    (parts, sources)
}

fn source(life: &Life, timeline: &Timeline, part: &str, step: &Task, steps: &BTreeMap<&TaskId, &String>) -> Source {
    let (span, known) = (timeline.task(&step.id), life.task_life(step.id.as_str()));
    let answered = known.and_then(|known| {
        let each = known.outputs.get("results").and_then(|results| results.get(0)?.get("answered_by"));
        known.outputs.get("answered_by").or(each)?.as_str()
    });
    let kind = match &step.action {
        Some(Action::Model(_) | Action::Agent(_) | Action::Decide(_) | Action::Map(_)) => "model",
        Some(Action::Manual(_) | Action::Ask(_) | Action::Gate(_)) => "person",
        _ => "code",
    };
    let given = step.inputs.values().chain(args(step).map(|(_, input)| input));
    let mut inputs: Vec<String> = given
        .filter_map(|input| match input {
            Input::From(Reference::Task { task, .. }) => steps.get(task).map(|name| (*name).clone()),
            _ => None,
        })
        .collect();
    inputs.sort();
    inputs.dedup();
    let state = life.task_state(step.id.as_str()).unwrap_or(TaskState::Pending);
    let missing = (state != TaskState::Completed).then(|| match about(life, &step.id) {
        why if why.is_empty() => format!("is {state}"),
        why => format!("is {state}: {why}"),
    });
    let cost = known.map(|known| json!(known.spent.cost_usd)).and_then(|cost| cost.as_f64()).unwrap_or_default();
    Source {
        part: part.to_owned(),
        task: step.id.to_string(),
        title: step.name().to_owned(),
        by: answered.unwrap_or(if kind == "model" { "" } else { kind }).to_owned(),
        kind: kind.to_owned(),
        at: span.ended.map(clock).unwrap_or_default(),
        took: span.ended.zip(span.began).map(|(end, begin)| elapsed(end - begin)).unwrap_or_default(),
        cost: if cost > 0.0 { format!("${cost:.4}") } else { "nothing".to_owned() },
        inputs,
        missing,
    }
}

/// How many tasks whoever takes a plan over is shown first.
const OPEN_MAX: usize = 12;
/// How many of the things that are waited for are named.
const WAITS_MAX: usize = 3;

/// How a plan stands, and what happened in it.
fn happened(whole: &Told<'_>, life: &Life, work: &Plan, timeline: &Timeline) -> Value {
    let now = whole.now;
    let nothing = Plan { tasks: Vec::new(), ..work.clone() };
    let work = if is_being_planned(life) { &nothing } else { work };
    // Steps of planning are no work.
    let (done, all) = if is_being_planned(life) { (None, None) } else { done_of(life, work) };
    let decisions: Vec<Value> = whole
        .entries
        .iter()
        .filter(|entry| is_decision(&entry.event))
        .map(|entry| json!({"at": clock(entry.at), "what": said(&entry.event).line()}))
        .collect();
    let failures: Vec<Value> = life
        .task_ids()
        .iter()
        .filter(|id| life.task_state(id.as_str()) == Some(TaskState::Failed))
        .map(|id| json!({"task": id, "why": about(life, id)}))
        .collect();
    let next: Vec<Value> =
        steps(life, false).into_iter().map(|step| json!({"command": step.command, "does": step.does})).collect();
    let state = if has_lost(life) && !whole.driven { "interrupted".to_owned() } else { life.state().to_string() };
    let mut told = json!({
        "id": life.id(), "state": state, "done": done, "all": all, "waits": waits(life),
        "decisions": decisions, "failures": failures, "next": next, "open": open(life),
    });
    let planned = planned_of(life, timeline).filter(|_| !work.tasks.is_empty()).and_then(|project| {
        let options = Options { draws: 0, ..Options::usual(&project) };
        schedule(&project, &options).ok()
    });
    let planned_cost = planned
        .as_ref()
        .map(|planned| Money { amount: planned.cost.total, currency: Some(planned.cost.currency.clone()) });
    let actual = |task: &Task| Actual { life, timeline, work, planned: planned.as_ref(), now }.of(task);
    let actuals: Vec<Value> = work.tasks.iter().filter_map(actual).collect();
    if life.state().is_over() {
        let end = Ending::of(whole, life, timeline);
        told["ended"] = json!(end.sentence());
        told["over"] = end.to_json(planned.as_ref());
        (told["over"]["done"], told["over"]["all"]) = (json!(done), json!(all));
    } else {
        told["not_ended"] = json!(format!("It is {state} and has not ended: this is how it stands."));
    }
    if is_being_planned(life) {
        let (made, steps) = progress(life);
        let goes_on = if life.state().is_over() {
            String::new()
        } else {
            format!("; gantry resume {} goes on with it", life.id())
        };
        told["unfinished"] = json!(format!(
            "This plan is not made yet: {made} of {steps} steps of its planning are done. What they made stands here, and \
             dates, costs and tasks are not there{goes_on}."
        ));
    }
    if let Some(planned) = planned.filter(|planned| matches!(planned.finish, Moment::Date(..))) {
        told["planned"] = json!({
            "start": planned.start.day(), "finish": planned.finish.day(),
            "cost": (!planned.cost.total.is_zero()).then(|| planned.cost.total.round()),
        });
    }
    let unbegun = |task: &&Task| task.action.is_some() && timeline.task(&task.id).began.is_none();
    let not_begun = work.tasks.iter().filter(unbegun).filter(|task| !matches!(task.action, Some(Action::Gate(_))));
    told["not_begun"] = json!(Some(not_begun.count()).filter(|count| *count > 0));
    told["actuals"] = json!(actuals);
    told["paid"] = json!(paid(work, planned_cost.as_ref()));
    told
}

/// How many pieces of work are done, and how many there are: what holds others and decisions are none.
fn done_of(life: &Life, work: &Plan) -> (Option<u32>, Option<u32>) {
    let parents: BTreeSet<&TaskId> = work.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
    let is_work = |task: &&Task| !parents.contains(&task.id) && !matches!(task.action, Some(Action::Gate(_)));
    let (mut done, mut all) = (0, 0);
    for task in work.tasks.iter().filter(is_work) {
        all += 1;
        let state = life.task_state(task.id.as_str());
        done += u32::from(matches!(state, Some(TaskState::Completed | TaskState::Skipped)));
    }
    let (done, all) = if all > 0 { (done, all) } else { progress(life) };
    (Some(done), Some(all))
}

/// What the plan waits for, each by the name of its task.
fn waits(life: &Life) -> Vec<String> {
    let title = |task: &TaskId| life.definition(task.as_str()).map(|task| task.name().to_owned());
    let one = |wait: WaitsFor| match wait.task.as_ref().and_then(title) {
        Some(title) => format!("“{title}” waits for {}", wait.what),
        None => format!("waits for {}", wait.what),
    };
    let mut all: Vec<String> = life.waits().map(one).collect();
    let more = all.len().saturating_sub(WAITS_MAX);
    all.truncate(WAITS_MAX);
    all.extend((more > 0).then(|| format!("{more} more wait")));
    all
}

/// What somebody wrote down that a task has cost.
fn recorded<'p>(work: &'p Plan, task: &Task) -> Option<&'p Money> {
    work.schedule.of(task)?.spent.as_ref()
}

fn in_words(money: &Money, currency: &str) -> String {
    format!("{} {}", money.amount, money.currency.as_deref().unwrap_or(currency)).trim().to_owned()
}

/// What was paid, as far as somebody wrote it down; nothing where nothing was to be paid.
fn paid(work: &Plan, planned: Option<&Money>) -> Option<String> {
    let all: Vec<&Money> = work.tasks.iter().filter_map(|task| recorded(work, task)).collect();
    if all.is_empty() {
        let costs = planned.is_some_and(|planned| !planned.amount.is_zero());
        return costs.then(|| "nobody recorded what was paid".to_owned());
    }
    let currency = planned.and_then(|planned| planned.currency.as_deref()).unwrap_or_default();
    let mut sums: BTreeMap<&str, Money> = BTreeMap::new();
    for money in &all {
        let currency = money.currency.as_deref().unwrap_or(currency);
        sums.entry(currency).or_default().amount += money.amount;
    }
    let sums: Vec<String> = sums.iter().map(|(currency, sum)| in_words(sum, currency)).collect();
    Some(format!("{}, as recorded for {}", sums.join(" and "), crate::count(all.len(), "task")))
}

/// How a plan came to its end.
struct Ending {
    state: PlanState,
    at: Timestamp,
    took: String,
    /// Who ended it, and why; nothing where it was done.
    why: Option<String>,
}

impl Ending {
    fn of(whole: &Told<'_>, life: &Life, timeline: &Timeline) -> Self {
        let ends = |event: &Event| matches!(event, Event::PlanFailed { .. } | Event::PlanAbandoned { .. });
        let last = whole.entries.iter().rev().find(|entry| ends(&entry.event));
        Self {
            state: life.state(),
            at: timeline.plan.ended.unwrap_or(whole.now),
            took: timeline.plan.length(whole.now).map(elapsed).unwrap_or_default(),
            why: last.filter(|_| life.state() != PlanState::Completed).map(|entry| said(&entry.event).line()),
        }
    }

    fn sentence(&self) -> String {
        let why = self.why.as_ref().map(|why| format!(" Why: {}.", why.trim_end_matches('.'))).unwrap_or_default();
        format!("It ended {} on {}, after {}.{why}", self.state, clock(self.at), self.took)
    }

    /// For reports: the end, and what became of the deadline.
    fn to_json(&self, planned: Option<&Schedule>) -> Value {
        let whole = planned.and_then(|planned| planned.deadlines.iter().find(|verdict| verdict.task.is_none()));
        let due = whole.and_then(|verdict| match verdict.at {
            Moment::Date(at, _) => Some(Timestamp::from_ms(at.as_millisecond())),
            Moment::Count(_) => None,
        });
        let (deadline, tone) = match (self.state, due) {
            (PlanState::Completed, Some(due)) if self.at > due => {
                (Some(format!("missed by {}", elapsed(self.at - due))), "bad")
            }
            (PlanState::Completed, Some(_)) => (Some("met".to_owned()), "good"),
            (PlanState::Completed, None) => (None, "good"),
            (_, Some(_)) => (Some("not met, as it was not completed".to_owned()), "bad"),
            (_, None) => (None, "bad"),
        };
        json!({
            "state": self.state.to_string(), "day": &clock(self.at)[..10], "took": self.took, "why": self.why,
            "deadline": deadline, "tone": tone,
            "cost": planned.filter(|planned| !planned.cost.total.is_zero()).map(|planned| planned.cost.total.round()),
        })
    }
}

/// What is under way, waits or can be taken up, in the order of the plan.
fn open(life: &Life) -> Vec<Value> {
    let is_open = |id: &&TaskId| {
        let state = life.task_state(id.as_str());
        matches!(state, Some(TaskState::Running | TaskState::Waiting | TaskState::Blocked | TaskState::Ready))
    };
    let known = life.task_ids();
    let open = known.iter().filter(is_open).filter_map(|id| life.definition(id.as_str()));
    open.filter(|task| task.action.is_some())
        .take(OPEN_MAX)
        .map(|task| {
            let state = life.task_state(task.id.as_str()).map(|state| state.to_string());
            let about = Some(about(life, &task.id)).filter(|about| !about.is_empty());
            json!({"title": task.name(), "owner": task.owner, "state": state, "about": about})
        })
        .collect()
}

/// A task as it was planned and as it went.
struct Actual<'a> {
    life: &'a Life,
    timeline: &'a Timeline,
    work: &'a Plan,
    /// The schedule of the plan as it was when it began; none where it has no dates.
    planned: Option<&'a Schedule>,
    now: Timestamp,
}

impl Actual<'_> {
    fn of(&self, task: &Task) -> Option<Value> {
        let span = self.timeline.task(&task.id);
        let began = span.began?;
        let known = self.life.task_life(task.id.as_str())?;
        let row = self.planned.and_then(|planned| planned.tasks.iter().find(|row| row.id == task.id.as_str()));
        let day = |moment: Moment| matches!(moment, Moment::Date(..)).then(|| moment.day());
        let hours = row.and_then(|row| row.hours).map(|hours| hours.likely.to_string());
        let own = task.estimate.as_ref().and_then(|estimate| json!(estimate)["likely"].as_str().map(str::to_owned));
        let cost = json!(known.spent.cost_usd).as_f64().filter(|cost| *cost > 0.0).map(|cost| format!("${cost:.4}"));
        let currency = self.planned.map(|planned| planned.cost.currency.as_str()).unwrap_or_default();
        let paid = recorded(self.work, task).map(|paid| in_words(paid, currency));
        let state = self.life.task_state(task.id.as_str());
        let was_ended = matches!(state, Some(TaskState::Failed | TaskState::Skipped | TaskState::Abandoned));
        Some(json!({
            "title": task.name(), "planned": hours.or(own),
            "planned_start": row.and_then(|row| day(row.start)), "planned_finish": row.and_then(|row| day(row.finish)),
            "planned_cost": row.filter(|row| !row.cost.is_zero()).map(|row| row.cost.round()), "paid": paid,
            "began": clock(began), "ended": span.ended.map(clock), "took": span.length(self.now).map(elapsed),
            "state": state.map(|state| state.to_string()), "spent": cost,
            "why": Some(about(self.life, &task.id)).filter(|why| !why.is_empty() && was_ended),
        }))
    }
}
