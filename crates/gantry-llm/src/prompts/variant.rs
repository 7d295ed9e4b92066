//! Which variant of a prompt is used.

use gantry_core::suggest::nearest;

use super::fault::PromptFault;
use super::file::Prompt;

/// Which variant of a prompt is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The text as it stands.
    Base,
    /// The one of this name.
    Named(&'a str),
    /// One by weight; the same key always gets the same one, so that a task that is tried again asks the same.
    Seeded(&'a str),
}

impl Prompt {
    /// The variant that is meant; none is the text as it stands.
    pub(super) fn choose(&self, choice: Choice<'_>) -> Result<Option<&str>, PromptFault> {
        match choice {
            Choice::Base => Ok(None),
            Choice::Named(name) => match self.variants.get_key_value(name) {
                Some((name, _)) => Ok(Some(name)),
                None => {
                    let fault = PromptFault::new(&self.file, format!("there is no variant `{name}`"));
                    let names = || self.variants.keys().map(String::as_str);
                    Err(match nearest(name, names()) {
                        Some(near) => fault.hint(format!("did you mean `{near}`?")),
                        None if self.variants.is_empty() => fault.hint("it has none"),
                        None => fault.hint(format!("variants are {}", names().collect::<Vec<_>>().join(", "))),
                    })
                }
            },
            Choice::Seeded(key) => Ok(self.drawn(key)),
        }
    }

    fn drawn(&self, key: &str) -> Option<&str> {
        let total: u64 = u64::from(self.weight) + self.variants.values().map(|one| u64::from(one.weight)).sum::<u64>();
        let hash = blake3::hash(format!("{}\0{key}", self.name).as_bytes());
        // A remainder of 64 bits by a few thousand is even enough.
        let number = hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        let mut draw = number.checked_rem(total)?;
        if draw < u64::from(self.weight) {
            return None;
        }
        draw -= u64::from(self.weight);
        for (name, variant) in &self.variants {
            if draw < u64::from(variant.weight) {
                return Some(name);
            }
            draw -= u64::from(variant.weight);
        }
        None
    }
}
