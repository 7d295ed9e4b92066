//! The words on nodes and arrows, and what they mean in a plan.

use gantry_core::plan::On;

use crate::mermaid::export::ANY_OUTCOME;

/// A text without markup.
pub(super) struct Plain {
    pub(super) text: String,
    /// Whether something other than whitespace and line breaks is gone.
    pub(super) lost_markup: bool,
}

/// Takes tags, icons and emphasis out of a text, and joins its lines.
pub(super) fn plain_text(text: &str) -> Plain {
    let mut out = String::with_capacity(text.len());
    let mut lost_markup = false;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((length, is_break)) = tag(rest) {
            lost_markup |= !is_break;
            out.push_str(if is_break { " " } else { "" });
            rest = &rest[length..];
        } else {
            out.push('<');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    let out = out.replace("\\n", " ");
    let without_emphasis = out.replace("**", "");
    lost_markup |= without_emphasis.len() < out.len();
    let mut words = Vec::new();
    for word in without_emphasis.split_whitespace() {
        if is_icon(word) {
            lost_markup = true;
        } else {
            words.push(word);
        }
    }
    Plain { text: words.join(" "), lost_markup }
}

/// The longest tag that is taken for one, in bytes.
const TAG_BYTES_MAX: usize = 300;

/// Returns the length of the tag at the start of the text, and whether it is a line break.
fn tag(text: &str) -> Option<(usize, bool)> {
    let name = text.strip_prefix('<')?.trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let window = &text.as_bytes()[..text.len().min(TAG_BYTES_MAX)];
    let end = window.iter().position(|byte| *byte == b'>')?;
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some((end + 1, name.eq_ignore_ascii_case("br")))
}

/// Tells `fa:fa-car` from a word.
fn is_icon(word: &str) -> bool {
    word.split_once(':').is_some_and(|(family, icon)| {
        matches!(family, "fa" | "fab" | "fas" | "far" | "fal" | "fad" | "fak") && icon.starts_with("fa-")
    })
}

/// What a gate can end with, and what a plan calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Approved,
    Rejected,
    NeedsChanges,
}

impl Ruling {
    pub(super) fn on(self) -> On {
        match self {
            Self::Approved => On::Success,
            Self::Rejected => On::Failure,
            Self::NeedsChanges => On::Outcome("needs_changes".to_owned()),
        }
    }
}

/// Texts that mean approval, refusal, or another round.
const RULINGS: &[(Ruling, &[&str])] = &[
    (
        Ruling::Approved,
        &[
            "yes",
            "y",
            "true",
            "pass",
            "passed",
            "passes",
            "ok",
            "okay",
            "go",
            "approve",
            "approved",
            "approves",
            "accept",
            "accepted",
            "success",
            "succeeded",
            "signed off",
            "done",
            "lgtm",
        ],
    ),
    (
        Ruling::Rejected,
        &[
            "no",
            "n",
            "false",
            "fail",
            "failed",
            "fails",
            "failure",
            "reject",
            "rejected",
            "rejects",
            "deny",
            "denied",
            "decline",
            "declined",
            "not approved",
            "no go",
            "no-go",
            "error",
        ],
    ),
    (
        Ruling::NeedsChanges,
        &[
            "needs changes",
            "needs change",
            "needs_changes",
            "need changes",
            "changes needed",
            "changes requested",
            "request changes",
            "changes",
            "needs work",
            "rework",
            "revise",
            "revisions",
            "fix",
            "retry",
            "again",
        ],
    ),
];

/// Parts of a text that say that a person rules.
const RULING_PARTS: &[(Ruling, &str)] = &[
    (Ruling::Rejected, "disapprov"),
    (Ruling::Rejected, "not approv"),
    (Ruling::Rejected, "unapprov"),
    (Ruling::Approved, "approv"),
    (Ruling::Rejected, "reject"),
    (Ruling::NeedsChanges, "needs change"),
    (Ruling::NeedsChanges, "changes requested"),
    (Ruling::NeedsChanges, "request changes"),
];

/// Reads a text as the ruling of a gate.
pub(super) fn ruling(text: &str) -> Option<Ruling> {
    let text = text.to_lowercase();
    let whole = RULINGS.iter().find(|(_, texts)| texts.contains(&text.as_str()));
    whole.map(|(ruling, _)| *ruling).or_else(|| part_of_ruling(&text))
}

/// Tells whether a text can only be the ruling of a gate, whatever it stands beside.
pub(super) fn is_only_a_ruling(text: &str) -> bool {
    matches!(
        text.to_lowercase().as_str(),
        "approved" | "not approved" | "rejected" | "needs changes" | "needs_changes" | "changes requested"
    )
}

fn part_of_ruling(text: &str) -> Option<Ruling> {
    RULING_PARTS.iter().find(|(_, part)| text.contains(part)).map(|(ruling, _)| *ruling)
}

/// Tells whether the text answers a yes-or-no question.
pub(super) fn is_yes_or_no(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "yes" | "no" | "y" | "n" | "true" | "false")
}

/// Reads a text on an arrow out of an ordinary task as the ending that it follows.
pub(super) fn ending(text: &str) -> Option<On> {
    match text.to_lowercase().as_str() {
        "success" | "succeeds" | "succeeded" | "on success" | "pass" | "passes" | "passed" | "ok" => Some(On::Success),
        "failure" | "fail" | "fails" | "failed" | "on failure" | "error" | "on error" => Some(On::Failure),
        "always" => Some(On::Always),
        _ => None,
    }
}

/// Reads a text on an arrow out of a decision as the outcome that it follows.
pub(super) fn outcome(text: &str) -> On {
    // The names of endings would be read back as those.
    match text {
        ANY_OUTCOME => On::Success,
        "success" => On::Outcome("succeeded".to_owned()),
        "failure" => On::Outcome("failed".to_owned()),
        "always" => On::Outcome("in any case".to_owned()),
        other => On::Outcome(other.to_owned()),
    }
}

/// Tells whether the text of a node makes it a gate.
pub(super) fn names_a_gate(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let one = |word: &&str| {
        matches!(*word, "gate" | "gates" | "signoff") || word.starts_with("approv") || word.starts_with("review")
    };
    words.iter().any(one) || words.windows(2).any(|two| two == ["sign", "off"])
}

/// Splits `needs changes (max 3)` into the text and the number.
pub(super) fn rounds(text: &str) -> (&str, Option<u32>) {
    let split = text.strip_suffix(')').and_then(|text| text.rsplit_once("(max "));
    match split.map(|(before, number)| (before.trim_end(), number.trim().parse::<u32>())) {
        Some((before, Ok(number))) if number > 0 => (before, Some(number)),
        _ => (text, None),
    }
}
