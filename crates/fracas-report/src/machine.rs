//! The machine by name, and its clocks.

use std::time::Instant;

/// The commit this crate was built from.
pub const COMMIT: &str = env!("FRACAS_COMMIT");

/// Processor, cores and system, as far as the system tells.
#[must_use]
pub fn name() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plural = if cores == 1 { "core" } else { "cores" };
    let system = std::env::consts::OS;
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|rest| rest.split_once(':'))
        .map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{model}, {cores} {plural}, {system}")
}

/// Milliseconds of processor time of this thread: what others do on the machine
/// counts less. The wall clock where the system does not tell.
#[must_use]
pub fn thread_ms() -> f64 {
    #[cfg(unix)]
    {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        t.tv_sec as f64 * 1e3 + t.tv_nsec as f64 * 1e-6
    }
    #[cfg(not(unix))]
    {
        wall_seconds() * 1e3
    }
}

/// Seconds since some moment, by the wall clock.
#[must_use]
pub fn wall_seconds() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The shortest of `runs` timings of `work` in processor time, in milliseconds, with
/// the last result: noise only ever adds.
pub fn best_ms<T>(runs: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..runs.max(1) {
        let start = thread_ms();
        result = Some(std::hint::black_box(work()));
        best = best.min(thread_ms() - start);
    }
    (best, result.expect("at least one run"))
}
