//! Values that processes may use and nobody may see.
//!
//! Wherever a value would be kept or shown it becomes `[secret NAME]`: the value itself, its lines when it has several,
//! and its usual disguises (base64 at any offset, hexadecimal, percent and JSON escapes). What must come back byte
//! for byte, such as a file before a change, is [sealed](Secrets::seal): the same replacement, with a note of where.
//!
//! Limits: a value that a program transforms in another way, or prints in pieces with something between them, is not
//! recognised. Give a plan no secret that its commands do not need.

mod forms; // in reading order
mod redactor;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use gantry_core::effect::Failure;
use gantry_core::event::Outputs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use forms::forms_of;
pub(crate) use redactor::Redactor;

/// A shorter value would be found everywhere by chance.
pub const SECRET_BYTES_MIN: usize = 4;

/// A longer value is no secret but a file.
pub const SECRET_BYTES_MAX: usize = 64 << 10;

/// The secrets of a place.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Option<Arc<Known>>,
}

struct Known {
    /// What processes are given.
    values: BTreeMap<String, String>,
    /// Every way in which a value may appear, and whose it is.
    forms: Vec<Form>,
    finder: AhoCorasick,
}

struct Form {
    name: String,
    /// Which of the forms of that secret, in the order of [`forms_of`]; [`MARK`] when it is what is shown instead.
    number: usize,
    bytes: Vec<u8>,
}

/// What is shown instead of a value is looked for, too, and left as it is: a value may be a part of it, such as `secret`.
const MARK: usize = usize::MAX;

/// Why something cannot be a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The value is too short.
    #[error("the secret `{name}` has fewer than {SECRET_BYTES_MIN} characters; hiding it would hide everything")]
    TooShort {
        /// Its name.
        name: String,
    },
    /// The value is too long.
    #[error("the secret `{name}` has more than {SECRET_BYTES_MAX} characters; put it into a file and name the file")]
    TooLong {
        /// Its name.
        name: String,
    },
    /// The variable does not exist.
    #[error("the secret `{name}` is not set: there is no such variable, and no secrets file names it")]
    NotSet {
        /// Its name.
        name: String,
    },
    /// The name cannot be that of a variable.
    #[error("`{name}` cannot be the name of a secret; use letters, digits and `_`")]
    Name {
        /// The name.
        name: String,
    },
    /// A file cannot be read.
    #[error("the secrets file `{}` cannot be read: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A line of a file makes no sense. The line itself is not shown.
    #[error("line {line} of the secrets file `{}` is not `NAME=value`", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
}

impl std::fmt::Debug for Secrets {
    /// Names only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.values().map(|(name, _)| name)).finish()
    }
}

impl Secrets {
    /// No secrets.
    pub fn none() -> Self {
        Self::default()
    }

    /// These values by name.
    pub fn of(values: impl IntoIterator<Item = (String, String)>) -> Result<Self, SecretError> {
        let values: BTreeMap<String, String> = values.into_iter().collect();
        for (name, value) in &values {
            check(name, value)?;
        }
        Ok(Self::knowing(values, &BTreeMap::new()))
    }

    /// The same, and these values are hidden as well; processes are not given them. What is too short or too long to be
    /// told from other texts is left out, and so is what has the name of a secret.
    #[must_use]
    pub fn also_hiding(&self, hidden: impl IntoIterator<Item = (String, String)>) -> Self {
        let values = self.known.as_ref().map(|known| known.values.clone()).unwrap_or_default();
        let fits = |(name, value): &(String, String)| check(name, value).is_ok() && !values.contains_key(name);
        let hidden: BTreeMap<String, String> = hidden.into_iter().filter(fits).collect();
        if hidden.is_empty() { self.clone() } else { Self::knowing(values, &hidden) }
    }

    fn knowing(values: BTreeMap<String, String>, hidden: &BTreeMap<String, String>) -> Self {
        if values.is_empty() && hidden.is_empty() {
            return Self::none();
        }
        let mut forms = Vec::new();
        for (name, value) in values.iter().chain(hidden) {
            let all = forms_of(value).into_iter().enumerate();
            forms.extend(all.map(|(number, bytes)| Form { name: name.clone(), number, bytes }));
            forms.push(Form { name: name.clone(), number: MARK, bytes: mark(name).into_bytes() });
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.iter().map(|form| &form.bytes))
            .expect("a few thousand short patterns always fit");
        Self { known: Some(Arc::new(Known { values, forms, finder })) }
    }

    /// Tells whether there is nothing to hide.
    pub(crate) fn is_none(&self) -> bool {
        self.known.is_none()
    }

    /// The named variables of this program's environment, and everything in these files (`NAME=value` per line; `#`
    /// begins a comment; a value in double quotes is read as JSON). A file wins over the environment.
    pub fn from_env_and_files(names: &[String], files: &[PathBuf]) -> Result<Self, SecretError> {
        let mut values = BTreeMap::new();
        for path in files {
            values.extend(read_file(path)?);
        }
        for name in names.iter().filter(|name| !values.contains_key(*name)).cloned().collect::<Vec<_>>() {
            let value = std::env::var(&name).map_err(|_| SecretError::NotSet { name: name.clone() })?;
            values.insert(name, value);
        }
        Self::of(values)
    }

    /// The values by name, for the environment of a process.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let known = self.known.iter().flat_map(|known| &known.values);
        known.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Replaces every secret in some bytes.
    pub fn redact_bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let sealed = self.seal(bytes);
        if sealed.holes.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(sealed.bytes) }
    }

    /// Replaces every secret in a text.
    pub fn redact(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.redact_bytes(text.as_bytes())).into_owned()
    }

    /// Replaces every secret in a value, names of fields and numbers included.
    pub fn redact_value(&self, value: &Value) -> Value {
        if self.known.is_none() {
            return value.clone();
        }
        match value {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => items.iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (self.redact(name), self.redact_value(value))).collect()
            }
            Value::Number(number) => {
                let (text, redacted) = (number.to_string(), self.redact(&number.to_string()));
                if text == redacted { value.clone() } else { Value::String(redacted) }
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    /// Replaces every secret in the texts of a record that must still be understood afterwards: numbers, names of
    /// fields and hashes stay, because a hash says nothing and is needed to find what it stands for.
    pub fn redact_record(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if is_hash(text) && !self.knows(text) => value.clone(),
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => items.iter().map(|item| self.redact_record(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.redact_record(value))).collect()
            }
            Value::Number(_) | Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    /// Tells whether a text is a secret, in any form.
    fn knows(&self, text: &str) -> bool {
        self.known.iter().flat_map(|known| &known.forms).any(|form| form.bytes == text.as_bytes())
    }

    /// Replaces every secret in outputs.
    pub fn redact_outputs(&self, outputs: &Outputs) -> Outputs {
        outputs.iter().map(|(name, value)| (self.redact(name), self.redact_value(value))).collect()
    }

    /// Replaces every secret in a failure.
    pub fn redact_failure(&self, failure: Failure) -> Failure {
        Failure { message: self.redact(&failure.message), outputs: self.redact_outputs(&failure.outputs), ..failure }
    }

    /// Something that replaces secrets in a stream, also where they are cut in two.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.clone())
    }

    /// Replaces every secret, and notes where each was.
    pub fn seal(&self, bytes: &[u8]) -> Sealed {
        let Some(known) = &self.known else { return Sealed { bytes: bytes.to_vec(), holes: Vec::new() } };
        let mut sealed = Sealed { bytes: Vec::with_capacity(bytes.len()), holes: Vec::new() };
        let mut copied = 0;
        for found in known.finder.find_iter(bytes) {
            sealed.bytes.extend_from_slice(&bytes[copied..found.start()]);
            let form = &known.forms[found.pattern().as_usize()];
            if form.number != MARK {
                sealed.holes.push(Hole { at: sealed.bytes.len(), name: form.name.clone(), form: form.number });
            }
            sealed.bytes.extend_from_slice(mark(&form.name).as_bytes());
            copied = found.end();
        }
        sealed.bytes.extend_from_slice(&bytes[copied..]);
        sealed
    }

    /// Puts the secrets back. The error says which is missing; whether the value is still the same is for the caller
    /// to find out, by the hash.
    pub fn unseal(&self, sealed: &[u8], holes: &[Hole]) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(sealed.len());
        let mut copied = 0;
        for hole in holes {
            let form = self.known.iter().flat_map(|known| &known.forms);
            let form = form.into_iter().find(|form| form.name == hole.name && form.number == hole.form);
            let form = form.ok_or_else(|| format!("the secret `{}` is not known here any more", hole.name))?;
            let before = sealed.get(copied..hole.at).ok_or("what is kept does not fit its record")?;
            bytes.extend_from_slice(before);
            bytes.extend_from_slice(&form.bytes);
            copied = hole.at + mark(&hole.name).len();
        }
        bytes.extend_from_slice(sealed.get(copied..).ok_or("what is kept does not fit its record")?);
        Ok(bytes)
    }
}

/// Bytes without their secrets, and where these were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// What can be kept.
    pub bytes: Vec<u8>,
    /// What is missing in it.
    pub holes: Vec<Hole>,
}

/// One secret that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// Where its mark is in the sealed bytes.
    pub at: usize,
    /// Whose it is.
    pub name: String,
    /// In which form it was there.
    pub form: usize,
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What is shown instead of a value.
fn mark(name: &str) -> String {
    format!("[secret {name}]")
}

fn check(name: &str, value: &str) -> Result<(), SecretError> {
    let name_is_fine = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = name.to_owned();
    if !name_is_fine {
        return Err(SecretError::Name { name });
    }
    match value.trim().len() {
        0..SECRET_BYTES_MIN => Err(SecretError::TooShort { name }),
        SECRET_BYTES_MIN..=SECRET_BYTES_MAX => Ok(()),
        _ => Err(SecretError::TooLong { name }),
    }
}

fn read_file(path: &Path) -> Result<Vec<(String, String)>, SecretError> {
    let text = std::fs::read_to_string(path).map_err(|error| SecretError::File { path: path.to_owned(), error })?;
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || SecretError::Line { path: path.to_owned(), line: index + 1 };
        let (name, value) = line.split_once('=').ok_or_else(wrong)?;
        let value = value.trim();
        let value =
            if value.starts_with('"') { serde_json::from_str(value).map_err(|_| wrong())? } else { value.to_owned() };
        values.push((name.trim().to_owned(), value));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use proptest::prelude::*;
    use serde_json::json;

    fn secrets(pairs: &[(&str, &str)]) -> Secrets {
        Secrets::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).unwrap()
    }

    #[test]
    fn what_is_only_hidden_is_given_to_nobody() {
        let hidden = [("PROVIDER_KEY", "sk-123456"), ("TOKEN", "other-value"), ("SHORT", "k")];
        let hidden = hidden.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = secrets(&[("TOKEN", "abcdef")]).also_hiding(hidden.clone());
        assert_eq!(secrets.redact("sk-123456 abcdef k"), "[secret PROVIDER_KEY] [secret TOKEN] k");
        assert_eq!(secrets.values().collect::<Vec<_>>(), [("TOKEN", "abcdef")]);
        assert!(!Secrets::none().also_hiding(hidden).is_none() && Secrets::none().also_hiding([]).is_none());
    }

    #[test]
    fn a_value_is_hidden_in_all_its_disguises() {
        let secrets = secrets(&[("TOKEN", "s3cr3t/v+lue\"x")]);
        let standard = base64::engine::general_purpose::STANDARD;
        let url = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let disguises = [
            "s3cr3t/v+lue\"x".to_owned(),
            standard.encode("s3cr3t/v+lue\"x"),
            url.encode("s3cr3t/v+lue\"x"),
            standard.encode("user:s3cr3t/v+lue\"x"),
            standard.encode("me:s3cr3t/v+lue\"x and more"),
            standard.encode("u:s3cr3t/v+lue\"x"),
            "s3cr3t%2Fv%2Blue%22x".to_owned(),
            "s3cr3t/v+lue\\\"x".to_owned(),
            "7333637233742f762b6c75652278".to_owned(),
        ];
        for disguise in disguises {
            let shown = secrets.redact(&format!("<{disguise}>"));
            assert!(shown.contains("[secret TOKEN]"), "{disguise} was shown as {shown}");
            assert!(shown.len() < disguise.len() + 18, "{disguise} was shown as {shown}");
        }
    }

    #[test]
    fn values_in_json_are_hidden_in_names_texts_and_numbers() {
        let secrets = secrets(&[("PIN", "48151623")]);
        let shown = secrets.redact_value(&json!({"a48151623": ["x48151623", 48_151_623, 1]}));
        assert_eq!(shown, json!({"a[secret PIN]": ["x[secret PIN]", "[secret PIN]", 1]}));
    }

    #[test]
    fn the_lines_of_a_key_are_hidden_one_by_one() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----";
        let shown = secrets(&[("KEY", key)]).redact("  MIIEvQIBADANBgkqhkiG9w0B\n  AQEFAASCBKcwggSjAgEAAoIB\n");
        assert_eq!(shown, "  [secret KEY]\n  [secret KEY]\n");
    }

    #[test]
    fn a_short_value_is_refused_and_never_shown_in_the_error() {
        let error = Secrets::of([("PIN".to_owned(), "123".to_owned())]).unwrap_err().to_string();
        assert_eq!(error, "the secret `PIN` has fewer than 4 characters; hiding it would hide everything");
    }

    #[test]
    fn a_secrets_file_is_read_and_a_wrong_line_is_named_but_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        std::fs::write(&path, "# comment\nTOKEN = abcdef\nKEY=\"two\\nlines of it\"\n").unwrap();
        let secrets = Secrets::from_env_and_files(&[], std::slice::from_ref(&path)).unwrap();
        assert_eq!(secrets.values().collect::<Vec<_>>(), [("KEY", "two\nlines of it"), ("TOKEN", "abcdef")]);
        std::fs::write(&path, "TOKEN=abcdef\nhunter2\n").unwrap();
        let error = Secrets::from_env_and_files(&[], &[path]).unwrap_err().to_string();
        assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
        let error = Secrets::from_env_and_files(&["NO_SUCH_VARIABLE".to_owned()], &[]).unwrap_err().to_string();
        assert!(error.contains("`NO_SUCH_VARIABLE` is not set"), "{error}");
    }

    #[test]
    fn what_was_sealed_is_not_changed_by_redacting_it_again() {
        for value in ["secret", "TOKEN", "[secret", "cret TOK", "[secret TOKEN]", "TOKEN]"] {
            let secrets = secrets(&[("TOKEN", value)]);
            let text = format!("a [secret TOKEN] b {value} c {value}");
            let sealed = secrets.seal(text.as_bytes());
            assert_eq!(secrets.redact_bytes(&sealed.bytes), sealed.bytes.as_slice(), "{value}");
            assert_eq!(secrets.unseal(&sealed.bytes, &sealed.holes).unwrap(), text.as_bytes(), "{value}");
        }
    }

    #[test]
    fn nothing_about_a_value_is_in_the_debug_form() {
        assert_eq!(format!("{:?}", secrets(&[("TOKEN", "abcdef")])), "{\"TOKEN\"}");
    }

    proptest! {
        #[test]
        fn what_was_sealed_comes_back_byte_for_byte(words in prop::collection::vec(prop_oneof!["[a-c]{1,3}", Just("abcab".to_owned()), Just("YWJjYWI=".to_owned()), Just("cbacba".to_owned())], 0..20)) {
            let secrets = secrets(&[("ONE", "abcab"), ("TWO", "cbacba")]);
            let text = words.concat();
            let sealed = secrets.seal(text.as_bytes());
            let kept = String::from_utf8(sealed.bytes.clone()).unwrap();
            prop_assert!(!kept.contains("abcab") && !kept.contains("cbacba"));
            prop_assert_eq!(secrets.unseal(&sealed.bytes, &sealed.holes).unwrap(), text.as_bytes());
        }

        #[test]
        fn a_stream_is_redacted_like_the_whole_wherever_it_is_cut(
            words in prop::collection::vec(prop_oneof!["[a-c]{1,3}", Just("abcab".to_owned()), Just("cbacba".to_owned())], 0..20),
            cuts in prop::collection::vec(0_usize..100, 0..10),
        ) {
            let secrets = secrets(&[("ONE", "abcab"), ("TWO", "cbacba"), ("LONG", "abcabcbac")]);
            let text = words.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut redactor = secrets.redactor();
            let mut shown = Vec::new();
            for pair in cuts.windows(2) {
                shown.extend(redactor.read(&text.as_bytes()[pair[0]..pair[1]]));
            }
            shown.extend(redactor.finish());
            prop_assert_eq!(String::from_utf8(shown).unwrap(), secrets.redact(&text));
        }
    }
}
