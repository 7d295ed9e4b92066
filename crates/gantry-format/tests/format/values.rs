//! What YAML and JSON values become.

use gantry_format::node::{Node, Value};
use gantry_format::{json, yaml};

/// Writes a tree so that its types can be seen: `n:` a number, `s:` a text, `p:` a plain text.
fn shape(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(raw) => format!("n:{raw}"),
        Value::Str { text, plain } => format!("{}:{text:?}", if *plain { "p" } else { "s" }),
        Value::Seq(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(" ")),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}={}", key.text, shape(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

fn yaml_shape(text: &str) -> String {
    let parsed = yaml::parse(text);
    assert!(parsed.findings.kept.is_empty(), "{:?}", parsed.findings.kept);
    shape(&parsed.node.expect("a tree"))
}

#[test]
fn yaml_scalars_follow_version_1_2_alone() {
    insta::assert_snapshot!(yaml_shape("[no, yes, on, off, y, n, 010, 0o10, 0x1f, 1_000, 1:30, 2025-10-30, ~, null, true, 'true', .5, 1., 1e3]"), @r#"[p:"no" p:"yes" p:"on" p:"off" p:"y" p:"n" n:010 n:0o10 n:0x1f p:"1_000" p:"1:30" p:"2025-10-30" null null true s:"true" n:.5 n:1. n:1e3]"#);
    insta::assert_snapshot!(yaml_shape("on: push\nno: way\n1: one\ntrue: yes\n"), @r#"{on=p:"push" no=p:"way" 1=p:"one" true=p:"yes"}"#);
}

#[test]
fn anchors_aliases_and_merge_keys_are_written_out() {
    insta::assert_snapshot!(
        yaml_shape("
base: &base {retry: 2, timeout: 5m}
a: {<<: *base, timeout: 9m}
b: {<<: [{x: 1}, *base, {x: 2, y: 3}]}
c: [&n one, *n]
*n : two
"), @r#"{base={retry=n:2 timeout=p:"5m"} a={retry=n:2 timeout=p:"9m"} b={x=n:1 retry=n:2 timeout=p:"5m" y=n:3} c=[p:"one" p:"one"] one=p:"two"}"#);
}

#[test]
fn spans_of_both_formats_cut_out_what_was_written() {
    let text = r#"{"a": [1, "é\n", {"b": null}], "c": -2.5e3}"#;
    for parsed in [json::parse(text), yaml::parse(text)] {
        let node = parsed.node.expect("a tree");
        let cut = |node: &Node| &text[node.span.range()];
        let list = node.get("a").expect("a");
        let items: Vec<&str> = list.as_seq().expect("a list").iter().map(cut).collect();
        assert_eq!(cut(list), r#"[1, "é\n", {"b": null}]"#);
        assert_eq!(items, ["1", r#""é\n""#, r#"{"b": null}"#]);
        assert_eq!(cut(node.get("c").expect("c")), "-2.5e3");
        assert_eq!(cut(&node), text);
    }
}

#[test]
fn json_is_refused_at_the_character_that_is_wrong() {
    let cases = [
        r#"{"a": 1,}"#,
        r#"{"a" 1}"#,
        r"{a: 1}",
        r"{'a': 1}",
        r"[1 2]",
        r"[01]",
        r"[1.]",
        r#"["\x"]"#,
        r#"["\ud800"]"#,
        "[\"a\nb\"]",
        r#"["a"#,
        r"[nul]",
        r"[NaN]",
        r"[1e999]",
        r#"{"a":1,"a":2}"#,
        "[1] // one",
        "",
    ];
    let seen: Vec<String> = cases
        .iter()
        .map(|text| {
            let finding = json::parse(text).findings.kept.remove(0);
            let span = finding.span.expect("a place");
            let hint = finding.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{text:?} at {}..{}: {}; {}{hint}", span.start, span.end, finding.message, finding.label)
        })
        .collect();
    insta::assert_snapshot!(seen.join("\n"), @r#"
    "{\"a\": 1,}" at 7..8: not valid JSON: a comma before the end of a list or map; remove this comma
    "{\"a\" 1}" at 5..6: not valid JSON: found '1'; expected `:`
    "{a: 1}" at 1..2: not valid JSON: found 'a'; expected a key in double quotes
    "{'a': 1}" at 1..2: not valid JSON: found '\''; expected a key in double quotes (JSON texts stand in double quotes)
    "[1 2]" at 3..4: not valid JSON: found '2'; expected `,` or `]`
    "[01]" at 1..2: not valid JSON: found '0'; expected a number without leading zeros
    "[1.]" at 3..4: not valid JSON: found ']'; expected a digit
    "[\"\\x\"]" at 2..3: not valid JSON: found '\\'; expected one of the escapes JSON knows
    "[\"\\ud800\"]" at 2..8: not valid JSON: half a surrogate pair is no character; this escape stands for nothing
    "[\"a\nb\"]" at 3..4: not valid JSON: found '\n'; expected `"`; line breaks and tabs are written `\n` and `\t`
    "[\"a" at 1..3: not valid JSON: a text does not end; it starts here
    "[nul]" at 1..2: not valid JSON: found 'n'; expected a value
    "[NaN]" at 1..2: not valid JSON: found 'N'; expected a value
    "[1e999]" at 1..6: `1e999` is not a finite number; plans hold finite numbers only (put it in quotes if it is meant as a text)
    "{\"a\":1,\"a\":2}" at 7..10: `a` is given twice; given again here
    "[1] // one" at 4..5: not valid JSON: found '/'; expected nothing more (JSON has no comments)
    "" at 0..0: not valid JSON: found the end of the file; expected a value
    "#);
}

#[test]
fn any_serde_type_can_be_read_and_says_where_it_does_not_fit() {
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    enum Size {
        Small,
        Of(u8),
        Box { width: f64 },
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Thing {
        name: String,
        size: Size,
        tags: Option<Vec<String>>,
        pair: (i64, bool),
    }
    let read = |text: &str| Thing::deserialize(&yaml::parse(text).node.expect("a tree"));
    let thing = read("{name: 1.10, size: {Box: {width: 2}}, pair: [-3, true]}").expect("it fits");
    assert_eq!(thing, Thing { name: "1.10".to_owned(), size: Size::Box { width: 2.0 }, tags: None, pair: (-3, true) });
    assert_eq!(read("{name: a, size: Small, tags: [], pair: [1, false]}").expect("it fits").size, Size::Small);
    assert_eq!(read("{name: a, size: {Of: 7}, pair: [1, false]}").expect("it fits").size, Size::Of(7));
    let misfits = [
        "{name: true, size: Small, pair: [1, true]}",
        "{name: a, size: Smal, pair: [1, true]}",
        "{name: a, size: Of, pair: [1, true]}",
        "{name: a, size: {Of: 256}, pair: [1, true]}",
        "{name: a, size: {Of: 1, Small: 2}, pair: [1, true]}",
        "{name: a, size: Small, pair: [1]}",
        "{name: a, size: Small, pair: [1, 2]}",
        "{name: a, size: Small, pair: [1, true], tag: [x]}",
        "{name: a, size: Small, tags: [x, [y]], pair: [1, true]}",
        "{name: a, pair: [1, true]}",
        "[1]",
    ];
    let seen: Vec<String> = misfits
        .iter()
        .map(|text| {
            let error = read(text).expect_err("it does not fit");
            let span = error.span.expect("a place");
            let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{text}\n    {:?}: {}{hint}", &text[span.range()], error.message)
        })
        .collect();
    insta::assert_snapshot!(seen.join("\n"), @r#"
    {name: true, size: Small, pair: [1, true]}
        "true": expected a text, found `true` (put it in quotes)
    {name: a, size: Smal, pair: [1, true]}
        "Smal": unknown word `Smal` (did you mean `Small`?)
    {name: a, size: Of, pair: [1, true]}
        "Of": `Of` needs a value (write `Of: …`)
    {name: a, size: {Of: 256}, pair: [1, true]}
        "256": expected a whole number from 0 to 255, found the number 256
    {name: a, size: {Of: 1, Small: 2}, pair: [1, true]}
        "{Of: 1, Small: 2}": expected one of `Small`, `Of`, `Box`, found a map
    {name: a, size: Small, pair: [1]}
        "[1]": invalid length 1, expected a tuple of size 2
    {name: a, size: Small, pair: [1, 2]}
        "2": expected `true` or `false`, found the number 2
    {name: a, size: Small, pair: [1, true], tag: [x]}
        "tag": unknown field `tag` (did you mean `tags`?)
    {name: a, size: Small, tags: [x, [y]], pair: [1, true]}
        "[y]": expected a text, found a list
    {name: a, pair: [1, true]}
        "{name: a, pair: [1, true]}": `size` is missing
    [1]
        "[1]": expected a map, found a list
    "#);
}
