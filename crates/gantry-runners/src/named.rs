//! Artifacts that a task declares and that are files: `artifacts: [report.md]` of a task that runs something.
//!
//! What a task declares it has to make: an artifact of its runner (`stdout`), an output, or a file of the working folder,
//! named as it stands there. A file is kept as it is when the task has ended.

use gantry_core::effect::Failure;
use gantry_core::input::Success;
use gantry_core::plan::Action;
use gantry_core::policy::FailureClass;

use crate::files::{Image, Root, blocking, path};
use crate::policy::wrong;
use crate::ports::Ports;
use crate::runner::Ended;
use crate::work::{Place, Work};

/// Keeps the files that a task was to make; one that did not has failed.
pub(crate) async fn keep_named(ended: Ended, work: &Work, place: &Place, ports: &Ports) -> Ended {
    let runs = matches!(work.action, Action::Run(_) | Action::Tool(_) | Action::Command(_));
    match ended.end {
        Ok(success) if runs && !work.brief.artifacts.is_empty() => {
            Ended { end: keep(success, &work.brief.artifacts, place, ports).await, ..ended }
        }
        end => Ended { end, ..ended },
    }
}

async fn keep(mut success: Success, names: &[String], place: &Place, ports: &Ports) -> Result<Success, Failure> {
    for name in names {
        let made = success.outputs.contains_key(name) || success.artifacts.iter().any(|made| made.name == *name);
        if made {
            continue;
        }
        let bytes = match read(name, place).await {
            Ok(bytes) => bytes,
            Err(failure) => {
                let evidence = std::mem::take(&mut success.artifacts);
                return Err(Failure { evidence, outputs: success.outputs, ..failure });
            }
        };
        // It is done: without a place for what it made, nobody knows what that was.
        let in_doubt = |error| Failure { class: FailureClass::Lost, ..Failure::from(error) };
        success.artifacts.push(ports.keep_as(name, bytes).await.map_err(in_doubt)?);
    }
    Ok(success)
}

async fn read(name: &str, place: &Place) -> Result<Vec<u8>, Failure> {
    let told = |class, why: &str| Failure::new(class, format!("the artifact `{name}` cannot be kept: {why}"));
    let path = path::checked(name).map_err(|(class, why)| told(class, &why))?;
    place.may_read(&path).map_err(|failure| told(failure.class, &failure.message))?;
    let (root, wanted) = (Root::of(place), path.clone());
    let image = blocking(move || root.open()?.image(&wanted)).await;
    match image.map_err(|failure| told(failure.class, &failure.message))? {
        Image::File { bytes, .. } => Ok(bytes),
        Image::Absent => Err(wrong(format!(
            "it was to make the artifact `{name}`, and there is neither such a file in the working folder nor such an output"
        ))),
        other => Err(told(FailureClass::Logic, &other.no_file(&path).message)),
    }
}
