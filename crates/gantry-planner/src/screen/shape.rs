//! Shapes of text that cannot be planned whatever they are about: nothing, noise, placeholders, code, empty forms.
//!
//! The words that decide are in `data/screen.yaml`; here is only how they are counted.

use super::rules::Rules;
use crate::kind::Kinds;
use crate::words::{Word, unspaced, words};
use std::collections::BTreeSet;
use std::ops::Range;

/// A text has hardly any words when letters are a smaller share of its signs than this, in percent.
const LETTERS_MIN_PERCENT: usize = 35;
/// An encoded run is at least so many signs long.
const PAYLOAD_MIN: usize = 40;
/// A template sign such as `${name}` in a longer text is its subject and not a gap in it.
const TEMPLATE_WORDS_MAX: usize = 40;
/// A label of a form has at most so many words.
const LABEL_WORDS_MAX: usize = 9;
/// An answer in a form has at most so many words; more is a text under a heading.
const ANSWER_WORDS_MAX: usize = 60;

/// The shapes that make any other reading pointless.
pub(crate) fn hopeless(text: &str, words: &[Word], rules: &Rules) -> Option<&'static str> {
    let signs = text.chars().filter(|char| !char.is_whitespace()).count();
    let letters = text.chars().filter(|char| char.is_alphabetic()).count();
    if text.len() > rules.limits.bytes_max {
        return Some("too_long");
    }
    if words.is_empty() && letters == 0 && signs <= 2 {
        return Some("empty");
    }
    (letters * 100 < signs * LETTERS_MIN_PERCENT && !has_template(text)).then_some("symbols")
}

/// The first shape that fits, with the places that show it (none: the whole text does).
pub(crate) fn shape(text: &str, words: &[Word], rules: &Rules) -> Option<(&'static str, Vec<Range<usize>>)> {
    let checks: [(&'static str, Vec<Range<usize>>); 2] =
        [("payload", payloads(text, words)), ("placeholder", placeholders(text, words, rules))];
    if let Some(found) = checks.into_iter().find(|(_, places)| !places.is_empty()) {
        return Some(found);
    }
    if words.iter().all(|word| rules.words.greeting.contains(&word.text)) {
        return Some(("greeting", Vec::new()));
    }
    if repeats(words) {
        return Some(("repeated", Vec::new()));
    }
    if let Some(place) = form_without_goal(text, rules) {
        return Some(("form", vec![place]));
    }
    if code_alone(text, rules) {
        return Some(("code", Vec::new()));
    }
    if noise(text, words, rules) {
        return Some(("noise", Vec::new()));
    }
    (details(words, rules) < rules.limits.details_min && !is_told(text, words)).then(|| ("thin", Vec::new()))
}

/// Few words are enough where they begin with what is done and tell its kind: "renovate a kitchen", not "help me to change".
fn is_told(text: &str, words: &[Word]) -> bool {
    const SENTENCE_WORDS_MIN: usize = 3;
    let wishes = |word: &Word| matches!(word.text.as_str(), "i" | "we" | "help" | "please" | "can" | "could");
    words.len() >= SENTENCE_WORDS_MIN
        && !words.first().is_some_and(wishes)
        && Kinds::built_in().is_ok_and(|kinds| kinds.of(text).best().is_some_and(|best| best.score >= Kinds::SURE))
}

/// Counts the different words that say something about what is wanted. A word that makes the thing somebody's own counts
/// too ("my kitchen"), and two signs of a script without spaces count as one word.
pub(crate) fn details(words: &[Word], rules: &Rules) -> usize {
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for word in words {
        let text = word.text.as_str();
        let bare = text.trim_end_matches(|char: char| char.is_ascii_digit()); // "hello3" says no more than "hello"
        let says_nothing = rules.words.stop.contains(bare) || rules.words.empty.contains(bare);
        let own = rules.words.own.contains(text);
        let number = text.chars().all(|char| char.is_numeric() || matches!(char, '.' | ','));
        if (says_nothing && !own) || number || noisy(word, rules) || !seen.insert(text) {
            continue;
        }
        let signs = text.chars().filter(|char| unspaced(*char)).count();
        count += if signs > 0 { signs.div_ceil(2) } else { 1 };
    }
    count
}

fn has_template(text: &str) -> bool {
    text.contains("${") || text.contains("{{")
}

/// Encoded runs, when they are a good part of the text or the text speaks of decoding.
fn payloads(text: &str, words: &[Word]) -> Vec<Range<usize>> {
    let runs: Vec<Range<usize>> = tokens(text).filter(|range| encoded(&text[range.clone()])).collect();
    let bytes: usize = runs.iter().map(ExactSizeIterator::len).sum();
    let decode = words.iter().any(|word| matches!(word.text.as_str(), "base64" | "decode" | "rot13" | "hex"));
    if bytes * 3 >= text.len() || decode { runs } else { Vec::new() }
}

/// Returns where a part that was cut out of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split_whitespace().map(move |token| {
        let start = offset(text, token);
        start..start + token.len()
    })
}

fn encoded(token: &str) -> bool {
    let escapes = token.matches("\\x").count() + token.matches("\\u").count() + token.matches('%').count();
    let plain = token.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '/' | '=' | '-' | '_'));
    let digit = token.chars().any(|char| char.is_ascii_digit());
    let mixed =
        token.chars().any(|char| char.is_ascii_uppercase()) && token.chars().any(|char| char.is_ascii_lowercase());
    let hex = token.chars().all(|char| char.is_ascii_hexdigit());
    escapes >= 8 || token.len() >= PAYLOAD_MIN && plain && digit && (mixed || hex)
}

fn placeholders(text: &str, words: &[Word], rules: &Rules) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in [("[", "]"), ("<", ">"), ("${", "}"), ("{{", "}}"), ("{", "}")] {
        for (start, _) in text.match_indices(open) {
            let Some(length) = text[start + open.len()..].find(close) else { continue };
            let inside = &text[start + open.len()..start + open.len() + length];
            let end = start + open.len() + length + close.len();
            let inner = crate::words::words(inside);
            let named = inner.len() <= 5 && inner.iter().any(|word| rules.words.placeholder.contains(&word.text));
            let link = text[end..].starts_with('(');
            let template = open.len() == 2 && !inner.is_empty() && words.len() <= TEMPLATE_WORDS_MAX;
            let short = open != "{" || words.len() <= TEMPLATE_WORDS_MAX;
            if !link && short && (named && !inside.contains(['/', '=', '!']) || template) {
                found.push(start..end);
            }
        }
    }
    found.extend(tokens(text).filter(|range| {
        let token = text[range.clone()].trim_matches(|char: char| !char.is_alphanumeric());
        let upper = token.contains('_') && token.chars().all(|char| char.is_ascii_uppercase() || char == '_');
        upper && (token.starts_with("YOUR_") || token.ends_with("_HERE") || token.contains("PLACEHOLDER"))
    }));
    found.sort_by_key(|range| (range.start, range.end));
    found
}

/// A few words over and over, or letters held down.
fn repeats(words: &[Word]) -> bool {
    let distinct: BTreeSet<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let few = words.len() >= 4 && distinct.len() * 3 <= words.len() && distinct.len() <= 20;
    let letters: usize = words.iter().map(|word| word.text.chars().count()).sum();
    let held: usize = words.iter().filter(|word| stutters(&word.text)).map(|word| word.text.chars().count()).sum();
    few || held * 2 > letters
}

/// Returns whether a word is one to three letters repeated ("aaaa", "hahaha").
fn stutters(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let letter = letters.iter().any(|char| char.is_alphabetic());
    let unit = |length: usize| {
        letters.len() >= (4_usize).max(length * 3)
            && letters.iter().zip(&letters[length..]).all(|(one, next)| one == next)
    };
    letter && (1..=3).any(|length| length < letters.len() && unit(length))
}

/// A form (lines of label and value, the first line too) whose goal is missing or says nothing; the place is its goal,
/// or the whole form.
fn form_without_goal(text: &str, rules: &Rules) -> Option<Range<usize>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let fields: Vec<(Vec<Word>, &str)> = lines.iter().filter_map(|line| field(line)).collect();
    let begins = lines.first().is_some_and(|line| field(line).is_some());
    if !begins || fields.len() < 2 || fields.len() * 5 < lines.len() * 3 {
        return None;
    }
    let is_goal = |label: &[Word]| label.iter().any(|word| rules.words.goal_label.contains(&word.text));
    let goals: Vec<&str> = fields.iter().filter(|(label, _)| is_goal(label)).map(|(_, value)| *value).collect();
    let said = goals.iter().map(|goal| details(&words(goal), rules)).max().unwrap_or(0);
    if said >= rules.limits.details_min {
        return None;
    }
    let goal = goals.first().copied().unwrap_or(text);
    let start = offset(text, goal);
    Some(start..start + goal.len())
}

fn field(line: &str) -> Option<(Vec<Word>, &str)> {
    let (label, value) = line.split_once(':')?;
    let label = words(label);
    let answer = (1..=ANSWER_WORDS_MAX).contains(&words(value).len()) && value.starts_with(' ');
    let fits = (1..=LABEL_WORDS_MAX).contains(&label.len()) && answer;
    fits.then_some((label, value.trim()))
}

/// Code or a log of which nobody says what to do with it.
fn code_alone(text: &str, rules: &Rules) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (code, prose): (Vec<&str>, Vec<&str>) =
        lines.iter().partition(|line| code_line(line) && !sentence(line, rules));
    let asks = |line: &&str| words(line).iter().any(|word| rules.words.request.contains(&word.text));
    !code.is_empty() && code.len() * 10 >= lines.len() * 6 && !prose.iter().any(asks)
}

/// Returns whether a line reads like language: enough words, and a fifth of them words that every sentence has.
fn sentence(line: &str, rules: &Rules) -> bool {
    let words = words(line);
    let common = words.iter().filter(|word| rules.words.stop.contains(&word.text)).count();
    words.len() >= 8 && common * 5 >= words.len()
}

fn code_line(line: &str) -> bool {
    const STARTS: [&str; 24] = [
        "import ",
        "from ",
        "def ",
        "class ",
        "fn ",
        "pub ",
        "let ",
        "const ",
        "var ",
        "return ",
        "#include",
        "package ",
        "public ",
        "private ",
        "function ",
        "SELECT ",
        "INSERT ",
        "UPDATE ",
        "at ",
        "File \"",
        "Traceback",
        "<?",
        "</",
        "```",
    ];
    const ENDS: [&str; 7] = [";", "{", "}", "});", "):", "\\", "/>"];
    const INSIDE: [&str; 11] = ["();", " == ", " => ", "::", " != ", "&&", "</", " = ", "[ERROR]", "[INFO]", "[WARN]"];
    let levels = ["ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL", "error"];
    let clock = line.chars().take(24).filter(char::is_ascii_digit).count() >= 6;
    let starts = STARTS.iter().any(|start| line.starts_with(start));
    let ends = ENDS.iter().any(|end| line.ends_with(end));
    let inside = INSIDE.iter().filter(|sign| line.contains(**sign)).count();
    let brackets = line.contains(['(', '{', '[', '<', '*', '=', '.']);
    let level = line.split(|char: char| !char.is_alphanumeric()).any(|word| levels.contains(&word));
    let log = level && (clock || line.contains(": ")) || line.contains("Exception:") || line.contains("panicked at");
    log || ends && (brackets || line.len() < 3)
        || starts && (inside > 0 || brackets && !line.ends_with('.'))
        || inside >= 2
}

/// Most words look like keys pressed at random, and none is a word that every text has.
fn noise(text: &str, words: &[Word], rules: &Rules) -> bool {
    let odd = words.iter().filter(|word| noisy(word, rules) && !acronym(text, word)).count();
    let known =
        words.iter().any(|word| rules.words.stop.contains(&word.text) && word.text.len() > 1 && !noisy(word, rules));
    odd > 0 && odd * 2 >= words.len() && !known
}

fn acronym(text: &str, word: &Word) -> bool {
    word.text.len() <= 6 && text[word.range.clone()].chars().all(|char| char.is_uppercase() || char.is_numeric())
}

fn noisy(word: &Word, rules: &Rules) -> bool {
    let letters: Vec<char> = word.text.chars().collect();
    let jamo = letters.len() >= 2 && letters.iter().all(|char| matches!(char, '\u{3131}'..='\u{318e}'));
    if jamo || stutters(&word.text) {
        return true;
    }
    if letters.len() < 3 || !letters.iter().all(char::is_ascii_lowercase) {
        return false;
    }
    let vowel = |char: &char| matches!(char, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let longest = letters.split(vowel).map(<[char]>::len).max().unwrap_or(0);
    let beside = |length: usize| {
        letters.windows(length).any(|run| {
            let run: String = run.iter().collect();
            rules.words.keys.iter().any(|row| row.contains(&run))
        })
    };
    let held = beside(5) || letters.len() <= 4 && letters.len() == 3 && beside(3) && longest == 3;
    held || longest >= 6 || letters.len() >= 5 && longest == letters.len()
}
