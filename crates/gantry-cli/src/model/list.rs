//! `gantry model list`: the effective configuration, and where each value came from.

use std::process::ExitCode;

use gantry_llm::config::{Effective, Link, RoleView};

use super::options::ModelOptions;
use crate::exit::{self, Fault};
use crate::session;
use crate::show::plain;
use crate::show::style::{FAINT, PLAIN};
use crate::show::table::{Cell, cell, draw, width, wrap};
use crate::talk::talk;

pub fn run(options: &ModelOptions, json: bool) -> Result<ExitCode, Fault> {
    let effective = session::block_on(async { Ok(options.load_with_local().await?.effective()) })?;
    if json {
        let value = serde_json::to_value(&effective).unwrap_or_default();
        exit::print_json(&value)?;
        return Ok(ExitCode::from(exit::DONE));
    }
    exit::print(&drawn(&effective))?;
    let offline = |role: &RoleView| !role.chain.is_empty() && role.chain.iter().all(Link::is_offline);
    if effective.roles.iter().all(offline) {
        talk!("\nhint: only the offline model answers; see what is missing with `gantry model doctor`");
    }
    Ok(ExitCode::from(exit::DONE))
}

fn drawn(effective: &Effective) -> String {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for setting in &effective.settings {
        let origin = cell(FAINT, plain(&setting.origin.to_string()));
        rows.push(vec![cell(PLAIN, setting.name), cell(PLAIN, plain(&setting.value)), origin]);
    }
    let mut parts = vec![draw("", &rows, usize::MAX)];
    for (roles, view) in grouped(&effective.roles) {
        let title = wrap(&plain(&roles.join(", ")), width()).join("\n");
        parts.push(format!("{title}\n{}", chain(view)));
    }
    parts.push(format!(
        "Prices are dollars for a million tokens, of {}; they change, and can be set in gantry.toml.\n",
        effective.prices_as_of
    ));
    parts.join("\n")
}

/// Roles that are answered by the same models for the same reason stand together.
fn grouped(roles: &[RoleView]) -> Vec<(Vec<&str>, &RoleView)> {
    let same = |one: &RoleView, other: &RoleView| {
        let asked = |view: &RoleView| -> Vec<String> {
            view.chain.iter().map(|link| format!("{}:{}", link.provider, link.model)).collect()
        };
        asked(one) == asked(other)
            && one.left_out == other.left_out
            && one.origin == other.origin
            && one.error == other.error
    };
    let mut groups: Vec<(Vec<&str>, &RoleView)> = Vec::new();
    for role in roles {
        match groups.iter_mut().find(|(_, view)| same(view, role)) {
            Some((names, _)) => names.push(&role.role),
            None => groups.push((vec![&role.role], role)),
        }
    }
    groups
}

fn chain(view: &RoleView) -> String {
    if let Some(error) = &view.error {
        return format!("  nobody: {}\n", plain(error));
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (place, link) in view.chain.iter().enumerate() {
        rows.push(vec![
            cell(FAINT, format!("{}", place + 1)),
            cell(PLAIN, plain(&format!("{}:{}", link.provider, link.model))),
            cell(PLAIN, link.price_words()),
            cell(FAINT, plain(&link.key.to_string())),
        ]);
    }
    for left_out in &view.left_out {
        rows.push(vec![
            cell(FAINT, "-"),
            cell(FAINT, plain(&left_out.model)),
            cell(FAINT, "left out"),
            cell(FAINT, plain(&left_out.why)),
        ]);
    }
    rows.push(vec![cell(FAINT, ""), cell(FAINT, format!("said by: {}", plain(&view.origin.to_string())))]);
    draw("  ", &rows, usize::MAX)
}
