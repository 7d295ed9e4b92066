//! What models are asked to be, and which role takes over the models of which.

/// The role whose models every other takes over that has none of its own.
pub const DEFAULT: &str = "default";

/// The roles that are built in; profiles may name others.
pub const ROLES: [&str; 12] = [
    "planner",
    "writer",
    "critic",
    "judge",
    "extractor",
    "agent",
    "team.project",
    "team.daily",
    "team.hourly",
    "team.daily_report",
    "team.report",
    DEFAULT,
];

/// The role whose models a role takes over when it has none of its own.
fn parent(role: &str) -> Option<&'static str> {
    match role {
        DEFAULT => None,
        "team.daily" | "team.report" => Some("team.project"),
        "team.hourly" | "team.daily_report" => Some("team.daily"),
        _ => Some(DEFAULT),
    }
}

/// The role, and the ones that it takes over from, nearest first.
pub(super) fn lineage(role: &str) -> Vec<&str> {
    let mut line = vec![role];
    while let Some(next) = parent(line[line.len() - 1]) {
        line.push(next);
    }
    line
}

/// The variable that names the models of a role.
pub fn variable_of(role: &str) -> String {
    let name: String = role
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
        .collect();
    format!("GANTRY_MODEL_{name}")
}
