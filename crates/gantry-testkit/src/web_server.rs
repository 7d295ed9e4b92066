//! A web server for tests: a real one on this machine, that answers as it is told and hangs up when it is told.
//!
//! ```
//! use gantry_testkit::web_server::{Reply, WebServer};
//! let server = WebServer::start(|asked| Reply::file(asked, b"all of it", "\"v1\""));
//! // … let somebody ask at `server.url("/file")` …
//! assert!(server.heard().is_empty());
//! ```

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The server. It takes no more connections once it is dropped.
pub struct WebServer {
    port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
    over: Arc<AtomicBool>,
}

/// A request that came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Its method.
    pub method: String,
    /// Its path, with its query.
    pub path: String,
    /// Its headers, by their names in small letters.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    ends: Ends,
}

/// What becomes of the line.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Properly,
    /// It is cut after so many bytes of the body.
    Cut(usize),
    /// Nothing comes any more after so many bytes of the body, until the other side hangs up.
    Silent(usize),
    /// It is cut before anything is said.
    Unanswered,
}

impl Reply {
    /// This status, with nothing in it.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), ends: Ends::Properly }
    }

    /// This text.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200).body(body)
    }

    /// Nothing at all: the line is cut.
    pub fn none() -> Self {
        Self { ends: Ends::Unanswered, ..Self::status(200) }
    }

    /// A file of this version, or the part of it that is asked for.
    pub fn file(asked: &Heard, bytes: &[u8], version: &str) -> Self {
        let range = asked.headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        let same = asked.headers.get("if-range").is_none_or(|wanted| wanted == version);
        let whole = Self::text(bytes).header("etag", version).header("accept-ranges", "bytes");
        match range.and_then(|from| from.parse::<usize>().ok()).filter(|_| same) {
            None => whole,
            Some(from) if from >= bytes.len() => {
                Self::status(416).header("content-range", &format!("bytes */{}", bytes.len()))
            }
            Some(from) => {
                let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
                Self { status: 206, body: bytes[from..].to_vec(), ..whole }.header("content-range", &range)
            }
        }
    }

    /// With this body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// With this header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The line is cut after so many bytes of the body.
    #[must_use]
    pub fn cut_after(self, bytes: usize) -> Self {
        Self { ends: Ends::Cut(bytes), ..self }
    }

    /// Nothing comes any more after so many bytes of the body, and the line stays open.
    #[must_use]
    pub fn silent_after(self, bytes: usize) -> Self {
        Self { ends: Ends::Silent(bytes), ..self }
    }

    fn send(&self, line: &mut TcpStream, asked: &Heard) -> std::io::Result<()> {
        let said = match self.ends {
            Ends::Unanswered => return line.shutdown(Shutdown::Both),
            Ends::Properly => self.body.len(),
            Ends::Cut(bytes) | Ends::Silent(bytes) => bytes.min(self.body.len()),
        };
        write!(line, "HTTP/1.1 {} Said\r\ncontent-length: {}\r\nconnection: close\r\n", self.status, self.body.len())?;
        for (name, value) in &self.headers {
            write!(line, "{name}: {value}\r\n")?;
        }
        line.write_all(b"\r\n")?;
        if asked.method != "HEAD" {
            line.write_all(&self.body[..said])?;
        }
        line.flush()?;
        if matches!(self.ends, Ends::Silent(_)) {
            let _ = line.read(&mut [0]); // until the other side has gone
        }
        line.shutdown(Shutdown::Both)
    }
}

impl WebServer {
    /// Starts one at a free port that answers each request by looking at it.
    pub fn start(answer: impl Fn(&Heard) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free on this machine");
        let port = listener.local_addr().expect("a listener has an address").port();
        let (heard, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (answer, all, ended) = (Arc::new(answer), Arc::clone(&heard), Arc::clone(&over));
        std::thread::spawn(move || {
            for line in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                std::thread::spawn(move || {
                    let Ok(mut line) = line else { return };
                    let Some(asked) = hear(&line) else { return };
                    all.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
                    // Whoever hangs up does not listen.
                    let _ = answer(&asked).send(&mut line, &asked);
                });
            }
        });
        Self { port, heard, over }
    }

    /// An address of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The same by its name.
    pub fn named_url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// Everything that was asked so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes it, so that it sees
    }
}

fn hear(line: &TcpStream) -> Option<Heard> {
    let mut reader = BufReader::new(line);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split(' ').map(str::to_owned);
    let mut asked = Heard { method: words.next()?, path: words.next()?, ..Heard::default() };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        asked.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = asked.headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    asked.body = vec![0; length];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}
