//! The result as the report that people read, and what is doubtful about it.
//!
//! The report is the one that `gantry report` makes of every plan; a number in prose that neither the request nor the
//! schedule gives is taken out there, and told.

use gantry_report::document::{self, document};
use gantry_report::report::{Choice, Layout, Source, Subject, compose, markdown};
use serde_json::{Map, Value, json};

use crate::facts::Facts;
use crate::overview::Draft;

/// A page and what is doubtful.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The page, in Markdown.
    pub markdown: String,
    /// What is doubtful: in which section, which text, and why.
    pub findings: Vec<Value>,
    /// What that means for the whole: `go`, `go_with_care` or `not_yet`.
    pub verdict: &'static str,
    /// Who answered, each once.
    pub made_by: Vec<String>,
}

/// Puts the parts of a plan together into a report by this layout.
pub fn report(layout: &Layout, parts: &Map<String, Value>) -> Result<Report, String> {
    let part = |name: &str| parts.get(name).unwrap_or(&Value::Null);
    let facts: Facts =
        serde_json::from_value(part("facts").clone()).map_err(|error| format!("`facts` cannot be read: {error}"))?;
    let Draft { plan, project, schedule } = Draft::of(part("plan"), &facts)?;
    let made = parts.iter().filter(|(name, value)| !["plan", "repairs"].contains(&name.as_str()) && !value.is_null());
    let made: Map<String, Value> = made.map(|(name, value)| (name.clone(), value.clone())).collect();
    let written = document(&document::Subject {
        kept: Map::new(),
        plan: &plan,
        state_of: &|_| None,
        scheduled: Ok((&project, &schedule)),
        source: serde_json::from_str(&gantry_format::to_json(&plan)).unwrap_or_default(),
        parts: &made,
    });
    let subject = Subject {
        title: plan.title.clone(),
        day: facts.today.to_string(),
        sources: made.iter().map(|(name, value)| source(name, value)).collect(),
        parts: made,
        plan: written,
        life: Value::Null,
        scheduled: Some((&project, &schedule)),
        begun: false,
    };
    let report = compose(layout, &subject, &Choice::default());
    let mut findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| json!({"section": finding.section, "text": finding.what, "why": finding.check}))
        .collect();
    let repairs = part("repairs").as_array().into_iter().flatten();
    findings.extend(
        repairs.map(
            |repair| json!({"section": "work", "text": repair, "why": "put right when the parts were put together"}),
        ),
    );
    Ok(Report {
        markdown: markdown::write(&report),
        findings,
        verdict: verdict(part("overview"), part("audit")),
        made_by: made_by(parts),
    })
}

/// Where a part comes from, as far as the part itself says.
fn source(part: &str, value: &Value) -> Source {
    let by = answered_by(value);
    Source {
        part: part.to_owned(),
        task: part.to_owned(),
        title: part.to_owned(),
        by: by.unwrap_or("code").to_owned(),
        kind: if by.is_some() { "model" } else { "code" }.to_owned(),
        ..Source::default()
    }
}

fn answered_by(part: &Value) -> Option<&str> {
    part["answered_by"].as_str().or_else(|| part.get(0)?.get("answered_by")?.as_str())
}

/// Who answered, each once.
fn made_by(parts: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts.values() {
        let each = part.as_array().into_iter().flatten().filter_map(answered_by);
        for name in part["answered_by"].as_str().into_iter().chain(each) {
            let name = if name.starts_with("gantry-offline") { "gantry-offline" } else { name };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn verdict(overview: &Value, audit: &Value) -> &'static str {
    let high = audit["items"].as_array().into_iter().flatten().filter(|item| item["level"] == "high").count();
    let broken = overview["demands"].as_array().into_iter().flatten().any(|demand| demand["status"] == "broken");
    let beyond = |likely: &Value, limit: &Value| match (
        likely.as_f64().zip(limit.as_f64()),
        likely.as_str().zip(limit.as_str()),
    ) {
        (Some((likely, limit)), _) => likely > limit,
        (_, Some((likely, limit))) => likely > limit,
        _ => false,
    };
    let failed = overview["health"].as_array().into_iter().flatten().any(|check| check["passed"] == false);
    let untested = overview["priced_by"] == "budget" && !overview["budget"].is_null();
    let doubted = overview["doubts"].as_array().is_some_and(|doubts| !doubts.is_empty());
    let doubtful = untested
        || failed
        || doubted
        || beyond(&overview["cost_p50"], &overview["budget"])
        || beyond(&overview["finish_p50"], &overview["deadline"]);
    match (overview["feasible"] == true && !broken, high) {
        (false, _) => "not_yet",
        (true, 0) if !doubtful => "go",
        (true, _) => "go_with_care",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_with_a_failed_check_or_a_doubt_is_no_plain_go() {
        let told = |overview: Value| verdict(&overview, &Value::Null);
        assert_eq!(told(json!({"feasible": true, "health": [{"passed": true}]})), "go");
        assert_eq!(told(json!({"feasible": true, "health": [{"passed": false}]})), "go_with_care");
        assert_eq!(told(json!({"feasible": true, "doubts": ["It is late in most futures."]})), "go_with_care");
        assert_eq!(told(json!({"feasible": false, "gaps": ["It costs too much."]})), "not_yet");
    }
}
