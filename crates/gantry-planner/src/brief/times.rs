//! Deadlines, starts and lengths of time, and which of them hold for the whole project.
//!
//! A date is a deadline after "by", "before" or "until", a start after "from" or "starting", and a moment otherwise.
//! `by 2030` and `by June` run to the last day named, `before` them ends the day before the first, and a season is reached
//! when it begins. Two days joined are a moment that takes all the days between them. A length is a horizon where its words bind it to the project; other lengths are left to the amounts.

use std::ops::Range;

use jiff::civil::Date;

use super::dates::{Calendar, Days};
use super::lengths;
use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words::among;
use super::{Held, Length, Time, TimeKind};

/// A time and how surely it holds for the whole project; 0 where it does not.
struct Found {
    time: Time,
    weight: u32,
    /// Whether it takes all of the days.
    all: bool,
}

impl Found {
    /// The days on which something happens; none of what is only done by then.
    fn held(&self) -> Option<Held> {
        let (from, to) = self.time.earliest.zip(self.time.latest)?;
        Some(Held { from, to, all: self.all || from == to })
    }
}

/// The times of a text, and the ones that hold for the whole project.
pub(super) struct Times {
    pub all: Vec<Time>,
    pub deadline: Option<Date>,
    /// The days on which it happens, where it happens on days rather than being done by one.
    pub held: Option<Held>,
    pub start: Option<Date>,
    pub horizon: Option<Length>,
}

/// Reads all times, in the order of the text.
pub(super) fn read(page: &Page<'_>, today: Date, south: bool) -> Times {
    let calendar = Calendar { today, south };
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < page.tokens.len() {
        if let Some((time, next)) = years(page, at, today) {
            found.extend(time);
            at = next;
        } else if let Some(days) = calendar.stay(page, at) {
            let stay = dated(page, at, days, today);
            // Whatever is no event begins on the first of the days.
            let begins = stay.as_ref().filter(|_| among(page.back(at, 1), "from between")).map(|stay| {
                let time = Time { kind: TimeKind::Start, latest: None, ..stay.time.clone() };
                Found { time, weight: stay.weight, all: false }
            });
            found.extend(begins.into_iter().chain(stay));
            at = days.next;
        } else if let Some(days) = calendar.date(page, at).filter(|days| days.next > at) {
            found.extend(dated(page, at, days, today));
            at = days.next;
        } else if let Some((length, next)) = lengths::length(page, at) {
            found.extend(horizon(page, at, next, length));
            at = next;
        } else {
            at += 1;
        }
    }
    let ahead = |found: &&Found| found.time.latest.is_none_or(|latest| latest >= today);
    let best = |kind: TimeKind| {
        let weight = found
            .iter()
            .filter(|found| found.time.kind == kind && ahead(found))
            .map(|found| found.weight)
            .max()
            .filter(|weight| *weight > 0);
        found.iter().filter(move |found| found.time.kind == kind && Some(found.weight) == weight)
    };
    let deadline = best(TimeKind::Deadline).filter(ahead).filter_map(|found| found.time.latest).max();
    // A day that has passed is what was asked for only where no other is.
    let passed =
        || found.iter().filter(|found| !ahead(found) && found.weight > 0).filter_map(|found| found.time.latest).max();
    let moment = || best(TimeKind::Moment).filter_map(|found| found.time.latest).max();
    let last = |kind: TimeKind| best(kind).filter(ahead).max_by_key(|found| found.time.latest);
    let held = last(TimeKind::Deadline).or_else(|| last(TimeKind::Moment)).and_then(Found::held);
    let start = best(TimeKind::Start).filter_map(|found| found.time.earliest).min();
    let horizon = best(TimeKind::Horizon).find_map(|found| found.time.length);
    Times {
        deadline: deadline.or_else(moment).or_else(passed),
        held,
        start,
        horizon,
        all: found.into_iter().map(|found| found.time).collect(),
    }
}

/// `schedule 2026–2041`: a start and a deadline.
fn years(page: &Page<'_>, at: usize, today: Date) -> Option<(Vec<Found>, usize)> {
    let year = |at: usize| {
        let token = page.tokens.get(at).filter(|token| token.kind == Kind::Number && token.text.len() == 4)?;
        token.text.parse::<i16>().ok().filter(|year| (today.year()..=2200).contains(year))
    };
    let (first, last) = (year(at)?, year(at + 2)?);
    let joined = is_hyphen(page.word(at + 1))
        || page.word(at + 1) == "to"
        || page.word(at + 1) == "and" && page.back(at, 1) == "between";
    let timely =
        (1..=3).any(|by| among(page.back(at, by), "schedule timeline from between roadmap phased period horizon"));
    if !joined || first >= last {
        return None;
    }
    // Years of something else, as in `the strategy for 2026–2029`.
    if !timely {
        return Some((Vec::new(), at + 3));
    }
    let span = page.span(at..at + 3);
    let time = |kind, earliest, latest| Time { kind, earliest, latest, length: None, hard: false, span: span.clone() };
    let start = time(TimeKind::Start, Date::new(first, 1, 1).ok(), None);
    let end = time(TimeKind::Deadline, None, Date::new(last, 12, 31).ok());
    let found = |time| Found { time, weight: 5, all: false };
    Some((vec![found(start), found(end)], at + 3))
}

/// What a date is: a deadline, a start or a moment; `None` where it is a bare number, or lies in the past and nobody asks for it.
fn dated(page: &Page<'_>, at: usize, days: Days, today: Date) -> Option<Found> {
    let mut cue = at;
    while cue > 0 && among(page.back(cue, 1), "the on in : about around is") {
        cue -= 1;
    }
    let word = page.back(cue, 1);
    let own = page.word(days.next.saturating_sub(1)).to_owned();
    let next = page.word(days.next);
    let until =
        own.ends_with("까지") || next.starts_with("까지") || among(word, "by until till through deadline due than to");
    let before = own.ends_with("전")
        || own.ends_with("전에")
        || matches!(next, "전" | "전에" | "이전")
        || word == "before"
        || page.said(cue, "ahead of")
        || begins_before(page, cue)
        || word == "starting" && page.around(at).any(|at| among(page.word(at), "apply enrol enroll register"));
    let starts = own.ends_with("부터")
        || among(word, "from starting begins begin beginning starts start after commencing launching");
    let from = starts && !before || page.said(cue, "start date");
    let event = page.back(at, 1) == "a"
        && days.bare_year
        && page.tokens.get(days.next).is_some_and(super::tokens::Token::capital);
    let context = among(page.back(at, 1), "in of during for ( on since mid late early");
    if days.bare_year && !(until || before || from || event || context) {
        return None;
    }
    let now = matches!(word, "it" | "'s" | "it's" | "since") || page.said(cue, "it is") || page.back(at, 1) == "since";
    let passed = days.last < today;
    if now || passed && !(until || before) {
        return None;
    }
    let latest = match (before, until && days.season) {
        (true, _) => days.first.yesterday().ok()?,
        (false, true) => days.first,
        (false, false) => days.last,
    };
    let sentence = page.sentence_of(at).unwrap_or(0);
    let first_sentences = sentence <= 1 || page.tokens.len() < 80;
    let part = page
        .around(at)
        .any(|at| matches!(page.word(at), "phase" | "milestone" | "pilot" | "success" | "originally" | "scheduled"));
    // `demand is expected to double by 2030` sets no deadline.
    let foretold = page.around(at).any(|at| among(page.word(at), "expected projected forecast predicted estimated"));
    let labelled = page.topic(at).contains("deadline") || page.topic(at).contains("timeline");
    let base = u32::from(first_sentences) * 3 + u32::from(labelled) * 4 + 1;
    // `by 2019 it had closed` tells what was.
    let told = passed
        && (!first_sentences || page.around(at).any(|at| among(page.word(at), "was were had has did been since")));
    let weight = match (foretold || told, part) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => base,
    };
    // A month without a year tells as often as it plans: `the September 11 events`, but `the party on July 4`.
    let planned = !days.yearless || matches!(page.back(at, 1), "on" | "for");
    let (kind, earliest, latest, weight) = if days.all {
        (TimeKind::Moment, Some(days.first), Some(days.last), weight)
    } else if until || before || labelled {
        (TimeKind::Deadline, None, Some(latest), weight)
    } else if event {
        (TimeKind::Deadline, Some(days.first), Some(days.last), weight)
    } else if from {
        (TimeKind::Start, Some(days.first), None, weight)
    } else {
        (
            TimeKind::Moment,
            Some(days.first),
            Some(days.last),
            if first_sentences && !part && planned { weight } else { 0 },
        )
    };
    let hard = (until || before) && !soft(page, cue);
    let from_cue =
        if !word.is_empty() && word.is_ascii() && (until || before || from) && cue > 0 { cue - 1 } else { at };
    let end = if next.starts_with("까지") || matches!(next, "전" | "전에" | "이전") {
        days.next + 1
    } else {
        days.next
    };
    Some(Found {
        time: Time { kind, earliest, latest, length: None, hard, span: page.span(from_cue..end) },
        weight,
        all: days.all,
    })
}

/// `before term starts on`, `before the shop opens in`: a beginning of something else, which has to be met.
fn begins_before(page: &Page<'_>, cue: usize) -> bool {
    const WORDS_MAX: usize = 5;
    let begins = among(page.back(cue, 1), "starts start begins begin opens reopens");
    begins && (2..=WORDS_MAX).any(|by| page.back(cue, by) == "before")
}

fn soft(page: &Page<'_>, at: usize) -> bool {
    (1..=6).any(|by| among(page.back(at, by), "ideally target targeted hopefully should roughly about preferably"))
}

/// A length that its words bind to the project; `None` where it is a quantity like others.
fn horizon(page: &Page<'_>, at: usize, next: usize, length: Length) -> Option<Found> {
    let weight = lengths::weight(page, at, next);
    let cue = page.back(at, 1);
    let bound = weight > 0 || matches!(cue, "within" | "over");
    let hard = matches!(cue, "within" | "most") || page.around(at).any(|at| page.word(at) == "must");
    let from = if matches!(cue, "within" | "over" | "in") && weight > 0 { at - 1 } else { at };
    let korean = ["안에", "이내", "내에", "동안", "만에"].iter().any(|word| page.word(next).starts_with(word));
    let span: Range<usize> = page.span(from..if korean { next + 1 } else { next });
    let time = Time {
        kind: TimeKind::Horizon,
        earliest: None,
        latest: None,
        length: Some(length),
        hard: hard && !soft(page, at),
        span,
    };
    bound.then_some(Found { time, weight, all: false })
}
