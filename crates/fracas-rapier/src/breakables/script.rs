//! The breaks of one run, repeated in another.
//!
//! Contact methods are compared on the same fragments: one run decides what breaks and
//! is noted, the others break the same bodies in the same way after the same steps,
//! wherever they are by then.

use std::collections::VecDeque;

use fracas::Fracture;
use fracas_fracture::FractureStats;

use super::split::Break;
use super::{Breakables, Engine, PieceId};

/// What broke, and how, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakScript {
    breaks: VecDeque<Scripted>,
}

#[derive(Clone, Debug, PartialEq)]
struct Scripted {
    /// After the step of this number, from 0.
    step: u64,
    piece: PieceId,
    /// How many fractures the object had had: they name its fragments.
    fractures_before: usize,
    fracture: Fracture,
}

impl BreakScript {
    /// How many breaks it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.breaks.len()
    }

    /// Whether nothing broke.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.breaks.is_empty()
    }
}

/// What is done with scripts.
#[derive(Debug, Default)]
pub(super) enum Scripting {
    #[default]
    Off,
    Note(BreakScript),
    Follow(BreakScript),
}

impl Breakables {
    /// Notes from now on what breaks: [`Self::noted_breaks`]. Snapshots do not hold it.
    pub fn note_breaks(&mut self) {
        self.scripting = Scripting::Note(BreakScript::default());
    }

    /// What broke since [`Self::note_breaks`].
    #[must_use]
    pub fn noted_breaks(&self) -> Option<&BreakScript> {
        match &self.scripting {
            Scripting::Note(script) => Some(script),
            _ => None,
        }
    }

    /// From now on impacts decide nothing, and are not told as events: what breaks is what
    /// the script says. A break whose body is gone is left out, and with it the later ones
    /// of that object. One that was made between two steps follows after the second.
    /// Snapshots do not hold the script.
    pub fn follow(&mut self, script: BreakScript) {
        self.scripting = Scripting::Follow(script);
    }

    /// Notes a break that is about to be made.
    pub(super) fn note(&mut self, piece: PieceId, fractures_before: usize, fracture: &Fracture) {
        if let Scripting::Note(script) = &mut self.scripting {
            script.breaks.push_back(Scripted {
                step: self.steps,
                piece,
                fractures_before,
                fracture: fracture.clone(),
            });
        }
    }

    /// Makes the breaks that the script has for this step; `false` if there is none to
    /// follow.
    pub(super) fn follow_script(&mut self, engine: &mut Engine<'_>) -> bool {
        if !self.follows() {
            return false;
        }
        while let Some(next) = self.next_scripted() {
            let object = self.objects.get(next.piece.object.0 as usize);
            if object.is_some_and(|o| o.history.len() == next.fractures_before) {
                let broken = Break {
                    piece: next.piece,
                    fracture: next.fracture,
                    stats: FractureStats::default(),
                };
                self.break_bodies(vec![broken], engine);
            }
        }
        true
    }

    pub(super) fn follows(&self) -> bool {
        matches!(self.scripting, Scripting::Follow(_))
    }

    fn next_scripted(&mut self) -> Option<Scripted> {
        let Scripting::Follow(script) = &mut self.scripting else {
            return None;
        };
        let is_due = script.breaks.front()?.step <= self.steps;
        is_due.then(|| script.breaks.pop_front()).flatten()
    }
}
