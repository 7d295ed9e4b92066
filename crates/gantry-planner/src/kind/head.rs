//! Where a text says what it wants: the leading sentence, and in it the first verb with its object.

use crate::words::Word;
use std::ops::Range;

/// Verbs with which people say what should be done.
const VERBS: [&str; 75] = [
    "build",
    "building",
    "construct",
    "create",
    "make",
    "develop",
    "design",
    "designing",
    "establish",
    "establishes",
    "launch",
    "start",
    "open",
    "set",
    "write",
    "plan",
    "planning",
    "execute",
    "executes",
    "implement",
    "relocate",
    "move",
    "migrate",
    "replace",
    "organise",
    "organize",
    "host",
    "run",
    "invent",
    "propose",
    "formulate",
    "draft",
    "produce",
    "find",
    "take",
    "water",
    "go",
    "book",
    "deploy",
    "distill",
    "utilize",
    "eradicate",
    "evacuate",
    "conduct",
    "introduce",
    "restructure",
    "merge",
    "renovate",
    "convert",
    "install",
    "adopt",
    "adopts",
    "abandon",
    "study",
    "research",
    "investigate",
    "map",
    "learn",
    "publish",
    "film",
    "record",
    "visit",
    "travel",
    "respond",
    "perform",
    "envisioning",
    "prohibit",
    "become",
    "wash",
    "fix",
    "repair",
    "paint",
    "apply",
    "refurbish",
    "celebrate",
];

/// Words before a verb that announce it: "I want to build", "the goal is to invent".
const ANNOUNCE: [&str; 14] =
    ["to", "with", "is", "and", "then", "please", "plan", "will", "we", "i'm", "let's", "agent", "project", "program"];

/// The nouns of "create a plan for ...", whose object is what follows.
const PLANS: [&str; 6] = ["plan", "strategy", "roadmap", "proposal", "programme", "program"];

/// Words that end the object of a verb.
const ENDS: [&str; 16] = [
    "for", "in", "with", "that", "which", "using", "by", "from", "across", "near", "where", "at", "on", "over",
    "inspired", "while",
];

/// Words that the verb and its object have at least and at most.
const HEAD_MIN: usize = 3;
const HEAD_MAX: usize = 12;
/// How many words of a leading sentence lead; some sentences are as long as a page.
const LEAD_MAX: usize = 40;
/// Among how many sentences the leading one is looked for.
const SENTENCES_MAX: usize = 5;

/// How much a place in the text counts, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zone {
    Later,
    Lead,
    Head,
}

/// The parts of a text that say what it wants, as ranges of word numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    object: Range<usize>,
    lead: Range<usize>,
    first: Range<usize>,
}

impl Head {
    /// Finds the head. The leading sentence is the first that begins with a verb of doing, or has one that is announced
    /// ("I want to ..."); when there is none, the first sentence leads and its beginning is the head.
    pub fn of(words: &[Word]) -> Self {
        let first = sentence(words, 0);
        let verb = (0..SENTENCES_MAX).find_map(|number| verb_in(words, &sentence(words, number)));
        let start = verb.unwrap_or(first.start);
        let lead = words.get(start).map_or(first.clone(), |word| sentence(words, word.sentence));
        let object = start..end_of_head(words, start, &lead);
        let most = |range: &Range<usize>, from: usize| from..range.end.min(from + LEAD_MAX);
        let lead_from = lead.start.max(start.saturating_sub(LEAD_MAX / 2));
        Self { object, lead: most(&lead, lead_from), first: most(&first, first.start) }
    }

    /// Returns how much a phrase counts where it stands.
    pub fn zone(&self, phrase: &Range<usize>) -> Zone {
        let inside = |range: &Range<usize>| range.start <= phrase.start && phrase.start < range.end;
        if inside(&self.object) {
            Zone::Head
        } else if inside(&self.lead) || inside(&self.first) {
            Zone::Lead
        } else {
            Zone::Later
        }
    }

    /// Returns the words whose place counts at least so much.
    pub fn words(&self, words: &[Word], least: Zone) -> Vec<Word> {
        let counts = |number: &usize| self.zone(&(*number..*number + 1)) >= least;
        (0..words.len()).filter(counts).map(|number| words[number].clone()).collect()
    }
}

fn sentence(words: &[Word], number: usize) -> Range<usize> {
    let start = words.partition_point(|word| word.sentence < number);
    let end = words.partition_point(|word| word.sentence <= number);
    start..end
}

fn verb_in(words: &[Word], sentence: &Range<usize>) -> Option<usize> {
    sentence.clone().find(|&at| {
        let is_verb = VERBS.contains(&words[at].text.as_str());
        let announced = at > sentence.start && ANNOUNCE.contains(&words[at - 1].text.as_str());
        is_verb && (at == sentence.start || announced || words[at].after_sign)
    })
}

fn end_of_head(words: &[Word], start: usize, lead: &Range<usize>) -> usize {
    let most = lead.end.min(start + HEAD_MAX);
    let plan =
        (start..most.min(start + HEAD_MIN + 3)).find(|&at| at > start && PLANS.contains(&words[at].text.as_str()));
    if let Some(plan) = plan {
        return lead.end.min(plan + HEAD_MAX);
    }
    let ends = |at: &usize| ENDS.contains(&words[*at].text.as_str());
    (most.min(start + HEAD_MIN)..most).find(ends).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    fn head(text: &str) -> String {
        let words = words(text);
        let found = Head::of(&words);
        words[found.object].iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_head_is_the_first_verb_and_its_object() {
        for (text, expected) in [
            (
                "Construct a train bridge between Denmark and England.",
                "construct a train bridge between denmark and england",
            ),
            ("I'm rich. Construct a luxury yacht with ice class for me.", "construct a luxury yacht"),
            ("It is 2025. I want to open a bakery in Aarhus.", "open a bakery"),
            (
                "Create a detailed plan for a garden festival in May.",
                "create a detailed plan for a garden festival in may",
            ),
            ("Clay workshop, Nuuk, Greenland.", "clay workshop nuuk greenland"),
            ("", ""),
        ] {
            assert_eq!(head(text), expected, "{text}");
        }
    }
}
