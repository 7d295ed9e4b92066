//! A run over a list of topics: so many at once, each result kept when it happens.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::direct::Direct;
use crate::proposed;
use crate::remote::Remote;
use crate::results::{BadTable, Ended, Row, Status, Table, before_file, keys, replace, rows};
use crate::topics::Topic;
use crate::verify::Verified;

/// Who makes the plans.
pub enum Maker {
    /// This process.
    Here(Box<Direct>),
    /// A server.
    There(Box<Remote>),
}

impl Maker {
    fn run(&self) -> &str {
        match self {
            Self::Here(direct) => &direct.run,
            Self::There(remote) => remote.run(),
        }
    }
}

/// A run.
pub struct Bulk {
    /// Who makes the plans.
    pub maker: Maker,
    /// What sessions are called: the run and its beginning.
    pub session: String,
    /// How many topics are under way at once.
    pub concurrency: usize,
    /// Where the table is.
    pub output: PathBuf,
    /// A table whose successes are taken over.
    pub resume_from: Option<PathBuf>,
    /// Where answers and trees are kept.
    pub dump_dir: Option<PathBuf>,
    /// Keeps an outline of each plan beside the trees.
    pub outlines: bool,
}

/// What is told while a run goes on.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// How many topics there are, and how many of them were done before.
    Begun {
        /// All of them.
        topics: usize,
        /// Those that were done before.
        before: usize,
    },
    /// One more is on disk.
    Done(&'a Row),
}

/// What stands still while one topic is made.
struct Place {
    response: PathBuf,
    tree: PathBuf,
    outline: PathBuf,
}

impl Bulk {
    /// Makes all plans that are not made yet. Whoever stops listening, or dies, loses no row that was told.
    pub async fn run(&self, topics: &[Topic], mut tell: impl FnMut(Progress<'_>)) -> Result<Ended, BadTable> {
        let keys = keys(topics);
        let mut table = Table::open(&self.output, self.resume_from.as_deref(), topics, &keys)?;
        if let Some(folder) = &self.dump_dir {
            for part in ["responses", "plans"] {
                let path = folder.join(part);
                std::fs::create_dir_all(&path).map_err(|error| BadTable {
                    message: format!("the folder `{}` cannot be made: {error}", path.display()),
                    foreign: false,
                })?;
            }
        }
        let open: Vec<(usize, &Topic, &String)> = (0..)
            .zip(topics.iter().zip(&keys))
            .map(|(at, (topic, key))| (at, topic, key))
            .filter(|(_, _, key)| !table.has(key))
            .collect();
        tell(Progress::Begun { topics: topics.len(), before: topics.len() - open.len() });
        let before: Vec<PathBuf> = [Some(&self.output), self.resume_from.as_ref()]
            .into_iter()
            .flatten()
            .map(|table| before_file(table))
            .collect();
        if let Maker::There(remote) = &self.maker {
            remote.begin(&before, table.plans())?;
        }
        let made = futures_util::stream::iter(open).map(|(at, topic, key)| self.one(at, topic, key));
        // Whatever is ready is written at once: one wait for the disk serves them all.
        let mut ready = made.buffer_unordered(self.concurrency.max(1)).ready_chunks(self.concurrency.max(1));
        while let Some(rows) = ready.next().await {
            table.add(rows.clone())?;
            for row in &rows {
                tell(Progress::Done(row));
            }
        }
        drop(ready);
        let ended = table.finish(topics, &keys)?;
        if ended.failed == 0
            && let (Maker::There(_), Some(file)) = (&self.maker, before.first())
        {
            // Where it stays, it is only what was there once.
            let _ = std::fs::remove_file(file);
        }
        Ok(ended)
    }

    async fn one(&self, at: usize, topic: &Topic, key: &str) -> Row {
        let since = Instant::now();
        let session = format!("{}_{at:05}", self.session);
        let mut row = Row {
            topic: topic.title.clone(),
            key: key.to_owned(),
            session_id: session.clone(),
            run_id: self.maker.run().to_owned(),
            ..Row::default()
        };
        let place = self.dump_dir.as_ref().map(|folder| Place {
            response: folder.join("responses").join(format!("{session}.json")),
            tree: PathBuf::new(),
            outline: PathBuf::new(),
        });
        let (error, answer) = match &self.maker {
            Maker::Here(direct) => {
                let made = Box::pin(direct.make(topic, key)).await;
                row.retries = made.retries;
                row.tasks = Some(made.tasks);
                row.stopped_reason = made.stopped_reason;
                row.degraded = made.degraded.unwrap_or_default();
                made.score.iter().for_each(|score| row.scored(score));
                if let Some((plan, no)) = made.plan {
                    (row.plan, row.plan_id) = (plan.to_string(), no.to_string());
                }
                (made.error, made.answer)
            }
            Maker::There(remote) => {
                let answered = remote.make(topic, key, &session).await;
                row.retries = answered.retries;
                row.plan_id = answered.plan.map(|plan| plan.to_string()).unwrap_or_default();
                (answered.error, answered.answer)
            }
        };
        row.status = if error.is_none() { Status::Success } else { Status::Failed };
        row.error = error.unwrap_or_default();
        if let Some(place) = place
            && let Err(error) = self.dump(&mut row, place, &answer).await
        {
            let sep = if row.error.is_empty() { "" } else { "; " };
            row.error = format!("{}{sep}{error}", row.error);
        }
        row.ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        row
    }

    /// Keeps what was said and what was made.
    async fn dump(&self, row: &mut Row, mut place: Place, answer: &Value) -> Result<(), String> {
        let keep = |path: &Path, text: &str| replace(path, text).map_err(|bad| bad.message);
        keep(&place.response, &format!("{answer:#}\n"))?;
        row.response_path = place.response.display().to_string();
        if row.plan_id.is_empty() {
            return Ok(());
        }
        let folder = place.response.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        place.tree = folder.join("plans").join(format!("plan_{}.json", row.plan_id));
        place.outline = place.tree.with_extension("md");
        let (_, tree) = self.look(row).await?;
        keep(&place.tree, &format!("{tree:#}\n"))?;
        row.tree_path = place.tree.display().to_string();
        if row.tasks.is_none() {
            row.tasks = tree["nodes"].as_object().and_then(|nodes| u32::try_from(nodes.len()).ok());
        }
        if self.outlines {
            keep(&place.outline, &outline(&tree))?;
        }
        Ok(())
    }

    /// Looks at every plan of the table again.
    pub async fn verify(&self) -> Result<Verified, BadTable> {
        let mut verified = Verified::default();
        let look = |row: Result<Row, BadTable>| async move {
            let row = row?;
            let found = self.look(&row).await;
            Ok((row, found))
        };
        let looked = futures_util::stream::iter(rows(&self.output)?).map(look);
        let mut looked = looked.buffered(self.concurrency.max(1));
        while let Some(looked) = looked.next().await {
            let (row, found) = looked?;
            verified.take(&row, found);
        }
        Ok(verified)
    }

    /// How far the plan of a row is, and its tree.
    async fn look(&self, row: &Row) -> Result<(Value, Value), String> {
        let no = || row.plan_id.parse::<u64>().map_err(|_| format!("`{}` is no number of a plan", row.plan_id));
        match &self.maker {
            Maker::Here(direct) => {
                let card = direct.engine.store().plan(&row.plan_id).await.map_err(|error| error.to_string())?;
                let life = direct.engine.open(&card.id).await.map_err(|error| error.to_string())?.life;
                Ok(proposed::looked_at(&card, &life))
            }
            Maker::There(remote) => Ok((remote.summary(no()?).await?, remote.tree(no()?).await?)),
        }
    }
}

/// A tree as an outline in Markdown, for people who look through many.
pub fn outline(tree: &Value) -> String {
    let mut text = format!("# {}\n\n", tree["title"].as_str().unwrap_or_default());
    if let Some(about) = tree["description"].as_str().filter(|about| !about.is_empty()) {
        let _ = write!(text, "{about}\n\n");
    }
    let mut seen = BTreeSet::new(); // a server may send a tree that goes in a circle
    let mut stack: Vec<(usize, String)> = below(tree, "null", 0);
    while let Some((depth, id)) = stack.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let node = &tree["nodes"][id.as_str()];
        let _ = write!(text, "{}- **{}**", "  ".repeat(depth), node["name"].as_str().unwrap_or_default());
        if let Some(about) = node["instruction"].as_str().filter(|about| !about.trim().is_empty()) {
            let _ = write!(text, ": {}", crate::results::one_line(about));
        }
        text.push('\n');
        stack.extend(below(tree, &id, depth + 1));
    }
    text
}

/// What is below a task, the first last, for a stack.
fn below(tree: &Value, id: &str, depth: usize) -> Vec<(usize, String)> {
    let children = tree["adjacency"].get(id).or_else(|| tree["adjacency"].get("None").filter(|_| id == "null"));
    let named = |child: &Value| child.as_str().map_or_else(|| child.to_string(), str::to_owned);
    children.and_then(Value::as_array).into_iter().flatten().rev().map(|child| (depth, named(child))).collect()
}

/// What would be asked for each topic, and nothing is asked: of a server in these words, or else of this process.
pub fn dry(topics: &[Topic], server: Option<&crate::message::Template>, run: &str) -> Value {
    let keys = keys(topics);
    let asked = topics.iter().zip(&keys).map(|(topic, key)| {
        let request = match server {
            Some(template) => crate::message::body(template, topic, (run, key), ""),
            None => json!(topic.request()),
        };
        json!({"key": key, "topic": topic.title, "request": request})
    });
    asked.collect()
}
