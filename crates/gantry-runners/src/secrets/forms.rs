//! The ways in which a value may appear.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// A shorter form would be found everywhere by chance.
const FORM_BYTES_MIN: usize = 5;

/// A line of a longer value counts by itself from this length on.
const LINE_BYTES_MIN: usize = 16;

/// All forms of a value, always in the same order: records refer to them by number.
pub(super) fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_owned()];
    let mut add = |form: String, bytes_min: usize| {
        if form.len() >= bytes_min && !forms.contains(&form) {
            forms.push(form);
        }
    };
    // Without the line end that editors add to files.
    add(value.trim().to_owned(), 1);
    for offset in 0..3 {
        add(inner_base64(value, offset, |bytes| STANDARD_NO_PAD.encode(bytes)), FORM_BYTES_MIN);
        add(inner_base64(value, offset, |bytes| URL_SAFE_NO_PAD.encode(bytes)), FORM_BYTES_MIN);
    }
    add(hex(value), FORM_BYTES_MIN);
    add(hex(value).to_ascii_uppercase(), FORM_BYTES_MIN);
    add(percent(value), FORM_BYTES_MIN);
    let json = serde_json::Value::String(value.to_owned()).to_string();
    add(json[1..json.len() - 1].to_owned(), FORM_BYTES_MIN);
    for line in value.lines() {
        add(line.trim().to_owned(), LINE_BYTES_MIN);
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// The characters of a base64 text that depend on the value alone, when `offset` bytes come before it.
fn inner_base64(value: &str, offset: usize, encode: impl Fn(&[u8]) -> String) -> String {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = encode(&bytes);
    let first = (offset * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    encoded.get(first..last).unwrap_or_default().to_owned()
}

fn hex(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a text cannot fail
        text
    })
}

fn percent(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}"); // writing to a text cannot fail
        }
        text
    })
}
