//! Where a rule fires.

use super::rules::{Frame, Near, Pair, Rule, Rules};
use crate::phrase::Phrase;
use crate::words::{Word, hangul};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How many words before a match a shield may stand ("prevent ... from killing people").
const BEFORE_MAX: usize = 6;
/// How many words before a match a negation may stand ("do not kill people").
const CLOSE_MAX: usize = 3;
/// How many words after a match a shield may stand ("anthrax ... vaccine").
const AFTER_MAX: usize = 4;
/// How many words on either side of a match an exception of its rule may stand.
const BUT_MAX: usize = 8;

/// How many places are shown at most for one rule.
const EVIDENCE_MAX: usize = 20;

/// A text with what every rule asks of it, found once.
pub(crate) struct Reading<'a> {
    pub words: &'a [Word],
    rules: &'a Rules,
    /// For each word, whether it is part of a harmless phrase.
    harmless: Vec<bool>,
    /// For each word, whether a shield before it ends there.
    breaks: Vec<bool>,
    /// What each frame covers as a whole.
    reach: BTreeMap<&'a str, Reach>,
}

/// The sentences that a frame covers, or the whole text.
struct Reach {
    sentences: BTreeSet<usize>,
    text: bool,
}

/// One place where a rule fires: its first half and its second half, which are equal when it has only one.
struct Match {
    first: Range<usize>,
    second: Range<usize>,
    korean: bool,
}

impl<'a> Reading<'a> {
    /// Prepares the words of a text.
    pub fn new(words: &'a [Word], rules: &'a Rules) -> Self {
        let marked = |phrases: &[Phrase]| {
            let mut marks = vec![false; words.len()];
            for place in places(phrases, words) {
                marks[place].fill(true);
            }
            marks
        };
        let reach = |frame: &Frame| Reach {
            sentences: places(&frame.sentence, words).into_iter().map(|place| words[place.start].sentence).collect(),
            text: frame.text.as_ref().is_some_and(|pair| !pairs(pair, words).is_empty()),
        };
        Self {
            words,
            rules,
            harmless: marked(&rules.harmless),
            breaks: marked(&rules.breaks),
            reach: rules.frames.iter().map(|(name, frame)| (name.as_str(), reach(frame))).collect(),
        }
    }

    /// Returns the places, in bytes of the text, where a rule about harm fires; none when it does not.
    pub fn fires(&self, rule: &Rule) -> Vec<Range<usize>> {
        self.fires_where(rule, |found| !self.harmless(found))
    }

    /// Returns the places where a rule fires whatever the phrase around it means: care does no harm.
    pub fn touches(&self, rule: &Rule) -> Vec<Range<usize>> {
        self.fires_where(rule, |_| true)
    }

    fn fires_where(&self, rule: &Rule, counts: impl Fn(&Match) -> bool) -> Vec<Range<usize>> {
        if rule.words_max.is_some_and(|most| self.words.len() > most) {
            return Vec::new();
        }
        let mut with: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        for place in places(&rule.with, self.words) {
            with.entry(self.words[place.start].sentence).or_insert(place);
        }
        let mut evidence = Vec::new();
        for found in self.matches(rule) {
            let beside = match rule.near {
                Near::Sentence => with.get(&self.words[found.first.start].sentence),
                Near::Text => with.values().next(),
            };
            if !rule.with.is_empty() && beside.is_none() || !counts(&found) || self.excused(rule, &found) {
                continue;
            }
            evidence.push(self.bytes(found.first.start..found.second.end));
            evidence.extend(beside.map(|place| self.bytes(place.clone())));
            if evidence.len() >= EVIDENCE_MAX {
                break;
            }
        }
        merged(evidence)
    }

    fn bytes(&self, words: Range<usize>) -> Range<usize> {
        self.words[words.start].range.start..self.words[words.end - 1].range.end
    }

    fn matches(&self, rule: &Rule) -> Vec<Match> {
        let single = |place: Range<usize>| {
            let korean = self.words[place.start].text.chars().any(hangul);
            Match { first: place.clone(), second: place, korean }
        };
        let mut found: Vec<Match> = places(&rule.say, self.words).into_iter().map(single).collect();
        for (pair, korean) in [(&rule.pair, false), (&rule.korean, true)] {
            let both = pair.iter().flat_map(|pair| pairs(pair, self.words));
            found.extend(both.map(|(first, second)| Match { first, second, korean }));
        }
        found
    }

    fn harmless(&self, found: &Match) -> bool {
        [&found.first, &found.second].into_iter().any(|half| self.harmless[half.clone()].contains(&true))
    }

    /// Returns whether an exception of the rule or one of its frames covers a match.
    fn excused(&self, rule: &Rule, found: &Match) -> bool {
        let around = found.first.start.saturating_sub(BUT_MAX)..found.second.end + BUT_MAX;
        if !self.beside(&rule.but, around, found).is_empty() {
            return true;
        }
        let sentence = self.words[found.first.start].sentence;
        rule.unless.iter().any(|name| {
            let whole =
                self.reach.get(name.as_str()).is_some_and(|reach| reach.text || reach.sentences.contains(&sentence));
            whole || self.rules.frames.get(name).is_some_and(|frame| self.covered(frame, found))
        })
    }

    fn covered(&self, frame: &Frame, found: &Match) -> bool {
        let start = found.first.start;
        let before = self.unbroken(start.saturating_sub(BEFORE_MAX), found);
        let close = before.max(start.saturating_sub(CLOSE_MAX));
        let at_verb = before.max(start.saturating_sub(1));
        let after = found.first.end..found.second.end + AFTER_MAX;
        self.within(&frame.before, before..start, found)
            || self.within(&frame.close, close..start, found)
            || self.within(&frame.at_verb, at_verb..start, found) && !self.wished(start)
            || self.within(&frame.between, found.first.end..found.second.start, found)
            || self.within(&frame.after, after, found)
    }

    /// Returns where the words before a match begin to govern it. Nothing before "until" or the like does, nor what
    /// stands before "and" with a verb of its own ("protect our land and kill ...", but not "gangs that rob and kill ...").
    fn unbroken(&self, from: usize, found: &Match) -> usize {
        let start = found.first.start;
        let mut begin = (from..start).rev().find(|at| self.breaks[*at]).map_or(from, |at| at + 1);
        let anew = start > 0 && self.words[start - 1].text == "and" && !self.words[start].text.ends_with("ing");
        let relative = |word: &Word| matches!(word.text.as_str(), "that" | "which" | "who");
        if anew && !found.korean && !self.words[begin..start].iter().any(relative) {
            begin = start;
        }
        begin
    }

    /// Returns whether somebody whose wish it can be stands right before a verb ("someone who can kill ...").
    fn wished(&self, verb: usize) -> bool {
        let before = &self.words[verb.saturating_sub(3)..verb];
        before.iter().any(|word| self.rules.wishers.contains(&word.text))
    }

    /// Returns whether one of the phrases stands within a range of words, in the sentence of the match and outside of it.
    fn within(&self, phrases: &[Phrase], range: Range<usize>, found: &Match) -> bool {
        let outside = |place: &Range<usize>| !overlap(place, &found.first) && !overlap(place, &found.second);
        self.beside(phrases, range, found).iter().any(outside)
    }

    fn beside(&self, phrases: &[Phrase], range: Range<usize>, found: &Match) -> Vec<Range<usize>> {
        let sentence = self.words[found.first.start].sentence;
        let range = range.start..range.end.min(self.words.len());
        let mut places: Vec<Range<usize>> =
            phrases.iter().flat_map(|phrase| phrase.find_in(self.words, range.clone())).collect();
        places.retain(|place| place.end <= range.end && self.words[place.start].sentence == sentence);
        places
    }
}

/// Puts places in order and joins those that overlap.
pub(crate) fn merged(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start < last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}

/// Both halves of a pair wherever the second follows the first in the same sentence within the gap.
fn pairs(pair: &Pair, words: &[Word]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    for first in places(&pair.first, words) {
        let sentence = words[first.start].sentence;
        let reach = first.end..(first.end + pair.gap + 1).min(words.len());
        let second = pair.second.iter().flat_map(|phrase| phrase.find_in(words, reach.clone()));
        let same = second.filter(|place| words[place.start].sentence == sentence);
        found.extend(same.map(|place| (first.clone(), place)));
    }
    found
}

fn places(phrases: &[Phrase], words: &[Word]) -> Vec<Range<usize>> {
    phrases.iter().flat_map(|phrase| phrase.find(words)).collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}
