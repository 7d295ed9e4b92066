//! What plans use to make plans: `plan.draft` breaks a request down, `plan.forecast` computes what that means.

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use gantry_core::time::Timestamp;
use gantry_runners::ports::Ports;
use gantry_runners::work::{Place, Work};
use gantry_runners::{Ended, Happened, Preview, Runner};
use gantry_schedule::Options;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::brief::{Brief, Demand, TimeKind};
use crate::draft::{Draft, NoDraft};

/// The plan that plans: what `gantry plan` carries out.
pub const TEMPLATE: &str = include_str!("../../../templates/execution-plan/plan.yaml");

/// How many futures are drawn for a forecast.
const DRAWS: u32 = 2_000;
/// How many schedules are tried for it.
const SCHEDULES: u64 = 200;
/// How many risks and steps of the critical path are named.
const NAMED_MAX: usize = 12;

/// Makes plans. Touches nothing outside, so doing it twice is doing it once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planner;

#[async_trait]
impl Runner for Planner {
    fn names(&self) -> &'static [&'static str] {
        &["plan.draft", "plan.forecast"]
    }

    fn guard(&self, work: &Work, _place: &Place) -> Result<(), Failure> {
        if drafts(work) { asked(work).map(drop) } else { Ok(()) }
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let text =
            if drafts(work) { "would break the request down into work" } else { "would compute dates, cost and risk" };
        Ok(Preview { text: text.to_owned(), diff: None })
    }

    async fn run(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Ended {
        let work = work.clone();
        let made = tokio::task::spawn_blocking(move || outputs(&work)).await;
        let made = made.unwrap_or_else(|error| Err(logic(format!("it broke off: {error}"))));
        Ended::with(made.map(|outputs| Success { outputs, ..Success::default() }))
    }

    async fn happened(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        outputs(work).map_or_else(|_| Happened::default(), |outputs| Happened { happened: Some(true), outputs })
    }
}

/// It is the draft that is asked for, not the forecast.
fn drafts(work: &Work) -> bool {
    matches!(&work.action, Action::Tool(tool) if tool.name == "plan.draft")
}

fn logic(message: String) -> Failure {
    Failure::new(FailureClass::Logic, message)
}

fn outputs(work: &Work) -> Result<Outputs, Failure> {
    let made = if drafts(work) {
        let (request, today) = asked(work)?;
        draft(&request, today)
    } else {
        forecast(work.args().get("plan").unwrap_or(&Value::Null))
    };
    match made.map_err(logic)? {
        Value::Object(fields) => Ok(fields.into_iter().collect()),
        other => Err(logic(format!("this is no result: {other}"))),
    }
}

fn asked(work: &Work) -> Result<(String, Date), Failure> {
    let args = work.args();
    let text = |name: &str| args.get(name).and_then(Value::as_str).map(str::to_owned);
    let request = text("request").filter(|request| !request.trim().is_empty());
    let request = request.ok_or_else(|| logic("`plan.draft` needs a `request`: what is to be planned".to_owned()))?;
    let today =
        text("today").ok_or_else(|| logic("`plan.draft` needs `today`: a day such as 2027-03-01".to_owned()))?;
    let today = today.parse().map_err(|error| logic(format!("`today` is no day: {error}")))?;
    Ok((request, today))
}

/// Breaks a request down.
fn draft(request: &str, today: Date) -> Result<Value, String> {
    let draft = Draft::of(request, today).map_err(|why| match why {
        NoDraft::Screened(screening) => format!("{} {}", screening.reason, screening.hint),
        NoDraft::Broken(why) => why,
    })?;
    let assumed: Vec<Value> = draft
        .brief
        .missing
        .iter()
        .map(|missing| {
            let ask = &missing.ask;
            json!({"about": missing.topic, "question": ask.question.en, "assumed": ask.default.en, "why": ask.why.en})
        })
        .collect();
    let risks: Vec<Value> = draft
        .outline
        .risks
        .iter()
        .map(|risk| {
            json!({
                "id": risk.id, "title": risk.title, "effect": risk.effect, "probability": risk.probability,
                "mitigation": risk.mitigation, "owner": risk.owner,
            })
        })
        .collect();
    Ok(json!({
        "made_by": "gantry-offline",
        "title": draft.brief.title.text,
        "kind": draft.kind,
        "kind_was_told": draft.kind_was_told,
        "size": draft.size,
        "safeguards": draft.screening.safeguards,
        "team": draft.brief.people.team.as_ref().map(|team| team.value),
        "demands": draft.brief.demands.iter().map(|demand| json!({"id": demand.id, "text": demand.text, "checked": is_checked(demand, &draft.brief)})).collect::<Vec<_>>(),
        "assumed": assumed,
        "tasks": draft.outline.tasks().count(),
        "risks": risks,
        "plan": draft.plan,
    }))
}

/// Tells whether the schedule itself looks after a demand: it is the budget, or the time that everything may take.
fn is_checked(demand: &Demand, brief: &Brief) -> bool {
    let money = demand.money.and_then(|at| brief.money.get(at));
    let time = demand.time.and_then(|at| brief.times.get(at));
    let is_whole = time.is_some_and(|time| match time.kind {
        TimeKind::Deadline => brief.deadline.is_some() && time.latest == brief.deadline,
        TimeKind::Horizon => brief.horizon.is_some() && time.length == brief.horizon,
        TimeKind::Start | TimeKind::Moment => false,
    });
    is_whole || (money.is_some() && money == brief.budget.as_ref())
}

/// Computes what a plan means in time and money.
fn forecast(plan: &Value) -> Result<Value, String> {
    let mut plan = plan.clone();
    let Value::Object(fields) = &mut plan else { return Err("there is no plan to forecast".to_owned()) };
    fields.entry("title").or_insert_with(|| json!("forecast"));
    let read = gantry_format::load("plan.json", plan.to_string().as_bytes());
    let plan = read.plan.ok_or_else(|| {
        let first = read.report.diagnostics.first().map(|found| found.message.clone()).unwrap_or_default();
        format!("the plan is not sound: {first}")
    })?;
    let project = plan.project(Timestamp::from_ms(0)); // a draft says itself when it starts
    let options = Options { draws: DRAWS, schedules: SCHEDULES, ..Options::default() };
    let schedule = gantry_schedule::schedule(&project, &options)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let schedule = serde_json::to_value(&schedule).map_err(|error| error.to_string())?;
    let title = |id: &Value| {
        let known = id.as_str().and_then(|id| plan.task(id));
        known.map_or_else(|| id.clone(), |task| json!(task.name()))
    };
    let path: Vec<Value> = schedule["critical_path"].as_array().into_iter().flatten().map(title).collect();
    let left = schedule["cost"]["under_budget"].as_str().and_then(|left| left.parse::<Decimal>().ok());
    let over = left.map(|left| -left).filter(|over| *over > Decimal::ZERO);
    Ok(json!({
        "over_budget": over.map(|over| over.to_string()),
        "start": schedule["start"],
        "finish": schedule["finish"],
        "finish_p50": schedule["monte_carlo"]["finish"]["p50"],
        "finish_p80": schedule["monte_carlo"]["finish"]["p80"],
        "cost": schedule["cost"]["total"],
        "cost_p80": schedule["monte_carlo"]["cost"]["p80"],
        "currency": plan.schedule.currency,
        "budget": schedule["cost"]["budget"],
        "deadline": plan.schedule.deadline,
        "feasible": schedule["feasible"] == true && over.is_none(),
        "infeasible": schedule["infeasible"],
        "critical_path_length": path.len(),
        "critical_path": path.into_iter().take(NAMED_MAX).collect::<Vec<_>>(),
    }))
}
