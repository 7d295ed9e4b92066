//! What is read from real requests, one line each, to be read by a person against the requests.

use std::fmt::Write;
use std::path::Path;

use crate::kit::{length, money, or_dash, read};

/// Real requests that are no part of this repository.
const PROMPTS: &str = "/work/shared/data/prompts/prompts.jsonl";

#[test]
fn real_requests_are_read_as_a_careful_person_reads_them() {
    let Ok(lines) = std::fs::read_to_string(Path::new(PROMPTS)) else {
        eprintln!("skipped: {PROMPTS} is not here");
        return;
    };
    let mut table =
        String::from("title | what | budget | deadline/horizon | place/country | client | demands | missing\n");
    for (number, line) in lines.lines().enumerate() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let brief = read(row["prompt"].as_str().unwrap());
        let time = match (brief.deadline, brief.horizon) {
            (Some(day), Some(time)) => format!("{day}, {}", length(time)),
            (Some(day), None) => day.to_string(),
            (None, Some(time)) => length(time),
            (None, None) => "-".to_owned(),
        };
        let place = or_dash(brief.place.map(|place| place.name));
        let missing: Vec<String> =
            brief.missing.iter().map(|missing| format!("{:?}", missing.topic).to_lowercase()).collect();
        writeln!(
            table,
            "{number} {} | {} | {} | {time} | {place}/{} | {} | {} | {}",
            brief.title.text,
            brief.what.text,
            or_dash(brief.budget.as_ref().map(money)),
            or_dash(brief.country),
            or_dash(brief.people.client.map(|client| client.text)),
            brief.demands.len(),
            missing.join(" "),
        )
        .unwrap();
    }
    insta::assert_snapshot!(table);
}
