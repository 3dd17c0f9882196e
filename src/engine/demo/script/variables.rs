//! What a shell remembers: variables, its directory, and the session that keeps both.

use chrono::Utc;

use super::super::world::Session;
use super::shell::Shell;
use crate::domain::SandboxPath;

/// A variable, for the shell alone or for its children as well.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) value: String,
    pub(super) exported: bool,
}

impl Shell {
    /// Returns the value of a variable, or nothing.
    pub(super) fn lookup(&self, name: &str) -> String {
        match name {
            "?" => self.status.to_string(),
            "$" => self.pid.to_string(),
            "!" => self
                .last_child
                .map(|pid| pid.to_string())
                .unwrap_or_default(),
            name => {
                let variable = self.variables.get(name);
                variable.map(|v| v.value.clone()).unwrap_or_default()
            }
        }
    }

    /// Sets a variable; one that is exported stays so.
    pub(super) fn set(&mut self, name: &str, value: String, export: bool) {
        let old = self.variables.get(name);
        let exported = export || old.is_some_and(|variable| variable.exported);
        let variable = Variable { value, exported };
        self.variables.insert(name.to_owned(), variable);
    }

    /// Exports a variable for children and for the session.
    pub(super) fn export(&mut self, name: &str, value: Option<String>) {
        let value = value.unwrap_or_else(|| self.lookup(name));
        self.set(name, value, true);
        self.remember_variable(name);
    }

    /// Forgets a variable.
    pub(super) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
        self.remember_variable(name);
    }

    /// Goes to a directory that is known to exist.
    pub(super) fn enter(&mut self, directory: SandboxPath) {
        self.set("PWD", directory.to_string(), true);
        self.cwd = directory;
        self.remember();
    }

    /// Returns what children see.
    pub(super) fn exported(&self) -> impl Iterator<Item = (&str, &str)> {
        let exported = self.variables.iter().filter(|(_, v)| v.exported);
        exported.map(|(name, variable)| (name.as_str(), variable.value.as_str()))
    }

    /// Returns a copy that cannot change this one.
    pub(super) fn fork(&self, pid: u32) -> Self {
        Self {
            site: self.site.clone(),
            cwd: self.cwd.clone(),
            pid,
            status: self.status,
            children: Vec::new(),
            last_child: None,
            variables: self.variables.clone(),
            session: None,
        }
    }

    pub(super) fn remember_variable(&mut self, name: &str) {
        let value = self.variables.get(name).map(|v| v.value.clone());
        if let Some((_, exported)) = &mut self.session {
            match value {
                Some(value) => exported.insert(name.to_owned(), value),
                None => exported.remove(name),
            };
        }
        self.remember();
    }

    /// Writes the session down at once, so that a timeout loses nothing.
    pub(super) fn remember(&self) {
        let Some((name, exported)) = &self.session else {
            return;
        };
        let session = Session {
            cwd: self.cwd.clone(),
            exported: exported.clone(),
            used_at: Utc::now(),
        };
        // The sandbox may be gone; then there is nothing to remember.
        let _ = self.site.world.with(&self.site.id, |sandbox, _| {
            sandbox.sessions.insert(name.clone(), session);
            Ok(())
        });
    }
}
