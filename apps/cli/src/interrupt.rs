//! Ctrl-C: ends the program at once, but never in the middle of a file.

use std::sync::{Mutex, MutexGuard, PoisonError};

static WRITING: Mutex<()> = Mutex::new(());

/// What a shell expects of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Ends the program on Ctrl-C (or a request to terminate). While a file is being
/// written the end waits for it: that takes milliseconds.
pub fn install() {
    // A second handler, or a system without signals: the default is as good.
    let _ = ctrlc::set_handler(|| {
        let _file = lock();
        eprintln!("\ninterrupted");
        std::process::exit(INTERRUPTED);
    });
}

/// Holds back the end of the program as long as it lives.
pub fn lock() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}
