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

    /// For this many equal steps.
    pub fn steps(steps: u64) -> Self {
        let progress = Self::new(steps as usize);
        progress.bar.set_message("steps");
        progress
    }

    /// One more step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// A stage begins; the one before is done.
    pub fn stage(&self, text: &'static str) {
        if !self.bar.message().is_empty() {
            self.bar.inc(1);
        }
        self.bar.set_message(text);
    }

    /// So much of a stage is done, 0 to 1.
    pub fn share(&self, text: &'static str, share: f32) {
        let percent = (100.0 * share.clamp(0.0, 1.0)) as u32;
        self.bar.set_message(format!("{text}, {percent}%"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
