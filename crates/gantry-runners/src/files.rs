//! `files.read`, `files.write`, `files.edit`, `files.delete`, `files.move`: files of the working folder.
//!
//! | Capability | Arguments |
//! | --- | --- |
//! | `files.read` | `path`; `from_line`, `lines` |
//! | `files.write` | `path`, `content` (or `base64`); `executable` |
//! | `files.edit` | `path` with `search` and `replace` (or `edits`, a list of these); or `diff`, a unified diff |
//! | `files.delete` | `path` |
//! | `files.move` | `from`, `to` |
//!
//! A file changes as a whole or not at all, and only after its old state is kept. Doing the same again changes nothing.
//! Paths stay in the working folder whatever links and races do (`files/spot.rs`); links are never followed.

mod change; // in reading order
mod edit;
mod foreseen;
mod part;
mod patch;
pub(crate) mod path;
mod show;
mod spot;

use async_trait::async_trait;
use base64::Engine;
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) use change::{Change, Image, Kept, Undo};
pub use foreseen::Foreseen;
pub(crate) use part::{Part, Written};
pub(crate) use spot::{Root, no_link};

use crate::args::Args;
use crate::policy::wrong;
use crate::ports::Ports;
use crate::runner::{Description, Ended, Happened, Preview, Runner};
use crate::text::visible;
use crate::work::{Place, Work};

/// Works on files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

/// What is asked, with its arguments checked.
#[derive(Clone, Debug)]
enum Asked {
    Read { path: String, from_line: usize, lines: usize },
    Write { path: String, content: Vec<u8>, executable: Option<bool> },
    Edit { path: String, edits: Vec<edit::Edit> },
    Patch { patches: Vec<patch::Patch> },
    Delete { path: String },
    Move { from: String, to: String },
}

impl Asked {
    fn of(work: &Work) -> Result<Self, Failure> {
        let args = Args::of(work)?;
        match args.tool() {
            "files.read" => {
                args.only(&["path", "from_line", "lines"])?;
                let (from_line, lines) = (args.number("from_line")?, args.number("lines")?);
                Ok(Self::Read {
                    path: args.path("path")?,
                    from_line: from_line.unwrap_or(1),
                    lines: lines.unwrap_or(usize::MAX),
                })
            }
            "files.write" => {
                args.only(&["path", "content", "base64", "executable"])?;
                let executable = args.get("executable").and_then(Value::as_bool);
                Ok(Self::Write { path: args.path("path")?, content: content(&args)?, executable })
            }
            "files.edit" if args.get("diff").is_some() => {
                args.only(&["diff", "path"])?;
                let only = args.get("path").map(|_| args.path("path")).transpose()?;
                let mut patches = patch::parse(&args.text("diff")?).map_err(|why| args.wrong("diff", &why))?;
                for patch in &mut patches {
                    patch.path = match &only {
                        Some(path) if patches_one(&patch.path, path) => path.clone(),
                        Some(path) => {
                            return Err(args.wrong("diff", &format!("it changes `{}`, not `{path}`", patch.path)));
                        }
                        None => path::clean(&patch.path).map_err(|why| args.wrong("diff", &why))?,
                    };
                }
                Ok(Self::Patch { patches })
            }
            "files.edit" => {
                args.only(&["path", "search", "replace", "edits"])?;
                Ok(Self::Edit { path: args.path("path")?, edits: edits(&args)? })
            }
            "files.delete" => {
                args.only(&["path"])?;
                Ok(Self::Delete { path: args.path("path")? })
            }
            "files.move" => {
                args.only(&["from", "to"])?;
                Ok(Self::Move { from: args.path("from")?, to: args.path("to")? })
            }
            other => Err(wrong(format!("there is no capability `{other}`"))),
        }
    }

    /// Says no to paths that may not be touched.
    fn guard(&self, place: &Place) -> Result<(), Failure> {
        if let Self::Write { path, content, .. } = self {
            let max = place.limits.file_bytes_max;
            if content.len() as u64 > max {
                return Err(wrong(format!("`{path}` would have {} bytes; at most {max} are written", content.len())));
            }
        }
        match self {
            Self::Read { path, .. } => place.may_read(path),
            Self::Write { path, .. } | Self::Edit { path, .. } | Self::Delete { path } => place.may_write(path),
            Self::Patch { patches } => patches.iter().try_for_each(|patch| place.may_write(&patch.path)),
            Self::Move { from, to } => place.may_write(from).and_then(|()| place.may_write(to)),
        }
    }

    /// Works out what would change, and touches nothing.
    fn changes(&self, root: &Root) -> Result<Vec<Change>, Failure> {
        match self {
            Self::Read { .. } => Ok(Vec::new()),
            Self::Write { path, content, executable } => {
                let before = root.image(path)?;
                let after = before.with_content(path, content.clone())?.executable(*executable);
                Ok(Change::list([(path, before, after)]))
            }
            Self::Edit { path, edits } => {
                let before = root.image(path)?;
                let text = before.text(path)?;
                let edited =
                    edit::apply(text, edits).map_err(|why| wrong(format!("`{path}` cannot be edited: {why}")))?;
                let after = before.with_content(path, edited.into_bytes())?;
                Ok(Change::list([(path, before, after)]))
            }
            Self::Patch { patches } => {
                let mut changes = Vec::new();
                for patch in patches {
                    let before = root.image(&patch.path)?;
                    let after = patch.image_after(&before)?;
                    changes.push((&patch.path, before, after));
                }
                Ok(Change::list(changes))
            }
            Self::Delete { path } => {
                let before = root.image(path)?;
                before.can_be_moved(path)?;
                Ok(Change::list([(path, before, Image::Absent)]))
            }
            Self::Move { from, to } => match (root.image(from)?, root.image(to)?) {
                (Image::Absent, Image::Absent) => Err(wrong(format!("there is no `{from}` to move"))),
                (Image::Absent, _) => Ok(Vec::new()), // moved already
                (before, Image::Absent) => {
                    before.can_be_moved(from)?;
                    Ok(Change::list([(to, Image::Absent, before.clone()), (from, before, Image::Absent)]))
                }
                (_, _) if from == to => Ok(Vec::new()),
                (_, _) => Err(wrong(format!("`{to}` exists already; delete it first, or choose another name"))),
            },
        }
    }
}

#[async_trait]
impl Runner for Files {
    fn names(&self) -> &'static [&'static str] {
        &["files.read", "files.write", "files.edit", "files.delete", "files.move"]
    }

    fn description(&self, name: &str) -> Option<Description> {
        let path =
            json!({"type": "string", "description": "A path below the working folder.", "examples": ["src/lib.rs"]});
        let text = |meaning: &str| json!({"type": "string", "description": meaning});
        let number = |meaning: &str| json!({"type": "integer", "minimum": 1, "description": meaning});
        let (text, properties, required) = match name {
            "files.read" => (
                "Reads a text file, or some of its lines.",
                json!({"path": path, "from_line": number("The first line."), "lines": number("How many lines.")}),
                json!(["path"]),
            ),
            "files.write" => (
                "Writes a whole file; makes it, and its folders, if it is not there.",
                json!({"path": path, "content": text("All of its text.")}),
                json!(["path", "content"]),
            ),
            "files.edit" => (
                "Replaces a text that stands in a file exactly once.",
                json!({
                    "path": path,
                    "search": text("The text as it stands in the file, with its white space."),
                    "replace": text("The text to put in its place."),
                }),
                json!(["path", "search", "replace"]),
            ),
            "files.delete" => ("Deletes a file.", json!({"path": path}), json!(["path"])),
            "files.move" => ("Moves or renames a file.", json!({"from": path, "to": path}), json!(["from", "to"])),
            _ => return None,
        };
        let parameters =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        Some(Description { text: text.into(), parameters, foreign: false, repeatable: true })
    }

    fn parameters(&self, name: &str) -> &'static [&'static str] {
        match name {
            "files.write" => &["path", "content"],
            "files.edit" => &["path", "search", "replace"],
            "files.move" => &["from", "to"],
            _ => &["path"],
        }
    }

    fn guard(&self, work: &Work, place: &Place) -> Result<(), Failure> {
        Asked::of(work)?.guard(place)
    }

    async fn preview(&self, work: &Work, place: &Place) -> Result<Preview, Failure> {
        let asked = Asked::of(work)?;
        asked.guard(place)?;
        if let Asked::Read { path, .. } = &asked {
            return Ok(Preview { text: format!("would read `{path}`"), diff: None });
        }
        let root = Root::of(place);
        let changes = blocking(move || asked.changes(&root.open()?)).await?;
        place.foreseen.note(&changes);
        Ok(show::preview(&changes))
    }

    async fn run(&self, work: &Work, place: &Place, ports: &Ports, stop: &CancellationToken) -> Ended {
        if stop.is_cancelled() {
            return Ended::with(Err(Failure::new(FailureClass::Cancelled, "it was stopped before it began")));
        }
        let asked = match Asked::of(work).and_then(|asked| asked.guard(place).map(|()| asked)) {
            Ok(asked) => asked,
            Err(failure) => return Ended::with(Err(failure)),
        };
        if let Asked::Read { path, from_line, lines } = asked {
            return Ended::with(read(place, ports, path, from_line, lines).await);
        }
        let mut undo = None;
        let end = change_files(asked, work, place, ports, &mut undo).await;
        Ended { end, usage: Default::default(), undo }
    }

    async fn undo(&self, _work: &Work, place: &Place, ports: &Ports, record: &Value) -> Result<String, String> {
        Undo::read(record)?.take_back(place, ports).await
    }

    /// It happened when doing it now would change nothing.
    async fn happened(&self, work: &Work, place: &Place, _ports: &Ports, _stop: &CancellationToken) -> Happened {
        let Ok(asked) = Asked::of(work) else { return Happened::default() };
        let root = Root::of(place);
        let changes = blocking(move || asked.changes(&root.open()?)).await;
        Happened { happened: changes.ok().map(|changes| changes.is_empty()), outputs: Outputs::new() }
    }
}

/// Keeps what is there, makes the way back durable, then changes it.
async fn change_files(
    asked: Asked,
    work: &Work,
    place: &Place,
    ports: &Ports,
    undo: &mut Option<Value>,
) -> Result<Success, Failure> {
    let kind = match &work.action {
        Action::Tool(tool) => tool.name.clone(),
        other => other.key().to_owned(),
    };
    let request = Value::Object(without_content(work.args()));
    let root = Root::of(place);
    let changes = blocking(move || asked.changes(&root.open()?)).await?;
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    let shown = show::preview(&changes);
    let mut artifacts = Vec::new();
    if !changes.is_empty() {
        let record = json!(Undo::keep(&changes, place, ports).await?);
        // Both are durable before anything changes, and share a commit.
        let (call, ()) = tokio::try_join!(ports.begin(&kind, request), ports.intend(record.clone()))?;
        *undo = Some(record);
        let (root, key) = (Root::of(place), work.key.clone());
        let applied = changes.clone();
        blocking(move || change::apply(&root.open()?, &applied, &key)).await?;
        ports.calls.answered(call, json!({"changed": paths}));
        if let Some(diff) = &shown.diff {
            let kept = ports.keep_as("diff", place.secrets.redact(diff).into_bytes()).await;
            // The files are changed by now.
            let in_doubt = |error| Failure { class: FailureClass::Lost, ..Failure::from(error) };
            artifacts.push(kept.map_err(in_doubt)?);
        }
    }
    let mut outputs = Outputs::new();
    outputs.insert("changed".to_owned(), json!(!changes.is_empty()));
    outputs.insert("paths".to_owned(), json!(changes.iter().map(|change| &change.path).collect::<Vec<_>>()));
    outputs.insert("summary".to_owned(), json!(shown.text));
    Ok(Success { outputs, artifacts, ..Success::default() })
}

/// How much of a file is handed on as an output. Of a longer one the beginning is, and all of it is the artifact `content`.
const READ_BYTES_MAX: usize = 512 << 10;

async fn read(place: &Place, ports: &Ports, path: String, from_line: usize, lines: usize) -> Result<Success, Failure> {
    let root = Root::of(place);
    let (image, path) = blocking(move || Ok((root.open()?.image(&path)?, path))).await?;
    let Image::File { bytes, .. } = &image else { return Err(image.no_file(&path)) };
    let text = visible(bytes);
    let total = text.lines().count();
    let mut content: String = text.split_inclusive('\n').skip(from_line.saturating_sub(1)).take(lines).collect();
    let (mut outputs, mut artifacts) = (Outputs::new(), Vec::new());
    if content.len() > READ_BYTES_MAX {
        let beginning = content[..content.floor_char_boundary(READ_BYTES_MAX)].to_owned();
        artifacts.push(ports.keep_as("content", std::mem::replace(&mut content, beginning).into_bytes()).await?);
        outputs.insert("truncated".to_owned(), json!(true));
    }
    outputs.insert("content".to_owned(), json!(content));
    outputs.insert("bytes".to_owned(), json!(bytes.len()));
    outputs.insert("lines".to_owned(), json!(total));
    outputs.insert("hash".to_owned(), json!(blake3::hash(bytes).to_hex().as_str()));
    Ok(Success { outputs, artifacts, ..Success::default() })
}

/// Does what blocks away from the runtime.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Failure::new(FailureClass::Transient, format!("the work on files broke off: {error}")))
    })
}

/// What is recorded of a request: everything but the content, which is kept elsewhere.
fn without_content(mut args: Map<String, Value>) -> Map<String, Value> {
    for name in ["content", "base64", "diff", "replace", "search", "edits"] {
        if let Some(value) = args.get_mut(name) {
            *value = json!({"hash": blake3::hash(value.to_string().as_bytes()).to_hex().as_str()});
        }
    }
    args
}

/// A diff may name its file with the prefixes that git adds.
fn patches_one(named: &str, path: &str) -> bool {
    named == path || path::clean(named).is_ok_and(|named| named == path)
}

/// The content of a file that is to be written.
fn content(args: &Args<'_>) -> Result<Vec<u8>, Failure> {
    match (args.get("content"), args.get("base64")) {
        (Some(Value::String(text)), None) => Ok(text.clone().into_bytes()),
        // What another task made is often no text: written as JSON, which is what people expect in a file.
        (Some(value), None) => {
            Ok(serde_json::to_vec_pretty(value).map_err(|error| args.wrong("content", &error.to_string()))?)
        }
        (None, Some(Value::String(text))) => base64::engine::general_purpose::STANDARD
            .decode(text.trim())
            .map_err(|error| args.wrong("base64", &error.to_string())),
        (None, Some(_)) => Err(args.wrong("base64", "a text is needed")),
        (None, None) => Err(wrong("`files.write` needs `content`, or `base64`")),
        (Some(_), Some(_)) => Err(wrong("`files.write` takes `content` or `base64`, not both")),
    }
}

/// The replacements that are to be made in a file.
fn edits(args: &Args<'_>) -> Result<Vec<edit::Edit>, Failure> {
    match (args.get("edits"), args.get("search")) {
        (None, _) => Ok(vec![edit::Edit { search: args.text("search")?, replace: args.text("replace")? }]),
        (Some(edits), None) => serde_json::from_value(edits.clone())
            .map_err(|_| args.wrong("edits", "a list of `{search, replace}` is needed")),
        (Some(_), Some(_)) => Err(wrong("`files.edit` takes `edits` or `search` and `replace`, not both")),
    }
}
