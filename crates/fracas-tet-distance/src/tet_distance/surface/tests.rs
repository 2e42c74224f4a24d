//! The search against one that compares every edge with every tetrahedron, and against the exact
//! test of tetrahedra.

use super::*;
use fracas_geometry::primitives::tet_tet::tet_tet_overlap;
use fracas_geometry::testing::{Rng, box_grid};

/// All edges (or nodes) of surfaces in tetrahedra of other parts, one by one.
fn one_by_one(objects: &[Object], response: Response) -> Vec<EdgeInTet> {
    let mut out = Vec::new();
    for (o, of) in objects.iter().enumerate() {
        for tet in 0..of.topology.tets().len() as u32 {
            let Some(frame) = TetFrame::new(of.corners(tet)) else {
                continue;
            };
            let part = of.topology.parts()[tet as usize];
            let mut look = |p: usize, other: &Object, own: u32, edge: [u32; 2]| {
                let ends = edge.map(|n| other.positions[n as usize]);
                if (p, own) != (o, part) && passes(&frame, ends, of.topology, tet) {
                    let object = o as u32;
                    out.push(EdgeInTet {
                        tet: TetOf { object, tet },
                        object: p as u32,
                        edge,
                    });
                }
            };
            for (p, other) in objects.iter().enumerate() {
                for own in 0..other.topology.part_count() as u32 {
                    for &edge in other.topology.surface_edges(own) {
                        if response == Response::Segment {
                            look(p, other, own, edge);
                        } else {
                            edge.into_iter().for_each(|n| look(p, other, own, [n; 2]));
                        }
                    }
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn found(finder: &mut SurfaceFinder, objects: &[Object], response: Response) -> Vec<EdgeInTet> {
    let mut out = Vec::new();
    finder.find(objects, response, &mut out);
    out
}

/// Three grids, one of them a lattice (so that much touches exactly), shaken or not, and some
/// nodes far away or nowhere.
fn positions(rng: &mut Rng, rest: &[Vec3], round: usize, copy: usize) -> Vec<Vec3> {
    let mut offset = rng.direction() * rng.range(0.2, 1.2);
    if round.is_multiple_of(3) {
        offset = (3.0 * offset).round() / 3.0;
    }
    let place = |(n, &p): (usize, &Vec3)| {
        let turned = if copy == 1 {
            Vec3::new(p.y, -p.x, p.z)
        } else {
            p
        };
        let shake = if round % 3 == 2 {
            rng.direction() * 0.1
        } else {
            Vec3::ZERO
        };
        match (round % 5, n) {
            (4, 7) => Vec3::splat(1e4),
            (4, 8) => Vec3::new(f32::NAN, 0.0, 0.0),
            _ => turned + offset + shake,
        }
    };
    rest.iter().enumerate().map(place).collect()
}

#[test]
fn finds_exactly_what_comparing_everything_finds() {
    let mesh = box_grid([3, 3, 3], Vec3::ONE);
    let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
    // Of a small one every tetrahedron is a part of its own.
    let small = box_grid([1, 1, 2], Vec3::ONE);
    let (mut tets, mut loose) = (Vec::new(), Vec::new());
    for t in small.tets() {
        let first = loose.len() as u32;
        loose.extend(t.map(|n| small.positions()[n as usize]));
        tets.push([first, first + 1, first + 2, first + 3]);
    }
    let crumbs = Topology::build(loose.len(), &tets).unwrap();
    let (mut finder, mut rng, mut all) = (SurfaceFinder::default(), Rng(12), 0);
    for round in 0..30 {
        let nodes = [mesh.positions(), mesh.positions(), &loose];
        let at: Vec<Vec<Vec3>> = (0..3)
            .map(|copy| positions(&mut rng, nodes[copy], round, copy))
            .collect();
        let topologies = [&topology, &topology, &crumbs];
        let objects: Vec<Object> = (0..3)
            .map(|i| Object {
                topology: topologies[i],
                positions: &at[i],
            })
            .collect();
        for response in [Response::Segment, Response::Point] {
            finder.parallel = false;
            let edges = found(&mut finder, &objects, response);
            assert!(edges == one_by_one(&objects, response), "round {round}");
            finder.parallel = true;
            assert!(
                edges == found(&mut finder, &objects, response),
                "on threads"
            );
            all += edges.len();
        }
    }
    assert!(all > 5_000, "{all}: they hardly meet");
}

/// Two parts of which a pair of tetrahedra overlaps by more than a grain are seen: an edge of one
/// passes through the other.
#[test]
fn every_overlap_of_parts_is_seen_by_an_edge() {
    let mesh = box_grid([2, 2, 2], Vec3::ONE);
    let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
    let (mut finder, mut rng, mut meeting) = (SurfaceFinder::default(), Rng(5), 0);
    for round in 0..400 {
        // From barely touching to one inside the other.
        let size = [1.0, 0.2, 3.0][round % 3];
        let turn = glam::Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0));
        let offset = rng.direction() * rng.range(0.0, 1.8);
        let middle = Vec3::splat(0.5);
        let moved: Vec<Vec3> = mesh
            .positions()
            .iter()
            .map(|&p| turn * (p - middle) * size + middle + offset)
            .collect();
        let objects = [mesh.positions(), &moved].map(|positions| Object {
            topology: &topology,
            positions,
        });
        let tets = 0..mesh.tets().len() as u32;
        // Tetrahedra that are shrunk by a thousandth and overlap still.
        let shrunk = |object: &Object, t| {
            let corners = object.corners(t);
            let centre = corners.iter().sum::<Vec3>() / 4.0;
            corners.map(|p| centre + (p - centre) * 0.999)
        };
        let overlap = tets.clone().any(|s| {
            let a = shrunk(&objects[0], s);
            tets.clone()
                .any(|t| tet_tet_overlap(a, shrunk(&objects[1], t)))
        });
        let seen = !found(&mut finder, &objects, Response::Segment).is_empty();
        assert!(seen || !overlap, "round {round}");
        meeting += usize::from(overlap);
    }
    assert!((50..350).contains(&meeting), "{meeting} of 400 overlap");
}

/// Equal lattices shifted along an axis: the edges of one run in inner faces of the other.
#[test]
fn lattices_that_lie_in_one_another_are_seen() {
    for cells in [[1, 1, 1], [2, 2, 2], [3, 2, 1]] {
        let mesh = box_grid(cells, Vec3::ONE);
        let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
        let mut finder = SurfaceFinder::default();
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            for shift in [0.1, 0.25, 0.8, 1.0, 1.2] {
                let moved: Vec<Vec3> = mesh.positions().iter().map(|&p| p + shift * axis).collect();
                let objects = [mesh.positions(), &moved].map(|positions| Object {
                    topology: &topology,
                    positions,
                });
                let seen = !found(&mut finder, &objects, Response::Segment).is_empty();
                assert_eq!(seen, shift < 1.0, "{cells:?} along {axis} by {shift}");
            }
        }
    }
}

/// The two banks of a fresh crack lie on each other: nothing is found.
#[test]
fn banks_of_a_crack_touch_and_do_not_overlap() {
    let mesh = box_grid([2, 2, 2], Vec3::new(0.3, 0.7, 1.1));
    let mut rng = Rng(2);
    for _ in 0..20 {
        let turn = glam::Mat3::from_axis_angle(rng.direction(), rng.range(0.0, 3.0));
        let (mut tets, mut at) = (Vec::new(), Vec::new());
        for t in mesh.tets() {
            let first = at.len() as u32;
            at.extend(t.map(|n| turn * mesh.positions()[n as usize]));
            tets.push([first, first + 1, first + 2, first + 3]);
        }
        let topology = Topology::build(at.len(), &tets).unwrap();
        let objects = [Object {
            topology: &topology,
            positions: &at,
        }];
        let mut finder = SurfaceFinder::default();
        assert!(found(&mut finder, &objects, Response::Segment).is_empty());
        assert!(finder.tested() > 100, "they do lie on each other");
    }
}

/// What is told roughly is so: nothing that passes is beyond a face, however flat the tetrahedron
/// and however far away.
#[test]
fn what_is_roughly_beyond_a_face_does_not_pass() {
    let mut rng = Rng(9);
    let (mut beyond, mut passing) = (0, 0);
    let topology = Topology::build(4, &[[0, 1, 2, 3]]).unwrap();
    for round in 0..200_000 {
        let far = [0.0, 1.0, 30.0, 1e4][round % 4] * rng.direction();
        let flat = [1.0, 0.1, 1e-3, 1e-5][round / 4 % 4];
        let mut any = || far + rng.in_box(Vec3::ZERO, Vec3::ONE) * Vec3::new(1.0, flat, 1.0);
        let corners = [any(), any(), any(), any()];
        let mut ends = [any(), any()];
        if round % 3 == 0 {
            // From a corner, or in a face.
            ends[0] = corners[0];
            ends[1] = (corners[0] + corners[1] + corners[2]) / 3.0;
        }
        let Some(frame) = TetFrame::new(corners) else {
            continue;
        };
        let is_beyond = RoughFrame::new(&frame).is_beyond(ends);
        let passes = passes(&frame, ends, &topology, 0);
        assert!(!(is_beyond && passes), "{corners:?} {ends:?}");
        beyond += usize::from(is_beyond);
        passing += usize::from(passes);
    }
    assert!(beyond > 40_000 && passing > 10_000, "{beyond} {passing}");
}

#[test]
fn what_is_found_is_put_in_order() {
    let mesh = box_grid([3, 3, 3], Vec3::ONE);
    let topology = Topology::build(mesh.positions().len(), mesh.tets()).unwrap();
    let object = Object {
        topology: &topology,
        positions: mesh.positions(),
    };
    let objects = [object; 3];
    let (mut rng, mut finder) = (Rng(9), SurfaceFinder::default());
    let tets = topology.tets().len();
    // Few are sorted, of many the tetrahedra are counted.
    for count in [0, 1, 20, 31, 200, 3000] {
        let mut any: Vec<EdgeInTet> = (0..count)
            .map(|_| EdgeInTet {
                tet: TetOf {
                    object: rng.below(3) as u32,
                    tet: rng.below(tets) as u32,
                },
                object: rng.below(3) as u32,
                edge: [rng.below(4) as u32, rng.below(4) as u32],
            })
            .collect();
        let mut sorted = any.clone();
        sorted.sort_unstable();
        finder.put_in_order(&objects, &mut any);
        assert!(any == sorted, "{count}");
    }
}
