//! The routing table: each command goes to one handler, which gets its fields and nothing else.

use super::package_cache as packages;
use super::run::Manager;
use super::streams::{Input, NewStream};
use super::{deaths, file_streams, lifecycle, programs, reaper, runs, selftest, streams, transfer};
use crate::domain::{RequestId, SandboxRef, StreamId, TtySize};
use crate::protocol::{Command, LifecycleOp, Request};

impl Manager {
    /// Starts what a request asks for. The match has no default arm, so that a new command cannot be forgotten here.
    pub(super) fn take(&mut self, Request { id, command }: Request) {
        tracing::debug!(id = id.0, command = name_of(&command), "request");
        let c = self.context.clone();
        match command {
            Command::Exec {
                sandbox,
                stream,
                spec,
            } => {
                let new = NewStream::exec(sandbox, spec.id.clone());
                self.open(id, stream, new, |task| streams::exec(task, *spec));
            }
            Command::ReadFile {
                sandbox: s,
                stream,
                path,
                limit,
            } => self.open(id, stream, NewStream::file(s), |task| {
                file_streams::read(task, path, limit)
            }),
            Command::WriteFile {
                sandbox: s,
                stream,
                path,
                mode,
            } => self.open(id, stream, NewStream::file(s), |task| {
                file_streams::write(task, path, mode)
            }),
            Command::ReadRun {
                host,
                run,
                stream,
                upto,
            } => self.open(id, stream, NewStream::spool(host), |task| {
                runs::read(task, run, upto)
            }),
            Command::Input { stream, bytes } => self.input(id, stream, Input::Bytes(id, bytes)),
            Command::EndInput(stream) => self.input(id, stream, Input::End(id)),
            Command::Resize { stream, size } => self.resize(id, stream, size),
            Command::Cancel(stream) => self.cancel(id, stream),
            Command::Watch(topic) => self.watch(id, &topic),
            Command::Refresh => self.answer(id, lifecycle::refresh(c)),
            Command::Find(word) => self.answer(id, lifecycle::find(c, word)),
            Command::Create { host, spec } => self.answer(id, lifecycle::create(c, id, host, spec)),
            Command::SelfTest { host, spec } => {
                self.answer(id, selftest::selftest(c, id, host, spec));
            }
            Command::Act { sandbox, action } => self.act(id, sandbox, action),
            Command::Inspect(sandbox) => self.answer(id, lifecycle::inspect(c, sandbox)),
            Command::Processes(sandbox) => self.answer(id, lifecycle::processes(c, sandbox)),
            Command::Changes(sandbox) => self.answer(id, lifecycle::changes(c, sandbox)),
            Command::Images(host) => self.answer(id, lifecycle::images(c, host)),
            Command::Sessions(sandbox) => self.answer(id, lifecycle::sessions(c, sandbox)),
            Command::DropSession { sandbox, name } => {
                self.answer(id, lifecycle::drop_session(c, sandbox, name));
            }
            Command::EventsSince { since } => self.answer(id, lifecycle::events_since(c, since)),
            Command::Diagnose(host) => self.answer(id, lifecycle::diagnose(c, host)),
            Command::Prepare { place, program } => {
                self.answer(id, programs::prepare(c, id, place, program));
            }
            Command::Analyse { sandbox, program } => {
                self.answer(id, programs::analyse(c, id, sandbox, program));
            }
            Command::ListPackages(host) => self.answer(id, packages::list(c, host)),
            Command::RemovePackages { host, keys } => {
                self.answer(id, packages::remove(c, host, keys));
            }
            Command::PrunePackages(host) => self.answer(id, packages::prune(c, host)),
            Command::File { sandbox, op } => self.answer(id, transfer::file(c, sandbox, op)),
            Command::CopyIn {
                sandbox: s,
                from,
                to,
                max_bytes,
            } => self.answer(id, transfer::copy_in(c, id, s, from, to, max_bytes)),
            Command::CopyOut {
                sandbox: s,
                from,
                to,
                max_bytes,
            } => self.answer(id, transfer::copy_out(c, id, s, from, to, max_bytes)),
            Command::CancelRequest(request) => {
                self.answer(id, async move { c.cancellations.cancel(request) });
            }
            Command::Runs { host, filter } => self.answer(id, runs::list(c, host, filter)),
            Command::FindRun { host, id: run } => self.answer(id, runs::find(c, host, run)),
            Command::CancelRun { host, run } => self.answer(id, runs::cancel(c, host, run)),
            Command::ReapStatuses { host, rules } => {
                self.answer(id, reaper::reap_statuses(c, host, rules));
            }
            Command::PreviewReap { host, rules } => {
                self.answer(id, reaper::preview(c, host, rules));
            }
            Command::Reap { host, rules, only } => {
                self.answer(id, reaper::reap(c, host, rules, only));
            }
            Command::Pin { sandbox, pinned } => self.answer(id, reaper::pin(c, sandbox, pinned)),
            Command::Remember { host, name } => self.answer(id, deaths::remember(c, host, name)),
        }
    }

    /// Changes a sandbox, in line at once: of two tasks, the later one may run first.
    fn act(&mut self, id: RequestId, sandbox: SandboxRef, action: LifecycleOp) {
        let context = self.context.clone();
        let turn = context.lock_sandbox(&sandbox);
        self.answer(id, lifecycle::act(context, sandbox, action, turn));
    }

    fn resize(&mut self, id: RequestId, stream: StreamId, size: TtySize) {
        let (context, known) = (self.context.clone(), self.streams.find(stream));
        self.answer(
            id,
            async move { streams::resize(&context, known?, size).await },
        );
    }

    fn cancel(&mut self, id: RequestId, stream: StreamId) {
        let (context, known) = (self.context.clone(), self.streams.find(stream));
        self.answer(id, async move { streams::cancel(&context, known?).await });
    }
}

/// Names a command without its fields, which may hold secrets.
fn name_of(command: &Command) -> String {
    let text = format!("{command:?}");
    let name = text.split(|c: char| !c.is_alphanumeric()).next();
    name.unwrap_or_default().to_owned()
}
