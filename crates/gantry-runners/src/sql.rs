//! `sql.query`, `sql.execute`: SQLite databases that are files of the working folder.
//!
//! | Capability | Arguments |
//! | --- | --- |
//! | `sql.query` | `path`, `sql` (one statement that changes nothing); `params`, `limit` |
//! | `sql.execute` | `path`, `sql` (one statement or several); `params`, `create` |
//!
//! `params` is a list for `?`, or names with values for `:name`; texts never become part of a statement. All statements
//! of one call are one transaction. Before it the database is kept as a whole ([`image`]), and `undo` brings it back unless
//! someone else has changed it since; `undo: never` does without. A preview carries the statements out on a copy.

mod asked; // in reading order
mod open;
mod statements;
mod image;
mod execute;
mod take_back;

use std::fmt::Write as _;

use async_trait::async_trait;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use asked::{Access, Asked};
use image::Copy;
use open::Database;
use statements::Table;

use crate::files::{Change, Image, Root, blocking};
use crate::ports::Ports;
use crate::runner::{Description, Ended, Happened, Preview, Runner};
use crate::text::shortened;
use crate::work::{Place, Work};

/// How much of a question is shown.
const SHOWN_CHARS_MAX: usize = 400;

/// Works on databases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sql;

impl Table {
    fn into_outputs(self) -> Outputs {
        let mut outputs = Outputs::new();
        outputs.insert("count".to_owned(), json!(self.rows.len()));
        outputs.insert("columns".to_owned(), json!(self.columns));
        outputs.insert("rows".to_owned(), Value::Array(self.rows));
        if self.truncated {
            outputs.insert("truncated".to_owned(), json!(true));
        }
        outputs
    }
}

async fn query(asked: Asked, place: &Place, stop: &CancellationToken) -> Result<Success, Failure> {
    let (root, stop) = (Root::of(place), stop.clone());
    let table = blocking(move || {
        let mut database = Database::open(&root.open()?, &asked.path, Access::Read, &stop)?;
        database.watch(Access::Read)?;
        statements::query(&database, &asked)
    });
    Ok(Success { outputs: table.await?.into_outputs(), ..Success::default() })
}

/// Carries it out on a copy, and lets later previews see what came of it.
fn try_out(asked: &Asked, root: &Root, place: &Place) -> Result<Preview, Failure> {
    let (path, stop) = (&asked.path, CancellationToken::new());
    let before = place.foreseen.image(path);
    let copy = match &before {
        Some(Image::File { bytes, .. }) => Copy::with(path, bytes)?,
        None if root.size(path)?.is_some() => Copy::of(root, path, place.limits.database_bytes_max, &stop)?,
        Some(_) | None if asked.access == Access::Make => Copy::empty(path)?,
        Some(other) => return Err(other.no_file(path)),
        None => return Err(Image::Absent.no_file(path)),
    };
    let mut database = copy.open(&stop)?;
    database.say("BEGIN IMMEDIATE")?;
    let all = execute::run_all(&mut database, asked)?;
    drop(database);
    let made = before.as_ref().map_or(root.size(path)?.is_none(), |image| *image == Image::Absent);
    let mut text = if made {
        format!("create `{path}`, in one transaction")
    } else {
        format!("change `{path}`, in one transaction")
    };
    for ran in &all {
        let rows = if ran.changed == 1 { "1 row".to_owned() } else { format!("{} rows", ran.changed) };
        let _ = write!(text, "\n  {rows}: {}", ran.sql); // writing to a text cannot fail
    }
    let after = Image::File { bytes: copy.bytes()?, mode: None };
    place.foreseen.note(&[Change { path: path.clone(), before: before.unwrap_or(Image::Absent), after }]);
    Ok(Preview { text, diff: None })
}

#[async_trait]
impl Runner for Sql {
    fn names(&self) -> &'static [&'static str] {
        &["sql.query", "sql.execute"]
    }

    fn description(&self, name: &str) -> Option<Description> {
        let path = json!({"type": "string", "description": "A SQLite database below the working folder.", "examples": ["data.db"]});
        let params = json!({
            "type": "array",
            "items": {},
            "description": "Values for each `?`, in order. Never put values into the SQL itself.",
        });
        let sql =
            |meaning: &str, example: &str| json!({"type": "string", "description": meaning, "examples": [example]});
        let (text, properties) = match name {
            "sql.query" => (
                "Asks a SQLite database and gives its rows. `SELECT name, sql FROM sqlite_schema` tells which tables there are.",
                json!({
                    "path": path,
                    "sql": sql("One statement that changes nothing.", "SELECT * FROM people WHERE id = ?"),
                    "params": params,
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100_000, "description": "How many rows are wanted at most."},
                }),
            ),
            "sql.execute" => (
                "Changes a SQLite database, all statements in one transaction.",
                json!({
                    "path": path,
                    "sql": sql("One statement or several.", "UPDATE people SET name = ? WHERE id = ?"),
                    "params": params,
                    "create": {"type": "boolean", "description": "Make the database if it is not there."},
                }),
            ),
            _ => return None,
        };
        let parameters = json!({
            "type": "object", "properties": properties, "required": ["path", "sql"], "additionalProperties": false,
        });
        Some(Description { text: text.into(), parameters, foreign: false, repeatable: name == "sql.query" })
    }

    fn parameters(&self, _name: &str) -> &'static [&'static str] {
        &["path", "sql", "params"]
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        Asked::of(work, place).map(drop)
    }

    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let asked = Asked::of(work, place)?;
        if asked.access == Access::Read {
            let sql = asked.sql.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = format!("would ask `{}`: {}", asked.path, shortened(&sql, SHOWN_CHARS_MAX));
            return Ok(Preview { text, diff: None });
        }
        let (root, place) = (Root::of(place), place.clone());
        blocking(move || try_out(&asked, &root.open()?, &place)).await
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if stop.is_cancelled() {
            return Ended::with(Err(Failure::new(FailureClass::Cancelled, "it was stopped before it began")));
        }
        let mut undo = None;
        let end = match Asked::of(work, place) {
            Err(failure) => Err(failure),
            Ok(asked) if asked.access == Access::Read => ports.beating(work.heartbeat, query(asked, place, stop)).await,
            Ok(asked) => {
                let doing = Box::pin(execute::execute(asked, place, ports, stop, &mut undo));
                ports.beating(work.heartbeat, doing).await
            }
        };
        Ended { end, usage: Default::default(), undo }
    }

    async fn undo(&self, _work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        take_back::take_back(record, place, ports).await
    }

    /// A question that finds something means that it happened; one that finds nothing, that it did not.
    async fn happened(&self, work: &Work, place: &Place, _ports: &Ports, stop: &CancellationToken) -> Happened {
        match Asked::of(work, place) {
            Ok(asked) if asked.access == Access::Read => match query(asked, place, stop).await {
                Ok(found) => {
                    // A row that is too long to be handed on is there all the same.
                    let more = found.outputs.contains_key("truncated");
                    let happened = found.outputs.get("count").and_then(Value::as_u64).map(|count| count > 0 || more);
                    Happened { happened, outputs: found.outputs }
                }
                Err(_) => Happened::default(),
            },
            Ok(_) | Err(_) => Happened::default(),
        }
    }
}
