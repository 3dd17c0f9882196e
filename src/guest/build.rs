//! Builds the guest program (see `src/guest/mod.rs`) as a static executable, to be embedded in sandtop, and says how sandtop is linked.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/guest");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("guest");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if !target.contains("linux") {
        // Sandboxes are Linux; elsewhere sandtop builds without the guest and says so at run time.
        std::fs::write(&out, b"").expect("writing an empty guest");
        return;
    }
    // Twenty thousand addresses would have to be written at every start otherwise, which is a quarter of a short command's time.
    // What is given up is a random place of the program's own code; libraries, heap and stacks keep theirs.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    compile(&target, &out);
}

fn compile(target: &str, out: &Path) {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args([
        "--edition=2024",
        "--crate-name=guest",
        "--crate-type=bin",
        "--target",
        target,
    ]);
    command.args([
        "-C",
        "target-feature=+crt-static",
        "-C",
        "relocation-model=static",
    ]);
    command.args([
        "-C",
        "opt-level=z",
        "-C",
        "panic=abort",
        "-C",
        "lto=fat",
        "-C",
        "codegen-units=1",
        "-C",
        "strip=symbols",
    ]);
    command.arg("-o").arg(out).arg("src/guest/main.rs");
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        command
            .arg("-C")
            .arg(format!("linker={}", linker.to_string_lossy()));
    }
    let status = command
        .status()
        .expect("starting rustc for the guest program");
    assert!(
        status.success(),
        "the guest program did not compile; a static C library (libc6-dev) is needed"
    );
}
