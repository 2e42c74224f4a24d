//! Exceptions, and work without the interpreter's lock.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    fracas,
    FracasError,
    PyValueError,
    "What fracas refuses, in the words of the command line."
);

/// An exception with the words of the library.
pub fn refuse(why: impl Display) -> PyErr {
    FracasError::new_err(why.to_string())
}

/// Does work without the interpreter's lock. A panic of the library becomes a
/// `RuntimeError`: the interpreter goes on.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|cause| give_up(&*cause))
}

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// As large as the main thread's on most systems.
const STACK: usize = 16 << 20;

/// Does long work on another thread while this one looks for Ctrl-C. What was begun
/// cannot be stopped half way: it ends unseen, and its result is dropped.
pub fn run_long<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (tell, mut told) = channel();
    let begun = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody listens after Ctrl-C.
        let _ = tell.send(catch_unwind(AssertUnwindSafe(work)));
    });
    begun.map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
    loop {
        let (heard, back) = py.detach(move || (told.recv_timeout(LOOK), told));
        told = back;
        match heard {
            Ok(result) => return result.map_err(|cause| give_up(&*cause)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result"));
            }
        }
    }
}

fn give_up(cause: &(dyn Any + Send)) -> PyErr {
    let why = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given");
    PyRuntimeError::new_err(format!("fracas failed, which is a fault of fracas: {why}"))
}
