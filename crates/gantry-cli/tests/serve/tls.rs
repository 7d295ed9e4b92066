use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

use crate::server::{Answer, Server, WITHIN, answer, person, read};

/// A certificate for this machine that nobody but its own client trusts.
fn certificate() -> rcgen::CertifiedKey<rcgen::KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

fn start(certified: &rcgen::CertifiedKey<rcgen::KeyPair>) -> Server {
    Server::start_with(&["--tls-cert", "cert.pem", "--tls-key", "key.pem"], |folder| {
        std::fs::write(folder.join("cert.pem"), certified.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), certified.signing_key.serialize_pem()).unwrap();
    })
}

/// Asks over TLS as a client does that trusts this certificate and no other; none when they cannot agree.
fn ask(server: &Server, trusted: &rcgen::CertifiedKey<rcgen::KeyPair>, request: &str) -> Option<Answer> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let client = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let socket = TcpStream::connect(&server.addr).unwrap();
    socket.set_read_timeout(Some(WITHIN)).unwrap();
    let mut stream = StreamOwned::new(client, socket);
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    // The end of the connection is the end of the answer.
    let _ = stream.read_to_end(&mut bytes);
    Some(answer(&bytes))
}

#[test]
fn with_a_certificate_everything_goes_over_tls_and_cookies_go_over_nothing_else() {
    let (ours, other) = (certificate(), certificate());
    let server = start(&ours);
    let get = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(ask(&server, &ours, get).unwrap().json()["status"], "ok");
    assert!(ask(&server, &other, get).is_none_or(|answer| answer.status == 0), "a client that trusts another");
    assert_eq!(read(server.open(get)).status, 0, "nothing is answered in the clear");
    server.run(&["access", "user", "ana", "--role", "admin"], "a long password\n");
    let body = json!({"name": "ana", "password": "a long password"}).to_string();
    let sign_in = format!(
        "POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let signed = ask(&server, &ours, &sign_in).unwrap();
    assert_eq!(signed.status, 204, "{}", signed.text());
    assert!(signed.header("set-cookie").unwrap().ends_with("; Secure"));
}

#[test]
fn a_certificate_or_a_key_that_cannot_be_used_is_named() {
    let (ours, other) = (certificate(), certificate());
    let server = Server::start();
    let refused = |cert: &str, key: &str| {
        std::fs::write(server.folder().join("cert.pem"), cert).unwrap();
        std::fs::write(server.folder().join("key.pem"), key).unwrap();
        let args =
            ["serve", "--addr", "127.0.0.1:0", "--db", "other.db", "--tls-cert", "cert.pem", "--tls-key", "key.pem"];
        let (code, said) = server.refused(&args);
        assert_eq!(code, 2, "{said}");
        said.lines().next().unwrap().to_owned()
    };
    let (cert, key) = (ours.cert.pem(), ours.signing_key.serialize_pem());
    insta::assert_snapshot!(refused("", &key), @"error: `cert.pem` cannot be used for TLS: there is no certificate in it");
    insta::assert_snapshot!(refused(&cert, "no key"), @"error: `key.pem` cannot be used for TLS: there is no private key in it");
    insta::assert_snapshot!(refused(&cert, &other.signing_key.serialize_pem()), @"error: `key.pem` cannot be used for TLS: it is not the key of the certificate");
}

#[test]
fn what_a_proxy_says_about_its_client_is_believed_only_when_there_is_one() {
    let sign_in = |server: &Server, from: &str, password: &str| {
        let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", from), ("X-Forwarded-Proto", "https")];
        let body = json!({"name": "ana", "password": password}).to_string();
        server.send("POST", "/api/v1/sessions", &headers, &body)
    };
    for (args, secure, seen) in [(&["--behind-proxy"][..], true, "10.0.0.9"), (&[], false, "127.0.0.1")] {
        let server = Server::start_with(args, |folder| person(folder, "ana", "admin", "a long password"));
        let signed = sign_in(&server, "6.6.6.6, 10.0.0.9", "a long password");
        let cookie = signed.header("set-cookie").unwrap().to_owned();
        assert_eq!(cookie.contains("; Secure"), secure, "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let log = server.send("GET", "/api/v1/audit", &[("Cookie", &cookie)], "").json();
        assert_eq!(log[0]["from"], seen);
        // One client's guesses are not held against another's, unless nobody can tell them apart.
        let guesses = (0..12).map(|_| sign_in(&server, "10.0.0.7", "a guess").status);
        assert!(guesses.collect::<Vec<_>>().contains(&429));
        let other = sign_in(&server, "10.0.0.8", "a long password").status;
        assert_eq!(other, if secure { 204 } else { 429 });
    }
}
