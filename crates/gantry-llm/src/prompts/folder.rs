//! Prompts of a project: files in a folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::built_in::{Texts, parse_name};
use super::fault::PromptFault;
use super::file::PromptText;

/// A larger file is no prompt.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// More files are no folder of prompts.
const FILES_MAX: usize = 1_000;

/// Adds what is in a folder: `NAME.LANGUAGE.md`, and `*.json` schemas in it and in its folder `schemas`.
pub(super) fn read(folder: &Path, texts: &mut Texts) -> Vec<PromptFault> {
    let mut faults = Vec::new();
    for path in files_of(folder, &mut faults) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let shown = path.display().to_string();
        if let Some(stem) = name.strip_suffix(".md").filter(|_| parse_name(&name).is_none()) {
            if texts.prompts.keys().any(|(known, _)| known == stem) {
                let fault = PromptFault::new(shown, "its name does not say in which language it is");
                faults.push(fault.hint(format!("call it `{stem}.en.md`")));
            }
            continue;
        }
        let Some((prompt, locale)) = parse_name(&name) else { continue };
        match read_file(&path) {
            Ok(text) => {
                let (name, locale) = (prompt.to_owned(), locale.to_owned());
                let key = (name.clone(), locale.clone());
                texts.prompts.insert(key, PromptText { file: shown, name, locale, text });
            }
            Err(error) => faults.push(PromptFault::new(shown, format!("it cannot be read: {error}"))),
        }
    }
    for (under, prefix) in [("", ""), ("schemas", "schemas/")] {
        for path in files_of(&folder.join(under), &mut faults) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let read = read_file(&path).map_err(|error| error.to_string());
            match read.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
                Ok(schema) => drop(texts.schemas.insert(format!("{prefix}{name}"), schema)),
                Err(error) => {
                    faults.push(PromptFault::new(path.display().to_string(), format!("it cannot be read: {error}")));
                }
            }
        }
    }
    faults
}

/// The files of a folder in the order of their names; none when there is no such folder.
fn files_of(folder: &Path, faults: &mut Vec<PromptFault>) -> Vec<std::path::PathBuf> {
    let mut wrong = |what: String| faults.push(PromptFault::new(folder.display().to_string(), what));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            wrong(format!("the folder cannot be read: {error}"));
            return Vec::new();
        }
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    if files.len() > FILES_MAX {
        wrong(format!("there are more than {FILES_MAX} files in the folder"));
        files.clear();
    }
    files
}

fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}
