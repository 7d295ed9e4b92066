//! Working time: from instants to seconds of work and back, exactly and in constant time.
//!
//! A [`Timeline`] is a calendar laid out on the project's time axis (seconds from its start). Three functions carry all
//! arithmetic of the crate. [`work_before`](Timeline::work_before) counts the work up to an instant. The instants with
//! the same count form one stretch of time off; [`finish_at`](Timeline::finish_at) is its first and
//! [`start_at`](Timeline::start_at) its last, so that work finishes on Friday evening and starts on Monday morning.
//!
//! Invariant: `finish_at(w) <= t` exactly when `w <= work_before(t)`, and `t <= start_at(w)` exactly when
//! `work_before(t) <= w`. The backward pass relies on it to be the exact mirror of the forward pass.

mod layout; // in reading order
mod timeline;

pub(crate) use layout::{Layout, scale};
pub use timeline::Timeline;
pub(crate) use timeline::joined;
