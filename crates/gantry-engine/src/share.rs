//! Room for attempts that use a capability, in all plans of this process together, and what one plan has of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_core::effect::{Effect, StartAttempt};
use gantry_core::life::{Life, Scarce};
use gantry_core::plan::Action;

use crate::slots::{Guest, Slots};

/// How many attempts that use a capability may run at once in this process, by the name of the capability.
pub(crate) type Capabilities = BTreeMap<String, Slots>;

/// Makes room for this many attempts that use each of these.
pub(crate) fn capabilities(limits: &BTreeMap<String, u32>) -> Capabilities {
    limits.iter().map(|(name, max)| (name.clone(), Slots::new((*max).max(1)))).collect()
}

/// What one plan has of the room for capabilities.
#[derive(Default)]
pub(crate) struct Share {
    guests: BTreeMap<String, Arc<Guest>>,
    /// What was taken for attempts that are about to start.
    starting: Vec<String>,
    /// The capabilities that the last turn used up all room of.
    pub(crate) short: Scarce,
}

impl Share {
    /// The share of a plan that takes its room for attempts as this guest.
    pub(crate) fn of(capabilities: &Capabilities, guest: &Guest) -> Self {
        let guests = capabilities.keys().map(|name| (name.clone(), Arc::new(guest.elsewhere())));
        Self { guests: guests.collect(), ..Self::default() }
    }

    /// Takes what is free, for one turn.
    pub(crate) fn take(&self, capabilities: &Capabilities, wanted: u32) -> Scarce {
        let all = self.guests.iter().filter_map(|(name, guest)| {
            let slots = capabilities.get(name)?;
            Some((name.clone(), slots.take(guest, wanted)))
        });
        all.collect()
    }

    /// Gives back what a turn did not use of what it took; returns what it took of everything that it used up.
    pub(crate) fn decided(
        &mut self,
        capabilities: &Capabilities,
        mut taken: Scarce,
        life: &Life,
        effects: &[Effect],
    ) -> Scarce {
        if taken.is_empty() {
            return taken;
        }
        self.starting =
            effects.iter().filter_map(attempt).flat_map(|start| used_by(capabilities, life, start)).collect();
        taken.retain(|name, count| {
            let used = self.starting.iter().filter(|other| *other == name).count();
            let left = count.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
            if let Some(slots) = capabilities.get(name) {
                slots.give_back(left);
            }
            left == 0
        });
        self.short = taken.keys().map(|name| (name.clone(), 0)).collect();
        taken
    }

    /// What was about to start is in flight now.
    pub(crate) fn started(&mut self) {
        self.starting.clear();
    }

    /// What was about to start does not start after all.
    pub(crate) fn fell_through(&mut self, capabilities: &Capabilities) {
        give_back(capabilities, &std::mem::take(&mut self.starting));
    }

    /// Stands in line for everything that there is too little of, or for nothing.
    pub(crate) fn stand_in_line(&mut self, capabilities: &Capabilities, hungry: bool) {
        if !hungry {
            self.short.clear();
        }
        for (name, guest) in &self.guests {
            let Some(slots) = capabilities.get(name) else { continue };
            if hungry && self.short.contains_key(name) {
                slots.wait_in_line(guest);
            } else {
                slots.leave(guest);
            }
        }
    }
}

fn attempt(effect: &Effect) -> Option<&StartAttempt> {
    match effect {
        // A plan inside a task takes no room itself: its own attempts do.
        Effect::StartAttempt(start) if !matches!(start.action, Action::Plan(_)) => Some(start),
        _ => None,
    }
}

/// The limited capabilities that an attempt uses.
pub(crate) fn used_by(capabilities: &Capabilities, life: &Life, start: &StartAttempt) -> Vec<String> {
    if capabilities.is_empty() {
        return Vec::new();
    }
    let used = life.capabilities_of(start.task.as_str()).filter(|name| capabilities.contains_key(*name));
    used.map(str::to_owned).collect()
}

/// Gives back what an attempt used.
pub(crate) fn give_back(capabilities: &Capabilities, used: &[String]) {
    for slots in used.iter().filter_map(|name| capabilities.get(name)) {
        slots.give_back(1);
    }
}
