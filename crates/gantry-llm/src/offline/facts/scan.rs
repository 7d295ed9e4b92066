//! Finds places, days, lengths of time, money and people in running text. What is not sure is not found.

use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const UNITS: [&str; 10] = ["day", "days", "week", "weeks", "month", "months", "year", "years", "hour", "hours"];
const KOREAN_UNITS: [&str; 6] = ["개월", "시간", "주", "일", "년", "달"];
const CURRENCIES: [&str; 9] = ["USD", "EUR", "GBP", "KRW", "JPY", "dollars", "euros", "pounds", "won"];
const LARGE: [&str; 8] = ["k", "m", "bn", "thousand", "million", "billion", "K", "M"];

/// Every day that is written as `2027-03-01`, in order of time.
pub(super) fn dates(text: &str) -> Vec<Date> {
    let bytes = text.as_bytes();
    let mut dates: Vec<Date> = Vec::new();
    for (at, window) in bytes.windows(10).enumerate() {
        let shaped = window
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
        let alone = at == 0 || !bytes[at - 1].is_ascii_digit();
        if shaped
            && alone
            && let Some(date) = text.get(at..at + 10).and_then(|written| written.parse().ok())
        {
            dates.push(date);
        }
    }
    dates.sort();
    dates.dedup();
    dates
}

/// The time by which, or in which: a day, a month, a month of a year.
pub(super) fn when(text: &str) -> Option<String> {
    if let Some(date) = dates(text).last() {
        return Some(date.to_string());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let bare = bare(word);
        if MONTHS.contains(&bare) {
            // `May` alone is more often a verb.
            let after =
                words.get(at + 1).map(|word| self::bare(word)).filter(|year| year.len() == 4 && all_digits(year));
            let before =
                at.checked_sub(1).map(|at| self::bare(words[at])).filter(|day| day.len() <= 2 && all_digits(day));
            let found = match (before, after) {
                (Some(day), Some(year)) => Some(format!("{day} {bare} {year}")),
                (None, Some(year)) => Some(format!("{bare} {year}")),
                (Some(day), None) => Some(format!("{day} {bare}")),
                (None, None) => (bare != "May").then(|| bare.to_owned()),
            };
            if found.is_some() {
                return found;
            }
        }
        if let Some(month) = bare.strip_suffix('월').filter(|month| all_digits(month)) {
            let year = at.checked_sub(1).map(|at| words[at]).filter(|year| year.ends_with('년'));
            return Some(year.map_or_else(|| format!("{month}월"), |year| format!("{year} {month}월")));
        }
    }
    None
}

/// A length of time: `6 weeks`, `3개월`.
pub(super) fn span(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    for (at, word) in words.iter().enumerate() {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        if digits.is_empty() || digits.len() > 3 {
            continue;
        }
        let rest = &word[digits.len()..];
        if let Some(unit) = KOREAN_UNITS.iter().find(|unit| rest.starts_with(**unit)) {
            return Some(format!("{digits}{unit}"));
        }
        let next =
            if rest.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { rest.trim_start_matches('-') };
        if UNITS.contains(&next) {
            return Some(format!("{digits} {next}"));
        }
    }
    None
}

/// An amount of money: `$12,000`, `5 million euros`, `3,000만 원`.
pub(super) fn money(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    for (at, word) in words.iter().enumerate() {
        let signed = word.starts_with(['$', '€', '£', '₩', '¥']);
        let amount = word.trim_start_matches(['$', '€', '£', '₩', '¥']);
        if !amount.starts_with(|letter: char| letter.is_ascii_digit()) {
            continue;
        }
        let next = words.get(at + 1).copied().unwrap_or_default();
        let after = words.get(at + 2).copied().unwrap_or_default();
        if signed {
            let large = LARGE.contains(&next) && next.len() > 2;
            return Some(if large { format!("{word} {next}") } else { (*word).to_owned() });
        }
        if amount.contains('원') {
            return Some(amount[..amount.find('원')? + '원'.len_utf8()].to_owned());
        }
        if amount.ends_with(['만', '억', '천']) && next.starts_with('원') {
            return Some(format!("{amount} 원"));
        }
        if CURRENCIES.contains(&next) {
            return Some(format!("{amount} {next}"));
        }
        if LARGE.contains(&next) && CURRENCIES.contains(&after) {
            return Some(format!("{amount} {next} {after}"));
        }
    }
    None
}

/// A place: capital words after `in`, `at` or `near`, or a Korean word with `에서`.
pub(super) fn place(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        if matches!(*word, "in" | "at" | "near") {
            let capital = |word: &&&str| word.starts_with(char::is_uppercase) && !MONTHS.contains(&bare(word));
            let mut named: Vec<&str> = Vec::new();
            for word in words[at + 1..].iter().take(3).take_while(capital) {
                named.push(bare(word));
                if word.ends_with([',', '.', ';', ':']) {
                    break;
                }
            }
            if !named.is_empty() {
                return Some(named.join(" "));
            }
        }
        if let Some(place) = bare(word).strip_suffix("에서").filter(|place| place.chars().count() >= 2) {
            return Some(place.to_owned());
        }
    }
    None
}

/// People: what follows `for`, when it is people and no amount.
pub(super) fn who(text: &str) -> Option<String> {
    const STOPS: [&str; 20] = [
        "in", "at", "near", "by", "with", "on", "from", "to", "and", "under", "until", "within", "before", "after",
        "of", "that", "which", "who", "is", "as",
    ];
    const NOT_PEOPLE: [&str; 9] = ["example", "instance", "free", "less", "more", "about", "now", "sale", "each"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "for")?;
    let mut named: Vec<&str> = Vec::new();
    for word in words[at + 1..].iter().take(4) {
        let letters = word.chars().next().is_some_and(char::is_alphabetic);
        if !letters || STOPS.contains(word) || NOT_PEOPLE.contains(word) {
            break;
        }
        named.push(bare(word));
        if word.ends_with([',', '.', ';', ':', '!', '?']) {
            break;
        }
    }
    let people = named.iter().any(|word| !matches!(*word, "the" | "a" | "an" | "our" | "my" | "your" | "all"));
    people.then(|| named.join(" "))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| {
        matches!(letter, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\'' | '“' | '”')
    })
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
