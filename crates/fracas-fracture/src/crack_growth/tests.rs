use fracas_core::testing::box_grid;

use super::area::section_area;
use super::*;
use crate::principal::tension;

fn grow_in(
    mesh: &TetMesh,
    node: u32,
    normal: Vec3,
    options: &GrowthOptions,
) -> (Growth, Option<Grown>) {
    let mut growth = Growth::default();
    growth.fit(mesh, mesh.mean_edge_length());
    growth.begin(&(0..mesh.positions().len() as u32).collect::<Vec<_>>());
    let pull = tension(&[1e6, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let seed = Seed {
        node,
        normal,
        chance: 3,
        piece: 0,
        nodes: mesh.positions().len(),
        reach: 1e9,
    };
    let grown = growth.grow(mesh, seed, options, &mut |_| pull);
    (growth, grown)
}

#[test]
fn uniform_tension_makes_a_flat_crack_across_it() {
    let mesh = box_grid([14, 8, 6], Vec3::new(0.7, 0.4, 0.3));
    let options = GrowthOptions {
        roughness: 0.0,
        ..Default::default()
    };
    // The middle node of the bottom, seeded with the right normal.
    let node = 4 * 15 + 7;
    let (growth, grown) = grow_in(&mesh, node, Vec3::X, &options);
    let grown = grown.unwrap();
    assert_eq!(grown.parts, 2);
    assert!((grown.area / 0.12 - 1.0).abs() < 1e-3, "{}", grown.area);
    let x0 = mesh.positions()[node as usize].x;
    for (i, p) in mesh.positions().iter().enumerate() {
        let on_plane = (p.x - x0).abs() < 1e-4;
        assert!(
            on_plane || (growth.cells[i].level() > 0.0) == (p.x > x0),
            "{p} {}",
            growth.cells[i].level()
        );
    }
}

#[test]
fn a_crack_seeded_askew_turns_into_the_plane_across_the_tension() {
    let mesh = box_grid([30, 16, 3], Vec3::new(1.5, 0.8, 0.15));
    let skew = Vec3::new(1.0, 0.8, 0.0).normalize();
    let (growth, grown) = grow_in(&mesh, 15, skew, &GrowthOptions::default());
    let area = grown.unwrap().area;
    // Flat across: 0.12. Straight along the seed's plane: 0.154.
    assert!(area > 0.11 && area < 0.15, "{area}");
    assert!(growth.reached.len() == mesh.positions().len());
    // At the far side the normal has turned to the tension.
    let far = growth
        .reached
        .iter()
        .filter(|&&n| {
            mesh.positions()[n as usize].y > 0.7 && growth.marks[n as usize] & STATE == FINISHED
        })
        .map(|&n| growth.cells[n as usize].lean.x)
        .fold(1.0, f32::min);
    assert!(far > 0.85, "{far}");
}

#[test]
fn the_area_is_that_of_all_sections_asked_one_by_one() {
    let mesh = box_grid([12, 9, 5], Vec3::new(0.6, 0.4, 0.2));
    for (node, seed) in [(40, 1), (95, 2), (300, 3), (7, 4)] {
        let mut random = crate::random::Random::new(seed);
        let normal: [f32; 3] = std::array::from_fn(|_| random.range(-1.0, 1.0));
        let rough = GrowthOptions {
            roughness: 0.8,
            ..Default::default()
        };
        let normal = Vec3::from_array(normal).normalize();
        let (growth, grown) = grow_in(&mesh, node, normal, &rough);
        let Some(grown) = grown else { continue };
        let all: f64 = (0..mesh.tets().len() as u32)
            .map(|t| {
                let levels = mesh.tets()[t as usize].map(|n| growth.cells[n as usize].level());
                section_area(mesh.corners(t), levels, [true; 4])
            })
            .sum();
        assert!(
            (grown.area / all - 1.0).abs() < 1e-9,
            "{} {all}",
            grown.area
        );
    }
}

#[test]
fn flooding_no_farther_than_needed_gives_the_same_sides() {
    let mesh = box_grid([30, 5, 4], Vec3::new(3.0, 0.5, 0.4));
    let far = grow_in(&mesh, 8, Vec3::X, &GrowthOptions::default());
    let mut near = Growth::default();
    near.fit(&mesh, mesh.mean_edge_length());
    near.begin(&(0..mesh.positions().len() as u32).collect::<Vec<_>>());
    let pull = tension(&[1e6, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let seed = Seed {
        node: 8,
        normal: Vec3::X,
        chance: 3,
        piece: 0,
        nodes: mesh.positions().len(),
        reach: 0.1,
    };
    let grown = near.grow(&mesh, seed, &GrowthOptions::default(), &mut |_| pull);
    assert_eq!(grown, far.1);
    assert!(near.reached.len() < far.0.reached.len());
    let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    let sides = |g: &Growth| -> Vec<bool> {
        g.levels(&mesh, &all)
            .iter()
            .map(|(_, s)| *s > 0.0)
            .collect()
    };
    assert_eq!(sides(&near), sides(&far.0));
}

#[test]
fn what_is_said_to_fail_early_fails_in_the_end_and_sides_are_those_of_the_rough_levels() {
    let mesh = box_grid([7, 6, 5], Vec3::new(0.7, 0.6, 0.5));
    let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    let mut random = crate::random::Random::new(9);
    let mut growth = Growth::default();
    let (mut early, mut failed, mut grown) = (0, 0, 0);
    for _ in 0..400 {
        // Of the whole, or of a slab that an older crack left: often thin.
        let slab = random.range(0.05, 0.8);
        let own: Vec<u32> = all
            .iter()
            .copied()
            .filter(|&n| mesh.positions()[n as usize].x <= slab)
            .collect();
        growth.fit(&mesh, mesh.mean_edge_length());
        growth.begin(&own);
        let normal = random.direction();
        let seed = Seed {
            node: own[random.below(own.len())],
            normal,
            chance: random.bits(),
            piece: 0,
            nodes: own.len(),
            reach: random.range(0.0, 0.3),
        };
        let options = GrowthOptions {
            roughness: random.range(0.0, 0.6),
            least_nodes: 1 + random.below(40),
            ..Default::default()
        };
        let pull = tension(&[1e6, 3e5, 0.0, 2e5, 0.0, 1e5]);
        let rough = growth.begin_crack(&mesh, seed, &options, &mut |_| pull);
        let band = growth.reached.clone();
        let before: Vec<f32> = band
            .iter()
            .map(|&n| growth.cells[n as usize].level())
            .collect();
        let may_stand = growth.both_sides_may_stand(&mesh, 0, options.least_nodes);
        assert_eq!(growth.reached, band);
        let is_rough = growth.is_rough.clone();
        growth.roughen(&rough);
        for (i, &n) in band.iter().enumerate() {
            let cell = &growth.cells[n as usize];
            let shift = rough.shift(cell.position());
            let expected = before[i] + if is_rough[i] { 0.0 } else { shift };
            assert_eq!(cell.level(), expected);
            let is_negative = growth.marks[n as usize] & NEGATIVE != 0;
            assert_eq!(is_negative, cell.level() < 0.0);
        }
        let parts = growth.flood(&mesh, seed, options.least_nodes);
        assert!(may_stand || parts.is_none(), "{seed:?} {options:?}");
        early += usize::from(!may_stand);
        failed += usize::from(parts.is_none());
        grown += usize::from(parts.is_some());
        growth.end(&own);
    }
    // Nearly all that fail are known early; neither is rare.
    assert!(
        10 * early >= 9 * failed && early > 50 && grown > 50,
        "{early} {failed} {grown}"
    );
}

#[test]
fn pieces_that_hang_together_are_told_from_those_that_do_not() {
    let mesh = box_grid([6, 3, 3], Vec3::ONE);
    let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    let ends: Vec<u32> = all
        .iter()
        .copied()
        .filter(|&n| (mesh.positions()[n as usize].x - 0.5).abs() > 0.3)
        .collect();
    for (own, expected) in [(&all, true), (&ends, false)] {
        let mut growth = Growth::default();
        growth.fit(&mesh, mesh.mean_edge_length());
        growth.begin(own);
        let seed = Seed {
            node: own[0],
            normal: Vec3::X,
            chance: 0,
            piece: 0,
            nodes: own.len(),
            reach: 0.0,
        };
        assert_eq!(growth.is_connected(&mesh, seed), expected);
    }
}

#[test]
fn a_crack_that_would_only_chip_a_crumb_is_none() {
    let mesh = box_grid([6, 6, 6], Vec3::ONE);
    let (_, grown) = grow_in(&mesh, 0, Vec3::ONE.normalize(), &GrowthOptions::default());
    assert!(grown.is_none());
}

#[test]
fn sections_have_the_area_of_their_polygons() {
    let x = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let all = [true; 4];
    let one = section_area(x, [-1.0, 1.0, 1.0, 1.0], all);
    assert!((one - 0.75_f64.sqrt() / 4.0).abs() < 1e-6, "{one}");
    let other = section_area(x, [1.0, -1.0, -1.0, -1.0], all);
    assert!((other - one).abs() < 1e-6);
    // Through the midpoints of four edges: a parallelogram of sides 1/2 and sqrt(2)/2.
    let two = section_area(x, [-1.0, -1.0, 1.0, 1.0], all);
    assert!((two - 0.125_f64.sqrt()).abs() < 1e-6, "{two}");
    // Two foreign nodes: the triangle from the cut to both.
    let foreign = section_area(x, [-1.0, 1.0, 0.0, 0.0], [true, true, false, false]);
    let expected = 0.5
        * f64::from(
            (Vec3::Y - 0.5 * Vec3::X)
                .cross(Vec3::Z - 0.5 * Vec3::X)
                .length(),
        );
    assert!((foreign - expected).abs() < 1e-6);
}
