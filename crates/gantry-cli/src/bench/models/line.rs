//! The server as those who ask see it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;

use gantry_llm::{Chains, Gateway, Limits, Message, Protocol, Request, Secret, Target, Wire};

use super::super::child::this_program;
use crate::exit::Fault;

/// A server in a process of its own, which ends with this one.
pub struct Line {
    port: u16,
    server: Child,
}

impl Line {
    /// Starts the server and waits until it listens.
    pub fn open() -> Result<Self, Fault> {
        let failed = |error: std::io::Error| Fault::internal(format!("a server cannot be started: {error}"));
        let mut command = this_program(&["bench", "--child", "serve", "-", "-"])?;
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut said = String::new();
        if let Some(stdout) = server.stdout.take() {
            BufReader::new(stdout).read_line(&mut said).map_err(failed)?;
        }
        let port = said.trim().parse();
        let port = port.map_err(|_| Fault::internal("the server that was started does not say its port"))?;
        Ok(Self { port, server })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Asks the server alone, paced like this, with so many calls at once at most.
    pub fn gateway(&self, pace: &str, concurrent_max: u32) -> Result<Gateway, Fault> {
        let wire = Wire::new().map_err(Fault::internal)?;
        Ok(Gateway::new(Arc::new(Only(self.target(pace, concurrent_max)))).with_wire(Arc::new(wire)))
    }

    /// Asks nobody: whatever is not recorded fails.
    pub fn cut(&self, pace: &str) -> Gateway {
        Gateway::new(Arc::new(Only(self.target(pace, 1))))
    }

    fn target(&self, pace: &str, concurrent_max: u32) -> Target {
        Target {
            provider: "bench".to_owned(),
            protocol: Protocol::OpenaiChat,
            base_url: format!("http://127.0.0.1:{}/{pace}/v1/", self.port),
            key: Some(Secret::new("none")),
            model: "bench".to_owned(),
            price: None,
            limits: Limits { concurrent_max, retries_max: 0, ..Limits::default() },
            context: None,
            schemas: true,
            tools: false,
            keep: false,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // It ends by itself when its input ends; this only spares the wait.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The only model that there is.
struct Only(Target);

impl Chains for Only {
    fn chain(&self, _: &str, _: Option<&str>) -> Result<Vec<Target>, String> {
        Ok(vec![self.0.clone()])
    }

    fn strict(&self) -> bool {
        true
    }
}

/// A question of a usual length; each number is another question.
pub fn question(number: usize) -> Request {
    let text = "The log says that the connection was lost after 30 seconds. ".repeat(15);
    Request {
        role: "writer".to_owned(),
        messages: vec![
            Message::system("You carry out one task of a plan, exactly as it says, and say what came of it."),
            Message::user(format!("{text}\n\nSay what is wrong, in one sentence. This is log number {number}.")),
        ],
        ..Request::default()
    }
}
