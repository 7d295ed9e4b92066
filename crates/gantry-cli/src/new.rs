//! `gantry new`: writes a plan file to begin with.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use crate::exit::{self, Fault};
use crate::talk::talk;

/// A plan that shows the most useful things, with room for the title and the objective.
const STARTER: &str = include_str!("new/starter.yaml");

/// Write a commented plan file to begin with
///
/// It can be run as it is. A file that exists is left alone.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gantry new\n  gantry new release.yaml --from \"release version 2 on Friday\"\n  gantry new - > plan.yaml"
)]
pub struct Args {
    /// The file to write; `-` is standard output
    #[arg(default_value = "plan.yaml")]
    file: String,
    /// What shall be true when the plan is done, in words
    #[arg(long, value_name = "OBJECTIVE", num_args = 1..)]
    from: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, Fault> {
    let text = starter(&args.from.join(" "));
    if args.file == "-" {
        if args.json {
            exit::print_json(&json!({"file": null, "plan": text}))?;
        } else {
            exit::print(&text)?;
        }
        return Ok(ExitCode::from(exit::DONE));
    }
    let is_yaml = |ending: &str| args.file.ends_with(ending);
    if ![".yaml", ".yml"].into_iter().any(is_yaml) {
        return Err(
            Fault::bad_input(format!("`{}` is not the name of a YAML file", args.file)).hint("end it with `.yaml`")
        );
    }
    let mut file = std::fs::File::create_new(&args.file).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Fault::refused(format!("`{}` exists, and is left as it is", args.file)).hint("name another file")
        }
        _ => Fault::bad_input(format!("`{}` cannot be written: {error}", args.file)),
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Fault::internal(format!("`{}` cannot be written: {error}", args.file)))?;
    if args.json {
        exit::print_json(&json!({"file": args.file, "plan": text}))?;
        return Ok(ExitCode::from(exit::DONE));
    }
    talk!("wrote {}; look at it, then `gantry run {}`", args.file, args.file);
    Ok(ExitCode::from(exit::DONE))
}

/// The plan with this objective.
fn starter(objective: &str) -> String {
    let objective = objective.split_whitespace().collect::<Vec<_>>().join(" ");
    let (title, objective) = if objective.is_empty() {
        ("My first plan".to_owned(), "A greeting is written, checked and approved.".to_owned())
    } else {
        (objective.split(' ').take(8).collect::<Vec<_>>().join(" "), objective)
    };
    STARTER.replace("{title}", &quoted(&title)).replace("{objective}", &quoted(&objective))
}

/// A text as YAML reads it in double quotes, which are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_starter_is_a_sound_plan_whatever_the_objective() {
        for objective in ["", "release version 2", "say \"no\": {never} # 50 %", "a: b\nc\td"] {
            let loaded = gantry_format::load("plan.yaml", starter(objective).as_bytes());
            assert!(loaded.report.diagnostics.is_empty(), "{objective}: {}", loaded.report.render(false));
            let plan = loaded.plan.unwrap();
            let expected = objective.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(objective.is_empty() || plan.objective == expected, "{}", plan.objective);
        }
    }
}
