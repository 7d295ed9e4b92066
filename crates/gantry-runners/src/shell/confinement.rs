//! From the policy of a plan to what the kernel can enforce.

use std::path::{Path, PathBuf};

use gantry_core::effect::Failure;
use gantry_core::policy::Policy;

use crate::files::Root;
use crate::policy::forbidden;
use crate::process::Confinement;
use crate::work::{Place, SandboxMode};

/// Where programs and what they need live.
const SYSTEM: [&str; 17] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/gnu",
    "/proc",
    "/sys",
    "/dev",
    "/run/systemd/resolve",
    "/run/current-system",
];

/// Devices that hold nothing.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Where tool chains live below the home folder. Folders with credentials (`.ssh`, `.aws`, most of `.cargo`) are not here.
const TOOLS: [&str; 18] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/config.toml",
    ".cargo/env",
    ".rustup",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".pyenv",
    ".nvm",
    ".volta",
    ".bun",
    ".deno",
    "go",
    ".sdkman",
    ".gitconfig",
    ".config/git",
];

/// What a process of this place may touch; none when it is not to be confined.
pub(super) fn confinement(place: &Place, exchange: &Path) -> Result<Option<Confinement>, Failure> {
    let Some(mut all) = surroundings(place, exchange) else { return Ok(None) };
    all.read.extend(scope(Access::Read, place, &mut all.gaps)?);
    all.write.extend(scope(Access::Write, place, &mut all.gaps)?);
    all.network = place.has_network();
    all.gaps.extend(network_gap(place));
    Ok(Some(all))
}

/// What any process may touch: what programs need, and nothing of the working folder.
pub(super) fn surroundings(place: &Place, exchange: &Path) -> Option<Confinement> {
    if place.sandbox.mode == SandboxMode::Off {
        return None;
    }
    let mut all = Confinement { required: place.sandbox.mode == SandboxMode::Required, ..Confinement::default() };
    all.read.extend(SYSTEM.map(PathBuf::from));
    all.read.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths).filter(|path| path.is_absolute()));
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) {
        all.read.extend(TOOLS.map(|tool| home.join(tool)));
    }
    all.read.extend(place.sandbox.read_also.clone());
    all.write.extend(DEVICES.map(PathBuf::from));
    all.write.extend(place.sandbox.write_also.clone());
    all.write.push(exchange.to_owned());
    Some(all)
}

/// What the policies of a place ask for that no confinement of processes can express, whatever the kernel can do.
pub fn gaps(place: &Place) -> Vec<String> {
    let mut gaps = Vec::new();
    for policy in place.policies() {
        gaps.extend(policy.files.read.iter().chain(&policy.files.write).filter_map(|glob| by_name(glob)));
    }
    gaps.sort();
    gaps.dedup();
    gaps.extend(network_gap(place));
    gaps
}

/// A kernel opens the network or closes it; which host someone speaks to it does not know.
fn network_gap(place: &Place) -> Option<String> {
    let anywhere = |policy: &Policy| policy.network.allow.iter().any(|host| host == "*");
    let told_apart = place.has_network() && !place.policies().all(anywhere);
    told_apart.then(|| "hosts cannot be told apart for processes, so the whole network is open".to_owned())
}

/// A kernel keeps folders, not names.
fn by_name(glob: &str) -> Option<String> {
    let (prefix, rest) = literal_prefix(glob);
    let folder = if prefix.is_empty() { "." } else { &prefix };
    (!matches!(rest, "" | "**" | "**/*")).then(|| format!("`{glob}` is kept by folder (`{folder}`), not by name"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// The folders that hold everything which all policies allow.
fn scope(access: Access, place: &Place, gaps: &mut Vec<String>) -> Result<Vec<PathBuf>, Failure> {
    let mut agreed: Option<Vec<PathBuf>> = None;
    for policy in place.policies() {
        let own = scope_of(access, policy, place, gaps)?;
        agreed = Some(match agreed {
            None => own,
            Some(agreed) => shared(&agreed, &own),
        });
    }
    Ok(agreed.unwrap_or_default())
}

/// What lies in a folder of the one list and in a folder of the other.
fn shared(one: &[PathBuf], other: &[PathBuf]) -> Vec<PathBuf> {
    let inner = |a: &PathBuf, b: &PathBuf| match (a.starts_with(b), b.starts_with(a)) {
        (true, _) => Some(a.clone()),
        (_, true) => Some(b.clone()),
        (false, false) => None,
    };
    one.iter().flat_map(|a| other.iter().filter_map(move |b| inner(a, b))).collect()
}

/// The folders that hold everything a list of globs matches; no list means the whole working folder.
fn scope_of(access: Access, policy: &Policy, place: &Place, gaps: &mut Vec<String>) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    let globs = match access {
        Access::Read => &policy.files.read,
        Access::Write => &policy.files.write,
    };
    let canonical = |path: &Path| {
        let found = path.canonicalize();
        found.map_err(|error| crate::policy::wrong(format!("`{}` cannot be used: {error}", path.display())))
    };
    let root = canonical(&place.root)?;
    if globs.is_empty() {
        return Ok(vec![root]);
    }
    for glob in globs {
        let (prefix, rest) = literal_prefix(glob);
        if !prefix.is_empty() && access == Access::Write {
            make_folder(place, &prefix, rest.is_empty())?;
        }
        let mut path = root.join(&prefix);
        gaps.extend(by_name(glob));
        if !path.exists() && access == Access::Read {
            continue; // nothing to read
        }
        if !path.exists() {
            path.pop();
            gaps.push(format!("`{glob}` does not exist yet, so its whole folder is open instead"));
        }
        let real = canonical(&path)?;
        if !real.starts_with(&root) {
            return Err(forbidden(format!("`{glob}` of the policy leads out of the working folder, through a link")));
        }
        paths.push(real);
    }
    Ok(paths)
}

/// Splits a glob into the folders without special characters and the rest.
fn literal_prefix(glob: &str) -> (String, &str) {
    let glob = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
    let mut end = 0;
    for part in glob.split_inclusive('/') {
        if part.contains(['*', '?', '[', '{', '\\']) || part.trim_end_matches('/') == ".." {
            break;
        }
        end += part.len();
    }
    (glob[..end].trim_matches('/').to_owned(), &glob[end..])
}

/// A folder that may be written is made beforehand: without it, only the right to write all around it would help.
fn make_folder(place: &Place, prefix: &str, may_be_file: bool) -> Result<(), Failure> {
    let has_ending = prefix.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if may_be_file && has_ending {
        return Ok(());
    }
    // Naming something below the folder makes the folder.
    Root::of(place).open()?.make_spot(&format!("{prefix}/.")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_part_of_a_glob_is_found() {
        for (glob, prefix, rest) in [
            ("src/**", "src", "**"),
            ("./src/a/*.rs", "src/a", "*.rs"),
            ("docs/", "docs", ""),
            ("Cargo.toml", "Cargo.toml", ""),
            ("**/*.md", "", "**/*.md"),
            ("a/../../b", "a", "../../b"),
        ] {
            assert_eq!(literal_prefix(glob), (prefix.to_owned(), rest), "{glob}");
        }
    }
}
