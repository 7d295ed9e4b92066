//! A server with a browser that looks at it.

use gantry_testkit::browser::{Browser, Look, Page};

use crate::server::Server;

/// A server, and a browser that looks at it.
pub struct Site {
    pub browser: Browser,
    pub server: Server,
}

impl Site {
    pub async fn start() -> Option<Self> {
        Some(Self { browser: Browser::start().await?, server: Server::start() })
    }

    pub async fn open(&self, path: &str, look: Look) -> Page {
        self.browser.open(&format!("http://{}{path}", self.server.addr), look).await
    }

    /// Everything stays in the house, and nothing is complained about.
    pub fn is_quiet(&self, page: &Page) {
        assert_eq!(page.complaints(), Vec::<String>::new());
        let own = format!("http://{}/", self.server.addr);
        let others: Vec<String> = page.requests().into_iter().filter(|url| !url.starts_with(&own)).collect();
        assert!(others.iter().all(|url| url.starts_with("data:") || url == "about:blank"), "{others:?}");
    }
}
