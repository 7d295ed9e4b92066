//! Drives plans: loads them, decides, appends, and does what was decided.
//!
//! One [`Driver`](driver) for each plan under way takes what reached the plan and makes a turn of it: decide
//! (pure), append (durable), only then act. Answers of runners are the next inputs. The plan's claim in the
//! store makes it the only driver; people's words reach it directly, or through the inbox of the store when
//! they are spoken to another process.
//!
//! Invariant: nothing is shown, started or acknowledged before the turn that says so is on disk.
//! Invariant: a life that was not appended is thrown away and read again.

mod clock; // in reading order
mod crash;
mod error;
mod patience;
mod cause;
mod happening;
mod card;
mod timeline;
mod load;
mod share;
mod slots;
mod ports;
mod bulk;
mod keep_folder;
mod narrow;
mod message;
mod options;
mod prompts;
mod shown;
mod act;
mod undo;
mod parts;
mod nested;
mod driver;
mod inside;
mod engine;
mod hold;
mod restore;
mod replay;
mod import;
mod retention;
mod verify;

pub use cause::{Cause, Confine, Given, Origin};
pub use clock::{Clock, SystemClock, TokioClock};
pub use engine::{Driving, Engine, NewPlan, Tell};
pub use error::EngineError;
pub use happening::Happening;
pub use hold::Held;
pub use import::{artifact_hashes, entries, entries_after, import, turns};
pub use load::{Opened, open};
pub use message::{Ending, Stop, Until};
pub use options::Options;
pub use prompts::{ChangedPrompt, changed_prompts};
pub use replay::{Difference, Replayed, WhatIf, replay, replay_turns};
pub use restore::{Point, Restored, Unrestored, point_meant, points};
pub use retention::{drop_expired, forget_ended, retention_of};
pub use timeline::{Span, Timeline};
pub use verify::verify;
