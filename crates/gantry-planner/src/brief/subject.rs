//! What is asked for: the verb, the thing, a headline and the sentence that says the goal.

use std::ops::Range;

use super::Said;
use super::gazetteer;
use super::page::Page;
use super::people::said;
use super::request::{self, Request};
use super::tokens::{Kind, is_hyphen};
use super::words;
use super::words::among;

/// The most characters of a headline.
const TITLE_MAX: usize = 70;
/// A headline that must be cut is cut before a clause, if so many characters are left.
const TITLE_MIN: usize = 22;
/// The most tokens of the thing.
const THING_MAX: usize = 14;

/// What a text asks for.
pub(super) struct Subject {
    pub title: Said,
    pub what: Said,
    pub verb: Option<Said>,
    pub deed: Option<String>,
    pub goal: Said,
}

/// Reads what is asked for; `None` where the text has no words.
pub(super) fn read(page: &Page<'_>) -> Option<Subject> {
    let mut request = request::find(page)?;
    let hangul = |range: Range<usize>| page.tokens[range].iter().any(super::tokens::Token::hangul);
    if hangul(request.thing.clone()) {
        request.thing = korean_thing(page, request.thing);
    }
    while among(page.word(request.thing.start), "for in at to of with about")
        && request.verb.is_some()
        && request.thing.len() > 1
    {
        request.thing.start += 1;
    }
    let what = phrase(page, request.thing.clone());
    let goal = labelled_goal(page).unwrap_or(request.sentence);
    let name = named(page);
    let told = request.verb.is_none()
        && matches!(page.word(request.thing.start), "in" | "it" | "this" | "as" | "if" | "since");
    let what = match &name {
        Some(name) if told => name.clone(),
        _ => with_article(page, what.clone(), request.verb.is_none() && is_title_case(page, what)),
    };
    let title = name
        .or_else(|| heading(page))
        .or_else(|| korean_headline(page, request.sentence))
        .unwrap_or_else(|| headline(page, &request));
    let goal = said(page, page.sentences[goal].tokens.clone())?;
    let deed = request.verb.clone().and_then(|verb| deed(page, verb, request.thing.clone()));
    Some(Subject { title, what, deed, verb: request.verb.and_then(|verb| said(page, verb)), goal })
}

/// What is to be done, as a verb phrase, where the thing alone does not say it: `wash my car`, `apply for a visa`.
fn deed(page: &Page<'_>, verb: Range<usize>, thing: Range<usize>) -> Option<String> {
    let word = page.word(verb.start);
    let plain = words::is_request(word) && !word.ends_with("ing") && !page.tokens[verb.start].hangul();
    if !plain || is_making(word) || thing.is_empty() {
        return None;
    }
    let end = phrase(page, thing).end;
    Some(lower_first(&page.plain(verb.start..end)))
}

/// `성수동에 작은 카페를 열고 싶다`: the words before the object's particle, behind the place and the subject.
fn korean_thing(page: &Page<'_>, thing: Range<usize>) -> Range<usize> {
    let is_object = |at: usize| {
        page.tokens[at].hangul() && page.word(at).ends_with(['를', '을']) && !page.word(at + 1).starts_with("위한")
    };
    let Some(object) = thing.clone().find(|at| is_object(*at)) else {
        return thing;
    };
    let start = (thing.start..object).rev().find(|at| {
        ["에", "에서", "까지", "으로", "안에", "위한"].iter().any(|ending| page.word(*at).ends_with(ending))
            || page.tokens[*at].kind == Kind::Mark
            || *at == thing.start && page.word(*at).ends_with(['는', '은', '가', '이'])
    });
    start.map_or(thing.start, |at| at + 1)..object + 1
}

/// The noun phrase at the start of some tokens: up to a mark, a preposition other than "of", or a relative clause.
fn phrase(page: &Page<'_>, range: Range<usize>) -> Range<usize> {
    const STOPS: &str = " in at near with for to that which who using over on by from across so because between where located designed inspired into within under via along through against during towards among \
        around such while when as inside after before featuring focused aiming connecting originating led is are has examining about based selling structured capable \
        well this tonight tomorrow today next aimed intended housed funded without including currently plus per will would can should must ";
    let stops = |at: usize| among(page.word(at), STOPS);
    let mut end = range.start;
    while end < range.end {
        let token = &page.tokens[end];
        let next = page.tokens.get(end + 1);
        let noun_follows = next
            .is_some_and(|next| matches!(next.kind, Kind::Word | Kind::Number) || matches!(next.text, "$" | "€" | "£"))
            && !stops(end + 1)
            && !words::is_determiner(page.word(end + 1))
            && !words::is_request(page.word(end + 1))
            && !page.word(end + 1).ends_with("ing");
        // A comma after the first few words parts adjectives: `a massive, multi-level complex`.
        let adjectives = token.text == ","
            && end - range.start <= 4
            && matches!(page.word(range.start), "a" | "an" | "the" | "this")
            && noun_follows
            && !page.tokens[end - 1].capital()
            || token.text == "," && end == range.start + 3 && page.tokens[range.start].kind == Kind::Number;
        let joins = token.lower == "and" && noun_follows && end > range.start;
        let inner = is_hyphen(token.text) && token.glued
            || matches!(token.text, "/" | "&" | "'" | "\"" | "“" | "”" | "‘" | "’" | "$" | "€" | "²");
        let stop = stops(end) && !words::is_determiner(page.back(end, 1))
            || token.lower == "and" && !joins
            || token.kind == Kind::Break
            || token.kind == Kind::Mark && !inner && !adjectives;
        if stop && end > range.start {
            break;
        }
        end += 1;
    }
    let longest = (range.start + THING_MAX).min(range.end);
    range.start..end.clamp(range.start + 1, longest.max(range.start + 1))
}

fn is_title_case(page: &Page<'_>, range: Range<usize>) -> bool {
    range.len() > 1 && page.tokens[range].iter().all(|token| token.capital() || token.kind == Kind::Mark)
}

/// The phrase in small letters with an article, where it needs one.
fn with_article(page: &Page<'_>, range: Range<usize>, title_case: bool) -> Said {
    let span = page.span(range.clone());
    let first = &page.tokens[range.start];
    if page.tokens[range.clone()].iter().any(super::tokens::Token::hangul) {
        let text = page.plain(range);
        return Said { text: text.strip_suffix(['를', '을']).unwrap_or(&text).to_owned(), span };
    }
    let text = if title_case { small(page, range.clone()) } else { page.plain(range.clone()) };
    let inner_capital = first.text.chars().skip(1).any(char::is_uppercase);
    let opens_sentence = page.around(range.start).start == range.start;
    let name_follows =
        page.tokens.get(range.start + 1).is_some_and(|next| next.capital() && range.len() > 1 || next.lower == "'s");
    let determined = words::is_determiner(&first.lower) || among(&first.lower, "it them him her us what how");
    let proper = !title_case && !determined && first.capital() && (inner_capital || !opens_sentence || name_follows);
    let text = if first.capital() && !proper && !title_case { lower_first(&text) } else { text };
    let head = range
        .clone()
        .find(|at| matches!(page.word(*at), "of" | "and"))
        .filter(|at| *at > range.start)
        .unwrap_or(range.end);
    let head = page.word(head - 1);
    let plural = head.ends_with('s') && !head.ends_with("ss") && !head.ends_with("us") || head == "people";
    let mass = ["ing", "tion", "water", "ware", "ity", "peace", "research", "work", "english"]
        .iter()
        .any(|end| head.ends_with(end));
    let acronym = inner_capital && first.text.chars().all(char::is_uppercase);
    let language = proper
        && !acronym
        && range.len() > 1
        && !name_follows
        && page.tokens[range.end - 1].kind == Kind::Word
        && !page.tokens[range.end - 1].capital();
    if determined || plural || mass || first.kind == Kind::Mark || proper && !acronym && !language {
        return Said { text, span };
    }
    let vowel = text.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', '8'])
        || text.starts_with("11")
        || text.starts_with("18");
    let spoken = text.starts_with("eu") || text.starts_with("uni") || text.starts_with("one") || text.starts_with("us");
    Said { text: format!("{} {text}", if vowel && !spoken { "an" } else { "a" }), span }
}

/// A title in small letters, but for short forms and the names of places.
fn small(page: &Page<'_>, range: Range<usize>) -> String {
    let mut text = String::new();
    for token in &page.tokens[range] {
        if !token.glued && !text.is_empty() {
            text.push(' ');
        }
        let name = token.text == token.text.to_uppercase()
            || gazetteer::all().names(&token.lower).iter().any(|name| name.words.len() == 1);
        text.push_str(if name { token.text } else { &token.lower });
    }
    text
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A name the text gives: `Project name: “Split Evenly”`, `Carrington Event Prep: …` at the very start.
fn named(page: &Page<'_>) -> Option<Said> {
    if let Some(at) = (0..page.tokens.len()).find(|at| page.says(*at, "project name :") || page.says(*at, "title :")) {
        let mut from = at + if page.word(at) == "title" { 2 } else { 3 };
        if matches!(page.word(from), "“" | "\"" | "'" | "‘") {
            from += 1;
        }
        let line = page.around(from).end;
        let end = (from..line).find(|at| matches!(page.word(*at), "”" | "\"" | "’" | "'" | "." | ":")).unwrap_or(line);
        return said(page, from..end).map(cut);
    }
    let label = page.sentences.first().filter(|first| !first.heading)?.label.clone()?;
    let long: Vec<bool> = page.tokens[label.clone()]
        .iter()
        .filter(|token| token.kind == Kind::Word && token.text.len() > 3)
        .map(super::tokens::Token::capital)
        .collect();
    let capitals = long.iter().filter(|capital| **capital).count();
    (capitals >= 2 && capitals * 5 >= long.len() * 4).then(|| said(page, label).map(cut)).flatten()
}

/// A heading in the first line, unless it is one of those that every page has.
fn heading(page: &Page<'_>) -> Option<Said> {
    const COMMON: [&str; 8] =
        ["context", "scenario", "overview", "background", "introduction", "prompt", "goal", "objective"];
    let first = page.sentences.first().filter(|first| first.heading && first.label.is_none())?;
    let common = first.tokens.clone().any(|at| COMMON.contains(&page.word(at)));
    (!common && first.tokens.len() >= 2).then(|| said(page, first.tokens.clone()).map(cut)).flatten()
}

/// A Korean headline is the whole sentence, for its verb comes last.
fn korean_headline(page: &Page<'_>, sentence: usize) -> Option<Said> {
    let Range { start, mut end } = page.sentences[sentence].tokens.clone();
    while end > start + 1 && page.tokens[end - 1].kind == Kind::Mark {
        end -= 1;
    }
    page.tokens[start..end].iter().any(super::tokens::Token::hangul).then(|| said(page, start..end).map(cut)).flatten()
}

/// Tells whether a verb only says that there is to be something.
fn is_making(word: &str) -> bool {
    const MAKING: [&str; 25] = [
        "plan",
        "planning",
        "designing",
        "design",
        "create",
        "build",
        "make",
        "establish",
        "develop",
        "construct",
        "launch",
        "open",
        "set",
        "implement",
        "execute",
        "draft",
        "do",
        "propose",
        "write",
        "invent",
        "go",
        "perform",
        "deploy",
        "formulate",
        "providing",
    ];
    let stems = [word, word.trim_end_matches('s'), word.trim_end_matches("es")];
    stems.iter().any(|stem| MAKING.contains(stem))
}

/// A headline of the thing asked for: its first clause, without article, and with its verb where the thing alone says too little.
fn headline(page: &Page<'_>, request: &Request) -> Said {
    let thing = request.thing.clone();
    let mut start = thing.start;
    if matches!(page.word(start), "a" | "an" | "the") && thing.len() > 1 {
        start += 1;
    }
    if let Some(verb) = request.verb.clone().filter(|verb| !is_making(page.word(verb.start))) {
        start = verb.start;
    }
    let least = phrase(page, thing.clone()).end;
    let mut end = start;
    while end < thing.end {
        let token = &page.tokens[end];
        let place = page.tokens.get(end + 1).is_some_and(super::tokens::Token::capital);
        let mark = among(token.text, ". ; — ( : ! ? 。")
            || token.text == "," && !place && !words::is_determiner(page.back(end, 2));
        let clause = matches!(token.lower.as_str(), "that" | "which" | "so" | "because" | "while");
        if end >= least && (mark || clause) || token.kind == Kind::Break {
            break;
        }
        end += 1;
    }
    while end > start + 1 && page.tokens[end - 1].text == "," {
        end -= 1;
    }
    let end = end.max(start + 1);
    let text = page.plain(start..end);
    let mut letters = text.chars();
    let text = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    cut(Said { text, span: page.span(start..end) })
}

/// Cuts a headline that is too long: before its last clause, or else at a word.
fn cut(mut said: Said) -> Said {
    const CLAUSES: &str = "originating from to with using for in at led focused designed by within without over";
    if said.text.chars().count() <= TITLE_MAX {
        return said;
    }
    let end = said.text.char_indices().nth(TITLE_MAX).map_or(said.text.len(), |(at, _)| at);
    let short = &said.text[..end];
    let clause =
        CLAUSES.split(' ').filter_map(|clause| short.rfind(&format!(" {clause} "))).max().filter(|at| *at >= TITLE_MIN);
    let whole = clause.or_else(|| short.rfind(' ')).map_or(short, |at| &short[..at]);
    let mut words: Vec<&str> = whole.trim_end_matches([',', ' ', '-', '–']).split(' ').collect();
    while words.len() > 3
        && among(
            words[words.len() - 1],
            "the a an of and on or originating inspired led located across near into designed",
        )
    {
        words.pop();
    }
    said.text = words.join(" ");
    said
}

/// The sentence after "Objective:" or "Goal:".
fn labelled_goal(page: &Page<'_>) -> Option<usize> {
    page.sentences.iter().position(|sentence| {
        let label = sentence.label.clone().map(|label| page.lower(label)).unwrap_or_default();
        matches!(label.as_str(), "objective" | "goal" | "mission" | "목표" | "목적") && !sentence.heading
    })
}
