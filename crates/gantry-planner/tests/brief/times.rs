//! Deadlines, starts and horizons.

use gantry_planner::brief;
use jiff::civil::date;

use crate::kit::{self, TODAY, read};

fn deadline(text: &str) -> String {
    kit::or_dash(read(text).deadline.map(|day| day.to_string()))
}

fn horizon(text: &str) -> String {
    kit::or_dash(read(text).horizon.map(kit::length))
}

#[test]
fn a_deadline_is_the_last_day_its_words_allow() {
    kit::assert_table(
        &[
            ("Build a bridge by 2030", "2030-12-31"),
            ("Build a bridge before 2030", "2029-12-31"),
            ("Build a bridge before summer", "2026-05-31"),
            ("Build a bridge by summer 2027", "2027-06-01"),
            ("Build a bridge before June 2027", "2027-05-31"),
            ("Build a bridge by June 2027", "2027-06-30"),
            ("Build a bridge by the end of next year", "2027-12-31"),
            ("Build a bridge by the end of June", "2026-06-30"),
            ("Build a bridge by Q4 2029", "2029-12-31"),
            ("Build a bridge by mid-2027", "2027-08-31"),
            ("Build a bridge by 2027-03-12", "2027-03-12"),
            ("Build a bridge by 12 March 2027", "2027-03-12"),
            ("Build a bridge by March 12, 2027", "2027-03-12"),
            ("Build a bridge by March 12th", "2026-03-12"),
            ("Build a bridge by 12.3.2027", "2027-03-12"),
            ("Build a bridge by 25/12/2027", "2027-12-25"),
            ("Build a bridge by 3/12/2027", "-"),
            ("Build a bridge no later than next Friday", "2026-01-16"),
            ("Set an alarm for tomorrow morning", "2026-01-16"),
            ("Hold a wedding on 12 March 2027", "2027-03-12"),
            ("Plan a 2026 Robot Olympics", "2026-12-31"),
            ("Refurbish the playground, finished before term starts on 16 August 2027", "2027-08-15"),
            ("Replace the boiler before the heating season 2027", "2027-09-30"),
            ("Repair the roof before the school year 2027", "2027-08-31"),
            ("Apply for a master's degree, starting in October 2027", "2027-09-30"),
            ("Deadline: 1 May 2026. Build a bridge.", "2026-05-01"),
            ("Finish by Christmas", "2026-12-24"),
            ("다리를 2027년 3월까지 짓는다", "2027-03-31"),
            ("다리를 2027년 3월 15일까지 짓는다", "2027-03-15"),
            ("다리를 내년 여름 전 완공", "2027-05-31"),
            ("다리를 내년까지 짓는다", "2027-12-31"),
            ("내일 아침 알람 맞추기", "2026-01-16"),
            ("A bridge as in 1931, postponed from 2021", "-"),
            ("Tools and methods available in 2500 BC", "-"),
            ("Techniques from the 12th century", "-"),
            ("It may rain and we march on", "-"),
            ("Build a bridge by Dec. 2027", "2027-12-31"),
            ("Hold the party on July 4", "2026-07-04"),
            ("A truce was signed in November, 2002", "-"),
            ("The money was approved on June 19, '08", "-"),
            ("Energy after the September 11th events", "-"),
            ("Prevention of influenza A/H1N1", "-"),
            ("Demand is expected to double by 2030", "-"),
        ],
        deadline,
    );
}

#[test]
fn seasons_follow_the_half_of_the_earth_the_place_lies_in() {
    assert_eq!(deadline("Open a surf school in Sydney before summer"), "2026-11-30");
    assert_eq!(deadline("Open a surf school in Biarritz, France before summer"), "2026-05-31");
}

#[test]
fn a_horizon_is_the_length_of_the_whole_project() {
    kit::assert_table(
        &[
            ("Finish the yacht within 48 months", "48 months"),
            ("Evacuate the town in 72 hours", "72 hours"),
            ("Plan a 72-hour evacuation of the town", "72 hours"),
            ("Over 3 years, establish a hotel", "3 years"),
            ("A three-year regional rollout", "3 years"),
            ("A campus with 9 GW over 10–15+ years", "10..15+ years"),
            ("Go on a 14 days vacation trip to Rome", "14 days"),
            ("Build a yacht. Timeline: 48 months.", "48 months"),
            ("Build a shop. Time frame: 1.5 years", "18 months"),
            ("Timeline: 12 months total — 90-day pilot, then ~9 months national rollout", "12 months"),
            ("The project has three phases over 24 months", "24 months"),
            ("6개월 안에 카페를 연다", "6 months"),
            ("3년 동안 연구한다", "3 years"),
            ("My commute takes 1 hour", "-"),
            ("A lab led by someone with 10 years of experience", "-"),
            ("The pest was found three weeks ago", "-"),
            ("Water the plants once a week", "-"),
            ("Media will be lost. Archive them. A pilot is ready within 6 months of funding.", "-"),
            ("Success criteria: online for 7 days", "-"),
        ],
        horizon,
    );
}

#[test]
fn a_start_is_the_first_day_named() {
    for (text, day) in [
        ("Phase 1 begins April 1, 2026, running through September 2026", "2026-04-01"),
        ("Run a survey starting in May 2026", "2026-05-01"),
        ("A phased schedule 2027–2041 for the bridge", "2027-01-01"),
        ("Build a bridge", "-"),
    ] {
        assert_eq!(kit::or_dash(read(text).start.map(|day| day.to_string())), day, "{text}");
    }
}

#[test]
fn relative_times_count_from_the_day_they_are_read_on() {
    let text = "Finish the roof by next month";
    assert_eq!(brief::read(text, TODAY).deadline, Some(date(2026, 2, 28)));
    assert_eq!(brief::read(text, date(2027, 12, 31)).deadline, Some(date(2028, 1, 31)));
}

#[test]
fn a_firm_word_makes_a_time_hard() {
    assert!(read("Build a bridge by 2030").times[0].hard);
    assert!(!read("Ideally build it by 2030").times[0].hard);
}
