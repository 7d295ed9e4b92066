//! What the reader of `.sm` files makes of good and of bad text.

use gantry_schedule::read::psplib::read;
use proptest::prelude::*;

const SMALL: &str = "\
************************************************************************
projects                      :  1
jobs (incl. supersource/sink ):  4
horizon                       :  9
RESOURCES
  - renewable                 :  2   R
  - nonrenewable              :  0   N
  - doubly constrained        :  0   D
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           4
   4        1          0        
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     4       2    0
  3      1     5       1    3
  4      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  R 2
    2    3
************************************************************************
";

/// What the reader says of the small file with one passage replaced.
fn complaint(passage: &str, replacement: &str) -> String {
    assert!(SMALL.contains(passage), "the passage must be in the file, or nothing is tested");
    read(&SMALL.replacen(passage, replacement, 1)).expect_err("the file is not sound").to_string()
}

#[test]
fn a_file_becomes_tasks_links_and_capacities() {
    let instance = read(SMALL).unwrap();
    let durations: Vec<u32> = instance.tasks.iter().map(|task| task.duration).collect();
    assert_eq!(durations, [0, 4, 5, 0]);
    let demands: Vec<(u64, u64)> = instance.tasks.iter().map(|task| (task.demand_for(0), task.demand_for(1))).collect();
    assert_eq!(demands, [(0, 0), (2, 0), (1, 3), (0, 0)]);
    let links: Vec<(usize, usize, i32)> =
        instance.links.iter().map(|link| (link.before, link.after, link.lag)).collect();
    assert_eq!(links, [(0, 1, 0), (0, 2, 0), (1, 3, 4), (2, 3, 5)]);
    assert_eq!(instance.capacities.iter().map(|capacity| capacity.at(0)).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn line_endings_of_other_systems_are_read_too() {
    assert_eq!(read(&SMALL.replace('\n', "\r\n")), read(SMALL));
}

#[test]
fn every_complaint_names_the_line_and_what_was_expected() {
    let complaints = [
        complaint("jobs (incl", "works (incl"),
        complaint("sink ):  4", "sink ):  four"),
        complaint("nonrenewable              :  0", "nonrenewable              :  2"),
        complaint("   2        1          1           4", "   2        3          1           4"),
        complaint("   2        1          1           4", "   2        1          2           4"),
        complaint("   2        1          1           4", "   2        1          1           9"),
        complaint("   3        1          1           4", "   4        1          1           4"),
        complaint("   3        1          1           4", "   3"),
        complaint("  2      1     4       2    0", "  2      1    -4       2    0"),
        complaint("  2      1     4       2    0", "  2      1     4       2"),
        complaint("    2    3\n", "    2\n"),
        complaint("REQUESTS/DURATIONS:", ""),
    ];
    let expected = [
        "line 29: the file ends here, but `jobs` should follow",
        "line 3: expected a whole number behind `jobs :`",
        "line 7: there are resources of the kind `- nonrenewable`, which single-mode files do not use",
        "line 13: job 2 has 3 modes; only jobs with one mode can be read",
        "line 13: job 2 says it has 2 successors and lists 1",
        "line 13: job 2 names successor 9, but jobs go from 1 to 4",
        "line 14: expected job 3 here, found job 4",
        "line 14: expected job 3, its modes, how many successors it has, and these",
        "line 21: `-4` is no whole number of 0 or more; expected the duration and requests of job 2",
        "line 21: job 2 has 1 requests for 2 resources",
        "line 27: 1 capacities for 2 resources",
        "line 29: the file ends here, but `REQUESTS/DURATIONS:` should follow",
    ];
    assert_eq!(complaints, expected);
}

#[test]
fn an_absurd_number_of_jobs_is_refused_before_room_is_made_for_them() {
    assert_eq!(
        complaint("sink ):  4", "sink ):  99999999999999"),
        "line 8: 99999999999999 jobs and 2 resources are more than the file has characters"
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}", cut in 0..SMALL.len(), noise in "[0-9 :\\n-]{0,9}") {
        let _ = read(&text);
        let _ = read(&format!("{}{noise}{}", &SMALL[..cut], &SMALL[cut..]));
        let _ = read(&SMALL[..cut]);
    }
}
