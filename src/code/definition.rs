//! A language as it is written down, in the configuration and in the built-in list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::language::{Dialect, Installer};

/// A language as it is written down; what is left out is unknown or comes from the built-in one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Definition {
    /// Other names.
    pub aliases: Option<Vec<String>>,
    /// Endings of its files; the first one is given to new files.
    pub endings: Option<Vec<String>>,
    /// Program and arguments; `{file}` is the program's file.
    pub run: Option<Vec<String>>,
    /// Programs of which an image must have one.
    pub needs: Option<Vec<String>>,
    /// What a fresh sandbox starts from.
    pub image: Option<String>,
    /// The same for single profiles.
    pub images: Option<BTreeMap<String, String>>,
    /// Whose checks and imports it is read with.
    pub checks: Option<Dialect>,
    /// Who installs its packages.
    pub packages: Option<Installer>,
    /// A first program.
    pub starter: Option<String>,
}

impl Definition {
    /// Puts this over another one, which shows where nothing is said here.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            aliases: self.aliases.or(base.aliases),
            endings: self.endings.or(base.endings),
            run: self.run.or(base.run),
            needs: self.needs.or(base.needs),
            image: self.image.or(base.image),
            images: self.images.or(base.images),
            checks: self.checks.or(base.checks),
            packages: self.packages.or(base.packages),
            starter: self.starter.or(base.starter),
        }
    }
}
