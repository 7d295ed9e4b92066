//! What holds for any text.

use gantry_planner::brief;
use jiff::civil::date;
use proptest::prelude::*;
use serde_json::Value;

use crate::kit::read;

/// Pieces that make readers meet each other in ways no person would write.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Build a hotel in Oslo".to_owned()),
        Just("by 2030".to_owned()),
        Just("$".to_owned()),
        Just("€1–2 M".to_owned()),
        Just("1억 5천만 원".to_owned()),
        Just("**".to_owned()),
        Just("\n- ".to_owned()),
        Just("Location:".to_owned()),
        Just("before summer".to_owned()),
        Just("2027년 3월까지".to_owned()),
        Just("Banned words:\n".to_owned()),
        Just("between 10 and".to_owned()),
        Just("Success criteria: ".to_owned()),
        Just("Paris,".to_owned()),
        Just("’s".to_owned()),
        Just("team of".to_owned()),
        Just("must not".to_owned()),
        Just("12.3.2027".to_owned()),
        Just("Q".to_owned()),
        Just("the end of".to_owned()),
        Just("I have".to_owned()),
        "[0-9.,]{1,30}",
        "\\PC{0,12}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}

#[test]
fn a_long_text_of_one_piece_is_read_to_its_end() {
    for piece in [
        "1,",
        "the end of ",
        "Paris, ",
        "3 days ",
        "€5 ",
        "I have ",
        "must not. ",
        "- a\n",
        "between 1 and ",
        "(",
        "1억 ",
        "for people ",
    ] {
        let text = piece.repeat(3_000);
        assert!(read(&text).goal.span.end <= text.len());
    }
}

/// Every `span` in a brief.
fn spans(value: &Value, found: &mut Vec<(usize, usize)>) {
    match value {
        Value::Object(fields) => {
            if let (Some(start), Some(end)) =
                (fields.get("start").and_then(Value::as_u64), fields.get("end").and_then(Value::as_u64))
            {
                found.push((usize::try_from(start).unwrap(), usize::try_from(end).unwrap()));
            }
            fields.values().for_each(|value| spans(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| spans(item, found)),
        _ => {}
    }
}

/// A brief as JSON with its spans moved back by so many bytes.
fn moved(text: &str, by: u64) -> Value {
    fn back(value: &mut Value, by: u64) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    match field.as_u64() {
                        Some(at) if name == "start" || name == "end" => *field = Value::from(at.saturating_sub(by)),
                        _ => back(field, by),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| back(item, by)),
            _ => {}
        }
    }
    let mut brief = serde_json::to_value(read(text)).unwrap();
    back(&mut brief, by);
    brief
}

/// A brief as JSON without its spans.
fn facts(text: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("span");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut brief = serde_json::to_value(read(text)).unwrap();
    strip(&mut brief);
    brief
}

/// Words without emphasis and blanks.
fn bare(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader_and_every_span_is_whole(text in text(), year in -9999_i16..=9999, month in 1_i8..=12, day in 1_i8..=28) {
        let brief = brief::read(&text, date(year, month, day));
        let mut found = Vec::new();
        spans(&serde_json::to_value(&brief).unwrap(), &mut found);
        for (start, end) in found {
            prop_assert!(start <= end && text.is_char_boundary(start) && text.is_char_boundary(end), "{start}..{end}");
        }
        for said in brief.success.iter().chain(&brief.has).chain(&brief.people.users).chain(&brief.verb).chain([&brief.goal]) {
            prop_assert_eq!(bare(&said.text), bare(&text[said.span.clone()]));
        }
        for demand in &brief.demands {
            prop_assert_eq!(bare(&demand.text), bare(&text[demand.span.clone()]));
        }
        for place in &brief.places {
            prop_assert_eq!(&place.name, &text[place.span.clone()]);
        }
        for money in &brief.money {
            prop_assert!(!money.span.is_empty() && money.from.is_none_or(|from| from < money.amount));
        }
    }

    #[test]
    fn reading_twice_gives_the_same(text in text()) {
        prop_assert_eq!(read(&text), read(&text));
    }

    #[test]
    fn a_brief_survives_being_written_and_read_back(text in text()) {
        let brief = read(&text);
        let json = serde_json::to_string(&brief).unwrap();
        prop_assert_eq!(serde_json::from_str::<brief::Brief>(&json).unwrap(), brief);
    }

    #[test]
    fn blanks_around_a_text_change_nothing(text in text(), before in "[ \t\r\n]{0,4}", after in "[ \t\r\n]{0,4}") {
        let padded = format!("{before}{text}{after}");
        prop_assert_eq!(moved(&padded, before.len() as u64), moved(&text, 0));
    }

    #[test]
    fn emphasis_changes_no_fact(at in 0_usize..12, length in 1_usize..6) {
        let sentence = "Open a bakery in Bonn, Germany by June 2027 with a budget of 2 million EUR for happy people. It must be quiet.";
        let words: Vec<&str> = sentence.split(' ').collect();
        let mut strong: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        strong[at].insert_str(0, "**");
        strong[at + length].push_str("**");
        prop_assert_eq!(facts(&strong.join(" ")), facts(sentence));
    }
}
