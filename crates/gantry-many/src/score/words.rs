//! The words of a plan: which of them have weight, which stand for the same, and which titles are almost the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Words that say nothing about what is meant.
const LIGHT: [&str; 22] = [
    "a", "an", "the", "of", "and", "or", "to", "for", "in", "on", "with", "by", "from", "at", "as", "is", "be", "this",
    "that", "into", "per", "via",
];

/// Words of a goal that say nothing about what is to be reached, beside those.
const ASKING: [&str; 52] = [
    "i", "we", "you", "me", "my", "our", "us", "your", "it", "its", "their", "they", "them", "want", "need", "would",
    "like", "please", "plan", "make", "create", "help", "how", "what", "which", "who", "when", "where", "should",
    "must", "can", "could", "will", "shall", "have", "has", "do", "does", "are", "was", "were", "not", "no", "so",
    "if", "than", "then", "there", "about", "all", "some", "any",
];

/// How alike two titles are that count as the same: the share of common words, in hundredths.
const ALIKE: usize = 75;

/// How many letters two words have in common at their beginning that count as one.
const COMMON_MIN: usize = 4;

/// The words of a text, in lower case.
pub fn split(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// What a title is told by: its words without those that say nothing, and without the `s` of many.
pub fn tokens(text: &str) -> BTreeSet<String> {
    split(text).into_iter().filter(|word| !LIGHT.contains(&word.as_str())).map(|word| stem(&word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    word.trim_end_matches('s')
}

/// The words of a goal that must stand somewhere in its tasks, each once, in order.
pub fn of_weight(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let weighs = |word: &String| {
        let long = word.chars().count() > 2 || !word.is_ascii();
        let said = word.chars().any(char::is_alphabetic);
        long && said && !LIGHT.contains(&word.as_str()) && !ASKING.contains(&word.as_str())
    };
    let words = split(text).into_iter().flat_map(|word| parts(&word)).filter(weighs);
    words.filter(|word| !stem(word).is_empty() && seen.insert(stem(word).to_owned())).collect()
}

/// A word; where words are written without spaces, each two letters of it.
fn parts(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() > 2 && letters.iter().all(|letter| unspaced(*letter)) {
        return letters.windows(2).map(|two| two.iter().collect()).collect();
    }
    vec![word.to_owned()]
}

/// A letter of a script that puts no spaces between words.
fn unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{0e00}'..='\u{0e7f}')
}

/// The words that stand in tasks.
pub struct Terms(BTreeSet<String>);

impl Terms {
    /// Those of these texts.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let words = texts.flat_map(split).flat_map(|word| parts(&word)).map(|word| stem(&word).to_owned());
        Self(words.collect())
    }

    /// Tells whether a word is among them: itself, or one that begins with it, or that it begins with.
    pub fn has(&self, term: &str) -> bool {
        let term = stem(term);
        if self.0.contains(term) {
            return true;
        }
        // A syllable of Hangul says as much as two or three letters.
        let least = if term.is_ascii() { COMMON_MIN } else { 2 };
        if term.chars().count() < least {
            return false;
        }
        let longer = self.0.range(term.to_owned()..).next().is_some_and(|word| word.starts_with(term));
        let ends = term.char_indices().map(|(at, _)| at).skip(least);
        longer || ends.into_iter().any(|end| self.0.contains(&term[..end]))
    }
}

/// How many titles are exactly, and how many almost, one that stands before them.
pub fn doubles<'a>(titles: impl Iterator<Item = &'a str>) -> (usize, usize) {
    let titles: Vec<&str> = titles.collect();
    let mut seen = BTreeSet::new();
    let exact = titles.iter().filter(|title| !seen.insert(split(title).join(" "))).count();
    let sets: Vec<BTreeSet<String>> = titles.iter().map(|title| tokens(title)).collect();
    let mut often: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sets.iter().flatten() {
        *often.entry(word).or_default() += 1;
    }
    // Two titles that are alike have one of their rarest words in common: only those are looked up.
    let mut by_rare: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut near = 0;
    for (at, set) in sets.iter().enumerate() {
        let mut words: Vec<&str> = set.iter().map(String::as_str).collect();
        words.sort_by_key(|word| (often.get(word).copied().unwrap_or_default(), *word));
        let rare = &words[..words.len() - (words.len() * ALIKE).div_ceil(100) + usize::from(!words.is_empty())];
        let alike = |other: &usize| is_alike(set, &sets[*other]);
        near += usize::from(rare.iter().filter_map(|word| by_rare.get(word)).flatten().any(alike));
        for word in rare {
            by_rare.entry(word).or_default().push(at);
        }
    }
    (exact, near)
}

fn is_alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    all > 0 && common * 100 >= all * ALIKE
}
