//! How far a reader is.

use std::fmt;

/// How far a reader is: after an entry of the journal, and after so many messages behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The entry.
    pub seq: u64,
    /// The message behind it; 0 is the entry itself.
    pub part: u64,
}

impl Cursor {
    /// After this entry.
    pub fn after(seq: u64) -> Self {
        Self { seq, part: 0 }
    }

    /// Reads `42`, or `42.7.9f3a` if that is from the channel of this epoch; of another channel only the entry counts.
    pub fn parse(text: &str, epoch: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        let seq = parts.next()?.parse().ok()?;
        match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => Some(Self::after(seq)),
            (Some(part), Some(of), None) => {
                let part = part.parse().ok()?;
                Some(if of == epoch { Self { seq, part } } else { Self::after(seq) })
            }
            _ => None,
        }
    }

    /// As it is written.
    pub fn written(&self, epoch: &str) -> String {
        if self.part == 0 { self.to_string() } else { format!("{self}.{epoch}") }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part == 0 { write!(f, "{}", self.seq) } else { write!(f, "{}.{}", self.seq, self.part) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_of_another_channel_counts_its_entry_only() {
        let parse = |text| Cursor::parse(text, "9f3a");
        assert_eq!(parse("42"), Some(Cursor::after(42)));
        assert_eq!(parse("42.7.9f3a"), Some(Cursor { seq: 42, part: 7 }));
        assert_eq!(parse("42.7.0000"), Some(Cursor::after(42)));
        for odd in ["", "x", "42.7", "42.x.9f3a", "42.7.9f3a.1", "-1"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
        assert_eq!(Cursor { seq: 42, part: 7 }.written("9f3a"), "42.7.9f3a");
    }
}
