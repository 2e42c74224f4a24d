//! Debris limits, applied before a body is cut.
//!
//! Breaks come in the order in which they were decided. Each takes its fragments from two
//! numbers: how many may be made in this step, and how many may exist. Where the second falls
//! short, existing fragments that are smaller than the new ones make room, the smallest first.
//! What still does not fit is cut by the first of its cracks alone, as many as fit; cracks of a
//! fracture are ordered, and the first ones split the body into the largest parts.

use std::collections::VecDeque;

use fracas_core::{Fracture, FragmentId};
use rapier3d::prelude::RigidBodySet;

use super::split::Break;
use super::{Breakables, Engine, Event, PieceId};

/// Room for new fragments in the current step.
pub(super) struct Room {
    /// How many more may be made in this step.
    pub(super) new: usize,
    /// Whether nothing has broken in this step yet.
    is_untouched: bool,
    /// How many more may exist.
    free: usize,
    /// Fragments that may be removed to make room, with their apparent volume: the smallest
    /// first, of equal ones the oldest.
    spare: VecDeque<(f32, PieceId)>,
}

impl Room {
    /// The fragments that may be removed to make room, in order.
    pub(super) fn into_spare(self) -> impl Iterator<Item = PieceId> {
        self.spare.into_iter().map(|(_, id)| id)
    }

    /// How many fragments there may be in the place of a body of this volume, if those that
    /// are smaller than half of it make room.
    fn in_place_of(&self, volume: f32, is_fragment: bool) -> usize {
        let smaller = self.spare.partition_point(|(v, _)| *v < 0.5 * volume);
        let made = smaller + usize::from(is_fragment);
        self.free.saturating_add(made)
    }
}

/// Whether a break fits the limits.
pub(super) enum Fit {
    /// It does, perhaps with fewer cracks.
    Breaks(Break),
    /// It may in a later step.
    Waits,
    /// The body stays in one piece.
    Holds,
}

impl Breakables {
    /// The room for new fragments; none: there is no limit.
    pub(super) fn room(&self, per_step: bool, bodies: &RigidBodySet) -> Option<Room> {
        let policy = &self.settings.debris;
        let new = match per_step {
            true => policy.max_new_fragments(),
            false => usize::MAX,
        };
        if policy.max_fragments.is_none() && new == usize::MAX {
            return None;
        }
        let mut spare: Vec<(f32, u64, PieceId)> = Vec::new();
        let mut count = 0;
        for id in self.pieces().filter(|id| id.fragment != FragmentId(0)) {
            let Some(piece) = self.piece(id) else {
                continue;
            };
            count += 1;
            if !piece.anchored && !self.held.contains(&id) {
                spare.push((self.apparent_volume(id, bodies), piece.born, id));
            }
        }
        spare.sort_unstable_by(|a, b| {
            let order = a.0.total_cmp(&b.0);
            order.then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        let max = policy.max_fragments.unwrap_or(usize::MAX);
        Some(Room {
            new: new.saturating_sub(self.new_fragments),
            is_untouched: self.new_fragments == 0,
            free: max.saturating_sub(count),
            spare: spare.into_iter().map(|(v, _, id)| (v, id)).collect(),
        })
    }

    /// A piece's volume as it counts when room is made: less far from the point of interest.
    fn apparent_volume(&self, id: PieceId, bodies: &RigidBodySet) -> f32 {
        let Some(piece) = self.piece(id) else {
            return 0.0;
        };
        let at = bodies.get(piece.body).map(|body| body.center_of_mass());
        let policy = &self.settings.debris;
        let away = at.map_or(1.0, |at| policy.remoteness(self.focus, at));
        piece.shape.volume() as f32 / (away * away * away)
    }

    /// Whether there is room for two fragments in the place of a piece, now or in a later step.
    pub(super) fn may_break(&self, id: PieceId, room: &Room, bodies: &RigidBodySet) -> bool {
        let volume = self.apparent_volume(id, bodies);
        room.in_place_of(volume, id.fragment != FragmentId(0)) >= 2
    }

    /// Whether a fragment is too small a part of its object to break again.
    pub(super) fn is_crumb(&self, id: PieceId) -> bool {
        let share = self.settings.debris.min_breaking_share;
        let object = &self.objects[id.object.0 as usize];
        let whole = object.options.blueprint.volume();
        id.fragment != FragmentId(0)
            && self
                .piece(id)
                .is_some_and(|p| p.shape.volume() < f64::from(share) * whole)
    }

    /// Fits a break into the room, removing what makes room for it.
    pub(super) fn fit(
        &mut self,
        mut broken: Break,
        room: &mut Room,
        engine: &mut Engine<'_>,
    ) -> Fit {
        let id = broken.piece;
        room.spare.retain(|(_, spare)| *spare != id);
        let Some(wanted) = self.count_children(id, &broken.fracture) else {
            return Fit::Holds;
        };
        // The first break of a step gets what there is: it would not fit the next step either.
        if wanted > room.new && !room.is_untouched {
            return Fit::Waits;
        }
        let wanted = wanted.min(room.new);
        let own = usize::from(id.fragment != FragmentId(0));
        let least = self.apparent_volume(id, engine.bodies) / wanted.max(1) as f32;
        while room.free + own < wanted {
            let Some((_, spare)) = room.spare.pop_front_if(|(volume, _)| *volume < least) else {
                break;
            };
            if self.remove(spare, engine) {
                self.events.push(Event::Removed(spare));
                room.free += 1;
            }
        }
        let max = room.free.saturating_add(own).min(room.new);
        let before = broken.fracture.cracks.len();
        let Some(count) = self.shorten(&mut broken.fracture, id, max) else {
            return Fit::Holds;
        };
        let cracks = broken.fracture.cracks.len();
        if cracks < before {
            let share = cracks as f64 / before as f64;
            let stats = &mut broken.stats;
            (stats.cracks, stats.pieces) = (cracks, count);
            stats.spent *= share;
            stats.area *= share;
        }
        room.free = (room.free + own).saturating_sub(count);
        room.new -= count;
        room.is_untouched = false;
        Fit::Breaks(broken)
    }

    /// Fits breaks that are no decisions of this step into the limit on all fragments.
    pub(super) fn fit_all(&mut self, breaks: Vec<Break>, engine: &mut Engine<'_>) -> Vec<Break> {
        if breaks.is_empty() {
            return breaks;
        }
        let Some(mut room) = self.room(false, engine.bodies) else {
            return breaks;
        };
        let mut fitting = Vec::with_capacity(breaks.len());
        for broken in breaks {
            if let Fit::Breaks(broken) = self.fit(broken, &mut room, engine) {
                fitting.push(broken);
            }
        }
        fitting
    }

    fn count_children(&self, id: PieceId, fracture: &Fracture) -> Option<usize> {
        let state = self.piece(id)?.shape.object().read();
        state.fragments().count_children(fracture).ok()
    }

    /// Leaves as many of the first cracks of a fracture as make at most so many fragments.
    /// Returns how many they make; none: not even one crack fits.
    fn shorten(&self, fracture: &mut Fracture, id: PieceId, most: usize) -> Option<usize> {
        let count = |fracture: &Fracture| self.count_children(id, fracture);
        let all = count(fracture)?;
        if all <= most {
            return Some(all);
        }
        // The count never falls with a crack more.
        let cracks = std::mem::take(&mut fracture.cracks);
        let (mut low, mut high) = (0, cracks.len());
        let mut fits = None;
        while high - low > 1 {
            let middle = low.midpoint(high);
            fracture.cracks = cracks[..middle].to_vec();
            let children = count(fracture)?;
            if children <= most {
                (low, fits) = (middle, Some(children));
            } else {
                high = middle;
            }
        }
        fracture.cracks = cracks;
        fracture.cracks.truncate(low);
        fits
    }
}
