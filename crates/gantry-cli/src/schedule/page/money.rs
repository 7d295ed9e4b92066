//! What a schedule costs, how that stands at the data date, and when money is due.

use std::fmt::Write as _;

use gantry_schedule::Schedule;
use rust_decimal::Decimal;

use crate::show::style;
use crate::show::table::{self, Cell, cell};

/// So many months are shown.
const MONTHS_MAX: usize = 12;

/// What it costs, what is set aside, and what the budget says.
pub fn summary(schedule: &Schedule) -> Vec<(&'static str, String)> {
    let cost = &schedule.cost;
    let mut lines = Vec::new();
    if cost.total.is_zero() {
        return lines;
    }
    let mut said = format!("{} {}", cost.currency, cost.total);
    if let Some(futures) = &schedule.monte_carlo {
        let all = &futures.cost;
        if all.p10 != all.p95 {
            let _ = write!(said, " (P10 {}, P50 {}, P95 {})", all.p10, all.p50, all.p95);
        }
    }
    lines.push(("cost", said));
    if let (Some(contingency), Some(total)) = (cost.contingency, cost.total_with_contingency)
        && !contingency.is_zero()
    {
        lines.push(("set aside", format!("{contingency} as contingency, which makes {total}")));
    }
    if let (Some(budget), Some(left)) = (cost.budget, cost.under_budget) {
        let chance = schedule.monte_carlo.as_ref().and_then(|futures| futures.budget_probability);
        let chance = chance.map_or(String::new(), |share| format!(", kept in {:.0} % of futures", share * 100.0));
        let said = if left < Decimal::ZERO { format!("MISSED by {}", -left) } else { format!("{left} to spare") };
        lines.push(("budget", format!("{budget}: {said}{chance}")));
    }
    lines
}

/// Where it stands at the data date; nothing when nothing was done, or nothing costs anything.
pub fn earned_value(schedule: &Schedule) -> String {
    let Some(value) = schedule.earned_value.as_ref().filter(|value| !value.bac.is_zero()) else {
        return String::new();
    };
    if value.ev.is_zero() && value.ac.is_zero() {
        return String::new();
    }
    let one = Decimal::ONE;
    let index = |name: &'static str, index: Option<Decimal>, low: &str, high: &str| {
        let index = index?;
        Some(row(name, index.round_dp(2).to_string(), if index < one { low } else { high }))
    };
    let mut rows = vec![
        row("PV", value.pv.to_string(), "what was to be done by then"),
        row("EV", value.ev.to_string(), "what of the budget is done"),
        row("AC", value.ac.to_string(), "what it has cost"),
    ];
    rows.extend(index("SPI", value.spi, "behind the plan", "not behind"));
    rows.extend(index("CPI", value.cpi, "dearer than planned", "not dearer"));
    if let (Some(eac), Some(vac)) = (value.eac, value.vac) {
        let said = if vac < Decimal::ZERO { format!("{} more", -vac) } else { format!("{vac} less") };
        rows.push(row("EAC", eac.to_string(), &format!("at the end, if it goes on so: {said} than planned")));
    }
    format!("earned value at {}:\n{}", value.data_date.told(), table::draw("  ", &rows, table::width()))
}

fn row(name: &str, amount: String, said: &str) -> Vec<Cell> {
    vec![cell(style::FAINT, name), cell(style::PLAIN, amount), cell(style::FAINT, said)]
}

/// When money is due, month by month; nothing when all of it is due in one.
pub fn cash_flow(schedule: &Schedule) -> String {
    let months = &schedule.cost.cash_flow.months;
    if months.len() < 2 {
        return String::new();
    }
    let rows: Vec<Vec<Cell>> = months
        .iter()
        .take(MONTHS_MAX)
        .map(|month| {
            row(&month.month.strftime("%Y-%m").to_string(), month.due.to_string(), &format!("{} so far", month.so_far))
        })
        .collect();
    let mut page =
        format!("due each month, in {}:\n{}", schedule.cost.currency, table::draw("  ", &rows, table::width()));
    let left = months.len().saturating_sub(MONTHS_MAX);
    if left > 0 {
        let _ = writeln!(page, "  … and {left} more; `--json` and `--svg cash` have all of them");
    }
    page
}
