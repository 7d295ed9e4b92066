//! What commands that work on plans share: the record, the engine, and how a plan is named.

use std::path::PathBuf;
use std::sync::Arc;

use gantry_engine::{Engine, Options, SystemClock};
use gantry_runners::{GuardProgram, Runners};
use gantry_store::{PlanCard, Store};
use gantry_store_sqlite::SqliteStore;

use crate::exit::Fault;

/// Options of every command that works on plans.
#[derive(clap::Args, Clone, Debug)]
pub struct Record {
    /// The file that keeps all plans [default: gantry/gantry.db in the user's data folder]
    #[arg(long, env = "GANTRY_DB", value_name = "FILE", global = true)]
    pub db: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

impl Record {
    /// Where the record is.
    pub fn path(&self) -> Result<PathBuf, Fault> {
        if let Some(path) = &self.db {
            return Ok(path.clone());
        }
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
        data.map(|data| data.join("gantry/gantry.db")).ok_or_else(|| {
            Fault::bad_input("there is no place for the record: neither XDG_DATA_HOME nor HOME is set")
                .hint("name a file with `--db FILE` or GANTRY_DB")
        })
    }

    /// Opens the record.
    pub fn open(&self) -> Result<SqliteStore, Fault> {
        let path = self.path()?;
        if self.db.is_none()
            && let Some(folder) = path.parent()
        {
            std::fs::create_dir_all(folder).map_err(|error| {
                Fault::internal(format!("the folder `{}` cannot be made: {error}", folder.display()))
            })?;
        }
        Ok(SqliteStore::open(&path)?)
    }

    /// Opens the record with an engine over it.
    pub fn engine(&self, mut options: Options) -> Result<Engine, Fault> {
        let guard = GuardProgram::this_program()
            .map_err(|error| Fault::internal(format!("this program cannot find itself: {error}")))?;
        let store: Arc<dyn Store> = Arc::new(self.open()?);
        let record = std::path::absolute(self.path()?).unwrap_or_default();
        options.own_files = ["", "-wal", "-shm", "-journal", "-lock"]
            .map(|ending| {
                let mut file = record.clone().into_os_string();
                file.push(ending);
                PathBuf::from(file)
            })
            .to_vec();
        Ok(Engine::new(store, Arc::new(SystemClock::new()), Runners::standard(guard), options))
    }
}

/// Finds the one plan that is meant.
pub async fn find(engine: &Engine, reference: &str) -> Result<PlanCard, Fault> {
    Ok(engine.store().plan(reference).await?)
}

/// Who sits at this machine.
pub fn operator() -> String {
    let name = |name: &str| std::env::var(name).ok().filter(|name| !name.trim().is_empty());
    name("GANTRY_USER").or_else(|| name("USER")).or_else(|| name("LOGNAME")).unwrap_or_else(|| "operator".to_owned())
}

/// Runs a command's work on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::internal(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(work)
}
