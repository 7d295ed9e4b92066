//! A runner that does what the test says, and a ledger outside of the record of everything it did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::plan::{Action, Money};
use gantry_core::policy::{FailureClass, Usage};
use gantry_runners::policy::check_command;
use gantry_runners::{Ended, Happened, Place, Ports, Preview, Runner, Work};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a task's next attempt does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Ends well with these outputs.
    Give(Value),
    /// Fails.
    Fail(FailureClass, &'static str),
    /// Never ends by itself.
    Hang,
    /// Takes this long.
    Take(Duration),
    /// Breaks in the middle.
    Panic,
    /// Says how to take it back, then does it.
    Change(&'static str),
    /// Does it, then keeps something.
    Keep(&'static str),
    /// Ends well and costs this many millionths of a dollar.
    Cost(u64),
    /// Says how to take it back, but never ends by itself.
    ChangeAndHang(&'static str),
    /// Says this, then fails.
    FailSaying(&'static str),
    /// Says this, and never ends by itself.
    HangSaying(&'static str),
    /// Says how to take it back, does it, and then says better how.
    ChangeTwice(&'static str, &'static str),
    /// Runs a program that takes this long, with nothing kept before it.
    RunProgram(Duration),
}

/// Everything that was done, in order: `task#attempt`, `undo task: what`.
pub type Ledger = Vec<String>;

#[derive(Default)]
pub struct Script {
    acts: Mutex<BTreeMap<String, Vec<Act>>>,
    ledger: watch::Sender<Ledger>,
    now: Mutex<BTreeSet<String>>,
    most: Mutex<usize>,
}

impl Script {
    /// The next attempts at a task do these things; later ones end well.
    pub fn task(&self, task: &str, acts: impl IntoIterator<Item = Act>) {
        self.acts.lock().unwrap().insert(task.to_owned(), acts.into_iter().collect());
    }

    pub fn ledger(&self) -> Ledger {
        self.ledger.borrow().clone()
    }

    /// How often a task was done.
    pub fn times(&self, task: &str) -> usize {
        self.ledger().iter().filter(|line| line.starts_with(&format!("{task}#"))).count()
    }

    /// How many attempts ran at once at most.
    pub fn most_at_once(&self) -> usize {
        *self.most.lock().unwrap()
    }

    /// Waits until an attempt at this task has begun.
    pub async fn begun(&self, task: &str) {
        let mut ledger = self.ledger.subscribe();
        let line = format!("{task}#");
        ledger.wait_for(|ledger| ledger.iter().any(|entry| entry.starts_with(&line))).await.unwrap();
    }

    /// Waits until the program of this task runs.
    pub async fn program_runs(&self, task: &str) {
        let line = format!("{task}: make");
        self.ledger.subscribe().wait_for(|ledger| ledger.contains(&line)).await.unwrap();
    }

    fn write(&self, line: String) {
        self.ledger.send_modify(|ledger| ledger.push(line));
    }

    fn next(&self, task: &str) -> Act {
        let mut acts = self.acts.lock().unwrap();
        match acts.get_mut(task) {
            Some(acts) if !acts.is_empty() => acts.remove(0),
            _ => Act::Give(json!({})),
        }
    }
}

/// The tool that is called and its arguments, if it has some.
fn given(work: &Work) -> String {
    match &work.action {
        Action::Tool(tool) if !work.args().is_empty() => format!(" {} {}", tool.name, Value::Object(work.args())),
        _ => String::new(),
    }
}

#[async_trait::async_trait]
impl Runner for Script {
    fn names(&self) -> &'static [&'static str] {
        &["run", "script", "look"]
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        match &work.action {
            Action::Run(run) => place.policies().try_for_each(|policy| check_command(&run.command, &policy.commands)),
            _ => Ok(()),
        }
    }

    async fn preview(&self, _work: &Work, _place: &Place) -> Result<Preview, Failure> {
        Ok(Preview::default())
    }

    async fn run(&self, work: &Work, _place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        let name = format!("{}/{}", work.plan, work.task);
        {
            let mut now = self.now.lock().unwrap();
            now.insert(name.clone());
            let mut most = self.most.lock().unwrap();
            *most = (*most).max(now.len());
        }
        let act = self.next(work.task.as_str());
        if let Act::Change(what) | Act::ChangeAndHang(what) = &act {
            ports.intend(json!({"capability": "run", "what": what})).await.unwrap();
        }
        if let Act::ChangeTwice(guess, known) = &act {
            ports.intend(json!({"capability": "run", "what": guess})).await.unwrap();
            ports.intend_instead(json!({"capability": "run", "what": known})).await.unwrap();
        }
        self.write(format!("{}#{}{}", work.task, work.attempt, given(work)));
        let mut usage = Usage::default();
        let cancelled = || Err(Failure::new(FailureClass::Cancelled, "stopped"));
        let end = match act {
            Act::Give(outputs) => {
                Ok(Success { outputs: serde_json::from_value(outputs).unwrap(), ..Success::default() })
            }
            Act::Fail(class, message) => Err(Failure::new(class, message)),
            Act::Hang | Act::ChangeAndHang(_) => {
                stop.cancelled().await;
                cancelled()
            }
            Act::Take(duration) => {
                tokio::select! {
                    () = tokio::time::sleep(duration) => Ok(Success::default()),
                    () = stop.cancelled() => cancelled(),
                }
            }
            Act::FailSaying(words) => {
                let evidence = vec![ports.keep_as("stderr", words.into()).await.unwrap()];
                Err(Failure { evidence, ..Failure::new(FailureClass::Logic, "exit code 1") })
            }
            Act::HangSaying(words) => {
                stop.cancelled().await;
                let evidence = vec![ports.keep_as("stderr", words.into()).await.unwrap()];
                Err(Failure { evidence, ..Failure::new(FailureClass::Cancelled, "stopped") })
            }
            Act::RunProgram(time) => {
                let call = ports.begin("process", json!({"command": "make"})).await.unwrap();
                self.write(format!("{}: make", work.task));
                tokio::time::sleep(time).await;
                ports.calls.answered(call, json!({"exit": {"code": 0}}));
                Ok(Success::default())
            }
            Act::Panic => panic!("as the test says"),
            Act::Change(_) | Act::ChangeTwice(..) => Ok(Success::default()),
            Act::Cost(micros) => {
                usage.cost_usd = Money(micros);
                Ok(Success::default())
            }
            Act::Keep(what) => match ports.keep_as("kept", what.as_bytes().to_vec()).await {
                Ok(kept) => Ok(Success { artifacts: vec![kept], ..Success::default() }),
                Err(error) => Err(error.into()),
            },
        };
        self.now.lock().unwrap().remove(&name);
        Ended { usage, ..Ended::with(end) }
    }

    async fn undo(&self, work: &Work, _place: &Place, _ports: &Ports, record: &Value) -> Result<String, String> {
        self.write(format!("undo {}: {}", work.task, record["what"].as_str().unwrap()));
        Ok("put back".to_owned())
    }

    async fn happened(&self, work: &Work, _place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        self.write(format!("verify {}{}", work.task, given(work)));
        Happened { happened: Some(false), ..Happened::default() }
    }
}
