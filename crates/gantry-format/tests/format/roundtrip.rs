//! What is written reads back as the same plan.

use gantry_core::plan::{Plan, Severity};
use gantry_format::{load, schema, to_json, to_yaml};
use proptest::prelude::*;

use crate::generator::plan;

fn errors(plan: &Plan) -> Vec<String> {
    plan.check()
        .into_iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| problem.message)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        max_shrink_iters: 20_000,
        max_global_rejects: 6_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_plan_that_is_written_and_read_is_the_same_plan(bytes in prop::collection::vec(any::<u8>(), 0..1_500)) {
        let plan = plan(&bytes);
        prop_assume!(errors(&plan).is_empty());
        for (name, text) in [("a.yaml", to_yaml(&plan)), ("a.json", to_json(&plan))] {
            let loaded = load(name, text.as_bytes());
            prop_assert!(loaded.plan.is_some(), "{text}\n{}", loaded.report.render(false));
            prop_assert_eq!(loaded.plan.as_ref(), Some(&plan), "{}", text);
        }
    }

    #[test]
    fn the_canonical_form_fits_the_schema(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        thread_local! {
            static VALIDATOR: jsonschema::Validator = jsonschema::validator_for(&schema()).expect("the schema is a schema");
        }
        let text = to_json(&plan(&bytes));
        let instance: serde_json::Value = serde_json::from_str(&text).expect("canonical JSON is JSON");
        let misfits: Vec<String> = VALIDATOR.with(|validator| {
            validator.iter_errors(&instance).map(|error| format!("{}: {error}", error.instance_path())).collect()
        });
        prop_assert!(misfits.is_empty(), "{:#?}\n{}", misfits, text);
    }
}

#[test]
fn most_generated_plans_are_ones_that_may_begin() {
    let mut sound = 0;
    for seed in 0..200_u8 {
        let bytes: Vec<u8> =
            (0..1_000_u32).map(|n| ((n * 31 + u32::from(seed)) * (n + 7) % 251).to_le_bytes()[0]).collect();
        sound += usize::from(errors(&plan(&bytes)).is_empty());
    }
    assert!(sound > 100, "only {sound} of 200");
}

#[test]
fn plans_of_the_simulator_and_what_they_became_read_back_the_same() {
    use gantry_sim::dice::Dice;
    use gantry_sim::run::run_seed;
    use gantry_sim::world::Trace;
    for seed in 1..150 {
        let drawn = gantry_sim::plans::draw(&mut Dice::new(seed, 1)).plan;
        let journal = run_seed(seed, Trace::Off).record.journal;
        let became = gantry_core::life::replay(&journal).expect("a sound journal").plan();
        for plan in [drawn, became] {
            for (name, text) in [("a.yaml", to_yaml(&plan)), ("a.json", to_json(&plan))] {
                let loaded = load(name, text.as_bytes());
                assert_eq!(loaded.plan.as_ref(), Some(&plan), "seed {seed}\n{text}\n{}", loaded.report.render(false));
            }
        }
    }
}
