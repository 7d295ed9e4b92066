//! Reads and checks a zip file that anyone may have made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

use gantry_core::life;
use gantry_store::{BLOB_BYTES_MAX, EffectRow, Hash, Turn};
use serde::de::DeserializeOwned;
use zip::ZipArchive;

use super::{CALLS, CONTENTS, FORMAT, JOURNAL, Line, MANIFEST, Manifest, PLAN, chain};
use crate::exit::Fault;
use crate::show::{bytes, first_line};

/// How many files are read at most.
const FILES_MAX: usize = 100_000;
/// How much they may hold in all, unpacked.
const BYTES_MAX: u64 = 4 << 30;
/// How much the manifest may hold.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// A zip file whose journal was checked.
pub struct Bundle {
    archive: ZipArchive<BufReader<File>>,
    name: String,
    /// Where each content is, by its hash.
    files: BTreeMap<Hash, String>,
    /// The life.
    pub turns: Vec<Turn>,
    /// Its calls to the outside.
    pub calls: Vec<EffectRow>,
}

/// Opens a zip file and checks everything in it but the contents of artifacts.
pub fn open(name: &str) -> Result<Bundle, Fault> {
    let file = File::open(name).map_err(|error| Fault::bad_input(format!("`{name}` cannot be read: {error}")))?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| {
        Fault::bad_input(format!("`{name}` is not a zip file: {error}")).hint("make one with `gantry export zip`")
    })?;
    let files = BTreeMap::new();
    let mut bundle = Bundle { archive, name: name.to_owned(), files, turns: Vec::new(), calls: Vec::new() };
    bundle.check_sizes()?;
    let manifest = bundle.read_all(MANIFEST, MANIFEST_BYTES_MAX)?;
    let manifest: Manifest = serde_json::from_slice(&manifest)
        .map_err(|error| bundle.bad(&format!("its manifest cannot be read: {error}")))?;
    bundle.check_manifest(&manifest)?;
    let body = bundle.checked(&manifest, PLAN)?;
    drop(body); // for people; the plan is in the journal
    bundle.turns = bundle.lines::<Line>(&manifest, JOURNAL)?.into_iter().map(Line::turn).collect();
    bundle.check_journal(&manifest)?;
    bundle.calls = bundle.lines(&manifest, CALLS)?;
    for kept in &manifest.artifacts {
        bundle.files.insert(kept.row.artifact.hash, kept.path.clone());
    }
    for packed in manifest.files.iter().filter(|packed| packed.path.starts_with(CONTENTS)) {
        bundle.files.insert(packed.hash, packed.path.clone());
    }
    let missing =
        gantry_engine::artifact_hashes(&bundle.turns).into_iter().find(|hash| !bundle.files.contains_key(hash));
    match missing {
        Some(hash) => Err(bundle.bad(&format!("the artifact with hash {hash} is missing"))),
        None => Ok(bundle),
    }
}

impl Bundle {
    fn bad(&self, why: &str) -> Fault {
        Fault::bad_input(format!("`{}` cannot be imported: {why}", self.name))
            .hint("nothing was changed; export it once more")
    }

    /// Looks at names and sizes before anything is unpacked.
    fn check_sizes(&mut self) -> Result<(), Fault> {
        if self.archive.len() > FILES_MAX {
            return Err(self.bad(&format!("it has {} files, and at most {FILES_MAX} are read", self.archive.len())));
        }
        let mut total = 0_u64;
        for at in 0..self.archive.len() {
            let looked = self.archive.by_index_raw(at).map(|file| {
                let name = String::from_utf8_lossy(file.name_raw()).into_owned();
                (name, file.size(), file.enclosed_name().is_some() && file.is_file())
            });
            let (name, size, plain) = looked.map_err(|error| self.bad(&error.to_string()))?;
            if !plain || name.starts_with('/') || name.contains('\\') || name.split('/').any(|part| part == "..") {
                return Err(self.bad(&format!("the name `{}` is not one of a file inside it", first_line(&name, 60))));
            }
            total = total.saturating_add(size);
        }
        if total > BYTES_MAX {
            return Err(self.bad(&format!("it holds {}, and at most {} are read", bytes(total), bytes(BYTES_MAX))));
        }
        Ok(())
    }

    fn check_manifest(&self, manifest: &Manifest) -> Result<(), Fault> {
        if manifest.format != FORMAT {
            let found = first_line(&manifest.format, 40);
            return Err(self.bad(&format!("its format is `{found}`, and this program reads `{FORMAT}`")));
        }
        let listed: std::collections::BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        let strange = self
            .archive
            .file_names_raw()
            .map(String::from_utf8_lossy)
            .find(|name| name != MANIFEST && !listed.contains(&**name));
        match strange {
            Some(name) => Err(self.bad(&format!("the file `{}` is not in its manifest", first_line(&name, 60)))),
            None => Ok(()),
        }
    }

    /// Reads a file, but not more of it than it may have: what a zip file says about sizes need not be true.
    fn read_all(&mut self, path: &str, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        let read = match self.archive.by_name(path) {
            Ok(file) => file.take(bytes_max + 1).read_to_end(&mut body).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        read.map_err(|why| self.bad(&format!("`{path}` cannot be unpacked: {why}")))?;
        if body.len() as u64 > bytes_max {
            return Err(self.bad(&format!("`{path}` is larger than it should be")));
        }
        Ok(body)
    }

    /// Reads a file and compares it with what the manifest says.
    fn checked(&mut self, manifest: &Manifest, path: &str) -> Result<Vec<u8>, Fault> {
        let Some(packed) = manifest.files.iter().find(|packed| packed.path == path) else {
            return Err(self.bad(&format!("`{path}` is missing")));
        };
        let body = self.read_all(path, packed.bytes.min(BYTES_MAX))?;
        if Hash::of(&body) != packed.hash {
            return Err(self.bad(&format!("`{path}` is not what was exported: its hash does not fit")));
        }
        Ok(body)
    }

    fn lines<T: DeserializeOwned>(&mut self, manifest: &Manifest, path: &str) -> Result<Vec<T>, Fault> {
        let body = self.checked(manifest, path)?;
        let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let read = |(at, line): (usize, &[u8])| {
            serde_json::from_slice(line).map_err(|error| self.bad(&format!("line {} of `{path}`: {error}", at + 1)))
        };
        lines.enumerate().map(read).collect()
    }

    /// The journal must be the very one that was exported, and a life of the plan that it says.
    fn check_journal(&self, manifest: &Manifest) -> Result<(), Fault> {
        let found = chain(&manifest.plan, &self.turns).map_err(|error| self.bad(&error.to_string()))?;
        if found != (manifest.length, manifest.head) {
            return Err(self.bad("its journal is not what was exported: the hashes do not fit"));
        }
        let entries: Vec<_> = self.turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
        // Entries that contradict each other break the fold; they must not break this program.
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let folded = std::thread::spawn(move || life::replay(&entries).map(|life| life.id().clone())).join();
        std::panic::set_hook(quiet);
        match folded {
            Ok(Ok(id)) if id == manifest.plan => Ok(()),
            Ok(Ok(id)) => Err(self.bad(&format!("its journal is that of plan `{id}`, not of `{}`", manifest.plan))),
            Ok(Err(bad)) => Err(self.bad(&bad.to_string())),
            Err(_) => Err(self.bad("its journal contradicts itself")),
        }
    }

    /// Reads the contents one by one, each checked by its hash.
    pub fn contents(&mut self) -> impl Iterator<Item = Result<Vec<u8>, Fault>> {
        let files = std::mem::take(&mut self.files);
        files.into_iter().map(|(hash, path)| {
            let body = self.read_all(&path, BLOB_BYTES_MAX)?;
            if Hash::of(&body) == hash {
                Ok(body)
            } else {
                Err(self.bad(&format!("`{path}` is not what was exported: its hash does not fit")))
            }
        })
    }
}
