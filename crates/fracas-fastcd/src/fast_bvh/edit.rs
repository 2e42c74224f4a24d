//! What edits take, give back, and refuse [Heo 2010, §5.1].

use glam::DVec3;
use thiserror::Error;

use super::ids::{BodyId, NONE};

/// Coordinates beyond this would overflow the products that the tests form.
const LARGEST_COORDINATE: f64 = 1e30;

/// Why an edit was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EditError {
    /// The body does not exist (any more).
    #[error("body {body} does not exist: it was never added, or was deleted, split or merged")]
    NoSuchBody {
        /// The id asked for.
        body: u32,
    },
    /// A triangle names a vertex that is not there.
    #[error(
        "triangle {triangle} of {what} names vertex {vertex}, but there are {count}: indices are local to the body"
    )]
    BadIndex {
        /// The new body, or the part of a split.
        what: String,
        /// Index of the triangle in the list given.
        triangle: usize,
        /// The index that is out of range.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A triangle names the same vertex twice.
    #[error("triangle {triangle} of {what} names vertex {vertex} twice: remove it")]
    RepeatedVertex {
        /// The new body, or the part of a split.
        what: String,
        /// Index of the triangle in the list given.
        triangle: usize,
        /// The vertex.
        vertex: u32,
    },
    /// A position is NaN, infinite, or larger than 1e30.
    #[error(
        "vertex {vertex} of {what} is at {position}: positions must be finite and below 1e30 in size"
    )]
    BadPosition {
        /// The body.
        what: String,
        /// Index in the list given.
        vertex: usize,
        /// The position.
        position: DVec3,
    },
    /// `move_vertices` got another number of positions than the body has vertices.
    #[error("body {body} has {expected} vertices, but {given} positions were given")]
    WrongCount {
        /// The body.
        body: u32,
        /// Its vertices.
        expected: usize,
        /// Positions given.
        given: usize,
    },
    /// The parts and the removed triangles do not cover the body exactly once.
    #[error("split of body {body} is no partition: triangle {triangle} {problem}")]
    NoPartition {
        /// The body.
        body: u32,
        /// The body's triangle.
        triangle: u32,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Nothing to build a body of.
    #[error("{what} has no triangles: delete the body instead")]
    Empty {
        /// The new body, or the part of a split.
        what: String,
    },
    /// A merge names a body twice or names none.
    #[error(
        "a merge needs different bodies, at least one; body {body} is named twice (or the list is empty)"
    )]
    BadMerge {
        /// The repeated body.
        body: u32,
    },
    /// More than 2^30 vertices, edges or triangles.
    #[error("too many features: a scene holds at most 2^30 triangles")]
    TooMany,
}

/// One piece of a split: triangles of the old body that it keeps, and new ones
/// (the faces of the crack).
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Triangles of the old body, by index in it.
    pub kept: Vec<u32>,
    /// Positions of vertices that the old body does not have.
    pub new_positions: Vec<DVec3>,
    /// New triangles. Indices below the old body's number of vertices name its
    /// vertices, the others `new_positions`.
    pub new_triangles: Vec<[u32; 3]>,
}

/// What a split made of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBody {
    /// Its id.
    pub id: BodyId,
    /// For each of its vertices, in order: its index in the old body, or beyond
    /// that, in the part's `new_positions`. Its triangles are the part's kept ones
    /// and then the new ones, in order.
    pub vertex_origin: Vec<u32>,
}

pub(crate) fn partition(
    id: BodyId,
    count: usize,
    parts: &[Part],
    removed: &[u32],
) -> Result<Vec<u32>, EditError> {
    let problem = |triangle, problem| EditError::NoPartition {
        body: id.0,
        triangle,
        problem,
    };
    let mut part_of = vec![NONE - 1; count];
    let lists = parts
        .iter()
        .enumerate()
        .map(|(p, part)| (p as u32, &part.kept[..]));
    for (p, list) in lists.chain([(NONE, removed)]) {
        for &t in list {
            let Some(slot) = part_of.get_mut(t as usize) else {
                return Err(problem(t, "is not in the body"));
            };
            if *slot != NONE - 1 {
                return Err(problem(t, "is named twice"));
            }
            *slot = p;
        }
    }
    match part_of.iter().position(|&p| p == NONE - 1) {
        Some(t) => Err(problem(t as u32, "is in no part and not removed")),
        None => Ok(part_of),
    }
}

pub(crate) fn check_positions(
    positions: &[DVec3],
    what: impl Fn() -> String,
) -> Result<(), EditError> {
    match positions
        .iter()
        .position(|p| !p.is_finite() || p.abs().max_element() > LARGEST_COORDINATE)
    {
        None => Ok(()),
        Some(vertex) => Err(EditError::BadPosition {
            what: what(),
            vertex,
            position: positions[vertex],
        }),
    }
}

pub(crate) fn check_triangles(
    triangles: &[[u32; 3]],
    count: usize,
    what: impl Fn() -> String,
) -> Result<(), EditError> {
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(&vertex) = t.iter().find(|&&v| v as usize >= count) {
            return Err(EditError::BadIndex {
                what: what(),
                triangle,
                vertex,
                count,
            });
        }
        for k in 0..3 {
            if t[k] == t[(k + 1) % 3] {
                return Err(EditError::RepeatedVertex {
                    what: what(),
                    triangle,
                    vertex: t[k],
                });
            }
        }
    }
    Ok(())
}
