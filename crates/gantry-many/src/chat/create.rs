//! Makes a plan for what is said in a talk: an outline that is broken down into tasks, or by another template.

use gantry_core::id::PlanId;
use gantry_engine::NewPlan;
use gantry_planner::facts::Asked;
use gantry_planner::intake;
use gantry_planner::template::Detail;
use serde_json::{Map, Value, json};

use super::hands::{Hands, Trouble};
use super::turns::Turn;
use crate::topics;

/// How long the title of a plan may be.
pub const TITLE_CHARS_MAX: usize = 300;
/// The template of a plan where none is named: complete at once, and quick.
const TEMPLATE: &str = "outline";

/// A parameter that is a text, if it is there.
pub fn text<'a>(given: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Trouble> {
    match given.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(Trouble::new(422, "chat::bad-parameter", format!("`{name}` is a text"))),
    }
}

/// Makes a plan; the same action of the same message makes it once.
pub async fn create(
    hands: &dyn Hands,
    turn: &Turn,
    order: usize,
    given: &Map<String, Value>,
) -> Result<PlanId, Trouble> {
    for name in ["goal", "title", "description", "owner", "template"] {
        text(given, name)?; // before anything is made
    }
    let word = |name: &str| text(given, name).ok().flatten();
    let context = &turn.said().context;
    let named = context.plan_title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let title = named.or(word("title"));
    let Some(goal) = word("goal").or(title).or(word("description")) else {
        return Err(Trouble::new(422, "chat::no-goal", "nothing says what the plan is for").hint("say the goal"));
    };
    let request = topics::request(title.unwrap_or(goal), goal, word("description").unwrap_or_default());
    let asked = Asked::new(request, hands.today());
    intake::check(&asked)?;
    let name = word("template").unwrap_or(TEMPLATE);
    let templates = hands.templates()?;
    let template = templates.iter().find(|template| template.name == name).ok_or_else(|| {
        let shown = gantry_view::named(name);
        let all: Vec<&str> = templates.iter().map(|template| template.name.as_str()).collect();
        Trouble::new(422, "plan::no-template", format!("there is no template `{shown}`"))
            .hint(format!("templates are {}", all.join(", ")))
    })?;
    let mut plan = intake::plan(template, &asked, Detail::default(), &[])?;
    if let Some(title) = title.filter(|title| title.chars().count() <= TITLE_CHARS_MAX) {
        title.clone_into(&mut plan.title);
    }
    let mut metadata = context.metadata.clone();
    match given.get("metadata") {
        None => {}
        Some(Value::Object(more)) => metadata.extend(more.clone()),
        Some(_) => return Err(Trouble::new(422, "chat::bad-parameter", "`metadata` is an object")),
    }
    let owner = word("owner").map(str::to_owned).or_else(|| metadata.get("owner")?.as_str().map(str::to_owned));
    plan.owner = owner.map(|owner| owner.trim().to_owned()).filter(|owner| !owner.is_empty());
    if let Some(details) = word("description") {
        metadata.entry("description").or_insert_with(|| json!(details));
    }
    metadata.insert("chat_session".to_owned(), json!(turn.session()));
    plan.metadata.extend(metadata);
    let once = Some(format!("chat {} {order}", turn.plan()));
    let new = NewPlan { plan, origin: hands.origin()?, once };
    hands.engine().create(new).await.map_err(|error| hands.trouble(error))
}
