//! Bytes into text, and which format the text is in.

use crate::diagnostic::{Diagnostic, Report};
use crate::node::{BYTES_MAX, Span};

/// The formats that plans are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// The text DSL.
    Dsl,
    /// A Mermaid flowchart.
    Mermaid,
}

impl Format {
    /// Tells the format by the file's ending, else by how the text begins.
    pub fn of(file_name: &str, text: &str) -> Self {
        let ending = file_name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("yaml" | "yml") => Self::Yaml,
            Some("json") => Self::Json,
            Some("gantry") => Self::Dsl,
            Some("mmd" | "mermaid") => Self::Mermaid,
            _ => Self::sniff(text),
        }
    }

    fn sniff(text: &str) -> Self {
        let text = text.trim_start();
        let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if text.starts_with('{') {
            Self::Json
        } else if begins(&["graph ", "graph\n", "graph\r", "flowchart ", "flowchart\n", "flowchart\r", "%%"]) {
            Self::Mermaid
        } else if begins(&["plan \"", "task "]) {
            Self::Dsl
        } else {
            Self::Yaml
        }
    }
}

/// Turns a file's bytes into text, or into the report that says why not.
pub(crate) fn decode<'b>(file_name: &str, bytes: &'b [u8]) -> Result<&'b str, Report> {
    if bytes.len() > BYTES_MAX {
        return Err(refused(
            file_name,
            "",
            Diagnostic::error(
                "file::too-large",
                // How large it is altogether is not known to whoever read only so much of it.
                format!("the file is larger than {} MiB, which is the most that is read", BYTES_MAX >> 20),
            )
            .hint("split the plan, and keep large inputs in files of their own"),
        ));
    }
    let text = match str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            let hint = if utf16 { "it looks like UTF-16; save it as UTF-8" } else { "save it as UTF-8" };
            let at = error.valid_up_to();
            let finding = Diagnostic::error("file::not-utf8", "the file is not UTF-8 text")
                .at(Span::new(at, at + 1))
                .label("from here")
                .hint(hint);
            return Err(refused(file_name, &String::from_utf8_lossy(bytes), finding));
        }
    };
    if let Some(at) = text.find('\0') {
        let finding = Diagnostic::error("file::control-character", "the file contains a NUL character")
            .at(Span::new(at, at + 1))
            .label("here");
        return Err(refused(file_name, text, finding));
    }
    Ok(text)
}

fn refused(file_name: &str, text: &str, finding: Diagnostic) -> Report {
    let mut report = Report::new(file_name, text);
    report.diagnostics.push(finding);
    report
}
