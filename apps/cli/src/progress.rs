//! A progress bar on a terminal, nothing in a pipe.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows which of several stages is under way.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// For this many stages.
    pub fn new(stages: usize) -> Self {
        let bar = ProgressBar::new(stages as u64);
        if stderr().is_terminal() {
            let style = "{spinner} {msg:<28} [{bar:24}] {pos}/{len}  {elapsed}";
            bar.set_style(
                ProgressStyle::with_template(style)
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("=> "),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar }
    }

    /// A stage begins; the one before is done.
    pub fn stage(&self, text: &'static str) {
        if !self.bar.message().is_empty() {
            self.bar.inc(1);
        }
        self.bar.set_message(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
