//! Random plans from a seed: every sort of action, edge, limit and remedy, and all of them valid.

mod actions; // in reading order
mod policy;
mod results;
mod shape;
mod tasks;

use gantry_core::expr::Expr;
use gantry_core::id::TaskId;
use gantry_core::plan::{
    Action, Adopt, Capability, Check, Compute, Hypothesis, Input, On, Plan, Reference, Route, Severity, Task,
};
use gantry_core::time::{Duration, Timestamp};
use serde_json::json;

use crate::dice::Dice;

pub use actions::action;
pub use shape::Shape;
pub use tasks::{leaf, task_id};

/// When every simulated plan is created.
pub const BEGINNING: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// After this many drawings that are not valid, a plan of one task is taken.
const DRAWINGS_MAX: u32 = 40;

/// A drawn plan.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The plan; it passes [`Plan::check`] without errors.
    pub plan: Plan,
    /// How many drawings were thrown away because they were not valid.
    pub discarded: u32,
}

/// Draws a valid plan.
pub fn draw(dice: &mut Dice) -> Drawn {
    for discarded in 0..DRAWINGS_MAX {
        let plan = sketch(dice);
        if is_valid(&plan) {
            return Drawn { plan, discarded };
        }
    }
    let plan = Plan { title: "One task".to_owned(), tasks: vec![leaf(dice, "t0")], ..Plan::default() };
    Drawn { plan, discarded: DRAWINGS_MAX }
}

impl Drawn {
    /// Lets one task more take in a plan, whose names may be taken; what was drawn otherwise stays.
    ///
    /// What is taken in may go around in a loop of its own, and may be taken in again in a loop around it.
    #[must_use]
    pub fn adopting(mut self, dice: &mut Dice) -> Self {
        let name = dice.word(&["own", "own-too", "t0"]);
        let first = leaf(dice, name);
        let mut second = Task { depends_on: vec![first.id.clone()], ..leaf(dice, "own-then") };
        if dice.percent(30) {
            second.next.push(way_back(dice, &first));
        }
        let last = Task { depends_on: vec![second.id.clone()], ..leaf(dice, "own-last") };
        let made = match dice.below(10) {
            0 => json!("no plan"),
            1..=3 => json!({"tasks": [first]}),
            4..=6 => json!({"tasks": [first, second]}),
            _ => json!({"tasks": [first, second, last]}),
        };
        let mut task = Task::new(TaskId::slugged("adopts"));
        task.action = Some(Action::Adopt(Adopt(Input::Value(made))));
        task.timebox = dice.percent(20).then(|| seconds(dice, 10, 500));
        let roots: Vec<&Task> = self.plan.tasks.iter().filter(|task| task.parent.is_none()).collect();
        task.depends_on.extend(dice.pick(&roots).map(|before| before.id.clone()));
        let mut plan = self.plan.clone();
        if dice.percent(50) {
            let mut sender = Task { depends_on: vec![task.id.clone()], ..leaf(dice, "sends-back") };
            sender.next.push(way_back(dice, &task));
            plan.tasks.push(sender);
        }
        plan.tasks.push(task);
        if is_valid(&plan) {
            self.plan = plan;
        }
        self
    }
}

impl Drawn {
    /// Lets what some maps make read what a task before them gave; what was drawn otherwise stays.
    #[must_use]
    pub fn reading(mut self, dice: &mut Dice) -> Self {
        for at in 0..self.plan.tasks.len() {
            let before: Vec<TaskId> = self.plan.tasks[..at].iter().map(|task| task.id.clone()).collect();
            let mut plan = self.plan.clone();
            let Some(Action::Map(map)) = &mut plan.tasks[at].action else { continue };
            let (Some(each), Some(task)) = (&mut map.each, dice.pick(&before).cloned()) else { continue };
            let path = vec![dice.word(&["items", "score"]).to_owned()];
            each.inputs.insert("known".to_owned(), Input::From(Reference::Task { task, path }));
            if is_valid(&plan) {
                self.plan = plan;
            }
        }
        self
    }
}

impl Drawn {
    /// Lets what is computed or decided read what tasks before it gave, however far; what was drawn otherwise stays.
    #[must_use]
    pub fn computing(mut self, dice: &mut Dice) -> Self {
        for at in 0..self.plan.tasks.len() {
            let before = upstream(&self.plan, at);
            let Some(read) = dice.pick(&before).cloned() else { continue };
            let mut plan = self.plan.clone();
            let source = format!("default(tasks.{read}.score, 1) * 2");
            let task = &mut plan.tasks[at];
            match &mut task.action {
                Some(Action::Compute(compute)) => {
                    compute.0.extend(Expr::parse(&source).ok().map(|expr| ("seen".to_owned(), expr)));
                }
                Some(Action::Decide(decide)) if decide.is_computed() => {
                    let first = decide.options.first_mut();
                    let when = Expr::parse(&format!("{source} > 8")).ok();
                    if let Some(branch) = first {
                        branch.when = when;
                    }
                }
                Some(Action::Wait(_)) => {
                    let score = Expr::parse(&source).ok().map(|expr| ("score".to_owned(), expr));
                    task.action = Some(Action::Compute(Compute(score.into_iter().collect())));
                }
                _ => continue,
            }
            if is_valid(&plan) {
                self.plan = plan;
            }
        }
        self
    }
}

/// Everything that a task waits for, however far before it.
fn upstream(plan: &Plan, at: usize) -> Vec<TaskId> {
    let needs = |id: &TaskId| plan.task(id.as_str()).map(|task| task.depends_on.clone()).unwrap_or_default();
    let mut found: Vec<TaskId> = Vec::new();
    let mut look = plan.tasks[at].depends_on.clone();
    while let Some(id) = look.pop() {
        if !found.contains(&id) {
            look.extend(needs(&id));
            found.push(id);
        }
    }
    found.sort();
    found
}

/// A bounded way back to a task.
fn way_back(dice: &mut Dice, to: &Task) -> Route {
    let on = if dice.percent(50) { On::Success } else { On::Failure };
    Route { on, to: to.id.clone(), max: Some(dice.small(1, 2)), when: None }
}

/// A tool that wants something to be true before it is used.
fn capability(dice: &mut Dice) -> Capability {
    let name = dice.word(&["search", "files.edit", "gpu"]).to_owned();
    let fact = dice.word(&["network.online == true", "memory.level > 1"]);
    Capability { name, preconditions: vec![Check::read(fact)], mutates: dice.percent(50), ..Capability::default() }
}

/// Tells whether a plan may begin a life.
pub fn is_valid(plan: &Plan) -> bool {
    plan.check().iter().all(|problem| problem.severity != Severity::Error)
}

/// A length of time between two numbers of seconds.
pub fn seconds(dice: &mut Dice, low: u64, high: u64) -> Duration {
    Duration::from_ms(dice.between(low * 1_000, high * 1_000))
}

fn sketch(dice: &mut Dice) -> Plan {
    let size = match dice.below(1_000) {
        0..=4 => 300,
        5..=299 => dice.between(1, 5),
        300..=849 => dice.between(4, 20),
        _ => dice.between(15, 60),
    };
    let shape = Shape::draw(dice, usize::try_from(size).unwrap_or(1));
    let mut plan = Plan { title: format!("Simulated plan of {size}"), ..Plan::default() };
    plan.policy = policy::draw(dice, size, u32::try_from(shape.depth()).unwrap_or(1));
    plan.tasks = tasks::draw(dice, &shape, &plan.policy);
    results::draw(dice, &shape, &mut plan);
    if plan.policy.require_gate_for_prod {
        tasks::put_deploys_behind_gates(dice, &shape, &mut plan.tasks);
    }
    if dice.percent(12) {
        plan.capabilities.push(capability(dice));
    }
    if dice.percent(10) {
        plan.deadline = Some(BEGINNING + seconds(dice, 1, 100_000));
    }
    if dice.percent(30) {
        plan.owner = Some("olga".to_owned());
    }
    if dice.percent(15) {
        let id = task_id(dice.index(shape.len()));
        let check = match dice.below(3) {
            0 => format!("tasks.{id}.state == \"completed\""),
            1 => "network.online == true".to_owned(),
            _ => "everybody is content".to_owned(),
        };
        plan.done_when.push(Check::read(&check));
    }
    if dice.percent(20) {
        let statement = Some("it can be done".to_owned());
        plan.hypotheses.push(Hypothesis { id: "H1".to_owned(), statement, ..Hypothesis::default() });
    }
    plan
}
