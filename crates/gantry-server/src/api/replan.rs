//! Ways back for a plan that is late or too dear.

use axum::extract::State;
use gantry_core::input::{Change, Input};
use serde_json::Value;

use super::steer::say;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, TakeWay};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/replan",
        Role::Viewer,
        ways,
        Does::new("figures", "What would bring a late or too dear plan back, each way with its price")
            .gives::<Anything>(200, "The ways."),
    )
    .post(
        "/api/v1/plans/{plan}/replan",
        Role::Operator,
        take_way,
        Does::new("figures", "Take one of these ways, as a new revision").takes::<TakeWay>().heard(),
    )
}

/// What would bring a plan back.
pub async fn ways(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    Ok(Told(app.house.ways_back(&id).await?))
}

/// Takes one of the ways.
pub async fn take_way(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<TakeWay>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let _turn = app.foreman.turn(&id).await;
    let base = app.engine().open(&id).await?.life.revision();
    let (plan, what) = app.house.way_taken(&id, said.take).await?;
    let rationale = Some(said.why).filter(|why| !why.trim().is_empty()).unwrap_or(what);
    say(&app, &id, Input::Revise { by: who.name, rationale, base, change: Change::To(Box::new(plan)) }).await
}
