//! Quantities other than money and project times: sizes, powers, counts of things and people.

use std::ops::Range;

use rust_decimal::Decimal;

use super::Amount;
use super::lengths;
use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words;
use super::words::among;

/// Reads all quantities outside the bytes that are money or times, which come in the order of the text.
pub(super) fn read(page: &Page<'_>, taken: &[Range<usize>]) -> Vec<Amount> {
    let mut all: Vec<Amount> = Vec::new();
    let mut at = 0;
    let mut passed = 0;
    while at < page.tokens.len() {
        let span = &page.tokens[at].span;
        while taken.get(passed).is_some_and(|taken| taken.end <= span.start) {
            passed += 1;
        }
        let free = taken.get(passed).is_none_or(|taken| span.end <= taken.start);
        if let Some((amount, next)) = free.then(|| amount(page, at)).flatten() {
            all.push(amount);
            at = next;
        } else {
            at += 1;
        }
    }
    all
}

fn amount(page: &Page<'_>, at: usize) -> Option<(Amount, usize)> {
    let token = &page.tokens[at];
    let named =
        at > 0 && token.glued && (page.tokens[at - 1].kind == Kind::Word || is_hyphen(page.tokens[at - 1].text));
    let numbered =
        among(page.back(at, 1), "phase year level month week day aim section iso zone stage step months years version");
    if named || numbered || token.kind == Kind::Word && is_one(&token.lower) {
        return None;
    }
    let count = page.count(at)?;
    let ordinal = page.tokens.get(count.next).is_some_and(|next| next.glued)
        && matches!(page.word(count.next), "st" | "nd" | "rd" | "th");
    if ordinal {
        return None;
    }
    let mut scale = Decimal::ONE;
    let mut next = count.next;
    match page.word(next) {
        "thousand" => scale = Decimal::from(1_000),
        "million" => scale = Decimal::from(1_000_000),
        "billion" => scale = Decimal::from(1_000_000_000),
        "crore" => scale = Decimal::from(10_000_000),
        "lakh" => scale = Decimal::from(100_000),
        _ => {}
    }
    if scale > Decimal::ONE {
        next += 1;
    }
    let hyphen = is_hyphen(page.word(next)) && page.tokens[next].glued;
    let unit_at = if hyphen { next + 1 } else { next };
    let (unit, mut next) = unit(page, unit_at)
        .or_else(|| time_unit(page, at))
        .or_else(|| thing(page, unit_at, hyphen).filter(|_| !is_year(page, at)))?;
    let value = count.high.checked_mul(scale)?;
    let from = match count.low {
        Some(low) => Some(low.checked_mul(scale)?),
        None => None,
    };
    let mut sides = Vec::new();
    while matches!(page.word(next), "×" | "x" | "by")
        && let Some((side, after)) = page.number(next + 1)
        && let Some((_, after)) = self::unit(page, after)
    {
        sides.push(side.normalize());
        next = after;
    }
    let amount = Amount {
        value: value.normalize(),
        from: from.map(|from| from.normalize()),
        sides,
        unit,
        span: page.span(at..next),
    };
    Some((amount, next))
}

/// `the 2011 censuses` are no 2011 things.
fn is_year(page: &Page<'_>, at: usize) -> bool {
    let text = page.tokens[at].text;
    text.len() == 4 && ("1900"..="2099").contains(&text)
}

/// `one` is rarely a count of things, more often a pronoun.
fn is_one(word: &str) -> bool {
    matches!(word, "one" | "zero")
}

/// A unit of measure, in its usual short form.
fn unit(page: &Page<'_>, at: usize) -> Option<(String, usize)> {
    const SIGNS: &[&str] = &[
        "km", "m", "cm", "mm", "ft", "mi", "kg", "g", "mg", "t", "l", "ml", "GW", "MW", "kW", "W", "GWh", "MWh", "kWh",
        "Wh", "GB", "TB", "PB", "MB", "Hz", "kHz", "MHz", "GHz", "ms", "ha", "V", "K", "bit", "hp", "rpm", "dB", "nm",
    ];
    let token = page.tokens.get(at)?;
    let squared = |next: usize| {
        page.tokens.get(next).filter(|mark| mark.glued && matches!(mark.text, "²" | "³")).map(|mark| mark.text)
    };
    if matches!(token.lower.as_str(), "sq" | "square") {
        let next = if page.word(at + 1) == "." { at + 2 } else { at + 1 };
        let unit = match page.word(next) {
            "ft" | "feet" | "foot" => "sq ft",
            "m" | "meter" | "meters" | "metre" | "metres" => "m²",
            "km" | "kilometers" | "kilometres" => "km²",
            "mi" | "miles" => "sq mi",
            _ => return None,
        };
        return Some((unit.to_owned(), next + 1));
    }
    if token.text == "%" {
        return Some(("%".to_owned(), at + 1));
    }
    if token.text == "°" {
        let next = page
            .tokens
            .get(at + 1)
            .filter(|next| next.glued && matches!(next.text, "C" | "F" | "N" | "S" | "W" | "E"))?;
        return Some((format!("°{}", next.text), at + 2));
    }
    let long = match token.lower.as_str() {
        "meter" | "meters" | "metre" | "metres" => Some("m"),
        "kilometer" | "kilometers" | "kilometre" | "kilometres" => Some("km"),
        "foot" | "feet" => Some("ft"),
        "mile" | "miles" => Some("mi"),
        "acre" | "acres" => Some("acres"),
        "hectare" | "hectares" => Some("ha"),
        "ton" | "tons" | "tonne" | "tonnes" => Some("t"),
        "kilogram" | "kilograms" | "kilos" => Some("kg"),
        "liter" | "liters" | "litre" | "litres" => Some("l"),
        "megawatt" | "megawatts" => Some("MW"),
        "gigawatt" | "gigawatts" => Some("GW"),
        "petabytes" => Some("PB"),
        "terabytes" => Some("TB"),
        "percent" => Some("%"),
        "평" => Some("평"),
        "명" | "명이" | "명의" | "명을" => Some("명"),
        "평짜리" | "평의" => Some("평"),
        _ => None,
    };
    if let Some(unit) = long {
        return Some((unit.to_owned(), at + 1));
    }
    let sign = SIGNS
        .iter()
        .find(|sign| **sign == token.text || token.text.len() > 1 && sign.eq_ignore_ascii_case(token.text))?;
    if let Some(power) = squared(at + 1) {
        return Some((format!("{sign}{power}"), at + 2));
    }
    let per = page.word(at + 1) == "/" && page.tokens[at + 1].glued;
    if per
        && let Some(below) =
            page.tokens.get(at + 2).filter(|below| below.glued && below.kind == Kind::Word && below.text.len() <= 4)
    {
        return Some((format!("{sign}/{}", below.text), at + 3));
    }
    Some(((*sign).to_owned(), at + 1))
}

/// A length of time that is no project time: `8-hour cycles`, `takes 1 hour`.
fn time_unit(page: &Page<'_>, at: usize) -> Option<(String, usize)> {
    let (length, next) = lengths::length(page, at)?;
    Some((length.unit.word().to_owned(), next))
}

/// Things that are counted: up to two words and a plural, or one word after a hyphen.
fn thing(page: &Page<'_>, at: usize, hyphen: bool) -> Option<(String, usize)> {
    let token = page.tokens.get(at).filter(|token| token.kind == Kind::Word && !token.capital())?;
    if hyphen {
        let whole = token.lower.len() > 2 && !matches!(token.lower.as_str(), "and" | "or" | "to");
        return whole.then(|| (token.lower.clone(), at + 1));
    }
    for end in at..at + 3 {
        let last = page
            .tokens
            .get(end)
            .filter(|token| token.kind == Kind::Word && page.sentence_of(end) == page.sentence_of(at))?;
        if among(&last.lower, "of and or in is was has to for 's as this its by at on from with the a") {
            return None;
        }
        if last.lower.len() > 3
            && last.lower.ends_with('s')
            && !last.lower.ends_with("ss")
            && !last.lower.ends_with("ous")
            || words::is_people(&last.lower) && last.lower.ends_with(['s', 'e', 'n'])
        {
            return Some((page.lower(at..end + 1), end + 1));
        }
        if is_hyphen(page.word(end + 1)) {
            return None;
        }
    }
    None
}
