//! `run`: code in, its result out; in a sandbox that is there, or in a fresh one that is always removed.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::code::{CodeSource, finding_line, merge, python_of};
use super::code_args::RunArgs;
use super::exec::{self, Piped};
use super::print::{self, Format, Outcome, Stop};
use super::session::unexpected;
use super::spec::in_flags;
use super::stream::InputFrom;
use super::{CliContext, exit, identity};
use crate::code::{self, Around, CheckSettings, Finding, Report, Severity, Verdict, Wanted};
use crate::config::{Config, DEFAULT_TOML, NewSandbox, key_value};
use crate::domain::{HostName, SandboxRef, StdinMode};
use crate::protocol::{
    Checks, Command, Failure, FailureKind, LifecycleOp, Place, Prepared, Program, Reply,
};
use crate::text::{human, masked_value};

/// Most bytes of a context file.
const MOST_CONTEXT: u64 = 96 * 1024;

/// `run`.
pub(super) async fn run(cli: &mut CliContext, args: &RunArgs) -> Outcome<u8> {
    match try_run(cli, args).await {
        Err(Stop::Failed(failure)) => {
            print::failure(&failure, cli.format);
            Ok(exit::of_exec_failure(failure.kind))
        }
        other => other,
    }
}

async fn try_run(cli: &mut CliContext, args: &RunArgs) -> Outcome<u8> {
    cli.refuse_if_read_only("running code")?;
    let source = CodeSource::load(&args.source, &cli.config.languages)?;
    let place = place(cli, args, &source).await?;
    let (image, settings) = match &place {
        Place::In(sandbox) => (sandbox.image.clone(), cli.config.sandbox.checks),
        Place::Fresh { spec, .. } => (spec.image.clone(), profile_checks(cli, args)?),
    };
    let started = Instant::now();
    let around = source.around(python_of(&image));
    let report = code::read(source.language.dialect(), &source.bytes, &around);
    let checked = started.elapsed();
    let findings = if settings.policy == code::Policy::Off {
        &[][..]
    } else {
        &report.findings
    };
    if cli.format == Format::Text {
        note_findings(findings);
    }
    if !may_run(cli, settings.verdict(findings), args) {
        return report_denied(cli, &source, findings, settings.level);
    }
    let read = ReadSource {
        source: &source,
        around,
        report: report.clone(),
    };
    let program = read.program(cli, args)?;
    // What cannot be read is told before anything is made.
    merge(&program.wanted, &source.language, &report.packages)?;
    let shown = shown_env(&program.env);
    let prepared = prepare(cli, place, program).await?;
    let made = args
        .sandbox
        .is_none()
        .then(|| prepared.sandbox.reference.clone());
    let mut fields = fields(&source, findings, &prepared, checked);
    fields.insert("env".into(), shown);
    let ran = start(cli, prepared, fields).await;
    if let Some(sandbox) = made {
        remove(cli, sandbox).await?;
    }
    ran
}

/// Finds the sandbox, or describes a fresh one.
async fn place(cli: &mut CliContext, args: &RunArgs, source: &CodeSource) -> Outcome<Place> {
    if let Some(name) = &args.sandbox {
        let sandbox = cli.session.find(name).await?;
        return Ok(Place::In(Box::new(sandbox)));
    }
    let token = identity::random_word();
    let asked = NewSandbox {
        name: Some(format!("run-{}", token.get(..8).unwrap_or(&token))),
        profile: args.profile.clone(),
        image: args
            .image
            .clone()
            .or_else(|| usual_image(&cli.config, args, source)),
        network: args.network.then_some(true),
        memory: args.memory.clone(),
        ..NewSandbox::default()
    };
    let mut spec = asked
        .build(
            &cli.config,
            identity::owner(crate::domain::OwnerKind::Run),
            token,
        )
        .map_err(in_flags)?;
    spec.labels
        .insert("sandtop.run".into(), source.language.name().into());
    let host = cli.host.clone();
    let host = host.unwrap_or_else(|| HostName::new(super::HOST));
    Ok(Place::Fresh {
        host,
        spec: Box::new(spec),
    })
}

/// A language has an image of its own, which counts as long as nobody has chosen one.
fn usual_image(config: &Config, args: &RunArgs, source: &CodeSource) -> Option<String> {
    let (profile, settings) = config.profile(args.profile.as_deref()).ok()?;
    let own = source.language.image(&profile);
    let is_untouched = DEFAULT_TOML.contains(&format!("image = \"{}\"", settings.image));
    let usual = source.language.usual_image().filter(|_| is_untouched);
    own.or(usual).map(str::to_owned)
}

fn profile_checks(cli: &CliContext, args: &RunArgs) -> Result<CheckSettings, Failure> {
    let (_, profile) = cli.config.profile(args.profile.as_deref())?;
    Ok(profile.checks)
}

/// Tells findings to the person; what is only good to know stays out of the way.
fn note_findings(findings: &[Finding]) {
    for finding in findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info)
    {
        print::note(&format!("check: {}", finding_line(finding)));
    }
}

fn may_run(cli: &CliContext, verdict: Verdict, args: &RunArgs) -> bool {
    match verdict {
        Verdict::Run => true,
        Verdict::Refuse => false,
        Verdict::Ask if args.yes => true,
        Verdict::Ask => cli.format == Format::Text && ask(),
    }
}

/// Asks the person at the terminal, whatever our streams are joined to.
fn ask() -> bool {
    let Ok(terminal) = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
    else {
        return false;
    };
    if !terminal.is_terminal()
        || (&terminal)
            .write_all(b"Run it all the same? [y/N] ")
            .is_err()
    {
        return false;
    }
    let mut answer = String::new();
    let read = std::io::BufReader::new(&terminal).read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Says that the policy does not let it run.
fn report_denied(
    cli: &CliContext,
    source: &CodeSource,
    findings: &[Finding],
    level: Severity,
) -> Outcome<u8> {
    match cli.format {
        Format::Json => print::json(&json!({
            "run": null, "sandbox": null, "status": "denied", "exit_code": null, "signal": null,
            "stdout": "", "stderr": "", "truncated": {"stdout": 0, "stderr": 0},
            "duration_ms": 0, "peak_memory_bytes": null, "source": "cli",
            "by": identity::owner(crate::domain::OwnerKind::Cli).in_full(),
            "language": source.language.name(), "deps": [], "deps_cache": "none", "findings": findings,
        }))?,
        Format::Text => {
            print::note(&format!(
                "error: the check found something at or above `{level}`, and the policy of this profile does not let such code run",
            ));
            print::note(
                "hint: `checks` and `checks_level` in the profile say so; --yes answers the question of `ask`",
            );
        }
    }
    Ok(exit::REFUSED)
}

/// A source that was read.
struct ReadSource<'a> {
    source: &'a CodeSource,
    around: Around,
    report: Report,
}

impl ReadSource<'_> {
    /// Describes it with what the flags say.
    fn program(self, cli: &CliContext, args: &RunArgs) -> Result<Program, Failure> {
        let wanted = args.deps.as_deref().map_or(Wanted::Detected, Wanted::parse);
        let env = args
            .env
            .iter()
            .map(|pair| key_value("env", pair).map_err(in_flags));
        let passes_stdin =
            self.source.file.is_some() && (args.interactive || !std::io::stdin().is_terminal());
        Ok(Program {
            exec: identity::exec_id(),
            name: self.source.name(),
            code: self.source.bytes.clone().into(),
            language: self.source.language.clone(),
            around: self.around,
            checks: Checks::Passed(Box::new(self.report)),
            wanted,
            arguments: args.arguments.clone(),
            env: env.collect::<Result<_, _>>()?,
            context: args.context_file.as_deref().map(context).transpose()?,
            stdin: if passes_stdin {
                StdinMode::Piped
            } else {
                StdinMode::Closed
            },
            timeout: timeout(args.timeout, cli.config.code_timeout)?,
        })
    }
}

fn timeout(given: Option<f64>, usual: Duration) -> Result<Option<Duration>, Failure> {
    match given {
        None => Ok(Some(usual)),
        Some(seconds) => exec::seconds(seconds),
    }
}

/// Reads a file of context values, which must be JSON.
fn context(file: &Path) -> Result<bytes::Bytes, Failure> {
    let shown = file.display();
    let invalid = |why: String| {
        Failure::new(
            FailureKind::Invalid,
            format!("--context-file: {shown}: {why}"),
        )
    };
    let size = std::fs::metadata(file)
        .map_err(|error| invalid(error.to_string()))?
        .len();
    if size > MOST_CONTEXT {
        return Err(invalid(format!(
            "it is larger than {}",
            human::bytes(MOST_CONTEXT)
        )));
    }
    let bytes = std::fs::read(file).map_err(|error| invalid(error.to_string()))?;
    serde_json::from_slice::<Value>(&bytes).map_err(|error| invalid(error.to_string()))?;
    Ok(bytes.into())
}

fn shown_env(env: &[(String, String)]) -> Value {
    let shown = env
        .iter()
        .map(|(name, value)| (name.clone(), json!(masked_value(name, value))));
    Value::Object(shown.collect())
}

/// Waits for the program to be ready; Ctrl-C calls it off, and the manager clears up.
async fn prepare(cli: &mut CliContext, place: Place, program: Program) -> Outcome<Prepared> {
    let command = Command::Prepare {
        place,
        program: Box::new(program),
    };
    let reply = tokio::select! {
        reply = cli.session.ask(command) => reply?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::new(FailureKind::Interrupted, "interrupted").into()),
    };
    match reply {
        Reply::Prepared(prepared) => Ok(*prepared),
        other => Err(unexpected(&other).into()),
    }
}

fn fields(
    source: &CodeSource,
    findings: &[Finding],
    prepared: &Prepared,
    checked: Duration,
) -> Map<String, Value> {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut steps = Map::from_iter([("check".to_owned(), json!(millis(checked)))]);
    steps.extend(
        prepared
            .steps
            .iter()
            .map(|step| (step.name.to_owned(), json!(millis(step.took)))),
    );
    let fields = [
        ("language", json!(source.language.name())),
        (
            "deps",
            json!(
                prepared
                    .packages
                    .iter()
                    .map(|one| &one.name)
                    .collect::<Vec<_>>()
            ),
        ),
        ("deps_cache", json!(prepared.cache)),
        ("findings", json!(findings)),
        ("steps_ms", Value::Object(steps)),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

async fn start(
    cli: &mut CliContext,
    prepared: Prepared,
    fields: Map<String, Value>,
) -> Outcome<u8> {
    let input = match prepared.spec.stdin {
        StdinMode::Piped => InputFrom::Stdin,
        StdinMode::Closed => InputFrom::Nothing,
    };
    let piped = Piped {
        sandbox: &prepared.sandbox,
        spec: prepared.spec,
        input,
        fields,
    };
    exec::run_piped(cli, piped).await
}

/// Removes the fresh sandbox; should that fail, the manager tries once more at its end.
async fn remove(cli: &mut CliContext, sandbox: SandboxRef) -> Outcome {
    let action = LifecycleOp::Remove { force: true };
    let removed = cli.session.ask(Command::Act { sandbox, action }).await;
    if let Err(failure) = removed {
        print::note(&format!(
            "sandtop: the sandbox of this run is still there: {failure}"
        ));
    }
    Ok(())
}
