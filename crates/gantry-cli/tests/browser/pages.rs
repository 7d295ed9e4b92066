//! The web pages in a browser: made, watched, decided, and in step with each other.

use gantry_testkit::browser::Look;
use serde_json::json;

use crate::site::Site;

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
async fn an_objective_is_read_priced_and_made_into_a_plan_that_waits_to_be_accepted() {
    let Some(site) = Site::start().await else { return };
    let page = site.open("/new", Look::WIDE).await;
    page.fill("#objective", "Open a small bakery in Oslo for 600 000 kr before Christmas").await;
    page.run("document.getElementById('detail').value = 'fast'").await;
    page.click("#from-objective ~ form button").await;
    page.until("document.getElementById('takes')?.innerText.includes('Cost at most')").await;
    page.fill("input[name=Team]", "two bakers").await;
    page.click("#what-it-takes ~ form button.main").await;
    page.until("location.pathname.startsWith('/p/') && document.body.innerText.includes('Approve')").await;
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn a_plan_is_asked_for_in_plain_words_and_the_talk_goes_on_without_leaving_the_page() {
    let Some(site) = Site::start().await else { return };
    let page = site.open("/chat", Look::WIDE).await;
    page.run("window.stayed = true").await;
    page.fill("#message", "create a plan to paint the garden shed").await;
    page.click("form.say button").await;
    page.until("document.getElementById('talk').innerText.includes('is made; it has')").await;
    let of = "document.querySelector(\"#talk a[href^='/p/']\").textContent";
    page.run(&format!("document.getElementById('message').value = 'show the tasks of ' + {of}")).await;
    page.run("document.getElementById('message').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true}))").await;
    page.until("document.querySelectorAll('#talk article').length === 2").await;
    assert!(page.ask::<bool>("window.stayed === true && location.search.startsWith('?session=')").await);
    assert!(page.ask::<bool>("document.activeElement.id === 'message' && document.activeElement.value === ''").await);
    page.click("#talk a[href^='/p/']").await;
    page.until("location.pathname.startsWith('/p/')").await;
    site.is_quiet(&page);
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

/// A plan with something on every page.
const RELEASE: &str = "
title: Release the billing client 4.2
objective: Ship the new billing client to every customer by the end of March, without losing an invoice.
labels: [billing, q1]
hypotheses: [{id: H1, statement: Customers migrate within two weeks, confidence: 0.5}, {id: H2, statement: No invoice is lost, confidence: 0.8}]
policy: {recovery: {logic: [escalate]}, budget: {cost_usd: 25}}
tasks:
  - {id: prepare, title: Prepare the release}
  - {id: notes, parent: prepare, title: Write the release notes, run: 'printf \"## 4.2\\n- faster invoices\\n\"'}
  - {id: build, parent: prepare, title: Build and sign the client, compute: {version: \"'4.2.0'\", size: '18 + 3'}}
  - {id: check, parent: prepare, title: Check the build, depends_on: [build], inputs: {size: tasks.build.size}, compute: {ok: inputs.size < 30}}
  - {id: migrate, title: Try the migration on a copy, depends_on: [prepare], run: 'echo 3 invoices differ >&2; exit 3'}
  - {id: sign-off, title: Sign off the release, depends_on: [check], gate: {checks: [The notes are complete, The build is signed], approvals: 2}}
  - {id: legal, title: Legal has no objections, gate: {checks: [Terms are unchanged]}}
  - {id: channel, title: Choose the first channel, ask: {question: Which customers get it first?, options: [volunteers, small ones]}}
  - {id: announce, title: Announce it, depends_on: [sign-off, channel], manual: Write to all customers}
  - {id: ship, title: Ship it to everyone, depends_on: [announce, migrate, legal], run: echo shipped}
schedule:
  start: 2050-01-03
  deadline: 2050-01-31
  resources: [{id: ana, rate: 80}, {id: ben, rate: 70}]
  tasks:
    notes: {estimate: 2d, needs: [ben]}
    build: {estimate: 3d / 4d / 8d, needs: [ana]}
    check: {estimate: 1d, needs: [ana]}
    migrate: {estimate: 4d / 5d / 9d, needs: [ben]}
    announce: {estimate: 2d, needs: [ben]}
    ship: {estimate: 1d, needs: [ana]}
";

/// Every page, with something on it.
fn furnished(site: &Site) -> Vec<(String, String)> {
    let server = &site.server;
    // The work begins today, so that what is planned and what happens stand side by side.
    let today = jiff::Zoned::now().date();
    let due = today.checked_add(jiff::Span::new().days(28)).unwrap();
    let release = RELEASE.replace("2050-01-03", &today.to_string()).replace("2050-01-31", &due.to_string());
    let plan = server.create(&release);
    server.until(&plan, "blocked");
    let say = |path: &str, body: serde_json::Value| {
        let answer = server.post(&format!("/api/v1/plans/{plan}{path}"), &body);
        assert!(answer.status < 300, "{path}: {}", answer.text());
    };
    say("/gates/sign-off/approve", json!({"rationale": "The notes are good"}));
    say("/hypotheses/H1/evidence", json!({"direction": "supports", "evidence": "40 of 50 volunteers have moved"}));
    say("/hypotheses/H1/evidence", json!({"direction": "refutes", "evidence": "two large customers wait for April"}));
    say("/tasks/build/edit", json!({"outputs": {"size": 24}, "why": "signed again"}));
    let file = release.replace("Announce it,", "Announce it to everyone,");
    say("/revisions", json!({"file": file, "rationale": "Partners have to hear of it, too"}));
    say("/notes", json!({"text": "The freeze begins on Monday."}));
    let done = server.create("title: Rotate the keys\ntasks:\n  - {id: a, title: Make new keys, compute: {n: '1'}}\n");
    server.until(&done, "completed");
    for message in ["list my plans", "create a plan to open a small bakery in Oslo", "show the tasks of plan 99"] {
        server.post("/chat/message", &json!({"message": message, "session_id": "board"}));
    }
    let objective = "Open+a+small+bakery+in+Oslo+for+600+000+kr+before+Christmas";
    let mut paths: Vec<(String, String)> = [
        ("plans", "/"),
        ("new", "/new"),
        ("inbox", "/inbox"),
        ("chat-empty", "/chat"),
        ("chat", "/chat?session=board"),
        ("templates", "/templates"),
        ("models", "/models"),
        ("bulk", "/bulk"),
        ("settings", "/settings"),
        ("docs", "/docs"),
        ("sign-in", "/sign-in"),
        ("nowhere", "/p/no-such-plan"),
    ]
    .map(|(name, path)| (name.to_owned(), path.to_owned()))
    .to_vec();
    let list = json!({"topics": ["Build a garden shed", "Open a small bakery", "?"], "title": "Spring list", "depth": 1, "offline": true});
    let run = server.post("/api/v1/bulk", &list).json()["run"].as_str().unwrap().to_owned();
    while server.get(&format!("/api/v1/bulk/{run}")).json()["state"] != "completed" {
        std::thread::yield_now();
    }
    paths.push(("bulk-run".to_owned(), format!("/bulk/{run}")));
    let rows = server.get(&format!("/api/v1/bulk/{run}")).json()["rows"].clone();
    let plan_no = |at: usize| rows[at]["plan_id"].as_str().unwrap().to_owned();
    paths.push(("bulk-beside".to_owned(), format!("/bulk/beside?plan={}&plan={}", plan_no(0), plan_no(1))));
    paths.push(("new-read".to_owned(), format!("/new?objective={objective}&detail=fast")));
    for tab in ["", "graph", "timeline", "tasks", "gates", "artifacts", "revisions", "hypotheses", "journal", "report"]
    {
        let name = if tab.is_empty() { "plan".to_owned() } else { format!("plan-{tab}") };
        paths.push((name, format!("/p/{plan}/{tab}").trim_end_matches('/').to_owned()));
    }
    paths.push(("template".to_owned(), "/templates/outline".to_owned()));
    paths.push(("compare".to_owned(), format!("/compare?before={plan}@r1&after={plan}")));
    paths.push(("plan-look".to_owned(), format!("/p/{plan}/artifacts?task=migrate&name=stderr")));
    paths.push(("plan-ways".to_owned(), format!("/p/{plan}/timeline?ways=1")));
    for task in ["build", "sign-off", "migrate", "announce"] {
        paths.push((format!("task-{task}"), format!("/p/{plan}/tasks/{task}")));
    }
    paths
}

async fn every_page_at(width: u32, dark: bool) {
    let Some(site) = Site::start().await else { return };
    let paths = furnished(&site);
    let look = Look { width, dark };
    for (name, path) in &paths {
        let page = site.open(path, look).await;
        page.until("document.readyState === 'complete'").await;
        let barriers: Vec<String> = page.ask(BARRIERS).await;
        assert_eq!(barriers, Vec::<String>::new(), "{path} at {width}");
        let wide: u32 = page.ask("document.documentElement.scrollWidth").await;
        assert!(wide <= width, "{path}: {wide} px wide at {width}");
        if name != "nowhere" {
            site.is_quiet(&page);
        }
        page.picture(&format!("page-{name}-{width}-{}", if dark { "dark" } else { "light" })).await;
        page.close().await;
    }
    site.browser.close().await;
}

#[tokio::test]
async fn every_page_can_be_read_by_everyone_at_a_desk_in_light() {
    every_page_at(1_280, false).await;
}

#[tokio::test]
async fn every_page_can_be_read_by_everyone_at_a_desk_in_the_dark() {
    every_page_at(1_280, true).await;
}

#[tokio::test]
async fn every_page_can_be_read_by_everyone_on_a_phone_in_light() {
    every_page_at(390, false).await;
}

#[tokio::test]
async fn every_page_can_be_read_by_everyone_on_a_phone_in_the_dark() {
    every_page_at(390, true).await;
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

/// Whatever a text says, it is shown and not obeyed: by a browser that would.
#[tokio::test]
async fn a_script_in_every_text_of_a_plan_does_nothing_on_any_page() {
    let Some(site) = Site::start().await else { return };
    let evil =
        "<script>window.hit = 1</script><img src=/hit onerror=window.hit=1><a href=javascript:window.hit=1>x</a>";
    let plan = json!({
        "title": evil, "objective": evil, "labels": [evil], "owner": evil,
        "hypotheses": [{"id": "H1", "statement": evil, "confidence": 0.5}],
        "tasks": [
            {"id": "out", "title": evil, "description": evil, "run": format!("printf '%s' '{evil}'")},
            {"id": "gate", "title": evil, "depends_on": ["out"], "gate": {"checks": [evil], "evidence": [evil]}},
            {"id": "ask", "title": evil, "ask": {"question": evil, "options": [evil, "b"]}},
            {"id": "work", "title": evil, "manual": {"instruction": evil}},
        ],
    });
    let created = site.server.post("/api/v1/plans", &json!({"plan": plan}));
    assert_eq!(created.status, 202, "{}", created.text());
    let id = created.json()["plan"].as_str().unwrap().to_owned();
    site.server.until(&id, "blocked");
    site.server.post(&format!("/api/v1/plans/{id}/notes"), &json!({"text": evil}));
    let evidence = json!({"direction": "supports", "evidence": evil});
    assert_eq!(site.server.post(&format!("/api/v1/plans/{id}/hypotheses/H1/evidence"), &evidence).status, 200);
    let tabs = ["", "/graph", "/timeline", "/tasks", "/gates", "/artifacts", "/revisions", "/hypotheses", "/journal"];
    let mut paths: Vec<String> = tabs.iter().map(|tab| format!("/p/{id}{tab}")).collect();
    paths.extend(["out", "gate", "ask", "work"].map(|task| format!("/p/{id}/tasks/{task}")));
    paths.extend([format!("/p/{id}/report"), "/".to_owned(), "/inbox".to_owned()]);
    let said =
        json!({"message": format!("create a plan to {evil}"), "session_id": "evil", "context": {"plan_title": evil}});
    site.server.post("/chat/message", &said);
    paths.push("/chat?session=evil".to_owned());
    paths.push(format!("/p/{id}/artifacts?task=out&name=stdout"));
    paths.push(format!("/compare?before={id}&after={id}"));
    // One window goes to all of them: another for each would take most of the time.
    let page = site.open("/", Look::WIDE).await;
    for path in paths {
        page.go(&format!("http://{}{path}", site.server.addr)).await;
        page.until("document.readyState === 'complete'").await;
        assert!(page.ask::<bool>("window.hit === undefined").await, "{path} obeyed");
        assert!(!page.requests().iter().any(|url| url.contains("/hit")), "{path} asked for a picture");
        let led: u32 = page.ask("document.querySelectorAll('a[href^=\"javascript:\"]').length").await;
        assert_eq!(led, 0, "{path} leads into a script");
    }
    site.browser.close().await;
}

#[tokio::test]
async fn the_journal_shows_the_graph_as_it_was_wherever_its_slider_is_left() {
    let Some(site) = Site::start().await else { return };
    let file = "title: Grows\ntasks:\n  - {id: a, compute: {n: '1'}}\n  - {id: b, gate: {checks: [fine]}}\n";
    let plan = site.server.create(file);
    site.server.until(&plan, "blocked");
    let more = format!("{file}  - {{id: later, depends_on: [b], compute: {{n: '2'}}}}\n");
    let revised =
        site.server.post(&format!("/api/v1/plans/{plan}/revisions"), &json!({"file": more, "rationale": "more"}));
    assert_eq!(revised.status, 200, "{}", revised.text());
    let page = site.open(&format!("/p/{plan}/journal?at=1"), Look::WIDE).await;
    page.until("['pending', 'ready'].includes(document.querySelector('.replayed .node[data-task=a]')?.dataset.state)")
        .await;
    assert!(page.ask::<bool>("!document.querySelector('.node[data-task=later]')").await, "it was not there yet");
    page.run("(() => { const s = document.getElementById('at'); s.value = s.max; s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); })()").await;
    page.until("document.querySelector('.replayed .node[data-task=later]')").await;
    page.until("document.querySelector('.replayed .node[data-task=a]').dataset.state === 'completed'").await;
    site.is_quiet(&page);
    site.browser.close().await;
}
