//! `gantry chat`: talks about plans, on a terminal or with one message.

mod line; // in reading order
mod terminal;
mod converse;

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use async_trait::async_trait;
use gantry_core::id::PlanId;
use gantry_core::input::Input;
use gantry_core::life::PlanState;
use gantry_engine::{Engine, EngineError, Origin, Until};
use gantry_many::chat::{self, Answer, Context, Hands, Said, Trouble};
use gantry_planner::template::Template;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::arguments::By;
use crate::exit::{self, Fault};
use crate::model::options::ModelOptions;
use crate::run::How;
use crate::session::{self, Record};
use crate::show::plain;
use crate::talk::talk;
use crate::{surroundings, template};

/// Talk about plans in your own words: make one, list them, break tasks down, move them, see where they stand
///
/// A model proposes what to do, and Gantry does it as you would: each change is a revision, and what cannot be done is told
/// with the reason. Without a model the offline model understands plain commands; `gantry chat help` lists what can be done.
/// Without words, and on a terminal, it is a conversation: arrows bring back what was said before, Ctrl-C stops waiting for an
/// answer, Ctrl-D or `exit` ends it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry chat\n  gantry chat \"create a plan to open a bakery in Oslo\"\n  gantry chat \"break down task 2 of plan 3\" --session bakery\n  gantry chat --plan 3 \"what is below task 2?\" --json\n  gantry chat --sessions\n  gantry chat --show bakery"
)]
pub struct Args {
    /// What you want to say; `-` reads it from standard input
    words: Vec<String>,
    /// Go on with this talk [default: a new one]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The plan that is meant where none is named
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// What a plan that is made is called
    #[arg(long)]
    title: Option<String>,
    /// The same key with the same words again gives the same answer, and makes no second plan
    #[arg(long, value_name = "KEY")]
    once: Option<String>,
    /// List your talks
    #[arg(long, conflicts_with_all = ["words", "session", "show"])]
    sessions: bool,
    /// Show a talk
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "session"])]
    show: Option<String>,
    /// Ask no model: let the offline model answer
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    record: Record,
}

/// This process, for whoever sits here.
struct Here {
    engine: Engine,
    origin: Origin,
    by: String,
}

#[async_trait]
impl Hands for Here {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn engine_for(&self, _: &PlanId) -> Result<Engine, Trouble> {
        Ok(self.engine.clone())
    }

    fn by(&self) -> &str {
        &self.by
    }

    fn may_change(&self) -> Result<(), Trouble> {
        Ok(())
    }

    fn origin(&self) -> Result<Origin, Trouble> {
        Ok(self.origin.clone())
    }

    fn templates(&self) -> Result<Vec<Template>, Trouble> {
        template::all().map_err(|why| Trouble::new(500, "chat::fault", why))
    }

    fn today(&self) -> Date {
        jiff::Zoned::now().date()
    }

    async fn tell(&self, plan: &PlanId, input: Input) -> Result<(), Trouble> {
        self.engine.tell(plan, input).await.map(drop).map_err(|error| self.trouble(error))
    }

    async fn go_on(&self, plan: &PlanId) -> Result<(), Trouble> {
        let state = self.engine.open(plan).await.map_err(|error| self.trouble(error))?.life.state();
        let first = match state {
            PlanState::Pending => vec![Input::Start],
            PlanState::Paused => vec![Input::Resume { by: self.by.clone() }],
            PlanState::Running | PlanState::Blocked => Vec::new(),
            state => {
                return Err(Trouble::new(
                    409,
                    "life::wrong-state",
                    format!("a plan that is {state} cannot be resumed"),
                )
                .hint("have a task of it done again, or change it: then it goes on"));
            }
        };
        let driving = self.engine.drive(plan, Until::Stuck, first).await.map_err(|error| self.trouble(error))?;
        driving.ended().await.map(drop).map_err(|error| self.trouble(error))
    }

    async fn turn(&self, _: &PlanId) -> Box<dyn Send> {
        Box::new(()) // nobody else is in this process
    }

    fn trouble(&self, error: EngineError) -> Trouble {
        let code = match &error {
            EngineError::Refused(refusal) => refusal.code().to_owned(),
            EngineError::RefusedElsewhere { code, .. } => code.clone(),
            EngineError::Store(gantry_store::StoreError::NotFound { .. }) => "store::not-found".to_owned(),
            EngineError::Store(gantry_store::StoreError::KeyReused { .. }) => "store::key-reused".to_owned(),
            _ => String::new(),
        };
        let fault = Fault::from(error);
        // What may be said otherwise is not the fault of this program.
        let status = match code.as_str() {
            "" => 500,
            "store::not-found" => 404,
            _ => 409,
        };
        let code = if code.is_empty() { "chat::fault" } else { &code };
        let trouble = Trouble::new(status, code, fault.message());
        fault.advice().map_or(trouble.clone(), |advice| trouble.hint(advice))
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let by = args.by.name()?;
    let mut how = How::asking(args.models.clone());
    if args.offline {
        how.models.only_offline();
    }
    session::block_on(async {
        let here = here(&args.record, &how, by)?;
        if args.sessions {
            return list(&here, args.record.json).await;
        }
        if let Some(name) = &args.show {
            return show(&here, name, args.record.json).await;
        }
        let words = match args.words.join(" ") {
            words if words == "-" => std::io::read_to_string(std::io::stdin().lock())
                .map_err(|error| Fault::bad_input(format!("standard input cannot be read: {error}")))?,
            words => words,
        };
        if !words.trim().is_empty() {
            return once(&here, args, &words).await;
        }
        if !std::io::stdin().is_terminal() || args.record.json {
            return Err(Fault::bad_input("there is nothing to say")
                .hint("say it: `gantry chat \"list my plans\"`; `-` reads standard input"));
        }
        converse::converse(&here, args).await
    })
}

fn here(record: &Record, how: &How, by: String) -> Result<Here, Fault> {
    let options = how.options(&[])?;
    let origin = Origin {
        workspace: surroundings::workspace(Path::new("."))?,
        file: "gantry chat".to_owned(),
        by: by.clone(),
        secrets: surroundings::secret_names(&options.secrets),
        given: how.around.given(&options)?,
        ..Origin::default()
    };
    Ok(Here { engine: record.engine_asking(options, how.models.clone())?, origin, by })
}

fn said(args: &Args, words: &str, session: Option<String>) -> Said {
    let context = Context {
        plan_title: args.title.clone(),
        plan_id: args.plan.as_ref().map_or(Value::Null, |plan| json!(plan)),
        ..Context::default()
    };
    Said { message: words.to_owned(), session_id: session, context, ..Said::default() }
}

async fn once(here: &Here, args: &Args, words: &str) -> Result<ExitCode, Fault> {
    let key = args.once.as_deref().map(str::trim).filter(|key| !key.is_empty());
    let answer = match Box::pin(chat::say(here, said(args, words, args.session.clone()), key)).await {
        Ok(answer) => answer,
        Err(trouble) => {
            if !args.record.json {
                exit::print(&several(&trouble))?;
            }
            return Err(fault(trouble));
        }
    };
    if args.record.json {
        exit::print_json(&answer.body)?;
    } else {
        tell(&answer, args.session.is_none())?;
    }
    Ok(ExitCode::from(if answer.status == PARTIAL { exit::FAILED } else { exit::DONE }))
}

/// The status of an answer of which some was done, and some was not.
const PARTIAL: u16 = 207;

/// What was answered where several things were asked for and none was done; a single one is told as the fault.
fn several(trouble: &Trouble) -> String {
    let count = trouble.actions.as_ref().and_then(|actions| actions.as_array()).map_or(0, Vec::len);
    let words = trouble.response.as_deref().filter(|_| count > 1).unwrap_or_default();
    words.lines().map(|line| plain(line) + "\n").collect()
}

/// What was answered, and how to go on.
fn tell(answer: &Answer, is_new: bool) -> Result<(), Fault> {
    let response = answer.body["response"].as_str().unwrap_or_default();
    let lines: Vec<String> = response.lines().map(plain).collect();
    exit::print(&format!("{}\n", lines.join("\n")))?;
    if is_new {
        talk!("go on with `gantry chat --session {} \"…\"`", answer.body["session_id"].as_str().unwrap_or_default());
    }
    Ok(())
}

fn fault(trouble: Trouble) -> Fault {
    let fault = match trouble.status {
        403 | 409 => Fault::refused(trouble.message),
        400..=499 => Fault::bad_input(trouble.message),
        _ => Fault::internal(trouble.message),
    };
    let fault = trouble.hint.into_iter().fold(fault, Fault::hint);
    trouble.actions.into_iter().fold(fault, Fault::about)
}

async fn list(here: &Here, json: bool) -> Result<ExitCode, Fault> {
    let all = chat::sessions(here).await.map_err(fault)?;
    if json {
        exit::print_json(&json!({"sessions": all}))?;
    } else {
        let line = |one: &chat::Session| {
            let count = gantry_view::count(one.messages, "message");
            format!("{}  {}  {count}  {}\n", plain(&one.session_id), one.updated_at, plain(&one.title))
        };
        exit::print(&all.iter().map(line).collect::<String>())?;
        if all.is_empty() {
            talk!("nothing was said yet; begin with `gantry chat \"…\"`");
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

async fn show(here: &Here, name: &str, json: bool) -> Result<ExitCode, Fault> {
    let turns = chat::session(here, name).await.map_err(fault)?;
    if json {
        exit::print_json(
            &json!({"session_id": name, "turns": turns.iter().map(chat::Told::told).collect::<Vec<_>>()}),
        )?;
        return Ok(ExitCode::from(exit::DONE));
    }
    let mut page = String::new();
    for turn in &turns {
        let answer = turn.answer["response"].as_str().unwrap_or("(not answered)");
        for (mark, text) in [("> ", turn.message.as_str()), ("  ", answer)] {
            for line in text.lines() {
                page.extend([mark, &plain(line), "\n"]);
            }
        }
    }
    exit::print(&page)?;
    Ok(ExitCode::from(exit::DONE))
}
