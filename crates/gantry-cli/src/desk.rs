//! Where people speak to one plan: finds it, says something to it, and tells what became of that.

use std::process::ExitCode;

use gantry_core::id::{PlanId, TaskId};
use gantry_core::input::Input;
use gantry_core::life::{Life, PlanState};
use gantry_core::suggest;
use gantry_engine::{Engine, EngineError, Options, Tell};
use gantry_store::{PlanCard, Store};
use serde_json::{Map, Value, json};

use crate::exit::{self, Fault};
use crate::home::NewHome;
use crate::session::{self, Record};
use crate::show::next::{self, quoted};
use crate::show::{page, plain};
use crate::surroundings::Surroundings;
use crate::talk::talk;

/// One plan, and what is needed to speak to it.
pub struct Desk {
    /// The engine of this process.
    pub engine: Engine,
    /// The plan as it is listed.
    pub card: PlanCard,
    json: bool,
}

impl Desk {
    /// Opens the record and finds the plan that is meant.
    pub async fn open(record: &Record, reference: &str) -> Result<Self, Fault> {
        let engine = engine(record)?;
        let card = session::find(&engine, reference).await?;
        Ok(Self { engine, card, json: record.json })
    }

    /// The same desk, to act on the surroundings of the plan: with the secrets that it was given, or not at all.
    pub async fn able_to_act(self, home: &NewHome, around: &Surroundings) -> Result<Self, Fault> {
        let known = home.settle(&self.engine, self.id(), around).await?;
        let engine = self.engine.working(around.options(&known)?);
        Ok(Self { engine, ..self })
    }

    /// The plan's id.
    pub fn id(&self) -> &PlanId {
        &self.card.id
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &**self.engine.store()
    }

    /// The plan as it stands.
    pub async fn life(&self) -> Result<Life, Fault> {
        Ok(self.engine.open(self.id()).await?.life)
    }

    /// The plan as it stands, and one of its tasks.
    pub async fn task(&self, name: &str) -> Result<(Life, TaskId), Fault> {
        let life = self.life().await?;
        let task = known_task(&life, name)?;
        Ok((life, task))
    }

    /// Says something to the plan, and tells `done` and what comes next once it is on record.
    pub async fn say(&self, input: Input, done: &str) -> Result<ExitCode, Fault> {
        self.say_with(input, done, Map::new()).await
    }

    /// The same, with more for programs.
    pub async fn say_with(&self, input: Input, done: &str, more: Map<String, Value>) -> Result<ExitCode, Fault> {
        let told = self.hear(input).await?;
        self.tell(told, done, more).await?;
        Ok(ExitCode::from(exit::DONE))
    }

    /// Says something to the plan.
    pub async fn hear(&self, input: Input) -> Result<Tell, Fault> {
        let about_gates = matches!(input, Input::Review { .. });
        self.engine.tell(self.id(), input).await.map_err(|error| match evidence_missing(&error) {
            Some(name) if about_gates => {
                let hint = format!("say that you have seen it with `--evidence {}`", quoted(&name));
                Fault::from(error).hint(hint)
            }
            Some(name) => Fault::from(error).hint(format!("hand it in with `--evidence {}=FILE`", quoted(&name))),
            None => refusal(error, self.id()),
        })
    }

    /// Tells that something was done, and what comes next.
    pub async fn tell(&self, told: Tell, done: &str, more: Map<String, Value>) -> Result<(), Fault> {
        let card = self.store().plan(self.id().as_str()).await?;
        if self.json {
            let heard = match told {
                Tell::Driven => "driven",
                Tell::Recorded => "recorded",
            };
            let mut all = json!({
                "plan": card.id, "no": card.no, "state": card.card.state, "heard": heard, "waiting": card.card.waiting,
            });
            all.as_object_mut().into_iter().for_each(|all| all.extend(more.clone()));
            return exit::print_json(&all);
        }
        talk!("{done}");
        match told {
            Tell::Driven => talk!("the process that works on `{}` has heard it", card.id),
            Tell::Recorded => tell_next(&card, &self.life().await?),
        }
        Ok(())
    }
}

/// Makes an engine for whoever sits here, to look and to speak: it knows no secrets, so it must not act.
pub fn engine(record: &Record) -> Result<Engine, Fault> {
    record.engine(Options { operator: session::operator(), ..Options::default() })
}

/// Nobody works on the plan: what has to be done about it.
fn tell_next(card: &PlanCard, life: &Life) {
    let id = &card.id;
    match card.card.state {
        PlanState::Running => talk!("nobody works on it right now; go on with `gantry resume {id}`"),
        PlanState::Pending => talk!("it has not begun; begin with `gantry resume {id}`"),
        PlanState::Paused => talk!("it is paused; go on with `gantry resume {id}`"),
        PlanState::Blocked => {
            if let Some(reason) = life.taking_back().and_then(|back| back.halted) {
                talk!("taking back cannot go on: {}", plain(reason));
            } else {
                for line in &card.card.waiting {
                    let whose = line.task.as_ref().map_or_else(|| format!("`{id}`"), |task| format!("`{task}`"));
                    talk!("{whose} waits for {}", plain(&line.what));
                }
            }
            let steps = next::steps(life, false);
            if !steps.is_empty() {
                talk!("next:\n{}", page::commands(&steps).trim_end());
            }
        }
        PlanState::Completed => talk!("`{id}` is completed"),
        PlanState::Failed => talk!("`{id}` has failed"),
        PlanState::Abandoned => talk!("`{id}` is given up"),
    }
}

/// Checks that a task exists, and says which one may be meant.
pub fn known_task(life: &Life, name: &str) -> Result<TaskId, Fault> {
    if let Some(task) = life.definition(name).or_else(|| life.numbered(name.parse().ok()?)) {
        return Ok(task.id.clone());
    }
    let fault = Fault::bad_input(format!("there is no task `{name}` in plan `{}`", life.id()));
    let ids = life.task_ids();
    Err(match suggest::nearest(name, ids.iter().map(TaskId::as_str)) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => {
            let shown: Vec<&str> = ids.iter().take(10).map(TaskId::as_str).collect();
            let more = if ids.len() > shown.len() { ", …" } else { "" };
            fault.hint(format!("its tasks are {}{more}", shown.join(", ")))
        }
    })
}

/// The evidence that a refusal asks for.
fn evidence_missing(error: &EngineError) -> Option<String> {
    let code = match error {
        EngineError::Refused(refusal) => refusal.code(),
        EngineError::RefusedElsewhere { code, .. } => code,
        _ => return None,
    };
    let told = error.to_string();
    let (_, name) = told.split_once("the evidence `").filter(|_| code == "life::incomplete")?;
    name.rsplit_once('`').map(|(name, _)| name.to_owned())
}

/// A refusal with a hint at what to do.
pub fn refusal(error: EngineError, plan: &PlanId) -> Fault {
    let code = match &error {
        EngineError::Refused(refusal) => refusal.code(),
        EngineError::RefusedElsewhere { code, .. } => code,
        _ => return error.into(),
    };
    let hint = match code {
        "life::not-allowed" => {
            let hint =
                format!("see who may with `gantry gate show {plan} GATE`; say who you are with `--by` and `--role`");
            return Fault::from(error).hint(hint);
        }
        "life::decided-already" => {
            return Fault::from(error).hint(format!("see what was decided with `gantry log {plan}`"));
        }
        "life::approved-already" => "it takes the approval of someone else",
        "life::not-a-gate" => {
            return Fault::from(error).hint(format!("see its gates with `gantry gate list {plan}`"));
        }
        "life::no-more-rounds" => {
            let hint = format!("approve or reject it, or allow more with `gantry revise {plan} FILE --rationale WHY`");
            return Fault::from(error).hint(hint);
        }
        "life::over-budget" => {
            let hint = format!("allow more in `policy.budget` with `gantry revise {plan} FILE --rationale WHY`");
            return Fault::from(error).hint(hint);
        }
        "life::bad-plan" => "find each with its place by `gantry validate FILE`",
        "life::undoing" => {
            return Fault::from(error).hint(format!("see how far it is with `gantry status {plan}`"));
        }
        "life::incomplete" => "judge every check: `--holds CHECK` or `--fails CHECK=WHY`",
        "life::not-in-role" => "decide in a role that is yours; who has which stands in the plan's `stakeholders`",
        "life::old-revision" => "look at the plan again, then repeat the request",
        "life::not-waiting" | "life::wrong-state" | "life::not-finished" => {
            return Fault::from(error).hint(format!("see where it stands with `gantry status {plan}`"));
        }
        "life::unknown-point" => {
            let hint =
                format!("see its checkpoints with `gantry restore {plan}`, its tasks with `gantry status {plan}`");
            return Fault::from(error).hint(hint);
        }
        "life::task-runs" => "wait for it, or pause the plan first",
        _ => return error.into(),
    };
    Fault::from(error).hint(hint)
}

/// Reads `name=value`; a value that is JSON is taken as such, anything else as text.
pub fn pair(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form name=value"))?;
    if name.is_empty() {
        return Err(format!("`{text}` has no name before the `=`"));
    }
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))))
}
