//! Whatever the source and the scope, an expression stays within its limits.

use gantry_core::expr::{
    EvalError, Expr, HEIGHT_MAX, LIST_ITEMS_MAX, NESTING_MAX, STEPS_MAX, TEXT_BYTES_MAX, VALUE_DEPTH_MAX,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::{parse, refusal, world};

/// The smallest stack the language promises to work on.
const STACK_BYTES: usize = 256 * 1024;

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

fn eval_with(source: &str, name: &str, value: Value) -> Result<Value, EvalError> {
    let mut world = world();
    world.insert(name.to_owned(), value);
    parse(source).eval(&world)
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn a_long_source_is_refused_unread() {
    let source = "1 + ".repeat(2_500_000);
    assert_eq!(refusal(&source), "column 4097: expression is longer than 4096 bytes");
    assert!(Expr::parse(&format!("'{}'", "é".repeat(2047))).is_ok());
    assert!(Expr::parse(&format!("'{}'", "é".repeat(2048))).is_err());
}

#[test]
fn nesting_is_bounded_on_a_small_stack() {
    on_a_small_stack(|| {
        let nested = |open: &str, close: &str, levels: usize| {
            Expr::parse(&format!("{}1{}", open.repeat(levels), close.repeat(levels)))
        };
        for (open, close) in [("(", ")"), ("[", "]"), ("{'a':", "}"), ("!", ""), ("size(", ")"), ("a[", "]")] {
            let source = format!("{open}…{close}");
            assert!(nested(open, close, NESTING_MAX - 1).is_ok(), "{source}");
            let error = nested(open, close, NESTING_MAX + 1).expect_err(&source);
            assert_eq!(error.message, "expression nests deeper than 32 levels", "{source}");
            assert!(nested(open, close, 500).is_err(), "{source}");
            assert!(nested(open, close, 10_000).is_err(), "{source}");
        }
        for open in ["(", "[", "!", "-", "{", "a(", "a?", "a?b:", "a.all(x,", "'", "a[", "has(", "1+(", "r'''"] {
            assert!(Expr::parse(&open.repeat(4_096 / open.len())).is_err(), "{open}");
        }
    });
}

#[test]
fn the_deepest_tree_that_parses_is_evaluated_on_a_small_stack() {
    on_a_small_stack(|| {
        let scope = world();
        let wrap =
            |open: &str, close: &str, levels: usize| format!("{}true{}", open.repeat(levels), close.repeat(levels));
        let mut deepest = 0;
        for levels in 1..=NESTING_MAX {
            for (open, close) in [
                ("(false || true && 1 == 1 + 1 * size([", "]))"),
                ("[1].all(x, ", ")"),
                ("!(!", ")"),
                ("(true ? ", " : false)"),
                ("default(", ", false)"),
                ("(1 == 2 || ", ")"),
            ] {
                let Ok(expr) = Expr::parse(&wrap(open, close, levels)) else { continue };
                deepest = deepest.max(levels);
                let _ = expr.eval(&scope);
                let _ = expr.test(&scope);
            }
        }
        assert_eq!(deepest, NESTING_MAX);

        // The worst of both: the deepest value, read at the deepest place.
        let mut deep = world();
        deep.insert("deep".to_owned(), (2..VALUE_DEPTH_MAX).fold(json!([1]), |inner, _| json!([inner])));
        let (open, close) = ("[1].exists(x, false || true && !(".repeat(10), "))".repeat(10));
        let source = format!("{open}deep == deep{close}");
        assert!(parse(&source).test(&deep).is_ok());

        let chain = |levels: usize| format!("' a '{}", ".trim()".repeat(levels));
        assert_eq!(parse(&chain(HEIGHT_MAX - 1)).eval(&scope), Ok(json!("a")));
        assert!(refusal(&chain(HEIGHT_MAX)).ends_with("expression stacks more than 48 operators"));
        assert!(Expr::parse(&format!("[]{}", "[0]".repeat(400))).is_err());
    });
}

#[test]
fn long_chains_are_flat() {
    on_a_small_stack(|| {
        let scope = world();
        assert_eq!(parse(&format!("1{}", " + 1".repeat(499))).eval(&scope), Ok(json!(500)));
        assert_eq!(parse(&format!("ready{}", "&&ready".repeat(499))).eval(&scope), Ok(json!(true)));
        assert_eq!(parse(&format!("false{}", "||false".repeat(499))).eval(&scope), Ok(json!(false)));
        assert!(parse(&format!("a{}", ".a".repeat(2_000))).eval(&scope).is_err());
    });
}

#[test]
fn the_number_of_parts_is_bounded() {
    let source = |parts: usize| format!("[{}]", "1,".repeat(parts));
    assert!(Expr::parse(&source(999)).is_ok());
    assert!(refusal(&source(1_000)).ends_with("expression has more than 1000 parts"));
}

#[test]
fn loops_in_loops_run_out_of_steps() {
    let numbers: Value = (0..1_000).collect();
    let source = "big.all(x, big.all(y, big.all(z, x + y + z >= 0)))";
    let error = eval_with(source, "big", numbers.clone()).expect_err("too many steps");
    assert!(matches!(error, EvalError::OutOfSteps { limit: STEPS_MAX, .. }), "{error}");
    assert_eq!(error.to_string(), "evaluation took more than 100000 steps");

    // A limit is no ordinary error: no operator and no default hides it.
    for source in [
        "big.all(x, big.all(y, big.all(z, true))) || true",
        "true || big.all(x, big.all(y, big.all(z, true)))",
        "default(big.map(x, big.map(y, 1)), 1)",
        "[1].exists(i, big.all(x, big.all(y, big.all(z, true))) || true)",
    ] {
        let outcome = eval_with(source, "big", numbers.clone());
        let absorbed_by_order = source.starts_with("true ||");
        assert_eq!(outcome.is_ok(), absorbed_by_order, "{source}");
    }
}

#[test]
fn what_a_step_does_not_count_is_charged_by_size() {
    let text = json!("a".repeat(1_000_000));
    let numbers: Value = (0..10_000).collect();
    for (source, value) in [
        ("[1,2,3,4,5,6,7,8,9].all(x, big.contains('b') || true)", &text),
        ("[1,2,3,4,5,6,7,8,9].map(x, big)", &text),
        ("[1,2,3,4,5,6,7,8,9].all(x, big == big + '')", &text),
        ("[1,2,3,4,5,6,7,8,9,0,1,2].all(x, big == big)", &numbers),
        ("[1,2,3,4,5,6,7,8,9,0,1,2].all(x, !(-1 in big))", &numbers),
        ("[1,2,3,4,5,6,7,8,9,0,1,2].map(x, big)", &numbers),
    ] {
        let error = eval_with(source, "big", value.clone()).expect_err(source);
        assert!(matches!(error, EvalError::OutOfSteps { .. }), "{source}: {error}");
    }
}

#[test]
fn values_do_not_grow_past_their_limits() {
    let text = json!("a".repeat(TEXT_BYTES_MAX));
    let numbers: Value = (0..LIST_ITEMS_MAX).collect();
    for (source, value, expected) in [
        ("big + 'b'", &text, "text would be longer than 1048576 bytes"),
        ("[big, big].join()", &text, "text would be longer than 1048576 bytes"),
        ("big + [1]", &numbers, "list would be longer than 10000 items"),
        ("(big.split('') + []).size()", &text, "list would be longer than 10000 items"),
    ] {
        let error = eval_with(source, "big", value.clone()).expect_err(source);
        assert_eq!(error.to_string(), expected, "{source}");
    }
    // A longer list can be read, but not made.
    let many: Value = (0..LIST_ITEMS_MAX * 2).collect();
    assert_eq!(eval_with("size(big)", "big", many.clone()), Ok(json!(20_000)));
    let error = eval_with("big.map(x, x).size()", "big", many).expect_err("too long");
    assert_eq!(error.to_string(), "list would be longer than 10000 items");
}

#[test]
fn a_scope_that_nests_too_deeply_is_refused() {
    on_a_small_stack(|| {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(eval_with("size(deep) + (deep == deep ? 1 : 0)", "deep", nested(VALUE_DEPTH_MAX - 1)), Ok(json!(2)));
        let error = eval_with("size(deep)", "deep", nested(VALUE_DEPTH_MAX)).expect_err("too deep");
        assert_eq!(error.to_string(), "`deep` nests too deeply to be read");
    });
}

#[test]
fn no_text_makes_it_panic() {
    let scope = world();
    let words = prop::sample::select(vec![
        "n",
        "name",
        "ready",
        "items",
        "x",
        ".",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "?",
        "!",
        "-",
        "+",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        ">=",
        "&&",
        "||",
        " in ",
        "1",
        "0",
        "2.5",
        "9223372036854775807",
        "1u",
        "'a'",
        "\"",
        "'",
        "'''",
        "r",
        "\\",
        "\\x",
        "\\u00",
        "10m",
        "5MB",
        "1e",
        "0x",
        ".all(x,",
        ".map(x,",
        ".exists(i,",
        "size(",
        "has(",
        "default(",
        "max(",
        "duration(",
        "timestamp(",
        "int(",
        "type(",
        ".split(",
        ".join(",
        "null",
        "true",
        "é",
        " ",
        "\n",
        "//",
        "µ",
        "\u{0}",
    ]);
    let mixed = prop::collection::vec(words, 0..24).prop_map(|words| words.concat());
    let any = prop_oneof![
        mixed,
        any::<String>(),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    ];
    runner(2_000)
        .run(&any, |source| {
            match Expr::parse(&source) {
                Ok(expr) => {
                    let value = expr.eval(&scope);
                    prop_assert_eq!(&value, &expr.eval(&scope));
                    if let Err(error) = value {
                        prop_assert!(source.get(error.span().start..error.span().end).is_some());
                    }
                    let _ = expr.test(&scope);
                }
                Err(error) => {
                    prop_assert!(error.span.start <= error.span.end && error.span.end <= source.len());
                    let _ = error.located(&source);
                }
            }
            Ok(())
        })
        .expect("no panic");
}

#[test]
fn no_unit_makes_it_panic() {
    runner(1_000)
        .run(&"[0-9.a-zA-Zµ -]{0,24}", |text| {
            let _ = gantry_core::expr::parse_duration(&text);
            let _ = gantry_core::expr::parse_size(&text);
            Ok(())
        })
        .expect("no panic");
}
