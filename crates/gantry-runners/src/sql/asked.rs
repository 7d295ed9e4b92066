//! What is asked of a database, with its arguments checked.

use base64::Engine;
use gantry_core::effect::Failure;
use gantry_core::plan::Undo;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value, json};

use crate::args::Args;
use crate::policy::wrong;
use crate::text::shortened;
use crate::work::{Place, Work};

/// How much SQL is taken at once.
const SQL_BYTES_MAX: usize = 4 << 20;
/// How many rows are handed on unless the plan says otherwise, and at most.
const ROWS: usize = 1_000;
const ROWS_MAX: usize = 100_000;
/// How much of the SQL goes into the record; the rest is there as a hash.
const RECORDED_CHARS_MAX: usize = 4_000;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) sql: String,
    pub(super) params: Params,
    pub(super) rows_max: usize,
    pub(super) access: Access,
    /// Whether what is there before is kept: not when the plan says that nobody will want it.
    pub(super) keeps: bool,
}

/// What is done with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Change,
    /// Changes it, and makes it if it is not there.
    Make,
}

/// Values for the parameters of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Params {
    None,
    InOrder(Vec<Sql>),
    ByName(Vec<(String, Sql)>),
}

impl Asked {
    /// Reads the arguments, and asks the policy about the file.
    pub(super) fn of(work: &Work, place: &Place) -> Result<Self, Failure> {
        let args = Args::of(work)?;
        let reads = args.tool() == "sql.query";
        args.only(if reads { &["path", "sql", "params", "limit"] } else { &["path", "sql", "params", "create"] })?;
        let access = match (reads, args.flag("create")?) {
            (true, _) => Access::Read,
            (false, true) => Access::Make,
            (false, false) => Access::Change,
        };
        let sql = args.text("sql")?;
        if sql.len() > SQL_BYTES_MAX {
            return Err(args.wrong("sql", &format!("it has {} bytes; at most {SQL_BYTES_MAX} are taken", sql.len())));
        }
        if sql.trim().is_empty() || sql.contains('\0') {
            return Err(args.wrong("sql", "a statement is needed"));
        }
        let rows_max = args.number("limit")?.unwrap_or(ROWS);
        if !(1..=ROWS_MAX).contains(&rows_max) {
            return Err(args.wrong("limit", &format!("a number from 1 to {ROWS_MAX} is needed")));
        }
        let path = args.path("path")?;
        let allowed = if access == Access::Read { place.may_read(&path) } else { place.may_write(&path) };
        allowed?;
        let keeps = !matches!(work.undo, Undo::Never | Undo::Action(_));
        Ok(Self { path, sql, params: params(&args)?, rows_max, access, keeps })
    }

    /// What goes into the record.
    pub(super) fn recorded(&self) -> Value {
        let sum = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
        json!({
            "path": self.path,
            "sql": shortened(&self.sql, RECORDED_CHARS_MAX),
            "hash": sum(self.sql.as_bytes()),
            "params": sum(format!("{:?}", self.params).as_bytes()),
        })
    }
}

fn params(args: &Args<'_>) -> Result<Params, Failure> {
    let of = |name: String, value: &Value| sql(value).map_err(|why| args.wrong(&name, &why));
    match args.get("params") {
        None => Ok(Params::None),
        Some(Value::Array(items)) => {
            let values = items.iter().enumerate().map(|(index, value)| of(format!("params.{index}"), value));
            values.collect::<Result<_, _>>().map(Params::InOrder)
        }
        Some(Value::Object(named)) => {
            let named: &Map<String, Value> = named;
            let values = named.iter().map(|(name, value)| Ok((name.clone(), of(format!("params.{name}"), value)?)));
            values.collect::<Result<_, Failure>>().map(Params::ByName)
        }
        Some(_) => Err(wrong(format!("`params` of `{}`: a list, or names with values, is needed", args.tool()))),
    }
}

/// A value as a database has it: lists and objects become JSON texts, `{base64: …}` bytes.
fn sql(value: &Value) -> Result<Sql, String> {
    Ok(match value {
        Value::Null => Sql::Null,
        Value::Bool(yes) => Sql::Integer(i64::from(*yes)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Sql::Integer(whole),
            (None, Some(real)) => Sql::Real(real),
            (None, None) => return Err(format!("{number} is too large for a database")),
        },
        Value::String(text) => Sql::Text(text.clone()),
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("base64") => {
            let text = fields["base64"].as_str().ok_or("`base64` needs a text")?;
            let bytes = base64::engine::general_purpose::STANDARD.decode(text.trim());
            Sql::Blob(bytes.map_err(|error| format!("this is no base64: {error}"))?)
        }
        Value::Array(_) | Value::Object(_) => Sql::Text(value.to_string()),
    })
}
