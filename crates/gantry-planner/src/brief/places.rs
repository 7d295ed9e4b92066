//! Where it is: names the gazetteer knows, and names that stand where a place stands.
//!
//! Every place named is kept. The main one must be anchored: its words say that the project is there ("in", "located",
//! "Location:", "Shanghai-headquartered"), not merely that the text speaks of it ("than southern France"). A name in front of
//! another capital ("Paris Hilton") is a person's or a product's unless a word like "Fjord" or "University" follows.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gazetteer::{self, Country, Width};
use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words::among;
use super::{Place, PlaceKind};

/// A place as found.
#[derive(Clone, Debug)]
struct Found {
    tokens: Range<usize>,
    /// Its bytes, which for Korean end before the particle.
    span: Range<usize>,
    width: Width,
    country: String,
    zone: String,
    /// How surely the project is there; `None` where the text only speaks of it.
    anchor: Option<u32>,
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
    specify(page, &mut found);
    for number in 0..found.len() {
        if found[number].anchor.is_none() {
            found[number].anchor = anchor(page, &found, number);
        }
    }
    let joined = pair(page, &found);
    let main = main(&found);
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
            anchor: anchored.then_some(6),
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
    if name.people && !official(page, end) || !stands_alone(page, at, end, entry.given) {
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
fn stands_alone(page: &Page<'_>, at: usize, end: usize, given: bool) -> bool {
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
    let placed = among(page.back(at, 1), "in near at across from to around outside");
    !more || known || placed && !given
}

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
        let said = among(cue, "in at near location outside : of") && (cue != "of" || page.said(first, "city of"));
        if first < comma && said && !found.iter().any(|other| other.tokens.start <= first && first < other.tokens.end) {
            more.push(Found {
                tokens: first..comma,
                span: page.span(first..comma),
                width: Width::City,
                country: place.country.clone(),
                zone: place.zone.clone(),
                anchor: None,
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

/// How surely the project is at a place, by the words around it.
fn anchor(page: &Page<'_>, found: &[Found], number: usize) -> Option<u32> {
    let place = &found[number];
    let (at, end) = (place.tokens.start, place.tokens.end);
    let sentence = page.sentence_of(at)?;
    let topic = page.sentences[sentence].label.clone().map(|label| page.lower(label)).unwrap_or_default();
    let before = page.sentences[..sentence].iter().filter(|sentence| !sentence.heading).count();
    let early = match before {
        0 => 5,
        1 | 2 => 2,
        _ => 0,
    };
    if ["location", "place", "site", "where", "city", "country"].contains(&topic.as_str()) {
        return Some(20);
    }
    // The chain `Roskilde, Denmark` is anchored as its first name is.
    let mut first = at;
    let mut chain = number;
    while first >= 1
        && matches!(page.word(first - 1), "," | "/")
        && chain > 0
        && found[chain - 1].tokens.end == first - 1
    {
        chain -= 1;
        first = found[chain].tokens.start;
    }
    // Names of one width in a row are a list: `Bengaluru, Mumbai, Coimbatore`; a chain widens: `Bonn, Germany`.
    let beside = |one: usize, other: usize| {
        found.get(other).is_some_and(|other| {
            let gap = other.tokens.start.saturating_sub(found[one].tokens.end);
            let end = found[one].tokens.end;
            let joined = gap == 1 && matches!(page.word(end), "," | "/") || gap == 2 && page.word(end) == ",";
            joined && other.width == found[one].width
        })
    };
    let listed = beside(chain, chain + 1) || number > 0 && beside(number - 1, number);
    let mut cue = first;
    while among(
        page.back(cue, 1),
        "the central rural downtown greater northern southern eastern western southeastern suburban outside : is",
    ) {
        cue -= 1;
    }
    let word = page.back(cue, 1);
    let located = (1..=4)
        .any(|by| among(page.back(cue, by), "located based base location situated headquartered anchored live site"));
    let moving = || {
        page.around(at).any(|at| among(page.word(at), "trip travel go relocate move visit vacation fly flight holiday"))
    };
    let seated = is_hyphen(page.word(end)) && matches!(page.word(end + 1), "headquartered" | "based");
    let acts = ["is", "are", "has", "faces", "needs", "wants", "adopts", "runs", "'s"].contains(&page.word(end));
    let subject = before == 0 && first == page.sentences[sentence].tokens.start
        || before <= 1 && acts && page.back(first, 1) != "with";
    let titled = sentence == 0 && page.word(first.wrapping_sub(1)) == "," && page.sentences[0].tokens.len() < 14;
    let adjective = page.back(at, 1) == "a"
        && sentence == 0
        && ["federal", "government", "national", "state", "city"].contains(&page.word(end));
    let strength = match word {
        "location" => 12,
        "in" | "at" | "near" | ":" if located => 12,
        _ if seated => 10,
        _ if listed => return None,
        "(" if page.said(cue, "we (") => 8,
        "in" | "at" | "inside" | "near" => 6,
        "for" if before == 0 || place.width == Width::Country => 6,
        "to" | "visit" if moving() => 6,
        "connecting" | "between" | "linking" | "across" | "throughout" | "within" => 5,
        _ if subject || titled || adjective => 5,
        "around" | "outside" => 3,
        _ => return None,
    };
    let talk =
        page.around(at).any(|at| page.word(at) == "?") || matches!(word, "for") && page.back(cue, 2) == "strategy";
    Some(if talk { 1 } else { strength + early })
}

/// `between Denmark and England`: two places that together are the place.
fn pair(page: &Page<'_>, found: &[Found]) -> Option<Range<usize>> {
    found.windows(2).find_map(|two| {
        let joined = two[0].tokens.end + 1 == two[1].tokens.start && page.word(two[0].tokens.end) == "and";
        let cue = page.back(two[0].tokens.start, 1);
        let bound =
            matches!(cue, "between" | "connecting" | "linking") && page.sentence_of(two[0].tokens.start) == Some(0);
        (joined && bound && two[0].country != two[1].country).then(|| two[0].span.start..two[1].span.end)
    })
}

/// The main place: of the country with the strongest anchors, the most specific strong one.
fn main(found: &[Found]) -> Option<usize> {
    let mut sums: BTreeMap<&str, (u32, usize)> = BTreeMap::new();
    for (number, place) in found.iter().enumerate() {
        if let Some(anchor) = place.anchor {
            let sum = sums.entry(&place.country).or_insert((0, number));
            sum.0 = (sum.0 + anchor / 4).max(anchor);
        }
    }
    // A place in no one country ("across Europe") is the main one only where no country is.
    let (country, _) = sums.iter().max_by_key(|(code, (sum, first))| (!code.is_empty(), *sum, usize::MAX - first))?;
    let strongest = found.iter().filter(|place| place.country == **country).filter_map(|place| place.anchor).max()?;
    (0..found.len())
        .filter(|number| {
            found[*number].country == **country && found[*number].anchor.is_some_and(|anchor| anchor + 1 >= strongest)
        })
        .min_by_key(|number| (found[*number].width, u32::MAX - found[*number].anchor.unwrap_or_default(), *number))
}
