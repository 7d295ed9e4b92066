//! What is read from whole requests, one line each, to be read by a person against the requests.

use std::fmt::Write;

use crate::kit::{length, money, or_dash, read};

/// Requests of many kinds and sizes, from a dinner to a bridge.
const REQUESTS: &[&str] = &[
    "I want to start a community solar co-op in Valencia, Spain with 40 households by next spring for about €120,000.",
    "Plan my sister's wedding for 80 guests in Tuscany on 12 September 2026, max 25k euros.",
    "Renovate our 90 m² flat in Oslo before Christmas; budget 600 000 kr, no work at night.",
    "Help me train for the Berlin marathon in 16 weeks.",
    "Open a bakery in Nice, France. We have 30.000 EUR and two ovens.",
    "Migrate our billing system from Oracle to PostgreSQL within 6 months without downtime. Team of 5 engineers.",
    "Write a novel of 80,000 words by the end of 2027.",
    "Build a 12-storey timber office in Vancouver for C$45m by Q2 2028.",
    "Launch a podcast about Jordan Peterson and Paris Hilton.",
    "Organise a hackathon for 200 students at ETH Zurich in March 2027, CHF 40'000.",
    "We need to relocate our warehouse from Leeds to Rotterdam in 90 days. Do not lose any stock.",
    "Deploy 500 air-quality sensors across Nairobi by 30/06/2027. Cost must not exceed KES 50 million.",
    "서울 강남에 작은 카페를 열고 싶어요. 예산은 1억 5천만 원이고 2027년 3월까지 열어야 합니다. 직원은 3명입니다.",
    "6개월 안에 부산에서 창업하고 싶다. 예산 5천만원 이하. 대출은 금지.",
    "아이들을 위한 코딩 교육 앱을 만들어 주세요. 내년 여름 전 출시.",
    "제주도 3박 4일 가족 여행 계획, 예산 200만 원.",
    "Make dinner for 6 people tonight for under 50 bucks.",
    "Create a mobile game in Unity with 3 developers in 9 months, $200k.",
    "Clean the garage this weekend.",
    "Reduce our churn from 8% to 5% over the next two quarters.",
    "Design a water treatment plant for Lagos serving 2 million people; the World Bank lends $300 million; start in January 2027 and finish within 5 years.",
    "Prepare an 8-week summer school in Mexico City starting June 2027. The fee is $300 per student.",
    "The market for e-bikes is worth $40 billion. Start an e-bike rental in Lisbon with 50 bikes.",
    "Build a lunar greenhouse. Budget: between 2 and 3 billion dollars. Deadline: 2040.",
    "A city wants to plant 10,000 trees by 2030. No pesticides. Prefer native species.",
    "Set up a small brewery in Asheville, North Carolina (budget USD 350k, 18 months, 4 people).",
    "Translate the Turkish constitution into Danish.",
    "Cook a Thanksgiving turkey.",
    "Establish a hospital for refugees in Jordan.",
    "Develop an offline-first React Native app for farmers in Kenya; it must work on 2G. Success means 10,000 monthly users.",
    "I have $5,000 and three months to learn German well enough to move to Berlin.",
    "Ship v2 of our API by Friday.",
    "Hold a 3-day conference in Singapore next autumn for 400 people with S$250,000.",
    "Construct a footbridge over the river Thames near Oxford, 60 metres long, GBP 2.4m, ready before summer 2028.",
    "Our non-profit wants to vaccinate 50,000 dogs in Rajasthan, India over two years with 1.2 crore rupees.",
];

/// One line of facts, without the words that they were read from.
fn facts(text: &str) -> String {
    let brief = read(text);
    let time = match (brief.deadline, brief.horizon) {
        (Some(day), Some(time)) => format!("{day}, {}", length(time)),
        (Some(day), None) => day.to_string(),
        (None, Some(time)) => length(time),
        (None, None) => "-".to_owned(),
    };
    let missing: Vec<String> =
        brief.missing.iter().map(|missing| format!("{:?}", missing.topic).to_lowercase()).collect();
    format!(
        "{} | {time} | {}/{} | {} | {}",
        or_dash(brief.budget.as_ref().map(money)),
        or_dash(brief.place.map(|place| place.name)),
        or_dash(brief.country),
        brief.demands.len(),
        missing.join(" "),
    )
}

/// The same with the words.
fn line(text: &str) -> String {
    let brief = read(text);
    let client = or_dash(brief.people.client.map(|client| client.text));
    format!("{} | {} | {client} | {}", brief.title.text, brief.what.text, facts(text))
}

const HEAD: &str = "budget | deadline/horizon | place/country | demands | missing\n";

#[test]
fn real_requests_are_read_as_a_careful_person_reads_them() {
    let Some(requests) = crate::shared::requests("prompts") else { return };
    let mut table = HEAD.to_owned();
    for (id, text) in &requests {
        writeln!(table, "{id} {}", facts(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn requests_of_every_size_are_read_as_a_careful_person_reads_them() {
    let mut table = format!("title | what | client | {HEAD}");
    for text in REQUESTS {
        writeln!(table, "{text}\n  {}", line(text)).unwrap();
    }
    insta::assert_snapshot!(table);
}
