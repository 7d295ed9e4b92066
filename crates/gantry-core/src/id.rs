//! Names of things: plans, tasks, attempts, revisions. Each is a type of its own.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest id that is accepted, in characters.
pub const ID_CHARS_MAX: usize = 100;

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadId {
    /// The text that was refused, cut to a readable length.
    pub text: String,
    /// What is wrong with it, as a lowercase fragment.
    pub reason: &'static str,
}

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an id: {}", self.text, self.reason)
    }
}

impl std::error::Error for BadId {}

fn check_slug(text: &str) -> Result<(), BadId> {
    let refuse = |reason| Err(BadId { text: text.chars().take(40).collect(), reason });
    let Some(first) = text.chars().next() else {
        return refuse("it is empty");
    };
    if text.chars().count() > ID_CHARS_MAX {
        return refuse("it has more than 100 characters");
    }
    if !(first.is_ascii_alphanumeric() || first == '_') {
        return refuse("it must start with a letter, a digit or `_`");
    }
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return refuse("only letters, digits, `-` and `_` are allowed");
    }
    Ok(())
}

macro_rules! slug {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks that the text is a slug and makes it an id.
            pub fn new(text: &str) -> Result<Self, BadId> {
                check_slug(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// Makes a valid id out of any text: other characters become `-`.
            #[must_use]
            pub fn slugged(text: &str) -> Self {
                Self(Arc::from(slugify(text, ID_CHARS_MAX)))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]*$", "maxLength": 100})
            }
        }
    };
}

slug! {
    /// A task's name: a slug, unique in its plan.
    TaskId
}
slug! {
    /// A plan's name, such as `plan-build-search-7f3k`.
    PlanId
}

impl TaskId {
    /// Makes an id of this one and an ending, such as `-r2`: the beginning is cut where both would be too long.
    #[must_use]
    pub fn with_ending(&self, ending: &str) -> Self {
        let room = ID_CHARS_MAX.saturating_sub(ending.len());
        let kept: String = self.as_str().chars().take(room).collect();
        Self::slugged(&format!("{kept}{ending}"))
    }
}

impl PlanId {
    /// Makes a new plan id from the title and some entropy: `plan-<three words>-<four characters>`.
    #[must_use]
    pub fn mint(title: &str, entropy: u64) -> Self {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let slug = slugify(&title.to_lowercase(), 60);
        let words: Vec<&str> = slug
            .split('-')
            .filter(|word| !word.is_empty() && !["a", "an", "the", "of", "to", "for"].contains(word))
            .take(3)
            .collect();
        let bytes = entropy.to_le_bytes();
        let tail: String = bytes[..4].iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect();
        let name = if words.is_empty() { "x".to_owned() } else { words.join("-") };
        Self(Arc::from(format!("plan-{name}-{tail}")))
    }
}

/// Turns any text into a slug of at most `chars_max` characters.
fn slugify(text: &str, chars_max: usize) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= chars_max {
            break;
        }
        if c.is_ascii_alphanumeric() || c == '_' {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let trimmed = slug.trim_end_matches('-');
    if trimmed.is_empty() { "x".to_owned() } else { trimmed.to_owned() }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

number! {
    /// A task's stable number in its plan: 1 for the first, never reused.
    TaskNo
}
number! {
    /// One try at a task. Numbers only grow, so an answer for an older one can be told and refused.
    AttemptNo
}
number! {
    /// One immutable version of a plan's graph; the plan as created is revision 1.
    Revision
}
