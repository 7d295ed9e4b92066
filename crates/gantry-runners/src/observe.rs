//! Facts about the world that conditions of a plan read: `network.online`, `disk.free`, `env.os`, …
//!
//! | Fact | Value |
//! | --- | --- |
//! | `network.online` | whether an interface other than the loopback is up and the policy allows any host |
//! | `disk.free`, `memory.has_space` | bytes that can still be written in the working folder (`memory.has_space` is the room for what a plan remembers) |
//! | `memory.free` | bytes of main memory that are available |
//! | `env.os`, `env.arch`, `env.cpus` | the machine |
//! | `env.tool.<name>` | whether a program of that name is in the `PATH` |
//! | `env.<NAME>` | a variable of the list that processes see, or of the operator; never a secret |
//!
//! Other facts are not known here and are left out, so that whoever asked can ask someone else.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::shell::environment::TAKEN_OVER;
use crate::work::Place;

/// Finds out facts. Those that are not known are missing in the answer.
pub fn observe(names: &[String], place: &Place) -> BTreeMap<String, Value> {
    let known = names.iter().filter_map(|name| Some((name.clone(), fact(name, place)?)));
    known.map(|(name, value)| (name, place.secrets.redact_value(&value))).collect()
}

fn fact(name: &str, place: &Place) -> Option<Value> {
    match name {
        "network.online" => Some(json!(online(place))),
        "disk.free" | "memory.has_space" => disk_free(&place.root).map(Value::from),
        "memory.free" => memory_free().map(Value::from),
        "env.os" => Some(json!(std::env::consts::OS)),
        "env.arch" => Some(json!(std::env::consts::ARCH)),
        "env.cpus" => std::thread::available_parallelism().ok().map(|cpus| json!(cpus.get())),
        other => match other.strip_prefix("env.tool.") {
            Some(tool) => Some(json!(find_program(tool).is_some())),
            None => variable(other.strip_prefix("env.")?, place).map(Value::from),
        },
    }
}

fn variable(name: &str, place: &Place) -> Option<String> {
    if place.secrets.values().any(|(secret, _)| secret == name) {
        return None;
    }
    let taken_over = TAKEN_OVER.contains(&name) || name.starts_with("LC_");
    place.environment.get(name).cloned().or_else(|| std::env::var(name).ok().filter(|_| taken_over))
}

/// Whether there is a way out; nothing is sent to find out.
fn online(place: &Place) -> bool {
    let up = |entry: std::fs::DirEntry| {
        let state = std::fs::read_to_string(entry.path().join("operstate")).unwrap_or_default();
        entry.file_name() != "lo" && matches!(state.trim(), "up" | "unknown")
    };
    let interfaces = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    place.has_network() && interfaces.into_iter().any(up)
}

fn disk_free(root: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(root).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn memory_free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Finds a program in the `PATH`.
pub(crate) fn find_program(name: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|folder| folder.join(name));
    let runs = |path: &std::path::PathBuf| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    candidates.into_iter().find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secrets;

    #[test]
    fn known_facts_are_found_out_and_others_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut place = Place::at(folder.path());
        place.environment.insert("STAGE".to_owned(), "test".to_owned());
        place.secrets = Secrets::of([("TOKEN".to_owned(), "abcdef".to_owned())]).unwrap();
        let names = [
            "network.online",
            "disk.free",
            "memory.has_space",
            "env.os",
            "env.tool.sh",
            "env.tool.no-such",
            "env.STAGE",
            "env.TOKEN",
            "env.CARGO_PKG_NAME",
            "moon.phase",
        ];
        let facts = observe(&names.map(str::to_owned), &place);
        assert_eq!(facts["network.online"], json!(false), "the policy allows no host");
        assert!(facts["disk.free"].as_u64().unwrap() > 0 && facts["memory.has_space"].is_u64());
        assert_eq!((&facts["env.tool.sh"], &facts["env.tool.no-such"]), (&json!(true), &json!(false)));
        assert_eq!(facts["env.STAGE"], json!("test"));
        for unknown in ["env.TOKEN", "env.CARGO_PKG_NAME", "moon.phase"] {
            assert!(!facts.contains_key(unknown), "{unknown}");
        }
    }
}
