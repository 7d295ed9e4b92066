//! `gantry score`: how good plans are, in figures; and by the judgement of a model, where that is wanted.

use std::process::ExitCode;

use gantry_core::id::PlanId;
use gantry_core::plan::Plan;
use gantry_engine::{Engine, Origin};
use gantry_many::score::judge::{Judgement, Unjudged, judged};
use gantry_many::score::{Score, score};
use serde_json::{Value, json};

use crate::exit::{self, Fault};
use crate::model::options::ModelOptions;
use crate::run::How;
use crate::session::{self, Record};
use crate::show::table::{self, Cell, cell};
use crate::show::{plain, style};
use crate::talk::talk;
use crate::version;

/// How many words of a goal are named that stand in no task.
const TERMS_MAX: usize = 12;

/// Measure how good plans are
///
/// Nine figures from 0 to 100 that are counted and not judged: how much of what the goal speaks of stands in tasks
/// (coverage), whether the tree is neither flat nor lopsided (balance), whether no task stands there twice or says nothing
/// (distinct), whether links make sense (order), and how many tasks have owners, estimates, criteria that can be checked;
/// whether risks are weighed and answered; whether parts make a whole. SCORE is their mean. The formulas are in
/// docs/scores.md. What led to a plan is not measured, the work is.
///
/// With --judge a model judges each plan, too: six dimensions from 1 to 10, each by five criteria. What it said is recorded,
/// and the same plan is not judged twice. The offline model judges nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry score @last\n  gantry score 7 8 9\n  gantry score 7@r1 7 --json\n  gantry score plan.yaml --judge --model judge=quality"
)]
pub struct Args {
    /// Plans, each perhaps with @rN for its revision N, and plan files (`-` is standard input)
    #[arg(value_name = "PLAN|FILE", required = true)]
    what: Vec<String>,
    /// Have a model judge them, too
    #[arg(long)]
    judge: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    record: Record,
}

/// One plan and what was found about it.
struct Scored {
    what: String,
    plan: Plan,
    id: Option<PlanId>,
    score: Score,
    judgement: Option<Result<Judgement, String>>,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    session::block_on(async {
        let mut all = Vec::new();
        for what in &args.what {
            let seen = version::seen(&args.record, what).await?;
            let plan = seen.proposed().work();
            let id = seen.life.as_ref().map(|life| life.id().clone());
            let score = score(&plan);
            all.push(Scored { what: what.clone(), plan, id, score, judgement: None });
        }
        if args.judge {
            let how = How::asking(args.models.clone());
            let engine = args.record.engine_asking(how.options(&[])?, args.models.clone())?;
            for one in &mut all {
                one.judgement = Some(judge(&engine, &one.plan, one.id.as_ref()).await?);
            }
        }
        if args.record.json {
            exit::print_json(&Value::Array(all.iter().map(Scored::json).collect()))?;
        } else {
            exit::print(&drawn(&all))?;
            all.iter().for_each(Scored::tell);
        }
        let unjudged = all.iter().any(|one| matches!(one.judgement, Some(Err(_))));
        Ok(ExitCode::from(if unjudged { exit::FAILED } else { exit::DONE }))
    })
}

async fn judge(engine: &Engine, plan: &Plan, id: Option<&PlanId>) -> Result<Result<Judgement, String>, Fault> {
    let origin = Origin { file: "gantry score".to_owned(), by: session::operator(), ..Origin::default() };
    match Box::pin(judged(engine, plan, id, origin)).await {
        Ok(judgement) => Ok(Ok(judgement)),
        Err(Unjudged::Nobody(why)) => Ok(Err(why)),
        Err(Unjudged::Engine(error)) => Err(error.into()),
    }
}

impl Scored {
    fn json(&self) -> Value {
        let mut value = json!({"plan": self.what, "plan_id": self.id, "title": self.plan.name()});
        if let (Value::Object(all), Ok(Value::Object(score))) = (&mut value, serde_json::to_value(&self.score)) {
            all.extend(score);
        }
        match &self.judgement {
            Some(Ok(judgement)) => value["judgement"] = json!(judgement),
            Some(Err(why)) => value["judgement"] = json!({"error": why}),
            None => {}
        }
        value
    }

    fn tell(&self) {
        if !self.score.terms_missing.is_empty() {
            let terms: Vec<&str> = self.score.terms_missing.iter().take(TERMS_MAX).map(String::as_str).collect();
            let more = match self.score.terms_missing.len().saturating_sub(terms.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            talk!("{}: no task speaks of {}{more}", plain(&self.what), plain(&terms.join(", ")));
        }
        match &self.judgement {
            None => {}
            Some(Err(why)) => {
                talk!("{}: nobody has judged it: {}", plain(&self.what), plain(why));
                talk!("hint: the offline model judges nothing; see which models there are with `gantry model doctor`");
            }
            Some(Ok(judgement)) => {
                if judgement.tasks_unseen > 0 {
                    talk!("{}: the judge did not see its last {} tasks", plain(&self.what), judgement.tasks_unseen);
                }
                talk!(
                    "{}: judged by {}, see `gantry log {}`",
                    plain(&self.what),
                    judgement.judged_by,
                    judgement.record
                );
            }
        }
    }
}

fn drawn(all: &[Scored]) -> String {
    let faint = |text: &str| cell(style::FAINT, text.to_uppercase());
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut head = vec![faint("plan"), faint("score")];
    if let Some(first) = all.first() {
        head.extend(first.score.dimensions.all().map(|(name, _)| faint(name)));
    }
    head.push(faint("tasks"));
    rows.push(head);
    for one in all {
        let mut row = vec![cell(style::STRONG, plain(&one.what)), cell(style::STRONG, one.score.score.to_string())];
        row.extend(one.score.dimensions.all().map(|(_, figure)| {
            cell(style::PLAIN, figure.map_or_else(|| "-".to_owned(), |figure| format!("{:.0}", figure * 100.0)))
        }));
        row.push(cell(style::PLAIN, one.score.measures.tasks.to_string()));
        rows.push(row);
    }
    let mut text = table::draw("", &rows, table::width());
    for one in all {
        let Some(Ok(judgement)) = &one.judgement else { continue };
        let mut rows = vec![vec![faint(&one.what), cell(style::STRONG, format!("{:.1} of 10", judgement.score))]];
        for dimension in &judgement.dimensions {
            rows.push(vec![cell(style::PLAIN, &dimension.name), cell(style::PLAIN, dimension.score.to_string())]);
        }
        text.push('\n');
        text += &table::draw("", &rows, table::width());
    }
    text
}
