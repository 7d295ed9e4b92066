//! What the server is given: the engine with everything around it, as `gantry run` has it.

use std::fs::File;
use std::io::{Seek as _, Write as _};

use async_trait::async_trait;
use gantry_core::id::PlanId;
use gantry_core::plan::Plan;
use gantry_engine::{Engine, Origin};
use gantry_format::Loaded;
use gantry_planner::template::Template;
use gantry_server::{Doubt, House, Trouble};
use gantry_store::Store;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::exit::Fault;
use crate::model::{estimate, stats, test};
use crate::plan::context;
use crate::run::recover::engine_for;
use crate::run::sandbox;
use crate::run::{How, dry};
use crate::session::{self, Record};
use crate::surroundings::secret_names;
use crate::{bundle, doctor, file, import, prompt, replan, template};

/// The house of this program.
pub struct Wired {
    engine: Engine,
    record: Record,
    how: How,
    origin: Origin,
    /// Plans that were given the same secrets share an engine, and nobody sees those of others.
    groups: Mutex<Vec<(Vec<String>, Engine)>>,
}

impl Wired {
    /// The record.
    pub fn store(&self) -> &dyn Store {
        &**self.engine.store()
    }

    /// Opens the record, with an engine that works as these options say.
    pub fn new(record: &Record, how: How, workspace: String) -> Result<Self, Fault> {
        let options = how.options(&[])?;
        let mut secrets = secret_names(&options.secrets);
        let origin =
            Origin { workspace, secrets: secrets.clone(), given: how.around.given(&options)?, ..Origin::default() };
        secrets.sort();
        let engine = record.engine_asking(options, how.models.clone())?;
        let groups = Mutex::new(vec![(secrets, engine.clone())]);
        Ok(Self { engine, record: record.clone(), how, origin, groups })
    }
}

/// What a file that came with a request is called.
const UPLOAD: &str = "the file";

/// A file without a name, for what may be larger than memory.
fn unnamed_file() -> Result<File, Fault> {
    tempfile::tempfile().map_err(|error| no_room(&error))
}

fn no_room(error: &std::io::Error) -> Fault {
    Fault::internal(format!("there is no room for the zip file: {error}"))
}

fn trouble(fault: Fault) -> Trouble {
    Trouble { message: fault.message().to_owned(), hint: fault.advice().map(str::to_owned) }
}

#[async_trait]
impl House for Wired {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn origin(&self, by: &str) -> Result<Origin, Trouble> {
        Ok(Origin { by: by.to_owned(), ..self.origin.clone() })
    }

    async fn engine_for(&self, plan: &PlanId) -> Result<Engine, Trouble> {
        let mut groups = self.groups.lock().await;
        engine_for(&self.engine, plan, &self.how, &mut groups).await.map_err(trouble)
    }

    async fn engine_with(&self, models: &[String]) -> Result<Engine, Trouble> {
        let mut groups = self.groups.lock().await;
        let mut group = self.origin.secrets.clone();
        group.sort();
        group.extend(models.iter().cloned());
        if let Some((_, engine)) = groups.iter().find(|(names, _)| *names == group) {
            return Ok(engine.clone());
        }
        let runners = session::runners(self.how.models.over(models)).map_err(trouble)?;
        let engine = self.engine.beside(runners, self.how.options(&[]).map_err(trouble)?);
        groups.push((group, engine.clone()));
        Ok(engine)
    }

    async fn confinement(&self, engine: &Engine, plan: &PlanId) -> Result<Option<String>, Trouble> {
        let opened = engine.open(plan).await.map_err(|error| trouble(error.into()))?;
        sandbox::announce(&engine.place(&opened), &opened.life.plan()).await.map_err(trouble)
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Loaded {
        file::read_here(name, bytes)
    }

    fn templates(&self) -> Result<Vec<Template>, Trouble> {
        template::all().map_err(|message| Trouble { message, hint: None })
    }

    async fn models(&self) -> Result<Value, Trouble> {
        let config = self.how.models.load_with_local().await.map_err(trouble)?;
        Ok(serde_json::to_value(config.effective()).unwrap_or_default())
    }

    fn profiles(&self) -> Result<(Vec<String>, String), Trouble> {
        let config = self.how.models.load().map_err(trouble)?;
        Ok((config.profiles().into_iter().map(str::to_owned).collect(), config.profile().value.clone()))
    }

    async fn estimate(&self, plan: &Plan, models: &[String]) -> Result<Value, Trouble> {
        estimate::of(plan, self.how.models.over(models)).await.map_err(trouble)
    }

    fn document(&self, name: &str, bytes: Vec<u8>) -> Result<String, Trouble> {
        context::text_of(name, bytes).map_err(trouble)
    }

    fn prompts(&self) -> Result<Value, Trouble> {
        let (_, prompts) = prompt::configured().map_err(trouble)?;
        Ok(json!({"prompts": prompts.about()}))
    }

    fn prompt(&self, name: &str, locale: Option<&str>, variant: Option<&str>) -> Result<Value, Trouble> {
        prompt::show::shown(name, locale, variant).map_err(trouble)
    }

    async fn prompt_uses(&self, name: Option<&str>) -> Result<Value, Trouble> {
        prompt::stats::counted(self.store(), name).await.map_err(trouble)
    }

    async fn model_uses(&self, plan: Option<&str>) -> Result<Value, Trouble> {
        stats::counted(self.store(), plan).await.map_err(trouble)
    }

    async fn try_models(&self, what: Option<&str>) -> Result<Value, Trouble> {
        test::answers(&self.how.models, what, |_| ()).await.map(|pings| test::told(&pings)).map_err(trouble)
    }

    async fn dry_run(&self, plan: Plan, models: &[String]) -> Result<Value, Trouble> {
        let (root, options) = (self.origin.workspace.clone().into(), self.how.options(&[]).map_err(trouble)?);
        dry::of(plan, root, options, self.how.models.over(models)).await.map_err(trouble)
    }

    async fn packed(&self, plan: &PlanId) -> Result<File, Trouble> {
        let mut file = unnamed_file().map_err(trouble)?;
        bundle::pack(self.store(), plan, &mut file).await.map_err(trouble)?;
        Ok(file)
    }

    async fn taken_in(&self, zip: Vec<u8>, doubt: Doubt) -> Result<Value, Trouble> {
        let read = || {
            let mut file = unnamed_file()?;
            file.write_all(&zip).and_then(|()| file.rewind()).map_err(|error| no_room(&error))?;
            bundle::read(UPLOAD, file)
        };
        let taken = import::take_in(&self.engine, read().map_err(trouble)?, UPLOAD, doubt == Doubt::TakeIn).await;
        Ok(taken.map_err(trouble)?.to_json())
    }

    fn copy_template(&self, template: &Template, name: &str) -> Result<String, Trouble> {
        let folder = template::copy_here(template, name).map_err(trouble)?;
        Ok(folder.display().to_string())
    }

    fn faults_of(&self, template: &Template) -> Vec<String> {
        template::faults(template)
    }

    async fn ways_back(&self, plan: &PlanId) -> Result<Value, Trouble> {
        let opened = self.engine.open(plan).await.map_err(|error| trouble(error.into()))?;
        replan::told(self.store(), &opened.life).await.map_err(trouble)
    }

    async fn way_taken(&self, plan: &PlanId, number: usize) -> Result<(Plan, String), Trouble> {
        let opened = self.engine.open(plan).await.map_err(|error| trouble(error.into()))?;
        replan::taken(self.store(), &opened.life, number).await.map_err(trouble)
    }

    async fn doctor(&self) -> Result<Value, Trouble> {
        let findings = doctor::of_machine(&self.record).await.map_err(trouble)?;
        Ok(json!({"findings": findings}))
    }

    fn today(&self) -> jiff::civil::Date {
        jiff::Zoned::now().date()
    }
}
