//! Size hints: variables by which runtimes learn how many processors a sandbox may use, since the kernel tells them the host's.

/// The variable that says it most plainly; what reads files of the kernel is told the same number.
const CORES: &str = "PYTHON_CPU_COUNT";
/// What OpenMP takes, and `nproc`, and the libraries of [`FOLLOW_OPENMP`] where they have no word of their own.
const OPENMP: &str = "OMP_NUM_THREADS";
/// Libraries that start a thread for each processor as soon as they are loaded.
const FOLLOW_OPENMP: [&str; 3] = [
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
];
/// Runtimes that start a thread, or a process, for each processor.
const RUNTIMES: [&str; 6] = [
    OPENMP,
    CORES,
    "GOMAXPROCS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
    "CARGO_BUILD_JOBS",
];
/// The pool of libuv, which waits for files rather than computes: it has four threads wherever it runs, and no fewer here.
const LIBUV: (&str, u32) = ("UV_THREADPOOL_SIZE", 4);

/// Puts the hints for so many cores below the `given` variables, which win.
///
/// Java and Node are left alone: both read the limits of their control group by themselves.
#[must_use]
pub fn with_size_hints(cpus: Option<f64>, given: Vec<(String, String)>) -> Vec<(String, String)> {
    let Some(cores) = cpus.and_then(whole_cores) else {
        return given;
    };
    let is_given = |name: &str| given.iter().any(|(known, _)| known == name);
    let following = FOLLOW_OPENMP.into_iter().filter(|_| !is_given(OPENMP));
    let names = RUNTIMES.into_iter().chain(following);
    let (libuv, least) = LIBUV;
    let hints = names.map(|name| (name, cores));
    let hints = hints.chain([(libuv, cores.max(least))]);
    let hints = hints.filter(|(name, _)| !is_given(name));
    let hints: Vec<_> = hints
        .map(|(name, count)| (name.to_owned(), count.to_string()))
        .collect();
    hints.into_iter().chain(given).collect()
}

/// Tells how many processors a sandbox with these variables is to believe in.
#[must_use]
pub fn told_cores(env: &[(String, String)]) -> Option<u32> {
    let (_, told) = env.iter().find(|(name, _)| name == CORES)?;
    told.parse().ok().filter(|cores| *cores > 0)
}

/// A part of a core is one that can be used. A text on the way keeps the conversion exact.
fn whole_cores(cpus: f64) -> Option<u32> {
    cpus.ceil()
        .to_string()
        .parse()
        .ok()
        .filter(|cores| *cores > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(cpus: Option<f64>, given: &[(&str, &str)]) -> Vec<(String, String)> {
        let given = given.iter();
        let given = given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        with_size_hints(cpus, given.collect())
    }

    fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let found = env.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_part_of_a_core_counts_as_one_and_no_limit_says_nothing() {
        for (cpus, cores, libuv) in [(0.5, "1", "4"), (2.0, "2", "4"), (5.5, "6", "6")] {
            let env = hints(Some(cpus), &[]);
            for name in RUNTIMES.into_iter().chain(FOLLOW_OPENMP) {
                assert_eq!(value(&env, name), Some(cores), "{name} at {cpus}");
            }
            assert_eq!(value(&env, LIBUV.0), Some(libuv), "at {cpus}");
            assert_eq!(
                told_cores(&env).map(|told| told.to_string()).as_deref(),
                Some(cores)
            );
        }
        assert_eq!(hints(None, &[]), []);
        assert_eq!(told_cores(&[]), None);
    }

    #[test]
    fn what_is_given_wins_also_for_what_follows_it() {
        let env = hints(Some(1.0), &[("OMP_NUM_THREADS", "7"), ("GOMAXPROCS", "3")]);
        assert_eq!(value(&env, "OMP_NUM_THREADS"), Some("7"));
        assert_eq!(value(&env, "GOMAXPROCS"), Some("3"));
        assert_eq!(value(&env, "OPENBLAS_NUM_THREADS"), None);
        assert_eq!(value(&env, "RAYON_NUM_THREADS"), Some("1"));
        let names = env.iter().map(|(name, _)| name);
        let unique: std::collections::BTreeSet<_> = names.clone().collect();
        assert_eq!(unique.len(), names.count(), "a name comes once");
    }
}
