//! Thinks, calls a tool, observes, until it is finished.
//!
//! Each turn is one question. A model that can call tools calls them; any other answers with a step object whose shape
//! says which tools there are. Both mean the same, and the rest of the loop does not know which it was.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::policy::FailureClass;
use gantry_llm::{Answer, Message, ToolCall};
use serde_json::{Map, Value, json};

use super::Job;
use super::tools::FINISH;
use crate::model::told;
use crate::models::{Question, Talk};
use crate::text::shortened;

/// A call that is made this often with the same result leads nowhere, also when others are made in between.
const SAME_MAX: usize = 3;
/// How many of the last calls are looked at for that.
const LOOKED_AT: usize = 12;
/// When tools gave more than this in all, what they gave first is left out.
const OBSERVED_BYTES_MAX: usize = 24_000;

/// The answers that the built-in prompts show as an example. Small models copy them instead of saying what came out.
const EXAMPLES: [&str; 2] = ["the result, as the steps show it", "단계에서 드러난 결과"];

/// One step of the model, and what came of it.
struct Step {
    thought: String,
    tool: String,
    args: Map<String, Value>,
    /// The call, for a model that calls tools by itself.
    call: Option<ToolCall>,
    observed: String,
}

/// Works until it is finished; what was learned before is told.
pub(crate) async fn run(job: &Job<'_>, lessons: &[String]) -> Result<Outputs, Failure> {
    let native = job.asker.models.gateway().await?.calls_tools(role(job), None);
    let mut steps: Vec<Step> = Vec::new();
    let turns = job.turns_max();
    for turn in 1..=turns {
        if job.asker.stop.is_cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, "stopped"));
        }
        let answer = next(job, lessons, &steps, (turns - turn + 1, native)).await?;
        let Some(mut step) = step_of(&answer) else {
            // A model that calls no tool has said what it has to say.
            return job.hand_over(&answer.text, &answer).await;
        };
        let asked = format!("{} {}", step.tool, Value::Object(step.args.clone()));
        job.note(format!("turn {turn}: {}: {}", shortened(&asked, 200), shortened(&step.thought, 200)));
        for call in answer.calls.iter().skip(1) {
            // What one call gives may change what the next one has to be.
            let left_out = format!("{} {}", call.name, call.args);
            job.note(format!("turn {turn}: one call at a time; left out: {}", shortened(&left_out, 200)));
        }
        if step.tool == FINISH {
            let faults = faults(job, &step);
            if faults.is_empty() || turn == turns {
                return finish(job, step, &faults, &answer).await;
            }
            // A model that calls tools by itself sees what is wrong with its result, and mends it.
            step.observed = format!("not taken: {}", faults.join("; "));
        } else {
            step.observed = job.tools.call(&said(job, lessons, &steps), &step.tool, &step.args).await?;
        }
        steps.push(step);
        if is_stuck(&steps) {
            let tool = steps.last().map(|step| step.tool.as_str()).unwrap_or_default();
            let message = format!("no progress: `{tool}` was called {SAME_MAX} times with the same result");
            return Err(Failure::new(FailureClass::Logic, message));
        }
        leave_out(&mut steps);
    }
    Err(Failure::new(FailureClass::Logic, format!("the goal was not reached in {turns} turns")))
}

fn role<'a>(job: &'a Job<'_>) -> &'a str {
    job.agent.role.as_deref().unwrap_or("agent")
}

/// A name for everything that was said and done before a step.
fn said(job: &Job<'_>, lessons: &[String], steps: &[Step]) -> String {
    let steps: Vec<Value> = steps.iter().map(Step::as_value).collect();
    let work = job.asker.work;
    let all = json!([work.task, work.key, work.attempt, work.feedback, lessons, steps]);
    blake3::hash(all.to_string().as_bytes()).to_hex().to_string()
}

/// Asks for the next step.
async fn next(
    job: &Job<'_>,
    lessons: &[String],
    steps: &[Step],
    (turns_left, native): (u32, bool),
) -> Result<Answer, Failure> {
    let work = job.asker.work;
    let mut inputs = told(work, ("goal", &job.agent.goal));
    inputs.insert("lessons".to_owned(), json!(lessons));
    let sample = work.attempt.0.saturating_sub(1);
    let role = Some(role(job).to_owned());
    if native {
        let talk = job.asker.models.talk()?;
        let talk: Vec<Message> = steps.iter().flat_map(|step| step.as_talk(talk)).collect();
        let question =
            Question { talk: &talk, tools: job.tools.specs(), role, sample, ..Question::of("agent-tools", inputs) };
        return job.asker.ask(question).await;
    }
    inputs.insert("tools".to_owned(), job.tools.shown());
    inputs.insert("steps".to_owned(), steps.iter().map(Step::as_value).collect());
    inputs.insert("turns_left".to_owned(), json!(turns_left));
    let rules = |value: &Value| match value["tool"].as_str().unwrap_or_default() {
        FINISH if value["answer"].as_str().is_none_or(|answer| answer.trim().is_empty()) => {
            vec!["/answer: it is empty; whoever finishes says what came out".to_owned()]
        }
        FINISH if EXAMPLES.contains(&value["answer"].as_str().unwrap_or_default().trim()) => {
            vec!["/answer: these are the words of the example; say what came out in this case".to_owned()]
        }
        FINISH => Vec::new(),
        tool => job.tools.faults(tool, &value["args"]),
    };
    job.asker.ask(Question { rules: Some(&rules), role, sample, ..Question::of("agent-step", inputs) }).await
}

fn step_of(answer: &Answer) -> Option<Step> {
    if let Some(call) = answer.calls.first() {
        let args = call.args.as_object().cloned().unwrap_or_default();
        let (thought, tool) = (answer.text.clone(), call.name.clone());
        return Some(Step { thought, tool, args, call: Some(call.clone()), observed: String::new() });
    }
    let value = answer.value.as_ref()?;
    let tool = value["tool"].as_str()?.to_owned();
    let mut args = value["args"].as_object().cloned().unwrap_or_default();
    if tool == FINISH {
        args = Map::from_iter([("text".to_owned(), value["answer"].clone())]);
    }
    let thought = value["thought"].as_str().unwrap_or_default().to_owned();
    Some(Step { thought, tool, args, call: None, observed: String::new() })
}

/// What is wrong with a result that was handed in by a call. One in words is put into its fields later.
fn faults(job: &Job<'_>, step: &Step) -> Vec<String> {
    match step.call {
        Some(_) => job.tools.faults(FINISH, &Value::Object(step.args.clone())),
        None => Vec::new(),
    }
}

/// The result, in the fields that the task declares.
async fn finish(job: &Job<'_>, step: Step, faults: &[String], answer: &Answer) -> Result<Outputs, Failure> {
    match step.call {
        Some(_) if faults.is_empty() => {
            let mut outputs = Outputs::from([("answered_by".to_owned(), json!(answer.model))]);
            outputs.extend(step.args);
            Ok(outputs)
        }
        // There is no turn left to mend it: all of it is what was found.
        Some(_) => job.hand_over(&Value::Object(step.args).to_string(), answer).await,
        None => job.hand_over(step.args["text"].as_str().unwrap_or(&answer.text), answer).await,
    }
}

impl Step {
    fn as_value(&self) -> Value {
        json!({"thought": self.thought, "tool": self.tool, "args": self.args, "observation": self.observed})
    }

    /// What was said, by a model that calls tools by itself. What tools give is data, whatever it says.
    fn as_talk(&self, talk: &Talk) -> Vec<Message> {
        let Some(call) = self.call.clone() else { return Vec::new() };
        let fenced = talk.prompts.fence(&talk.locale, &self.tool, &self.observed);
        let id = call.id.clone();
        vec![
            Message::Assistant { text: self.thought.clone(), calls: vec![call] },
            Message::Tool { call: id, text: fenced },
        ]
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.tool, &self.args, &self.observed) == (&other.tool, &other.args, &other.observed)
    }
}

fn is_stuck(steps: &[Step]) -> bool {
    let Some(last) = steps.last() else { return false };
    let looked_at = &steps[steps.len().saturating_sub(LOOKED_AT)..];
    looked_at.iter().filter(|step| step.is_like(last)).count() >= SAME_MAX
}

/// Keeps what is said short enough: calls stay, and with them the shape of the talk; what was seen long ago goes.
fn leave_out(steps: &mut [Step]) {
    let mut length: usize = steps.iter().map(|step| step.observed.len()).sum();
    let keep = steps.len().saturating_sub(SAME_MAX);
    for step in &mut steps[..keep] {
        if length <= OBSERVED_BYTES_MAX {
            return;
        }
        let gone = format!("[left out: {} characters]", step.observed.chars().count());
        if gone.len() < step.observed.len() {
            length -= step.observed.len() - gone.len();
            step.observed = gone;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(tool: &str, observed: &str) -> Step {
        let (tool, observed) = (tool.to_owned(), observed.to_owned());
        Step { thought: String::new(), tool, args: Map::new(), call: None, observed }
    }

    #[test]
    fn the_examples_are_those_of_the_built_in_prompts() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../gantry-llm/prompts");
        for (file, example) in ["agent-step.en.md", "agent-step.ko.md"].into_iter().zip(EXAMPLES) {
            let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
            assert!(text.contains(&format!(r#""answer": "{example}""#)), "{file}");
        }
    }

    #[test]
    fn the_same_call_with_the_same_result_three_times_is_no_progress() {
        assert!(!is_stuck(&[step("ls", "a"), step("ls", "a")]));
        assert!(!is_stuck(&[step("ls", "a"), step("ls", "b"), step("ls", "a")]));
        let by_turns = |count: usize| -> Vec<Step> {
            (0..count).map(|at| if at % 2 == 0 { step("ls", "a") } else { step("cat", "x") }).collect()
        };
        assert!(!is_stuck(&by_turns(4)) && is_stuck(&by_turns(5)));
        assert!(is_stuck(&[step("cat", "x"), step("ls", "a"), step("ls", "a"), step("ls", "a")]));
    }

    #[test]
    fn what_was_seen_first_is_left_out_first_and_the_last_steps_stay_whole() {
        let long = "x".repeat(OBSERVED_BYTES_MAX / 2);
        let mut steps: Vec<Step> = (0..5).map(|_| step("ls", &long)).collect();
        leave_out(&mut steps);
        let kept: Vec<bool> = steps.iter().map(|step| step.observed == long).collect();
        assert_eq!(kept, [false, false, true, true, true]);
        assert_eq!(steps[0].observed, format!("[left out: {} characters]", long.len()));
    }
}
