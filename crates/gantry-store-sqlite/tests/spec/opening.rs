//! Files that are not what they should be.

use gantry_store::{Store, StoreError};
use gantry_store_sqlite::SqliteStore;
use rusqlite::Connection;

use crate::kit::{Folder, append, grow, older, plan, read_all};

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    drop(folder.store());
    Connection::open(folder.database()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let before = std::fs::read(folder.database()).unwrap();
    let refused = StoreError::NewerSchema { found: 99, known: 4 };
    assert_eq!(SqliteStore::open(folder.database()).err(), Some(refused.clone()));
    assert_eq!(SqliteStore::open_read_only(folder.database()).err(), Some(refused));
    assert_eq!(std::fs::read(folder.database()).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let folder = Folder::new();
    Connection::open(folder.database()).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = std::fs::read(folder.database()).unwrap();
    let refused = SqliteStore::open(folder.database()).err();
    assert!(matches!(&refused, Some(StoreError::Foreign { what }) if what.contains("another program")), "{refused:?}");
    assert_eq!(std::fs::read(folder.database()).unwrap(), before);
}

#[test]
fn what_is_no_database_at_all_is_named() {
    let folder = Folder::new();
    std::fs::write(folder.database(), "dear diary, ".repeat(200)).unwrap();
    let refused = SqliteStore::open(folder.database()).err();
    assert!(matches!(&refused, Some(StoreError::Foreign { what }) if what.contains("gantry.db")), "{refused:?}");
    std::fs::create_dir(folder.file("folder")).unwrap();
    for (path, kind) in [
        (folder.file("folder"), "Foreign"),
        (folder.file("missing/gantry.db"), "NotFound"),
        (folder.file("gantry.db/inside.db"), "Foreign"),
    ] {
        let error = SqliteStore::open(&path).err().unwrap();
        assert!(format!("{error:?}").starts_with(kind), "{}: {error:?}", path.display());
    }
    let missing = SqliteStore::open_read_only(folder.file("none.db")).err();
    assert!(matches!(missing, Some(StoreError::NotFound { .. })), "{missing:?}");
    assert!(!folder.file("none.db").exists(), "reading makes no file");
}

#[test]
fn a_file_whose_second_half_is_noise_is_damaged_not_empty() {
    let folder = Folder::new();
    drop(folder.store());
    let mut bytes = std::fs::read(folder.database()).unwrap();
    for byte in &mut bytes[100..4_096] {
        *byte = 0xa5;
    }
    std::fs::write(folder.database(), bytes).unwrap();
    let refused = SqliteStore::open(folder.database()).and_then(|store| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.info())
    });
    assert!(matches!(&refused, Err(StoreError::Corrupt { hint, .. }) if hint.contains("quick_check")), "{refused:?}");
}

#[tokio::test]
async fn opening_twice_keeps_everything_and_migrates_nothing() {
    let folder = Folder::new();
    assert_eq!(SqliteStore::migrate(folder.database()), Ok((0, 4)));
    let _ = grow(&folder.store(), "a", 3).await;
    assert_eq!(SqliteStore::migrate(folder.database()), Ok((4, 4)));
    let info = folder.store().info().await.unwrap();
    assert_eq!((info.schema, info.plans, info.turns, info.blobs), (4, 1, 3, 0));
    assert_eq!(info.path, folder.database());
}

#[test]
fn a_new_record_and_its_copies_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let store = folder.store();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.backup(folder.file("copy.db"))).unwrap();
    for name in ["gantry.db", "gantry.db-wal", "copy.db"] {
        let mode = std::fs::metadata(folder.file(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_record_of_each_older_schema_opens_with_everything_in_it() {
    for schema in [1, 2, 3] {
        let folder = Folder::new();
        let before = older(&folder, schema).await;
        let store = folder.store();
        assert_eq!(read_all(&store).await.unwrap(), before, "schema {schema}");
        assert_eq!(store.info().await.unwrap().schema, 4);
        let _ = grow(&store, "c", 2).await;
        // Turns of the older schema and of this one stand beside each other in one plan.
        let _ = store.append(append("a", 6, 3)).await.unwrap();
        let report = store.verify(&plan("a")).await.unwrap();
        assert!(report.is_sound() && (report.length, report.turns) == (9, 4), "schema {schema}: {report:?}");
        assert_eq!(store.turns(&plan("a"), 3, 100).await.unwrap().items.len(), 3, "in their order");
        assert_eq!(SqliteStore::migrate(folder.database()), Ok((4, 4)), "it was brought to the newest schema at once");
        assert!(store.check().await.unwrap().is_empty());
    }
}
