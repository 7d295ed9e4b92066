//! What people do on the pages: change the plan, hand in work, judge, look at what was made, bring things back.

use gantry_testkit::browser::Look;
use serde_json::json;

use crate::site::Site;

#[tokio::test]
async fn a_plan_is_changed_task_by_task_on_its_pages_and_a_change_is_taken_back() {
    let Some(site) = Site::start().await else { return };
    let file = "title: Shed\ntasks:\n  - {id: measure, manual: Measure it}\n  - {id: cut, manual: Cut the boards, depends_on: [measure]}\n";
    let plan = site.server.create(file);
    site.server.until(&plan, "blocked");
    let tasks = || site.server.get(&format!("/api/v1/plans/{plan}/definition?format=json")).json()["tasks"].clone();
    let page = site.open(&format!("/p/{plan}/tasks"), Look::WIDE).await;
    page.click("#add summary").await;
    page.fill("#new-name", "Buy nails").await;
    page.run("document.getElementById('new-where').value = 'before'").await;
    page.fill("#new-anchor", "cut").await;
    page.click("button[value=add-task]").await;
    page.until("location.pathname.endsWith('/tasks/buy-nails')").await;
    let ids = |tasks: &serde_json::Value| -> Vec<String> {
        tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&tasks()), ["measure", "buy-nails", "cut"]);
    page.click("#change summary").await;
    page.fill("#waits", "measure").await;
    page.fill("#instruction", "Two hundred of them").await;
    page.click("button[value=change-task]").await;
    page.until("document.querySelector('#task')?.innerText.includes('Two hundred of them')").await;
    assert_eq!(tasks()[1]["depends_on"], json!(["measure"]));
    page.click("#change summary").await;
    page.run("document.getElementById('where').value = 'after'").await;
    page.fill("#change input[name=anchor]", "cut").await;
    page.click("button[value=move-task]").await;
    page.until("document.querySelector('#head').innerText.includes('revision 4')").await;
    assert_eq!(ids(&tasks()), ["measure", "cut", "buy-nails"]);
    page.go(&format!("http://{}/p/{plan}/revisions", site.server.addr)).await;
    page.click("button[value=take-back]").await;
    page.until("document.querySelector('#head').innerText.includes('revision 5')").await;
    assert_eq!(ids(&tasks()), ["measure", "buy-nails", "cut"]);
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn work_is_handed_in_with_a_file_help_is_given_and_checks_are_judged_from_the_inbox() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(
        "title: Errands\npolicy: {judge: person, recovery: {logic: [escalate]}}\ntasks:\n  - {id: photo, manual: Take a picture}\n  - {id: stuck, run: exit 3}\n  - {id: weigh, run: echo heavy, success_criteria: [it is heavy]}\n",
    );
    site.server.until(&plan, "blocked");
    let page = site.open("/inbox", Look::WIDE).await;
    assert!(page.text().await.contains("Take a picture"));
    page.run("(() => { const files = new DataTransfer(); files.items.add(new File(['a view'], 'view.txt')); document.querySelector('input[name=evidence]').files = files.files; })()").await;
    page.click("button[value=done]").await;
    page.until("!document.querySelector('input[name=evidence]') && document.querySelector('button[value=skip]')").await;
    page.click("button[value=skip]").await;
    page.until("!document.querySelector('button[value=skip]') && document.querySelector('button[value=judge]')").await;
    page.click("input[type=radio][value=yes]").await;
    page.click("button[value=judge]").await;
    page.until("document.querySelector('#inbox').innerText.includes('Nobody is asked for anything')").await;
    site.server.until(&plan, "completed");
    let kept = site.server.get(&format!("/api/v1/plans/{plan}/artifacts/photo/view.txt?inline=true"));
    assert_eq!((kept.text(), kept.header("content-type")), ("a view".to_owned(), Some("text/plain; charset=utf-8")));
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn what_was_made_is_looked_at_by_its_kind_and_beside_the_version_before() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(
        "title: Table\ntasks:\n  - {id: count, inputs: {n: 1}, run: 'cat \"$GANTRY_INPUTS\"'}\n  - {id: rows, manual: Count the rows}\n",
    );
    site.server.until(&plan, "blocked");
    let rows = site.open(&format!("/p/{plan}/tasks/rows"), Look::WIDE).await;
    rows.run("(() => { const files = new DataTransfer(); files.items.add(new File(['name,count\\nlines,7\\n'], 'rows.csv')); document.querySelector('input[name=evidence]').files = files.files; })()").await;
    rows.click("button[value=done]").await;
    rows.until("document.querySelector('#more td.links a')").await;
    rows.click("#more td.links a").await;
    rows.until("document.querySelector('#look table td')?.innerText === 'lines'").await;
    let run = site.server.post(&format!("/plans/{plan}/tasks/count/run"), &json!({"inputs": {"n": 2}}));
    assert_eq!(run.status, 202, "{}", run.text());
    site.server.until(&plan, "completed");
    let page = site.open(&format!("/p/{plan}/artifacts"), Look::WIDE).await;
    page.click("td.links a[href*='name=stdout']").await;
    page.until("document.querySelector('#look pre')?.innerText.includes('\"n\": 2')").await;
    assert!(page.ask::<bool>("document.querySelector('#look .sides ins').innerText.includes('2')").await);
    page.click("#look a.button[href*='version=1']").await;
    page.until("document.querySelector('#look h2').innerText.includes('version 1 of 2')").await;
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn output_is_followed_while_a_task_runs() {
    let Some(site) = Site::start().await else { return };
    let plan = site.server.create(
        "title: Clock\ntasks:\n  - {id: tick, run: 'until [ -e go ]; do echo tick; sleep 0.2; done; echo tock'}\n",
    );
    let page = site.open(&format!("/p/{plan}/tasks/tick"), Look::WIDE).await;
    page.until("document.querySelector('pre.log').innerText.split('tick').length > 3").await;
    std::fs::write(site.server.folder().join("go"), "").unwrap();
    page.until("document.querySelector('#task').innerText.includes('tock')").await;
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn evidence_changes_how_sure_one_is_and_a_late_plan_is_brought_back() {
    let Some(site) = Site::start().await else { return };
    let file = "title: Late\nhypotheses: [{id: H1, statement: It can be done, confidence: 0.5}]\ntasks:\n  - {id: build, manual: Build it}\nschedule:\n  start: 2050-01-03\n  deadline: 2050-01-05\n  resources: [{id: ana, rate: 80}]\n  tasks: {build: {estimate: 5d, needs: [ana]}}\n";
    let plan = site.server.create(file);
    site.server.until(&plan, "blocked");
    let late = site.server.post("/api/v1/plans", &json!({"file": file, "start": false})).json()["plan"].clone();
    let page = site.open(&format!("/p/{plan}/hypotheses"), Look::WIDE).await;
    page.fill("input[name=text]", "a trial worked").await;
    page.run("document.querySelector('select[name=direction]').value = 'strongly_supports'").await;
    page.click("button[value=hypothesis]").await;
    page.until("document.querySelector('#hypotheses').innerText.includes('a trial worked')").await;
    assert!(page.ask::<bool>("document.querySelector('#hypotheses progress').value > 0.5").await);
    page.go(&format!("http://{}/p/{}/timeline", site.server.addr, late.as_str().unwrap())).await;
    page.click("button[name=ways]").await;
    page.until("document.querySelector('button[value=take-way]')").await;
    page.click("button[value=take-way]").await;
    page.until("document.querySelector('#head').innerText.includes('revision 2')").await;
    page.run("document.querySelector('#chart-histogram').open = true").await;
    page.until("document.querySelector('#chart-histogram img').naturalWidth > 200").await;
    site.is_quiet(&page);
    site.browser.close().await;
}

#[tokio::test]
async fn a_template_is_copied_and_two_plans_are_compared_on_a_page() {
    let Some(site) = Site::start().await else { return };
    let page = site.open("/templates/outline", Look::WIDE).await;
    page.click("button[name=check]").await;
    page.until("document.body.innerText.includes('It holds together')").await;
    page.fill("#copy", "ours").await;
    page.press("Enter").await;
    page.until("location.pathname === '/templates/ours' && document.querySelectorAll('details').length > 1").await;
    for minutes in ["Boil it for 5 minutes", "Boil it for 9 minutes"] {
        site.server.create(&format!("title: Egg\ntasks:\n  - {{id: boil, manual: {minutes}}}\n"));
    }
    page.go(&format!("http://{}/compare", site.server.addr)).await;
    page.fill("input[name=before]", "1").await;
    page.fill("input[name=after]", "2").await;
    page.press("Enter").await;
    page.until("document.querySelector('.sides ins')?.innerText.includes('9 minutes')").await;
    site.is_quiet(&page);
    site.browser.close().await;
}
