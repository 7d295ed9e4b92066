//! Packs a plan's life.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};

use gantry_core::id::PlanId;
use gantry_store::{ArtifactRow, Hashing, Store};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::limits::{self, LINE_BYTES_MAX};
use super::{CALLS, CONTENTS, FORMAT, JOURNAL, Kept, Line, MANIFEST, Manifest, PLAN, Packed, chain};
use crate::artifact;
use crate::contents;
use crate::exit::Fault;
use crate::show::bytes;

/// How much of an artifact's name is in the name of its file.
const NAME_CHARS_MAX: usize = 80;

/// Makes the zip file of a plan in an empty file, and winds it back; the same life gives the same bytes.
///
/// Contents go through memory one by one. What no import would take is refused.
pub async fn pack(store: &dyn Store, id: &PlanId, file: &mut File) -> Result<(), Fault> {
    if let Some(problem) = gantry_engine::verify(store, id).await?.problems.first() {
        return Err(Fault::internal(format!("the record of `{id}` is damaged: {}", problem.what))
            .hint(format!("see what is still sound with `gantry audit {id}`")));
    }
    fill(store, id, file).await?;
    file.seek(SeekFrom::Start(0)).map_err(io)?;
    let mut archive = ZipArchive::new(BufReader::new(&mut *file)).map_err(io)?;
    limits::check(&mut archive).map_err(|why| too_large(id, &why))?;
    drop(archive);
    file.seek(SeekFrom::Start(0)).map(drop).map_err(io)
}

async fn fill(store: &dyn Store, id: &PlanId, file: &mut File) -> Result<(), Fault> {
    // The plan may go on meanwhile: what was read here is what counts.
    let turns = gantry_engine::turns(store, id).await?;
    let (length, head) = chain(id, &turns)?;
    let entries: Vec<_> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    let life = gantry_core::life::replay(&entries)
        .map_err(|bad| Fault::internal(format!("the journal of `{id}` cannot be read: {bad}")))?;
    let mut packer = Packer { zip: ZipWriter::new(BufWriter::new(file)), files: Vec::new() };
    packer.add(PLAN.to_owned(), [Ok(gantry_format::to_yaml(&life.plan()).into_bytes())].into_iter())?;
    packer.add(JOURNAL.to_owned(), turns.into_iter().map(|turn| line(id, &Line::of(turn)?)))?;
    packer.add(CALLS.to_owned(), contents::calls(store, id).await?.iter().map(|call| line(id, call)))?;
    let (mut artifacts, mut names, mut known) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for row in artifact::all(store, id).await? {
        let body = artifact::content(store, &row).await?;
        let path = path_of(&row, &mut names);
        packer.add(path.clone(), [Ok(body)].into_iter())?;
        known.insert(row.artifact.hash);
        artifacts.push(Kept { path, row });
    }
    for hash in contents::referred(store, id).await?.difference(&known).copied() {
        if let Some(body) = store.get_blob(hash).await? {
            packer.add(format!("{CONTENTS}{hash}"), [Ok(body)].into_iter())?;
        }
    }
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        plan: id.clone(),
        title: life.header().name().to_owned(),
        length,
        head,
        files: std::mem::take(&mut packer.files),
        artifacts,
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| Fault::internal(error.to_string()))?;
    packer.add(MANIFEST.to_owned(), [Ok(text)].into_iter())?;
    packer.zip.finish().map_err(io)?.flush().map_err(io)
}

fn io(error: impl std::fmt::Display) -> Fault {
    Fault::internal(format!("the zip file cannot be made: {error}"))
}

fn too_large(id: &PlanId, why: &str) -> Fault {
    Fault::refused(format!("plan `{id}` is too large for a zip file that `gantry import` would take: {why}"))
        .hint("copy the whole record instead with `gantry db backup FILE`")
}

/// One value as a line.
fn line(id: &PlanId, value: &impl serde::Serialize) -> Result<Vec<u8>, Fault> {
    let mut line = serde_json::to_vec(value).map_err(|error| Fault::internal(error.to_string()))?;
    line.push(b'\n');
    if line.len() as u64 > LINE_BYTES_MAX {
        return Err(too_large(id, &format!("one turn or call has more than {}", bytes(LINE_BYTES_MAX))));
    }
    Ok(line)
}

/// Writes files, and notes what is in each.
struct Packer<W: Write + Seek> {
    zip: ZipWriter<W>,
    files: Vec<Packed>,
}

impl<W: Write + Seek> Packer<W> {
    /// Adds a file that comes in pieces.
    fn add(&mut self, path: String, pieces: impl Iterator<Item = Result<Vec<u8>, Fault>>) -> Result<(), Fault> {
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(0o644);
        self.zip.start_file(path.as_str(), options).map_err(io)?;
        let (mut hashing, mut bytes) = (Hashing::default(), 0);
        for piece in pieces {
            let piece = piece?;
            self.zip.write_all(&piece).map_err(io)?;
            hashing.add(&piece);
            bytes += piece.len() as u64;
        }
        self.files.push(Packed { path, bytes, hash: hashing.hash() });
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use gantry_store::Hash;

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
