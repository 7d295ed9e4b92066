//! What people see who look into the file with SQL.

use rusqlite::Connection;

use crate::kit::{Folder, append, furnish, task};
use gantry_core::event::{Event, Source};
use gantry_store::Store;

#[tokio::test]
async fn the_views_show_plans_contents_files_model_calls_and_metrics() {
    let folder = Folder::new();
    let store = folder.store();
    furnish(&store).await;
    let mut request = append("a", 6, 1);
    request.turn.entries[0].event = Event::TaskCompleted {
        task: task("build"),
        key: "k".to_owned(),
        outputs: [("size".to_owned(), serde_json::json!(7))].into(),
        outcome: None,
        source: Source::default(),
        unjudged: Vec::new(),
    };
    let _ = store.append(request).await.unwrap();
    let conn = Connection::open(folder.database()).unwrap();
    let first = |query: &str| -> String { conn.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(
        first("SELECT concat_ws(' ', no, plan_id, title, status, entries, created_at) FROM plans ORDER BY no"),
        "1 a Plan a pending 7 1970-01-01T00:00:01.000Z"
    );
    assert_eq!(
        first("SELECT concat_ws(' ', plan_id, stage, content, content_type) FROM plan_content"),
        r#"a build {"size":7} application/json"#
    );
    assert_eq!(
        first("SELECT concat_ws(' ', plan_id, stage, filename, version, file_size_bytes) FROM plan_files"),
        "a build notes 1 6000"
    );
    assert_eq!(
        first("SELECT concat_ws(' ', plan_id, stage, llm_model, status, total_tokens) FROM llm_interactions"),
        "a build m completed 7"
    );
    assert_eq!(first("SELECT concat_ws(' ', plan_id, tasks, cost_usd) FROM plan_metrics"), "a 0 0");
    assert_eq!(first("SELECT count(*) || ' ' || max(seq) FROM journal WHERE plan_id = 'a'"), "7 7");
}
