//! What plans use to make plans: `plan.read` says what is certain about a request, `plan.weave` puts answers together
//! into work that can be carried out, `plan.forecast` computes what that means, `plan.report` makes the report of it all.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use gantry_report::report::Layout;
use gantry_runners::ports::Ports;
use gantry_runners::work::{Place, Work};
use gantry_runners::{Ended, Happened, Preview, Runner};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::facts::{Asked, Facts};
use crate::template::{DEFAULT, Template};
use crate::{assemble, overview, report, weave};

/// Makes plans. Touches nothing outside, so doing it twice is doing it once.
#[derive(Clone)]
pub struct Planner {
    templates: Arc<dyn Fn() -> Result<Vec<Template>, String> + Send + Sync>,
}

/// The page that people read, as an artifact.
pub const PAGE: &str = "plan.md";

impl Planner {
    /// Knows these templates, which are read when one is needed.
    pub fn new(templates: impl Fn() -> Result<Vec<Template>, String> + Send + Sync + 'static) -> Self {
        Self { templates: Arc::new(templates) }
    }

    fn outputs(&self, tool: &str, args: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let made = match tool {
            "plan.read" => read(args)?,
            "plan.weave" => woven(args)?,
            "plan.forecast" => {
                json!({"overview": overview::overview(arg(args, "plan"), &facts(args)?, &stages(args))?})
            }
            "plan.report" => self.report(args)?,
            other => return Err(format!("there is no tool `{other}`")),
        };
        match made {
            Value::Object(fields) => Ok(fields),
            other => Err(format!("this is no result: {other}")),
        }
    }

    fn report(&self, args: &Map<String, Value>) -> Result<Value, String> {
        let name = arg(args, "template").as_str().unwrap_or(DEFAULT);
        let templates = (self.templates)()?;
        let template = templates.iter().find(|template| template.name == name);
        let layout = match template.and_then(|template| template.file("report.yaml")) {
            Some(text) => Layout::read(text)
                .map_err(|error| format!("`report.yaml` of the template `{name}` cannot be read: {error}"))?,
            None => Layout::built_in()?,
        };
        let parts: Map<String, Value> = args
            .iter()
            .filter(|(name, _)| *name != "template")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let made = report::report(&layout, &parts)?;
        Ok(
            json!({"verdict": made.verdict, "findings": made.findings, "made_by": made.made_by, "next": arg(args, "summary")["next"], "markdown": made.markdown}),
        )
    }
}

#[async_trait]
impl Runner for Planner {
    fn names(&self) -> &'static [&'static str] {
        &["plan.read", "plan.weave", "plan.forecast", "plan.report"]
    }

    fn guard(&self, work: &Work, _place: &Place) -> Result<(), Failure> {
        let args = work.args();
        if name(work) == "plan.read"
            && args.get("request").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
        {
            return Err(logic("`plan.read` needs a `request`: what is to be planned".to_owned()));
        }
        Ok(())
    }

    async fn preview(&self, work: &Work, _place: &Place) -> Result<Preview, Failure> {
        let text = match name(work) {
            "plan.read" => "would read what the request says",
            "plan.weave" => "would put the work together",
            "plan.forecast" => "would compute dates, cost and risk",
            _ => "would check and write down the result",
        };
        Ok(Preview { text: text.to_owned(), diff: None })
    }

    async fn run(&self, work: &Work, _place: &Place, ports: &Ports, _stop: &CancellationToken) -> Ended {
        let (planner, tool) = (self.clone(), name(work).to_owned());
        let args: Map<String, Value> = work.args().into_iter().collect();
        let made = tokio::task::spawn_blocking(move || planner.outputs(&tool, &args)).await;
        let made = made.unwrap_or_else(|error| Err(format!("it broke off: {error}"))).map_err(logic);
        let mut outputs = match made {
            Ok(outputs) => outputs,
            Err(failure) => return Ended::with(Err(failure)),
        };
        let mut artifacts = Vec::new();
        if let Some(Value::String(page)) = outputs.remove("markdown") {
            match ports.keep_as(PAGE, page.into_bytes()).await {
                Ok(kept) => artifacts.push(kept),
                Err(error) => return Ended::with(Err(Failure::new(FailureClass::Transient, error.to_string()))),
            }
        }
        Ended::with(Ok(Success { outputs: outputs.into_iter().collect(), artifacts, ..Success::default() }))
    }

    async fn happened(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Happened {
        // Everything that it does can be done again.
        match self.run(work, place, ports, stop).await.end {
            Ok(done) if done.artifacts.is_empty() => Happened { happened: Some(true), outputs: done.outputs },
            _ => Happened::default(),
        }
    }
}

fn name(work: &Work) -> &str {
    match &work.action {
        Action::Tool(tool) => &tool.name,
        _ => "",
    }
}

fn logic(message: String) -> Failure {
    Failure::new(FailureClass::Logic, message)
}

fn arg<'a>(args: &'a Map<String, Value>, name: &str) -> &'a Value {
    args.get(name).unwrap_or(&Value::Null)
}

fn facts(args: &Map<String, Value>) -> Result<Facts, String> {
    serde_json::from_value(arg(args, "facts").clone()).map_err(|error| format!("`facts` cannot be read: {error}"))
}

/// What the steps before the schedule answered, as far as there were such steps.
fn stages(args: &Map<String, Value>) -> Vec<(&'static str, &Value)> {
    let named = [
        ("levers", "choices"),
        ("scenarios", "ways to go"),
        ("scenario", "way to go"),
        ("team", "team"),
        ("risks", "risks"),
    ];
    named.into_iter().map(|(part, stage)| (stage, arg(args, part))).filter(|(_, answer)| !answer.is_null()).collect()
}

/// What is certain about a request.
fn read(args: &Map<String, Value>) -> Result<Value, String> {
    let given = args.iter().filter(|(_, value)| !value.is_null());
    let given: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    let asked: Asked = serde_json::from_value(Value::Object(given))
        .map_err(|error| format!("what is asked for cannot be read: {error}"))?;
    let facts = Facts::of(&asked).map_err(|why| why.to_string())?;
    Ok(json!({"facts": facts}))
}

/// Work that can be carried out.
fn woven(args: &Map<String, Value>) -> Result<Value, String> {
    let facts = facts(args)?;
    let taken: BTreeSet<String> = serde_json::from_value(arg(args, "taken").clone()).unwrap_or_default();
    let woven = weave::weave(&Value::Object(args.clone()), &taken)?;
    let plan = assemble::plan(&woven.outline, &facts.setting(), &taken)?;
    Ok(json!({"plan": plan, "repairs": woven.repairs}))
}
