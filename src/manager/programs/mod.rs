//! Getting programs ready: a sandbox, their packages, their file, and the command that starts them.

mod launch;
mod program_file;
mod temporary;
mod wanted;

use tokio::time::Instant;

use super::context::Context;
use super::package_cache::{CopyJob, FoundPackages, PackageCache, PackageRequest, ReadyPackages};
use super::{Host, lifecycle};
use crate::code::{self, Around, Finding, Policy, Report, Verdict};
use crate::domain::{ExecSpec, RequestId, Sandbox, SandboxPath};
use crate::protocol::{
    Analysis, CacheUse, Checks, Denied, Failure, FailureKind, Place, Prepared, Program, Reply, Step,
};
use program_file::{Folder, ProgramFile};
pub(super) use temporary::remove_temporary;

/// Does everything that comes before the start.
pub(super) async fn prepare(
    context: Context,
    request: RequestId,
    place: Place,
    program: Box<Program>,
) -> Result<Reply, Failure> {
    let (host, image) = match &place {
        Place::In(sandbox) => (&sandbox.reference.host, sandbox.image.clone()),
        Place::Fresh { host, spec } => (host, spec.image.clone()),
    };
    let host = context.host(host)?;
    let report = read(&program).await?;
    if let Some(denied) = judge(&program, &report) {
        return Ok(Reply::Denied(Box::new(denied)));
    }
    let packages = PackageRequest {
        request,
        program: &program,
        image: &image,
        packages: wanted::packages(host, &program, &report)?,
        is_module: report.is_module,
    };
    let mut preparation = Preparation {
        context: &context,
        host,
        packages,
        ready: None,
        cache_use: CacheUse::None,
        folder: Folder::Shared,
        steps: Vec::new(),
    };
    preparation.find_packages(&place, &report).await?;
    let (sandbox, path) = preparation.find_sandbox(place).await?;
    let spec = preparation.write(&sandbox, report.is_module, path).await?;
    let Preparation {
        packages,
        cache_use,
        steps,
        ..
    } = preparation;
    Ok(Reply::Prepared(Box::new(Prepared {
        sandbox,
        spec,
        cache: cache_use,
        packages: packages.packages,
        steps,
        findings: new_findings(&program, report),
    })))
}

/// Tells what is known of a program before it runs; nothing is made or changed for that.
pub(super) async fn analyse(
    context: Context,
    request: RequestId,
    sandbox: Option<Box<Sandbox>>,
    program: Box<Program>,
) -> Result<Reply, Failure> {
    let report = read(&program).await?;
    let mut analysis = Analysis {
        findings: report.findings.clone(),
        packages: report.packages.clone(),
        kept: None,
    };
    if let Some(sandbox) = sandbox {
        let host = context.host(&sandbox.reference.host)?;
        let image = sandbox.image.clone();
        let mut packages = PackageRequest {
            request,
            program: &program,
            image: &image,
            packages: wanted::packages(host, &program, &report)?,
            is_module: report.is_module,
        };
        packages.packages =
            wanted::without_local(host, &Place::In(sandbox), &packages, &report).await?;
        analysis.kept = PackageCache::new(&context, host).has(&packages).await;
        analysis.packages = packages.packages;
    }
    Ok(Reply::Analysis(Box::new(analysis)))
}

/// A program on its way to its start.
struct Preparation<'a> {
    context: &'a Context,
    host: &'a Host,
    packages: PackageRequest<'a>,
    ready: Option<ReadyPackages>,
    cache_use: CacheUse,
    folder: Folder,
    steps: Vec<Step>,
}

impl Preparation<'_> {
    fn add_step(&mut self, name: &'static str, started: Instant) {
        let took = started.elapsed();
        self.steps.push(Step { name, took });
    }

    /// Finds the packages in the cache, or installs them.
    async fn find_packages(&mut self, place: &Place, report: &Report) -> Result<(), Failure> {
        let started = Instant::now();
        let cache = PackageCache::new(self.context, self.host);
        self.ready = cache.find(&self.packages).await?;
        if self.ready.is_none() {
            let needed = wanted::without_local(self.host, place, &self.packages, report);
            self.packages.packages = needed.await?;
            match cache.find_or_install(&self.packages).await? {
                FoundPackages::Nothing => {}
                FoundPackages::InImage(cache_use) => self.cache_use = cache_use,
                FoundPackages::Ready(ready) => self.ready = Some(ready),
            }
        }
        if let Some(ready) = &self.ready {
            self.cache_use = ready.cache_use;
            self.add_step("packages", started);
        }
        Ok(())
    }

    /// Makes the sandbox or takes the given one, and sees to it that it has the packages; says where.
    async fn find_sandbox(
        &mut self,
        place: Place,
    ) -> Result<(Sandbox, Option<SandboxPath>), Failure> {
        let started = Instant::now();
        match (place, &self.ready) {
            (Place::In(sandbox), None) => Ok((*sandbox, None)),
            (Place::In(sandbox), Some(packages)) => {
                let copy = CopyJob {
                    cache: PackageCache::new(self.context, self.host),
                    request: &self.packages,
                    packages,
                    sandbox: &sandbox,
                };
                let path = copy.run().await?;
                self.add_step("copy", started);
                Ok((*sandbox, Some(path)))
            }
            (Place::Fresh { host, mut spec }, ready) => {
                let is_shared = spec.mounts.iter().any(|one| one.target == spec.work_dir);
                self.folder = if is_shared {
                    Folder::Shared
                } else {
                    Folder::Own
                };
                spec.packages = ready.as_ref().map(ReadyPackages::mount).transpose()?;
                let path = spec.packages.as_ref().map(|mount| mount.target.clone());
                let request = self.packages.request;
                let sandbox =
                    lifecycle::create_sandbox(self.context, request, &host, &spec).await?;
                self.context.temporary.add(sandbox.reference.clone());
                self.add_step("create", started);
                Ok((sandbox, path))
            }
        }
    }

    /// Describes the command that starts the program, with its packages; what does not fit in it is written.
    async fn write(
        &mut self,
        sandbox: &Sandbox,
        is_module: bool,
        packages: Option<SandboxPath>,
    ) -> Result<ExecSpec, Failure> {
        let started = Instant::now();
        self.context
            .tell(self.packages.request, "writing the program");
        let program = self.packages.program;
        let file = ProgramFile::of(sandbox, program, is_module, self.folder)?;
        let mut spec = launch::spec(self.context, sandbox, program, &file).await?;
        if let (Some(path), Some(ready)) = (packages, &self.ready) {
            launch::add_packages(&mut spec, &path, ready.installer);
        }
        self.add_step("write", started);
        Ok(spec)
    }
}

/// Reads the program, unless that was done before.
async fn read(program: &Program) -> Result<Report, Failure> {
    match &program.checks {
        Checks::Passed(report) => Ok(Report::clone(report)),
        Checks::By(_) => read_as(program, program.around.clone()).await,
    }
}

/// Reads the program where it does not keep others waiting.
async fn read_as(program: &Program, around: Around) -> Result<Report, Failure> {
    let (dialect, code) = (program.language.dialect(), program.code.clone());
    let reading = tokio::task::spawn_blocking(move || code::read(dialect, &code, &around));
    reading.await.map_err(|error| {
        Failure::new(
            FailureKind::Internal,
            format!("reading the program failed: {error}"),
        )
    })
}

/// Tells what stands against running the program, if the policy says that something does.
fn judge(program: &Program, report: &Report) -> Option<Denied> {
    let Checks::By(settings) = program.checks else {
        return None;
    };
    let verdict = settings.verdict(&report.findings);
    let report = report.clone();
    (verdict != Verdict::Run).then_some(Denied { verdict, report })
}

/// Returns what whoever asked cannot know yet.
fn new_findings(program: &Program, report: Report) -> Vec<Finding> {
    match program.checks {
        Checks::By(settings) if settings.policy != Policy::Off => report.findings,
        Checks::By(_) | Checks::Passed(_) => Vec::new(),
    }
}
