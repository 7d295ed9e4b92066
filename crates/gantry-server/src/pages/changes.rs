//! Forms that change a plan, answer for several tasks or bring something back: each does what its route of the API does.

use axum::extract::State;
use gantry_core::id::{PlanId, Revision};
use gantry_many::edits::{self, Edit};
use gantry_view::next::helpless;
use serde_json::{Map, Value, json};

use crate::access::Who;
use crate::api::edits::{NewSnapshot, TakeBackEdit, carried_out, keep, taken_back};
use crate::api::hypotheses::{NewEvidence, evidence};
use crate::api::tasks::{judged, known, resolved};
use crate::api::{checkpoints, replan};
use crate::app::App;
use crate::body::{Named, Said};
use crate::form::Fields;
use crate::problem::Problem;
use crate::shapes::{Judge, JudgeVerdict, Resolve, Restore, TakeWay};

/// Does what a form says; where to go on where that is another page of the plan.
pub async fn done(app: &App, who: &Who, id: &PlanId, what: &str, fields: &Fields) -> Result<Option<String>, Problem> {
    let (why, task) = (fields.get("why").to_owned(), fields.get("task"));
    let (state, plan) = (State(app.clone()), Named(id.to_string()));
    match what {
        "resolve" | "resolve-all" => {
            let life = app.engine().open(id).await?.life;
            let tasks = if what == "resolve" { vec![known(&life, task)?] } else { helpless(&life) };
            let how = fields.get("how").to_owned();
            let guidance = Some(why.clone()).filter(|why| how == "retry" && !why.is_empty());
            drop(resolved(app, who, id, tasks, Resolve { how, guidance, outputs: Default::default(), why }).await?);
        }
        "judge" => {
            let task = if task.is_empty() { None } else { Some(known(&app.engine().open(id).await?.life, task)?) };
            drop(judged(app, who, id, task, Judge { verdicts: verdicts(fields) }).await?);
        }
        "add-task" | "change-task" | "move-task" | "delete-task" => {
            let edit = edit_of(what, fields)?;
            let base = fields.get("base").parse().ok().map(Revision);
            let (_, prepared) = Box::pin(carried_out(app, who, id, &edit, &why, base)).await?;
            let gone = matches!(edit, Edit::Delete(_));
            return Ok(Some(if gone { "/tasks".to_owned() } else { format!("/tasks/{}", prepared.task) }));
        }
        "take-back" | "back-to" => {
            let revision = fields.get("revision").parse().ok();
            let said = if what == "take-back" {
                TakeBackEdit { revision, why, ..TakeBackEdit::default() }
            } else {
                TakeBackEdit { back_to: revision, why, ..TakeBackEdit::default() }
            };
            drop(Box::pin(taken_back(app, who, id, said)).await?);
            return Ok(Some("/revisions".to_owned()));
        }
        "snapshot" => {
            let note = fields.get("text").to_owned();
            drop(keep(state, who.clone(), plan, Said(NewSnapshot { note })).await?);
            return Ok(Some("/revisions".to_owned()));
        }
        "hypothesis" => {
            let named = Named((id.to_string(), fields.get("hypothesis").to_owned()));
            let (direction, text) = (fields.get("direction").to_owned(), fields.get("text").to_owned());
            drop(evidence(state, who.clone(), named, Said(NewEvidence { direction, evidence: text })).await?);
            return Ok(Some("/hypotheses".to_owned()));
        }
        "take-way" => {
            let take = fields.get("way").parse().unwrap_or(0);
            drop(replan::take_way(state, who.clone(), plan, Said(TakeWay { take, why })).await?);
            return Ok(Some("/timeline".to_owned()));
        }
        "restore" => {
            let to = fields.get("to").to_owned();
            drop(checkpoints::restore(state, who.clone(), plan, Said(Restore { to })).await?);
            return Ok(Some("/artifacts".to_owned()));
        }
        _ => return Err(Problem::wrong("request::form", "the form does not say what to do")),
    }
    Ok(None)
}

/// What was found about each check.
fn verdicts(fields: &Fields) -> Vec<JudgeVerdict> {
    let said = fields.all("check").into_iter().zip(fields.all("because")).enumerate();
    said.map(|(at, (check, because))| {
        let holds = fields.get(&format!("holds-{at}")) == "yes";
        JudgeVerdict { check, holds, because }
    })
    .collect()
}

/// The change of a task that a form asks for.
fn edit_of(what: &str, fields: &Fields) -> Result<Edit, Problem> {
    let mut said = Map::new();
    let names: &[&str] = match what {
        "add-task" | "change-task" => &["name", "instruction", "owner"],
        _ => &[],
    };
    for name in names {
        let value = fields.get(name).replace("\r\n", "\n");
        if what == "change-task" || !value.trim().is_empty() {
            said.insert((*name).to_owned(), json!(value));
        }
    }
    if what == "add-task" || what == "change-task" {
        let waits = fields.get("dependencies").split(',').map(str::trim).filter(|one| !one.is_empty());
        said.insert("dependencies".to_owned(), waits.map(|one| json!(one)).collect::<Value>());
    }
    if what != "add-task" {
        said.insert("task_id".to_owned(), json!(fields.get("task")));
    }
    match (fields.get("where"), fields.get("anchor").trim()) {
        ("", _) => {}
        ("top", _) => drop(said.insert("top".to_owned(), json!(true))),
        (place, anchor) => {
            said.extend([("anchor_position".to_owned(), json!(place)), ("anchor_task_id".to_owned(), json!(anchor))]);
        }
    }
    if what == "delete-task" {
        said.insert("detach".to_owned(), json!(!fields.get("detach").is_empty()));
    }
    Ok(match what {
        "add-task" => Edit::Add(edits::read(said)?),
        "change-task" => Edit::Change(edits::read(said)?),
        "move-task" => Edit::Move(edits::read(said)?),
        _ => Edit::Delete(edits::read(said)?),
    })
}
