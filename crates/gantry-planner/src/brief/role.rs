//! What an amount of money is for, by the words around it.

use super::MoneyRole;
use super::money::Found;
use super::page::Page;
use super::words::{self, among};

/// What an amount is for; `None` where its words do not say.
pub(super) fn role(page: &Page<'_>, found: &[Found], number: usize) -> Option<MoneyRole> {
    let this = &found[number];
    let sentence = page.around(this.tokens.start);
    let previous =
        number.checked_sub(1).map(|before| &found[before]).filter(|before| sentence.contains(&before.tokens.start));
    let label = (sentence.start..this.tokens.start)
        .rev()
        .find(|at| page.word(*at) == ":")
        .filter(|colon| this.tokens.start - colon > 3);
    let from = previous
        .map_or(sentence.start, |before| before.tokens.end)
        .max(label.map_or(0, |colon| colon + 1))
        .max(this.tokens.start.saturating_sub(14))
        .min(this.tokens.start);
    let until =
        found.get(number + 1).map_or(sentence.end, |next| next.tokens.start).min(sentence.end).min(this.tokens.end + 7);
    let before: Vec<&str> = (from..this.tokens.start).map(|at| page.word(at)).collect();
    let after: Vec<&str> = (this.tokens.end..until.max(this.tokens.end)).map(|at| page.word(at)).collect();
    let near = &before[before.len().saturating_sub(5)..];
    let said = format!(" {} ", before.join(" "));
    let topic = page.topic(this.tokens.start);
    let next = after.first().copied().unwrap_or_default();

    let refused =
        ["not assume", "cannot assume", "don't assume", "never assume"].iter().any(|words| said.contains(words));
    let converted = previous.is_some_and(|before| {
        page.word(before.tokens.end) == "("
            && before.tokens.end + 4 > this.tokens.start
            && near.first() == Some(&"(")
            && this.sign != before.sign
    });
    if refused || converted {
        return Some(MoneyRole::Other);
    }
    let each = matches!(next, "per" | "each" | "apiece" | "annually" | "monthly")
        || next == "/"
        || next == "a" && after.len() > 1 && is_period(after[1]);
    let priced = near
        .iter()
        .any(|word| among(word, "price priced prices ticket tickets fee fees salary wage rent per sells charge"));
    let whole = [" total ", " full ", " overall ", " entire ", " whole "].iter().any(|word| said.contains(word));
    let called = before.iter().rev().take(10).any(|word| is_budget_word(word))
        || after.iter().take(4).any(|word| is_budget_word(word) || words::is_undertaking(word))
        || said.contains(" 총 ");
    if each || priced && !called {
        return Some(MoneyRole::Price);
    }
    let market = |word: &&str| {
        among(
            word,
            "gmv revenue revenues sales market valuation turnover profit gdp worth series debt announced income",
        )
    };
    let above = near.last().is_some_and(|word| matches!(*word, "above" | "exceeding"));
    if (near.iter().any(market) || after.iter().take(2).any(market))
        && !after.iter().take(4).any(|word| *word == "budget")
        || above
    {
        return Some(MoneyRole::Other);
    }
    let named_year = before.windows(2).any(|two| {
        two[0] == "year" && (two[1] == "one" || two[1].starts_with(|first: char| first.is_ascii_digit()))
            || two == ["first", "year"]
    });
    let part = named_year
        || ["phase", "contingency", "expansion", "allocated", "equipment"]
            .iter()
            .any(|word| said.contains(&format!(" {word} ")));
    let follows_total = !whole
        && previous.is_some()
        && found[..number]
            .iter()
            .rev()
            .take_while(|other| sentence.contains(&other.tokens.start))
            .any(|other| other.high > this.high);
    if follows_total && !before.contains(&"budget") {
        return Some(MoneyRole::Part);
    }
    let limit =
        near.iter().any(|word| among(word, "under below most maximum max cap capped exceed ceiling within limit"))
            || said.ends_with(" up to ")
            || said.ends_with(" less than ")
            || said.contains(" more than ") && said.contains(" no ")
            || ["이하", "이내", "미만", "까지", "안에서", "안에"]
                .iter()
                .any(|word| next.starts_with(word) || page.word(this.tokens.end.saturating_sub(1)).ends_with(word));
    if limit {
        return Some(MoneyRole::Limit);
    }
    let budgeted = topic.contains("budget") || topic.contains("예산") || topic.contains("funding");
    match (called || budgeted, part && !whole) {
        (true, false) => Some(MoneyRole::Budget),
        (true, true) if before.contains(&"budget") => Some(MoneyRole::Budget),
        (_, true) => Some(MoneyRole::Part),
        (false, false) => None,
    }
}

pub(super) fn is_budget_word(word: &str) -> bool {
    among(
        word,
        "budget budgets budgeted fund funds funding funded investment capital capex spend financing grant raise",
    ) || word.starts_with("예산")
        || word.starts_with("자금")
        || word.starts_with("투자")
}

fn is_period(word: &str) -> bool {
    among(word, "day night week month year head piece person hour ticket seat bottle cup square")
}
