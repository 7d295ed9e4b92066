//! What a person can type to let a plan go on.

use gantry_core::id::TaskId;
use gantry_core::life::{Life, PlanState, State, TaskState, Waiting};
use gantry_core::plan::Action;

use super::first_line;

/// Something to type, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The command, ready to be typed.
    pub command: String,
    /// What it does, as a lowercase fragment.
    pub does: String,
}

fn next(command: String, does: impl Into<String>) -> Next {
    Next { command, does: does.into() }
}

/// How someone can answer what a task waits for.
fn answers(life: &Life, task: &TaskId, waiting: &Waiting) -> Vec<Next> {
    let (plan, definition) = (life.id(), life.definition(task.as_str()));
    let action = definition.and_then(|task| task.action.as_ref());
    match waiting {
        Waiting::Gate { .. } => {
            let role = match action {
                Some(Action::Gate(gate)) => {
                    gate.role.as_ref().map(|role| format!(" --role {role}")).unwrap_or_default()
                }
                _ => String::new(),
            };
            vec![next(format!("gantry gate approve {plan} {task}{role}"), "or `reject`, `needs-changes`")]
        }
        Waiting::Answer { .. } => {
            let (question, options): (&str, Vec<&str>) = match action {
                Some(Action::Ask(ask)) => {
                    (&ask.question, ask.options.iter().map(|choice| choice.name.as_str()).collect())
                }
                Some(Action::Decide(decide)) => {
                    (&decide.question, decide.options.iter().map(|branch| branch.outcome.as_str()).collect())
                }
                _ => ("", Vec::new()),
            };
            let answer = if options.is_empty() { "ANSWER".to_owned() } else { options.join("|") };
            let question = if question.is_empty() { "answer".to_owned() } else { first_line(question, 80) };
            vec![next(format!("gantry ask answer {plan} {task} {answer}"), question)]
        }
        Waiting::Work => {
            let what = match action {
                Some(Action::Manual(manual)) => first_line(&manual.instruction, 60),
                _ => definition.map(|task| first_line(task.name(), 60)).unwrap_or_default(),
            };
            let outputs = life.outputs_needed(task.as_str()).into_iter().map(|name| format!(" --output {name}=VALUE"));
            let proofs = match action {
                Some(Action::Manual(manual)) => manual.evidence.as_slice(),
                _ => &[],
            };
            let proofs = proofs.iter().map(|name| format!(" --evidence {name}=FILE"));
            let more: String = outputs.chain(proofs).collect();
            vec![next(format!("gantry task done {plan} {task}{more}"), what)]
        }
        Waiting::Help { .. } => {
            vec![next(format!("gantry task resolve {plan} {task} retry"), "or `skip`, `complete`, `fail`")]
        }
        Waiting::Judge { .. } => vec![next(format!("gantry task judge {plan} {task}"), "say whether its checks hold")],
        Waiting::Verify { .. } | Waiting::Undo | Waiting::Time { .. } | Waiting::Retry { .. } => Vec::new(),
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

/// How many tasks are named in what to do next.
const TASKS_MAX: usize = 4;

/// What to do next about a plan, the most useful first.
pub fn steps(life: &Life, driven: bool) -> Vec<Next> {
    let plan = life.id();
    let resume = |does: &str| next(format!("gantry resume {plan}"), does);
    let waiting: Vec<TaskId> = life.waits().filter_map(|wait| wait.task).collect();
    let answers: Vec<Next> = waiting.iter().take(TASKS_MAX).flat_map(|task| answers_for(life, task)).collect();
    let mut steps = Vec::new();
    match life.state() {
        PlanState::Pending if !driven => steps.push(resume("begin")),
        PlanState::Pending => {}
        PlanState::Running if driven => steps.extend(answers),
        PlanState::Running => {
            steps.push(resume("go on; the process that worked on it is gone"));
            steps.extend(answers);
        }
        PlanState::Paused => {
            steps.extend(answers);
            if !driven {
                steps.push(resume("go on"));
            }
        }
        PlanState::Blocked => {
            steps.extend(answers);
            if !driven {
                steps.push(resume("then go on"));
            }
        }
        PlanState::Completed => {}
        PlanState::Failed => {
            let failed = |task: &TaskId| life.task_state(task.as_str()) == Some(TaskState::Failed);
            let again = life.task_ids().into_iter().filter(failed).take(1);
            steps.extend(again.map(|task| next(format!("gantry retry {plan} {task}"), "do it again, then resume")));
            steps.push(next(format!("gantry log {plan} --digest"), "see what happened"));
        }
        PlanState::Abandoned => steps.push(next(format!("gantry log {plan} --digest"), "see what happened")),
    }
    steps
}
