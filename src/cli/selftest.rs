//! `selftest`: makes a sandbox of a profile, tries to get out of it, and compares what was declared with what was found.

use std::time::Instant;

use serde_json::json;

use super::care_args::SelftestArgs;
use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::{CliContext, exit, identity, spec};
use crate::config::NewSandbox;
use crate::describe::{Finding, Measure, measures};
use crate::domain::{OwnerKind, SelfTest};
use crate::protocol::{Command, Reply};
use crate::text::{Table, safe_line};

/// `selftest`.
pub(super) async fn selftest(cli: &mut CliContext, args: &SelftestArgs) -> Outcome<u8> {
    cli.refuse_if_read_only("making a sandbox to try")?;
    let token = identity::random_word();
    let asked = NewSandbox {
        name: Some(format!("selftest-{}", token.get(..8).unwrap_or(&token))),
        profile: args.profile.clone(),
        image: args.image.clone(),
        network: args.network.then_some(true),
        ..NewSandbox::default()
    };
    // Its owner is a run: should we be killed, it goes with the next reaping.
    let spec = asked.build(&cli.config, identity::owner(OwnerKind::Run), token);
    let spec = Box::new(spec.map_err(spec::in_flags)?);
    let (host, started) = (cli.host(), Instant::now());
    let test = match cli.session.ask(Command::SelfTest { host, spec }).await? {
        Reply::SelfTested(test) => *test,
        other => return Err(unexpected(&other).into()),
    };
    let measures = measures(&test);
    let is_ok = measures.iter().all(|one| one.finding != Finding::Gap);
    match cli.format {
        Format::Json => print::json(&json!({
            "ok": is_ok,
            "engine": test.details.sandbox.engine,
            "profile": test.spec.profile,
            "image": test.spec.image,
            "took_ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "measures": measures,
            "gaps": test.details.posture.gaps,
            "attempts": test.attempts,
        }))?,
        Format::Text => tell(&test, &measures)?,
    }
    Ok(if is_ok { exit::OK } else { exit::FAILED })
}

fn tell(test: &SelfTest, measures: &[Measure]) -> Outcome {
    let mut table = Table::new(&["MEASURE", "DECLARED", "FOUND", ""]);
    for one in measures {
        let word = match one.finding {
            Finding::Holds => "ok",
            Finding::NamedGap => "named gap",
            Finding::Gap => "GAP",
            Finding::NotTried => "not tried",
        };
        table.row(vec![
            one.measure.to_owned(),
            safe_line(&one.declared),
            safe_line(&one.effective),
            word.to_owned(),
        ]);
    }
    print::line(&table.to_string())?;
    for gap in &test.details.posture.gaps {
        print::line(&format!("gap: {}", safe_line(gap)))?;
    }
    let tried = test.attempts.len();
    let engine = test.details.sandbox.engine;
    print::note(&format!(
        "{tried} attempts in a sandbox of profile {} on {engine}; it is removed",
        test.spec.profile
    ));
    Ok(())
}
