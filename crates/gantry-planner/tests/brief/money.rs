//! Amounts of money, their currency and their role.

use crate::kit::{self, read};

/// Every amount of a text with its words and role.
fn amounts(text: &str) -> Vec<String> {
    read(text)
        .money
        .iter()
        .map(|money| {
            let role = serde_json::to_value(money.role).unwrap();
            format!("{} = {} {}", &text[money.span.clone()], kit::money(money), role.as_str().unwrap())
        })
        .collect()
}

fn budget(text: &str) -> String {
    kit::or_dash(read(text).budget.as_ref().map(kit::money))
}

#[test]
fn amounts_are_read_however_they_are_written() {
    kit::assert_table(
        &[
            ("Budget: 2 million DKK", "2000000 DKK"),
            ("Budget: 2 M DKK", "2000000 DKK"),
            ("Budget: DKK 2m", "2000000 DKK"),
            ("Budget: $500 million", "500000000 USD"),
            ("A 15-year, USD 10 billion initiative", "10000000000 USD"),
            ("€750 k funded by myself", "750000 EUR"),
            ("Budget 1.3 million EUR.", "1300000 EUR"),
            ("Budget: 30 trillion USD.", "30000000000000 USD"),
            ("A budget of £1,200", "1200 GBP"),
            ("Budget is 1.000.000 DKK", "1000000 DKK"),
            ("Budget: 200 000 SEK", "200000 SEK"),
            ("Budget: 1 250 000 NOK", "1250000 NOK"),
            ("예산은 ₩3억입니다", "300000000 KRW"),
            ("예산은 5천만 원입니다", "50000000 KRW"),
            ("예산 300만원으로 시작", "3000000 KRW"),
            ("예산: 1억 5천만 원", "150000000 KRW"),
            ("A party for under 50 bucks", "50 USD"),
            ("Budget: €1–2 M", "1000000..2000000 EUR"),
            ("The budget is between 10 and 15 million dollars", "10000000..15000000 USD"),
            ("My total budget range is $300,000-$500,000.", "300000..500000 USD"),
            ("Budget: €250M–€750M", "250000000..750000000 EUR"),
            ("Budget is ₹12,000–15,000 crore", "120000000000..150000000000 INR"),
            ("Budget: US$150 million", "150000000 USD"),
            ("Budget: 500k EUR", "500000 EUR"),
            ("Budget $90M USD", "90000000 USD"),
            ("Budget: 2.5 lakh rupees", "250000 INR"),
            ("Budget: 12.500 EUR", "12500 EUR"),
            ("Budget: 12.5 EUR", "12.5 EUR"),
            ("Budget: 1.234,50 EUR", "1234.5 EUR"),
            ("Replace the boiler for 600 000 zł", "600000 PLN"),
            ("Budget: 250 000 Kč", "250000 CZK"),
            ("Budget: CHF 80'000 or so", "80000 CHF"),
        ],
        budget,
    );
}

#[test]
fn a_shared_sign_means_the_currency_of_the_place() {
    kit::assert_table(
        &[
            ("Open a café in Melbourne. Budget: $80,000", "80000 AUD"),
            ("Open a café in Toronto for $80,000", "80000 CAD"),
            ("Open a café in Chicago. Budget: $80,000", "80000 USD"),
            ("Open a café. Budget: $80,000", "80000 USD"),
            ("Open a café in Aarhus. Budget: 1.000.000 kr", "1000000 DKK"),
            ("Open a café in Malmö. Budget: 1.000.000 kr", "1000000 SEK"),
            ("Open a café in Bergen. Budget: kr 900 000", "900000 NOK"),
            ("Open a café. Budget: 1.000.000 kr", "1000000 ?"),
            ("Open a café in Osaka. Budget: ¥10 million", "10000000 JPY"),
            ("Open a café in Shanghai. Budget: ¥10 million", "10000000 CNY"),
            ("Open a café in Berlin. Budget: 5 million", "5000000 EUR"),
        ],
        budget,
    );
}

#[test]
fn the_role_of_an_amount_comes_from_the_words_around_it() {
    let text = "Budget is €3.8 million over 3 years: €1.8M year one, €1.2M year two; tickets at €80 per night. \
                The market is worth €4 billion, and reallocations above €50K need approval. Do not assume that €9 million is enough.";
    insta::assert_snapshot!(amounts(text).join("\n"), @"
    €3.8 million = 3800000 EUR budget
    €1.8M = 1800000 EUR part
    €1.2M = 1200000 EUR part
    €80 = 80 EUR price
    €4 billion = 4000000000 EUR other
    €50K = 50000 EUR other
    €9 million = 9000000 EUR other
    ");
}

#[test]
fn the_budget_is_never_a_price_a_market_or_a_number_of_people() {
    for text in [
        "Sell tickets at €80 per night",
        "Enter a market worth $40 billion",
        "People live on less than 2 USD per day",
        "Serve 1.2 million people in the 10 most affected countries",
        "Reach US$50 million GMV in year one and raise a US$400 million Series B",
        "Run 5 km in 3 days with 2 M participants",
        "Translate 40 books of 300 pages",
    ] {
        assert_eq!(budget(text), "-", "{text}");
    }
}

#[test]
fn an_amount_said_twice_in_two_currencies_is_one_budget() {
    let text = "The budget is ¥10 billion (approximately $65 million USD), over four phases.";
    insta::assert_snapshot!(amounts(text).join("\n"), @"
    ¥10 billion = 10000000000 JPY budget
    $65 million USD = 65000000 USD other
    ");
}

#[test]
fn a_limit_is_the_budget_where_no_other_is_named() {
    assert_eq!(budget("Plan a birthday party for at most 2,000 DKK"), "2000 DKK");
    assert_eq!(amounts("Plan a birthday party for at most 2,000 DKK"), ["2,000 DKK = 2000 DKK limit"]);
    assert_eq!(amounts("생일 파티를 300만원 이하로 준비"), ["300만원 = 3000000 KRW limit"]);
}
