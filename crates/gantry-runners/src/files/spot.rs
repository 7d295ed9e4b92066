//! Access to files, one name at a time, from a folder that was opened once.
//!
//! Every folder on the way is opened by its name in the folder before it, and a link is refused instead of followed. So
//! a path means what it says even while someone else renames and links in the working folder.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, MetadataExt, OpenOptions, Permissions, PermissionsExt};
use gantry_core::effect::Failure;
use gantry_core::policy::FailureClass;
use rustix::fs::{Mode, OFlags};

use super::{Foreseen, Image, Kept, Part};
use crate::policy::{forbidden, wrong};
use crate::work::Place;

/// The bits of a mode that are kept and restored.
const MODE_BITS: u32 = 0o7777;

/// A working folder, by name; and, once opened, by handle.
#[derive(Clone)]
pub(crate) struct Root {
    path: PathBuf,
    dir: Option<Arc<Dir>>,
    file_bytes_max: u64,
    foreseen: Foreseen,
}

/// A name in a folder that is open.
pub(crate) struct Spot {
    folder: Dir,
    name: String,
    path: String,
}

impl Root {
    pub(crate) fn of(place: &Place) -> Self {
        let (path, foreseen) = (place.root.clone(), place.foreseen.clone());
        Self { path, dir: None, file_bytes_max: place.limits.file_bytes_max, foreseen }
    }

    /// Opens the folder.
    pub(crate) fn open(mut self) -> Result<Self, Failure> {
        no_link(&self.path)?;
        let follow = if self.path.is_absolute() { OFlags::NOFOLLOW } else { OFlags::empty() };
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | follow;
        let dir = rustix::fs::open(&self.path, flags, Mode::empty()).map(|fd| Dir::from_std_file(fd.into()));
        let dir = dir.map_err(|error| {
            wrong(format!("the working folder `{}` cannot be opened: {error}", self.path.display()))
        })?;
        self.dir = Some(Arc::new(dir));
        Ok(self)
    }

    fn dir(&self) -> Result<&Dir, Failure> {
        self.dir.as_deref().ok_or_else(|| wrong("the working folder is not open"))
    }

    /// Finds a place; none when a folder on the way does not exist.
    pub(crate) fn spot(&self, path: &str) -> Result<Option<Spot>, Failure> {
        let (folders, name) = split(path);
        let mut folder = self.dir()?.try_clone().map_err(|error| failed("opened", ".", &error))?;
        let mut walked = String::new();
        for part in folders {
            if !walked.is_empty() {
                walked.push('/');
            }
            walked.push_str(part);
            folder = match folder.open_dir_nofollow(part) {
                Ok(folder) => folder,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(not_a_folder(&folder, part, &walked, path, &error)),
            };
        }
        Ok(Some(Spot { folder, name: name.to_owned(), path: path.to_owned() }))
    }

    /// Finds a place and makes the folders on the way.
    pub(crate) fn make_spot(&self, path: &str) -> Result<Spot, Failure> {
        let (folders, name) = split(path);
        let mut folder = self.dir()?.try_clone().map_err(|error| failed("opened", ".", &error))?;
        for part in folders {
            match folder.create_dir(part) {
                Ok(()) => sync(&folder, part)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("created", part, &error)),
            }
            folder = folder.open_dir_nofollow(part).map_err(|error| not_a_folder(&folder, part, part, path, &error))?;
        }
        Ok(Spot { folder, name: name.to_owned(), path: path.to_owned() })
    }

    /// The folders on the way to a path that do not exist yet, the outermost first.
    pub(crate) fn missing_folders(&self, path: &str) -> Result<Vec<String>, Failure> {
        let mut missing = Vec::new();
        for (index, _) in path.match_indices('/') {
            let folder = &path[..index];
            if self.image(folder)? == Image::Absent {
                missing.push(folder.to_owned());
            }
        }
        Ok(missing)
    }

    /// Removes a folder if it is empty.
    pub(crate) fn remove_folder(&self, path: &str) -> Result<(), Failure> {
        match self.spot(path)? {
            Some(spot) => match spot.folder.remove_dir(&spot.name) {
                Ok(()) => sync(&spot.folder, path),
                // Someone put something else there, or it is gone: both are fine.
                Err(_) => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// What is there now, without its content, however large that is; none for what is neither file nor link.
    pub(crate) fn noted(&self, path: &str) -> Result<Option<Kept>, Failure> {
        match self.spot(path)? {
            Some(spot) => spot.noted(),
            None => Ok(Some(Kept::Absent)),
        }
    }

    /// How many bytes the file at a path has; none when there is nothing. Says no to what is no file.
    pub(crate) fn size(&self, path: &str) -> Result<Option<u64>, Failure> {
        let Some(spot) = self.spot(path)? else { return Ok(None) };
        let failed = |error: io::Error| failed("read", path, &error);
        match spot.folder.symlink_metadata(&spot.name) {
            Ok(meta) if meta.is_symlink() => {
                let target = spot.folder.read_link_contents(&spot.name).map_err(failed)?;
                Err(Image::Link { target }.no_file(path))
            }
            Ok(meta) if meta.is_dir() => Err(Image::Folder.no_file(path)),
            Ok(meta) if meta.is_file() => Ok(Some(meta.len())),
            Ok(_) => Err(Image::Other.no_file(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// The name of a file for someone who opens files by their whole names, without a link in it as far as is known now.
    pub(crate) fn full(&self, path: &str) -> Result<PathBuf, Failure> {
        let root = self.path.canonicalize();
        let root = root
            .map_err(|error| wrong(format!("the working folder `{}` cannot be used: {error}", self.path.display())))?;
        Ok(root.join(path))
    }

    /// Removes a file, if there is one.
    pub(crate) fn delete(&self, path: &str) -> Result<(), Failure> {
        match self.spot(path)? {
            Some(spot) => spot.remove(&spot.name).and_then(|()| sync(&spot.folder, path)),
            None => Ok(()),
        }
    }

    /// The unfinished file of some work.
    pub(crate) fn part(&self, key: &str) -> Result<Part, Failure> {
        match &self.dir {
            Some(dir) => Ok(Part::of(Arc::clone(dir), key)),
            None => Err(wrong("the working folder is not open")),
        }
    }

    /// Puts an unfinished file in its place. What is there keeps its mode.
    pub(crate) fn put_part(&self, part: &Part, path: &str) -> Result<(), Failure> {
        let (spot, dir) = (self.make_spot(path)?, self.dir()?);
        let failed = |error: io::Error| failed("written", path, &error);
        if let Some(Kept::File { mode: Some(mode), .. }) = spot.noted()? {
            dir.set_permissions(part.name(), Permissions::from_mode(mode)).map_err(failed)?;
        }
        dir.rename(part.name(), &spot.folder, &spot.name).map_err(failed)?;
        sync(&spot.folder, path)
    }

    /// What is there now; in a walk of previews, what would be there then.
    pub(crate) fn image(&self, path: &str) -> Result<Image, Failure> {
        if let Some(image) = self.foreseen.image(path) {
            return Ok(image);
        }
        self.image_up_to(path, self.file_bytes_max)
    }

    /// What is there now; says no to a file that is larger.
    pub(crate) fn image_up_to(&self, path: &str, bytes_max: u64) -> Result<Image, Failure> {
        match self.spot(path)? {
            Some(spot) => spot.image(bytes_max),
            None => Ok(Image::Absent),
        }
    }
}

impl Spot {
    fn noted(&self) -> Result<Option<Kept>, Failure> {
        let failed = |error: io::Error| failed("read", &self.path, &error);
        let meta = match self.folder.symlink_metadata(&self.name) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Kept::Absent)),
            Err(error) => return Err(failed(error)),
        };
        if meta.is_symlink() {
            let target = self.folder.read_link_contents(&self.name).map_err(failed)?;
            return Ok(Some(Kept::Link { target }));
        }
        if !meta.is_file() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let file = self.folder.open_with(&self.name, &options).map_err(failed)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file.into_std()).map_err(failed)?;
        let mode = Some(meta.mode() & MODE_BITS);
        Ok(Some(Kept::File { hash: hasher.finalize().to_hex().to_string(), blob: None, holes: Vec::new(), mode }))
    }

    fn image(&self, bytes_max: u64) -> Result<Image, Failure> {
        let failed = |error: io::Error| failed("read", &self.path, &error);
        let meta = match self.folder.symlink_metadata(&self.name) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Image::Absent),
            Err(error) => return Err(failed(error)),
        };
        if meta.is_symlink() {
            let target = self.folder.read_link_contents(&self.name).map_err(failed)?;
            return Ok(Image::Link { target });
        }
        if meta.is_dir() {
            return Ok(Image::Folder);
        }
        if !meta.is_file() {
            return Ok(Image::Other);
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let file = self.folder.open_with(&self.name, &options).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Ok(Image::Other);
        }
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > bytes_max {
            // It may be growing: what was read is the least.
            let size = meta.len().max(bytes.len() as u64);
            return Err(wrong(format!("`{}` has {size} bytes; at most {bytes_max} are read and kept", self.path)));
        }
        Ok(Image::File { bytes, mode: Some(meta.mode() & MODE_BITS) })
    }

    /// Puts a file, a link or nothing in this place, as a whole: whoever looks sees the old or the new.
    pub(crate) fn put(&self, image: &Image, key: &str) -> Result<(), Failure> {
        let failed = |error: io::Error| failed("written", &self.path, &error);
        let temporary = self.temporary(key);
        self.remove(&temporary)?;
        match image {
            Image::Absent => self.remove(&self.name)?,
            Image::File { bytes, mode } => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).follow(FollowSymlinks::No);
                let mut file = self.folder.open_with(&temporary, &options).map_err(failed)?;
                file.write_all(bytes).map_err(failed)?;
                if let Some(mode) = mode {
                    file.set_permissions(Permissions::from_mode(*mode)).map_err(failed)?;
                }
                file.sync_all().map_err(failed)?;
                self.folder.rename(&temporary, &self.folder, &self.name).map_err(failed)?;
            }
            Image::Link { target } => {
                self.folder.symlink_contents(target, &temporary).map_err(failed)?;
                self.folder.rename(&temporary, &self.folder, &self.name).map_err(failed)?;
            }
            Image::Folder | Image::Other => return Err(image.no_file(&self.path)),
        }
        sync(&self.folder, &self.path)
    }

    fn remove(&self, name: &str) -> Result<(), Failure> {
        match self.folder.remove_file(name) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(failed("deleted", &self.path, &error)),
        }
    }

    /// The name of the unfinished file: the same for the same work, so that what a crash leaves is found again.
    fn temporary(&self, key: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(key.as_bytes()).update(&[0]).update(self.path.as_bytes());
        format!(".gantry-{}.tmp", &hasher.finalize().to_hex()[..16])
    }
}

fn split(path: &str) -> (impl Iterator<Item = &str>, &str) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    (folders.split('/').filter(|part| !part.is_empty()), name)
}

/// Says no to a working folder that someone has replaced by a link: it would be another folder under the same name.
pub(crate) fn no_link(root: &Path) -> Result<(), Failure> {
    match std::fs::read_link(root) {
        Ok(target) if root.is_absolute() => Err(forbidden(format!(
            "the working folder `{}` is a link to `{}`, and links are not followed; put the folder back, or run the plan in the folder itself",
            root.display(),
            target.display()
        ))),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Makes a change in a folder durable.
fn sync(folder: &Dir, path: &str) -> Result<(), Failure> {
    rustix::fs::fsync(folder).or_else(|error| {
        // Some file systems have no such thing for folders.
        if matches!(error, rustix::io::Errno::INVAL | rustix::io::Errno::BADF) {
            Ok(())
        } else {
            Err(failed("written", path, &error.into()))
        }
    })
}

fn not_a_folder(folder: &Dir, part: &str, walked: &str, path: &str, error: &io::Error) -> Failure {
    let link = folder.symlink_metadata(part).is_ok_and(|meta| meta.is_symlink());
    if link {
        return forbidden(format!(
            "`{walked}` is a link, and links are not followed; name the place that it points to, instead of `{path}`"
        ));
    }
    failed("opened", walked, error)
}

/// Sorts what the system says: a full disk may be emptied, a missing right will not appear by itself.
pub(super) fn failed(what: &str, path: &str, error: &io::Error) -> Failure {
    use io::ErrorKind::{Interrupted, QuotaExceeded, ResourceBusy, StorageFull, WouldBlock};
    let class = match error.kind() {
        StorageFull | QuotaExceeded | ResourceBusy | WouldBlock | Interrupted => FailureClass::Transient,
        _ => FailureClass::Logic,
    };
    Failure::new(class, format!("`{path}` cannot be {what}: {error}"))
}
