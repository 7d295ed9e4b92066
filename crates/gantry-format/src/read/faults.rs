//! Every fault of one field: what does not fit is cut out, and the rest is read again.
//!
//! A type stops reading at the first thing that does not fit it. To show all faults of a map or a
//! list at once, the entry that was refused is taken out of a copy, which is then read again, until
//! nothing is refused any more. What is missing only because it was cut out is no fault.

use crate::de;
use crate::node::{Node, Span, Value};

/// The most faults that are looked for in one field: a person mends the first few and looks again.
const FAULTS_MAX: usize = 20;

/// The most nodes that are looked at again, so that a huge field with many faults takes no time.
const LOOKS_MAX: usize = 1_000_000;

/// An entry or item that was taken out because it was refused.
struct Cut {
    /// The place of the map or list that it was taken out of.
    from: Span,
    /// Its name, if it was an entry.
    name: Option<String>,
    /// What its refusal said to do.
    hint: Option<String>,
}

impl Cut {
    /// Tells whether an error only comes from what was cut out.
    fn causes(&self, error: &de::Error) -> bool {
        if error.span != Some(self.from) {
            return false;
        }
        let names = |name: &str| error.message == format!("`{name}` is missing");
        let meant = self.hint.as_deref().and_then(|hint| hint.strip_prefix("did you mean `")?.strip_suffix("`?"));
        error.code != "plan::missing-field" || self.name.as_deref().is_some_and(names) || meant.is_some_and(names)
    }
}

/// Returns every reason why a node is refused, `first` before the others.
pub(super) fn every_fault(
    node: &Node,
    first: de::Error,
    read: impl Fn(&Node) -> Result<(), de::Error>,
) -> Vec<de::Error> {
    let mut faults = vec![first.clone()];
    let looks = (LOOKS_MAX / size(node).max(1)).min(2 * FAULTS_MAX);
    let mut rest = node.clone();
    let mut cuts: Vec<Cut> = Vec::new();
    let mut last = first;
    for _ in 0..looks {
        let Some(mut cut) = last.span.and_then(|span| cut_out(&mut rest, span)) else { break };
        cut.hint.clone_from(&last.hint);
        cuts.push(cut);
        let Err(error) = read(&rest) else { break };
        if !cuts.iter().any(|cut| cut.causes(&error)) && !faults.contains(&error) {
            faults.push(error.clone());
        }
        if faults.len() == FAULTS_MAX {
            break;
        }
        last = error;
    }
    faults
}

fn size(node: &Node) -> usize {
    match &node.value {
        Value::Seq(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } => 1,
    }
}

/// Takes out the innermost entry or item that stands at a place, or whose name does.
fn cut_out(node: &mut Node, span: Span) -> Option<Cut> {
    let from = node.span;
    match &mut node.value {
        Value::Seq(items) => {
            if let Some(cut) = items.iter_mut().find_map(|item| cut_out(item, span)) {
                return Some(cut);
            }
            let at = items.iter().position(|item| item.span == span)?;
            items.remove(at);
            Some(Cut { from, name: None, hint: None })
        }
        Value::Map(entries) => {
            if let Some(cut) = entries.iter_mut().find_map(|(_, value)| cut_out(value, span)) {
                return Some(cut);
            }
            let at = entries.iter().position(|(key, value)| key.span == span || value.span == span)?;
            let (key, _) = entries.remove(at);
            Some(Cut { from, name: Some(key.text), hint: None })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Str { .. } => None,
    }
}
