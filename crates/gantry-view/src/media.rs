//! What an artifact is, as far as its name and its first bytes tell: nobody says so when it is made.

/// Media types by the endings of names.
const ENDINGS: [(&str, &str); 14] = [
    ("json", "application/json"),
    ("csv", "text/csv"),
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("svg", "image/svg+xml"),
    ("xml", "application/xml"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("txt", "text/plain"),
    ("log", "text/plain"),
];

/// Media types by the first bytes.
const BEGINNINGS: [(&[u8], &str); 6] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
];

/// The media type of something of this name with this content.
pub fn media_of(name: &str, content: &[u8]) -> &'static str {
    if let Some((_, media)) = BEGINNINGS.iter().find(|(beginning, _)| content.starts_with(beginning)) {
        return media;
    }
    if content.len() > 12 && content.starts_with(b"RIFF") && &content[8..12] == b"WEBP" {
        return "image/webp";
    }
    if content.contains(&0) || std::str::from_utf8(content).is_err() {
        return "application/octet-stream";
    }
    let is_json = || {
        let beginning = content.trim_ascii_start().first();
        matches!(beginning, Some(b'{' | b'[')) && serde_json::from_slice::<serde::de::IgnoredAny>(content).is_ok()
    };
    by_name(name).unwrap_or_else(|| if is_json() { "application/json" } else { "text/plain" })
}

/// The media type that a name promises.
pub fn by_name(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, media)| *media)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_something_is_is_told_by_its_bytes_before_its_name() {
        assert_eq!(media_of("table.csv", b"a,b\n1,2\n"), "text/csv");
        assert_eq!(media_of("table.csv", b"\x89PNG\r\n\x1a\nrest"), "image/png");
        assert_eq!(media_of("notes", "grüße".as_bytes()), "text/plain");
        assert_eq!(media_of("notes.txt", b"a\0b"), "application/octet-stream");
        assert_eq!(media_of("page.HTML", b"<p>"), "text/html");
        assert_eq!(media_of("table", b" {\"a\": [1]}\n"), "application/json");
        assert_eq!(media_of("table", b"{a}"), "text/plain");
        assert_eq!(media_of("", b""), "text/plain");
    }
}
