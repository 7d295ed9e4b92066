//! How much the least value of a schema takes, so that recursion comes to an end.

use serde_json::Value;

use super::Frame;
use crate::offline::demand::{Ways, resolve};
use crate::offline::place::Place;

/// A schema that never ends.
const ENDLESS: u64 = 1_000_000;

impl<'a> Frame<'a> {
    /// In which order alternatives are tried: as they are named, null last, and deeper down the smallest first.
    pub(super) fn order(&self, ways: &Ways<'a>, place: &Place) -> Vec<usize> {
        let mut order: Vec<usize> = (0..ways.len()).collect();
        let cost = |way: usize| ways[way].iter().map(|schema| self.cost(schema, 0)).fold(0, u64::saturating_add);
        if self.lean || place.depth >= super::FULL_DEPTH_MAX {
            order.sort_by_cached_key(|way| (cost(*way), empty(&ways[*way])));
        } else {
            order.sort_by_cached_key(|way| (cost(*way) >= ENDLESS, empty(&ways[*way]), !self.ends(&ways[*way])));
        }
        order
    }

    /// Tells whether an alternative is a step that ends the work: nobody knows whether the tools of others are there.
    fn ends(&self, way: &[&'a Value]) -> bool {
        let properties = way.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten();
        properties
            .into_iter()
            .filter_map(|(_, schema)| schema.get("const")?.as_str())
            .any(|word| self.asked.words.ends(word))
    }

    fn cost(&self, schema: &'a Value, depth: usize) -> u64 {
        let Value::Object(words) = schema else {
            return if *schema == Value::Bool(false) { ENDLESS } else { 1 };
        };
        if depth > 30 {
            return ENDLESS;
        }
        let mut cost: u64 = 1;
        if let Some(target) = words.get("$ref").and_then(Value::as_str) {
            let Some(target) = resolve(self.root, target) else {
                return ENDLESS;
            };
            let key = std::ptr::from_ref(target).addr();
            let known = self.costs.borrow().get(&key).copied();
            cost = match known {
                Some(known) => known,
                None => {
                    // While it is being found out, what leads back to itself never ends.
                    self.costs.borrow_mut().insert(key, ENDLESS);
                    let found = self.cost(target, depth + 1);
                    self.costs.borrow_mut().insert(key, found);
                    found
                }
            };
        }
        let of = |schema: &'a Value| self.cost(schema, depth + 1);
        for schema in words.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            cost = cost.saturating_add(of(schema));
        }
        for word in ["anyOf", "oneOf"] {
            let ways = words.get(word).and_then(Value::as_array);
            cost = cost.saturating_add(ways.into_iter().flatten().map(of).min().unwrap_or(0));
        }
        let required = words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required {
            cost = cost.saturating_add(words.get("properties").and_then(|known| known.get(name)).map_or(1, of));
        }
        let items = words.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if items > 0 {
            cost = cost.saturating_add(words.get("items").map_or(1, of).saturating_mul(items));
        }
        cost.min(ENDLESS)
    }
}

/// Tells whether an alternative is null, or nothing in particular.
fn empty(way: &[&Value]) -> bool {
    way.is_empty()
        || way.iter().any(|schema| schema["type"] == "null" || schema.get("const").is_some_and(Value::is_null))
}
