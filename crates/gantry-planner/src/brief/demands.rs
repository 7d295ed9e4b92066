//! What must, must not or should rather be.
//!
//! A sentence or list item is a demand where it says so ("must", "do not", "only", "avoid") or where its heading does
//! ("Constraints"). Success criteria (`success.rs`) are no demands. Money and time limits become demands as well, with a link to
//! what was read.

use std::ops::Range;

use super::page::{Page, Sentence};
use super::tokens::Kind;
use super::words::among;
use super::{Demand, DemandKind, Money, Said, Time};

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
        let within = demand.span.start <= span.start && span.end <= demand.span.end;
        within
            && (demand.kind == DemandKind::Must || demand.text.contains("exceed") || demand.text.contains("more than"))
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

/// Phrases that refuse, wherever they stand.
const REFUSALS: &str = "must not; mustn't; shall not; must never; should never; shall never; is not allowed; are not allowed; \
    forbidden; forbids; cannot assume; not permitted; don't use; i don't want; we don't want; i do not want; we do not want; without any";
/// Phrases that prefer, wherever they stand.
const PREFERENCES: &str =
    "prefer; preferably; ideally; would be nice; nice to have; would like; pick a realistic; should";
/// Phrases that demand, wherever they stand.
const DUTIES: &str = "shall; at least; at most; no more than; not exceed; has to; have to; requires; is mandatory; are mandatory; \
    is required; are required; key constraint; key constraints";

/// What a sentence demands; `None` where it only tells.
fn kind(page: &Page<'_>, number: usize) -> Option<DemandKind> {
    /// A text as short as this asks with every word: `without sugar` demands there and tells elsewhere.
    const SHORT: usize = 80;
    let sentence = &page.sentences[number];
    let said = format!(" {} ", page.lower(sentence.tokens.clone()));
    let has = |phrases: &str| phrases.split(';').any(|phrase| said.contains(&format!(" {} ", phrase.trim())));
    let starts = |words: &str| among(page.word(sentence.tokens.start), words);
    let korean = |words: &str| words.split(';').any(|word| said.contains(word.trim_start()));
    if said.trim_end().ends_with('?') || has("no requirement; no requirements; would be required") {
        return None;
    }
    let must = has("must") && !has("a must");
    if is_banned(&heads(page, sentence))
        || starts("no never avoid don't without")
        || has(REFUSALS) && !(must && has("without any"))
        || refuses(page, sentence)
        || korean("하지 마; 하지 말; 안 된; 안 됩; 금지; 없이; 않아야")
    {
        return Some(DemandKind::MustNot);
    }
    if !must && (has(PREFERENCES) || starts("pick prefer prioritize optimize") || korean("좋겠; 가급적; 되도록; 선호"))
    {
        return Some(DemandKind::Prefer);
    }
    let only = has("only; exclusively") && !has("not only; the only; might only; not limited") && !has("only ,");
    let duty = must
        || only
        || has(DUTIES)
        || starts("limit require ensure")
        || has("make sure") && starts("make please and")
        || has("without") && page.tokens.len() < SHORT
        || is_required(&heads(page, sentence))
        || korean("해야; 반드시; 꼭 ; 최대; 최소; 이하; 이상; 이내; 만 사용");
    duty.then_some(DemandKind::Must)
}

/// The label of a sentence if it is short, and the heading of a list item, in lower case.
fn heads(page: &Page<'_>, sentence: &Sentence) -> String {
    const LABEL_MAX: usize = 4;
    let label = sentence.label.clone().filter(|label| label.len() <= LABEL_MAX).map(|label| page.lower(label));
    let above = sentence.under.filter(|_| sentence.item).map(|above| page.lower(page.sentences[above].tokens.clone()));
    format!("{} {}", label.unwrap_or_default(), above.unwrap_or_default())
}

fn is_banned(name: &str) -> bool {
    ["banned", "prohibited", "forbidden", "금지"].iter().any(|word| name.contains(word))
}

fn is_required(name: &str) -> bool {
    ["constraint", "requirement", "must have", "조건", "제약", "요구"].iter().any(|word| name.contains(word))
}

/// Refusals that depend on where they stand: `do not` at the start of a clause, `no` after a mark (`…, no mandates`).
fn refuses(page: &Page<'_>, sentence: &Sentence) -> bool {
    sentence.tokens.clone().any(|at| {
        let first = at == sentence.tokens.start;
        let after_mark = !first && page.tokens[at - 1].kind == Kind::Mark;
        let asked = first || after_mark || among(page.back(at, 1), "and but please you so");
        let none = page.word(at) == "no"
            && after_mark
            && matches!(page.back(at, 1), "," | ":" | ";" | "—" | "-")
            && !page.tokens[at].glued
            && page.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word);
        (page.says(at, "do not") || page.word(at) == "don't") && asked || none
    })
}
