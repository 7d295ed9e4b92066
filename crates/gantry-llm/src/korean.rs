//! Tells whether a text that should be Korean is.
//!
//! Only prose is looked at: addresses, handles, paths, names in brackets and code stay as they are in any language, and so
//! do names and abbreviations, which begin with a capital letter.

use serde_json::Value;

/// English words shorter than this are units and the like.
const WORD_LETTERS_MIN: usize = 3;
/// At least so many of a hundred letters are Korean.
const KOREAN_PERCENT_MIN: usize = 30;
/// So many words are named; more would say nothing new.
const NAMED_MAX: usize = 10;
/// Written like this in Korean texts, too.
const ALLOWED: [&str; 6] = ["com", "http", "https", "max", "min", "www"];

/// What is not Korean about all texts of a value; nothing when they are.
pub fn faults(value: &Value) -> Vec<String> {
    let mut prose = String::new();
    collect(value, &mut prose);
    let (korean, others) =
        prose.chars().filter(|letter| letter.is_alphabetic()).fold((0, 0), |(korean, others), letter| {
            if is_korean(letter) { (korean + 1, others) } else { (korean, others + 1) }
        });
    if korean + others == 0 {
        return Vec::new();
    }
    let english = english_words(&prose);
    let mut faults = Vec::new();
    if korean * 100 < (korean + others) * KOREAN_PERCENT_MIN {
        faults.push("한국어로 쓰이지 않았습니다.".to_owned());
    }
    if !english.is_empty() {
        let named = english.iter().take(NAMED_MAX).map(|word| format!("“{word}”")).collect::<Vec<_>>().join(", ");
        faults.push(format!("영어 단어가 있습니다: {named}"));
    }
    faults
}

/// What is said to a model whose answer is not Korean.
pub fn stricter(faults: &[String]) -> String {
    let listed = faults.join("\n- ");
    format!(
        "방금 답변을 사용할 수 없습니다.\n- {listed}\n자연스러운 업무용 한국어로만 답변 전체를 다시 작성하세요. 형식은 그대로 유지하고, 주소, \
         아이디, 코드, 고유 명사만 원문으로 두세요."
    )
}

fn is_korean(letter: char) -> bool {
    matches!(letter, '가'..='힣' | 'ㄱ'..='ㆎ')
}

/// The prose of all texts in a value; the names of fields are no prose.
fn collect(value: &Value, prose: &mut String) {
    match value {
        Value::String(text) => {
            prose.push_str(&without_code(text));
            prose.push('\n');
        }
        Value::Array(items) => items.iter().filter(|item| is_no_word(item)).for_each(|item| collect(item, prose)),
        Value::Object(fields) => {
            fields.values().filter(|field| is_no_word(field)).for_each(|field| collect(field, prose));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A word alone in a field is a name, an id or one of some given words.
fn is_no_word(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().contains(char::is_whitespace))
}

/// Leaves out what stands between backticks or brackets, and everything that is an address, a path or an id.
fn without_code(text: &str) -> String {
    let between_ticks = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let (mut depth, mut outside) = (0_u32, String::new());
    for letter in between_ticks.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    let is_prose = |word: &&str| !word.contains(['@', '/', '_', '#', '=', '<']);
    outside.lines().map(|line| line.split_whitespace().filter(is_prose).collect::<Vec<_>>().join(" ") + "\n").collect()
}

/// The English words of a prose, each once, also where a Korean particle hangs on them.
fn english_words(prose: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for word in prose.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let lower = word.len() >= WORD_LETTERS_MIN && word.bytes().all(|letter| letter.is_ascii_lowercase());
        if lower && !ALLOWED.contains(&word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn korean_with_addresses_names_ids_and_code_is_korean() {
        for text in [
            "오전 9시에 회의를 합니다.",
            "API 설계를 검토하고 dev@company.kr 로 보냅니다. [task-12] 완료",
            "GitHub 의 src/main.rs 와 `cargo test` 를 확인합니다.",
            "2026-05-01 10:30 까지 #team_room 에서 공유",
            "",
            "12:30",
        ] {
            assert_eq!(faults(&json!(text)), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn english_is_found_in_sentences_and_before_particles() {
        assert_eq!(faults(&json!("오늘 deadline을 확인합니다.")), ["영어 단어가 있습니다: “deadline”"]);
        assert_eq!(
            faults(&json!({"plan": ["오전에 회의를 준비합니다.", "please review"], "type": "meeting"})).len(),
            1
        );
        assert_eq!(
            faults(&json!({"plan": "회의 준비", "type": "meeting"})),
            Vec::<String>::new(),
            "words that are given"
        );
        let english = faults(&json!("We meet at nine and review the plan."));
        assert_eq!(english[0], "한국어로 쓰이지 않았습니다.");
        assert!(stricter(&english).contains("한국어로만"));
    }
}
