//! Modes of fragments, computed beside the simulation.
//!
//! A fragment that is large enough gets modes of its own [`FragmentModes`]. They are
//! computed on another thread and take effect a fixed number of steps after the
//! birth: at that step the simulation waits for them if they are not there yet, so
//! a run never depends on how fast the thread was. Until then, and where there are
//! no threads, a pattern serves; small fragments never break.
//!
//! **Guarantee**: the same settings give the same run on every machine that has
//! threads; with [`FragmentModesPolicy::Off`], on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, mpsc};

use fracas_core::{FragmentId, Fragments};
use fracas_fracture::{FragmentModes, Material, Modes, RefractureRule};

use super::{Breakables, PieceId};

/// When fragments get modes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FragmentModesPolicy {
    /// Never: fragments break by patterns. The same on every target.
    #[default]
    Off,
    /// This many steps after their birth, computed on another thread meanwhile. On
    /// targets without threads as [`FragmentModesPolicy::Off`].
    AfterSteps(u32),
}

/// Whether this target can compute beside the simulation.
const THREADS: bool = !cfg!(target_arch = "wasm32");

/// One computation.
struct Job {
    piece: PieceId,
    fragments: Arc<Fragments>,
    material: Material,
    rule: RefractureRule,
}

type Done = (PieceId, Option<Arc<Modes>>);

/// The thread that computes, started at the first job; ends when this is dropped.
struct Worker {
    jobs: mpsc::Sender<Job>,
    /// Only ever used by one thread; the lock lets the whole be shared.
    done: Mutex<mpsc::Receiver<Done>>,
}

/// What is being computed, and when it takes effect.
#[derive(Default)]
pub(crate) struct ModesJobs {
    worker: Option<Worker>,
    /// The step at which it takes effect, and whose it is.
    due: BTreeSet<(u64, PieceId)>,
    /// Came in before they were due.
    early: BTreeMap<PieceId, Option<Arc<Modes>>>,
}

impl ModesJobs {
    fn submit(&mut self, job: Job, due: u64) {
        self.due.insert((due, job.piece));
        let worker = self.worker.get_or_insert_with(start);
        // A worker that is gone (it cannot be, short of a panic) leaves patterns.
        let _ = worker.jobs.send(job);
    }

    /// What is under way: piece and the step at which it takes effect.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (u64, PieceId)> + '_ {
        self.due.iter().copied()
    }

    /// Waits for a piece's modes.
    fn wait(&mut self, piece: PieceId) -> Option<Arc<Modes>> {
        loop {
            if let Some(found) = self.early.remove(&piece) {
                return found;
            }
            let done = self.worker.as_mut()?.done.get_mut().ok()?;
            let (other, modes) = done.recv().ok()?;
            // Those of pieces that broke meanwhile are wanted no more.
            if other == piece || self.due.iter().any(|&(_, p)| p == other) {
                self.early.insert(other, modes);
            }
        }
    }
}

fn start() -> Worker {
    let (jobs, queue) = mpsc::channel::<Job>();
    let (answers, done) = mpsc::channel();
    let work = move || {
        for job in queue {
            let id = job.piece.fragment;
            let modes = FragmentModes::compute(&job.fragments, id, &job.material, &job.rule);
            if answers.send((job.piece, modes.ok().map(Arc::new))).is_err() {
                break;
            }
        }
    };
    // Without a thread the receiver hangs up at once, and patterns serve.
    let _ = std::thread::Builder::new()
        .name("fragment modes".into())
        .spawn(work);
    let done = Mutex::new(done);
    Worker { jobs, done }
}

impl Breakables {
    /// Starts the modes of fragments that were just born.
    pub(super) fn start_modes(&mut self, children: &[PieceId]) {
        // Whoever follows a script decides nothing by them.
        if self.follows() {
            return;
        }
        let FragmentModesPolicy::AfterSteps(after) = self.settings.fragment_modes else {
            return;
        };
        let due = self.steps + u64::from(after.max(1));
        self.request_modes(children.iter().map(|&c| (due, c)));
    }

    /// Starts modes that take effect at given steps.
    pub(crate) fn request_modes(&mut self, wanted: impl IntoIterator<Item = (u64, PieceId)>) {
        let mut shared: Option<(u32, Arc<Fragments>)> = None;
        for (due, piece) in wanted {
            let object = &self.objects[piece.object.0 as usize];
            let Some(breaker) = &object.breaker else {
                continue;
            };
            let state = object.shared.read();
            if !THREADS || !breaker.wants_modes(state.fragments(), piece.fragment) {
                continue;
            }
            // Fragments of one break are computed from one copy.
            let fragments = match &shared {
                Some((object, fragments)) if *object == piece.object.0 => fragments.clone(),
                _ => Arc::new(state.fragments().clone()),
            };
            shared = Some((piece.object.0, fragments.clone()));
            let job = Job {
                piece,
                fragments,
                material: breaker.material_in_units(),
                rule: *breaker.rule(),
            };
            drop(state);
            self.jobs.submit(job, due);
        }
    }

    /// Modes whose step has come take effect, waiting for them if need be.
    pub(super) fn take_due_modes(&mut self) {
        while let Some(&(due, piece)) = self.jobs.due.first() {
            if due > self.steps {
                break;
            }
            self.jobs.due.remove(&(due, piece));
            let object = &mut self.objects[piece.object.0 as usize];
            if !object.pieces.contains_key(&piece.fragment) {
                self.jobs.early.remove(&piece);
                continue;
            }
            let modes = self.jobs.wait(piece);
            if let (Some(modes), Some(breaker)) = (modes, &mut object.breaker) {
                breaker.take_modes(piece.fragment, modes);
            }
        }
    }

    /// Fragments of an object whose own modes are in effect.
    pub(crate) fn fragments_with_modes(&self, object: usize) -> Vec<FragmentId> {
        let object = &self.objects[object];
        object
            .breaker
            .iter()
            .flat_map(|b| object.pieces.keys().filter(|f| b.modes(**f).is_some()))
            .copied()
            .collect()
    }
}
