//! What a soak runs on: an engine of some kind, its sandboxes as it counts them itself, and what makes life hard there.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::slow_engine::SlowEngine;
use crate::support::{Place, Running, busybox};

/// A number that no account has.
const ORDINARY: u32 = 54_321;
/// Room for the work directories of a small disk.
const SMALL: &str = "12m";

/// Where processes are killed.
pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) image: String,
    slow: Option<SlowEngine>,
    disk: Option<PathBuf>,
}

impl Ground {
    fn new(place: Place, image: String) -> Self {
        Self {
            place,
            image,
            slow: None,
            disk: None,
        }
    }

    /// The Docker engine.
    pub(crate) fn docker() -> Self {
        Self::new(Place::docker(), busybox())
    }

    /// The same behind something that delays every piece and cuts connections.
    pub(crate) fn slow(seed: u64) -> Self {
        let place = Place::docker();
        let slow = SlowEngine::before(place.docker_host(), &place.path("slow.sock"), seed);
        let place = place.with("DOCKER_HOST", &slow.address());
        let mut ground = Self::new(place, busybox());
        ground.slow = Some(slow);
        ground
    }

    /// The local engine.
    pub(crate) fn local() -> Self {
        Self::new(Place::local(), "host".to_owned())
    }

    /// The same as somebody who is not root.
    pub(crate) fn ordinary() -> Self {
        Self::new(Place::local_as(ORDINARY), "host".to_owned())
    }

    /// The local engine with its sandboxes on a small disk that is filled.
    pub(crate) fn full() -> Self {
        let mut ground = Self::local();
        let at = ground.place.path("state/sandtop/local");
        let options = format!("size={SMALL}");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&at);
        Running::start(mount).wait().ok();
        ground.disk = Some(at);
        ground
    }

    /// Makes it hard.
    pub(crate) fn begin(&self) {
        if let Some(slow) = &self.slow {
            slow.cut(true);
        }
        if let Some(disk) = &self.disk {
            // As much as fits.
            let _ = std::fs::write(disk.join("filler"), vec![1; 64 << 20]);
        }
    }

    /// Makes it easy enough for those who check: no more cuts, and room again.
    pub(crate) fn end(&self) {
        if let Some(slow) = &self.slow {
            slow.cut(false);
        }
        if let Some(disk) = &self.disk {
            let _ = std::fs::remove_file(disk.join("filler"));
        }
    }

    /// Names our sandboxes as the engine itself does.
    pub(crate) fn there(&self) -> Vec<String> {
        if self.is_local() {
            return local_names(&self.scope());
        }
        let label = format!("label=sandtop.scope={}", self.place.scope());
        let format = "{{.Names}}";
        let told = self
            .place
            .docker_says(&["ps", "-a", "--format", format, "--filter", &label]);
        told.lines().map(str::to_owned).collect()
    }

    /// What is left of removed ones: folders, containers, volumes, groups of the kernel.
    pub(crate) fn left_over(&self) -> Vec<String> {
        if !self.is_local() {
            return self.place.belongings();
        }
        let folders = folders_in(&self.scope());
        let groups = ["memory", "pids", "cpu", "freezer", "unified", ""]
            .map(|kind| Path::new("/sys/fs/cgroup").join(kind).join("sandtop"));
        let groups = groups.iter().flat_map(|group| folders_in(group));
        let ours = format!("-{}", self.place.scope());
        let groups = groups.filter(|group| group.display().to_string().contains(&ours));
        let all = folders.into_iter().chain(groups);
        all.map(|path| path.display().to_string()).collect()
    }

    fn is_local(&self) -> bool {
        self.image == "host"
    }

    /// The folder of the one scope that was used here.
    fn scope(&self) -> PathBuf {
        let folders = folders_in(&self.place.path("state/sandtop/local"));
        folders.into_iter().next().unwrap_or_default()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.end();
        if let Some(disk) = &self.disk {
            self.place.clean();
            let mut umount = Command::new("umount");
            umount.arg("-l").arg(disk);
            Running::start(umount).wait();
        }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

fn local_names(scope: &Path) -> Vec<String> {
    let folders = folders_in(scope).into_iter();
    let names = folders.filter_map(|folder| {
        let text = std::fs::read(folder.join("record.json")).ok()?;
        let record: Value = serde_json::from_slice(&text).ok()?;
        Some(record["asked"]["name"].as_str()?.to_owned())
    });
    names.collect()
}
