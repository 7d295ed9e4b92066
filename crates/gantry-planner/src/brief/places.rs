//! Where it is: names the gazetteer knows, and names that stand where a place stands.
//!
//! Every place named is kept. The main one must be anchored: its words say that the project is there ("in", "located",
//! "Location:", "Shanghai-headquartered"), not merely that the text speaks of it ("than southern France"). A name in front of
//! another capital ("Paris Hilton") is a person's or a product's unless a word like "Fjord" or "University" follows.

use std::ops::Range;

use super::gazetteer::{self, Country, Entry, Width};
use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words::among;
use super::{Place, PlaceKind, anchor};

/// A place as found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub tokens: Range<usize>,
    /// Its bytes, which for Korean end before the particle.
    pub span: Range<usize>,
    pub width: Width,
    pub country: String,
    pub zone: String,
    /// How surely the project is there; `None` where the text only speaks of it.
    pub anchor: Option<u32>,
    /// Whether it is an adjective: `Danish law`.
    pub adjective: bool,
}

/// The places of a text, and what follows from the main one.
#[derive(Default)]
pub(super) struct Places {
    pub all: Vec<Place>,
    /// The main place as written.
    pub main: Option<Place>,
    pub country: Option<&'static Country>,
    pub zone: Option<String>,
}

/// Reads all places, the main one first, then the most specific ones.
pub(super) fn read(page: &Page<'_>) -> Places {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < page.tokens.len() {
        if let Some(place) = named(page, at) {
            at = place.tokens.end;
            found.push(place);
        } else {
            at += 1;
        }
    }
    american(page, &mut found);
    found.extend(if found.is_empty() { unknown(page) } else { None });
    specify(page, &mut found);
    for number in 0..found.len() {
        if found[number].anchor.is_none() {
            found[number].anchor = anchor::anchor(page, &found, number);
        }
    }
    // An adjective names a place only where the project is there.
    found.retain(|place| !place.adjective || place.anchor.is_some());
    let joined = anchor::pair(page, &found);
    let main = anchor::main(&found);
    let mut places = Places::default();
    let made = |place: &Found| Place {
        name: page.text[place.span.clone()].to_owned(),
        kind: match place.width {
            Width::City => PlaceKind::City,
            Width::Region => PlaceKind::Region,
            Width::Country => PlaceKind::Country,
        },
        country: Some(place.country.clone()).filter(|code| !code.is_empty()),
        span: place.span.clone(),
    };
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|number| (Some(*number) != main, found[*number].anchor.is_none(), found[*number].width, *number));
    let mut seen = Vec::new();
    for number in order {
        let place = made(&found[number]);
        let key = (place.name.to_lowercase(), place.country.clone());
        if !seen.contains(&key) {
            seen.push(key);
            places.all.push(place);
        }
    }
    if let Some(span) = joined {
        let name = page.text[span.clone()].to_owned();
        places.main = Some(Place { name, kind: PlaceKind::Region, country: None, span });
    } else if let Some(main) = main.map(|number| &found[number]) {
        places.main = Some(made(main));
        places.country = gazetteer::all().country(&main.country);
        let zone = Some(main.zone.clone()).filter(|zone| !zone.is_empty());
        places.zone = zone.or_else(|| places.country.map(|country| country.zone.clone()));
    }
    places
}

/// The place the gazetteer knows that begins at a token.
fn named(page: &Page<'_>, at: usize) -> Option<Found> {
    let token = &page.tokens[at];
    let all = gazetteer::all();
    if token.hangul() {
        let (number, length) = all.korean(&token.lower)?;
        let entry = &all.entries[number];
        let anchored = ["에", "에서", "의", "로", "으로", "에는", "에서의", "시에", "시에서", "행", "여행", "시"]
            .contains(&&token.lower[length..]);
        return Some(Found {
            tokens: at..at + 1,
            span: token.span.start..token.span.start + length,
            width: entry.width,
            country: entry.country.clone(),
            zone: entry.zone.clone(),
            anchor: anchored.then_some(11),
            adjective: false,
        });
    }
    if !token.capital() {
        return None;
    }
    let name = all.names(&token.lower).iter().find(|name| {
        let end = at + name.words.len();
        let fits = end <= page.tokens.len()
            && name.words.iter().zip(&page.tokens[at..end]).all(|(word, token)| *word == token.lower);
        let short = token.text.len() <= 3 && name.words.len() == 1 && token.text != token.text.to_uppercase();
        fits && !short
            && (name.words.len() == 1
                || page.tokens[at + 1..end].iter().any(|token| token.capital() || token.kind == Kind::Mark))
    })?;
    let entry = &all.entries[name.entry];
    let end = at + name.words.len();
    if name.people && !official(page, end) || !stands_alone(page, at, end, entry) {
        return None;
    }
    let span = page.span(at..end);
    Some(Found {
        tokens: at..end,
        span,
        width: entry.width,
        country: entry.country.clone(),
        zone: entry.zone.clone(),
        anchor: None,
        adjective: name.people,
    })
}

/// An adjective names a place only before what a country has one of: `Danish law`, not `Danish pastry`.
fn official(page: &Page<'_>, at: usize) -> bool {
    among(
        page.word(at),
        "government law laws market parliament ministers public citizens authorities consortium women people state coast municipality municipalities towns cities schools grid army",
    )
}

/// Whether a name is that of a place, not a piece of another name, a sign or a road.
fn stands_alone(page: &Page<'_>, at: usize, end: usize, entry: &Entry) -> bool {
    const WIDER: [&str; 42] = [
        "airport",
        "area",
        "bay",
        "beach",
        "caldera",
        "center",
        "centre",
        "city",
        "coast",
        "corridor",
        "county",
        "desert",
        "district",
        "downtown",
        "east",
        "fjord",
        "harbor",
        "harbour",
        "island",
        "islands",
        "metro",
        "municipality",
        "north",
        "oblast",
        "park",
        "peninsula",
        "port",
        "province",
        "region",
        "river",
        "south",
        "state",
        "station",
        "street",
        "suburb",
        "university",
        "valley",
        "west",
        "zone",
        "strait",
        "government",
        "residents",
    ];
    let next = page.tokens.get(end);
    let before = at.checked_sub(1).and_then(|before| page.tokens.get(before));
    if before.is_some_and(|before| {
        page.tokens[at].glued
            && (is_hyphen(before.text) && at >= 2 && page.tokens[at - 2].kind == Kind::Number
                || matches!(before.text, "_" | "@" | "."))
    }) {
        return false;
    }
    let Some(next) = next else { return true };
    let road = is_hyphen(next.text)
        && next.glued
        && page.tokens.get(end + 1).is_some_and(|number| number.kind == Kind::Number);
    if road || next.glued && matches!(next.text, "$" | "_" | "@") || next.glued && next.kind == Kind::Number {
        return false;
    }
    let more = next.capital() && next.lower != "'s" && page.sentence_of(end) == page.sentence_of(at);
    let code = next.text.len() <= 4 && next.text == next.text.to_uppercase();
    let known = code
        || WIDER.contains(&next.lower.as_str())
        || gazetteer::all()
            .names(&next.lower)
            .iter()
            .any(|name| name.words.len() == 1 || page.says(end, &name.words.join(" ")));
    let (given, wide) = (entry.given, entry.width == Width::Country);
    let placed = among(page.back(at, 1), "in near at across from to around outside");
    !more || known || (placed || wide) && !given
}

/// A name that the gazetteer does not know, where the first sentence says that it is there: `near Vik`, `in Tallaght`.
fn unknown(page: &Page<'_>) -> Option<Found> {
    let first = page.sentences.iter().find(|sentence| !sentence.heading)?.tokens.clone();
    let name = |at: usize| {
        let token = page.tokens.get(at).filter(|token| first.contains(&at) && token.kind == Kind::Word);
        // Short forms and names of days, languages and programs are no places.
        token.is_some_and(|token| {
            let small = token.text.chars().skip(1).all(char::is_lowercase);
            token.capital() && small && token.text.chars().count() > 2 && !among(&token.lower, NO_PLACES)
        })
    };
    let said = |at: &usize| {
        let named =
            among(page.word(*at), "near outside around") || page.word(*at) == "in" && page.back(*at, 1) != "written";
        let after = page.tokens.get(*at + 2).filter(|_| first.contains(&(*at + 2)));
        // A second capital of something else: `in Jordan Peterson's style`, `near Class 5`.
        let goes_on = after.is_some_and(|after| after.kind == Kind::Number || after.lower == "'s");
        named && name(*at + 1) && !goes_on
    };
    let at = first.clone().find(said)? + 1;
    let end = (at..first.end).take(3).find(|at| !name(*at)).unwrap_or(at + 3).min(first.end);
    let tokens = at..end;
    Some(Found {
        span: page.span(tokens.clone()),
        tokens,
        width: Width::City,
        country: String::new(),
        zone: String::new(),
        anchor: None,
        adjective: false,
    })
}

/// What stands behind `in` with a capital and is no place.
const NO_PLACES: &str = "january february march april may june july august september october november december monday \
    tuesday wednesday thursday friday saturday sunday spring summer autumn winter christmas easter ramadan advent lent \
    english german french spanish italian korean japanese chinese mandarin arabic russian portuguese dutch danish swedish \
    norwegian finnish polish turkish hindi latin greek hebrew ukrainian czech hungarian romanian esperanto \
    rust python java javascript typescript kotlin swift ruby golang haskell scala erlang elixir fortran cobol perl lua \
    excel word powerpoint blender unity unreal figma photoshop notion slack github gitlab docker kubernetes terraform \
    bitcoin ethereum euros dollars minecraft roblox phase class grade year week month level stage";

/// Georgia is a state where other American places stand in the text, and a country otherwise.
fn american(page: &Page<'_>, found: &mut [Found]) {
    let america = found.iter().any(|place| place.country == "US");
    for place in
        found.iter_mut().filter(|place| place.country == "GE" && america && page.text[place.span.clone()] == *"Georgia")
    {
        "US".clone_into(&mut place.country);
        place.width = Width::Region;
    }
}

/// Adds the unknown capitals in front of a known place: `Location: Kødbyen, Copenhagen`, `in Holbæk, Denmark`; and after a
/// label: `Location: Mars Base`.
fn specify(page: &Page<'_>, found: &mut Vec<Found>) {
    let mut more = Vec::new();
    for place in found.iter() {
        let Some(comma) = place.tokens.start.checked_sub(1).filter(|at| page.word(*at) == ",") else { continue };
        let first = name_before(page, comma);
        let cue = page.back(first, 1);
        let said =
            among(cue, "in at near around location outside : of") && (cue != "of" || page.said(first, "city of"));
        if first < comma && said && !found.iter().any(|other| other.tokens.start <= first && first < other.tokens.end) {
            more.push(Found {
                tokens: first..comma,
                span: page.span(first..comma),
                width: Width::City,
                country: place.country.clone(),
                zone: place.zone.clone(),
                anchor: None,
                adjective: false,
            });
        }
    }
    for sentence in &page.sentences {
        let label = sentence.label.clone().filter(|label| {
            matches!(page.lower(label.clone()).as_str(), "location" | "place" | "site" | "where" | "city" | "country")
        });
        let Some(label) = label else { continue };
        let first = label.end + 1;
        let end = (first..sentence.tokens.end).find(|at| !page.tokens[*at].capital()).unwrap_or(sentence.tokens.end);
        let taken =
            found.iter().chain(&more).any(|other| other.tokens.start < end.max(first + 1) && first < other.tokens.end);
        if first < end && !taken {
            let span = page.span(first..end);
            more.push(Found {
                tokens: first..end,
                span,
                width: Width::City,
                country: String::new(),
                zone: String::new(),
                anchor: None,
                adjective: false,
            });
        }
    }
    found.extend(more);
    found.sort_by_key(|place| place.tokens.start);
}

/// The first token of the capitalised name that ends before a token.
fn name_before(page: &Page<'_>, end: usize) -> usize {
    let mut first = end;
    while first > 0 && end - first < 4 {
        let token = &page.tokens[first - 1];
        let joint = is_hyphen(token.text) && token.glued
            || matches!(token.lower.as_str(), "of" | "de" | "la" | "am" | "upon") && first < end;
        let label = matches!(token.lower.as_str(), "location" | "in" | "at" | "near");
        if !(token.capital() && !label || joint && first >= 2 && page.tokens[first - 2].capital())
            || page.sentence_of(first - 1) != page.sentence_of(end)
        {
            break;
        }
        first -= 1;
    }
    first
}
