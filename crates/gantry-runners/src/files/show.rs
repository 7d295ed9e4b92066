//! Changes as people read them.

use super::{Change, Image};
use crate::runner::Preview;

/// How much of a diff is shown.
const DIFF_BYTES_MAX: usize = 256 << 10;

/// Shows changes in words and as a unified diff.
pub(super) fn preview(changes: &[Change]) -> Preview {
    if changes.is_empty() {
        return Preview { text: "nothing would change".to_owned(), diff: None };
    }
    let words: Vec<String> = changes.iter().map(in_words).collect();
    let mut diff = String::new();
    for change in changes {
        diff += &as_diff(change);
        if diff.len() > DIFF_BYTES_MAX {
            let mut cut = DIFF_BYTES_MAX;
            while !diff.is_char_boundary(cut) {
                cut -= 1;
            }
            diff.truncate(cut);
            diff += "\n[gantry: the rest of the diff is left out]\n";
            break;
        }
    }
    Preview { text: words.join("\n"), diff: Some(diff) }
}

fn in_words(change: &Change) -> String {
    let path = &change.path;
    match (&change.before, &change.after) {
        (Image::Absent, Image::File { bytes, .. }) => format!("create `{path}` ({} bytes)", bytes.len()),
        (Image::Absent, _) => format!("create `{path}`"),
        (_, Image::Absent) => format!("delete `{path}`"),
        (Image::File { bytes: old, mode: before }, Image::File { bytes: new, mode: after }) if old == new => {
            let octal = |mode: &Option<u32>| mode.map_or("-".to_owned(), |mode| format!("{mode:o}"));
            format!("change the mode of `{path}` from {} to {}", octal(before), octal(after))
        }
        (_, _) => format!("change `{path}`"),
    }
}

fn as_diff(change: &Change) -> String {
    let path = &change.path;
    let side = |image: &Image| match image {
        Image::Absent => Some(String::new()),
        Image::File { bytes, .. } => std::str::from_utf8(bytes).ok().map(str::to_owned),
        Image::Link { target } => Some(format!("link to {}\n", target.display())),
        Image::Folder | Image::Other => None,
    };
    let name = |image: &Image, prefix: &str| match image {
        Image::Absent => "/dev/null".to_owned(),
        _ => format!("{prefix}/{path}"),
    };
    let (old_name, new_name) = (name(&change.before, "a"), name(&change.after, "b"));
    match (side(&change.before), side(&change.after)) {
        (Some(old), Some(new)) => {
            similar::TextDiff::from_lines(&old, &new).unified_diff().header(&old_name, &new_name).to_string()
        }
        (_, _) => {
            let size = |image: &Image| match image {
                Image::File { bytes, .. } => bytes.len(),
                _ => 0,
            };
            format!("Binary file {path}: {} bytes before, {} bytes after\n", size(&change.before), size(&change.after))
        }
    }
}
