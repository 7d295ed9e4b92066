//! Which programs a shell line runs, as far as that can be told without running it.
//!
//! The words of a line are split as a shell does (quotes, escapes, operators), and the first word of each command is
//! its program; `env`, `sudo`, `xargs`, `time` and their like are looked through, and `$(…)`, backticks, `sh -c '…'` and `eval`
//! are looked into. With an allow-list, a program that is not a plain word (`$TOOL`, `"$(which x)"`) is refused, because
//! it cannot be told. What a program itself runs (a script, `make`, `git` with an alias) cannot be told either: the
//! sandbox, not this check, is the wall. The check is there to catch mistakes and plain attempts early, with a reason.

use gantry_core::effect::Failure;
use gantry_core::policy::CommandScope;

use super::forbidden;
use crate::text::shortened;

/// How deep lines within lines are looked into.
const DEPTH_MAX: u32 = 8;

/// Programs that run another one given as their argument.
const WRAPPERS: [&str; 20] = [
    "env", "sudo", "doas", "xargs", "time", "nice", "nohup", "timeout", "setsid", "stdbuf", "exec", "command",
    "builtin", "ionice", "chronic", "watch", "strace", "chroot", "unshare", "busybox",
];

/// Shells, whose `-c` argument is a line of its own.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Words that stand where a program could stand and are none.
const KEYWORDS: [&str; 16] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "esac", "time", "coproc", "&"];

/// Words of the shell itself; with an allow-list they need no permission.
const BUILTINS: [&str; 31] = [
    ":", ".", "[", "[[", "alias", "break", "cd", "continue", "echo", "exit", "export", "false", "getopts", "hash",
    "jobs", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "test", "times", "trap", "true",
    "type", "umask", "unset", "wait",
];

/// The words of a command as one line, each quoted as a shell needs it.
pub(crate) fn line_of(words: &[String]) -> String {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-@%+=:,./".contains(c);
        let is_plain = !word.is_empty() && word.chars().all(plain);
        if is_plain { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Says no when a line runs a program that the policy does not allow.
pub fn check_command(line: &str, scope: &CommandScope) -> Result<(), Failure> {
    if scope.allow.is_empty() && scope.deny.is_empty() {
        return Ok(());
    }
    let mut programs = Vec::new();
    collect(line, &mut programs, 0);
    for program in programs {
        let base = program.rsplit('/').next().unwrap_or(&program).to_owned();
        let shown = shortened(&program, 60);
        let named = |list: &[String]| list.iter().any(|name| *name == base || *name == program);
        if named(&scope.deny) {
            return Err(forbidden(format!("`{shown}` is in `policy.commands.deny`")));
        }
        if scope.allow.is_empty() || named(&scope.allow) {
            continue;
        }
        let plain = !program.contains(['$', '`', '*', '?', '~']);
        if plain && BUILTINS.contains(&program.as_str()) {
            continue;
        }
        let allowed = scope.allow.join("`, `");
        let why = if plain {
            format!("`{shown}` is not in `policy.commands.allow`, which has `{allowed}`")
        } else {
            format!("it cannot be told which program `{shown}` is; `policy.commands.allow` has only `{allowed}`")
        };
        return Err(forbidden(why));
    }
    Ok(())
}

/// One word or operator of a line.
enum Token {
    Word(String),
    /// Something after which a new command begins.
    Break,
    /// Something after which a file name comes.
    Redirect,
}

/// Collects the programs of a line, and of the lines within it.
fn collect(line: &str, programs: &mut Vec<String>, depth: u32) {
    if depth > DEPTH_MAX {
        programs.push("$(…)".to_owned()); // too deep to tell
        return;
    }
    let (tokens, inner) = tokens(line);
    for line in inner {
        collect(&line, programs, depth + 1);
    }
    let mut command: Vec<String> = Vec::new();
    let mut redirect = false;
    for token in tokens.into_iter().chain([Token::Break]) {
        match token {
            Token::Redirect => redirect = true,
            Token::Word(_) if redirect => redirect = false,
            Token::Word(word) => command.push(word),
            Token::Break => {
                redirect = false;
                one_command(&std::mem::take(&mut command), programs, depth);
            }
        }
    }
}

/// Finds the programs of one command, looking through wrappers.
fn one_command(words: &[String], programs: &mut Vec<String>, depth: u32) {
    let mut words = words.iter().map(String::as_str).peekable();
    // `for x in …` and `case x in …` list words, not programs; their bodies begin after a break.
    while let Some(word) = words.next() {
        if KEYWORDS.contains(&word) || is_assignment(word) {
            continue;
        }
        if matches!(word, "for" | "case" | "select" | "function") {
            return;
        }
        programs.push(word.to_owned());
        let base = word.rsplit('/').next().unwrap_or(word);
        let rest: Vec<&str> = words.collect();
        if SHELLS.contains(&base) {
            let line = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
            if let Some(line) = line.and_then(|at| rest.get(at + 1)) {
                collect(line, programs, depth + 1);
            }
        } else if base == "eval" {
            collect(&rest.join(" "), programs, depth + 1);
        } else if WRAPPERS.contains(&base) {
            // The wrapped program is the first word that is no option, number or assignment of the wrapper's own.
            let own = |word: &&&str| {
                word.starts_with('-') || is_assignment(word) || word.starts_with(|c: char| c.is_ascii_digit())
            };
            let skip = rest.iter().take_while(own).count();
            let inner: Vec<String> = rest[skip..].iter().map(|word| (*word).to_owned()).collect();
            one_command(&inner, programs, depth);
        } else if base == "find" {
            let after = rest.iter().position(|word| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir"));
            let inner: Vec<String> =
                after.map_or(&[][..], |at| &rest[at + 1..]).iter().map(|w| (*w).to_owned()).collect();
            one_command(&inner, programs, depth);
        }
        return;
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Splits a line into words and operators; also returns the lines within it: `$(…)`, backticks, `(…)`.
fn tokens(line: &str) -> (Vec<Token>, Vec<String>) {
    let (mut tokens, mut inner) = (Vec::new(), Vec::new());
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    let mut quote = None;
    macro_rules! end_word {
        () => {
            if let Some(word) = word.take() {
                tokens.push(Token::Word(word));
            }
        };
    }
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (Some(_), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            (_, '$') if chars.peek() == Some(&'(') => {
                chars.next();
                inner.push(until_closed(&mut chars));
                word.get_or_insert_default().push_str("$…");
            }
            (_, '`') => {
                inner.push(chars.by_ref().take_while(|c| *c != '`').collect());
                word.get_or_insert_default().push_str("$…");
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '#') if word.is_none() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            (None, ';' | '\n' | '|' | '(' | ')') => {
                end_word!();
                tokens.push(Token::Break);
            }
            (None, '&') => {
                end_word!();
                tokens.push(if chars.peek() == Some(&'>') { Token::Redirect } else { Token::Break });
            }
            (None, '<' | '>') => {
                // `2>` belongs to the redirection; `>&2` takes its number along.
                if word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
                    word = None;
                }
                end_word!();
                let within = chars.peek() == Some(&'(');
                while chars.peek().is_some_and(|c| matches!(c, '<' | '>' | '&' | '|' | '-')) {
                    chars.next();
                }
                if !within {
                    tokens.push(Token::Redirect);
                }
            }
            (None, c) if c.is_whitespace() => end_word!(),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    end_word!();
    (tokens, inner)
}

/// Reads up to the bracket that closes, with brackets in between.
fn until_closed(chars: &mut impl Iterator<Item = char>) -> String {
    let (mut text, mut depth) = (String::new(), 1);
    for c in chars {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(line: &str) -> String {
        let mut programs = Vec::new();
        collect(line, &mut programs, 0);
        programs.join(" ")
    }

    #[test]
    fn the_programs_of_a_line_are_found() {
        for (line, found) in [
            ("cargo test", "cargo"),
            ("A=1 B=2 cargo test | tee out; rm -rf x && ls", "cargo tee rm ls"),
            ("(cd a && make) &", "cd make"),
            ("echo 'rm -rf /' \"; rm\"", "echo"),
            ("echo $(curl x) `wget y`", "curl wget echo"),
            ("sudo -n env A=1 rm x", "sudo env rm"),
            ("timeout 5 rm x", "timeout rm"),
            ("sh -c 'rm x; ls'", "sh rm ls"),
            ("bash -ec \"curl $(wget x)\"", "wget bash curl"),
            ("find . -name x -exec rm {} \\;", "find rm"),
            ("if test -f a; then rm a; fi", "test rm"),
            ("for f in rm ls; do cat $f; done", "cat"),
            ("cat < rm > curl 2> wget 2>&1", "cat"),
            ("# rm x\nls", "ls"),
            ("\\rm x", "rm"),
            ("r\"m\" x", "rm"),
            ("$TOOL x", "$TOOL"),
            ("xargs -n 1 rm", "xargs rm"),
            ("eval 'rm x'", "eval rm"),
            ("/usr/bin/rm x", "/usr/bin/rm"),
            ("a |& b || c", "a b c"),
            ("", ""),
        ] {
            assert_eq!(programs(line), found, "{line}");
        }
    }

    #[test]
    fn deny_wins_and_what_cannot_be_told_needs_to_be_any() {
        let scope = |allow: &[&str], deny: &[&str]| CommandScope {
            allow: allow.iter().map(|name| (*name).to_owned()).collect(),
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
        };
        let rows = [
            ("rm x", scope(&[], &[]), None),
            ("rm x", scope(&["rm"], &["rm"]), Some("`rm` is in `policy.commands.deny`")),
            ("/bin/rm x", scope(&[], &["rm"]), Some("`/bin/rm` is in `policy.commands.deny`")),
            ("cd a && cargo test", scope(&["cargo"], &[]), None),
            (
                "cargo test; ls",
                scope(&["cargo"], &[]),
                Some("`ls` is not in `policy.commands.allow`, which has `cargo`"),
            ),
            (
                "$X test",
                scope(&["cargo"], &[]),
                Some("it cannot be told which program `$X` is; `policy.commands.allow` has only `cargo`"),
            ),
        ];
        for (line, scope, refusal) in rows {
            let answer = check_command(line, &scope).err().map(|failure| failure.message);
            assert_eq!(answer.as_deref(), refusal, "{line}");
        }
    }

    #[test]
    fn no_line_makes_the_check_panic_or_hang() {
        for line in ["$(", "`", "'", "\"$(", "\\", ">", "<(", "((((", "sh -c", "$($($($($($($($($($(x))))))))))"] {
            let _ = programs(line);
        }
    }
}
