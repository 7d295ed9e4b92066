//! The outputs of a task, shared by everyone who keeps them.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::Outputs;

/// Outputs that are kept. To have none takes no memory, and most tasks have none for most of their life.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results(Option<Arc<Outputs>>);

static NONE: Outputs = Outputs::new();

impl Deref for Results {
    type Target = Outputs;
    fn deref(&self) -> &Outputs {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl From<&Outputs> for Results {
    fn from(outputs: &Outputs) -> Self {
        Self((!outputs.is_empty()).then(|| Arc::new(outputs.clone())))
    }
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Outputs::deserialize(deserializer).map(|outputs| Self::from(&outputs))
    }
}
