//! A server in a process of its own, and a small client that says exactly what it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take before a test gives up, and how often it is looked until then at least: where processes stand
/// still for a while, time has passed and nothing has happened.
pub const WITHIN: Duration = Duration::from_secs(30);
const LOOKS: u32 = 20;
/// How long one answer may take: longer than the server itself allows, so that it is the one who gives up.
const ANSWERED_WITHIN: Duration = Duration::from_secs(90);

/// A server with a record of its own.
pub struct Server {
    folder: tempfile::TempDir,
    child: Option<Child>,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    pub addr: String,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The code of a problem, which must be one.
    pub fn code(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        assert_eq!(self.json()["status"], self.status);
        (self.status, self.json()["code"].as_str().unwrap().to_owned())
    }
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[], |_| {})
    }

    /// Starts with more arguments, in a folder that was prepared.
    pub fn start_with(args: &[&str], prepare: impl FnOnce(&std::path::Path)) -> Self {
        Self::start_in(args, &[], prepare)
    }

    /// Starts with more arguments and variables, in a folder that was prepared.
    pub fn start_in(args: &[&str], variables: &[(&str, &str)], prepare: impl FnOnce(&std::path::Path)) -> Self {
        let args = args.iter().map(|&one| one.to_owned()).collect();
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { folder, child: None, args, variables, addr: String::new() };
        prepare(server.folder());
        server.go_on();
        server
    }

    /// Where its record is.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn gantry(&self) -> Command {
        let mut command = gantry_in(self.folder());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the process again, where it was.
    pub fn go_on(&mut self) {
        let mut command = self.gantry();
        let addr = if self.addr.is_empty() { "127.0.0.1:0" } else { &self.addr };
        command.args(["serve", "--addr", addr, "--json", "--grace", "2", "--body-max", "100000"]).args(&self.args);
        // A log is for whoever asked for one; what else is said stands in the output of the test.
        if self.args.iter().any(|arg| arg == "--log=json") {
            command.stderr(std::fs::File::create(self.folder().join("log")).unwrap());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        said["url"].as_str().unwrap().split_once("://").unwrap().1.clone_into(&mut self.addr);
        self.child = Some(child);
    }

    /// Kills the process, as a power cut would.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the process to stop, and waits for it.
    pub fn stop(&mut self) -> bool {
        let mut child = self.child.take().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        child.wait().unwrap().success()
    }

    /// Runs another command on the same record.
    pub fn run(&self, args: &[&str], input: &str) -> String {
        let mut child = self
            .gantry()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs another command on the same record that does not succeed: its exit code, and what it said.
    pub fn refused(&self, args: &[&str]) -> (i32, String) {
        let output = self.gantry().args(args).stdin(Stdio::null()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// A connection on which a request was sent.
    pub fn open(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        stream.set_read_timeout(Some(ANSWERED_WITHIN)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with more headers, and reads the answer.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.addr);
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        request.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n", body]);
        read(self.open(&request))
    }

    /// Sends bytes.
    pub fn send_bytes(&self, path: &str, media: &str, body: &[u8]) -> Answer {
        let mut stream = self.open(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n",
            self.addr,
            body.len()
        ));
        stream.write_all(body).unwrap();
        read(stream)
    }

    /// The beginning of an answer that has no end.
    pub fn beginning(&self, path: &str) -> Answer {
        let mut stream = self.open(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.addr));
        let (mut bytes, mut more) = (Vec::new(), [0; 4_096]);
        while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut more).unwrap();
            assert!(read > 0, "it broke off: {}", String::from_utf8_lossy(&bytes));
            bytes.extend_from_slice(&more[..read]);
        }
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(0);
        answer(&bytes[..end + 4])
    }

    /// Waits until nothing of a plan runs any more.
    pub fn settled(&self, plan: &str, cookie: &str) {
        let since = Instant::now();
        for looks in 0.. {
            let found = self.send("GET", &format!("/api/v1/plans/{plan}"), &[("Cookie", cookie)], "");
            let busy = |name: &str| found.json()["tasks"][name].as_u64().unwrap_or(0) > 0;
            if found.status != 200 || !(busy("running") || busy("ready")) {
                return;
            }
            assert!(looks < LOOKS || since.elapsed() < WITHIN, "{}", found.text());
            self.news(plan, &found.json()["length"], cookie);
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], &body.to_string())
    }

    /// Creates a plan from a file, and returns its id.
    pub fn create(&self, yaml: &str) -> String {
        let answer = self.send("POST", "/api/v1/plans", &[("Content-Type", "application/yaml")], yaml);
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["plan"].as_str().unwrap().to_owned()
    }

    /// Waits until a plan is in a state.
    pub fn until(&self, plan: &str, state: &str) -> Value {
        let since = Instant::now();
        for looks in 0.. {
            let found = self.get(&format!("/api/v1/plans/{plan}")).json();
            if found["state"] == state {
                return found;
            }
            let waits = looks < LOOKS || since.elapsed() < WITHIN;
            assert!(waits, "{plan} is {} and not {state}", found["state"]);
            self.news(plan, &found["length"], "");
        }
        unreachable!("it gives up before it has looked that often")
    }

    /// Waits until something has happened to a plan after an entry. Asking again and again instead would take the time
    /// that the server needs to get there.
    fn news(&self, plan: &str, after: &Value, cookie: &str) {
        let path = format!("/api/v1/plans/{plan}/events?after={after}");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", self.addr);
        let (mut stream, mut bytes, mut more) = (self.open(&request), Vec::new(), [0; 4_096]);
        while !bytes.windows(6).any(|six| six == b"event:") {
            match stream.read(&mut more) {
                Ok(read) if read > 0 => bytes.extend_from_slice(&more[..read]),
                // It has gone away, or says nothing: whoever waits looks again, and gives up when it is time.
                _ => return,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The program, on the record of a folder.
fn gantry_in(folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry"));
    command.current_dir(folder).env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GANTRY_DB", folder.join("gantry.db")).env("GANTRY_USER", "olga");
    command
}

/// Lets a person in, before the server is there.
pub fn person(folder: &std::path::Path, name: &str, role: &str, password: &str) {
    let mut command = gantry_in(folder);
    let mut child = command
        .args(["access", "user", name, "--role", role])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// Reads an answer to its end.
pub fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that has said no may close before it has read everything.
    let _ = stream.read_to_end(&mut bytes);
    answer(&bytes)
}

/// What an answer says.
pub fn answer(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok()).unwrap_or(0);
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
    let rest = bytes.get(end + 4..).unwrap_or_default();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked { unchunked(rest) } else { rest.to_vec() };
    Answer { status, headers, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(String::from_utf8_lossy(&rest[..end]).trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    body
}
