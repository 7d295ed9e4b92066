//! Is the record of a plan what was written: what the store can tell, and what only the fold can.

use gantry_core::event::Entry;
use gantry_core::id::PlanId;
use gantry_core::life;
use gantry_store::{ArtifactRow, ChainReport, NewArtifact, Problem, Snapshot, Store, all_artifacts, all_turns};

use crate::error::EngineError;
use crate::import::artifacts_of_turn;
use crate::load::{is_readable, snapshot_of};
use crate::timeline::Timeline;

/// Recomputes every hash and sum of a plan, folds its journal, and compares that with what is kept beside it.
pub async fn verify(store: &dyn Store, plan: &PlanId) -> Result<ChainReport, EngineError> {
    let mut report = store.verify(plan).await?;
    if report.first_broken().is_some() {
        return Ok(report); // there is nothing to compare with
    }
    let turns = all_turns(store, plan).await?;
    let spoken_of: Vec<NewArtifact> = turns.iter().flat_map(artifacts_of_turn).collect();
    let entries: Vec<Entry> = turns.into_iter().flat_map(|turn| turn.entries).collect();
    if let Some(snapshot) = store.load(plan).await?.and_then(|loaded| loaded.snapshot) {
        let wrong = check_snapshot(&snapshot, &entries).map_err(|bad| EngineError::journal(plan, &bad))?;
        report.problems.extend(wrong.map(|what| Problem { seq: None, what }));
    }
    let rows = all_artifacts(store, plan).await;
    // A row that cannot be read was found already.
    if let Ok(rows) = rows {
        let wrong = check_artifacts(&rows, &spoken_of);
        report.problems.extend(wrong.map(|what| Problem { seq: None, what }));
    }
    Ok(report)
}

/// A snapshot of this program must be what the journal folds to. One of another program is not used.
fn check_snapshot(snapshot: &Snapshot, entries: &[Entry]) -> Result<Option<String>, life::BadJournal> {
    if !is_readable(snapshot) {
        return Ok(None);
    }
    let length = usize::try_from(snapshot.length).unwrap_or(usize::MAX).min(entries.len());
    let folded = snapshot_of(&life::replay(&entries[..length])?, &Timeline::of(&entries[..length]));
    let same = folded.is_some_and(|folded| folded == *snapshot);
    let what = || format!("the snapshot after entry {} is not what the journal says", snapshot.length);
    Ok((!same).then(what))
}

/// The artifacts that are listed must be those that the journal speaks of, in the same order.
fn check_artifacts(rows: &[ArtifactRow], spoken_of: &[NewArtifact]) -> Option<String> {
    let key = |artifact: &NewArtifact| (artifact.task.clone(), artifact.name.clone(), artifact.hash, artifact.attempt);
    let length = rows.len().max(spoken_of.len());
    let differs = |at: &usize| rows.get(*at).map(|row| key(&row.artifact)) != spoken_of.get(*at).map(key);
    let at = (0..length).find(differs)?;
    Some(match (spoken_of.get(at), rows.get(at)) {
        (Some(NewArtifact { task, name, .. }), _) => {
            format!("the artifact `{name}` of `{task}`, which the journal speaks of, is not listed as it was made")
        }
        (None, Some(row)) => {
            format!("the artifact `{}` is listed, but the journal knows nothing of it", row.reference())
        }
        (None, None) => return None,
    })
}

#[cfg(test)]
mod tests {
    use gantry_core::event::Event;
    use gantry_core::input::Input;
    use gantry_core::life::Life;
    use gantry_core::time::Timestamp;
    use gantry_store::{Hash, MemoryStore, Turn};
    use serde_json::json;

    use super::*;
    use crate::cause::{Cause, Origin};

    /// A life of a few entries, and the same life with another word in its last one.
    fn lives() -> (Vec<Turn>, Life) {
        let plan = gantry_format::load("plan.yaml", b"title: P\ntasks: [{id: a, run: make a}]").plan.unwrap();
        let now = Timestamp::from_ms(1_000);
        let created = life::create(plan, PlanId::new("p").unwrap(), 7, now).unwrap();
        let life = life::replay(&created).unwrap();
        let started = life.decide(&Input::Start, now).unwrap().events;
        let mut other = [created.clone(), started.clone()].concat();
        if let Event::PlanCreated { seed, .. } = &mut other[0].event {
            *seed = 8;
        }
        let other = life::replay(&other).unwrap();
        let turn = |entries: Vec<Entry>, cause: Cause| Turn {
            first_seq: entries[0].seq,
            inputs: cause.to_json(),
            at: now,
            entries,
        };
        let decided =
            Cause::Decided { inputs: vec![Input::Start], room: life::Room::PLENTY, scarce: life::Scarce::new() };
        (vec![turn(created, Cause::Created(Origin::default())), turn(started, decided)], other)
    }

    #[tokio::test]
    async fn a_snapshot_that_is_not_what_the_journal_says_is_found_however_well_it_is_summed() {
        let store = MemoryStore::new();
        let (turns, other) = lives();
        let now = Timestamp::from_ms(2_000);
        let plan = crate::import::import(&store, turns.clone(), Vec::new(), now).await.unwrap();
        let entries: Vec<Entry> = turns.into_iter().flat_map(|turn| turn.entries).collect();
        let true_one = snapshot_of(&life::replay(&entries).unwrap(), &Timeline::of(&entries)).unwrap();
        store.save_snapshot(&plan, true_one).await.unwrap();
        assert!(verify(&store, &plan).await.unwrap().is_sound());
        store.save_snapshot(&plan, snapshot_of(&other, &Timeline::of(&entries)).unwrap()).await.unwrap();
        assert!(store.verify(&plan).await.unwrap().is_sound(), "the store alone cannot know");
        let report = verify(&store, &plan).await.unwrap();
        let told = format!("the snapshot after entry {} is not what the journal says", entries.len());
        assert_eq!((report.first_broken(), report.problems[0].what.as_str()), (None, told.as_str()));
    }

    #[test]
    fn artifacts_that_are_listed_otherwise_than_the_journal_says_are_found() {
        let row: ArtifactRow = serde_json::from_value(json!({
            "plan": "p", "task": "t", "version": 1, "name": "out", "bytes": 0, "media": "", "attempt": 1,
            "hash": Hash::of(b"").to_string(), "at": "2026-01-01T00:00:00Z", "made_by": "attempt",
        }))
        .unwrap();
        let made = row.artifact.clone();
        assert_eq!(check_artifacts(std::slice::from_ref(&row), std::slice::from_ref(&made)), None);
        assert!(check_artifacts(&[], std::slice::from_ref(&made)).unwrap().contains("is not listed"));
        assert!(check_artifacts(&[row], &[]).unwrap().contains("knows nothing of it"));
    }
}
