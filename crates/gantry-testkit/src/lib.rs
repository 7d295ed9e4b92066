//! The language of Gantry's tests: the plan is drawn, verbs move the world, the result is drawn again.
//!
//! Only this crate touches the core's interface, so a change there changes the kit and no test.
//! Time is advanced, never slept; ids, seed and clock are fixed; after every turn the journal is
//! replayed and compared with the living state.

mod drawing;
pub mod web_server;
mod world;

#[cfg(feature = "mcp-server")]
pub mod mcp_server;
#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "model-server")]
pub mod model_server;

pub use drawing::draw_plan;
pub use world::{World, days, hours, mins, secs};
