//! Reads `.sm` files of the project scheduling problem library: single mode, renewable resources.
//!
//! Job numbers in the file count from one; tasks of the instance from zero, in the same order.

use super::Unreadable;
use crate::project::Project;
use crate::rcpsp::{Capacity, Instance, Task};

/// Reads the text of a file.
pub fn read(text: &str) -> Result<Instance, Unreadable> {
    let mut lines = Lines { lines: text.lines().collect(), next: 0 };
    let jobs = lines.count("jobs")?;
    let resources = lines.count("- renewable")?;
    for kind in ["- nonrenewable", "- doubly constrained"] {
        if lines.count(kind)? > 0 {
            return Err(
                lines.wrong(format!("there are resources of the kind `{kind}`, which single-mode files do not use"))
            );
        }
    }
    if jobs > text.len() || resources > text.len() {
        return Err(lines.wrong(format!("{jobs} jobs and {resources} resources are more than the file has characters")));
    }

    lines.find("PRECEDENCE RELATIONS:")?;
    lines.skip("jobnr.")?;
    let mut followers = Vec::with_capacity(jobs);
    for job in 1..=jobs {
        followers.push(followers_of(&mut lines, job, jobs)?);
    }

    lines.find("REQUESTS/DURATIONS:")?;
    lines.skip("jobnr.")?;
    lines.skip("--")?;
    let mut instance = Instance::default();
    for job in 1..=jobs {
        instance.add_task(task(&mut lines, job, resources)?);
    }

    lines.find("RESOURCEAVAILABILITIES:")?;
    lines.skip("R")?;
    let amounts = lines.numbers("the capacity of each resource")?;
    if amounts.len() != resources {
        return Err(lines.wrong(format!("{} capacities for {resources} resources", amounts.len())));
    }
    instance.capacities = amounts.into_iter().map(Capacity::constant).collect();
    for (before, followers) in followers.into_iter().enumerate() {
        for after in followers {
            instance.finish_to_start(before, after);
        }
    }
    Ok(instance)
}

/// Reads the text of a file as a project: tasks are called by their job numbers and resources `R1`, `R2` and so on, and
/// times are whole periods from zero.
pub fn project(text: &str) -> Result<Project, Unreadable> {
    read(text).map(|instance| Project::from(&instance))
}

/// The tasks that wait for a job, from the line about it.
fn followers_of(lines: &mut Lines<'_>, job: usize, jobs: usize) -> Result<Vec<usize>, Unreadable> {
    let numbers = lines.numbers(&format!("the successors of job {job}"))?;
    let [number, modes, count, ref followers @ ..] = numbers[..] else {
        return Err(lines.wrong(format!("expected job {job}, its modes, how many successors it has, and these")));
    };
    lines.expect_job(number, job)?;
    if modes != 1 {
        return Err(lines.wrong(format!("job {job} has {modes} modes; only jobs with one mode can be read")));
    }
    if count as usize != followers.len() {
        return Err(lines.wrong(format!("job {job} says it has {count} successors and lists {}", followers.len())));
    }
    let known = |&number: &u32| {
        let number = number as usize;
        if (1..=jobs).contains(&number) {
            Ok(number - 1)
        } else {
            Err(lines.wrong(format!("job {job} names successor {number}, but jobs go from 1 to {jobs}")))
        }
    };
    followers.iter().map(known).collect()
}

/// A task, from the line about its duration and requests.
fn task(lines: &mut Lines<'_>, job: usize, resources: usize) -> Result<Task, Unreadable> {
    let numbers = lines.numbers(&format!("the duration and requests of job {job}"))?;
    let [number, _mode, duration, ref requests @ ..] = numbers[..] else {
        return Err(lines.wrong(format!("expected job {job}, its mode, its duration and its requests")));
    };
    lines.expect_job(number, job)?;
    if requests.len() != resources {
        return Err(lines.wrong(format!("job {job} has {} requests for {resources} resources", requests.len())));
    }
    let requests = requests.iter().copied().enumerate().filter(|&(_, amount)| amount > 0);
    Ok(requests.fold(Task::new(duration), |task, (resource, amount)| task.with(resource, amount)))
}

/// The lines of a file and how far they have been read.
struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Lines<'a> {
    /// Something is wrong with the line read last.
    fn wrong(&self, what: String) -> Unreadable {
        Unreadable { line: self.next.max(1), what }
    }

    /// The next line.
    fn line(&mut self, wanted: &str) -> Result<&'a str, Unreadable> {
        let line = self.lines.get(self.next).copied();
        self.next += 1;
        line.ok_or_else(|| self.wrong(format!("the file ends here, but {wanted} should follow")))
    }

    /// Goes on behind the next line that starts with these words, and returns it.
    fn find(&mut self, words: &str) -> Result<&'a str, Unreadable> {
        loop {
            let line = self.line(&format!("`{words}`"))?;
            if line.trim_start().starts_with(words) {
                return Ok(line);
            }
        }
    }

    /// The number behind the colon of the next line that starts with these words.
    fn count(&mut self, words: &str) -> Result<usize, Unreadable> {
        let line = self.find(words)?;
        let number = line.split_once(':').and_then(|(_, rest)| rest.split_whitespace().next());
        let number = number.and_then(|number| number.parse().ok());
        number.ok_or_else(|| self.wrong(format!("expected a whole number behind `{words} :`")))
    }

    /// Passes the next line, a heading that starts with these words.
    fn skip(&mut self, words: &str) -> Result<(), Unreadable> {
        let line = self.line(&format!("a heading `{words}`"))?;
        if line.trim_start().starts_with(words) {
            Ok(())
        } else {
            Err(self.wrong(format!("expected a heading that starts with `{words}`")))
        }
    }

    /// The whole numbers of the next line.
    fn numbers(&mut self, wanted: &str) -> Result<Vec<u32>, Unreadable> {
        let line = self.line(wanted)?;
        let number = |word: &str| {
            let wrong = |_| self.wrong(format!("`{word}` is no whole number of 0 or more; expected {wanted}"));
            word.parse().map_err(wrong)
        };
        line.split_whitespace().map(number).collect()
    }

    /// Jobs must come in order.
    fn expect_job(&self, number: u32, job: usize) -> Result<(), Unreadable> {
        if number as usize == job {
            Ok(())
        } else {
            Err(self.wrong(format!("expected job {job} here, found job {number}")))
        }
    }
}
