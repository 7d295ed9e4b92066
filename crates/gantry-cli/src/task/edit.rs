//! Changes of single tasks: one comes, changes, moves or goes, and what a revision changed is taken back.

use std::process::ExitCode;

use gantry_core::id::Revision;
use gantry_core::input::Input;
use gantry_core::plan::diff;
use gantry_many::edits::{self, Add, Change, Delete, Edit, Move, Prepared, Unfit};
use gantry_view::compare::written;
use gantry_view::revision::life_at;
use serde_json::{Map, Value, json};

use crate::arguments::{ByAndWhy, ThePlan};
use crate::desk::Desk;
use crate::exit::{self, Fault};
use crate::session::Record;

/// Where a task goes.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct Where {
    /// Right before this task
    #[arg(long, value_name = "TASK")]
    before: Option<String>,
    /// Right after this task
    #[arg(long, value_name = "TASK")]
    after: Option<String>,
    /// First inside this task
    #[arg(long, value_name = "TASK")]
    first_in: Option<String>,
    /// Last inside this task
    #[arg(long, value_name = "TASK", visible_alias = "parent")]
    last_in: Option<String>,
}

impl Where {
    /// The task and the side of it.
    fn anchor(&self) -> (Option<Value>, Option<String>) {
        let sides = [
            (&self.before, "before"),
            (&self.after, "after"),
            (&self.first_in, "first_child"),
            (&self.last_in, "last_child"),
        ];
        let said = sides.into_iter().find_map(|(task, side)| Some((task.as_ref()?, side)));
        said.map_or((None, None), |(task, side)| (Some(json!(task)), Some(side.to_owned())))
    }
}

#[derive(clap::Args)]
pub struct AddArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// What it is called
    name: String,
    #[command(flatten)]
    place: Where,
    /// How many siblings stand before it, at the top or inside `--inside`
    #[arg(long, value_name = "N", conflicts_with_all = ["before", "after", "first_in", "last_in"])]
    position: Option<usize>,
    /// The task that `--position` counts inside
    #[arg(long, value_name = "TASK", requires = "position")]
    inside: Option<String>,
    /// What is to be done
    #[arg(long, visible_alias = "instruction", value_name = "WORDS")]
    description: Option<String>,
    /// Its id [default: made from its name]
    #[arg(long)]
    id: Option<String>,
    /// A task that it waits for
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,
    /// Who answers for it
    #[arg(long)]
    owner: Option<String>,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(clap::Args)]
pub struct ChangeArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// The task
    task: String,
    /// What it is called
    #[arg(long, visible_alias = "title")]
    name: Option<String>,
    /// What is to be done
    #[arg(long, visible_alias = "instruction", value_name = "WORDS")]
    description: Option<String>,
    /// A task that it waits for; together they take the place of those before
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,
    /// It waits for nothing any more
    #[arg(long, conflicts_with = "depends_on")]
    no_dependencies: bool,
    /// Who answers for it
    #[arg(long)]
    owner: Option<String>,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(clap::Args)]
pub struct MoveArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// The task
    task: String,
    #[command(flatten)]
    place: Where,
    /// To the end of the top of the plan, or to `--position` there
    #[arg(long, conflicts_with_all = ["before", "after", "first_in", "last_in"])]
    top: bool,
    /// How many siblings stand before it, where it is inside now
    #[arg(long, value_name = "N", conflicts_with_all = ["before", "after", "first_in", "last_in", "top"])]
    position: Option<usize>,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(clap::Args)]
pub struct DeleteArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// The task
    task: String,
    /// Let what waits for it wait no longer, instead of refusing
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(clap::Args)]
pub struct UndoArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// The revision whose changes are taken back [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Make the plan what it was at this revision, whatever changed since
    #[arg(long, value_name = "N", conflicts_with = "revision")]
    back_to: Option<u32>,
    #[command(flatten)]
    by: ByAndWhy,
}

#[derive(clap::Args)]
pub struct SnapshotArgs {
    #[command(flatten)]
    plan: ThePlan,
    /// What it is kept for; without a note the snapshots that there are are listed
    note: Option<String>,
    #[command(flatten)]
    by: crate::arguments::By,
}

/// Says that something is not as it has to be.
fn fault(unfit: Unfit) -> Fault {
    let fault = match unfit.code {
        "plan::refused" | "task::awaited" => Fault::refused(unfit.message),
        _ => Fault::bad_input(unfit.message),
    };
    let hint = unfit.hint.map(|hint| hint.replace("`detach`", "`--detach`"));
    hint.into_iter().fold(fault, Fault::hint)
}

fn values(names: &[String]) -> Vec<Value> {
    names.iter().map(|name| json!(name)).collect()
}

pub async fn add(record: &Record, args: &AddArgs) -> Result<ExitCode, Fault> {
    let (anchor_task_id, anchor_position) = args.place.anchor();
    let edit = Edit::Add(Add {
        name: args.name.clone(),
        id: args.id.clone(),
        instruction: args.description.clone(),
        parent_id: args.inside.as_ref().map(|task| json!(task)),
        anchor_task_id,
        anchor_position,
        position: args.position,
        dependencies: values(&args.depends_on),
        owner: args.owner.clone(),
        metadata: Map::new(),
    });
    Box::pin(say(record, &args.plan, &edit, &args.by)).await
}

pub async fn change(record: &Record, args: &ChangeArgs) -> Result<ExitCode, Fault> {
    let dependencies = (!args.depends_on.is_empty() || args.no_dependencies).then(|| values(&args.depends_on));
    let (name, instruction, owner) = (args.name.clone(), args.description.clone(), args.owner.clone());
    let edit = Change { task_id: json!(args.task), name, instruction, dependencies, owner, metadata: Map::new() };
    Box::pin(say(record, &args.plan, &Edit::Change(edit), &args.by)).await
}

pub async fn shift(record: &Record, args: &MoveArgs) -> Result<ExitCode, Fault> {
    let (anchor_task_id, anchor_position) = args.place.anchor();
    let edit = Move {
        task_id: json!(args.task),
        parent_id: None,
        top: args.top,
        anchor_task_id,
        anchor_position,
        position: args.position,
    };
    Box::pin(say(record, &args.plan, &Edit::Move(edit), &args.by)).await
}

pub async fn delete(record: &Record, args: &DeleteArgs) -> Result<ExitCode, Fault> {
    let edit = Delete { task_id: json!(args.task), detach: args.detach };
    Box::pin(say(record, &args.plan, &Edit::Delete(edit), &args.by)).await
}

async fn say(record: &Record, plan: &str, edit: &Edit, by: &ByAndWhy) -> Result<ExitCode, Fault> {
    let (by, why) = by.said()?;
    let desk = Desk::open(record, plan).await?;
    let life = desk.life().await?;
    let Prepared { input, task, words, mut more } = edits::prepare(&life, edit, &by, &why).map_err(fault)?;
    more.insert("task".to_owned(), json!(task));
    Box::pin(heard(&desk, input, &words, more)).await
}

async fn heard(desk: &Desk, input: Input, words: &str, mut more: Map<String, Value>) -> Result<ExitCode, Fault> {
    let before = desk.life().await?.plan();
    let told = desk.hear(input).await?;
    let life = desk.life().await?;
    more.insert("revision".to_owned(), json!(life.revision()));
    more.insert("diff".to_owned(), written(&diff(&before, &life.plan())));
    let words = format!("{words}: revision {} of `{}`", life.revision(), desk.id());
    desk.tell(told, &words, more).await?;
    Ok(ExitCode::from(exit::DONE))
}

pub async fn undo(record: &Record, args: &UndoArgs) -> Result<ExitCode, Fault> {
    let (by, why) = args.by.said()?;
    let desk = Desk::open(record, &args.plan).await?;
    let life = desk.life().await?;
    let (input, words) = if let Some(revision) = args.back_to {
        let then = life_at(desk.store(), desk.id(), Some(Revision(revision))).await?.plan();
        let why = if why.trim().is_empty() { format!("back to revision {revision}") } else { why };
        let words = format!("the plan is as it was at revision {revision}");
        (edits::undo(&life, life.revision(), (&then, &life.plan()), &by, &why), words)
    } else {
        let revision = args.revision.unwrap_or(life.revision().0);
        if revision < 2 {
            return Err(Fault::bad_input(format!("revision {revision} of `{}` changed nothing", desk.id()))
                .hint("see what was changed with `gantry diff PLAN`"));
        }
        let before = life_at(desk.store(), desk.id(), Some(Revision(revision - 1))).await?.plan();
        let after = life_at(desk.store(), desk.id(), Some(Revision(revision))).await?.plan();
        let words = format!("took back revision {revision}");
        (edits::undo(&life, Revision(revision), (&before, &after), &by, &why), words)
    };
    Box::pin(heard(&desk, input, &words, Map::new())).await
}

pub async fn snapshot(record: &Record, args: &SnapshotArgs) -> Result<ExitCode, Fault> {
    let desk = Desk::open(record, &args.plan).await?;
    if let Some(note) = &args.note {
        let by = args.by.name()?;
        let life = desk.life().await?;
        let input = edits::snapshot(&life, &by, note).map_err(fault)?;
        let revision = life.revision();
        let more = Map::from_iter([("revision".to_owned(), json!(revision)), ("note".to_owned(), json!(note))]);
        let words = format!("kept revision {revision} of `{}` as a snapshot", desk.id());
        return desk.say_with(input, &words, more).await;
    }
    let entries = gantry_engine::entries(desk.store(), desk.id()).await?;
    let all = edits::snapshots(&entries);
    if record.json {
        exit::print_json(&json!({"plan": desk.id(), "snapshots": all}))?;
    } else {
        let line = |one: &edits::Snapshot| {
            format!(
                "r{}  {}  {}  {}\n",
                one.revision,
                one.at,
                crate::show::plain(&one.by),
                crate::show::plain(&one.note)
            )
        };
        exit::print(&all.iter().map(line).collect::<String>())?;
        if all.is_empty() {
            crate::talk::talk!("there is no snapshot yet; keep one with `gantry task snapshot {} \"…\"`", desk.id());
        }
    }
    Ok(ExitCode::from(exit::DONE))
}
