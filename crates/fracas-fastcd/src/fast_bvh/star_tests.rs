//! Bodies that are known because they are star-shaped.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3, dvec3};

use super::*;
use fracas_geometry::testing::Rng;

/// Sides of a grid cell on the surface of a cube, outwards: two triangles.
type Quad = [[i32; 3]; 4];

/// Vertices with whole coordinates, each once.
#[derive(Default)]
struct Grid {
    numbers: BTreeMap<[i32; 3], u32>,
    points: Vec<[i32; 3]>,
}

impl Grid {
    fn number(&mut self, at: [i32; 3]) -> u32 {
        *self.numbers.entry(at).or_insert_with(|| {
            self.points.push(at);
            self.points.len() as u32 - 1
        })
    }

    fn triangles(&mut self, quads: &[Quad]) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        for quad in quads {
            let [a, b, c, d] = quad.map(|at| self.number(at));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles
    }
}

/// The cells of a plane across an axis, looking along it or against it.
fn plane(n: i32, axis: usize, level: i32, along: bool) -> Vec<Quad> {
    let mut quads = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let at = |i: i32, j: i32| {
                let mut point = [level; 3];
                point[(axis + 1) % 3] = i;
                point[(axis + 2) % 3] = j;
                point
            };
            let mut quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if !along {
                quad.swap(1, 3);
            }
            quads.push(quad);
        }
    }
    quads
}

/// The surface of a cube of n cells along each side.
fn cube(n: i32) -> Vec<Quad> {
    let sides = (0..3).flat_map(|axis| [(axis, 0, false), (axis, n, true)]);
    sides
        .flat_map(|(axis, level, along)| plane(n, axis, level, along))
        .collect()
}

fn placed(points: &[[i32; 3]], n: i32) -> Vec<DVec3> {
    let half = 0.5 * f64::from(n);
    let place = |p: &[i32; 3]| {
        let [x, y, z] = p.map(|c| f64::from(c) / half - 1.0);
        dvec3(x, y, z)
    };
    points.iter().map(place).collect()
}

/// A ball with bumps, and its triangles.
fn bumpy(n: i32, bumps: f64, rng: &mut Rng) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut grid = Grid::default();
    let triangles = grid.triangles(&cube(n));
    let positions = placed(&grid.points, n)
        .into_iter()
        .map(|p| p.normalize() * (1.0 + bumps * f64::from(rng.range(-1.0, 1.0))))
        .collect();
    (positions, triangles)
}

fn room_of(positions: &[DVec3], triangles: &[[u32; 3]]) -> Option<f64> {
    let corners = triangles.iter().map(|t| t.map(|v| positions[v as usize]));
    star::room(corners)
}

/// Pairs of triangles of one body that share more than the mesh says.
fn self_intersections(positions: &[DVec3], triangles: &[[u32; 3]]) -> usize {
    let mut scene = FastBvh::new(Settings {
        culling: Culling::Off,
        keep_clearance: false,
        ..Settings::default()
    });
    scene.add(positions, triangles).unwrap();
    scene.update();
    let mut pairs = Vec::new();
    scene.intersections(&mut Scratch::default(), &mut pairs);
    pairs.len()
}

#[test]
fn what_is_within_its_room_does_not_meet_itself() {
    let mut rng = Rng(71);
    let (mut known, mut beyond) = (0, 0);
    for round in 0..60 {
        let bumps = [0.0, 0.1, 0.3, 0.6][round % 4];
        let (rest, triangles) = bumpy(4, bumps, &mut rng);
        let off = rng.direction().as_dvec3() * 3.0;
        let rest: Vec<DVec3> = rest.iter().map(|p| *p + off).collect();
        let Some(room) = room_of(&rest, &triangles) else {
            continue;
        };
        known += 1;
        let mut column = |p: DVec3| p + rng.direction().as_dvec3() * 0.4;
        let linear = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let mut deformed = |by: f64| -> Vec<DVec3> {
            let residual = |p: &DVec3| linear * (*p + rng.direction().as_dvec3() * by);
            rest.iter().map(residual).collect()
        };
        assert_eq!(
            self_intersections(&deformed(room), &triangles),
            0,
            "{round}"
        );
        beyond += usize::from(self_intersections(&deformed(6.0 * room), &triangles) > 0);
        assert!(bumps > 0.0 || room > 0.05, "{room}");
    }
    assert!(known > 40 && beyond > 10, "{known} {beyond}");
}

/// Surfaces that cover each other, as seen from every point, although each triangle looks
/// outwards; and one that looks inwards.
#[test]
fn what_is_covered_twice_is_not_star_shaped() {
    let mut rng = Rng(72);
    let (ball, triangles) = bumpy(3, 0.0, &mut rng);
    assert!(room_of(&ball, &triangles).is_some());
    let mut both = ball.clone();
    both.extend(ball.iter().map(|p| *p * 0.9 + dvec3(0.15, 0.0, 0.0)));
    let count = ball.len() as u32;
    let mut faces = triangles.clone();
    faces.extend(triangles.iter().map(|t| t.map(|v| v + count)));
    assert!(self_intersections(&both, &faces) > 0);
    assert_eq!(room_of(&both, &faces), None);
    let inwards: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(room_of(&ball, &inwards), None);
    let flat: Vec<DVec3> = ball.iter().map(|p| dvec3(p.x, p.y, 0.0)).collect();
    assert_eq!(room_of(&flat, &triangles), None);
    let nowhere: Vec<DVec3> = ball.iter().map(|p| *p * f64::NAN).collect();
    assert_eq!(room_of(&nowhere, &triangles), None);
}

/// A cube that breaks in two halves with crack faces.
struct Broken {
    scene: FastBvh,
    halves: Vec<(BodyId, Vec<DVec3>)>,
}

fn broken(n: i32, detection: Detection) -> Broken {
    let mut scene = FastBvh::new(Settings {
        detection,
        ..Settings::default()
    });
    let mut grid = Grid::default();
    let triangles = grid.triangles(&cube(n));
    let whole = placed(&grid.points, n);
    let body = scene.add(&whole, &triangles).unwrap();
    scene.update();
    let old = whole.len();
    let middle = n / 2;
    let mut parts = Vec::new();
    for left in [true, false] {
        let is_left = |t: &[u32; 3]| {
            let x = t.map(|v| grid.points[v as usize][0]);
            x.iter().all(|&x| x <= middle)
        };
        let kept = (0..triangles.len() as u32)
            .filter(|&t| is_left(&triangles[t as usize]) == left)
            .collect();
        let mut own = Grid {
            numbers: grid.numbers.clone(),
            points: grid.points.clone(),
        };
        let new_triangles = own.triangles(&plane(n, 0, middle, left));
        parts.push(Part {
            kept,
            new_positions: placed(&own.points[old..], n),
            new_triangles,
        });
    }
    let new = scene.split(body, &parts, &[]).unwrap();
    let halves = new.into_iter().zip(&parts).map(|(new, part)| {
        let at = |&v: &u32| match (v as usize).checked_sub(old) {
            Some(own) => part.new_positions[own],
            None => whole[v as usize],
        };
        (new.id, new.vertex_origin.iter().map(at).collect())
    });
    let halves = halves.collect();
    Broken { scene, halves }
}

/// Moves all halves, bent by noise and apart from each other, and asks brute force, too.
fn step(all: &mut Broken, frame: usize, noise: f64, rng: &mut Rng) -> usize {
    for (i, (body, shape)) in all.halves.iter().enumerate() {
        let bent: Vec<DVec3> = shape
            .iter()
            .map(|p| *p + rng.direction().as_dvec3() * noise)
            .collect();
        let by = dvec3(5.0 * i as f64, 0.05 * frame as f64, 0.0);
        let now = super::tests::moved(&bent, DVec3::Z, 0.1 * frame as f64, by);
        all.scene.move_vertices(*body, &now).unwrap();
    }
    all.scene.update();
    all.scene.validate().unwrap();
    let mut pairs = Vec::new();
    let mut scratch = Scratch::default();
    all.scene.intersections(&mut scratch, &mut pairs);
    assert_eq!(pairs, brute_force::intersections(&all.scene), "{frame}");
    let mut contacts = Contacts::default();
    all.scene.contacts(&mut scratch, &mut contacts);
    assert!(contacts == brute_force::contacts(&all.scene), "{frame}");
    pairs.len() + contacts.vertex_face.len() + contacts.edge_edge.len()
}

fn known_as_stars(all: &Broken) -> usize {
    let bodies = all.scene.mesh.bodies.iter().flatten();
    bodies.filter(|b| b.clearance.star.is_some()).count()
}

/// They are known at once and without a list, as long as they keep their shape; what they do
/// when they lose it is found.
#[test]
fn pieces_that_are_star_shaped_need_no_lists() {
    for detection in [Detection::Discrete, Detection::Continuous] {
        let mut all = broken(4, detection);
        let mut rng = Rng(73);
        // Moving bodies touch along the crack, and are known from the next step on.
        let touching = step(&mut all, 0, 0.0, &mut rng);
        assert_eq!(touching > 0, detection == Detection::Continuous);
        assert_eq!(known_as_stars(&all), 2);
        let at_once = usize::from(detection == Detection::Discrete);
        assert_eq!(all.scene.stats().clear_bodies, 2 * at_once);
        for frame in 1..4 {
            assert_eq!(step(&mut all, frame, 0.01, &mut rng), 0);
            assert_eq!(all.scene.stats().clear_bodies, 2, "{detection:?} {frame}");
        }
        let listed = all.scene.mesh.bodies.iter().flatten();
        assert!(listed.clone().all(|b| b.clearance.joined.is_empty()));
        assert!(listed.clone().all(|b| b.clearance.apart.is_empty()));
        let mut found = 0;
        for frame in 4..9 {
            found += step(&mut all, frame, 0.15 * (frame - 2) as f64, &mut rng);
        }
        assert!(found > 20, "{found}");
        assert_eq!(known_as_stars(&all), 0);
        // Once lost it is not tried again: lists are next.
        for frame in 9..60 {
            step(&mut all, frame, 0.0, &mut rng);
        }
        assert_eq!(known_as_stars(&all), 0);
        assert_eq!(all.scene.stats().clear_bodies, 2);
    }
}

/// What is missing of a star-shaped body makes nothing meet: its parts are known.
#[test]
fn parts_of_star_shaped_pieces_inherit_that() {
    let mut all = broken(4, Detection::Discrete);
    let mut rng = Rng(74);
    for frame in 0..2 {
        step(&mut all, frame, 0.0, &mut rng);
    }
    let (body, shape) = all.halves.remove(0);
    let count = all.scene.triangles(body).unwrap().len() as u32;
    let part = |from: u32, to: u32| Part {
        kept: (from..to).collect(),
        ..Part::default()
    };
    let parts = [part(0, count / 3), part(count / 3, count)];
    for new in all.scene.split(body, &parts, &[]).unwrap() {
        let own = new.vertex_origin.iter().map(|&v| shape[v as usize]);
        all.halves.push((new.id, own.collect()));
    }
    for frame in 2..5 {
        assert_eq!(step(&mut all, frame, 0.01, &mut rng), 0);
        assert_eq!(known_as_stars(&all), 3);
        assert_eq!(all.scene.stats().clear_bodies, 3);
    }
    let mut found = 0;
    for frame in 5..9 {
        found += step(&mut all, frame, 0.15 * (frame - 2) as f64, &mut rng);
    }
    assert!(found > 20, "{found}");
}

/// A hole makes its rim's triangles free to meet what is not seen: such a body is none.
#[test]
fn an_open_piece_is_not_known_as_a_star() {
    let mut scene = FastBvh::new(Settings {
        detection: Detection::Discrete,
        ..Settings::default()
    });
    let (ball, triangles) = bumpy(4, 0.0, &mut Rng(75));
    let body = scene.add(&ball, &triangles).unwrap();
    scene.update();
    let count = triangles.len() as u32;
    let part = |kept: std::ops::Range<u32>| Part {
        kept: kept.collect(),
        new_triangles: vec![triangles[0]],
        ..Part::default()
    };
    scene
        .split(body, &[part(1..count / 2), part(count / 2..count)], &[0])
        .unwrap();
    scene.update();
    let bodies = scene.mesh.bodies.iter().flatten();
    assert!(bodies.clone().count() == 2 && bodies.into_iter().all(|b| b.clearance.star.is_none()));
}
