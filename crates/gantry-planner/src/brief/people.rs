//! Who wants it, for whom it is, how many work on it, and what they have.

use std::ops::Range;

use rust_decimal::prelude::ToPrimitive;

use super::page::Page;
use super::tokens::Kind;
use super::words;
use super::words::among;
use super::{Fact, People, Said};

/// Reads the people of a text.
pub(super) fn read(page: &Page<'_>) -> People {
    People { client: client(page), users: users(page), team: team(page) }
}

pub(super) fn said(page: &Page<'_>, range: Range<usize>) -> Option<Said> {
    (range.start < range.end).then(|| Said { text: page.plain(range.clone()), span: page.span(range) })
}

/// Who wants it: "We (the EU)", "We, representing Denmark's ministers", "led by a Chinese consortium", "A city wants", "I".
fn client(page: &Page<'_>) -> Option<Said> {
    let until = |from: usize, stops: &[&str]| {
        (from..page.around(from).end).find(|at| stops.contains(&page.word(*at))).unwrap_or(page.around(from).end)
    };
    for at in 0..page.tokens.len() {
        if page.says(at, "we (") {
            return said(page, at + 2..until(at + 2, &[")"]));
        }
        if page.says(at, "we , representing") {
            return said(page, at + 3..until(at + 3, &[",", "."]));
        }
        if page.says(at, "me and") && page.number(at + 2).is_some() {
            return said(page, at..at + 4);
        }
        if page.says(at, "from the perspective of") || page.says(at, "on behalf of") {
            let from = at + if page.word(at) == "from" { 4 } else { 3 };
            return said(page, from..until(from, &[",", ".", ";", ":"]));
        }
        if page.says(at, "led by") && page.sentence_of(at) == Some(0) {
            return said(page, at + 2..until(at + 2, &["to", ",", ".", "that", "which", "with", "for"]));
        }
    }
    wanting(page).or_else(|| speaker(page))
}

/// The subject of the first sentence, where it wants, needs or is asked to do something.
fn wanting(page: &Page<'_>) -> Option<Said> {
    let first = page.sentences.first()?.tokens.clone();
    let verb = first.clone().skip(1).take(9).find(|at| {
        matches!(page.word(*at), "wants" | "needs" | "plans" | "intends" | "want" | "wishes")
            && matches!(page.word(at + 1), "to" | "a" | "an")
            || page.says(*at, "is tasked")
            || page.says(*at, "is planning")
            || page.says(*at, "is asked")
    })?;
    let subject = first.start..verb;
    let pronoun = subject.len() == 1 && matches!(page.word(first.start), "i" | "we" | "they" | "it");
    let plain =
        page.tokens[subject.clone()].iter().all(|token| token.kind == Kind::Word || matches!(token.text, "-" | "&"));
    (!pronoun && plain && page.tokens[first.start].capital() && !page.lower(subject.clone()).contains(" i"))
        .then(|| said(page, subject))
        .flatten()
}

/// The one who speaks: "I" or "We", by the first word that says so.
fn speaker(page: &Page<'_>) -> Option<Said> {
    let at = (0..page.tokens.len()).find(|at| {
        let token = &page.tokens[*at];
        let i = token.text == "I"
            && !matches!(page.tokens.get(at + 1).map(|next| next.text), Some("/" | "-" | ")"))
            && page.back(*at, 1) != "phase";
        i || among(
            &token.lower,
            "i'm i'd i've my myself we our we're we'd 저는 나는 제가 내가 우리는 우리 저희는 저희 나의 제",
        )
    })?;
    let text = match page.word(at) {
        "i" | "i'm" | "i'd" | "i've" | "my" | "myself" => "I".to_owned(),
        "we" | "our" | "we're" | "we'd" => "We".to_owned(),
        _ => page.plain(at..at + 1),
    };
    Some(Said { text, span: page.span(at..at + 1) })
}

/// How many sentences may say for whom it all is; a later "for" speaks of a part.
const EARLY: usize = 4;

/// For whom it is: the first "for" (or "targets") with people at the end of its noun phrase.
fn users(page: &Page<'_>) -> Option<Said> {
    for at in 0..page.tokens.len() {
        let word = page.word(at);
        let targets = word == "targets" && page.back(at, 1) != "year";
        if word.ends_with("위한") && at > 0 && page.tokens[at - 1].hangul() {
            return said(page, at - 1..at);
        }
        let early =
            page.sentence_of(at).is_some_and(|number| number < EARLY) && !matches!(page.word(at + 1), "my" | "our");
        if !(word == "for" && early || targets || word == "serving" || page.says(at, "aimed at")) {
            continue;
        }
        let from = at + if word == "aimed" { 2 } else { 1 };
        let sentence = page.around(at);
        let mut end = None;
        for next in from..(from + 7).min(sentence.end) {
            let here = page.word(next);
            let counted = page.tokens[next].kind == Kind::Number
                || among(here, "at in that who to as while with the all and , . ( ; by — of on from through against");
            if counted && next > from || page.tokens[next].kind == Kind::Number {
                break;
            }
            if words::is_people(here) && !matches!(here, "staff" | "persons") {
                end = Some(next + 1);
            }
        }
        if let Some(end) = end {
            return said(page, from..end);
        }
    }
    None
}

/// How many people work on it: "team of 9", "The core team is 9 people", "8 developers, 2 testers" of a team, "me and 3 friends".
fn team(page: &Page<'_>) -> Option<Fact<u32>> {
    for at in 0..page.tokens.len() {
        let number = |at: usize| page.count(at).and_then(|count| Some((count.high.to_u32()?, count.next)));
        if page.says(at, "me and")
            && let Some((friends, next)) = number(at + 2)
        {
            return Some(Fact { value: friends.saturating_add(1), span: page.span(at..next + 1) });
        }
        let sentence = page.around(at);
        if matches!(page.word(at), "team" | "staff" | "crew") && !sentence.clone().any(|at| page.word(at) == "per") {
            let verb = at + 1;
            if page.word(verb) == "of"
                && let Some((people, next)) = number(verb + 1).filter(|_| page.back(at, 1) != "software")
            {
                return Some(Fact { value: people, span: page.span(at..next) });
            }
            if among(page.word(verb), "is consists has includes comprises : are")
                && let Some(fact) = roster(page, at, verb + 1..sentence.end)
            {
                return Some(fact);
            }
        }
        if let Some((people, next)) = number(at)
            && page.word(next) == "-"
            && matches!(page.word(next + 1), "person" | "people" | "man")
            && page.tokens[next].glued
            && matches!(page.word(next + 2), "team" | "crew" | "project" | "staff")
        {
            return Some(Fact { value: people, span: page.span(at..next + 3) });
        }
        if page.back(at, 1) == "with"
            && let Some((people, next)) = number(at)
            && among(
                page.word(next),
                "developers engineers volunteers employees designers builders researchers workers colleagues",
            )
        {
            return Some(Fact { value: people, span: page.span(at..next + 1) });
        }
        if let Some(fact) = hands(page, at) {
            return Some(fact);
        }
        if let Some((people, next)) = number(at)
            && page.tokens[at].kind == Kind::Number
            && page.word(next).starts_with('명')
            && (next.saturating_sub(3)..(next + 4).min(page.tokens.len()))
                .any(|at| page.word(at).starts_with('팀') || page.word(at).starts_with("직원"))
        {
            return Some(Fact { value: people, span: page.span(at..next + 1) });
        }
    }
    None
}

/// Few people who do it themselves: "with two people", "the three of us", "we are four", "on my own". Who comes to a party is no
/// team.
fn hands(page: &Page<'_>, at: usize) -> Option<Fact<u32>> {
    const HANDS_MAX: u32 = 12;
    const GUESTS: &str =
        "party dinner lunch wedding trip event conference meeting picnic holiday vacation camp guests table game";
    const SHORT: usize = 80;
    let short = page.tokens.len() <= SHORT;
    if short && (page.says(at, "on my own") || page.says(at, "by myself") || page.says(at, "all alone")) {
        return Some(Fact { value: 1, span: page.span(at..at + if page.says(at, "on my own") { 3 } else { 2 }) });
    }
    let (people, next) = page.count(at).and_then(|count| Some((count.high.to_u32()?, count.next)))?;
    if people == 0 || people > HANDS_MAX || page.around(at).any(|at| among(page.word(at), GUESTS)) {
        return None;
    }
    let before = page.back(at, 1);
    let with =
        matches!(before, "with" | "by") && matches!(page.word(next), "people" | "persons" | "helpers" | "friends");
    let us = page.says(next, "of us");
    let we = before == "are" && page.back(at, 2) == "we" && !among(page.word(next), "months weeks days years hours");
    let end = if us {
        next + 2
    } else if with {
        next + 1
    } else {
        next
    };
    (with || us || we).then(|| Fact { value: people, span: page.span(at - usize::from(with)..end) })
}

/// Adds up the people a sentence lists: a total in front counts alone.
fn roster(page: &Page<'_>, start: usize, range: Range<usize>) -> Option<Fact<u32>> {
    let mut sum: u32 = 0;
    let mut end = start;
    let mut at = range.start;
    while at < range.end {
        let one = matches!(page.word(at), "a" | "an").then_some((1, at + 1));
        let Some((people, next)) = page.count(at).and_then(|count| Some((count.high.to_u32()?, count.next))).or(one)
        else {
            at += 1;
            continue;
        };
        let person = (next..(next + 5).min(range.end))
            .take_while(|at| !matches!(page.word(*at), "," | "and" | ":" | "with"))
            .find(|at| words::is_people(page.word(*at)));
        if let Some(person) = person {
            if page.word(person) == "people" && sum == 0 {
                return Some(Fact { value: people, span: page.span(start..person + 1) });
            }
            sum = sum.saturating_add(people);
            end = person + 1;
        }
        at = person.map_or(next, |person| person + 1);
    }
    (sum > 1).then(|| Fact { value: sum, span: page.span(start..end) })
}

/// What the client says is there: "I have instant coffee and a cup", "We have access to", "my existing building".
pub(super) fn has(page: &Page<'_>) -> Vec<Said> {
    let mut all = Vec::new();
    for at in 0..page.tokens.len() {
        let subject = matches!(page.word(at), "i" | "we");
        let mut next = at + 1;
        if subject && matches!(page.word(next), "already" | "also" | "currently") {
            next += 1;
        }
        if subject && matches!(page.word(next), "have" | "own" | "has") {
            next += 1;
            if page.word(next) == "already" {
                next += 1;
            }
            if page.says(next, "access to") {
                next += 2;
            }
            // `have negotiated a lease`: the lease is what there is; `have done it` names nothing.
            let taken = among(page.word(next), "bought rented signed secured negotiate negotiated found raised");
            if taken {
                next += 1;
            }
            let nothing = among(page.word(next), "no not done been never to had tried seen decided heard made")
                || page.says(next, "an idea");
            if !nothing {
                list(page, next, &mut all);
            }
        }
        if matches!(page.word(at), "my" | "our") && page.word(at + 1) == "existing" {
            let end = (at + 2..page.around(at).end)
                .find(|at| among(page.word(*at), "in , . at ( with to and"))
                .unwrap_or(page.around(at).end);
            all.extend(said(page, at..end));
        }
        if page.tokens[at].hangul()
            && (page.word(at).starts_with("있어") || page.word(at).starts_with("있습니다") || page.word(at) == "있다")
        {
            let start = page.around(at).start;
            all.extend(said(page, start.max(at.saturating_sub(3))..at));
        }
    }
    all
}

/// Splits a list of things at commas and "and", up to the end of the clause.
fn list(page: &Page<'_>, from: usize, all: &mut Vec<Said>) {
    const LIST_MAX: usize = 60;
    let end = page.around(from).end.min(from + LIST_MAX);
    let mut start = from;
    for at in from..=end {
        let word = if at < end { page.word(at) } else { "." };
        let stop = among(word, ". ; ! ? but so because which inside in — for where");
        if stop || matches!(word, "and" | ",") {
            // A verb after "and" begins a new clause: `I have a phone and know the time`.
            if start < at && !among(page.word(start), "know want need i can will am") {
                all.extend(said(page, start..at));
            }
            start = at + 1;
        }
        if stop {
            break;
        }
    }
}
