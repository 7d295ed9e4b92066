//! Everything that can be taken away, in one zip file with a list of hashes.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use gantry_report::report::{Choice, Layout, compose, html, markdown};
use gantry_schedule::write;
use serde_json::json;
use zip::write::SimpleFileOptions;

use super::{Made, stamp, tables};
use crate::exit::{self, Fault};

/// Sections with tables that people take into spreadsheets.
const TABLES: [&str; 4] = ["work", "phases", "risks", "cost"];

/// Packs it. The same plan at the same time gives the same bytes.
pub fn pack(made: &Made) -> Result<Vec<u8>, Fault> {
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("report.html".to_owned(), html::write(&made.report).into_bytes()),
        ("report.md".to_owned(), markdown::write(&made.report).into_bytes()),
        ("plan.json".to_owned(), exit::json_text(&made.gathered.document)?.into_bytes()),
        ("plan.yaml".to_owned(), gantry_format::to_yaml(&made.plan).into_bytes()),
        ("plan.mmd".to_owned(), gantry_format::mermaid::export(&made.plan).into_bytes()),
    ];
    for section in TABLES {
        if tables::tables(&made.report, section).next().is_some() {
            files.push((format!("{section}.csv"), tables::csv(&made.report, section)?.into_bytes()));
        }
    }
    if let Ok(schedule) = &made.gathered.schedule {
        // A plan without dates has no calendar.
        files.extend(write::ical::write(schedule, stamp()).ok().map(|text| ("plan.ics".to_owned(), text.into_bytes())));
        let project = write::msproject::write(&made.gathered.project, schedule).ok();
        files.extend(project.map(|text| ("plan.xml".to_owned(), text.into_bytes())));
    }
    files.push(("README.md".to_owned(), readme(made, &files)?.into_bytes()));
    let manifest: Vec<_> = files
        .iter()
        .map(|(name, body)| json!({"file": name, "bytes": body.len(), "blake3": gantry_store::Hash::of(body).to_string()}))
        .collect();
    files.push(("manifest.json".to_owned(), exit::json_text(&manifest)?.into_bytes()));
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let wrong = |error: &dyn std::fmt::Display| Fault::internal(format!("the zip file cannot be made: {error}"));
    for (name, body) in &files {
        archive.start_file(name.as_str(), SimpleFileOptions::default()).map_err(|error| wrong(&error))?;
        archive.write_all(body).map_err(|error| wrong(&error))?;
    }
    Ok(archive.finish().map_err(|error| wrong(&error))?.into_inner())
}

/// What whoever takes the plan over has to know, on a page, and what the files are.
fn readme(made: &Made, files: &[(String, Vec<u8>)]) -> Result<String, Fault> {
    let handoff = Layout::handoff().map_err(Fault::internal)?;
    let page = compose(&handoff, &made.gathered.subject(), &Choice::default());
    let mut text = markdown::write(&page);
    text.push_str("\n## What is here\n\n");
    for (name, _) in files {
        let about = match name.as_str() {
            "report.html" => "the report; open it in a browser, it needs no network",
            "report.md" => "the same as text",
            "plan.json" => "the plan for programs, with everything that was computed",
            "plan.yaml" => "the plan itself; `gantry run plan.yaml` carries it out",
            "plan.mmd" => "the shape of the plan as a Mermaid flowchart",
            "plan.ics" => "dates for a calendar",
            "plan.xml" => "for Microsoft Project",
            _ => "a table for spreadsheets",
        };
        let _ = writeln!(text, "- `{name}`: {about}");
    }
    text.push_str("\n`manifest.json` has the size and BLAKE3 hash of every file.\n");
    Ok(text)
}
