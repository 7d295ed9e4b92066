//! The store in a file passes what every store passes.

gantry_store::conformance!(gantry_store_sqlite::SqliteStore::temporary().unwrap());
