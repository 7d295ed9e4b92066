//! `gantry run --dry-run`: what each task would do, in the order in which it could. Nothing is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use gantry_core::effect::Failure;
use gantry_core::id::{AttemptNo, PlanId, TaskId};
use gantry_core::life::{self, Life};
use gantry_core::plan::{Action, Input, Map, Plan, Task};
use gantry_core::policy::{FailureClass, ProseBy, Usage};
use gantry_core::time::Timestamp;
use gantry_engine::Options;
use gantry_runners::{Brief, Foreseen, Place, Runners, Work};
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::file::count;
use crate::model::options::ModelOptions;
use crate::session;
use crate::show::style::{self, paint};
use crate::show::{first_line, plain, text_of};
use crate::talk::talk;

/// What would become of one task.
struct Shown {
    /// Which one: below the tasks whose plans it is inside, `outer/inner`.
    task: String,
    action: String,
    text: String,
    diff: Option<String>,
    unknown: Vec<String>,
    /// The exit code, when it may not be done.
    forbidden: Option<u8>,
}

/// Shows what a plan would do.
pub async fn run(
    plan: Plan,
    root: PathBuf,
    options: Options,
    models: ModelOptions,
    json: bool,
) -> Result<ExitCode, Fault> {
    let name = plan.name().to_owned();
    let all = foreseen(plan, root, options, models).await?;
    let worst = all.iter().filter_map(|shown| shown.forbidden).max();
    if json {
        exit::print_json(&told(&name, &all))?;
    } else {
        exit::print(&drawn(&name, &all))?;
        if let Some(code) = worst {
            let number = all.iter().filter(|shown| shown.forbidden.is_some()).count();
            let what = if code == exit::REFUSED { "allowed" } else { "possible" };
            let are = if number == 1 { "is" } else { "are" };
            talk!("error: {} {are} not {what}; nothing was touched", count(number, "task"));
        }
    }
    Ok(ExitCode::from(worst.unwrap_or(exit::DONE)))
}

/// What a plan would do, for programs.
pub async fn of(plan: Plan, root: PathBuf, options: Options, models: ModelOptions) -> Result<Value, Fault> {
    let name = plan.name().to_owned();
    Ok(told(&name, &foreseen(plan, root, options, models).await?))
}

fn told(name: &str, all: &[Shown]) -> Value {
    let ok = all.iter().all(|shown| shown.forbidden.is_none());
    json!({"ok": ok, "title": name, "tasks": all.iter().map(to_json).collect::<Vec<_>>()})
}

/// What would become of the tasks of a plan in this folder.
async fn foreseen(plan: Plan, root: PathBuf, options: Options, models: ModelOptions) -> Result<Vec<Shown>, Fault> {
    let runners = session::runners(models)?;
    let place = Place {
        policy: Arc::new(plan.policy.clone()),
        sandbox: options.sandbox,
        secrets: options.secrets,
        environment: options.environment,
        limits: options.limits,
        foreseen: Foreseen::begin(),
        ..Place::at(root)
    };
    walk(plan, &runners, &place, "").await.map_err(Fault::bad_input)
}

/// What would become of the tasks of a plan, with those of plans inside and of lists that are known. Says why it cannot
/// be a plan at all.
fn walk<'a>(plan: Plan, runners: &'a Runners, place: &'a Place, within: &'a str) -> Walk<'a> {
    Box::pin(async move {
        let id = plan.id.clone().unwrap_or_else(|| PlanId::slugged(plan.name()));
        let entries = life::create(plan, id, 0, Timestamp::default()).map_err(|refusal| refusal.to_string())?;
        let life = life::replay(&entries).map_err(|bad| bad.to_string())?;
        let plan = life.plan();
        let parents: BTreeSet<&TaskId> = plan.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
        let mut all: Vec<Shown> = Vec::new();
        // Tasks that may change files in ways that nobody can foresee.
        let mut unforeseen: Vec<&TaskId> = Vec::new();
        for task in in_order(&plan) {
            let mut shown = show(task, &parents, &life, runners, place).await;
            if shown.text == NOTHING && !unforeseen.is_empty() {
                let names: Vec<String> = unforeseen.iter().map(|task| format!("`{task}`")).collect();
                shown.text = format!("{NOTHING}, unless {} changes it first", names.join(" or "));
            }
            if may_change_files(task, &shown) {
                unforeseen.push(&task.id);
            }
            shown.task = format!("{within}{}", task.id);
            let parts = match &task.action {
                Some(Action::Plan(nested)) => match &nested.plan {
                    Some(inner) => {
                        let above = std::iter::once(&place.policy).chain(&place.above).cloned().collect();
                        let place = Place { policy: Arc::new(inner.policy.clone()), above, ..place.clone() };
                        walk(Plan::clone(inner), runners, &place, &format!("{within}{}/", task.id)).await
                    }
                    None => Ok(Vec::new()),
                },
                Some(Action::Map(map)) => match items(&plan, task, map) {
                    Some(items) => walk(items, runners, place, within).await,
                    None => Ok(Vec::new()),
                },
                _ => Ok(Vec::new()),
            };
            match parts {
                Ok(parts) => all.extend(std::iter::once(shown).chain(parts)),
                Err(why) => {
                    let text = format!("is not possible: {why}");
                    all.push(Shown { text, forbidden: Some(exit::BAD_INPUT), ..shown });
                }
            }
        }
        Ok(all)
    })
}

type Walk<'a> = Pin<Box<dyn Future<Output = Result<Vec<Shown>, String>> + Send + 'a>>;

/// The tasks that a map becomes, as a plan of their own, when its list is known and not too long. What they are to get
/// from other tasks is not known yet.
fn items(plan: &Plan, task: &Task, map: &Map) -> Option<Plan> {
    let Input::Value(Value::Array(list)) = &map.over else { return None };
    let limit = plan.policy.map_limit(map.max);
    if list.is_empty() || list.len() > limit as usize {
        return None;
    }
    let child = |(index, item): (usize, &Value)| {
        let id = task.id.with_ending(&format!("-{}", index + 1));
        let mut child = map.child(task, id, index + 1, item);
        child.parent = None;
        child.depends_on.clear();
        child.next.clear();
        child.inputs.retain(|_, input| matches!(input, Input::Value(_)));
        child
    };
    let tasks = list.iter().enumerate().map(child).collect();
    Some(Plan { title: plan.title.clone(), policy: plan.policy.clone(), tasks, ..Plan::default() })
}

/// What a preview says when everything is as it should be.
const NOTHING: &str = "nothing would change";

/// Tells whether a task may change files in a way that its preview does not show.
fn may_change_files(task: &Task, shown: &Shown) -> bool {
    match &task.action {
        Some(
            Action::Run(_) | Action::Agent(_) | Action::Plan(_) | Action::UndoTo(_) | Action::Map(_) | Action::Adopt(_),
        ) => true,
        Some(Action::Command(command)) => command.calls().is_none() || shown.diff.is_none(),
        Some(Action::Tool(tool)) => !tool.only_reads() && shown.diff.is_none() && shown.text != NOTHING,
        None | Some(_) => false,
    }
}

/// The tasks so that each stands behind everything that it waits for, otherwise as in the file.
fn in_order(plan: &Plan) -> Vec<&Task> {
    let numbers: BTreeMap<&TaskId, usize> = plan.tasks.iter().enumerate().map(|(no, task)| (&task.id, no)).collect();
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); plan.tasks.len()];
    // Whoever waits for a composite waits for its parts.
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (no, task) in plan.tasks.iter().enumerate() {
        let parent = |no: &usize| plan.tasks[*no].parent.as_ref().and_then(|id| numbers.get(id)).copied();
        for above in std::iter::successors(parent(&no), parent).take(plan.tasks.len()) {
            parts.entry(above).or_default().push(no);
        }
        after[no].extend(task.parent.as_ref().and_then(|id| numbers.get(id)));
        for route in task.next.iter().filter(|route| route.max.is_none()) {
            if let Some(to) = numbers.get(&route.to).copied().filter(|to| *to > no) {
                after[to].insert(no);
            }
        }
    }
    for (no, waits) in plan.waits().iter().enumerate() {
        for before in waits.iter().filter_map(|id| numbers.get(id)) {
            after[no].insert(*before);
            after[no].extend(parts.get(before).into_iter().flatten().filter(|part| **part != no));
        }
    }
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); plan.tasks.len()];
    let mut left: Vec<usize> = after.iter().map(BTreeSet::len).collect();
    for (no, before) in after.iter().enumerate() {
        for before in before {
            behind[*before].push(no);
        }
    }
    let mut ready: BTreeSet<usize> = (0..plan.tasks.len()).filter(|no| left[*no] == 0).collect();
    let (mut order, mut placed) = (Vec::new(), vec![false; plan.tasks.len()]);
    while let Some(no) = ready.pop_first() {
        placed[no] = true;
        order.push(&plan.tasks[no]);
        for next in &behind[no] {
            left[*next] -= 1;
            if left[*next] == 0 {
                ready.insert(*next);
            }
        }
    }
    order.extend(plan.tasks.iter().zip(placed).filter(|(_, placed)| !placed).map(|(task, _)| task));
    order
}

/// What would become of one task, as far as that is known before anything ran.
async fn show(task: &Task, parents: &BTreeSet<&TaskId>, life: &Life, runners: &Runners, place: &Place) -> Shown {
    let action = task.action.as_ref();
    let key = match action {
        Some(Action::Tool(tool)) => tool.name.clone(),
        Some(action) => action.key().to_owned(),
        None => "manual".to_owned(),
    };
    let unknown = unknown_inputs(task);
    let shown =
        Shown { task: task.id.to_string(), action: key, text: String::new(), diff: None, unknown, forbidden: None };
    if parents.contains(&task.id) && action.is_none() {
        return Shown { action: "parts".to_owned(), text: "would let its parts start".to_owned(), ..shown };
    }
    if let Some(text) = without_runner(task, life) {
        return Shown { text, ..shown };
    }
    let Some(action) = action else { return shown };
    let work = first_attempt(life, task, action);
    // What a tool works on is in its arguments: without them there is nothing to show.
    if matches!(action, Action::Tool(_)) && !shown.unknown.is_empty() {
        let text = format!("would work on {}, not known yet", shown.unknown.join(", "));
        return Shown { text, ..shown };
    }
    if let Some(failure) = missing(action, runners).filter(|failure| failure.class == FailureClass::Policy) {
        return Shown { text: format!("would ask for help: {}", failure.message), ..shown };
    }
    if let Err(failure) = runners.guard(&work, place) {
        let code = if failure.class == FailureClass::Policy { exit::REFUSED } else { exit::BAD_INPUT };
        let what = if code == exit::REFUSED { "is not allowed" } else { "is not possible" };
        return Shown { text: format!("{what}: {}", failure.message), forbidden: Some(code), ..shown };
    }
    match runners.preview(&work, place).await {
        Ok(preview) => Shown { text: preview.text, diff: preview.diff, ..shown },
        Err(failure) => Shown { text: format!("cannot be shown yet: {}", failure.message), ..shown },
    }
}

/// Why the capabilities that an action names are not all here.
fn missing(action: &Action, runners: &Runners) -> Option<Failure> {
    let names: Vec<&str> = match action {
        Action::Tool(tool) => vec![&tool.name],
        Action::Command(command) => command.calls().unwrap_or_default().iter().map(|call| call.name.as_str()).collect(),
        _ => Vec::new(),
    };
    names.into_iter().find_map(|name| runners.get(name).err())
}

/// Inputs that exist only after others ran.
fn unknown_inputs(task: &Task) -> Vec<String> {
    let no_more = BTreeMap::new();
    let more = match &task.action {
        Some(Action::Tool(tool)) => &tool.args,
        Some(Action::Plan(nested)) => &nested.with,
        _ => &no_more,
    };
    let from = |(name, input): (&String, &Input)| match input {
        Input::From(reference) => Some(format!("{name} (from {reference})")),
        Input::Value(_) => None,
    };
    task.inputs.iter().chain(more).filter_map(from).collect()
}

/// What a task would do that no runner carries out.
fn without_runner(task: &Task, life: &Life) -> Option<String> {
    let person = |what: &str| format!("would wait for someone to do it: {}", first_line(what, 200));
    match &task.action {
        None => Some(person(task.description.as_deref().unwrap_or(task.name()))),
        Some(Action::Manual(manual)) => Some(person(&manual.instruction)),
        Some(Action::Command(command)) if command.calls().is_none() => match life.header().policy.prose {
            ProseBy::Person => Some(person(command.text())),
            ProseBy::Model | ProseBy::Agent => Some(format!("would ask a model: {}", first_line(command.text(), 200))),
        },
        Some(Action::Gate(gate)) => Some(match gate.approvals {
            Some(number) => format!("would wait for {}", count(number as usize, "approval")),
            None => "would check, and wait for an approval where words are to be judged".to_owned(),
        }),
        Some(Action::Ask(ask)) => Some(format!("would ask: {}", first_line(&ask.question, 200))),
        Some(Action::Decide(decide)) => Some(format!("would decide: {}", first_line(&decide.question, 200))),
        Some(Action::Wait(wait)) => Some(format!("would wait: {wait}")),
        Some(Action::Map(map)) => Some(match &map.over {
            Input::Value(Value::Array(list)) => format!("would become {}", count(list.len(), "task")),
            _ => "would become one task for each item, once the list is known".to_owned(),
        }),
        Some(Action::Adopt(_)) => Some("would take in the tasks of a plan, once it is made".to_owned()),
        Some(Action::Compute(compute)) => {
            Some(format!("would compute {}", compute.0.keys().cloned().collect::<Vec<_>>().join(", ")))
        }
        Some(Action::UndoTo(undo)) => Some(format!("would take back everything since `{}`", undo.0)),
        Some(Action::Plan(nested)) => Some(match &nested.plan {
            Some(plan) => format!("would run a plan with {}", count(plan.tasks.len(), "task")),
            None => format!("would run the template `{}`", nested.template.as_deref().unwrap_or_default()),
        }),
        Some(Action::Model(_)) => Some("would ask a model".to_owned()),
        Some(Action::Agent(agent)) => Some(format!("would let a model work: {}", first_line(&agent.goal, 200))),
        Some(Action::Run(_) | Action::Command(_) | Action::Tool(_) | Action::Checkpoint(_)) => None,
    }
}

fn to_json(shown: &Shown) -> Value {
    json!({
        "task": shown.task, "action": shown.action, "preview": shown.text, "diff": shown.diff,
        "unknown": shown.unknown, "forbidden": shown.forbidden.is_some(),
    })
}

fn drawn(name: &str, all: &[Shown]) -> String {
    let title = first_line(name, 100);
    let mut lines = vec![format!("{}: what would be done; nothing is touched", paint(style::STRONG, title))];
    for (index, shown) in all.iter().enumerate() {
        let tone = if shown.forbidden.is_some() { style::BAD } else { style::PLAIN };
        lines.push(format!(
            "\n{}. {} {}",
            index + 1,
            paint(style::STRONG, &shown.task),
            paint(style::FAINT, &shown.action)
        ));
        for line in shown.text.lines() {
            lines.push(format!("   {}", paint(tone, plain(line))));
        }
        if !shown.unknown.is_empty() && !shown.text.contains("not known yet") {
            lines.push(format!("   its inputs are not known yet: {}", shown.unknown.join(", ")));
        }
        for line in shown.diff.iter().flat_map(|diff| diff.lines()) {
            let tone = match line.as_bytes().first() {
                Some(b'+') => style::GOOD,
                Some(b'-') => style::BAD,
                _ => style::FAINT,
            };
            lines.push(format!("   {}", paint(tone, plain(line))));
        }
    }
    text_of(lines)
}

/// The first attempt at a task, as far as it is known before anything ran.
pub fn first_attempt(life: &Life, task: &Task, action: &Action) -> Work {
    let header = life.header();
    Work {
        plan: life.id().clone(),
        task: task.id.clone(),
        attempt: AttemptNo(1),
        key: String::new(),
        action: action.clone(),
        inputs: life.inputs_of(task.id.as_str()),
        feedback: None,
        reserved: Usage::default(),
        timeout: task.timeout,
        heartbeat: None,
        environment: task.environment.clone(),
        undo: task.undo.clone(),
        may_spend: header.policy.budget.smaller(task.budget),
        purse: Arc::default(),
        brief: Arc::new(Brief {
            objective: if header.objective.is_empty() { header.title.clone() } else { header.objective.clone() },
            constraints: header.constraints.clone(),
            title: task.name().to_owned(),
            description: task.description.clone().unwrap_or_default(),
            outputs: task.outputs.clone(),
            artifacts: task.artifacts.iter().map(|artifact| artifact.name.clone()).collect(),
            criteria: task.success_criteria.iter().map(ToString::to_string).collect(),
        }),
    }
}
