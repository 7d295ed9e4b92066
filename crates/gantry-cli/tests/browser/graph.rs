//! The graph of a plan: large ones, moving about in it, and what comes while one looks.

use std::fmt::Write as _;

use gantry_testkit::browser::{Look, Page};
use serde_json::json;

use crate::site::Site;

/// How many boxes are in sight.
const IN_SIGHT: &str = "(() => { const room = document.querySelector('svg.graph').getBoundingClientRect(); \
  return [...document.querySelectorAll('.node rect.box')].map((one) => one.getBoundingClientRect()) \
    .filter((one) => one.left < room.right && one.right > room.left && one.top < room.bottom && one.bottom > room.top).length; })()";
const WIDTH: &str = "document.querySelector('svg.graph').viewBox.baseVal.width";

/// One task, and 999 that wait for it.
fn large() -> String {
    let mut file = "title: Large\ntasks:\n  - {id: t0, manual: Begin}\n".to_owned();
    for no in 1..1_000 {
        writeln!(file, "  - {{id: t{no}, manual: Go on, depends_on: [t0]}}").unwrap();
    }
    file
}

/// Two fingers on the picture that were apart so far, and then so far.
async fn pinch(page: &Page, before: u32, after: u32) {
    let script = "(() => { const svg = document.querySelector('svg.graph'); const room = svg.getBoundingClientRect(); \
        const at = (type, id, x) => svg.dispatchEvent(new PointerEvent(type, {pointerId: id, bubbles: true, pointerType: 'touch', clientX: room.left + 180 + x, clientY: room.top + 100})); \
        at('pointerdown', 1, -BEFORE / 2); at('pointerdown', 2, BEFORE / 2); at('pointermove', 1, -AFTER / 2); at('pointermove', 2, AFTER / 2); at('pointerup', 1, -AFTER / 2); at('pointerup', 2, AFTER / 2); })()";
    page.run(&script.replace("BEFORE", &before.to_string()).replace("AFTER", &after.to_string())).await;
}

#[tokio::test]
async fn a_graph_of_a_thousand_tasks_begins_where_the_plan_stands_and_shows_all_of_it_on_demand() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(&large());
    site.server.until(&plan, "blocked");
    for look in [Look::WIDE, Look::NARROW] {
        let page = site.open(&format!("/p/{plan}/graph"), look).await;
        page.until(&format!(
            "document.querySelector('.zoom') && !document.querySelector('.zoom').hidden && {IN_SIGHT} > 0"
        ))
        .await;
        let readable: f64 = page.ask("document.querySelector('.node rect.box').getBoundingClientRect().width").await;
        assert!(readable > 100.0, "a box is {readable} px wide");
        page.run("document.querySelector('svg.graph').focus()").await;
        page.press("0").await;
        assert_eq!(page.ask::<u32>(IN_SIGHT).await, 1_000);
        let whole: f64 = page.ask(WIDTH).await;
        page.press("+").await;
        let nearer: f64 = page.ask(WIDTH).await;
        assert!(nearer < whole);
        page.press("-").await;
        assert!(page.ask::<f64>(WIDTH).await > nearer);
        page.click("[data-zoom=in]").await;
        let before: f64 = page.ask(WIDTH).await;
        pinch(&page, 90, 180).await;
        let after: f64 = page.ask(WIDTH).await;
        assert!((before / after - 2.0).abs() < 0.1, "{before} {after}");
        page.click("[data-zoom=all]").await;
        assert_eq!(page.ask::<u32>(IN_SIGHT).await, 1_000);
        page.run("document.querySelector('.node[data-task=t7]').parentElement.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))").await;
        page.until("location.pathname.endsWith('/tasks/t7')").await;
        site.is_quiet(&page);
        page.close().await;
    }
    site.browser.close().await;
}

#[tokio::test]
async fn tasks_of_a_new_revision_come_into_the_graph_and_it_stays_where_it_was_moved_to() {
    let Some(site) = Site::start().await else { return };
    let file = "title: Grows\ntasks:\n  - {id: a, manual: Do it}\n";
    let plan = site.server.create(file);
    site.server.until(&plan, "blocked");
    let page = site.open(&format!("/p/{plan}/graph"), Look::WIDE).await;
    page.until("document.getElementById('live').textContent === 'live'").await;
    page.run("document.querySelector('svg.graph').focus()").await;
    page.press("ArrowDown").await;
    let at = "document.querySelector('svg.graph').getAttribute('viewBox')";
    let before: String = page.ask(at).await;
    let more = format!("{file}  - {{id: b, depends_on: [a], manual: Go on}}\n");
    let revised =
        site.server.post(&format!("/api/v1/plans/{plan}/revisions"), &json!({"file": more, "rationale": "more"}));
    assert_eq!(revised.status, 200, "{}", revised.text());
    page.until("document.querySelector('.node[data-task=b]') && document.querySelector('path.edge')").await;
    page.until("document.getElementById('count').textContent.startsWith('2 tasks')").await;
    assert_eq!(page.ask::<String>(at).await, before);
    site.is_quiet(&page);
    site.browser.close().await;
}
