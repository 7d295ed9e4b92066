//! Other lives of a plan: forks, and everything decided again.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gantry_core::id::{PlanId, Revision};
use gantry_engine::{Origin, WhatIf};
use gantry_view::revision::life_at;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::plans::{asked_for, created};
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Asked, Named, Raw, Said, Told};
use crate::documented::{Described, Does};
use crate::house::Doubt;
use crate::problem::Problem;
use crate::shapes::{Anything, Created, Fork, Imagine, NewPlan};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/fork",
        Role::Operator,
        fork,
        Does::new("steering", "Begin another life of a plan from any point of its journal")
            .may_take::<Fork>()
            .gives::<Created>(201, "The new plan."),
    )
    .post(
        "/api/v1/plans/{plan}/replay",
        Role::Viewer,
        replay,
        Does::new(
            "record",
            "Decide everything again from what was recorded, and compare; perhaps under \
             another policy or with another revision",
        )
        .may_take::<Imagine>()
        .gives::<Anything>(200, "Whether it is the same."),
    )
    .post(
        "/api/v1/plans/import",
        Role::Admin,
        import,
        Does::new("plans", "Take in a plan with its whole life from a zip file that an export made")
            .about(
                "Everything is checked first, and its life is decided again; the plan is there as a whole or not at all. It \
                 keeps its id; where that is taken, it becomes a fork with a new one. The folder and the secrets in it count \
                 for nothing here: go on with `gantry resume PLAN --workspace DIR`, once.",
            )
            .asked::<TakeIn>()
            .takes_file()
            .gives::<Anything>(201, "The plan that was taken in."),
    )
}

/// Another life.
pub async fn fork(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Fork>,
) -> Result<Response, Problem> {
    let card = app.plan(&plan).await?;
    let id = fork_at(&app, &who, &card.id, said.at.unwrap_or(card.length)).await?;
    if said.start {
        super::steer::go_on(&app, &who, &id).await?;
    }
    Ok(created(&app.plan(id.as_str()).await?, StatusCode::CREATED))
}

/// Begins another life after an entry.
pub async fn fork_at(app: &App, who: &Who, plan: &PlanId, at: u64) -> Result<PlanId, Problem> {
    let length = app.plan(plan.as_str()).await?.length;
    if at == 0 || at > length {
        return Err(Problem::missing("record::no-entry", format!("plan `{plan}` has no entry {at}"))
            .hint(format!("its journal has entries 1 to {length}")));
    }
    let origin = Origin { by: who.name.clone(), ..app.engine().open(plan).await?.origin };
    Ok(app.engine().fork(plan, at, origin).await?)
}

/// Decides everything again, and compares.
pub async fn replay(
    State(app): State<App>,
    Named(plan): Named<String>,
    Said(said): Said<Imagine>,
) -> Result<Told<Value>, Problem> {
    let id = app.id(&plan).await?;
    let read = |new: NewPlan| asked_for(&app, &new).map(|(plan, _)| plan);
    let policy = match said.policy {
        // With the smallest plan around it, a policy alone is read and checked like any other.
        Some(policy) => {
            let plan = json!({"title": "what if", "policy": policy, "tasks": [{"id": "nothing"}]});
            Some(read(NewPlan { plan: Some(plan), ..NewPlan::default() })?.policy)
        }
        None => None,
    };
    let revision = match (said.revision, said.file) {
        (None, None) => None,
        (Some(number), None) => Some(life_at(app.store(), &id, Some(Revision(number))).await?.plan()),
        (None, Some(file)) => Some(read(NewPlan { file: Some(file), ..NewPlan::default() })?),
        (Some(_), Some(_)) => return Err(Problem::unfit("replay::which", "say `revision` or `file`, not both")),
    };
    let what_if = policy.is_some() || revision.is_some();
    let replayed = gantry_engine::replay(app.store(), &id, WhatIf { policy, revision }).await?;
    let difference = replayed
        .difference
        .as_ref()
        .map(|one| json!({"seq": one.seq, "recorded": one.recorded, "decided": one.decided}));
    Ok(Told(json!({
        "plan": id, "what_if": what_if, "same": difference.is_none(), "turns": replayed.turns,
        "entries": replayed.entries, "given": replayed.given, "difference": difference,
    })))
}

/// How a plan is taken in.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct TakeIn {
    /// Also when this program would have decided otherwise than its journal says.
    pub force: bool,
}

/// Takes in a plan with its whole life.
pub async fn import(State(app): State<App>, Asked(how): Asked<TakeIn>, raw: Raw) -> Result<Response, Problem> {
    if !matches!(raw.media.as_str(), "application/zip" | "application/octet-stream" | "") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "request::media",
            format!("`{}` is not understood here", gantry_view::named(&raw.media)),
        )
        .hint("send the zip file with `Content-Type: application/zip`"));
    }
    let doubt = if how.force { Doubt::TakeIn } else { Doubt::Refuse };
    let told = app.house.taken_in(raw.bytes.to_vec(), doubt).await;
    let told =
        told.map_err(|trouble| Problem::unfit("plan::not-taken-in", trouble.message).maybe_hint(trouble.hint))?;
    let url = format!("/api/v1/plans/{}", told["plan"].as_str().unwrap_or_default());
    Ok((StatusCode::CREATED, [(header::LOCATION, url)], Told(told)).into_response())
}
