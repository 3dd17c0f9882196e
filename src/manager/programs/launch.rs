//! The command that starts a program; the text of the program goes with it if it fits, else it is written before.

use bytes::Bytes;
use futures_util::{StreamExt, stream};

use super::program_file::ProgramFile;
use crate::code::Installer;
use crate::domain::{Code, EngineKind, ExecSpec, Sandbox, SandboxPath};
use crate::manager::context::Context;
use crate::protocol::{Failure, FailureKind, Program};

/// Starts programs; see the file.
const LAUNCH: &str = include_str!("../../../assets/launch.sh");
/// What the kernel takes as one variable, with room for its name and more.
const MOST_INLINE: usize = 96 * 1024;

/// Describes the command; the program goes with it if it fits, else it is written before.
pub(super) async fn spec(
    context: &Context,
    sandbox: &Sandbox,
    program: &Program,
    place: &ProgramFile,
) -> Result<ExecSpec, Failure> {
    let (path, file) = (&place.path, place.path.to_string());
    let command = program.language.command(&file, &program.arguments);
    let mut spec = ExecSpec::new(program.exec.clone(), Vec::new());
    spec.env.clone_from(&program.env);
    spec.stdin = program.stdin;
    spec.timeout = program.timeout;
    spec.code = Some(Code {
        language: program.language.name().to_owned(),
        name: program.name.clone(),
        text: String::from_utf8_lossy(&program.code).into_owned(),
    });
    let engine = context.engine(&sandbox.reference)?;
    // The simulated shell of the demo engine knows neither the launcher nor conditions.
    if engine.kind() == EngineKind::Demo {
        write(context, sandbox, path, &program.code).await?;
        let interpreter = program.language.needs().first().cloned();
        spec.argv = interpreter.into_iter().chain([file]).collect();
        spec.argv.extend(program.arguments.iter().cloned());
        return Ok(spec);
    }
    let mut set = |name: &str, value: &str| spec.env.push((name.to_owned(), value.to_owned()));
    set("SANDTOP_NEEDS", &program.language.needs().join(" "));
    set("SANDTOP_LANGUAGE", program.language.name());
    if let Some(same) = &place.same {
        set("SANDTOP_SAME", &same.to_string());
    }
    match inline(&program.code) {
        Some(code) => set("SANDTOP_CODE", code),
        None => write(context, sandbox, path, &program.code).await?,
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

/// Tells the launcher where the packages are.
pub(super) fn add_packages(spec: &mut ExecSpec, path: &SandboxPath, installer: Installer) {
    let mut set = |name: &str, value: String| spec.env.push((name.to_owned(), value));
    set("SANDTOP_PACKAGES", path.to_string());
    set("SANDTOP_INSTALLER", installer.word().to_owned());
}

/// Returns what can travel in a variable.
fn inline(bytes: &[u8]) -> Option<&str> {
    let fits = bytes.len() <= MOST_INLINE && !bytes.contains(&0);
    std::str::from_utf8(bytes).ok().filter(|_| fits)
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
        failure = context.interrupted() => Err(failure),
    }
}
