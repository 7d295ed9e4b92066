//! A real browser, Chromium without a window, and the verbs that move it. It sees no other host: whatever a page asks for
//! is on record, and what it complains about, too.

use std::path::Path;
use std::sync::{Arc, Mutex};

use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetEmulatedMediaParams,
};
use chromiumoxide::cdp::browser_protocol::log::{self, EventEntryAdded, LogEntryLevel};
use chromiumoxide::cdp::browser_protocol::network::{self, EventRequestWillBeSent};
use chromiumoxide::cdp::browser_protocol::page::{CaptureScreenshotFormat, PrintToPdfParams};
use chromiumoxide::cdp::browser_protocol::target::CreateTargetParams;
use chromiumoxide::cdp::js_protocol::runtime::EventExceptionThrown;
use chromiumoxide::page::ScreenshotParams;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;

/// How often a page is looked at until it is what it should be, and how long at least. Both have to be used up: where the
/// machine is busy, or the processes stand still for a while, there are fewer looks in the same time.
const LOOKS: u32 = 1_500;
const AT_LEAST_MS: u32 = 30_000;
/// How long the browser may take for one thing that it is told.
const REQUEST_WITHIN: std::time::Duration = std::time::Duration::from_mins(4);

/// What the browser is told to leave alone: it is root's, without a network, and nobody looks.
const FLAGS: [&str; 9] = [
    "disable-gpu",
    "disable-quic",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "disable-dev-shm-usage",
    "hide-scrollbars",
    "no-default-browser-check",
    "force-prefers-no-reduced-motion",
];

/// A browser with a profile of its own.
pub struct Browser {
    inside: chromiumoxide::Browser,
    handler: JoinHandle<()>,
    _profile: tempfile::TempDir,
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// How wide the window is, in pixels.
    pub width: u32,
    /// Whether whoever looks prefers dark pages.
    pub dark: bool,
}

impl Look {
    /// A desk, in light.
    pub const WIDE: Self = Self { width: 1_280, dark: false };
    /// A phone, at night.
    pub const NARROW: Self = Self { width: 390, dark: true };
}

/// A page that is looked at.
pub struct Page {
    inside: chromiumoxide::Page,
    complaints: Arc<Mutex<Vec<String>>>,
    requests: Arc<Mutex<Vec<String>>>,
    listeners: Vec<JoinHandle<()>>,
}

impl Browser {
    /// Starts one; nothing where none is installed, unless everything has to be tested.
    pub async fn start() -> Option<Self> {
        let found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
        let Some(program) = found.into_iter().find(|path| Path::new(path).exists()) else {
            let needed = std::env::var_os("GANTRY_TEST_ALL").is_some_and(|all| !all.is_empty());
            assert!(!needed, "no browser is installed, and GANTRY_TEST_ALL is set");
            eprintln!("skipped: no browser is installed");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let config = chromiumoxide::BrowserConfig::builder()
            .chrome_executable(program)
            .user_data_dir(profile.path())
            .no_sandbox()
            // What a busy machine takes to draw a page is not what is tested; each test has its own end.
            .request_timeout(REQUEST_WITHIN)
            .args(FLAGS)
            .build()
            .expect("a browser can be described");
        let (inside, mut events) = chromiumoxide::Browser::launch(config).await.expect("the browser starts");
        let handler = tokio::spawn(async move { while events.next().await.is_some() {} });
        Some(Self { inside, handler, _profile: profile })
    }

    /// Opens a page, listening from its first request on.
    pub async fn open(&self, url: &str, look: Look) -> Page {
        let page = self.inside.new_page(CreateTargetParams::new("about:blank")).await.expect("a new page");
        let mut opened =
            Page { inside: page, complaints: Arc::default(), requests: Arc::default(), listeners: Vec::new() };
        opened.listen().await;
        let size = SetDeviceMetricsOverrideParams::new(look.width, 900, 1.0, look.width < 600);
        opened.inside.execute(size).await.expect("a window of that size");
        let scheme = if look.dark { "dark" } else { "light" };
        let media =
            SetEmulatedMediaParams::builder().feature(MediaFeature::new("prefers-color-scheme", scheme)).build();
        opened.inside.execute(media).await.expect("a preference");
        opened.go(url).await;
        opened
    }

    /// Ends it.
    pub async fn close(mut self) {
        let _ = self.inside.close().await;
        let _ = self.inside.wait().await;
        self.handler.abort();
    }
}

impl Page {
    async fn listen(&mut self) {
        self.inside.execute(network::EnableParams::default()).await.expect("requests are told");
        self.inside.execute(log::EnableParams::default()).await.expect("complaints are told");
        let mut sent = self.inside.event_listener::<EventRequestWillBeSent>().await.expect("a listener");
        let mut logged = self.inside.event_listener::<EventEntryAdded>().await.expect("a listener");
        let mut thrown = self.inside.event_listener::<EventExceptionThrown>().await.expect("a listener");
        let put = |into: &Arc<Mutex<Vec<String>>>, what: String| {
            into.lock().expect("nobody panics while holding it").push(what);
        };
        let into = Arc::clone(&self.requests);
        self.listeners.push(tokio::spawn(async move {
            while let Some(event) = sent.next().await {
                put(&into, event.request.url.clone());
            }
        }));
        let into = Arc::clone(&self.complaints);
        self.listeners.push(tokio::spawn(async move {
            while let Some(event) = logged.next().await {
                if event.entry.level == LogEntryLevel::Error {
                    put(&into, format!("{} {}", event.entry.text, event.entry.url.clone().unwrap_or_default()));
                }
            }
        }));
        let into = Arc::clone(&self.complaints);
        self.listeners.push(tokio::spawn(async move {
            while let Some(event) = thrown.next().await {
                put(&into, format!("{:?}", event.exception_details));
            }
        }));
    }

    /// Goes to an address, and waits until it is loaded.
    pub async fn go(&self, url: &str) {
        self.inside.goto(url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        self.inside.wait_for_navigation().await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// What an expression gives.
    pub async fn ask<T: DeserializeOwned>(&self, script: &str) -> T {
        let answer = self.inside.evaluate(script).await.unwrap_or_else(|error| panic!("{script}: {error}"));
        answer.into_value().unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Does something in the page.
    pub async fn run(&self, script: &str) {
        self.inside.evaluate(script).await.unwrap_or_else(|error| panic!("{script}: {error}"));
    }

    /// Waits until an expression holds.
    pub async fn until(&self, condition: &str) {
        let script = format!(
            "new Promise((done) => {{ const end = Date.now() + {AT_LEAST_MS}; let looks = 0; const look = () => {{ let holds = false; \
             try {{ holds = Boolean({condition}); }} catch {{}} looks += 1; \
             if (holds || (looks > {LOOKS} && Date.now() > end)) done(holds); else setTimeout(look, 20); }}; look(); }})"
        );
        let end = std::time::Instant::now() + REQUEST_WITHIN;
        loop {
            match self.inside.evaluate(script.as_str()).await {
                Ok(answer) if answer.value().is_some_and(|holds| *holds == serde_json::Value::Bool(true)) => return,
                // The page went elsewhere meanwhile.
                Err(_) if std::time::Instant::now() < end => drop(self.inside.wait_for_navigation().await),
                Ok(_) | Err(_) => break,
            }
        }
        let text: String = self.text().await.chars().take(2_000).collect();
        panic!("it never came to be: {condition}\n{text}");
    }

    /// Puts its window before the others.
    pub async fn front(&self) {
        self.inside.bring_to_front().await.expect("a window can be in front");
    }

    /// Clicks on what is there, once it is.
    pub async fn click(&self, selector: &str) {
        self.front().await;
        self.until(&format!("document.querySelector({selector:?})")).await;
        let element = self.inside.find_element(selector).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Types into a field.
    pub async fn fill(&self, selector: &str, text: &str) {
        self.until(&format!("document.querySelector({selector:?})")).await;
        let element = self.inside.find_element(selector).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.type_str(text).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Presses a key, where the focus is.
    pub async fn press(&self, key: &str) {
        let focused = self.inside.find_element(":focus, body").await.expect("something has the focus");
        focused.press_key(key).await.unwrap_or_else(|error| panic!("{key}: {error}"));
    }

    /// What can be read.
    pub async fn text(&self) -> String {
        self.ask("document.body.innerText").await
    }

    /// The page on paper.
    pub async fn print(&self) -> Vec<u8> {
        self.inside.pdf(PrintToPdfParams::default()).await.expect("it can be printed")
    }

    /// A picture of all of it, for people to look at, where `GANTRY_SCREENSHOTS` names a folder. The window has another size
    /// afterwards.
    pub async fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("GANTRY_SCREENSHOTS") else { return };
        let how = ScreenshotParams::builder().format(CaptureScreenshotFormat::Png).full_page(true).build();
        let picture = self.inside.screenshot(how).await.expect("it can be drawn");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).expect("the picture can be written");
    }

    /// Closes it: a browser talks to a host over six connections, and a page that is watched live has one of them.
    pub async fn close(self) {
        let _ = self.inside.clone().close().await;
    }

    /// What the page has complained about so far.
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.lock().expect("nobody panics while holding it").clone()
    }

    /// What the page has asked for so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("nobody panics while holding it").clone()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}
