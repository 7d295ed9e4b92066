//! What is wrong with a prompt is said when it is loaded, with its place.

use std::fs;

use gantry_llm::prompts::Prompts;

/// A sound prompt; tests break it.
const SOUND: &str = "---
name: greet
version: \"1\"
locale: en
role: writer
description: Greets somebody.
inputs:
  - name: who
    type: text
    description: whom to greet
    example: Ana
  - name: when
    type: text
    required: false
    description: the time of day
    example: morning
---
## system
You greet people.

## user
Greet {{ who }}.
{% if when %}It is {{ when }}.{% endif %}
";

/// What is wrong with these files.
fn faults(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let Err(faults) = Prompts::load(&[folder.path()]) else { return "sound".to_owned() };
    let lines = faults.iter().flat_map(|fault| {
        std::iter::once(fault.to_string()).chain(fault.hint.iter().map(|hint| format!("  hint: {hint}")))
    });
    lines.collect::<Vec<_>>().join("\n").replace(&format!("{}/", folder.path().display()), "")
}

/// What is wrong with a sound prompt once something in it is replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    faults(&[("greet.en.md", &SOUND.replacen(from, to, 1))])
}

#[test]
fn the_sound_prompt_is_sound() {
    assert_eq!(faults(&[("greet.en.md", SOUND)]), "sound");
    assert_eq!(faults(&[("greet.en.md", &SOUND.replace('\n', "\r\n"))]), "sound");
    assert_eq!(faults(&[("greet.en.md", &format!("\u{feff}{SOUND}"))]), "sound");
}

#[test]
fn an_undefined_name_is_said_with_its_line_even_where_the_examples_do_not_go() {
    insta::assert_snapshot!(broken("Greet {{ who }}.", "Greet {{ whom }} and {{ who }}."), @"
    greet.en.md:22: `whom` is undefined
      hint: did you mean `who`?
    ");
    insta::assert_snapshot!(broken("It is {{ when }}", "{% if false %}{{ weather }}{% endif %}{{ when }}"), @"
    greet.en.md:23: `weather` is undefined
      hint: declare it: add `- name: weather` to the inputs
    ");
}

#[test]
fn an_undefined_field_is_found_by_rendering() {
    insta::assert_snapshot!(broken("Greet {{ who }}.", "Greet {{ who.first_name }}."), @"greet.en.md:22: `who.first_name` is undefined");
}

#[test]
fn an_unused_input_is_said_with_its_line() {
    insta::assert_snapshot!(broken("{% if when %}It is {{ when }}.{% endif %}\n", ""), @"greet.en.md:12: the input `when` is never used");
}

#[test]
fn an_optional_input_may_be_missing() {
    insta::assert_snapshot!(broken("{% if when %}It is {{ when }}.{% endif %}", "{{ when | fenced(\"the time\") }}"), @r#"
    greet.en.md:23: `fenced("the time")` cannot be filled in: there is nothing to fence
      hint: an input that is not required may be missing: ask with {% if … %} first
    "#);
}

#[test]
fn the_system_part_stays_the_same_unless_it_says_otherwise() {
    insta::assert_snapshot!(broken("You greet people.", "You greet {{ who }}."), @"
    greet.en.md:19: the system part depends on `who`, so that caches of providers never hit
      hint: move it to the user part, or add `system_varies: true`
    ");
    let varies = SOUND.replace("You greet people.", "You greet {{ who }}.");
    let varies = varies.replace("role: writer", "role: writer\nsystem_varies: true");
    assert_eq!(faults(&[("greet.en.md", &varies)]), "sound");
}

#[test]
fn the_system_part_is_rendered_too() {
    insta::assert_snapshot!(broken("You greet people.", "You greet {{ system_message }}."), @"
    greet.en.md:19: `system_message` is undefined
      hint: declare it: add `- name: system_message` to the inputs
    ");
}

#[test]
fn braces_of_json_are_literal_and_what_is_not_meant_as_a_template_is_said() {
    let json = r#"Greet {{ who }} like {"a": {"b": [{"c": {}}]}}, {"d":{"e":1}}."#;
    assert_eq!(broken("Greet {{ who }}.", json), "sound");
    insta::assert_snapshot!(broken("Greet {{ who }}.", "Greet {{ who }} like {{\"a\": 1}}."), @"
    greet.en.md:22: this cannot be read: unexpected `:`, expected end of variable block
      hint: text that is not meant for MiniJinja stands between {% raw %} and {% endraw %}
    ");
    assert_eq!(broken("Greet {{ who }}.", "Greet {{ who }} like {% raw %}{{\"a\": 1}}{% endraw %}."), "sound");
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    insta::assert_snapshot!(broken("{% endif %}", ""), @"
    greet.en.md:23: this cannot be read: unexpected end of input, expected end of block
      hint: text that is not meant for MiniJinja stands between {% raw %} and {% endraw %}
    ");
    insta::assert_snapshot!(broken("{{ who }}", "{{ who | shout }}"), @"greet.en.md:22: `shout` cannot be filled in: filter shout is unknown");
}

#[test]
fn front_matter_is_checked() {
    let cases = [
        broken("---\nname", "name"),
        broken("role: writer\n", ""),
        broken("role: writer", "role: writer\ncolour: red"),
        broken("type: text", "type: string"),
        broken("name: greet", "name: great"),
        broken("locale: en", "locale: ko"),
        broken("role: writer", "role: \" \""),
        broken("    example: Ana\n", ""),
        broken("example: Ana", "example: [Ana]"),
        broken("name: who\n", "name: Who\n"),
        broken("name: when\n", "name: who\n"),
        broken("role: writer", "role: writer\nweight: 0"),
        broken("role: writer", "role: writer\nvariants: {other: {weight: 1}}"),
        broken("role: writer", "role: writer\nvariants: {other: {user: \"Hi {{ you }}\"}}"),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    greet.en.md:1: there is no front matter
      hint: begin the file with a line `---`, and end it with another
    greet.en.md:6: the front matter cannot be read: missing field `role`
    greet.en.md:6: the front matter cannot be read: unknown field `colour`, expected one of name, version, locale, role, description, inputs, output, system_varies, weight, variants
    greet.en.md:9: the front matter cannot be read: unknown variant `string`, expected one of text, number, boolean, list, object, any
    greet.en.md: its name is `great`, but its file name says `greet`
    greet.en.md: its locale is `ko`, but its file name says `en`
    greet.en.md: its `role` is empty
    greet.en.md:8: the input `who` has no example, so nobody can check the prompt
    greet.en.md:8: the example of the input `who` must be a text
    greet.en.md:8: `Who` cannot be the name of an input: use small letters, digits and `_`
    greet.en.md:12: the input `who` is declared twice
    greet.en.md:23: `when` is undefined
      hint: declare it: add `- name: when` to the inputs
    greet.en.md: all weights are 0, so nothing would ever be chosen
    greet.en.md: the variant `other` changes nothing
      hint: give it a `system` or a `user` text
    greet.en.md:6: `you` is undefined
      hint: declare it: add `- name: you` to the inputs
    ");
}

#[test]
fn parts_are_checked() {
    let cases = [
        broken("## system\n", ""),
        broken("You greet people.\n", ""),
        broken("## user\n", "## assistant\n"),
        broken("## system", "## user\nHi.\n\n## system"),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    greet.en.md:18: this text belongs to no part
      hint: write `## system` or `## user` on a line above it
    greet.en.md:18: this part is empty
    greet.en.md:21: the last part must be `## user`: that is what gets answered
    greet.en.md:21: the system part must be the first, and the only one
    ");
}

#[test]
fn the_schema_of_an_answer_is_checked() {
    let cases = [
        broken("role: writer", "role: writer\noutput: {type: 5}"),
        broken("role: writer", "role: writer\noutput: {schema: greet.json}"),
        broken("role: writer", "role: writer\noutput: {enum: {$input: words}}"),
        broken("role: writer", "role: writer\noutput: {enum: {$input: who}}"),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    greet.en.md: its output is not a JSON Schema: 5 is not valid under any of the schemas listed in the 'anyOf' keyword
    greet.en.md: there is no schema `greet.json` beside it
    greet.en.md: the schema needs the input `words`, which is not declared
    greet.en.md: the schema needs `who`, which must be a required list
    ");
}

#[test]
fn variants_are_rendered_too_and_faults_in_them_have_their_line() {
    let variant = "role: writer\nvariants:\n  loud:\n    user: |\n      Greet\n      {{ whom }} {{ who }}{{ when }}!";
    insta::assert_snapshot!(broken("role: writer", variant), @"
    greet.en.md:10: `whom` is undefined
      hint: did you mean `who`?
    ");
}

#[test]
fn a_prompt_is_the_same_in_every_language_but_for_its_words() {
    let korean = SOUND.replace("locale: en", "locale: ko").replace("required: false", "required: true");
    insta::assert_snapshot!(faults(&[("greet.en.md", SOUND), ("greet.ko.md", &korean)]), @"
    greet.ko.md: its inputs differ from those of greet.en.md
      hint: a prompt is the same in every language but for its words: change both files
    ");
}

#[test]
fn a_file_whose_name_says_no_language_is_not_overlooked() {
    insta::assert_snapshot!(faults(&[("judge.md", SOUND)]), @"
    judge.md: its name does not say in which language it is
      hint: call it `judge.en.md`
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("greet.en.md"), [0xff, 0xfe]).unwrap();
    fs::write(folder.path().join("greet.json"), "{").unwrap();
    let faults = Prompts::load(&[folder.path()]).err().unwrap();
    assert_eq!(faults.len(), 2, "{faults:#?}");
}
