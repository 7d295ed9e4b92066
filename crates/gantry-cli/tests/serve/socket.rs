//! A WebSocket, as small as it can be.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::server::Server;

/// A WebSocket with the progress of a plan.
pub struct Socket(TcpStream);

impl Socket {
    /// Opens one; the query says from where on.
    pub fn open(server: &Server, plan: &str, query: &str) -> Self {
        let mut stream = server.open(&format!(
            "GET /ws/plans/{plan}/progress{query} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            server.addr
        ));
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    /// Says many small things at once. Whoever is let go in between cannot say the rest.
    pub fn say(&mut self, times: usize) {
        // A text of two bytes, hidden by a mask of zeros.
        let frames: Vec<u8> = std::iter::repeat_n([0x81, 0x82, 0, 0, 0, 0, b'h', b'i'], times).flatten().collect();
        let _ = self.0.write_all(&frames);
    }

    /// Says one thing of so many bytes.
    pub fn say_giant(&mut self, bytes: u64) {
        let mut frame = vec![0x81, 0xff];
        frame.extend(bytes.to_be_bytes());
        frame.extend([0; 4]);
        frame.resize(frame.len() + usize::try_from(bytes).unwrap(), b'x');
        let _ = self.0.write_all(&frame);
    }

    /// The next message; none at the end.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).ok()?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut more = [0; 2];
                    self.0.read_exact(&mut more).ok()?;
                    u64::from(u16::from_be_bytes(more))
                }
                127 => {
                    let mut more = [0; 8];
                    self.0.read_exact(&mut more).ok()?;
                    u64::from_be_bytes(more)
                }
                short => u64::from(short),
            };
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut body).ok()?;
            match head[0] & 0x0f {
                1 => return Some(serde_json::from_slice(&body).unwrap()),
                8 => return None,
                _ => {}
            }
        }
    }

    /// Everything up to the end.
    pub fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }
}
