//! Where a project is, and what is no place.

use crate::kit::{self, read};

fn place(text: &str) -> String {
    let brief = read(text);
    format!("{}/{}", kit::or_dash(brief.place.map(|place| place.name)), kit::or_dash(brief.country))
}

#[test]
fn the_main_place_is_the_most_specific_one_the_project_is_at() {
    kit::assert_table(
        &[
            ("Open a café in Bonn, Germany", "Bonn/DE"),
            ("Location: New Zealand. Make a clinic.", "New Zealand/NZ"),
            ("Vegan Butcher Shop. Location Kødbyen, Copenhagen.", "Kødbyen/DK"),
            ("Open a café in Holbæk, Denmark", "Holbæk/DK"),
            ("A campus in **Hauts-de-France, France**, better than southern Spain", "Hauts-de-France/FR"),
            ("Launch Nyxa, a Shanghai-headquartered platform with a Singapore subsidiary", "Shanghai/CN"),
            ("A replica at a site in rural England", "England/GB"),
            ("Clay Workshop, Nuuk, Greenland. A place to meet.", "Nuuk/GL"),
            ("I want to go on a trip to Paris", "Paris/FR"),
            ("My bike is broken. I live in Amsterdam, Netherlands.", "Amsterdam/NL"),
            ("Construct a train bridge between Denmark and England.", "Denmark and England/-"),
            ("Sell kits across Europe. Start with one center in Rotterdam, Netherlands.", "Rotterdam/NL"),
            ("Sell kits across Europe", "Europe/-"),
            ("A US federal program for schools", "US/US"),
            ("Kenya Affordable Housing Finance Project", "Kenya/KE"),
            ("Roads for the poorest municipalities of Bolivia", "Bolivia/BO"),
            ("Support the Government of Colombia with taxes", "Colombia/CO"),
            ("Plan a road trip through Iceland", "Iceland/IS"),
            ("Refurbish the playground in Dundee", "Dundee/GB"),
            ("Hold a party in a village hall near Cork", "Cork/IE"),
            ("Open a clinic around Nakuru, Kenya", "Nakuru/KE"),
            ("Hold an offsite in Lake Garda", "Lake Garda/IT"),
            ("Get a permit for a garage in Kent", "Kent/GB"),
            ("Open a bookshop in Ballydehob by May", "Ballydehob/-"),
            ("Expand into churches in Atlanta and across Tennessee, Alabama, and Georgia", "Atlanta/US"),
            ("성수동에 작은 카페를 열고 싶다", "성수동/KR"),
            ("제주도에서 한 달 살기", "제주도/KR"),
        ],
        place,
    );
}

#[test]
fn names_of_people_products_and_languages_are_no_places() {
    for text in [
        "Make a 64bit OS in Rust",
        "Write it in Python or Java 8",
        "Write it in Kotlin",
        "Learn to sing in Portuguese",
        "Hold the fair in October",
        "Make a film with Paris Hilton",
        "In the style of Jordan Peterson",
        "Reroute traffic to US-191",
        "A budget of US$150 million",
        "Bake a Danish pastry",
        "Cook a turkey on fine china",
        "Project name: “Split Evenly”",
        "A city blending elements of Los Angeles, Detroit, and Miami",
        "Robots enter society, with China already showcasing athletes",
        "Write a blog post about Paris",
        "It was nice reading the mobile page",
        "Abandon the monarchy in YOUR_COUNTRY_HERE",
    ] {
        assert_eq!(place(text), "-/-", "{text}");
    }
}

#[test]
fn country_zone_and_currency_follow_from_the_place() {
    let facts = |text: &str| {
        let brief = read(text);
        format!("{} {} {}", kit::or_dash(brief.country), kit::or_dash(brief.zone), kit::or_dash(brief.currency))
    };
    assert_eq!(facts("Open a café in Nuuk"), "GL America/Nuuk DKK");
    assert_eq!(facts("Open a café in Austin, Texas"), "US America/Chicago USD");
    assert_eq!(facts("Open a café in Perth"), "AU Australia/Perth AUD");
    assert_eq!(facts("Open a café in Zurich with EUR 90,000"), "CH Europe/Zurich EUR");
    assert_eq!(facts("Open a café"), "- - -");
}

#[test]
fn places_the_text_only_speaks_of_are_kept_behind_the_main_one() {
    let brief = read("Build a data center in Lille, France, with fiber to Paris, London and Brussels");
    let names: Vec<&str> = brief.places.iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["Lille", "France", "Paris", "London", "Brussels"]);
}

#[test]
fn every_row_of_the_gazetteer_is_whole() {
    let table = include_str!("../../data/places.tsv");
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|row| !row.starts_with('#')).map(|row| row.split('\t').collect()).collect();
    let countries: Vec<&str> = rows.iter().filter(|row| row[0] == "country").map(|row| row[2]).collect();
    assert!(countries.len() >= 195 && rows.len() - countries.len() >= 400);
    for row in &rows {
        assert_eq!(row.len(), 11, "{row:?}");
        assert!(row[2].is_empty() || countries.contains(&row[2]), "{row:?}");
        assert!(
            row[0] != "country" || row[3].len() == 3 && row[4].contains('/') && matches!(row[5], "N" | "S"),
            "{row:?}"
        );
    }
}
