//! The store in memory passes what every store passes.

gantry_store::conformance!(gantry_store::MemoryStore::new());
