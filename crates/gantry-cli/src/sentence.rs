//! What happened, in one sentence for each event.

use gantry_core::event::{Asked, Event, Source};
use gantry_core::input::Verdict;

use crate::file::count;
use crate::gate::past;
use crate::show::elapsed::clock;
use crate::show::first_line;

/// How much of a free text is shown in a line.
const TEXT_CHARS_MAX: usize = 200;

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {}", first_line(why, TEXT_CHARS_MAX)) }
}

fn named(task: Option<&gantry_core::id::TaskId>) -> String {
    task.map_or_else(|| "the plan".to_owned(), |task| format!("`{task}`"))
}

fn verdicts(verdicts: &[Verdict]) -> String {
    let one = |verdict: &Verdict| {
        let word = if verdict.holds { "holds" } else { "does not hold" };
        format!("`{}` {word}{}", verdict.check, because(&verdict.because))
    };
    verdicts.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Says what happened.
pub fn sentence(event: &Event) -> String {
    match event {
        Event::PlanCreated { id, plan, .. } => {
            format!("plan `{id}` was created with {}", count(plan.tasks.len(), "task"))
        }
        Event::PlanForked { id, from, at } => format!("plan `{id}` continues `{from}` after entry {at}"),
        Event::PlanStarted => "work began".to_owned(),
        Event::PlanPaused { by, why } => format!("{by} paused the plan{}", because(why)),
        Event::PlanResumed { by } => format!("{by} resumed the plan"),
        Event::PlanCompleted { .. } => "the plan is completed".to_owned(),
        Event::PlanFailed { causes } => format!("the plan failed{}", because(&causes.join("; "))),
        Event::PlanAbandoned { by, why } => format!("{by} gave up the plan{}", because(why)),
        Event::PlanReopened { why } => format!("the plan goes on{}", because(why)),
        Event::PlanRevised { revision, rationale, by, .. } => {
            format!("{by} made revision {revision}{}", because(rationale))
        }
        Event::TaskOpened { task, .. } => format!("the parts of `{task}` may run"),
        Event::TaskBlocked { task, reason, .. } => format!("`{task}` is blocked{}", because(reason)),
        Event::TaskUnblocked { task } => format!("`{task}` is not blocked any more"),
        Event::AttemptStarted { task, attempt, .. } => format!("attempt {attempt} at `{task}` began"),
        Event::LeaseExtended { task, attempt, .. } => format!("attempt {attempt} at `{task}` is alive"),
        Event::ProgressMade { task, note, .. } => format!("`{task}` goes on{}", because(note)),
        Event::AttemptSucceeded { task, attempt, .. } => format!("attempt {attempt} at `{task}` ended well"),
        Event::AttemptFailed { task, attempt, failure, .. } => {
            format!("attempt {attempt} at `{task}` failed{}", because(&failure.message))
        }
        Event::AnswerIgnored { task, attempt, reason, .. } => {
            format!("an answer of attempt {attempt} at `{task}` was ignored{}", because(reason))
        }
        Event::RetryPlanned { task, at, .. } => format!("`{task}` is tried again at {}", clock(*at)),
        Event::TaskCompleted { task, outcome, source, .. } => {
            let from = match source {
                Source::Made => "",
                Source::Recorded => " with its recorded result",
                Source::Fallback => " with its fallback",
                Source::Imported => " as the plan file says",
            };
            let outcome = outcome.as_ref().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
            format!("`{task}` is done{from}{outcome}")
        }
        Event::TaskFailed { task, failure, .. } => format!("`{task}` failed for good{}", because(&failure.message)),
        Event::TaskSkipped { task, because: why, .. } => format!("`{task}` is not needed{}", because(why)),
        Event::TaskAbandoned { task, because: why } => format!("`{task}` was given up{}", because(why)),
        Event::TaskReopened { task, because: why, .. } => format!("`{task}` is to be done again{}", because(why)),
        Event::TaskConfirmed { task } => format!("`{task}` stays done"),
        Event::RouteTaken { from, to, .. } => format!("`{from}` leads to `{to}`"),
        Event::GateOpened { task, needed, .. } => {
            format!("gate `{task}` opened for {}", count(*needed as usize, "approval"))
        }
        Event::GateDecided { task, by, role, decision, rationale, .. } => {
            let role = role.as_ref().map(|role| format!(" ({role})")).unwrap_or_default();
            format!("gate `{task}`: {by}{role} {}{}", past(*decision), because(rationale))
        }
        Event::PersonAsked { task, what, .. } => match what {
            Asked::Answer => format!("`{task}` asks a question"),
            Asked::Work => format!("`{task}` waits for someone to do it"),
            Asked::Help { failure } => format!("`{task}` needs help{}", because(&failure.message)),
        },
        Event::PersonAnswered { task, by, said, .. } => format!("{by} about `{task}`{}", because(said)),
        Event::WaitBegun { task, until } => format!("`{task}` waits until {}", clock(*until)),
        Event::JudgeAsked { task, checks, .. } => {
            format!("a judge is asked about {}: {}", named(task.as_ref()), checks.join("; "))
        }
        Event::Judged { task, by, verdicts: all, .. } => {
            format!("{by} judged {}: {}", named(task.as_ref()), verdicts(all))
        }
        Event::VerifyAsked { task, attempt } => format!("did attempt {attempt} at `{task}` happen?"),
        Event::Verified { task, attempt, happened, .. } => match happened {
            Some(true) => format!("attempt {attempt} at `{task}` happened"),
            Some(false) => format!("attempt {attempt} at `{task}` did not happen"),
            None => format!("nobody can know whether attempt {attempt} at `{task}` happened"),
        },
        Event::Escalated { task, to, reason, .. } => format!("{to} was told about `{task}`{}", because(reason)),
        Event::DeadlineMissed { task } => format!("the deadline of {} passed", named(task.as_ref())),
        Event::BreakerTripped { detail, .. } => format!("a budget is used up{}", because(detail)),
        Event::BreakerReset => "the budget was raised".to_owned(),
        Event::UndoBegun { tasks, why, .. } => {
            format!("{} to be taken back{}", count(tasks.len(), "task"), because(why))
        }
        Event::UndoStarted { task, .. } => format!("`{task}` is being taken back"),
        Event::TaskUndone { task, how, .. } => format!("`{task}` was taken back{}", because(how)),
        Event::UndoPassedOver { task } => format!("`{task}` stays as it is"),
        Event::UndoFailed { task, message, .. } => format!("`{task}` could not be taken back{}", because(message)),
        Event::UndoHalted { task, reason } => format!("taking back `{task}` needs a person{}", because(reason)),
        Event::UndoFinished => "taking back is over".to_owned(),
        Event::CheckpointMade { id, name, .. } => format!("checkpoint `{name}` was marked as `{id}`"),
        Event::OutputEdited { task, by, why, outputs } => {
            let names: Vec<&str> = outputs.keys().map(String::as_str).collect();
            format!("{by} edited the output of `{task}` ({}){}", names.join(", "), because(why))
        }
        Event::FactsObserved { facts } => {
            let names: Vec<&str> = facts.keys().map(String::as_str).collect();
            format!("observed {}", names.join(", "))
        }
        Event::HypothesisAdded { hypothesis } => format!("hypothesis `{}` was added", hypothesis.id),
        Event::EvidenceAdded { hypothesis, by, evidence, .. } => {
            format!("{by} found evidence about `{hypothesis}`{}", because(evidence))
        }
        Event::NoteAdded { task, by, text } => match task {
            Some(task) => format!("{by} noted about `{task}`{}", because(text)),
            None => format!("{by} noted{}", because(text)),
        },
    }
}
