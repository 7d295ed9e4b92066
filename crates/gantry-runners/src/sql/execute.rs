//! Changing a database: all statements in one transaction, after what is there before is kept.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::FailureClass;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::asked::{Access, Asked};
use super::image::{Copy, digest};
use super::open::Database;
use super::statements::{Ran, each};
use super::take_back::{After, Record};
use crate::files::{Image, Kept, Root, blocking};
use crate::ports::Ports;
use crate::work::Place;

/// The kind under which changes of databases are recorded.
const SQL: &str = "sql";

/// A database that nobody else can change until this is dropped.
struct Held {
    database: Database,
    /// How often others have changed it.
    version: i64,
}

impl Held {
    fn hold(root: &Root, path: &str, access: Access, stop: &CancellationToken) -> Result<Self, Failure> {
        let database = Database::open(root, path, access, stop)?;
        database.say("BEGIN IMMEDIATE")?;
        let version = version(&database)?;
        Ok(Self { database, version })
    }
}

fn version(database: &Database) -> Result<i64, Failure> {
    let version = database.conn.query_row("PRAGMA data_version", [], |row| row.get(0));
    version.map_err(|error| database.failed(&error))
}

/// What is there before.
enum Before {
    /// Nothing; these folders are made with it.
    Nothing { folders: Vec<String> },
    /// A database; all of it, when it is to be kept.
    Database(Option<Vec<u8>>),
}

pub(super) async fn execute(
    asked: Asked,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
    undo: &mut Option<Value>,
) -> Result<Success, Failure> {
    let bytes_max = place.limits.database_bytes_max;
    let (root, wanted, token) = (Root::of(place), asked.clone(), stop.clone());
    let (held, before) = blocking(move || look(&root.open()?, &wanted, bytes_max, &token)).await?;
    let record = if asked.keeps { Some(record(&asked, before, place, ports).await?) } else { None };
    let call = match &record {
        Some(record) => {
            let record = json!(record);
            let begun = tokio::try_join!(ports.begin(SQL, asked.recorded()), ports.intend(record.clone()))?.0;
            *undo = Some(record);
            begun
        }
        None => ports.begin(SQL, asked.recorded()).await?,
    };
    let (root, wanted, token) = (Root::of(place), asked.clone(), stop.clone());
    let changed = blocking(move || {
        let root = root.open()?;
        let held = match held {
            Some(held) => held,
            None => {
                root.make_spot(&wanted.path)?;
                Held::hold(&root, &wanted.path, Access::Make, &token)?
            }
        };
        change(held, &root, &wanted)
    })
    .await;
    let (all, after) = match changed {
        Ok(changed) => changed,
        Err(failure) => {
            ports.calls.answered(call, json!({"failed": failure.message}));
            return Err(failure);
        }
    };
    let touched: u64 = all.iter().map(|ran| ran.changed).sum();
    ports.calls.answered(call, json!({"changed": touched}));
    if let Some(record) = record {
        let record = json!(Record { after, ..record });
        *undo = Some(record.clone());
        // It is done, and what was written down before still leads back.
        let in_doubt = |error| Failure { class: FailureClass::Lost, ..Failure::from(error) };
        ports.intend_instead(record).await.map_err(in_doubt)?;
    }
    Ok(Success { outputs: outputs(all), ..Success::default() })
}

/// Looks at what is there, and holds it.
fn look(
    root: &Root,
    asked: &Asked,
    bytes_max: u64,
    stop: &CancellationToken,
) -> Result<(Option<Held>, Before), Failure> {
    if asked.access == Access::Make && root.size(&asked.path)?.is_none() {
        return Ok((None, Before::Nothing { folders: root.missing_folders(&asked.path)? }));
    }
    let held = Held::hold(root, &asked.path, asked.access, stop)?;
    let bytes = if asked.keeps { Some(Copy::of(root, &asked.path, bytes_max, stop)?.bytes()?) } else { None };
    Ok((Some(held), Before::Database(bytes)))
}

async fn record(asked: &Asked, before: Before, place: &Place, ports: &Ports) -> Result<Record, Failure> {
    let path = asked.path.clone();
    Ok(match before {
        Before::Nothing { folders } => {
            Record { path, before: Kept::Absent, digest: None, after: After::CutOff, folders }
        }
        Before::Database(bytes) => {
            let bytes = bytes.unwrap_or_default();
            let digest = Some(digest(&bytes));
            let before = Kept::keep(&Image::File { bytes, mode: None }, &place.secrets, ports).await?;
            Record { path, before, digest, after: After::CutOff, folders: Vec::new() }
        }
    })
}

/// Carries out the statements and finds out what is there then.
fn change(mut held: Held, root: &Root, asked: &Asked) -> Result<(Vec<Ran>, After), Failure> {
    let all = run_all(&mut held.database, asked)?;
    if !asked.keeps {
        return Ok((all, After::CutOff));
    }
    // Held again, and compared: whoever came in between is not to lose what they did.
    let never = CancellationToken::new();
    let after = held.database.say("BEGIN IMMEDIATE").and_then(|()| {
        if version(&held.database)? != held.version {
            return Ok(After::Mixed);
        }
        let copy = Copy::of(root, &asked.path, u64::MAX, &never)?;
        Ok(After::Is(digest(&copy.bytes()?)))
    });
    // What cannot be looked at now counts as cut off. The transaction holds nothing.
    let _ = held.database.say("ROLLBACK");
    Ok((all, after.unwrap_or(After::CutOff)))
}

/// All statements or none.
pub(super) fn run_all(database: &mut Database, asked: &Asked) -> Result<Vec<Ran>, Failure> {
    database.watch(asked.access)?;
    let ran = each(database, asked);
    database.unwatch()?;
    match ran {
        Ok(all) => database.say("COMMIT").map(|()| all),
        Err(failure) => {
            // Closing it rolls back as well.
            let _ = database.say("ROLLBACK");
            Err(failure)
        }
    }
}

fn outputs(mut all: Vec<Ran>) -> Outputs {
    let touched: u64 = all.iter().map(|ran| ran.changed).sum();
    let mut outputs = Outputs::new();
    outputs.insert("changed".to_owned(), json!(touched));
    let statements: Vec<Value> = all.iter().map(|ran| json!({"sql": ran.sql, "changed": ran.changed})).collect();
    outputs.insert("statements".to_owned(), json!(statements));
    if let Some(table) = all.pop().map(|ran| ran.table).filter(|table| !table.columns.is_empty()) {
        outputs.extend(table.into_outputs());
    }
    outputs
}
