//! Demands, success criteria and what is missing.

use std::fmt::Write;

use crate::kit::{self, read};

fn demands(text: &str) -> String {
    let mut drawn = String::new();
    for demand in read(text).demands {
        let kind = serde_json::to_value(demand.kind).unwrap();
        let link = match (demand.money, demand.time) {
            (Some(money), _) => format!(" -> money {money}"),
            (_, Some(time)) => format!(" -> time {time}"),
            (None, None) => String::new(),
        };
        writeln!(drawn, "{} {}: {}{link}", demand.id, kind.as_str().unwrap(), demand.text).unwrap();
    }
    drawn
}

fn missing(text: &str) -> String {
    let topics: Vec<String> =
        read(text).missing.iter().map(|missing| format!("{:?}", missing.topic).to_lowercase()).collect();
    topics.join(" ")
}

#[test]
fn directives_are_demands_in_the_order_of_the_text() {
    let text = "Build a hotel in Oslo. It must be quiet. Do not use blockchain. Prefer wood over steel. \
                Guests are nice. Use only local firms. No night work. Budget: 2 million NOK. Ready by 2028.";
    insta::assert_snapshot!(demands(text), @"
    C1 must: It must be quiet.
    C2 must_not: Do not use blockchain.
    C3 prefer: Prefer wood over steel.
    C4 must: Use only local firms.
    C5 must_not: No night work.
    C6 must: 2 million NOK -> money 0
    C7 must: by 2028 -> time 0
    ");
}

#[test]
fn items_under_constraints_are_demands_and_banned_words_are_one() {
    let text = "Make an app.\n\nConstraints:\n- Focus on practical features\n- Avoid big servers\n\nBanned words:\n- AI, VR\n- Robots\n\nEnjoy it.";
    insta::assert_snapshot!(demands(text), @"
    C1 must: Focus on practical features
    C2 must_not: Avoid big servers
    C3 must_not: Banned words: - AI, VR - Robots
    ");
}

#[test]
fn what_only_tells_demands_nothing() {
    for text in ["The sea is blue.", "Can it work without water?", "What other sights are a must.", "Build a shed."] {
        assert_eq!(demands(text), "", "{text}");
    }
}

#[test]
fn korean_directives_are_demands() {
    insta::assert_snapshot!(demands("카페를 열고 싶다. 반드시 조용해야 한다. 플라스틱은 금지. 가급적 나무를 쓴다."), @"
    C1 must: 반드시 조용해야 한다.
    C2 must_not: 플라스틱은 금지.
    C3 prefer: 가급적 나무를 쓴다.
    ");
}

#[test]
fn success_criteria_are_split_into_items() {
    let success = |text: &str| read(text).success.into_iter().map(|said| said.text).collect::<Vec<_>>();
    assert_eq!(
        success("Build it. Success criteria: 99% uptime, latency under 200 ms (all regions, always), and two papers."),
        ["99% uptime", "latency under 200 ms (all regions, always)", "two papers"]
    );
    assert_eq!(success("Success metrics: (1) >95% read, (2) zero damage."), [">95% read", "zero damage"]);
    assert_eq!(success("Success Metrics:\n- Number of users\n- Retention"), ["Number of users", "Retention"]);
    assert_eq!(success("The success criterion is three complete datasets."), ["three complete datasets"]);
    assert!(success("Build a successful shop.").is_empty());
}

#[test]
fn only_what_matters_is_missing() {
    kit::assert_table(
        &[
            ("I want a cup of coffee. I have instant coffee and a cup.", ""),
            ("I need to take out the trash.", ""),
            ("Write a blog post about Paris.", "time success"),
            ("Make a 64bit OS in Rust.", "budget time team success constraints"),
            ("I want to go on a 14 days vacation trip to Rome.", "budget"),
            ("Open a coffee shop in Rome.", "budget time team success constraints"),
            ("Construct a bridge.", "budget place time team success constraints"),
            (
                "Construct a bridge in Rome by 2030 for 2 million EUR with a team of 9. It must be red. Success criteria: it stands.",
                "",
            ),
        ],
        missing,
    );
}

#[test]
fn every_question_speaks_both_languages() {
    for missing in read("Construct a bridge.").missing {
        for text in [&missing.ask.question, &missing.ask.default, &missing.ask.why] {
            assert!(!text.en.is_empty() && text.ko.chars().any(|letter| ('가'..='힣').contains(&letter)), "{text:?}");
        }
    }
}
