//! What must, must not or should rather be, and what counts as success.
//!
//! A sentence or list item is a demand where it says so ("must", "do not", "only", "avoid") or where its heading does
//! ("Constraints"). Items under a heading or label of success are success criteria, and no demands. Money and time limits
//! become demands as well, with a link to what was read.

use std::ops::Range;

use super::page::{Page, Sentence};
use super::tokens::Kind;
use super::{Demand, DemandKind, Money, Said, Time, people};

/// What a demand may be linked to.
pub(super) struct Limits<'a> {
    /// The amount that is the budget.
    pub budget: Option<usize>,
    pub money: &'a [Money],
    pub times: &'a [Time],
    /// Deadlines and horizons that hold for the whole project.
    pub bound: &'a [usize],
}

/// Reads the demands, numbered in the order of the text.
pub(super) fn read(page: &Page<'_>, success: &[Said], limits: &Limits<'_>) -> Vec<Demand> {
    let mut all: Vec<Demand> = Vec::new();
    for (number, sentence) in page.sentences.iter().enumerate() {
        let criterion =
            success.iter().any(|said| said.span.start < sentence.span.end && sentence.span.start < said.span.end);
        let banned = sentence.label.clone().is_some_and(|label| is_banned(&page.lower(label)));
        if sentence.heading && !banned || criterion {
            continue;
        }
        if let Some(kind) = kind(page, number) {
            let listed = sentence.heading.then(|| items(page, number)).filter(|end| *end > sentence.tokens.end);
            let tokens = sentence.tokens.start..listed.unwrap_or(sentence.tokens.end);
            if all.last().is_some_and(|last| page.span(tokens.clone()).start < last.span.end) {
                continue;
            }
            all.push(Demand {
                id: String::new(),
                kind,
                text: page.plain(tokens.clone()),
                money: None,
                time: None,
                span: page.span(tokens),
            });
        }
    }
    let money = limits.budget.map(|at| (limits.money[at].span.clone(), Some(at), None));
    let times = limits.bound.iter().map(|at| (limits.times[*at].span.clone(), None, Some(*at)));
    for (span, money, time) in money.into_iter().chain(times) {
        link(page, &mut all, span, money, time);
    }
    all.sort_by_key(|demand| demand.span.start);
    for (number, demand) in all.iter_mut().enumerate() {
        demand.id = format!("C{}", number + 1);
    }
    all
}

/// Links a limit to the demand that says it, or makes a demand of it.
fn link(page: &Page<'_>, all: &mut Vec<Demand>, span: Range<usize>, money: Option<usize>, time: Option<usize>) {
    let inside = |demand: &&mut Demand| {
        demand.span.start <= span.start && span.end <= demand.span.end && demand.kind == DemandKind::Must
    };
    if let Some(demand) = all.iter_mut().find(inside) {
        demand.money = demand.money.or(money);
        demand.time = demand.time.or(time);
        return;
    }
    let first = page.tokens.iter().position(|token| token.span.start >= span.start).unwrap_or(0);
    let end = page.tokens.iter().rposition(|token| token.span.end <= span.end).map_or(first, |last| last + 1);
    let text = page.plain(first..end.max(first));
    all.push(Demand { id: String::new(), kind: DemandKind::Must, text, money, time, span });
}

/// The end of the list under a label like "Banned words:".
fn items(page: &Page<'_>, number: usize) -> usize {
    let mut end = page.sentences[number].tokens.end;
    for next in page.sentences[number + 1..].iter().take_while(|next| next.item && next.under == Some(number)) {
        end = next.tokens.end;
    }
    end
}

fn is_banned(name: &str) -> bool {
    ["banned", "prohibited", "forbidden", "금지"].iter().any(|word| name.contains(word))
}

/// What a sentence demands; `None` where it only tells.
fn kind(page: &Page<'_>, number: usize) -> Option<DemandKind> {
    let sentence = &page.sentences[number];
    let said = format!(" {} ", page.lower(sentence.tokens.clone()));
    let has = |words: &[&str]| words.iter().any(|word| said.contains(&format!(" {word} ")));
    let starts = |words: &[&str]| words.iter().any(|word| said.starts_with(&format!(" {word} ")));
    let label = sentence.label.clone().map(|label| page.lower(label)).unwrap_or_default();
    let above = sentence
        .under
        .filter(|_| sentence.item)
        .map(|above| page.lower(page.sentences[above].tokens.clone()))
        .unwrap_or_default();
    let korean = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if said.trim_end().ends_with('?') {
        return None;
    }
    if is_banned(&label)
        || is_banned(&above)
        || starts(&["no", "never", "avoid", "don't", "without"])
        || starts(&["do not"])
        || has(&[
            "must not",
            "mustn't",
            "shall not",
            "do not",
            "never",
            "is not allowed",
            "are not allowed",
            "forbidden",
            "forbids",
            "cannot assume",
            "not permitted",
            "don't use",
            "don't want",
            "don't go",
            "don't pick",
            "don't optimize",
            "no assumption of",
        ])
        || korean(&["하지 마", "하지 말", "안 된", "안 됩", "금지", "없이", "않아야"])
    {
        return Some(DemandKind::MustNot);
    }
    if has(&[
        "prefer",
        "preferably",
        "ideally",
        "would be nice",
        "nice to have",
        "would like",
        "pick a realistic",
        "rather than",
        "should",
    ]) || starts(&["pick", "prefer", "prioritize", "optimize"])
        || korean(&["좋겠", "가급적", "되도록", "선호"])
    {
        return Some(DemandKind::Prefer);
    }
    let only = has(&["only", "exclusively"]) && !has(&["not only", "the only", "not limited"]);
    let required = ["constraint", "requirement", "must have", "조건", "제약", "요구"]
        .iter()
        .any(|word| above.contains(word) || label.contains(word));
    let must = has(&["key constraints", "key constraint"]) || has(&["must"]) && !has(&["a must"]);
    if must
        || has(&[
            "shall",
            "at least",
            "at most",
            "no more than",
            "not exceed",
            "has to",
            "have to",
            "make sure",
            "ensure",
            "requires",
            "mandatory",
            "required",
        ])
        || only
        || required
        || starts(&["limit", "require"])
        || has(&["without"]) && (has(&["without any"]) || page.tokens.len() < 80)
        || sentence_has_no(page, sentence)
        || korean(&["해야", "반드시", "꼭 ", "최대", "최소", "이하", "이상", "이내", "만 사용"])
    {
        let refuses = has(&["without any"]) && !has(&["must"]) || sentence_has_no(page, sentence) && !has(&["must"]);
        return Some(if refuses { DemandKind::MustNot } else { DemandKind::Must });
    }
    None
}

/// `…, no mandates`, `…: no blockchain`, `; no nights`: a refusal after a mark.
fn sentence_has_no(page: &Page<'_>, sentence: &Sentence) -> bool {
    sentence.tokens.clone().skip(1).any(|at| {
        page.word(at) == "no"
            && page.tokens[at - 1].kind == Kind::Mark
            && matches!(page.back(at, 1), "," | ":" | ";" | "—" | "-")
            && !page.tokens[at].glued
            && page.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word)
    })
}

/// Reads the stated success criteria.
pub(super) fn success(page: &Page<'_>) -> Vec<Said> {
    let mut all = Vec::new();
    for (number, sentence) in page.sentences.iter().enumerate() {
        let above = sentence
            .under
            .filter(|_| sentence.item)
            .map(|above| page.lower(page.sentences[above].tokens.clone()))
            .unwrap_or_default();
        if is_success(&above) && !sentence.heading {
            all.extend(people::said(page, without_stop(page, sentence.tokens.clone())));
            continue;
        }
        let colon = sentence.tokens.clone().find(|at| page.word(*at) == ":");
        let label = colon
            .map(|colon| page.lower(sentence.tokens.start..colon))
            .filter(|_| colon.is_some_and(|colon| colon - sentence.tokens.start <= 10));
        let begins = label
            .filter(|label| is_success(label))
            .and(colon)
            .map(|colon| colon + 1)
            .or_else(|| told(page, sentence.tokens.clone()));
        if let Some(from) = begins.filter(|from| *from < sentence.tokens.end) {
            all.extend(split(page, from..sentence.tokens.end));
        }
        let _ = number;
    }
    all
}

fn is_success(words: &str) -> bool {
    [
        "success criteria",
        "success criterion",
        "success metric",
        "acceptance criteria",
        "definition of done",
        "성공 기준",
        "성공 지표",
        "완료 기준",
    ]
    .iter()
    .any(|name| words.starts_with(name))
}

/// `Success is measured by …`, `The success criterion is …`, `Success criteria are …`.
fn told(page: &Page<'_>, sentence: Range<usize>) -> Option<usize> {
    let start = if page.word(sentence.start) == "the" { sentence.start + 1 } else { sentence.start };
    if page.says(start, "success is measured by") || page.says(start, "success means") {
        return Some(start + if page.word(start + 1) == "is" { 4 } else { 2 });
    }
    let named = page.says(start, "success criterion")
        || page.says(start, "success criteria")
        || page.says(start, "success metrics");
    named
        .then(|| {
            (start..sentence.end.min(start + 9))
                .find(|at| matches!(page.word(*at), "is" | "are" | ":"))
                .map(|at| at + 1)
        })
        .flatten()
}

/// Splits criteria at `(1)`, at semicolons, or else at the commas outside brackets.
fn split(page: &Page<'_>, range: Range<usize>) -> Vec<Said> {
    let numbered = range.clone().any(|at| {
        page.word(at) == "("
            && page.tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Number)
            && page.word(at + 2) == ")"
    });
    let semicolons = range.clone().any(|at| page.word(at) == ";");
    let mut all = Vec::new();
    let mut start = range.start;
    let mut depth = 0_i32;
    for at in range.start..=range.end {
        let word = if at < range.end { page.word(at) } else { "" };
        let point = word == "(" && numbered && page.word(at + 2) == ")";
        match word {
            "(" if !point => depth += 1,
            ")" => depth = (depth - 1).max(0),
            _ => {}
        }
        let cut = at == range.end
            || if numbered {
                point
            } else if semicolons {
                word == ";"
            } else {
                word == "," && depth == 0
            };
        if !cut {
            continue;
        }
        let mut end = at;
        while end > start && matches!(page.word(end - 1), "," | "." | ";" | "and") {
            end -= 1;
        }
        while start < end && matches!(page.word(start), "and" | "," | ":") {
            start += 1;
        }
        all.extend(people::said(page, start..end));
        start = if point { at + 3 } else { at + 1 };
    }
    all
}

fn without_stop(page: &Page<'_>, range: Range<usize>) -> Range<usize> {
    let stop = range.end > range.start && matches!(page.word(range.end - 1), "." | ";" | ",");
    range.start..if stop { range.end - 1 } else { range.end }
}
