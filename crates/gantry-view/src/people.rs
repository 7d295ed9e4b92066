//! What people are asked: gates that wait for a decision, questions that wait for an answer, calls that wait for approval.

use gantry_core::id::TaskId;
use gantry_core::input::Approval;
use gantry_core::life::{Life, State, Waiting};
use gantry_core::plan::{Action, Check, Choice, Task};
use gantry_core::policy::Judge as JudgeBy;
use gantry_core::time::Timestamp;
use gantry_runners::approval::PREVIEW;
use gantry_store::{Hash, PlanCard, Store, StoreError};
use serde_json::{Value, json};

use crate::json::{choices, commands};

/// A gate that waits for a decision.
pub struct OpenGate {
    /// The gate.
    pub gate: TaskId,
    /// What it is called.
    pub title: String,
    /// How many approvals it needs.
    pub needed: u32,
    /// Who approved.
    pub approved_by: Vec<String>,
    /// It for programs. The keys are a promise.
    pub value: Value,
}

/// The gates of a plan that wait for a decision.
pub fn gates(card: &PlanCard, life: &Life) -> Vec<OpenGate> {
    let mut open = Vec::new();
    for id in life.task_ids() {
        let Some((task, known)) = life.definition(id.as_str()).zip(life.task_life(id.as_str())) else { continue };
        let State::Waiting(Waiting::Gate { needed, approved_by, revision }) = &known.state else { continue };
        let Some(Action::Gate(gate)) = &task.action else { continue };
        let value = json!({
            "plan": card.id, "no": card.no, "gate": id, "title": task.name(), "role": gate.role,
            "approvers": gate.approvers, "evidence": gate.evidence,
            "checks": gate.checks.iter().map(Check::text).collect::<Vec<_>>(), "needed": needed,
            "approved_by": approved_by, "revision": revision, "commands": commands(life, &id),
        });
        let title = task.name().to_owned();
        open.push(OpenGate { gate: id, title, needed: *needed, approved_by: approved_by.clone(), value });
    }
    open
}

/// Something that someone is asked.
pub struct Asked {
    /// What.
    pub question: String,
    /// The answers that are offered; any text when there are none.
    pub choices: Vec<Choice>,
    /// The answer that is taken when nobody answers.
    pub default: Option<String>,
    /// When it is taken.
    pub until: Option<Timestamp>,
    /// What would be done, when it has to be approved.
    pub preview: Option<String>,
}

impl Asked {
    /// It for programs. The keys are a promise.
    pub fn to_json(&self, card: &PlanCard, life: &Life, task: &TaskId) -> Value {
        let options: Vec<&str> = self.choices.iter().map(|choice| choice.name.as_str()).collect();
        let mut value = json!({
            "plan": card.id, "no": card.no, "task": task, "question": self.question, "options": options,
            "choices": choices(&self.choices), "default": self.default, "until": self.until,
            "commands": commands(life, task),
        });
        if let Some(preview) = &self.preview {
            value["preview"] = json!(preview);
        }
        value
    }
}

/// The questions of a plan that wait for an answer, and the calls that wait for approval.
pub async fn asks(store: &dyn Store, life: &Life) -> Result<Vec<(TaskId, Asked)>, StoreError> {
    let mut all = Vec::new();
    for id in life.task_ids() {
        let Some((task, known)) = life.definition(id.as_str()).zip(life.task_life(id.as_str())) else { continue };
        if let Some(asked) = question_of(store, task, &known.state).await? {
            all.push((id, asked));
        }
    }
    Ok(all)
}

/// What a task asks, if it asks something.
async fn question_of(store: &dyn Store, task: &Task, state: &State) -> Result<Option<Asked>, StoreError> {
    let asked =
        |question: String, choices: Vec<Choice>| Asked { question, choices, default: None, until: None, preview: None };
    let named = |name: &str| Choice { name: name.to_owned(), ..Choice::default() };
    Ok(match state {
        State::Waiting(Waiting::Answer { until }) => Some(match &task.action {
            Some(Action::Ask(ask)) => {
                let choices = ask.options.clone();
                Asked { default: ask.default.clone(), until: *until, ..asked(ask.question.clone(), choices) }
            }
            Some(Action::Decide(decide)) => {
                let outcomes = decide.outcomes().into_iter().map(named).collect();
                Asked { until: *until, ..asked(task.name().to_owned(), outcomes) }
            }
            _ => Asked { until: *until, ..asked(task.name().to_owned(), Vec::new()) },
        }),
        State::Waiting(Waiting::Help { failure }) if failure.is_needs_approval() => {
            let kept = failure.evidence.iter().find(|kept| kept.name == PREVIEW);
            let preview = match kept.and_then(|kept| kept.hash.parse::<Hash>().ok()) {
                Some(hash) => store.get_blob(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                None => None,
            };
            Some(Asked { preview, ..asked(failure.message.clone(), Approval::ANSWERS.map(named).to_vec()) })
        }
        _ => None,
    })
}

/// Something that a person is wanted for, other than a decision or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The task; none means the plan itself.
    pub task: Option<TaskId>,
    /// What that is called.
    pub title: String,
    /// What for.
    pub what: Want,
}

/// What a person is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// To do it.
    Work {
        /// What is to be done.
        instruction: String,
        /// What has to be handed in, by name.
        evidence: Vec<String>,
        /// The results that others work on.
        outputs: Vec<String>,
    },
    /// To say what to do about a failure.
    Help {
        /// What went wrong.
        failure: String,
    },
    /// To judge checks in words.
    Judge {
        /// The checks.
        checks: Vec<String>,
    },
}

/// What people are wanted for in a plan: work, help, judgements.
pub fn wanted(life: &Life) -> Vec<Wanted> {
    let people_judge = life.header().policy.judge == JudgeBy::Person;
    let mut all = Vec::new();
    for id in life.task_ids() {
        let Some((task, known)) = life.definition(id.as_str()).zip(life.task_life(id.as_str())) else { continue };
        let State::Waiting(waiting) = &known.state else { continue };
        let what = match waiting {
            Waiting::Work => {
                let (instruction, evidence) = match &task.action {
                    Some(Action::Manual(manual)) => (manual.instruction.clone(), manual.evidence.clone()),
                    _ => (task.description.clone().unwrap_or_default(), Vec::new()),
                };
                Want::Work { instruction, evidence, outputs: life.outputs_needed(id.as_str()).into_iter().collect() }
            }
            Waiting::Help { failure } if !failure.is_needs_approval() => {
                Want::Help { failure: failure.message.clone() }
            }
            Waiting::Judge { checks, .. } if people_judge => Want::Judge { checks: checks.clone() },
            _ => continue,
        };
        all.push(Wanted { title: task.name().to_owned(), task: Some(id), what });
    }
    if people_judge && !life.judging().is_empty() {
        let what = Want::Judge { checks: life.judging().to_vec() };
        all.push(Wanted { task: None, title: life.header().name().to_owned(), what });
    }
    all
}
