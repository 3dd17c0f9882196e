//! The cgroup hierarchies of this machine, and where in each of them this process may keep its sandboxes.
//!
//! Root keeps them right below the top. Anybody else does where a part of the hierarchy was handed over to them: in the
//! topmost folder they may write to on the way to their own group. A user service of systemd is such a folder; a plain login
//! session is not, and gets a scope for each sandbox, see `scope`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::engine::cgroup_usage::{Cgroup, Version};

/// Our folder in every hierarchy.
const OURS: &str = "sandtop";

/// Where this machine has its hierarchies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hierarchies {
    one: BTreeMap<String, Hierarchy>,
    two: Option<Hierarchy>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Hierarchy {
    /// Where it is mounted.
    point: PathBuf,
    /// What of it is seen there.
    root: PathBuf,
    /// Our own group in it.
    own: PathBuf,
}

impl Hierarchies {
    pub(super) fn read() -> Self {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        Self::parse(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
    }

    /// Reads those of a process in a group that was handed over to it: nothing above that, nothing beside it.
    pub(super) fn within(groups: &str) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let two = Self::parse(&mounts, groups).two;
        Self {
            one: BTreeMap::new(),
            two: two.map(|two| two.below_own()),
        }
    }

    /// Tells whether limits need a group that somebody else hands over: there is one hierarchy for all, and no part of it is ours.
    pub(super) fn needs_a_scope(&self) -> bool {
        !self.one.contains_key("memory") && self.two.is_some() && self.handed_over().is_none()
    }

    /// Returns the folder of the second version that is ours to divide.
    pub(super) fn handed_over(&self) -> Option<PathBuf> {
        let folder = self.two.as_ref()?.ours();
        may_divide(&folder).then_some(folder)
    }

    fn parse(mounts: &str, groups: &str) -> Self {
        let mut found = Self::default();
        for line in mounts.lines() {
            let Some((left, right)) = line.split_once(" - ") else {
                continue;
            };
            let mut left = left.split(' ').skip(3).map(PathBuf::from);
            let (Some(root), Some(point)) = (left.next(), left.next()) else {
                continue;
            };
            let mut right = right.split(' ');
            let hierarchy = |name: &str| Hierarchy {
                own: own_group(groups, name),
                point: point.clone(),
                root: root.clone(),
            };
            match (right.next(), right.nth(1)) {
                (Some("cgroup2"), _) => found.two = Some(hierarchy("")),
                (Some("cgroup"), Some(options)) => {
                    let names = options.split(',');
                    let known = names.map(|name| (name.to_owned(), hierarchy(name)));
                    found.one.extend(known);
                }
                _ => {}
            }
        }
        found
    }

    /// Tells where a controller would keep a sandbox.
    pub(super) fn planned_group(&self, controller: &str, id: &str) -> Option<Cgroup> {
        let (hierarchy, version) = match self.one.get(controller) {
            Some(hierarchy) => (hierarchy, Version::One),
            // The second version counts processor time by itself, and freezes without a controller.
            None if controller == "cpuacct" => return None,
            None => (self.two.as_ref()?, Version::Two),
        };
        Some(Cgroup {
            folder: hierarchy.ours().join(OURS).join(id),
            version,
        })
    }

    /// Makes the folder of a sandbox, if this process may and the controller is there.
    pub(super) fn create_group(&self, controller: &str, id: &str) -> Option<Cgroup> {
        let group = self.planned_group(controller, id)?;
        if group.version == Version::Two {
            enable(group.folder.parent()?, controller);
        }
        fs::create_dir_all(&group.folder).ok()?;
        let sign = match (controller, group.version) {
            ("memory", Version::Two) => "memory.max",
            ("cpu", Version::Two) => "cpu.max",
            ("pids", _) => "pids.max",
            _ => "cgroup.procs",
        };
        let file = group.folder.join(sign);
        // A folder that another user left looks made; only the right to write counts.
        let usable = fs::OpenOptions::new().write(true).open(file).is_ok();
        usable.then_some(group)
    }
}

impl Hierarchy {
    /// The same, seen from our own group.
    fn below_own(&self) -> Self {
        let below = self.own.strip_prefix(&self.root).unwrap_or(Path::new(""));
        Self {
            point: self.point.join(below),
            root: self.own.clone(),
            own: self.own.clone(),
        }
    }

    /// The topmost folder on the way to our own group that is ours to divide; the top itself where none is.
    fn ours(&self) -> PathBuf {
        let below = self.own.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let mut folder = self.point.clone();
        for step in std::iter::once(Path::new("")).chain(below.iter().map(Path::new)) {
            folder = folder.join(step);
            if may_divide(&folder) {
                return folder;
            }
        }
        self.point.clone()
    }
}

/// New groups need the folder; moving a process between two of them needs the list of their common parent.
fn may_divide(folder: &Path) -> bool {
    let writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    writable(folder) && writable(&folder.join("cgroup.procs"))
}

/// Finds our own group in `/proc/self/cgroup`; the second version has no names there.
fn own_group(groups: &str, controller: &str) -> PathBuf {
    let mut lines = groups.lines().filter_map(|line| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let same = names.split(',').any(|name| name == controller);
        same.then(|| PathBuf::from(path))
    });
    lines.next().unwrap_or_else(|| PathBuf::from("/"))
}

/// Hands a controller down to our folder and to the sandboxes in it.
fn enable(ours: &Path, controller: &str) {
    let _ = fs::create_dir_all(ours);
    for folder in [ours.parent().unwrap_or(ours), ours] {
        let _ = fs::write(
            folder.join("cgroup.subtree_control"),
            format!("+{controller}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str =
        "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    #[test]
    fn hierarchies_of_both_versions_are_found() {
        let found = Hierarchies::parse(HYBRID, "");
        let folder = |controller: &str| {
            let group = found.planned_group(controller, "x").expect("a group");
            (group.folder, group.version)
        };
        let at = |path: &str| PathBuf::from(path);
        assert_eq!(
            folder("cpuacct"),
            (at("/sys/fs/cgroup/cpu/sandtop/x"), Version::One)
        );
        assert_eq!(
            folder("pids"),
            (at("/sys/fs/cgroup/unified/sandtop/x"), Version::Two)
        );
        assert_eq!(
            Hierarchies::parse("", "").planned_group("memory", "x"),
            None
        );
    }

    #[test]
    fn our_own_group_is_known() {
        let groups = "9:memory:/user/ada\n4:cpu,cpuacct:/other\n0::/user.slice/run.scope\n";
        for (controller, path) in [
            ("memory", "/user/ada"),
            ("cpuacct", "/other"),
            ("", "/user.slice/run.scope"),
            ("pids", "/"),
        ] {
            assert_eq!(
                own_group(groups, controller),
                Path::new(path),
                "{controller}"
            );
        }
    }

    #[test]
    fn a_part_that_was_handed_over_is_used_from_its_top() {
        // Whoever may do everything has the top; so these are folders that even root finds without a list of members.
        let point = tempfile::tempdir().expect("a folder");
        let deep = point.path().join("user/service/app/own");
        fs::create_dir_all(&deep).expect("folders");
        for handed_over in ["user/service", "user/service/app"] {
            fs::write(point.path().join(handed_over).join("cgroup.procs"), "").expect("a file");
        }
        let hierarchy = Hierarchy {
            point: point.path().to_owned(),
            root: "/docker/x".into(),
            own: "/docker/x/user/service/app/own".into(),
        };
        assert_eq!(hierarchy.ours(), point.path().join("user/service"));
        let strange = Hierarchy {
            own: "/elsewhere".into(),
            ..hierarchy
        };
        assert_eq!(strange.ours(), point.path());
    }

    #[test]
    fn a_login_session_needs_a_scope_which_is_seen_from_itself() {
        let point = tempfile::tempdir().expect("a folder");
        let scope = point.path().join("user/app/x.scope");
        fs::create_dir_all(&scope).expect("folders");
        let one = format!(
            "41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n",
            point.path().display()
        );
        assert!(Hierarchies::parse(&one, "0::/session\n").needs_a_scope());
        assert!(!Hierarchies::parse(HYBRID, "0::/session\n").needs_a_scope());
        assert!(!Hierarchies::parse("", "").needs_a_scope());
        for handed_over in ["user", "user/app/x.scope"] {
            fs::write(point.path().join(handed_over).join("cgroup.procs"), "").expect("a file");
        }
        let found = Hierarchies::parse(&one, "0::/user/app/x.scope\n");
        assert!(!found.needs_a_scope());
        assert_eq!(found.handed_over(), Some(point.path().join("user")));
        let inner = found.two.expect("a hierarchy").below_own();
        assert_eq!(inner.ours(), scope);
    }
}
