//! The API: every route with what it says about itself, beside what it does.

mod plans; // in reading order
pub mod estimate;
pub mod steer;
pub mod checkpoints;
pub mod tasks;
pub mod edits;
mod decompose;
mod people;
pub mod revisions;
mod lives;
mod record;
mod artifacts;
pub mod hypotheses;
mod schedule;
mod figures;
pub mod replan;
mod report;
mod bulk;
pub mod chat;
pub mod templates;
mod models;
pub mod accounts;
mod health;
pub mod seeds;

use axum::Router;
use axum::routing::get;

use crate::app::App;
use crate::body::Told;
use crate::documented::Described;
use crate::live;

pub use accounts::make as make_account;
pub use artifacts::{Content as ArtifactContent, found as artifact_found};
pub use bulk::{NewBulk, begun};

pub use hypotheses::all as all_hypotheses;
pub use lives::fork_at;
pub use models::spent;
pub use people::{decide, decision, every_ask, every_gate, every_wanted, open_gates, reply};
pub use plans::{asked_for, make, once, page, standing};
pub use record::{audited, life as life_at_entry};
pub use revisions::all as all_revisions;
pub use schedule::{computed, scheduled};
pub use steer::go_on;
pub use tasks::{evidence, known, tag, value as task_value};

/// The routes of each subject, in the order in which they are told.
const SUBJECTS: [fn(Described) -> Described; 24] = [
    plans::routes,
    estimate::routes,
    steer::routes,
    checkpoints::routes,
    tasks::routes,
    edits::routes,
    decompose::routes,
    people::routes,
    revisions::routes,
    lives::routes,
    record::routes,
    artifacts::routes,
    hypotheses::routes,
    schedule::routes,
    figures::routes,
    replan::routes,
    report::routes,
    bulk::routes,
    chat::routes,
    templates::routes,
    models::routes,
    accounts::routes,
    health::routes,
    seeds::routes,
];

/// All routes.
pub fn routes() -> Router<App> {
    described()
        .router()
        .route("/api/v1/openapi.json", get(|| async { Told(described().document()) }))
        // A WebSocket is no operation that the document could describe; docs/server.md does.
        .route("/ws/plans/{plan}/progress", get(live::progress))
}

/// All documented routes.
pub fn described() -> Described {
    SUBJECTS.into_iter().fold(Described::default(), |all, routes| routes(all))
}
