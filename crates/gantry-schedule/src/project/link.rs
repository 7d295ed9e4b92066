//! What waits for what: `"design"`, `"design SS+2d"`, `"design FF-1ed"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::length::Length;

/// Which end of the first task holds back which end of the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// The second starts after the first has finished.
    #[default]
    #[serde(rename = "FS")]
    FinishToStart,
    /// The second starts after the first has started.
    #[serde(rename = "SS")]
    StartToStart,
    /// The second finishes after the first has finished.
    #[serde(rename = "FF")]
    FinishToFinish,
    /// The second finishes after the first has started.
    #[serde(rename = "SF")]
    StartToFinish,
}

impl LinkKind {
    /// The two letters people write.
    pub fn letters(self) -> &'static str {
        match self {
            Self::FinishToStart => "FS",
            Self::StartToStart => "SS",
            Self::FinishToFinish => "FF",
            Self::StartToFinish => "SF",
        }
    }

    /// Whether the first task's finish holds back the second, and not its start.
    pub fn leaves_finish(self) -> bool {
        matches!(self, Self::FinishToStart | Self::FinishToFinish)
    }

    /// Whether the second task's start is held back, and not its finish.
    pub fn holds_start(self) -> bool {
        matches!(self, Self::FinishToStart | Self::StartToStart)
    }
}

/// A link from an earlier task, as written in the later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The earlier task.
    pub task: String,
    /// Which ends are tied.
    pub kind: LinkKind,
    /// How much later; negative is a lead. Work counts on the later task's calendar.
    pub lag: Length,
}

impl Link {
    /// No lag is the same in work and in elapsed time.
    fn new(task: String, kind: LinkKind, lag: Length) -> Self {
        Self { task, kind, lag: if lag.is_zero() { Length::ZERO } else { lag } }
    }

    /// A link from the finish of a task to the start of this one.
    pub fn after(task: impl Into<String>) -> Self {
        Self { task: task.into(), kind: LinkKind::FinishToStart, lag: Length::ZERO }
    }
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (task, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let wrong = |why: &str| {
            format!("`{text}` is not a link: {why}; write `task`, `task SS`, `task FS+2d` or `task FF-1ed`")
        };
        if task.is_empty() {
            return Err(wrong("it names no task"));
        }
        let rest = rest.trim();
        let letters = rest.find(['+', '-']).unwrap_or(rest.len());
        let kind = match rest[..letters].trim() {
            "" | "FS" => LinkKind::FinishToStart,
            "SS" => LinkKind::StartToStart,
            "FF" => LinkKind::FinishToFinish,
            "SF" => LinkKind::StartToFinish,
            other => return Err(wrong(&format!("`{other}` is not one of FS, SS, FF, SF"))),
        };
        let lag = if letters == rest.len() {
            Length::ZERO
        } else {
            rest[letters..].parse().map_err(|e: String| wrong(&e))?
        };
        Ok(Self::new(task.to_owned(), kind, lag))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.task)?;
        if self.kind != LinkKind::FinishToStart || !self.lag.is_zero() {
            write!(f, " {}", self.kind.letters())?;
        }
        let lag = self.lag.to_string();
        match (self.lag.is_zero(), lag.starts_with('-')) {
            (true, _) => Ok(()),
            (false, true) => f.write_str(&lag),
            (false, false) => write!(f, "+{lag}"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    task: String,
    #[serde(default)]
    kind: LinkKind,
    #[serde(default)]
    lag: Length,
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.task.contains(char::is_whitespace) {
            return serializer.collect_str(self);
        }
        // Such an id cannot be told from what follows it.
        Whole { task: self.task.clone(), kind: self.kind, lag: self.lag }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a link such as \"design\", \"design SS+2d\" or {task, kind, lag}")]
        enum Either {
            Text(String),
            Whole(Whole),
        }
        match Either::deserialize(deserializer)? {
            Either::Text(text) => text.parse().map_err(serde::de::Error::custom),
            Either::Whole(Whole { task, kind, lag }) => Ok(Self::new(task, kind, lag)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_write_a_link_reads_back() {
        for text in ["a", "a SS", "a FS+2d", "a FF-1ed", "a SF+90m", "a SS+1d4h"] {
            let link: Link = text.parse().unwrap();
            assert_eq!(link.to_string().parse::<Link>().unwrap(), link, "{text}");
        }
        let spaced = Link { kind: LinkKind::StartToStart, ..Link::after("two words") };
        let text = serde_json::to_string(&spaced).unwrap();
        assert_eq!(serde_json::from_str::<Link>(&text).unwrap(), spaced);
        assert_eq!("a FS+0ed".parse::<Link>().unwrap(), Link::after("a"));
        assert!("a XX".parse::<Link>().unwrap_err().contains("FS, SS, FF, SF"));
        assert!("a FS+x".parse::<Link>().unwrap_err().contains("not a length"));
        assert!("".parse::<Link>().is_err());
    }
}
