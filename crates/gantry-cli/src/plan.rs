//! `gantry plan`: from a sentence to a plan that can be carried out.

mod ask; // in reading order
pub mod context;
mod summary;

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use gantry_core::input::Input;
use gantry_engine::{NewPlan, Origin, Until};
use gantry_planner::facts::{Asked, Override, WISHES};
use gantry_planner::intake::{self, REQUEST_BYTES_MAX, Unfit, Why};
use gantry_planner::template::{BUILT_IN, DEFAULT, Detail, Template};
use gantry_planner::tools::PAGE;
use jiff::civil::Date;

use crate::decompose;
use crate::exit::{self, Fault};
use crate::run::How;
use crate::session::{self, Record};
use crate::surroundings;
use crate::talk::talk;
use crate::template;

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
    if template.from != BUILT_IN {
        if !args.record.json {
            talk!("by the template `{}` in {}", template.name, template.from);
        }
        refuse_what_is_broken(template)?;
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
    let plan = intake::plan(template, &asked, args.level(), &args.sections)?;
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
        if let (Some(path), Some(report)) = (&args.output, summary::reported(&opened.life)) {
            let page = crate::artifact::latest(&**engine.store(), &id, &report, PAGE).await?;
            crate::artifact::write_file(path, &page, false)?;
        }
        if let Some(made) = summary::outlined(&opened.life) {
            decompose::show(&opened.life, &made, args.record.json)?;
            return Ok(ExitCode::from(exit::DONE));
        }
        if args.record.json {
            exit::print_json(&summary::value(&opened.life))?;
        } else {
            exit::print(&summary::page(&opened.life))?;
        }
        Ok(ExitCode::from(if summary::reported(&opened.life).is_some() { exit::DONE } else { exit::FAILED }))
    })
}

/// The request as it was given.
fn request(words: &[String]) -> Result<String, Fault> {
    let text = if words == ["-"] {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(REQUEST_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| Fault::bad_input(format!("standard input is no request: {error}")))?;
        text
    } else {
        words.join(" ")
    };
    if text.len() as u64 > REQUEST_BYTES_MAX {
        return Err(Fault::bad_input(format!("the request is longer than {REQUEST_BYTES_MAX} bytes"))
            .hint("say the goal and what must hold; the rest can be given to the tasks later"));
    }
    Ok(text)
}

/// A template that somebody wrote is held against everything before anything is asked.
fn refuse_what_is_broken(template: &Template) -> Result<(), Fault> {
    let faults = template.faults(&WISHES);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Fault::bad_input(format!("the template `{}` is not sound: {}", template.name, faults.join("; ")))
        .hint(format!("mend it in {}, and look with `gantry template check {}`", template.from, template.name)))
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
    intake::check(asked).map_err(Fault::from)
}

impl From<Unfit> for Fault {
    fn from(unfit: Unfit) -> Self {
        let Unfit { why, message, hint } = unfit;
        let fault = match why {
            Why::Refused => Fault::refused(message),
            Why::Wrong => Fault::bad_input(message),
            Why::Broken => Fault::internal(message),
        };
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}
