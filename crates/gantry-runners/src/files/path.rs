//! Paths as plans write them: relative, plain, inside the working folder.

use gantry_core::policy::FailureClass;

use crate::text::shortened;

/// Longer paths are refused by every system.
const PATH_BYTES_MAX: usize = 4_000;

/// Longer names are refused by every file system.
const NAME_BYTES_MAX: usize = 255;

/// Checks a path and writes it the plain way: `./a//b` becomes `a/b`. The error is a lowercase fragment.
pub(crate) fn clean(text: &str) -> Result<String, String> {
    let shown = shortened(&text.escape_debug().to_string(), 60);
    let refuse = |why: &str| Err(format!("`{shown}` is not a path: {why}"));
    if text.is_empty() {
        return Err("a path is missing".to_owned());
    }
    if text.len() > PATH_BYTES_MAX {
        return refuse(&format!("it has {} bytes; {PATH_BYTES_MAX} are the most", text.len()));
    }
    if text.chars().any(char::is_control) {
        return refuse("it contains a control character, such as a line end");
    }
    if text.starts_with('/') {
        return refuse("it begins at the root of the system; write it from the working folder on");
    }
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => return refuse("`..` leads out; write it from the working folder on"),
            part if part.len() > NAME_BYTES_MAX => {
                return refuse(&format!("a name in it has {} bytes; {NAME_BYTES_MAX} are the most", part.len()));
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return refuse("it names the working folder itself");
    }
    if text.ends_with('/') {
        return refuse("it ends with `/`, so it names a folder; a file is needed");
    }
    Ok(parts.join("/"))
}

/// The same, with the class of the failure that a path is which cannot be used.
pub(crate) fn checked(text: &str) -> Result<String, (FailureClass, String)> {
    let class = if leads_out(text) { FailureClass::Policy } else { FailureClass::Logic };
    clean(text).map_err(|why| (class, why))
}

/// Tells whether a path tries to leave the working folder.
fn leads_out(text: &str) -> bool {
    text.starts_with('/') || text.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_written_the_plain_way() {
        for (text, path) in
            [("a", "a"), ("./a//b/./c.txt", "a/b/c.txt"), ("ä ö/🚀", "ä ö/🚀"), ("-rf", "-rf"), ("a\\b", "a\\b")]
        {
            assert_eq!(clean(text).unwrap(), path);
        }
    }

    #[test]
    fn hostile_paths_get_a_clear_error() {
        let long_path = "a/".repeat(2_500) + "b";
        let long_name = "x".repeat(300);
        for (text, why) in [
            ("", "a path is missing"),
            ("/etc/passwd", "begins at the root"),
            ("../x", "`..` leads out"),
            ("a/../../x", "`..` leads out"),
            ("a/..", "`..` leads out"),
            ("a\nb", "control character"),
            ("a\0b", "control character"),
            ("\u{1b}[2J", "control character"),
            (".", "the working folder itself"),
            ("./", "the working folder itself"),
            ("a/", "names a folder"),
            (&long_path, "it has 5001 bytes"),
            (&long_name, "a name in it has 300 bytes"),
        ] {
            let error = clean(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
            assert!(error.len() < 250 && !error.contains('\n') && !error.contains('\u{1b}'), "{error:?}");
        }
    }
}
