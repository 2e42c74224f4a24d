//! What a section is given to measure with.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fracas_scenes::experiments::sequence_times::Frame;
use fracas_scenes::rigid::SceneOptions;

use crate::options::{Options, Scale, Skip};
use crate::scene_runs::SceneRun;

/// What a section is given.
pub struct Bench<'a> {
    /// How the report is made.
    pub options: &'a Options,
    stage: &'a dyn Fn(&str),
    runs: RefCell<BTreeMap<String, Rc<SceneRun>>>,
    plays: RefCell<BTreeMap<String, Frames>>,
}

/// The frames of a played sequence that were timed.
pub type Frames = Rc<Vec<Option<Frame>>>;

impl<'a> Bench<'a> {
    /// For one report; `stage` is told what is under way.
    #[must_use]
    pub fn new(options: &'a Options, stage: &'a dyn Fn(&str)) -> Self {
        Self {
            options,
            stage,
            runs: RefCell::default(),
            plays: RefCell::default(),
        }
    }

    /// How much is measured.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.options.scale
    }

    /// Says what is under way.
    pub fn stage(&self, text: impl AsRef<str>) {
        (self.stage)(text.as_ref());
    }

    /// A file of the data folder, if it is there.
    #[must_use]
    pub fn data(&self, relative: &str) -> Option<PathBuf> {
        let path = self.options.data.as_ref()?.join(relative);
        path.exists().then_some(path)
    }

    /// A recorded run of a scene; run once for all sections that ask for the same.
    ///
    /// # Errors
    /// When there is no such scene.
    pub fn run(&self, scene: &str, options: SceneOptions) -> Result<Rc<SceneRun>, Skip> {
        let key = format!("{scene} {options:?}");
        if let Some(run) = self.runs.borrow().get(&key) {
            return Ok(run.clone());
        }
        let run = Rc::new(SceneRun::record(scene, options, self.scale(), self.stage)?);
        self.runs.borrow_mut().insert(key, run.clone());
        Ok(run)
    }

    /// Frames of a sequence; played once for all sections that give the same name.
    pub fn frames(&self, name: &str, play: impl FnOnce() -> Vec<Option<Frame>>) -> Frames {
        if let Some(frames) = self.plays.borrow().get(name) {
            return frames.clone();
        }
        self.stage(name);
        let frames = Rc::new(play());
        self.plays.borrow_mut().insert(name.into(), frames.clone());
        frames
    }

    /// Does independent pieces of work on the threads of the report. Results are in
    /// order, whatever the number of threads.
    pub fn parallel<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<T>>>());
        let threads = self.options.jobs.clamp(1, count.max(1));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= count {
                            break;
                        }
                        let result = work(i);
                        done.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(result);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_are_in_order() {
        for jobs in [1, 2, 7] {
            let options = Options {
                jobs,
                ..Options::default()
            };
            let bench = Bench::new(&options, &|_| {});
            let squares = bench.parallel(100, |i| i * i);
            assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
            assert!(bench.parallel(0, |i| i).is_empty());
        }
    }
}
