//! Real-looking answers, most of them malformed, and what must come of each: `tests/corpus/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;

use gantry_llm::structured::{Checker, Reading};
use gantry_llm::{Finish, Repair, Shape};
use serde::Deserialize;
use serde_json::Value;

/// One answer, and what must come of it: exactly one of `holds`, `cut` and `faulty`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub schema: String,
    #[serde(default)]
    finish: Option<String>,
    pub text: String,
    #[serde(default)]
    holds: Option<String>,
    #[serde(default)]
    repairs: Vec<String>,
    #[serde(default)]
    any_order: bool,
    #[serde(default)]
    cut: bool,
    #[serde(default)]
    faulty: Option<String>,
}

impl Case {
    pub fn finish(&self) -> Finish {
        match self.finish.as_deref() {
            None => Finish::Done,
            Some("length") => Finish::Length,
            Some("refused") => Finish::Refused,
            Some(other) => panic!("{}: unknown finish `{other}`", self.name),
        }
    }

    /// What is wrong with a reading; nothing when it is as it must be.
    fn against(&self, reading: &Reading) -> Option<String> {
        let complaint = match (reading, &self.holds, self.cut, &self.faulty) {
            (Reading::Holds { value, repairs }, Some(expected), false, None) => {
                let expected: Value = serde_json::from_str(expected).expect("the expected value is JSON");
                let mut repairs: Vec<String> = repairs.iter().map(words).collect();
                let mut wanted = self.repairs.clone();
                if self.any_order {
                    repairs.sort();
                    wanted.sort();
                }
                (*value != expected)
                    .then(|| format!("another value: {value}"))
                    .or_else(|| (repairs != wanted).then(|| format!("other repairs: {repairs:?}")))
            }
            (Reading::Cut { so_far }, None, true, None) => {
                (*so_far != self.text).then(|| "another text so far".to_owned())
            }
            (Reading::Faulty { faults }, None, false, Some(fragment)) => {
                let told = faults.iter().any(|fault| fault.contains(fragment.as_str()));
                (!told).then(|| format!("other faults: {faults:?}"))
            }
            (other, ..) => Some(format!("something else: {other:?}")),
        };
        complaint.map(|complaint| format!("{}: {complaint}", self.name))
    }
}

fn words(repair: &Repair) -> String {
    match repair {
        Repair::Fence => "fence".to_owned(),
        Repair::Prose => "prose".to_owned(),
        Repair::Notation(what) => format!("notation: {what}"),
        Repair::Case(what) => format!("case: {what}"),
        other => format!("{other:?}"),
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Every schema of the corpus, compiled.
pub fn checkers() -> &'static BTreeMap<String, Checker> {
    static CHECKERS: LazyLock<BTreeMap<String, Checker>> = LazyLock::new(|| {
        let text = std::fs::read_to_string(folder().join("schemas.json")).unwrap();
        let schemas: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
        let compiled = |(name, schema): (String, Value)| {
            let checker = Checker::new(&Shape { name: name.clone(), schema }).unwrap();
            (name, checker)
        };
        schemas.into_iter().map(compiled).collect()
    });
    &CHECKERS
}

/// Every case of the corpus.
pub fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
        files.sort();
        let read = |file: PathBuf| {
            let text = std::fs::read_to_string(&file).unwrap();
            serde_saphyr::from_str::<Vec<Case>>(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        files.into_iter().flat_map(read).collect()
    });
    &CASES
}

#[test]
fn every_answer_of_the_corpus_is_recovered_or_typed_and_no_value_is_altered() {
    let checkers = checkers();
    let cases = cases();
    let mut complaints = Vec::new();
    let (mut held, mut cut, mut faulty) = (0, 0, 0);
    for case in cases {
        let reading = checkers[&case.schema].read(&case.text, &case.finish(), &|_| Vec::new());
        match &reading {
            Reading::Holds { .. } => held += 1,
            Reading::Cut { .. } => cut += 1,
            Reading::Faulty { .. } => faulty += 1,
        }
        complaints.extend(case.against(&reading));
    }
    let share = 100 * (cases.len() - complaints.len()) / cases.len();
    println!("{} answers: {held} recovered, {cut} cut, {faulty} faulty; {share} % as they must be", cases.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(cases.len() >= 90, "{} cases are too few", cases.len());
}

#[test]
fn the_names_of_the_corpus_are_told_apart() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn a_value_that_holds_is_read_the_same_when_it_is_read_again() {
    let checkers = checkers();
    for case in cases() {
        let checker = &checkers[&case.schema];
        if let Reading::Holds { value, .. } = checker.read(&case.text, &case.finish(), &|_| Vec::new()) {
            let again = checker.read(&value.to_string(), &Finish::Done, &|_| Vec::new());
            assert_eq!(again, Reading::Holds { value, repairs: Vec::new() }, "{}", case.name);
        }
    }
}
