//! Where the language is CEL, it agrees with the `cel` crate.
//!
//! The generator makes typed expressions over the shared subset. It avoids the divergences that
//! `docs/adr/0002-expressions.md` lists, each at the place marked here with "divergence".

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};

use super::parse;

/// The oracle's parser overflows small stacks.
const ORACLE_STACK_BYTES: usize = 256 * 1024 * 1024;

/// How many random expressions are compared.
const CASES: u32 = 1_500;

fn with_oracle(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(ORACLE_STACK_BYTES).spawn(work).expect("a thread");
    thread.join().expect("both agree");
}

fn scope() -> serde_json::Map<String, Value> {
    let scope = json!({
        "n": 3, "m": -2, "d": 1.5, "s": "plan", "t": "", "yes": true, "no": false,
        "xs": [1, 2, 3], "ys": [], "ws": ["plan", "run", "é"],
        "o": {"a": 1, "b": {"c": "deep"}, "l": [4, 5]}
    });
    let Value::Object(fields) = scope else { panic!("the scope is an object") };
    fields
}

/// The crate reads positive JSON numbers as unsigned, so they are converted here.
fn to_cel(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(bool) => cel::Value::Bool(*bool),
        Value::Number(number) => match number.as_i64() {
            Some(int) => cel::Value::Int(int),
            None => cel::Value::Float(number.as_f64().expect("a number")),
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => cel::Value::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(fields) => {
            #[expect(clippy::disallowed_types, reason = "the crate's maps are made from it")]
            let fields: std::collections::HashMap<String, cel::Value> =
                fields.iter().map(|(name, field)| (name.clone(), to_cel(field))).collect();
            cel::Value::Map(fields.into())
        }
    }
}

/// What the oracle makes of a source: a JSON value, or any error.
fn oracle(source: &str) -> Result<Value, String> {
    let program = cel::Program::compile(source).map_err(|error| format!("refused: {error}"))?;
    let mut context = cel::Context::default();
    for (name, value) in &scope() {
        context.add_variable_from_value(name.clone(), to_cel(value));
    }
    let value = program.execute(&context).map_err(|error| error.to_string())?;
    value.json().map_err(|error| error.to_string())
}

fn ours(source: &str) -> Result<Value, String> {
    parse(source).eval(&scope()).map_err(|error| error.to_string())
}

/// The kinds of expression the generator makes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Int,
    Double,
    Text,
    Bool,
    Ints,
    Texts,
}

fn leaf(kind: Kind) -> BoxedStrategy<String> {
    let leaves: &[&'static str] = match kind {
        Kind::Int => {
            &["0", "1", "-1", "2", "7", "9223372036854775807", "n", "m", "o.a", "o['a']", "o.l[1]", "o.zz", "xs[9]"]
        }
        // Divergence: doubles stay small, since an infinity is an error for us alone.
        Kind::Double => &["0.0", "1.0", "-2.5", "d", "3.0", "0.1", "1e2"],
        Kind::Text => &["''", "'a'", "\"plan\"", "s", "t", "o.b.c", "'é'", "r'\\n'", "'\\n'", "'''x'''", "ws[0]"],
        Kind::Bool => &["true", "false", "yes", "no", "has(o.a)", "has(o.zz)", "has(o.b.c)", "unknown"],
        Kind::Ints => &["xs", "ys", "[]", "[1, 2]", "o.l", "[n, m]"],
        Kind::Texts => &["ws", "['a']", "[s, t]", "[]"],
    };
    prop::sample::select(leaves.to_vec()).prop_map(str::to_owned).boxed()
}

fn expression(kind: Kind, depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return leaf(kind);
    }
    let sub = move |kind| expression(kind, depth - 1);
    let bracketed = move |kind| sub(kind).prop_map(|inner| format!("({inner})"));
    let branch = (bracketed(Kind::Bool), sub(kind), sub(kind)).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})"));
    let own = match kind {
        Kind::Int => prop_oneof![
            // Brackets are left out, so that precedence is tested too.
            4 => (sub(Kind::Int), prop::sample::select(vec!["+", "-", "*", "/", "%"]), sub(Kind::Int))
                .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
            2 => bracketed(Kind::Int),
            1 => bracketed(Kind::Int).prop_map(|a| format!("-{a}")),
            1 => sub(Kind::Text).prop_map(|a| format!("size({a})")),
            1 => bracketed(Kind::Ints).prop_map(|a| format!("{a}.size()")),
            1 => (bracketed(Kind::Ints), sub(Kind::Int)).prop_map(|(a, b)| format!("{a}[{b}]")),
            1 => sub(Kind::Double).prop_map(|a| format!("int({a})")),
        ]
        .boxed(),
        Kind::Double => prop_oneof![
            // Divergence: no integers among the operands, and no division by zero.
            3 => (sub(Kind::Double), prop::sample::select(vec!["+", "-", "*"]), sub(Kind::Double))
                .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
            1 => bracketed(Kind::Double).prop_map(|a| format!("{a} / 4.0")),
            1 => bracketed(Kind::Double).prop_map(|a| format!("-{a}")),
            // Divergence: integers that a double cannot hold are compared and converted differently.
            1 => bracketed(Kind::Int).prop_map(|a| format!("double({a} % 1000)")),
        ]
        .boxed(),
        Kind::Text => prop_oneof![
            3 => (sub(Kind::Text), sub(Kind::Text)).prop_map(|(a, b)| format!("{a} + {b}")),
            1 => sub(Kind::Int).prop_map(|a| format!("string({a})")),
            1 => (bracketed(Kind::Texts), sub(Kind::Int)).prop_map(|(a, b)| format!("{a}[{b}]")),
        ]
        .boxed(),
        Kind::Bool => bool_expression(depth),
        Kind::Ints => prop_oneof![
            2 => (sub(Kind::Ints), sub(Kind::Ints)).prop_map(|(a, b)| format!("{a} + {b}")),
            1 => prop::collection::vec(sub(Kind::Int), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            1 => (bracketed(Kind::Ints), sub(Kind::Int)).prop_map(|(a, b)| format!("{a}.map(x, x + {b})")),
            1 => (bracketed(Kind::Ints), sub(Kind::Int)).prop_map(|(a, b)| format!("{a}.filter(x, x > {b})")),
            1 => (bracketed(Kind::Texts), sub(Kind::Text)).prop_map(|(a, b)| format!("{a}.map(x, size(x + {b}))")),
            1 => bracketed(Kind::Ints).prop_map(|a| format!("{a}.map(x, x % 2 == 0, x * x)")),
        ]
        .boxed(),
        Kind::Texts => prop_oneof![
            1 => (sub(Kind::Texts), sub(Kind::Texts)).prop_map(|(a, b)| format!("{a} + {b}")),
            1 => (bracketed(Kind::Texts), sub(Kind::Text)).prop_map(|(a, b)| format!("{a}.map(w, w + {b})")),
            1 => (bracketed(Kind::Texts), sub(Kind::Text)).prop_map(|(a, b)| format!("{a}.filter(w, w != {b})")),
        ]
        .boxed(),
    };
    prop_oneof![1 => leaf(kind), 6 => own, 1 => branch].boxed()
}

fn bool_expression(depth: u32) -> BoxedStrategy<String> {
    let sub = move |kind| expression(kind, depth - 1);
    let bracketed = move |kind| sub(kind).prop_map(|inner| format!("({inner})"));
    let comparison = |kind, operators: &[&'static str]| {
        // Divergence: comparisons do not chain, so their operands are in brackets.
        (bracketed(kind), prop::sample::select(operators.to_vec()), bracketed(kind))
            .prop_map(|(a, operator, b)| format!("{a} {operator} {b}"))
    };
    let all = &["==", "!=", "<", "<=", ">", ">="];
    prop_oneof![
        3 => (sub(Kind::Bool), prop::sample::select(vec!["&&", "||"]), sub(Kind::Bool))
            .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
        1 => bracketed(Kind::Bool),
        1 => bracketed(Kind::Bool).prop_map(|a| format!("!{a}")),
        2 => comparison(Kind::Int, all),
        1 => comparison(Kind::Double, all),
        1 => comparison(Kind::Text, all),
        1 => comparison(Kind::Bool, &["==", "!="]),
        1 => comparison(Kind::Ints, &["==", "!="]),
        1 => (bracketed(Kind::Int), prop::sample::select(all.to_vec()), bracketed(Kind::Double))
            .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
        1 => (bracketed(Kind::Int), bracketed(Kind::Ints)).prop_map(|(a, b)| format!("{a} in {b}")),
        1 => (bracketed(Kind::Text), bracketed(Kind::Texts)).prop_map(|(a, b)| format!("{a} in {b}")),
        1 => bracketed(Kind::Text).prop_map(|a| format!("{a} in o")),
        1 => (bracketed(Kind::Text), prop::sample::select(vec!["contains", "startsWith", "endsWith"]), sub(Kind::Text))
            .prop_map(|(a, function, b)| format!("{a}.{function}({b})")),
        2 => (bracketed(Kind::Ints), prop::sample::select(vec!["all", "exists", "exists_one"]), bracketed(Kind::Int))
            .prop_map(|(a, each, b)| format!("{a}.{each}(x, x >= {b})")),
        1 => (bracketed(Kind::Ints), prop::sample::select(vec!["all", "exists"]), bracketed(Kind::Ints))
            .prop_map(|(a, each, b)| format!("{a}.{each}(x, {b}.exists(y, 6 / x > y))")),
    ]
    .boxed()
}

#[test]
fn random_expressions_have_the_value_cel_gives_them() {
    with_oracle(|| {
        let any = prop::sample::select(vec![Kind::Int, Kind::Double, Kind::Text, Kind::Bool, Kind::Ints, Kind::Texts])
            .prop_flat_map(|kind| expression(kind, 3));
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let valued = Cell::new(0);
        let checked = runner.run(&any, |source| match (ours(&source), oracle(&source)) {
            (Ok(ours), Ok(theirs)) => {
                valued.set(valued.get() + 1);
                prop_assert_eq!(ours, theirs, "{}", source);
                Ok(())
            }
            (Err(_), Err(_)) => Ok(()),
            (ours, theirs) => Err(TestCaseError::fail(format!("{source}\n ours: {ours:?}\n cel:  {theirs:?}"))),
        });
        checked.expect("both agree");
        assert!(valued.get() > CASES / 3, "only {} of {CASES} have a value", valued.get());
    });
}

#[test]
fn texts_are_read_as_cel_reads_them() {
    with_oracle(|| {
        for source in [
            r"'\a\b\f\n\r\t\v\\\?\'\`'",
            r#""\x41\u00e9\U0001F600\101""#,
            r#"r"\n""#,
            "'''a\n'b' '''",
            "\"\"\"a\"b\"\"\"",
            "size('größe')",
            "'a' < 'b'",
        ] {
            assert_eq!(ours(source), oracle(source), "{source}");
        }
    });
}

/// Each row differs from the oracle on purpose; the ADR says why. A row that no longer differs
/// should leave both this table and the ADR.
#[test]
fn the_known_divergences_are_these() {
    with_oracle(|| {
        for (source, expected) in [
            ("1 + 1.5", json!(2.5)),
            ("n * d", json!(4.5)),
            ("9007199254740993 == 9007199254740992.0", json!(false)),
            ("-9223372036854775808 % -1", json!(0)),
            ("int(-9223372036854775808.0)", json!(i64::MIN)),
            ("type(1) == 'int'", json!(true)),
            ("50MB > 1MiB", json!(true)),
            ("10m < 1h", json!(true)),
            ("default(o.zz, 1)", json!(1)),
            ("has(o['a'])", json!(true)),
        ] {
            assert_eq!(ours(source), Ok(expected.clone()), "{source}");
            assert_ne!(oracle(source), Ok(expected), "{source}");
        }
        for source in ["1.0 / 0.0 > 1.0", "{1: 'a'}[1]", "size(b'ab')", "'abc'.matches('b')", "1 < 2 == true"] {
            let refused = gantry_core::expr::Expr::parse(source).map(|expr| expr.eval(&scope()).is_err());
            assert!(refused.unwrap_or(true), "{source}");
            assert!(oracle(source).is_ok(), "{source}: {:?}", oracle(source));
        }
    });
}
