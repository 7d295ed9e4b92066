//! Templates: which there are, what is in them, whether they hold together.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use gantry_planner::template::Template;
use serde_json::{Value, json};

use crate::access::Role;
use crate::app::App;
use crate::body::{Named, Said, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::{Anything, CopyTemplate, Items};

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/templates/{name}/check",
        Role::Viewer,
        check_template,
        Does::new("house", "Whether a template holds together").gives::<Anything>(200, "What is wrong with it."),
    )
    .get(
        "/api/v1/templates",
        Role::Viewer,
        templates,
        Does::new("house", "The templates that plans are made by").gives::<Items>(200, "The templates."),
    )
    .get(
        "/api/v1/templates/{name}",
        Role::Viewer,
        template,
        Does::new("house", "A template: its sections and its files").gives::<Anything>(200, "The template."),
    )
    .post(
        "/api/v1/templates/{name}/copy",
        Role::Operator,
        copy,
        Does::new("house", "Copy a template into the project, to change it there")
            .takes::<CopyTemplate>()
            .gives::<Anything>(201, "Where the copy is."),
    )
}

/// All templates.
pub async fn templates(State(app): State<App>) -> Result<Told<Value>, Problem> {
    let all = app.house.templates()?;
    let items: Vec<Value> = all
        .iter()
        .map(|one| {
            let sections = one.sections().unwrap_or_default();
            json!({"name": one.name, "from": one.from, "about": one.about(), "sections": sections})
        })
        .collect();
    Ok(Told(json!({"items": items})))
}

/// The template of this name.
pub fn found(app: &App, name: &str) -> Result<Template, Problem> {
    app.house.templates()?.into_iter().find(|one| one.name == name).ok_or_else(|| {
        Problem::missing("template::unknown", format!("there is no template `{}`", gantry_view::named(name)))
            .hint("see them at /api/v1/templates")
    })
}

/// What is wrong with a template, found away from the threads that answer.
pub async fn faults(app: &App, template: &Template) -> Result<Vec<String>, Problem> {
    let (app, template) = (app.clone(), template.clone());
    let faults = tokio::task::spawn_blocking(move || app.house.faults_of(&template)).await;
    faults.map_err(|error| Problem::broken("server::panicked", error.to_string()))
}

/// One template.
pub async fn template(State(app): State<App>, Named(name): Named<String>) -> Result<Told<Value>, Problem> {
    let found = found(&app, &name)?;
    let files: BTreeMap<&str, &str> = found.files().collect();
    Ok(Told(json!({
        "name": found.name, "from": found.from, "about": found.about(), "files": files,
        "sections": found.sections().unwrap_or_default(),
    })))
}

/// Whether a template holds together.
pub async fn check_template(State(app): State<App>, Named(name): Named<String>) -> Result<Told<Value>, Problem> {
    let faults = faults(&app, &found(&app, &name)?).await?;
    Ok(Told(json!({"name": name, "ok": faults.is_empty(), "faults": faults})))
}

/// Copies a template.
pub async fn copy(
    State(app): State<App>,
    Named(name): Named<String>,
    Said(said): Said<CopyTemplate>,
) -> Result<(StatusCode, Told<Value>), Problem> {
    let folder = copied(&app, &name, &said.name)?;
    let url = format!("/api/v1/templates/{}", said.name);
    Ok((StatusCode::CREATED, Told(json!({"name": said.name, "folder": folder, "url": url}))))
}

/// Copies a template under another name.
pub fn copied(app: &App, name: &str, as_name: &str) -> Result<String, Problem> {
    let template = found(app, name)?;
    app.house
        .copy_template(&template, as_name)
        .map_err(|trouble| Problem::unfit("template::not-copied", trouble.message).maybe_hint(trouble.hint))
}
