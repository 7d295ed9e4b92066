//! Artifacts as people want to see them: what a running task has handed in so far is one line, not one for each part.

use gantry_store::ArtifactRow;
use serde_json::{Value, json};

use crate::bytes;
use crate::count;

/// An artifact, or the parts of one that is still growing.
pub struct Shown<'r> {
    /// The artifact; the newest part of several.
    pub row: &'r ArtifactRow,
    /// The name of the whole, and in how many parts it is there; none when it is there as a whole.
    growing: Option<(&'r str, usize)>,
    bytes: u64,
}

impl Shown<'_> {
    /// What it is called.
    pub fn name(&self) -> String {
        match self.growing {
            Some((whole, parts)) => format!("{whole} ({}, growing)", count(parts, "part")),
            None => format!("{}@{}", self.row.artifact.name, self.row.version),
        }
    }

    /// How large it is, in words.
    pub fn size(&self) -> String {
        bytes(self.bytes)
    }

    /// The artifact, for programs. What is still growing has a name and a size, and no version and no hash yet.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self.row);
        if let (Some((whole, parts)), Some(fields)) = (self.growing, value.as_object_mut()) {
            fields.extend([
                ("name".to_owned(), json!(whole)),
                ("bytes".to_owned(), json!(self.bytes)),
                ("version".to_owned(), Value::Null),
                ("hash".to_owned(), Value::Null),
                ("growing".to_owned(), json!({"parts": parts})),
            ]);
        }
        value
    }
}

/// Folds parts. Once the whole of an attempt is there, its parts are not shown any more.
pub fn folded(rows: &[ArtifactRow]) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(whole) = row.artifact.whole_name() else {
            shown.push(Shown { row, growing: None, bytes: row.artifact.bytes });
            continue;
        };
        let same = |other: &&ArtifactRow| {
            other.artifact.task == row.artifact.task && other.artifact.attempt == row.artifact.attempt
        };
        let is_part = |other: &&ArtifactRow| same(other) && other.artifact.whole_name() == Some(whole);
        let there = rows.iter().filter(same).any(|other| other.artifact.name == whole);
        if there || rows[..at].iter().any(|other| is_part(&other)) {
            continue;
        }
        let parts: Vec<&ArtifactRow> = rows[at..].iter().filter(is_part).collect();
        let bytes = parts.iter().map(|part| part.artifact.bytes).sum();
        shown.push(Shown { row: parts.last().copied().unwrap_or(row), growing: Some((whole, parts.len())), bytes });
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_core::id::{AttemptNo, PlanId, TaskId};
    use gantry_core::time::Timestamp;
    use gantry_store::{Hash, NewArtifact};

    fn row(name: &str, attempt: u32, bytes: u64) -> ArtifactRow {
        ArtifactRow {
            plan: PlanId::slugged("p"),
            version: 1,
            artifact: NewArtifact {
                task: TaskId::new("t").unwrap(),
                name: name.to_owned(),
                hash: Hash::of(name.as_bytes()),
                bytes,
                media: String::new(),
                attempt: AttemptNo(attempt),
                made_by: "attempt".to_owned(),
                at: Timestamp::from_ms(0),
            },
        }
    }

    fn drawn(rows: &[ArtifactRow]) -> Vec<String> {
        folded(rows).into_iter().map(|shown| format!("{} {}", shown.name(), shown.size())).collect()
    }

    #[test]
    fn parts_are_one_line_until_the_whole_is_there() {
        let mut rows = vec![row("stdout.part-1", 1, 10), row("log.txt", 1, 3), row("stdout.part-2", 1, 20)];
        assert_eq!(drawn(&rows), ["stdout (2 parts, growing) 30 B", "log.txt@1 3 B"]);
        rows.push(row("stdout", 1, 30));
        rows.push(row("stdout.part-1", 2, 5));
        assert_eq!(drawn(&rows), ["log.txt@1 3 B", "stdout@1 30 B", "stdout (1 part, growing) 5 B"]);
    }

    #[test]
    fn programs_see_what_is_still_growing_without_a_version_and_a_hash() {
        let rows = [row("stdout.part-1", 1, 10), row("stdout.part-2", 1, 20), row("log.txt", 1, 3)];
        let [growing, whole] = &folded(&rows)[..] else { panic!("two are shown") };
        let growing = growing.to_json();
        assert_eq!((&growing["name"], &growing["bytes"]), (&json!("stdout"), &json!(30)));
        assert_eq!((&growing["version"], &growing["hash"]), (&Value::Null, &Value::Null));
        assert_eq!(growing["growing"], json!({"parts": 2}));
        assert_eq!(whole.to_json(), json!(rows[2]));
    }
}
