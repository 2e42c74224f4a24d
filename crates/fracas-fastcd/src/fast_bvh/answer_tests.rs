//! What updates and queries tell, in scenes where the answer is known by hand.

use glam::{DVec3, dvec3};

use super::tests::sheet;
use super::*;

fn scene(detection: Detection) -> FastBvh {
    FastBvh::new(Settings {
        detection,
        ..Settings::default()
    })
}

const TRIANGLE: [[u32; 3]; 1] = [[0, 1, 2]];

fn corners(at: DVec3) -> [DVec3; 3] {
    [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| p + at)
}

#[test]
fn an_update_tells_whether_the_tree_was_written_anew_because_of_edits() {
    for restructuring in [
        Restructuring::Selective,
        Restructuring::Never,
        Restructuring::RebuildAtEdits,
        Restructuring::RebuildAlways,
    ] {
        let mut scene = FastBvh::new(Settings {
            restructuring,
            ..Settings::default()
        });
        assert!(!scene.update().edited, "nothing is there");
        let (positions, triangles) = sheet(4);
        let body = scene.add(&positions, &triangles).unwrap();
        assert!(scene.update().edited);
        assert!(scene.stats().edited);
        scene.move_vertices(body, &positions).unwrap();
        assert!(!scene.update().edited, "moving is no edit");
        assert!(!scene.update().edited);
        scene.delete(body).unwrap();
        assert!(scene.update().edited);
    }
}

/// Three triangles fall onto a fourth beside one another and meet it at known times.
#[test]
fn the_earliest_of_what_is_near_is_the_first_time_of_impact() {
    let mut scene = scene(Detection::Continuous);
    let (floor, triangles) = sheet(1);
    let floor: Vec<DVec3> = floor.iter().map(|p| *p * 20.0).collect();
    scene.add(&floor, &triangles).unwrap();
    let mut found = Candidates::default();
    let mut scratch = Scratch::default();
    scene.update();
    scene.candidates(0.5, &mut scratch, &mut found);
    assert_eq!(found.earliest(), None, "nothing is near");
    let heights = [3.0, 1.0, 2.0];
    let place = |i: usize, z: f64| corners(dvec3(3.0 + 4.0 * i as f64, 4.0, z));
    let bodies: Vec<BodyId> = heights
        .iter()
        .enumerate()
        .map(|(i, z)| scene.add(&place(i, *z), &TRIANGLE).unwrap())
        .collect();
    scene.update();
    scene.candidates(1.5, &mut scratch, &mut found);
    assert_eq!(found.earliest(), None, "one is near, none moves");
    assert!(!found.pairs.is_empty());
    // All fall by four: through the floor after three quarters, a quarter, a half.
    for (i, z) in heights.iter().enumerate() {
        scene.move_vertices(bodies[i], &place(i, z - 4.0)).unwrap();
    }
    scene.update();
    scene.candidates(0.1, &mut scratch, &mut found);
    let earliest = found.earliest().unwrap();
    assert!((earliest - 0.25).abs() < 1e-9, "{earliest}");
    let mut contacts = Contacts::default();
    scene.contacts(&mut scratch, &mut contacts);
    assert!((contacts.earliest().unwrap() - 0.25).abs() < 1e-9);
}

/// A fan with two open edges at its centre proves nothing, however flat it is and wherever in
/// its triangles the centre stands: it may wind more than once.
#[test]
fn a_fan_with_open_edges_at_its_centre_is_not_clear() {
    for turn in 0..3 {
        for (corners, share) in [(2, 0.2), (4, 0.5), (6, 0.9), (9, 1.2)] {
            let mut positions = vec![DVec3::ZERO];
            positions.extend((0..=corners).map(|i| {
                let angle = share * std::f64::consts::TAU * f64::from(i) / f64::from(corners);
                // Lifted, so that what winds more than once does not meet itself.
                dvec3(libm::cos(angle), libm::sin(angle), 0.02 * f64::from(i))
            }));
            let triangles: Vec<[u32; 3]> = (0..corners as u32)
                .map(|i| {
                    let mut triangle = [0, 1 + i, 2 + i];
                    triangle.rotate_left(turn);
                    triangle
                })
                .collect();
            let mut bvh = scene(Detection::Discrete);
            bvh.add(&positions, &triangles).unwrap();
            bvh.update();
            let clear = (0..positions.len() as u32).filter(|&v| bvh.tree.fans.is_clear(v));
            assert_eq!(clear.count(), 0, "{corners} {share} {turn}");
        }
    }
}

/// Steep cones, each triangle's normal with this cosine to the axis: below the least that
/// rounding leaves certain nothing is proven, above it the fan is clear.
#[test]
fn a_cone_is_clear_as_far_as_its_normals_agree() {
    for (cosine, clear) in [(0.0195, false), (0.0205, true), (0.1, true), (0.01, false)] {
        for corners in [5, 8] {
            let half = std::f64::consts::PI / f64::from(corners);
            let height = libm::cos(half) * libm::sqrt(1.0 / (cosine * cosine) - 1.0);
            let mut positions = vec![DVec3::ZERO];
            positions.extend((0..corners).map(|i| {
                let angle = 2.0 * half * f64::from(i);
                dvec3(libm::cos(angle), libm::sin(angle), height)
            }));
            let n = corners as u32;
            let triangles: Vec<[u32; 3]> = (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect();
            let mut bvh = scene(Detection::Discrete);
            bvh.add(&positions, &triangles).unwrap();
            bvh.update();
            assert_eq!(bvh.tree.fans.is_clear(0), clear, "{cosine} {corners}");
        }
    }
}
