//! The report in a browser without a network.

use gantry_testkit::browser::{Browser, Look, Page};

use crate::kit::Kit;

const SOLAR: &str = "Open a community solar co-op in Aarhus, 2 million DKK, first panels before summer";

const COFFEE: &str = "I want a cup of coffee. I have instant coffee and a cup and water.";

/// A report of a plan that was made just now, and a browser to look at it.
struct Reading {
    browser: Browser,
    url: String,
    _kit: Kit,
}

impl Reading {
    async fn start() -> Option<Self> {
        Self::of(SOLAR, None).await
    }

    /// The same of another request, or for a sort of reader.
    async fn of(request: &str, audience: Option<&str>) -> Option<Self> {
        let browser = Browser::start().await?;
        let kit = Kit::new();
        let mut report = vec!["report", "@last", "-o", "report.html"];
        report.extend(audience.into_iter().flat_map(|audience| ["--audience", audience]));
        for args in [vec!["plan", "--yes", "--offline", "--today", "2026-11-16", request], report] {
            let output = kit.output(&args);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let url = format!("file://{}", kit.path("report.html").display());
        Some(Self { browser, url, _kit: kit })
    }

    async fn open(&self, look: Look) -> Page {
        self.browser.open(&self.url, look).await
    }
}

#[tokio::test]
async fn a_report_asks_for_nothing_complains_of_nothing_and_fits_every_screen() {
    let Some(reading) = Reading::start().await else { return };
    for (name, look) in [
        ("report-1280-light", Look::WIDE),
        ("report-390-dark", Look::NARROW),
        ("report-1280-dark", Look { dark: true, ..Look::WIDE }),
        ("report-390-light", Look { dark: false, ..Look::NARROW }),
    ] {
        let page = reading.open(look).await;
        page.until("document.readyState === 'complete'").await;
        assert_eq!(page.complaints(), Vec::<String>::new(), "{name}");
        assert_eq!(page.requests(), std::slice::from_ref(&reading.url), "{name}");
        let wide: u32 = page.ask("document.documentElement.scrollWidth").await;
        let script = "[...document.querySelectorAll('main *')].filter((one) => !one.closest('.chart') \
                      && one.getBoundingClientRect().right > WIDTH && ![...one.children].some((child) => child.getBoundingClientRect().right > WIDTH)).slice(0, 5).map((one) => one.outerHTML.slice(0, 200))";
        let out: Vec<String> = page.ask(&script.replace("WIDTH", &look.width.to_string())).await;
        assert!(wide <= look.width, "{name}: {wide} px wide: {out:#?}");
        let dark: bool = page.ask("getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'").await;
        assert_eq!(dark, look.dark, "{name}");
        page.picture(name).await;
    }
    reading.browser.close().await;
}

#[tokio::test]
async fn the_contents_follow_the_reader_and_links_lead_somewhere() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    page.until("document.querySelector('.contents a[aria-current]').hash === '#summary'").await;
    page.run("document.getElementById('risks').scrollIntoView({behavior: 'instant'})").await;
    page.until("document.querySelector('.contents a[aria-current]').hash === '#risks'").await;
    let lost: Vec<String> = page
        .ask("[...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(decodeURIComponent(id)))")
        .await;
    assert_eq!(lost, Vec::<String>::new());
    // What is folded away unfolds for whoever follows a link to it.
    page.run("document.querySelector('#work details').open = false").await;
    page.run("location.hash = '#x-permit-filing'").await;
    page.until("document.querySelector('#work details').open").await;
    reading.browser.close().await;
}

#[tokio::test]
async fn searching_leaves_what_has_the_words() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    page.press("/").await;
    page.until("document.activeElement.id === 'find'").await;
    page.fill("#find", "network connection").await;
    page.until("document.getElementById('found').textContent.endsWith(' found')").await;
    let left: Vec<String> = page
        .ask("[...document.querySelectorAll('main tbody tr')].filter((row) => row.offsetParent).map((row) => row.textContent.toLowerCase())")
        .await;
    assert!(
        !left.is_empty() && left.iter().all(|row| row.contains("network") && row.contains("connection")),
        "{left:?}"
    );
    page.press("Escape").await;
    page.until("document.getElementById('found').textContent === ''").await;
    reading.browser.close().await;
}

#[tokio::test]
async fn charts_show_the_critical_path_alone_and_can_be_enlarged_by_keys() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    page.click("[data-critical]").await;
    page.until("document.querySelector('[data-chart=gantt] .chart.only')").await;
    page.until("document.querySelector('[data-critical]').getAttribute('aria-pressed') === 'true'").await;
    let before: f64 = page.ask("document.querySelector('[data-chart=gantt] svg').getBoundingClientRect().width").await;
    page.run("document.querySelector('[data-chart=gantt] .chart').focus()").await;
    page.press("+").await;
    page.until(&format!("document.querySelector('[data-chart=gantt] svg').getBoundingClientRect().width > {before}"))
        .await;
    reading.browser.close().await;
}

#[tokio::test]
async fn tables_are_copied_with_every_column() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    page.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }, null")
        .await;
    page.click("#work [data-copy=csv]").await;
    page.until("window.copied").await;
    let copied: String = page.ask("window.copied").await;
    let head = copied.lines().next().unwrap().trim_end();
    assert_eq!(head, "Task,What,Owner,Hours,Start,Finish,After,Done when,Risks");
    assert!(copied.contains("Peak, average and growth are given"), "{copied}");
    reading.browser.close().await;
}

/// How many pages a PDF has.
fn pages(paper: &[u8]) -> usize {
    let is_page = |at: &usize| paper[*at..].starts_with(b"/Type /Page") && paper.get(at + 11) != Some(&b's');
    (0..paper.len()).filter(is_page).count()
}

#[tokio::test]
async fn an_errand_is_two_pages_of_paper() {
    let Some(reading) = Reading::of(COFFEE, None).await else { return };
    let paper = reading.open(Look::WIDE).await.print().await;
    assert!((1..=2).contains(&pages(&paper)), "{} pages", pages(&paper));
    reading.browser.close().await;
}

#[tokio::test]
async fn what_is_found_is_shown_also_where_it_was_folded_away() {
    const FOLDS: &str = "[...document.querySelectorAll('main > section > details')].map((fold) => fold.open)";
    let Some(reading) = Reading::of(SOLAR, Some("board")).await else { return };
    let page = reading.open(Look::WIDE).await;
    let before: Vec<bool> = page.ask(FOLDS).await;
    assert!(before.contains(&false), "something is folded for a board");
    // Words, and the id by which a review names a task.
    for words in ["foundations", "performance-test"] {
        page.fill("#find", words).await;
        page.until("/^[1-9][0-9]* found$/.test(document.getElementById('found').textContent)").await;
        let told: String = page.ask("document.getElementById('found').textContent").await;
        let shown: usize = page
            .ask("[...document.querySelectorAll('main tbody tr, main .card, main li')].filter((one) => one.checkVisibility()).length")
            .await;
        assert_eq!(told, format!("{shown} found"), "{words}");
        page.press("Escape").await;
        page.until("document.getElementById('found').textContent === ''").await;
        assert_eq!(page.ask::<Vec<bool>>(FOLDS).await, before, "everything is as it was");
    }
    reading.browser.close().await;
}

#[tokio::test]
async fn the_summary_is_short_and_a_phone_begins_with_the_plan() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    let bottom: f64 = page.ask("document.getElementById('summary').getBoundingClientRect().bottom").await;
    assert!(bottom <= 1_250.0, "the summary ends at {bottom} px");
    let page = reading.open(Look::NARROW).await;
    let top: f64 = page.ask("document.querySelector('h1').getBoundingClientRect().top").await;
    assert!(top <= 250.0, "the title stands at {top} px");
    reading.browser.close().await;
}

#[tokio::test]
async fn a_report_can_be_read_without_scripts_and_on_paper() {
    let Some(reading) = Reading::start().await else { return };
    let page = reading.open(Look::WIDE).await;
    let paper = page.print().await;
    assert!(paper.starts_with(b"%PDF") && paper.len() > 50_000, "{} bytes", paper.len());
    assert!((5..=40).contains(&pages(&paper)), "{} pages", pages(&paper));
    if let Some(folder) = std::env::var_os("GANTRY_SCREENSHOTS") {
        std::fs::write(std::path::Path::new(&folder).join("report.pdf"), paper).unwrap();
    }
    // Whatever works by script is hidden until the script shows it.
    let source = std::fs::read_to_string(reading.url.trim_start_matches("file://")).unwrap();
    for button in source.split("<button").skip(1).map(|rest| rest.split('>').next().unwrap()) {
        assert!(button.contains("hidden"), "{button}");
    }
    reading.browser.close().await;
}
