//! Texts: by format, by pattern, or in words about what is asked.

use jiff::ToSpan;
use jiff::civil::{Date, date};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::Asked;
use super::demand::Demand;
use super::draw::Draw;
use super::facts::{cut, subject};
use super::pattern;
use super::place::Place;
use super::words::{Sort, parts};

/// The longest text that is written, in characters.
const CHARS_MAX: u64 = 20_000;

/// How many characters a text has where nothing says how many.
const CHARS_USUAL: u64 = 2_000;

/// The first day of a plan that names none: a Monday. No clock is read, so that the same request has the same answer.
const FIRST_DAY: Date = date(2027, 1, 4);

/// A text that meets the demand.
pub(super) fn write(asked: &Asked<'_>, demand: &Demand<'_>, place: &Place, turn: usize) -> Result<String, String> {
    let least = demand.chars_min;
    let most = demand.chars_max.unwrap_or(least.max(CHARS_USUAL));
    if least > most {
        return Err(format!("a text of at least {least} and at most {most} characters cannot be"));
    }
    if least > CHARS_MAX {
        return Err(format!("a text of at least {least} characters is longer than is written"));
    }
    let draw = asked.draw(&place.kind);
    if let Some(code) = code(asked, place).filter(|code| fits(demand, code)) {
        return Ok(code.to_owned());
    }
    if demand.patterns.is_empty() && demand.formats.is_empty() {
        return Ok(words(asked, demand, place, turn, least, most));
    }
    let check = check(demand).ok_or_else(|| "the pattern is no regular expression".to_owned())?;
    let step = place.index + turn;
    let formatted = demand.formats.iter().filter_map(|format| by_format(asked, format, place, draw, step));
    if let Some(text) = formatted.into_iter().chain(names(asked, place, step)).find(|text| check.is_valid(&json!(text)))
    {
        return Ok(text);
    }
    let mut why = None;
    for pattern in &demand.patterns {
        // Longer texts are tried until the least length is reached.
        for more in [0, 1, 2, 3, 5, 8, 13, 21, 34, 64, 128, 256, 512] {
            for try_ in 0..4 {
                let salt = u64::try_from(step * 4 + try_).unwrap_or_default();
                match pattern::write(pattern, draw.again(salt), more) {
                    Ok(text) if check.is_valid(&json!(text)) => return Ok(text),
                    Ok(_) => {}
                    Err(error) => drop(why.insert(error)),
                }
            }
        }
    }
    let text = words(asked, demand, place, turn, least, most);
    if check.is_valid(&json!(text)) {
        return Ok(text);
    }
    Err(why.unwrap_or_else(|| {
        let all: Vec<&str> = demand.patterns.iter().chain(&demand.formats).copied().collect();
        format!("no text was found that is of the form `{}`", cut(&all.join("` and `"), 120))
    }))
}

/// The code that everybody knows for a currency or a language.
fn code(asked: &Asked<'_>, place: &Place) -> Option<&'static str> {
    let name = parts(&place.name);
    if name.iter().any(|part| part == "currency") {
        let money = asked.facts.money.as_deref().unwrap_or_default();
        let signs = [
            ("€", "EUR"),
            ("EUR", "EUR"),
            ("£", "GBP"),
            ("GBP", "GBP"),
            ("¥", "JPY"),
            ("₩", "KRW"),
            ("원", "KRW"),
            ("KRW", "KRW"),
        ];
        return Some(signs.iter().find(|(sign, _)| money.contains(sign)).map_or("USD", |(_, code)| code));
    }
    name.iter().any(|part| part == "locale" || part == "language").then_some(asked.locale)
}

/// Tells whether a text meets the demand.
pub(super) fn fits(demand: &Demand<'_>, text: &str) -> bool {
    let length = length(text);
    let within = length >= demand.chars_min && demand.chars_max.is_none_or(|most| length <= most);
    let plain = demand.patterns.is_empty() && demand.formats.is_empty();
    within && (plain || check(demand).is_some_and(|check| check.is_valid(&json!(text))))
}

/// Everything that a schema says of a text at one place, to try texts on.
fn check(demand: &Demand<'_>) -> Option<Validator> {
    let patterns = demand.patterns.iter().map(|pattern| json!({"pattern": pattern}));
    let formats = demand.formats.iter().map(|format| json!({"format": format}));
    let most = demand.chars_max.map(|most| json!({"maxLength": most}));
    let all: Vec<Value> = patterns.chain(formats).chain(most).chain([json!({"minLength": demand.chars_min})]).collect();
    jsonschema::options().offline().should_validate_formats(true).build(&json!({"allOf": all})).ok()
}

/// What is asked for as names, in the spellings that patterns ask for.
fn names(asked: &Asked<'_>, place: &Place, step: usize) -> Vec<String> {
    let slug = slug(&asked.facts.what, 24);
    let field = slug_of(parts(&place.name));
    let number = step + 1;
    let initials: String = slug.split('-').filter_map(|word| word.chars().next()).take(4).collect();
    let upper = initials.to_uppercase();
    let mut names = Vec::new();
    if step == 0 {
        names.extend([slug.clone(), slug.replace('-', "_"), slug.replace('-', ""), upper.clone()]);
    }
    names.extend(slug.split('-').nth(step).map(str::to_owned));
    names.extend([
        format!("{slug}-{number}"),
        format!("{field}-{number}"),
        format!("{field}_{number}"),
        format!("{field}{number}"),
        format!("{upper}-{number}"),
        format!("{upper}-{number:03}"),
        format!("{number}"),
        format!("{}:00", step % 9 + 9),
        format!("{:02}:{:02}", step % 9 + 9, (step * 15) % 60),
        format!("{number}.0.0"),
        day(asked, place, step).to_string(),
        asked.facts.what.clone(),
    ]);
    names
}

fn by_format(asked: &Asked<'_>, format: &str, place: &Place, draw: Draw, step: usize) -> Option<String> {
    let slug = slug(&asked.facts.what, 24);
    let day = day(asked, place, step);
    let hour = 9 + (draw.below(8) + step) % 9;
    let minute = 15 * ((draw.below(4) + step / 9) % 4);
    let numbered = if step == 0 { slug.clone() } else { format!("{slug}-{}", step + 1) };
    let bits = draw.again(u64::try_from(step).unwrap_or_default()).bits();
    let low = bits % 250 + 1;
    Some(match format {
        "date" => day.to_string(),
        "time" => format!("{hour:02}:{minute:02}:00Z"),
        "date-time" => format!("{day}T{hour:02}:{minute:02}:00Z"),
        "duration" => format!("P{}D", 2 + (draw.below(10) + step) % 28),
        "email" | "idn-email" => {
            let who = asked.facts.who.as_deref().map(|who| self::slug(who, 20)).filter(|who| who != "request");
            let who = who.unwrap_or_else(|| slug_of(parts(&place.name)));
            if step == 0 { format!("{who}@example.org") } else { format!("{who}-{}@example.org", step + 1) }
        }
        "uri" | "iri" | "url" => format!("https://example.org/{numbered}"),
        "uri-reference" | "iri-reference" => format!("/{numbered}"),
        "uri-template" => format!("https://example.org/{numbered}/{{id}}"),
        "hostname" | "idn-hostname" => format!("{numbered}.example.org"),
        "ipv4" => format!("192.0.2.{low}"),
        "ipv6" => format!("2001:db8::{low:x}"),
        "json-pointer" => format!("/{numbered}"),
        "relative-json-pointer" => format!("{step}/{slug}"),
        "regex" => format!("^{numbered}$"),
        "uuid" => {
            // Version 8: made by hand, here from a hash.
            let other = draw.again(bits).bits();
            let (one, two, three) = (bits >> 32, (bits >> 16) & 0xFFFF, bits & 0xFFF);
            format!("{one:08x}-{two:04x}-8{three:03x}-{:04x}-{:012x}", 0x8000 | (other >> 50), other & 0xFFFF_FFFF_FFFF)
        }
        _ => return None,
    })
}

/// The day that a field means, counted from the days that the inputs name.
fn day(asked: &Asked<'_>, place: &Place, step: usize) -> Date {
    let dates = &asked.facts.dates;
    let first = dates.first().copied().unwrap_or(FIRST_DAY);
    let name = parts(&place.name);
    let means = |words: &[&str]| name.iter().any(|part| words.contains(&part.as_str()));
    let weeks = i64::try_from(step).unwrap_or_default().min(500);
    let (from, days) = if means(&["start", "begin", "begins", "from", "since", "today", "created"]) {
        (first, 0)
    } else if means(&["end", "ends", "due", "deadline", "finish", "until", "by", "to", "expires"]) {
        match dates.last().filter(|last| **last > first) {
            // Of several days that are due, the last one is the last of all.
            Some(last) if place.list.is_some() && weeks < 3 => {
                let all = (*last - first).get_days();
                (first, i64::from(all) * (weeks + 1) / 3 - 7 * weeks)
            }
            Some(last) => (*last, 0),
            None => (first, 14),
        }
    } else {
        (first, 0)
    };
    from.checked_add((days + 7 * weeks).days()).unwrap_or(from)
}

/// Words about what is asked, of the sort that the field wants and within its length.
fn words(asked: &Asked<'_>, demand: &Demand<'_>, place: &Place, turn: usize, least: u64, most: u64) -> String {
    let words = asked.words;
    let draw = asked.draw(&place.kind);
    let sort = words.sort(&place.name, place.list.as_deref());
    let step = place.index + turn;
    let mut facts = asked.facts.clone();
    let said = |text: Option<&str>| text.map(subject).filter(|text| !text.is_empty() && words.speaks(text));
    facts.field = said(demand.title).or_else(|| words.name(&place.name));
    facts.about = said(demand.about);
    if !facts.details.is_empty() {
        let (name, value) = &facts.details[(draw.below(facts.details.len()) + step) % facts.details.len()];
        facts.detail = Some(format!("{name} {value}"));
    }
    let in_list = place.list.is_some();
    let mut text = match sort {
        Sort::Person => match (&facts.owner, step) {
            (Some(owner), 0) => owner.clone(),
            _ => words.people[(draw.below(words.people.len()) + step) % words.people.len()].clone(),
        },
        Sort::Place => match place.shift + turn {
            0 => facts.place.clone().unwrap_or_else(|| words.nowhere.clone()),
            step => format!("{} ({})", facts.place.as_ref().unwrap_or(&words.nowhere), step + 1),
        },
        Sort::Passage => {
            let first = words.say(sort, in_list, &facts, draw, step);
            let second = words.say(sort, in_list, &facts, draw, step + 1);
            if first == second { first } else { format!("{first} {second}") }
        }
        Sort::Plain if facts.about.is_some() => words.fill("described", &facts, draw, step),
        sort => words.say(sort, in_list, &facts, draw, step),
    };
    let mut more = step + 2;
    while length(&text) < least {
        text.push(' ');
        text.push_str(&words.say(Sort::Passage, in_list, &facts, draw, more));
        more += 1;
    }
    shortened(text, least, most)
}

/// Cuts a text between words where that leaves enough of it.
fn shortened(text: String, least: u64, most: u64) -> String {
    if length(&text) <= most {
        return text;
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let between = cut(&text, most);
    if length(&between) >= least.max(1) { between } else { text.chars().take(most).collect() }
}

fn length(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// A text as a name of small letters and hyphens.
pub(super) fn slug(text: &str, chars_max: usize) -> String {
    let words =
        parts(text).into_iter().map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    let mut slug = String::new();
    for word in words.filter(|word| !word.is_empty() && !matches!(word.as_str(), "a" | "an" | "the" | "of")) {
        if !slug.is_empty() && slug.len() + word.len() >= chars_max {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().take(chars_max));
    }
    // Names begin with a letter in most places.
    let slug = slug.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic()).to_owned();
    if slug.is_empty() { "request".to_owned() } else { slug }
}

fn slug_of(parts: Vec<String>) -> String {
    slug(&parts.join(" "), 24)
}
