//! Appending, loading, paging, verifying.
#![allow(missing_docs, reason = "the names are the sentences")]

use std::sync::Arc;

use gantry_core::event::Event;
use gantry_core::id::PlanId;

use super::Beside;
use super::kit::{append, artifact, at, effect, grow, is_not_found, plan, turn};
use crate::{Append, EffectRow, Hash, PlanNo, Snapshot, Store, StoreError, Turn};

pub async fn an_append_of_length_zero_makes_a_plan_with_the_next_number(store: impl Beside) {
    for (name, no) in [("a", 1), ("b", 2), ("c", 3)] {
        let appended = store.append(append(name, 0, 2)).await.unwrap();
        assert_eq!((appended.plan_no, appended.length), (PlanNo(no), 2));
        assert_eq!(store.plan(name).await.unwrap().no, PlanNo(no));
    }
}

pub async fn an_append_with_another_length_is_a_conflict_and_changes_nothing(store: impl Beside) {
    assert_eq!(store.append(append("a", 5, 1)).await, Err(StoreError::Conflict { length: 0 }));
    let appended = store.append(append("a", 0, 3)).await.unwrap();
    for length in [0, 1, 2, 4] {
        assert_eq!(store.append(append("a", length, 1)).await, Err(StoreError::Conflict { length: 3 }));
    }
    let loaded = store.load(&plan("a")).await.unwrap().unwrap();
    assert_eq!((loaded.length, loaded.head), (3, appended.head));
}

pub async fn of_many_appends_at_once_with_one_length_exactly_one_succeeds(store: impl Beside + 'static) {
    let stores = [Arc::new(store.beside()), Arc::new(store)];
    let _ = stores[0].append(append("a", 0, 1)).await.unwrap();
    for length in 1..6 {
        let tries = (0..16).map(|number| {
            let store = Arc::clone(&stores[number % 2]);
            tokio::spawn(async move { store.append(append("a", length, 1)).await })
        });
        let mut won = 0;
        for attempt in tries.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                Ok(_) => won += 1,
                Err(error) => assert_eq!(error, StoreError::Conflict { length: length + 1 }),
            }
        }
        assert_eq!(won, 1, "after {length} entries");
    }
    assert!(stores[0].verify(&plan("a")).await.unwrap().is_sound());
}

pub async fn plans_that_are_appended_to_at_once_do_not_disturb_each_other(store: impl Beside + 'static) {
    let store = Arc::new(store);
    let grown = (0..20).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { grow(&*store, &format!("p{number}"), 10).await })
    });
    for plan in grown.collect::<Vec<_>>() {
        assert_eq!(plan.await.unwrap().length, 10);
    }
    for number in 0..20 {
        let report = store.verify(&plan(&format!("p{number}"))).await.unwrap();
        assert!(report.is_sound() && report.length == 10 && report.turns == 10, "{report:?}");
    }
}

pub async fn a_loaded_plan_is_what_was_appended(store: impl Beside) {
    let _ = store.append(append("a", 0, 2)).await.unwrap();
    let last = store.append(append("a", 2, 3)).await.unwrap();
    let loaded = store.load(&plan("a")).await.unwrap().unwrap();
    assert_eq!(loaded.turns, [turn(0, 2), turn(2, 3)]);
    assert_eq!((loaded.plan_no, loaded.length, loaded.head), (last.plan_no, 5, last.head));
    assert_eq!((loaded.snapshot, loaded.damaged), (None, vec![]));
    assert_eq!(store.load(&plan("b")).await, Ok(None));
}

pub async fn numbers_come_back_to_their_last_digit(store: impl Beside) {
    let mut request = append("a", 0, 1);
    let number = |seed: u32| {
        let hash = Hash::of(&seed.to_le_bytes());
        f64::from_bits(hash.as_bytes()[..8].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    };
    let numbers: Vec<f64> = (0..2_000).map(number).filter(|number| number.is_finite()).collect();
    request.turn.inputs = serde_json::json!(numbers).to_string();
    request.turn.entries[0].event =
        Event::FactsObserved { facts: [("numbers".to_owned(), serde_json::json!(numbers))].into() };
    let turn = request.turn.clone();
    let _ = store.append(request).await.unwrap();
    assert_eq!(store.load(&plan("a")).await.unwrap().unwrap().turns, [turn]);
}

pub async fn a_turn_with_wrong_numbers_or_no_entries_is_refused(store: impl Beside) {
    let wrong: [fn(&mut Turn); 4] = [
        |turn| turn.entries.clear(),
        |turn| turn.first_seq = 2,
        |turn| turn.entries[1].seq = 3,
        |turn| drop(turn.entries.remove(0)),
    ];
    for spoil in wrong {
        let mut request = append("a", 0, 2);
        spoil(&mut request.turn);
        assert!(matches!(store.append(request).await, Err(StoreError::Invalid { .. })));
    }
    assert_eq!(store.load(&plan("a")).await, Ok(None));
}

/// Reads all entries page by page and returns their numbers.
async fn numbers(store: &impl Store, id: &PlanId, after: u64, limit: u32) -> (Vec<u64>, usize) {
    let (mut seqs, mut pages, mut cursor) = (Vec::new(), 0, Some(after));
    while let Some(after) = cursor {
        let page = store.turns(id, after, limit).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        seqs.extend(page.items.iter().flat_map(|turn| turn.entries.iter().map(|entry| entry.seq)));
        pages += 1;
        cursor = page.next;
    }
    (seqs, pages)
}

pub async fn turns_come_in_pages_from_any_entry(store: impl Beside) {
    for length in (0..20).step_by(2) {
        let _ = store.append(append("a", length, 2)).await.unwrap();
    }
    let id = plan("a");
    assert_eq!(numbers(&store, &id, 0, 3).await, ((1..=20).collect(), 4));
    assert_eq!(numbers(&store, &id, 0, 10).await, ((1..=20).collect(), 1), "no page after the last");
    assert_eq!(numbers(&store, &id, 4, 100).await.0, (5..=20).collect::<Vec<_>>());
    assert_eq!(numbers(&store, &id, 5, 100).await.0, (5..=20).collect::<Vec<_>>(), "the turn that holds entry 6");
    assert_eq!(numbers(&store, &id, 20, 100).await, (vec![], 1));
    assert_eq!(numbers(&store, &id, u64::MAX, 100).await, (vec![], 1));
}

pub async fn the_chain_of_a_plan_that_nobody_touched_is_sound(store: impl Beside) {
    let last = grow(&store, "a", 7).await;
    let report = store.verify(&plan("a")).await.unwrap();
    assert!(report.is_sound() && report.first_broken().is_none());
    assert_eq!((report.length, report.turns, report.head), (7, 7, last.head));
    let other = grow(&store, "b", 7).await;
    assert_ne!(other.head, last.head, "the same turns in another plan are another chain");
}

pub async fn a_whole_life_is_written_at_once_or_not_at_all(store: impl Beside) {
    let life = |id: &str, effect: EffectRow| {
        let last = Append { effects: vec![effect], ..append(id, 3, 1) };
        vec![append(id, 0, 1), append(id, 1, 2), last]
    };
    let made = store.import(life("a", effect("a", "build", 0))).await.unwrap();
    assert_eq!((made.plan_no, made.length), (PlanNo(1), 4));
    let loaded = store.load(&plan("a")).await.unwrap().unwrap();
    assert_eq!((loaded.turns.len(), loaded.head), (3, made.head));
    assert!(store.verify(&plan("a")).await.unwrap().is_sound());
    assert_eq!(store.effects(&plan("a"), None, 0, 10).await.unwrap().items.len(), 1);
    // The id is taken: what is there stays as it is.
    let again = store.import(life("a", effect("a", "build", 0))).await;
    assert_eq!(again, Err(StoreError::Conflict { length: 4 }));
    // The last turn is refused, for whatever reason: the ones before it were never there.
    let mut without_blob = life("b", effect("b", "build", 0));
    without_blob[2].artifacts = vec![artifact("out", Hash::of(b"nobody kept this"), 1)];
    let mut with_gap = life("b", effect("b", "build", 0));
    with_gap.remove(1);
    let of_two = vec![append("b", 0, 1), append("c", 1, 1)];
    for bad in [without_blob, with_gap, life("b", effect("a", "build", 0)), of_two, vec![append("b", 1, 1)], Vec::new()]
    {
        assert!(store.import(bad).await.is_err());
        assert_eq!(store.load(&plan("b")).await.unwrap(), None);
        assert!(is_not_found(&store.effects(&plan("b"), None, 0, 10).await));
    }
    assert_eq!(store.import(life("b", effect("b", "build", 0))).await.unwrap().plan_no, PlanNo(2));
    assert_eq!(store.append(append("b", 4, 1)).await.unwrap().length, 5, "it goes on like any other plan");
}

pub async fn loading_begins_at_the_newest_snapshot(store: impl Beside) {
    let id = plan("a");
    let body = |length: u64| Snapshot { length, body: format!("state {length} ").repeat(1_000).into_bytes() };
    let mut request = append("a", 0, 2);
    request.snapshot = Some(body(2));
    let _ = store.append(request).await.unwrap();
    let mut request = append("a", 2, 2);
    request.snapshot = Some(body(2));
    let last = store.append(request).await.unwrap();
    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!((loaded.snapshot, loaded.turns, loaded.length), (Some(body(2)), vec![turn(2, 2)], 4));

    store.save_snapshot(&id, body(4)).await.unwrap();
    store.save_snapshot(&id, body(2)).await.unwrap();
    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!((loaded.snapshot, loaded.turns, loaded.head), (Some(body(4)), vec![], last.head));
    assert!(store.verify(&id).await.unwrap().is_sound());
}

pub async fn a_snapshot_in_the_middle_of_a_turn_is_refused(store: impl Beside) {
    let mut request = append("a", 0, 3);
    request.snapshot = Some(Snapshot { length: 2, body: vec![1] });
    assert!(matches!(store.append(request).await, Err(StoreError::Invalid { .. })));
    assert_eq!(store.load(&plan("a")).await, Ok(None), "nothing of the append was kept");
    let _ = store.append(append("a", 0, 3)).await.unwrap();
    let middle = store.save_snapshot(&plan("a"), Snapshot { length: 1, body: vec![1] }).await;
    assert!(matches!(middle, Err(StoreError::Invalid { .. })));
    assert_eq!(store.plan("a").await.unwrap().created_at, at(1_000));
}
