//! Templates: plans that make plans, as data.
//!
//! A template is a folder: `plan.yaml` is the graph, `prompts/*.md` and `prompts/schemas/*.json` say what its models are
//! asked, `offline/*.yaml` answers the same without a model, `checklist.yaml` holds lists that inputs may name and
//! `report.yaml` says how the result is read. Nothing in code knows the names of its tasks.
//!
//! In `plan.yaml` a text `{{ request }}` stands for a wish of the user, `{{ checklist.audit }}` for a list of
//! `checklist.yaml`, `{{ template }}` for the template's name and `{{ taken }}` for the names of its tasks. A task's `metadata` says when it is in the plan: `detail: full` (and above), `from: small` (and
//! bigger), `section: governance` (when that is chosen). What refers to a task that is left out does without it.

mod built_in; // in reading order
mod leave_out;
mod check;

use std::collections::BTreeMap;
use std::path::Path;

use gantry_core::plan::{Action, Input, Plan, Task};
use gantry_llm::prompts::Family;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kind::Size;

pub use leave_out::Chosen;

/// The template that `gantry plan` uses when nobody says otherwise.
pub const DEFAULT: &str = "execution-plan";
/// The template that only breaks down what is wanted.
pub const OUTLINE: &str = "outline";
/// Where the templates of this program are from.
pub const BUILT_IN: &str = "built in";
/// A larger file belongs to no template.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A plan that makes plans, and everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is called.
    pub name: String,
    /// Where it is from: a folder, or `built in`.
    pub from: String,
    files: BTreeMap<String, String>,
    /// Why it cannot be read, where it cannot.
    unreadable: Option<String>,
}

/// How much is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The work, dates, cost and risks.
    Fast,
    /// And choices, assumptions, goals, governance, and what could go wrong.
    Balanced,
    /// Everything.
    #[default]
    Full,
}

/// What the user wishes.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// What fills `{{ name }}` in `plan.yaml`.
    pub values: BTreeMap<String, Value>,
    /// How much is worked out.
    pub detail: Detail,
    /// How big the project is.
    pub size: Size,
    /// The sections to work out; none means all.
    pub sections: Option<Vec<String>>,
}

impl Template {
    /// The templates that come with the program.
    pub fn built_in() -> Vec<Self> {
        built_in::templates()
    }

    /// All templates: those that come with the program, and the folders with a `plan.yaml` in this folder. One of the
    /// same name in the folder counts more.
    pub fn all(folder: &Path) -> Result<Vec<Self>, String> {
        let mut all = Self::built_in();
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(all),
            Err(error) => {
                return Err(format!("the folder of templates `{}` cannot be read: {error}", folder.display()));
            }
        };
        let mut folders: Vec<_> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.join("plan.yaml").is_file()).collect();
        folders.sort();
        for folder in folders {
            let template = Self::read(&folder);
            all.retain(|known| known.name != template.name);
            all.push(template);
        }
        Ok(all)
    }

    /// Reads the template in a folder. One that cannot be read says so when it is used or checked.
    fn read(folder: &Path) -> Self {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (files, unreadable) = match Self::read_files(folder) {
            Ok(files) => (files, None),
            Err(why) => (BTreeMap::new(), Some(why)),
        };
        Self { name, from: folder.display().to_string(), files, unreadable }
    }

    fn read_files(folder: &Path) -> Result<BTreeMap<String, String>, String> {
        let mut files = BTreeMap::new();
        for (under, prefix) in
            [("", ""), ("prompts", "prompts/"), ("prompts/schemas", "prompts/schemas/"), ("offline", "offline/")]
        {
            let Ok(entries) = std::fs::read_dir(folder.join(under)) else { continue };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
                let known =
                    path.extension().is_some_and(|ending| ["yaml", "md", "json"].iter().any(|known| ending == *known));
                let Some(file) = path.file_name().filter(|_| known) else { continue };
                let cannot = |why: String| format!("`{}` cannot be read: {why}", path.display());
                if path.metadata().map_err(|error| cannot(error.to_string()))?.len() > FILE_BYTES_MAX {
                    return Err(cannot(format!("it has more than {FILE_BYTES_MAX} bytes")));
                }
                let text = std::fs::read_to_string(&path).map_err(|error| cannot(error.to_string()))?;
                files.insert(format!("{prefix}{}", file.to_string_lossy()), text);
            }
        }
        Ok(files)
    }

    /// The text of a file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All files: path and text.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// What its models are asked.
    pub fn prompts(&self) -> Family {
        let inside = |(path, text): (&str, &str)| Some((path.strip_prefix("prompts/")?.to_owned(), text.to_owned()));
        Family { name: self.name.clone(), files: self.files().filter_map(inside).collect() }
    }

    /// Tells whether there is a prompt of this name.
    fn has_prompt(&self, name: &str) -> bool {
        let beginning = format!("prompts/{name}.");
        self.files.keys().any(|path| {
            path.strip_prefix(&beginning)
                .is_some_and(|rest| Path::new(rest).extension().is_some_and(|end| end == "md") || rest == "md")
        })
    }

    /// The first line of its graph that says what it is for.
    pub fn about(&self) -> &str {
        let first = self.file("plan.yaml").and_then(|text| text.lines().find(|line| line.starts_with('#')));
        first.map_or("", |line| line.trim_start_matches('#').trim())
    }

    /// Its sections, in the order of the graph.
    pub fn sections(&self) -> Result<Vec<String>, String> {
        let mut sections: Vec<String> = Vec::new();
        for task in &self.graph()?.tasks {
            let section = leave_out::section(task).map(str::to_owned);
            sections.extend(section.filter(|section| !sections.contains(section)));
        }
        Ok(sections)
    }

    /// The graph as it stands.
    fn graph(&self) -> Result<Plan, String> {
        if let Some(why) = &self.unreadable {
            return Err(why.clone());
        }
        let text = self.file("plan.yaml").unwrap_or_default();
        let name = format!("{}/plan.yaml", self.name);
        let loaded = gantry_format::load(&name, text.as_bytes());
        let first = loaded.report.diagnostics.first().map(|found| found.message.clone());
        let broken = || format!("the template `{}` is no plan: {}", self.name, first.unwrap_or_default());
        loaded.plan.ok_or_else(broken)
    }

    /// The lists that inputs may name.
    fn checklist(&self) -> Result<Value, String> {
        let Some(text) = self.file("checklist.yaml") else { return Ok(Value::Null) };
        serde_saphyr::from_str(text).map_err(|error| format!("`{}/checklist.yaml`: {error}", self.name))
    }

    /// Who may go on although screening says no.
    pub fn override_roles(&self) -> Result<Vec<String>, String> {
        let list = self.checklist()?;
        let roles = list["override_roles"].as_array().into_iter().flatten();
        Ok(roles.filter_map(|role| Some(role.as_str()?.to_owned())).collect())
    }

    /// The plan that does what the user wishes.
    pub fn plan(&self, wishes: &Wishes) -> Result<Plan, String> {
        let mut plan = self.graph()?;
        let taken: Vec<Value> = plan.tasks.iter().map(|task| json!(task.id)).collect();
        let checklist = self.checklist()?;
        leave_out::leave_out(
            &mut plan,
            &Chosen { detail: wishes.detail, size: wishes.size, sections: wishes.sections.as_deref() },
        );
        let own = [("taken".to_owned(), json!(taken)), ("template".to_owned(), json!(self.name))];
        let values = wishes.values.clone().into_iter().chain(own).collect();
        for task in &mut plan.tasks {
            self.fill_in(task, &values, &checklist)?;
        }
        Ok(plan)
    }

    /// Puts wishes and lists where the task names them, and calls its prompts by their full names.
    fn fill_in(&self, task: &mut Task, values: &BTreeMap<String, Value>, checklist: &Value) -> Result<(), String> {
        let id = task.id.clone();
        let mut given: Vec<&mut Input> = task.inputs.values_mut().collect();
        match &mut task.action {
            Some(Action::Model(model)) => {
                if let Some(prompt) = model.prompt.as_mut().filter(|prompt| self.has_prompt(prompt)) {
                    *prompt = format!("{}/{prompt}", self.name);
                }
            }
            Some(Action::Tool(tool)) => given.extend(tool.args.values_mut()),
            Some(Action::Map(map)) => {
                if let Some(each) = &mut map.each {
                    self.fill_in(each, values, checklist)?;
                }
            }
            _ => {}
        }
        for input in given {
            let Input::Value(Value::String(text)) = &*input else { continue };
            let Some(name) = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).map(str::trim) else {
                continue;
            };
            let value = match name.strip_prefix("checklist.") {
                Some(list) => checklist.get(list),
                None => values.get(name),
            };
            let value = value.ok_or_else(|| {
                format!("task `{id}` of the template `{}` wants `{name}`, which nobody gives", self.name)
            })?;
            *input = Input::Value(value.clone());
        }
        Ok(())
    }
}
