//! The expression language, as its users meet it: values, refusals, explanations.

#[path = "expressions/limits.rs"]
mod limits;
#[path = "expressions/oracle.rs"]
mod oracle;
#[path = "expressions/units.rs"]
mod units;
#[path = "expressions/values.rs"]
mod values_and_functions;

use std::cell::RefCell;

use gantry_core::expr::{EvalError, Expr, Scope};
use serde_json::{Value, json};

/// What the expressions of these tests can see.
fn world() -> serde_json::Map<String, Value> {
    let world = json!({
        "n": 7,
        "big": 18_446_744_073_709_551_615_u64,
        "price": 2.5,
        "name": "Gantry",
        "ready": true,
        "nothing": null,
        "numbers": [3, 1, 2],
        "words": ["plan", "run", "prove"],
        "notes": {"citations": ["a"], "title": "Sources", "draft": false},
        "tasks": {
            "build": {"status": "done", "seconds": 64, "ended": "2026-05-01T10:00:00Z"},
            "sign-off": {"status": "held", "approvals": 1}
        },
        "items": [{"id": "a", "score": 3}, {"id": "b", "score": 9}, {"id": "c"}]
    });
    let Value::Object(fields) = world else { panic!("the world is an object") };
    fields
}

fn parse(source: &str) -> Expr {
    Expr::parse(source).unwrap_or_else(|error| panic!("{source}: {}", error.located(source)))
}

fn eval(source: &str) -> Result<Value, EvalError> {
    parse(source).eval(&world())
}

/// The error of an evaluation and the part of the source it points at.
fn failure(source: &str) -> String {
    let error = eval(source).expect_err(source);
    format!("{error} @ {}", &source[error.span().start..error.span().end])
}

fn refusal(source: &str) -> String {
    Expr::parse(source).expect_err(source).located(source)
}

fn because(source: &str) -> String {
    let finding = parse(source).test(&world()).unwrap_or_else(|error| panic!("{source}: {error}"));
    let ending = format!("is {}", finding.holds);
    assert!(finding.because.contains(&ending), "{source}: {finding:?}");
    finding.because
}

/// Asserts a table of sources and their values.
fn values<const N: usize>(table: [(&str, Value); N]) {
    for (source, expected) in table {
        assert_eq!(eval(source), Ok(expected), "{source}");
    }
}

/// Asserts a table of sources and what is said of them.
fn says<const N: usize>(say: fn(&str) -> String, table: [(&str, &str); N]) {
    for (source, expected) in table {
        assert_eq!(say(source), expected, "{source}");
    }
}

#[test]
fn a_decisive_side_absorbs_the_error_of_the_other() {
    values([
        ("absent.x && false", json!(false)),
        ("false && absent.x", json!(false)),
        ("absent.x || true", json!(true)),
        ("1 / 0 == 1 || n == 7", json!(true)),
        ("absent && 1 / 0 > 0 && false", json!(false)),
        ("'text' || true", json!(true)),
        ("items.exists(i, i.score > 5)", json!(true)),
        ("items.all(i, i.score > 5)", json!(false)),
    ]);
    says(
        failure,
        [
            ("absent.x && true", "`absent` is missing @ absent.x"),
            ("false || 1 / 0 == 1", "division by zero @ 1 / 0"),
            ("true && 'text'", "expected true or false, found a string @ 'text'"),
            ("items.all(i, i.score > 1)", "`i.score` is missing @ i.score"),
            ("items.exists_one(i, i.score > 5)", "`i.score` is missing @ i.score"),
        ],
    );
}

#[test]
fn what_is_missing_is_named() {
    says(
        failure,
        [
            ("tests", "`tests` is missing @ tests"),
            ("tasks.ship.status == 'done'", "`tasks.ship` is missing @ tasks.ship.status"),
            ("tasks.ship.a.b.c.d", "`tasks.ship` is missing @ tasks.ship.a.b.c.d"),
            ("tasks.build.a.b.c.d.e", "`tasks.build.a` is missing @ tasks.build.a.b.c.d.e"),
            (
                "tasks.build.status.b.c.d",
                "`tasks.build.status` is a string and has no field `b` @ tasks.build.status.b.c.d",
            ),
            ("tasks['sign-off'].by", "`tasks[\"sign-off\"].by` is missing @ tasks['sign-off'].by"),
            ("items[3].id", "`items[3]` is missing @ items[3]"),
            ("numbers[-1]", "`numbers[-1]` is missing @ numbers[-1]"),
            ("{'a': 1}.b", "`{'a': 1}.b` is missing @ {'a': 1}.b"),
            ("nothing.field", "`nothing.field` is missing @ nothing.field"),
            ("name.first", "`name` is a string and has no field `first` @ name.first"),
            ("n.a.b", "`n` is a number and has no field `a` @ n.a.b"),
            ("items[0].id.x", "`items[0].id` is a string and has no field `x` @ items[0].id.x"),
            ("name[0]", "cannot index a string with an int @ name[0]"),
        ],
    );
    assert!(eval("tasks.ship").is_err_and(|error| error.is_missing()));
    assert!(eval("name.first").is_err_and(|error| !error.is_missing()));
}

#[test]
fn habits_of_other_languages_get_a_hint() {
    says(
        refusal,
        [
            ("status = 'done'", "column 8: unexpected `=`; use `==` to compare"),
            ("a === b", "column 3: unexpected `===`; use `==` to compare"),
            ("a <> b", "column 3: unexpected `<>`; use `!=` to compare"),
            ("a =< b", "column 3: unexpected `=<`; use `<=` to compare"),
            ("a & b", "column 3: unexpected `&`; use `&&` for both"),
            ("a | b", "column 3: unexpected `|`; use `||` for either"),
            ("a and b", "column 3: expected an operator, found `and`; use `&&` for both"),
            ("a AND b", "column 3: expected an operator, found `AND`; use `&&` for both"),
            ("a or b", "column 3: expected an operator, found `or`; use `||` for either"),
            ("not a", "column 1: unexpected `not`; use `!`"),
            ("a not in b", "column 3: expected an operator, found `not`; use `!(x in y)`"),
            ("a is null", "column 3: expected an operator, found `is`; use `==` to compare"),
            ("a == None", "column 6: unexpected `None`; use `null`"),
            ("a == True", "column 6: unexpected `True`; use `true`"),
            ("len(a) > 1", "column 1: there is no function `len`; use `size()`"),
            ("a.length() > 1", "column 3: there is no function `length`; use `size()`"),
            (
                "a.matches('x.*')",
                "column 3: there is no function `matches`; there are no regular expressions: use `contains()`, `startsWith()` or `endsWith()`",
            ),
            ("contains(a, 'b')", "column 1: `contains` is not called like this; write `text.contains(part)`"),
            ("a.min()", "column 3: `min` is not called like this; write `min(a, b)`"),
            ("a.contains()", "column 3: wrong number of arguments; write `text.contains(part)`"),
            ("any(a)", "column 1: there is no function `any`; use `exists()`"),
            ("all(a, b)", "column 1: there is no function `all`; write `list.all(x, …)`"),
            ("now() > a", "column 1: there is no function `now`; there is no clock: read the time from the scope"),
            ("a ?? b", "column 3: unexpected `??`; use `default(x, y)`"),
            ("a?.b", "column 2: unexpected `?.`; use `has()` or `default(x, y)`"),
            ("${a}", "column 1: unexpected `${`; write the name without `${}`"),
            ("{{ a }}", "column 1: unexpected `{{`; write the expression without `{{ }}`"),
            ("“a” == b", "column 1: unexpected `“`; use straight quotes"),
            (
                "1 < a < 5",
                "column 7: comparisons do not chain; join two comparisons with `&&`, or put the first one in parentheses",
            ),
            (
                "10 MB",
                "column 4: expected an operator, found `MB`; write a unit directly behind its number, as in `50MB`",
            ),
            ("10mb", "column 1: `10mb` is not a number, size or duration; sizes are written `MB` or `MiB`"),
            ("5min", "column 1: `5min` is not a number, size or duration; minutes are written `m`"),
            ("if a then b", "column 1: unexpected `if`; use `condition ? a : b`"),
            ("a; b", "column 2: unexpected `;`; write one expression only"),
        ],
    );
}

#[test]
fn a_broken_source_is_refused_where_it_breaks() {
    says(
        refusal,
        [
            ("", "column 1: expression is empty"),
            (" // nothing", "column 12: expression is empty"),
            ("1 +", "column 4: expected a value, found the end"),
            ("(1 + 2", "column 7: expected `)`, found the end"),
            ("1 + 2)", "column 6: expected an operator, found `)`"),
            ("[1, 2", "column 6: expected `,` or `]`, found the end"),
            ("{'a' 1}", "column 6: expected `:` and the value of this key, found a number"),
            ("a ? b", "column 6: expected `:` and the value for the other case, found the end"),
            ("a.", "column 3: expected a field name, found the end; other names are written `x[\"…\"]`"),
            ("a.'b'", "column 3: expected a field name, found a string; other names are written `x[\"…\"]`"),
            ("a b", "column 3: expected an operator, found `b`"),
            ("'open", "column 1: text is not closed; close it with `'`"),
            ("'open\n'", "column 1: text is not closed; use three quotes for several lines"),
            (r"'\q'", r"column 2: not a valid escape; write a backslash as `\\`"),
            (r"'\uD800'", r"column 2: not a valid escape; write a backslash as `\\`"),
            (r"'\x4'", r"column 2: not a valid escape; write a backslash as `\\`"),
            ("b'bytes'", "column 1: byte literals are not part of the language; write the text without the `b`"),
            ("9223372036854775808", "column 1: number is out of range; add `u` for an unsigned number"),
            ("1e999", "column 1: number is out of range"),
            ("0x", "column 1: not a hexadecimal number"),
            ("a @ b", "column 3: unexpected character `@`"),
            ("größe > 1", "column 3: unexpected character `ö`"),
            ("'größe' = 1", "column 9: unexpected `=`; use `==` to compare"),
            ("a &&\n  = b", "line 2, column 3: unexpected `=`; use `==` to compare"),
            ("has(a)", "column 1: `has` takes one field; write `has(x.field)`"),
            ("default(a)", "column 1: `default` takes 2 arguments"),
            ("a.all(1, true)", "column 7: expected a variable name, found a number; write `list.all(x, x > 0)`"),
            ("a.all(x)", "column 8: expected `,` and an expression over the variable, found `)`"),
            ("launch(a)", "column 1: there is no function `launch`"),
        ],
    );
}

#[test]
fn the_paths_an_expression_reads_are_known_without_evaluating_it() {
    let paths = |source: &str| -> Vec<String> {
        let expr = parse(source);
        let describe = |path: &gantry_core::expr::FreePath| {
            format!("{} @ {}", path.segments.join("|"), &source[path.span.start..path.span.end])
        };
        expr.paths().iter().map(describe).collect()
    };
    assert_eq!(paths("tasks.sources.notes"), ["tasks|sources|notes @ tasks.sources.notes"]);
    assert_eq!(paths("tasks[\"a-b\"].x > 1"), ["tasks|a-b|x @ tasks[\"a-b\"].x"]);
    assert_eq!(paths("(a.b).c + a.b"), ["a|b|c @ (a.b).c", "a|b @ a.b"]);
    assert_eq!(paths("b + a + b"), ["b @ b", "a @ a"]);
    assert_eq!(paths("items[0].x == items[i].y"), ["items @ items", "i @ i"]);
    assert_eq!(paths("xs.all(x, x.ok && y.ok) || x"), ["xs @ xs", "y|ok @ y.ok", "x @ x"]);
    assert_eq!(paths("has(a.b) && default(c.d, e) && size(f.g) > 0"), ["a|b @ a.b", "c|d @ c.d", "e @ e", "f|g @ f.g"]);
    assert_eq!(paths("type(a.in) == int && true"), ["a|in @ a.in"]);
    assert_eq!(paths("list.size == map['x']"), ["list|size @ list.size", "map|x @ map['x']"]);
    assert!(paths("[1, 'a'].map(x, {'b': x})").is_empty());
}

#[test]
fn the_longest_path_is_asked_for_and_each_only_once() {
    struct Recording(RefCell<Vec<String>>);
    impl Scope for Recording {
        fn lookup(&self, _: &str) -> Option<Value> {
            panic!("paths are looked up whole")
        }
        fn lookup_path(&self, path: &[&str]) -> Option<Value> {
            self.0.borrow_mut().push(path.join("."));
            (path != ["a", "b", "missing"]).then(|| json!({"c": [1, 2]}))
        }
    }
    let scope = Recording(RefCell::default());
    let expr = parse("[1, 2, 3].all(x, a.b.c.size() > 0) && a.b.c == a.b.c && default(a.b.missing, true)");
    assert_eq!(expr.eval(&scope), Ok(json!(true)));
    assert_eq!(*scope.0.borrow(), ["a.b.c", "a.b.missing", "a.b"]);
}

#[test]
fn a_scope_needs_root_names_only() {
    struct Roots;
    impl Scope for Roots {
        fn lookup(&self, name: &str) -> Option<Value> {
            (name == "a").then(|| json!({"b": {"c": 1}}))
        }
    }
    assert_eq!(parse("a.b.c + a['b'].c").eval(&Roots), Ok(json!(2)));
    assert!(parse("b.c").eval(&Roots).is_err_and(|error| error.is_missing()));
}

#[test]
fn an_explanation_names_the_clause_that_decided_and_its_values() {
    says(
        because,
        [
            ("size(notes.citations) >= 2", "size(notes.citations) >= 2 is false: size(notes.citations) = 1"),
            ("ready && n > 10 && name == 'x'", "n > 10 is false: n = 7"),
            ("absent.x > 1 && n > 10", "n > 10 is false: n = 7"),
            ("n > 10 || name == 'Gantry'", "name == 'Gantry' is true: name = \"Gantry\""),
            ("n > 10 || name == 'x'", "n > 10 is false: n = 7; name == 'x' is false: name = \"Gantry\""),
            ("ready && n == 7", "ready is true; n == 7 is true: n = 7"),
            ("ready && ready && ready && ready && n == 7", "ready is true; ready is true; ready is true; and 2 more"),
            ("ready", "ready is true"),
            ("!ready", "!ready is false: ready is true"),
            ("!(ready && n > 10)", "!(ready && n > 10) is true: n > 10 is false: n = 7"),
            ("(ready && n > 10) || false", "n > 10 is false: n = 7; false is false"),
            ("n + 1 > price * 4", "n + 1 > price * 4 is false: n + 1 = 8, price * 4 = 10.0"),
            (
                "tasks.build.seconds < 1\n   + 1",
                "tasks.build.seconds < 1 + 1 is false: tasks.build.seconds = 64, 1 + 1 = 2",
            ),
            ("name in ['a', 'b']", "name in ['a', 'b'] is false: name = \"Gantry\""),
            ("name.startsWith('x')", "name.startsWith('x') is false: name = \"Gantry\""),
            ("has(notes.abstract)", "has(notes.abstract) is false"),
            ("numbers.all(x, x > 1)", "numbers.all(x, x > 1) is false: x = 1"),
            ("numbers.all(x, x > 0)", "numbers.all(x, x > 0) is true: for all 3"),
            ("numbers.exists(x, x > 2)", "numbers.exists(x, x > 2) is true: x = 3"),
            ("numbers.exists(x, x > 3)", "numbers.exists(x, x > 3) is false: for none of 3"),
            ("numbers.exists_one(x, x > 1)", "numbers.exists_one(x, x > 1) is false: for 2 of 3"),
            ("[].all(x, x)", "[].all(x, x) is true: [] is empty"),
            ("ready ? n > 10 : n > 1", "n > 10 is false: n = 7 (ready is true)"),
            ("duration('90s') > 2m", "duration('90s') > 2m is false: duration('90s') = 90s"),
        ],
    );
}

#[test]
fn an_explanation_stays_short() {
    let mut world = world();
    world.insert("text".to_owned(), json!("é\n".repeat(100_000)));
    world.insert("many".to_owned(), json!((0..40_000).collect::<Vec<_>>()));
    let finding = parse("text == 'x' || many == []").test(&world).expect("a finding");
    let shown = "é\\n".repeat(26);
    assert_eq!(
        finding.because,
        format!(
            "text == 'x' is false: text = \"{shown}…; \
             many == [] is false: many = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, …"
        )
    );

    let clause = format!("n == {}", "1 + ".repeat(900) + "1");
    let finding = parse(&clause).test(&world).expect("a finding");
    assert!(finding.because.chars().count() <= 600, "{}", finding.because);
}

#[test]
fn a_test_must_be_true_or_false() {
    let error = parse("n + 1").test(&world()).expect_err("an int is no finding");
    assert_eq!(error.to_string(), "expected true or false, found an int");
    let error = parse("absent.x > 1").test(&world()).expect_err("nothing to find");
    assert!(error.is_missing());
}

#[test]
fn an_expression_is_stored_as_its_source() {
    let expr = parse("n  >  1");
    assert_eq!(serde_json::to_string(&expr).expect("json"), r#""n  >  1""#);
    assert_eq!(serde_json::from_str::<Expr>(r#""n  >  1""#).expect("expression"), expr);
    assert_ne!(parse("n > 1"), expr);
    assert_eq!(format!("{expr:?} {expr}"), r#"Expr("n  >  1") n  >  1"#);
    let error = serde_json::from_str::<Expr>(r#""n = 1""#).expect_err("a refusal");
    assert!(error.to_string().starts_with("column 3: unexpected `=`; use `==` to compare"), "{error}");
}
