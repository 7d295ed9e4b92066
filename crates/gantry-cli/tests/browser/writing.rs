//! What someone has written, ticked or opened on a page stays while the page is brought up to date, and so does where they are.

use gantry_testkit::browser::Look;
use serde_json::json;

use crate::server::person;
use crate::site::Site;

const GATED: &str = "title: Gated\ntasks: [{id: only, gate: {checks: [fine], evidence: [the paper]}}]\n";

#[tokio::test]
async fn what_is_written_and_ticked_stays_when_something_else_happens() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(GATED);
    site.server.until(&plan, "blocked");
    let page = site.open("/inbox", Look::WIDE).await;
    page.until("document.getElementById('live').textContent === 'live'").await;
    page.fill("input[name=why]", "A long and careful reason").await;
    page.click("input[name=evidence]").await;
    page.run("document.querySelector('button[value=approve]').focus()").await;
    for _ in 0..2 {
        let other = site.server.create(&GATED.replace("Gated", "Other"));
        site.server.until(&other, "blocked");
        page.until(&format!("document.getElementById('plan-{other}')")).await;
    }
    let card = format!("document.getElementById('gate-{plan}-only')");
    let kept = format!(
        "[{card}.querySelector('[name=why]').value, {card}.querySelector('[name=evidence]').checked, document.activeElement.closest('form')?.id, document.activeElement.value]"
    );
    let kept: serde_json::Value = page.ask(&kept).await;
    assert_eq!(kept, json!(["A long and careful reason", true, format!("gate-{plan}-only"), "approve"]));
    // The card of a gate that is decided goes, and the words stay with theirs.
    page.press("Enter").await;
    page.until(&format!("!document.getElementById('gate-{plan}-only')")).await;
    site.server.until(&plan, "completed");
    let entries = site.server.get(&format!("/api/v1/plans/{plan}/journal?limit=1000")).text();
    assert!(entries.contains("A long and careful reason") && entries.contains("the paper"), "{entries}");
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn output_is_shown_once_also_when_the_window_was_away() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(
        "title: Clock\ntasks:\n  - {id: tick, run: 'i=0; until [ -e go ]; do i=$((i+1)); echo tick-$i; sleep 0.1; done; echo tock'}\n",
    );
    let page = site.open(&format!("/p/{plan}/tasks/tick"), Look::WIDE).await;
    let heard = "document.querySelector('pre.log').textContent.trim().split('\\n').filter(Boolean).map((line) => Number(line.split('-')[1]))";
    page.until(&format!("{heard}.length > 3")).await;
    // A hidden window gives its stream back; a stream that breaks off is opened again by the browser in the same way.
    let hide = |hidden: bool| {
        format!(
            "(() => {{ Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}}); document.dispatchEvent(new Event('visibilitychange')); }})()"
        )
    };
    for _ in 0..2 {
        page.run(&hide(true)).await;
        page.until("document.getElementById('live').textContent === 'asleep'").await;
        let before: f64 = page.ask(&format!("{heard}.at(-1)")).await;
        page.run(&hide(false)).await;
        page.until(&format!("{heard}.at(-1) > {before} + 3")).await;
    }
    let told: Vec<u32> = page.ask(heard).await;
    let whole: Vec<u32> = (told[0]..=*told.last().unwrap()).collect();
    assert_eq!(told, whole, "each line once");
    std::fs::write(site.server.folder().join("go"), "").unwrap();
    page.until("document.querySelector('#task').innerText.includes('tock')").await;
    site.browser.close().await;
}

#[tokio::test]
async fn a_window_with_an_account_comes_back_after_a_restart_and_says_when_it_is_signed_out() {
    let Some(mut site) = Site::start().await else { return };
    let plan = site.server.create(GATED);
    site.server.until(&plan, "blocked");
    person(site.server.folder(), "ana", "admin", "a long password");
    let page = site.open(&format!("/p/{plan}"), Look::WIDE).await;
    page.until("location.pathname === '/sign-in'").await;
    page.fill("input[name=name]", "ana").await;
    page.fill("input[name=password]", "a long password").await;
    page.press("Enter").await;
    let live = "document.getElementById('live')?.textContent";
    page.until(&format!("location.pathname.startsWith('/p/') && {live} === 'live'")).await;
    site.server.kill();
    page.until(&format!("{live} === 'reconnecting'")).await;
    site.server.go_on();
    site.server.run(&["gate", "approve", &plan, "only", "--why", "seen", "--evidence", "the paper"], "");
    page.until(&format!("{live} === 'live' && document.body.innerText.includes('completed')")).await;
    site.server.run(&["access", "token", "ben", "--role", "admin"], "");
    site.server.run(&["access", "remove", "ana"], "");
    page.until("document.querySelector('#live a')?.textContent === 'sign in'").await;
    page.click("#live a").await;
    page.until("location.pathname === '/sign-in'").await;
    site.browser.close().await;
}
