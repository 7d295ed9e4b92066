//! Replaces secrets in a stream, also where they are cut in two.

use super::{Secrets, mark};

/// Holds back only what may be the beginning of a secret; everything else passes at once.
pub(crate) struct Redactor {
    secrets: Secrets,
    held: Vec<u8>,
}

impl Redactor {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// Takes in a piece and returns what can be shown by now.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(known) = self.secrets.known.clone() else { return piece.to_vec() };
        self.held.extend_from_slice(piece);
        let mut shown = Vec::with_capacity(self.held.len());
        let mut from = 0;
        loop {
            let rest = &self.held[from..];
            let hold = self.beginning(rest);
            match known.finder.find(rest) {
                // What starts before anything that may still grow is decided.
                Some(found) if found.start() < hold => {
                    shown.extend_from_slice(&rest[..found.start()]);
                    shown.extend_from_slice(mark(&known.forms[found.pattern().as_usize()].name).as_bytes());
                    from += found.end();
                }
                Some(_) | None => {
                    shown.extend_from_slice(&rest[..hold]);
                    from += hold;
                    break;
                }
            }
        }
        self.held.drain(..from);
        shown
    }

    /// Returns what is left at the end.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.held);
        self.secrets.redact_bytes(&rest).into_owned()
    }

    /// Where the first thing begins that may be a secret whose end has not come yet.
    fn beginning(&self, bytes: &[u8]) -> usize {
        let forms = self.secrets.known.iter().flat_map(|known| &known.forms);
        let longest = |form: &[u8]| {
            let first = bytes.len().saturating_sub(form.len() - 1);
            (first..bytes.len()).find(|start| form.starts_with(&bytes[*start..]))
        };
        forms.filter_map(|form| longest(&form.bytes)).min().unwrap_or(bytes.len())
    }
}
