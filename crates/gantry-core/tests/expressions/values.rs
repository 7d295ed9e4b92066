//! Values, operators and functions.

use serde_json::json;

use super::*;

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
