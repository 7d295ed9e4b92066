//! What is different for whoever decides a gate: what it would adopt, and what changed since it was last decided.

use std::collections::{BTreeMap, BTreeSet};

use gantry_core::event::{Entry, Event};
use gantry_core::id::TaskId;
use gantry_core::life::Life;
use gantry_core::plan::{Action, Plan, Task, diff};
use gantry_engine::EngineError;
use gantry_store::Store;
use serde_json::{Value, json};

use crate::plain;
use crate::revision::life_after;

/// How many results are told, at most.
const RESULTS_MAX: usize = 50;

/// What is different for whoever decides a gate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateNews {
    /// The last decision about it; none when this is the first.
    pub last: Option<Entry>,
    /// What of the plan is different since then, line by line.
    pub plan: Vec<String>,
    /// What of the plan will be different when what waits behind the gate is adopted, line by line.
    pub adopts: Vec<String>,
    /// Results of the work before the gate that are not what they were; all of what it stands right behind when this is
    /// the first decision.
    pub results: Vec<Made>,
}

/// A result of the work before a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Whose it is.
    pub task: TaskId,
    /// What it is called.
    pub name: String,
    /// What it was; none when there was none.
    pub before: Option<Value>,
    /// What it is; none when there is none any more.
    pub after: Option<Value>,
}

impl GateNews {
    /// It for programs. The keys are a promise.
    pub fn to_json(&self) -> Value {
        let last = self.last.as_ref().map(|entry| match &entry.event {
            Event::GateDecided { by, decision, rationale, .. } => {
                json!({"seq": entry.seq, "at": entry.at, "by": by, "decision": decision, "rationale": rationale})
            }
            _ => Value::Null,
        });
        let made = |one: &Made| json!({"task": one.task, "name": one.name, "before": one.before, "after": one.after});
        let results: Vec<Value> = self.results.iter().map(made).collect();
        json!({"since": last, "plan": self.plan, "adopts": self.adopts, "results": results})
    }
}

/// Finds what is different for whoever decides a gate.
pub async fn gate_news(store: &dyn Store, life: &Life, gate: &TaskId) -> Result<GateNews, EngineError> {
    let entries = gantry_engine::entries(store, life.id()).await?;
    let decided = |entry: &&Entry| matches!(&entry.event, Event::GateDecided { task, .. } if task == gate);
    let last = entries.iter().rfind(decided).cloned();
    let plan = life.plan();
    let needs = Needs::of(&plan);
    let adopts = if needs.adopted_behind(&plan, gate) { lines(&plan, &life.proposed()) } else { Vec::new() };
    let Some(entry) = last else {
        let results = needs.before(gate).map(|task| made(None, life, task)).collect::<Vec<_>>().concat();
        return Ok(GateNews { adopts, results: bounded(results), ..GateNews::default() });
    };
    // As it stood before the decision: what follows from the decision is in the entries behind it.
    let then = life_after(store, life.id(), entry.seq.saturating_sub(1).max(1)).await?;
    let results = needs.all_before(gate).iter().map(|task| made(Some(&then), life, task)).collect::<Vec<_>>().concat();
    Ok(GateNews { last: Some(entry), plan: lines(&then.plan(), &plan), adopts, results: bounded(results) })
}

fn bounded(mut results: Vec<Made>) -> Vec<Made> {
    results.truncate(RESULTS_MAX);
    results
}

fn lines(before: &Plan, after: &Plan) -> Vec<String> {
    diff(before, after).to_string().lines().map(plain).collect()
}

/// The results of a task that are not what they were.
fn made(then: Option<&Life>, now: &Life, task: &TaskId) -> Vec<Made> {
    let of = |life: Option<&Life>| life.and_then(|life| life.outputs(task.as_str())).cloned().unwrap_or_default();
    let (old, new) = (of(then), of(Some(now)));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    changed
        .map(|name| Made {
            task: task.clone(),
            name: name.clone(),
            before: old.get(name).cloned(),
            after: new.get(name).cloned(),
        })
        .collect()
}

/// Who needs whom.
struct Needs(BTreeMap<TaskId, Vec<TaskId>>);

impl Needs {
    fn of(plan: &Plan) -> Self {
        let mut needs: BTreeMap<TaskId, Vec<TaskId>> =
            plan.tasks.iter().map(|task| task.id.clone()).zip(plan.waits()).collect();
        // A whole is done when its parts are, and a part waits for whatever its wholes wait for.
        let known: BTreeMap<&TaskId, &Task> = plan.tasks.iter().map(|task| (&task.id, task)).collect();
        for task in &plan.tasks {
            let wholes = std::iter::successors(known.get(&task.id), |one| known.get(one.parent.as_ref()?)).skip(1);
            let around = wholes.take(known.len()).flat_map(|whole| whole.depends_on.clone());
            needs.entry(task.id.clone()).or_default().extend(around);
            if let Some(parent) = &task.parent {
                needs.entry(parent.clone()).or_default().push(task.id.clone());
            }
        }
        Self(needs)
    }

    /// What a task stands right behind.
    fn before(&self, task: &TaskId) -> impl Iterator<Item = &TaskId> {
        self.0.get(task).into_iter().flatten()
    }

    /// Everything that comes before a task.
    fn all_before(&self, task: &TaskId) -> BTreeSet<TaskId> {
        let (mut found, mut open) = (BTreeSet::new(), vec![task.clone()]);
        while let Some(next) = open.pop() {
            for before in self.before(&next) {
                if found.insert(before.clone()) {
                    open.push(before.clone());
                }
            }
        }
        found
    }

    /// Tells whether something is adopted behind a task.
    fn adopted_behind(&self, plan: &Plan, task: &TaskId) -> bool {
        let adopting = plan.tasks.iter().filter(|one| matches!(one.action, Some(Action::Adopt(_))));
        adopting.into_iter().any(|one| self.all_before(&one.id).contains(task))
    }
}
