//! Works, has the result criticised, and works again with what was learned.

use std::collections::BTreeMap;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};

use super::{Job, react};
use crate::models::{Asker, Question};
use crate::text::shortened;

/// How many lessons are told at most; the newest count.
const LESSONS_MAX: usize = 12;

/// Tries until the critic has nothing more to say, or it was tried often enough.
pub(crate) async fn run(job: &Job<'_>) -> Result<Outputs, Failure> {
    let mut lessons: Vec<String> = Vec::new();
    let mut last = Failure::new(FailureClass::Logic, "nothing was tried");
    for round in 1..=job.depth() + 1 {
        let (result, faults) = match react::run(job, &lessons).await {
            Ok(outputs) => {
                let criteria = &job.asker.work.brief.criteria;
                let critique = criticise(&job.asker, &job.agent.goal, criteria, &json!(outputs), round).await?;
                if critique.holds() {
                    return Ok(outputs);
                }
                (json!(outputs), critique.in_words())
            }
            Err(failure) if failure.class == FailureClass::Logic => (Value::Null, failure.message),
            Err(failure) => return Err(failure),
        };
        job.note(format!("round {round}: not good enough: {}", shortened(&faults, 300)));
        last = Failure::new(FailureClass::Logic, format!("after {round} rounds: {faults}"));
        lessons.extend(learn(job, &result, &faults, &lessons, round).await?);
        let more = lessons.len().saturating_sub(LESSONS_MAX);
        lessons.drain(..more);
    }
    Err(last)
}

/// What a critic says.
pub(crate) struct Critique {
    proposal: String,
    faults: Vec<String>,
    /// What to do next.
    pub(crate) instruction: String,
}

impl Critique {
    /// The result is good enough.
    pub(crate) fn holds(&self) -> bool {
        self.proposal == "accept"
    }

    /// This way cannot lead there.
    pub(crate) fn wants_another_way(&self) -> bool {
        self.proposal == "alternate"
    }

    fn in_words(&self) -> String {
        let faults = self.faults.join("; ");
        if self.instruction.is_empty() { faults } else { format!("{faults}; {}: {}", self.proposal, self.instruction) }
    }
}

/// Has a result criticised against criteria; without any, against the goal itself.
pub(crate) async fn criticise(
    asker: &Asker<'_>,
    goal: &str,
    criteria: &[String],
    output: &Value,
    round: u32,
) -> Result<Critique, Failure> {
    let value = asker.ask(critique_of(goal, criteria, output, round)).await?.value.unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let faults = value["faults"].as_array().into_iter().flatten().map(|fault| text(&fault["fault"]));
    Ok(Critique {
        proposal: text(&value["proposal"]),
        faults: faults.collect(),
        instruction: text(&value["instruction"]),
    })
}

/// What a critic is asked.
pub(crate) fn critique_of(goal: &str, criteria: &[String], output: &Value, round: u32) -> Question<'static> {
    let own = [goal.to_owned()];
    let criteria = if criteria.is_empty() { &own } else { criteria };
    let inputs = BTreeMap::from([
        ("goal".to_owned(), json!(goal)),
        ("criteria".to_owned(), json!(criteria)),
        ("output".to_owned(), output.clone()),
    ]);
    Question { sample: round, ..Question::of("critic", inputs) }
}

async fn learn(
    job: &Job<'_>,
    attempt: &Value,
    failure: &str,
    lessons: &[String],
    round: u32,
) -> Result<Vec<String>, Failure> {
    let inputs = BTreeMap::from([
        ("goal".to_owned(), json!(job.agent.goal)),
        ("attempt".to_owned(), if attempt.is_null() { json!("it came to no result") } else { attempt.clone() }),
        ("failure".to_owned(), json!(failure)),
        ("lessons".to_owned(), json!(lessons)),
    ]);
    let question = Question { sample: round, ..Question::of("agent-reflect", inputs) };
    let value = job.asker.ask(question).await?.value.unwrap_or_default();
    let lessons = value["lessons"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(lessons.collect())
}
