//! Makes several candidates, keeps the best, and makes it better. What is not kept says why.

use std::collections::BTreeMap;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::policy::FailureClass;
use gantry_llm::Answer;
use serde_json::{Value, json};

use super::Job;
use crate::judge::numbered;
use crate::model::{outputs_of, shape_of, told};
use crate::models::Question;
use crate::text::shortened;

/// A score from which on nothing is made better.
const GOOD_ENOUGH: f64 = 9.0;

/// One answer among several.
struct Candidate {
    number: u32,
    answer: Answer,
    score: f64,
    because: String,
}

/// Searches from level to level; the best of one level is what the next one starts from.
pub(crate) async fn run(job: &Job<'_>) -> Result<Outputs, Failure> {
    let mut best: Option<Candidate> = None;
    for level in 1..=job.depth() {
        let candidates = level_of(job, level, best.as_ref()).await?;
        let mut all: Vec<Candidate> = best.take().into_iter().chain(candidates).collect();
        // The first of equals stays, so that the same answers give the same result.
        all.sort_by(|one, other| other.score.total_cmp(&one.score));
        let mut all = all.into_iter();
        let Some(kept) = all.next() else { break };
        for pruned in all {
            job.note(format!(
                "level {level}: pruned candidate {}: {:.1} against {:.1}: {}",
                pruned.number,
                pruned.score,
                kept.score,
                shortened(&pruned.because, 200)
            ));
        }
        job.note(format!(
            "level {level}: kept candidate {}: {:.1}: {}",
            kept.number,
            kept.score,
            shortened(&kept.because, 200)
        ));
        let done = kept.score >= GOOD_ENOUGH;
        best = Some(kept);
        if done {
            break;
        }
    }
    let best = best.ok_or_else(|| Failure::new(FailureClass::Logic, "no candidate was made"))?;
    Ok(outputs_of(best.answer))
}

async fn level_of(job: &Job<'_>, level: u32, best: Option<&Candidate>) -> Result<Vec<Candidate>, Failure> {
    let work = job.asker.work;
    let mut inputs = told(work, ("instruction", &job.agent.goal));
    if let Some(best) = best {
        inputs.insert("before".to_owned(), json!(text_of(&best.answer)));
        inputs.insert("feedback".to_owned(), json!(best.because));
    }
    let mut answers = Vec::new();
    for number in 1..=job.width() {
        if job.asker.stop.is_cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, "stopped"));
        }
        let question = Question {
            shape: shape_of("candidate", &work.brief.outputs),
            role: job.agent.role.clone(),
            sample: (work.attempt.0.saturating_sub(1)) * 1_000 + level * 100 + number,
            ..Question::of("task", inputs.clone())
        };
        let answer = job.asker.ask(question).await?;
        job.note(format!("level {level}: candidate {number}: {}", shortened(&text_of(&answer), 200)));
        answers.push(answer);
    }
    score(job, answers).await
}

/// Candidates that say the same need no judge: most of them agreeing is the best sign there is.
async fn score(job: &Job<'_>, answers: Vec<Answer>) -> Result<Vec<Candidate>, Failure> {
    let mut votes: BTreeMap<String, u32> = BTreeMap::new();
    for answer in &answers {
        *votes.entry(same_words(&text_of(answer))).or_default() += 1;
    }
    let all = u32::try_from(answers.len()).unwrap_or(u32::MAX);
    let agreed = votes.values().any(|votes| *votes > 1 && votes * 2 > all);
    let judged = if agreed { BTreeMap::new() } else { judge(job, &answers).await? };
    let candidates = (1..).zip(answers).map(|(number, answer)| {
        let votes = votes.get(&same_words(&text_of(&answer))).copied().unwrap_or_default();
        let agreement = (10.0 * f64::from(votes) / f64::from(all), format!("{votes} of {all} candidates say so"));
        let (score, because) = judged.get(&number).cloned().unwrap_or(agreement);
        Candidate { number, answer, score, because }
    });
    Ok(candidates.collect())
}

/// Has the candidates scored, by their numbers.
async fn judge(job: &Job<'_>, answers: &[Answer]) -> Result<BTreeMap<u32, (f64, String)>, Failure> {
    let candidates: Vec<String> = answers.iter().map(text_of).collect();
    let inputs =
        BTreeMap::from([("goal".to_owned(), json!(job.agent.goal)), ("candidates".to_owned(), json!(candidates))]);
    let sample = job.asker.work.attempt.0.saturating_sub(1);
    let rules = |value: &Value| numbered(value, ("scores", "candidate"), answers.len());
    let question = Question { sample, rules: Some(&rules), ..Question::of("agent-score", inputs) };
    let value = job.asker.ask(question).await?.value.unwrap_or_default();
    let scores = value["scores"].as_array().into_iter().flatten().filter_map(|score| {
        let number = u32::try_from(score["candidate"].as_u64()?).ok()?;
        let reason = score["reason"].as_str().unwrap_or_default().to_owned();
        Some((number, (score["score"].as_f64()?.clamp(0.0, 10.0), reason)))
    });
    Ok(scores.collect())
}

fn text_of(answer: &Answer) -> String {
    match &answer.value {
        Some(value) => value.to_string(),
        None => answer.text.clone(),
    }
}

/// The words alone, so that case, white space and marks do not count.
fn same_words(text: &str) -> String {
    let letters = text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ");
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_that_differ_only_in_marks_say_the_same() {
        assert_eq!(same_words("Use  a Queue!"), same_words("use a queue."));
        assert_ne!(same_words("use a queue"), same_words("use a stack"));
    }
}
