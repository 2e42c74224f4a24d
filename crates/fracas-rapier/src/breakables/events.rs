//! Events: what a caller may want to show or to hear.
//!
//! Events are collected raw, in the order in which things happen. [`settle`] makes one
//! consistent batch of them when the caller takes them: a renderer that keeps a map from piece
//! to mesh and applies a batch in order ends with exactly the pieces that exist.

use std::collections::{BTreeMap, BTreeSet};

use fracas_fracture::FractureStats;
use glam::Vec3;
use rapier3d::prelude::{ImpulseJointHandle, MultibodyJointHandle};

use super::{Contact, PieceId};

/// A joint of the engine, of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointHandle {
    /// A joint of `physics.impulse_joints`.
    Impulse(ImpulseJointHandle),
    /// A joint of `physics.multibody_joints`.
    Multibody(MultibodyJointHandle),
}

/// Something that happened: [`crate::World::take_events`] returns what happened since the
/// last call.
///
/// # Order
/// Events come in the order in which things happened, and one batch agrees with the world as
/// it is when the batch is taken:
///
/// - [`Event::Born`] is sent once for every piece that is new in the world and still there.
/// - [`Event::Broke`] comes before the births of its children. Its children are the pieces
///   that are there; a child that broke further within the batch is replaced by its own
///   children, and its numbers are added to those of the first break.
/// - [`Event::Removed`] and [`Event::Lost`] are sent only for pieces whose birth was sent in an
///   earlier batch. What came and went within one batch is not mentioned.
///
/// One case needs care: an object that was added and broke within the same batch is reported
/// by `Broke` without a `Born` before it, so that the sound of the break is not lost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A piece broke and is gone.
    Broke {
        /// The piece that is gone.
        piece: PieceId,
        /// What it broke into, as far as it is there now. May be empty.
        children: Vec<PieceId>,
        /// Why, in numbers.
        stats: FractureStats,
    },
    /// A piece is new: create what renders it.
    Born(PieceId),
    /// A piece was removed by the debris policy or by [`crate::World::remove_piece`].
    Removed(PieceId),
    /// A piece fell out of the world or its state was not finite; it was removed.
    Lost(PieceId),
    /// A piece is removed in so many steps ([`crate::DebrisPolicy::fade_steps`]): fade it out.
    Fading {
        /// The piece. It still collides.
        piece: PieceId,
        /// Engine steps from now to its [`Event::Removed`].
        steps: u32,
    },
    /// A fragment was too small to become a body ([`crate::DebrisPolicy::min_volume`]): show
    /// dust in its place. Its mass leaves the world.
    Dust {
        /// The piece that broke.
        parent: PieceId,
        /// Center of mass of the fragment, in the world.
        point: Vec3,
        /// Velocity of that point, in length units per second.
        velocity: Vec3,
        /// Volume of the fragment, in cubic length units.
        volume: f32,
    },
    /// A joint was attached to a body that broke, and is attached to one of its fragments now.
    JointMoved {
        /// The handle the joint had.
        old: JointHandle,
        /// The handle it has. Impulse joints keep theirs.
        new: JointHandle,
        /// The fragment that holds the anchor point.
        piece: PieceId,
    },
    /// A joint was attached to a body that broke, and no fragment could take it: it is gone.
    JointBroken {
        /// The handle the joint had.
        joint: JointHandle,
    },
    /// A hard contact (see [`crate::WorldSettings::event_impulse`]). A piece of it may have
    /// broken by it, and be gone.
    Contact(Contact),
}

/// Makes one consistent batch of raw events; see [`Event`]. `is_there` returns whether a piece
/// is in the world now.
pub(super) fn settle(raw: Vec<Event>, is_there: impl Fn(PieceId) -> bool) -> Vec<Event> {
    let mut batch: Vec<Event> = Vec::with_capacity(raw.len());
    // Pieces whose birth is in this batch; of those born by a break, the index of its event.
    let mut born: BTreeSet<PieceId> = BTreeSet::new();
    let mut origin: BTreeMap<PieceId, usize> = BTreeMap::new();
    for event in raw {
        match event {
            Event::Broke {
                piece,
                children,
                stats,
            } => {
                let at = origin.get(&piece).copied().unwrap_or(batch.len());
                origin.extend(children.iter().map(|&child| (child, at)));
                match batch.get_mut(at) {
                    Some(Event::Broke {
                        children: all,
                        stats: sum,
                        ..
                    }) => {
                        let own = all.iter().position(|&child| child == piece);
                        let own = own.map_or(all.len()..all.len(), |i| i..i + 1);
                        all.splice(own, children);
                        add_stats(sum, &stats);
                    }
                    _ => batch.push(Event::Broke {
                        piece,
                        children,
                        stats,
                    }),
                }
            }
            Event::Born(piece) => {
                born.insert(piece);
                if is_there(piece) {
                    batch.push(event);
                }
            }
            Event::Removed(piece) | Event::Lost(piece) if born.contains(&piece) => {}
            Event::Fading { piece, .. } if !is_there(piece) => {}
            Event::JointMoved { old, .. } | Event::JointBroken { joint: old } => {
                follow_joint(&mut batch, old, event);
            }
            other => batch.push(other),
        }
    }
    for event in &mut batch {
        if let Event::Broke { children, .. } = event {
            children.retain(|&child| is_there(child));
        }
    }
    batch
}

/// Adds what happened to the joint `old`. If it has moved before, both become one event.
fn follow_joint(batch: &mut Vec<Event>, old: JointHandle, event: Event) {
    let moved = batch
        .iter()
        .position(|e| matches!(e, Event::JointMoved { new, .. } if *new == old));
    let first = match moved.map(|at| batch.remove(at)) {
        Some(Event::JointMoved { old, .. }) => old,
        _ => old,
    };
    batch.push(match event {
        Event::JointMoved { new, piece, .. } => Event::JointMoved {
            old: first,
            new,
            piece,
        },
        _ => Event::JointBroken { joint: first },
    });
}

/// Adds the numbers of a child's break to those of its parent's.
fn add_stats(sum: &mut FractureStats, other: &FractureStats) {
    sum.overload = sum.overload.max(other.overload);
    sum.brought += other.brought;
    sum.available += other.available;
    sum.spent += other.spent;
    sum.area += other.area;
    sum.cracks += other.cracks;
    sum.pieces += other.pieces.saturating_sub(1);
    sum.unpaid += other.unpaid;
    sum.crumbs += other.crumbs;
}

#[cfg(test)]
mod tests {
    use fracas_core::FragmentId;

    use super::super::ObjectId;
    use super::*;

    fn piece(fragment: u32) -> PieceId {
        PieceId {
            object: ObjectId(0),
            fragment: FragmentId(fragment),
        }
    }

    fn broke(parent: u32, children: &[u32], spent: f64) -> Event {
        Event::Broke {
            piece: piece(parent),
            children: children.iter().map(|&c| piece(c)).collect(),
            stats: FractureStats {
                spent,
                pieces: children.len(),
                ..FractureStats::default()
            },
        }
    }

    fn born(fragment: u32) -> Event {
        Event::Born(piece(fragment))
    }

    #[test]
    fn break_of_a_newborn_joins_its_parents() {
        let raw = vec![
            broke(0, &[1, 2], 1.0),
            born(1),
            born(2),
            broke(1, &[3, 4], 2.0),
            born(3),
            born(4),
            Event::Removed(piece(4)),
        ];
        let there = [piece(2), piece(3)];
        let batch = settle(raw, |p| there.contains(&p));
        let Event::Broke { stats, .. } = &batch[0] else {
            panic!("{batch:?}");
        };
        assert_eq!((stats.spent, stats.pieces), (3.0, 3));
        let Event::Broke { children, .. } = &batch[0] else {
            panic!("{batch:?}");
        };
        assert_eq!(*children, [piece(3), piece(2)]);
        assert_eq!(batch[1..], [born(2), born(3)]);
    }

    #[test]
    fn known_pieces_are_removed_and_unknown_ones_never_mentioned() {
        let raw = vec![
            Event::Removed(piece(7)),
            born(8),
            Event::Fading {
                piece: piece(8),
                steps: 3,
            },
            Event::Lost(piece(8)),
        ];
        assert_eq!(settle(raw, |_| false), [Event::Removed(piece(7))]);
    }

    #[test]
    fn joint_that_moves_twice_is_one_move() {
        let handle = |i| {
            JointHandle::Multibody(MultibodyJointHandle(rapier3d::data::Index::from_raw_parts(
                i, 0,
            )))
        };
        let moved = |old, new, p| Event::JointMoved {
            old: handle(old),
            new: handle(new),
            piece: piece(p),
        };
        let raw = vec![moved(1, 2, 5), moved(2, 3, 6)];
        assert_eq!(settle(raw.clone(), |_| true), [moved(1, 3, 6)]);
        let gone = Event::JointBroken { joint: handle(3) };
        let raw = [raw, vec![gone]].concat();
        let told = Event::JointBroken { joint: handle(1) };
        assert_eq!(settle(raw, |_| true), [told]);
    }
}
