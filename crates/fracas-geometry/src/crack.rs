//! How a fracture is told to the collision side: nodal level sets, one per crack.
//!
//! A [`Fracture`] breaks one fragment by a sequence of [`Crack`]s. Each crack
//! splits one *part* of the fragment in two: it gives every node of that part a
//! level, negative on the side that stays, positive on the side that leaves. The
//! cut on an edge whose ends part lies at the zero of the linear level, so an
//! edge from `a` to `b` is cut at `t = s_a / (s_a - s_b)`.
//!
//! Nodes outside the part count as level **zero**. From this follow, by induction
//! over cracks, the properties that everything downstream rests on:
//! - an edge is cut only if both ends are in the part, hence at most once;
//! - on a face the level depends on that face's nodes alone, so two tetrahedra
//!   that share it agree on the cut, bit for bit;
//! - each split separates nodes, so a tetrahedron holds at most three planes and
//!   four convex pieces, and each piece holds exactly its own nodes;
//! - pieces of other fragments never move.
//!
//! Source: Glondu 2013, section 4.1 (each edge is cut at most once, each fragment
//! holds a node). **Deviation**: the paper keeps up to six planes per tetrahedron,
//! one for each edge, which need not bound convex pieces or agree across faces;
//! levels with zero extension need three and do both.

use std::fmt;

use thiserror::Error;

use crate::TetMesh;

/// Names a fragment of one object, for ever: an id is never used again.
/// The unbroken object is fragment 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentId(pub u32);

impl fmt::Display for FragmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fragment {}", self.0)
    }
}

/// One binary split of one part of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct Crack {
    /// The part that is split. Part 0 is the whole fragment; the crack at index
    /// `k` of [`Fracture::cracks`] makes part `k + 1` of the positive side.
    pub part: u32,
    /// Node and level, for exactly the nodes of the part, in increasing node
    /// order. Levels are finite and not zero, and both signs occur.
    pub levels: Vec<(u32, f32)>,
}

/// How one fragment breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Fracture {
    /// The fragment that breaks.
    pub fragment: FragmentId,
    /// Its cracks, in order.
    pub cracks: Vec<Crack>,
}

/// Why a [`Fracture`] cannot be applied. Nothing has changed when it is returned.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FractureError {
    /// The fragment does not exist, or broke before.
    #[error("{0} is not a living fragment")]
    NoSuchFragment(FragmentId),
    /// A fragment of a single node has no edge left to cut.
    #[error("{0} holds a single node and cannot break any further")]
    Unbreakable(FragmentId),
    /// There is no crack.
    #[error("the fracture of {0} has no crack")]
    NoCrack(FragmentId),
    /// A crack splits a part that no earlier crack has made.
    #[error("crack {crack} splits part {part}, but only {parts} parts exist by then")]
    NoSuchPart {
        /// Which crack.
        crack: usize,
        /// The part it names.
        part: u32,
        /// How many there are.
        parts: u32,
    },
    /// The levels do not cover the part's nodes exactly, in order.
    #[error(
        "the levels of crack {crack} are not one for each node of part {part}, in increasing order (first difference at node {node})"
    )]
    WrongNodes {
        /// Which crack.
        crack: usize,
        /// The part it splits.
        part: u32,
        /// Where expected and given nodes first differ.
        node: u32,
    },
    /// A level is zero, NaN or infinite.
    #[error("crack {crack} gives node {node} the level {level}, which must be finite and not zero")]
    BadLevel {
        /// Which crack.
        crack: usize,
        /// The node.
        node: u32,
        /// Its level.
        level: f32,
    },
    /// All levels have one sign: nothing parts.
    #[error("crack {crack} leaves all nodes of part {part} on one side")]
    OneSided {
        /// Which crack.
        crack: usize,
        /// The part it should split.
        part: u32,
    },
}

/// Cuts nearer to a node than this share of the shortest edge there are moved
/// away from it, so that no sliver is thinner (no unit). Chosen from the range
/// 0.02 to 0.05 in which no visible displacement was seen.
const LEAST_CUT_SHARE: f32 = 0.03;

impl Crack {
    /// A crack of `part` whose level is any function of node index, made safe:
    /// clamped per node to `[LEAST_CUT_SHARE * h, 4 h]` in size, `h` being the
    /// node's shortest edge; zero counts as positive. Clamping per node (not per
    /// edge) keeps faces conforming. `None` when all nodes are on one side.
    #[must_use]
    pub fn from_level(
        mesh: &TetMesh,
        part: u32,
        nodes: &[u32],
        mut level: impl FnMut(u32) -> f32,
    ) -> Option<Self> {
        let levels: Vec<(u32, f32)> = nodes
            .iter()
            .map(|&n| (n, Self::clamp_level(mesh, n, level(n))))
            .collect();
        let positive = levels.iter().filter(|(_, s)| *s > 0.0).count();
        (positive > 0 && positive < levels.len()).then_some(Self { part, levels })
    }

    /// A level of a node that leaves no sliver: see [`Self::from_level`].
    #[must_use]
    pub fn clamp_level(mesh: &TetMesh, node: u32, level: f32) -> f32 {
        let p = mesh.positions()[node as usize];
        let shortest = mesh
            .adjacent_nodes(node)
            .iter()
            .map(|&m| p.distance_squared(mesh.positions()[m as usize]))
            .fold(f32::INFINITY, f32::min)
            .sqrt();
        let size = level.abs();
        // NaN counts as positive too: a level set never makes a crack fail.
        let size = size.max(LEAST_CUT_SHARE * shortest).min(4.0 * shortest);
        if level < 0.0 { -size } else { size }
    }
}
