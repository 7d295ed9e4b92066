//! Changes of files: what was there, what shall be there, and the way back.

use std::path::PathBuf;

use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use serde::{Deserialize, Serialize};

use super::{Root, blocking};
use crate::policy::{forbidden, wrong};
use crate::ports::{KeepError, Ports};
use crate::secrets::{Hole, Secrets};
use crate::work::Place;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// Nothing.
    Absent,
    /// A file; without a mode the system decides.
    File { bytes: Vec<u8>, mode: Option<u32> },
    /// A link; where it points is just a text.
    Link { target: PathBuf },
    /// A folder.
    Folder,
    /// A socket, a device, a pipe.
    Other,
}

impl Image {
    /// The same with other content; says no to what is no file.
    pub(super) fn with_content(&self, path: &str, bytes: Vec<u8>) -> Result<Self, Failure> {
        match self {
            Self::Absent => Ok(Self::File { bytes, mode: None }),
            Self::File { mode, .. } => Ok(Self::File { bytes, mode: *mode }),
            Self::Link { .. } | Self::Folder | Self::Other => Err(self.no_file(path)),
        }
    }

    /// The same as a program, or as no program.
    pub(super) fn executable(self, executable: Option<bool>) -> Self {
        match (self, executable) {
            (Self::File { bytes, mode }, Some(true)) => Self::File { bytes, mode: Some(mode.unwrap_or(0o644) | 0o111) },
            (Self::File { bytes, mode }, Some(false)) => {
                Self::File { bytes, mode: Some(mode.unwrap_or(0o644) & !0o111) }
            }
            (image, _) => image,
        }
    }

    /// Its text; says no to what is no text.
    pub(super) fn text(&self, path: &str) -> Result<&str, Failure> {
        let Self::File { bytes, .. } = self else { return Err(self.no_file(path)) };
        std::str::from_utf8(bytes)
            .map_err(|_| wrong(format!("`{path}` is no text; write it as a whole with `files.write`")))
    }

    /// Says no to what cannot be deleted or moved as a whole.
    pub(super) fn can_be_moved(&self, path: &str) -> Result<(), Failure> {
        match self {
            Self::Absent | Self::File { .. } | Self::Link { .. } => Ok(()),
            Self::Folder | Self::Other => Err(self.no_file(path)),
        }
    }

    /// Why this is no file.
    pub(crate) fn no_file(&self, path: &str) -> Failure {
        match self {
            Self::Absent => wrong(format!("there is no `{path}`")),
            Self::Link { target } => {
                let target = target.display();
                forbidden(format!("`{path}` is a link to `{target}`, and links are not followed; name the file itself"))
            }
            Self::Folder => wrong(format!("`{path}` is a folder; a file is needed")),
            Self::File { .. } | Self::Other => wrong(format!("`{path}` is no plain file")),
        }
    }

    /// Whether it is the same but for a mode that nobody asked for.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { bytes, mode }, Self::File { bytes: others, mode: wanted }) => {
                bytes == others && (wanted.is_none() || mode.is_none() || mode == wanted)
            }
            (one, other) => one == other,
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where.
    pub(crate) path: String,
    /// What is there.
    pub(crate) before: Image,
    /// What shall be there.
    pub(crate) after: Image,
}

impl Change {
    /// Makes a list of changes, without those that change nothing.
    pub(super) fn list<'p>(changes: impl IntoIterator<Item = (&'p String, Image, Image)>) -> Vec<Self> {
        let changes = changes.into_iter().filter(|(_, before, after)| !before.same(after));
        changes.map(|(path, before, after)| Self { path: path.clone(), before, after }).collect()
    }
}

/// Makes changes. Each is checked once more against what was seen before, so nobody else's work is overwritten.
pub(super) fn apply(root: &Root, changes: &[Change], key: &str) -> Result<(), Failure> {
    for change in changes {
        if matches!(change.before, Image::Folder | Image::Other) {
            return Err(change.before.no_file(&change.path));
        }
        if root.image(&change.path)? != change.before {
            let message = format!("`{}` was changed by someone else just now", change.path);
            return Err(Failure::new(FailureClass::Transient, message));
        }
        match &change.after {
            Image::Absent => {
                if let Some(spot) = root.spot(&change.path)? {
                    spot.put(&Image::Absent, key)?;
                }
            }
            after => root.make_spot(&change.path)?.put(after, key)?,
        }
    }
    Ok(())
}

/// The way back: kept durably before anything changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Undo {
    /// The changes, in the order they are made.
    files: Vec<Was>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Was {
    path: String,
    before: Kept,
    after: Kept,
    /// Folders that are made for it, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
}

/// What is at a path, with the content elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kept {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// The hash of its content.
        hash: String,
        /// The hash under which its content is kept, without secrets; none when it is not kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blob: Option<String>,
        /// The secrets in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holes: Vec<Hole>,
        /// Its mode.
        mode: Option<u32>,
    },
    /// A link.
    Link {
        /// Where it points.
        target: PathBuf,
    },
}

impl Kept {
    /// Keeps content so that it comes back byte for byte and holds no secret.
    pub(crate) async fn keep(image: &Image, secrets: &Secrets, ports: &Ports) -> Result<Self, KeepError> {
        let Image::File { bytes, mode } = image else { return Ok(Self::note(image)) };
        let sealed = secrets.seal(bytes);
        let blob = ports.keep.put(sealed.bytes).await?;
        Ok(Self::File { hash: hash(bytes), blob: Some(blob), holes: sealed.holes, mode: *mode })
    }

    /// Notes what it is, without keeping content.
    fn note(image: &Image) -> Self {
        match image {
            Image::File { bytes, mode } => Self::File { hash: hash(bytes), blob: None, holes: Vec::new(), mode: *mode },
            Image::Link { target } => Self::Link { target: target.clone() },
            Image::Absent | Image::Folder | Image::Other => Self::Absent,
        }
    }

    /// Fetches it back.
    pub(crate) async fn fetch(&self, path: &str, secrets: &Secrets, ports: &Ports) -> Result<Image, String> {
        match self {
            Self::Absent => Ok(Image::Absent),
            Self::Link { target } => Ok(Image::Link { target: target.clone() }),
            Self::File { hash: wanted, blob, holes, mode } => {
                let blob = blob.as_ref().ok_or_else(|| format!("the content of `{path}` was not kept"))?;
                let sealed = ports.keep.get(blob).await.map_err(|error| format!("`{path}`: {error}"))?;
                let bytes =
                    secrets.unseal(&sealed, holes).map_err(|why| format!("`{path}` cannot be restored: {why}"))?;
                if hash(&bytes) != *wanted {
                    let why = if holes.is_empty() {
                        "what is kept is damaged"
                    } else {
                        "a secret in it has another value now"
                    };
                    return Err(format!("`{path}` cannot be restored: {why}"));
                }
                Ok(Image::File { bytes, mode: *mode })
            }
        }
    }

    /// Whether both are the same, but for the mode.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { hash: one, .. }, Self::File { hash: other, .. }) => one == other,
            (one, other) => one == other,
        }
    }

    /// Whether both are the same, the mode included.
    fn exactly_same(&self, other: &Self) -> bool {
        let same_mode = match (self, other) {
            (Self::File { mode: one, .. }, Self::File { mode: other, .. }) => one == other,
            _ => true,
        };
        same_mode && self.same(other)
    }

    /// Whether this is what is there now, its mode included.
    pub(crate) fn is_exactly(&self, image: &Image) -> bool {
        let same_mode = match (self, image) {
            (Self::File { mode: kept, .. }, Image::File { mode, .. }) => kept == mode,
            _ => true,
        };
        same_mode && self.is(image)
    }

    /// Whether this is what is there now, but for the mode.
    pub(crate) fn is(&self, image: &Image) -> bool {
        match (self, image) {
            (Self::Absent, Image::Absent) => true,
            (Self::File { hash: kept, .. }, Image::File { bytes, .. }) => *kept == hash(bytes),
            (Self::Link { target: kept }, Image::Link { target }) => kept == target,
            (Self::Absent | Self::File { .. } | Self::Link { .. }, _) => false,
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Undo {
    /// Keeps what is there before some changes.
    pub(super) async fn keep(changes: &[Change], place: &Place, ports: &Ports) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for change in changes {
            let (root, path, makes) = (Root::of(place), change.path.clone(), change.after != Image::Absent);
            let missing = move || if makes { root.open()?.missing_folders(&path) } else { Ok(Vec::new()) };
            files.push(Was {
                path: change.path.clone(),
                before: Kept::keep(&change.before, &place.secrets, ports).await?,
                after: Kept::note(&change.after),
                folders: blocking(missing).await?,
            });
        }
        Ok(Self { files })
    }

    /// The same for a file that has come in a part with this hash; tells, too, whether that changes anything. What nobody
    /// wants back is not kept.
    pub(crate) async fn keep_for_part(
        path: &str,
        hash: &str,
        keeps: bool,
        place: &Place,
        ports: &Ports,
    ) -> Result<(Self, bool), Failure> {
        let bytes_max = place.limits.database_bytes_max;
        let (root, place_of, new) = (Root::of(place), path.to_owned(), hash.to_owned());
        let look = move || {
            let root = root.open()?;
            let noted = root.noted(&place_of)?;
            let is_file = matches!(noted, Some(Kept::File { .. }));
            if matches!(&noted, Some(Kept::File { hash: now, .. }) if *now == new) {
                return Ok(None);
            }
            let folders = root.missing_folders(&place_of)?;
            if is_file && !keeps {
                return Ok(Some((noted, None, folders)));
            }
            let size = if is_file { root.size(&place_of)?.unwrap_or_default() } else { 0 };
            if size > bytes_max {
                return Err(wrong(format!(
                    "`{place_of}` has {size} bytes; at most {bytes_max} are kept to take a change back. Say `undo: never`, \
                     or how to take it back, to replace it all the same"
                )));
            }
            let image = root.image_up_to(&place_of, bytes_max)?;
            Ok(Some((noted, Some(image), folders)))
        };
        let Some((noted, image, folders)) = blocking(look).await? else { return Ok((Self::default(), false)) };
        let before = match image {
            None => noted.unwrap_or(Kept::Absent),
            Some(image @ (Image::Absent | Image::File { .. })) => Kept::keep(&image, &place.secrets, ports).await?,
            Some(other) => return Err(other.no_file(path)),
        };
        let after = Kept::File { hash: hash.to_owned(), blob: None, holes: Vec::new(), mode: None };
        Ok((Self { files: vec![Was { path: path.to_owned(), before, after, folders }] }, true))
    }

    /// Reads what was written down.
    pub(crate) fn read(record: &serde_json::Value) -> Result<Self, String> {
        serde_json::from_value(record.clone())
            .map_err(|error| format!("the record of what was there before cannot be read: {error}"))
    }

    /// Restores what was there, the last change first; refuses as a whole when someone else has changed anything since.
    pub(crate) async fn take_back(&self, place: &Place, ports: &Ports) -> Result<String, String> {
        let mut steps = Vec::new();
        for was in self.files.iter().rev() {
            steps.push((was.clone(), was.before.fetch(&was.path, &place.secrets, ports).await?));
        }
        let root = Root::of(place);
        let restore = move || {
            let root = root.open()?;
            let mut restored = 0;
            for (was, _) in &steps {
                let now = root.noted(&was.path)?;
                if !now.is_some_and(|now| was.before.same(&now) || was.after.same(&now)) {
                    let message = format!("`{}` was changed since; taking it back would lose that change", was.path);
                    return Err(wrong(message));
                }
            }
            for (was, before) in &steps {
                let Some(now) = root.noted(&was.path)? else { continue };
                if !was.before.exactly_same(&now) && (was.after.same(&now) || was.before.same(&now)) {
                    match before {
                        Image::Absent => {
                            if let Some(spot) = root.spot(&was.path)? {
                                spot.put(&Image::Absent, "undo")?;
                            }
                        }
                        before => root.make_spot(&was.path)?.put(before, "undo")?,
                    }
                    restored += 1;
                }
                for folder in was.folders.iter().rev() {
                    root.remove_folder(folder)?;
                }
            }
            Ok(restored)
        };
        let restored = blocking(restore).await.map_err(|failure| failure.message)?;
        Ok(match restored {
            0 => "everything was as before already".to_owned(),
            1 => "one file is as before".to_owned(),
            more => format!("{more} files are as before"),
        })
    }
}
