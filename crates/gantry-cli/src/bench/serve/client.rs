//! A client that says no more than it must: what is measured is the server.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::exit::Fault;

/// A line to a server, over which one asks again and again.
pub struct Line {
    stream: TcpStream,
    host: String,
    buffer: Vec<u8>,
}

fn lost(error: impl ToString) -> Fault {
    Fault::internal(format!("the measured server was lost: {}", error.to_string()))
}

impl Line {
    /// Opens a line.
    pub async fn open(addr: &str) -> Result<Self, Fault> {
        let stream = TcpStream::connect(addr).await.map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        Ok(Self { stream, host: addr.to_owned(), buffer: Vec::new() })
    }

    /// Asks for something.
    pub async fn get(&mut self, path: &str) -> Result<Value, Fault> {
        self.ask("GET", path, "").await
    }

    /// Says something.
    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.ask("POST", path, &body.to_string()).await
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<Value, Fault> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await.map_err(lost)?;
        let (status, length) = self.head().await?;
        while self.buffer.len() < length {
            self.more().await?;
        }
        let body: Vec<u8> = self.buffer.drain(..length).collect();
        if status >= 300 {
            return Err(Fault::internal(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&body))));
        }
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Begins to watch a plan that was only created; what follows is a stream.
    pub async fn watch(mut self, plan: &str) -> Result<(TcpStream, Vec<u8>), Fault> {
        let head = format!("GET /api/v1/plans/{plan}/events?after=1 HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.write_all(head.as_bytes()).await.map_err(lost)?;
        match self.head().await? {
            (200, _) => Ok((self.stream, self.buffer)),
            (status, _) => Err(Fault::internal(format!("a watcher was refused: {status}"))),
        }
    }

    /// Reads the head of an answer: its status, and how long its body is.
    async fn head(&mut self) -> Result<(u16, usize), Fault> {
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        self.buffer.drain(..end);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        Ok((status, length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)))
    }

    async fn more(&mut self) -> Result<(), Fault> {
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => Err(lost("it closed the line")),
            Ok(_) => Ok(()),
            Err(error) => Err(lost(error)),
        }
    }
}
