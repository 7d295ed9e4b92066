//! Times for programs: all with three digits after the second, so that they sort as text.

use serde_json::Value;

/// What others wrote is left as it is, whatever it is called.
const OF_OTHERS: [&str; 7] = ["outputs", "definition", "facts", "inputs", "text", "value", "labels"];

/// Gives every time of ours three digits after the second.
pub fn with_even_times(mut value: Value) -> Value {
    even(&mut value);
    value
}

fn even(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(even),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut().filter(|(key, _)| !OF_OTHERS.contains(&key.as_str())) {
                let is_time = key == "at"
                    || key.ends_with("_at")
                    || ["until", "deadline", "finish", "p80"].contains(&key.as_str());
                match value {
                    Value::String(text) if is_time => {
                        if let Some(evened) = evened(text) {
                            *text = evened;
                        }
                    }
                    value => even(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `2026-01-01T00:00:00.5Z` with three digits; none for what is no time in this form.
fn evened(text: &str) -> Option<String> {
    let bare = text.strip_suffix('Z')?;
    let (second, fraction) = bare.split_once('.').unwrap_or((bare, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let is_time = second.len() == 19 && second.as_bytes()[10] == b'T' && digits(fraction) && fraction.len() <= 3;
    is_time.then(|| format!("{second}.{fraction:0<3}Z"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_have_as_many_digits_and_sort_as_text() {
        let times = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.45Z", "2026-01-01T00:00:00.5Z"];
        let all = with_even_times(json!({"list": times.map(|at| json!({"at": at, "ended_at": at, "until": null}))}));
        let shown: Vec<&str> = all["list"].as_array().unwrap().iter().map(|one| one["at"].as_str().unwrap()).collect();
        assert_eq!(shown, ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.450Z", "2026-01-01T00:00:00.500Z"]);
        assert!(shown.is_sorted());
        assert_eq!(all["list"][0]["ended_at"], shown[0]);
    }

    #[test]
    fn what_others_wrote_is_left_as_it_is() {
        for value in [
            json!({"outputs": {"at": "2026-01-01T00:00:00Z"}}),
            json!({"at": "tomorrow", "why": "2026-01-01T00:00:00Z", "until": "2026-01-01Z"}),
        ] {
            assert_eq!(with_even_times(value.clone()), value);
        }
    }
}
