//! Databases of the working folder: asked, changed as a whole or not at all, tried out, taken back.

use std::sync::Arc;

use gantry_core::plan::Undo;
use gantry_core::policy::{FailureClass, Policy};
use gantry_core::time::Duration;
use gantry_runners::Work;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::{World, eventually, tool, tree};

const PEOPLE: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, born REAL, face BLOB);
    INSERT INTO people VALUES (1, 'Ana', 1990.5, x'00ff'), (2, 'Ben', NULL, NULL), (3, 'Cy', 1970, NULL);
    CREATE TABLE log (what TEXT);
    CREATE TRIGGER renamed AFTER UPDATE OF name ON people BEGIN INSERT INTO log VALUES (old.name); END;
";

/// A folder with a database.
fn people() -> World {
    let world = World::new();
    world.database("people.db").execute_batch(PEOPLE).unwrap();
    world
}

impl World {
    fn database(&self, path: &str) -> Connection {
        Connection::open(self.root().join(path)).unwrap()
    }

    async fn sql(&self, name: &str, args: Value) -> Value {
        let ended = self.run(&tool(name, args)).await;
        json!(ended.end.unwrap_or_else(|failure| panic!("{name}: {failure:?}")).outputs)
    }

    async fn sql_fails(&self, name: &str, sql: &str) -> (FailureClass, String) {
        let failure = self.run(&tool(name, json!({"path": "people.db", "sql": sql}))).await.end.expect_err(sql);
        (failure.class, failure.message)
    }

    fn names(&self) -> Vec<String> {
        let database = self.database("people.db");
        let mut asked = database.prepare("SELECT name FROM people ORDER BY id").unwrap();
        asked.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    async fn take_back_last(&self) -> Result<String, String> {
        let record = self.memory.intents.lock().unwrap().pop().unwrap();
        self.runners.undo(&tool("sql.execute", json!({})), &self.place, &self.ports(), &record).await
    }
}

#[tokio::test]
async fn a_question_gives_rows_with_values_as_they_are() {
    let world = people();
    let found = world
        .sql("sql.query", json!({"path": "people.db", "sql": "SELECT * FROM people WHERE id < ?", "params": [3]}))
        .await;
    assert_eq!(found["columns"], json!(["id", "name", "born", "face"]));
    assert_eq!(
        found["rows"],
        json!([
            {"id": 1, "name": "Ana", "born": 1990.5, "face": {"base64": "AP8="}},
            {"id": 2, "name": "Ben", "born": null, "face": null},
        ])
    );
    assert_eq!((&found["count"], found.get("truncated")), (&json!(2), None));
    let named = json!({"path": "people.db", "sql": "SELECT name, name FROM people WHERE name = :who", "params": {"who": "Cy'; DROP TABLE people --"}});
    assert_eq!(world.sql("sql.query", named).await["rows"], json!([]), "a value is never a part of the statement");
    let twice = json!({"path": "people.db", "sql": "SELECT name, name FROM people LIMIT 1"});
    assert_eq!(world.sql("sql.query", twice).await["rows"], json!([{"name": "Ana", "name:2": "Ana"}]));
}

#[tokio::test]
async fn rows_beyond_the_limit_are_left_out_and_that_is_told() {
    let world = people();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT i FROM n";
    let found = world.sql("sql.query", json!({"path": "people.db", "sql": numbers, "limit": 2})).await;
    assert_eq!((&found["rows"], &found["truncated"]), (&json!([{"i": 1}, {"i": 2}]), &json!(true)));
    let wide = "SELECT hex(zeroblob(100000)) AS wide FROM people a, people b, people c";
    let found = world.sql("sql.query", json!({"path": "people.db", "sql": wide})).await;
    assert_eq!((&found["count"], &found["truncated"]), (&json!(2), &json!(true)), "nor more than fits");
}

#[tokio::test]
async fn all_statements_are_one_transaction() {
    let world = people();
    let sql = "UPDATE people SET name = 'Anna' WHERE id = 1;\n-- and then; really\nDELETE FROM people WHERE id > 1;\n";
    let done = world.sql("sql.execute", json!({"path": "people.db", "sql": sql})).await;
    assert_eq!(done["changed"], 4, "the row that the trigger made counts");
    assert_eq!(done["statements"][0], json!({"sql": "UPDATE people SET name = 'Anna' WHERE id = 1;", "changed": 2}));
    assert_eq!(world.names(), ["Anna"]);
    let half = "INSERT INTO people VALUES (4, 'Dan', 0, 0);\n\nINSERT INTO people VALUES (5, 'Anna', 0, 0);";
    let (class, said) = world.sql_fails("sql.execute", half).await;
    assert_eq!(class, FailureClass::Logic);
    assert_eq!(
        said,
        "`people.db`: UNIQUE constraint failed: people.name (line 3 of the SQL: `INSERT INTO people VALUES (5, 'Anna', 0, 0);`)"
    );
    assert_eq!(world.names(), ["Anna"], "all or nothing");
    let effects = world.memory.effects.lock().unwrap();
    assert_eq!((effects[0].kind.as_str(), effects[0].answer.as_ref().unwrap()), ("sql", &json!({"changed": 4})));
}

#[tokio::test]
async fn what_a_change_returns_is_handed_on() {
    let world = people();
    let args = json!({"path": "people.db", "sql": "UPDATE people SET born = ? WHERE born IS NULL RETURNING id, born", "params": [2000]});
    let done = world.sql("sql.execute", args).await;
    assert_eq!((&done["changed"], &done["rows"]), (&json!(1), &json!([{"id": 2, "born": 2000.0}])));
}

#[tokio::test]
async fn mistakes_name_the_line_and_what_is_wrong() {
    let world = people();
    let rows = [
        (
            "sql.query",
            "SELECT id,\n  nmae\nFROM people",
            "`people.db`: no such column: nmae (line 2 of the SQL: `nmae`)",
        ),
        ("sql.query", "SELECT 1;\nSELECT 2", "`sql.query` takes one statement, and there are 2; ask once for each"),
        (
            "sql.query",
            "DELETE FROM people",
            "`sql.query` changes nothing; use `sql.execute` (line 1 of the SQL: `DELETE FROM people`)",
        ),
        ("sql.query", "SELECT * FROM people WHERE id = ?", "the statement has 1 parameters, and `params` gives 0"),
        ("sql.query", " -- nothing\n", "there is no statement in the SQL"),
        (
            "sql.execute",
            "INSERT INTO people VALUES (4);\nSELEC 1",
            "table people has 4 columns but 1 values were supplied (line 1 of the SQL",
        ),
        (
            "sql.execute",
            "UPDATE people SET born = 1;\n\nSELEC 1",
            "near \"SELEC\": syntax error (line 3 of the SQL: `SELEC 1`)",
        ),
    ];
    for (name, sql, why) in rows {
        let (class, said) = world.sql_fails(name, sql).await;
        let policy = why.contains("changes nothing");
        assert_eq!(class, if policy { FailureClass::Policy } else { FailureClass::Logic }, "{sql}");
        assert!(said.contains(why), "{sql}: {said}");
    }
    assert_eq!(world.names(), ["Ana", "Ben", "Cy"]);
    let failure = world.run(&tool("sql.query", json!({"path": "none.db", "sql": "SELECT 1"}))).await.end.unwrap_err();
    assert_eq!(failure.message, "there is no `none.db`");
    world.write("text.db", "this is no database, but it is long enough to look at".repeat(20));
    let failure =
        world.run(&tool("sql.query", json!({"path": "text.db", "sql": "SELECT * FROM a"}))).await.end.unwrap_err();
    assert_eq!(failure.message, "`text.db` is no SQLite database, or it is encrypted");
    let several =
        json!({"path": "people.db", "sql": "DELETE FROM log WHERE what = ?; DELETE FROM people", "params": ["x"]});
    let failure = world.run(&tool("sql.execute", several)).await.end.unwrap_err();
    assert_eq!(failure.message, "`params` are for one statement, and there are several");
}

#[tokio::test]
async fn no_statement_reaches_anything_but_its_database() {
    let world = people();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("out.db").display().to_string();
    let attach = format!("ATTACH '{file}' AS other; CREATE TABLE other.t (a);");
    let vacuum = format!("VACUUM INTO '{file}'");
    for sql in [
        attach.as_str(),
        vacuum.as_str(),
        "SELECT load_extension('x')",
        "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA temp_store_directory = '/tmp'",
        "COMMIT; DELETE FROM people; BEGIN",
        "SAVEPOINT a",
    ] {
        let (class, said) = world.sql_fails("sql.execute", sql).await;
        assert!(class == FailureClass::Policy || said.contains("VACUUM"), "{sql}: {said}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(world.names(), ["Ana", "Ben", "Cy"]);
    std::os::unix::fs::symlink(&file, world.root().join("link.db")).unwrap();
    let args = json!({"path": "link.db", "sql": "CREATE TABLE t (a)", "create": true});
    let failure = world.run(&tool("sql.execute", args)).await.end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Policy);
    assert!(failure.message.contains("links are not followed"), "{}", failure.message);
}

#[tokio::test]
async fn the_policy_and_the_record_are_respected() {
    let mut world = people();
    let mut policy = Policy::default();
    policy.files.write = vec!["data/**".to_owned()];
    policy.files.read = vec!["people.db".to_owned()];
    world.place.policy = Arc::new(policy);
    world.sql("sql.query", json!({"path": "people.db", "sql": "SELECT 1"})).await;
    let (class, said) = world.sql_fails("sql.execute", "DELETE FROM people").await;
    assert_eq!(
        (class, said.as_str()),
        (FailureClass::Policy, "`people.db` is outside `policy.files.write`, which allows `data/**`")
    );
    world.place.own_files = vec![world.root().join("people.db")];
    let (class, said) = world.sql_fails("sql.query", "SELECT 1").await;
    assert_eq!(class, FailureClass::Policy);
    assert!(said.contains("is the record that this plan is kept in"), "{said}");
}

#[tokio::test]
async fn a_change_is_taken_back_whatever_it_was() {
    for mode in ["delete", "wal"] {
        let world = people();
        world.database("people.db").pragma_update(None, "journal_mode", mode).unwrap();
        let open = world.database("people.db"); // someone else has it open all the while
        let look =
            "SELECT group_concat(name || coalesce(born, '-')) || (SELECT count(*) FROM sqlite_schema) FROM people";
        let seen = || open.query_row(look, [], |row| row.get::<_, String>(0)).unwrap();
        let before = seen();
        for sql in [
            "UPDATE people SET born = born + 1",
            "ALTER TABLE people ADD COLUMN age; DROP TABLE log",
            "DELETE FROM people",
        ] {
            world.sql("sql.execute", json!({"path": "people.db", "sql": sql})).await;
        }
        for _ in 0..3 {
            assert_eq!(world.take_back_last().await.as_deref(), Ok("`people.db` is as before"), "{mode}");
        }
        assert_eq!(seen(), before, "{mode}");
        world.sql("sql.execute", json!({"path": "people.db", "sql": "DELETE FROM log"})).await;
        let record = world.memory.intents.lock().unwrap()[0].clone();
        world.memory.intents.lock().unwrap().push(record);
        for words in ["`people.db` was as before already", "`people.db` was as before already"] {
            assert_eq!(world.take_back_last().await.as_deref(), Ok(words), "nothing was in there: {mode}");
        }
    }
}

#[tokio::test]
async fn taking_back_refuses_to_lose_what_someone_else_did_since() {
    let world = people();
    world.sql("sql.execute", json!({"path": "people.db", "sql": "DELETE FROM people WHERE id = 1"})).await;
    world.database("people.db").execute_batch("INSERT INTO people VALUES (9, 'Zoe', 0, 0)").unwrap();
    let why = world.take_back_last().await.unwrap_err();
    assert_eq!(why, "`people.db` was changed since; taking it back would lose that change");
    assert_eq!(world.names(), ["Ben", "Cy", "Zoe"]);
}

#[tokio::test]
async fn a_change_that_was_cut_off_is_taken_back_whether_it_happened_or_not() {
    for happened in [true, false] {
        let world = people();
        world.sql("sql.execute", json!({"path": "people.db", "sql": "DELETE FROM people"})).await;
        let mut record = world.memory.intents.lock().unwrap().pop().unwrap();
        record["record"]["after"] = json!("cut_off");
        if !happened {
            std::fs::remove_file(world.root().join("people.db")).unwrap();
            world.database("people.db").execute_batch(PEOPLE).unwrap();
        }
        world.memory.intents.lock().unwrap().push(record);
        let said = world.take_back_last().await.unwrap();
        assert!(
            said.starts_with(if happened { "`people.db` is as before; it had been" } else { "`people.db` was as" }),
            "{said}"
        );
        assert_eq!(world.names(), ["Ana", "Ben", "Cy"]);
    }
}

#[tokio::test]
async fn a_database_that_is_made_is_removed_again_with_its_folder() {
    let world = World::new();
    let args = json!({"path": "new/data.db", "sql": "CREATE TABLE t (a); INSERT INTO t VALUES (1)"});
    let failure = world.run(&tool("sql.execute", args.clone())).await.end.unwrap_err();
    assert_eq!(failure.message, "there is no `new/data.db`; `create: true` makes it");
    let mut made = args;
    made["create"] = json!(true);
    assert_eq!(world.sql("sql.execute", made).await["changed"], 1);
    assert_eq!(
        world.sql("sql.query", json!({"path": "new/data.db", "sql": "SELECT a FROM t"})).await["rows"],
        json!([{"a": 1}])
    );
    assert_eq!(world.take_back_last().await.as_deref(), Ok("`new/data.db` is as before"));
    assert!(tree(world.root()).is_empty());
}

#[tokio::test]
async fn a_secret_in_a_database_is_not_kept_and_still_comes_back() {
    let mut world = people();
    world.database("people.db").execute_batch("UPDATE people SET name = 'hunter2hunter2' WHERE id = 1").unwrap();
    world.place.secrets = gantry_runners::Secrets::of([("WORD".to_owned(), "hunter2hunter2".to_owned())]).unwrap();
    world.sql("sql.execute", json!({"path": "people.db", "sql": "DELETE FROM people"})).await;
    for bytes in world.memory.blobs.lock().unwrap().values() {
        assert!(!String::from_utf8_lossy(bytes).contains("hunter2"), "a secret is kept");
    }
    world.take_back_last().await.unwrap();
    assert_eq!(world.names(), ["hunter2hunter2", "Ben", "Cy"]);
}

#[tokio::test]
async fn a_database_that_is_too_large_to_keep_is_changed_only_if_nobody_wants_it_back() {
    let mut world = people();
    world.place.limits.database_bytes_max = 1_000;
    let (_, said) = world.sql_fails("sql.execute", "DELETE FROM people").await;
    assert!(said.contains("at most 1000 are kept to take a change back. Say `undo: never`"), "{said}");
    assert_eq!(world.names().len(), 3);
    let work =
        Work { undo: Undo::Never, ..tool("sql.execute", json!({"path": "people.db", "sql": "DELETE FROM people"})) };
    world.run(&work).await.end.unwrap();
    assert!(world.names().is_empty() && world.memory.intents.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_preview_counts_rows_and_touches_nothing() {
    let world = people();
    let before = tree(world.root());
    let work = tool(
        "sql.execute",
        json!({"path": "people.db", "sql": "UPDATE people SET name = 'Anna' WHERE id = 1; DELETE FROM people WHERE id > 1"}),
    );
    let preview = world.runners.preview(&work, &world.place).await.unwrap();
    assert_eq!(
        preview.text,
        "change `people.db`, in one transaction\n  2 rows: UPDATE people SET name = 'Anna' WHERE id = 1;\n  2 rows: DELETE FROM people WHERE id > 1"
    );
    assert_eq!(tree(world.root()), before);
    assert!(world.memory.blobs.lock().unwrap().is_empty());
    let question = tool("sql.query", json!({"path": "people.db", "sql": "SELECT\n  1"}));
    assert_eq!(world.runners.preview(&question, &world.place).await.unwrap().text, "would ask `people.db`: SELECT 1");
}

#[tokio::test]
async fn previews_build_on_each_other() {
    let mut world = World::new();
    world.place.foreseen = gantry_runners::Foreseen::begin();
    let steps = [
        (
            json!({"path": "d.db", "create": true, "sql": "CREATE TABLE t (a)"}),
            "create `d.db`, in one transaction\n  0 rows: CREATE TABLE t (a)",
        ),
        (
            json!({"path": "d.db", "sql": "INSERT INTO t VALUES (1), (2)"}),
            "change `d.db`, in one transaction\n  2 rows: INSERT INTO t VALUES (1), (2)",
        ),
        (
            json!({"path": "d.db", "sql": "DELETE FROM t WHERE a = 1"}),
            "change `d.db`, in one transaction\n  1 row: DELETE FROM t WHERE a = 1",
        ),
    ];
    for (args, text) in steps {
        assert_eq!(world.runners.preview(&tool("sql.execute", args), &world.place).await.unwrap().text, text);
    }
    assert!(tree(world.root()).is_empty());
}

#[tokio::test]
async fn a_question_that_takes_long_says_that_it_is_at_work() {
    let world = people();
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let work = Work {
        heartbeat: Some(Duration::from_ms(5)),
        ..tool("sql.query", json!({"path": "people.db", "sql": endless}))
    };
    let stop = async {
        eventually("a heartbeat", || !world.memory.beats.lock().unwrap().is_empty()).await;
        world.stop.cancel();
    };
    let (ended, ()) = tokio::join!(world.run(&work), stop);
    assert_eq!(ended.end.unwrap_err().class, FailureClass::Cancelled);
}

#[tokio::test]
async fn a_question_without_an_end_is_stopped() {
    let world = people();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (work, stop) = (tool("sql.query", json!({"path": "people.db", "sql": endless})), world.stop.clone());
    let fd = || {
        std::fs::read_dir("/proc/self/fd").unwrap().any(|fd| {
            std::fs::read_link(fd.unwrap().path())
                .is_ok_and(|file| file == world.root().canonicalize().unwrap().join("people.db"))
        })
    };
    let stopping = async {
        eventually("it is under way", fd).await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(world.run(&work), stopping);
    assert_eq!(ended.end.unwrap_err().class, FailureClass::Cancelled);
}

#[tokio::test]
async fn a_question_verifies_whether_something_was_done() {
    let world = people();
    for (id, happened) in [(1, true), (7, false)] {
        let work = tool(
            "sql.query",
            json!({"path": "people.db", "sql": "SELECT id FROM people WHERE id = ?", "params": [id]}),
        );
        let found = world.runners.happened(&work, &world.place, &world.ports(), &world.stop).await;
        assert_eq!(found.happened, Some(happened));
    }
}

#[tokio::test]
async fn a_value_without_measure_is_refused_before_there_are_copies_of_it() {
    let world = people();
    let (_, said) = world.sql_fails("sql.query", "SELECT hex(zeroblob(200000000))").await;
    assert!(said.contains("too big"), "{said}");
    let rows = world.sql("sql.query", json!({"path": "people.db", "sql": "SELECT zeroblob(1000000) AS it"})).await;
    assert_eq!((&rows["rows"], &rows["truncated"]), (&json!([]), &json!(true)));
}

#[tokio::test]
async fn a_row_that_is_too_long_to_be_shown_verifies_all_the_same() {
    let world = people();
    let work = tool("sql.query", json!({"path": "people.db", "sql": "SELECT zeroblob(1000000) FROM people"}));
    let found = world.runners.happened(&work, &world.place, &world.ports(), &world.stop).await;
    assert_eq!(found.happened, Some(true));
}
