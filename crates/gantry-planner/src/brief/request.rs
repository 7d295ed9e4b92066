//! Which sentence asks, with which verb, and where the thing begins.

use std::ops::Range;

use super::page::Page;
use super::tokens::Kind;
use super::words;
use super::words::among;

/// A request: its sentence, its verb and the tokens behind the verb, which begin with the thing.
pub(super) struct Request {
    pub sentence: usize,
    pub verb: Option<Range<usize>>,
    pub thing: Range<usize>,
}

/// How many sentences may tell of the world before one asks.
const TALE_MAX: usize = 7;

/// Finds the request: the first of the early sentences that asks, then a sentence with an objective, then the first one.
pub(super) fn find(page: &Page<'_>) -> Option<Request> {
    let all = || page.sentences.iter().enumerate().filter(|(_, sentence)| !sentence.heading);
    for (number, sentence) in all().take(TALE_MAX) {
        let after_label = sentence.label.clone().map(|label| label.end + 1..sentence.tokens.end);
        let asked = after_label
            .filter(|body| !body.is_empty())
            .and_then(|body| asks(page, body))
            .or_else(|| asks(page, sentence.tokens.clone()));
        if let Some((verb, thing)) = asked {
            return Some(Request { sentence: number, verb, thing });
        }
        if number == 0 && is_name(page, sentence.tokens.clone()) {
            break;
        }
    }
    let first = all().next().or_else(|| page.sentences.iter().enumerate().next())?;
    if !is_name(page, first.1.tokens.clone())
        && let Some(request) = all().find_map(|(number, sentence)| objective(page, number, sentence.tokens.clone()))
    {
        return Some(request);
    }
    let (number, sentence) = first;
    let mut start = lead_in(page, sentence.tokens.clone());
    // `Project Solace: a 30-year initiative`: the thing follows the name.
    if let Some(label) = sentence.label.clone()
        && words::is_determiner(page.word(label.end + 1))
    {
        start = label.end + 1;
    }
    Some(Request { sentence: number, verb: None, thing: start..sentence.tokens.end })
}

/// Whether a sentence is a mere name of the thing: short, or begun with an article or a length, and without a story.
fn is_name(page: &Page<'_>, sentence: Range<usize>) -> bool {
    const TELLING: [&str; 17] = [
        "is", "are", "was", "has", "have", "i'm", "takes", "wants", "adopts", "runs", "depends", "may", "it's", "die",
        "my", "as", "request",
    ];
    const SHORT: usize = 12;
    let tells = sentence.clone().any(|at| TELLING.contains(&page.word(at)));
    let begins = matches!(page.word(sentence.start), "a" | "an") || page.tokens[sentence.start].kind == Kind::Number;
    !tells && (sentence.len() <= SHORT || begins)
}

/// The first token behind a clause that only leads in: `Over 3 years, …`, `Upon my death, …`, `As a precursor to …, …`.
fn lead_in(page: &Page<'_>, sentence: Range<usize>) -> usize {
    const CLAUSES: [&str; 10] = ["over", "within", "in", "upon", "when", "by", "after", "before", "as", "for"];
    const LEAD_MAX: usize = 16;
    let at = sentence.start;
    let comma = (at..sentence.end.min(at + LEAD_MAX)).find(|at| page.word(*at) == ",");
    if let Some(comma) = comma.filter(|comma| comma + 1 < sentence.end) {
        let spoken_for = page.says(at, "we , representing");
        let second = (comma + 1..sentence.end.min(comma + LEAD_MAX)).find(|at| page.word(*at) == ",");
        if spoken_for && let Some(second) = second.filter(|second| second + 1 < sentence.end) {
            return second + 1;
        }
        if CLAUSES.contains(&page.word(at)) || page.word(at) == "goal" && comma == at + 1 {
            return comma + 1;
        }
    }
    at
}

/// The verb and object of a sentence that asks: `I want to open X`, `Create a plan to build X`, `This project establishes X`.
fn asks(page: &Page<'_>, sentence: Range<usize>) -> Option<(Option<Range<usize>>, Range<usize>)> {
    let mut at = lead_in(page, sentence.clone());
    let mut wanted = false;
    while let step @ 1.. = wish(page, at) {
        wanted = true;
        at += step;
    }
    if !wanted && let Some(next) = told_wish(page, at..sentence.end) {
        wanted = true;
        at = next;
    }
    if wanted && let Some(inner) = behind_plan(page, at, sentence.end).filter(|_| words::is_determiner(page.word(at))) {
        at = inner;
    }
    // After `to` and `help me` a verb must follow, known or not.
    let due = wanted
        && matches!(page.word(at - 1), "to" | "me" | "us" | "you")
        && page.tokens.get(at).is_some_and(|token| token.kind == Kind::Word);
    let told_verb = due
        || wanted
            && page.word(at).ends_with(['s', 'g'])
            && !words::is_determiner(page.word(at))
            && page.word(at + 1) != "of";
    if !words::is_request(page.word(at)) && !told_verb {
        return (wanted && at < sentence.end).then_some((None, at..sentence.end));
    }
    // `Create a plan to build X`: a plan is what is made anyway, the thing comes behind it.
    if let Some(inner) = behind_plan(page, at, sentence.end) {
        at = inner;
        if !is_verb(page, at) {
            return Some((None, at..sentence.end));
        }
    }
    let verb = at;
    at = behind_verbs(page, at + 1);
    let little = matches!(page.word(at), "out" | "off" | "up" | "on");
    if little {
        at += 1;
    }
    (at < sentence.end).then_some((Some(verb..verb + 1), at..sentence.end))
}

fn is_verb(page: &Page<'_>, at: usize) -> bool {
    words::is_request(page.word(at)) || page.word(at).ends_with("ing") && !words::is_undertaking(page.word(at))
}

/// Passes over further verbs: `design, finance, and build`, `sever or gateway`.
fn behind_verbs(page: &Page<'_>, at: usize) -> usize {
    let mut at = at;
    loop {
        let mut next = at;
        while matches!(page.word(next), "," | "and" | "or") {
            next += 1;
        }
        let other_word = page.word(at) == "or";
        if next == at || !(is_verb(page, next) || other_word) {
            return at;
        }
        at = next + 1;
        while other_word && page.word(at) == "-" && page.tokens.get(at).is_some_and(|mark| mark.glued) {
            at += 2;
        }
    }
}

/// How many tokens are a wish: `I want to`, `please`, `help me`, `the goal is to`.
fn wish(page: &Page<'_>, at: usize) -> usize {
    const WISHES: [&str; 27] = [
        "i want to",
        "i need to",
        "i would like to",
        "i'd like to",
        "i have to",
        "i plan to",
        "we want to",
        "we need to",
        "we would like to",
        "we'd like to",
        "we plan to",
        "i want",
        "i need",
        "we want",
        "we need",
        "please",
        "help me",
        "help us",
        "the goal is to",
        "our goal is to",
        "my goal is to",
        "the objective is to",
        "can you",
        "could you",
        "let's",
        "i'm envisioning",
        "request",
    ];
    WISHES.iter().find(|wish| page.says(at, wish)).map_or(0, |wish| {
        if *wish == "request" { usize::from(page.word(at + 1) == "a") } else { wish.split(' ').count() }
    })
}

/// The token behind the wish of someone else: `A city wants to …`, `An agent is tasked with …`, `This project establishes …`.
fn told_wish(page: &Page<'_>, sentence: Range<usize>) -> Option<usize> {
    const SUBJECT_MAX: usize = 9;
    let start = sentence.start;
    (start + 1..sentence.end.min(start + SUBJECT_MAX)).find_map(|at| {
        let wants = matches!(page.word(at), "wants" | "needs" | "plans" | "want" | "need") && page.word(at + 1) == "to";
        if wants || page.says(at, "tasked with") || page.says(at, "is planning") {
            return Some(at + 2);
        }
        let means = page.says(start, "i have") || page.says(start, "we have");
        if means && page.word(at) == "to" && words::is_request(page.word(at + 1)) {
            return Some(at + 1);
        }
        let project = matches!(page.word(start), "this" | "the")
            && words::is_undertaking(page.word(at.wrapping_sub(1)))
            && at == start + 2;
        let does = among(page.word(at), "establishes executes creates builds develops launches designs delivers");
        (project && does).then_some(at)
    })
}

/// The token behind `a (comprehensive strategic) plan to|for`, where the object of the verb is a plan; `for Denmark to replace` begins at its verb.
fn behind_plan(page: &Page<'_>, at: usize, end: usize) -> Option<usize> {
    const ADJECTIVES_MAX: usize = 6;
    let start = if words::is_determiner(page.word(at)) { at + 1 } else { at + 2 };
    if !words::is_determiner(page.word(start - 1)) {
        return None;
    }
    let noun = (start..end.min(start + ADJECTIVES_MAX)).find(|at| matches!(page.word(*at), "plan" | "strategy"))?;
    let plain = (start..noun)
        .all(|at| page.tokens[at].kind == Kind::Word && !matches!(page.word(at), "for" | "to" | "of" | "that"));
    let next = noun + 2;
    if !plain || !matches!(page.word(noun + 1), "to" | "for") || next >= end {
        return None;
    }
    let other_does =
        page.tokens[next].capital() && page.word(next + 1) == "to" && words::is_request(page.word(next + 2));
    Some(if other_does { next + 2 } else { next })
}

/// `the project's objective is to establish …`, anywhere in the text.
fn objective(page: &Page<'_>, number: usize, sentence: Range<usize>) -> Option<Request> {
    let at = sentence
        .clone()
        .find(|at| ["objective is to", "goal is to", "aim is to"].iter().any(|words| page.says(*at, words)))?
        + 3;
    let verb = words::is_request(page.word(at)).then_some(at..at + 1);
    let thing = at + usize::from(verb.is_some());
    (thing < sentence.end).then_some(Request { sentence: number, verb, thing: thing..sentence.end })
}
