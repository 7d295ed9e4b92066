//! Opening a database of the working folder, and nothing else.
//!
//! SQLite opens files by their names: it is told to follow no link, and the way there is walked by handle before and after.
//! What could reach another file (ATTACH, `VACUUM INTO`), load code or end the transaction early is refused statement by
//! statement.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio_util::sync::CancellationToken;

use super::asked::Access;
use crate::files::Root;
use crate::policy::{forbidden, wrong};
use crate::text::shortened;

/// How long someone else may hold the database.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many steps of a statement pass between two looks at whether it is to stop.
const STEPS: i32 = 10_000;
/// How long one text or one row of a statement may become; without a limit it would be a billion bytes.
const VALUE_BYTES_MAX: i32 = 32 << 20;
/// How much of a statement is shown with what is wrong in it.
const SHOWN_CHARS_MAX: usize = 100;

/// Settings that only tell something about what is named with them.
const TELLING: [&str; 11] = [
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];
/// Settings that may be read.
const READABLE: [&str; 13] = [
    "application_id",
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "encoding",
    "foreign_keys",
    "freelist_count",
    "journal_mode",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
];
/// Settings of the database, or of the transaction, that a plan may change.
const CHANGEABLE: [&str; 3] = ["application_id", "user_version", "defer_foreign_keys"];

/// An open database.
pub(super) struct Database {
    pub(super) conn: Connection,
    path: String,
    /// What a statement was not allowed to do.
    denied: Arc<Mutex<Option<String>>>,
    stop: CancellationToken,
}

impl Database {
    /// Opens a file of the working folder.
    pub(super) fn open(root: &Root, path: &str, access: Access, stop: &CancellationToken) -> Result<Self, Failure> {
        let there = root.size(path)?.is_some();
        if !there && access != Access::Make {
            let hint = if access == Access::Read { "" } else { "; `create: true` makes it" };
            return Err(wrong(format!("there is no `{path}`{hint}")));
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Change => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Make => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let database = Self::at(&root.full(path)?, path, flags | OpenFlags::SQLITE_OPEN_NOFOLLOW, stop)?;
        // Had someone put a link in the way, it would still be there or have been another file.
        root.size(path)?;
        Ok(database)
    }

    /// Opens a file that is ours alone.
    pub(super) fn own(file: &std::path::Path, path: &str, stop: &CancellationToken) -> Result<Self, Failure> {
        Self::at(file, path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, stop)
    }

    fn at(file: &std::path::Path, path: &str, flags: OpenFlags, stop: &CancellationToken) -> Result<Self, Failure> {
        let failed = |error: rusqlite::Error| words(&error, path, None);
        let conn = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
        conn.busy_timeout(PATIENCE).map_err(failed)?;
        let mut database = Self { conn, path: path.to_owned(), denied: Arc::default(), stop: stop.clone() };
        let stop = stop.clone();
        database.conn.progress_handler(STEPS, Some(move || stop.is_cancelled())).map_err(failed)?;
        Ok(database)
    }

    /// Lets statements of the plan do only what they may.
    pub(super) fn watch(&mut self, access: Access) -> Result<(), Failure> {
        self.limit(VALUE_BYTES_MAX)?;
        let denied = Arc::clone(&self.denied);
        let authorizer = move |asked: AuthContext<'_>| match refusal(&asked.action, access) {
            None => Authorization::Allow,
            Some(why) => {
                *denied.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                Authorization::Deny
            }
        };
        self.conn.authorizer(Some(authorizer)).map_err(|error| words(&error, &self.path, None))
    }

    /// What is done next is our own.
    pub(super) fn unwatch(&mut self) -> Result<(), Failure> {
        self.limit(i32::MAX)?;
        let nobody = None::<fn(AuthContext<'_>) -> Authorization>;
        self.conn.authorizer(nobody).map_err(|error| words(&error, &self.path, None))
    }

    fn limit(&self, bytes: i32) -> Result<(), Failure> {
        let set = self.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes);
        set.map(drop).map_err(|error| words(&error, &self.path, None))
    }

    /// Carries out a statement of our own.
    pub(super) fn say(&self, sql: &str) -> Result<(), Failure> {
        self.conn.execute_batch(sql).map_err(|error| words(&error, &self.path, None))
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> Failure {
        self.failed_at(error, None)
    }

    /// What is wrong with a statement that begins at a place of the SQL.
    pub(super) fn failed_in(&self, error: &rusqlite::Error, sql: &str, at: usize) -> Failure {
        let at = match error {
            // What is left of the SQL, and where in it.
            rusqlite::Error::SqlInputError { sql: rest, offset, .. } => {
                sql.len().saturating_sub(rest.len()) + usize::try_from(*offset).unwrap_or_default()
            }
            _ => at,
        };
        self.failed_at(error, Some((sql, at)))
    }

    fn failed_at(&self, error: &rusqlite::Error, at: Option<(&str, usize)>) -> Failure {
        if self.stop.is_cancelled() {
            return Failure::new(FailureClass::Cancelled, "it was stopped, and nothing was changed");
        }
        match self.denied.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(why) => forbidden(format!("{why}{}", place(at))),
            None => words(error, &self.path, at),
        }
    }
}

/// What a statement may not do.
fn refusal(action: &AuthAction<'_>, access: Access) -> Option<String> {
    let only = |what: &str| Some(format!("{what}: a plan works on one file at a time"));
    let one = |what: &str| Some(format!("{what}: all statements are one transaction already"));
    match action {
        AuthAction::Attach { .. } => only("another database cannot be attached"),
        AuthAction::Detach { .. } => only("no database can be detached"),
        AuthAction::Transaction { .. } => one("`BEGIN`, `COMMIT` and `ROLLBACK` are not for the plan"),
        AuthAction::Savepoint { .. } => one("savepoints are not for the plan"),
        AuthAction::Function { function_name } if matches!(*function_name, "load_extension" | "fts3_tokenizer") => {
            Some(format!("`{function_name}` would load code, which no plan may"))
        }
        AuthAction::Pragma { pragma_name, pragma_value } if !is_harmless(pragma_name, *pragma_value, access) => {
            Some(format!("`PRAGMA {pragma_name}` is not for the plan"))
        }
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Function { .. } => None,
        AuthAction::Pragma { .. } | AuthAction::Recursive => None,
        _ if access == Access::Read => Some("`sql.query` changes nothing; use `sql.execute`".to_owned()),
        _ => None,
    }
}

fn is_harmless(name: &str, value: Option<&str>, access: Access) -> bool {
    let name = name.to_ascii_lowercase();
    let is_in = |list: &[&str]| list.contains(&name.as_str());
    is_in(&TELLING) || (value.is_none() && is_in(&READABLE)) || (access != Access::Read && is_in(&CHANGEABLE))
}

/// Where in the SQL something is wrong.
fn place(at: Option<(&str, usize)>) -> String {
    let Some((sql, at)) = at else { return String::new() };
    let at = sql.floor_char_boundary(at);
    let line = sql[..at].matches('\n').count() + 1;
    let begin = sql[..at].rfind('\n').map_or(0, |end| end + 1);
    let text = sql[begin..].lines().next().unwrap_or_default().trim();
    format!(" (line {line} of the SQL: `{}`)", shortened(text, SHOWN_CHARS_MAX))
}

/// What SQLite says, sorted by what happens next.
fn words(error: &rusqlite::Error, path: &str, at: Option<(&str, usize)>) -> Failure {
    let said = said(error);
    let (class, what) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (FailureClass::Transient, format!("`{path}` is in use by someone else"))
        }
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => {
            (FailureClass::Transient, format!("`{path}`: {said}"))
        }
        Some(ErrorCode::OperationInterrupted) => (FailureClass::Cancelled, "it was stopped".to_owned()),
        Some(ErrorCode::NotADatabase) => {
            (FailureClass::Logic, format!("`{path}` is no SQLite database, or it is encrypted"))
        }
        Some(ErrorCode::CannotOpen) => (FailureClass::Logic, format!("`{path}` cannot be opened: {said}")),
        _ => (FailureClass::Logic, format!("`{path}`: {said}{}", place(at))),
    };
    Failure::new(class, what)
}

fn said(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::SqliteFailure(_, Some(said)) => said.clone(),
        other => other.to_string(),
    }
}
