//! The expression language, as its users meet it: values, refusals, explanations.

#[path = "expressions/limits.rs"]
mod limits;
#[path = "expressions/oracle.rs"]
mod oracle;

use std::cell::RefCell;

use gantry_core::expr::{EvalError, Expr, Scope, parse_duration, parse_size};
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
fn literals_are_those_of_cel() {
    values([
        ("42", json!(42)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("0xFF", json!(255)),
        ("18446744073709551615u", json!(u64::MAX)),
        ("0x10u", json!(16)),
        ("1.5", json!(1.5)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("2.5E-1", json!(0.25)),
        ("true", json!(true)),
        ("null", json!(null)),
        ("[1, 'two', [3.0],]", json!([1, "two", [3.0]])),
        ("{'a': 1, \"b\": {'c': 2}}", json!({"a": 1, "b": {"c": 2}})),
        ("[]", json!([])),
        ("{}", json!({})),
        ("1 // one\n + 1", json!(2)),
    ]);
}

#[test]
fn texts_have_every_escape_of_cel() {
    values([
        (r#""it's""#, json!("it's")),
        (r#"'say "hi"'"#, json!("say \"hi\"")),
        (r"'\a\b\t\n\v\f\r'", json!("\u{7}\u{8}\t\n\u{b}\u{c}\r")),
        (r#"'\\ \? \" \' \`'"#, json!("\\ ? \" ' `")),
        (r"'\x41\X42\u00e9\U0001F600\101'", json!("ABé😀A")),
        (r#"r"\d+\n""#, json!("\\d+\\n")),
        (r"R'\'", json!("\\")),
        ("'''two\nlines 'quoted' '''", json!("two\nlines 'quoted' ")),
        ("\"\"\"a \"b\" c\"\"\"", json!("a \"b\" c")),
        ("r'''\\\n'''", json!("\\\n")),
        ("'größe'.size()", json!(5)),
    ]);
}

#[test]
fn operators_bind_as_in_cel() {
    values([
        ("1 + 2 * 3", json!(7)),
        ("(1 + 2) * 3", json!(9)),
        ("10 - 2 - 3", json!(5)),
        ("10 - (2 - 3)", json!(11)),
        ("100 / 5 / 2 * 3 % 7", json!(2)),
        ("-2 * -3", json!(6)),
        ("-n + 1", json!(-6)),
        ("!false && false", json!(false)),
        ("!(false && false)", json!(true)),
        ("true || true && false", json!(true)),
        ("(true || true) && false", json!(false)),
        ("1 + 1 == 2 && 2 * 2 > 3", json!(true)),
        ("2 in [1, 1 + 1] || false", json!(true)),
        ("true ? 1 : false ? 2 : 3", json!(1)),
        ("false ? 1 : false ? 2 : 3", json!(3)),
        ("true || false ? 'yes' : 'no'", json!("yes")),
        ("!!true", json!(true)),
        ("- -1", json!(1)),
    ]);
}

#[test]
fn numbers_of_json_and_of_the_source_mix_freely() {
    values([
        ("n + 1", json!(8)),
        ("n * price", json!(17.5)),
        ("n / 2", json!(3)),
        ("-7 / 2", json!(-3)),
        ("-7 % 2", json!(-1)),
        ("n / 2.0", json!(3.5)),
        ("1 + 1.0", json!(2.0)),
        ("1u + 1u", json!(2)),
        ("n - 8u", json!(-1)),
        ("n == 7.0 && n >= 6.9 && n == 7u", json!(true)),
        ("9007199254740993 == 9007199254740992.0", json!(false)),
        ("9007199254740993 > 9007199254740992.0", json!(true)),
        ("big > 9223372036854775807", json!(true)),
        ("big == 18446744073709551615u", json!(true)),
        ("7.0 in [n]", json!(true)),
        ("-0.0 == 0", json!(true)),
    ]);
}

#[test]
fn numbers_never_wrap_and_never_become_infinite() {
    says(
        failure,
        [
            ("9223372036854775807 + 1", "the result is out of range @ 9223372036854775807 + 1"),
            ("-9223372036854775808 - 1", "the result is out of range @ -9223372036854775808 - 1"),
            ("9223372036854775807 * 2 == 0", "the result is out of range @ 9223372036854775807 * 2"),
            ("-9223372036854775808 / -1", "the result is out of range @ -9223372036854775808 / -1"),
            ("-(-9223372036854775808)", "the result is out of range @ -(-9223372036854775808)"),
            ("1u - 2u", "the result is out of range @ 1u - 2u"),
            ("1e308 * 10", "the result is out of range @ 1e308 * 10"),
            ("abs(-9223372036854775808)", "the result is out of range @ abs(-9223372036854775808)"),
            ("int(1e300)", "the result is out of range @ int(1e300)"),
            ("uint(-1)", "the result is out of range @ uint(-1)"),
            ("1 + n / (n - 7)", "division by zero @ n / (n - 7)"),
            ("1 % 0", "division by zero @ 1 % 0"),
            ("0.0 / 0.0", "division by zero @ 0.0 / 0.0"),
            ("1.5 / 0", "division by zero @ 1.5 / 0"),
            ("double('NaN')", "\"NaN\" is not a number @ double('NaN')"),
        ],
    );
}

#[test]
fn different_kinds_are_never_equal_and_have_no_order() {
    values([
        ("1 == '1'", json!(false)),
        ("null == 0", json!(false)),
        ("1 != '1'", json!(true)),
        ("[1, 2.0] == [1.0, 2]", json!(true)),
        ("{'a': 1, 'b': [2]} == {'b': [2.0], 'a': 1u}", json!(true)),
        ("[1] == [1, 2]", json!(false)),
        ("nothing == null", json!(true)),
        ("'a' < 'b' && false < true", json!(true)),
    ]);
    says(
        failure,
        [
            ("n < '8'", "cannot order an int and a string @ n < '8'"),
            ("null >= 1", "cannot order null and an int @ null >= 1"),
            ("[1] < [2]", "cannot order a list and a list @ [1] < [2]"),
            ("'n is ' + n", "cannot add a string and an int: use `string()` or `int()` @ 'n is ' + n"),
            ("'a' * 2", "cannot multiply a string and an int @ 'a' * 2"),
            ("2.5 % 2", "`%` needs whole numbers @ 2.5 % 2"),
            ("-'a'", "cannot negate a string @ -'a'"),
            ("!n", "expected true or false, found an int @ n"),
            ("n ? 1 : 2", "expected true or false, found an int @ n"),
            ("'a' in 'abc'", "`in` looks into a list or a map: use `text.contains(part)` @ 'a' in 'abc'"),
            ("{n: 1}", "the key of a map must be a string @ n"),
            ("{'a': 1, 'a': 2}", "this key is there twice @ 'a'"),
        ],
    );
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
fn has_and_default_ask_without_failing() {
    values([
        ("has(notes.title)", json!(true)),
        ("has(notes.abstract)", json!(false)),
        ("has(tasks['sign-off'])", json!(true)),
        ("has(tasks['roll-back'])", json!(false)),
        ("items.filter(i, has(i.score)).map(i, i.id)", json!(["a", "b"])),
        ("default(notes.abstract, 'none')", json!("none")),
        ("default(nothing, 1)", json!(1)),
        ("default(nothing.field, 1)", json!(1)),
        ("default(absent.a.b, default(n, 0)) + 1", json!(8)),
        ("default(items[9].id, '?')", json!("?")),
        ("default(false, true)", json!(false)),
    ]);
    says(
        failure,
        [
            ("has(absent.a.b)", "`absent` is missing @ absent.a.b"),
            ("has(n.a)", "`n` is a number and has no field `a` @ n.a"),
            ("default(1 / 0, 1)", "division by zero @ 1 / 0"),
        ],
    );
}

#[test]
fn macros_go_over_lists_and_the_keys_of_maps() {
    values([
        ("numbers.all(x, x > 0)", json!(true)),
        ("numbers.exists(x, x > 2)", json!(true)),
        ("numbers.exists_one(x, x > 1)", json!(false)),
        ("numbers.exists_one(x, x > 2)", json!(true)),
        ("numbers.map(x, x * 2)", json!([6, 2, 4])),
        ("numbers.map(x, x > 1, x * 2)", json!([6, 4])),
        ("numbers.filter(x, x != 1)", json!([3, 2])),
        ("[].all(x, x.nonsense)", json!(true)),
        ("[].exists(x, true)", json!(false)),
        ("tasks.map(id, id)", json!(["build", "sign-off"])),
        ("tasks.all(id, tasks[id].status != 'failed')", json!(true)),
        ("numbers.map(x, numbers.map(y, x * y))", json!([[9, 3, 6], [3, 1, 2], [6, 2, 4]])),
        ("numbers.map(n, n)", json!([3, 1, 2])),
        ("[1].map(x, [2].map(x, x))", json!([[2]])),
        ("numbers.map(x, x).size() + n", json!(10)),
    ]);
    says(failure, [("n.all(x, true)", "expected a list or a map, found an int @ n")]);
}

#[test]
fn functions_on_texts_and_lists() {
    values([
        ("size(words) + words.size() + size('ab') + size(notes)", json!(11)),
        ("name.contains('ant') && name.startsWith('G') && name.endsWith('ry')", json!(true)),
        ("name.lowerAscii() + name.upperAscii()", json!("gantryGANTRY")),
        ("'  a b\\t'.trim()", json!("a b")),
        ("'a,b,,c'.split(',')", json!(["a", "b", "", "c"])),
        ("'añb'.split('')", json!(["a", "ñ", "b"])),
        ("words.join(', ')", json!("plan, run, prove")),
        ("words.join()", json!("planrunprove")),
        ("[].join(',')", json!("")),
        ("'a' + 'b' + 'c'", json!("abc")),
        ("[1] + [2, 3] + []", json!([1, 2, 3])),
        ("'b' in words || 'run' in words", json!(true)),
        ("'build' in tasks && !('ship' in tasks)", json!(true)),
        ("words[1]", json!("run")),
        ("notes['title']", json!("Sources")),
        ("notes[['title'][0]]", json!("Sources")),
    ]);
    says(
        failure,
        [
            ("size(n)", "`size(x)` does not take an int @ size(n)"),
            (
                "words.contains('run')",
                "`text.contains(part)` does not take a list and a string: use `x in list` @ words.contains('run')",
            ),
            ("numbers.join(',')", "`join` needs strings, found an int @ numbers.join(',')"),
        ],
    );
}

#[test]
fn functions_on_numbers_and_conversions() {
    values([
        ("min(3, 1.5, 2)", json!(1.5)),
        ("max(numbers)", json!(3)),
        ("max('a', 'b')", json!("b")),
        ("max(10m, 1h) == 1h", json!(true)),
        ("abs(-3) + abs(2)", json!(5)),
        ("abs(-1.5)", json!(1.5)),
        ("int('12') + int(2.9) + int(-2.9) + int(3u)", json!(15)),
        ("uint('5')", json!(5)),
        ("double('1e2') + double(1)", json!(101.0)),
        ("string(1) + string(true) + string(1.5) + string(2u)", json!("1true1.52")),
        ("bool('true') && !bool('0')", json!(true)),
        (
            "[1, 1u, 1.0, '', true, null, [], {}].map(x, type(x))",
            json!(["int", "uint", "double", "string", "bool", "null_type", "list", "map"]),
        ),
        ("type(n) == int && type(10m) == duration && type(name) != list", json!(true)),
        ("int(timestamp('1970-01-02T00:00:00Z'))", json!(86_400)),
    ]);
    says(
        failure,
        [
            ("int('twelve')", "\"twelve\" is not a whole number @ int('twelve')"),
            ("bool('yes')", "\"yes\" is not true or false @ bool('yes')"),
            ("string(null)", "`string(x)` does not take null @ string(null)"),
            ("min([])", "an empty list has no least or greatest @ min([])"),
            ("max(1, 'a')", "cannot order a string and an int @ max(1, 'a')"),
            ("max([[1]])", "cannot order a list and a list @ max([[1]])"),
        ],
    );
}

#[test]
fn sizes_are_bytes() {
    values([
        ("50MB", json!(50_000_000)),
        ("1GiB", json!(1_073_741_824)),
        ("512kB + 10B", json!(512_010)),
        ("1.5KiB", json!(1536)),
        ("n < 10B", json!(true)),
    ]);
}

#[test]
fn durations_and_timestamps_have_their_own_arithmetic() {
    values([
        ("10m", json!("600s")),
        ("2h30m == 150m && 7d == 1w && 90s < 2m", json!(true)),
        ("10m + 30s", json!("630s")),
        ("1s - 1.5s", json!("-0.5s")),
        ("-10m", json!("-600s")),
        ("250ms", json!("0.25s")),
        ("duration('1.5h') == 90m", json!(true)),
        ("duration('-1h30m')", json!("-5400s")),
        ("duration(string(10m)) == 10m", json!(true)),
        ("timestamp('2026-05-01T12:00:00+02:00')", json!("2026-05-01T10:00:00Z")),
        ("timestamp(tasks.build.ended) + 1d", json!("2026-05-02T10:00:00Z")),
        ("1d + timestamp(0) - 12h", json!("1970-01-01T12:00:00Z")),
        ("timestamp('2026-05-01T10:10:00Z') - timestamp(tasks.build.ended) == 10m", json!(true)),
        ("timestamp(tasks.build.ended) < timestamp('2027-01-01T00:00:00Z')", json!(true)),
        ("[1h, 30m].map(d, d + 1m)", json!(["3660s", "1860s"])),
    ]);
    says(
        failure,
        [
            ("'600s' < 10m", "cannot order a string and a duration: wrap the text in `duration()` @ '600s' < 10m"),
            (
                "tasks.build.ended - timestamp(0)",
                "cannot subtract a string and a timestamp: wrap the text in `timestamp()` @ tasks.build.ended - timestamp(0)",
            ),
            ("10m * 2", "cannot multiply a duration and an int @ 10m * 2"),
            ("10m + 1", "cannot add a duration and an int @ 10m + 1"),
            ("duration('soon')", "\"soon\" is not a duration such as \"2h30m\" @ duration('soon')"),
            ("timestamp('May')", "\"May\" is not a timestamp of RFC 3339 @ timestamp('May')"),
            ("timestamp(9223372036854775807)", "the result is out of range @ timestamp(9223372036854775807)"),
            (
                "timestamp('9999-01-01T00:00:00Z') + 36500d",
                "the result is out of range @ timestamp('9999-01-01T00:00:00Z') + 36500d",
            ),
        ],
    );
}

#[test]
fn a_duration_is_written_from_long_units_to_short_ones() {
    for (text, millis) in [
        ("10m", Some(600_000)),
        ("1h30m", Some(5_400_000)),
        ("2d", Some(172_800_000)),
        ("250ms", Some(250)),
        ("1w", Some(604_800_000)),
        ("1.5h", Some(5_400_000)),
        ("1h0.5m", Some(3_630_000)),
        ("5000us", Some(5)),
        ("0s", Some(0)),
        ("36525d", Some(3_155_760_000_000)),
        ("36525d1ms", None),
        ("1us", None),
        ("30m1h", None),
        ("1h1h", None),
        ("-1h", None),
        ("+1h", None),
        ("1", None),
        ("", None),
        ("h", None),
        ("1.h", None),
        (".5h", None),
        ("1 h", None),
        ("1h ", None),
        ("1y", None),
        ("１h", None),
        ("99999999999999999999999999w", None),
        ("999999999999999999w", None),
    ] {
        assert_eq!(parse_duration(text), millis, "{text}");
    }
}

#[test]
fn a_size_is_decimal_or_binary() {
    for (text, bytes) in [
        ("10B", Some(10)),
        ("512kB", Some(512_000)),
        ("512KB", Some(512_000)),
        ("50MB", Some(50_000_000)),
        ("50MiB", Some(52_428_800)),
        ("1GiB", Some(1_073_741_824)),
        ("1.5GB", Some(1_500_000_000)),
        ("1024PiB", Some(1 << 60)),
        ("1025PiB", None),
        ("0.5B", None),
        ("-1MB", None),
        ("1mb", None),
        ("1M", None),
        ("MB", None),
        ("1", None),
        ("", None),
        ("1 MB", None),
        ("99999999999999999999PB", None),
    ] {
        assert_eq!(parse_size(text), bytes, "{text}");
    }
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
