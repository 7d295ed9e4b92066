//! How much a zip file may hold. What `gantry export` makes keeps to it, and what `gantry import` reads is held to it.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::{CALLS, JOURNAL, PLAN};
use crate::show::{bytes, first_line};

/// How many files.
const FILES_MAX: usize = 100_000;
/// How much all of them may hold in all, unpacked.
const BYTES_MAX: u64 = 4 << 30;
/// How much the plan, the journal and the calls may hold, each. They are held in memory, in several times that much.
const TEXT_BYTES_MAX: u64 = 256 << 20;
/// How much one line of them may hold.
pub const LINE_BYTES_MAX: u64 = 64 << 20;
/// How much the manifest may hold.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// How many times larger a file may become when it is unpacked. Journals come to twenty or thirty.
const GROWTH_MAX: u64 = 200;
/// Files up to this size may grow as much as they like: zeros pack well.
const SMALL_BYTES: u64 = 8 << 20;

/// Looks at names and sizes before anything is unpacked. The sizes need not be true: whoever reads counts again.
pub fn check<F: Read + Seek>(archive: &mut ZipArchive<F>) -> Result<(), String> {
    if archive.len() > FILES_MAX {
        return Err(format!("it has {} files, and at most {FILES_MAX} are read", archive.len()));
    }
    let mut total = 0_u64;
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(file.name_raw()).into_owned();
        let plain = file.enclosed_name().is_some() && file.is_file();
        if !plain || name.starts_with('/') || name.contains('\\') || name.split('/').any(|part| part == "..") {
            return Err(format!("the name `{}` is not one of a file inside it", first_line(&name, 60)));
        }
        check_size(&name, file.size(), file.compressed_size())?;
        total = total.saturating_add(file.size());
    }
    if total > BYTES_MAX {
        return Err(format!("it holds {}, and at most {} are read", bytes(total), bytes(BYTES_MAX)));
    }
    Ok(())
}

/// Looks at the size of one file: texts are read as a whole, artifacts one by one.
fn check_size(name: &str, unpacked: u64, packed: u64) -> Result<(), String> {
    if ![PLAN, JOURNAL, CALLS, super::MANIFEST].contains(&name) {
        return Ok(());
    }
    if unpacked > TEXT_BYTES_MAX {
        return Err(format!("`{name}` has {}, and at most {} are read", bytes(unpacked), bytes(TEXT_BYTES_MAX)));
    }
    if unpacked > SMALL_BYTES && unpacked > packed.saturating_mul(GROWTH_MAX) {
        return Err(format!("`{name}` becomes more than {GROWTH_MAX} times larger when it is unpacked"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_held_to_their_size_and_to_their_growth() {
        let told = |name, unpacked, packed| check_size(name, unpacked, packed).err().unwrap_or_default();
        assert_eq!(told(JOURNAL, 4 << 20, 1), "", "a small file may grow");
        assert_eq!(told(JOURNAL, 100 << 20, 1 << 20), "");
        assert_eq!(
            told(CALLS, 100 << 20, 100 << 10),
            "`calls.jsonl` becomes more than 200 times larger when it is unpacked"
        );
        assert_eq!(told(PLAN, 300 << 20, 200 << 20), "`plan.yaml` has 300.0 MiB, and at most 256.0 MiB are read");
        assert_eq!(told("artifacts/a/1-zeros", 200 << 20, 1), "", "artifacts are read one by one");
    }
}
