//! The small values of plans: ids, durations, money, references, pipelines.

use gantry_core::id::{PlanId, TaskId};
use gantry_core::plan::{Check, Confidence, Input, Money, Reference, parse_pipeline};
use gantry_core::time::{Duration, Timestamp};
use proptest::prelude::*;

#[test]
fn ids_are_slugs() {
    for good in ["a", "implement-A", "rfc-collect-1", "_x", "0"] {
        assert_eq!(TaskId::new(good).unwrap().as_str(), good);
    }
    let long = "x".repeat(101);
    let bad: Vec<String> = ["", "-a", "a b", "a.b", "ä", "a\n", &long]
        .iter()
        .map(|id| TaskId::new(id).unwrap_err().reason.to_owned())
        .collect();
    insta::assert_snapshot!(bad.join("\n"), @"
    it is empty
    it must start with a letter, a digit or `_`
    only letters, digits, `-` and `_` are allowed
    only letters, digits, `-` and `_` are allowed
    it must start with a letter, a digit or `_`
    only letters, digits, `-` and `_` are allowed
    it has more than 100 characters
    ");
    assert_eq!(TaskId::slugged("  Check: the DB! ").as_str(), "Check-the-DB");
    assert_eq!(TaskId::slugged("日本").as_str(), "x");
    assert_eq!(PlanId::mint("Build the search", 7).as_str(), "plan-build-search-7000");
}

#[test]
fn durations_are_read_and_written_as_people_do() {
    for (text, written) in
        [("90s", "1m30s"), ("1h30m", "1h30m"), ("2d", "2d"), ("250ms", "250ms"), ("0s", "0s"), ("1w", "7d")]
    {
        assert_eq!(Duration::parse(text).unwrap().to_string(), written);
    }
    let refused: Vec<String> =
        ["-5m", "10", "soon", "1e9h", "5000000h", ""].iter().map(|text| Duration::parse(text).unwrap_err()).collect();
    insta::assert_snapshot!(refused.join("\n"), @"
    `-5m` is negative; a duration is at least 0s
    `10` has no unit; write for example `10s` or `10m`
    `soon` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
    `1e9h` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
    `5000000h` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
    `` is not a duration of at most 100 years; write for example `90s`, `10m`, `1h30m` or `2d`
    ");
}

#[test]
fn points_in_time_are_rfc_3339_or_a_date() {
    assert_eq!(Timestamp::parse("2026-03-01").unwrap().to_string(), "2026-03-01T00:00:00Z");
    assert_eq!(Timestamp::parse("2026-03-01T09:00:00+01:00").unwrap().to_string(), "2026-03-01T08:00:00Z");
    assert!(Timestamp::parse("tomorrow").is_err());
}

#[test]
fn money_is_exact() {
    let money: Money = serde_json::from_str("0.1").unwrap();
    assert_eq!((money, money.to_string()), (Money(100_000), "0.10".to_owned()));
    assert_eq!(serde_json::to_string(&Money::from_cents(500)).unwrap(), "5");
    assert!(serde_json::from_str::<Money>("-1").is_err());
    assert!(serde_json::from_str::<Money>("1e300").is_err());
}

#[test]
fn references_are_told_from_texts() {
    for text in ["tasks.sources.notes", "tasks.a-b.c.0", "artifacts.notes", "memory.http3.key_claims"] {
        assert_eq!(Reference::parse(text).unwrap().to_string(), text);
    }
    for text in ["tasks", "tasks.", "artifacts are nice", "artifacts.a.b", "inputs.x", "memory.", "tasks.a b"] {
        assert_eq!(Reference::parse(text), None, "{text}");
    }
    let forced: Input = serde_json::from_str(r#"{"value":"tasks.a.b"}"#).unwrap();
    assert_eq!(forced, Input::Value("tasks.a.b".into()));
    assert_eq!(serde_json::to_string(&forced).unwrap(), r#"{"value":"tasks.a.b"}"#);
}

#[test]
fn checks_are_expressions_whenever_they_are_not_just_a_word() {
    let kind = |text: &str| match Check::read(text) {
        Check::Expr(_) => "expression",
        Check::Words(_) => "words",
    };
    for text in [
        "tests.exit_code == 0",
        "size(notes.citations) >= 2",
        "memory.has_space >= 50MB",
        "!(a.b)",
        "false",
        "1 == 2",
        "1 + 1",
    ] {
        assert_eq!(kind(text), "expression", "{text}");
    }
    for text in [
        "reviewed",
        "backwards compatible",
        ">= 5 canonical sources (IETF, official repos)",
        "top10 is empty",
        "'quoted'",
    ] {
        assert_eq!(kind(text), "words", "{text}");
    }
}

#[test]
fn a_command_is_a_pipeline_only_when_it_is_one() {
    let calls = parse_pipeline("search(query=\"a; b\") -> links;\n fetch(links, 10) -> docs; web.rank(docs)").unwrap();
    let shown: Vec<String> =
        calls.iter().map(|call| format!("{} {:?} {:?}", call.name, call.args, call.result)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    search ["query=\"a; b\""] Some("links")
    fetch ["links", "10"] Some("docs")
    web.rank ["docs"] None
    "#);
    for prose in [
        "run tests; run canary; compare error rates",
        "derive strategies A/B/C from notes; compare -> table",
        "f(a",
        "",
        "f(a,,b)",
        "run load(gen: [light], burst: [on)",
    ] {
        assert_eq!(parse_pipeline(prose), None, "{prose}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic_and_slugs_are_ids(text in any::<String>()) {
        let _ = Duration::parse(&text);
        let _ = Timestamp::parse(&text);
        let _ = Reference::parse(&text);
        let _ = parse_pipeline(&text);
        let _ = Check::read(&text);
        prop_assert!(TaskId::new(TaskId::slugged(&text).as_str()).is_ok());
        prop_assert!(PlanId::new(PlanId::mint(&text, 5).as_str()).is_ok());
    }

    #[test]
    fn durations_come_back_as_they_were_written(ms in 0..4_000_000_000_u64) {
        let duration = Duration::from_ms(ms);
        prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
    }

    #[test]
    fn confidence_stays_between_nothing_and_certainty(start in 0..=1000_u16, times in 1..9_u32, over in 1..9_u32) {
        let moved = Confidence::from_permille(start).weighed(times, over).permille();
        prop_assert!((1..=999).contains(&moved));
    }
}
