//! What tasks made and is kept.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gantry_core::id::{PlanId, TaskId};
use gantry_store::ArtifactRow;
use gantry_view::media::media_of;
use gantry_view::parts::{Shown, folded};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::access::Role;
use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::Items;

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/artifacts",
        Role::Viewer,
        artifacts,
        Does::new("artifacts", "What tasks made and is kept").gives::<Items>(200, "The artifacts, all versions."),
    )
    .get(
        "/api/v1/plans/{plan}/artifacts/{task}/{name}",
        Role::Viewer,
        artifact,
        Does::new("artifacts", "An artifact, byte for byte").asked::<OfVersion>().gives_media(
            200,
            &["application/octet-stream", "text/plain", "image/png", "image/jpeg", "image/gif", "image/webp"],
            "Its content. Its ETag is its hash.",
        ),
    )
}

/// All artifacts of a plan.
pub async fn artifacts(State(app): State<App>, Named(plan): Named<String>) -> Result<Told<Value>, Problem> {
    let rows = gantry_store::all_artifacts(app.store(), &app.id(&plan).await?).await?;
    let items: Vec<Value> = folded(&rows).iter().map(Shown::to_json).collect();
    Ok(Told(json!({"items": items})))
}

/// Which version.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct OfVersion {
    /// Which version; the newest when it is left out.
    pub version: Option<u32>,
    /// Show it in a browser instead of saving it; only what is harmless is.
    pub inline: Option<bool>,
}

/// Media types that a browser may show: it does not run anything in them.
const HARMLESS: [&str; 9] = [
    "text/plain",
    "text/markdown",
    "text/csv",
    "application/json",
    "application/yaml",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
];

/// An artifact with its content.
pub struct Content {
    /// The artifact.
    pub row: ArtifactRow,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// What it is.
    pub media: &'static str,
}

/// Finds an artifact, in its newest version when none is said.
pub async fn found(app: &App, id: &PlanId, task: &str, name: &str, version: Option<u32>) -> Result<Content, Problem> {
    let missing = || {
        let (task, name) = (gantry_view::named(task), gantry_view::named(name));
        Problem::missing("record::no-artifact", format!("plan `{id}` has no artifact `{task}/{name}`"))
            .hint(format!("see them at /api/v1/plans/{id}/artifacts"))
    };
    let named = TaskId::new(task).map_err(|_| missing())?;
    let row = app.store().artifact(id, &named, name, version).await?.ok_or_else(missing)?;
    let Some(bytes) = app.store().get_blob(row.artifact.hash).await? else {
        return Err(Problem::new(StatusCode::GONE, "record::dropped", "its time is over: only its hash is kept"));
    };
    Ok(Content { media: media_of(name, &bytes), row, bytes })
}

/// An artifact, byte for byte.
pub async fn artifact(
    State(app): State<App>,
    Named((plan, task, name)): Named<(String, String, String)>,
    Asked(query): Asked<OfVersion>,
) -> Result<Response, Problem> {
    let Content { row, bytes, media } = found(&app, &app.id(&plan).await?, &task, &name, query.version).await?;
    let (kind, media) = match (query.inline.unwrap_or(false) && HARMLESS.contains(&media), media.starts_with("image/"))
    {
        (true, true) => ("inline", media),
        (true, false) => ("inline", "text/plain; charset=utf-8"),
        (false, _) => ("attachment", "application/octet-stream"),
    };
    let plain_name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let disposition = format!("{kind}; filename=\"{plain_name}\"");
    let tag = format!("\"{}\"", row.artifact.hash);
    let headers = [
        (header::CONTENT_TYPE, media.to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::ETAG, tag),
        // Whatever it is, it is alone: no script of it runs and it reaches nothing.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
    ];
    Ok((headers, bytes).into_response())
}
