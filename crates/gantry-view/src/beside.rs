//! Two texts side by side: what is in both stands in one row, what is in one alone has a row of its own.

/// How many pairs of lines are compared at most; of longer texts the part that differs is shown as replaced.
const PAIRS_MAX: usize = 4_000_000;

/// A row of two texts side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'t> {
    /// The line is in both.
    Both(&'t str),
    /// The first text has one line here and the second another.
    Changed(&'t str, &'t str),
    /// The line is in the first text alone.
    Gone(&'t str),
    /// The line is in the second text alone.
    New(&'t str),
}

/// Puts two texts side by side, line by line, with as many lines in both as there are.
pub fn beside<'t>(before: &'t str, after: &'t str) -> Vec<Row<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut rows: Vec<Row<'t>> = old[..head].iter().map(|line| Row::Both(line)).collect();
    rows.extend(middle(&old[head..old.len() - tail], &new[head..new.len() - tail]));
    rows.extend(old[old.len() - tail..].iter().map(|line| Row::Both(line)));
    rows
}

/// The part between what both begin and end with.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Row<'t>> {
    let mut rows = Vec::new();
    if old.len().saturating_mul(new.len()) > PAIRS_MAX {
        settle(&mut rows, old, new);
        return rows;
    }
    // How many lines are common from here on: `common[at][beside]`, in one row after the other.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for at in (0..old.len()).rev() {
        for beside in (0..new.len()).rev() {
            common[at * width + beside] = if old[at] == new[beside] {
                common[(at + 1) * width + beside + 1] + 1
            } else {
                common[(at + 1) * width + beside].max(common[at * width + beside + 1])
            };
        }
    }
    let (mut at, mut beside, mut from) = (0, 0, (0, 0));
    while at < old.len() && beside < new.len() {
        if old[at] == new[beside] {
            settle(&mut rows, &old[from.0..at], &new[from.1..beside]);
            rows.push(Row::Both(old[at]));
            (at, beside) = (at + 1, beside + 1);
            from = (at, beside);
        } else if common[(at + 1) * width + beside] >= common[at * width + beside + 1] {
            at += 1;
        } else {
            beside += 1;
        }
    }
    settle(&mut rows, &old[from.0..], &new[from.1..]);
    rows
}

/// Lines that gave way to others: the first to the first, and so on; what is left over is gone or new.
fn settle<'t>(rows: &mut Vec<Row<'t>>, old: &[&'t str], new: &[&'t str]) {
    let pairs = old.len().min(new.len());
    rows.extend(old.iter().zip(new).map(|(a, b)| Row::Changed(a, b)));
    rows.extend(old[pairs..].iter().map(|line| Row::Gone(line)));
    rows.extend(new[pairs..].iter().map(|line| Row::New(line)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(before: &str, after: &str) -> String {
        let row = |row: Row<'_>| match row {
            Row::Both(line) => format!("{line} = {line}"),
            Row::Changed(old, new) => format!("{old} ~ {new}"),
            Row::Gone(line) => format!("{line} -"),
            Row::New(line) => format!("+ {line}"),
        };
        beside(before, after).into_iter().map(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_in_both_stands_in_one_row_and_a_line_that_is_there_twice_counts_twice() {
        insta::assert_snapshot!(drawn("a\nb\nb\nc\nd", "a\nb\nx\nd\ne"), @r"
        a = a
        b = b
        b ~ x
        c -
        d = d
        + e
        ");
        assert_eq!(drawn("", "a"), "+ a");
        assert_eq!(drawn("a\na", "a"), "a = a\na -");
    }

    #[test]
    fn texts_that_are_too_long_to_compare_are_shown_as_replaced() {
        let long = |name: &str| (0..2_100).map(|at| format!("{name}{at}\n")).collect::<Vec<_>>().concat();
        let rows = beside(&long("a"), &long("b")).len();
        assert_eq!(rows, 2_100);
    }
}
