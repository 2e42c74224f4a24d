//! What deciding and breaking count for in the budget of a step, and what of it waits.
//!
//! A body counts by its nodes, at fixed rates: what deciding by modes takes, and what cutting,
//! weighing, field and trees take if it breaks. Bodies are decided in order, those that have waited
//! first, as long as they would fit if all of them broke; the first one of a step always is (not
//! one of each part of a step that is made again). A body that
//! waits and is hit again keeps the harder of the two impacts, and its place.

use fracas_core::FragmentId;

use super::split::Break;
use super::{After, Breakables, PieceId, Waiting};

/// Nanoseconds of work for a node of a body that is decided by modes, by a pattern, and of one
/// that breaks. A whole break of the piggy bank (6,200 nodes) takes 12 to 17 milliseconds, of
/// which deciding 7.5 to 10.8.
const BY_MODES: f64 = 1_300.0;
const BY_PATTERN: f64 = 100.0;
const BREAK: f64 = 900.0;

/// What a body is worth, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Worth {
    /// If it is decided.
    decided: f64,
    /// If it breaks, in addition.
    broken: f64,
}

impl Breakables {
    /// How many of the first pieces that were hit fit what is left of the budget.
    pub(super) fn affordable(&self, hit: &[PieceId], after: &After) -> usize {
        let Some((room, _)) = after.room else {
            return hit.len();
        };
        let mut room = room - self.report.work;
        let is_first = self.is_first();
        let fit = hit.iter().take_while(|&&piece| {
            let Worth { decided, broken } = self.worth(piece);
            room -= decided + broken;
            room >= 0.0 || decided == 0.0
        });
        fit.count().max(usize::from(is_first))
    }

    /// Counts what was asked, and what broke of it.
    pub(super) fn count(&mut self, asked: &[PieceId], breaks: &[Break]) {
        for &piece in asked {
            let is_first = self.is_first();
            let broke = breaks.iter().any(|b| b.piece == piece);
            let Worth { decided, broken } = self.worth(piece);
            let work = decided + if broke { broken } else { 0.0 };
            self.report.work += work;
            if is_first {
                self.report.least_work += work;
            }
        }
    }

    /// Whether no body was decided yet in this step.
    fn is_first(&self) -> bool {
        self.part == 0 && self.report.work == 0.0
    }

    /// What the first body that waits may take.
    pub(crate) fn work_waiting(&self) -> f64 {
        let first = self.waiting.first();
        let worth = first.map_or(Worth::default(), |hit| self.worth(hit.piece));
        worth.decided + worth.broken
    }

    /// How many parts of a step that is made again fit what is left, of so many.
    pub(super) fn affordable_parts(&mut self, parts: u32, after: &After) -> u32 {
        let Some((room, engine)) = after.room else {
            return parts;
        };
        let fit = (room - self.report.work) / engine.max(1.0);
        let fit = fit.clamp(1.0, f64::from(parts)) as u32;
        self.report.parts_spared += parts - fit;
        fit
    }

    /// Nothing, for what cannot break.
    fn worth(&self, id: PieceId) -> Worth {
        let breaker = self.objects[id.object.0 as usize].breaker.as_ref();
        let (Some(piece), Some(breaker)) = (self.piece(id), breaker) else {
            return Worth::default();
        };
        let state = piece.shape.object().read();
        let fragments = state.fragments();
        // What is no fragment cannot break.
        let (rule, nothing) = (breaker.rule(), FragmentId(u32::MAX));
        if rule.of(fragments, id.fragment) == rule.of(fragments, nothing) {
            return Worth::default();
        }
        let nodes = fragments.fragment(id.fragment).nodes().len() as f64;
        let by_modes = breaker.modes(id.fragment).is_some();
        Worth {
            decided: nodes * if by_modes { BY_MODES } else { BY_PATTERN },
            broken: nodes * BREAK,
        }
    }
}

/// Of impacts on one body that wait, leaves the hardest, in the place of the first.
pub(super) fn keep_hardest(waiting: &mut Vec<Waiting>) {
    let hardness = |hit: &Waiting| -> f32 { hit.impacts.iter().map(|i| i.impulse.length()).sum() };
    let mut kept: Vec<Waiting> = Vec::with_capacity(waiting.len());
    for hit in waiting.drain(..) {
        match kept.iter_mut().find(|k| k.piece == hit.piece) {
            Some(known) if hardness(known) < hardness(&hit) => *known = hit,
            Some(_) => {}
            None => kept.push(hit),
        }
    }
    *waiting = kept;
}

#[cfg(test)]
mod tests {
    use fracas_core::FragmentId;
    use fracas_fracture::Impact;
    use glam::Vec3;

    use super::super::ObjectId;
    use super::*;

    fn hit(piece: u32, impulse: f32) -> Waiting {
        let impact = Impact {
            point: Vec3::ZERO,
            impulse: Vec3::X * impulse,
            speed: 1.0,
            effective_mass: 1.0,
            radius: 0.0,
            other_modulus: 1.0,
        };
        Waiting {
            piece: PieceId {
                object: ObjectId(0),
                fragment: FragmentId(piece),
            },
            impacts: vec![impact],
        }
    }

    #[test]
    fn a_body_that_waits_keeps_its_place_and_its_hardest_impact() {
        let mut waiting = vec![hit(3, 1.0), hit(1, 5.0), hit(3, 2.0), hit(1, 4.0)];
        keep_hardest(&mut waiting);
        assert_eq!(waiting, vec![hit(3, 2.0), hit(1, 5.0)]);
    }
}
