//! How much of what is ready may start, among all plans of the process.

use gantry_core::life::{Room, Scarce};

use super::Driver;

impl Driver {
    pub(super) fn take_room(&self) -> u32 {
        if self.unattended || self.leaving {
            0
        } else {
            self.shared.slots.take(&self.guest, self.life().header().policy.parallel())
        }
    }

    pub(super) fn take_share(&self) -> Scarce {
        if self.unattended || self.leaving {
            Scarce::new()
        } else {
            self.share.take(&self.shared.capabilities, self.life().header().policy.parallel())
        }
    }

    /// When something is ready and there was no room for it, room is waited for: first for any attempt, and when there
    /// is some, for those that use what there is too little of.
    pub(super) fn stand_in_line(&mut self) {
        let now = self.shared.clock.now();
        let at_once = |wake: Option<gantry_core::time::Timestamp>| wake.is_some_and(|at| at <= now);
        let inline = at_once(self.life().next_wake_in(Room::NONE));
        let within = at_once(self.life().next_wake_within(Room::PLENTY, &self.share.short));
        self.crowded = within && !inline;
        if !self.share.short.is_empty() {
            let hungry = !within && !inline && !self.leaving && at_once(self.life().next_wake());
            self.share.stand_in_line(&self.shared.capabilities, hungry);
        }
        if self.crowded && !self.leaving {
            self.shared.slots.wait_in_line(&self.guest);
        } else {
            self.shared.slots.leave(&self.guest);
        }
    }
}
