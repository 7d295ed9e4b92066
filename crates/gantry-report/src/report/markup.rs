//! Markdown in words of models and people: emphasis, code and lists are drawn; everything else of it stays text.
//!
//! Numbers, links and other marks of a line are set apart while it is read, so that nothing in the words can pretend to be one
//! of them.

use std::sync::LazyLock;

use ammonia::Builder;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The first of the letters that stand for marks; nobody writes them.
const PLACE: u32 = 0xF_0000;

/// What may be in a page: nothing that leads anywhere, runs or fetches.
static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner.add_tags(["p", "strong", "em", "code", "ul", "ol", "li", "br"]);
    cleaner
});

/// Tells whether there is anything to draw.
pub(super) fn is_marked(text: &str) -> bool {
    const SIGNS: [&str; 5] = ["**", "__", "`", "\n- ", "\n1. "];
    let starts = ["- ", "* ", "1. "].iter().any(|sign| text.starts_with(sign));
    starts || SIGNS.iter().any(|sign| text.contains(sign)) || text.matches('*').count() > 1
}

/// The letter that stands for the mark of this number.
pub(super) fn place(number: usize) -> Option<char> {
    char::from_u32(PLACE + u32::try_from(number).ok()?).filter(|letter| u32::from(*letter) < 0xF_FFFE)
}

/// Draws a text in which marks stand as letters, and puts the marks in.
pub(super) fn drawn(text: &str, mark: impl Fn(usize) -> Option<String>) -> String {
    let events = Parser::new_ext(text, Options::empty()).filter_map(|event| match event {
        Event::Html(words) | Event::InlineHtml(words) => Some(Event::Text(words)),
        Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock) => None,
        Event::End(TagEnd::Link | TagEnd::Image | TagEnd::HtmlBlock) => None,
        other => Some(other),
    });
    let mut page = String::new();
    html::push_html(&mut page, events);
    let clean = CLEANER.clean(page.trim()).to_string();
    let inner = clean.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    let inner = inner.filter(|inner| !inner.contains("<p>")).unwrap_or(&clean);
    let mut out = String::new();
    for letter in inner.chars() {
        let number = u32::from(letter).checked_sub(PLACE).and_then(|number| usize::try_from(number).ok());
        match number.and_then(&mark) {
            Some(markup) => out.push_str(&markup),
            None if number.is_some() => {}
            None => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emphasis_and_lists_are_drawn_and_everything_else_stays_text() {
        let draw = |text: &str| drawn(text, |_| None);
        assert_eq!(draw("**Do it** *now*, with `care`"), "<strong>Do it</strong> <em>now</em>, with <code>care</code>");
        assert_eq!(draw("- one\n- two").replace('\n', ""), "<ul><li>one</li><li>two</li></ul>");
        assert_eq!(draw("2 * 3 * 4"), "2 * 3 * 4");
        assert_eq!(draw("**a** [x](javascript:alert(1)) ![y](http://e.example/z.png)"), "<strong>a</strong> x y");
        assert_eq!(draw("**a** <script>alert(1)</script>"), "<strong>a</strong> &lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(
            draw("**a**\n\n<iframe src=//e.example>"),
            "<p><strong>a</strong></p>\n&lt;iframe src=//e.example&gt;"
        );
    }
}
