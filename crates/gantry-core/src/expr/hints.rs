//! What to write instead: the habits of other languages, and how CEL says the same.

/// Operators of other languages: the text, what is wrong, what to write. Longer ones first.
const WRONG_MARKS: [(&str, &str, &str); 20] = [
    ("===", "unexpected `===`", "use `==` to compare"),
    ("!==", "unexpected `!==`", "use `!=` to compare"),
    ("<>", "unexpected `<>`", "use `!=` to compare"),
    ("=<", "unexpected `=<`", "use `<=` to compare"),
    ("=>", "unexpected `=>`", "use `>=` to compare"),
    ("=~", "unexpected `=~`", "use `contains()`, `startsWith()` or `endsWith()`"),
    ("**", "unexpected `**`", "there is no power operator"),
    ("??", "unexpected `??`", "use `default(x, y)`"),
    ("?.", "unexpected `?.`", "use `has()` or `default(x, y)`"),
    ("${", "unexpected `${`", "write the name without `${}`"),
    ("{{", "unexpected `{{`", "write the expression without `{{ }}`"),
    ("“", "unexpected `“`", "use straight quotes"),
    ("”", "unexpected `”`", "use straight quotes"),
    ("‘", "unexpected `‘`", "use straight quotes"),
    ("’", "unexpected `’`", "use straight quotes"),
    ("`", "unexpected backtick", "use straight quotes for text, `[\"…\"]` for field names"),
    ("#", "unexpected `#`", "use `//` for a comment, `size()` to count"),
    ("$", "unexpected `$`", "write the name without `$`"),
    (";", "unexpected `;`", "write one expression only"),
    ("^", "unexpected `^`", "there is no power operator"),
];

/// Returns the wrong operator a text starts with, what is wrong and what to write.
pub(super) fn wrong_mark(text: &str) -> Option<(&'static str, &'static str, &'static str)> {
    if let Some(found) = WRONG_MARKS.iter().find(|(mark, _, _)| text.starts_with(mark)) {
        return Some(*found);
    }
    // These three are wrong only alone, so they are looked at last.
    if text.starts_with('=') && !text.starts_with("==") {
        return Some(("=", "unexpected `=`", "use `==` to compare"));
    }
    if text.starts_with('&') && !text.starts_with("&&") {
        return Some(("&", "unexpected `&`", "use `&&` for both"));
    }
    if text.starts_with('|') && !text.starts_with("||") {
        return Some(("|", "unexpected `|`", "use `||` for either"));
    }
    None
}

/// Returns what to write for a word that stands where an operator belongs.
pub(super) fn operator_word(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "and" => Some("use `&&` for both"),
        "or" => Some("use `||` for either"),
        "is" | "eq" | "equals" => Some("use `==` to compare"),
        "ne" => Some("use `!=` to compare"),
        "lt" => Some("use `<` to compare"),
        "le" | "lte" => Some("use `<=` to compare"),
        "gt" => Some("use `>` to compare"),
        "ge" | "gte" => Some("use `>=` to compare"),
        "not" => Some("use `!(x in y)`"),
        "in" => Some("use `in` in lower case"),
        "if" => Some("use `condition ? a : b`"),
        "mod" => Some("use `%`"),
        "contains" => Some("use `x.contains(y)`, or `y in x` for a list"),
        "matches" | "like" => Some("use `contains()`, `startsWith()` or `endsWith()`"),
        "startswith" => Some("use `x.startsWith(y)`"),
        "endswith" => Some("use `x.endsWith(y)`"),
        _ => None,
    }
}

/// Returns what to write for a word that can never be a name.
pub(super) fn not_a_name(word: &str) -> Option<&'static str> {
    match word {
        "True" | "TRUE" => Some("use `true`"),
        "False" | "FALSE" => Some("use `false`"),
        "None" | "NULL" | "Null" | "nil" | "undefined" => Some("use `null`"),
        "not" | "NOT" | "Not" => Some("use `!`"),
        "if" | "else" => Some("use `condition ? a : b`"),
        "for" | "while" | "loop" => Some("use `all()`, `exists()`, `map()` or `filter()`"),
        "as" | "break" | "const" | "continue" | "function" | "import" | "let" | "namespace" | "package" | "return"
        | "var" | "void" => Some("reserved words are not names"),
        _ => None,
    }
}

/// Returns what to write for a function that does not exist under this name.
pub(super) fn function(name: &str) -> Option<&'static str> {
    match name {
        "len" | "length" | "count" => Some("use `size()`"),
        "matches" | "match" | "regex" | "search" => {
            Some("there are no regular expressions: use `contains()`, `startsWith()` or `endsWith()`")
        }
        "includes" | "include" | "indexOf" => Some("use `contains()`, or `x in list`"),
        "startswith" | "starts_with" | "hasPrefix" => Some("use `startsWith()`"),
        "endswith" | "ends_with" | "hasSuffix" => Some("use `endsWith()`"),
        "lower" | "toLower" | "toLowerCase" | "to_lowercase" | "lowercase" => Some("use `lowerAscii()`"),
        "upper" | "toUpper" | "toUpperCase" | "to_uppercase" | "uppercase" => Some("use `upperAscii()`"),
        "strip" => Some("use `trim()`"),
        "any" | "some" => Some("use `exists()`"),
        "every" => Some("use `all()`"),
        "existsOne" => Some("use `exists_one()`"),
        "float" | "number" => Some("use `double()`"),
        "str" | "toString" => Some("use `string()`"),
        "integer" => Some("use `int()`"),
        "typeof" => Some("use `type()`"),
        "not" => Some("use `!`"),
        "and" => Some("use `&&`"),
        "or" => Some("use `||`"),
        "exist" | "defined" | "isset" | "exists_field" => Some("use `has()`"),
        "coalesce" | "orDefault" | "or_default" | "get" => Some("use `default(x, y)`"),
        "now" | "today" => Some("there is no clock: read the time from the scope"),
        "if" | "cond" => Some("use `condition ? a : b`"),
        _ => None,
    }
}

/// Returns what to write for a unit that does not exist.
pub(super) fn unit(unit: &str) -> &'static str {
    match unit.to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" => "sizes are written `kB` or `KiB`",
        "mb" | "mib" => "sizes are written `MB` or `MiB`",
        "gb" | "gib" | "g" => "sizes are written `GB` or `GiB`",
        "tb" | "tib" | "t" => "sizes are written `TB` or `TiB`",
        "min" | "mins" | "minute" | "minutes" => "minutes are written `m`",
        "sec" | "secs" | "second" | "seconds" => "seconds are written `s`",
        "hr" | "hrs" | "hour" | "hours" => "hours are written `h`",
        "day" | "days" => "days are written `d`",
        "week" | "weeks" => "weeks are written `w`",
        _ => "sizes end in `B`, `kB`, `MB`, `GiB`; durations are written `2h30m`, `7d`, `250ms`",
    }
}
