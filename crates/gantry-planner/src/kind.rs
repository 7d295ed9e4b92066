//! Kinds of projects: which one a request is, and how big it is.
//!
//! What tells a kind is data: the `signals` and the `size` table of its knowledge file. A signal counts once, at its best
//! place: most in the head (the first verb and its object), more in the leading sentence than later on, and what stands
//! later has a ceiling, so that a long text does not win by length. An `against` phrase cancels the signals inside it, and
//! one in the head all signals of the head: who constructs a yacht does not do construction. A thing whose price or whose
//! steps a file knows is a signal, too, when it is what is wanted.

mod head;
mod price;
mod size;

pub use price::Counted;
pub(crate) use price::{many, usual};
pub use size::{Size, size_of};

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use serde::Serialize;

use crate::knowledge::{BUILT_IN, Knowledge};
use crate::phrase::Phrase;
use crate::words::{Word, words};
use head::{Head, Zone};

/// A strong signal nearly decides; a Korean one counts as much.
const STRONG: f64 = 4.0;
/// Weak signals decide together.
const WEAK: f64 = 1.0;
/// A thing of which a file knows the price, when it is what is wanted.
const PRICED: f64 = 2.0;
/// What each word after the first adds to a signal, as a share of it: longer phrases are surer.
const PER_WORD: f64 = 0.25;
/// How much more a signal counts in the head, and in the leading sentence.
const IN_HEAD: f64 = 3.0;
const IN_LEAD: f64 = 2.0;
/// What all signals behind the leading sentence can add together.
const LATER_MAX: f64 = 8.0;
/// Less than this is no match: a single weak word behind the leading sentence.
const SCORE_MIN: f64 = 1.0;
/// The kind that wins no ties, because words of business occur in every request.
const NEVER_BY_DEFAULT: &str = "business-launch";

/// A kind of project, and what tells it.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Everything that is known about it.
    pub knowledge: Knowledge,
    /// What people often do for themselves, each with everything that is known about it.
    matters: Vec<(String, Knowledge)>,
    strong: Vec<Phrase>,
    weak: Vec<Phrase>,
    against: Vec<Phrase>,
    things: Vec<Thing>,
}

/// A thing that a file knows by its price or its steps.
#[derive(Debug, Clone)]
struct Thing {
    of: Vec<Phrase>,
    not: Vec<Phrase>,
    points: f64,
}

/// The kinds that are known.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    kinds: Vec<Kind>,
}

/// The kinds that match a text, best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// Every kind of which some word occurs, by score.
    pub kinds: Vec<Scored>,
}

/// How well one kind matches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// The kind's name.
    pub kind: String,
    /// The score; only good for comparison within one text.
    pub score: f64,
    /// The words that decided, in bytes of the text, in order.
    pub words: Vec<Range<usize>>,
}

/// A knowledge file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the kind in `{}` cannot be read: {}", self.file, self.why)
    }
}

impl std::error::Error for ReadError {}

impl Ranked {
    /// Returns the kind that matches best; none when nothing in the text points to any kind.
    pub fn best(&self) -> Option<&Scored> {
        self.kinds.first().filter(|best| best.score >= SCORE_MIN)
    }
}

impl Kinds {
    /// The score from which on a few words are enough: one strong signal in what is done.
    pub const SURE: f64 = STRONG * IN_LEAD;

    /// The kinds that come with the program, read once.
    pub fn built_in() -> Result<&'static Self, ReadError> {
        static KINDS: OnceLock<Result<Kinds, ReadError>> = OnceLock::new();
        KINDS.get_or_init(|| Self::read(BUILT_IN)).as_ref().map_err(Clone::clone)
    }

    /// Reads the kinds from knowledge files, given as name and content.
    pub fn read(files: &[(&str, &str)]) -> Result<Self, ReadError> {
        let mut kinds: Vec<Kind> = Vec::new();
        for (name, yaml) in files {
            let fault = |why: String| ReadError { file: (*name).to_owned(), why };
            let kind = Kind::of(Knowledge::read(name, yaml).map_err(|faults| fault(faults.join("; ")))?);
            if kinds.iter().any(|known| known.name() == kind.name()) {
                return Err(fault(format!("the kind `{}` is there already", kind.name())));
            }
            kinds.push(kind);
        }
        kinds.sort_by(|one, other| one.name().cmp(other.name()));
        Ok(Self { kinds })
    }

    /// Returns the kind of that name.
    pub fn get(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name() == name)
    }

    /// Returns all kinds, by name.
    pub fn all(&self) -> &[Kind] {
        &self.kinds
    }

    /// Ranks the kinds by how well they match a text.
    pub fn of(&self, text: &str) -> Ranked {
        let words = words(text);
        let head = Head::of(&words);
        let mut kinds: Vec<Scored> =
            self.kinds.iter().map(|kind| kind.score(&words, &head)).filter(|scored| scored.score > 0.0).collect();
        kinds.sort_by(|one, other| {
            let last = |scored: &Scored| scored.kind == NEVER_BY_DEFAULT;
            other.score.total_cmp(&one.score).then_with(|| last(one).cmp(&last(other)))
        });
        Ranked { kinds }
    }
}

/// One signal of a kind where it counts most.
struct Hit {
    words: Range<usize>,
    zone: Zone,
    points: f64,
}

impl Hit {
    fn weigh(&self, other: &Self) -> std::cmp::Ordering {
        self.points.total_cmp(&other.points).then_with(|| other.words.start.cmp(&self.words.start))
    }
}

impl Thing {
    fn of(of: &[String], not: &[String], points: f64) -> Self {
        let phrases = |texts: &[String]| texts.iter().flat_map(|text| price::forms(text)).collect();
        Self { of: phrases(of), not: phrases(not), points }
    }

    /// Where it stands in what is wanted, unless something else is meant.
    fn wanted(&self, words: &[Word], head: &Head) -> Option<Hit> {
        let stands =
            |phrase: &Phrase, least: Zone| phrase.find(words).into_iter().find(|place| head.zone(place) >= least);
        if self.not.iter().any(|phrase| stands(phrase, Zone::Lead).is_some()) {
            return None;
        }
        let found = self.of.iter().filter_map(|phrase| {
            let words = stands(phrase, Zone::Head)?;
            Some(Hit { words, zone: Zone::Head, points: worth(phrase, self.points) })
        });
        found.max_by(Hit::weigh)
    }
}

/// What a phrase counts: longer ones are surer.
fn worth(phrase: &Phrase, points: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a phrase has a handful of words")]
    let words = phrase.length().saturating_sub(1) as f64;
    points * (1.0 + PER_WORD * words)
}

impl Kind {
    fn of(knowledge: Knowledge) -> Self {
        let phrases = |texts: &[String]| texts.iter().map(|text| Phrase::at_word_starts(text)).collect::<Vec<_>>();
        let signals = &knowledge.signals;
        let mut strong = phrases(&signals.strong);
        strong.extend(phrases(&signals.ko));
        let own = &knowledge.household.matters;
        let things = own
            .iter()
            .map(|matter| Thing::of(&matter.of, &matter.not, STRONG))
            .chain(knowledge.prices.iter().map(|price| Thing::of(&price.of, &price.not, PRICED)))
            .collect();
        let matters = own.iter().map(|matter| (matter.id.clone(), knowledge.narrowed(matter))).collect();
        let (weak, against) = (phrases(&signals.weak), phrases(&signals.against));
        Self { knowledge, matters, strong, weak, against, things }
    }

    /// Its name, such as `construction`.
    pub fn name(&self) -> &str {
        &self.knowledge.kind
    }

    fn score(&self, words: &[Word], head: &Head) -> Scored {
        let against: Vec<Range<usize>> = self.against.iter().flat_map(|phrase| phrase.find(words)).collect();
        let elsewhere = against.iter().any(|place| head.zone(place) == Zone::Head);
        let cancelled = |place: &Range<usize>| {
            elsewhere && head.zone(place) == Zone::Head || against.iter().any(|wide| covers(wide, place))
        };
        let strong = self.strong.iter().map(|phrase| (phrase, STRONG));
        let weak = self.weak.iter().map(|phrase| (phrase, WEAK));
        let mut hits: Vec<Hit> = Vec::new();
        for (phrase, points) in strong.chain(weak) {
            let points = worth(phrase, points);
            let best = phrase.find(words).into_iter().filter(|place| !cancelled(place)).map(|words| Hit {
                zone: head.zone(&words),
                words,
                points,
            });
            if let Some(hit) = best.max_by_key(|hit| (hit.zone, std::cmp::Reverse(hit.words.start))) {
                let covered = hits.iter().any(|other| covers(&other.words, &hit.words));
                if !covered {
                    hits.push(hit);
                }
            }
        }
        // What tells the kind by itself is not told once more by its price.
        let things = self.things.iter().filter_map(|thing| thing.wanted(words, head));
        if let Some(thing) = things.max_by(Hit::weigh)
            && !hits.iter().any(|hit| covers(&hit.words, &thing.words) || covers(&thing.words, &hit.words))
        {
            hits.push(thing);
        }
        let sum = |zone: Zone| hits.iter().filter(|hit| hit.zone == zone).map(|hit| hit.points).sum::<f64>();
        let later = sum(Zone::Later);
        let score = IN_HEAD * sum(Zone::Head) + IN_LEAD * sum(Zone::Lead) + LATER_MAX * later / (LATER_MAX + later);
        let bytes = |place: &Range<usize>| words[place.start].range.start..words[place.end - 1].range.end;
        let mut places: Vec<Range<usize>> = hits.iter().map(|hit| bytes(&hit.words)).collect();
        places.sort_by_key(|place| (place.start, place.end));
        Scored { kind: self.name().to_owned(), score, words: places }
    }
}

fn covers(wide: &Range<usize>, place: &Range<usize>) -> bool {
    wide.start <= place.start && place.end <= wide.end
}
