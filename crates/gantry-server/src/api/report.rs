//! The report about a plan, finished or not: one page, or the same as text.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use gantry_core::id::PlanId;
use gantry_core::plan::Plan;
use gantry_report::report::layout::Unknown;
use gantry_report::report::{Choice, Layout, Report, compose, csv, html, markdown};
use gantry_view::report::{Gathered, Told, gather};
use gantry_view::takeaway::{self, Takeaway};
use gantry_view::under_way::project_of;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Role;
use crate::app::App;
use crate::body::{Asked, Named};
use crate::documented::{Described, Does};
use crate::problem::Problem;

/// The media types of a report.
pub const MEDIA: [&str; 5] = ["text/html", "text/markdown", "application/json", "text/csv", "application/zip"];

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/report",
        Role::Viewer,
        report,
        Does::new("figures", "The report about a plan, finished or not, as one page or as text")
            .asked::<Reader>()
            .gives_media(200, &MEDIA, "The report."),
    )
}

/// For whom, what of it, and in which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Reader {
    /// html, markdown, json (what was found when it was held against itself, and its figures), csv (the table of a
    /// section), handoff (a page for whoever takes the plan over), postmortem (what became of it), or zip (all of it with
    /// the plan, a calendar and tables, and a list of hashes).
    pub format: Option<String>,
    /// board, team, funder, or what the template knows.
    pub audience: Option<String>,
    /// Only these sections, with commas between them; of csv, the section whose table it is.
    pub section: Option<String>,
    /// Whether it is saved as a file.
    pub download: bool,
}

/// A report with what it was made of.
pub struct Made {
    plan: Plan,
    gathered: Gathered,
    /// The report.
    pub report: Report,
}

/// Makes the report, or a page like it of this form, away from the threads that answer.
pub async fn reported(app: &App, id: &PlanId, choice: Choice, form: &'static str) -> Result<Made, Problem> {
    let life = app.engine().open(id).await?.life;
    let driven = app.is_driven(&app.store().plan(id.as_str()).await?).await?;
    let entries = gantry_engine::entries(app.store(), id).await?;
    let (project, templates) = (project_of(app.store(), &life, App::now()).await?, app.house.templates()?);
    let made = tokio::task::spawn_blocking(move || {
        let plan = life.proposed();
        let source = serde_json::from_str(&gantry_format::to_json(&plan)).unwrap_or_default();
        let now = App::now();
        let told = Told { plan: &plan, life: Some(&life), entries: &entries, project, source, driven, now };
        let gathered = gather(told);
        let own = gathered.template.as_ref().and_then(|name| templates.iter().find(|one| one.name == *name));
        let layout = match (form, own.and_then(|template| template.file("report.yaml"))) {
            ("handoff", _) => Layout::handoff(),
            ("postmortem", _) => Layout::postmortem(),
            (_, Some(text)) => Layout::read(text),
            (_, None) => Layout::built_in(),
        };
        let layout = layout.map_err(|error| Problem::unfit("report::layout", error))?;
        layout.knows(&choice).map_err(unknown)?;
        let report = compose(&layout, &gathered.subject(), &choice);
        Ok(Made { plan, gathered, report })
    });
    made.await.map_err(|error| Problem::broken("server::panicked", error.to_string()))?
}

fn unknown(unknown: Unknown) -> Problem {
    Problem::wrong("request::wrong-query", unknown.what).hint(unknown.hint)
}

/// The forms of a report: its name, its media type and the ending of its file.
const FORMS: [(&str, &str, &str); 7] = [
    ("html", "text/html; charset=utf-8", "html"),
    ("markdown", "text/markdown; charset=utf-8", "md"),
    ("json", "application/json", "json"),
    ("csv", "text/csv; charset=utf-8", "csv"),
    ("handoff", "text/markdown; charset=utf-8", "md"),
    ("postmortem", "text/markdown; charset=utf-8", "md"),
    ("zip", "application/zip", "zip"),
];

/// The report.
pub async fn report(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(reader): Asked<Reader>,
) -> Result<Response, Problem> {
    let id = app.id(&plan).await?;
    let form = reader.format.as_deref().unwrap_or("html");
    let Some((form, media, ending)) = FORMS.into_iter().find(|(known, ..)| *known == form) else {
        return Err(Problem::wrong(
            "request::wrong-query",
            "`format` is html, markdown, json, csv, handoff, postmortem or zip",
        ));
    };
    let sections: Vec<String> =
        reader.section.iter().flat_map(|list| list.split(',')).map(|one| one.trim().to_owned()).collect();
    let section = sections.first().cloned().unwrap_or_else(|| "work".to_owned());
    let made = reported(&app, &id, Choice { audience: reader.audience.clone(), sections }, form).await?;
    let Made { plan, gathered, report } = &made;
    let body = match form {
        "markdown" | "handoff" | "postmortem" => markdown::write(report).into_bytes(),
        "json" => format!("{:#}\n", serde_json::to_value(report).unwrap_or_default()).into_bytes(),
        "csv" => csv::write(report, &section).map_err(unknown)?.into_bytes(),
        "zip" => takeaway::pack(&Takeaway { plan, gathered, report, now: App::now() })
            .map_err(|error| Problem::broken("report::zip", error))?,
        _ => html::write(report).into_bytes(),
    };
    let mut response = ([(header::CONTENT_TYPE, media)], body).into_response();
    let more: &[(HeaderName, String)] = &[
        // The page has a policy of its own, which names its style and script; other pages of this server may frame it.
        (header::CONTENT_SECURITY_POLICY, format!("{}; frame-ancestors 'self'; sandbox allow-scripts", html::policy())),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN".to_owned()),
    ];
    let download = reader.download || form == "zip";
    let saved = (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.{ending}\""));
    let more = more.iter().filter(|_| ending == "html").chain(download.then_some(&saved));
    for (name, value) in more {
        let value = value.parse().map_err(|_| Problem::broken("server::header", "a header cannot be written"))?;
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}
