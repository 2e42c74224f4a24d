//! Rounded things: the ball, the piggy bank, the rabbit.
//!
//! Each is a signed function; the mesher fills it at the edge length its surface
//! should have, and [`coarsen`](super::coarsen) then thins the inside until the
//! counts of Table 1 are met: those meshes have few points below their surfaces.

use fracas_core::TetMesh;
use fracas_core::dressing::FineBoundary;
use glam::DVec3;

use super::coarsen::{Until, coarsen};
use super::densify::densify;
use super::fine_skin::{Rounded, divide};
use super::{piggy_bank, rabbit};
use crate::tetrahedralize::{Grading, Options, boundary_topology, implicit};

/// Radius of the ball, metres.
const BALL_RADIUS: f64 = 0.05;

/// Fills a signed function with edges of this length; nothing where they are so long that
/// they find no inside.
fn try_fill(f: &dyn Fn(DVec3) -> f64, bounds: (DVec3, DVec3), edge: f64) -> Option<TetMesh> {
    let options = Options::edge_length(edge).with_grading(Grading::Uniform);
    Some(implicit(f, bounds, &options).ok()?.into_mesh())
}

/// As [`try_fill`], for lengths that are short enough.
fn fill(f: &dyn Fn(DVec3) -> f64, bounds: (DVec3, DVec3), edge: f64) -> TetMesh {
    try_fill(f, bounds, edge)
        .expect("shapes of the set have an inside at every resolution they are asked for")
}

/// Fills a signed function with edges of `edge / refine`, or shorter ones where a coarser
/// lattice would lose a tail or open a wall: what comes out is one piece without handles.
/// Returns the factor used as well.
fn fill_whole(
    f: &dyn Fn(DVec3) -> f64,
    bounds: (DVec3, DVec3),
    edge: f64,
    mut refine: f64,
) -> (TetMesh, f64) {
    while refine < 1.0 {
        let mesh = try_fill(f, bounds, edge / refine);
        if let Some(mesh) = mesh.filter(is_ball_like) {
            return (mesh, refine);
        }
        refine = (refine * 1.1).min(1.0);
    }
    // At their own size the shapes of the set are whole; beyond it nothing is asked.
    (fill(f, bounds, edge / refine), refine)
}

/// Whether the boundary is one closed sheet without handles.
fn is_ball_like(mesh: &TetMesh) -> bool {
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|face| face.nodes).collect();
    let topology = boundary_topology(mesh.positions().len(), &triangles);
    topology.components == 1 && topology.genus() == Some(0)
}

/// The piggy bank; `refine` 1 gives the counts of Table 1.
pub(super) fn build_piggy_bank(refine: f64) -> TetMesh {
    let f = piggy_bank::piggy_bank;
    let (mesh, refine) = fill_whole(&f, piggy_bank::BOUNDS, 0.0066, refine);
    let tets = (20_800.0 * refine * refine) as usize;
    coarsen(&mesh, &|p| -f(p), Until::Tets(tets))
}

/// The rabbit; `refine` 1 gives the counts of Table 1.
pub(super) fn build_rabbit(refine: f64) -> TetMesh {
    let f = rabbit::rabbit;
    let (mesh, refine) = fill_whole(&f, rabbit::BOUNDS, 0.0062, refine);
    let tets = (18_770.0 * refine * refine) as usize;
    coarsen(&mesh, &|p| -f(p), Until::Tets(tets))
}

/// Length of the edges of a fine surface, metres.
const FINE_EDGE: f64 = 0.0033;

/// The fine surface of a rounded thing on a mesh of it.
pub(super) fn fine_boundary(name: &str, mesh: &TetMesh, scale: f64) -> Option<FineBoundary> {
    let f: &dyn Fn(DVec3) -> f64 = match name {
        "piggy-bank" => &piggy_bank::piggy_bank,
        "rabbit" => &rabbit::rabbit,
        "ball" | "ball-fine" | "ball-sparse" => &|p| p.length() - BALL_RADIUS,
        _ => return None,
    };
    // Nodes of the boundary are on the surface: what lies between them is nearer to it
    // than an edge is long.
    let reach = f64::from(mesh.mean_edge_length()) / scale;
    let rounded = Rounded { f, scale, reach };
    Some(divide(mesh, FINE_EDGE * scale, &rounded))
}

/// A ball, 0.1 m across, with about so many triangles, and about so many points
/// below its surface (from a tenth to twice of what a uniform mesh has).
///
/// Section 7.2 of Glondu 2013 compares 2,500 triangles with 4,000 points below them,
/// 10,000 with 4,000, and 2,500 with 435.
#[must_use]
pub fn ball(triangles: usize, interior: usize) -> TetMesh {
    let f = |p: DVec3| p.length() - BALL_RADIUS;
    let bounds = (DVec3::splat(-BALL_RADIUS), DVec3::splat(BALL_RADIUS));
    // About 2.6 triangles a squared edge; one step corrects the estimate.
    let area = 4.0 * std::f64::consts::PI * BALL_RADIUS * BALL_RADIUS;
    let mut edge = (2.6 * area / triangles.max(20) as f64).sqrt();
    let mut mesh = fill(&f, bounds, edge);
    for _ in 0..3 {
        let ratio = mesh.boundary().count() as f64 / triangles.max(20) as f64;
        if (ratio - 1.0).abs() < 0.03 {
            break;
        }
        edge *= ratio.sqrt();
        mesh = fill(&f, bounds, edge);
    }
    let mesh = densify(&mesh, interior);
    coarsen(&mesh, &|p| -f(p), Until::InteriorNodes(interior))
}
