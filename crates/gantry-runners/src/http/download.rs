//! A download: into an unfinished file beside everything else, then to its place as a whole.
//!
//! What has come stays when the line is cut, or this process killed: whoever does the same work again asks for the rest
//! (`Range`), if the server still has the same file (`If-Range`). Which file that was is in the record, under the key of the
//! download, before any byte of it is written. Without a name for its version (`ETag`, `Last-Modified`) it begins anew.
//!
//! The file that is in its place is kept before it is replaced, and comes back with `undo`; with `undo: never`, or an action
//! that takes it back, it is not kept.

use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use gantry_core::input::Success;
use gantry_core::policy::{FailureClass, Usage};
use reqwest::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE, LAST_MODIFIED, RANGE,
};
use reqwest::{Client, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::FETCH;
use super::asked::{Asked, Target};
use super::send::{Unanswered, Unpack, cancelled, client, cut_off, read, send, unexpected};
use crate::files::{Part, Root, Undo, Written, blocking};
use crate::policy::wrong;
use crate::ports::{CallNo, Ports};
use crate::text::visible;
use crate::work::{Place, Work};

/// How often the rest is asked for in one attempt, while something comes each time.
const RESUMES_MAX: u32 = 100;
/// How much of an answer that is no file is read, to say what it was.
const REFUSAL_BYTES_MAX: u64 = 64 << 10;
/// How many pieces may wait for the disk.
const PIECES_MAX: usize = 16;

/// Which version of a file has come so far, as its server names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Version {
    /// What `If-Range` says; none when the server has no name for it.
    name: Option<String>,
    /// How many bytes the whole file has.
    bytes: Option<u64>,
}

impl Version {
    fn of(headers: &HeaderMap, bytes: Option<u64>) -> Self {
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        // A weak name stands for files that only mean the same.
        let tag = headers.get(ETAG).and_then(text).filter(|tag| !tag.starts_with("W/"));
        let ranges = headers.get(ACCEPT_RANGES).is_none_or(|value| value != "none");
        let name = tag.or_else(|| headers.get(LAST_MODIFIED).and_then(text)).filter(|_| ranges);
        Self { name, bytes }
    }
}

/// What is written down before anything is changed.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The key of the unfinished file.
    part: String,
    /// What is in its place, once all of it has come.
    was: Undo,
}

/// Removes what is unfinished, and brings back what was there before.
pub(super) async fn take_back(record: &Value, place: &Place, ports: &Ports) -> Result<String, String> {
    let Record { part, was } = serde_json::from_value(record.clone())
        .map_err(|error| format!("the record of what was there before cannot be read: {error}"))?;
    let root = Root::of(place);
    blocking(move || root.open()?.part(&part)?.remove()).await.map_err(|failure| failure.message)?;
    was.take_back(place, ports).await
}

/// Everything that one download needs.
struct Download<'a> {
    asked: &'a Asked,
    client: Client,
    key: String,
    part: Part,
    work: &'a Work,
    place: &'a Place,
    ports: &'a Ports,
    stop: &'a CancellationToken,
}

/// How one request for (the rest of) a file ended.
enum Round {
    /// All of it has come.
    Whole,
    /// The line was cut.
    Cut(Failure),
}

pub(super) async fn download(
    asked: Asked,
    work: &Work,
    place: &Place,
    ports: &Ports,
    stop: &CancellationToken,
    undo: &mut Option<Value>,
) -> Result<Success, Failure> {
    let Some(target) = asked.file.clone() else { return Err(wrong("there is no file to download to")) };
    let whole = json!(["download", work.key, asked.url.as_str(), target.path]).to_string();
    let key = blake3::hash(whole.as_bytes()).to_hex().to_string();
    let (root, name) = (Root::of(place), key.clone());
    let part = blocking(move || root.open()?.part(&name)).await?;
    let client = client(place, Unpack::No)?;
    // What is unfinished goes, too, when it is taken back.
    let record = json!(Record { part: key.clone(), was: Undo::default() });
    ports.intend(record.clone()).await?;
    *undo = Some(record);
    let download = Download { asked: &asked, client, key, part, work, place, ports, stop };
    ports.beating(work.heartbeat, download.fetch()).await?;
    download.put(&target, undo).await
}

impl Download<'_> {
    /// Fetches all of it into the unfinished file.
    async fn fetch(&self) -> Result<(), Failure> {
        let recalled = self.ports.calls.recall(FETCH, &self.key).await?.and_then(|call| call.answer);
        let mut version: Version =
            recalled.and_then(|answer| serde_json::from_value(answer["version"].clone()).ok()).unwrap_or_default();
        for _ in 0..RESUMES_MAX {
            let before = self.have().await?;
            match self.round(&mut version).await? {
                Round::Whole => return Ok(()),
                // Nothing came, or nobody can tell what the rest would belong to: someone else decides when to try again.
                Round::Cut(failure) if version.name.is_none() || self.have().await? <= before => return Err(failure),
                Round::Cut(_) => {}
            }
        }
        Err(Failure::new(FailureClass::Transient, format!("`{}` was cut off {RESUMES_MAX} times", self.asked.url)))
    }

    async fn have(&self) -> Result<u64, Failure> {
        let part = self.part.clone();
        blocking(move || part.bytes()).await
    }

    /// Asks once, for what is missing.
    async fn round(&self, version: &mut Version) -> Result<Round, Failure> {
        let mut have = self.have().await?;
        let mut also = HeaderMap::new();
        if let Some(name) = version.name.as_ref().filter(|_| have > 0).and_then(|name| HeaderValue::from_str(name).ok())
        {
            also.insert(IF_RANGE, name);
            also.extend(HeaderValue::from_str(&format!("bytes={have}-")).ok().map(|range| (RANGE, range)));
        } else {
            have = 0;
        }
        let request = self.asked.recorded();
        let call = self.ports.calls.begin(FETCH, &self.key, request).await?;
        let sent = send(&self.client, self.asked, &self.work.key, &also, self.place, self.stop).await;
        let response = match sent {
            Ok(response) => response,
            Err(Unanswered { failure, .. }) => {
                self.failed(call, version, &failure);
                // A line that was cut before the first byte is no different from one that was cut after it.
                return if failure.class == FailureClass::Transient { Ok(Round::Cut(failure)) } else { Err(failure) };
            }
        };
        let (status, url, headers) = (response.status(), response.url().clone(), response.headers().clone());
        let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let range = headers.get(CONTENT_RANGE).map(|value| visible(value.as_bytes())).unwrap_or_default();
        let from = match status {
            StatusCode::PARTIAL_CONTENT if have > 0 && range.starts_with(&format!("bytes {have}-")) => have,
            StatusCode::OK => 0,
            // It ended exactly where this one was cut: all of it is here.
            StatusCode::RANGE_NOT_SATISFIABLE if have > 0 && version.bytes == Some(have) => {
                self.ports.calls.end(call, json!({"version": version}), Usage::default()).await?;
                return Ok(Round::Whole);
            }
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => {
                // The server does not do as it was asked: from the beginning, then.
                *version = Version::default();
                let failure = Failure::new(FailureClass::Transient, format!("`{}` has no such rest", self.asked.url));
                self.failed(call, version, &failure);
                self.begin_anew().await?;
                return Box::pin(self.round(version)).await;
            }
            _ => {
                let body = read(response, REFUSAL_BYTES_MAX, self.asked, self.stop).await.unwrap_or_default();
                let failure = unexpected(status, &url, &headers, &body, self.asked);
                self.failed(call, version, &failure);
                return Err(failure);
            }
        };
        let bytes = announced.map(|bytes| bytes + from);
        let max = self.place.limits.download_bytes_max;
        if let Some(bytes) = bytes.filter(|bytes| *bytes > max) {
            let failure = wrong(format!("`{}` has {bytes} bytes; at most {max} are downloaded", self.asked.url));
            self.failed(call, version, &failure);
            return Err(failure);
        }
        if from == 0 {
            *version = Version::of(&headers, bytes);
            self.begin_anew().await?;
        }
        // On disk before any byte of it is: whoever finds the bytes knows what they are of.
        self.ports.calls.end(call, json!({"status": status.as_u16(), "version": version}), Usage::default()).await?;
        self.store(response, bytes).await
    }

    fn failed(&self, call: CallNo, version: &Version, failure: &Failure) {
        self.ports.calls.answered(call, json!({"failed": failure.message, "version": version}));
    }

    async fn begin_anew(&self) -> Result<(), Failure> {
        let part = self.part.clone();
        blocking(move || part.clear()).await
    }

    /// Writes what comes as it comes.
    async fn store(&self, mut response: Response, bytes: Option<u64>) -> Result<Round, Failure> {
        let url = response.url().clone();
        let (pieces, mut arriving) = tokio::sync::mpsc::channel::<bytes::Bytes>(PIECES_MAX);
        let (part, max) = (self.part.clone(), self.place.limits.download_bytes_max);
        let writing = tokio::spawn(blocking(move || {
            let mut file = part.append()?;
            while let Some(piece) = arriving.blocking_recv() {
                file.write(&piece, max)?;
            }
            file.finish()
        }));
        let cut = loop {
            let piece = tokio::select! {
                biased;
                () = self.stop.cancelled() => break Some(cancelled()),
                piece = response.chunk() => piece,
            };
            match piece {
                // Whoever writes has stopped, and says below why.
                Ok(Some(piece)) => {
                    if pieces.send(piece).await.is_err() {
                        break None;
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(cut_off(&error, self.asked, &url)),
            }
        };
        drop(pieces);
        let have = writing.await.unwrap_or_else(|error| {
            Err(Failure::new(FailureClass::Transient, format!("writing the file broke off: {error}")))
        })?;
        match cut {
            Some(failure) if failure.class == FailureClass::Transient => Ok(Round::Cut(failure)),
            Some(failure) => Err(failure),
            None if bytes.is_some_and(|bytes| have < bytes) => {
                let message = format!("`{url}` broke off after {have} of {} bytes", bytes.unwrap_or_default());
                Ok(Round::Cut(Failure::new(FailureClass::Transient, message)))
            }
            None => Ok(Round::Whole),
        }
    }

    /// Checks what has come, keeps what is in its place, and puts it there.
    async fn put(&self, target: &Target, undo: &mut Option<Value>) -> Result<Success, Failure> {
        let (part, summed) = (self.part.clone(), self.part.clone());
        let Written { bytes, hash, sha256 } = blocking(move || summed.sum()).await?;
        if let Some(wanted) = target.sha256.as_ref().filter(|wanted| **wanted != sha256) {
            blocking(move || part.remove()).await?;
            let message =
                format!("`{}` has the checksum {sha256}, and not {wanted}; nothing was changed", self.asked.url);
            return Err(wrong(message));
        }
        let keeps = !matches!(self.work.undo, gantry_core::plan::Undo::Never | gantry_core::plan::Undo::Action(_));
        let kept = Undo::keep_for_part(&target.path, &hash, keeps, self.place, self.ports).await;
        let (was, changed) = match kept {
            // Nothing will change that: what has come is of no use.
            Err(failure) if failure.class != FailureClass::Transient => {
                blocking(move || part.remove()).await?;
                return Err(failure);
            }
            kept => kept?,
        };
        let (root, path) = (Root::of(self.place), target.path.clone());
        if changed {
            let record = json!(Record { part: self.key.clone(), was });
            self.ports.intend_instead(record.clone()).await?;
            *undo = Some(record);
            blocking(move || root.open()?.put_part(&part, &path)).await?;
        } else {
            blocking(move || part.remove()).await?;
        }
        let mut outputs = Outputs::new();
        outputs.insert("changed".to_owned(), json!(changed));
        outputs.insert("path".to_owned(), json!(target.path));
        outputs.insert("bytes".to_owned(), json!(bytes));
        outputs.insert("hash".to_owned(), json!(hash));
        outputs.insert("sha256".to_owned(), json!(sha256));
        Ok(Success { outputs, ..Success::default() })
    }
}
