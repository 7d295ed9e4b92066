//! Whether the server works: that it answers, and that it can do its work.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use gantry_store::ListFilter;
use serde_json::{Value, json};

use crate::access::Role;
use crate::app::App;
use crate::body::Told;
use crate::documented::{Described, Does};
use crate::metrics;
use crate::problem::Problem;
use crate::shapes::Anything;

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.open(
        Method::GET,
        "/healthz",
        healthz,
        Does::new("server", "That it answers").gives::<Anything>(200, "It answers."),
    )
    .open(
        Method::GET,
        "/readyz",
        readyz,
        Does::new("server", "Whether it can do its work: the record is read and written")
            .gives::<Anything>(200, "It can."),
    )
    .get(
        "/metrics",
        Role::Viewer,
        metrics::metrics,
        Does::new("server", "Figures for Prometheus").gives_media(200, &["text/plain"], "The figures."),
    )
    .get(
        "/api/v1/doctor",
        Role::Admin,
        doctor,
        Does::new("house", "Whether this machine has what plans need").gives::<Anything>(200, "The findings."),
    )
    .get(
        "/api/v1/schema",
        Role::Viewer,
        schema,
        Does::new("house", "The JSON Schema of plan files").gives::<Anything>(200, "The schema."),
    )
}

/// How the server is, for programs.
pub fn health(app: &App, status: &str) -> Value {
    json!({
        "status": status, "version": env!("CARGO_PKG_VERSION"), "up_s": app.started.elapsed().as_secs(),
        "driven": app.foreman.driven(),
    })
}

/// It answers.
pub async fn healthz(State(app): State<App>) -> Told<Value> {
    Told(health(&app, "ok"))
}

/// It can do its work: the record can be read and written, and it is not about to stop.
pub async fn readyz(State(app): State<App>) -> Response {
    match check(&app).await {
        Ok(()) => Told(health(&app, "ok")).into_response(),
        Err(problem) => Problem { status: StatusCode::SERVICE_UNAVAILABLE.as_u16(), ..problem }.into_response(),
    }
}

async fn check(app: &App) -> Result<(), Problem> {
    if app.stopping.is_cancelled() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "server::stopping", "the server is about to stop"));
    }
    app.store().list(ListFilter { limit: 1, ..ListFilter::default() }).await?;
    // The same few bytes each time: kept once, and removed by a vacuum like anything nobody refers to.
    let bytes = b"gantry is ready".to_vec();
    let hash = app.store().put_blob(bytes.clone(), App::now()).await?;
    match app.store().get_blob(hash).await? {
        Some(read) if read == bytes => Ok(()),
        _ => Err(Problem::broken("store::forgets", "the record does not give back what it was given")),
    }
}

/// The machine.
pub async fn doctor(State(app): State<App>) -> Result<Told<Value>, Problem> {
    Ok(Told(app.house.doctor().await?))
}

/// The JSON Schema of plan files.
pub async fn schema() -> Told<Value> {
    Told(json!(gantry_format::schema()))
}
