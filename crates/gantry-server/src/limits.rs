//! How much one client may ask of the server.

use std::time::Duration;

/// How much one client may ask of the server. Every number is a promise of the documentation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of a body.
    pub body_bytes_max: usize,
    /// The most bytes of all headers together.
    pub header_bytes_max: usize,
    /// The most headers.
    pub headers_max: usize,
    /// How long a client may take to send its headers.
    pub header_within: Duration,
    /// How long a client may take to send a body.
    pub body_within: Duration,
    /// How long an answer may take that is no stream and changes nothing.
    pub answer_within: Duration,
    /// How long a request that changes something waits for its answer before it is told where that will be.
    pub wait_within: Duration,
    /// How many connections there may be at once.
    pub connections_max: usize,
    /// How many live streams there may be at once.
    pub streams_max: usize,
    /// How many requests one address or account may make in a second, for a while, and at once.
    pub requests_per_second: u32,
    /// How many requests may come at once before the rate counts.
    pub requests_burst: u32,
    /// How many attempts to sign in one address may make in a minute.
    pub sign_ins_per_minute: u32,
    /// How long work that runs may take to finish when the server is asked to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 16 << 20,
            header_bytes_max: 32 << 10,
            headers_max: 100,
            header_within: Duration::from_secs(10),
            body_within: Duration::from_secs(30),
            answer_within: Duration::from_mins(1),
            wait_within: Duration::from_secs(20),
            connections_max: 4_096,
            streams_max: 2_048,
            requests_per_second: 200,
            requests_burst: 400,
            sign_ins_per_minute: 10,
            grace: Duration::from_secs(10),
        }
    }
}
