//! What the policy allows, asked before anything starts.

mod commands;
mod hosts;

use gantry_core::effect::Failure;
use gantry_core::policy::{FailureClass, Policy};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::work::Place;

pub use commands::check_command;
pub(crate) use commands::line_of;
pub(crate) use hosts::check_host;

/// Makes a failure that says what is forbidden.
pub(crate) fn forbidden(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Policy, message)
}

/// Makes a failure that says what makes no sense.
pub(crate) fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Logic, message)
}

/// Makes a failure of what is the same at every try: only a person can mend it.
pub(crate) fn for_a_person(failure: Failure) -> Failure {
    Failure { class: FailureClass::Policy, ..failure }
}

/// Says no to a tool that a policy does not let be called.
pub(crate) fn check_tool(name: &str, place: &Place) -> Result<(), Failure> {
    let Some(policy) = place.policies().find(|policy| !policy.tools.allows(name)) else { return Ok(()) };
    let why = if policy.tools.denies(name) {
        format!("`{name}` is in `policy.tools.deny`")
    } else {
        format!("`{name}` is not in `policy.tools.allow`, which has `{}`", policy.tools.allow.join("`, `"))
    };
    Err(forbidden(why))
}

/// Tells whether someone has to approve each call of a tool.
pub(crate) fn needs_approval(name: &str, place: &Place) -> bool {
    place.policies().any(|policy| policy.tools.needs_approval(name))
}

/// What a plan may read and write, ready to be asked.
pub(crate) struct Scopes {
    read: Option<GlobSet>,
    write: Option<GlobSet>,
    write_globs: Vec<String>,
    read_globs: Vec<String>,
}

impl Scopes {
    /// Reads the globs of a policy.
    pub(crate) fn of(policy: &Policy) -> Result<Self, Failure> {
        Ok(Self {
            read: globs("read", &policy.files.read)?,
            write: globs("write", &policy.files.write)?,
            write_globs: policy.files.write.clone(),
            read_globs: policy.files.read.clone(),
        })
    }

    /// Says no when this path may not be read. What may be written may be read.
    pub(crate) fn may_read(&self, path: &str) -> Result<(), Failure> {
        let allowed = self.read.as_ref().is_none_or(|read| read.is_match(path))
            || self.write.as_ref().is_some_and(|write| write.is_match(path));
        if allowed { Ok(()) } else { Err(refusal("read", path, &self.read_globs)) }
    }

    /// Says no when this path may not be written.
    pub(crate) fn may_write(&self, path: &str) -> Result<(), Failure> {
        // A hook or a setting in there is a command that runs later, with nobody asked.
        if self.write.is_none() && path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            let message =
                format!("`{path}` belongs to git itself; use git commands, or allow it with `policy.files.write`");
            return Err(forbidden(message));
        }
        let allowed = self.write.as_ref().is_none_or(|write| write.is_match(path));
        if allowed { Ok(()) } else { Err(refusal("write", path, &self.write_globs)) }
    }
}

fn refusal(what: &str, path: &str, globs: &[String]) -> Failure {
    let allowed = if globs.is_empty() { "nothing".to_owned() } else { format!("`{}`", globs.join("`, `")) };
    forbidden(format!("`{path}` is outside `policy.files.{what}`, which allows {allowed}"))
}

/// Reads globs; none when there are none, which means everything.
fn globs(what: &str, patterns: &[String]) -> Result<Option<GlobSet>, Failure> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let bad = |why: String| forbidden(format!("`{pattern}` in `policy.files.{what}` is not a glob: {why}"));
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        // `docs/` and `docs` mean everything below, as people expect.
        let folder = pattern.trim_end_matches('/');
        for glob in [folder.to_owned(), format!("{folder}/**")] {
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            set.add(glob.map_err(|error| bad(error.kind().to_string()))?);
        }
    }
    set.build().map(Some).map_err(|error| forbidden(format!("`policy.files.{what}` is too large: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(read: &[&str], write: &[&str]) -> Scopes {
        let mut policy = Policy::default();
        policy.files.read = read.iter().map(|glob| (*glob).to_owned()).collect();
        policy.files.write = write.iter().map(|glob| (*glob).to_owned()).collect();
        Scopes::of(&policy).unwrap()
    }

    #[test]
    fn globs_say_what_may_be_read_and_written() {
        type Row = (&'static [&'static str], &'static [&'static str], &'static str, bool, bool);
        let rows: [Row; 9] = [
            (&[], &[], "a/b", true, true),
            (&[], &[], ".git/hooks/pre-commit", true, false),
            (&[], &[".git/**"], ".git/config", true, true),
            (&[], &["src/**"], "src/a/b.rs", true, true),
            (&[], &["src/**"], "srcx/a", true, false),
            (&[], &["src/*.rs"], "src/a/b.rs", true, false),
            (&["docs"], &["src/**"], "docs/a.md", true, false),
            (&["docs"], &["src/**"], "src/a.rs", true, true),
            (&["docs"], &["src/**"], "other", false, false),
        ];
        for (read, write, path, may_read, may_write) in rows {
            let scopes = scopes(read, write);
            assert_eq!(scopes.may_read(path).is_ok(), may_read, "reading {path} with {read:?} {write:?}");
            assert_eq!(scopes.may_write(path).is_ok(), may_write, "writing {path} with {read:?} {write:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_path_and_what_is_allowed() {
        let failure = scopes(&[], &["src/**", "tests/**"]).may_write("setup.py").unwrap_err();
        assert_eq!(failure.class, FailureClass::Policy);
        assert_eq!(failure.message, "`setup.py` is outside `policy.files.write`, which allows `src/**`, `tests/**`");
    }
}
