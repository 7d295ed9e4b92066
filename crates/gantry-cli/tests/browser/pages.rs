//! The web pages in a browser: made, watched, decided, and in step with each other.

use gantry_testkit::browser::{Browser, Look, Page};

use crate::server::Server;

const PLAN: &str = "title: Release <b>the</b> client\\ntasks:\\n  - {id: build, run: echo built}\\n  - {id: sign-off, gate: {approvals: 1}, depends_on: [build]}\\n  - {id: ship, run: echo shipped, depends_on: [sign-off]}\\n";

/// What a page must be for people who cannot see it well, or not at all.
const BARRIERS: &str = r"(() => {
  const found = [];
  const name = (one) => (one.getAttribute('aria-label') || one.title || one.placeholder || one.alt || one.textContent || '').trim()
    || [...(one.labels || [])].map((label) => label.textContent.trim()).join(' ');
  for (const one of document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a[href]'))
    if (!name(one)) found.push('no name: ' + one.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) found.push('twice: #' + id);
  if (document.querySelectorAll('h1').length !== 1) found.push('headings of the first order: ' + document.querySelectorAll('h1').length);
  if (!document.documentElement.lang) found.push('no language');
  const channels = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  for (const one of document.querySelectorAll('main p, main a, main td, main th, main h1, main h2, main label, main button, nav a')) {
    if (!one.offsetParent || !one.textContent.trim() || one.disabled) continue;
    const [a, b] = [light(channels(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) found.push('contrast ' + contrast.toFixed(1) + ': ' + one.outerHTML.slice(0, 120));
  }
  return found.slice(0, 8);
})()";

struct Site {
    browser: Browser,
    server: Server,
}

impl Site {
    async fn start() -> Option<Self> {
        Some(Self { browser: Browser::start().await?, server: Server::start() })
    }

    async fn open(&self, path: &str, look: Look) -> Page {
        self.browser.open(&format!("http://{}{path}", self.server.addr), look).await
    }

    /// Everything stays in the house, and nothing is complained about.
    fn is_quiet(&self, page: &Page) {
        assert_eq!(page.complaints(), Vec::<String>::new());
        let own = format!("http://{}/", self.server.addr);
        let others: Vec<String> = page.requests().into_iter().filter(|url| !url.starts_with(&own)).collect();
        assert!(others.iter().all(|url| url.starts_with("data:") || url == "about:blank"), "{others:?}");
    }
}

#[tokio::test]
async fn a_plan_is_made_on_the_page_watched_live_and_decided_in_two_windows_that_stay_in_step() {
    let Some(site) = Site::start().await else { return };
    let page = site.open("/new", Look::WIDE).await;
    page.run(&format!("document.getElementById('file').value = '{PLAN}'")).await;
    page.run("document.getElementById('file').dispatchEvent(new Event('input'))").await;
    page.until("document.getElementById('findings').textContent.startsWith('Sound: 3 tasks')").await;
    page.click("form[method=post] #file ~ button.main, #file ~ p ~ button.main").await;
    page.until("location.pathname.startsWith('/p/') && document.body.innerText.includes('Approve')").await;
    assert!(page.text().await.contains("Release <b>the</b> client"), "what is written is shown, not obeyed");
    let path: String = page.ask("location.pathname").await;
    let graph = site.open(&format!("{path}/graph"), Look::WIDE).await;
    graph.until("document.querySelector('.node[data-task=sign-off]').dataset.state === 'waiting'").await;
    page.click("button[value=approve]").await;
    page.until("document.querySelector('main').innerText.includes('3 of 3 done')").await;
    graph.front().await;
    graph.until("document.querySelector('.node[data-task=ship]').dataset.state === 'completed'").await;
    site.is_quiet(&page);
    site.is_quiet(&graph);
    site.browser.close().await;
}

#[tokio::test]
async fn a_window_comes_back_when_the_server_was_killed_and_misses_nothing() {
    let Some(mut site) = Site::start().await else { return };
    let plan = site.server.create(&PLAN.replace("\\n", "\n"));
    site.server.until(&plan, "blocked");
    let page = site.open(&format!("/p/{plan}"), Look::WIDE).await;
    page.until("document.getElementById('live').textContent === 'live'").await;
    site.server.kill();
    page.until("document.getElementById('live').textContent === 'reconnecting'").await;
    site.server.go_on();
    site.server.run(&["gate", "approve", &plan, "sign-off", "--why", "seen"], "");
    site.server.until(&plan, "completed");
    page.until(
        "document.getElementById('live').textContent === 'live' && document.body.innerText.includes('completed')",
    )
    .await;
    site.browser.close().await;
}

#[tokio::test]
async fn an_output_is_changed_on_the_page_and_only_what_works_on_it_is_done_again() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(
        "title: Sums\ntasks:\n  - {id: one, compute: {n: \"1\"}}\n  - {id: twice, inputs: {n: tasks.one.n}, compute: {m: \"inputs.n * 2\"}}\n  - {id: apart, compute: {k: \"7\"}}\n",
    );
    site.server.until(&plan, "completed");
    let page = site.open(&format!("/p/{plan}/tasks/one"), Look::WIDE).await;
    page.fill("input[name=name]", "n").await;
    page.fill("input[name=value]", "21").await;
    page.click("button[value=edit]").await;
    let other = site.open(&format!("/p/{plan}/tasks/twice"), Look::WIDE).await;
    other.until("document.body.innerText.includes('42')").await;
    let attempts = |task: &str| site.server.get(&format!("/api/v1/plans/{plan}/tasks/{task}")).json();
    let twice = attempts("twice");
    assert_eq!(twice["outputs"]["m"], 42, "{twice}");
    let done = |task: &serde_json::Value| {
        task["history"].as_array().unwrap().iter().filter(|entry| entry["event"] == "task_completed").count()
    };
    assert_eq!((done(&twice), done(&attempts("apart"))), (2, 1));
    site.browser.close().await;
}

#[tokio::test]
async fn every_page_can_be_read_by_everyone_on_every_screen() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(&PLAN.replace("\\n", "\n"));
    site.server.until(&plan, "blocked");
    let of_plan = [
        "",
        "/graph",
        "/timeline",
        "/tasks",
        "/tasks/build",
        "/gates",
        "/artifacts",
        "/revisions",
        "/hypotheses",
        "/journal",
        "/report",
    ];
    let mut paths: Vec<String> =
        ["/", "/new", "/inbox", "/templates", "/models", "/settings"].map(str::to_owned).to_vec();
    paths.extend(of_plan.map(|tab| format!("/p/{plan}{tab}")));
    for (name, look) in [("1280-light", Look::WIDE), ("390-dark", Look::NARROW)] {
        for path in &paths {
            let page = site.open(path, look).await;
            page.until("document.readyState === 'complete'").await;
            let barriers: Vec<String> = page.ask(BARRIERS).await;
            assert_eq!(barriers, Vec::<String>::new(), "{path} {name}");
            let wide: u32 = page.ask("document.documentElement.scrollWidth").await;
            assert!(wide <= look.width, "{path}: {wide} px wide at {}", look.width);
            site.is_quiet(&page);
            let tab = path.replace(&plan, "plan").replace('/', "-");
            page.picture(&format!("page{tab}-{name}")).await;
            page.close().await;
        }
    }
    site.browser.close().await;
}

#[tokio::test]
async fn everything_can_be_reached_and_decided_with_the_keyboard_alone() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(&PLAN.replace("\\n", "\n"));
    site.server.until(&plan, "blocked");
    let page = site.open("/", Look::WIDE).await;
    page.press("g").await;
    page.press("i").await;
    page.until("location.pathname === '/inbox'").await;
    let mut reached = false;
    for _ in 0..40 {
        page.press("Tab").await;
        if page.ask::<bool>("document.activeElement.value === 'approve'").await {
            reached = true;
            break;
        }
    }
    assert!(reached, "the button can be reached");
    let outlined: bool = page.ask("getComputedStyle(document.activeElement).outlineStyle !== 'none'").await;
    assert!(outlined, "it can be seen where one is");
    page.press("Enter").await;
    site.server.until(&plan, "completed");
    site.browser.close().await;
}

#[tokio::test]
async fn whoever_is_not_signed_in_is_asked_to_and_may_then_do_what_the_role_allows() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(&PLAN.replace("\\n", "\n"));
    site.server.until(&plan, "blocked");
    for (name, role) in [("vera", "viewer"), ("anna", "approver")] {
        site.server.run(&["access", "user", name, "--role", role], &format!("{name}-has-a-long-secret\n"));
    }
    let page = site.open(&format!("/p/{plan}/gates"), Look::WIDE).await;
    page.until("location.pathname === '/sign-in'").await;
    let sign_in = async |name: &str| {
        page.fill("input[name=name]", name).await;
        page.fill("input[name=password]", &format!("{name}-has-a-long-secret")).await;
        page.press("Enter").await;
        page.until(&format!("location.pathname !== '/sign-in' && document.body.innerText.includes('{name}')")).await;
    };
    sign_in("vera").await;
    let refused = page.ask::<u16>(&format!("fetch('/api/v1/plans/{plan}/gates/sign-off/approve', {{method: 'POST', body: '{{}}', headers: {{'content-type': 'application/json'}}}}).then((answer) => answer.status)")).await;
    assert_eq!(refused, 403, "a viewer looks");
    page.run("document.querySelector('form[action=\"/sign-out\"]').requestSubmit()").await;
    page.until("location.pathname === '/sign-in'").await;
    sign_in("anna").await;
    page.go(&format!("http://{}/p/{plan}/gates", site.server.addr)).await;
    page.click("button[value=approve]").await;
    page.until("document.body.innerText.includes('anna')").await;
    site.browser.close().await;
}
