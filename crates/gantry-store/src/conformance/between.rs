//! What passes between processes: the inbox, keys, claims, news.
#![allow(missing_docs, reason = "the names are the sentences")]

use std::sync::Arc;

use serde_json::json;

use super::Beside;
use super::kit::{append, at, grow, is_not_found, plan, turn};
use crate::{Hash, InboxId, OnceKey, PlanNo, StoreError};

pub async fn inputs_wait_in_order_until_they_are_answered(store: impl Beside) {
    let (id, other) = (plan("a"), store.beside());
    let _ = grow(&store, "a", 1).await;
    let _ = grow(&store, "b", 1).await;
    let first = other.submit(&id, json!({"approve": 1}), at(1)).await.unwrap();
    let second = other.submit(&id, json!("stop"), at(1)).await.unwrap();
    let elsewhere = other.submit(&plan("b"), json!("go"), at(1)).await.unwrap();
    assert_eq!(store.inbox(&id).await.unwrap(), [(first, json!({"approve": 1})), (second, json!("stop"))]);
    assert_eq!(store.inbox(&plan("b")).await.unwrap(), [(elsewhere, json!("go"))]);

    store.answer(first, json!({"refused": "too late"})).await.unwrap();
    store.answer(first, json!("another answer")).await.unwrap();
    assert_eq!(store.inbox(&id).await.unwrap(), [(second, json!("stop"))]);
    assert_eq!(other.ask_answer(first).await, Ok(Some(json!({"refused": "too late"}))), "the first answer stays");
    assert_eq!(other.ask_answer(second).await, Ok(None));
}

pub async fn a_vacuum_removes_old_inputs_that_were_answered(store: impl Beside) {
    let _ = grow(&store, "a", 1).await;
    let day = 24 * 60 * 60 * 1_000;
    let old = store.submit(&plan("a"), json!("old"), at(0)).await.unwrap();
    let waiting = store.submit(&plan("a"), json!("waiting"), at(0)).await.unwrap();
    let new = store.submit(&plan("a"), json!("new"), at(6 * day)).await.unwrap();
    for id in [old, new] {
        store.answer(id, json!("heard")).await.unwrap();
    }
    store.vacuum(at(7 * day)).await.unwrap();
    assert!(is_not_found(&store.ask_answer(old).await));
    assert_eq!(store.ask_answer(new).await, Ok(Some(json!("heard"))), "its sender may still ask");
    assert_eq!(store.inbox(&plan("a")).await, Ok(vec![(waiting, json!("waiting"))]), "nobody has heard it");
}

pub async fn an_input_is_answered_together_with_the_turn_that_took_it(store: impl Beside) {
    let id = plan("a");
    let _ = grow(&store, "a", 1).await;
    let input = store.submit(&id, json!("go"), at(1)).await.unwrap();
    let mut late = append("a", 0, 1);
    late.answered = vec![(input, json!("never"))];
    assert_eq!(store.append(late).await, Err(StoreError::Conflict { length: 1 }));
    assert_eq!(store.ask_answer(input).await, Ok(None), "a conflict answers nothing");
    let mut unknown = append("a", 1, 1);
    unknown.answered = vec![(input, json!("yes")), (InboxId(999), json!("no"))];
    assert!(is_not_found(&store.append(unknown).await));
    assert_eq!(store.ask_answer(input).await, Ok(None), "a refusal answers nothing");
    let mut request = append("a", 1, 1);
    request.answered = vec![(input, json!("yes"))];
    let _ = store.append(request).await.unwrap();
    assert_eq!(store.ask_answer(input).await, Ok(Some(json!("yes"))));
    assert_eq!(store.inbox(&id).await.unwrap(), []);
}

fn once(id: &str, key: &str, body: &str) -> crate::Append {
    let mut request = append(id, 0, 1);
    request.once = Some(OnceKey { key: key.to_owned(), body_hash: Hash::of(body.as_bytes()).to_string() });
    request
}

pub async fn a_request_with_a_key_is_carried_out_once(store: impl Beside + 'static) {
    let store = Arc::new(store);
    let tries: Vec<_> = (0..8)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.append(once(&format!("p{number}"), "key-1", "body")).await })
        })
        .collect();
    let (mut made, mut told) = (0, Vec::new());
    for attempt in tries {
        match attempt.await.unwrap() {
            Ok(_) => made += 1,
            Err(StoreError::AlreadyDone { plan }) => told.push(plan),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((made, told.len()), (1, 7));
    let kept = store.plan("@last").await.unwrap();
    assert_eq!(kept.no, PlanNo(1));
    assert!(told.iter().all(|plan| *plan == kept.id));
    let later = store.beside().append(once("later", "key-1", "body")).await;
    assert_eq!(later, Err(StoreError::AlreadyDone { plan: kept.id }));
}

pub async fn a_key_for_another_request_is_refused(store: impl Beside) {
    let _ = store.append(once("a", "key-1", "body")).await.unwrap();
    let reused = StoreError::KeyReused { key: "key-1".to_owned() };
    assert_eq!(store.append(once("b", "key-1", "other body")).await, Err(reused));
    assert_eq!(store.load(&plan("b")).await, Ok(None));
    let _ = store.append(once("b", "key-2", "other body")).await.unwrap();
}

pub async fn a_plan_is_driven_by_one_handle_at_a_time(store: impl Beside) {
    let other = store.beside();
    let (one, two) = (PlanNo(1), PlanNo(2));
    let claim = store.claim(one).await.unwrap().expect("nobody has it");
    assert_eq!(claim.plan_no(), one);
    assert!(store.claim(one).await.unwrap().is_none(), "not even the same handle twice");
    assert!(other.claim(one).await.unwrap().is_none());
    assert!(other.claimed_by_other(one).await.unwrap() && !store.claimed_by_other(one).await.unwrap());
    let second = other.claim(two).await.unwrap().expect("another plan is another claim");
    drop(claim);
    assert!(!other.claimed_by_other(one).await.unwrap());
    let claim = other.claim(one).await.unwrap().expect("it was given back");
    drop(second);
    assert!(store.claim(one).await.unwrap().is_none() && store.claim(two).await.unwrap().is_some());
    drop(claim);
    assert!(store.claim(PlanNo::WHOLE_RECORD).await.unwrap().is_some());
}

pub async fn another_handle_sees_what_was_appended(store: impl Beside) {
    let other = store.beside();
    let _ = store.append(append("a", 0, 1)).await.unwrap();
    let _ = other.append(append("a", 1, 2)).await.unwrap();
    let last = store.append(append("a", 3, 1)).await.unwrap();
    assert_eq!(other.append(append("a", 3, 1)).await, Err(StoreError::Conflict { length: 4 }));
    let loaded = other.load(&plan("a")).await.unwrap().unwrap();
    assert_eq!((loaded.turns, loaded.head), (vec![turn(0, 1), turn(1, 2), turn(3, 1)], last.head));
}

pub async fn whoever_waits_is_told_of_inputs_and_of_what_others_wrote(store: impl Beside + 'static) {
    let (store, other) = (Arc::new(store.beside()), store);
    let _ = grow(&*store, "a", 1).await;
    let waiter = |seen| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.changed(seen).await })
    };
    let mut seen = store.mark();
    for round in 1..4 {
        let waiting = waiter(seen);
        let _ = other.append(append("a", round, 1)).await.unwrap();
        seen = waiting.await.unwrap();
    }
    let waiting = waiter(store.mark());
    let _ = store.submit(&plan("a"), json!("go"), at(1)).await.unwrap();
    assert!(waiting.await.unwrap() > seen, "an input of its own counts");
}

pub async fn what_does_not_exist_is_not_found(store: impl Beside) {
    let id = plan("nobody");
    assert_eq!(store.load(&id).await, Ok(None));
    assert!(is_not_found(&store.verify(&id).await));
    assert!(is_not_found(&store.turns(&id, 0, 1).await));
    assert!(is_not_found(&store.artifacts(&id, 0, 1).await));
    assert!(is_not_found(&store.submit(&id, json!(1), at(0)).await));
    assert!(is_not_found(&store.answer(InboxId(1), json!(1)).await));
    assert!(is_not_found(&store.pin(&id, true).await) && is_not_found(&store.forget(&id).await));
    assert_eq!(store.inbox(&id).await, Ok(vec![]));
}
