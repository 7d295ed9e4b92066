//! What a list of plans shows of a life, and the words that it is found by.

use gantry_core::effect::ArtifactRef;
use gantry_core::event::{AnswerTo, Entry, Event};
use gantry_core::id::{AttemptNo, TaskId};
use gantry_core::input::Input;
use gantry_core::life::Life;
use gantry_core::plan::{Plan, Task};
use gantry_store::{CAUSES_MAX, Card, ForkedFrom, Hash, NewArtifact, TextKind, TextRow, WAITING_MAX, WaitingLine};

use crate::cause::Origin;

/// The card of a plan after a turn. Whoever made a plan looks after it, unless it names someone.
pub(crate) fn card_of(life: &Life, origin: &Origin, forked: Option<&ForkedFrom>) -> Card {
    let header = life.header();
    let maker = Some(origin.by.clone()).filter(|by| !by.is_empty());
    let waiting = life.waits().take(WAITING_MAX).map(|wait| WaitingLine { task: wait.task, what: wait.what });
    Card {
        title: header.name().to_owned(),
        state: life.state(),
        revision: life.revision(),
        tasks: life.counts(),
        waiting: waiting.collect(),
        used: life.spent(),
        budget: header.policy.budget,
        causes: life.causes().iter().take(CAUSES_MAX).cloned().collect(),
        labels: header.labels.clone(),
        owner: header.owner.clone().or(maker),
        parent: origin.parent.as_ref().map(|(plan, _)| plan.clone()),
        forked_from: forked.cloned(),
        home: None,
    }
}

/// The words that a new plan is found by.
pub(crate) fn texts_of(plan: &Plan) -> Vec<TextRow> {
    let mut texts = vec![TextRow {
        task: None,
        kind: TextKind::Title,
        name: String::new(),
        text: format!("{} {}", plan.title, plan.objective),
    }];
    texts.extend(plan.tasks.iter().map(text_of_task));
    texts
}

/// The words that tasks of a revision are found by.
pub(crate) fn texts_of_changes(entries: &[Entry], life: &Life) -> Vec<TextRow> {
    let mut texts = Vec::new();
    for entry in entries {
        if let Event::PlanRevised { diff, .. } = &entry.event {
            let changed = diff.changed.iter().map(|change| &change.id);
            let named = diff.added.iter().map(|added| &added.task.id).chain(changed);
            texts.extend(named.filter_map(|id| life.definition(id.as_str())).map(text_of_task));
        }
    }
    texts
}

fn text_of_task(task: &Task) -> TextRow {
    let text = format!("{} {} {}", task.id, task.title, task.description.as_deref().unwrap_or_default());
    TextRow { task: Some(task.id.clone()), kind: TextKind::Task, name: String::new(), text }
}

/// The artifacts that these entries speak of. What an attempt handed in that was over by then is in the input alone.
pub(crate) fn artifacts_of<'i>(entries: &[Entry], inputs: impl Iterator<Item = &'i Input> + Clone) -> Vec<NewArtifact> {
    let mut found = Vec::new();
    for entry in entries {
        let (task, attempt, artifacts, made_by): (&TaskId, _, _, &str) = match &entry.event {
            Event::AttemptSucceeded { task, attempt, artifacts, .. }
            | Event::ProgressMade { task, attempt, artifacts, .. } => (task, *attempt, artifacts, "attempt"),
            Event::AttemptFailed { task, attempt, failure, .. } => (task, *attempt, &failure.evidence, "attempt"),
            Event::AnswerIgnored { task, attempt, to: AnswerTo::Attempt, .. } => {
                let late = inputs.clone().find_map(|input| handed_in(input, task, *attempt));
                let Some(late) = late else { continue };
                (task, *attempt, late, "attempt")
            }
            Event::PersonAnswered { task, evidence, by, .. } => (task, Default::default(), evidence, by),
            _ => continue,
        };
        for artifact in artifacts {
            let Ok(hash) = artifact.hash.parse::<Hash>() else { continue };
            found.push(NewArtifact {
                task: task.clone(),
                name: artifact.name.clone(),
                hash,
                bytes: artifact.bytes,
                media: String::new(),
                attempt,
                at: entry.at,
                made_by: made_by.to_owned(),
            });
        }
    }
    found
}

/// What an attempt handed in at its end, well or not.
fn handed_in<'i>(input: &'i Input, of: &TaskId, number: AttemptNo) -> Option<&'i Vec<ArtifactRef>> {
    match input {
        Input::Ended { task, attempt, end, .. } if task == of && *attempt == number => Some(match end {
            Ok(success) => &success.artifacts,
            Err(failure) => &failure.evidence,
        }),
        _ => None,
    }
}
