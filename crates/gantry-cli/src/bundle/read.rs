//! Reads and checks a zip file that anyone may have made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use gantry_core::id::PlanId;
use gantry_core::life;
use gantry_store::{BLOB_BYTES_MAX, EffectRow, Hash, Hashing, Turn};
use serde::de::DeserializeOwned;
use zip::ZipArchive;

use super::limits::{self, LINE_BYTES_MAX, MANIFEST_BYTES_MAX};
use super::{CALLS, CONTENTS, FORMAT, JOURNAL, Line, MANIFEST, Manifest, PLAN, Packed, chain};
use crate::exit::Fault;
use crate::file;
use crate::show::{bytes, first_line};

/// A zip file whose journal was checked.
pub struct Bundle {
    archive: ZipArchive<BufReader<File>>,
    name: String,
    /// Where each content is, by its hash.
    files: BTreeMap<Hash, Packed>,
    /// The plan whose life it is.
    pub plan: PlanId,
    /// The life.
    pub turns: Vec<Turn>,
    /// Its calls to the outside.
    pub calls: Vec<EffectRow>,
}

/// Opens a zip file, and checks it.
pub fn open(name: &str) -> Result<Bundle, Fault> {
    let hint = "name a zip file that `gantry export --format zip` made";
    file::check_kind(name, hint)?;
    let file = File::open(name).map_err(|error| file::unreadable(name, &file::why(&error, "file")).hint(hint))?;
    read(name, file)
}

/// Checks everything in a zip file but the contents of artifacts.
pub fn read(name: &str, file: File) -> Result<Bundle, Fault> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| {
        Fault::bad_input(format!("`{name}` is not a zip file: {error}"))
            .hint("make one with `gantry export --format zip`")
    })?;
    let bad = |why: String| bad(name, &why);
    limits::check(&mut archive).map_err(bad)?;
    let manifest = read_manifest(&mut archive).map_err(bad)?;
    check_manifest(&archive, &manifest).map_err(bad)?;
    check_plan(&mut archive, &manifest).map_err(bad)?;
    let lines: Vec<Line> = read_lines(&mut archive, &manifest, JOURNAL).map_err(bad)?;
    let turns: Vec<Turn> = lines.into_iter().map(Line::turn).collect();
    check_journal(&manifest, &turns).map_err(bad)?;
    let calls = read_lines(&mut archive, &manifest, CALLS).map_err(bad)?;
    let files = contents(&manifest).map_err(bad)?;
    if let Some(hash) = gantry_engine::artifact_hashes(&turns).into_iter().find(|hash| !files.contains_key(hash)) {
        return Err(bad(format!("the artifact with hash {hash} is missing")));
    }
    Ok(Bundle { archive, name: name.to_owned(), files, plan: manifest.plan, turns, calls })
}

fn bad(name: &str, why: &str) -> Fault {
    Fault::bad_input(format!("`{name}` cannot be imported: {why}")).hint("no plan was made; export it once more")
}

impl Bundle {
    /// Reads the contents one by one, each checked by its hash.
    pub fn contents(&mut self) -> impl Iterator<Item = Result<Vec<u8>, Fault>> {
        let files = std::mem::take(&mut self.files);
        files.into_iter().map(|(hash, packed)| {
            let body = read_all(&mut self.archive, &packed.path, packed.bytes.min(BLOB_BYTES_MAX));
            let body = body.map_err(|why| bad(&self.name, &why))?;
            if Hash::of(&body) == hash { Ok(body) } else { Err(bad(&self.name, &not_exported(&packed.path))) }
        })
    }
}

type Archive = ZipArchive<BufReader<File>>;

fn not_exported(path: &str) -> String {
    format!("`{path}` is not what was exported: its hash does not fit")
}

fn too_large(path: &str) -> String {
    format!("`{path}` is larger than it should be")
}

fn unpacking(path: &str, why: impl std::fmt::Display) -> String {
    format!("`{path}` cannot be unpacked: {why}")
}

fn read_manifest(archive: &mut Archive) -> Result<Manifest, String> {
    let body = read_all(archive, MANIFEST, MANIFEST_BYTES_MAX)?;
    serde_json::from_slice(&body).map_err(|error| format!("its manifest cannot be read: {error}"))
}

fn check_manifest(archive: &Archive, manifest: &Manifest) -> Result<(), String> {
    if manifest.format != FORMAT {
        let found = first_line(&manifest.format, 40);
        return Err(format!("its format is `{found}`, and this program reads `{FORMAT}`"));
    }
    let listed: std::collections::BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let mut names = archive.file_names_raw().map(String::from_utf8_lossy);
    match names.find(|name| name != MANIFEST && !listed.contains(&**name)) {
        Some(name) => Err(format!("the file `{}` is not in its manifest", first_line(&name, 60))),
        None => Ok(()),
    }
}

fn listed<'m>(manifest: &'m Manifest, path: &str) -> Result<&'m Packed, String> {
    manifest.files.iter().find(|packed| packed.path == path).ok_or_else(|| format!("`{path}` is missing"))
}

/// Where each content is, by its hash.
fn contents(manifest: &Manifest) -> Result<BTreeMap<Hash, Packed>, String> {
    let by_path: BTreeMap<&str, &Packed> = manifest.files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut files = BTreeMap::new();
    for kept in &manifest.artifacts {
        let packed =
            by_path.get(kept.path.as_str()).ok_or_else(|| format!("`{}` is missing", first_line(&kept.path, 60)))?;
        files.insert(kept.row.artifact.hash, (*packed).clone());
    }
    for packed in manifest.files.iter().filter(|packed| packed.path.starts_with(CONTENTS)) {
        files.insert(packed.hash, packed.clone());
    }
    Ok(files)
}

/// Reads a file, but not more of it than it may have: what a zip file says about sizes need not be true.
fn read_all(archive: &mut Archive, path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    let file = archive.by_name(path).map_err(|error| unpacking(path, error))?;
    let mut body = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut body).map_err(|error| unpacking(path, error))?;
    if body.len() as u64 > bytes_max { Err(too_large(path)) } else { Ok(body) }
}

/// The plan is there for people, and is in the journal, too: it is compared piece by piece and not kept.
fn check_plan(archive: &mut Archive, manifest: &Manifest) -> Result<(), String> {
    let packed = listed(manifest, PLAN)?;
    let mut file = archive.by_name(PLAN).map_err(|error| unpacking(PLAN, error))?;
    let (mut hashing, mut length, mut piece) = (Hashing::default(), 0, [0; 16 << 10]);
    while length <= packed.bytes {
        match file.read(&mut piece).map_err(|error| unpacking(PLAN, error))? {
            0 => return if hashing.hash() == packed.hash { Ok(()) } else { Err(not_exported(PLAN)) },
            read => {
                hashing.add(&piece[..read]);
                length += read as u64;
            }
        }
    }
    Err(too_large(PLAN))
}

/// Reads a file of one JSON value per line, one line at a time.
///
/// A file that is not what was exported is called that, whatever nonsense is in its lines.
fn read_lines<T: DeserializeOwned>(archive: &mut Archive, manifest: &Manifest, path: &str) -> Result<Vec<T>, String> {
    let packed = listed(manifest, path)?;
    let file = archive.by_name(path).map_err(|error| unpacking(path, error))?;
    let mut file = BufReader::new(file.take(packed.bytes + 1));
    let (mut items, mut nonsense, mut line) = (Vec::new(), None, Vec::new());
    let (mut hashing, mut length) = (Hashing::default(), 0);
    for number in 1.. {
        line.clear();
        let read = file.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line);
        let read = read.map_err(|error| unpacking(path, error))? as u64;
        if read == 0 {
            break;
        }
        if read > LINE_BYTES_MAX {
            return Err(format!("line {number} of `{path}` has more than {}", bytes(LINE_BYTES_MAX)));
        }
        hashing.add(&line);
        length += read;
        if nonsense.is_none() && !line.trim_ascii().is_empty() {
            match serde_json::from_slice(&line) {
                Ok(item) => items.push(item),
                Err(error) => nonsense = Some(format!("line {number} of `{path}`: {error}")),
            }
        }
    }
    if length > packed.bytes {
        return Err(too_large(path));
    }
    if hashing.hash() != packed.hash {
        return Err(not_exported(path));
    }
    nonsense.map_or(Ok(items), Err)
}

/// The journal must be the very one that was exported, and a life of the plan that it says.
fn check_journal(manifest: &Manifest, turns: &[Turn]) -> Result<(), String> {
    let found = chain(&manifest.plan, turns).map_err(|error| error.to_string())?;
    if found != (manifest.length, manifest.head) {
        return Err("its journal is not what was exported: the hashes do not fit".to_owned());
    }
    let entries: Vec<_> = turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
    match super::quietly(move || life::replay(&entries).map(|life| life.id().clone())) {
        Some(Ok(id)) if id == manifest.plan => Ok(()),
        Some(Ok(id)) => Err(format!("its journal is that of plan `{id}`, not of `{}`", manifest.plan)),
        Some(Err(bad)) => Err(bad.to_string()),
        None => Err("its journal contradicts itself".to_owned()),
    }
}
