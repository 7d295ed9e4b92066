//! Everything that is wrong with a plan is said at once.

use gantry_core::plan::Plan;
use gantry_testkit::draw_plan;

/// The problems of a drawn plan, one line each: code, task, field, message, hint.
fn problems_of(plan: &Plan) -> String {
    let line = |problem: gantry_core::plan::Problem| {
        let task = problem.place.task.map_or("plan", |index| plan.tasks[index].id.as_str()).to_owned();
        let hint = problem.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{} {task} {}: {}{hint}", problem.code, problem.place.path, problem.message)
    };
    plan.check().into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn problems(drawing: &str) -> String {
    problems_of(&draw_plan(drawing))
}

#[test]
fn all_dependencies_that_cannot_be_are_named_with_what_was_probably_meant() {
    insta::assert_snapshot!(problems("
        sources  after sources
        report   after sorces, sources, sources
        group
          part   after group
        whole    after inner
          inner
    "), @"
    plan::self-dependency sources depends_on.0: task `sources` depends on itself (remove it)
    plan::unknown-dependency report depends_on.0: task `report` depends on `sorces`, which does not exist (did you mean `sources`?)
    plan::duplicate-dependency report depends_on.2: task `report` depends on `sources` twice
    plan::ancestor-dependency part depends_on.0: task `part` depends on `group`, which contains it (`group` is over only when `part` is; remove it, or depend on a sibling)
    plan::descendant-dependency whole depends_on.0: task `whole` depends on `inner`, which is a part of it (a composite waits for its parts anyway; remove it)
    ");
}

#[test]
fn a_cycle_is_printed_as_a_path() {
    insta::assert_snapshot!(problems("a after c\nb after a\nc after b\nd after c"), @"plan::cycle a depends_on: these tasks wait for each other: `a` -> `c` -> `b` -> `a` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)");
}

#[test]
fn everything_else_is_told_beside_cycles() {
    insta::assert_snapshot!(problems("a after b\nb after a\nc after d\nd after c\ne on failure -> gone after nobody"), @"
    plan::cycle a depends_on: these tasks wait for each other: `a` -> `b` -> `a` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)
    plan::cycle c depends_on: these tasks wait for each other: `c` -> `d` -> `c` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)
    plan::unknown-dependency e depends_on.0: task `e` depends on `nobody`, which does not exist
    plan::unknown-route e next.0.to: task `e` goes to `gone` on failure, which does not exist
    ");
}

#[test]
fn a_task_may_not_be_deeper_in_a_composite_than_its_budget_says() {
    insta::assert_snapshot!(problems("a budget.depth=1\n  b\n    c"), @"plan::too-deep c parent: task `c` is more than 1 deep in `a` (the limit is `budget.depth` of `a`)");
}

#[test]
fn a_cycle_through_a_composite_is_found() {
    insta::assert_snapshot!(problems("
        group
          inner  after outside
        outside  after group
    "), @"plan::cycle group depends_on: these tasks wait for each other: `group` -> `inner` -> `outside` -> `group` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)");
}

#[test]
fn a_cycle_through_a_route_or_an_input_is_found() {
    insta::assert_snapshot!(problems("a inputs={\"x\":\"tasks.c.x\"}\nb inputs={\"x\":\"tasks.a.x\"} on success -> c\nc"), @"plan::cycle a depends_on: these tasks wait for each other: `a` -> `c` -> `b` -> `a` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)");
}

#[test]
fn routes_lead_somewhere_and_routes_back_are_bounded() {
    insta::assert_snapshot!(problems(r#"
        a       on failure -> b max=2
        b       after a  on success -> nowhere  on failure -> a max=0
        choose  decide decide.options=["yes","no"]  on maybe -> c  on yes -> d
        c
        d       on failure -> d
        e       after c
    "#), @"
    plan::route-not-back a next.0.to: the route from `a` to `b` has a `max` but does not lead back (remove `max`, or choose a task that this one waits for)
    plan::unknown-route b next.0.to: task `b` goes to `nowhere` on success, which does not exist
    plan::zero-limit b next.1.max: a route with `max: 0` from `b` can never be taken
    plan::unknown-outcome choose next.0.on: task `choose` never ends with `maybe` (it ends with one of: yes, no)
    plan::unreachable c : task `c` can never run: nothing that happens leads to it (mend the routes that lead to it, or remove it)
    plan::self-route d next.0.to: task `d` goes to itself (give the route a `max`)
    plan::unreachable e : task `e` can never run: nothing that happens leads to it (mend the routes that lead to it, or remove it)
    ");
}

#[test]
fn a_gate_that_nobody_can_pass_is_refused() {
    insta::assert_snapshot!(problems(r#"
        plan.stakeholders=[{"name":"ana","role":"maintainer"},{"name":"ben","role":"user"}]
        two       gate gate.approvals=2 gate.approvers=["ana","ana"]
        role      gate gate.approvals=2 gate.role=maintainer
        fine      gate gate.approvals=1 gate.role=maintainer
        nothing   gate gate.approvals=0
    "#), @"
    plan::gate-nobody-can-pass two gate: gate `two` needs 2 approvals, but only 1 may approve (lower `approvals` or list more `approvers`)
    plan::gate-nobody-can-pass role gate: gate `role` needs 2 approvals by a maintainer, but 1 of the stakeholders have that role (give stakeholders the role `maintainer`, or change the gate's role)
    plan::open-gate nothing gate: gate `nothing` checks nothing and asks nobody
    ");
}

#[test]
fn limits_and_durations_that_make_no_sense_are_refused() {
    insta::assert_snapshot!(problems(r#"
        policy.parallel=0
        policy.capabilities={"browser":0}
        policy.budget.cost_usd=5
        a  timeout=0s  estimate={"low":"3h","likely":"2h","high":"4h"}  budget.cost_usd=9
    "#), @"
    plan::zero-limit plan policy.capabilities.browser: no task that uses `browser` can ever run
    plan::zero-limit plan policy.parallel: with `parallel: 0` nothing can ever run
    plan::budget-too-large a budget.cost_usd: task `a` may spend more than the whole plan, so it could never start (raise `policy.budget` or lower the task's budget)
    plan::bad-estimate a estimate: the estimate of task `a` is not in order: low 3h, likely 2h, high 4h (low must be at most likely, and likely at most high)
    plan::zero-duration a timeout: `timeout` of task `a` is zero, so it can never succeed
    ");
}

#[test]
fn a_deploy_must_stand_behind_a_gate_when_the_policy_says_so() {
    insta::assert_snapshot!(problems(r#"
        policy.require_gate_for_prod=true
        ok      gate
        safe    after ok  kind=deploy
        unsafe  kind=deploy
        maybe   gate  optional
        first   after maybe  kind=deploy
        nobody  gate  gate={"approvals":0,"checks":["it reads well"]}
        second  after nobody  kind=deploy
        always  gate  on always -> third
        third   kind=deploy
        before  gate  status=completed
        fourth  after before  kind=deploy
    "#), @"
    plan::ungated-deploy unsafe : task `unsafe` deploys, but no gate stands before it (the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve)
    plan::ungated-deploy first : task `first` deploys, but gate `maybe` before it is optional (the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve)
    plan::ungated-deploy second : task `second` deploys, but gate `nobody` before it asks nobody (the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve)
    plan::ungated-deploy third : task `third` deploys, but gate `always` before it leads to it even when it is rejected (the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve)
    plan::ungated-deploy fourth : task `fourth` deploys, but gate `before` before it is over from the start (the policy says `require_gate_for_prod`: let it depend on a gate that people have to approve)
    ");
}

#[test]
fn expressions_that_read_unknown_names_are_named() {
    insta::assert_snapshot!(problems(r#"
        plan.done_when=["tests.exit_code == 0","tests.exit_code = 0"]
        tests
        ship  preconditions=["tasks[\"tsts\"].exit_code == 0","speed > 3"]  after tests
    "#), @r#"
    plan::words-like-expression plan done_when.1: `tests.exit_code = 0` is taken as words for a judge, because it is no expression: column 17: unexpected `=`; use `==` to compare (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::unknown-task ship preconditions.0: `tasks["tsts"].exit_code == 0` reads task `tsts`, which does not exist (did you mean `tests`?)
    plan::unknown-name ship preconditions.1: `speed` in `speed > 3` is not a known name (use one of the task's inputs or outputs, a task id, or `inputs`, `outputs`, `tasks`, `artifacts`, `memory`, `env`)
    "#);
}

#[test]
fn actions_that_cannot_work_are_refused() {
    insta::assert_snapshot!(problems(r#"
        map-it   map   map={"over":"a text"}
        ask-it   ask   ask={"question":"Which?","options":["a"],"default":"b"}
        decide-it decide decide={"question":""}
        nest-it  plan
        read-it  inputs={"x":"tasks.nobody.x","y":"artifacts.nothing","z":"memory.anything"}
        back     gate  gate.back_to=read-it
    "#), @"
    plan::not-a-list map-it map.over: task `map-it` maps over something that is not a list
    plan::unknown-choice ask-it ask.default: the default answer `b` is not one of the options
    plan::nothing-to-decide decide-it decide: task `decide-it` has neither options nor a question (list the outcomes under `decide.options`)
    plan::empty-nested nest-it plan: task `nest-it` names neither a plan nor a template
    plan::unknown-reference read-it inputs.x: task `read-it` reads `tasks.nobody.x`, but there is no task `nobody`
    plan::unknown-artifact read-it inputs.y: task `read-it` reads artifact `nothing`, which nothing makes
    plan::route-not-back back gate.back_to: gate `back` cannot send work back to `read-it`: it does not wait for it
    ");
}

#[test]
fn duplicate_ids_and_bad_parents_are_refused() {
    let mut plan = draw_plan("a\nb\nc\nd");
    plan.tasks[1].id = plan.tasks[0].id.clone();
    plan.tasks[2].parent = Some(gantry_core::id::TaskId::new("d").unwrap());
    plan.tasks[3].parent = Some(gantry_core::id::TaskId::new("zz").unwrap());
    insta::assert_snapshot!(problems_of(&plan), @"
    plan::duplicate-id a id: the id `a` is used twice (task number 1 has it too; rename one of them)
    plan::unknown-parent d parent: the parent `zz` of task `d` does not exist
    ");
    let mut plan = draw_plan("a\nb");
    plan.tasks[0].parent = Some(plan.tasks[1].id.clone());
    plan.tasks[1].parent = Some(plan.tasks[0].id.clone());
    insta::assert_snapshot!(problems_of(&plan), @"plan::parent-cycle a parent: task `a` contains itself through its parents");
}

#[test]
fn nesting_has_a_limit() {
    let drawing: Vec<String> = (0..70).map(|depth| format!("{:depth$}t{depth}", "")).collect();
    let drawing = drawing.join("\n");
    assert!(problems(&drawing).starts_with("plan::too-deep t64 parent: task `t64` is nested more than 64 deep"));
}

#[test]
fn a_plan_with_many_mistakes_is_checked_in_bounded_time() {
    // Each unknown name would be compared with each known one.
    let mut plan = draw_plan("a");
    let task = plan.tasks[0].clone();
    plan.tasks = (0..5_000)
        .map(|n| gantry_core::plan::Task {
            id: gantry_core::id::TaskId::new(&format!("task-number-{n}")).unwrap(),
            depends_on: vec![gantry_core::id::TaskId::new(&format!("task-nomber-{n}")).unwrap()],
            ..task.clone()
        })
        .collect();
    assert_eq!(plan.check().len(), 5_000);
}

#[test]
fn results_that_need_each_other_are_refused() {
    insta::assert_snapshot!(problems(r#"
        c  compute={"a":"b","b":"outputs.c + d","c":"a","d":"1"}
    "#), @"plan::compute-cycle c compute: these entries of task `c` need each other: a, b, c (compute one of them without the others)");
}

#[test]
fn inputs_cannot_have_the_names_of_what_their_action_takes() {
    insta::assert_snapshot!(problems(r#"
        t  inputs={"args":1}  tool={"name":"web","args":{"x":1}}
        p  inputs={"with":1}  plan={"template":"t","with":{"x":1}}
        m  inputs={"over":1}  map={"over":[1],"as":"item","each":{"id":"e","inputs":{"item":2}}}
        f  inputs={"args":1,"with":2,"over":3}
    "#), @"
    plan::reserved-input t inputs.args: an input cannot be called `args` here: that is the arguments of the tool (choose another name)
    plan::reserved-input p inputs.with: an input cannot be called `with` here: that is what the nested plan is given (choose another name)
    plan::reserved-input m inputs.over: an input cannot be called `over` here: that is the list that it maps over (choose another name)
    plan::reserved-input m map.each.inputs.item: an input cannot be called `item` here: that is the item of the list (choose another name)
    ");
}

#[test]
fn words_that_are_nearly_an_expression_are_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        tests  success_criteria=["exit_code = 0","foo(1) == 2","exit_code == 0 and done","people (all) like it","review(s) are fine",">= 5 sources"]
    "#), @"
    plan::words-like-expression tests success_criteria.0: `exit_code = 0` is taken as words for a judge, because it is no expression: column 11: unexpected `=`; use `==` to compare (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::words-like-expression tests success_criteria.1: `foo(1) == 2` is taken as words for a judge, because it is no expression: column 1: there is no function `foo` (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::words-like-expression tests success_criteria.2: `exit_code == 0 and done` is taken as words for a judge, because it is no expression: column 16: expected an operator, found `and`; use `&&` for both (mend the expression, or say with `expr: …` or `words: …` which is meant)
    ");
}

#[test]
fn attempts_at_expressions_are_told_from_prose() {
    insta::assert_snapshot!(problems(r#"
        tests  success_criteria=["len(stdout) > 100","stdout contains \"bye\"","stdout is nice","exit_code is 0","stdout"]
    "#), @r#"
    plan::words-like-expression tests success_criteria.0: `len(stdout) > 100` is taken as words for a judge, because it is no expression: column 1: there is no function `len`; use `size()` (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::words-like-expression tests success_criteria.1: `stdout contains "bye"` is taken as words for a judge, because it is no expression: column 8: expected an operator, found `contains`; use `x.contains(y)`, or `y in x` for a list (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::words-like-expression tests success_criteria.3: `exit_code is 0` is taken as words for a judge, because it is no expression: column 11: expected an operator, found `is`; use `==` to compare (mend the expression, or say with `expr: …` or `words: …` which is meant)
    plan::words-like-expression tests success_criteria.4: `stdout` is taken as words for a judge, because it is no expression: a name alone counts as a word (mend the expression, or say with `expr: …` or `words: …` which is meant)
    "#);
}

#[test]
fn checks_that_read_nothing_are_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        tests  success_criteria=["1 == 2","false","1 + 1"]  preconditions=["true"]
    "#), @"
    plan::constant-check tests preconditions.0: `true` is always true: it reads nothing (name what it is about, such as `exit_code` or `tasks.<id>.<output>`)
    plan::constant-check tests success_criteria.0: `1 == 2` is always false: it reads nothing (name what it is about, such as `exit_code` or `tasks.<id>.<output>`)
    plan::constant-check tests success_criteria.1: `false` is always false: it reads nothing (name what it is about, such as `exit_code` or `tasks.<id>.<output>`)
    plan::bad-check tests success_criteria.2: `1 + 1` can never hold: expected true or false, found an int (write a comparison, or `words: …` to say that words are meant)
    ");
}

#[test]
fn words_that_nobody_will_ever_judge_are_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        a  failure_modes=[{"name":"slow","detect":"it takes too long"}]
    "#), @"plan::detect-in-words a failure_modes.0.detect: `it takes too long` is never tested: nobody judges words here (write an expression, set `policy.judge`, or have the runner report the mode by its name)");
    insta::assert_snapshot!(problems(r#"
        policy.judge=person
        a  failure_modes=[{"name":"slow","detect":"it takes too long"}]
    "#), @"");
}

#[test]
fn a_point_to_go_back_to_that_is_not_in_the_plan_is_pointed_out() {
    insta::assert_snapshot!(problems("
        base   checkpoint=start
        work   after base
        back   after work  undo_to=strat
        fine   after work  undo_to=start
        also   after work  undo_to=base
    "), @"plan::unknown-point back undo_to: there is no task or checkpoint `strat` to go back to, unless someone marks it meanwhile (did you mean `start`?)");
}

#[test]
fn a_way_back_without_a_bound_is_shown_where_it_is_written() {
    insta::assert_snapshot!(problems("impl\ntests after impl on failure -> impl"), @"plan::cycle tests next.0.to: these tasks wait for each other: `impl` -> `tests` -> `impl` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)");
}

#[test]
fn each_outcome_is_named_once() {
    insta::assert_snapshot!(problems(r#"
        choose  decide={"options":["yes","no"],"otherwise":"no"}  on maybe -> c
        c
    "#), @"
    plan::unknown-outcome choose next.0.on: task `choose` never ends with `maybe` (it ends with one of: yes, no)
    plan::unreachable c : task `c` can never run: nothing that happens leads to it (mend the routes that lead to it, or remove it)
    ");
}

#[test]
fn alternates_outcomes_endings_and_maps_that_cannot_be_are_refused() {
    insta::assert_snapshot!(problems(r#"
        a       alternates=[{"run":"make"},{"gate":{}}]
        choose  decide={"options":["success","no"]}
        m       map={"over":[1],"max":0,"each":{"id":"e","alternates":[{"ask":"who?"}]}}
        b       on succes -> c  on failed -> d  on warm -> e
        c
        d
        e
    "#), @"
    plan::bad-alternate a alternates.1: `gate` cannot be another way to do task `a` (an alternate is a `run`, `command`, `tool`, `model` or `agent`)
    plan::reserved-outcome choose : task `choose` cannot have an outcome called `success` (routes use that word for every task; choose another one)
    plan::bad-alternate m map.each.alternates.0: `ask` cannot be another way to do task `e` (an alternate is a `run`, `command`, `tool`, `model` or `agent`)
    plan::zero-limit m map.max: with `max: 0` task `m` can become nothing
    plan::unknown-outcome b next.0.on: `succes` is no ending of task `b` (did you mean `success`?)
    ");
}

#[test]
fn only_what_a_capability_does_can_be_restored() {
    let plan: Plan = serde_json::from_value(serde_json::json!({"tasks": [
        {"id": "shell", "undo": "restore", "action": {"run": "make"}},
        {"id": "calls", "undo": "restore", "action": {"command": "search(1) -> links"}},
        {"id": "prose", "undo": "restore", "action": {"command": "tidy up"}},
        {"id": "person", "undo": "restore"},
        {"id": "choice", "undo": "restore", "action": {"decide": {"options": [{"outcome": "yes"}]}}},
        {"id": "inside", "undo": "restore", "action": {"plan": {"template": "other"}}},
    ]}))
    .unwrap();
    insta::assert_snapshot!(problems_of(&plan), @"
    plan::restore-needs-files prose undo: task `prose` cannot be restored: no capability does it that could keep what was there (say how to take it back with `undo: {run: …}`, say `undo: never`, or leave `undo` out)
    plan::restore-needs-files person undo: task `person` cannot be restored: no capability does it that could keep what was there (say how to take it back with `undo: {run: …}`, say `undo: never`, or leave `undo` out)
    plan::restore-needs-files choice undo: task `choice` cannot be restored: it changes no files itself (say how to take it back with `undo: {run: …}`, say `undo: never`, or leave `undo` out)
    ");
}

#[test]
fn commands_that_could_never_run_are_errors() {
    insta::assert_snapshot!(problems(r#"
        empty  run=" "  undo={"action":{"run":""}}
        out    action={"run":{"command":"ls","cwd":"a/../.."}}  verify={"run":{"command":"ls","cwd":"/etc"}}
        inner  action={"run":{"command":"ls","cwd":"a/../b"}}
    "#), @"
    plan::empty-command empty run: there is no command to run in task `empty` (say what to run, or leave it out: then a person does the task)
    plan::empty-command empty undo: there is no command to run in task `empty` (say what to run, or leave it out: then a person does the task)
    plan::outside-folder out run.cwd: the folder `a/../..` is outside the working folder, where no command may run (name a folder inside, such as `cwd: src`; another working folder is chosen when the plan is run)
    plan::outside-folder out verify.cwd: the folder `/etc` is outside the working folder, where no command may run (name a folder inside, such as `cwd: src`; another working folder is chosen when the plan is run)
    ");
}

#[test]
fn retries_after_a_timeout_need_a_word_about_repeating() {
    insta::assert_snapshot!(problems("
        a  timeout=1m  retry.max=2
        b  timeout=1m  retry.max=2  idempotency=safe
        c  timeout=1m
        d  retry.max=2
    "), @"plan::retry-after-timeout a retry: after a timeout task `a` is not tried again: it may have done half of its work (say `idempotency: safe` if it can be repeated, `unsafe` if not, or how to find out with `verify`)");
}

#[test]
fn what_each_item_becomes_is_checked_like_any_task() {
    insta::assert_snapshot!(problems(r#"
        list
        all    map  map={"over":"tasks.list.items","each":{"id":"one","depends_on":["nobody"],"next":[{"on":"success","to":"nowhere"}],"parent":"list","status":"completed","timeout":"0s","estimate":{"low":"3h","likely":"2h","high":"4h"},"preconditions":["tasks.gone.ok"],"failure_modes":[{"name":"late","recover":"after"}],"action":{"run":" "}}}
        read   map  map={"over":"tasks.list.items","each":{"id":"one","inputs":{"a":"tasks.nobody.x","b":"tasks.read.x","c":"artifacts.none"},"action":{"gate":{"approvals":2,"approvers":["ana"],"back_to":"after"}}}}
        late   map  map={"over":"tasks.list.items","each":{"id":"one","inputs":{"a":"tasks.after.x"}}}
        after  after late
        deep   map  map={"over":[1],"each":{"id":"one","action":{"map":{"over":"no list","each":{"id":"two","action":{"decide":{"options":["success"]}}}}}}}
        inner  map  map={"over":[1],"each":{"id":"one","action":{"plan":{"plan":{"tasks":[{"id":"a","depends_on":["b"]}]}}}}}
    "#), @"
    plan::each-stands-alone all map.each.depends_on: what each item becomes cannot have `depends_on`: its place in the plan is that of the map (give `depends_on` to the map, or let each item become several tasks with `plan: {tasks: …}`)
    plan::bad-estimate all map.each.estimate: the estimate of task `one` is not in order: low 3h, likely 2h, high 4h (low must be at most likely, and likely at most high)
    plan::each-stands-alone all map.each.failure_modes.0.recover: what each item becomes cannot recover by another task: only the map leads on (say what to do in words, or give the map a route: `next: [{on: failure, to: …}]`)
    plan::each-stands-alone all map.each.next: what each item becomes cannot have `next`: its place in the plan is that of the map (give `next` to the map, or let each item become several tasks with `plan: {tasks: …}`)
    plan::each-stands-alone all map.each.parent: what each item becomes cannot have `parent`: its place in the plan is that of the map (give `parent` to the map, or let each item become several tasks with `plan: {tasks: …}`)
    plan::unknown-task all map.each.preconditions.0: `tasks.gone.ok` reads task `gone`, which does not exist
    plan::empty-command all map.each.run: there is no command to run in task `one` (say what to run, or leave it out: then a person does the task)
    plan::each-stands-alone all map.each.status: what each item becomes cannot have `status`: its place in the plan is that of the map (give `status` to the map, or let each item become several tasks with `plan: {tasks: …}`)
    plan::zero-duration all map.each.timeout: `timeout` of task `one` is zero, so it can never succeed
    plan::gate-nobody-can-pass read map.each.gate: gate `one` needs 2 approvals, but only 1 may approve (lower `approvals` or list more `approvers`)
    plan::route-not-back read map.each.gate.back_to: gate `one` cannot send work back to `after`: it does not wait for it
    plan::unknown-reference read map.each.inputs.a: task `read` reads `tasks.nobody.x`, but there is no task `nobody`
    plan::self-reference read map.each.inputs.b: task `read` reads its own output before it exists
    plan::unknown-artifact read map.each.inputs.c: task `read` reads artifact `none`, which nothing makes
    plan::cycle late depends_on: these tasks wait for each other: `late` -> `after` -> `late` (remove one of the dependencies; a way back is a route with `max`: `next: [{on: failure, to: …, max: 3}]`)
    plan::reserved-outcome deep map.each.map.each: task `two` cannot have an outcome called `success` (routes use that word for every task; choose another one)
    plan::not-a-list deep map.each.map.over: task `one` maps over something that is not a list
    plan::unknown-dependency inner map.each.plan: task `a` depends on `b`, which does not exist
    ");
}

#[test]
fn arguments_of_a_pipeline_are_values_inputs_or_earlier_results() {
    insta::assert_snapshot!(problems(r#"
        sources
        fine   inputs={"query":"http3","old":"tasks.sources.list"}  command="search(query, 3, depth=2, lang='en') -> top; fetch(top.links, \"all\") -> docs; merge(docs, old.first)"
        wrong  inputs={"query":"http3"}  command="search(qeury) -> top; fetch(docs) -> docs; merge(tasks.sources.list, x=http)"
        items  map  map={"over":[1],"as":"part","each":{"id":"x","action":{"command":"dig(part) -> a; dig(item)"}}}
    "#), @"
    plan::unknown-argument wrong command: `qeury` in task `wrong` is neither a value, an input nor an earlier result (did you mean `query`?)
    plan::unknown-argument wrong command: `docs` in task `wrong` is neither a value, an input nor an earlier result (write a text in quotes, or name it under `inputs`)
    plan::unknown-argument wrong command: `tasks.sources.list` in task `wrong` is neither a value, an input nor an earlier result (name it under `inputs`, and give that name)
    plan::unknown-argument wrong command: `http` in task `wrong` is neither a value, an input nor an earlier result (write a text in quotes, or name it under `inputs`)
    plan::unknown-argument items map.each.command: `item` in task `x` is neither a value, an input nor an earlier result (write a text in quotes, or name it under `inputs`)
    ");
}

#[test]
fn who_may_approve_is_counted_as_at_the_gate() {
    insta::assert_snapshot!(problems(r#"
        plan.stakeholders=[{"name":"Ana","role":"user"},{"name":"ben","role":"Maintainer"},{"name":"ana"}]
        both    gate gate.role=maintainer gate.approvers=["ana"]
        twice   gate gate.approvals=2 gate.approvers=["ana","Ana "]
        fine    gate gate.role=MAINTAINER gate.approvers=["Ben","ana"]
        alone   gate gate.role=maintainer
        never   gate gate.checks=["1 == 2"]
        sort    gate gate.type=regresion
    "#), @"
    plan::duplicate-stakeholder plan stakeholders.2: `ana` is listed twice
    plan::gate-nobody-can-pass both gate: gate `both` needs 1 approval by a maintainer, but 0 of its approvers have that role (list `approvers` that are stakeholders with the role `maintainer`, or change the gate's role)
    plan::gate-nobody-can-pass twice gate: gate `twice` needs 2 approvals, but only 1 may approve (lower `approvals` or list more `approvers`)
    plan::gate-nobody-can-pass never gate.checks.0: gate `never` can never open: `1 == 2` is always false (name what the check is about)
    plan::unknown-gate-type sort gate.type: `regresion` is no sort of gate (did you mean `regression`?)
    ");
}

#[test]
fn who_reads_an_artifact_with_two_makers_has_to_say_which_one() {
    let drawing = |listed: &str| {
        format!(
            "{listed}\na artifacts=[{{\"name\":\"report\"}}]\nb artifacts=[{{\"name\":\"report\"}}]\nread inputs={{\"text\":\"artifacts.report\"}}"
        )
    };
    insta::assert_snapshot!(problems(&drawing("")), @"plan::two-makers read inputs.text: artifact `report` is made by `a` and `b`: which one `read` reads is not said (say which one is meant with `artifacts: [{name: report, from: …}]` in the plan, or read `tasks.<id>.report`)");
    assert_eq!(problems(&drawing(r#"plan.artifacts=[{"name":"report","from":"b"}]"#)), "");
}

#[test]
fn waiting_no_time_at_all_is_refused() {
    insta::assert_snapshot!(problems(r#"
        policy.budget.time=0s
        policy.escalate_after=0s
        a  ask ask={"question":"which?","default":"this","answer_within":"0s"}
        b  gate gate.escalate_after=0s
        c  escalation={"after":"0s","levels":0}
    "#), @"
    plan::zero-duration plan policy.budget.time: with a time budget of zero nothing can ever start
    plan::zero-duration plan policy.escalate_after: `escalate_after` is zero: nobody has time to do anything (say how long to wait, such as `2h`, or leave it out)
    plan::zero-duration a ask.answer_within: `answer_within` is zero: nobody has time to do anything (say how long to wait, such as `2h`, or leave it out)
    plan::zero-duration b gate.escalate_after: `escalate_after` is zero: nobody has time to do anything (say how long to wait, such as `2h`, or leave it out)
    plan::zero-duration c escalation.after: `after` is zero: nobody has time to do anything (say how long to wait, such as `2h`, or leave it out)
    plan::zero-limit c escalation.levels: with `levels: 0` nobody is ever told about task `c`
    ");
}

#[test]
fn what_can_never_be_chosen_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        a      next=[{"on":"success","to":"b","when":"1 > 2"},{"on":"failure","to":"c","when":"true"}]
        b
        c
        d      decide decide={"options":[{"outcome":"x","when":"env.ci"},"y","z"],"otherwise":"z"}
        e      decide decide={"options":[{"outcome":"x","when":"env.ci"},"y","z"]}
    "#), @"
    plan::constant-check a next.0.when: `1 > 2` is always false: it reads nothing (name what it is about, such as `exit_code` or `tasks.<id>.<output>`)
    plan::constant-check a next.1.when: `true` is always true: it reads nothing (name what it is about, such as `exit_code` or `tasks.<id>.<output>`)
    plan::unreachable b : task `b` can never run: nothing that happens leads to it (mend the routes that lead to it, or remove it)
    plan::never-chosen d decide.options.1: task `d` never decides for `y`: it has no condition (give it a `when`, or make it `otherwise`)
    plan::never-chosen e decide.options.2: task `e` never decides for `z`: it has no condition (give it a `when`, or make it `otherwise`)
    ");
}

#[test]
fn a_recovery_that_is_nearly_a_task_or_a_remedy_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        ship      failure_modes=[{"name":"late","recover":"rolback"},{"name":"odd","recover":"escalat"},{"name":"full","recover":"hurry"},{"name":"down","recover":"rollback"},{"name":"gone","recover":"abort"}]
        rollback
    "#), @"
    plan::unknown-recovery ship failure_modes.0.recover: `rolback` is taken as advice in words: there is no such task or remedy (did you mean `rollback`?)
    plan::unknown-recovery ship failure_modes.1.recover: `escalat` is taken as advice in words: there is no such task or remedy (did you mean `escalate`?)
    ");
}

#[test]
fn looking_at_a_task_that_is_not_waited_for_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        group
          a
        b       after group
        sum     compute compute={"n":"tasks.a.x + b.x"}
        choose  decide after b decide={"options":[{"outcome":"x","when":"tasks.a.ok"}],"otherwise":"y"}
        gate    gate gate.checks=["tasks.a.ok"]
        last    next=[{"on":"success","to":"end","when":"tasks.b.ok"}]
        end
    "#), @"
    plan::not-awaited sum compute.n: task `sum` looks at `a`, but does not wait for it (add `a` to its `depends_on`)
    plan::not-awaited sum compute.n: task `sum` looks at `b`, but does not wait for it (add `b` to its `depends_on`)
    plan::not-awaited gate gate.checks.0: task `gate` looks at `a`, but does not wait for it (add `a` to its `depends_on`)
    plan::not-awaited last next.0.when: task `last` looks at `b`, but does not wait for it (add `b` to its `depends_on`)
    ");
}

#[test]
fn what_takes_back_or_verifies_is_something_that_runs() {
    insta::assert_snapshot!(problems(r#"
        a  undo={"action":{"gate":{}}}  verify={"map":{"over":[]}}
        b  undo={"action":{"run":"rm x"}}  verify={"tool":"look"}
    "#), @"
    plan::not-run a undo: `gate` cannot be the `undo` of task `a`: nothing runs it (use a `run`, `command`, `tool`, `model` or `agent`)
    plan::not-run a verify: `map` cannot be the `verify` of task `a`: nothing runs it (use a `run`, `command`, `tool`, `model` or `agent`)
    ");
}

#[test]
fn asking_for_more_than_the_policy_allows_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        policy.map_max=10
        policy.rounds_max=2
        a
        b  map map={"over":[1],"max":4000000000}
        c  gate after a gate.rounds_max=3
        d  after a next=[{"on":"failure","to":"a","max":2}]
    "#), @"
    plan::over-policy b map.max: 4000000000 are asked for, but the policy allows 10 (ask for less, or raise `policy.map_max` or `policy.rounds_max`)
    plan::over-policy c gate.rounds_max: 3 are asked for, but the policy allows 2 (ask for less, or raise `policy.map_max` or `policy.rounds_max`)
    ");
}

#[test]
fn rounds_and_retries_have_limits() {
    insta::assert_snapshot!(problems(r#"
        policy.retry={"max":5000}
        policy.recovery.repairs_max=4294967295
        a  round={"of":"a","number":0,"because":"a"}
        b  round={"of":"a","number":4294967295,"because":"a"}
        c  retry={"max":4294967295,"backoff":"0s"}
        d  retry={"max":2,"backoff":"10s","backoff_max":"1s"}
    "#), @"
    plan::too-many-retries plan policy.recovery.repairs_max: 4294967295 repairs are asked for, and at most 1000 are allowed (what is wrong so often is better shown to a person: `recovery: {logic: [repair, escalate]}`)
    plan::too-many-retries plan policy.retry.max: 5000 retries are asked for, and at most 1000 are allowed (to wait for something, use a longer `backoff` or a task that waits)
    plan::bad-round a round.number: task `a` is in round 0, but rounds go from 2 to 1000000 (`round` says what a loop has repeated; leave it out of what you write yourself)
    plan::bad-round b round.number: task `b` is in round 4294967295, but rounds go from 2 to 1000000 (`round` says what a loop has repeated; leave it out of what you write yourself)
    plan::too-many-retries c retry.max: 4294967295 retries are asked for, and at most 1000 are allowed (to wait for something, use a longer `backoff` or a task that waits)
    plan::backoff-max d retry.backoff_max: `backoff_max` (1s) is less than `backoff` (10s), so it is what is waited (lower `backoff`, or raise `backoff_max`)
    ");
}

#[test]
fn what_a_composite_or_a_leaf_does_not_use_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        leaf  timebox=1h
        p     retry={"max":2}  timeout=1m  heartbeat=1s  alternates=[{"run":"x"}]  timebox=1h  failure_modes=[{"name":"a","recover":"retry"},{"name":"b","recover":"leaf"}]
          a
    "#), @"
    plan::unused-field leaf timebox: `timebox` of task `leaf` does nothing: it has no parts (use `timeout` for how long an attempt may take)
    plan::unused-field p alternates: `alternates` of task `p` does nothing: its parts do the work, and it has no attempts of its own (give it to its parts)
    plan::unused-field p failure_modes.0.recover: `failure_modes.0.recover` of task `p` does nothing: `retry` tries nothing again here: its parts do the work (name a task, or use `fallback`, `undo` or `abort`)
    plan::unused-field p heartbeat: `heartbeat` of task `p` does nothing: its parts do the work, and it has no attempts of its own (give it to its parts)
    plan::unused-field p retry: `retry` of task `p` does nothing: its parts do the work, and it has no attempts of its own (give it to its parts)
    plan::retry-after-timeout p retry: after a timeout task `p` is not tried again: it may have done half of its work (say `idempotency: safe` if it can be repeated, `unsafe` if not, or how to find out with `verify`)
    plan::unused-field p timeout: `timeout` of task `p` does nothing: its parts do the work, and it has no attempts of its own (use `timebox`, or give it to its parts)
    ");
}

#[test]
fn what_is_to_be_read_is_not_empty() {
    insta::assert_snapshot!(problems(r#"
        g      gate  gate={"approvals":1,"approvers":["","ana"],"role":""}
        q      ask={"question":"","options":["a","a"]}
        agent  agent={"goal":"","max_turns":0}
        c      compute={}
        s      success_criteria=[""]
        u      undo_to=""
        list   inputs={"x":["tasks.g.approved_by"],"y":{"deep":"tasks.g.x"},"z":["tasks.nowhere.x"]}
    "#), @"
    plan::empty-text g gate.approvers.0: an approver has no name (write it down, or leave the field out)
    plan::empty-text g gate.role: the role has no name, so nobody has it (write it down, or leave the field out)
    plan::duplicate-choice q ask.options.1: the answer `a` is listed twice
    plan::empty-text q ask.question: there is no question to answer (write it down, or leave the field out)
    plan::empty-text agent agent.goal: the agent has no goal (write it down, or leave the field out)
    plan::zero-limit agent agent.max_turns: with `max_turns: 0` the agent of task `agent` can do nothing
    plan::empty-text c compute: there is nothing to compute (write it down, or leave the field out)
    plan::empty-text s success_criteria.0: the check says nothing (write it down, or leave the field out)
    plan::empty-text u undo_to: it does not say what to go back to (write it down, or leave the field out)
    plan::reference-in-value list inputs.x: `tasks.g.approved_by` is a plain text inside a list or an object, and nothing is read from there (give it an input of its own)
    plan::reference-in-value list inputs.y: `tasks.g.x` is a plain text inside a list or an object, and nothing is read from there (give it an input of its own)
    ");
}

#[test]
fn a_model_that_is_asked_nothing_is_an_error() {
    insta::assert_snapshot!(problems(r#"
        bare    action={"model":{}}
        blank   action={"model":{"instruction":" "}}
        titled  title="Write a haiku"  action={"model":{}}
        prompt  action={"model":{"prompt":"haiku"}}
        each    map={"over":[1],"each":{"id":"x","action":{"model":{"role":"writer"}}}}
    "#), @"
    plan::nothing-to-ask bare model: task `bare` does not say what the model is asked (write an `instruction`, name a `prompt`, or give the task a title or a description)
    plan::nothing-to-ask blank model: task `blank` does not say what the model is asked (write an `instruction`, name a `prompt`, or give the task a title or a description)
    plan::nothing-to-ask each map.each.model: task `x` does not say what the model is asked (write an `instruction`, name a `prompt`, or give the task a title or a description)
    ");
}

#[test]
fn a_fact_that_nobody_finds_out_is_pointed_out() {
    insta::assert_snapshot!(problems(r#"
        a  preconditions=["network.onlne","network.online","disk.free > 50MB","disk.fre > 1GB","memory.anything == 1"]
    "#), @"
    plan::unknown-name a preconditions.0: `network.onlne` in `network.onlne` is no fact (did you mean `network.online`? Otherwise someone has to say what it is)
    plan::unknown-name a preconditions.3: `disk.fre` in `disk.fre > 1GB` is no fact (did you mean `disk.free`? Otherwise someone has to say what it is)
    ");
}
