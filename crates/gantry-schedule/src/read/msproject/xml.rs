//! Elements of the file, and what stands in them.

use std::collections::BTreeSet;

use roxmltree::{Document, Node};
use rust_decimal::Decimal;

use super::{Unreadable, day_or_time};
use crate::project::{Amount, Length, When};

/// Entities are not needed in such files, and nobody shall make a small file large with them.
pub fn document(text: &str) -> Result<Document<'_>, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = roxmltree::ParsingOptions { allow_dtd: false, nodes_limit: 20_000_000, ..Default::default() };
    Document::parse_with_options(text, options).map_err(|error| Unreadable {
        line: error.pos().row as usize,
        what: format!("this is no XML that can be read: {error}"),
    })
}

/// An element with its place in the file.
#[derive(Clone, Copy)]
pub struct Element<'d, 'i>(Node<'d, 'i>);

impl<'d, 'i> Element<'d, 'i> {
    pub fn root(document: &'d Document<'i>) -> Result<Self, Unreadable> {
        let root = Self(document.root_element());
        if root.0.tag_name().name() == "Project" {
            return Ok(root);
        }
        let found = root.0.tag_name().name();
        Err(root.wrong(&format!("expected the element `Project` of Microsoft Project's XML, found `{found}`")))
    }

    pub fn line(&self) -> usize {
        self.0.document().text_pos_at(self.0.range().start).row as usize
    }

    pub fn wrong(&self, what: &str) -> Unreadable {
        Unreadable { line: self.line(), what: what.to_owned() }
    }

    fn child(&self, name: &str) -> Option<Self> {
        self.0.children().find(|child| child.is_element() && child.tag_name().name() == name).map(Self)
    }

    pub fn children(self, name: &'static str) -> impl Iterator<Item = Self> + use<'d, 'i> {
        self.0.children().filter(move |child| child.is_element() && child.tag_name().name() == name).map(Self)
    }

    /// All elements of this name in the list of that name.
    pub fn all(&self, list: &str, name: &'static str) -> impl Iterator<Item = Self> + use<'d, 'i> {
        self.child(list).into_iter().flat_map(move |list| list.children(name))
    }

    /// What stands in a child, if it is there and not empty.
    pub fn text(&self, name: &str) -> Option<&'d str> {
        self.child(name)?.0.text().map(str::trim).filter(|text| !text.is_empty())
    }

    fn parsed<T>(&self, name: &str, wanted: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Unreadable> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let place = self.child(name).unwrap_or(*self);
        read(text).map(Some).ok_or_else(|| place.wrong(&format!("`{text}` is not {wanted}, which `{name}` must be")))
    }

    pub fn number(&self, name: &str) -> Result<Option<i64>, Unreadable> {
        self.parsed(name, "a whole number", |text| text.parse().ok())
    }

    pub fn required_number(&self, name: &str) -> Result<i64, Unreadable> {
        let tag = self.0.tag_name().name();
        self.number(name)?.ok_or_else(|| self.wrong(&format!("this `{tag}` has no `{name}`")))
    }

    pub fn flag(&self, name: &str) -> Result<bool, Unreadable> {
        let read = |text: &str| match text {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        };
        Ok(self.parsed(name, "0 or 1", read)?.unwrap_or_default())
    }

    pub fn decimal(&self, name: &str) -> Result<Option<Decimal>, Unreadable> {
        self.parsed(name, "a number", |text| {
            text.parse()
                .ok()
                .or_else(|| Decimal::from_scientific(text).ok())
                .filter(|number: &Decimal| !number.is_sign_negative())
        })
    }

    /// A share of someone's time, where 1 is all of it.
    pub fn amount(&self, name: &str) -> Result<Option<Amount>, Unreadable> {
        let Some(number) = self.decimal(name)? else { return Ok(None) };
        let wrong = |_| self.wrong(&format!("`{number}` is not an amount, which `{name}` must be"));
        number.round_dp(3).normalize().to_string().parse().map(Some).map_err(wrong)
    }

    pub fn when(&self, name: &str) -> Result<Option<When>, Unreadable> {
        let read = |text: &str| text.parse::<jiff::civil::DateTime>().ok().map(day_or_time);
        self.parsed(name, "a time such as `2026-03-02T08:00:00`", read)
    }

    /// By when something is due: the last minute of a day is the day.
    pub fn due(&self, name: &str) -> Result<Option<When>, Unreadable> {
        Ok(self.when(name)?.map(|at| match at {
            When::Local(time) if time.time() == jiff::civil::time(23, 59, 0, 0) => When::Day(time.date()),
            other => other,
        }))
    }

    pub fn date(&self, name: &str) -> Result<Option<jiff::civil::Date>, Unreadable> {
        let read = |text: &str| text.parse::<jiff::civil::DateTime>().ok().map(jiff::civil::DateTime::date);
        self.parsed(name, "a time such as `2026-03-02T08:00:00`", read)
    }

    pub fn minutes(&self, name: &str) -> Result<Option<u16>, Unreadable> {
        let read = |text: &str| {
            let time = text.parse::<jiff::civil::Time>().ok()?;
            u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).ok()
        };
        self.parsed(name, "a time of day such as `08:00:00`", read)
    }

    /// A length of the task: work, or time round the clock as its `DurationFormat` says.
    pub fn duration(&self, name: &str) -> Result<Option<Length>, Unreadable> {
        let elapsed = self.number("DurationFormat")?.is_some_and(is_elapsed);
        let length = self.length(name)?;
        Ok(length.map(|length| if elapsed && !length.is_zero() { length.elapsed() } else { length }))
    }

    /// A length of work, such as `PT16H30M0S`.
    fn length(&self, name: &str) -> Result<Option<Length>, Unreadable> {
        self.parsed(name, "a duration such as `PT16H30M0S`", |text| {
            let parts = text.strip_prefix("PT")?;
            let small = parts.replace('H', "h").replace('M', "m").replace('S', "s");
            small.parse().ok()
        })
    }
}

/// Whether a number of the format for lengths means time round the clock.
pub fn is_elapsed(format: i64) -> bool {
    matches!(format, 4 | 6 | 8 | 10 | 12 | 36 | 38 | 40 | 42 | 44)
}

/// What something is called that nothing else of its kind is.
pub fn unique(name: &str, uid: i64, taken: &mut BTreeSet<String>) -> String {
    let id = if taken.contains(name) { format!("{name} ({uid})") } else { name.to_owned() };
    taken.insert(id.clone());
    id
}
