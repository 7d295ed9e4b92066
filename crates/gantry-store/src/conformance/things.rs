//! Artifacts, blobs and recorded effects.
#![allow(missing_docs, reason = "the names are the sentences")]

use gantry_core::event::Event;
use gantry_core::time::Timestamp;
use serde_json::json;

use super::Beside;
use super::kit::{answered, append, artifact, at, effect, grow, is_not_found, plan, task};
use crate::{BLOB_BYTES_MAX, EffectRow, Hash, Store, StoreError, Vacuumed};

pub async fn artifacts_get_versions_for_each_name(store: impl Beside) {
    let id = plan("a");
    let first = store.put_blob(b"first".to_vec(), at(0)).await.unwrap();
    let second = store.put_blob(b"second".to_vec(), at(0)).await.unwrap();
    let mut request = append("a", 0, 1);
    request.artifacts = vec![artifact("notes", first, 5), artifact("log", first, 5), artifact("notes", second, 6)];
    let appended = store.append(request).await.unwrap();
    let named: Vec<String> = appended.artifacts.iter().map(crate::ArtifactRow::reference).collect();
    assert_eq!(named, ["a/build/notes@1", "a/build/log@1", "a/build/notes@2"]);
    let mut request = append("a", 1, 1);
    request.artifacts = vec![artifact("notes", first, 5)];
    assert_eq!(store.append(request).await.unwrap().artifacts[0].version, 3);

    let of = task("build");
    let newest = store.artifact(&id, &of, "notes", None).await.unwrap().unwrap();
    assert_eq!((newest.version, newest.artifact.hash), (3, first));
    let older = store.artifact(&id, &of, "notes", Some(2)).await.unwrap().unwrap();
    assert_eq!((older.version, older.artifact), (2, artifact("notes", second, 6)));
    assert_eq!(store.artifact(&id, &of, "notes", Some(4)).await, Ok(None));
    assert_eq!(store.artifact(&id, &task("other"), "notes", None).await, Ok(None));

    let page = store.artifacts(&id, 0, 3).await.unwrap();
    let rest = store.artifacts(&id, page.next.unwrap(), 3).await.unwrap();
    assert_eq!((page.items.len(), rest.items, rest.next), (3, vec![newest], None));
    assert!(store.verify(&id).await.unwrap().is_sound());
}

pub async fn an_artifact_without_its_blob_is_refused_with_the_whole_append(store: impl Beside) {
    let mut request = append("a", 0, 1);
    request.artifacts = vec![artifact("notes", Hash::of(b"nowhere"), 7)];
    assert!(is_not_found(&store.append(request).await));
    assert_eq!(store.load(&plan("a")).await, Ok(None));
}

pub async fn blobs_come_back_as_they_were(store: impl Beside) {
    let noise: Vec<u8> =
        (0..50_000_u32).flat_map(|number| Hash::of(&number.to_le_bytes()).as_bytes()[..8].to_vec()).collect();
    for bytes in [vec![], b"short".to_vec(), b"long ".repeat(100_000), noise] {
        let hash = store.put_blob(bytes.clone(), at(0)).await.unwrap();
        assert_eq!(hash, Hash::of(&bytes));
        assert_eq!(store.put_blob(bytes.clone(), at(1)).await, Ok(hash), "once more");
        assert_eq!(store.get_blob(hash).await.unwrap(), Some(bytes));
    }
    assert_eq!(store.get_blob(Hash::of(b"nowhere")).await, Ok(None));
}

pub async fn a_blob_that_is_too_large_is_refused_with_both_sizes(store: impl Beside) {
    let length = BLOB_BYTES_MAX + 1;
    let huge = vec![0; usize::try_from(length).unwrap()];
    let refused = StoreError::TooLarge { what: "the blob".to_owned(), bytes: length, bytes_max: BLOB_BYTES_MAX };
    assert_eq!(store.put_blob(huge, at(0)).await, Err(refused));
}

pub async fn a_vacuum_removes_old_blobs_that_nothing_refers_to(store: impl Beside) {
    const DAY_MS: i64 = 24 * 3_600_000;
    let used = store.put_blob(b"used".to_vec(), at(0)).await.unwrap();
    let old = store.put_blob(b"old one".to_vec(), at(0)).await.unwrap();
    let young = store.put_blob(b"young".to_vec(), at(0)).await.unwrap();
    assert_eq!(store.put_blob(b"young".to_vec(), at(1)).await, Ok(young), "handed in once more, a little later");
    let mut request = append("a", 0, 1);
    request.artifacts = vec![artifact("notes", used, 4)];
    let _ = store.append(request).await.unwrap();

    assert_eq!(store.vacuum(at(DAY_MS - 1)).await, Ok(Vacuumed::default()));
    assert_eq!(store.vacuum(at(DAY_MS)).await, Ok(Vacuumed { blobs: 1, bytes: 7 }));
    for (hash, kept) in [(used, true), (old, false), (young, true)] {
        assert_eq!(store.get_blob(hash).await.unwrap().is_some(), kept);
    }
    store.forget(&plan("a")).await.unwrap();
    assert_eq!(store.vacuum(at(2 * DAY_MS)).await, Ok(Vacuumed { blobs: 2, bytes: 9 }));
}

pub async fn what_calls_and_lists_of_files_speak_of_is_kept(store: impl Beside) {
    const DAY_MS: i64 = 24 * 3_600_000;
    let _ = grow(&store, "a", 1).await;
    let put = async |text: String| store.put_blob(text.into_bytes(), at(0)).await.unwrap();
    let (content, listed, answered) =
        (put("before".to_owned()).await, put("listed".to_owned()).await, put("said".to_owned()).await);
    let (old, checked) = (put("nobody's".to_owned()).await, put("of a checkpoint".to_owned()).await);
    let list = put(json!({"files": {"a.txt": {"blob": listed}}}).to_string()).await;
    let checkpoint = put(json!({"files": {"b.txt": {"blob": checked}}}).to_string()).await;
    let mut intent = effect("a", "build", 1);
    intent.request = json!({"by": "run", "record": {"before": list, "was": content}});
    let mut undone = effect("a", "build", 2);
    undone.answer = Some(json!({"undone": format!("as it was just now it is kept as {answered}")}));
    undone.ended_at = Some(at(20));
    store.record_effects(vec![intent, undone]).await.unwrap();
    let mut request = append("a", 1, 1);
    request.artifacts = vec![artifact("checkpoint", checkpoint, 1)];
    let _ = store.append(request).await.unwrap();

    assert_eq!(store.vacuum(at(DAY_MS)).await, Ok(Vacuumed { blobs: 1, bytes: 8 }));
    for (hash, kept) in [(content, true), (listed, true), (answered, true), (checked, true), (old, false)] {
        assert_eq!(store.get_blob(hash).await.unwrap().is_some(), kept);
    }
    store.forget(&plan("a")).await.unwrap();
    assert_eq!(store.vacuum(at(DAY_MS)).await.unwrap().blobs, 6, "nobody speaks of them any more");
}

pub async fn what_notes_speak_of_is_kept(store: impl Beside) {
    const DAY_MS: i64 = 24 * 3_600_000;
    let _ = grow(&store, "a", 1).await;
    let put = async |text: String| store.put_blob(text.into_bytes(), at(0)).await.unwrap();
    let listed = put("as it was before".to_owned()).await;
    let list = put(json!({"files": {"a.txt": {"blob": listed}}}).to_string()).await;
    let old = put("nobody's".to_owned()).await;
    let mut request = append("a", 1, 1);
    let text = format!("brings the working folder back; as it was before: {list}");
    request.turn.entries[0].event = Event::NoteAdded { task: None, by: "ana".to_owned(), text };
    let _ = store.append(request).await.unwrap();

    assert_eq!(store.vacuum(at(DAY_MS)).await, Ok(Vacuumed { blobs: 1, bytes: 8 }));
    for (hash, kept) in [(list, true), (listed, true), (old, false)] {
        assert_eq!(store.get_blob(hash).await.unwrap().is_some(), kept);
    }
    store.forget(&plan("a")).await.unwrap();
    assert_eq!(store.vacuum(at(DAY_MS)).await.unwrap().blobs, 2, "nobody speaks of them any more");
}

async fn all(store: &impl Store) -> Vec<EffectRow> {
    store.effects(&plan("a"), None, 0, 100).await.unwrap().items
}

pub async fn effects_are_recorded_once_begun_and_once_answered(store: impl Beside) {
    let _ = grow(&store, "a", 1).await;
    let begun = [effect("a", "build", 1), effect("a", "build", 2)];
    store.record_effects(begun.to_vec()).await.unwrap();
    assert_eq!(all(&store).await, begun);
    let first = answered(begun[0].clone(), "done");
    let mut request = append("a", 1, 1);
    request.effects = vec![first.clone(), effect("a", "test", 1)];
    let _ = store.append(request).await.unwrap();
    assert_eq!(all(&store).await, [first, begun[1].clone(), effect("a", "test", 1)]);
}

pub async fn the_answer_of_an_effect_stays(store: impl Beside) {
    let _ = grow(&store, "a", 1).await;
    let known = answered(effect("a", "build", 1), "yes");
    store.record_effects(vec![known.clone()]).await.unwrap();
    store.record_effects(vec![known.clone()]).await.expect("the same once more is fine");
    let other = answered(effect("a", "build", 1), "no");
    let refused = store.record_effects(vec![effect("a", "build", 2), other.clone()]).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
    let mut request = append("a", 1, 1);
    request.effects = vec![other];
    assert!(matches!(store.append(request).await, Err(StoreError::Invalid { .. })));
    let mut request = append("a", 1, 1);
    request.effects = vec![effect("b", "build", 1)];
    assert!(matches!(store.append(request).await, Err(StoreError::Invalid { .. })), "of another plan");
    assert_eq!(all(&store).await, [known]);
    assert_eq!(store.load(&plan("a")).await.unwrap().unwrap().length, 1);
    assert!(is_not_found(&store.record_effects(vec![effect("b", "build", 1)]).await));
}

pub async fn a_call_is_recalled_by_what_was_asked(store: impl Beside) {
    let _ = grow(&store, "a", 1).await;
    let _ = grow(&store, "b", 1).await;
    let call = |in_plan: &str, ordinal: u32, asked: &str| {
        let request_hash = Hash::of(asked.as_bytes());
        EffectRow { kind: "model".to_owned(), request_hash, request: json!(asked), ..effect(in_plan, "build", ordinal) }
    };
    let paid = answered(call("a", 1, "why"), "because");
    let begun = call("a", 2, "why");
    let other = EffectRow { kind: "tool".to_owned(), ..answered(call("a", 3, "how"), "so") };
    store.record_effects(vec![paid.clone(), begun.clone(), other, call("a", 4, "who")]).await.unwrap();
    let recall = async |plan_id: &str, asked: &str| {
        store.recall(&plan(plan_id), "model", Hash::of(asked.as_bytes())).await.unwrap()
    };
    assert_eq!(recall("a", "why").await, Some(paid), "one that was answered comes before a later one that was not");
    assert_eq!(recall("a", "who").await, Some(call("a", 4, "who")));
    assert_eq!(recall("a", "how").await, None, "it is of another kind");
    assert_eq!(recall("b", "why").await, None, "it is in another plan");
    let later = answered(begun, "as I said");
    store.record_effects(vec![later.clone()]).await.unwrap();
    assert_eq!(recall("a", "why").await, Some(later), "the last one that was answered");
    assert!(is_not_found(&store.recall(&plan("c"), "model", Hash::of(b"why")).await));
}

pub async fn effects_come_in_pages_and_for_one_task(store: impl Beside) {
    let _ = grow(&store, "a", 1).await;
    let of = |ordinal: u32| if ordinal.is_multiple_of(2) { "build" } else { "test" };
    let made: Vec<EffectRow> = (1..=9).map(|ordinal| effect("a", of(ordinal), ordinal)).collect();
    store.record_effects(made.clone()).await.unwrap();
    let (mut seen, mut cursor) = (Vec::new(), Some(0));
    while let Some(after) = cursor {
        let page = store.effects(&plan("a"), None, after, 4).await.unwrap();
        seen.extend(page.items);
        cursor = page.next;
    }
    assert_eq!(seen, made);
    let built = store.effects(&plan("a"), Some(&task("build")), 0, 4).await.unwrap();
    assert_eq!(built.items.iter().map(|effect| effect.ordinal).collect::<Vec<_>>(), [2, 4, 6, 8]);
    assert_eq!(built.next, None);
    assert_eq!(built.items[0].started_at, Timestamp::from_ms(10));
}

pub async fn contents_whose_time_is_over_are_dropped_and_stay_on_record(store: impl Beside) {
    let contents: [&[u8]; 3] = [b"zebra alone", b"zebra shared", b"zebra fresh"];
    let mut hashes = Vec::new();
    for (content, when) in contents.iter().zip([1, 1, 9]) {
        hashes.push(store.put_blob(content.to_vec(), at(when)).await.unwrap());
    }
    let mut request = append("a", 0, 1);
    request.artifacts =
        hashes.iter().zip(["alone", "shared", "fresh"]).map(|(h, name)| artifact(name, *h, 11)).collect();
    let expired = store.append(request).await.unwrap().artifacts;
    let mut request = append("b", 0, 1);
    request.artifacts = vec![artifact("other", hashes[1], 12)];
    let _ = store.append(request).await.unwrap();

    let dropped = store.drop_contents(expired.clone(), at(5), at(10)).await.unwrap();
    assert_eq!(dropped, Vacuumed { blobs: 1, bytes: 11 }, "neither what another plan has nor what just came");
    assert_eq!(store.get_blob(hashes[0]).await.unwrap(), None);
    assert_eq!(store.dropped_at(hashes[0]).await.unwrap(), Some(at(10)));
    assert_eq!(store.dropped_at(hashes[1]).await.unwrap(), None);
    assert!(store.get_blob(hashes[1]).await.unwrap().is_some() && store.get_blob(hashes[2]).await.unwrap().is_some());
    assert!(store.verify(&plan("a")).await.unwrap().is_sound(), "that it was dropped is no damage");
    let mut found: Vec<String> = store.search("zebra", 9).await.unwrap().into_iter().map(|hit| hit.name).collect();
    found.sort();
    assert_eq!(found, ["fresh@1", "other@1", "shared@1"], "what is gone is not found");
    assert_eq!(store.drop_contents(expired, at(5), at(11)).await.unwrap(), Vacuumed::default(), "once is enough");

    let again = store.put_blob(contents[0].to_vec(), at(12)).await.unwrap();
    assert_eq!(store.get_blob(again).await.unwrap().as_deref(), Some(contents[0]));
    assert_eq!(store.dropped_at(again).await.unwrap(), None, "what is handed in again is there again");

    let mut request = append("c", 0, 1);
    let empty = store.put_blob(Vec::new(), at(12)).await.unwrap();
    request.artifacts = vec![artifact("empty", empty, 0)];
    assert_eq!(store.append(request).await.unwrap().artifacts.len(), 1, "an empty content is a content");
}
