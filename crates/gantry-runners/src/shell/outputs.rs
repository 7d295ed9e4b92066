//! The private folder of one attempt: inputs for the process, outputs from it, room for temporary files.

use std::path::Path;

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::policy::FailureClass;
use serde_json::Value;
use tempfile::TempDir;

use super::shelter::private_folder;
use crate::text::shortened;
use crate::work::Work;

/// How much a process may hand in through the file of outputs.
const OUTPUTS_BYTES_MAX: u64 = 1 << 20;

/// Names that the runner itself gives.
const RESERVED: [&str; 7] = ["stdout", "stderr", "exit_code", "signal", "json", "left_behind", "sandbox"];

/// The private folder; removed at the end.
pub(super) struct Exchange {
    folder: TempDir,
}

impl Exchange {
    /// Makes the folder and writes the inputs.
    pub(super) fn open(work: &Work) -> Result<Self, Failure> {
        let make = || -> std::io::Result<TempDir> {
            let folder = private_folder()?;
            std::fs::create_dir(folder.path().join("tmp"))?;
            std::fs::write(folder.path().join("inputs.json"), serde_json::to_vec(&work.inputs)?)?;
            std::fs::write(folder.path().join("outputs"), "")?;
            Ok(folder)
        };
        let folder = make().map_err(|error| {
            Failure::new(FailureClass::Transient, format!("no room for the inputs of the process: {error}"))
        })?;
        Ok(Self { folder })
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds what the process handed in.
    pub(super) fn read_into(&self, outputs: &mut Outputs) -> Result<(), Failure> {
        let wrong = |why: String| {
            Failure::new(
                FailureClass::Logic,
                format!("the outputs that it wrote to `$GANTRY_OUTPUTS` cannot be used: {why}"),
            )
        };
        for (name, value) in self.handed_in().map_err(wrong)? {
            if RESERVED.contains(&name.as_str()) {
                return Err(wrong(format!("`{name}` is given by the runner; use another name")));
            }
            outputs.insert(name, value);
        }
        Ok(())
    }

    fn handed_in(&self) -> Result<Outputs, String> {
        let path = self.folder.path().join("outputs");
        let Ok(meta) = std::fs::symlink_metadata(&path) else {
            return Ok(Outputs::new()); // removed: nothing is handed in
        };
        if !meta.is_file() {
            return Err("it is no file any more".to_owned());
        }
        if meta.len() > OUTPUTS_BYTES_MAX {
            return Err(format!(
                "there are {} bytes; at most {OUTPUTS_BYTES_MAX} are read. Keep large results as files",
                meta.len()
            ));
        }
        let text = std::fs::read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())?;
        parse(&text)
    }
}

/// Reads one JSON object, or lines `name=value` where a value that reads as JSON is that.
fn parse(text: &str) -> Result<Outputs, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"));
    }
    let mut outputs = Outputs::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(format!("line {} is not `name=value`: `{}`", index + 1, shortened(line, 60)));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        outputs.insert(name.trim().to_owned(), value);
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outputs_are_an_object_or_lines() {
        let lines = parse("p99_ms=250\nname=a b=c\n\nlist=[1]\n").unwrap();
        assert_eq!(json!(lines), json!({"p99_ms": 250, "name": "a b=c", "list": [1]}));
        assert_eq!(json!(parse(r#" {"a": {"b": 1}}"#).unwrap()), json!({"a": {"b": 1}}));
        assert_eq!(parse("first=1\nsecond").unwrap_err(), "line 2 is not `name=value`: `second`");
    }
}
