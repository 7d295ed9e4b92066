//! Kinds and sizes of requests.

mod shared;

use gantry_planner::kind::{Kinds, Size, size_of};
use gantry_planner::knowledge::BUILT_IN;
use std::fmt::Write as _;

fn kinds() -> &'static Kinds {
    static KINDS: std::sync::OnceLock<Kinds> = std::sync::OnceLock::new();
    KINDS.get_or_init(|| Kinds::read(BUILT_IN).expect("the kinds can be read"))
}

/// Draws the best kinds of a text with the words that decided.
fn drawn(text: &str) -> String {
    let ranked = kinds().of(text);
    let mut out = String::new();
    if ranked.best().is_none() {
        out.push_str("nothing matched\n");
    }
    for scored in ranked.kinds.iter().take(2) {
        let words: Vec<&str> = scored.words.iter().map(|place| &text[place.clone()]).collect();
        writeln!(out, "{} {:.1} {words:?}", scored.kind, scored.score).expect("a string takes all");
    }
    out
}

fn best(text: &str) -> String {
    kinds().of(text).best().map_or_else(|| "none".to_owned(), |scored| scored.kind.clone())
}

#[test]
fn the_words_that_decided_are_shown() {
    insta::assert_snapshot!(drawn("Construct a bridge for cyclists, with a small café at one end"), @r#"
    construction 27.0 ["Construct a", "bridge"]
    business-launch 8.0 ["café"]
    "#);
}

#[test]
fn a_phrase_against_a_kind_cancels_the_signals_inside_it() {
    assert_eq!(best("Prepare my business trip to Osaka in May"), "trip");
    assert_eq!(best("Construct a luxury yacht of 60 metres"), "physical-product");
}

#[test]
fn the_first_verb_and_its_object_outweigh_what_comes_later() {
    let text = "Organise a film festival in Tampere. There will be a restaurant, a coffee shop, a bakery, a webshop, \
                customers, revenue, a lease, memberships and a brand.";
    assert_eq!(best(text), "event");
}

#[test]
fn a_long_text_does_not_win_by_length() {
    let short = "Renovate the roof of the chapel";
    let long =
        format!("{short}. {}", "The software has a database, a backend, a frontend, an api and a server. ".repeat(30));
    assert_eq!(best(short), "construction");
    assert_eq!(best(&long), "construction");
}

#[test]
fn when_no_word_points_to_a_kind_that_is_said() {
    insta::assert_snapshot!(drawn("Paint seven blue circles"), @"nothing matched");
    assert!(kinds().of("").kinds.is_empty());
}

#[test]
fn launching_a_business_wins_no_ties() {
    let construction = include_str!("../../../templates/execution-plan/knowledge/construction.yaml");
    let kind = |name: &str| construction.replacen("kind: construction", &format!("kind: {name}"), 1);
    let (business, zoo) = (kind("business-launch"), kind("zoo"));
    let kinds = Kinds::read(&[("business-launch", business.as_str()), ("zoo", zoo.as_str())]).unwrap();
    assert_eq!(kinds.of("Build a house in Aarhus").best().unwrap().kind, "zoo");
}

#[test]
fn korean_requests_find_their_kind() {
    for (text, kind) in [
        ("부산에 작은 카페를 창업하고 싶어요", "business-launch"),
        ("제주도로 신혼여행을 가고 싶어요", "trip"),
        ("사내 시스템의 클라우드 전환 계획", "migration"),
        ("마을 입구에 다리를 건설", "construction"),
        ("태양광 발전소를 세우는 계획", "infrastructure-energy"),
    ] {
        assert_eq!(best(text), kind, "{text}: {}", drawn(text));
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_the_reason() {
    let table = BUILT_IN[2].1;
    let cases = [
        ("kind: x", "missing field"),
        (&table.replace("  mega:", "  giga:"), "unknown variant"),
        (&table.replace("small: {budget: ", "small: {budget: 999999"), "each size must cost more"),
        (&table.replace("household: {budget: ", "household: {budget: -"), "must be more than nothing"),
    ];
    for (yaml, why) in cases {
        let error = Kinds::read(&[("k.yaml", yaml)]).unwrap_err();
        assert!(error.to_string().starts_with("the kind in `k.yaml` cannot be read: "), "{error}");
        assert!(error.why.contains(why), "{error}");
    }
    let twice = Kinds::read(&[BUILT_IN[0], BUILT_IN[0]]).unwrap_err();
    assert_eq!(twice.why, "the kind `business-launch` is there already");
}

#[test]
fn money_and_time_have_their_place_on_the_table_of_the_kind() {
    let kinds = kinds();
    let construction = kinds.get("construction").unwrap();
    let trip = kinds.get("trip").unwrap();
    for (kind, budget, days, size) in [
        (construction, Some(5_000.0), None, Size::Household),
        (construction, Some(1_300_000.0), None, Size::Small),
        (construction, Some(1.0), None, Size::Household),
        (construction, Some(1e15), Some(1e9), Size::Mega),
        (construction, None, Some(1_800.0), Size::Large),
        (construction, Some(250e6), Some(30.0), Size::Medium),
        (trip, Some(1_300_000.0), None, Size::Large),
        (trip, Some(0.0), Some(f64::NAN), Size::Small),
    ] {
        assert_eq!(size_of(kind, budget, days, ""), size, "{} {budget:?} {days:?}", kind.name());
    }
}

#[test]
fn without_numbers_the_words_tell_the_size() {
    let kinds = kinds();
    for (kind, text, size) in [
        ("construction", "Renovate my kitchen", Size::Household),
        ("trip", "I want to see Lisbon", Size::Household),
        ("business-launch", "I want to open a bakery", Size::Small),
        ("campaign-policy", "A national programme against smoking", Size::Large),
        ("campaign-policy", "A pilot of a national programme against smoking", Size::Medium),
        ("campaign-policy", "A global programme against smoking", Size::Mega),
        ("construction", "Construct a tunnel between Denmark and Sweden", Size::Large),
        ("event", "Concert", Size::Small),
        ("campaign-policy", "정부의 전국 금연 정책", Size::Large),
    ] {
        assert_eq!(size_of(kinds.get(kind).unwrap(), None, None, text), size, "{text}");
    }
}

/// Those listed lack a word that some knowledge file would have to know, such as "kindergarten".
#[test]
fn of_twenty_eight_requests_that_no_file_was_written_for_these_miss_their_kind() {
    let mut wrong = String::new();
    for line in include_str!("data/other.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (kind, text) = line.split_once('\t').unwrap();
        if best(text) != kind {
            writeln!(wrong, "{text}\n{}", drawn(text)).unwrap();
        }
    }
    insta::assert_snapshot!(wrong, @r#"
    Develop an accounting tool for small farms, web based, with bank import
    nothing matched

    Move our 40 Oracle databases to PostgreSQL without losing a day of orders
    software-product 3.0 ["databases"]
    "#);
}

/// The labels are a reader's judgement; `also` names a second kind that is right too.
#[test]
fn nine_of_ten_real_requests_get_the_kind_and_nearly_all_the_size_that_a_reader_gives_them() {
    let Some(requests) = shared::requests("prompts") else { return };
    let kinds = kinds();
    let (mut right, mut acceptable, mut near, mut count) = (0, 0, 0, 0);
    let mut wrong = String::new();
    for line in include_str!("data/labels.tsv").lines().filter(|line| !line.starts_with('#')) {
        let label: Vec<&str> = line.split('\t').collect();
        let text = requests.iter().find(|(id, _)| id == label[0]).map(|(_, text)| text.as_str()).unwrap();
        let ranked = kinds.of(text);
        let found = ranked.best().map_or("none", |scored| &scored.kind);
        let kind = kinds.get(label[1]).or_else(|| kinds.get(label[2])).unwrap();
        let size = size_of(kind, label[4].parse().ok(), label[5].parse().ok(), text);
        let wanted = Size::ALL.into_iter().find(|size| size.to_string() == label[3]).unwrap();
        count += 1;
        right += u32::from(found == label[1]);
        acceptable += u32::from(found == label[1] || found == label[2]);
        near += u32::from(size.steps_to(wanted) <= 1);
        if found != label[1] && found != label[2] {
            writeln!(wrong, "{} is {}, not {found}", label[0], label[1]).unwrap();
        }
        if size.steps_to(wanted) > 1 {
            writeln!(wrong, "{} is {wanted}, not {size}", label[0]).unwrap();
        }
    }
    insta::assert_snapshot!(format!("{wrong}{right} right, {acceptable} acceptable, {near} near of {count}"), @"
    fac6fada is business-launch, not infrastructure-energy
    50c0f31f is large, not small
    aec134bb is campaign-policy, not infrastructure-energy
    2ef3b73b is none, not infrastructure-energy
    75 right, 77 acceptable, 79 near of 80
    ");
}
