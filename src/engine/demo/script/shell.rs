//! The shell itself: variables, directory, lists, pipes and background jobs.

use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::super::world::World;
use super::io::{Io, Sink};
use super::parse::parse;
use super::syntax::{Item, Link, Redirect, Simple};
use super::variables::Variable;
use super::words::{assignment, expand, expand_whole};
use super::{Flow, end_of, open, programs};
use crate::domain::{Ended, ExecId, SandboxId, SandboxPath};

/// A background job, driven by whoever drives the exec.
pub(in crate::engine::demo) type Job = BoxFuture<'static, ()>;

/// Where a shell runs.
#[derive(Clone)]
pub(in crate::engine::demo) struct Site {
    pub(in crate::engine::demo) world: Arc<World>,
    pub(in crate::engine::demo) id: SandboxId,
    pub(in crate::engine::demo) exec: ExecId,
    pub(in crate::engine::demo) user: String,
    pub(in crate::engine::demo) jobs: mpsc::UnboundedSender<Job>,
}

/// A running shell.
pub(in crate::engine::demo) struct Shell {
    pub(super) site: Site,
    pub(super) cwd: SandboxPath,
    pub(super) pid: u32,
    pub(super) status: i32,
    /// Ends of the background jobs it started.
    pub(super) children: Vec<oneshot::Receiver<()>>,
    pub(super) last_child: Option<u32>,
    pub(super) variables: BTreeMap<String, Variable>,
    /// The session it keeps up to date, with the variables exported in it.
    pub(super) session: Option<(String, BTreeMap<String, String>)>,
}

impl Shell {
    pub(in crate::engine::demo) fn new(
        site: Site,
        pid: u32,
        cwd: SandboxPath,
        env: &[(String, String)],
    ) -> Self {
        let mut shell = Self {
            site,
            cwd,
            pid,
            status: 0,
            children: Vec::new(),
            last_child: None,
            variables: BTreeMap::new(),
            session: None,
        };
        for (name, value) in env {
            shell.set(name, value.clone(), true);
        }
        shell
    }

    /// Continues a session, and keeps it up to date from now on.
    pub(in crate::engine::demo) fn join(&mut self, name: &str, exported: BTreeMap<String, String>) {
        self.session = Some((name.to_owned(), exported));
        self.remember();
    }

    /// Fails at once if the directory to start in is not there.
    pub(in crate::engine::demo) async fn check_cwd(&self, io: &Io) -> Option<Ended> {
        let site = &self.site;
        let listed = site
            .world
            .with(&site.id, |sandbox, _| sandbox.files.list(&self.cwd));
        let message = listed.err()?.message;
        Some(end_of(programs::fail(io, "chdir", &message, 126).await))
    }

    /// Runs a script.
    pub(in crate::engine::demo) fn run_text<'a>(
        &'a mut self,
        text: &'a str,
        io: &'a Io,
    ) -> BoxFuture<'a, Flow> {
        Box::pin(async move {
            match parse(text) {
                Ok(items) => self.run_items(&items, io).await,
                Err(message) => {
                    self.status = 2;
                    programs::fail(io, "sh", &format!("syntax error: {message}"), 2).await
                }
            }
        })
    }

    /// Runs a program with its arguments as they are.
    pub(in crate::engine::demo) async fn run_argv(&mut self, argv: &[String], io: &Io) -> Flow {
        let status = programs::run(self, argv, io).await?;
        self.status = status;
        Continue(status)
    }

    async fn run_items(&mut self, items: &[Item], io: &Io) -> Flow {
        for item in items {
            self.status = if item.background {
                self.start_job(item, io).await?
            } else {
                self.run_chain(&item.chain, io).await?
            };
        }
        Continue(self.status)
    }

    pub(super) async fn run_chain(&mut self, chain: &[(Link, Vec<Simple>)], io: &Io) -> Flow {
        for (link, pipeline) in chain {
            let wanted = match link {
                Link::Always => true,
                Link::And => self.status == 0,
                Link::Or => self.status != 0,
            };
            if wanted {
                self.status = self.run_pipeline(pipeline, io).await?;
            }
        }
        Continue(self.status)
    }

    pub(super) async fn run_simple(&mut self, simple: &Simple, io: &Io) -> Flow {
        let io = &match self.redirected(&simple.redirects, io) {
            Ok(io) => io,
            Err(message) => return programs::fail(io, "sh", &message, 1).await,
        };
        let assignments: Vec<_> = simple.words.iter().map_while(assignment).collect();
        let words = simple.words.get(assignments.len()..).unwrap_or_default();
        let argv = expand(words, |name| self.lookup(name));
        let before = self.variables.clone();
        for (name, word) in &assignments {
            let value = expand_whole(word, |name| self.lookup(name));
            self.set(name, value, !argv.is_empty());
        }
        if argv.is_empty() {
            for (name, _) in &assignments {
                self.refresh(name);
            }
            return Continue(0);
        }
        let flow = programs::run(self, &argv, io).await;
        for (name, _) in &assignments {
            match before.get(name) {
                Some(old) => self.variables.insert(name.clone(), old.clone()),
                None => self.variables.remove(name),
            };
        }
        flow
    }

    /// Tells the session about a variable that it keeps.
    fn refresh(&mut self, name: &str) {
        if self.variables.get(name).is_some_and(|v| v.exported) {
            self.remember_variable(name);
        }
    }

    fn redirected(&self, redirects: &[Redirect], io: &Io) -> Result<Io, String> {
        let mut io = io.clone();
        for redirect in redirects {
            let file = |word| expand_whole(word, |name: &str| self.lookup(name));
            match redirect {
                Redirect::From(word) => io.input = open::open(self, &file(word))?,
                Redirect::To { fd, file: word } => {
                    let sink = open::create(self, &file(word), true)?;
                    *sink_of(&mut io, *fd) = sink;
                }
                Redirect::Append { fd, file: word } => {
                    let sink = open::create(self, &file(word), false)?;
                    *sink_of(&mut io, *fd) = sink;
                }
                Redirect::Same { fd, as_fd } => {
                    let same = sink_of(&mut io, *as_fd).clone();
                    *sink_of(&mut io, *fd) = same;
                }
            }
        }
        Ok(io)
    }
}

fn sink_of(io: &mut Io, fd: u8) -> &mut Sink {
    if fd == 2 { &mut io.err } else { &mut io.out }
}
