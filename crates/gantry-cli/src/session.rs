//! What commands that work on plans share: the record, the engine, and how a plan is named.

use std::io::ErrorKind;
use std::ops::Deref;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gantry_engine::{Engine, EngineError, Options, SystemClock};
use gantry_planner::decompose::{Decomposer, Settings};
use gantry_planner::tools::Planner;
use gantry_runners::{GuardProgram, Mcp, Models, Runners};
use gantry_store::{PlanCard, Store, StoreError};
use gantry_store_sqlite::SqliteStore;

use crate::exit::Fault;
use crate::file::{odd_kind, why};
use crate::model::options::ModelOptions;
use crate::model::set_up::{Configured, servers};
use crate::show::named;
use crate::show::standing::{self, Standing};
use crate::talk::talk;

/// The variable that names the record.
const DB_VARIABLE: &str = "GANTRY_DB";

/// Where the record is.
#[derive(clap::Args, Clone, Debug)]
pub struct RecordFile {
    /// The file that keeps all plans [env: `GANTRY_DB`] [default: gantry/gantry.db in the user's data folder]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
}

/// Options of every command that works on plans.
#[derive(clap::Args, Clone, Debug)]
pub struct Record {
    #[command(flatten)]
    file: RecordFile,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

impl Deref for Record {
    type Target = RecordFile;

    fn deref(&self) -> &RecordFile {
        &self.file
    }
}

impl RecordFile {
    /// The file that someone named.
    pub fn named(&self) -> Option<PathBuf> {
        let set = || std::env::var_os(DB_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.db.clone().or_else(set)
    }

    /// Where the record is.
    pub fn path(&self) -> Result<PathBuf, Fault> {
        if let Some(path) = self.named() {
            return chosen(&path);
        }
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
        data.map(|data| data.join("gantry/gantry.db")).ok_or_else(|| {
            Fault::bad_input("there is no place for the record: neither XDG_DATA_HOME nor HOME is set")
                .hint("name a file with `--db FILE` or GANTRY_DB")
        })
    }

    /// Opens the record. One that may not be written can still be read; whatever would write is refused then.
    pub fn open(&self) -> Result<SqliteStore, Fault> {
        let path = self.path()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            if self.named().is_none() {
                // Nobody else has to see what is in it; a folder that is there stays as it is.
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
                    Fault::internal(format!("the folder `{}` cannot be made: {error}", folder.display()))
                })?;
            } else if !folder.exists() {
                return Err(Fault::bad_input(format!(
                    "the record cannot be `{}`: there is no folder `{}`",
                    path.display(),
                    folder.display()
                ))
                .hint("make the folder, or name another file with `--db FILE` or GANTRY_DB"));
            }
        }
        match SqliteStore::open(&path) {
            Ok(store) => {
                if let Some(note) = store.note() {
                    talk!("warning: {note}");
                    talk!("hint: see what there is with `gantry list`, and what a backup has more than that");
                }
                Ok(store)
            }
            Err(StoreError::ReadOnly { .. }) if path.exists() => Ok(SqliteStore::open_read_only(&path)?),
            Err(error @ StoreError::Foreign { .. }) => Err(Fault::bad_input(error.to_string())
                .hint("name the file of a record with `--db FILE` or GANTRY_DB; this one was left as it is")),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the record with an engine over it.
    pub fn engine(&self, options: Options) -> Result<Engine, Fault> {
        self.engine_asking(options, ModelOptions::default())
    }

    /// The same with an engine that asks these models.
    pub fn engine_asking(&self, mut options: Options, models: ModelOptions) -> Result<Engine, Fault> {
        let runners = runners(models)?;
        let store: Arc<dyn Store> = Arc::new(self.open()?);
        let record = std::path::absolute(self.path()?).unwrap_or_default();
        options.own_files = ["", "-wal", "-shm", "-journal", "-lock"]
            .map(|ending| {
                let mut file = record.clone().into_os_string();
                file.push(ending);
                PathBuf::from(file)
            })
            .to_vec();
        Ok(Engine::new(store, Arc::new(SystemClock::new()), runners, options))
    }
}

/// Everything that this program can do, with these models.
pub fn runners(models: ModelOptions) -> Result<Runners, Fault> {
    let guard = GuardProgram::this_program()
        .map_err(|error| Fault::internal(format!("this program cannot find itself: {error}")))?;
    let options = models.clone();
    let mcp = Mcp::new(guard.clone(), move || servers(&options));
    let models = Arc::new(Models::new(Configured(models)));
    Ok(with_planning(Runners::standard(guard).with_mcp(mcp), &models).with_models(models))
}

/// The same, and what makes plans.
pub fn with_planning(runners: Runners, models: &Arc<Models>) -> Runners {
    let settings = Settings::from_variables(|name| std::env::var(name).ok());
    let decomposer = Decomposer::new(Arc::clone(models), settings, runners.clone());
    runners.with(Arc::new(Planner::new(crate::template::all))).with(Arc::new(decomposer))
}

/// The file that someone chose for the record. In full, so that no name means something else to the database: an empty
/// one would be a record that is gone afterwards.
fn chosen(path: &Path) -> Result<PathBuf, Fault> {
    let hint = "name a file with `--db FILE` or GANTRY_DB; it is made if it does not exist";
    if path.as_os_str().is_empty() {
        return Err(Fault::bad_input("the name of the record is empty").hint(hint));
    }
    let refuse = |what: &str| {
        let name = named(&path.to_string_lossy());
        Fault::bad_input(format!("the record cannot be kept in `{name}`: {what}")).hint(hint)
    };
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return Err(refuse("it is a folder")),
        Ok(meta) => {
            if let Some(kind) = odd_kind(&meta) {
                return Err(refuse(&format!("it is {kind}, not a file")));
            }
        }
        // Not there yet is fine, and what may not be read is said by the store.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {}
        Err(error) => return Err(refuse(&why(&error, "file"))),
    }
    std::path::absolute(path).map_err(|error| refuse(&error.to_string()))
}

/// Finds the one plan that is meant.
pub async fn find(engine: &Engine, reference: &str) -> Result<PlanCard, Fault> {
    Ok(engine.store().plan(reference).await?)
}

/// All plans that have begun and are not over, plans inside others among them.
pub async fn unfinished(store: &dyn Store) -> Result<Vec<PlanCard>, Fault> {
    Ok(standing::unfinished(store).await?)
}

/// Finds how a plan is listed.
pub async fn card(store: &dyn Store, reference: &str) -> Result<PlanCard, Fault> {
    store.plan(reference).await.map_err(|error| unknown(error.into(), reference))
}

/// Reads where a plan stands.
pub async fn standing(store: &dyn Store, reference: &str) -> Result<Standing, Fault> {
    Standing::read(store, reference).await.map_err(|error| unknown(error, reference))
}

fn unknown(error: EngineError, reference: &str) -> Fault {
    match error {
        EngineError::Store(StoreError::NotFound { .. }) if reference == "@last" => {
            Fault::bad_input("there are no plans yet").hint("begin one with `gantry run FILE`")
        }
        error => error.into(),
    }
}

/// Who sits at this machine.
pub fn operator() -> String {
    let name = |name: &str| std::env::var(name).ok().filter(|name| !name.trim().is_empty());
    name("GANTRY_USER").or_else(|| name("USER")).or_else(|| name("LOGNAME")).unwrap_or_else(|| "operator".to_owned())
}

/// Runs a command's work on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    enough_files()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::internal(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(work)
}

/// Runs a server's work on a runtime with a thread for each core: one that computes must not hold up the others.
pub fn block_on_cores<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    enough_files()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::internal(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(work)
}

/// How many files this program needs to have open at once, at the very least.
const FILES_MIN: u64 = 16;

/// Says no before the runtime does, which would break in the middle.
fn enough_files() -> Result<(), Fault> {
    match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        Some(files) if files < FILES_MIN => {
            Err(Fault::internal(format!("only {files} files may be open at once, and at least {FILES_MIN} are needed"))
                .hint("raise the limit with `ulimit -n`"))
        }
        _ => Ok(()),
    }
}
