//! `gantry template`: the plans that make plans, as data that users can copy and change.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gantry_core::suggest::nearest;
use gantry_llm::config::Config;
use gantry_llm::prompts::{PromptFault, Prompts};
use gantry_planner::facts::WISHES;
use gantry_planner::template::{BUILT_IN, Template};
use serde_json::json;

use crate::exit::{self, Fault};
use crate::model::options::ModelOptions;
use crate::session::Record;
use crate::show::named;
use crate::show::table::columns;

/// The variable that names the folder of templates.
const FOLDER_VARIABLE: &str = "GANTRY_TEMPLATES";
/// How long the name of a template may be.
const NAME_BYTES_MAX: usize = 64;

/// See, copy and check the templates that `gantry plan` works by
///
/// A template is a folder of data: `plan.yaml` (the steps), `prompts/` with `schemas/` (what models are asked), `offline/`
/// (what is answered without one), `checklist.yaml` and `report.yaml`. Your own are folders in `templates` beside the prompts of
/// the project [env: `GANTRY_TEMPLATES`]; one of the same name takes the place of a built-in one.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry template list\n  gantry template show execution-plan\n  gantry template show execution-plan prompts/risks.mul.md\n  gantry template copy execution-plan ours\n  gantry template check ours\n  gantry plan --template ours \"Open a café in Aarhus\""
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    record: Record,
}

#[derive(clap::Subcommand)]
enum What {
    /// List all templates
    #[command(after_help = "Examples:\n  gantry template list\n  gantry template list --json")]
    List,
    /// Show the files and sections of a template, or one of its files
    #[command(
        after_help = "Examples:\n  gantry template show execution-plan\n  gantry template show execution-plan plan.yaml"
    )]
    Show {
        /// The template
        name: String,
        /// One of its files
        file: Option<String>,
    },
    /// Copy a template into the project, to change it there
    #[command(after_help = "Examples:\n  gantry template copy execution-plan ours")]
    Copy {
        /// The template
        name: String,
        /// What the copy is called
        new_name: String,
    },
    /// Check that a template holds together: graph, prompts, schemas, and every way to leave parts of it out
    #[command(after_help = "Examples:\n  gantry template check ours\n  gantry template check (all of them)")]
    Check {
        /// The template [default: all]
        name: Option<String>,
    },
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let config = ModelOptions::default().load()?;
    let templates = of(&config).map_err(Fault::bad_input)?;
    let json = args.record.json;
    match &args.what {
        What::List => list(&templates, json),
        What::Show { name, file: None } => show(find(&templates, name)?, json),
        What::Show { name, file: Some(file) } => show_file(find(&templates, name)?, file, json),
        What::Copy { name, new_name } => copy(find(&templates, name)?, new_name, &folder(&config), json),
        What::Check { name: Some(name) } => check(&[find(&templates, name)?], json),
        What::Check { name: None } => check(&templates.iter().collect::<Vec<_>>(), json),
    }
}

/// The folder with templates of the project.
fn folder(config: &Config) -> PathBuf {
    let named = std::env::var_os(FOLDER_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    named.unwrap_or_else(|| config.prompts().with_file_name("templates"))
}

/// All templates of a configuration.
pub fn of(config: &Config) -> Result<Vec<Template>, String> {
    Template::all(&folder(config))
}

/// All templates, as they are configured here.
pub fn all() -> Result<Vec<Template>, String> {
    let config = ModelOptions::default().load().map_err(|fault| fault.message().to_owned())?;
    of(&config)
}

/// All prompts of a configuration, those of its templates among them. A template that is not sound has none: whoever uses
/// it is told why, and nobody else is held up.
pub fn prompts(config: &Config) -> Result<Prompts, Fault> {
    let told = |faults: Vec<PromptFault>| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Fault::bad_input(lines.join("\n"))
    };
    let mut prompts = Prompts::of(config).map_err(told)?;
    for template in of(config).map_err(Fault::bad_input)? {
        match prompts.add(&template.prompts()) {
            Err(faults) if template.from == BUILT_IN => return Err(told(faults)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(prompts)
}

/// The template of this name.
pub fn find<'a>(templates: &'a [Template], name: &str) -> Result<&'a Template, Fault> {
    let names = || templates.iter().map(|template| template.name.as_str());
    templates.iter().find(|template| template.name == name).ok_or_else(|| {
        let fault = Fault::bad_input(format!("there is no template `{name}`"));
        fault.hint(match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("templates are {}", names().collect::<Vec<_>>().join(", ")),
        })
    })
}

fn list(templates: &[Template], json: bool) -> Result<ExitCode, Fault> {
    if json {
        let all: Vec<_> = templates
            .iter()
            .map(|template| json!({"name": template.name, "from": template.from, "about": template.about()}))
            .collect();
        exit::print_json(&json!({"templates": all}))?;
    } else {
        let row = |template: &Template| vec![template.name.clone(), template.from.clone(), template.about().to_owned()];
        exit::print(&columns(&templates.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn show(template: &Template, json: bool) -> Result<ExitCode, Fault> {
    let sections = template.sections().map_err(Fault::bad_input)?;
    let files: Vec<&str> = template.files().map(|(path, _)| path).collect();
    if json {
        exit::print_json(&json!({
            "name": template.name, "from": template.from, "about": template.about(), "sections": sections, "files": files,
        }))?;
    } else {
        exit::print(&format!(
            "{} ({})\n{}\n\nsections: {}\n\nfiles:\n  {}\n",
            template.name,
            template.from,
            template.about(),
            sections.join(", "),
            files.join("\n  ")
        ))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn show_file(template: &Template, file: &str, json: bool) -> Result<ExitCode, Fault> {
    let text = template.file(file).ok_or_else(|| {
        let fault = Fault::bad_input(format!("the template `{}` has no file `{file}`", template.name));
        match nearest(file, template.files().map(|(path, _)| path)) {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault.hint(format!("see its files with `gantry template show {}`", template.name)),
        }
    })?;
    if json {
        exit::print_json(&json!({"name": template.name, "file": file, "text": text}))?;
    } else {
        exit::print(text)?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn copy(template: &Template, name: &str, folder: &Path, json: bool) -> Result<ExitCode, Fault> {
    let target = copied(template, name, folder)?;
    if json {
        exit::print_json(&json!({"name": name, "folder": target}))?;
    } else {
        exit::print(&format!(
            "{}\nnext:\n  gantry template check {name}\n  gantry plan --template {name} \"…\"\n",
            target.display()
        ))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

/// Copies a template into the folder of the project; where it is then.
pub fn copy_here(template: &Template, name: &str) -> Result<PathBuf, Fault> {
    copied(template, name, &folder(&ModelOptions::default().load()?))
}

fn copied(template: &Template, name: &str, folder: &Path) -> Result<PathBuf, Fault> {
    let is_slug =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if !is_slug || name.len() > NAME_BYTES_MAX {
        return Err(Fault::bad_input(format!("a template cannot be called `{}`", named(name)))
            .hint("use letters, digits and dashes, such as `our-plan`"));
    }
    let target = folder.join(name);
    if target.exists() {
        return Err(Fault::bad_input(format!("`{}` is there already", target.display()))
            .hint("choose another name, or remove it first"));
    }
    for (path, text) in template.files() {
        let file = target.join(path);
        let cannot =
            |error: std::io::Error| Fault::internal(format!("`{}` cannot be written: {error}", file.display()));
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(cannot)?;
        }
        std::fs::write(&file, text).map_err(cannot)?;
    }
    Ok(target)
}

/// What is wrong with a template, whatever of it is left out.
pub fn faults(template: &Template) -> Vec<String> {
    template.faults(&WISHES)
}

fn check(templates: &[&Template], json: bool) -> Result<ExitCode, Fault> {
    let found: Vec<(&str, Vec<String>)> =
        templates.iter().map(|template| (template.name.as_str(), faults(template))).collect();
    let sound = found.iter().all(|(_, faults)| faults.is_empty());
    if json {
        let all: Vec<_> = found.iter().map(|(name, faults)| json!({"name": name, "faults": faults})).collect();
        exit::print_json(&json!({"ok": sound, "templates": all}))?;
    } else {
        for (name, faults) in &found {
            let head = if faults.is_empty() {
                format!("{name}: sound\n")
            } else {
                format!("{name}:\n  {}\n", faults.join("\n  "))
            };
            exit::print(&head)?;
        }
    }
    Ok(ExitCode::from(if sound { exit::DONE } else { exit::BAD_INPUT }))
}
