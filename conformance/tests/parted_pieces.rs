//! Pieces that have just parted: their contacts push them apart along their common cracks,
//! and let them go as their facets demand.

use fracas_conformance::broken::Broken;
use fracas_core::sphere_tree::{NormalRule, Query, QueryScratch, Selection};
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{FragmentId, FragmentSurface, Pose, SurfaceScratch};
use glam::Vec3;

#[test]
fn pieces_that_have_just_parted_push_along_their_common_crack_only() {
    // A brick cut by planes into 27 boxes. Where cracks meet, the later one bends
    // within a tetrahedron, so a few normals are oblique; but all must push apart,
    // and nearly all along the normal of the plane that the two boxes share.
    let mut object = Broken::new(box_grid([9, 9, 9], Vec3::ONE));
    for axis in 0..3 {
        for at in [0.34, 0.67] {
            for id in object.living() {
                let mesh = object.fragments.mesh().clone();
                let nodes = object.fragments.fragment(id).nodes().to_vec();
                let level = |n: u32| mesh.positions()[n as usize][axis] - at;
                if let Some(crack) = fracas_core::Crack::from_level(&mesh, 0, &nodes, level) {
                    object.apply(&fracas_core::Fracture {
                        fragment: id,
                        cracks: vec![crack],
                    });
                }
            }
        }
    }
    let living = object.living();
    assert_eq!(living.len(), 27);
    let cell = |id: FragmentId| {
        let nodes = object.fragments.fragment(id).nodes();
        let sum: Vec3 = nodes
            .iter()
            .map(|&n| object.fragments.mesh().positions()[n as usize])
            .sum();
        (sum / nodes.len() as f32 * 3.0).floor()
    };
    let (mut scratch, mut contacts, mut straight) = (QueryScratch::default(), 0, 0);
    for rule in [NormalRule::Opposed, NormalRule::Cone] {
        for &a in &living {
            for &b in living.iter().filter(|&&b| b != a) {
                let tree = object.tree(a);
                let mut query = Query::new(0.002, tree.object_radius());
                query.normals.rule = rule;
                let mut out = Vec::new();
                tree.contacts(
                    &Pose::IDENTITY,
                    &object.distance(b),
                    &query,
                    &mut scratch,
                    &mut out,
                );
                let apart = cell(a) - cell(b);
                if apart.abs().element_sum() > 1.0 {
                    continue;
                }
                assert!(out.len() >= 4, "{a} and {b} share a face: {}", out.len());
                for c in &out {
                    let along = c.normal.dot(apart);
                    assert!(along > 0.3, "{rule:?}: {apart} apart, {c:?}");
                    assert!(c.distance.abs() < 2.5e-3);
                    straight += usize::from(along > 0.999);
                }
                contacts += out.len();
            }
        }
    }
    assert!(
        straight * 20 > contacts * 17,
        "{straight} of {contacts} are straight"
    );
    assert!(contacts > 1000);
}

/// One-sided constraints on translations: `normal . (v_a - v_b) >= 0`.
struct Constraint {
    a: usize,
    b: usize,
    normal: glam::DVec3,
}

fn energy(masses: &[f64], velocities: &[glam::DVec3]) -> f64 {
    let each = velocities.iter().zip(masses);
    each.map(|(v, m)| m * v.length_squared()).sum()
}

/// Bodies let go without friction: velocities are changed as little as the
/// constraints demand, in the measure of kinetic energy (projected Gauss-Seidel, run
/// until it rests).
fn let_go(
    masses: &[f64],
    velocities: &[glam::DVec3],
    constraints: &[Constraint],
) -> Vec<glam::DVec3> {
    let mut v = velocities.to_vec();
    let mut impulses = vec![0.0; constraints.len()];
    for _ in 0..1000 {
        let mut change: f64 = 0.0;
        for (c, impulse) in constraints.iter().zip(&mut impulses) {
            let weight = 1.0 / masses[c.a] + 1.0 / masses[c.b];
            let new = (*impulse - c.normal.dot(v[c.a] - v[c.b]) / weight).max(0.0_f64);
            let delta = new - *impulse;
            *impulse = new;
            v[c.a] += c.normal * (delta / masses[c.a]);
            v[c.b] -= c.normal * (delta / masses[c.b]);
            change = change.max((delta * weight).abs());
        }
        if change < 1e-6 {
            break;
        }
    }
    v
}

/// One constraint for each crack facet of at least `least` times the square of the mean
/// edge, twice its area: the truth about pieces that have just parted.
fn facet_constraints(object: &Broken, surfaces: &[FragmentSurface], least: f32) -> Vec<Constraint> {
    let living = object.living();
    let edge = object.fragments.mesh().mean_edge_length();
    let mut facets = Vec::new();
    for (a, surface) in surfaces.iter().enumerate() {
        for t in surface.outer_triangles()..surface.triangles().len() {
            let [p, q, r] = surface.corners(t);
            let normal = surface.normal(t);
            if (q - p).cross(r - p).length() < least * edge * edge {
                continue;
            }
            let across = (p + q + r) / 3.0 + normal * (1e-3 * edge);
            let behind = living
                .iter()
                .position(|&id| object.distance(id).inside(across).is_some());
            if let Some(b) = behind.filter(|&b| b != a) {
                let normal = -normal.as_dvec3();
                facets.push(Constraint { a, b, normal });
            }
        }
    }
    facets
}

#[test]
fn pieces_that_have_just_parted_let_go_as_their_facets_demand() {
    // Cells around points. Where cracks meet, they bend within a tetrahedron, and make
    // slivers that look anywhere; the smallest sliver that looks the wrong way locks its
    // two pieces (outward, a quarter of the energy is kept with all slivers, 0.84 to 0.87
    // without those of less than 0.02 to 0.1 edges squared), but has no point of its own:
    // there is a point per cut edge. So the truth is taken over facets of the size of the
    // samples' spacing.
    let mut object = Broken::new(box_grid([12, 12, 12], Vec3::ONE));
    object.break_into(FragmentId(0), 27, &mut Rng(12));
    let living = object.living();
    let mut scratch = SurfaceScratch::default();
    let surfaces: Vec<FragmentSurface> = living
        .iter()
        .map(|&id| FragmentSurface::extract(&object.fragments, id, &mut scratch))
        .collect();
    let properties: Vec<_> = surfaces.iter().map(|s| s.mass_properties()).collect();
    let masses: Vec<f64> = properties.iter().map(|p| p.volume).collect();
    let centres = properties
        .iter()
        .map(|p| p.centre - glam::DVec3::splat(0.5));
    let truth = facet_constraints(&object, &surfaces, 0.1);
    let ours = |rule: NormalRule, selection: Selection| {
        let mut constraints = Vec::new();
        let mut scratch = QueryScratch::default();
        for (i, &a) in living.iter().enumerate() {
            for (j, &b) in living.iter().enumerate().filter(|&(j, _)| j != i) {
                let tree = object.tree(a);
                let mut query = Query::new(0.001, tree.object_radius()).select(selection);
                query.normals.rule = rule;
                let mut out = Vec::new();
                let partner = object.distance(b);
                tree.contacts(&Pose::IDENTITY, &partner, &query, &mut scratch, &mut out);
                constraints.extend(out.iter().map(|c| Constraint {
                    a: i,
                    b: j,
                    normal: c.normal.as_dvec3(),
                }));
            }
        }
        constraints
    };
    let field = ours(NormalRule::Field, Selection::All);
    let opposed = ours(NormalRule::Opposed, Selection::All);
    let cone = ours(NormalRule::Cone, Selection::All);
    let first = ours(NormalRule::Opposed, Selection::First(8));
    let mut rng = Rng(3);
    let motions: [(&str, Vec<glam::DVec3>); 3] = [
        ("outward", centres.clone().map(|c| 2.0 * c).collect()),
        (
            "shear",
            centres.clone().map(|c| glam::DVec3::X * c.y).collect(),
        ),
        (
            "random",
            centres.map(|_| rng.direction().as_dvec3()).collect(),
        ),
    ];
    for (name, velocities) in &motions {
        let whole = energy(&masses, velocities);
        let right = let_go(&masses, velocities, &truth);
        // Energy kept, and energy of the difference to the truth.
        let judge = |constraints: &[Constraint]| {
            let v = let_go(&masses, velocities, constraints);
            let off: Vec<_> = v.iter().zip(&right).map(|(v, r)| *v - *r).collect();
            (energy(&masses, &v) / whole, energy(&masses, &off) / whole)
        };
        let [glued, opposed, cone, first] = [&field, &opposed, &cone, &first].map(|c| judge(c));
        println!(
            "{name}: kept, off the truth: facets {:.3}; field {:.3} {:.3}, opposed {:.3} {:.3}, cone {:.3} {:.3}, opposed first 8 {:.3} {:.3}",
            energy(&masses, &right) / whole,
            glued.0,
            glued.1,
            opposed.0,
            opposed.1,
            cone.0,
            cone.1,
            first.0,
            first.1
        );
        assert!(opposed.1 < 0.07 && cone.1 < 0.15, "{name}");
        assert!(
            glued.0 < 0.1 && glued.1 > 2.0 * opposed.1,
            "{name}: the field's own directions should glue"
        );
    }
}
