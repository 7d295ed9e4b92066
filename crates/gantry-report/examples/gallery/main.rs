//! Draws every chart with realistic data into a folder: `cargo run -p gantry-report --example gallery -- FOLDER`.
#![allow(clippy::disallowed_methods, reason = "the gallery writes files and says how long drawing took")]

mod plan;
mod values;

use gantry_report::chart::{Clock, Frame, Gantt, GanttLink, GanttTask, LinkKind, Moment};
use jiff::civil::date;
use plan::{Plan, generated};
use std::{fs, path::Path, time::Instant};

/// The plan of a pumping station, in days.
const STATION: &str = include_str!("station.txt");

/// The evacuation of a hospital, in days of 24 hours.
const EVACUATION: &str = include_str!("evacuation.txt");

type Draw = Box<dyn Fn(&Frame) -> String>;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned());
    fs::create_dir_all(&folder)?;
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><title>Charts</title><meta name=color-scheme content='light dark'>",
    );
    for (name, title, draw) in charts() {
        for width in [1_280, 390] {
            let frame = Frame { id: format!("{name}-{width}"), ..Frame::titled(title, width) };
            let begun = Instant::now();
            let svg = draw(&frame);
            println!("{name:<16} {width:>5} px {:>9} bytes {:>8.1} ms", svg.len(), begun.elapsed().as_secs_f64() * 1e3);
            fs::write(Path::new(&folder).join(format!("{name}-{width}.svg")), &svg)?;
            if svg.len() < 300_000 {
                page.push_str(&svg);
            }
        }
    }
    fs::write(Path::new(&folder).join("index.html"), page)
}

/// Every chart with its file name and title.
fn charts() -> Vec<(&'static str, &'static str, Draw)> {
    let station = Plan::read(date(2026, 3, 2).at(0, 0, 0, 0), STATION);
    let evacuation = Plan::read(date(2026, 9, 14).at(6, 0, 0, 0), EVACUATION);
    let (today, deadline) = (58 * 24, station.end() + 12 * 24);
    let (gantt, network) = (station.gantt(today, deadline), station.network());
    let hours = evacuation.gantt(20, 72);
    let begin = date(2026, 1, 5).at(0, 0, 0, 0);
    let mut all: Vec<(&'static str, &'static str, Draw)> = vec![
        ("gantt", "Riverside pumping station", Box::new(move |frame| gantt.svg(frame))),
        ("gantt-hours", "Evacuation of St. Anne's in 72 hours", Box::new(move |frame| hours.svg(frame))),
        ("gantt-periods", "PSPLIB j30, first jobs", Box::new(|frame| periods().svg(frame))),
        ("gantt-decades", "A repository for 50 years", Box::new(|frame| decades().svg(frame))),
        ("gantt-one", "One task", Box::new(|frame| one().svg(frame))),
        ("gantt-none", "Nothing yet", Box::new(|frame| Gantt::default().svg(frame))),
        ("gantt-hostile", "Names from outside & \u{202e}elsewhere", Box::new(|frame| hostile().svg(frame))),
        ("network", "Riverside pumping station", Box::new(move |frame| network.svg(frame))),
    ];
    for (gantt, network, count) in [
        ("gantt-100", "network-100", 100),
        ("gantt-1000", "network-1000", 1_000),
        ("gantt-10000", "network-10000", 10_000),
    ] {
        let plan = generated(begin, count);
        let (chart, graph) = (plan.gantt(plan.end() / 3, plan.end() + 24 * 20), plan.network());
        all.push((gantt, "A generated plan", Box::new(move |frame| chart.svg(frame))));
        all.push((network, "A generated plan", Box::new(move |frame| graph.svg(frame))));
    }
    let dense = plan::dense(1_200, 12_000);
    all.push(("network-dense", "Everything depends on everything", Box::new(move |frame| dense.svg(frame))));
    all.extend(values::charts());
    all
}

fn periods() -> Gantt {
    let jobs = [
        (1, 0, 0),
        (2, 0, 8),
        (3, 0, 4),
        (4, 0, 6),
        (6, 8, 18),
        (7, 4, 12),
        (9, 6, 11),
        (10, 11, 13),
        (11, 8, 15),
        (13, 18, 27),
        (17, 27, 40),
        (32, 43, 43),
    ];
    let tasks = jobs.map(|(number, start, finish)| GanttTask {
        critical: [2, 6, 13, 17, 32].contains(&number),
        ..GanttTask::new(&format!("Job {number}"), Moment::period(start), Moment::period(finish))
    });
    let link = |from, to, kind| GanttLink { from, to, kind, critical: false };
    let links = vec![
        link(1, 4, LinkKind::FinishToStart),
        link(2, 5, LinkKind::StartToStart),
        link(3, 6, LinkKind::FinishToStart),
        link(7, 8, LinkKind::FinishToFinish),
        link(9, 10, LinkKind::FinishToStart),
        link(10, 5, LinkKind::StartToFinish),
    ];
    Gantt { clock: Clock::periods("period"), tasks: tasks.to_vec(), links, ..Gantt::default() }
}

fn decades() -> Gantt {
    let year = |year| Moment::civil(date(year, 1, 1).at(0, 0, 0, 0));
    let tasks = vec![
        GanttTask { critical: true, ..GanttTask::new("Site selection", year(2026), year(2031)) },
        GanttTask { critical: true, ..GanttTask::new("Licence", year(2031), year(2038)) },
        GanttTask { critical: true, ..GanttTask::new("Construction", year(2038), year(2050)) },
        GanttTask::new("Monitoring", year(2030), year(2076)),
        GanttTask::new("Ribbon cutting (20 minutes)", year(2050), Moment::civil(date(2050, 1, 1).at(0, 20, 0, 0))),
        GanttTask { critical: true, ..GanttTask::new("Filling", year(2050), year(2076)) },
    ];
    let link = |from, to| GanttLink { from, to, critical: true, ..GanttLink::default() };
    Gantt { tasks, links: vec![link(0, 1), link(1, 2), link(2, 5)], ..Gantt::default() }
}

fn one() -> Gantt {
    let noon = Moment::civil(date(2026, 3, 3).at(12, 0, 0, 0));
    Gantt { tasks: vec![GanttTask::new("The only one", noon, noon)], ..Gantt::default() }
}

fn hostile() -> Gantt {
    let at = |day| Moment::civil(date(2026, 3, day).at(0, 0, 0, 0));
    let names = [
        "<script>alert('x')</script> & \"quotes\"",
        "right\u{202e}tfel to\u{2066} left",
        "東京都水道局による取水ポンプ場の新設工事と既存設備の撤去および試運転",
        "مرحلة التصميم الأولي للمحطة",
        "👩\u{200d}🔧 Maintenance 👷 of everything that moves and quite a few things that do not move at all",
        "Z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}algo\u{0}\u{7}\u{1b}[31m",
        "",
    ];
    let tasks = names.iter().enumerate().map(|(i, name)| {
        let day = i8::try_from(i).unwrap_or(0) * 2 + 1;
        GanttTask { note: (*name).to_owned(), ..GanttTask::new(name, at(day), at(day + 5)) }
    });
    Gantt { tasks: tasks.collect(), ..Gantt::default() }
}
