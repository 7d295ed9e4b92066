//! Quantities, people, what is there, demands and success.

use gantry_planner::brief::Said;

use crate::kit::{self, read};

fn text(said: Option<Said>) -> String {
    kit::or_dash(said.map(|said| said.text))
}

fn amounts(text: &str) -> Vec<String> {
    read(text)
        .amounts
        .iter()
        .map(|amount| {
            let from = amount.from.map(|from| format!("{from}..")).unwrap_or_default();
            let sides: Vec<String> = amount.sides.iter().map(|side| format!("×{side}")).collect();
            let sides = sides.concat();
            format!("{from}{}{sides} {}", amount.value, amount.unit)
        })
        .collect()
}

#[test]
fn quantities_keep_their_unit() {
    for (text, expected) in [
        ("A 200-unit hotel", "200 unit"),
        ("A 180-meter yacht", "180 m"),
        ("A campus of 9 GW", "9 GW"),
        ("My 15,000 sq ft building", "15000 sq ft"),
        ("A fair with 2,000 participants", "2000 participants"),
        ("A footprint of 12.7 km × 12.7 km", "12.7×12.7 km"),
        ("About 161 km² of land", "161 km²"),
        ("Halls of 20,000–100,000 m²", "20000..100000 m²"),
        ("Reach ≥ 500 Wh/kg", "500 Wh/kg"),
        ("Serve 1.2 million people", "1200000 people"),
        ("There are 5 plants in total", "5 plants"),
        ("Cool it by 1.5°C", "1.5 °C"),
        ("It takes 1 hour", "1 hours"),
        ("100 square meters of floor", "100 m²"),
        ("30평 매장", "30 평"),
    ] {
        assert_eq!(amounts(text), [expected], "{text}");
    }
}

#[test]
fn numbers_of_phases_roads_and_sums_of_money_are_no_quantities() {
    for text in [
        "Phase 1 first",
        "Take US-191",
        "Budget: 2 million DKK",
        "By 2030",
        "Over 3 years, build a hotel",
        "ISO 13482 applies",
    ] {
        assert!(amounts(text).is_empty(), "{text}: {:?}", amounts(text));
    }
}

#[test]
fn the_client_is_who_wants_it() {
    for (sentence, expected) in [
        ("We (the EU) wants to inspect schools", "the EU"),
        ("We, representing Denmark's ministers, request a plan", "Denmark's ministers"),
        ("I want a cup of coffee", "I"),
        ("Me and 3 friends wants to build a boat", "Me and 3 friends"),
        ("A city wants to plant trees", "A city"),
        ("An AI coding agent needs to plan a migration", "An AI coding agent"),
        ("A 15-year initiative led by a Chinese consortium to grow cells", "a Chinese consortium"),
        ("Plan the response from the perspective of the Veterinary Administration.", "the Veterinary Administration"),
        ("Build a factory in my existing building", "I"),
        ("나는 카페를 열고 싶다", "나는"),
        ("Construct a bridge", "-"),
    ] {
        assert_eq!(text(read(sentence).people.client), expected, "{sentence}");
    }
}

#[test]
fn the_users_are_those_it_is_for() {
    for (sentence, expected) in [
        ("Make a restaurant for puzzle solving happy people.", "puzzle solving happy people"),
        ("A platform exclusively designed for AI agents to talk", "AI agents"),
        ("The workshop targets locals and tourists", "locals"),
        ("아이들을 위한 도서관을 짓는다", "아이들을"),
        ("A budget for 3 years", "-"),
    ] {
        assert_eq!(text(read(sentence).people.users), expected, "{sentence}");
    }
}

#[test]
fn the_team_is_the_number_of_people_named() {
    for (sentence, expected) in [
        ("The core team is 9 people: a lead and others.", Some(9)),
        ("We are a team of 4", Some(4)),
        ("Me and 3 friends wants to build a boat", Some(4)),
        ("The engineering team consists of 8 backend developers, 2 DevOps engineers, and 1 architect.", Some(11)),
        ("A 12-person team", Some(12)),
        ("Build a bridge for 5 million people", None),
    ] {
        assert_eq!(read(sentence).people.team.map(|team| team.value), expected, "{sentence}");
    }
}

#[test]
fn what_the_client_has_is_a_list_of_things() {
    for (text, expected) in [
        ("I have instant coffee and a cup and water.", &["instant coffee", "a cup", "water"][..]),
        ("I have a smartphone and know the time.", &["a smartphone"]),
        ("We have access to powerful tools.", &["powerful tools"]),
        ("Build it in my existing 15,000 sq ft building in Cleveland", &["my existing 15,000 sq ft building"]),
        ("I have done it many times before. I have no target.", &[]),
    ] {
        let has: Vec<String> = read(text).has.into_iter().map(|said| said.text).collect();
        assert_eq!(has, expected, "{text}");
    }
}
