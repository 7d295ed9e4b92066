//! Keeps plans in one SQLite file.
