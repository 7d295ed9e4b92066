//! Carries out statements: one that asks, or several that change.

use base64::Engine;
use gantry_core::effect::Failure;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Statement};
use serde_json::{Map, Value, json};

use super::asked::{Asked, Params};
use super::open::Database;
use crate::policy::wrong;
use crate::text::{shortened, visible};

/// How much all rows that are handed on have together.
const ROWS_BYTES_MAX: usize = 512 << 10;
/// How much of a statement is shown.
const SHOWN_CHARS_MAX: usize = 120;

/// What came of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ran {
    /// The statement, in one line.
    pub(super) sql: String,
    /// How many rows it made, changed or deleted, those of triggers included.
    pub(super) changed: u64,
    /// What it gave.
    pub(super) table: Table,
}

/// Rows that a statement gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Value>,
    /// There are more.
    pub(super) truncated: bool,
}

/// Carries out one statement that asks.
pub(super) fn query(database: &Database, asked: &Asked) -> Result<Table, Failure> {
    let mut all = each(database, asked)?;
    match all.len() {
        1 => Ok(all.remove(0).table),
        more => Err(wrong(format!("`sql.query` takes one statement, and there are {more}; ask once for each"))),
    }
}

/// Carries out all statements, in order. Values belong to a statement that stands alone.
pub(super) fn each(database: &Database, asked: &Asked) -> Result<Vec<Ran>, Failure> {
    let sql = asked.sql.as_str();
    let (mut at, mut all) = (0, Vec::new());
    if asked.params != Params::None {
        let statement = match database.conn.prepare(sql) {
            Ok(statement) => statement,
            Err(rusqlite::Error::MultipleStatement) => {
                return Err(wrong("`params` are for one statement, and there are several"));
            }
            Err(error) => return Err(database.failed_in(&error, sql, 0)),
        };
        let begin = sql.len() - sql.trim_start().len();
        return statement
            .expanded_sql()
            .map_or_else(|| Err(none()), |_| Ok(vec![one(database, statement, asked, begin, sql)?]));
    }
    while at < sql.len() {
        at += sql[at..].len() - sql[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ';').len();
        let prepared = Batch::new(&database.conn, &sql[at..]).next();
        let Some(statement) = prepared.map_err(|error| database.failed_in(&error, sql, at))? else { break };
        // Without values in it, this is how it is written, up to its end.
        let text = statement.expanded_sql().unwrap_or_default();
        let begin = at + sql[at..].find(&text).unwrap_or_default();
        all.push(one(database, statement, asked, begin, &text)?);
        at = sql.ceil_char_boundary(begin + text.len().max(1));
    }
    if all.is_empty() { Err(none()) } else { Ok(all) }
}

fn none() -> Failure {
    wrong("there is no statement in the SQL")
}

fn one(
    database: &Database,
    mut statement: Statement<'_>,
    asked: &Asked,
    at: usize,
    text: &str,
) -> Result<Ran, Failure> {
    let failed = |error: rusqlite::Error| database.failed_in(&error, &asked.sql, at);
    bind(&mut statement, &asked.params, failed)?;
    let columns = names(&statement);
    let before = database.conn.total_changes();
    let mut table = Table { columns, ..Table::default() };
    let (mut rows, mut bytes) = (statement.raw_query(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        if table.truncated {
            continue; // it has to be carried out to its end
        }
        let (mut fields, mut raw) = (Map::new(), bytes);
        for (index, name) in table.columns.iter().enumerate() {
            let value = row.get_ref(index).map_err(failed)?;
            raw += length(value);
            if raw > ROWS_BYTES_MAX {
                break; // before there are copies of it
            }
            fields.insert(name.clone(), json_of(value));
        }
        let row = Value::Object(fields);
        bytes += row.to_string().len();
        if table.rows.len() >= asked.rows_max || raw.max(bytes) > ROWS_BYTES_MAX {
            table.truncated = true;
            if statement_only_asks(asked) {
                break;
            }
            continue;
        }
        table.rows.push(row);
    }
    drop(rows);
    let sql = shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), SHOWN_CHARS_MAX);
    Ok(Ran { sql, changed: database.conn.total_changes() - before, table })
}

fn statement_only_asks(asked: &Asked) -> bool {
    asked.access == super::asked::Access::Read
}

fn bind(
    statement: &mut Statement<'_>,
    params: &Params,
    failed: impl Fn(rusqlite::Error) -> Failure,
) -> Result<(), Failure> {
    let count = statement.parameter_count();
    let given = match params {
        Params::None => 0,
        Params::InOrder(values) => values.len(),
        Params::ByName(values) => values.len(),
    };
    if count != given {
        return Err(wrong(format!("the statement has {count} parameters, and `params` gives {given}")));
    }
    match params {
        Params::None => {}
        Params::InOrder(values) => {
            for (index, value) in values.iter().enumerate() {
                statement.raw_bind_parameter(index + 1, value).map_err(&failed)?;
            }
        }
        Params::ByName(values) => {
            for (name, value) in values {
                let spelled = [":", "@", "$"].map(|sign| format!("{sign}{name}"));
                let index = spelled.iter().find_map(|name| statement.parameter_index(name).ok().flatten());
                let index = index.ok_or_else(|| wrong(format!("the statement has no parameter `:{name}`")))?;
                statement.raw_bind_parameter(index, value).map_err(&failed)?;
            }
        }
    }
    Ok(())
}

/// The names of the columns; a name that is there already gets a number.
fn names(statement: &Statement<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in statement.column_names() {
        let mut unique = name.to_owned();
        let mut number = 1;
        while names.contains(&unique) {
            number += 1;
            unique = format!("{name}:{number}");
        }
        names.push(unique);
    }
    names
}

/// How many bytes a value has that may be long.
fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => json!(whole),
        ValueRef::Real(real) => json!(real),
        ValueRef::Text(text) => json!(visible(text)),
        ValueRef::Blob(bytes) => json!({"base64": base64::engine::general_purpose::STANDARD.encode(bytes)}),
    }
}
