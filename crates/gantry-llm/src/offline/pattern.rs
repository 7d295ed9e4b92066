//! Writes a text that matches a regular expression, for the common part of that language.
//!
//! Whoever calls checks the text against the expression again: assertions within a text are passed over here.

use super::draw::Draw;

/// How long a text may get, in characters.
const CHARS_MAX: usize = 4_000;

/// How deep groups may nest.
const DEPTH_MAX: usize = 40;

/// Characters for places where almost anything is allowed, likely ones first.
const LIKELY: &str =
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .,:;/@#+*=!?'\"()[]{}<>|~^$%&\\`가나다라";

/// A regular expression, read.
#[derive(Debug)]
enum Node {
    Letter(char),
    /// One of these.
    Class(Vec<char>),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeated {
        node: Box<Node>,
        least: usize,
        most: Option<usize>,
    },
}

/// Writes a text that should match `pattern`; what may repeat is repeated up to `more` times beyond what it must.
pub(super) fn write(pattern: &str, draw: Draw, more: usize) -> Result<String, String> {
    let letters: Vec<char> = pattern.chars().collect();
    let mut reader = Reader { letters: &letters, at: 0, depth: 0 };
    let unknown = || format!("the pattern `{}` is beyond what can be written by", super::facts::cut(pattern, 60));
    let node = reader.either().filter(|_| reader.at == letters.len()).ok_or_else(unknown)?;
    let mut text = String::new();
    let mut writer = Writer { draw, count: 0, more };
    if !writer.write(&node, &mut text) {
        return Err("the pattern demands a text that is too long".to_owned());
    }
    Ok(text)
}

struct Writer {
    draw: Draw,
    count: u64,
    more: usize,
}

impl Writer {
    fn next(&mut self) -> Draw {
        self.count += 1;
        self.draw.again(self.count)
    }

    fn write(&mut self, node: &Node, text: &mut String) -> bool {
        if text.len() > CHARS_MAX {
            return false;
        }
        match node {
            Node::Letter(letter) => text.push(*letter),
            Node::Class(letters) => {
                let at = self.next().below(letters.len());
                text.extend(letters.get(at));
            }
            Node::Sequence(nodes) => return nodes.iter().all(|node| self.write(node, text)),
            Node::Either(nodes) => {
                let at = self.next().below(nodes.len());
                return nodes.get(at).is_none_or(|node| self.write(node, text));
            }
            Node::Repeated { node, least, most } => {
                let times = least.saturating_add(self.more).min(most.unwrap_or(usize::MAX));
                return (0..times).all(|_| self.write(node, text));
            }
        }
        true
    }
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn take(&mut self, wanted: &str) -> bool {
        let there = wanted.chars().enumerate().all(|(at, letter)| self.letters.get(self.at + at) == Some(&letter));
        if there {
            self.at += wanted.chars().count();
        }
        there
    }

    fn either(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut ways = vec![self.sequence()?];
        while self.take("|") {
            ways.push(self.sequence()?);
        }
        self.depth -= 1;
        if ways.len() == 1 { ways.pop() } else { Some(Node::Either(ways)) }
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(letter) = self.peek().filter(|letter| !matches!(letter, '|' | ')')) {
            let node = match letter {
                '^' | '$' => {
                    self.at += 1;
                    continue;
                }
                '(' => self.group()?,
                '[' => self.class()?,
                '.' => {
                    self.at += 1;
                    Node::Class(LIKELY.chars().take(26).collect())
                }
                '\\' => match self.escape()? {
                    Escaped::Nothing => continue,
                    Escaped::Letters(letters) => Node::Class(letters),
                },
                '*' | '+' | '?' => return None,
                letter => {
                    self.at += 1;
                    Node::Letter(letter)
                }
            };
            nodes.push(self.repeated(node));
        }
        Some(Node::Sequence(nodes))
    }

    fn group(&mut self) -> Option<Node> {
        self.at += 1;
        if self.take("?") {
            if self.take("<") || self.take("P<") {
                // A named group; `(?<=` and `(?<!` look behind.
                if matches!(self.peek(), Some('=' | '!')) {
                    return None;
                }
                while self.peek()? != '>' {
                    self.at += 1;
                }
                self.at += 1;
            } else if !self.take(":") {
                return None;
            }
        }
        let node = self.either()?;
        self.take(")").then_some(node)
    }

    fn repeated(&mut self, node: Node) -> Node {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.counted() {
                Some(counts) => counts,
                None => return node,
            },
            _ => return node,
        };
        // What was counted is past its brace already.
        if matches!(self.peek(), Some('*' | '+' | '?')) {
            self.at += 1;
        }
        self.take("?");
        Node::Repeated { node: Box::new(node), least, most }
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`; none means that the brace is a letter.
    fn counted(&mut self) -> Option<(usize, Option<usize>)> {
        let rest: String = self.letters[self.at + 1..].iter().take_while(|letter| **letter != '}').collect();
        let (least, most) = match rest.split_once(',') {
            Some((least, "")) => (least.parse().ok()?, None),
            Some((least, most)) => (least.parse().ok()?, Some(most.parse().ok()?)),
            None => (rest.parse().ok()?, Some(rest.parse().ok()?)),
        };
        self.at += rest.chars().count() + 2;
        Some((least, most))
    }

    fn class(&mut self) -> Option<Node> {
        self.at += 1;
        let without = self.take("^");
        let mut letters: Vec<char> = Vec::new();
        let mut first = true;
        loop {
            let letter = self.peek()?;
            if letter == ']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            if letter == '[' && self.letters.get(self.at + 1) == Some(&':') {
                return None;
            }
            let from = match letter {
                '\\' => match self.escape()? {
                    Escaped::Letters(set) if set.len() == 1 => set[0],
                    Escaped::Letters(set) => {
                        letters.extend(set);
                        continue;
                    }
                    Escaped::Nothing => return None,
                },
                letter => {
                    self.at += 1;
                    letter
                }
            };
            let ranged = self.peek() == Some('-') && self.letters.get(self.at + 1).is_some_and(|next| *next != ']');
            if !ranged {
                letters.push(from);
                continue;
            }
            self.at += 1;
            let to = match self.peek()? {
                '\\' => match self.escape()? {
                    Escaped::Letters(set) if set.len() == 1 => set[0],
                    _ => return None,
                },
                letter => {
                    self.at += 1;
                    letter
                }
            };
            letters.extend((from..=to).take(200));
        }
        if without {
            letters = LIKELY.chars().filter(|letter| !letters.contains(letter)).collect();
        }
        (!letters.is_empty()).then_some(Node::Class(letters))
    }

    fn escape(&mut self) -> Option<Escaped> {
        self.at += 1;
        let letter = self.peek()?;
        self.at += 1;
        Some(Escaped::Letters(match letter {
            'd' => ('0'..='9').collect(),
            'w' => ('a'..='z').chain('0'..='9').collect(),
            's' => vec![' '],
            'S' | 'D' => ('a'..='z').collect(),
            'W' => vec!['-', ' '],
            'n' => vec!['\n'],
            't' => vec!['\t'],
            'r' => vec!['\r'],
            'b' | 'B' | 'A' | 'z' | 'Z' => return Some(Escaped::Nothing),
            'x' => vec![self.hexadecimal(2)?],
            'u' => vec![self.hexadecimal(4)?],
            'p' => self.property()?,
            letter if letter.is_alphanumeric() => return None,
            letter => vec![letter],
        }))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<char> {
        let code: String = self.letters.get(self.at..self.at + digits)?.iter().collect();
        self.at += digits;
        char::from_u32(u32::from_str_radix(&code, 16).ok()?)
    }

    fn property(&mut self) -> Option<Vec<char>> {
        if !self.take("{") {
            return None;
        }
        let name: String = self.letters[self.at..].iter().take_while(|letter| **letter != '}').collect();
        self.at += name.chars().count() + 1;
        match name.as_str() {
            "L" | "Ll" | "Letter" | "Alphabetic" => Some(('a'..='z').collect()),
            "Lu" => Some(('A'..='Z').collect()),
            "N" | "Nd" => Some(('0'..='9').collect()),
            "Hangul" | "Script=Hangul" => Some(('가'..='나').take(26).collect()),
            _ => None,
        }
    }
}

enum Escaped {
    /// A place, not a letter.
    Nothing,
    Letters(Vec<char>),
}
