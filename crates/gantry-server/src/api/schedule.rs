//! When everything happens: dates, people, money and chance, as figures and as charts.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gantry_core::life::Life;
use gantry_report::chart::Frame;
use gantry_report::picture::Picture;
use gantry_schedule::{Basis, Levelling, Options, Problem as Unsound, Project, Schedule};
use gantry_view::under_way::project_of;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::access::Role;
use crate::app::App;
use crate::body::{Asked, Named, Told};
use crate::documented::{Described, Does};
use crate::problem::Problem;
use crate::shapes::Anything;

/// Its routes.
pub fn routes(all: Described) -> Described {
    all.get(
        "/api/v1/plans/{plan}/schedule",
        Role::Viewer,
        schedule,
        Does::new(
            "figures",
            "Dates, critical path, people, cost and chance; how sound they are; what would be different",
        )
        .asked::<Look>()
        .gives::<Anything>(200, "The schedule."),
    )
    .get(
        "/api/v1/plans/{plan}/charts/{name}",
        Role::Viewer,
        chart,
        Does::new("figures", "A chart: gantt, network, histogram, s-curve, load, cash or tornado")
            .asked::<Drawn>()
            .gives_media(200, &["image/svg+xml"], "The chart."),
    )
}

/// The schedule of a plan, away from the threads that answer.
pub async fn computed(app: &App, life: &Life) -> Result<(Project, Schedule), Problem> {
    scheduled(project_of(app.store(), life, App::now()).await?).await
}

/// The schedule of a project, away from the threads that answer.
pub async fn scheduled(project: Project) -> Result<(Project, Schedule), Problem> {
    let options = Options::usual(&project);
    scheduled_by(project, options).await
}

async fn scheduled_by(project: Project, options: Options) -> Result<(Project, Schedule), Problem> {
    let found = tokio::task::spawn_blocking(move || {
        gantry_schedule::schedule(&project, &options).map(|schedule| (project, schedule))
    });
    match found.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(problems)) => Err(unschedulable(&problems)),
        Err(error) => Err(Problem::broken("server::panicked", error.to_string())),
    }
}

fn unschedulable(problems: &[Unsound]) -> Problem {
    let lines: Vec<String> = problems.iter().map(|one| format!("{}: {}", one.at, one.what)).collect();
    let problem = Problem::unfit("schedule::unsound", format!("it cannot be scheduled: {}", lines.join("; ")));
    match problems.iter().find(|one| !one.fix.is_empty()) {
        Some(one) => problem.hint(one.fix.clone()),
        None => problem,
    }
}

/// What is asked about a schedule.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Look {
    /// Only what would be different with these changes, such as `task.build.estimate=5d`, with semicolons between them.
    pub what_if: Option<String>,
    /// How sound the schedule is instead, by the 14 checks of the DCMA.
    pub health: bool,
    /// Which value of a three-point estimate the dates come from: expected or likely.
    pub basis: Option<String>,
    /// What to do when people have too much to do at once: slip, float or off.
    pub level: Option<String>,
    /// Up to how much float tasks are near-critical, such as `2d`.
    pub near: Option<String>,
    /// Which percentile of the futures the contingency covers.
    #[param(minimum = 1, maximum = 99)]
    pub confidence: Option<u8>,
}

impl Look {
    /// How the schedule of a project is computed.
    fn options(&self, project: &Project) -> Result<Options, Problem> {
        let wrong = |detail: String| Problem::wrong("request::wrong-query", detail);
        let usual = Options::usual(project);
        let basis = match self.basis.as_deref() {
            None => usual.basis,
            Some("expected") => Basis::Expected,
            Some("likely") => Basis::Likely,
            Some(_) => return Err(wrong("`basis` is expected or likely".to_owned())),
        };
        let levelling = match self.level.as_deref() {
            None => usual.levelling,
            Some("slip") => Levelling::Slip,
            Some("float") => Levelling::WithinFloat,
            Some("off") => Levelling::Off,
            Some(_) => return Err(wrong("`level` is slip, float or off".to_owned())),
        };
        let near_critical = match self.near.as_deref() {
            None => usual.near_critical,
            Some(text) if text.starts_with('-') => return Err(wrong("`near` is a length such as 2d".to_owned())),
            Some(text) => Some(text.parse().map_err(|why: String| wrong(format!("`near`: {why}")))?),
        };
        let confidence = self.confidence.unwrap_or(usual.confidence);
        if !(1..=99).contains(&confidence) {
            return Err(wrong("`confidence` is a number from 1 to 99".to_owned()));
        }
        Ok(Options { basis, levelling, near_critical, confidence, ..usual })
    }
}

/// The schedule, how sound it is, or what would be different.
pub async fn schedule(
    State(app): State<App>,
    Named(plan): Named<String>,
    Asked(look): Asked<Look>,
) -> Result<Told<Value>, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let project = project_of(app.store(), &life, App::now()).await?;
    let options = look.options(&project)?;
    if let Some(changes) = look.what_if.filter(|changes| !changes.trim().is_empty()) {
        let found = tokio::task::spawn_blocking(move || {
            let changes: Vec<&str> = changes.split(';').map(str::trim).filter(|change| !change.is_empty()).collect();
            gantry_schedule::what_if_by(&project, &changes, |project| gantry_schedule::schedule(project, &options))
        });
        return match found.await {
            Ok(Ok(found)) => Ok(Told(serde_json::to_value(&found).unwrap_or_default())),
            Ok(Err(problems)) => Err(unschedulable(&problems)),
            Err(error) => Err(Problem::broken("server::panicked", error.to_string())),
        };
    }
    let (project, schedule) = scheduled_by(project, options).await?;
    if look.health {
        return Ok(Told(json!({"checks": gantry_schedule::health(&project, &schedule)})));
    }
    Ok(Told(serde_json::to_value(&schedule).unwrap_or_default()))
}

/// The charts, by their names.
const CHARTS: [(&str, Picture); 7] = [
    ("gantt", Picture::Gantt),
    ("network", Picture::Network),
    ("histogram", Picture::Histogram),
    ("s-curve", Picture::SCurve),
    ("load", Picture::Load),
    ("cash", Picture::Cash),
    ("tornado", Picture::Tornado),
];

/// How wide a chart may be, in pixels, and how wide it is when nobody says.
const WIDTHS: std::ops::RangeInclusive<u32> = 200..=10_000;
const WIDTH: u32 = 1_280;

/// How a chart is drawn.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
pub struct Drawn {
    /// How wide it is, in pixels.
    #[param(minimum = 200, maximum = 10_000)]
    pub width: Option<u32>,
}

/// A chart.
pub async fn chart(
    State(app): State<App>,
    Named((plan, name)): Named<(String, String)>,
    Asked(drawn): Asked<Drawn>,
) -> Result<Response, Problem> {
    let life = app.engine().open(&app.id(&plan).await?).await?.life;
    let names = || CHARTS.map(|(name, _)| name).join(", ");
    let Some((_, picture)) = CHARTS.into_iter().find(|(known, _)| *known == name) else {
        let detail = format!("there is no chart `{}`", gantry_view::named(&name));
        return Err(Problem::missing("schedule::no-chart", detail).hint(format!("charts are {}", names())));
    };
    let width = drawn.width.unwrap_or(WIDTH);
    if !WIDTHS.contains(&width) {
        return Err(Problem::wrong("request::wrong-query", "`width` is a number from 200 to 10000"));
    }
    let (project, schedule) = computed(&app, &life).await?;
    let frame = Frame::titled(life.header().name(), width);
    let svg = picture.draw(&schedule, &project, &frame).ok_or_else(|| {
        Problem::unfit("schedule::no-futures", "this chart shows futures, and none were drawn for so large a plan")
    })?;
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        // It brings its own style and nothing else.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    ];
    Ok((headers, svg).into_response())
}
