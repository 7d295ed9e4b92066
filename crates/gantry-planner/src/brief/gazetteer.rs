//! The places of `data/places.tsv`: countries, larger cities and well-known regions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::tokens::{Token, tokens};

/// A country and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Country {
    pub code: String,
    pub currency: String,
    pub zone: String,
    pub south: bool,
}

/// How wide a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// A town or a part of one.
    City,
    /// A part of a country, or of the world.
    Region,
    /// A country.
    Country,
}

/// One place.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub width: Width,
    /// The code of its country; empty for places in several.
    pub country: String,
    /// Its own time zone, where it differs from that of the country.
    pub zone: String,
    /// Whether people bear this name, too.
    pub given: bool,
}

/// One way to write a place.
pub(super) struct Name {
    /// Index of the entry.
    pub entry: usize,
    /// Its words, as the text's own tokens are cut.
    pub words: Vec<String>,
    /// Whether it is an adjective or demonym.
    pub people: bool,
}

/// All places.
pub(super) struct Gazetteer {
    pub entries: Vec<Entry>,
    countries: BTreeMap<String, Country>,
    /// Names by their first word, longest first.
    names: BTreeMap<String, Vec<Name>>,
    /// Korean names with their entries.
    korean: Vec<(String, usize)>,
}

/// The gazetteer, read once.
pub(super) fn all() -> &'static Gazetteer {
    static ALL: LazyLock<Gazetteer> = LazyLock::new(|| Gazetteer::new(include_str!("../../data/places.tsv")));
    &ALL
}

/// Whether three letters are the code of a currency in use.
pub(super) fn is_currency(code: &str) -> bool {
    all().countries.values().any(|country| country.currency == code)
}

impl Gazetteer {
    fn new(table: &str) -> Self {
        let mut all =
            Self { entries: Vec::new(), countries: BTreeMap::new(), names: BTreeMap::new(), korean: Vec::new() };
        for row in table.lines().filter(|row| !row.starts_with('#')) {
            all.add(row);
        }
        for names in all.names.values_mut() {
            names.sort_by_key(|name| usize::MAX - name.words.len());
        }
        all.korean.sort_by_key(|(name, _)| usize::MAX - name.len());
        all
    }

    fn add(&mut self, row: &str) {
        let mut columns = row.split('\t');
        let mut next = || columns.next().unwrap_or_default();
        let (kind, name, country, currency, zone, half) = (next(), next(), next(), next(), next(), next());
        let (_capital, also, people, korean, given) = (next(), next(), next(), next(), next());
        let width = match kind {
            "country" => Width::Country,
            "region" => Width::Region,
            _ => Width::City,
        };
        let entry = self.entries.len();
        if width == Width::Country {
            let known = Country {
                code: country.to_owned(),
                currency: currency.to_owned(),
                zone: zone.to_owned(),
                south: half == "S",
            };
            self.countries.insert(country.to_owned(), known);
        }
        let own_zone = if width == Width::Country { "" } else { zone };
        self.entries.push(Entry { width, country: country.to_owned(), zone: own_zone.to_owned(), given: given == "y" });
        let listed =
            |list: &str| list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let mut add = |name: &str, people: bool| {
            let words: Vec<String> = tokens(name).into_iter().map(|token: Token<'_>| token.lower).collect();
            if let Some(first) = words.first().cloned() {
                self.names.entry(first).or_default().push(Name { entry, words, people });
            }
        };
        add(name, false);
        for name in listed(also) {
            add(&name, false);
        }
        for name in listed(people) {
            add(&name, true);
        }
        for name in listed(korean) {
            self.korean.push((name, entry));
        }
    }

    /// The country with a code.
    pub fn country(&self, code: &str) -> Option<&Country> {
        self.countries.get(code)
    }

    /// The names that begin with a word, longest first.
    pub fn names(&self, first: &str) -> &[Name] {
        self.names.get(first).map_or(&[], Vec::as_slice)
    }

    /// The place whose Korean name a word begins with, if only a particle follows, and the length of that name.
    pub fn korean(&self, word: &str) -> Option<(usize, usize)> {
        const ENDINGS: [&str; 24] = [
            "",
            "에",
            "에서",
            "의",
            "로",
            "으로",
            "까지",
            "을",
            "를",
            "이",
            "가",
            "은",
            "는",
            "과",
            "와",
            "에는",
            "에서의",
            "시",
            "시에",
            "시에서",
            "행",
            "도",
            "부터",
            "여행",
        ];
        self.korean.iter().find_map(|(name, entry)| {
            let rest = word.strip_prefix(name.as_str())?;
            ENDINGS.contains(&rest).then_some((*entry, name.len()))
        })
    }
}
