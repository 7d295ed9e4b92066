//! What would be, and what would have been.

use crate::kit::Kit;

#[test]
fn previews_build_on_each_other() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        r#"
id: dry
title: Dry
tasks:
  - {id: write, tool: {name: files.write, args: {path: n.txt, content: "one\n"}}}
  - {id: again, depends_on: [write], tool: {name: files.write, args: {path: n.txt, content: "one\n"}}}
  - {id: edit, depends_on: [again], tool: {name: files.edit, args: {path: n.txt, search: one, replace: two}}}
  - {id: move, depends_on: [edit], tool: {name: files.move, args: {from: n.txt, to: sub/m.txt}}}
  - {id: delete, depends_on: [move], tool: {name: files.delete, args: {path: sub/m.txt}}}
  - {id: build, depends_on: [delete], run: touch sub/m.txt}
  - {id: clean, depends_on: [build], tool: {name: files.delete, args: {path: sub/m.txt}}}
"#,
    );
    insta::assert_snapshot!(kit.gantry(&["run", "plan.yaml", "--dry-run"]), @"
    Dry: what would be done; nothing is touched

    1. write files.write
       create `n.txt` (4 bytes)
       --- /dev/null
       +++ b/n.txt
       @@ -0,0 +1 @@
       +one

    2. again files.write
       nothing would change

    3. edit files.edit
       change `n.txt`
       --- a/n.txt
       +++ b/n.txt
       @@ -1 +1 @@
       -one
       +two

    4. move files.move
       create `sub/m.txt` (4 bytes)
       delete `n.txt`
       --- /dev/null
       +++ b/sub/m.txt
       @@ -0,0 +1 @@
       +two
       --- a/n.txt
       +++ /dev/null
       @@ -1 +0,0 @@
       -two

    5. delete files.delete
       delete `sub/m.txt`
       --- a/sub/m.txt
       +++ /dev/null
       @@ -1 +0,0 @@
       -two

    6. build run
       would run in `.`, no network: touch sub/m.txt

    7. clean files.delete
       nothing would change, unless `build` changes it first
    [exit 0]
    ");
    assert!(!kit.path("n.txt").exists() && !kit.path("sub").exists(), "nothing is touched");
}

const ONE: &str = "id: what\ntitle: What\ntasks:\n  - {id: build, run: 'echo built'}\n  - {id: ship, depends_on: [build], run: 'echo shipped'}\n";

#[test]
fn a_life_is_decided_again_with_another_revision() {
    let kit = Kit::with_plan(ONE);
    kit.write(
        "checked.yaml",
        ONE.replace("depends_on: [build]", "depends_on: [check]")
            + "  - {id: check, depends_on: [build], gate: {approvals: 1}}\n",
    );
    kit.write("renamed.yaml", ONE.replace("title: What", "title: Whatever"));
    kit.write("broken.yaml", "id: what\ntasks: [{id: a, depends_on: [nobody]}]\n");
    insta::assert_snapshot!(kit.session(&[
        "replay what --revision 1",
        "replay what --revision checked.yaml",
        "replay what --revision renamed.yaml",
        "replay what --revision 7",
        "replay what --revision nowhere.yaml",
    ]), @"
    $ gantry replay what --revision 1
    what: 3 turns decided again, 9 entries compared: the revision changes nothing
    [exit 0]
    $ gantry replay what --revision checked.yaml
    what: another way at entry 6; what stands before is the same
      recorded: ship: started
      decided:  check: waits for 1 approval
    --- talk
    with this revision the plan would have gone another way from there; the record is unchanged
    [exit 0]
    $ gantry replay what --revision renamed.yaml
    what: 3 turns decided again, 9 entries compared: the revision changes nothing
    [exit 0]
    $ gantry replay what --revision 7
    --- talk
    error: plan `what` has no revision 7

    hint: it has revisions 1 to 1
    [exit 2]
    $ gantry replay what --revision nowhere.yaml
    --- talk
    error: `nowhere.yaml` cannot be read: there is no such file

    hint: name a plan file, or `-` for standard input
    [exit 2]
    ");
    assert_eq!(kit.code("replay what --revision broken.yaml"), 2);
    let json = kit.json("replay what --revision checked.yaml --json");
    assert_eq!((&json["what_if"], &json["same"]), (&true.into(), &false.into()));
    assert_eq!(json["difference"]["recorded"]["task"], "ship", "{json}");
}

#[test]
fn without_the_revision_that_someone_made_the_life_went_the_same_way_until_it_counted() {
    let kit = Kit::with_plan("id: grown\ntasks:\n  - {id: a, ask: Well?}\n");
    kit.write(
        "more.yaml",
        "id: grown\ntasks:\n  - {id: a, ask: Well?}\n  - {id: b, depends_on: [a], run: 'echo more'}\n",
    );
    assert_eq!(kit.code("revise grown more.yaml --rationale more --yes"), 0);
    assert_eq!((kit.code("ask answer grown a yes"), kit.code("resume grown")), (0, 0));
    let told = kit.gantry(&["replay", "grown", "--revision", "1"]);
    assert!(told.contains("recorded: nothing") && told.contains("decided:  the plan is completed"), "{told}");
    assert!(kit.gantry(&["replay", "grown"]).contains("everything is the same"));
}

#[test]
fn a_dry_run_walks_plans_inside_and_says_what_is_not_allowed_in_them() {
    let kit = Kit::new();
    kit.write(
        "plan.yaml",
        "
title: Around
policy: {files: {write: [made/**]}}
tasks:
  - id: inner
    plan:
      title: Inside
      policy: {commands: {deny: [curl]}}
      tasks:
        - {id: write, tool: {name: files.write, args: {path: made/a, content: a}}}
        - {id: out, depends_on: [write], tool: {name: files.write, args: {path: other, content: a}}}
        - {id: get, depends_on: [out], run: curl example.org}
  - id: each
    depends_on: [inner]
    map: {over: [x, y], each: {run: echo one}}
  - id: more
    depends_on: [each]
    map: {over: tasks.each.results, each: {run: echo later}}
",
    );
    insta::assert_snapshot!(kit.gantry(&["run", "plan.yaml", "--dry-run"]), @r#"
    Around: what would be done; nothing is touched

    1. inner plan
       would run a plan with 3 tasks

    2. inner/write files.write
       create `made/a` (1 bytes)
       --- /dev/null
       +++ b/made/a
       @@ -0,0 +1 @@
       +a
       \ No newline at end of file

    3. inner/out files.write
       is not allowed: `other` is outside `policy.files.write`, which allows `made/**`

    4. inner/get run
       is not allowed: `curl` is in `policy.commands.deny`

    5. each map
       would become 2 tasks

    6. each-1 run
       would run in `.`, no network: echo one

    7. each-2 run
       would run in `.`, no network: echo one

    8. more map
       would become one task for each item, once the list is known
    --- talk
    error: 2 tasks are not allowed; nothing was touched
    [exit 5]
    "#);
    assert!(!kit.path("made").exists() && !kit.record().exists());
}
