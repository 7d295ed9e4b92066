//! How surely a project is at a place, and which place is the main one.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gazetteer::Width;
use super::page::Page;
use super::places::Found;
use super::tokens::is_hyphen;
use super::words::among;

/// How surely the project is at a place, by the words around it.
pub(super) fn anchor(page: &Page<'_>, found: &[Found], number: usize) -> Option<u32> {
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
        "the central rural downtown greater northern southern eastern western southeastern southwestern northeastern northwestern suburban outside : is",
    ) {
        cue -= 1;
    }
    // `at ETH Zurich`: other names may stand in between.
    for _ in 0..3 {
        let named = cue > page.sentences[sentence].tokens.start + 1 && page.tokens[cue - 1].capital() && cue <= first;
        if named && !among(page.back(cue, 1), "in at near") && place.width == Width::City {
            cue -= 1;
        }
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
        "of" if among(
            page.back(cue, 2),
            "government republic city state kingdom province provinces municipality municipalities ministry town people north south east west coast island islands region regions parts capital",
        ) =>
        {
            6
        }
        "for" if before == 0 || place.width == Width::Country => 6,
        "to" | "visit" if moving() => 6,
        "connecting" | "between" | "linking" | "across" | "throughout" | "through" | "within" => 5,
        _ if subject || titled || adjective => 5,
        "around" | "outside" => 3,
        _ => return None,
    };
    let talk =
        page.around(at).any(|at| page.word(at) == "?") || matches!(word, "for") && page.back(cue, 2) == "strategy";
    Some(if talk { 1 } else { strength + early })
}

/// `between Denmark and England`: two places that together are the place.
pub(super) fn pair(page: &Page<'_>, found: &[Found]) -> Option<Range<usize>> {
    found.windows(2).find_map(|two| {
        let joined = two[0].tokens.end + 1 == two[1].tokens.start && page.word(two[0].tokens.end) == "and";
        let cue = page.back(two[0].tokens.start, 1);
        let bound =
            matches!(cue, "between" | "connecting" | "linking") && page.sentence_of(two[0].tokens.start) == Some(0);
        (joined && bound && two[0].country != two[1].country).then(|| two[0].span.start..two[1].span.end)
    })
}

/// The main place: of the country with the strongest anchors, the most specific strong one.
pub(super) fn main(found: &[Found]) -> Option<usize> {
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
