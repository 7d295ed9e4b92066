//! The store in memory and the store in a file are the same store.

use gantry_store::{InboxId, MemoryStore, Snapshot, Store, TextKind, TextRow, Vacuumed};
use gantry_store_sqlite::SqliteStore;
use proptest::prelude::*;
use serde_json::json;

use crate::kit::{answered, append, artifact, at, effect, plan, task};

const NAMES: [&str; 3] = ["plan-a", "plan-b", "other"];

/// One request.
#[derive(Clone, Debug)]
enum Request {
    Append { plan: usize, behind: u64, entries: u64, parts: u8 },
    Blob(u8),
    Effect { plan: usize, ordinal: u32, answered: bool },
    Submit(usize),
    Answer(u64),
    Snapshot { plan: usize, length: u64 },
    Pin(usize, bool),
    Forget(usize),
    Vacuum(i64),
}

fn request() -> impl Strategy<Value = Request> {
    let plan = 0..NAMES.len();
    prop_oneof![
        8 => (plan.clone(), prop_oneof![5 => Just(0), 1 => 1..3_u64], 1..4_u64, any::<u8>())
            .prop_map(|(plan, behind, entries, parts)| Request::Append { plan, behind, entries, parts }),
        2 => (0..3_u8).prop_map(Request::Blob),
        2 => (plan.clone(), 0..3_u32, any::<bool>())
            .prop_map(|(plan, ordinal, answered)| Request::Effect { plan, ordinal, answered }),
        1 => plan.clone().prop_map(Request::Submit),
        1 => (1..4_u64).prop_map(Request::Answer),
        1 => (plan.clone(), 0..6_u64).prop_map(|(plan, length)| Request::Snapshot { plan, length }),
        1 => (plan.clone(), any::<bool>()).prop_map(|(plan, pinned)| Request::Pin(plan, pinned)),
        1 => plan.prop_map(Request::Forget),
        1 => (0..200_000_000_i64).prop_map(Request::Vacuum),
    ]
}

fn content(number: u8) -> Vec<u8> {
    vec![number; 1 << (6 * usize::from(number))]
}

/// Carries a request out and returns everything that it answered.
async fn carry_out(store: &dyn Store, request: &Request) -> String {
    match request {
        Request::Append { plan: at_plan, behind, entries, parts } => {
            let name = NAMES[*at_plan];
            let length = store.load(&plan(name)).await.unwrap().map_or(0, |loaded| loaded.length);
            let mut request = append(name, length.saturating_sub(*behind), *entries);
            if parts & 0b0001 > 0 {
                let hash = gantry_store::Hash::of(&content(1));
                request.artifacts = vec![artifact("notes", hash, 64), artifact("notes", hash, 64)];
            }
            if parts & 0b0010 > 0 {
                request.snapshot = Some(Snapshot { length: length + entries, body: content(2) });
            }
            if parts & 0b0100 > 0 {
                request.effects = vec![answered(effect(name, "build", 1), "yes")];
            }
            if parts & 0b1000 > 0 {
                request.answered = vec![(InboxId(1), json!({"by": name}))];
            }
            if parts & 0b11_0000 == 0b01_0000 {
                let text = format!("words of {length}");
                request.texts =
                    vec![TextRow { task: Some(task("build")), kind: TextKind::Task, name: String::new(), text }];
            }
            format!("{:?}", store.append(request).await)
        }
        Request::Blob(number) => format!("{:?}", store.put_blob(content(*number), at(0)).await),
        Request::Effect { plan, ordinal, answered: has_answer } => {
            let begun = effect(NAMES[*plan], "build", *ordinal);
            let row = if *has_answer { answered(begun, "no") } else { begun };
            format!("{:?}", store.record_effects(vec![row]).await)
        }
        Request::Submit(name) => format!("{:?}", store.submit(&plan(NAMES[*name]), json!([name]), at(1)).await),
        Request::Answer(id) => format!("{:?}", store.answer(InboxId(*id), json!("told")).await),
        Request::Snapshot { plan: of, length } => {
            let snapshot = Snapshot { length: *length, body: content(1) };
            format!("{:?}", store.save_snapshot(&plan(NAMES[*of]), snapshot).await)
        }
        Request::Pin(of, pinned) => format!("{:?}", store.pin(&plan(NAMES[*of]), *pinned).await),
        Request::Forget(of) => format!("{:?}", store.forget(&plan(NAMES[*of])).await),
        Request::Vacuum(now) => {
            let vacuumed: Result<Vacuumed, _> = store.vacuum(at(*now)).await;
            format!("{vacuumed:?}")
        }
    }
}

/// Everything that can be read.
async fn read_all(store: &dyn Store) -> Vec<String> {
    let mut seen = vec![format!("{:?}", store.list(gantry_store::ListFilter::default()).await)];
    for reference in ["@last", "1", "plan-", "a", "nothing"] {
        seen.push(format!("{:?}", store.plan(reference).await));
    }
    for name in NAMES {
        let id = plan(name);
        seen.push(format!("{:?}", store.load(&id).await));
        seen.push(format!("{:?}", store.turns(&id, 2, 2).await));
        seen.push(format!("{:?}", store.verify(&id).await));
        let effects = store.effects(&id, None, 0, 100).await;
        seen.push(format!("{:?}", effects.map(|page| page.items)));
        seen.push(format!("{:?}", store.artifacts(&id, 0, 100).await.map(|page| page.items)));
        seen.push(format!("{:?}", store.inbox(&id).await));
    }
    for id in 1..4 {
        seen.push(format!("{:?}", store.ask_answer(InboxId(id)).await));
    }
    let mut hits: Vec<String> =
        store.search("word", 100).await.unwrap().iter().map(|hit| format!("{} {:?}", hit.plan, hit.task)).collect();
    hits.sort();
    seen.extend(hits);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_requests_have_the_same_answers_and_leave_the_same_record(requests in prop::collection::vec(request(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (memory, file) = (MemoryStore::new(), SqliteStore::temporary().unwrap());
            for request in &requests {
                assert_eq!(carry_out(&memory, request).await, carry_out(&file, request).await, "{request:?}");
            }
            assert_eq!(read_all(&memory).await, read_all(&file).await);
        });
    }
}
