//! Which addresses may be called: by name, and by what the name leads to.
//!
//! A host has to be on the list of every policy. A name that leads to a private address (this machine, its network, the
//! services of a cloud) leads there only if the list names that address as well, so that whoever answers for a name cannot
//! send a plan to where nobody meant it to go. `localhost` on the list stands for the loopback addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use gantry_core::effect::Failure;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::policy::{check_host, forbidden, wrong};
use crate::text::shortened;
use crate::work::Place;

/// A longer address is refused by most servers.
const URL_BYTES_MAX: usize = 8_000;

/// The lists of hosts that all have to agree.
#[derive(Clone, Debug)]
pub(super) struct Lists(Arc<Vec<Vec<String>>>);

impl Lists {
    pub(super) fn of(place: &Place) -> Self {
        Self(Arc::new(place.policies().map(|policy| policy.network.allow.clone()).collect()))
    }

    /// Whether this very address may be called.
    fn allow(&self, ip: IpAddr) -> bool {
        let names = |entry: &String| {
            let entry = entry.trim_matches(['[', ']']);
            entry.parse() == Ok(ip) || (ip.is_loopback() && entry.eq_ignore_ascii_case("localhost"))
        };
        is_public(ip) || self.0.iter().all(|list| list.iter().any(names))
    }
}

/// Reads an address and says no to one that may not be called.
pub(super) fn checked(text: &str, place: &Place) -> Result<Url, Failure> {
    if text.len() > URL_BYTES_MAX {
        return Err(wrong(format!("the address has {} bytes; at most {URL_BYTES_MAX} are sent", text.len())));
    }
    let shown = shortened(&text.escape_debug().to_string(), 100);
    let url = Url::parse(text).map_err(|error| wrong(format!("`{shown}` is no address: {error}")))?;
    allowed(&url, place).map(|()| url)
}

/// Says no to an address that may not be called.
pub(super) fn allowed(url: &Url, place: &Place) -> Result<(), Failure> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(format!("`{}:` addresses are not called; use `https:` or `http:`", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("the address holds a name or a password; send them as a header, such as `authorization`"));
    }
    let Some(host) = url.host_str() else { return Err(wrong("the address names no host")) };
    let host = host.trim_matches(['[', ']']);
    check_host(host, place)?;
    match host.parse::<IpAddr>() {
        Ok(ip) if !Lists::of(place).allow(ip) => Err(forbidden(Private { host: host.to_owned(), ip }.to_string())),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A name that leads to a private address which no list names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` leads to the private address `{ip}`; name `{ip}` in `policy.network.allow` if that is meant")]
pub(super) struct Private {
    host: String,
    ip: IpAddr,
}

/// Finds out what a name leads to, and leaves out what may not be called.
pub(super) struct Resolver(pub(super) Lists);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let lists = self.0.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let (allowed, private): (Vec<_>, Vec<_>) = found.partition(|address| lists.allow(address.ip()));
            match (allowed.is_empty(), private.first()) {
                (true, Some(address)) => Err(Private { host, ip: address.ip() }.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

/// Whether an address is one of the whole internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let private = ip.is_private() || ip.is_loopback() || ip.is_link_local() || a == 0;
    let shared = (a == 100 && (64..128).contains(&b)) || (a, b, c) == (192, 0, 0) || (a == 198 && matches!(b, 18 | 19));
    let no_host = ip.is_multicast() || ip.is_documentation() || a >= 240;
    !(private || shared || no_host)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, .., seventh, eighth] = ip.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    if let Some(inner) = ip.to_ipv4() {
        return is_public_v4(inner); // also the loopback address and no address at all
    }
    match first {
        0x0064 if second == 0xff9b => v4(seventh, eighth), // through a translator
        0x2002 => v4(second, ip.segments()[2]),            // through a tunnel
        0x2001 if second == 0x0db8 => false,               // for documents
        0xfc00..=0xfdff | 0xfe80..=0xfeff | 0xff00.. => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_networks_are_private() {
        let rows = [
            ("93.184.215.14", true),
            ("8.8.8.8", true),
            ("2606:4700::1111", true),
            ("127.0.0.1", false),
            ("127.8.9.10", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("fe80::1", false),
            ("fd00::1", false),
            ("ff02::1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", true),
            ("2002:7f00:1::", false),
        ];
        for (ip, public) in rows {
            assert_eq!(is_public(ip.parse().unwrap()), public, "{ip}");
        }
    }

    #[test]
    fn a_private_address_is_allowed_only_where_every_list_names_it() {
        let lists = |lists: &[&[&str]]| {
            Lists(Arc::new(lists.iter().map(|list| list.iter().map(|host| (*host).to_owned()).collect()).collect()))
        };
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(!lists(&[&["*"]]).allow(loopback), "everything is not everything here");
        assert!(!lists(&[&["intranet.example"]]).allow("10.0.0.5".parse().unwrap()));
        assert!(lists(&[&["10.0.0.5"]]).allow("10.0.0.5".parse().unwrap()));
        assert!(lists(&[&["localhost"]]).allow(loopback) && lists(&[&["127.0.0.1"]]).allow(loopback));
        assert!(!lists(&[&["127.0.0.1"], &["*"]]).allow(loopback), "every policy has to agree");
        assert!(lists(&[&["[::1]"]]).allow("::1".parse().unwrap()));
    }
}
