//! The schema and the way to it: one SQL file for each version, each in one transaction.
//!
//! The version stands in the file's header and is written by the same transaction as the change, so
//! a crash leaves the file at one version or at the next. Released files are never edited.

use gantry_store::StoreError;
use rusqlite::Connection;

use crate::error::sql;

/// Marks the file as ours: `GNTR`.
const APPLICATION_ID: i32 = 0x474e_5452;

/// The way from nothing to the newest schema.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_record.sql"),
    include_str!("../migrations/0002_recall.sql"),
    include_str!("../migrations/0003_dropped.sql"),
    include_str!("../migrations/0004_turns.sql"),
];

/// The schema that this program writes.
pub(crate) fn known_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

fn header(conn: &Connection, field: &str) -> Result<i64, StoreError> {
    conn.query_row(&format!("PRAGMA {field}"), [], |row| row.get(0)).map_err(|error| sql(&error, "reading the header"))
}

/// Reads the schema version of a file and refuses files that are not ours or too new.
pub(crate) fn version(conn: &Connection, known: u32) -> Result<u32, StoreError> {
    let found = u32::try_from(header(conn, "user_version")?).unwrap_or(u32::MAX);
    let is_ours = || -> Result<bool, StoreError> { Ok(header(conn, "application_id")? == i64::from(APPLICATION_ID)) };
    if !is_ours()? {
        let objects: i64 = conn
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| sql(&error, "reading the schema"))?;
        if objects > 0 || found > 0 {
            if is_ours()? {
                return self::version(conn, known); // another process made it between two looks
            }
            return Err(StoreError::Foreign { what: "it is an SQLite database of another program".to_owned() });
        }
        return Ok(0);
    }
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    Ok(found)
}

/// Brings a file to the newest schema; returns the versions before and after.
pub(crate) fn migrate(conn: &mut Connection, migrations: &[&str]) -> Result<(u32, u32), StoreError> {
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let before = version(conn, known)?;
    for (number, script) in (1..).zip(migrations) {
        if number > before {
            step(conn, number, script, known)?;
        }
    }
    Ok((before, known))
}

fn step(conn: &mut Connection, number: u32, script: &str, known: u32) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| sql(&error, &format!("migrating the record to schema {number}"));
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it while this one waited for the lock.
    if version(&tx, known)? >= number {
        return Ok(());
    }
    tx.execute_batch(script).map_err(failed)?;
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    tx.pragma_update(None, "user_version", number).map_err(failed)?;
    tx.commit().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = "ALTER TABLE plan ADD COLUMN mood TEXT; CREATE TABLE extra (x INTEGER) STRICT;";

    fn tables(conn: &Connection) -> i64 {
        conn.query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |row| row.get(0)).unwrap()
    }

    /// The migrations of this program, and one of a later one.
    fn and(next: &'static str) -> Vec<&'static str> {
        MIGRATIONS.iter().copied().chain([next]).collect()
    }

    #[test]
    fn a_record_of_an_older_program_is_brought_to_the_newest_schema() {
        let (mut conn, known) = (Connection::open_in_memory().unwrap(), known_version());
        assert_eq!(migrate(&mut conn, MIGRATIONS), Ok((0, known)));
        assert_eq!(migrate(&mut conn, &and(NEXT)), Ok((known, known + 1)));
        assert_eq!(
            migrate(&mut conn, &and(NEXT)),
            Ok((known + 1, known + 1)),
            "the second time there is nothing to do"
        );
        conn.execute_batch("SELECT mood FROM plan").unwrap();
    }

    #[test]
    fn a_migration_that_fails_midway_leaves_the_older_schema() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let before = tables(&conn);
        let broken = and("CREATE TABLE half (x INTEGER) STRICT; SELECT nonsense;");
        assert!(migrate(&mut conn, &broken).is_err());
        assert_eq!((tables(&conn), version(&conn, 9).unwrap()), (before, known_version()));
    }

    #[test]
    fn a_newer_schema_is_refused_by_both_numbers() {
        let (mut conn, known) = (Connection::open_in_memory().unwrap(), known_version());
        migrate(&mut conn, &and(NEXT)).unwrap();
        assert_eq!(migrate(&mut conn, MIGRATIONS), Err(StoreError::NewerSchema { found: known + 1, known }));
    }
}
