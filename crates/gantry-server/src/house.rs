//! What the server is given by whoever wires the program: an engine, and everything around it.

use async_trait::async_trait;
use gantry_core::id::PlanId;
use gantry_core::plan::Plan;
use gantry_engine::{Engine, Origin};
use gantry_format::Loaded;
use gantry_planner::template::Template;
use serde_json::Value;

/// Why something around the server does not work, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What is done about a life of which this program would have decided something otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is not taken in.
    Refuse,
    /// It is taken in all the same.
    TakeIn,
}

/// What the server is given.
#[async_trait]
pub trait House: Send + Sync + 'static {
    /// The engine for new plans. Everything that happens in any engine of the house is told by it.
    fn engine(&self) -> &Engine;

    /// Where a new plan comes from: its folder, its secrets, what its processes are given.
    fn origin(&self, by: &str) -> Result<Origin, Trouble>;

    /// The engine that gives a plan what it was given before.
    async fn engine_for(&self, plan: &PlanId) -> Result<Engine, Trouble>;

    /// The engine that gives new plans these options about models, and nothing else than usual.
    async fn engine_with(&self, models: &[String]) -> Result<Engine, Trouble>;

    /// What one must know about how the processes of a plan are confined here; an error where they may not run so.
    async fn confinement(&self, engine: &Engine, plan: &PlanId) -> Result<Option<String>, Trouble>;

    /// Reads a plan that is to run here.
    fn read(&self, name: &str, bytes: &[u8]) -> Loaded;

    /// All templates.
    fn templates(&self) -> Result<Vec<Template>, Trouble>;

    /// Which models answer for which role, at what price, for programs.
    async fn models(&self) -> Result<Value, Trouble>;

    /// The profiles of models that a plan can be made with, and the one that counts when nothing is said.
    fn profiles(&self) -> Result<(Vec<String>, String), Trouble>;

    /// What a plan would ask of models at most, with these options about models, for programs. Nobody is asked.
    async fn estimate(&self, plan: &Plan, models: &[String]) -> Result<Value, Trouble>;

    /// The text of a document that comes with a request.
    fn document(&self, name: &str, bytes: Vec<u8>) -> Result<String, Trouble>;

    /// All prompts, for programs.
    fn prompts(&self) -> Result<Value, Trouble>;

    /// What a prompt takes and says, for programs.
    fn prompt(&self, name: &str, locale: Option<&str>, variant: Option<&str>) -> Result<Value, Trouble>;

    /// How prompts fare, from the calls on record, for programs; all of them when none is named.
    async fn prompt_uses(&self, name: Option<&str>) -> Result<Value, Trouble>;

    /// What was asked of models, from the calls on record, for programs; by all plans when none is named.
    async fn model_uses(&self, plan: Option<&str>) -> Result<Value, Trouble>;

    /// Asks models for one word, to see whether they answer, for programs: a role's, one, or all of them.
    async fn try_models(&self, what: Option<&str>) -> Result<Value, Trouble>;

    /// What each task of a plan would do, with these options about models, for programs. Nothing is touched.
    async fn dry_run(&self, plan: Plan, models: &[String]) -> Result<Value, Trouble>;

    /// All of a plan's life in a zip file that anyone can take in: its journal, its calls, what it made.
    async fn packed(&self, plan: &PlanId) -> Result<std::fs::File, Trouble>;

    /// Takes in a plan with its whole life from the bytes of such a file, for programs.
    async fn taken_in(&self, zip: Vec<u8>, doubt: Doubt) -> Result<Value, Trouble>;

    /// Copies a template into the folder of the house, to be changed there; where it is then.
    fn copy_template(&self, template: &Template, name: &str) -> Result<String, Trouble>;

    /// What is wrong with a template.
    fn faults_of(&self, template: &Template) -> Vec<String>;

    /// What would bring a late or too dear plan back, for programs.
    async fn ways_back(&self, plan: &PlanId) -> Result<Value, Trouble>;

    /// The plan with one of these ways taken, and what it is; they are counted from 1.
    async fn way_taken(&self, plan: &PlanId, number: usize) -> Result<(Plan, String), Trouble>;

    /// Whether this machine has what plans need, for programs.
    async fn doctor(&self) -> Result<Value, Trouble>;

    /// Today, as the machine's people have it.
    fn today(&self) -> jiff::civil::Date;
}
