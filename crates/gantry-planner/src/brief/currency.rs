//! Which currency a sign, code or word means, given where the text is about.

use super::gazetteer::{self, Country};
use super::page::Page;
use super::words::among;

/// What stands for a currency: a code that is certain, or a sign that several countries share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// An ISO code.
    Code(String),
    /// A shared sign, by the currencies it may mean; the first is meant where no place says otherwise, unless it is empty.
    Shared(&'static [&'static str]),
}

const DOLLARS: &[&str] = &[
    "USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD", "JMD", "BBD", "BSD", "BZD", "FJD", "GYD", "LRD", "NAD", "SBD",
    "SRD", "TTD", "XCD", "KYD", "BMD", "BND",
];
const CROWNS: &[&str] = &["", "DKK", "SEK", "NOK", "ISK"];
const PESOS: &[&str] = &["", "MXN", "ARS", "CLP", "COP", "PHP", "UYU", "DOP", "CUP"];
const RUPEES: &[&str] = &["INR", "PKR", "LKR", "NPR", "MUR", "SCR"];
const POUNDS: &[&str] = &["GBP", "EGP", "LBP", "SYP", "SDG", "SSP"];
const YEN: &[&str] = &["JPY", "CNY"];
const FRANCS: &[&str] = &["CHF", "XOF", "XAF", "RWF", "BIF", "DJF", "GNF", "KMF", "CDF"];

impl Sign {
    /// The ISO code, with the country the text is about.
    pub fn code(&self, country: Option<&Country>) -> Option<String> {
        match self {
            Self::Code(code) => Some(code.clone()),
            Self::Shared(meanings) => {
                let here = country.map(|country| country.currency.as_str()).filter(|here| meanings.contains(here));
                here.or(meanings.first().copied()).filter(|code| !code.is_empty()).map(str::to_owned)
            }
        }
    }

    /// Whether amounts in this currency are often written with a dot between thousands.
    pub fn groups_with_dots(&self) -> bool {
        match self {
            Self::Code(code) => among(code, "EUR DKK NOK SEK ISK BRL TRY IDR VND CLP COP ARS CZK PLN"),
            Self::Shared(meanings) => *meanings == CROWNS || *meanings == PESOS,
        }
    }
}

/// The currency written before an amount, and the first token behind it.
pub(super) fn before_amount(page: &Page<'_>, at: usize) -> Option<(Sign, usize)> {
    let token = page.tokens.get(at)?;
    let next_dollar = page.word(at + 1) == "$" && page.tokens[at + 1].glued;
    if next_dollar {
        let code = match token.text {
            "US" => "USD",
            "A" | "AU" => "AUD",
            "C" | "CA" => "CAD",
            "NZ" => "NZD",
            "HK" => "HKD",
            "S" => "SGD",
            "R" => "BRL",
            "NT" => "TWD",
            "MX" => "MXN",
            _ => return None,
        };
        return Some((Sign::Code(code.to_owned()), at + 2));
    }
    if let Some(sign) = symbol(token.text) {
        return Some((sign, at + 1));
    }
    let dotted = |next: usize| if page.word(next) == "." { next + 1 } else { next };
    match token.lower.as_str() {
        "kr" => Some((Sign::Shared(CROWNS), dotted(at + 1))),
        "rs" => Some((Sign::Shared(RUPEES), dotted(at + 1))),
        _ => code(token.text).map(|code| (Sign::Code(code), at + 1)),
    }
}

/// The currency written behind an amount, and the first token behind it.
pub(super) fn after_amount(page: &Page<'_>, at: usize) -> Option<(Sign, usize)> {
    let token = page.tokens.get(at)?;
    if let Some(sign) = symbol(token.text) {
        return Some((sign, at + 1));
    }
    let shared = match token.lower.as_str() {
        "dollar" | "dollars" | "buck" | "bucks" => DOLLARS,
        "kr" | "krone" | "kroner" | "kronor" | "krona" | "crowns" => CROWNS,
        "peso" | "pesos" => PESOS,
        "rupee" | "rupees" => RUPEES,
        "yen" => YEN,
        "franc" | "francs" => FRANCS,
        "pounds" if matches!(page.word(at + 1), "of" | "sterling") || !page.tokens[at].glued => POUNDS,
        "pound" => POUNDS,
        _ => {
            let code = match token.lower.as_str() {
                "euro" | "euros" => Some("EUR".to_owned()),
                "yuan" | "rmb" | "renminbi" => Some("CNY".to_owned()),
                "won" if page.back(at, 1) != "have" => Some("KRW".to_owned()),
                "ruble" | "rubles" | "rouble" | "roubles" => Some("RUB".to_owned()),
                "quid" => Some("GBP".to_owned()),
                "zlotys" | "zloty" | "złotych" | "złote" | "złoty" => Some("PLN".to_owned()),
                "forint" | "forints" => Some("HUF".to_owned()),
                "baht" => Some("THB".to_owned()),
                _ => code(token.text).or_else(|| korean(&token.lower).map(|(code, _)| code.to_owned())),
            }?;
            return Some((Sign::Code(code), at + 1));
        }
    };
    let us = matches!(page.back(at, 1), "us" | "u.s") && shared == DOLLARS;
    Some((if us { Sign::Code("USD".to_owned()) } else { Sign::Shared(shared) }, at + 1))
}

/// The currency a Korean word begins with, and what is left of the word.
pub(super) fn korean(word: &str) -> Option<(&'static str, &str)> {
    const WORDS: [(&str, &str); 8] = [
        ("원", "KRW"),
        ("달러", "USD"),
        ("유로", "EUR"),
        ("엔", "JPY"),
        ("위안", "CNY"),
        ("파운드", "GBP"),
        ("크로네", "DKK"),
        ("루피", "INR"),
    ];
    WORDS.iter().find_map(|(name, code)| {
        let rest = word.strip_prefix(name)?;
        is_korean_ending(rest).then_some((*code, rest))
    })
}

/// Whether what is left of a Korean word behind an amount is a particle, so that nothing else is meant.
pub(super) fn is_korean_ending(rest: &str) -> bool {
    const ENDINGS: &str = "을 를 이 가 은 는 의 으로 로 까지 이하 이하로 이내 이내로 미만 미만으로 정도 정도로 짜리 입니다 이다 이에요 예요 이고 이며";
    rest.is_empty() || ENDINGS.split(' ').any(|ending| ending == rest)
}

fn symbol(text: &str) -> Option<Sign> {
    let sign = match text {
        "$" => Sign::Shared(DOLLARS),
        "¥" | "￥" => Sign::Shared(YEN),
        "£" => Sign::Shared(POUNDS),
        "€" => Sign::Code("EUR".to_owned()),
        "₹" => Sign::Code("INR".to_owned()),
        "₩" => Sign::Code("KRW".to_owned()),
        "₽" => Sign::Code("RUB".to_owned()),
        "₺" => Sign::Code("TRY".to_owned()),
        "₴" => Sign::Code("UAH".to_owned()),
        "₪" => Sign::Code("ILS".to_owned()),
        "₫" => Sign::Code("VND".to_owned()),
        "₦" => Sign::Code("NGN".to_owned()),
        "zł" => Sign::Code("PLN".to_owned()),
        "Kč" => Sign::Code("CZK".to_owned()),
        "лв" => Sign::Code("BGN".to_owned()),
        "฿" => Sign::Code("THB".to_owned()),
        _ => return None,
    };
    Some(sign)
}

/// An ISO code: in capitals any, in small letters only those that are no words.
fn code(text: &str) -> Option<String> {
    const ANY_CASE: [&str; 12] = ["EUR", "USD", "DKK", "SEK", "NOK", "GBP", "KRW", "INR", "CHF", "JPY", "PLN", "CZK"];
    if text.len() != 3 || !text.is_ascii() {
        return None;
    }
    let upper = text.to_ascii_uppercase();
    let known = text == upper && gazetteer::is_currency(&upper) || ANY_CASE.contains(&upper.as_str());
    known.then_some(upper)
}
