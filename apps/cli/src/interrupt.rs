//! Ctrl-C: ends the program at once, but never in the middle of a file; where work can
//! stop half way and still be worth something, the first one only asks it to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output::complain;

static WRITING: Mutex<()> = Mutex::new(());
/// Work is under way that looks at [`STOPPED`].
static STOPPABLE: AtomicBool = AtomicBool::new(false);
static STOPPED: AtomicBool = AtomicBool::new(false);

/// What a shell expects of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Handles Ctrl-C, or a request to terminate. While a file is being written the end
/// waits for it: that takes milliseconds.
pub fn install() {
    // A second handler, or a system without signals: the default is as good.
    let _ = ctrlc::set_handler(|| {
        if STOPPABLE.load(Ordering::SeqCst) && !STOPPED.swap(true, Ordering::SeqCst) {
            complain("\ninterrupted: writing what was done (Ctrl-C again ends at once)");
            return;
        }
        let _file = lock();
        complain("\ninterrupted");
        std::process::exit(i32::from(INTERRUPTED));
    });
}

/// Holds back the end of the program as long as it lives.
pub fn lock() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the user asked to stop, and work did so.
pub fn stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// While it lives, the first Ctrl-C does not end the program: the work that made it has
/// to look at [`Stoppable::stopped`] often.
pub struct Stoppable(());

impl Stoppable {
    /// From now on.
    pub fn new() -> Self {
        STOPPABLE.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Whether to stop.
    pub fn stopped(&self) -> bool {
        stopped()
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        STOPPABLE.store(false, Ordering::SeqCst);
    }
}
