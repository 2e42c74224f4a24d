//! Contacts of expensive pairs, found before the engine asks for them.
//!
//! The engine hands its pairs to threads in blocks of 64, which suits pairs that take a
//! microsecond. Ours take up to milliseconds around a break, and the few that do are often in
//! one block. So pairs that were expensive at their last query are asked before the engine's
//! step, each as a task of its own (`world/prepare.rs`), and the dispatcher takes up what was
//! found. What it brought, and what else was tried: docs/decisions/0013-contacts-that-remember.md.
//!
//! **Guarantee**: the same bits as without. An answer is taken up only where the engine asks
//! the very question that was answered: the same pair with its memory in the same state
//! ([`Version`]), at the same place, as far ahead, to the bit. All else is asked as ever. What
//! is noted and in which order depends on threads, and decides only who does the work.

// Without threads nobody prepares.
#![cfg_attr(not(all(feature = "world", feature = "parallel")), allow(dead_code))]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use fracas_core::sphere_tree::QueryStats;
use parry3d::math::Pose;
use parry3d::shape::Shape;

use crate::manifold::PairContact;
use crate::pair_memory::PairMemory;
use crate::voxel::key_of;

/// Names one state of one pair's memory, for as long as the program runs.
pub(crate) type Version = u64;

/// The next one's name. Of all worlds: pairs may come from another one's engine.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// A pair that was asked for so many points is worth a task of its own the next time: some
/// three tenths of a millisecond. (From 12 points on, scenes of many middling pairs lose more
/// by copies of what those remember than they gain.)
const EXPENSIVE_POINTS: u32 = 200;

/// Two shapes by their addresses, in the engine's order.
pub(crate) type Keys = [usize; 2];

pub(crate) fn keys_of(g1: &dyn Shape, g2: &dyn Shape) -> Keys {
    [key_of(g1), key_of(g2)]
}

/// What an expensive pair remembered after it was asked.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) keys: Keys,
    pub(crate) version: Version,
    pub(crate) memory: PairMemory,
}

/// What the engine asks of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairQuestion {
    /// Of the memory that the pair begins with, and so of the pair.
    pub(crate) version: Version,
    /// The second shape in the frame of the first.
    pub(crate) pos12: Pose,
    /// How far ahead.
    pub(crate) reach: f32,
}

/// What was found before the engine asked.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) contacts: Vec<PairContact>,
    pub(crate) stats: QueryStats,
    /// After the question.
    pub(crate) memory: PairMemory,
}

/// An answer, until it is taken up.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) question: PairQuestion,
    pub(crate) answer: Mutex<Option<Answer>>,
}

/// Shared by the dispatcher and by who prepares.
#[derive(Debug)]
pub(crate) struct PreparedAnswers {
    /// Whether anybody prepares: else a pair pays for no more than this look.
    on: AtomicBool,
    expensive_points: u32,
    known: Mutex<Vec<Known>>,
    /// By their questions' versions.
    answers: RwLock<Vec<Prepared>>,
    #[cfg(test)]
    taken: AtomicU64,
}

impl Default for PreparedAnswers {
    fn default() -> Self {
        Self::expensive_from(EXPENSIVE_POINTS)
    }
}

impl PreparedAnswers {
    /// With pairs taken for expensive that were asked for so many points.
    pub(crate) fn expensive_from(expensive_points: u32) -> Self {
        Self {
            on: AtomicBool::new(false),
            expensive_points,
            known: Mutex::default(),
            answers: RwLock::default(),
            #[cfg(test)]
            taken: AtomicU64::new(0),
        }
    }

    /// Takes the answer to a question, if it was prepared.
    pub(crate) fn take(&self, question: &PairQuestion) -> Option<Answer> {
        if !self.on.load(Ordering::Relaxed) {
            return None;
        }
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        let version = |p: &Prepared| p.question.version;
        let at = answers.binary_search_by_key(&question.version, version);
        let prepared = answers[at.ok()?..].first()?;
        if prepared.question != *question {
            return None;
        }
        let mut answer = prepared
            .answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        #[cfg(test)]
        self.taken
            .fetch_add(u64::from(answer.is_some()), Ordering::Relaxed);
        answer.take()
    }

    /// Notes what a pair remembers after it was asked for so many points, if it is expensive
    /// and somebody prepares. Gives the state a name.
    pub(crate) fn note(&self, keys: Keys, points: u32, memory: &PairMemory) -> Option<Version> {
        if points < self.expensive_points || !self.on.load(Ordering::Relaxed) {
            return None;
        }
        let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        let known = Known {
            keys,
            version,
            memory: memory.clone(),
        };
        self.keep(known);
        Some(version)
    }

    /// Keeps what is known of a pair for the next time.
    pub(crate) fn keep(&self, known: Known) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(known);
    }

    /// How many answers were taken up, since the beginning.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

#[cfg(all(feature = "world", feature = "parallel"))]
impl PreparedAnswers {
    /// Says whether answers will be prepared from now on.
    pub(crate) fn switch(&self, on: bool) {
        if self.on.swap(on, Ordering::Relaxed) && !on {
            self.take_known();
            self.put(Vec::new());
        }
    }

    /// What expensive pairs remember, by their keys; nothing is left.
    pub(crate) fn take_known(&self) -> Vec<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = std::mem::take(&mut *known);
        known.sort_unstable_by_key(|k| (k.keys, k.version));
        known
    }

    /// Puts answers out; those that nobody took are gone.
    pub(crate) fn put(&self, mut answers: Vec<Prepared>) {
        answers.sort_unstable_by_key(|p| p.question.version);
        *self.answers.write().unwrap_or_else(PoisonError::into_inner) = answers;
    }
}

#[cfg(all(test, feature = "world", feature = "parallel"))]
mod tests {
    use super::*;

    fn prepared(question: PairQuestion, contacts: u32) -> Prepared {
        let answer = Answer {
            contacts: Vec::new(),
            stats: QueryStats {
                contacts,
                ..QueryStats::default()
            },
            memory: PairMemory::default(),
        };
        Prepared {
            question,
            answer: Some(answer).into(),
        }
    }

    #[test]
    fn an_answer_is_taken_once_and_for_its_own_question_alone() {
        let question = |version: Version, x: f32, reach: f32| PairQuestion {
            version,
            pos12: Pose::translation(x, 0.0, 0.0),
            reach,
        };
        let asked = question(7, 1.0, 0.1);
        let answers = PreparedAnswers::default();
        let take = |question| Some(answers.take(&question)?.stats.contacts);
        let all = || {
            vec![
                prepared(question(9, 1.0, 0.1), 1),
                prepared(asked, 2),
                prepared(question(3, 2.0, 0.1), 3),
            ]
        };
        answers.put(all());
        assert_eq!(take(asked), None, "nobody prepares");
        answers.switch(true);
        answers.put(all());
        let next = 1.0 + f32::EPSILON;
        for other in [
            question(7, next, 0.1),
            question(7, 1.0, 0.1 + 1e-8),
            question(8, 1.0, 0.1),
            question(10, 1.0, 0.1),
        ] {
            assert_eq!(take(other), None, "{other:?}");
        }
        assert_eq!(take(asked), Some(2));
        assert_eq!(take(asked), None, "it is gone");
        assert_eq!(take(question(3, 2.0, 0.1)), Some(3));
        assert_eq!(take(question(9, 1.0, 0.1)), Some(1));
        answers.put(all());
        answers.put(Vec::new());
        assert_eq!(take(asked), None, "of an older step");
    }

    #[test]
    fn what_is_cheap_is_not_noted_and_every_state_has_a_name_of_its_own() {
        let answers = PreparedAnswers::expensive_from(12);
        let memory = PairMemory::default();
        assert_eq!(answers.note([1, 2], 1000, &memory), None, "nobody prepares");
        answers.switch(true);
        assert_eq!(answers.note([1, 2], 11, &memory), None);
        let first = answers.note([5, 2], 12, &memory).unwrap();
        let second = answers.note([1, 2], 12, &memory).unwrap();
        assert_ne!(first, second);
        let known: Vec<_> = answers
            .take_known()
            .iter()
            .map(|k| (k.keys, k.version))
            .collect();
        assert_eq!(known, [([1, 2], second), ([5, 2], first)], "by their keys");
        assert!(answers.take_known().is_empty());
        answers.note([1, 2], 12, &memory).unwrap();
        answers.switch(false);
        assert!(answers.take_known().is_empty(), "forgotten");
    }
}
