//! A cube that has just been cut into interlocking pieces: they must neither stick to
//! each other nor burst apart.
//!
//! Small Voronoi cells are joined into concave fragments. The truth for pieces that
//! are let go is known: their velocities, changed as little as the faces between
//! cells demand.

mod common;
#[path = "common/cut_cube.rs"]
mod cut_cube;

use std::collections::BTreeMap;

use cut_cube::{CUTS, PIECES, best, corner_drops, cube, cut, groups, nearest};
use fracas_core::FragmentId;
use fracas_core::testing::Rng;
use fracas_rapier::{PieceId, World, WorldSettings};
use glam::{DVec3, Vec3};
use parry3d::math::Pose;

/// Piece `b` may not move against piece `a` beyond a face: `normal . (v_b - v_a) >= 0`.
struct Face {
    a: usize,
    b: usize,
    normal: DVec3,
}

/// The ideal faces: between cells of different pieces.
fn cell_faces(world: &World, pieces: &[PieceId], groups: &[Vec<Vec3>]) -> Vec<Face> {
    let shape = world.shape(pieces[0]).unwrap();
    let state = shape.object().read();
    let mesh = state.fragments().mesh();
    let place: BTreeMap<FragmentId, usize> = pieces
        .iter()
        .enumerate()
        .map(|(i, p)| (p.fragment, i))
        .collect();
    let seeds: Vec<Vec3> = groups.iter().flatten().copied().collect();
    let cell: Vec<Vec3> = mesh
        .positions()
        .iter()
        .map(|&p| nearest(p, seeds.iter().copied()).0)
        .collect();
    // Faces between cells that many edges cross; a corner's touch is none.
    let mut faces = BTreeMap::<(usize, usize, [i32; 3]), (DVec3, u32)>::new();
    let owner = state.fragments().node_fragment();
    for (n, &fragment) in owner.iter().enumerate() {
        for &m in mesh.adjacent_nodes(n as u32) {
            let (a, b) = (place[&fragment], place[&owner[m as usize]]);
            let across = (cell[m as usize] - cell[n]).normalize_or_zero();
            if a < b && across != Vec3::ZERO {
                let key = (a, b, (across * 1e3).as_ivec3().to_array());
                faces.entry(key).or_insert((across.as_dvec3(), 0)).1 += 1;
            }
        }
    }
    let wide = faces.into_iter().filter(|(_, (_, edges))| *edges >= 4);
    wide.map(|((a, b, _), (normal, _))| Face { a, b, normal })
        .collect()
}

/// The real faces: facets of cracks, of at least `least` times the square of the mean edge.
/// Where cracks meet they bend within a tetrahedron, into facets that look anywhere: the smaller
/// the facets that count, the more of them lock two pieces.
fn crack_facets(world: &World, pieces: &[PieceId], least: f32) -> Vec<Face> {
    let surfaces: Vec<_> = pieces.iter().map(|&p| world.surface(p).unwrap()).collect();
    let state = world.shape(pieces[0]).unwrap().object().read();
    let edge = state.fragments().mesh().mean_edge_length();
    let fields: Vec<_> = pieces
        .iter()
        .map(|p| state.field().of(state.fragments(), p.fragment))
        .collect();
    let mut facets = Vec::new();
    for (a, surface) in surfaces.iter().enumerate() {
        for t in surface.outer_triangles()..surface.triangles().len() {
            let [p, q, r] = surface.corners(t);
            let normal = surface.normal(t);
            if (q - p).cross(r - p).length() < least * edge * edge {
                continue;
            }
            let across = (p + q + r) / 3.0 + normal * (1e-3 * edge);
            let behind = fields.iter().position(|f| f.inside(across).is_some());
            if let Some(b) = behind.filter(|&b| b != a) {
                let normal = normal.as_dvec3();
                facets.push(Face { a, b, normal });
            }
        }
    }
    facets
}

/// Share of the energy that is kept when faces may not close (projected Gauss-Seidel, run
/// until it rests).
fn truth(world: &World, pieces: &[PieceId], faces: &[Face], speed: &[DVec3]) -> f64 {
    let masses: Vec<f64> = pieces
        .iter()
        .map(|&p| world.shape(p).unwrap().volume())
        .collect();
    let mut v = speed.to_vec();
    let mut impulses = vec![0.0_f64; faces.len()];
    for _ in 0..5000 {
        let mut change = 0.0_f64;
        for (&Face { a, b, normal }, impulse) in faces.iter().zip(&mut impulses) {
            let weight = 1.0 / masses[a] + 1.0 / masses[b];
            let new = (*impulse - normal.dot(v[b] - v[a]) / weight).max(0.0);
            let delta = new - *impulse;
            *impulse = new;
            v[b] += normal * (delta / masses[b]);
            v[a] -= normal * (delta / masses[a]);
            change = change.max((delta * weight).abs());
        }
        if change < 1e-9 {
            break;
        }
    }
    let energy = |v: &[DVec3]| -> f64 {
        v.iter()
            .zip(&masses)
            .map(|(v, m)| m * v.length_squared())
            .sum()
    };
    energy(&v) / energy(speed)
}

/// Shares of the energy that pieces keep when they are let go.
struct Release {
    /// After one and after twelve steps.
    first: f64,
    last: f64,
    /// As the faces between cells allow.
    ideal: f64,
    /// As facets of cracks allow: large ones; and all but slivers, as in the test of the
    /// conformance suite, `pieces_that_have_just_parted_let_go_as_their_facets_demand`.
    large_facets: f64,
    facets: f64,
}

fn release(seed: u64) -> Release {
    let groups = groups(&mut Rng(seed));
    let mut world = cube(
        WorldSettings {
            gravity: Vec3::ZERO,
            length_unit: 1.0,
            ..WorldSettings::measured()
        },
        Pose::identity(),
        0.0,
    );
    world.physics.integration_parameters.dt = 1.0 / 240.0;
    world.physics.integration_parameters.num_solver_iterations = 64;
    let pieces = cut(&mut world, &groups);
    assert!(pieces.len() >= PIECES - 4, "{} pieces", pieces.len());
    let mut speed = Vec::new();
    for &piece in &pieces {
        let centre = world.surface(piece).unwrap().mass_properties().centre;
        speed.push(2.0 * centre);
        let body = world.body_mut(piece).unwrap();
        body.lock_rotations(true, true);
        body.set_linvel((2.0 * centre).as_vec3(), true);
    }
    let ideal = cell_faces(&world, &pieces, &groups);
    let ideal = truth(&world, &pieces, &ideal, &speed);
    let [large_facets, facets] = [0.3, 0.1].map(|least| {
        let facets = crack_facets(&world, &pieces, least);
        truth(&world, &pieces, &facets, &speed)
    });
    let energy = |world: &World| -> f64 {
        pieces
            .iter()
            .map(|&p| {
                let volume = world.shape(p).unwrap().volume();
                volume * world.body(p).unwrap().linvel().as_dvec3().length_squared()
            })
            .sum()
    };
    let before = energy(&world);
    let mut kept = Vec::new();
    for _ in 0..12 {
        world.step();
        kept.push(energy(&world) / before);
    }
    println!(
        "release: seed {seed} kept {kept:.3?}, ideal faces {ideal:.3}, large facets \
         {large_facets:.3}, facets {facets:.3}"
    );
    Release {
        first: kept[0],
        last: kept[kept.len() - 1],
        ideal,
        large_facets,
        facets,
    }
}

#[test]
fn pieces_that_have_just_parted_are_let_go_as_their_faces_allow() {
    // Two truths. Ideal faces, between cells, slide: 0.99 to 1 of the energy is kept. Real facets
    // rub, since cracks bend where they meet: 0.89 to 1 is kept with facets of at least 0.3
    // edges squared, 0.13 to 0.82 with those of 0.1, 0 to 0.18 with all slivers, which have no
    // point of their own. Pieces that are let go keep 0.93 to 1 at once. How much they rub later
    // differs from cut to cut (0.50 to 0.91 after twelve steps), so all of ten count together
    // there; but none keeps less than its facets allow, nor more than its ideal faces.
    let seeds = 5..15;
    let count = seeds.clone().count() as f64;
    let mut mean = [0.0, 0.0];
    for seed in seeds {
        let Release {
            first,
            last,
            ideal,
            large_facets,
            facets,
        } = release(seed);
        for truth in [ideal, large_facets] {
            assert!(first > 0.9 * truth, "glued: {first} of {truth}");
            assert!(first < 1.1 * truth, "burst: {first} of {truth}");
        }
        for kept in [first, last] {
            assert!(kept > facets, "glued: {kept}, {facets} by facets");
            assert!(kept > 0.4 * ideal, "glued: {kept} of {ideal}");
            assert!(kept < 1.01 * ideal, "burst: {kept} of {ideal}");
        }
        mean[0] += last / count;
        mean[1] += ideal / count;
    }
    assert!(mean[0] > 0.7 * mean[1], "glued: {mean:?}");
}

#[test]
fn a_cube_dropped_on_its_corner_ends_without_overlap() {
    let deepest = corner_drops(best(), CUTS);
    assert!(deepest[deepest.len() / 2] < 0.005, "{deepest:?} m");
    assert!(deepest[deepest.len() * 9 / 10] < 0.01, "{deepest:?} m");
    // A crumb that lies under a piece of a hundred times its mass. Of 400 cuts one or two are
    // deeper than 20 mm, the deepest by 26 (docs/decisions/0012-a-load-is-no-impact.md).
    assert!(deepest[deepest.len() - 1] < 0.03, "{deepest:?} m");
}
