//! What people and programs see when they look after plans: each command's success, refusals and bad input.

#![allow(clippy::unwrap_used)] // a test may

#[path = "commands/kit.rs"]
mod kit; // in reading order
#[path = "commands/steering.rs"]
mod steering;
#[path = "commands/showing.rs"]
mod showing;
#[path = "commands/mistakes.rs"]
mod mistakes;
#[path = "commands/deciding.rs"]
mod deciding;
#[path = "commands/tasks.rs"]
mod tasks;
#[path = "commands/changing.rs"]
mod changing;
#[path = "commands/travelling.rs"]
mod travelling;
#[path = "commands/looking_back.rs"]
mod looking_back;
#[path = "commands/caring.rs"]
mod caring;
#[path = "commands/models.rs"]
mod models;
#[path = "commands/asking.rs"]
mod asking;
#[path = "commands/again.rs"]
mod again;
#[path = "commands/teams.rs"]
mod teams;
#[path = "commands/scheduling.rs"]
mod scheduling;
#[path = "commands/approving.rs"]
mod approving;
#[path = "commands/serving.rs"]
mod serving;
#[path = "commands/prompts.rs"]
mod prompts;
#[path = "commands/keeping.rs"]
mod keeping;
#[path = "commands/recovering.rs"]
mod recovering;
#[path = "commands/planning.rs"]
mod planning;
#[path = "commands/decomposing.rs"]
mod decomposing;
#[path = "commands/many.rs"]
mod many;
#[path = "commands/many_asked.rs"]
mod many_asked;
#[path = "commands/many_kills.rs"]
mod many_kills;
#[path = "commands/scoring.rs"]
mod scoring;
#[path = "commands/reporting.rs"]
mod reporting;
#[path = "commands/golden.rs"]
mod golden;
#[path = "commands/programs.rs"]
mod programs;
#[path = "commands/foreseeing.rs"]
mod foreseeing;
#[path = "commands/mending.rs"]
mod mending;
#[path = "commands/editing.rs"]
mod editing;
#[path = "commands/chatting.rs"]
mod chatting;
