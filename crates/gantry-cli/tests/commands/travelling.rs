//! A plan's whole life goes from one record to another.

use std::io::{Cursor, Read, Write};

use gantry_core::id::PlanId;
use gantry_store::{Hash, Sealed, Turn, first_head};
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::kit::{FILES, Kit, RELEASE};

#[test]
fn a_life_taken_in_elsewhere_is_the_same_life() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("gate approve release sign-off legal --role lawyer"), 0);
    assert_eq!(kit.code("resume release"), 0);
    let head = kit.json("audit release --json")["head"].clone();
    assert_eq!(kit.code("export zip release -o release.zip"), 0);
    assert_eq!(kit.code("export zip release -o again.zip"), 0);
    assert_eq!(kit.read("release.zip"), kit.read("again.zip"), "the same life gives the same bytes");
    let there = kit.with_record("other.db");
    insta::assert_snapshot!(there.session(&["import release.zip", "replay release", "artifact list release"]), @"
    $ gantry import release.zip
    --- talk
    imported `release` with 6 turns, 15 entries and 2 artifacts; it is completed
    [exit 0]
    $ gantry replay release
    release: 5 turns decided again, 15 entries compared: everything is the same
    [exit 0]
    $ gantry artifact list release
    TASK   NAME      SIZE  MADE                  BY
    build  stdout@1  6 B   2026-01-01T00:00:00Z  attempt
    ship   stdout@1  8 B   2026-01-01T00:00:00Z  attempt
    [exit 0]
    ");
    let audit = there.json("audit release --json");
    assert_eq!((&audit["head"], &audit["sound"]), (&head, &Value::Bool(true)));
    insta::assert_snapshot!(there.session(&["import release.zip", "replay @last", "audit @last"]), @"
    $ gantry import release.zip
    --- talk
    imported `plan-ship-release-xxxx` with 6 turns, 15 entries and 2 artifacts; it is completed
    the id `release` is taken here, so it is a fork with a new one
    [exit 0]
    $ gantry replay @last
    plan-ship-release-xxxx: 5 turns decided again, 16 entries compared: everything is the same
    [exit 0]
    $ gantry audit @last
    1   2026-01-01T00:00:00Z  the plan was created with 4 tasks
    8   2026-01-01T00:00:00Z  sign-off: approved by ana (lawyer)
    9   2026-01-01T00:00:00Z  legal: approved by ana (lawyer)
    15  2026-01-01T00:00:00Z  the plan is completed
    16  2026-01-01T00:00:00Z  it goes on from entry 15 of `release`
    plan-ship-release-xxxx: 16 entries in 7 turns, head hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
    --- talk
    sound: everything is as it was written
    [exit 0]
    ");
}

#[test]
fn a_plan_under_way_goes_on_where_it_was() {
    let kit = Kit::with_plan(RELEASE);
    assert_eq!(kit.code("export zip release -o release.zip"), 0);
    let there = kit.with_record("other.db");
    assert_eq!(there.code("import release.zip"), 0);
    assert_eq!(there.code("import release.zip"), 0);
    for plan in ["release", "2"] {
        assert_eq!(there.code(&format!("gate approve {plan} sign-off legal --role lawyer")), 0);
        assert_eq!(there.code(&format!("resume {plan} --workspace .")), 0);
        assert_eq!(there.code(&format!("replay {plan}")), 0);
    }
}

#[test]
fn what_the_processes_of_a_plan_from_elsewhere_are_given_is_said_once() {
    let kit = Kit::new();
    kit.run(
        "id: shade\ntasks: [{id: ok, gate: {approvals: 1}}, {id: print, depends_on: [ok], run: 'echo in $SHADE'}]\n",
    );
    assert_eq!(kit.code("export zip shade -o shade.zip"), 0);
    let there = kit.with_record("other.db");
    assert_eq!(there.code("import shade.zip"), 0);
    assert_eq!(there.code("resume shade --workspace . --env SHADE=red"), 4, "it waits at its gate");
    assert_eq!(there.code("gate approve shade ok"), 0);
    let told = there.gantry(&["resume", "shade"]);
    assert!(told.contains("as `shade` was begun: --env SHADE=red") && told.contains("in red"), "{told}");
}

#[test]
fn a_checkpoint_that_came_with_a_life_can_be_restored() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(FILES);
    assert_eq!(kit.code("export zip files -o files.zip"), 0);
    let there = kit.with_record("other.db");
    assert_eq!(there.code("import files.zip"), 0);
    assert_eq!(there.code("restore files --to start"), 2, "nobody said which folder that is here");
    assert_eq!(there.code("restore files --to start --workspace ."), 0);
    assert_eq!(there.read("a.txt"), b"old");
    assert_eq!(there.code("restore files --to start"), 0, "it was said once");
}

#[test]
fn a_plan_from_elsewhere_gets_no_folder_and_no_secret_that_nobody_named() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "id: leak\ntitle: Leak\ntasks:\n  - id: ask\n    ask: Go?\n  - id: leak\n    depends_on: [ask]\n    run: printf %s \"$TOKEN\" | wc -c\n",
    );
    kit.with_variable("TOKEN", "abcdefgh", "run plan.yaml --secret TOKEN");
    assert_eq!(kit.code("export zip leak -o leak.zip"), 0);
    let head = kit.json("audit leak --json")["head"].clone();
    let there = kit.with_record("other.db");
    let mine = |line: &str| format!("$ gantry {line}\n{}\n", there.with_variable("TOKEN", "my own secret", line));
    insta::assert_snapshot!([
        mine("import leak.zip"),
        mine("resume leak"),
        mine("cancel leak --undo"),
        mine("resume leak --workspace ."),
        mine("resume leak --workspace nowhere --secret TOKEN"),
    ].concat(), @"
    $ gantry import leak.zip
    --- talk
    imported `leak` with 2 turns, 3 entries and 0 artifacts; it is blocked
    look at it with `gantry status leak`; if you trust it, go on with `gantry resume leak --workspace DIR --secret TOKEN`
    [exit 0]
    $ gantry resume leak
    --- talk
    error: plan `leak` came from elsewhere, and nobody has said yet where it works here

    hint: look at it with `gantry status leak`; if you trust it, go on with `gantry resume leak --workspace DIR --secret TOKEN`
    [exit 2]
    $ gantry cancel leak --undo
    --- talk
    error: plan `leak` came from elsewhere, and nobody has said yet where it works here

    hint: look at it with `gantry status leak`; if you trust it, go on with `gantry resume leak --workspace DIR --secret TOKEN`
    [exit 2]
    $ gantry resume leak --workspace .
    --- talk
    error: plan `leak` was given the secret `TOKEN` elsewhere, and asks for it

    hint: if you trust it with what is in your environment, add `--secret TOKEN`
    [exit 2]
    $ gantry resume leak --workspace nowhere --secret TOKEN
    --- talk
    error: the folder `nowhere` cannot be used: there is no such folder

    hint: name a folder that exists, such as `.`
    [exit 2]
    ");
    assert_eq!(there.json("audit leak --json")["head"], head, "nothing was recorded");
    mine("resume leak --workspace . --secret TOKEN");
    let notes = there.gantry(&["audit", "leak"]);
    assert!(notes.contains("it works in FOLDER/work from now on, with the secrets TOKEN"), "{notes}");
    assert_eq!(there.code("resume leak"), 2, "from now on it needs what it was given");
    insta::assert_snapshot!(mine("resume leak --workspace .."), @"
    $ gantry resume leak --workspace ..
    --- talk
    error: plan `leak` works in `FOLDER/work`, and what it did is there

    hint: leave out `--workspace`
    [exit 2]
    ");
}

#[test]
fn a_life_that_was_taken_in_can_be_taken_back_even_if_the_import_is_killed_at_its_end() {
    let kit = Kit::new();
    kit.write("a.txt", "old");
    kit.run(
        "id: files\ntitle: Change some files\ntasks:\n  - id: write\n    tool: {name: files.write, args: {path: a.txt, content: new}}\n    undo: restore\n  - id: ask\n    depends_on: [write]\n    ask: Enough?\n",
    );
    assert_eq!(kit.code("export zip files -o files.zip"), 0);
    let kit = kit.with_record("other.db");
    assert_eq!(kit.killed_at("after_import", "import files.zip"), None, "it was killed");
    let told = kit.gantry(&["cancel", "files", "--undo", "--workspace", "."]);
    assert!(told.contains("took back `write`: restored what it changed: one file is as before"), "{told}");
    assert_eq!(kit.read("a.txt"), b"old");
}

#[test]
fn what_processes_were_given_elsewhere_has_to_be_given_again_here() {
    let kit = Kit::new();
    kit.write("plan.yaml", FILES);
    assert_eq!(kit.code("run plan.yaml --no-sandbox --env STAGE=test"), 0);
    assert_eq!(kit.code("export zip files -o files.zip"), 0);
    let there = kit.with_record("other.db");
    let told = there.gantry(&["import", "files.zip"]);
    let sentence =
        "it was begun with `--no-sandbox --env STAGE=test`, which counted elsewhere; give it to `gantry resume` again";
    assert!(told.contains(sentence), "{told}");
    assert_eq!(there.code("retry files read"), 0);
    let told = there.gantry(&["resume", "files", "--workspace", "."]);
    assert!(told.ends_with("[exit 0]"), "{told}");
    assert!(!told.contains("was begun") && !told.contains("not confined, as asked"), "{told}");
    assert_eq!(there.code("replay files"), 0);
}

/// The files of a zip file.
fn unpack(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let one = |at| {
        let mut file = archive.by_index(at).unwrap();
        let mut body = Vec::new();
        file.read_to_end(&mut body).unwrap();
        (String::from_utf8_lossy(file.name_raw()).into_owned(), body)
    };
    (0..ZipArchive::new(Cursor::new(bytes)).unwrap().len()).map(one).collect()
}

fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in files {
        writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        writer.write_all(body).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Changes one file of a zip file.
fn with_changed(zip: &[u8], name: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut files = unpack(zip);
    files.iter_mut().filter(|(path, _)| path == name).for_each(|(_, body)| change(body));
    pack(&files)
}

fn with_file(zip: &[u8], name: &str, body: &[u8]) -> Vec<u8> {
    let mut files = unpack(zip);
    files.push((name.to_owned(), body.to_vec()));
    pack(&files)
}

fn with_manifest(zip: &[u8], change: impl Fn(&mut Value)) -> Vec<u8> {
    with_changed(zip, "manifest.json", |body| {
        let mut manifest: Value = serde_json::from_slice(body).unwrap();
        change(&mut manifest);
        *body = serde_json::to_vec(&manifest).unwrap();
    })
}

/// A zip file whose journal was rewritten by someone who knows how to make all hashes fit.
fn forged(zip: &[u8], from: &str, to: &str) -> Vec<u8> {
    let journal = unpack(zip).into_iter().find(|(name, _)| name == "journal.jsonl").unwrap().1;
    let text = String::from_utf8(journal).unwrap();
    assert!(text.contains(from));
    let text = text.replace(from, to);
    let (mut length, mut head) = (0, first_head(&PlanId::new("files").unwrap()));
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let turn = Turn {
            first_seq: line["first_seq"].as_u64().unwrap(),
            inputs: line["inputs"].to_string(),
            entries: serde_json::from_value(line["entries"].clone()).unwrap(),
            at: serde_json::from_value(line["at"].clone()).unwrap(),
        };
        let sealed = Sealed::new(turn, length).unwrap();
        (length, head) = (sealed.last_seq(), sealed.head(head));
    }
    let changed = with_changed(zip, "journal.jsonl", |body| *body = text.clone().into());
    with_manifest(&changed, |manifest| {
        manifest["head"] = head.to_string().into();
        manifest["files"][1]["hash"] = Hash::of(text.as_bytes()).to_string().into();
        manifest["files"][1]["bytes"] = text.len().into();
    })
}

#[test]
fn a_life_that_nobody_could_have_lived_is_noticed() {
    let kit = Kit::with_plan(FILES);
    assert_eq!(kit.code("export zip files -o good.zip"), 0);
    let good = kit.read("good.zip");
    let kit = kit.with_record("other.db");
    let mut told = Vec::new();
    for (from, to) in [
        (r#""task":"write""#, r#""task":"wrong""#),
        (r#""event":"plan_started""#, r#""event":"plan_completed""#),
        (r#""event":"plan_completed""#, r#""event":"breaker_reset""#),
        (r#""depends_on":["write"]"#, r#""depends_on":["nobody"]"#),
        (r#""depends_on":["before"]"#, r#""depends_on":["read"]"#),
    ] {
        kit.write("forged.zip", forged(&good, from, to));
        told.push(format!("{to}\n{}\n", kit.gantry(&["import", "forged.zip"])));
        assert_eq!(kit.code("audit files"), 2, "no plan was made");
    }
    insta::assert_snapshot!(told.concat(), @r#"
    "task":"wrong"
    --- talk
    error: `forged.zip` cannot be imported: this program decides otherwise at entry 7

    hint: it was changed, or made by another version; take it in nevertheless with `--force`
    [exit 2]
    "event":"plan_completed"
    --- talk
    error: `forged.zip` cannot be imported: this program decides otherwise at entry 2

    hint: it was changed, or made by another version; take it in nevertheless with `--force`
    [exit 2]
    "event":"breaker_reset"
    --- talk
    error: `forged.zip` cannot be imported: this program decides otherwise at entry 13

    hint: it was changed, or made by another version; take it in nevertheless with `--force`
    [exit 2]
    "depends_on":["nobody"]
    --- talk
    error: `forged.zip` cannot be imported: this program decides otherwise at entry 1

    hint: it was changed, or made by another version; take it in nevertheless with `--force`
    [exit 2]
    "depends_on":["read"]
    --- talk
    error: `forged.zip` cannot be imported: this program decides otherwise at entry 1

    hint: it was changed, or made by another version; take it in nevertheless with `--force`
    [exit 2]
    "#);
    insta::assert_snapshot!(kit.gantry(&["import", "forged.zip", "--force"]), @"
    --- talk
    imported `files` with 5 turns, 13 entries and 2 artifacts; it is completed
    warning: this program decides otherwise at entry 1; see `gantry replay files`
    [exit 0]
    ");
    assert_eq!(kit.code("replay files"), 5, "a life that is decided otherwise now is told by the exit code");
    assert_eq!(kit.json("replay files --json")["same"], false);
}

#[test]
fn a_bad_or_hostile_zip_file_changes_nothing() {
    let kit = Kit::with_plan(FILES);
    assert_eq!(kit.code("export zip files -o good.zip"), 0);
    let good = kit.read("good.zip");
    let hash = |text: &str| Value::String(Hash::of(text.as_bytes()).to_string());
    let flip = |body: &mut Vec<u8>| body[20] ^= 1;
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("no zip file", b"not a zip file".to_vec()),
        ("cut off", good[..good.len() / 2].to_vec()),
        ("no manifest", pack(&[("plan.yaml".to_owned(), Vec::new())])),
        ("a journal that was changed", with_changed(&good, "journal.jsonl", flip)),
        ("an artifact that was changed", with_changed(&good, "artifacts/read/1-stdout", |body| body.push(b'!'))),
        ("a way out", with_file(&good, "../../evil.sh", b"rm")),
        ("a whole path", with_file(&good, "/etc/evil", b"rm")),
        ("another file", with_file(&good, "extra.txt", b"hello")),
        ("another format", with_manifest(&good, |manifest| manifest["format"] = "gantry-plan/9".into())),
        ("another plan", with_manifest(&good, |manifest| manifest["plan"] = "stranger".into())),
        ("artifacts left out", with_manifest(&good, |manifest| manifest["artifacts"] = serde_json::json!([]))),
        ("a size that is not true", with_manifest(&good, |manifest| manifest["files"][1]["bytes"] = 3.into())),
        ("a journal with the right hash and the wrong words", {
            let text = "{}\n";
            let changed = with_changed(&good, "journal.jsonl", |body| *body = text.into());
            with_manifest(&changed, |manifest| {
                manifest["files"][1]["hash"] = hash(text);
                manifest["files"][1]["bytes"] = text.len().into();
            })
        }),
    ];
    let kit = kit.with_record("other.db");
    let mut told = Vec::new();
    for (what, body) in bad {
        kit.write("bad.zip", body);
        told.push(format!("{what}\n{}\n", kit.gantry(&["import", "bad.zip"])));
    }
    insta::assert_snapshot!(told.concat(), @"
    no zip file
    --- talk
    error: `bad.zip` is not a zip file: invalid Zip archive: Could not find EOCD

    hint: make one with `gantry export --format zip`
    [exit 2]
    cut off
    --- talk
    error: `bad.zip` is not a zip file: invalid Zip archive: Could not find EOCD

    hint: make one with `gantry export --format zip`
    [exit 2]
    no manifest
    --- talk
    error: `bad.zip` cannot be imported: `manifest.json` cannot be unpacked: specified file not found in archive

    hint: no plan was made; export it once more
    [exit 2]
    a journal that was changed
    --- talk
    error: `bad.zip` cannot be imported: `journal.jsonl` is not what was exported: its hash does not fit

    hint: no plan was made; export it once more
    [exit 2]
    an artifact that was changed
    --- talk
    error: `bad.zip` cannot be imported: `artifacts/read/1-stdout` is larger than it should be

    hint: no plan was made; export it once more
    [exit 2]
    a way out
    --- talk
    error: `bad.zip` cannot be imported: the name `../../evil.sh` is not one of a file inside it

    hint: no plan was made; export it once more
    [exit 2]
    a whole path
    --- talk
    error: `bad.zip` cannot be imported: the name `/etc/evil` is not one of a file inside it

    hint: no plan was made; export it once more
    [exit 2]
    another file
    --- talk
    error: `bad.zip` cannot be imported: the file `extra.txt` is not in its manifest

    hint: no plan was made; export it once more
    [exit 2]
    another format
    --- talk
    error: `bad.zip` cannot be imported: its format is `gantry-plan/9`, and this program reads `gantry-plan/1`

    hint: no plan was made; export it once more
    [exit 2]
    another plan
    --- talk
    error: `bad.zip` cannot be imported: its journal is not what was exported: the hashes do not fit

    hint: no plan was made; export it once more
    [exit 2]
    artifacts left out
    --- talk
    error: `bad.zip` cannot be imported: the artifact with hash hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh is missing

    hint: no plan was made; export it once more
    [exit 2]
    a size that is not true
    --- talk
    error: `bad.zip` cannot be imported: `journal.jsonl` is larger than it should be

    hint: no plan was made; export it once more
    [exit 2]
    a journal with the right hash and the wrong words
    --- talk
    error: `bad.zip` cannot be imported: line 1 of `journal.jsonl`: missing field `first_seq` at line 1 column 2

    hint: no plan was made; export it once more
    [exit 2]
    ");
    insta::assert_snapshot!(kit.gantry(&["import", "nowhere.zip"]), @"
    --- talk
    error: `nowhere.zip` cannot be read: there is no such file

    hint: name a zip file that `gantry export --format zip` made
    [exit 2]
    ");
    assert_eq!(kit.code("audit files"), 2, "no plan was made");
}

#[test]
fn turns_that_nobody_decided_are_counted() {
    let kit = Kit::with_plan(FILES);
    assert_eq!(kit.code("export zip files -o good.zip"), 0);
    let inputs = |at: usize| {
        let journal = unpack(&kit.read("good.zip")).into_iter().find(|(name, _)| name == "journal.jsonl").unwrap().1;
        let text = String::from_utf8(journal).unwrap();
        let line: Box<serde_json::value::RawValue> = serde_json::from_str(text.lines().nth(at).unwrap()).unwrap();
        let line = line.get();
        let begin = line.find(r#""inputs":"#).unwrap();
        line[begin..line.find(r#","entries":"#).unwrap()].to_owned()
    };
    let forged = forged(&kit.read("good.zip"), &inputs(3), r#""inputs":"given""#);
    let kit = kit.with_record("other.db");
    kit.write("forged.zip", forged);
    insta::assert_snapshot!(kit.session(&["import forged.zip", "replay files"]), @"
    $ gantry import forged.zip
    --- talk
    imported `files` with 5 turns, 13 entries and 2 artifacts; it is completed
    warning: 1 turn of it cannot be decided again, so nothing shows whether it was so
    [exit 0]
    $ gantry replay files
    files: 3 turns decided again, 13 entries compared: what was decided is the same
    --- talk
    1 turn of it cannot be decided again: nobody decided it, it was given as it stands
    [exit 0]
    ");
    assert_eq!(kit.json("replay files --json")["given"], 1);
}

#[test]
fn a_journal_that_grows_beyond_measure_is_refused_before_it_is_unpacked() {
    let kit = Kit::with_plan(FILES);
    assert_eq!(kit.code("export zip files -o good.zip"), 0);
    let zeros = vec![b' '; 20 << 20];
    for name in ["journal.jsonl", "calls.jsonl", "plan.yaml"] {
        // Everything that it says about itself is true.
        let bomb = with_changed(&kit.read("good.zip"), name, |body| body.clone_from(&zeros));
        let bomb = with_manifest(&bomb, |manifest| {
            let file = manifest["files"].as_array_mut().unwrap().iter_mut().find(|file| file["path"] == name).unwrap();
            file["bytes"] = zeros.len().into();
            file["hash"] = Hash::of(&zeros).to_string().into();
        });
        kit.write("bomb.zip", bomb);
        let told = kit.gantry(&["import", "bomb.zip"]);
        assert!(told.contains("becomes more than 200 times larger when it is unpacked"), "{told}");
    }
}

#[test]
fn a_small_file_that_unpacks_to_a_huge_one_is_refused() {
    let kit = Kit::with_plan(FILES);
    assert_eq!(kit.code("export zip files -o good.zip"), 0);
    let zeros = vec![0; 4 << 20];
    // It says that it holds a little, and holds a lot.
    let bomb = with_changed(&kit.read("good.zip"), "calls.jsonl", |body| body.clone_from(&zeros));
    assert!(bomb.len() < 1 << 16);
    kit.write("bomb.zip", bomb);
    let kit = kit.with_record("other.db");
    insta::assert_snapshot!(kit.gantry(&["import", "bomb.zip"]), @"
    --- talk
    error: `bomb.zip` cannot be imported: `calls.jsonl` is larger than it should be

    hint: no plan was made; export it once more
    [exit 2]
    ");
}
