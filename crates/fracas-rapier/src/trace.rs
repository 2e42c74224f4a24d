//! What a run does when: spans of time, for Chrome's trace format (Perfetto opens it).
//!
//! ```text
//! start() -> ... steps ... -> stop() -> Trace::to_json()
//! ```
//!
//! One recorder serves the whole process, since steps of one world run on many threads.
//! While it is off, a span costs one read of a flag. Spans say what was worked on (pairs
//! and fragments by their numbers) and decide nothing.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether spans are recorded.
static ON: AtomicBool = AtomicBool::new(false);
/// Spans so far, and the moment that times count from.
static RECORDED: Mutex<Option<Recorder>> = Mutex::new(None);

#[cfg_attr(target_arch = "wasm32", expect(dead_code))]
struct Recorder {
    start: Moment,
    spans: Vec<Span>,
}

#[cfg(not(target_arch = "wasm32"))]
type Moment = std::time::Instant;
#[cfg(target_arch = "wasm32")]
type Moment = ();

/// A number that goes with a span.
pub type Arg = (&'static str, u64);

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What was done.
    pub name: &'static str,
    /// Which thread did it, numbered as threads first came.
    pub thread: u32,
    /// When it began, in microseconds since [`start`].
    pub start: f64,
    /// How long it took, in microseconds.
    pub duration: f64,
    /// What it was done to.
    pub args: Vec<Arg>,
}

/// All spans between [`start`] and [`stop`], in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The spans.
    pub spans: Vec<Span>,
}

/// Records from now on, from nothing. Not on targets without a clock.
#[cfg(not(target_arch = "wasm32"))]
pub fn start() {
    let mut recorded = lock();
    *recorded = Some(Recorder {
        start: Moment::now(),
        spans: Vec::new(),
    });
    ON.store(true, Ordering::Release);
}

/// Records no more and gives what was recorded.
pub fn stop() -> Trace {
    ON.store(false, Ordering::Release);
    let spans = lock().take().map(|r| r.spans).unwrap_or_default();
    Trace { spans }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Recorder>> {
    RECORDED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A span that is under way: it ends when this is dropped.
#[must_use = "a span lasts as long as this does"]
pub(crate) struct Open(
    #[cfg(not(target_arch = "wasm32"))] Option<(&'static str, Moment, [Arg; 2])>,
);

/// Begins a span, where spans are recorded.
#[inline]
pub(crate) fn span(name: &'static str, args: impl FnOnce() -> [Arg; 2]) -> Open {
    #[cfg(not(target_arch = "wasm32"))]
    return Open(
        ON.load(Ordering::Relaxed)
            .then(|| (name, Moment::now(), args())),
    );
    #[cfg(target_arch = "wasm32")]
    {
        let _ = (name, args);
        Open()
    }
}

/// No numbers go with it.
pub(crate) fn plain() -> [Arg; 2] {
    [("", 0); 2]
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Open {
    fn drop(&mut self) {
        if let Some((name, began, args)) = self.0.take() {
            let duration = began.elapsed().as_secs_f64() * 1e6;
            let thread = thread_number();
            if let Some(recorder) = &mut *lock() {
                let since = began.checked_duration_since(recorder.start);
                recorder.spans.push(Span {
                    name,
                    thread,
                    start: since.unwrap_or_default().as_secs_f64() * 1e6,
                    duration,
                    args: args.into_iter().filter(|a| !a.0.is_empty()).collect(),
                });
            }
        }
    }
}

/// Adds a span that ended just now, of which only the length is known, and one before it.
#[cfg(feature = "world")]
pub(crate) fn ended(spans: [(&'static str, f64); 2]) {
    #[cfg(not(target_arch = "wasm32"))]
    if ON.load(Ordering::Relaxed) {
        let thread = thread_number();
        if let Some(recorder) = &mut *lock() {
            let mut end = recorder.start.elapsed().as_secs_f64() * 1e6;
            for (name, milliseconds) in spans.into_iter().rev() {
                let duration = milliseconds * 1e3;
                recorder.spans.push(Span {
                    name,
                    thread,
                    start: (end - duration).max(0.0),
                    duration,
                    args: Vec::new(),
                });
                end -= duration;
            }
        }
    }
    #[cfg(target_arch = "wasm32")]
    let _ = spans;
}

/// The number of this thread, given when it first asks.
#[cfg_attr(target_arch = "wasm32", expect(dead_code))]
fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static OWN: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    OWN.with(|number| *number)
}

impl Trace {
    /// In Chrome's trace event format: complete events ("X") in microseconds.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
        for (i, span) in self.spans.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            // Names and keys are our own, without anything to escape; a string takes all.
            let _ = write!(
                out,
                "{comma}\n{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3},\"dur\":{:.3}",
                span.name, span.thread, span.start, span.duration
            );
            if !span.args.is_empty() {
                let args: Vec<String> = span
                    .args
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                let _ = write!(out, ",\"args\":{{{}}}", args.join(","));
            }
            out.push('}');
        }
        out.push_str("\n]}\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_recorded_between_start_and_stop_only() {
        drop(span("before", plain));
        start();
        {
            let _outer = span("outer", plain);
            drop(span("inner", || [("fragment", 7), ("", 0)]));
        }
        let trace = stop();
        drop(span("after", plain));
        // Other tests of this process may step worlds meanwhile.
        let own = |s: &&Span| ["before", "outer", "inner", "after"].contains(&s.name);
        let own: Vec<&Span> = trace.spans.iter().filter(own).collect();
        let names: Vec<_> = own.iter().map(|s| s.name).collect();
        assert_eq!(names, ["inner", "outer"]);
        assert_eq!(own[0].args, [("fragment", 7)]);
        assert!(own[1].start <= own[0].start && own[1].duration >= own[0].duration);
        let json = trace.to_json();
        assert!(json.contains("\"name\":\"inner\"") && json.contains("\"args\":{\"fragment\":7}"));
        assert_eq!(stop(), Trace::default());
    }
}
