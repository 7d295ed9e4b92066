//! Packs a plan's life.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};

use gantry_core::id::PlanId;
use gantry_store::{ArtifactRow, Hash, Store};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{CALLS, CONTENTS, FORMAT, JOURNAL, Kept, Line, MANIFEST, Manifest, PLAN, Packed, chain};
use crate::artifact;
use crate::contents;
use crate::exit::Fault;

/// How much of an artifact's name is in the name of its file.
const NAME_CHARS_MAX: usize = 80;

/// Makes the zip file of a plan; the same life gives the same bytes.
pub async fn pack(store: &dyn Store, id: &PlanId) -> Result<Vec<u8>, Fault> {
    if let Some(problem) = store.verify(id).await?.problems.first() {
        return Err(Fault::internal(format!("the record of `{id}` is damaged: {}", problem.what))
            .hint(format!("see what is still sound with `gantry audit {id}`")));
    }
    // The plan may go on meanwhile: what was read here is what counts.
    let turns = gantry_engine::turns(store, id).await?;
    let (length, head) = chain(id, &turns)?;
    let entries: Vec<_> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    let life = gantry_core::life::replay(&entries)
        .map_err(|bad| Fault::internal(format!("the journal of `{id}` cannot be read: {bad}")))?;
    let calls = contents::calls(store, id).await?;
    let journal = turns.into_iter().map(Line::of).collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<(String, Vec<u8>)> = vec![
        (PLAN.to_owned(), gantry_format::to_yaml(&life.plan()).into_bytes()),
        (JOURNAL.to_owned(), lines(journal.into_iter())?),
        (CALLS.to_owned(), lines(calls.iter())?),
    ];
    let (mut artifacts, mut names) = (Vec::new(), BTreeSet::new());
    for row in artifact::all(store, id).await? {
        let body = store.get_blob(row.artifact.hash).await?;
        let body = body.ok_or_else(|| Fault::internal(format!("the content of `{}` is gone", row.reference())))?;
        let path = path_of(&row, &mut names);
        files.push((path.clone(), body));
        artifacts.push(Kept { path, row });
    }
    let known: BTreeSet<Hash> = artifacts.iter().map(|kept: &Kept| kept.row.artifact.hash).collect();
    for hash in contents::referred(store, id).await?.difference(&known).copied() {
        if let Some(body) = store.get_blob(hash).await? {
            files.push((format!("{CONTENTS}{hash}"), body));
        }
    }
    let packed = |(path, body): &(String, Vec<u8>)| Packed {
        path: path.clone(),
        bytes: body.len() as u64,
        hash: Hash::of(body),
    };
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        plan: id.clone(),
        title: life.header().name().to_owned(),
        length,
        head,
        files: files.iter().map(packed).collect(),
        artifacts,
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| Fault::internal(error.to_string()))?;
    files.insert(0, (MANIFEST.to_owned(), text));
    zip(&files).map_err(|error| Fault::internal(format!("the zip file cannot be made: {error}")))
}

fn lines<T: serde::Serialize>(items: impl Iterator<Item = T>) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    for item in items {
        serde_json::to_writer(&mut bytes, &item).map_err(|error| Fault::internal(error.to_string()))?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// A name that any file system takes, near to the artifact's own.
fn path_of(row: &ArtifactRow, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = row.artifact.name.chars().map(plain).take(NAME_CHARS_MAX).collect();
    let path = format!("artifacts/{}/{}-{name}", row.artifact.task, row.version);
    let path = if taken.contains(&path) { format!("{path}-{}", row.artifact.hash) } else { path };
    taken.insert(path.clone());
    path
}

fn zip(files: &[(String, Vec<u8>)]) -> zip::result::ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(0o644);
    for (path, body) in files {
        writer.start_file(path.as_str(), options)?;
        writer.write_all(body)?;
    }
    Ok(writer.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_artifacts_cannot_lead_out_of_the_zip_file() {
        let row: ArtifactRow = serde_json::from_value(serde_json::json!({
            "plan": "p", "task": "t", "version": 1, "name": "../../etc/pass wd", "bytes": 0, "media": "", "attempt": 1,
            "hash": Hash::of(b"").to_string(), "at": "2026-01-01T00:00:00Z", "made_by": "attempt",
        }))
        .unwrap();
        let mut taken = BTreeSet::new();
        assert_eq!(path_of(&row, &mut taken), "artifacts/t/1-.._.._etc_pass_wd");
        assert_ne!(path_of(&row, &mut taken), "artifacts/t/1-.._.._etc_pass_wd", "each has a file of its own");
    }
}
