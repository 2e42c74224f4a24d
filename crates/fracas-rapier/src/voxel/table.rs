//! Contacts found before the step, looked up in it; and the clock of the step.
//!
//! The engine hands the dispatcher two shapes and their relative pose, no names. A
//! shape's address names it for the length of a step; where two colliders share one
//! shape the pose tells them apart. Addresses are compared and hashed, never ordered by,
//! in anything that a result depends on.
//!
//! A budget of time has a say here, too: what the sphere-tree method costs is an estimate until
//! it was paid. So every pair that was left to it is asked for only if there is still
//! time, less what the pairs after it are expected to take; it may visit no more nodes
//! than fit; and what comes too late keeps the contacts of the last step and goes to the
//! voxels in the next.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, ThreadId};

use parry3d::math::Pose;
use parry3d::shape::Shape;

use crate::manifold::PairContact;

/// A shape for the length of a step.
pub(crate) type ShapeKey = usize;

pub(crate) fn key_of(shape: &dyn Shape) -> ShapeKey {
    std::ptr::from_ref(shape).cast::<()>() as usize
}

/// What the sphere-tree method cost for a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Points whose distance was asked.
    pub(crate) points: u32,
    /// Nodes and points that were looked at.
    pub(crate) visits: u32,
    /// By the clock, where one is asked.
    pub(crate) seconds: f32,
    /// There was no time for it.
    pub(crate) late: bool,
    /// It ended where its nodes were used up: it may not have seen all.
    pub(crate) cut_short: bool,
}

/// What a pair gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Voxel contacts: first and number.
    Voxels(u32, u32),
    /// The sphere-tree method fits the budget.
    SphereTree,
    /// What the sphere-tree method found before, at the distances of now.
    Kept,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) keys: [ShapeKey; 2],
    pub(crate) pos12: Pose,
    pub(crate) answer: Answer,
    /// The pair's place in the stage's list.
    pub(crate) pair: u32,
}

/// Until when the sphere-tree method may be asked in this step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SphereTreeTime {
    /// When collision has to be over, in the clock's seconds.
    pub(crate) end: f64,
    /// Pairs the engine will ask for.
    pub(crate) calls: u32,
    /// What each of them takes besides, in seconds.
    pub(crate) call: f64,
    /// What a node or point that the sphere-tree method looks at takes.
    pub(crate) visit: f64,
}

/// The clock of the step that comes, and whose thread began it.
#[derive(Clone)]
pub(crate) struct StepClock {
    pub(crate) seconds: Arc<Box<dyn Fn() -> f64 + Send + Sync>>,
    pub(crate) thread: ThreadId,
}

impl StepClock {
    /// The clock of a step that this thread begins.
    pub(crate) fn of_this_thread(seconds: &Arc<Box<dyn Fn() -> f64 + Send + Sync>>) -> Self {
        Self {
            seconds: Arc::clone(seconds),
            thread: thread::current().id(),
        }
    }
}

impl fmt::Debug for StepClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StepClock").field(&self.thread).finish()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Whether pairs that are not here have no contacts (else: the sphere-tree method).
    pub(crate) complete: bool,
    pub(crate) entries: Vec<Entry>,
    /// Places of the entries, plus one, by the hash of their keys; zero is free. A power
    /// of two, at most half full.
    slots: Vec<u32>,
    pub(crate) contacts: Vec<PairContact>,
    pub(crate) sphere_tree_time: Option<SphereTreeTime>,
    pub(crate) clock: Option<StepClock>,
}

/// A question to the sphere-tree method whose cost is noted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pair: u32,
    /// When, where a clock is asked.
    began: Option<f64>,
    /// Nodes it may visit, where time is short.
    pub(crate) visits: Option<u32>,
    /// There is no time for it: contacts of the last step will do, if there are any.
    pub(crate) late: bool,
    /// It has hardly moved since it was asked: what was found then will do.
    pub(crate) keeps: bool,
}

impl Asked {
    /// A question without limits.
    fn whole(pair: u32) -> Self {
        Self {
            pair,
            began: None,
            visits: None,
            late: false,
            keeps: false,
        }
    }
}

/// What [`VoxelTable::look_up`] found.
pub(crate) enum Found {
    /// Contacts were put out, perhaps none.
    Contacts,
    /// Ask the sphere-tree method, and tell [`VoxelTable::note_cost`] of it if asked to.
    SphereTree(Option<Asked>),
}

/// Contacts of all pairs of one step, shared by stage and dispatcher.
#[derive(Debug, Default)]
pub struct VoxelTable {
    contents: RwLock<Contents>,
    /// What the sphere-tree method cost, by pair, since it was last taken.
    costs: Mutex<Vec<(u32, Cost)>>,
    calls: AtomicU32,
    pulse: Pulse,
}

/// The clock as it was last seen in the narrow phase, and at which call.
#[derive(Debug, Default)]
struct Pulse {
    first: AtomicU64,
    last: AtomicU64,
    calls: AtomicU32,
    /// Several threads ask: their clocks do not compare.
    foreign: AtomicBool,
}

/// The clock is looked at once in so many calls: a call takes about a microsecond, a
/// look at a thread's own time a third of that.
const CALLS_PER_LOOK: u32 = 32;

/// Nodes and points that a pair may visit in a step, whatever the time: it remembers what it has
/// asked, and goes on in the next.
pub(super) const MOST_VISITS: u32 = 1024;

/// Nodes that even a late pair may visit that has no contacts to keep: it finds the
/// widest spread points.
const LATE_VISITS: u32 = 48;

impl Pulse {
    fn restart(&self) {
        self.first.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.foreign.store(false, Ordering::Relaxed);
    }

    fn look(&self, clock: &StepClock, calls: u32) -> f64 {
        let now = (clock.seconds)();
        if thread::current().id() != clock.thread {
            self.foreign.store(true, Ordering::Relaxed);
        }
        if self.calls.load(Ordering::Relaxed) == 0 {
            self.first.store(now.to_bits(), Ordering::Relaxed);
        }
        self.last.store(now.to_bits(), Ordering::Relaxed);
        self.calls.store(calls, Ordering::Relaxed);
        now
    }
}

impl VoxelTable {
    /// Changes everything, between two steps.
    pub(crate) fn write<R>(&self, change: impl FnOnce(&mut Contents) -> R) -> R {
        self.calls.store(0, Ordering::Relaxed);
        self.pulse.restart();
        change(
            &mut self
                .contents
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Forgets all contacts: every pair is the sphere-tree method's.
    #[cfg(feature = "world")]
    pub(crate) fn clear(&self) {
        self.write(|contents| *contents = Contents::default());
    }

    /// The contacts of a pair, told as shapes 1 and 2 were given.
    pub(crate) fn look_up(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        out: &mut Vec<PairContact>,
    ) -> Found {
        let contents = self.contents.read().unwrap_or_else(PoisonError::into_inner);
        let calls = 1 + self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(clock) = &contents.clock
            && calls % CALLS_PER_LOOK == 1
        {
            self.pulse.look(clock, calls);
        }
        out.clear();
        match contents.find([key_of(g1), key_of(g2)], pos12) {
            Some((entry, swap)) => match entry.answer {
                Answer::Voxels(first, count) => {
                    let range = first as usize..(first + count) as usize;
                    out.extend_from_slice(&contents.contacts[range]);
                    if swap {
                        out.iter_mut().for_each(|contact| contact.swap(pos12));
                    }
                    Found::Contacts
                }
                Answer::SphereTree => {
                    Found::SphereTree(Some(self.ask(&contents, entry.pair, calls)))
                }
                Answer::Kept => Found::SphereTree(Some(Asked {
                    keeps: true,
                    ..Asked::whole(entry.pair)
                })),
            },
            None if contents.complete => Found::Contacts,
            None => Found::SphereTree(None),
        }
    }

    /// Whether there is time for a pair, and for how much of it.
    fn ask(&self, contents: &Contents, pair: u32, calls: u32) -> Asked {
        let mut asked = Asked::whole(pair);
        if let (Some(time), Some(clock)) = (&contents.sphere_tree_time, &contents.clock) {
            let now = self.pulse.look(clock, calls);
            let after = f64::from(time.calls.saturating_sub(calls)) * time.call;
            let left = time.end - now - after;
            let visits = ((left / time.visit).max(0.0) as u32).min(MOST_VISITS);
            asked.began = Some(now);
            asked.late = visits < LATE_VISITS;
            asked.visits = Some(visits.max(LATE_VISITS));
        }
        asked
    }

    /// Notes what the sphere-tree method cost.
    pub(crate) fn note_cost(&self, asked: &Asked, points: u32, visits: u32) {
        let seconds = asked.began.map_or(0.0, |began| {
            let contents = self.contents.read().unwrap_or_else(PoisonError::into_inner);
            let now = contents.clock.as_ref().map_or(began, |clock| {
                self.pulse.look(clock, self.calls.load(Ordering::Relaxed))
            });
            (now - began) as f32
        });
        let cost = Cost {
            points,
            visits,
            seconds,
            late: asked.late,
            // Each of two trees had half of it.
            cut_short: asked
                .visits
                .is_some_and(|most| 2 * (points + visits) >= most),
        };
        self.costs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((asked.pair, cost));
    }

    /// What was noted since the last call.
    pub(crate) fn take_costs(&self, into: &mut Vec<(u32, Cost)>) {
        into.clear();
        into.append(&mut self.costs.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// When the narrow phase ended, in the clock's seconds: as it was last seen, and what
    /// the calls after that will have taken. None if it was not seen, or by several threads.
    pub(crate) fn narrow_phase_end(&self) -> Option<f64> {
        let (pulse, calls) = (&self.pulse, self.calls.load(Ordering::Relaxed));
        let seen = pulse.calls.load(Ordering::Relaxed);
        if seen == 0 || pulse.foreign.load(Ordering::Relaxed) {
            return None;
        }
        let [first, last] =
            [&pulse.first, &pulse.last].map(|t| f64::from_bits(t.load(Ordering::Relaxed)));
        let each = (last - first) / f64::from(seen);
        Some(last + each * f64::from(calls.saturating_sub(seen)))
    }
}

fn lower_first([a, b]: [ShapeKey; 2]) -> [ShapeKey; 2] {
    [a.min(b), a.max(b)]
}

impl Contents {
    /// Begins a step, without entries.
    pub(crate) fn begin(&mut self, time: Option<SphereTreeTime>, clock: StepClock) {
        (self.sphere_tree_time, self.clock) = (time, Some(clock));
        self.entries.clear();
    }

    /// To be called when all entries are there.
    pub(crate) fn index(&mut self) {
        let size = (2 * self.entries.len()).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let mut at = slot(lower_first(entry.keys), size);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = i as u32 + 1;
        }
    }

    /// The entries with these keys, lower first, in the order in which they were put in.
    fn with_keys(&self, wanted: [ShapeKey; 2]) -> impl Iterator<Item = &Entry> + Clone {
        let size = self.slots.len();
        let start = if size == 0 { 0 } else { slot(wanted, size) };
        (start..start + size)
            .map(move |at| self.slots[at & (size - 1)])
            .take_while(|&place| place != 0)
            .map(|place| &self.entries[place as usize - 1])
            .filter(move |entry| lower_first(entry.keys) == wanted)
    }

    /// What a pair gets, and whether the shapes are given the other way round.
    fn find(&self, keys: [ShapeKey; 2], pos12: &Pose) -> Option<(&Entry, bool)> {
        let same = self.with_keys(lower_first(keys));
        let inverse = |e: &Entry| e.keys != keys;
        let at = |e: &&Entry, p: &Pose| {
            e.pos12.translation == p.translation && e.pos12.rotation == p.rotation
        };
        // Of several colliders with one shape, the one that is there; a pose that was
        // changed meanwhile is still the same pair if there is only one.
        let mut all = same.clone();
        let first = all.next()?;
        if all.next().is_none() {
            return Some((first, inverse(first)));
        }
        let turned = pos12.inverse();
        same.clone()
            .find(|e| !inverse(e) && at(e, pos12))
            .map(|e| (e, false))
            .or_else(|| same.clone().find(|e| at(e, &turned)).map(|e| (e, true)))
    }
}

/// Where to look first. `size` is a power of two, at least 16.
fn slot([a, b]: [ShapeKey; 2], size: usize) -> usize {
    let mixed = (a as u64 ^ (b as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - size.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use parry3d::shape::Ball;

    fn entry(keys: [ShapeKey; 2], x: f32, pair: u32) -> Entry {
        Entry {
            keys,
            pos12: Pose::from_translation(Vec3::X * x),
            answer: Answer::SphereTree,
            pair,
        }
    }

    #[test]
    fn every_entry_is_found_either_way_round_and_no_other() {
        for count in [0_usize, 1, 7, 8, 300] {
            let mut contents = Contents::default();
            for i in 0..count {
                // Addresses as they are: multiples of a power of two.
                let keys = [64 * (i % 17) + 4096, 64 * (i / 17) + 65536];
                contents.entries.push(entry(keys, 0.0, i as u32));
            }
            let none = contents.find([4096, 65536], &Pose::IDENTITY);
            assert!(none.is_none(), "nothing is found before it is indexed");
            contents.index();
            for i in 0..count {
                let [a, b] = contents.entries[i].keys;
                let (found, swap) = contents.find([a, b], &Pose::IDENTITY).unwrap();
                assert_eq!((found.pair, swap), (i as u32, false));
                let (found, swap) = contents.find([b, a], &Pose::IDENTITY).unwrap();
                assert_eq!((found.pair, swap), (i as u32, true));
            }
            assert!(contents.find([1, 2], &Pose::IDENTITY).is_none());
        }
    }

    #[test]
    fn colliders_that_share_a_shape_are_told_apart_by_their_poses() {
        let mut contents = Contents::default();
        for i in 0..5 {
            contents
                .entries
                .push(entry([128, 256], 1.0 + i as f32, i as u32));
        }
        contents.index();
        let at = |x: f32| Pose::from_translation(Vec3::X * x);
        let found = |keys, x| contents.find(keys, &at(x)).map(|(e, swap)| (e.pair, swap));
        assert_eq!(found([128, 256], 3.0), Some((2, false)));
        assert_eq!(found([256, 128], -4.0), Some((3, true)));
        assert_eq!(found([128, 256], 9.0), None);
    }

    #[test]
    fn the_main_method_is_asked_while_there_is_time_and_tells_what_it_took() {
        let (one, two) = (Ball::new(1.0), Ball::new(2.0));
        let now = Arc::new(AtomicU64::new(0));
        let micros = Arc::clone(&now);
        let table = VoxelTable::default();
        table.write(|contents| {
            contents.entries = vec![entry([key_of(&one), key_of(&two)], 0.0, 7)];
            contents.index();
            contents.sphere_tree_time = Some(SphereTreeTime {
                end: 1e-3,
                calls: 101,
                call: 1e-6,
                visit: 1e-6,
            });
            contents.clock = Some(StepClock {
                seconds: Arc::new(Box::new(move || {
                    micros.load(Ordering::Relaxed) as f64 * 1e-6
                })),
                thread: thread::current().id(),
            });
        });
        let mut out = Vec::new();
        let mut ask = || match table.look_up(&Pose::IDENTITY, &one, &two, &mut out) {
            Found::SphereTree(Some(asked)) => asked,
            _ => panic!("it was left to the sphere-tree method"),
        };
        // 1000 microseconds, less 100 for the other calls.
        let asked = ask();
        assert!(!asked.late && (899..=900).contains(&asked.visits.unwrap()));
        now.store(300, Ordering::Relaxed);
        table.note_cost(&asked, 5, 6);
        now.store(950, Ordering::Relaxed);
        let asked = ask();
        assert!(asked.late && asked.visits == Some(LATE_VISITS));
        table.note_cost(&asked, 1, 2);
        let mut costs = Vec::new();
        table.take_costs(&mut costs);
        assert_eq!(costs.len(), 2);
        assert_eq!((costs[0].0, costs[0].1.points), (7, 5));
        assert!((costs[0].1.seconds - 300e-6).abs() < 1e-9);
        assert!(!costs[0].1.late && costs[1].1.late);
        assert!((table.narrow_phase_end().unwrap() - 950e-6).abs() < 1e-9);
    }

    /// However much time there is, a pair may visit only so many nodes and points; one that has
    /// visited half of them, which is all that one of two trees may, was cut short.
    #[test]
    fn no_pair_is_asked_without_end_and_it_tells_whether_it_came_to_one() {
        let (one, two) = (Ball::new(1.0), Ball::new(2.0));
        let table = VoxelTable::default();
        table.write(|contents| {
            contents.entries = vec![entry([key_of(&one), key_of(&two)], 0.0, 7)];
            contents.index();
            contents.sphere_tree_time = Some(SphereTreeTime {
                end: 1.0,
                calls: 1,
                call: 1e-6,
                visit: 1e-7,
            });
            contents.clock = Some(StepClock {
                seconds: Arc::new(Box::new(|| 0.0)),
                thread: thread::current().id(),
            });
        });
        let Found::SphereTree(Some(asked)) =
            table.look_up(&Pose::IDENTITY, &one, &two, &mut Vec::new())
        else {
            panic!("it was left to the sphere-tree method")
        };
        assert_eq!((asked.late, asked.visits), (false, Some(MOST_VISITS)));
        table.note_cost(&asked, 11, MOST_VISITS / 2 - 12);
        table.note_cost(&asked, 11, MOST_VISITS / 2 - 11);
        let mut costs = Vec::new();
        table.take_costs(&mut costs);
        let cut_short: Vec<bool> = costs.iter().map(|(_, cost)| cost.cut_short).collect();
        assert_eq!(cut_short, [false, true]);
    }
}
