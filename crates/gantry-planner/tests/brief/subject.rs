//! What is asked for: title, thing, verb, goal and language.

use gantry_planner::brief::Locale;

use crate::kit::read;

#[test]
fn the_thing_is_a_noun_phrase_with_its_article_and_the_verb_is_taken_off() {
    for (text, verb, what) in [
        ("I want to open a community solar co-op in Fresno.", "open", "a community solar co-op"),
        ("Create a plan to build a community garden.", "build", "a community garden"),
        ("Open a bakery.", "Open", "a bakery"),
        ("Establish a humanoid robot factory in Caracas, Venezuela.", "Establish", "a humanoid robot factory"),
        (
            "Draft a comprehensive strategic plan for designing, financing, and operating a permanent bridge.",
            "designing",
            "a permanent bridge",
        ),
        (
            "Over 3 years, establish a 200-unit, men-only capsule hotel in Oslo",
            "establish",
            "a 200-unit, men-only capsule hotel",
        ),
        ("Launch a 10-year, $500 million initiative to cure ageing", "Launch", "a 10-year, $500 million initiative"),
        ("Manned moon mission, for establishing a permanent base.", "", "a manned moon mission"),
        ("I'm rich. Construct a luxury yacht.", "Construct", "a luxury yacht"),
        ("A city wants to plant trees along its roads.", "plant", "trees"),
        ("This project establishes an entertainment prototype in Japan", "establishes", "an entertainment prototype"),
        ("I want a cup of coffee.", "", "a cup of coffee"),
        ("Build schools and hospitals in Kenya", "Build", "schools and hospitals"),
        ("Vegan Butcher Shop. It sells sausages.", "", "a vegan butcher shop"),
        ("성수동에 작은 카페를 열고 싶다.", "", "작은 카페"),
    ] {
        let brief = read(text);
        assert_eq!(brief.what.text, what, "{text}");
        assert_eq!(brief.verb.map(|verb| verb.text).unwrap_or_default(), verb, "{text}");
    }
}

#[test]
fn where_the_thing_alone_says_too_little_the_verb_goes_with_it() {
    for (text, deed) in [
        ("Wash my car", Some("wash my car")),
        ("Apply for a US student visa before 1 August 2027", Some("apply for a US student visa")),
        (
            "Replace the boiler of our apartment building with a heat pump",
            Some("replace the boiler of our apartment building"),
        ),
        ("I want to open a community solar co-op in Fresno.", None),
        ("Build a wooden deck", None),
    ] {
        assert_eq!(read(text).deed.as_deref(), deed, "{text}");
    }
}

#[test]
fn a_title_is_short_and_ends_at_a_word() {
    for (text, title) in [
        (
            "I want to make a restaurant for puzzle solving happy people. It is fun.",
            "Restaurant for puzzle solving happy people",
        ),
        ("Project name: “Split Evenly”: humans and machines part.", "Split Evenly"),
        ("# River Park Renewal\n\nBuild a park.", "River Park Renewal"),
        ("Turn off all electricity in the world, so that it is dark.", "Turn off all electricity in the world"),
        ("Carrington Event Prep: a shield for phones", "Carrington Event Prep"),
        (
            "Establish an intentionally extreme hyperscale AI data center campus in Hauts-de-France, France, focused on power",
            "Intentionally extreme hyperscale AI data center campus",
        ),
    ] {
        assert_eq!(read(text).title.text, title, "{text}");
    }
}

#[test]
fn the_goal_is_the_sentence_that_asks_or_the_one_after_its_label() {
    assert_eq!(read("I'm rich. Construct a luxury yacht. It floats.").goal.text, "Construct a luxury yacht.");
    assert_eq!(
        read("A new week\n\nObjective: Produce a plan for shorter weeks.").goal.text,
        "Objective: Produce a plan for shorter weeks."
    );
}

#[test]
fn the_language_is_that_of_the_letters() {
    assert_eq!(read("Open a café").locale, Locale::En);
    assert_eq!(read("성수동에 카페를 연다").locale, Locale::Ko);
    assert_eq!(read("Kubernetes 클러스터를 AWS에서 GCP로 옮긴다").locale, Locale::Ko);
    assert_eq!(read("Open a shop called 커피 in Paris, with many rooms").locale, Locale::En);
    assert_eq!(read("").locale, Locale::En);
}
