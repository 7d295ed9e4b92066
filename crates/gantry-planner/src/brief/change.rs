//! What a change asks for: `make it half the budget`, `two months later`, `the deadline is 2028-03-31`, `20 % cheaper`.
//!
//! Only what is plainly about the budget or the end of the whole is taken as such; everything else is left to whoever
//! reads the words.

use jiff::Span;
use jiff::civil::Date;
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;

use super::page::Page;
use super::{Brief, Length, lengths};

/// What a change was about, as far as numbers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// What it may cost.
    Budget,
    /// When it has to be done.
    Time,
    /// Something that no number tells.
    Other,
}

const BUDGET: [&str; 1] = ["budget"];
const MONEY: [&str; 6] = ["budget", "cost", "costs", "price", "money", "spending"];
const TIME: [&str; 3] = ["time", "duration", "schedule"];
const LESS: [&str; 10] = ["cut", "reduce", "lower", "decrease", "shrink", "less", "cheaper", "save", "shorten", "trim"];
const MORE: [&str; 6] = ["raise", "increase", "extend", "lift", "grow", "enlarge"];
/// What may stand between `budget` and its new amount.
const BECOMES: [&str; 16] =
    ["is", "now", "to", "of", "at", "most", "be", "becomes", "must", "should", "can", "may", "only", "a", "up", "the"];
const WHOLE: [&str; 8] = ["it", "everything", "all", "project", "plan", "whole", "work", "deadline"];
const DONE: [&str; 8] = ["done", "finished", "finish", "complete", "completed", "ready", "deadline", "due"];

/// A change as words.
struct Words {
    all: Vec<String>,
}

impl Words {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase().replace(['%', '％'], " % ");
        let word = |letter: char| !(letter.is_alphanumeric() || "%.-".contains(letter));
        let words = lower.split(word).map(|word| word.trim_matches(['.', '-'])).filter(|word| !word.is_empty());
        Self { all: words.map(|word| if word == "percent" { "%" } else { word }.to_owned()).collect() }
    }

    fn has(&self, words: &[&str]) -> bool {
        self.all.iter().any(|word| words.contains(&word.as_str()))
    }

    fn begins(&self, beginnings: &[&str]) -> bool {
        self.all.iter().any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
    }

    /// `half the budget`, `half of the cost`, `double the time`.
    fn multiplied(&self, what: &[&str]) -> Option<f64> {
        self.all.iter().enumerate().find_map(|(at, word)| {
            let factor = match word.as_str() {
                "half" | "halve" => 0.5,
                "double" | "twice" => 2.0,
                _ => return None,
            };
            let rest =
                self.all[at + 1..].iter().map(String::as_str).find(|word| !["of", "the", "its", "our"].contains(word));
            rest.filter(|word| what.contains(word)).map(|_| factor)
        })
    }

    /// `10 %`, as a share.
    fn share(&self) -> Option<f64> {
        let at = self.all.iter().position(|word| word == "%").filter(|at| *at > 0)?;
        self.all[at - 1].parse::<f64>().ok().map(|percent| percent / 100.0).filter(|share| *share <= 10.0)
    }

    /// -1 for less, 1 for more, nothing when it says both or neither.
    fn direction(&self) -> Option<f64> {
        match (self.has(&LESS), self.has(&MORE)) {
            (true, false) => Some(-1.0),
            (false, true) => Some(1.0),
            _ => None,
        }
    }
}

/// Applies a change to what a request said.
pub fn apply(brief: &mut Brief, change: &str, today: Date) -> Changed {
    let words = Words::of(change);
    let said = super::read(change, today);
    if let [money] = said.money.as_slice() {
        return amount(brief, change, &words, money);
    }
    if let Some(factor) = money_factor(&words) {
        return by_factor(brief, factor);
    }
    let page = Page::new(change);
    if let Some(days) = (0..page.tokens.len()).find_map(|at| moved_by(&page, at)) {
        return by_days(brief, days, today);
    }
    let whole = words.has(&["deadline"]) || (words.has(&WHOLE) && words.has(&DONE));
    if let Some(deadline) = said.deadline.filter(|deadline| whole && *deadline > today) {
        due(brief, deadline);
        return Changed::Time;
    }
    if let Some(length) = said.horizon.filter(|_| whole || words.has(&["duration"])) {
        (brief.deadline, brief.horizon) = (None, Some(length));
        return Changed::Time;
    }
    match words.multiplied(&TIME) {
        Some(factor) => by_days(brief, (until(brief, today).unwrap_or_default()) * (factor - 1.0), today),
        None => Changed::Other,
    }
}

/// One amount: what the budget becomes, or by how much it changes.
fn amount(brief: &mut Brief, change: &str, words: &Words, money: &super::Money) -> Changed {
    let lower = change.to_lowercase();
    let Some(at) = lower.find("budget").filter(|at| *at < money.span.start) else { return Changed::Other };
    let between = Words::of(lower.get(at + "budget".len()..money.span.start).unwrap_or_default());
    let currency = money.currency.clone().or_else(|| brief.budget.as_ref()?.currency.clone());
    if between.all.last().is_some_and(|word| word == "by") {
        let (Some(sign), Some(budget)) = (words.direction(), &mut brief.budget) else { return Changed::Other };
        let changed = if sign < 0.0 { budget.amount - money.amount } else { budget.amount + money.amount };
        if currency != budget.currency || changed <= Decimal::ZERO {
            return Changed::Other;
        }
        budget.amount = changed;
        return Changed::Budget;
    }
    if between.all.iter().any(|word| !BECOMES.contains(&word.as_str())) {
        return Changed::Other;
    }
    brief.budget = Some(super::Money { currency, ..money.clone() });
    Changed::Budget
}

fn money_factor(words: &Words) -> Option<f64> {
    if words.begins(&["예산", "비용"]) {
        return match (words.begins(&["절반"]), words.begins(&["두배", "배로"])) {
            (true, false) => Some(0.5),
            (false, true) => Some(2.0),
            _ => None,
        };
    }
    if let Some(factor) = words.multiplied(&MONEY) {
        return Some(factor);
    }
    let share = words.share()?;
    if words.has(&["cheaper"]) || (words.has(&BUDGET) && words.direction() == Some(-1.0)) {
        return (share < 1.0).then_some(1.0 - share);
    }
    (words.has(&BUDGET) && words.direction() == Some(1.0)).then_some(1.0 + share)
}

/// `two months later`: how many days the end moves.
fn moved_by(page: &Page<'_>, at: usize) -> Option<f64> {
    let (length, next) = lengths::length(page, at)?;
    match page.word(next) {
        "later" | "longer" | "more" => Some(length.days()),
        "earlier" | "sooner" | "shorter" | "faster" => Some(-length.days()),
        _ => None,
    }
}

/// How many days there are until the end.
fn until(brief: &Brief, today: Date) -> Option<f64> {
    let until = brief.deadline.map(|deadline| f64::from((deadline - today).get_days()));
    until.or_else(|| brief.horizon.map(Length::days))
}

fn by_factor(brief: &mut Brief, factor: f64) -> Changed {
    let (Some(budget), Some(factor)) = (&mut brief.budget, Decimal::from_f64(factor)) else { return Changed::Other };
    match budget.amount.checked_mul(factor) {
        Some(amount) => {
            budget.amount = amount.round_dp(2).normalize();
            Changed::Budget
        }
        None => Changed::Other,
    }
}

/// It is due on another day; what happens on its days happens so much later, or earlier.
fn due(brief: &mut Brief, deadline: Date) {
    if let Some((held, old)) = brief.held.as_mut().zip(brief.deadline) {
        let by = deadline - old;
        let moved = held.from.checked_add(by).ok().zip(held.to.checked_add(by).ok());
        (held.from, held.to) = moved.unwrap_or((held.from, held.to));
    }
    (brief.deadline, brief.horizon) = (Some(deadline), None);
}

/// So many days later; an end that is over by now is none.
fn by_days(brief: &mut Brief, days: f64, today: Date) -> Changed {
    let moved = until(brief, today).and_then(|left| after(today, left + days)).filter(|end| *end > today);
    match moved {
        Some(deadline) => {
            due(brief, deadline);
            Changed::Time
        }
        None => Changed::Other,
    }
}

fn after(from: Date, days: f64) -> Option<Date> {
    #[expect(clippy::cast_possible_truncation, reason = "a number of days that a person wrote")]
    let days = days.clamp(-100_000.0, 100_000.0).round() as i64;
    from.checked_add(Span::new().try_days(days).ok()?).ok()
}
