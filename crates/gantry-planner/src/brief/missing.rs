//! What a brief leaves out and what to ask for it.
//!
//! Only what matters is asked. The first sentence decides the sort of the request:
//! - something of every day (a cup of coffee, the trash) misses nothing;
//! - something one person does alone (a report, a script, an exam) misses a time and a measure of success;
//! - something digital (an app, a language, a protocol) misses no place;
//! - a journey misses a budget, a place and a time, but no team;
//! - all else misses whatever is not said.

use std::sync::LazyLock;

use serde::Deserialize;

use super::page::Page;
use super::words::among;
use super::{Missing, Question, Topic};

/// What the text does say.
pub(super) struct Told {
    pub budget: bool,
    pub place: bool,
    pub time: bool,
    pub team: bool,
    pub success: bool,
    pub constraints: bool,
}

/// The sort of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Everyday,
    Alone,
    Digital,
    Journey,
    Other,
}

#[derive(Deserialize)]
struct Questions {
    budget: Question,
    place: Question,
    time: Question,
    team: Question,
    success: Question,
    constraints: Question,
}

static QUESTIONS: LazyLock<Questions> = LazyLock::new(|| {
    serde_saphyr::from_str(include_str!("../../data/questions.yaml"))
        .expect("data/questions.yaml holds a question for each topic")
});

/// Lists what is not said and matters.
pub(super) fn read(page: &Page<'_>, told: &Told) -> Vec<Missing> {
    let sort = sort(page);
    let all = [
        (Topic::Budget, told.budget, &QUESTIONS.budget, matches!(sort, Sort::Digital | Sort::Journey | Sort::Other)),
        (Topic::Place, told.place, &QUESTIONS.place, matches!(sort, Sort::Journey | Sort::Other)),
        (Topic::Time, told.time, &QUESTIONS.time, sort != Sort::Everyday),
        (Topic::Team, told.team, &QUESTIONS.team, matches!(sort, Sort::Digital | Sort::Other)),
        (Topic::Success, told.success, &QUESTIONS.success, matches!(sort, Sort::Alone | Sort::Digital | Sort::Other)),
        (Topic::Constraints, told.constraints, &QUESTIONS.constraints, matches!(sort, Sort::Digital | Sort::Other)),
    ];
    all.into_iter()
        .filter(|(_, told, _, matters)| !told && *matters)
        .map(|(topic, _, ask, _)| Missing { topic, ask: ask.clone() })
        .collect()
}

fn sort(page: &Page<'_>) -> Sort {
    const EVERYDAY: &str = "coffee tea remote houseplants alarm trash laundry dishes sandwich breakfast lunch dinner cook garage commute bed keys groceries nap \
        homework 커피 빨래 설거지 알람 아침밥";
    const VENTURE: &str = "shop business company restaurant café cafe factory chain brand startup farm app roastery import export 가게 창업 카페";
    const ALONE: &str = "report post essay article script summary letter poem novel presentation speech translate translation learn marathon exam 보고서 글";
    const DIGITAL: &str = "app website software os api platform game gta language english dataset papers library compiler chatbot database protocol application \
        podcast server cloud postgresql churn 웹사이트 앱 소프트웨어";
    const JOURNEY: &str = "trip vacation holiday honeymoon journey 여행";
    const SHORT: usize = 80;
    let end = page.sentences.get(1).or(page.sentences.first()).map_or(0, |sentence| sentence.tokens.end);
    let first = page.sentences.first().map_or(0, |sentence| sentence.tokens.end);
    // Korean words carry particles, so their beginning counts.
    let has = |end: usize, list: &str| {
        (0..end).any(|at| {
            let begins = |word: &str| page.tokens[at].hangul() && page.word(at).starts_with(word);
            among(page.word(at), list) || list.split_whitespace().any(begins)
        })
    };
    let short = page.tokens.len() <= SHORT;
    if short && has(end, EVERYDAY) && !has(end, VENTURE) {
        Sort::Everyday
    } else if has(first, JOURNEY) {
        Sort::Journey
    } else if has(first, ALONE) && short {
        Sort::Alone
    } else if has(first, DIGITAL) {
        Sort::Digital
    } else {
        Sort::Other
    }
}
