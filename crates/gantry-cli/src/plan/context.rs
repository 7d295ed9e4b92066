//! Documents that come with a request.

use std::path::{Path, PathBuf};

use gantry_planner::facts::Document;

use crate::exit::Fault;

/// How much text all documents may have together: what models can read beside everything else.
const TEXT_MAX: usize = 60_000;
/// A larger file is not read.
const FILE_MAX: u64 = 20 << 20;

/// Reads them as text.
pub fn read(files: &[PathBuf]) -> Result<Vec<Document>, Fault> {
    let mut documents = Vec::new();
    for file in files {
        documents.push(Document { name: file.display().to_string(), text: text(file)? });
    }
    let size: usize = documents.iter().map(|document| document.text.len()).sum();
    if size > TEXT_MAX {
        return Err(Fault::bad_input(format!(
            "the documents have {size} bytes of text, and {TEXT_MAX} can be taken into account"
        ))
        .hint("give the parts that matter, or a summary"));
    }
    Ok(documents)
}

fn text(file: &Path) -> Result<String, Fault> {
    let cannot = |why: String| Fault::bad_input(format!("`{}` cannot be taken into account: {why}", file.display()));
    let meta = std::fs::metadata(file).map_err(|error| cannot(error.to_string()))?;
    if !meta.is_file() {
        return Err(cannot("it is not a file".to_owned()));
    }
    if meta.len() > FILE_MAX {
        return Err(cannot(format!("it has more than {FILE_MAX} bytes")));
    }
    let bytes = std::fs::read(file).map_err(|error| cannot(error.to_string()))?;
    text_of(&file.display().to_string(), bytes)
}

/// The text of a document.
pub fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, Fault> {
    let cannot = |why: String| Fault::bad_input(format!("`{name}` cannot be taken into account: {why}"));
    let text = if bytes.starts_with(b"%PDF-") {
        pdf(bytes).map_err(|why| cannot(format!("its text cannot be found: {why}")))?
    } else {
        String::from_utf8(bytes).map_err(|_| {
            cannot("it is no text".to_owned()).hint("give text, Markdown, CSV or PDF; export other formats first")
        })?
    };
    if text.trim().is_empty() {
        return Err(
            cannot("there is no text in it".to_owned()).hint("a scanned PDF has pictures of text: run OCR first")
        );
    }
    Ok(text.trim().to_owned())
}

/// The text of a PDF. The reader of such files breaks off on some that are damaged, so it works on a thread of its own.
fn pdf(bytes: Vec<u8>) -> Result<String, String> {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let read =
        std::thread::spawn(move || pdf_extract::extract_text_from_mem(&bytes).map_err(|error| error.to_string()));
    let text = read.join().unwrap_or_else(|_| Err("the file is damaged".to_owned()));
    std::panic::set_hook(quiet);
    text
}
