//! Whatever is tolerated reads as what was meant, and no text makes reading fail in an untyped way.

use gantry_llm::structured::{Checker, Reading};
use gantry_llm::{Finish, Shape};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::corpus;

fn anything() -> Checker {
    Checker::new(&Shape { name: "anything".to_owned(), schema: json!({}) }).unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,8}",
        "[가-힣 ]{0,6}",
        "\\PC{0,12}",
        "[\"'“”‘’\\\\/#*,:{}\\[\\]\n\t.a ]{0,12}",
        any::<String>()
    ]
}

/// How a value is written; each habit is drawn anew for each place.
struct Hand {
    draws: Vec<u8>,
    next: usize,
}

impl Hand {
    fn draw(&mut self, ways: u8) -> u8 {
        let draw = self.draws[self.next % self.draws.len()];
        self.next += 1;
        draw % ways
    }

    fn gap(&mut self) -> &'static str {
        ["", " ", "\n  ", "// a note\n", "/* a note */", "# a note\n", "\u{a0}", "\t"][usize::from(self.draw(8))]
    }

    fn quoted(&mut self, text: &str) -> String {
        let curly = !text.contains(['"', '“', '”']);
        let (open, close) = match self.draw(4) {
            0 => ('\'', '\''),
            1 if curly => ('“', '”'),
            _ => ('"', '"'),
        };
        let mut written = String::from(open);
        for letter in text.chars() {
            match letter {
                '\n' | '\t' | '\r' if self.draw(2) == 0 => written.push(letter),
                '\'' if open == '\'' => written.push_str("\\'"),
                '"' if open == '"' => written.push_str("\\\""),
                '\\' => written.push_str("\\\\"),
                letter if letter < ' ' => written += &format!("\\u{:04x}", u32::from(letter)),
                letter if self.draw(16) == 0 => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        written += &format!("\\u{unit:04X}");
                    }
                }
                letter => written.push(letter),
            }
        }
        written.push(close);
        written
    }

    fn key(&mut self, key: &str) -> String {
        let bare =
            key.starts_with(char::is_alphabetic) && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if bare && self.draw(3) == 0 { key.to_owned() } else { self.quoted(key) }
    }

    fn write(&mut self, value: &Value) -> String {
        let python = self.draw(3) == 0;
        match value {
            Value::Null if python => "None".to_owned(),
            Value::Bool(true) if python => "True".to_owned(),
            Value::Bool(false) if python => "False".to_owned(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::String(text) => self.quoted(text),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.write(item)).collect();
                self.list('[', items, ']')
            }
            Value::Object(object) => {
                let pairs: Vec<String> = object
                    .iter()
                    .map(|(key, value)| {
                        let key = self.key(key);
                        let (before, after) = (self.gap(), self.gap());
                        format!("{key}{before}:{after}{}", self.write(value))
                    })
                    .collect();
                // Between properties on lines of their own, the comma may be missing.
                let comma = if self.draw(4) == 0 { "\n" } else { "," };
                let trailing = if self.draw(3) == 0 && !pairs.is_empty() { "," } else { "" };
                format!("{{{}{}{}{trailing}{}}}", self.gap(), pairs.join(comma), self.gap(), self.gap())
            }
        }
    }

    fn list(&mut self, open: char, items: Vec<String>, close: char) -> String {
        let trailing = if self.draw(3) == 0 && !items.is_empty() { "," } else { "" };
        format!("{open}{}{}{}{trailing}{}{close}", self.gap(), items.join(","), self.gap(), self.gap())
    }

    fn around(&mut self, written: String) -> String {
        match self.draw(6) {
            0 => format!("```json\n{written}\n```"),
            1 => format!("Here it is:\n~~~\n{written}\n~~~\nThat is all."),
            2 => format!("Sure, here it is: {written} Anything else?"),
            3 => format!("<think>perhaps {{}}</think>{written}"),
            4 => format!("\u{feff}{written}"),
            _ => written,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_in_any_tolerated_notation_reads_back_identical(
        value in value(),
        draws in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        let mut hand = Hand { draws, next: 0 };
        let written = hand.write(&value);
        let written = if value.is_object() || value.is_array() { hand.around(written) } else { written };
        match anything().read(&written, &Finish::Done, &|_| Vec::new()) {
            Reading::Holds { value: read, .. } => prop_assert_eq!(read, value, "{}", written),
            other => prop_assert!(false, "{written}\n{other:?}"),
        }
    }

    #[test]
    fn plain_json_needs_no_repair(value in value()) {
        let reading = anything().read(&value.to_string(), &Finish::Done, &|_| Vec::new());
        prop_assert_eq!(reading, Reading::Holds { value, repairs: Vec::new() });
    }

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>()) {
        for checker in corpus::checkers().values() {
            let _ = checker.read(&text, &Finish::Done, &|_| Vec::new());
        }
    }

    #[test]
    fn no_text_that_looks_like_json_makes_reading_panic(text in "[\\[\\]{}\"'“”‘’,:0-9a-fntu\\\\.…#/*`~<>\n \u{0}-]{0,120}") {
        let checker = anything();
        for finish in [Finish::Done, Finish::Length] {
            let _ = checker.read(&text, &finish, &|_| Vec::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_holds_fits_the_schema(at in any::<prop::sample::Index>(), letter in "[\\[\\]{}\"',:0-9a-z\\\\ ]?") {
        let checkers = corpus::checkers();
        for case in corpus::cases() {
            let mut letters: Vec<char> = case.text.chars().collect();
            if letters.is_empty() {
                continue;
            }
            let at = at.index(letters.len());
            letters.splice(at..=at, letter.chars());
            let text: String = letters.into_iter().collect();
            let checker = &checkers[&case.schema];
            if let Reading::Holds { value, .. } = checker.read(&text, &case.finish(), &|_| Vec::new()) {
                prop_assert!(checker.fits(&value), "{}: {value}", case.name);
            }
        }
    }
}
