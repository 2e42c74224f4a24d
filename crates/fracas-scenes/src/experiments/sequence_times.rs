//! Times of the frames of a deforming, fracturing sequence [Heo 2010, Figs. 6 to 8].
//!
//! Making a frame is not timed; applying it to the mesh, updating the tree and asking
//! for contacts are, each for itself. A sequence may be played several times: the
//! shortest time of each frame counts, since noise only ever adds.

use fracas_fastcd::{Contacts, Detection, QueryStats, Scratch, Settings};

use crate::sequences::{Player, Sequence};

/// What one frame cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Moving vertices, splitting bodies.
    pub mesh_ms: f64,
    /// Refitting and rebuilding.
    pub tree_ms: f64,
    /// Finding contacts or intersections.
    pub query_ms: f64,
    /// Work of the query.
    pub stats: QueryStats,
    /// Triangles in subtrees that were built anew.
    pub rebuilt: usize,
    /// Triangles of the scene.
    pub triangles: usize,
}

impl Frame {
    /// Everything.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.update_ms() + self.query_ms
    }

    /// Mesh and tree.
    #[must_use]
    pub fn update_ms(&self) -> f64 {
        self.mesh_ms + self.tree_ms
    }
}

/// How a sequence is played.
#[derive(Clone, Copy, Debug)]
pub struct Play {
    /// Of the scene.
    pub settings: Settings,
    /// Times to play it.
    pub times: usize,
    /// Frames away from every event that are applied, one in this many; only
    /// consecutive ones are timed.
    pub stride: usize,
    /// Frames around an event that are all applied.
    pub window: usize,
    /// Stop after so many frames.
    pub most_frames: usize,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            times: 1,
            stride: 1,
            window: 0,
            most_frames: usize::MAX,
        }
    }
}

/// Plays a sequence; the shortest time of each frame that was timed. `clock` tells
/// milliseconds.
///
/// # Panics
/// When the sequence makes a change that its scene refuses.
pub fn play<S: Sequence>(
    make: impl Fn() -> S,
    how: Play,
    clock: &dyn Fn() -> f64,
) -> Vec<Option<Frame>> {
    let mut best: Vec<Option<Frame>> = Vec::new();
    for _ in 0..how.times {
        let mut sequence = make();
        let events = sequence.events();
        let frames = sequence.frames().min(how.most_frames);
        let mut timer = FrameTimer::new(how.settings);
        best.resize(frames, None);
        let mut last_applied = None;
        for number in 0..frames {
            let changes = sequence.next_frame();
            let near = events
                .iter()
                .any(|&e| number + how.window >= e && number <= e + how.window);
            if !near && number % how.stride != 0 {
                continue;
            }
            let timed = number > 0 && (how.stride == 1 || last_applied == Some(number - 1) && near);
            last_applied = Some(number);
            let frame = timer.frame(&changes, timed, clock);
            let slot = &mut best[number];
            if timed && slot.is_none_or(|old| frame.total() < old.total()) {
                *slot = Some(frame);
            }
        }
    }
    best
}

/// Applies frames and times them.
pub struct FrameTimer {
    /// The scene.
    pub player: Player,
    scratch: Scratch,
    contacts: Contacts,
    pairs: Vec<[u32; 2]>,
}

impl FrameTimer {
    /// An empty scene.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            player: Player::new(settings),
            scratch: Scratch::default(),
            contacts: Contacts::default(),
            pairs: Vec::new(),
        }
    }

    /// Applies the changes of a frame, and asks for contacts if wanted.
    ///
    /// # Panics
    /// When the scene refuses a change.
    pub fn frame(
        &mut self,
        changes: &[crate::sequences::Change],
        ask: bool,
        clock: &dyn Fn() -> f64,
    ) -> Frame {
        let start = clock();
        self.player.edit(changes).expect("sequences are valid");
        let edited = clock();
        self.player.scene.update();
        let updated = clock();
        let mut frame = Frame {
            mesh_ms: edited - start,
            tree_ms: updated - edited,
            rebuilt: self.player.scene.stats().rebuilt_triangles,
            triangles: self.player.scene.triangle_count(),
            ..Frame::default()
        };
        if ask {
            let start = clock();
            frame.stats = match self.player.scene.settings().detection {
                Detection::Continuous => self
                    .player
                    .scene
                    .contacts(&mut self.scratch, &mut self.contacts),
                Detection::Discrete => self
                    .player
                    .scene
                    .intersections(&mut self.scratch, &mut self.pairs),
            };
            frame.query_ms = clock() - start;
        }
        frame
    }

    /// Contacts of the last continuous frame.
    #[must_use]
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }
}

/// What trees of one kind are worth: counted, not timed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// Box tests of a query, mean of the frames that were asked.
    pub box_tests: f64,
    /// TC_S of the root [Heo 2010, eq. 7], mean of the same frames.
    pub cost_self: f64,
    /// Triangles in subtrees that were built anew by restructuring, in all frames.
    pub rebuilt: usize,
}

/// Plays the first `frames` frames and asks in each of `every`.
///
/// # Panics
/// When the sequence makes a change that its scene refuses.
pub fn worth(
    sequence: &mut dyn Sequence,
    settings: Settings,
    frames: usize,
    every: usize,
) -> Worth {
    let mut timer = FrameTimer::new(settings);
    let (mut worth, mut asked) = (Worth::default(), 0_u32);
    for number in 0..frames {
        let ask = number % every == every - 1;
        let frame = timer.frame(&sequence.next_frame(), ask, &|| 0.0);
        worth.rebuilt += frame.rebuilt;
        if ask {
            worth.box_tests += frame.stats.overlap_tests as f64;
            worth.cost_self += timer.player.scene.stats().cost_self;
            asked += 1;
        }
    }
    worth.box_tests /= f64::from(asked.max(1));
    worth.cost_self /= f64::from(asked.max(1));
    worth
}
