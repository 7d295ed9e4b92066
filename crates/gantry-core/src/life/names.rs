//! The number of each task by its name.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{TaskId, TaskNo};

/// A table from names to numbers: one look costs the same in a plan of a hundred tasks and of a hundred thousand.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::disallowed_types, reason = "it is never iterated, so nobody sees its order")]
pub(super) struct Names(Arc<std::collections::HashMap<TaskId, TaskNo, BuildHasherDefault<Fnv>>>);

impl Names {
    pub fn get(&self, id: &str) -> Option<TaskNo> {
        self.0.get(id).copied()
    }

    pub fn insert(&mut self, id: TaskId, no: TaskNo) {
        Arc::make_mut(&mut self.0).insert(id, no);
    }

    pub fn remove(&mut self, id: &TaskId) {
        Arc::make_mut(&mut self.0).remove(id);
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = BTreeMap::<TaskId, TaskNo>::deserialize(deserializer)?;
        Ok(Self(Arc::new(names.into_iter().collect())))
    }
}

/// The FNV-1a hash: short, fixed, and the same on every machine.
#[derive(Clone, Debug)]
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
