//! A small plan with everything that a report shows, in which nothing contradicts anything else.

use gantry_core::plan::Plan;
use gantry_core::time::Timestamp;
use gantry_report::document::{self, document};
use gantry_report::report::{Choice, Layout, Report, Source, Subject, compose, figures_of};
use gantry_schedule::{Options, Project, Schedule, schedule};
use serde_json::{Map, Value, json};

const LAYOUT: &str = include_str!("../../../../templates/execution-plan/report.yaml");

const PLAN: &str = "
title: A bakery in Graz
objective: Bread that the neighbourhood queues for.
tasks:
  - id: shop
    title: The shop
    tasks:
      - {id: lease, title: Sign a lease, manual: sign it, owner: Founder, success_criteria: [{words: Both sides have signed.}], risks: [no-lease]}
      - {id: oven, title: Install the oven, manual: install it, owner: Baker, depends_on: [lease], success_criteria: [{words: A first loaf comes out.}]}
  - {id: opening, title: Open the doors, manual: open them, owner: Founder, depends_on: [oven], success_criteria: [{words: Someone has bought bread.}]}
schedule:
  start: 2027-03-01
  calendar: office
  currency: EUR
  budget: 60000
  deadline: 2027-06-30 hard
  calendars: [{id: office, zone: Europe/Vienna, week: {mon-fri: [\"08:00-12:00\", \"13:00-17:00\"]}}]
  resources: [{id: founder, rate: 40}, {id: baker, rate: 35}]
  risks: [{id: no-lease, title: The lease falls through, probability: 0.2, impact: 4, mitigation: Talk to two landlords., owner: Founder, tasks: [lease], delay: 5d, cost: 500}]
  tasks:
    lease: {estimate: 3d / 5d / 10d, needs: [founder]}
    oven: {estimate: 8d / 10d / 15d, needs: [baker], costs: [{name: oven, kind: material, amount: 18000}]}
    opening: {estimate: 1d / 2d / 3d, needs: [founder, baker]}
";

/// A plan and everything that is known of it.
pub struct Case {
    pub parts: Map<String, Value>,
    pub plan: Value,
    pub life: Value,
    pub project: Project,
    pub schedule: Schedule,
    pub begun: bool,
}

/// What a step of the case is called, and who did it.
fn source(part: &str, kind: &str, by: &str) -> Source {
    Source {
        part: part.to_owned(),
        task: part.to_owned(),
        title: format!("The {part}"),
        by: by.to_owned(),
        kind: kind.to_owned(),
        at: "2027-02-01 10:00:00".to_owned(),
        took: "2s".to_owned(),
        cost: "nothing".to_owned(),
        ..Source::default()
    }
}

impl Case {
    /// Nothing is wrong with it.
    pub fn sound() -> Self {
        let loaded = gantry_format::load("bakery.yaml", PLAN.as_bytes());
        assert!(!loaded.report.has_errors(), "{:?}", loaded.report);
        let plan: Plan = loaded.plan.unwrap();
        let project = plan.project(Timestamp::from_ms(0));
        let scheduled = schedule(&project, &Options::usual(&project)).unwrap();
        let written = document(&document::Subject {
            kept: Map::new(),
            plan: &plan,
            state_of: &|_| None,
            scheduled: Ok((&project, &scheduled)),
            source: serde_json::from_str(&gantry_format::to_json(&plan)).unwrap(),
            parts: &Map::new(),
        });
        let mut overview = figures_of(&scheduled);
        overview.insert("feasible".to_owned(), json!(true));
        overview.insert("phases".to_owned(), phases(&scheduled));
        overview.insert("critical_path".to_owned(), json!([{"id": "lease"}, {"id": "oven"}, {"id": "opening"}]));
        let parts = json!({
            "facts": {
                "request": "Open a bakery in Graz before July 2027 for 60,000 EUR.", "kind_title": "business", "size": "small",
                "place": "Graz", "currency": "EUR", "assumed": [{"id": "team", "question": "How many people?", "assumed": "Two."}],
            },
            "overview": overview,
            "summary": {"approach": "One oven first, a second one when the first is always full.", "next": ["Talk to landlords."]},
            "goals": {"goal": "A bakery that pays for itself.", "relevant": "Nobody bakes here any more."},
            "team": {"team": [{"id": "founder", "title": "Founder", "count": 1, "why": "Leads."}, {"id": "baker", "title": "Baker", "count": 1, "why": "Bakes."}]},
            "risks": {"risks": [{"id": "no-lease", "title": "The lease falls through", "probability": 0.2, "impact": 4, "mitigation": "Talk to two landlords.", "owner": "founder"}]},
            "assumptions": {"assumptions": [{"id": "A1", "assumption": "The landlord allows an oven.", "check": "Ask."}]},
            "levers": {"levers": [{"id": "size", "name": "Size of the shop", "question": "One room or two?", "importance": "high"}]},
        });
        let Value::Object(parts) = parts else { unreachable!() };
        Self {
            parts,
            plan: written,
            life: json!({"state": "blocked", "done": 1, "all": 2}),
            project,
            schedule: scheduled,
            begun: false,
        }
    }

    /// Changes a part, by its path.
    pub fn set(mut self, path: &str, value: Value) -> Self {
        let (part, rest) = path.split_once('.').unwrap();
        let field = rest.split('.').fold(self.parts.get_mut(part).unwrap(), |value, key| match key.parse::<usize>() {
            Ok(at) => &mut value[at],
            Err(_) => &mut value[key],
        });
        *field = value;
        self
    }

    pub fn subject(&self) -> Subject<'_> {
        Subject {
            title: "A bakery in Graz".to_owned(),
            day: "2027-02-01".to_owned(),
            parts: self.parts.clone(),
            plan: self.plan.clone(),
            life: self.life.clone(),
            sources: vec![
                source("facts", "code", "code"),
                source("overview", "code", "code"),
                source("summary", "model", "gantry-offline-summary"),
                source("goals", "model", "gpt-9"),
                source("levers", "model", "gpt-9"),
                source("team", "model", "gpt-9"),
                source("risks", "model", "gpt-9"),
                source("assumptions", "model", "gpt-9"),
                Source { missing: Some("is failed: no answer".to_owned()), ..source("governance", "model", "") },
            ],
            scheduled: Some((&self.project, &self.schedule)),
            begun: self.begun,
        }
    }

    pub fn report_of(&self, choice: &Choice) -> Report {
        compose(&Layout::read(LAYOUT).unwrap(), &self.subject(), choice)
    }

    pub fn report(&self) -> Report {
        self.report_of(&Choice::default())
    }
}

fn phases(schedule: &Schedule) -> Value {
    let row = schedule.tasks.iter().find(|row| row.id == "shop").unwrap();
    json!([{"id": "shop", "title": "The shop", "start": row.start.day(), "finish": row.finish.day(), "tasks": 2, "cost": 19_000}])
}
