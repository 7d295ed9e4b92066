//! How lists of topics are read.

#![allow(clippy::unwrap_used)] // a test may

use gantry_many::topics::{Topic, read};
use proptest::prelude::*;
use serde_json::json;

fn faults(name: &str, text: &str) -> String {
    read(name, text.as_bytes()).unwrap_err().to_string()
}

fn topic(title: &str, goal: &str) -> Topic {
    Topic { title: title.to_owned(), goal: goal.to_owned(), ..Topic::default() }
}

#[test]
fn a_line_of_text_is_title_and_goal() {
    let read = read("topics.txt", "\u{feff}Build a boat\r\n\n  Learn Danish  \n".as_bytes()).unwrap();
    assert_eq!(read, [topic("Build a boat", "Build a boat"), topic("Learn Danish", "Learn Danish")]);
}

#[test]
fn lines_of_json_are_objects_or_bare_texts() {
    let text =
        "\"Build a boat\"\n{\"title\": \"Learn\", \"goal\": \"Learn Danish\", \"owner\": \"ana\", \"tier\": 2}\n";
    let read = read("topics.jsonl", text.as_bytes()).unwrap();
    assert_eq!(read[0], topic("Build a boat", "Build a boat"));
    assert_eq!((read[1].goal.as_str(), read[1].owner.as_str()), ("Learn Danish", "ana"));
    assert_eq!(read[1].metadata, *json!({"tier": 2}).as_object().unwrap());
}

#[test]
fn a_list_may_stand_in_an_object() {
    for text in [r#"["a", {"goal": "b"}]"#, r#"{"topics": ["a", {"goal": "b"}]}"#, r#"{"items": ["a", {"goal": "b"}]}"#]
    {
        assert_eq!(read("x.json", text.as_bytes()).unwrap(), [topic("a", "a"), topic("b", "b")], "{text}");
    }
}

#[test]
fn a_table_with_only_goals_has_titles_from_them() {
    let read = read("t.csv", b"goal,metadata\nBuild a boat,\"{\"\"size\"\": 3}\"\n").unwrap();
    assert_eq!((read[0].title.as_str(), &read[0].metadata["size"]), ("Build a boat", &json!(3)));
}

#[test]
fn what_is_asked_for_are_sentences_and_no_form() {
    let cases = [
        (("Shed", "Shed", ""), "Shed"),
        (("Garden shed", "Build a garden shed", ""), "Build a garden shed"),
        (("Shed", "Build it of larch", "4 by 3 m"), "Shed. Build it of larch\n\n4 by 3 m"),
        (("Why not?", "Build a boat", "Build a boat"), "Why not? Build a boat"),
        (("Bees: a survey", "Count them", "Budget: 5"), "Bees – a survey. Count them\n\nBudget: 5"),
    ];
    for ((title, goal, description), expected) in cases {
        let of = |text: &str| text.to_owned();
        let topic = Topic { title: of(title), goal: of(goal), description: of(description), ..Topic::default() };
        assert_eq!(topic.request(), expected);
    }
}

#[test]
fn every_entry_that_is_no_topic_is_told_with_its_line() {
    insta::assert_snapshot!(faults("t.jsonl", "\"a\"\n3\n{\"goal\": \"\"}\n{oops\n{\"title\": [1]}\n"), @"
    t.jsonl:2: a topic is a text or an object, and this is a number
    t.jsonl:3: it has neither `title` nor `goal`
    t.jsonl:4:2: this is no JSON: key must be a string
    t.jsonl:5: `title` is to be a text, and is a list
    ");
    insta::assert_snapshot!(faults("t.csv", "title,goal\na,b\nc\n,\n"), @"
    t.csv: CSV error: record 2 (line: 3, byte: 15): found record with 1 fields, but the previous record has 2 fields
    t.csv:4: it has neither `title` nor `goal`
    ");
    insta::assert_snapshot!(faults("t.csv", "title,goal\na,\"b \"\"c\"\"\nd\"\ne,\"f\ng,h\n"), @"t.csv:4: a quote begins a cell here and nothing ends it");
    assert_eq!(read("t.csv", b"title,goal\na,a 5\" pipe\nb,b\n").unwrap().len(), 2, "a quote inside a cell is itself");
}

#[test]
fn a_list_without_topics_or_without_a_head_says_what_to_do() {
    insta::assert_snapshot!(faults("t.txt", " \n\n"), @"t.txt: there is no topic in it");
    insta::assert_snapshot!(faults("t.csv", "Build a boat,3\n"), @"t.csv:1: the table needs a column `title` or `goal`; its first line has: build a boat, 3 (a list without a head is `.txt`)");
    insta::assert_snapshot!(faults("t.json", "{\"plans\": []}"), @"t.json: the object has no list `topics` or `items`");
    assert_eq!(read("t.txt", b"ok\n\xff\n").unwrap_err().to_string(), "t.txt:2: this is no text in UTF-8");
}

proptest! {
    #[test]
    fn whatever_is_in_a_file_it_is_topics_or_faults(bytes in proptest::collection::vec(any::<u8>(), 0..200), ending in "txt|csv|json|jsonl") {
        match read(&format!("t.{ending}"), &bytes) {
            Ok(topics) => prop_assert!(topics.iter().all(|topic| !topic.title.is_empty() && !topic.goal.is_empty())),
            Err(bad) => prop_assert!(!bad.faults.is_empty()),
        }
    }

    #[test]
    fn no_line_of_text_is_lost(lines in proptest::collection::vec("[a-z]{1,9}( [a-z]{1,9}){0,4}", 1..30)) {
        prop_assert_eq!(read("t.txt", lines.join("\n").as_bytes()).unwrap().len(), lines.len());
    }
}
