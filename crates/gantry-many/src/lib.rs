//! Many plans at once. A list of topics becomes plans: in this process, or by asking a server over its chat. One topic never
//! becomes two plans, each result is on disk when it happens, and the same command again goes on where it ended.
//!
//! Start at [`topics`] (what is read), then [`bulk`] (the run), [`direct`] and [`remote`] (the two ways to make one plan), and
//! [`results`] (the table that is kept). [`score`] measures how good a plan is. [`decompose`] and [`edits`] change the tasks of a
//! plan, and [`chat`] does all of it in plain words: for the command line and the server alike.

pub mod topics; // in reading order
pub mod message;
pub mod results;
pub mod direct;
pub mod remote;
pub mod bulk;
mod proposed;
pub mod verify;
pub mod decompose;
pub mod score;
pub mod edits;
pub mod chat;
