//! Random actions of every sort.

use std::collections::BTreeMap;

use gantry_core::expr::Expr;
use gantry_core::plan::{
    Action, Agent, Ask, Branch, Check, Checkpoint, Choice, Command, Compute, Decide, Gate, Input, Manual, Map, Model,
    Nested, Plan, Run, Task, Tool, UndoTo, Wait,
};
use serde_json::json;

use super::{BEGINNING, leaf, seconds};
use crate::dice::Dice;

/// Outcomes that questions and decisions offer.
const OUTCOMES: [&str; 3] = ["yes", "no", "later"];

/// Draws an action; `names` are tasks that an undo could go back to.
pub fn action(dice: &mut Dice, names: &[String]) -> Option<Action> {
    Some(match dice.below(100) {
        0..=17 => run(dice),
        18..=31 => model(dice),
        32..=41 => tool(dice),
        42..=46 => Action::Command(Command::new("search(\"query\") -> links; fetch(links) -> items")),
        47..=51 => Action::Command(Command::new("look at the notes and write them up")),
        52..=56 => manual(dice),
        57..=61 => ask(dice),
        62..=69 => Action::Gate(gate(dice)),
        70..=75 => Action::Decide(decide(dice)),
        76..=80 => Action::Compute(compute(dice)),
        81..=84 => wait(dice),
        85..=87 => Action::Checkpoint(Checkpoint { name: dice.word(&["", "before", "half"]).to_owned(), note: None }),
        88..=90 => nested(dice),
        91..=92 if !names.is_empty() => {
            let named = dice.pick(names).cloned();
            let to = if dice.percent(5) { None } else { named };
            Action::UndoTo(UndoTo(to.unwrap_or_else(|| dice.word(&["half", "nowhere"]).to_owned())))
        }
        93..=95 => Action::Agent(agent(dice)),
        _ => return None,
    })
}

/// Draws an action that a runner carries out.
pub fn attempt(dice: &mut Dice) -> Action {
    match dice.below(4) {
        0 | 1 => run(dice),
        2 => model(dice),
        _ => tool(dice),
    }
}

fn run(dice: &mut Dice) -> Action {
    Action::Run(Run { command: dice.word(&["make", "make test", "deploy --all"]).to_owned(), ..Run::default() })
}

fn model(dice: &mut Dice) -> Action {
    let prompt = dice.percent(30).then(|| "draft".to_owned());
    let instruction = prompt.is_none().then(|| "write it".to_owned());
    Action::Model(Model { prompt, instruction, ..Model::default() })
}

fn tool(dice: &mut Dice) -> Action {
    let mut args = BTreeMap::new();
    if dice.percent(40) {
        args.insert("depth".to_owned(), Input::Value(json!(dice.below(5))));
    }
    if dice.percent(10) {
        // Inside a value nothing is a reference, whatever it looks like.
        args.insert("note".to_owned(), Input::Value(json!({"deep": {"text": "tasks.nobody.items"}})));
    }
    Action::Tool(Tool { name: dice.word(&["search", "pages.edit", "mail.send"]).to_owned(), args })
}

fn agent(dice: &mut Dice) -> Agent {
    let mut agent = Agent { goal: "find out".to_owned(), max_turns: Some(5), ..Agent::default() };
    if dice.percent(30) {
        (agent.width, agent.depth) = (Some(dice.small(1, 4)), Some(dice.small(1, 3)));
    }
    agent
}

fn manual(dice: &mut Dice) -> Action {
    let evidence = if dice.percent(40) { vec!["photo".to_owned()] } else { Vec::new() };
    Action::Manual(Manual { instruction: "do it by hand".to_owned(), evidence, role: None })
}

fn ask(dice: &mut Dice) -> Action {
    let options: Vec<Choice> = if dice.percent(60) {
        OUTCOMES.iter().map(|name| Choice { name: (*name).to_owned(), ..Choice::default() }).collect()
    } else {
        Vec::new()
    };
    let default = dice.percent(50).then(|| "yes".to_owned());
    let answer_within = if dice.percent(60) { Some(seconds(dice, 20, 4_000)) } else { None };
    Action::Ask(Ask { question: "shall we?".to_owned(), options, default, answer_within })
}

fn gate(dice: &mut Dice) -> Gate {
    let mut gate = Gate::default();
    if dice.percent(35) {
        gate.checks.push(Check::read("it is safe"));
    }
    if dice.percent(20) {
        gate.checks.push(Check::read("env.region == \"eu\""));
    }
    if dice.percent(50) {
        gate.approvals = Some(dice.small(0, 3));
    }
    if dice.percent(25) {
        gate.role = Some("maintainer".to_owned());
    }
    if dice.percent(20) {
        gate.approvers = ["ana", "bo", "cy"].map(str::to_owned).to_vec();
    }
    if dice.percent(15) {
        gate.evidence.push("report".to_owned());
    }
    if dice.percent(15) {
        gate.escalate_after = Some(seconds(dice, 10, 2_000));
    }
    if dice.percent(30) {
        gate.rounds_max = Some(dice.small(0, 2));
    }
    gate
}

fn decide(dice: &mut Dice) -> Decide {
    let computed = dice.percent(55);
    let conditions = ["env.region == \"eu\"", "network.online == true", "attempt > 5", "memory.level > 1"];
    let options = OUTCOMES
        .iter()
        .map(|outcome| {
            let source = dice.word(&conditions);
            let when = if computed && dice.percent(70) { Expr::parse(source).ok() } else { None };
            Branch { outcome: (*outcome).to_owned(), when }
        })
        .collect();
    Decide { question: "which way?".to_owned(), options, otherwise: dice.percent(50).then(|| "no".to_owned()) }
}

fn compute(dice: &mut Dice) -> Compute {
    let sources = [("score", "1 + 2"), ("items", "[1, 2, 3]"), ("score", "memory.level * 2"), ("ok", "1 > 2")];
    let mut values = BTreeMap::new();
    for _ in 0..=dice.below(2) {
        if let Some((name, source)) = dice.pick(&sources)
            && let Ok(expr) = Expr::parse(source)
        {
            values.insert((*name).to_owned(), expr);
        }
    }
    Compute(values)
}

fn wait(dice: &mut Dice) -> Action {
    Action::Wait(if dice.percent(70) {
        Wait::For(seconds(dice, 0, 3_000))
    } else {
        Wait::Until(BEGINNING + seconds(dice, 0, 20_000))
    })
}

fn nested(dice: &mut Dice) -> Action {
    let template = dice.percent(50).then(|| "research".to_owned());
    let plan = template.is_none().then(|| {
        let mut tasks = vec![leaf(dice, "inner")];
        if dice.percent(50) {
            let second = leaf(dice, "second");
            tasks.push(Task { depends_on: vec![tasks[0].id.clone()], ..second });
        }
        Box::new(Plan { title: "Inside".to_owned(), tasks, ..Plan::default() })
    });
    Action::Plan(Nested { plan, template, with: BTreeMap::new() })
}

/// Draws a map over these items.
pub fn map(dice: &mut Dice, over: Input) -> Action {
    let mut each = dice.percent(75).then(|| Box::new(leaf(dice, "each")));
    if let Some(each) = each.as_mut().filter(|_| dice.percent(15)) {
        let inner = Some(Box::new(leaf(dice, "inmost")));
        let over = Input::Value(json!([1, 2]));
        each.action = Some(Action::Map(Map { over, r#as: "inner".to_owned(), max: None, each: inner }));
    }
    let name = dice.word(&["item", "part"]).to_owned();
    Action::Map(Map { over, r#as: name, max: if dice.percent(30) { Some(dice.small(1, 5)) } else { None }, each })
}

/// The outcomes that a task with this action can be routed on.
pub fn outcomes(action: Option<&Action>) -> Vec<&str> {
    match action {
        Some(Action::Decide(decide)) => decide.options.iter().map(|branch| branch.outcome.as_str()).collect(),
        Some(Action::Ask(ask)) => ask.options.iter().map(|choice| choice.name.as_str()).collect(),
        Some(Action::Gate(_)) => vec!["approved", "rejected", "needs_changes"],
        Some(Action::Run(_) | Action::Model(_) | Action::Tool(_)) => vec!["good", "bad"],
        _ => Vec::new(),
    }
}
