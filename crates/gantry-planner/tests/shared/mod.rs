//! What several tests share.

#![allow(dead_code, clippy::unwrap_used)] // each uses some of it; a test may

use gantry_core::plan::Plan;
use gantry_planner::assemble::Setting;
use gantry_planner::kind::Size;
use gantry_planner::knowledge::Knowledge;
use gantry_planner::outline::Given;
use jiff::civil::date;
use serde_json::{Value, json};

/// Real data that is no part of the repository; says so where it is not there.
pub fn data(name: &str) -> Option<String> {
    let above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let text =
        above.map(|above| above.join("shared/data").join(name)).find_map(|path| std::fs::read_to_string(path).ok());
    if text.is_none() {
        let needed = std::env::var_os("GANTRY_TEST_ALL").is_some_and(|all| !all.is_empty());
        assert!(!needed, "`shared/data/{name}` is missing, and GANTRY_TEST_ALL is set");
        eprintln!("skipped: there is no `shared/data/{name}` beside the workspace");
    }
    text
}

/// Real requests as id and text.
pub fn requests(name: &str) -> Option<Vec<(String, String)>> {
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let field = |key: &str| value[key].as_str().unwrap().to_owned();
        (field("id")[..8].to_owned(), field("prompt"))
    };
    Some(data(&format!("prompts/{name}.jsonl"))?.lines().map(read).collect())
}

/// A plan as the reader of files takes it; it has no errors.
pub fn loaded(title: &str, plan: &Value) -> Plan {
    let mut plan = plan.clone();
    plan["title"] = json!(title);
    let read = gantry_format::load("plan.json", plan.to_string().as_bytes());
    let errors: Vec<String> = read.report.diagnostics.iter().map(|found| format!("{found:?}")).take(3).collect();
    read.plan.unwrap_or_else(|| panic!("{title}: {errors:#?}"))
}

/// What comes of it in time and money.
pub fn scheduled(title: &str, plan: &Value) -> (gantry_schedule::Project, Value) {
    let project = loaded(title, plan).project(gantry_core::time::Timestamp::from_ms(1_800_000_000_000));
    let options = gantry_schedule::Options { draws: 100, schedules: 20, ..Default::default() };
    let schedule = serde_json::to_value(gantry_schedule::schedule(&project, &options).unwrap()).unwrap();
    (project, schedule)
}

/// A project of a size about which little is said.
pub fn given(size: Size) -> Given {
    Given {
        team: None,
        what: "a community solar co-op".to_owned(),
        place: Some("Aarhus".to_owned()),
        client: None,
        users: None,
        quantity: None,
        deadline: None,
        budget: None,
        size,
        budget_eur: None,
        price_eur: None,
        days: None,
        counted: Vec::new(),
        topics: Vec::new(),
        request: String::new(),
        per_eur: 1.0,
        public: true,
        matter: None,
    }
}

/// When and where it happens.
pub fn setting(knowledge: &Knowledge) -> Setting {
    Setting {
        team: None,
        start: date(2027, 1, 4),
        calendar: knowledge.calendar,
        zone: "Europe/Copenhagen".to_owned(),
        days_off: Vec::new(),
        currency: "EUR".to_owned(),
        budget: None,
        deadline: None,
        held: None,
        success: Vec::new(),
    }
}
