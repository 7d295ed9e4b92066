//! Unified diffs: read strictly, applied where their context really is.

use gantry_core::effect::Failure;

use super::Image;
use crate::policy::wrong;
use crate::text::shortened;

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// Which file.
    pub(super) path: String,
    /// Whether the file is made or deleted.
    kind: PatchKind,
    hunks: Vec<Hunk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatchKind {
    Change,
    Create,
    Delete,
}

/// One place of a change: lines with their line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    /// The line of the diff where it begins, for messages.
    at: usize,
    /// The first line in the old file, from 1.
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
}

/// Reads a diff. The error is a lowercase fragment.
pub(super) fn parse(text: &str) -> Result<Vec<Patch>, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut patches: Vec<Patch> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.get(index + 1).and_then(|line| line.strip_prefix("+++ "));
            let new = new.ok_or_else(|| format!("line {} is not followed by `+++ `", index + 1))?;
            patches.push(begin(old, new).map_err(|why| format!("line {}: {why}", index + 1))?);
            index += 2;
        } else if line.starts_with("@@ ") {
            let patch = patches.last_mut().ok_or("it begins without `--- ` and `+++ ` lines")?;
            let (hunk, next) = read_hunk(&lines, index)?;
            patch.hunks.push(hunk);
            index = next;
        } else if line.starts_with("rename ") || line.starts_with("copy ") || line.starts_with("GIT binary patch") {
            return Err(format!(
                "line {}: renames, copies and binary changes are not understood; use `files.move`",
                index + 1
            ));
        } else {
            index += 1; // headers, words around it
        }
    }
    if patches.is_empty() {
        return Err("there is no `--- ` line, so it is no unified diff".to_owned());
    }
    if let Some(patch) = patches.iter().find(|patch| patch.hunks.is_empty()) {
        return Err(format!("nothing is said about `{}`: there is no `@@ ` line", patch.path));
    }
    let twice = |(index, patch): &(usize, &Patch)| patches[..*index].iter().any(|before| before.path == patch.path);
    if let Some((_, patch)) = patches.iter().enumerate().find(twice) {
        return Err(format!("`{}` is changed twice; put all its parts together", patch.path));
    }
    Ok(patches)
}

fn begin(old: &str, new: &str) -> Result<Patch, String> {
    let (old, new) = (file_name(old), file_name(new));
    let (path, kind) = match (old, new) {
        ("/dev/null", "/dev/null") => return Err("it is about no file".to_owned()),
        ("/dev/null", new) => (without_prefix(new, "b/"), PatchKind::Create),
        (old, "/dev/null") => (without_prefix(old, "a/"), PatchKind::Delete),
        (old, new) => {
            // Both prefixes or none: a folder may really be called `a`.
            let both = old.strip_prefix("a/").zip(new.strip_prefix("b/"));
            let (old, new) = both.unwrap_or((old, new));
            if old != new {
                return Err(format!("it renames `{old}` to `{new}`; use `files.move`"));
            }
            (new, PatchKind::Change)
        }
    };
    Ok(Patch { path: path.to_owned(), kind, hunks: Vec::new() })
}

/// The name without the time that some programs add after a tab.
fn file_name(text: &str) -> &str {
    text.split('\t').next().unwrap_or(text).trim_end_matches(['\n', '\r'])
}

fn without_prefix<'t>(name: &'t str, prefix: &str) -> &'t str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// Reads `@@ -start,count +start,count @@` and the lines that follow; returns where the next thing begins.
fn read_hunk(lines: &[&str], at: usize) -> Result<(Hunk, usize), String> {
    let (start, old_count, new_count) = header(lines[at]).ok_or_else(|| {
        format!("line {} is not `@@ -start,count +start,count @@`: `{}`", at + 1, shortened(lines[at].trim_end(), 60))
    })?;
    let mut hunk = Hunk { at: at + 1, start, old: Vec::new(), new: Vec::new() };
    let mut index = at + 1;
    while hunk.old.len() < old_count || hunk.new.len() < new_count {
        let short = || {
            let (old, new) = (hunk.old.len(), hunk.new.len());
            format!(
                "the part at line {} says {old_count} old and {new_count} new lines, but has {old} and {new}",
                at + 1
            )
        };
        let line = *lines.get(index).ok_or_else(short)?;
        let (sign, rest) = match line.chars().next() {
            Some(sign @ (' ' | '+' | '-')) => (sign, &line[1..]),
            // Editors strip the blank of an empty line.
            Some('\n' | '\r') => (' ', line),
            Some('\\') => ('\\', ""),
            Some(_) | None => return Err(short()),
        };
        let rest = if rest.ends_with('\n') || rest.is_empty() { rest.to_owned() } else { format!("{rest}\n") };
        match sign {
            ' ' => {
                hunk.old.push(rest.clone());
                hunk.new.push(rest);
            }
            '-' => hunk.old.push(rest),
            '+' => hunk.new.push(rest),
            _ => no_line_end(lines[index - 1], &mut hunk),
        }
        index += 1;
    }
    if lines.get(index).is_some_and(|line| line.starts_with('\\')) {
        no_line_end(lines[index - 1], &mut hunk);
        index += 1;
    }
    Ok((hunk, index))
}

/// `\ No newline at end of file`: the line before it ends without a line end.
fn no_line_end(before: &str, hunk: &mut Hunk) {
    let cut = |lines: &mut Vec<String>| {
        if let Some(last) = lines.last_mut()
            && last.ends_with('\n')
        {
            last.pop();
        }
    };
    if !before.starts_with('+') {
        cut(&mut hunk.old);
    }
    if !before.starts_with('-') {
        cut(&mut hunk.new);
    }
}

fn header(line: &str) -> Option<(usize, usize, usize)> {
    let inner = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = inner.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.trim().split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.trim().parse().ok()?, 1)),
        }
    };
    let ((start, old_count), (_, new_count)) = (range(old)?, range(new)?);
    // Nothing old to replace: it goes after the line that is named.
    Some((if old_count == 0 { start + 1 } else { start }, old_count, new_count))
}

impl Patch {
    /// What the file is after this patch; the same when it was applied already.
    pub(super) fn image_after(&self, before: &Image) -> Result<Image, Failure> {
        let cannot = |why: String| wrong(format!("the diff does not fit `{}`: {why}", self.path));
        match (self.kind, before) {
            (PatchKind::Delete, Image::Absent) => return Ok(Image::Absent),
            (PatchKind::Create, Image::Absent) => {
                let text = apply("", &self.hunks).map_err(cannot)?;
                return before.with_content(&self.path, text.into_bytes());
            }
            _ => {}
        }
        let text = before.text(&self.path)?;
        let reversed: Vec<Hunk> = self.hunks.iter().map(Hunk::reversed).collect();
        match (self.kind, apply(text, &self.hunks)) {
            (PatchKind::Create, _) if apply(text, &reversed).is_ok_and(|text| text.is_empty()) => Ok(before.clone()),
            (PatchKind::Create, _) => Err(cannot("it makes the file, but there is one already".to_owned())),
            (PatchKind::Delete, Ok(left)) if left.is_empty() => Ok(Image::Absent),
            (PatchKind::Delete, Ok(_)) => Err(cannot("it deletes the file, but not all of its lines".to_owned())),
            (PatchKind::Change, Ok(text)) => before.with_content(&self.path, text.into_bytes()),
            // It does not fit, but the way back does: it was applied before.
            (PatchKind::Change, Err(_)) if apply(text, &reversed).is_ok() => Ok(before.clone()),
            (_, Err(why)) => Err(cannot(why)),
        }
    }
}

impl Hunk {
    fn reversed(&self) -> Self {
        Self { at: self.at, start: self.start, old: self.new.clone(), new: self.old.clone() }
    }
}

/// Applies all parts to a text. The error is a lowercase fragment.
fn apply(text: &str, hunks: &[Hunk]) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut patched = String::with_capacity(text.len());
    let mut copied = 0;
    // How far the parts so far were from where they said they are.
    let mut drift: isize = 0;
    for hunk in hunks {
        let named = hunk.start.saturating_sub(1).min(lines.len() + 1);
        let expected = named.saturating_add_signed(drift).max(copied);
        let at = find(&lines, hunk, copied, expected).ok_or_else(|| misfit(&lines, hunk, expected))?;
        drift = at.cast_signed() - named.cast_signed();
        patched.extend(lines[copied..at].iter().copied());
        patched.extend(hunk.new.iter().map(String::as_str));
        copied = at + hunk.old.len();
    }
    patched.extend(lines[copied..].iter().copied());
    Ok(patched)
}

/// Finds where a part fits, nearest to where it says; never before what is done already.
fn find(lines: &[&str], hunk: &Hunk, from: usize, expected: usize) -> Option<usize> {
    let last = lines.len().checked_sub(hunk.old.len())?;
    let fits = |at: usize| at >= from && at <= last && lines[at..].iter().zip(&hunk.old).all(|(line, old)| line == old);
    // Without a single old line any place would fit: only the one that is named counts.
    if hunk.old.is_empty() {
        return Some(expected.min(last));
    }
    (0..=lines.len()).find_map(|distance| {
        let before = expected.checked_sub(distance).filter(|at| fits(*at));
        before.or_else(|| Some(expected + distance).filter(|at| fits(*at)))
    })
}

/// Says which line of a part is not there.
fn misfit(lines: &[&str], hunk: &Hunk, expected: usize) -> String {
    let mut matched = 0;
    let mut found = None;
    for (offset, old) in hunk.old.iter().enumerate() {
        match lines.get(expected + offset) {
            Some(line) if line == old => matched += 1,
            other => {
                found = Some(other.copied());
                break;
            }
        }
    }
    let shown = |text: &str| shortened(text.trim_end_matches(['\n', '\r']), 60);
    let wanted = hunk.old.get(matched).map_or(String::new(), |line| shown(line));
    let number = expected + matched + 1;
    let hint = match found.flatten() {
        Some(line) if line.trim_end() == hunk.old.get(matched).map_or("", |old| old.trim_end()) => {
            format!("line {number} differs in blanks or line ends only")
        }
        Some(line) => format!("line {number} is `{}`, not `{wanted}`", shown(line)),
        None => format!("the file ends before `{wanted}`"),
    };
    format!("the part at line {} of the diff is nowhere in the file; {hint}", hunk.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn patched(text: &str, diff: &str) -> Result<String, String> {
        apply(text, &parse(diff)?[0].hunks)
    }

    const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@ fn\n two\n-three\n+3\n four\n";

    #[test]
    fn a_diff_is_applied_where_its_context_is() {
        assert_eq!(patched(TEXT, DIFF).unwrap(), "one\ntwo\n3\nfour\nfive\n");
        let moved = format!("zero\nzero\nzero\n{TEXT}");
        assert_eq!(patched(&moved, DIFF).unwrap(), "zero\nzero\nzero\none\ntwo\n3\nfour\nfive\n");
    }

    #[test]
    fn a_diff_that_does_not_fit_says_where() {
        let other = TEXT.replace("three", "drei");
        assert_eq!(
            patched(&other, DIFF).unwrap_err(),
            "the part at line 3 of the diff is nowhere in the file; line 3 is `drei`, not `three`"
        );
        let crlf = TEXT.replace('\n', "\r\n");
        assert!(patched(&crlf, DIFF).unwrap_err().contains("blanks or line ends only"));
    }

    #[test]
    fn a_diff_that_was_applied_changes_nothing() {
        let patch = &parse(DIFF).unwrap()[0];
        let image = |text: &str| Image::File { bytes: text.as_bytes().to_vec(), mode: None };
        let once = patch.image_after(&image(TEXT)).unwrap();
        assert_eq!(patch.image_after(&once).unwrap(), once);
    }

    #[test]
    fn what_is_no_diff_is_said() {
        for (diff, why) in [
            ("hello", "there is no `--- ` line"),
            ("--- a/x\nhello", "not followed by `+++ `"),
            ("--- a/x\n+++ b/x\n", "there is no `@@ ` line"),
            ("--- a/x\n+++ b/x\n@@ nonsense @@\n", "line 3 is not `@@ -start"),
            ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "says 3 old and 3 new lines, but has 1 and 1"),
            ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "it renames `x` to `y`"),
            ("@@ -1 +1 @@\n-a\n+b\n", "begins without"),
        ] {
            let error = parse(diff).unwrap_err();
            assert!(error.contains(why), "{diff:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_diff_between_two_texts_leads_from_one_to_the_other(
            old in "([abc]{0,2}(\r)?\n){0,12}[abc]{0,2}",
            new in "([abc]{0,2}(\r)?\n){0,12}[abc]{0,2}",
            radius in 0_usize..4,
        ) {
            prop_assume!(old != new);
            let diff = similar::TextDiff::from_lines(&old, &new).unified_diff().context_radius(radius).header("a/x", "b/x").to_string();
            prop_assert_eq!(patched(&old, &diff).unwrap(), new, "{}", diff);
        }

        #[test]
        fn no_text_makes_reading_a_diff_panic(text in "((---|[+]{3}|@@|-|[+]| |\\\\|[a-z0-9,-])[ /a-z0-9,+@-]{0,12}\n){0,12}") {
            if let Ok(patches) = parse(&text) {
                let _ = apply("a\nb\nc\n", &patches[0].hunks);
            }
        }
    }
}
