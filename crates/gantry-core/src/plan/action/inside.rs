//! What the core does itself: computing and waiting.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::expr::Expr;
use crate::time::{Duration, Timestamp};

/// Computes values from expressions: output name to expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Compute(pub BTreeMap<String, Expr>);

impl Compute {
    /// The entries in an order in which each stands after those that it reads; the error names entries that read each
    /// other in a circle.
    ///
    /// An entry that reads its own name means something else of that name: an input, say.
    pub fn in_order(&self) -> Result<Vec<(&str, &Expr)>, Vec<&str>> {
        let mut ordered: Vec<(&str, &Expr)> = Vec::new();
        let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
        for (first, expr) in self.0.iter().map(|(name, expr)| (name.as_str(), expr)) {
            if seen.contains_key(first) {
                continue;
            }
            seen.insert(first, Seen::OnPath);
            let mut path = vec![(first, expr, self.others_read(first, expr))];
            while let Some((name, expr, reads)) = path.last_mut() {
                let Some(read) = reads.pop() else {
                    seen.insert(name, Seen::Placed);
                    ordered.push((name, expr));
                    path.pop();
                    continue;
                };
                match (seen.get(read), self.0.get(read)) {
                    (Some(Seen::Placed), _) | (None, None) => {}
                    (Some(Seen::OnPath), _) => {
                        return Err(path.iter().map(|(name, ..)| *name).skip_while(|name| *name != read).collect());
                    }
                    (None, Some(expr)) => {
                        seen.insert(read, Seen::OnPath);
                        path.push((read, expr, self.others_read(read, expr)));
                    }
                }
            }
        }
        Ok(ordered)
    }

    /// The other entries that an entry reads.
    fn others_read<'a>(&'a self, name: &str, expr: &'a Expr) -> Vec<&'a str> {
        read_names(expr).filter(|read| *read != name && self.0.contains_key(*read)).collect()
    }
}

/// Where an entry stands while the entries are put in order.
enum Seen {
    OnPath,
    Placed,
}

/// The names of own results that an expression may read: `name`, `outputs.name`.
fn read_names(expr: &Expr) -> impl Iterator<Item = &str> {
    expr.paths().iter().filter_map(|path| match path.segments.as_slice() {
        [root, name, ..] if root == "outputs" => Some(name.as_str()),
        [root, ..] => Some(root.as_str()),
        [] => None,
    })
}

/// Lets time pass: for a while, or until a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For this long after the task becomes ready.
    For(Duration),
    /// Until this point in time.
    Until(Timestamp),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(duration) => duration.fmt(f),
            Self::Until(timestamp) => timestamp.fmt(f),
        }
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Timestamp::parse(&text) {
            Ok(timestamp) => Ok(Self::Until(timestamp)),
            Err(_) => Duration::parse(&text).map(Self::For).map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Wait {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Wait".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A duration such as 2h, or a point in time, RFC 3339."})
    }
}
