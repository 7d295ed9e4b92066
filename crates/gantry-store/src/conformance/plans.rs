//! Finding, listing, keeping and forgetting plans.
#![allow(missing_docs, reason = "the names are the sentences")]

use gantry_core::life::PlanState;
use serde_json::json;

use super::Beside;
use super::kit::{append, artifact, at, effect, grow, is_not_found, plan, task};
use crate::{Hit, ListFilter, PlanNo, Store, StoreError, TextKind, TextRow, WAITING_MAX, WaitingLine};

pub async fn a_plan_is_found_by_id_number_prefix_and_last(store: impl Beside) {
    for name in ["plan-build-search-7f3k", "plan-write-book-0a1b", "77"] {
        let _ = grow(&store, name, 1).await;
    }
    for (reference, found) in [
        ("plan-write-book-0a1b", "plan-write-book-0a1b"),
        ("1", "plan-build-search-7f3k"),
        ("2", "plan-write-book-0a1b"),
        ("plan-b", "plan-build-search-7f3k"),
        ("write", "plan-write-book-0a1b"),
        ("77", "77"),
        ("@last", "77"),
    ] {
        assert_eq!(store.plan(reference).await.unwrap().id, plan(found), "{reference}");
    }
}

pub async fn the_last_plan_is_never_one_inside_another(store: impl Beside) {
    let inside = |name: &str, parent: &str| {
        let mut request = append(name, 0, 1);
        request.card.parent = Some(plan(parent));
        request
    };
    let _ = store.append(inside("orphan", "forgotten")).await.unwrap();
    assert!(is_not_found(&store.plan("@last").await));
    let _ = grow(&store, "outer", 1).await;
    for name in ["inner", "innermost"] {
        let _ = store.append(inside(name, "outer")).await.unwrap();
    }
    assert_eq!(store.plan("@last").await.unwrap().id, plan("outer"));
    assert_eq!(store.plan("inner").await.unwrap().id, plan("inner"), "by its id it is found");
}

pub async fn a_prefix_that_fits_several_plans_names_them(store: impl Beside) {
    assert!(is_not_found(&store.plan("@last").await));
    for name in ["plan-a-1", "plan-a-2", "plan-b-1"] {
        let _ = grow(&store, name, 1).await;
    }
    let Err(StoreError::Ambiguous { reference, candidates }) = store.plan("plan-a").await else { panic!("one") };
    assert_eq!((reference.as_str(), candidates), ("plan-a", vec!["plan-a-2".to_owned(), "plan-a-1".to_owned()]));
    let Err(StoreError::NotFound { candidates, .. }) = store.plan("plam-b").await else { panic!("found") };
    assert_eq!(candidates, ["plan-b-1", "plan-a-2", "plan-a-1"]);
    for nothing in ["4", "0", "", "%", "plan-a-1'", "p\u{0}"] {
        assert!(!matches!(store.plan(nothing).await, Ok(_) | Err(StoreError::Io { .. })), "{nothing}");
    }
}

pub async fn only_names_that_are_near_are_suggested(store: impl Beside) {
    for name in ["plan-build-search-7f3k", "plan-write-book-0a1b", "plan-write-boot-9x9x", "cook"] {
        let _ = grow(&store, name, 1).await;
    }
    for (typed, meant) in [
        ("write-bok", vec!["plan-write-boot-9x9x", "plan-write-book-0a1b"]),
        ("plan-biuld-search", vec!["plan-build-search-7f3k"]),
        ("cok", vec!["cook"]),
        ("nonsense", Vec::new()),
        ("99", Vec::new()),
    ] {
        let Err(StoreError::NotFound { candidates, .. }) = store.plan(typed).await else { panic!("{typed}") };
        assert_eq!(candidates, meant, "{typed}");
    }
}

pub async fn an_empty_reference_names_no_plan(store: impl Beside) {
    let _ = grow(&store, "the-only-plan", 1).await;
    for empty in ["", " ", "\t"] {
        assert!(matches!(store.plan(empty).await, Err(StoreError::Invalid { .. })), "{empty:?}");
    }
}

async fn listed(store: &impl Store, filter: ListFilter) -> Vec<String> {
    store.list(filter).await.unwrap().items.iter().map(|card| card.id.to_string()).collect()
}

pub async fn plans_are_listed_newest_first_and_filtered(store: impl Beside) {
    for (name, state, label) in
        [("a", PlanState::Running, "home"), ("b", PlanState::Blocked, "work"), ("c", PlanState::Running, "work")]
    {
        let mut request = append(name, 0, 1);
        request.card.title = format!("Überschrift {name}");
        request.card.state = state;
        request.card.labels = vec![label.to_owned()];
        request.card.owner = (name != "a").then(|| "ana".to_owned());
        let _ = store.append(request).await.unwrap();
    }
    let mut request = append("b", 1, 1);
    request.card.state = PlanState::Completed;
    request.card.title = String::from("Anders");
    request.turn.at = at(9_000);
    let _ = store.append(request).await.unwrap();

    let all = ListFilter::default;
    assert_eq!(listed(&store, all()).await, ["c", "b", "a"]);
    let states = vec![PlanState::Running];
    assert_eq!(listed(&store, ListFilter { states, ..all() }).await, ["c", "a"]);
    let states = vec![PlanState::Completed, PlanState::Blocked];
    assert_eq!(listed(&store, ListFilter { states, ..all() }).await, ["b"]);
    let label = Some("work".to_owned());
    assert_eq!(listed(&store, ListFilter { label, ..all() }).await, ["c"], "the label went with the last card");
    let owner = |name: &str| ListFilter { owner: Some(name.to_owned()), ..all() };
    assert_eq!(listed(&store, owner("ana")).await, ["c"], "so did the owner");
    assert_eq!(listed(&store, owner("an")).await, [""; 0]);
    let text = Some("überSCHRIFT".to_owned());
    assert_eq!(listed(&store, ListFilter { text, ..all() }).await, ["c", "a"]);
    let text = Some("%".to_owned());
    assert_eq!(listed(&store, ListFilter { text, ..all() }).await, [""; 0]);
    assert_eq!(listed(&store, ListFilter { since: Some(at(9_000)), ..all() }).await, ["b"]);
    let card = store.plan("b").await.unwrap();
    assert_eq!((card.length, card.created_at, card.updated_at), (2, at(1_000), at(9_000)));
}

pub async fn lists_come_in_pages(store: impl Beside) {
    for number in 0..7 {
        let _ = grow(&store, &format!("p{number}"), 1).await;
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = store.list(ListFilter { limit: 3, cursor, ..ListFilter::default() }).await.unwrap();
        seen.extend(page.items.iter().map(|card| card.no));
        pages += 1;
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        let _ = grow(&store, &format!("late{pages}"), 1).await; // new plans come before the first page, not into others
    }
    assert_eq!((seen, pages), ((1..=7).rev().map(PlanNo).collect(), 3));
}

pub async fn a_card_keeps_no_more_lines_than_are_shown(store: impl Beside) {
    let mut request = append("a", 0, 1);
    let line = |number: usize| WaitingLine { task: Some(task("t")), what: format!("for line {number}") };
    request.card.waiting = (0..50).map(line).collect();
    let _ = store.append(request).await.unwrap();
    let card = store.plan("a").await.unwrap().card;
    assert_eq!(card.waiting, (0..WAITING_MAX).map(line).collect::<Vec<_>>());
}

pub async fn a_pinned_plan_is_not_forgotten(store: impl Beside) {
    let id = plan("a");
    let _ = grow(&store, "a", 2).await;
    store.pin(&id, true).await.unwrap();
    assert!(store.plan("a").await.unwrap().pinned);
    assert_eq!(store.forget(&id).await, Err(StoreError::Pinned { plan: id.clone() }));
    let _ = store.append(append("a", 2, 1)).await.unwrap();
    assert!(store.plan("a").await.unwrap().pinned, "a turn does not unpin");
    store.pin(&id, false).await.unwrap();
    store.forget(&id).await.unwrap();
    assert_eq!(store.load(&id).await, Ok(None));
}

pub async fn a_forgotten_plan_is_gone_and_its_number_is_not_used_again(store: impl Beside) {
    let id = plan("a");
    let _ = grow(&store, "b", 2).await;
    let hash = store.put_blob(b"content".to_vec(), at(0)).await.unwrap();
    let mut request = append("a", 0, 1);
    request.artifacts = vec![artifact("notes", hash, 7)];
    request.effects = vec![effect("a", "build", 1)];
    request.texts = vec![TextRow { task: None, kind: TextKind::Title, name: String::new(), text: "secret".to_owned() }];
    let _ = store.append(request).await.unwrap();
    let input = store.submit(&id, json!("hello"), at(1)).await.unwrap();

    store.forget(&id).await.unwrap();
    assert_eq!(store.load(&id).await, Ok(None));
    assert!(is_not_found(&store.plan("a").await) && is_not_found(&store.turns(&id, 0, 9).await));
    assert!(is_not_found(&store.effects(&id, None, 0, 9).await) && is_not_found(&store.ask_answer(input).await));
    assert_eq!(store.search("secret", 9).await, Ok(vec![]));
    assert_eq!(store.list(ListFilter::default()).await.unwrap().items.len(), 1);

    let again = grow(&store, "a", 1).await;
    assert_eq!(again.plan_no, PlanNo(3));
    assert_eq!(store.artifacts(&id, 0, 9).await.unwrap().items, []);
    assert!(store.verify(&plan("b")).await.unwrap().is_sound());
}

pub async fn texts_are_found_by_the_beginnings_of_their_words(store: impl Beside) {
    let row = |of: Option<&str>, kind, text: &str| TextRow {
        task: of.map(task),
        kind,
        name: String::new(),
        text: text.to_owned(),
    };
    let mut request = append("a", 0, 1);
    request.texts = vec![
        row(None, TextKind::Title, "Retry idempotent requests"),
        row(Some("build"), TextKind::Task, "Build the middleware"),
    ];
    let _ = store.append(request).await.unwrap();
    let mut request = append("b", 0, 1);
    request.texts = vec![row(None, TextKind::Title, "Build a house")];
    let _ = store.append(request).await.unwrap();

    let places = |hits: Vec<Hit>| {
        let mut places: Vec<_> = hits.into_iter().map(|hit| (hit.plan.to_string(), hit.task, hit.kind)).collect();
        places.sort();
        places
    };
    let found = |query: &'static str| async { places(store.search(query, 9).await.unwrap()) };
    let title = |id: &str| (id.to_owned(), None, TextKind::Title);
    let build = ("a".to_owned(), Some(task("build")), TextKind::Task);
    assert_eq!(found("idem RETRY").await, [title("a")]);
    assert_eq!(found("build").await, [build.clone(), title("b")]);
    assert_eq!(found("build house").await, [title("b")]);
    assert_eq!(store.search("build", 1).await.unwrap().len(), 1);
    assert!(store.search("middleware", 9).await.unwrap()[0].snippet.contains("middleware"));

    let mut request = append("b", 1, 1);
    request.texts = vec![row(None, TextKind::Title, "Build a boat")];
    let _ = store.append(request).await.unwrap();
    assert_eq!(found("house").await, [], "the new text took the place of the old one");
    assert_eq!(found("boat").await, [title("b")]);
}

pub async fn artifacts_are_found_by_the_words_that_they_begin_with(store: impl Beside) {
    let long = format!("{}walrus", "x ".repeat(crate::ARTIFACT_TEXT_BYTES_MAX / 2));
    let contents: [(&str, &[u8]); 6] = [
        ("stdout", b"zebra unicorn\n"),
        ("stdout", b"zebra crossing\n"),
        ("stdout.part-1", b"zebra growing"),
        ("picture", b"zebra \xff\xfe"),
        ("program", b"zebra \0"),
        ("long", long.as_bytes()),
    ];
    let mut request = append("a", 0, 1);
    for (name, content) in contents {
        let hash = store.put_blob(content.to_vec(), at(1)).await.unwrap();
        request.artifacts.push(artifact(name, hash, content.len() as u64));
    }
    let _ = store.append(request).await.unwrap();
    let found = |query: &'static str| async {
        let hits = store.search(query, 9).await.unwrap().into_iter();
        let mut names: Vec<_> = hits.map(|hit| (hit.task, hit.kind, hit.name)).collect();
        names.sort();
        names
    };
    let out = |name: &str| (Some(task("build")), TextKind::Artifact, name.to_owned());
    assert_eq!(found("zebra").await, [out("stdout@1"), out("stdout@2")], "neither parts nor what is not text");
    assert_eq!(found("unicorn").await, [out("stdout@1")]);
    assert_eq!(found("x").await, [out("long@1")]);
    assert_eq!(found("walrus").await, [], "only its beginning is searched");
}

pub async fn hostile_queries_find_nothing_and_break_nothing(store: impl Beside) {
    let mut request = append("a", 0, 1);
    request.texts =
        vec![TextRow { task: None, kind: TextKind::Title, name: String::new(), text: "plain words".to_owned() }];
    let _ = store.append(request).await.unwrap();
    for query in ["", "\"", "* OR *", "text:", "NEAR(", "a AND", "'; DROP TABLE plan; --", "^", "(((", "-", "\u{0}"] {
        assert_eq!(store.search(query, 9).await, Ok(vec![]), "{query}");
    }
    assert_eq!(store.search("\"plain* (words", 9).await.unwrap().len(), 1);
    assert_eq!(store.search(&"plain ".repeat(10_000), 9).await.unwrap().len(), 1);
}
