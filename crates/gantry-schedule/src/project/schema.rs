//! The JSON Schema of what reads and writes itself in a form of its own.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Amount, Days, Deadline, Hours, Length, Link, Money, Need, Shape, ThreePoint, Week, When};

/// A schema that stands where it is used.
macro_rules! inline {
    ($($type:ty: $generator:ident => $schema:expr;)*) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

inline! {
    Length: _g => json_schema!({
        "type": ["string", "number"],
        "description": "A length of time such as 90m, 8h, 5d, 1w, 3mo, or 2ed for elapsed time; a plain number counts units.",
    });
    When: _g => json_schema!({
        "type": ["string", "number"],
        "description": "A point in time such as 2026-03-02, 2026-03-02T09:00 or 2026-03-02T09:00:00Z, or a length after the start such as 72h.",
    });
    Money: _g => json_schema!({
        "type": ["string", "number"],
        "description": "An amount of money such as 1200.50 or 1200.50 EUR.",
    });
    Amount: _g => json_schema!({
        "type": ["string", "number"],
        "description": "How much of a resource: 1, 0.5, 50% or 4.",
    });
    Hours: _g => json_schema!({
        "type": "string",
        "description": "A stretch of a day such as 09:00-17:00, or 22:00-06:00 over midnight.",
    });
    Days: _g => json_schema!({
        "type": "string",
        "description": "A day such as 2026-12-25, or days such as 2026-12-24..2027-01-01.",
    });
    Week: generator => json_schema!({
        "type": "object",
        "description": "The hours of each weekday, by names such as mon, sat or mon-fri.",
        "additionalProperties": {"type": "array", "items": generator.subschema_for::<Hours>()},
    });
    Link: generator => json_schema!({
        "description": "A task that this one waits for: design, design SS+2d, or a map.",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "task": {"type": "string"},
                    "kind": {"enum": ["FS", "SS", "FF", "SF"]},
                    "lag": generator.subschema_for::<Length>(),
                },
                "required": ["task"],
                "additionalProperties": false,
            },
        ],
    });
    Need: generator => json_schema!({
        "description": "Someone or something that a task occupies: ana, ana 50%, or a map that says who fits.",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "resource": {"type": "string"},
                    "role": {"type": ["string", "null"]},
                    "skills": {"type": "array", "items": {"type": "string"}},
                    "count": {"type": "integer", "minimum": 0},
                    "amount": generator.subschema_for::<Amount>(),
                },
                "additionalProperties": false,
            },
        ],
    });
    Deadline: generator => json_schema!({
        "description": "A point in time to be done by, such as 2026-06-30, or 2026-06-30 hard when it must be kept.",
        "anyOf": [
            {"type": ["string", "number"]},
            {
                "type": "object",
                "properties": {"at": generator.subschema_for::<When>(), "hard": {"type": "boolean"}},
                "required": ["at"],
                "additionalProperties": false,
            },
        ],
    });
}

impl<T: JsonSchema> JsonSchema for ThreePoint<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("ThreePoint{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let shape = generator.subschema_for::<Shape>();
        json_schema!({
            "description": "One value, three such as 3d / 5d / 9d, or a map with `low`, `likely` and `high`.",
            "anyOf": [
                {"type": ["string", "number"]},
                {
                    "type": "object",
                    "properties": {"low": one.clone(), "likely": one.clone(), "high": one, "shape": shape},
                    "required": ["low", "likely", "high"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
