//! People and equipment, and what tasks need of them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::calendar::Days;
use super::is_default;
use super::length::{Text, decimal, thousandths};
use super::money::Money;
use super::when::When;

/// Someone or something that can do only so much at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its name, unique among resources.
    pub id: String,
    /// What people call it; the id when empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// The roles it can take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub roles: Vec<String>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub skills: Vec<String>,
    /// How much of it there is: 1 is one full person, 4 a pool of four machines.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: Amount,
    /// How much there is from some time on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changes: Vec<CapacityChange>,
    /// When it works; none means whenever the task does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calendar: Option<String>,
    /// Days on which it is away.
    #[serde(default, skip_serializing_if = "is_default")]
    pub absences: Vec<Days>,
    /// What one unit of it costs per hour of work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rate: Option<Money>,
    /// What it costs once for each task that uses it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub per_use: Option<Money>,
}

impl Resource {
    /// One person or machine.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// So many of a kind that need no telling apart.
    pub fn pool(id: impl Into<String>, capacity: u32) -> Self {
        Self { id: id.into(), capacity: Amount::whole(capacity), ..Self::default() }
    }
}

/// From when on there is how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapacityChange {
    /// From when on.
    pub from: When,
    /// How much.
    pub capacity: Amount,
}

/// How much of a resource, in thousandths: `1`, `0.5`, `50%` or `4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub u32);

impl Amount {
    /// So many whole units.
    pub const fn whole(units: u32) -> Self {
        Self(units.saturating_mul(1_000))
    }
}

impl Default for Amount {
    fn default() -> Self {
        Self::whole(1)
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not an amount; write for example `1`, `0.5`, `50%` or `4`, at most 1000000");
        let (number, percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
        let thousandths = thousandths(number.trim()).ok_or_else(wrong)?;
        let thousandths = if percent { thousandths / 100 } else { thousandths };
        u32::try_from(thousandths).ok().filter(|&amount| amount <= 1_000_000_000).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(i64::from(self.0)))
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000) {
            serializer.serialize_u32(self.0 / 1_000)
        } else {
            serializer.serialize_f64(f64::from(self.0) / 1_000.0)
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::deserialize(deserializer)?.0.parse().map_err(serde::de::Error::custom)
    }
}

/// What a task needs: a named resource (`"ana"`, `"ana 50%"`, `"crane 2"`), or anyone with a role and skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// Who.
    #[serde(flatten)]
    pub who: Who,
    /// How much of each.
    pub amount: Amount,
}

/// Who is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Who {
    /// This one.
    Named {
        /// The resource.
        resource: String,
    },
    /// Anyone who fits; the scheduler chooses.
    Fitting {
        /// The role; none means any.
        #[serde(skip_serializing_if = "is_default")]
        role: Option<String>,
        /// All of these skills.
        #[serde(skip_serializing_if = "is_default")]
        skills: Vec<String>,
        /// How many different ones.
        count: u32,
    },
}

impl Need {
    /// A whole unit of a named resource.
    pub fn named(resource: impl Into<String>) -> Self {
        Self { who: Who::Named { resource: resource.into() }, amount: Amount::default() }
    }

    /// So many of a named pool.
    pub fn of(resource: impl Into<String>, units: u32) -> Self {
        Self { who: Who::Named { resource: resource.into() }, amount: Amount::whole(units) }
    }

    /// One person with a role.
    pub fn role(role: impl Into<String>) -> Self {
        Self { who: Who::Fitting { role: Some(role.into()), skills: Vec::new(), count: 1 }, amount: Amount::default() }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let resource = words.next().ok_or_else(|| "an empty need names nobody".to_owned())?.to_owned();
        let amount = words.next().map_or(Ok(Amount::default()), str::parse)?;
        if words.next().is_some() {
            return Err(format!(
                "`{text}` is not a need; write `ana`, `ana 50%` or {{\"role\": \"welder\", \"count\": 2}}"
            ));
        }
        Ok(Self { who: Who::Named { resource }, amount })
    }
}

impl<'de> Deserialize<'de> for Need {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            resource: Option<String>,
            role: Option<String>,
            #[serde(default)]
            skills: Vec<String>,
            count: Option<u32>,
            #[serde(default)]
            amount: Amount,
        }
        use serde::de::Error;
        let value = serde_json::Value::deserialize(deserializer)?;
        if let serde_json::Value::String(text) = value {
            return text.parse().map_err(Error::custom);
        }
        let whole: Whole = serde_json::from_value(value).map_err(|e| Error::custom(e.to_string()))?;
        let amount = whole.amount;
        match whole {
            Whole { resource: Some(resource), role: None, count: None, skills, .. } if skills.is_empty() => {
                Ok(Self { who: Who::Named { resource }, amount })
            }
            Whole { resource: None, role, skills, count, .. } if role.is_some() || !skills.is_empty() => {
                Ok(Self { who: Who::Fitting { role, skills, count: count.unwrap_or(1) }, amount })
            }
            _ => Err(Error::custom("a need names either a `resource`, or a `role` or `skills` with a `count`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_names_someone_or_says_who_fits() {
        for text in [r#""ana""#, r#""ana 50%""#, r#""crane 2""#, r#"{"role":"welder","skills":["steel"],"count":2}"#] {
            let need: Need = serde_json::from_str(text).unwrap();
            let again: Need = serde_json::from_str(&serde_json::to_string(&need).unwrap()).unwrap();
            assert_eq!(need, again, "{text}");
        }
        assert_eq!("ana 50%".parse::<Need>().unwrap().amount, Amount(500));
        for text in [r#""""#, r#""ana 50% now""#, r#"{"resource":"ana","role":"welder"}"#, "{}", r#""ana -1""#] {
            assert!(serde_json::from_str::<Need>(text).is_err(), "{text}");
        }
    }
}
