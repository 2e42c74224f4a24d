//! In which order the nodes of a tree are visited. What a visit does is the visitor's.
//!
//! Source: [Glondu 2013, section 5.3]. The order decides how well the first contacts are
//! spread:
//! - [`Traversal::WidestFirst`], ours: by the distance of a point to its parent's
//!   point, in steps of a factor of the square root of two, the largest first. In an
//!   unbroken tree this is nearly the maximum-distance order itself.
//! - [`Traversal::Alternating`], the paper's: level by level; within a level, first
//!   children of all nodes, then second children, and so on, so that siblings, which
//!   are close to one another, are visited far apart.
//! - [`Traversal::Naive`]: level by level with a plain queue.
//!
//! | paper | here |
//! | --- | --- |
//! | Q1, Q2 | `current`, `next` of `alternating` |
//! | cached inside status | `Entry::distance` |
//!
//! **Corrections**: the loop ends when Q2 is empty (line 24 says the opposite).
//! **Deviations**: widest first is the default. Splitting a tree leaves out nodes with one
//! child, after which levels no longer tell how fine a node is; distances do (mean spacing of
//! the first 8 contacts of plate fragments on a floor: 12% wider than alternating, which is
//! no wider than the plain queue there). A node that the paper puts back into Q1 for its next
//! child is not visited again but kept in a list of active nodes: the order of Q2 is the
//! same. A point's own leaf is never queued: the point is known by then.

use super::{Node, SphereTree};

/// In which order nodes are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traversal {
    /// Coarse points before fine ones.
    #[default]
    WidestFirst,
    /// Breadth first, children of different parents alternating (section 5.3).
    Alternating,
    /// Breadth first with a plain queue, as in the authors' earlier work.
    Naive,
}

/// Buckets of [`Traversal::WidestFirst`]: half an octave of length each, so that the
/// last holds whatever is finer than 2^-24 of the tree.
pub(super) const BUCKETS: usize = 48;

/// A node in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub node: u32,
    /// Signed distance of the representative: NaN if its point was not seen yet,
    /// infinite if it is farther than the tolerance.
    pub distance: f32,
}

impl Entry {
    pub const ROOT: Self = Self {
        node: 0,
        distance: f32::NAN,
    };
}

/// Who is led through a tree.
pub(super) trait Visitor {
    /// Whether it ends before the next node is looked at.
    fn is_over(&mut self) -> bool;

    /// Looks at a node; `Some` with its representative's distance if the nodes below are to
    /// be visited, too.
    fn visit(&mut self, entry: Entry) -> Option<f32>;
}

pub(super) fn clear_buckets(buckets: &mut Vec<Vec<Entry>>) {
    buckets.resize(BUCKETS, Vec::new());
    buckets.iter_mut().for_each(Vec::clear);
}

/// Widest first. Takes entries from the buckets, and leaves those in them that it
/// did not come to.
pub(super) fn widest_first(
    tree: &SphereTree,
    buckets: &mut [Vec<Entry>],
    visitor: &mut impl Visitor,
) {
    // The exponent of a squared length: a factor of two each.
    let exponent = |squared: f32| squared.to_bits() >> 23;
    let widest = exponent(tree.nodes[0].radius * tree.nodes[0].radius);
    for at in 0..BUCKETS {
        let mut next = 0;
        while let Some(&entry) = buckets[at].get(next) {
            if visitor.is_over() {
                buckets[at].drain(..next);
                return;
            }
            next += 1;
            let Some(distance) = visitor.visit(entry) else {
                continue;
            };
            let node = &tree.nodes[entry.node as usize];
            for (round, child) in node.children().enumerate() {
                let below = &tree.nodes[child as usize];
                // New points by their distance to the parent's; an own child,
                // whose point is known, by the points it has still to give.
                let (squared, distance) = if round > 0 {
                    (below.centre.distance_squared(node.centre), f32::NAN)
                } else if below.child_count > 0 {
                    (below.radius * below.radius, distance)
                } else {
                    continue;
                };
                let bucket = widest.saturating_sub(exponent(squared)) as usize;
                buckets[bucket.clamp(at, BUCKETS - 1)].push(Entry {
                    node: child,
                    distance,
                });
            }
        }
        buckets[at].clear();
    }
}

/// Breadth first, children of different parents alternating.
pub(super) fn alternating(
    tree: &SphereTree,
    current: &mut Vec<Entry>,
    next: &mut Vec<Entry>,
    visitor: &mut impl Visitor,
) {
    current.clear();
    current.push(Entry::ROOT);
    while !current.is_empty() {
        // Visit; active nodes stay in `current`, in order.
        let mut active = 0;
        for i in 0..current.len() {
            if visitor.is_over() {
                return;
            }
            let entry = current[i];
            if let Some(distance) = visitor.visit(entry) {
                current[active] = Entry {
                    node: entry.node,
                    distance,
                };
                active += 1;
            }
        }
        current.truncate(active);
        // Hand over children by rounds; nodes without further children drop out.
        next.clear();
        let mut round = 0;
        while !current.is_empty() {
            current.retain(|entry| {
                let node = &tree.nodes[entry.node as usize];
                push_child(tree, entry, node, round, next);
                round + 1 < node.child_count
            });
            round += 1;
        }
        std::mem::swap(current, next);
    }
}

/// Breadth first.
pub(super) fn plain(tree: &SphereTree, queue: &mut Vec<Entry>, visitor: &mut impl Visitor) {
    queue.clear();
    queue.push(Entry::ROOT);
    let mut head = 0;
    while head < queue.len() {
        if visitor.is_over() {
            return;
        }
        let entry = queue[head];
        head += 1;
        if let Some(distance) = visitor.visit(entry) {
            let node = &tree.nodes[entry.node as usize];
            let entry = Entry {
                node: entry.node,
                distance,
            };
            for round in 0..node.child_count {
                push_child(tree, &entry, node, round, queue);
            }
        }
    }
}

/// Queues the child number `round`; an own child knows its distance, an own
/// leaf has nothing left to tell.
#[inline]
fn push_child(tree: &SphereTree, entry: &Entry, node: &Node, round: u32, queue: &mut Vec<Entry>) {
    if round >= node.child_count {
        return;
    }
    let child = node.first_child + round;
    if round > 0 {
        queue.push(Entry {
            node: child,
            distance: f32::NAN,
        });
    } else if tree.nodes[child as usize].child_count > 0 {
        queue.push(Entry {
            node: child,
            distance: entry.distance,
        });
    }
}
