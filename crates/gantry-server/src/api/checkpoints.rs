//! Checkpoints: of a plan's journal, and of its working folder, which can be brought back to one.

use axum::extract::State;
use axum::http::StatusCode;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{EngineError, Point, Unrestored, point_meant, points};
use serde_json::{Value, json};

use super::steer::say;
use crate::access::{Role, Who};
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Checkpoint, FolderRestored, Items, Restore};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.post(
        "/api/v1/plans/{plan}/checkpoints",
        Role::Operator,
        checkpoint,
        Does::new("steering", "Mark a point to come back to").takes::<Checkpoint>().heard(),
    )
    .get(
        "/api/v1/plans/{plan}/checkpoints",
        Role::Viewer,
        list,
        Does::new("steering", "The checkpoints that the working folder can be brought back to")
            .gives::<Items>(200, "The checkpoints, the oldest first."),
    )
    .post(
        "/api/v1/plans/{plan}/restore",
        Role::Operator,
        restore,
        Does::new("steering", "Bring the working folder back to a checkpoint, byte for byte")
            .about(
                "The folder as it is now is kept first. The plan stays where it is, and nobody may work on it meanwhile: \
                 pause it first.",
            )
            .takes::<Restore>()
            .gives::<FolderRestored>(200, "What was written and removed, and the way back from that."),
    )
}

/// Marks a point of the journal.
pub async fn checkpoint(
    State(app): State<App>,
    _: Who,
    Named(plan): Named<String>,
    Said(said): Said<Checkpoint>,
) -> Result<Told<Value>, Problem> {
    let plan = app.id(&plan).await?;
    say(&app, &plan, Input::Checkpoint { name: said.name }).await
}

/// The checkpoints of the working folder.
pub async fn list(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let points = points(app.store(), &life).await?;
    Ok(Told(json!({"items": points.iter().map(gantry_view::json::checkpoint).collect::<Vec<_>>()})))
}

/// Brings the working folder back.
pub async fn restore(
    State(app): State<App>,
    who: Who,
    Named(plan): Named<String>,
    Said(said): Said<Restore>,
) -> Result<Told<FolderRestored>, Problem> {
    let id = app.id(&plan).await?;
    let engine = app.house.engine_for(&id).await?;
    let points: Vec<Point> = points(app.store(), &engine.open(&id).await?.life).await?;
    let hash = point_meant(&points, &said.to).ok_or_else(|| {
        let detail = format!("plan `{id}` has no checkpoint `{}`", gantry_view::named(&said.to));
        Problem::missing("record::no-checkpoint", detail).hint(format!("see them at /api/v1/plans/{id}/checkpoints"))
    })?;
    // A plan that is paused is let go of; whoever resumes it takes it up again.
    let state = app.plan(id.as_str()).await?.card.state;
    if (state == PlanState::Paused || state.is_over()) && !app.foreman.release(&id).await {
        return Err(
            Problem::conflict("restore::busy", "something of the plan still runs").hint("wait for it, or cancel")
        );
    }
    let restored = engine.restore(&id, &hash, &said.to, &who.name).await.map_err(|error| match error {
        Unrestored::Engine(error @ EngineError::Driven { .. }) => Problem::from(error).hint("pause the plan first"),
        Unrestored::Engine(error) => error.into(),
        Unrestored::Files { ref safety, .. } => {
            let problem = Problem::new(StatusCode::CONFLICT, "restore::files", error.to_string());
            problem
                .maybe_hint(safety.as_ref().map(|safety| format!("what was there before is kept: restore `{safety}`")))
        }
    })?;
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    Ok(Told(FolderRestored {
        plan: id.to_string(),
        folder: restored.folder.display().to_string(),
        to: said.to,
        hash,
        written: count(restored.written),
        removed: count(restored.removed),
        safety: restored.safety,
    }))
}
