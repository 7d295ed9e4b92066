//! "Did you mean": the nearest of some known names.

/// Names longer than this are not compared: nobody mistypes them, and the comparison is quadratic.
const NAME_CHARS_MAX: usize = 64;

/// At most this many candidates are looked at for one suggestion.
const CANDIDATES_MAX: usize = 20_000;

/// Returns the candidate nearest to `name`, if one is near enough to be a likely slip.
///
/// Near enough is one edit per three characters, at least one; ties go to the first candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = letters(name)?;
    let allowed = (typed.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(CANDIDATES_MAX) {
        let Some(known) = letters(candidate) else {
            continue;
        };
        if known.len().abs_diff(typed.len()) > allowed || candidate == name {
            continue;
        }
        let Some(distance) = edits(&typed, &known, allowed) else { continue };
        // A name with nothing in common is no suggestion, however short both are.
        let related = distance < typed.len().max(known.len());
        if related && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the lower-case letters to compare, with `-`, `_` and spaces alike, or nothing when the
/// name is too long.
fn letters(name: &str) -> Option<Vec<char>> {
    if name.len() > NAME_CHARS_MAX * 4 {
        return None;
    }
    let letters: Vec<char> = name
        .chars()
        .map(|letter| match letter {
            '-' | ' ' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    (letters.len() <= NAME_CHARS_MAX).then_some(letters)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours between two names
/// (Damerau-Levenshtein, optimal string alignment); none when there are more than `allowed`.
fn edits(left: &[char], right: &[char], allowed: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let replaced = usize::from(left[row - 1] != right[column - 1]);
            let mut least = (previous[column] + 1).min(current[column - 1] + 1).min(previous[column - 1] + replaced);
            let swapped =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1];
            if swapped {
                least = least.min(before[column - 2] + 1);
            }
            current[column] = least;
        }
        if current.iter().min().is_some_and(|least| *least > allowed) {
            return None;
        }
        before = std::mem::replace(&mut previous, current);
    }
    Some(previous[right.len()]).filter(|distance| *distance <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_likely_slip_or_none() {
        let known = ["depends_on", "description", "title", "tasks"];
        let cases = [
            ("depend_on", Some("depends_on")),
            ("dependson", Some("depends_on")),
            ("titel", Some("title")),
            ("task", Some("tasks")),
            ("Depends-On", Some("depends_on")),
            ("colour", None),
            ("x", None),
        ];
        for (typed, expected) in cases {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }

    #[test]
    fn one_swap_of_neighbours_is_one_edit() {
        let word = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(edits(&word("run"), &word("rnu"), 5), Some(1));
        assert_eq!(edits(&word("abc"), &word("ca"), 5), Some(3));
        assert_eq!(edits(&word(""), &word("ab"), 5), Some(2));
        assert_eq!(edits(&word("abc"), &word("xyz"), 1), None);
    }

    #[test]
    fn a_name_of_a_megabyte_is_not_compared() {
        let long = "a".repeat(1 << 20);
        assert_eq!(nearest(&long, ["a"]), None);
        assert_eq!(nearest("a", [long.as_str()]), None);
    }
}
