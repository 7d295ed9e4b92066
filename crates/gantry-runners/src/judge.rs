//! A model judges whether checks in words hold; for those that do not, a critic says what to do about it.

use std::collections::BTreeMap;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Verdict;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::agent::criticise;
use crate::models::{Asker, Models, Question};
use crate::ports::Ports;
use crate::redacting::redacting;
use crate::text::middle_cut;
use crate::work::{Place, Work};

/// How many checks are judged in one call: small models lose count beyond that.
const CHECKS_AT_ONCE: usize = 8;

/// How much of a text in what is judged is shown.
const TEXT_CHARS_MAX: usize = 4_000;

/// A value whose long texts are cut in the middle, with a word on what is missing.
pub fn abridged(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(middle_cut(text, TEXT_CHARS_MAX)),
        Value::Array(items) => items.iter().map(abridged).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), abridged(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Judges checks of a result. There is one verdict for each check, and nobody judges what was not asked. `failed` says how
/// often nobody could: what was said then is on record and did not hold, so it is another question each time.
pub async fn judge(
    models: &Models,
    work: &Work,
    (place, ports, stop): (&Place, &Ports, &CancellationToken),
    (checks, failed): (&[String], u32),
    outputs: &Outputs,
) -> Result<(Vec<Verdict>, String), Failure> {
    let ports = redacting(ports, &place.secrets);
    let said = judge_by(&Asker::new(models, work, (place, &ports, stop)), (checks, failed), outputs).await;
    let (mut verdicts, by) = said.map_err(|failure| place.secrets.redact_failure(failure))?;
    for verdict in &mut verdicts {
        verdict.because = place.secrets.redact(&verdict.because);
    }
    Ok((verdicts, by))
}

/// A question like those that a judge of these checks is asked, and how many it is asked.
pub(crate) fn first_question(checks: &[String]) -> (Question<'static>, u32) {
    let first = &checks[..checks.len().min(CHECKS_AT_ONCE)];
    let count = checks.len().div_ceil(CHECKS_AT_ONCE);
    (question(first, &Outputs::new(), 0), u32::try_from(count).unwrap_or(u32::MAX))
}

fn question(checks: &[String], outputs: &Outputs, failed: u32) -> Question<'static> {
    let inputs = BTreeMap::from([("checks".to_owned(), json!(checks)), ("data".to_owned(), json!(outputs))]);
    Question { sample: failed, ..Question::of("judge", inputs) }
}

async fn judge_by(
    asker: &Asker<'_>,
    (checks, failed): (&[String], u32),
    outputs: &Outputs,
) -> Result<(Vec<Verdict>, String), Failure> {
    let (mut verdicts, mut by) = (Vec::new(), String::new());
    for some in checks.chunks(CHECKS_AT_ONCE) {
        let count = some.len();
        let rules = move |value: &Value| numbered(value, ("verdicts", "check"), count);
        let question = Question { rules: Some(&rules), ..question(some, outputs, failed) };
        let answer = asker.ask(question).await?;
        by = answer.model;
        let value = answer.value.unwrap_or_default();
        for (number, check) in (1_u64..).zip(some) {
            let said = value["verdicts"].as_array().into_iter().flatten();
            let said =
                said.into_iter().find(|said| said["check"].as_u64() == Some(number)).cloned().unwrap_or_default();
            verdicts.push(Verdict {
                check: check.clone(),
                holds: said["holds"].as_bool().unwrap_or(false),
                because: said["reason"].as_str().unwrap_or_default().to_owned(),
                another_way: false,
            });
        }
    }
    if let Some(wrong) = verdicts.iter_mut().find(|verdict| !verdict.holds) {
        let critique =
            criticise(asker, &asker.work.brief.title, std::slice::from_ref(&wrong.check), &json!(outputs), failed)
                .await?;
        if !critique.holds() {
            wrong.because = format!("{}; {}", wrong.because, critique.instruction);
            wrong.another_way = critique.wants_another_way();
        }
    }
    Ok((verdicts, by))
}

/// Says what is wrong with a list in which each of so many things has to stand exactly once, by its number.
pub(crate) fn numbered(value: &Value, (list, name): (&str, &str), count: usize) -> Vec<String> {
    let said: Vec<u64> = value[list].as_array().into_iter().flatten().filter_map(|said| said[name].as_u64()).collect();
    let faults = (1..=count as u64).filter_map(|number| match said.iter().filter(|said| **said == number).count() {
        1 => None,
        0 => Some(format!("/{list}: there is nothing on {name} {number}")),
        more => Some(format!("/{list}: there are {more} on {name} {number}")),
    });
    faults.collect()
}
