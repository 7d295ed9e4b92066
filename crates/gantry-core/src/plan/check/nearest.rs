//! The name that was probably meant.

/// Returns the known name that is most like this one, if any is close enough to be meant.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    // One letter in three may differ; a name of one or two letters could be anything.
    let limit = length / 3;
    known
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= limit)
        .filter_map(|candidate| Some((distance(name, candidate, limit)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters differ (inserted, removed, replaced, swapped with their neighbour), in any case; none when more
/// than `limit` do.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let a: Vec<char> = a.to_lowercase().chars().take(100).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(100).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        if row.iter().min().is_some_and(|best| *best > limit) {
            return None;
        }
        before = std::mem::replace(&mut above, row);
    }
    Some(above[b.len()]).filter(|distance| *distance <= limit)
}
