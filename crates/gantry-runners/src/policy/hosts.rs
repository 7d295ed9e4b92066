//! Which hosts may be reached.

use gantry_core::effect::Failure;

use super::forbidden;
use crate::work::Place;

/// Says no to a host that a policy does not list. `*` stands for every host, `*.example.org` for all below one.
pub(crate) fn check_host(host: &str, place: &Place) -> Result<(), Failure> {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    for policy in place.policies() {
        let allow = &policy.network.allow;
        if allow.iter().any(|pattern| fits(&pattern.to_ascii_lowercase(), &host)) {
            continue;
        }
        let allowed = if allow.is_empty() { "nothing".to_owned() } else { format!("`{}`", allow.join("`, `")) };
        return Err(forbidden(format!("`{host}` is outside `policy.network.allow`, which allows {allowed}")));
    }
    Ok(())
}

fn fits(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some("") => true,
        Some(below) => below.starts_with('.') && host.ends_with(below),
        None => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart_by_their_whole_names() {
        let rows = [
            ("*", "example.org", true),
            ("example.org", "example.org", true),
            ("example.org", "api.example.org", false),
            ("*.example.org", "api.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", "evilexample.org", false),
            ("*example.org", "evilexample.org", false),
            ("127.0.0.1", "127.0.0.1", true),
        ];
        for (pattern, host, fitting) in rows {
            assert_eq!(fits(pattern, host), fitting, "{pattern} {host}");
        }
    }
}
