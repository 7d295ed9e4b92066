//! The public test suites of JSON and YAML, read in place where they are installed.

use std::path::PathBuf;

use gantry_format::tree::Parsed;
use gantry_format::{json, yaml};

use crate::kit::shared;

/// Names accepted by RFC 8259 that are refused here on purpose.
const REFUSED_ON_PURPOSE: [&str; 2] = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

fn files(folder: &str) -> Vec<PathBuf> {
    let Some(root) = shared(&format!("data/security/{folder}")) else { return Vec::new() };
    let entries = std::fs::read_dir(root).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

fn accepted(parsed: &Parsed) -> bool {
    parsed.node.is_some() && parsed.findings.kept.is_empty()
}

#[test]
fn json_is_accepted_and_refused_as_the_json_test_suite_says() {
    for file in files("JSONTestSuite/test_parsing") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).unwrap();
        let accepted = match str::from_utf8(&bytes) {
            Ok(text) => accepted(&json::parse(text)),
            Err(_) => false,
        };
        if REFUSED_ON_PURPOSE.contains(&name.as_str()) || name.starts_with("n_") {
            assert!(!accepted, "{name} must be refused");
        } else if name.starts_with("y_") {
            assert!(accepted, "{name} must be accepted");
        }
    }
}

#[test]
fn no_file_of_the_yaml_test_suite_makes_the_reader_panic() {
    let mut documents = 0;
    for file in files("yaml-test-suite/src") {
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed = yaml::parse(&text);
        assert!(
            parsed.node.is_some() || !parsed.findings.kept.is_empty(),
            "{}: neither a tree nor a reason",
            file.display()
        );
        // The files are lists of cases; each case has a document of its own in `yaml`.
        let Some(node) = parsed.node else { continue };
        for case in node.as_seq().unwrap_or_default() {
            let Some(document) = case.get("yaml").and_then(|node| node.as_str()) else {
                continue;
            };
            let document = document
                .replace('␣', " ")
                .replace('—', "")
                .replace('»', "\t")
                .replace(['↵', '∎'], "")
                .replace('←', "\r")
                .replace('⇔', "\u{feff}");
            let must_fail = case.get("fail").is_some();
            let parsed = yaml::parse(&document);
            if must_fail {
                let name = file.display();
                assert!(!accepted(&parsed), "{name} must be refused:\n{document}");
            }
            documents += 1;
        }
    }
    eprintln!("{documents} documents read");
}
