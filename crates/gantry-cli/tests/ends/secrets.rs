//! Secrets: given to processes, and found in nothing that is written.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use gantry_testkit::web_server::{Reply, WebServer};

use crate::bench::Bench;

const FROM_VARIABLE: &str = "s3cr3t/of the+variable";
const FROM_FILE: &str = "an0ther-s3cr3t-of-a-file";

/// Every way in which a task could let a secret out.
const LEAKS: &str = r#"
id: leaks
title: Let it out
policy: {network: {allow: [127.0.0.1]}}
tasks:
  - id: say
    run: |
      echo "it is $TOKEN and $OTHER"
      i=0; while [ $i -lt 200 ]; do echo "line $i: $TOKEN"; i=$((i+1)); done
      printf %s "$TOKEN" | base64; printf %s "$OTHER" | od -An -tx1 | tr -d ' \n'
      printf 's3cr3t/of'; sleep 0.05; printf ' the+variable\n'
      echo "error $OTHER" >&2
      echo "out=$TOKEN" >> "$GANTRY_OUTPUTS"
  - id: fail
    optional: true
    run: echo "wrong $TOKEN" >&2; exit 1
  - id: file
    depends_on: [say]
    run: echo "$TOKEN" > kept.txt
    undo: restore
  - {id: read, depends_on: [file], tool: {name: files.read, args: {path: kept.txt}}}
  - id: write
    depends_on: [read]
    tool: {name: files.write, args: {path: copy.txt, content: tasks.read.content}}
  - {id: changed, depends_on: [file], tool: {name: git.diff}}
  - {id: made, run: 'echo "$TOKEN $OTHER" > made.txt', artifacts: [made.txt]}
  - {id: rows, tool: {name: sql.query, args: {path: own.db, sql: "SELECT it, 'and ' || it AS more FROM own"}}}
  - {id: asked, tool: {name: http.get, args: {url: "http://URL/", headers: {authorization: "Bearer ${TOKEN}"}}}}
  - {id: point, depends_on: [write, changed, made, rows, asked], checkpoint: here}
  - id: each
    depends_on: [point]
    map: {over: [1, 2], each: {run: 'echo "$item $TOKEN"'}}
  - id: inner
    depends_on: [each]
    plan:
      title: Inside
      tasks: [{id: deep, run: 'echo "$OTHER"; echo "$TOKEN" | base64 >&2'}]
  - {id: ok, depends_on: [inner], gate: {approvals: 1}}
"#;

/// How a secret may stand somewhere.
fn forms() -> Vec<Vec<u8>> {
    let base64 = base64::engine::general_purpose::STANDARD_NO_PAD;
    let mut forms = Vec::new();
    for value in [FROM_VARIABLE, FROM_FILE] {
        let hex = value.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let percent = value.replace('/', "%2F").replace(' ', "%20").replace('+', "%2B");
        forms.extend(
            [value.to_owned(), hex, percent, base64.encode(value), value.replace('/', "\\/")].map(String::into_bytes),
        );
    }
    forms
}

fn holds(bytes: &[u8]) -> Option<String> {
    let found = forms().into_iter().find(|form| bytes.windows(form.len()).any(|window| window == form));
    found.map(|form| String::from_utf8_lossy(&form).into_owned())
}

/// Everything in the record: each column of each row, what is packed unpacked.
fn columns(record: &Path) -> Vec<(String, Vec<u8>)> {
    use rusqlite::types::ValueRef;
    let conn = rusqlite::Connection::open(record).unwrap();
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut all = Vec::new();
    for table in tables {
        let mut statement = conn.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (index, name) in names.iter().enumerate() {
                let bytes = match row.get_ref(index).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => continue,
                };
                let unpacked = zstd::decode_all(bytes.as_slice()).unwrap_or_default();
                all.push((format!("{table}.{name}"), unpacked));
                all.push((format!("{table}.{name}"), bytes));
            }
        }
    }
    all
}

/// Every file below a folder.
fn files(folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, all);
        } else if let Ok(bytes) = std::fs::read(&path) {
            all.push((path.display().to_string(), bytes));
        }
    }
}

#[test]
fn a_secret_that_leaks_in_every_way_stands_in_nothing_that_was_written() {
    let bench = Bench::new();
    let around = tempfile::tempdir().unwrap();
    let at = |name: &str| around.path().join(name);
    for folder in ["tmp", "home", "kept"] {
        std::fs::create_dir(at(folder)).unwrap();
    }
    // A server that says everything again, a database and a repository with what is secret in them.
    let server = WebServer::start(|asked| Reply::text(format!("{:?}", asked.headers)));
    let own = rusqlite::Connection::open(bench.work("own.db")).unwrap();
    own.execute_batch("CREATE TABLE own (it)").unwrap();
    own.execute("INSERT INTO own VALUES (?1), (?2)", [FROM_VARIABLE, FROM_FILE]).unwrap();
    drop(own);
    std::fs::write(bench.work("kept.txt"), "nothing yet\n").unwrap();
    for args in [&["init", "--quiet"][..], &["add", "kept.txt"], &["commit", "--quiet", "-m", "first"]] {
        let identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"];
        let git = std::process::Command::new("git").args(identity).args(args).current_dir(bench.work("")).status();
        assert!(git.unwrap().success(), "git {args:?}");
    }
    let plan = bench.plan(&LEAKS.replace("http://URL/", &server.url("/"))).display().to_string();
    let secrets = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secrets.path(), format!("OTHER={FROM_FILE}\n")).unwrap();
    let mut written = Vec::new();
    let mut gantry = |args: &[&str], code: i32| {
        let mut command = bench.command(args);
        command.env("TOKEN", FROM_VARIABLE).env("TMPDIR", at("tmp")).env("HOME", at("home"));
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "gantry {args:?}: {told}");
        written.push((format!("gantry {args:?}, out"), output.stdout));
        written.push((format!("gantry {args:?}, err"), output.stderr));
    };
    let file = secrets.path().to_str().unwrap();
    gantry(&["run", &plan, "--secret", "TOKEN", "--secrets-file", file], 4);
    let zip = at("kept/out.zip").display().to_string();
    let copy = at("kept/copy.db").display().to_string();
    for line in [
        &["status", "leaks"][..],
        &["status", "leaks", "--json"],
        &["log", "leaks"],
        &["log", "leaks", "--json"],
        &["log", "leaks", "--digest"],
        &["audit", "leaks", "--json"],
        &["replay", "leaks"],
        &["task", "show", "leaks", "say"],
        &["task", "show", "leaks", "fail", "--json"],
        &["task", "show", "leaks", "asked"],
        &["task", "show", "leaks", "rows", "--json"],
        &["task", "show", "leaks", "changed"],
        &["artifact", "get", "leaks/made/made.txt", "-o", "-"],
        &["artifact", "show", "leaks/say/stdout"],
        &["artifact", "get", "leaks/say/stdout", "-o", "-"],
        &["artifact", "get", "leaks/say/stderr", "-o", "-"],
        &["export", "leaks"],
        &["export", "leaks", "--format", "json"],
        &["export", "zip", "leaks", "-o", &zip],
        &["db", "backup", &copy],
        &["list", "--json"],
    ] {
        gantry(line, 0);
    }
    let said = String::from_utf8_lossy(&written[1].1).into_owned();
    assert!(said.contains("[secret TOKEN]") && said.contains("[secret OTHER]"), "they were given to processes: {said}");
    let mut archive = Vec::new();
    std::fs::File::open(&zip).unwrap().read_to_end(&mut archive).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        written.push((format!("zip: entry {index}"), bytes));
    }
    written.extend(columns(&bench.beside("gantry.db")));
    written.extend(columns(Path::new(&copy)));
    files(around.path(), &mut written);
    files(&bench.beside(""), &mut written);
    assert!(written.len() > 200, "only {} things were looked at", written.len());
    assert!(server.heard()[0].headers["authorization"].contains(FROM_VARIABLE), "it was sent to the server");
    let own = ["kept.txt", "copy.txt", "made.txt", "own.db"].map(|name| bench.work(name).display().to_string());
    for (place, bytes) in written.iter().filter(|(place, _)| !own.contains(place)) {
        assert_eq!(holds(bytes), None, "{place}");
    }
}
