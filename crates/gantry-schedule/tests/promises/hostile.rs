//! Files that are broken, or were made to break what reads them: each is read or refused, and what was read is scheduled
//! or refused.

use gantry_schedule::read::{Read, csv, msproject, psplib, wfcommons};
use gantry_schedule::{Options, schedule};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const TABLE: &str = "id,name,parent,duration,low,high,after,resources,cost,percent,not before,deadline,priority\n\
    1,Plan,,5 days,3d,9d,,Ana[50%],1200.50,100%,2026-03-02,,\n\
    2,Build,4,3d?,,,1FS+2 days,\"Ben, crane 2\",,25,,2026-04-01 hard,7\n\
    3,Test,4,1d,,,\"2SS, Plan\",,,,2026-03-09T10:00,,-3\n\
    4,Do,,,,,,,,,,,\n";

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Project xmlns="http://schemas.microsoft.com/project"><Name>House</Name><StartDate>2026-03-02T08:00:00</StartDate>
<StatusDate>2026-03-04T08:00:00</StatusDate><CalendarUID>1</CalendarUID><CurrencyCode>EUR</CurrencyCode>
<Calendars><Calendar><UID>1</UID><Name>Standard</Name><WeekDays><WeekDay><DayType>2</DayType><DayWorking>1</DayWorking>
<WorkingTimes><WorkingTime><FromTime>08:00:00</FromTime><ToTime>17:00:00</ToTime></WorkingTime></WorkingTimes></WeekDay></WeekDays>
<Exceptions><Exception><TimePeriod><FromDate>2026-12-25T00:00:00</FromDate><ToDate>2026-12-26T23:59:00</ToDate></TimePeriod>
<DayWorking>0</DayWorking></Exception></Exceptions></Calendar>
<Calendar><UID>2</UID><Name>Ana</Name><BaseCalendarUID>1</BaseCalendarUID></Calendar></Calendars>
<Tasks><Task><UID>0</UID><Name>House</Name><OutlineLevel>0</OutlineLevel><Deadline>2026-06-01T17:00:00</Deadline></Task>
<Task><UID>1</UID><Name>Shell</Name><OutlineLevel>1</OutlineLevel></Task>
<Task><UID>2</UID><Name>Walls</Name><OutlineLevel>2</OutlineLevel><Duration>PT40H0M0S</Duration><FixedCost>10050</FixedCost>
<Priority>500</Priority><PercentComplete>25</PercentComplete><ActualStart>2026-03-02T08:00:00</ActualStart></Task>
<Task><UID>3</UID><Name>Roof</Name><OutlineLevel>2</OutlineLevel><Duration>PT16H30M0S</Duration><ConstraintType>2</ConstraintType>
<ConstraintDate>2026-03-20T08:00:00</ConstraintDate><PredecessorLink><PredecessorUID>2</PredecessorUID><Type>1</Type>
<LinkLag>4800</LinkLag><LagFormat>7</LagFormat></PredecessorLink></Task></Tasks>
<Resources><Resource><UID>1</UID><Name>Ana</Name><Type>1</Type><MaxUnits>1</MaxUnits><StandardRate>80</StandardRate>
<CalendarUID>2</CalendarUID></Resource></Resources>
<Assignments><Assignment><TaskUID>3</TaskUID><ResourceUID>1</ResourceUID><Units>0.5</Units></Assignment></Assignments></Project>"#;

const RUN: &str = r#"{"name": "blast", "workflow": {"specification": {"tasks": [
    {"name": "split", "id": "s", "parents": []}, {"name": "align", "id": "a", "parents": ["s"]}]},
    "execution": {"tasks": [{"id": "s", "runtimeInSeconds": 2.4}, {"id": "a", "runtimeInSeconds": 60, "coreCount": 2}],
    "machines": [{"cpu": {"coreCount": 4}}]}}}"#;

const INSTANCE: &str = "jobs (incl. supersource/sink ):  3\n  - renewable                 :  1   R\n\
    - nonrenewable              :  0   N\n  - doubly constrained        :  0   D\n\
    PRECEDENCE RELATIONS:\njobnr.    #modes  #successors   successors\n1 1 1 2\n2 1 1 3\n3 1 0\n\
    REQUESTS/DURATIONS:\njobnr. mode duration  R 1\n------\n1 1 0 0\n2 1 4 2\n3 1 0 0\n\
    RESOURCEAVAILABILITIES:\n  R 1\n   3\n";

/// Numbers that are at some edge, and words that stand where numbers should.
const EDGES: [&str; 22] = [
    "0",
    "-1",
    "1",
    "8",
    "99",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0.0000001",
    "1e308",
    "-0",
    "999999999",
    "NaN",
    "",
    "9999",
    "-9999",
];

/// One change of a text.
#[derive(Clone, Debug)]
enum Harm {
    /// The text ends, or begins, somewhere.
    End(Index),
    Begin(Index),
    /// Some letters are put in.
    Insert(Index, String),
    /// One run of digits becomes another number.
    Number(Index, &'static str),
    /// A stretch is there twice, or gone.
    Double(Index, Index),
    Remove(Index, Index),
}

fn harms() -> impl Strategy<Value = Vec<Harm>> {
    let place = any::<Index>;
    let one = prop_oneof![
        1 => place().prop_map(Harm::End),
        1 => place().prop_map(Harm::Begin),
        2 => (place(), "\\PC{0,4}|[<>/\"{}\\[\\],;:%+-]{1,3}").prop_map(|(at, text)| Harm::Insert(at, text)),
        12 => (place(), select(&EDGES[..])).prop_map(|(at, number)| Harm::Number(at, number)),
        2 => (place(), place()).prop_map(|(from, to)| Harm::Double(from, to)),
        2 => (place(), place()).prop_map(|(from, to)| Harm::Remove(from, to)),
    ];
    prop::collection::vec(one, 1..5)
}

fn harmed(sample: &str, harms: &[Harm]) -> String {
    let mut text: Vec<char> = sample.chars().collect();
    for harm in harms {
        let at = |index: &Index| index.index(text.len() + 1);
        let stretch = |one: &Index, other: &Index| at(one).min(at(other))..at(one).max(at(other));
        match harm {
            Harm::End(index) => text.truncate(at(index)),
            Harm::Begin(index) => drop(text.drain(..at(index))),
            Harm::Insert(index, letters) => {
                let at = at(index);
                text.splice(at..at, letters.chars());
            }
            Harm::Number(index, number) => {
                let starts: Vec<usize> = (0..text.len())
                    .filter(|&at| text[at].is_ascii_digit() && (at == 0 || !text[at - 1].is_ascii_digit()))
                    .collect();
                if !starts.is_empty() {
                    let from = starts[index.index(starts.len())];
                    let digits = text[from..].iter().take_while(|letter| letter.is_ascii_digit()).count();
                    text.splice(from..from + digits, number.chars());
                }
            }
            Harm::Double(one, other) => {
                let twice = text[stretch(one, other)].to_vec();
                let at = at(other);
                text.splice(at..at, twice);
            }
            Harm::Remove(one, other) => drop(text.drain(stretch(one, other))),
        }
    }
    text.into_iter().collect()
}

/// Reads a text in each of the ways there are; what comes out is scheduled, with some futures.
fn read_and_schedule(text: &str) {
    let project = |read: Read| read.project;
    let read = [
        csv::read(text).ok().map(project),
        msproject::read(text).ok().map(project),
        wfcommons::read(text).ok().map(project),
        psplib::project(text).ok(),
    ];
    let options = Options { schedules: 5, draws: 8, ..Options::default() };
    for project in read.into_iter().flatten() {
        assert!(project.tasks.len() <= text.len(), "no more tasks than letters");
        let _ = schedule(&project, &options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,80}") {
        read_and_schedule(&String::from_utf8_lossy(&bytes));
        read_and_schedule(&text);
        read_and_schedule(&format!("id,duration\n{text}"));
        read_and_schedule(&format!("<Project><Tasks><Task><UID>{text}</UID></Task></Tasks></Project>"));
    }

    #[test]
    fn no_harm_to_a_file_makes_a_reader_panic(harms in harms()) {
        for sample in [TABLE, XML, RUN, INSTANCE] {
            read_and_schedule(&harmed(sample, &harms));
        }
    }
}

#[test]
fn the_samples_are_sound() {
    assert_eq!(csv::read(TABLE).unwrap().project.tasks.len(), 4);
    assert_eq!(msproject::read(XML).unwrap().project.tasks.len(), 3);
    assert_eq!(wfcommons::read(RUN).unwrap().project.tasks.len(), 2);
    assert_eq!(psplib::project(INSTANCE).unwrap().tasks.len(), 3);
    for sample in [TABLE, XML, RUN, INSTANCE] {
        read_and_schedule(sample);
    }
}

#[test]
fn a_file_full_of_what_is_not_read_is_told_in_a_hundred_notes() {
    let material = |at| format!("<Resource><UID>{at}</UID><Name>m{at}</Name><Type>0</Type></Resource>");
    let late = |at| format!("<Task><UID>{at}</UID><Name>t</Name><ConstraintType>1</ConstraintType></Task>");
    let resources: String = (1..=5_000).map(material).collect();
    let tasks: String = (1..=5_000).map(late).collect();
    let text = format!("<Project><Resources>{resources}</Resources><Tasks>{tasks}</Tasks></Project>");
    let read = msproject::read(&text).unwrap();
    assert_eq!((read.project.tasks.len(), read.notes.len()), (5_000, 101));
    assert_eq!(read.notes[100].what, "and 9900 more of the kind");
    let columns: Vec<String> = (0..5_000).map(|at| format!("column {at}")).collect();
    let read = csv::read(&format!("id,{}\n{}", columns.join(","), "a\n".repeat(5_000))).unwrap();
    assert_eq!((read.project.tasks.len(), read.notes.len()), (5_000, 101));
}

#[test]
fn a_small_file_does_not_become_a_large_one() {
    let entities = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><Project>&b;</Project>";
    assert!(msproject::read(entities).unwrap_err().what.contains("no XML that can be read"));
    let closed = "<Exception><TimePeriod><FromDate>2020-01-01T00:00:00</FromDate><ToDate>2029-12-31T00:00:00</ToDate>\
                  </TimePeriod><DayWorking>1</DayWorking></Exception>";
    let base = format!("<Calendar><UID>0</UID><Exceptions>{closed}</Exceptions></Calendar>");
    let on_base = |at| format!("<Calendar><UID>{at}</UID><BaseCalendarUID>0</BaseCalendarUID></Calendar>");
    let people: Vec<String> = (1..=100).map(on_base).collect();
    let people = people.concat();
    let text = format!("<Project><Calendars>{base}{people}</Calendars></Project>");
    assert!(msproject::read(&text).unwrap_err().what.contains("more than 200000 exceptions"));
    let far = XML.replace("<LinkLag>4800", "<LinkLag>9223372036854775807");
    assert!(msproject::read(&far).unwrap_err().what.contains("more than a thousand years"));
}
