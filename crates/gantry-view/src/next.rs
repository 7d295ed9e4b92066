//! What a person can type to let a plan go on.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, State, TakingBack, TaskState, Waiting};
use gantry_core::plan::{Action, Choice};

use crate::count;
use crate::first_line;
use crate::standing::has_lost;

/// Something to type, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The command, ready to be typed.
    pub command: String,
    /// What it does, as a lowercase fragment; empty where the command says it all.
    pub does: String,
}

fn next(command: String, does: impl Into<String>) -> Next {
    Next { command, does: does.into() }
}

/// How many answers to one question are written out.
const OPTIONS_MAX: usize = 8;

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-@%+=:,./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// How someone can answer what a task waits for.
fn answers(life: &Life, task: &TaskId, waiting: &Waiting) -> Vec<Next> {
    let (plan, definition) = (life.id(), life.definition(task.as_str()));
    let action = definition.and_then(|task| task.action.as_ref());
    match waiting {
        Waiting::Gate { .. } => {
            let mut command = vec![format!("gantry gate approve {plan} {task}")];
            if let Some(Action::Gate(gate)) = action {
                command.extend(gate.role.iter().map(|role| format!("--role {}", quoted(role))));
                command.extend(gate.evidence.iter().map(|seen| format!("--evidence {}", quoted(seen))));
            }
            let command = command.join(" ");
            vec![next(command, "or `reject`, `needs-changes`")]
        }
        Waiting::Answer { .. } => {
            let (question, options): (&str, Vec<(&str, String)>) = match action {
                Some(Action::Ask(ask)) => {
                    (&ask.question, ask.options.iter().map(|choice| (choice.name.as_str(), weighed(choice))).collect())
                }
                Some(Action::Decide(decide)) => {
                    (&decide.question, decide.outcomes().into_iter().map(|name| (name, String::new())).collect())
                }
                _ => ("", Vec::new()),
            };
            let asked = if question.trim().is_empty() { definition.map_or("", |task| task.name()) } else { question };
            let answer = |answer: &str| format!("gantry ask answer {plan} {task} {answer}");
            let mut all = Vec::new();
            for (at, (option, weighed)) in options.iter().take(OPTIONS_MAX).enumerate() {
                let mut does = if at == 0 { first_line(asked, 80) } else { "or this".to_owned() };
                if !weighed.is_empty() {
                    does = format!("{does} ({})", first_line(weighed, 200));
                }
                all.push(next(answer(&quoted(option)), does));
            }
            if all.is_empty() {
                all.push(next(answer("ANSWER"), first_line(asked, 80)));
            }
            all
        }
        Waiting::Work => {
            let mut command = vec![format!("gantry task done {plan} {task}")];
            let what = match action {
                Some(Action::Manual(manual)) => {
                    command.extend(manual.evidence.iter().map(|name| format!("--evidence {}=FILE", quoted(name))));
                    first_line(&manual.instruction, 60)
                }
                _ => definition.map(|task| first_line(task.name(), 60)).unwrap_or_default(),
            };
            let needed = life.outputs_needed(task.as_str()).into_iter();
            command.extend(needed.map(|name| format!("--output {name}=VALUE")));
            vec![next(command.join(" "), what)]
        }
        Waiting::Help { failure } if failure.is_needs_approval() => {
            let answer = format!("gantry ask answer {plan} {task}");
            vec![
                next(format!("{answer} approve"), format!("or this; see it first with `gantry ask list {plan}`")),
                next(format!("{answer} refuse --why WHY"), "say no"),
            ]
        }
        Waiting::Help { .. } => {
            let again = next(format!("gantry task resolve {plan} {task} retry"), "or `skip`, `complete`, `fail`");
            // What a model could not decide, someone may.
            let outcome = match action {
                Some(Action::Decide(decide)) if !decide.is_computed() => decide.outcomes().first().copied(),
                _ => None,
            };
            let decided = outcome.map(|outcome| {
                next(format!("gantry ask answer {plan} {task} {}", quoted(outcome)), "or another outcome")
            });
            std::iter::once(again).chain(decided).collect()
        }
        Waiting::Judge { .. } => vec![next(format!("gantry task judge {plan} {task}"), "say whether its checks hold")],
        Waiting::Verify { .. } | Waiting::Undo | Waiting::Time { .. } | Waiting::Retry { .. } => Vec::new(),
    }
}

/// What speaks for an answer and against it, and what it costs: `+ fast; - dear; costs $5`.
pub fn weighed(choice: &Choice) -> String {
    let pros = choice.pros.iter().map(|pro| format!("+ {pro}"));
    let cons = choice.cons.iter().map(|con| format!("- {con}"));
    let cost = choice.cost_usd.iter().map(|cost| format!("costs ${cost}"));
    pros.chain(cons).chain(cost).collect::<Vec<_>>().join("; ")
}

/// What this task waits for now.
fn waiting_of<'l>(life: &'l Life, task: &TaskId) -> Option<&'l Waiting> {
    match life.task_life(task.as_str()).map(|life| &life.state) {
        Some(State::Waiting(waiting)) => Some(waiting),
        _ => None,
    }
}

/// How someone can answer what this task waits for now.
pub fn answers_for(life: &Life, task: &TaskId) -> Vec<Next> {
    match life.task_life(task.as_str()).map(|life| &life.state) {
        Some(State::Waiting(waiting)) => answers(life, task, waiting),
        Some(State::Blocked { .. }) => {
            let command = format!("gantry revise {} FILE --rationale WHY", life.id());
            vec![next(command, format!("change what `{task}` waits for, unless it comes true by itself"))]
        }
        _ => Vec::new(),
    }
}

/// The tasks that ask for help, the one that cannot be taken back among them.
pub fn helpless(life: &Life) -> Vec<TaskId> {
    let halted = life.taking_back().filter(|back| back.halted.is_some()).and_then(|back| back.next.cloned());
    let waiting = life.waits().filter_map(|wait| wait.task);
    // Whoever asks for approval gets it call by call.
    let asks = waiting.filter(
        |task| matches!(waiting_of(life, task), Some(Waiting::Help { failure }) if !failure.is_needs_approval()),
    );
    let mut all: Vec<TaskId> = halted.into_iter().collect();
    for task in asks {
        if !all.contains(&task) {
            all.push(task);
        }
    }
    all
}

/// How many tasks are named in what to do next.
const TASKS_MAX: usize = 4;

/// How someone can answer everything that is waited for: the first few one by one, many alike at once.
pub fn all_answers(life: &Life) -> Vec<Next> {
    let plan = life.id();
    let mut steps = Vec::new();
    let helpless = helpless(life);
    let mut waiting: Vec<TaskId> = life.waits().filter_map(|wait| wait.task).collect();
    if helpless.len() > 1 {
        let does = format!("{} need help; or `skip`, `complete`, `fail`, or one by one", count(helpless.len(), "task"));
        steps.push(next(format!("gantry task resolve {plan} --all retry"), does));
        waiting.retain(|task| !helpless.contains(task));
    }
    waiting.retain(|task| !answers_for(life, task).is_empty());
    let more = waiting.split_off(waiting.len().min(TASKS_MAX));
    steps.extend(waiting.iter().flat_map(|task| answers_for(life, task)));
    if let Some(first) = more.first() {
        let see = match waiting_of(life, first) {
            Some(Waiting::Gate { .. }) => format!("gantry gate list {plan}"),
            Some(Waiting::Answer { .. }) => format!("gantry ask list {plan}"),
            Some(Waiting::Help { failure }) if failure.is_needs_approval() => format!("gantry ask list {plan}"),
            _ => format!("gantry status {plan} --json"),
        };
        steps.push(next(see, format!("and {} more", more.len())));
    }
    if !life.judging().is_empty() {
        steps.push(next(format!("gantry task judge {plan}"), "say whether the plan is done"));
    }
    steps
}

/// What to do about an undo.
fn undo_steps(life: &Life, back: TakingBack<'_>, driven: bool) -> Vec<Next> {
    let plan = life.id();
    let resume = |does: &str| next(format!("gantry resume {plan}"), does);
    let (Some(task), Some(_)) = (back.next, back.halted) else {
        return if driven { Vec::new() } else { vec![resume("go on with taking back what was done")] };
    };
    let resolve = |how: &str, does: &str| next(format!("gantry task resolve {plan} {task} {how}"), does);
    let mut steps = vec![
        resolve("retry", "try once more to take it back"),
        resolve("complete", "it was taken back by hand"),
        resolve("skip", "leave it as it is, and take back the rest"),
    ];
    if !driven {
        steps.push(resume("then go on"));
    }
    steps
}

/// What to do about the failure that ended a plan.
fn after_failure(life: &Life) -> Vec<Next> {
    let plan = life.id();
    let mut failed = life.task_ids();
    failed.retain(|task| life.task_state(task.as_str()) == Some(TaskState::Failed));
    // What another round or another way has answered is not what the plan failed by.
    let stands = |task: &&TaskId| {
        matches!(life.task_life(task.as_str()).map(|life| &life.state), Some(State::Failed { handled: false }))
    };
    let Some(task) = failed.iter().find(stands).or(failed.first()) else { return Vec::new() };
    let retry = |does: &str| next(format!("gantry retry {plan} {task}"), does);
    let Some(end) = life.rounds_used_up(task.as_str()) else { return vec![retry("do it again, then resume")] };
    let limit = if end.by_policy { "`policy.rounds_max`" } else { "its `max`" };
    let rounds = count(end.rounds as usize, "round");
    let why = format!("`{task}` may send work back no more ({rounds}): raise {limit} in this file");
    vec![
        next(format!("gantry export {plan} -o plan.yaml"), why),
        next(format!("gantry revise {plan} plan.yaml --rationale 'one more round'"), "then resume"),
        retry("or do only this again as it is, then resume"),
    ]
}

/// What to do next about a plan, the most useful first.
pub fn steps(life: &Life, driven: bool) -> Vec<Next> {
    let plan = life.id();
    let resume = |does: &str| next(format!("gantry resume {plan}"), does);
    if let Some(back) = life.taking_back() {
        return undo_steps(life, back, driven);
    }
    let mut steps = Vec::new();
    if life.over_budget().is_some() {
        steps.push(next(format!("gantry export {plan} -o plan.yaml"), "then raise the budget in it"));
        steps.push(next(format!("gantry revise {plan} plan.yaml --rationale 'a larger budget'"), ""));
    }
    match life.state() {
        PlanState::Pending if !driven => steps.push(resume("begin")),
        PlanState::Pending => {}
        PlanState::Running if driven => steps.extend(all_answers(life)),
        PlanState::Running => {
            let lost = has_lost(life);
            steps.push(resume(if lost { "go on; the process that worked on it is gone" } else { "go on" }));
            steps.extend(all_answers(life));
        }
        PlanState::Paused => {
            steps.extend(all_answers(life));
            if !driven {
                steps.push(resume("go on"));
            }
        }
        PlanState::Blocked => {
            steps.extend(all_answers(life));
            if !driven {
                steps.push(resume("then go on"));
            }
        }
        PlanState::Completed => {}
        PlanState::Failed => {
            steps.extend(after_failure(life));
            steps.push(next(format!("gantry log {plan} --digest"), "see what happened"));
        }
        PlanState::Abandoned => steps.push(next(format!("gantry log {plan} --digest"), "see what happened")),
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_typed() {
        assert_eq!(
            ["eu-west", "no, later", "", "it's", "a|b", "$HOME"].map(quoted),
            ["eu-west", "'no, later'", "''", r"'it'\''s'", "'a|b'", "'$HOME'"]
        );
    }
}
