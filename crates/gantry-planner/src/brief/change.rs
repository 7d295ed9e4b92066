//! What a change asks for: `make it half the budget`, `two months later`, `by June 2028`, `20 % cheaper`.

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

const MONEY: [&str; 10] = ["budget", "cost", "money", "cheap", "spend", "price", "expens", "예산", "비용", "돈"];
const TIME: [&str; 12] =
    ["time", "deadline", "duration", "fast", "soon", "quick", "late", "earl", "longer", "shorter", "기한", "기간"];
const LESS: [&str; 13] =
    ["less", "cheap", "cut", "reduc", "lower", "save", "sooner", "earl", "fast", "quick", "shorter", "줄", "앞당"];
const MORE: [&str; 9] = ["more", "rais", "increas", "later", "longer", "extend", "add", "늘", "연장"];

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Applies a change to what a request said. What a number does not tell is left to whoever reads the words.
pub fn apply(brief: &mut Brief, change: &str, today: Date) -> Changed {
    let text = change.to_lowercase();
    let said = super::read(change, today);
    if let Some(budget) = said.budget {
        let currency = budget.currency.clone().or_else(|| brief.budget.as_ref()?.currency.clone());
        brief.budget = Some(super::Money { currency, ..budget });
        return Changed::Budget;
    }
    let page = Page::new(change);
    let length = (0..page.tokens.len()).find_map(|at| lengths::length(&page, at)).map(|(length, _)| length);
    if let (Some(length), true) = (length, has(&text, &LESS) || has(&text, &MORE)) {
        return by_length(brief, length, has(&text, &LESS));
    }
    if let Some(deadline) = said.deadline {
        (brief.deadline, brief.horizon) = (Some(deadline), None);
        return Changed::Time;
    }
    if let Some(length) = said.horizon {
        (brief.deadline, brief.horizon) = (None, Some(length));
        return Changed::Time;
    }
    let Some(factor) = factor(&text) else { return Changed::Other };
    if has(&text, &MONEY) {
        return by_factor(brief, factor);
    }
    match brief.deadline.filter(|_| has(&text, &TIME)) {
        Some(deadline) => {
            let days = f64::from((deadline - today).get_days()) * factor;
            brief.deadline = moved(today, days).or(brief.deadline);
            Changed::Time
        }
        None => Changed::Other,
    }
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

/// So much earlier, or later.
fn by_length(brief: &mut Brief, length: Length, earlier: bool) -> Changed {
    let days = if earlier { -length.days() } else { length.days() };
    match brief.deadline.and_then(|deadline| moved(deadline, days)) {
        Some(deadline) => {
            brief.deadline = Some(deadline);
            Changed::Time
        }
        None => Changed::Other,
    }
}

fn moved(from: Date, days: f64) -> Option<Date> {
    #[expect(clippy::cast_possible_truncation, reason = "a number of days that a person wrote")]
    let days = days.clamp(-100_000.0, 100_000.0).round() as i64;
    from.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// What something is to be multiplied by.
fn factor(text: &str) -> Option<f64> {
    if has(text, &["half", "halve", "절반"]) {
        return Some(0.5);
    }
    if has(text, &["double", "twice", "두 배"]) {
        return Some(2.0);
    }
    if has(text, &["a third of", "one third"]) {
        return Some(1.0 / 3.0);
    }
    let at = text.find(['%', '％']).or_else(|| text.find("percent")).or_else(|| text.find("퍼센트"))?;
    let digits: String = text[..at].trim_end().chars().rev().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let share: f64 = digits.chars().rev().collect::<String>().parse().ok()?;
    match (has(text, &LESS), has(text, &MORE)) {
        (true, _) if share <= 100.0 => Some(1.0 - share / 100.0),
        (false, true) => Some(1.0 + share / 100.0),
        _ => None,
    }
}
