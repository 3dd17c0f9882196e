//! Getting programs ready: a sandbox, their packages, their file, and the command that starts them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::context::Context;
use super::packages::{self, Provided, Wish};
use super::{Host, lifecycle};
use crate::code::{self, Around, FILE_MARK, Report, Requirement, Wanted};
use crate::domain::{Code, EngineKind, ExecSpec, RequestId, Sandbox, SandboxPath, SandboxRef};
use crate::engine::Note;
use crate::protocol::{
    Action, CacheUse, Failure, FailureKind, Outlook, Place, Prepared, Program, Reply, Step,
};

/// Starts programs; see the file.
const LAUNCH: &str = include_str!("../../assets/launch.sh");
/// What the kernel takes as one variable, with room for its name and more.
const MOST_INLINE: usize = 96 * 1024;
/// How long removing takes at most when the manager ends.
const LAST_REMOVALS: Duration = Duration::from_secs(8);

/// Sandboxes that were made for one program each.
#[derive(Debug, Default)]
pub(super) struct Fresh(Mutex<Vec<SandboxRef>>);

impl Fresh {
    fn add(&self, sandbox: SandboxRef) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sandbox);
    }

    /// Forgets one that is gone.
    pub(super) fn forget(&self, sandbox: &SandboxRef) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known != sandbox);
    }

    fn take(&self) -> Vec<SandboxRef> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Removes what was made for programs and is still there.
pub(super) async fn sweep(context: &Context) {
    let removals = context.fresh.take().into_iter().map(|sandbox| async move {
        let removed = lifecycle::act(context, &sandbox, Action::Remove { force: true }).await;
        if let Err(failure) = removed {
            tracing::warn!(%failure, "a sandbox made for one run is left; the reaper will find it");
        }
    });
    let all = futures_util::future::join_all(removals);
    if tokio::time::timeout(LAST_REMOVALS, all).await.is_err() {
        tracing::warn!("sandboxes made for one run are left; the reaper will find them");
    }
}

/// Does everything that comes before the start.
pub(super) async fn prepare(
    context: &Context,
    request: RequestId,
    place: Place,
    program: Program,
) -> Result<Reply, Failure> {
    let mut steps = Vec::new();
    let (host, image) = match &place {
        Place::In(sandbox) => (&sandbox.reference.host, sandbox.image.clone()),
        Place::Fresh { host, spec } => (host, spec.image.clone()),
    };
    let host = context.host(host)?;
    let report = read(&program, program.around.clone()).await?;
    let started = Instant::now();
    let mut wish = Wish {
        request,
        program: &program,
        image: &image,
        packages: wanted(host, &program, &report)?,
    };
    let mut provided = packages::find(context, host, &wish).await?;
    if provided.is_none() {
        wish.packages = without_neighbours(host, &place, &wish, &report).await?;
        provided = packages::provide(context, host, &wish).await?;
    }
    if provided.is_some() {
        steps.push(step("packages", started));
    }
    let (sandbox, shelf) =
        settle(context, host, &wish, place, provided.as_ref(), &mut steps).await?;
    let started = Instant::now();
    tell(context, request, "writing the program");
    let mut spec = written(context, &sandbox, &program, report.is_module).await?;
    if let (Some(shelf), Some(provided)) = (shelf, &provided) {
        let installer = provided.installer.word().to_owned();
        spec.env
            .push(("SANDTOP_SHELF".to_owned(), shelf.to_string()));
        spec.env.push(("SANDTOP_INSTALLER".to_owned(), installer));
    }
    steps.push(step("write", started));
    Ok(Reply::Prepared(Box::new(Prepared {
        sandbox,
        spec,
        cache: provided.as_ref().map_or(CacheUse::None, |one| one.cache),
        packages: provided.map_or_else(Vec::new, |_| wish.packages),
        steps,
    })))
}

/// Tells what is known of a program before it runs; nothing is made or changed for that.
pub(super) async fn outlook(
    context: &Context,
    request: RequestId,
    sandbox: Option<Box<Sandbox>>,
    program: Program,
) -> Result<Reply, Failure> {
    let report = read(&program, program.around.clone()).await?;
    let mut outlook = Outlook {
        findings: report.findings.clone(),
        packages: report.packages.clone(),
        kept: None,
    };
    if let Some(sandbox) = sandbox {
        let host = context.host(&sandbox.reference.host)?;
        let image = sandbox.image.clone();
        let mut wish = Wish {
            request,
            program: &program,
            image: &image,
            packages: wanted(host, &program, &report)?,
        };
        wish.packages = without_neighbours(host, &Place::In(sandbox), &wish, &report).await?;
        outlook.kept = packages::is_kept(context, host, &wish).await;
        outlook.packages = wish.packages;
    }
    Ok(Reply::Outlook(Box::new(outlook)))
}

/// Makes the sandbox or takes the given one, and sees to it that it has the packages; says where.
async fn settle(
    context: &Context,
    host: &Host,
    wish: &Wish<'_>,
    place: Place,
    provided: Option<&Provided>,
    steps: &mut Vec<Step>,
) -> Result<(Sandbox, Option<SandboxPath>), Failure> {
    let started = Instant::now();
    match (place, provided) {
        (Place::In(sandbox), None) => Ok((*sandbox, None)),
        (Place::In(sandbox), Some(provided)) => {
            let shelf = provided.carry(context, host, wish, &sandbox).await?;
            steps.push(step("copy", started));
            Ok((*sandbox, Some(shelf)))
        }
        (Place::Fresh { host, mut spec }, provided) => {
            spec.shelf = provided.map(Provided::mount).transpose()?;
            let shelf = spec.shelf.as_ref().map(|shelf| shelf.target.clone());
            let made = lifecycle::create(context, wish.request, &host, &spec).await?;
            let Reply::Created(sandbox) = made else {
                let words = "creating gave no sandbox";
                return Err(Failure::new(FailureKind::Internal, words));
            };
            context.fresh.add(sandbox.reference.clone());
            steps.push(step("create", started));
            Ok((*sandbox, shelf))
        }
    }
}

/// Tells which packages a program is to get.
fn wanted(host: &Host, program: &Program, report: &Report) -> Result<Vec<Requirement>, Failure> {
    let can = host.engine.keeps_shelves();
    let Some(installer) = program.language.installer().filter(|_| can) else {
        return match &program.wanted {
            Wanted::Also(own) if !own.is_empty() => Err(unsupported(host)),
            _ => Ok(Vec::new()),
        };
    };
    let merged = program.wanted.merge(installer, &report.packages);
    merged.map_err(|message| Failure::new(FailureKind::Invalid, message))
}

/// Leaves out what the sandbox has beside the program. It is asked only before something is installed: where such packages
/// are installed already, a program still finds what lies beside it first.
async fn without_neighbours(
    host: &Host,
    place: &Place,
    wish: &Wish<'_>,
    report: &Report,
) -> Result<Vec<Requirement>, Failure> {
    let Place::In(sandbox) = place else {
        return Ok(wish.packages.clone());
    };
    if wish.packages.is_empty() || report.packages.is_empty() {
        return Ok(wish.packages.clone());
    }
    let mut around = wish.program.around.clone();
    around
        .local
        .extend(packages::neighbours(host, sandbox).await);
    let report = read(wish.program, around).await?;
    wanted(host, wish.program, &report)
}

fn unsupported(host: &Host) -> Failure {
    let words = format!(
        "packages cannot be installed on the {} engine",
        host.engine.kind()
    );
    Failure::new(FailureKind::Unsupported, words).with_hint(
        "leave out --deps and use an image that has the packages, or use --engine docker",
    )
}

fn step(name: &'static str, started: Instant) -> Step {
    Step {
        name,
        took: started.elapsed(),
    }
}

fn tell(context: &Context, request: RequestId, words: &str) {
    let note = Note {
        text: words.to_owned(),
        done: 0,
        total: None,
    };
    context.progress(request, note);
}

/// Reads the program where it does not keep others waiting.
async fn read(program: &Program, around: Around) -> Result<Report, Failure> {
    let (dialect, code) = (program.language.dialect(), program.code.clone());
    let reading = tokio::task::spawn_blocking(move || code::read(dialect, &code, &around));
    reading.await.map_err(|error| {
        Failure::new(
            FailureKind::Internal,
            format!("reading the program failed: {error}"),
        )
    })
}

/// Describes the command; the program goes with it if it fits, else it is written before.
async fn written(
    context: &Context,
    sandbox: &Sandbox,
    program: &Program,
    is_module: bool,
) -> Result<ExecSpec, Failure> {
    let path = path_of(sandbox, program, is_module)?;
    let file = path.to_string();
    let command = program.language.command(&file, &program.arguments);
    let mut spec = ExecSpec::new(program.exec.clone(), Vec::new());
    spec.env.clone_from(&program.env);
    spec.stdin = program.stdin;
    spec.timeout = program.timeout;
    spec.code = Some(Code {
        language: program.language.name().to_owned(),
        text: String::from_utf8_lossy(&program.code).into_owned(),
    });
    let engine = context.engine(&sandbox.reference)?;
    // The simulated shell of the demo engine knows neither the launcher nor conditions.
    if engine.kind() == EngineKind::Demo {
        write(context, sandbox, &path, &program.code).await?;
        let interpreter = program.language.needs().first().cloned();
        spec.argv = interpreter.into_iter().chain([file]).collect();
        spec.argv.extend(program.arguments.iter().cloned());
        return Ok(spec);
    }
    let mut set = |name: &str, value: &str| spec.env.push((name.to_owned(), value.to_owned()));
    set("SANDTOP_NEEDS", &program.language.needs().join(" "));
    set("SANDTOP_LANGUAGE", program.language.name());
    match inline(&program.code) {
        Some(code) => set("SANDTOP_CODE", code),
        None => write(context, sandbox, &path, &program.code).await?,
    }
    if let Some(json) = program.context.as_deref() {
        let json = inline(json).ok_or_else(|| {
            Failure::new(
                FailureKind::Invalid,
                "the context is larger than 96 KiB or holds a NUL",
            )
        })?;
        set("SANDTOP_CONTEXT_JSON", json);
    }
    let launch = ["sh", "-c", LAUNCH, file.as_str()].map(str::to_owned);
    spec.argv = launch.into_iter().chain(command).collect();
    Ok(spec)
}

/// Returns what can travel in a variable.
fn inline(bytes: &[u8]) -> Option<&str> {
    let fits = bytes.len() <= MOST_INLINE && !bytes.contains(&0);
    std::str::from_utf8(bytes).ok().filter(|_| fits)
}

/// Names the file after its content: the same program is one file, and two programs are never mixed up.
fn path_of(sandbox: &Sandbox, program: &Program, is_module: bool) -> Result<SandboxPath, Failure> {
    let digest = format!("{:x}", Sha256::digest(&program.code));
    let hash = digest.get(..12).unwrap_or(&digest);
    let extension = match program.language.extension() {
        // Node tells modules by their ending.
        "js" if is_module => "mjs",
        other => other,
    };
    let name = format!("{FILE_MARK}{hash}.{extension}");
    sandbox.work_dir.join(name.as_bytes()).map_err(|error| {
        Failure::new(
            FailureKind::Invalid,
            format!("naming the program's file failed: {error}"),
        )
    })
}

async fn write(
    context: &Context,
    sandbox: &Sandbox,
    path: &SandboxPath,
    code: &Bytes,
) -> Result<(), Failure> {
    let engine = context.engine(&sandbox.reference)?;
    let bytes = stream::iter([Ok(code.clone())]).boxed();
    let id = &sandbox.reference.id;
    tokio::select! {
        written = engine.write(id, path, Some(0o600), bytes) => written.map_err(Failure::from),
        () = context.closing() => Err(Failure::new(FailureKind::Interrupted, "interrupted")),
    }
}
