//! An engine behind a bad line: every piece is late, and while cuts are wanted some connections break in the middle.

#![allow(dead_code)] // Each test binary uses its own part.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::support::Chance;

/// The longest delay of a piece, in milliseconds.
const LATEST: u64 = 40;
/// One of so many connections is cut.
const RARELY: u64 = 12;
/// Pieces that a connection lives for at the most, if it is to be cut.
const PIECES: u64 = 12;

/// Listens until it is dropped; connections end with their ends.
pub(crate) struct SlowEngine {
    path: PathBuf,
    cuts: Arc<AtomicBool>,
    halted: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

impl SlowEngine {
    /// Starts it before the engine at an address `unix://…`.
    pub(crate) fn before(engine: &str, path: &Path, seed: u64) -> Self {
        let engine = PathBuf::from(engine.strip_prefix("unix://").expect("a Unix socket"));
        let listener = UnixListener::bind(path).unwrap();
        let cuts = Arc::new(AtomicBool::new(false));
        let (halted, over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (cutting, ended) = (Arc::clone(&cuts), Arc::clone(&over));
        let halts = Arc::clone(&halted);
        std::thread::spawn(move || {
            let mut chance = Chance(seed | 1);
            for client in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let is_cut = cutting.load(Ordering::Relaxed) && chance.below(RARELY) == 0;
                let pieces = if is_cut {
                    1 + chance.below(PIECES)
                } else {
                    u64::MAX
                };
                serve(client, &engine, pieces, (chance.below(u64::MAX), &halts));
            }
        });
        Self {
            path: path.to_owned(),
            cuts,
            halted,
            over,
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("unix://{}", self.path.display())
    }

    /// Says whether connections that begin from now on may be cut.
    pub(crate) fn cut(&self, wanted: bool) {
        self.cuts.store(wanted, Ordering::Relaxed);
    }
}

impl SlowEngine {
    /// Says whether nothing gets through any more, as if the engine hung.
    pub(crate) fn halt(&self, wanted: bool) {
        self.halted.store(wanted, Ordering::Relaxed);
    }
}

impl Drop for SlowEngine {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The thread waits for a connection.
        let _ = UnixStream::connect(&self.path);
    }
}

fn serve(client: UnixStream, engine: &Path, pieces: u64, (seed, halted): (u64, &Arc<AtomicBool>)) {
    let Ok(engine) = UnixStream::connect(engine) else {
        return;
    };
    let left = Arc::new(AtomicU64::new(pieces));
    let ways = [
        (client.try_clone().unwrap(), engine.try_clone().unwrap()),
        (engine, client),
    ];
    for (from, to) in ways {
        let (left, halted) = (Arc::clone(&left), Arc::clone(halted));
        let chance = Chance(seed | 1);
        std::thread::spawn(move || pass((&from, &to), &left, &halted, chance));
    }
}

/// Passes pieces on until an end, or until no more are granted.
fn pass(
    (mut from, mut to): (&UnixStream, &UnixStream),
    left: &AtomicU64,
    halted: &AtomicBool,
    mut chance: Chance,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        std::thread::sleep(Duration::from_millis(chance.below(LATEST)));
        while halted.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(LATEST));
        }
        let count = |left: u64| Some(left.saturating_sub(1));
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) == Ok(0) {
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
        if to.write_all(&buffer[..got]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
