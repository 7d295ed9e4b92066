//! Money: what everything costs, line by line, and when it is due.
//!
//! Every line is rounded to the smallest coin when it is made, and every total is a sum of lines, so that totals by
//! task, by kind and by month all agree to the cent. A line that is due over several months is split by the work in
//! each, and the coins left over go to the months with the largest remainders.

mod line; // in reading order
mod spread;
mod report;

pub use report::{CashFlow, CostReport, KindTotal, Month, ResourceTotal};

pub(crate) use line::{Line, converted, dues, lines, planned, price_per_second};
pub(crate) use report::{by_task, report};
