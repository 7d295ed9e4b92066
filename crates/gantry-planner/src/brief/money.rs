//! Amounts of money, and what each of them is for.
//!
//! An amount needs a currency beside it, or a scale word in a sentence about a budget: `3.5 million people` is no money.
//! The role comes from the words around it; the largest amount called a budget is the budget, all smaller ones are parts.

use std::ops::Range;

use rust_decimal::Decimal;

use super::currency::{self, Sign};
use super::gazetteer::Country;
use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words::among;
use super::{Money, MoneyRole, role};

/// An amount as found, before its role is known.
pub(super) struct Found {
    pub tokens: Range<usize>,
    pub low: Option<Decimal>,
    pub high: Decimal,
    pub sign: Option<Sign>,
}

/// Reads all amounts of money, in the order of the text.
pub(super) fn read(page: &Page<'_>, country: Option<&Country>) -> Vec<Money> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < page.tokens.len() {
        if let Some(amount) = amount(page, at, &found) {
            at = amount.tokens.end;
            found.push(amount);
        } else {
            at += 1;
        }
    }
    let mut all: Vec<Money> = Vec::new();
    let mut roles = Vec::new();
    for (number, amount) in found.iter().enumerate() {
        let role = role::role(page, &found, number);
        roles.push(role);
        all.push(Money {
            amount: amount.high.normalize(),
            from: amount.low.map(|low| low.normalize()),
            currency: match &amount.sign {
                Some(sign) => sign.code(country),
                None => country.map(|country| country.currency.clone()),
            },
            role: role.unwrap_or(MoneyRole::Other),
            span: page.span(amount.tokens.clone()),
        });
    }
    settle(page, &mut all, &roles);
    all
}

/// The one total: the largest amount called a budget, or else the largest limit.
pub(super) fn budget(all: &[Money]) -> Option<usize> {
    let largest =
        |role| (0..all.len()).filter(|at| all[*at].role == role).max_by_key(|at| (all[*at].amount, usize::MAX - at));
    largest(MoneyRole::Budget).or_else(|| largest(MoneyRole::Limit))
}

/// Makes the only amount of a short text its budget, and all budgets but the largest its parts.
fn settle(page: &Page<'_>, all: &mut [Money], roles: &[Option<MoneyRole>]) {
    const SHORT: usize = 120;
    if budget(all).is_none() && page.tokens.len() <= SHORT {
        let open: Vec<usize> = (0..all.len()).filter(|at| roles[*at].is_none()).collect();
        if let [only] = open[..] {
            all[only].role = MoneyRole::Budget;
        }
    }
    if let Some(largest) = budget(all).map(|total| all[total].amount) {
        for money in all.iter_mut() {
            if money.role == MoneyRole::Budget && money.amount != largest {
                money.role = MoneyRole::Part;
            }
        }
    }
}

/// The amount that begins at a token.
fn amount(page: &Page<'_>, at: usize, found: &[Found]) -> Option<Found> {
    if page.tokens[at].kind == Kind::Number
        && let Some(amount) = korean_amount(page, at, at)
    {
        return Some(amount);
    }
    let prefix = currency::before_amount(page, at);
    let first = prefix.as_ref().map_or(at, |(_, next)| *next);
    if prefix.is_some() && page.tokens.get(first).is_some_and(|token| token.kind != Kind::Number) {
        return None;
    }
    let glued_to_word = prefix.is_none() && page.tokens[at].glued && at > 0 && page.tokens[at - 1].kind == Kind::Word;
    if glued_to_word {
        return None;
    }
    if prefix.is_some()
        && let Some(mut amount) = korean_amount(page, first, at)
    {
        amount.sign = prefix.map(|(sign, _)| sign);
        return Some(amount);
    }
    let (mut high, next) = page.number(first)?;
    let (scale, mut next) = scale(page, next, prefix.is_some());
    let mut scaled = scale;
    let mut low = None;
    let mut sign = prefix.as_ref().map(|(sign, _)| sign.clone());
    high = dotted(page, first, high, scale, sign.as_ref());
    let between = page.back(at, 1) == "between" && page.word(next) == "and";
    if is_hyphen(page.word(next)) || matches!(page.word(next), "to" | "~") || between {
        let again = currency::before_amount(page, next + 1);
        let second = again.as_ref().map_or(next + 1, |(_, next)| *next);
        if let Some((value, after)) = page.number(second)
            && page.tokens[second].kind == Kind::Number
        {
            let known = sign.is_some() || again.is_some();
            let (second_scale, after) = self::scale(page, after, known);
            sign = sign.or(again.map(|(sign, _)| sign));
            let top = value.checked_mul(second_scale.unwrap_or(Decimal::ONE))?;
            let bottom = match (scaled, second_scale) {
                (Some(scale), _) => high.checked_mul(scale),
                (None, Some(scale)) if high < value => high.checked_mul(scale),
                _ => Some(high),
            }?;
            if bottom < top {
                low = Some(bottom);
                high = top;
                scaled = second_scale;
                next = after;
            }
        }
    }
    if low.is_none() {
        high = high.checked_mul(scaled.unwrap_or(Decimal::ONE))?;
    }
    if page.word(next) == "+" && page.tokens[next].glued {
        next += 1;
    }
    if page.says(next, "us dollars") {
        sign = Some(Sign::Code("USD".to_owned()));
        next += 2;
    } else if let Some((suffix, after)) = currency::after_amount(page, next)
        && (sign.is_none() || matches!((&sign, &suffix), (Some(_), Sign::Code(_))))
        && !(sign.is_some() && page.tokens.get(after).is_some_and(|token| token.kind == Kind::Number))
    {
        if sign.is_none() && scaled.is_none() && low.is_none() {
            high = dotted(page, first, high, scaled, Some(&suffix));
        }
        sign = Some(suffix);
        next = after;
    }
    let tokens = at..next;
    let amount = Found { tokens, low, high, sign };
    (amount.sign.is_some() || scaled.is_some() && is_bare_money(page, &amount, found)).then_some(amount)
}

/// `1.000 kr` is a thousand, not one: a dot and three digits group in currencies written that way.
fn dotted(page: &Page<'_>, at: usize, value: Decimal, scale: Option<Decimal>, sign: Option<&Sign>) -> Decimal {
    let text = page.tokens[at].text;
    let grouped = text.rsplit_once('.').is_some_and(|(_, run)| run.len() == 3) && !text.contains(',');
    if grouped && scale.is_none() && sign.is_some_and(Sign::groups_with_dots) && value.scale() == 3 {
        value.checked_mul(Decimal::ONE_THOUSAND).unwrap_or(value)
    } else {
        value
    }
}

/// An amount without a currency is money where its sentence speaks of a budget and no noun follows it.
fn is_bare_money(page: &Page<'_>, amount: &Found, found: &[Found]) -> bool {
    let sentence = page.around(amount.tokens.start);
    let about = (sentence.start..sentence.end).any(|at| role::is_budget_word(page.word(at)))
        || found.last().is_some_and(|last| sentence.contains(&last.tokens.start));
    let next = page.word(amount.tokens.end);
    let inside = sentence.contains(&amount.tokens.end);
    let open = !inside
        || among(next, "for over in total budget initiative project program programme to and")
        || page.tokens[amount.tokens.end].kind == Kind::Mark;
    about && open
}

/// The scale at a place. Single letters count only beside a currency.
fn scale(page: &Page<'_>, at: usize, currency: bool) -> (Option<Decimal>, usize) {
    let word = page.word(at);
    let power = match word {
        "thousand" | "thousands" => 3,
        "lakh" | "lakhs" => 5,
        "million" | "millions" | "mio" | "mill" | "millionen" => 6,
        "crore" | "crores" => 7,
        "billion" | "billions" | "milliard" | "milliards" => 9,
        "trillion" | "trillions" => 12,
        "k" | "m" | "mn" | "mln" | "b" | "bn" | "t" | "tn"
            if currency || currency::after_amount(page, at + 1).is_some() =>
        {
            match word {
                "k" => 3,
                "m" | "mn" | "mln" => 6,
                "b" | "bn" => 9,
                _ => 12,
            }
        }
        _ => return (None, at),
    };
    let mut factor = Decimal::from(10_i64.pow(power));
    let mut next = at + 1;
    if word == "lakh" && page.word(next) == "crore" {
        factor *= Decimal::from(10_000_000);
        next += 1;
    }
    (Some(factor), next)
}

/// `3억`, `1억 5천만 원`, `300만원`: Korean scales stand behind the digits, and several may follow one another.
fn korean_amount(page: &Page<'_>, first: usize, start: usize) -> Option<Found> {
    let mut at = first;
    let mut total = Decimal::ZERO;
    let mut below = Decimal::MAX;
    let mut sign = None;
    while let Some(value) = page.tokens.get(at).filter(|token| token.kind == Kind::Number).and_then(|token| token.value)
    {
        let unit = page.tokens.get(at + 1).filter(|unit| unit.hangul())?;
        let mut factor = Decimal::ONE;
        let mut rest = unit.lower.as_str();
        while let Some(letter) = rest.chars().next()
            && let Some(power) = korean_scale(letter)
        {
            factor = factor.checked_mul(Decimal::from(10_i64.pow(power)))?;
            rest = &rest[letter.len_utf8()..];
        }
        let here = value.checked_mul(factor)?;
        if factor >= below {
            break;
        }
        below = factor;
        total = total.checked_add(here)?;
        at += 2;
        if !rest.is_empty() {
            sign = currency::korean(rest).map(|(code, _)| code);
            if sign.is_none() && !currency::is_korean_ending(rest) {
                return None;
            }
            break;
        }
        if factor == Decimal::ONE {
            return None;
        }
        if let Some((code, _)) = currency::korean(page.word(at)) {
            sign = Some(code);
            at += 1;
            break;
        }
    }
    let known = sign.is_some() || start < first;
    let about = || page.around(start).any(|at| page.word(at).starts_with("예산"));
    (at > first && (known || below >= Decimal::from(10_000) && about())).then(|| Found {
        tokens: start..at,
        low: None,
        high: total,
        sign: Some(Sign::Code(sign.unwrap_or("KRW").to_owned())),
    })
}

fn korean_scale(letter: char) -> Option<u32> {
    match letter {
        '십' => Some(1),
        '백' => Some(2),
        '천' => Some(3),
        '만' => Some(4),
        '억' => Some(8),
        '조' => Some(12),
        _ => None,
    }
}
