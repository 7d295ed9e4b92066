//! A provider of models that does nothing but answer: chat completions, streamed, always the same words.
//!
//! The beginning of the path says how it paces itself: `/at-once/`, `/after-50-ms/`, or `/together-1000/`, which answers
//! nobody before so many are waiting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;

use super::super::machine;
use crate::exit::{self, Fault};

/// Where the head of a request ends.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// How many bytes are read at once.
const READ: usize = 16 << 10;

/// Answers until standard input ends: so it never outlives whoever started it. Says its port first.
pub async fn serve() -> Result<(), Fault> {
    let failed = |error: std::io::Error| Fault::internal(format!("no server can be started on this machine: {error}"));
    machine::many_files();
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    exit::print(&format!("{}\n", listener.local_addr().map_err(failed)?.port()))?;
    let barriers = Barriers::default();
    let ended = tokio::task::spawn_blocking(|| drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink())));
    let accept = async {
        while let Ok((stream, _)) = listener.accept().await {
            let barriers = barriers.clone();
            tokio::spawn(async move {
                // Whoever hangs up has what it wanted.
                let _ = converse(stream, barriers).await;
            });
        }
    };
    tokio::select! {
        _ = ended => Ok(()),
        () = accept => Ok(()),
    }
}

/// The places where callers wait for each other, by how many they are.
#[derive(Clone, Default)]
struct Barriers(Arc<Mutex<BTreeMap<usize, Arc<Barrier>>>>);

impl Barriers {
    fn of(&self, count: usize) -> Arc<Barrier> {
        let mut barriers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(barriers.entry(count).or_insert_with(|| Arc::new(Barrier::new(count))))
    }
}

/// Answers one request after the other that comes over one line.
async fn converse(mut stream: TcpStream, barriers: Barriers) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let answer = answer();
    let mut read: Vec<u8> = Vec::with_capacity(READ);
    loop {
        let length = loop {
            if let Some(length) = whole(&read) {
                break length;
            }
            if stream.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        };
        match pace(&read) {
            Pace::AtOnce => {}
            Pace::After(pause) => {
                // A thread sleeps as long as it is told; timers of the runtime round up to the next millisecond.
                let _ = tokio::task::spawn_blocking(move || std::thread::sleep(pause)).await;
            }
            Pace::Together(count) => {
                barriers.of(count).wait().await;
            }
        }
        read.drain(..length);
        stream.write_all(&answer).await?;
    }
}

/// How an answer is paced.
#[derive(Debug, PartialEq, Eq)]
enum Pace {
    AtOnce,
    After(Duration),
    Together(usize),
}

/// What the path of a request asks for.
fn pace(request: &[u8]) -> Pace {
    let line = request.split(|byte| *byte == b'\r').next().and_then(|line| std::str::from_utf8(line).ok());
    let first = line.and_then(|line| line.split('/').nth(1)).unwrap_or_default();
    let number = || first.split('-').nth(1).and_then(|number| number.parse().ok());
    match first.split('-').next() {
        Some("after") => Pace::After(Duration::from_millis(number().unwrap_or_default())),
        Some("together") => Pace::Together(number().and_then(|number| usize::try_from(number).ok()).unwrap_or(1)),
        _ => Pace::AtOnce,
    }
}

/// How many bytes the first request takes, once it is there in full.
fn whole(read: &[u8]) -> Option<usize> {
    let head = read.windows(HEAD_END.len()).position(|window| window == HEAD_END)?;
    let text = std::str::from_utf8(&read[..head]).unwrap_or_default();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let all = head + HEAD_END.len() + length.unwrap_or_default();
    (read.len() >= all).then_some(all)
}

/// The words, and their frames.
pub fn answer() -> Vec<u8> {
    let chunk = |rest: &str| {
        format!(
            "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"bench\",{rest}}}\n\n"
        )
    };
    let piece = |text: &str| {
        chunk(&format!("\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]"))
    };
    let mut frames: String =
        ["It ", "is ", "done, ", "and ", "here ", "is ", "what ", "came ", "of ", "it."].map(piece).concat();
    frames += &chunk("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]");
    frames += &chunk("\"choices\":[],\"usage\":{\"prompt_tokens\":300,\"completion_tokens\":10,\"total_tokens\":310}");
    frames += "data: [DONE]\n\n";
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", frames.len());
    (head + &frames).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_when_its_body_has_come() {
        let request = b"POST /at-once/v1/chat/completions HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd";
        assert_eq!(whole(request), Some(request.len()));
        assert_eq!(whole(&request[..request.len() - 1]), None);
        assert_eq!(whole(b"POST / HTTP/1.1\r\n"), None);
    }

    #[test]
    fn the_path_says_how_an_answer_is_paced() {
        assert_eq!(pace(b"POST /at-once/v1/chat/completions HTTP/1.1\r\n"), Pace::AtOnce);
        assert_eq!(pace(b"POST /after-50-ms/v1/x HTTP/1.1\r\n"), Pace::After(Duration::from_millis(50)));
        assert_eq!(pace(b"POST /together-1000/v1/x HTTP/1.1\r\n"), Pace::Together(1_000));
        assert_eq!(pace(b"\xff\xfe"), Pace::AtOnce);
    }
}
