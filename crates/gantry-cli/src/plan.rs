//! `gantry plan`: from a sentence to a plan that can be carried out.

mod ask; // in reading order
mod context;
mod summary;

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use gantry_core::input::Input;
use gantry_core::plan::Plan;
use gantry_core::suggest::nearest;
use gantry_engine::{NewPlan, Origin, Until};
use gantry_planner::facts::{Asked, Facts, Override, Unplannable};
use gantry_planner::screen::{Verdict, screen};
use gantry_planner::template::{BUILT_IN, DEFAULT, Detail, Template, Wishes};
use gantry_planner::tools::PAGE;
use jiff::civil::Date;

use crate::exit::{self, Fault};
use crate::run::How;
use crate::session::{self, Record};
use crate::surroundings;
use crate::talk::talk;
use crate::template;

/// How long a request may be.
const REQUEST_MAX: u64 = 200_000;

/// Make a plan from a sentence
///
/// Says what is wanted, where, by when, for how much: `gantry plan "Open a café in Aarhus, 2 million DKK, before summer"`.
/// What is not said and matters is asked for on a terminal; elsewhere, and with --yes, it is assumed, and the assumption
/// is shown. The result is a plan with people, dates, costs and risks that waits to be accepted (`gantry gate approve`) and
/// is then carried out like any other.
///
/// Models answer as they are configured (`gantry model doctor`). Without one the offline model answers by what is known
/// about fourteen kinds of projects, and everything that is made this way says so. Dates and costs are always computed.
///
/// Interrupted, it goes on with `gantry resume`, and nothing is asked or paid for twice.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry plan \"Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer\"\n  gantry plan --yes --json \"Renovate our flat in Oslo before Christmas for 600 000 kr\"\n  gantry plan --detail fast --model planner=claude-sonnet \"…\"\n  gantry plan --context survey.csv --context notes.md \"…\"\n  gantry plan - < request.md"
)]
pub struct Args {
    /// What is to be planned, in your own words; `-` reads it from standard input
    #[arg(required = true, value_name = "REQUEST")]
    request: Vec<String>,
    /// Ask nothing: assume what is not said
    #[arg(long, short = 'y')]
    yes: bool,
    /// Ask no model: let the offline model answer
    #[arg(long)]
    offline: bool,
    /// How much is worked out [default: full] [env: `FAST_BUT_SKIP_DETAILS=1` means fast]
    #[arg(long, alias = "speed-vs-detail", value_name = "LEVEL")]
    detail: Option<Level>,
    /// Only these sections beside the work itself, with commas (see `gantry template show execution-plan`)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sections: Vec<String>,
    /// A document to take into account: text, Markdown, CSV or PDF; may be repeated
    #[arg(long, value_name = "FILE")]
    context: Vec<PathBuf>,
    /// The template to work by
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    template: String,
    /// Go on although screening says no, and say why; needs `--role`, and is on record
    #[arg(long, value_name = "WHY", requires = "role")]
    r#override: Option<String>,
    /// The role in which you override; the template says which may
    #[arg(long, requires = "override")]
    role: Option<String>,
    /// Write the whole page to a file, as Markdown
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// The day to plan from [default: today]
    #[arg(long, value_name = "DATE")]
    today: Option<Date>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    record: Record,
}

/// How much is worked out, in our words and in those of `PlanExe`.
#[derive(Clone, Copy, Debug)]
struct Level(Detail);

impl ValueEnum for Level {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Detail::Fast), Self(Detail::Balanced), Self(Detail::Full)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self.0 {
            Detail::Fast => PossibleValue::new("fast")
                .aliases(["fast_but_skip_details", "FAST_BUT_SKIP_DETAILS"])
                .help("the work, dates, cost and risks"),
            Detail::Balanced => PossibleValue::new("balanced")
                .alias("balanced_speed_and_detail")
                .help("and choices, assumptions, goals, governance, what could go wrong"),
            Detail::Full => PossibleValue::new("full").alias("all_details_but_slow").help("everything"),
        })
    }
}

impl Args {
    fn level(&self) -> Detail {
        let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !matches!(value.trim(), "" | "0" | "false"));
        match self.detail {
            Some(Level(detail)) => detail,
            None if is_set("FAST_BUT_SKIP_DETAILS") => Detail::Fast,
            None => Detail::default(),
        }
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let templates = template::all().map_err(Fault::bad_input)?;
    let template = template::find(&templates, &args.template)?;
    if template.from != BUILT_IN && !args.record.json {
        talk!("by the template `{}` in {}", template.name, template.from);
    }
    let today = args.today.unwrap_or_else(|| jiff::Zoned::now().date());
    let mut asked = Asked::new(request(&args.request)?, today);
    asked.overridden = overridden(args, template)?;
    refuse_what_must_not_be(&asked)?;
    asked.context = context::read(&args.context)?;
    if !args.yes && !args.record.json && ask::is_possible() {
        asked.request = ask::completed(asked.request, today)?;
        refuse_what_must_not_be(&asked)?;
    }
    if let Some(path) = args.output.as_deref().filter(|path| std::path::Path::new(path).exists()) {
        return Err(
            Fault::bad_input(format!("`{path}` is there already")).hint("name another file, or remove it first")
        );
    }
    let mut how = args.how.clone();
    if args.offline {
        how.models.only_offline();
    }
    let plan = prepared(args, template, &asked)?;
    let options = how.options(&[])?;
    let origin = Origin {
        workspace: surroundings::workspace(std::path::Path::new("."))?,
        file: "gantry plan".to_owned(),
        by: session::operator(),
        secrets: surroundings::secret_names(&options.secrets),
        given: how.around.given(&options)?,
        ..Origin::default()
    };
    session::block_on(async {
        let engine = args.record.engine_asking(options, how.models.clone())?;
        let id = engine.create(NewPlan { plan, origin, once: None }).await?;
        if args.record.json {
            engine.drive(&id, Until::Stuck, vec![Input::Start]).await?.ended().await?;
        } else {
            crate::run::drive_new(engine.clone(), id.clone(), &how).await?;
        }
        let opened = engine.open(&id).await?;
        if let (Some(path), true) = (&args.output, summary::is_made(&opened.life)) {
            let page = crate::artifact::latest(
                &engine,
                &opened.life,
                summary::step(&opened.life, "plan.report").as_ref(),
                PAGE,
            )
            .await?;
            crate::artifact::write_file(path, &page, false)?;
        }
        if args.record.json {
            exit::print_json(&summary::value(&opened.life))?;
        } else {
            exit::print(&summary::page(&opened.life))?;
        }
        Ok(ExitCode::from(if summary::is_made(&opened.life) { exit::DONE } else { exit::FAILED }))
    })
}

/// The request as it was given.
fn request(words: &[String]) -> Result<String, Fault> {
    let text = if words == ["-"] {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(REQUEST_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| Fault::bad_input(format!("standard input is no request: {error}")))?;
        text
    } else {
        words.join(" ")
    };
    if text.len() as u64 > REQUEST_MAX {
        return Err(Fault::bad_input(format!("the request is longer than {REQUEST_MAX} bytes"))
            .hint("say the goal and what must hold; the rest can be given to the tasks later"));
    }
    Ok(text)
}

/// Who goes on although screening says no, if someone may.
fn overridden(args: &Args, template: &Template) -> Result<Option<Override>, Fault> {
    let (Some(why), Some(role)) = (&args.r#override, &args.role) else { return Ok(None) };
    let roles = template.override_roles().map_err(Fault::bad_input)?;
    if !roles.contains(role) {
        let may = roles.join(", ");
        return Err(Fault::refused(format!("the role `{role}` may not override the screening"))
            .hint(format!("the template `{}` lets these: {may}", template.name)));
    }
    if why.trim().is_empty() {
        return Err(Fault::bad_input("an override needs a reason").hint("say why with `--override WHY`"));
    }
    Ok(Some(Override { by: session::operator(), role: role.clone(), why: why.trim().to_owned() }))
}

fn refuse_what_must_not_be(asked: &Asked) -> Result<(), Fault> {
    let screening = screen(&asked.words());
    if asked.overridden.is_some() && screening.may_be_overridden() {
        return Ok(());
    }
    match screening.verdict {
        Verdict::Allow | Verdict::AllowWithCare => Ok(()),
        Verdict::Refuse => Err(Fault::refused(screening.reason).hint(screening.hint)),
        Verdict::Unusable => Err(Fault::bad_input(screening.reason).hint(screening.hint)),
    }
}

/// The plan that plans this request.
fn prepared(args: &Args, template: &Template, asked: &Asked) -> Result<Plan, Fault> {
    let sections = template.sections().map_err(Fault::bad_input)?;
    if let Some(odd) = args.sections.iter().find(|section| !sections.contains(section)) {
        let fault = Fault::bad_input(format!("the template `{}` has no section `{odd}`", template.name));
        return Err(fault.hint(match nearest(odd, sections.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("sections are {}", sections.join(", ")),
        }));
    }
    let facts = Facts::of(asked).map_err(|why| match why {
        Unplannable::Screened(screening) => Fault::refused(screening.reason).hint(screening.hint),
        Unplannable::Broken(why) => Fault::internal(why),
    })?;
    let values = serde_json::to_value(asked).map_err(|error| Fault::internal(error.to_string()))?;
    let wishes = Wishes {
        values: values.as_object().cloned().unwrap_or_default().into_iter().collect(),
        detail: args.level(),
        size: facts.size,
        sections: (!args.sections.is_empty()).then(|| args.sections.clone()),
    };
    let mut plan = template.plan(&wishes).map_err(Fault::bad_input)?;
    plan.title = facts.title;
    asked.request.clone_into(&mut plan.objective);
    Ok(plan)
}
