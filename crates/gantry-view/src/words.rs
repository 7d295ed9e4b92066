//! One sentence for everything that can happen to a plan. The only place where events become words.

use gantry_core::effect::Failure;
use gantry_core::event::{AfterUndo, Asked, Event, JudgeOf, Source};
use gantry_core::id::TaskId;
use gantry_core::input::{Decision, EvidenceFor, Verdict};
use gantry_core::plan::Diff;
use gantry_core::policy::Remedy;

use crate::count;
use crate::{first_line, plain, without_empty_name, without_empty_reason};

/// How much of a text that someone wrote stands in one sentence.
const TEXT_CHARS_MAX: usize = 300;

/// How much a person who watches wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It happens all the time.
    Noise,
    /// For those who look closely.
    Detail,
    /// For everyone.
    News,
}

/// What sort of news it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something went on.
    Plain,
    /// Something is done.
    Good,
    /// Something waits.
    Waits,
    /// Something went wrong.
    Bad,
}

/// An event in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What it is about; the plan when none.
    pub task: Option<TaskId>,
    /// What happened, as a lowercase fragment.
    pub text: String,
    /// How much one wants to know it.
    pub weight: Weight,
    /// What sort of news it is.
    pub tone: Tone,
}

impl Said {
    /// The sentence with its subject before it.
    pub fn line(&self) -> String {
        match &self.task {
            Some(task) => format!("{task}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

/// Says what happened.
pub fn said(event: &Event) -> Said {
    let (weight, tone) = importance(event);
    Said { task: event.task().cloned(), text: plain(&text(event)), weight, tone }
}

/// A text that someone wrote, short enough for a sentence.
fn short(text: &str) -> String {
    first_line(text, TEXT_CHARS_MAX)
}

/// `: why`, or nothing.
fn because(why: &str) -> String {
    let why = without_empty_name(without_empty_reason(why).trim());
    if why.is_empty() { String::new() } else { format!(": {}", short(&why)) }
}

fn names(tasks: &[TaskId]) -> String {
    tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

/// `started`, or `attempt 2 started`.
fn nth(attempt: gantry_core::id::AttemptNo, what: &str) -> String {
    if attempt.0 <= 1 { what.to_owned() } else { format!("attempt {attempt} {what}") }
}

fn text(event: &Event) -> String {
    match event {
        Event::PlanCreated { plan, .. } => format!("the plan was created with {}", count(plan.tasks.len(), "task")),
        Event::PlanForked { from, at, .. } => format!("it goes on from entry {at} of `{from}`"),
        Event::PlanStarted => "work began".to_owned(),
        Event::PlanPaused { by, why } => format!("paused by {by}{}", because(why)),
        Event::PlanResumed { by } => format!("resumed by {by}"),
        Event::PlanCompleted { degraded, unjudged } => {
            let degraded = if degraded.is_empty() { String::new() } else { format!("; degraded: {}", names(degraded)) };
            format!("the plan is completed{degraded}{}", not_judged(unjudged))
        }
        Event::PlanFailed { causes } => format!("the plan failed{}", because(&causes.join("; "))),
        Event::PlanAbandoned { by, why } => format!("given up by {by}{}", because(why)),
        Event::PlanReopened { why } => format!("the plan goes on{}", because(why)),
        Event::PlanRevised { revision, diff, rationale, by } => {
            format!("revision {revision} by {by}{} ({})", because(rationale), changes(diff))
        }
        Event::TaskOpened { until, .. } => match until {
            Some(until) => format!("its parts may start; its time ends {until}"),
            None => "its parts may start".to_owned(),
        },
        Event::TaskBlocked { reason, .. } => format!("blocked{}", because(reason)),
        Event::TaskUnblocked { .. } => "no longer blocked".to_owned(),
        Event::AttemptStarted { attempt, .. } => nth(*attempt, "started"),
        Event::LeaseExtended { until, .. } => format!("alive; counts as lost after {until}"),
        Event::ProgressMade { note, artifacts, .. } if note.is_empty() => {
            format!("handed in {}", count(artifacts.len(), "part"))
        }
        Event::ProgressMade { note, .. } => short(note),
        Event::AttemptSucceeded { attempt, outcome, shortfall, .. } => {
            let shortfall = shortfall.as_ref().map(|why| format!("; degraded: {}", short(why))).unwrap_or_default();
            format!("{}{}{shortfall}", nth(*attempt, "succeeded"), because(outcome.as_deref().unwrap_or_default()))
        }
        Event::AttemptFailed { attempt, failure, .. } => format!("attempt {attempt} {}", failed(failure)),
        Event::AnswerIgnored { attempt, reason, .. } => {
            format!("a late answer of attempt {attempt} was ignored{}", because(reason))
        }
        Event::RetryPlanned { remedy, at, feedback, .. } => {
            format!("{} {at}{}", remedy_text(*remedy), because(feedback.as_deref().unwrap_or_default()))
        }
        Event::TaskCompleted { outcome, source, unjudged, .. } => {
            let done = match source {
                Source::Made => "done",
                Source::Recorded => "done: the recorded result serves",
                Source::Fallback => "degraded: goes on with its fallback",
                Source::Imported => "done before the plan began",
            };
            let outcome = outcome.as_ref().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
            format!("{done}{outcome}{}", not_judged(unjudged))
        }
        Event::TaskFailed { failure, handled, .. } => {
            format!("{}{}", failed(failure), if *handled { "; the plan has a way around it" } else { "" })
        }
        Event::TaskSkipped { because: why, by_hand, .. } => {
            format!("{}{}", if *by_hand { "left out by hand" } else { "skipped" }, because(why))
        }
        Event::TaskAbandoned { because: why, .. } => format!("given up{}", because(why)),
        Event::TaskReopened { because: why, afresh, .. } => {
            format!("to be done again{}{}", if *afresh { ", afresh" } else { "" }, because(why))
        }
        Event::TaskConfirmed { .. } => "stays done: what it worked on is the same".to_owned(),
        Event::RouteTaken { to, on, .. } => format!("on {on}, `{to}` is next"),
        Event::GateOpened { needed, findings, .. } => {
            let wants = if *needed == 0 {
                "gate opened".to_owned()
            } else {
                format!("waits for {}", count(*needed as usize, "approval"))
            };
            format!("{wants}{}", not_holding(findings))
        }
        Event::GateDecided { by, role, decision, rationale, .. } => {
            let what = match decision {
                Decision::Approve => "approved",
                Decision::Reject => "rejected",
                Decision::NeedsChanges => "sent back for changes",
            };
            let role = role.as_ref().map(|role| format!(" ({role})")).unwrap_or_default();
            format!("{what} by {by}{role}{}", because(rationale))
        }
        Event::PersonAsked { what, until, .. } => {
            let asked = match what {
                Asked::Answer => "waits for an answer".to_owned(),
                Asked::Work => "waits for someone to do it".to_owned(),
                Asked::Help { failure } if failure.is_needs_approval() => {
                    format!("waits for approval: {}", short(&failure.message))
                }
                Asked::Help { failure } => format!("needs help: {}", short(&failure.message)),
            };
            asked + &until.map(|until| format!(" until {until}")).unwrap_or_default()
        }
        Event::PersonAnswered { by, said, .. } => format!("{by} answered{}", because(said)),
        Event::WaitBegun { until, .. } => format!("waits until {until}"),
        Event::JudgeAsked { checks, of, .. } => {
            let when = match of {
                JudgeOf::Start => "before it starts",
                JudgeOf::Result => "about its result",
            };
            format!("waits for a judge {when}{}", because(&checks.join("; ")))
        }
        Event::Judged { by, verdicts, .. } => {
            let bad = not_holding(verdicts);
            if bad.is_empty() { format!("judged by {by}: everything holds") } else { format!("judged by {by}{bad}") }
        }
        Event::JudgeFailed { why, .. } => format!("no model could judge{}", because(why)),
        Event::VerifyAsked { attempt, .. } => format!("finding out whether attempt {attempt} happened"),
        Event::Verified { attempt, happened, .. } => match happened {
            Some(true) => format!("attempt {attempt} did happen"),
            Some(false) => format!("attempt {attempt} did not happen"),
            None => format!("whether attempt {attempt} happened cannot be found out"),
        },
        Event::Escalated { to, level, reason, .. } => format!("told {to} (level {level}){}", because(reason)),
        Event::DeadlineMissed { .. } => "the deadline passed".to_owned(),
        Event::BreakerTripped { dimension, detail } => {
            format!("stopped by the budget for {}{}", dimension.name(), because(detail))
        }
        Event::BreakerReset => "the budget was raised; work goes on".to_owned(),
        Event::UndoBegun { tasks, then, why } => {
            let then = match then {
                AfterUndo::Fail => "the failure stands",
                AfterUndo::CompleteTask(_) => "the plan goes on",
                AfterUndo::Pause => "the plan is paused",
                AfterUndo::Abandon => "the plan is given up",
            };
            let what = if tasks.is_empty() { "nothing".to_owned() } else { names(tasks) };
            format!("taking back {what}, then {then}{}", because(why))
        }
        Event::UndoStarted { .. } => "being taken back".to_owned(),
        Event::TaskUndone { how, .. } => format!("taken back{}", because(how)),
        Event::UndoPassedOver { .. } => "stays as it is; taking back passes over it".to_owned(),
        Event::UndoFailed { message, .. } => format!("taking it back failed{}", because(message)),
        Event::UndoHalted { reason, .. } => format!("taking back needs a person{}", because(reason)),
        Event::UndoFinished => "taking back is over".to_owned(),
        Event::CheckpointMade { id, name, .. } => format!("checkpoint `{name}` ({id})"),
        Event::OutputEdited { by, why, .. } => format!("its result was changed by {by}{}", because(why)),
        Event::FactsObserved { facts } => {
            let facts = facts.iter().map(|(name, value)| format!("{name} = {}", first_line(&value.to_string(), 60)));
            format!("observed: {}", facts.collect::<Vec<_>>().join(", "))
        }
        Event::HypothesisAdded { hypothesis } => {
            let statement = hypothesis.statement.as_deref().unwrap_or_default();
            format!("hypothesis {}{}", hypothesis.id, because(statement))
        }
        Event::EvidenceAdded { hypothesis, direction, evidence, by, confidence } => {
            let points = match direction {
                EvidenceFor::Supports => "supports",
                EvidenceFor::StronglySupports => "strongly supports",
                EvidenceFor::Neutral => "says nothing about",
                EvidenceFor::Refutes => "speaks against",
                EvidenceFor::StronglyRefutes => "speaks strongly against",
            };
            format!("{by} found what {points} {hypothesis}{} (confidence {confidence})", because(evidence))
        }
        Event::NoteAdded { by, text, .. } => format!("note by {by}{}", because(text)),
    }
}

fn importance(event: &Event) -> (Weight, Tone) {
    use Tone::{Bad, Good, Plain, Waits};
    use Weight::{Detail, News, Noise};
    match event {
        Event::ProgressMade { note, .. } if !note.is_empty() => (News, Plain),
        Event::LeaseExtended { .. } | Event::FactsObserved { .. } | Event::TaskConfirmed { .. } => (Noise, Plain),
        Event::PlanCreated { .. }
        | Event::PlanStarted
        | Event::TaskOpened { .. }
        | Event::TaskUnblocked { .. }
        | Event::ProgressMade { .. }
        | Event::AttemptSucceeded { .. }
        | Event::AnswerIgnored { .. }
        | Event::RouteTaken { .. }
        | Event::UndoStarted { .. }
        | Event::CheckpointMade { .. }
        | Event::VerifyAsked { .. } => (Detail, Plain),
        Event::AttemptFailed { .. } => (Detail, Bad),
        // The summary says it.
        Event::PlanCompleted { .. } => (Detail, Good),
        Event::PlanFailed { .. } | Event::PlanAbandoned { .. } => (Detail, Bad),
        Event::PlanForked { .. }
        | Event::PlanResumed { .. }
        | Event::PlanReopened { .. }
        | Event::PlanRevised { .. }
        | Event::AttemptStarted { .. }
        | Event::TaskSkipped { .. }
        | Event::TaskReopened { .. }
        | Event::PersonAnswered { .. }
        | Event::Verified { .. }
        | Event::Judged { .. }
        | Event::BreakerReset
        | Event::UndoBegun { .. }
        | Event::UndoPassedOver { .. }
        | Event::OutputEdited { .. }
        | Event::HypothesisAdded { .. }
        | Event::EvidenceAdded { .. }
        | Event::NoteAdded { .. } => (News, Plain),
        Event::TaskCompleted { source: Source::Fallback, .. } => (News, Waits),
        Event::TaskCompleted { .. } | Event::TaskUndone { .. } | Event::UndoFinished => (News, Good),
        Event::GateDecided { decision: Decision::Approve, .. } => (News, Good),
        Event::GateDecided { .. } => (News, Bad),
        Event::PlanPaused { .. }
        | Event::TaskBlocked { .. }
        | Event::RetryPlanned { .. }
        | Event::GateOpened { .. }
        | Event::PersonAsked { .. }
        | Event::WaitBegun { .. }
        | Event::JudgeAsked { .. }
        | Event::JudgeFailed { .. }
        | Event::Escalated { .. }
        | Event::DeadlineMissed { .. } => (News, Waits),
        Event::TaskFailed { .. }
        | Event::TaskAbandoned { .. }
        | Event::BreakerTripped { .. }
        | Event::UndoFailed { .. }
        | Event::UndoHalted { .. } => (News, Bad),
    }
}

/// `failed: why`.
fn failed(failure: &Failure) -> String {
    let word = if failure.is_needs_approval() { "was held" } else { "failed" };
    format!("{word}{}", because(&failure.message))
}

fn remedy_text(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Retry => "tried again at",
        Remedy::Repair => "tried again, told what was wrong, at",
        Remedy::Alternate => "tried in another way at",
        Remedy::Fallback => "goes on with its fallback at",
        Remedy::Undo => "taken back at",
        Remedy::Escalate => "tried again, as someone said, at",
        Remedy::Abort => "the plan is given up at",
    }
}

fn not_judged(unjudged: &[String]) -> String {
    if unjudged.is_empty() { String::new() } else { format!("; nobody judged: {}", short(&unjudged.join("; "))) }
}

fn not_holding(verdicts: &[Verdict]) -> String {
    let bad: Vec<String> = verdicts
        .iter()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| format!("`{}` does not hold{}", short(&verdict.check), because(&verdict.because)))
        .collect();
    if bad.is_empty() { String::new() } else { format!("; {}", bad.join("; ")) }
}

/// `2 added, 1 changed`.
fn changes(diff: &Diff) -> String {
    let counts = [
        (diff.added.len(), "added"),
        (diff.removed.len(), "removed"),
        (diff.moved.len(), "moved"),
        (diff.changed.len(), "changed"),
    ];
    let mut said: Vec<String> =
        counts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if !diff.plan.is_empty() {
        said.push("the plan itself changed".to_owned());
    }
    if said.is_empty() { "nothing changed".to_owned() } else { said.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_core::event::Entry;

    #[test]
    fn everything_that_can_happen_has_a_sentence() {
        let golden = include_str!("../../gantry-core/tests/golden/events-v1.jsonl");
        let line = |line: &str| said(&serde_json::from_str::<Entry>(line).unwrap().event).line();
        insta::assert_snapshot!(golden.lines().map(line).collect::<Vec<_>>().join("\n"));
    }
}
