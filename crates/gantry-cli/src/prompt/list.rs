//! `gantry prompt list`.

use std::process::ExitCode;

use gantry_llm::prompts::About;
use serde_json::json;

use super::configured;
use crate::exit::{self, Fault};
use crate::show::table::columns;

pub fn run(json: bool) -> Result<ExitCode, Fault> {
    let (_, prompts) = configured()?;
    let all: Vec<About> = prompts.about();
    if json {
        exit::print_json(&json!({"prompts": all}))?;
    } else {
        let rows: Vec<Vec<String>> = all.iter().map(row).collect();
        exit::print(&columns(&rows))?;
    }
    Ok(ExitCode::from(exit::DONE))
}

fn row(about: &About) -> Vec<String> {
    let variants = match about.variants.as_slice() {
        [] => String::new(),
        some => format!("variants: {}", some.join(", ")),
    };
    let version = format!("version {}", about.version);
    vec![about.name.clone(), about.locale.clone(), version, about.role.clone(), about.file.clone(), variants]
}
