//! The report about a plan, finished or not: one page, or the same as text.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use gantry_core::id::PlanId;
use gantry_report::report::{Choice, Layout, Report, compose, html, markdown};
use gantry_view::report::{Told, gather};
use gantry_view::under_way::project_of;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::body::{Asked, Named};
use crate::problem::Problem;

/// For whom, what of it, and in which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Reader {
    /// html, markdown or json (what was found when it was held against itself, and its figures).
    pub format: Option<String>,
    /// board, team, funder, or what the template knows.
    pub audience: Option<String>,
    /// Only these sections, with commas between them.
    pub section: Option<String>,
    /// Whether it is saved as a file.
    pub download: bool,
}

/// Makes the report, away from the threads that answer.
pub async fn reported(app: &App, id: &PlanId, choice: Choice) -> Result<Report, Problem> {
    let life = app.engine().open(id).await?.life;
    let entries = gantry_engine::entries(app.store(), id).await?;
    let (project, templates) = (project_of(app.store(), &life, App::now()).await?, app.house.templates()?);
    let made = tokio::task::spawn_blocking(move || {
        let plan = life.proposed();
        let source = serde_json::from_str(&gantry_format::to_json(&plan)).unwrap_or_default();
        let told = Told { plan: &plan, life: Some(&life), entries: &entries, project, source, now: App::now() };
        let gathered = gather(told);
        let own = gathered.template.as_ref().and_then(|name| templates.iter().find(|one| one.name == *name));
        let layout = match own.and_then(|template| template.file("report.yaml")) {
            Some(text) => Layout::read(text),
            None => Layout::built_in(),
        };
        let layout = layout.map_err(|error| Problem::unfit("report::layout", error))?;
        layout
            .knows(&choice)
            .map_err(|unknown| Problem::wrong("request::wrong-query", unknown.what).hint(unknown.hint))?;
        Ok(compose(&layout, &gathered.subject(), &choice))
    });
    made.await.map_err(|error| Problem::broken("server::panicked", error.to_string()))?
}

/// The report.
pub async fn report(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(reader): Asked<Reader>,
) -> Result<Response, Problem> {
    let id = app.id(&plan).await?;
    let form = reader.format.as_deref().unwrap_or("html");
    if !["html", "markdown", "json"].contains(&form) {
        return Err(Problem::wrong("request::wrong-query", "`format` is html, markdown or json"));
    }
    let sections = reader.section.iter().flat_map(|list| list.split(',')).map(|one| one.trim().to_owned()).collect();
    let report = reported(&app, &id, Choice { audience: reader.audience.clone(), sections }).await?;
    let (media, ending, body) = match form {
        "markdown" => ("text/markdown; charset=utf-8", "md", markdown::write(&report)),
        "json" => ("application/json", "json", format!("{:#}\n", serde_json::to_value(&report).unwrap_or_default())),
        _ => ("text/html; charset=utf-8", "html", html::write(&report)),
    };
    let mut response = ([(header::CONTENT_TYPE, media)], body).into_response();
    let more: &[(HeaderName, String)] = &[
        // The page has a policy of its own, which names its style and script; other pages of this server may frame it.
        (header::CONTENT_SECURITY_POLICY, format!("{}; frame-ancestors 'self'; sandbox allow-scripts", html::policy())),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN".to_owned()),
    ];
    let saved = (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.{ending}\""));
    let more = more.iter().filter(|_| ending == "html").chain(reader.download.then_some(&saved));
    for (name, value) in more {
        let value = value.parse().map_err(|_| Problem::broken("server::header", "a header cannot be written"))?;
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}
