//! The breaks of one run, repeated in another.
//!
//! Contact methods are compared on the same fragments: one run decides what breaks and
//! is noted, the others break the same bodies in the same way after the same steps,
//! wherever they are by then.

use std::collections::VecDeque;

use fracas_core::Fracture;
use fracas_fracture::FractureStats;

use super::split::Break;
use super::{Breakables, Engine, PieceId, Redo};

/// What broke, and how, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakScript {
    breaks: VecDeque<Scripted>,
}

#[derive(Clone, Debug, PartialEq)]
struct Scripted {
    /// After the step of this number, from 0: 0 before it was made again, else its number of
    /// parts.
    step: u64,
    part: u32,
    piece: PieceId,
    /// How many fractures the object had had: they name its fragments.
    fractures_before: usize,
    fracture: Fracture,
    /// In how many parts the step that broke it was made again; 0: it was not.
    parts: u32,
    /// What it cost.
    stats: FractureStats,
    of_this_step: bool,
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

    /// Notes a break that is about to be made. `parts`: in how many the step is made again.
    pub(super) fn note(&mut self, broken: &Break, fractures_before: usize, parts: u32) {
        if let Scripting::Note(script) = &mut self.scripting {
            script.breaks.push_back(Scripted {
                step: self.steps,
                part: self.part,
                piece: broken.piece,
                fractures_before,
                fracture: broken.fracture.clone(),
                parts,
                stats: broken.stats,
                of_this_step: broken.of_this_step,
            });
        }
    }

    /// Makes the breaks that the script has for this step. Returns how the step is to be made
    /// again, where it was taken back as when they were noted.
    pub(super) fn follow_script(
        &mut self,
        may_take_back: bool,
        dt: f32,
        engine: &mut Engine<'_>,
    ) -> Option<Redo> {
        let mut again = None;
        let mut breaks: Vec<Break> = Vec::new();
        while let Some(next) = self.next_scripted(again.is_some()) {
            let same = |b: &&Break| b.piece.object == next.piece.object;
            let made = breaks.iter().filter(same).count();
            let object = self.objects.get(next.piece.object.0 as usize);
            if object.is_none_or(|o| o.history.len() + made != next.fractures_before) {
                continue;
            }
            let broken = Break {
                piece: next.piece,
                fracture: next.fracture,
                stats: next.stats,
                of_this_step: next.of_this_step,
            };
            if may_take_back && next.parts > 0 {
                again = Some(next.parts);
                breaks.push(broken);
            } else {
                self.break_bodies(vec![broken], 0, engine);
            }
        }
        let parts = again?;
        let mut redo = self.take_step_back(&breaks, dt, engine);
        redo.parts = parts;
        let born = self.break_bodies(breaks, parts, engine);
        redo.insert_born(&born, self);
        Some(redo)
    }

    pub(super) fn follows(&self) -> bool {
        matches!(self.scripting, Scripting::Follow(_))
    }

    /// What is due; after the step was taken back, only what broke before it was made again.
    fn next_scripted(&mut self, again: bool) -> Option<Scripted> {
        let Scripting::Follow(script) = &mut self.scripting else {
            return None;
        };
        let next = script.breaks.front()?;
        let is_due =
            (next.step, next.part) <= (self.steps, self.part) && (next.parts > 0 || !again);
        is_due.then(|| script.breaks.pop_front()).flatten()
    }
}
