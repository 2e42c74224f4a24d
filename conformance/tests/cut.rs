//! Cuts of tet meshes: closed surfaces, masses that add up, points that
//! belong to one fragment, and fragments broken again and again.

use fracas_conformance::data::{self, NamedMesh};
use fracas_conformance::procedural;
use fracas_core::testing::Rng;
use fracas_core::{
    Crack, FieldOptions, Fracture, FragmentField, FragmentId, FragmentSurface, Fragments,
    MassProperties, SurfaceScratch, brute_force,
};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use glam::Vec3;

fn shatter(fragments: &mut Fragments, pieces: u32, seed: u64) {
    let options = VoronoiOptions {
        pieces,
        seed,
        ..VoronoiOptions::default()
    };
    let fracture = voronoi(fragments, FragmentId(0), &options).expect("a whole object breaks");
    fragments.apply(&fracture).expect("a pattern is sound");
}

/// Breaks the fragment with most nodes by a rough plane through one of them.
fn break_largest(fragments: &mut Fragments, rng: &mut Rng) {
    let id = fragments
        .living()
        .max_by_key(|&id| fragments.fragment(id).nodes().len())
        .expect("something is left");
    let mesh = fragments.mesh().clone();
    let nodes = fragments.fragment(id).nodes();
    let edge = mesh.mean_edge_length();
    for _ in 0..20 {
        let through = mesh.positions()[nodes[rng.below(nodes.len())] as usize];
        let direction = rng.direction();
        let crack = Crack::from_level(&mesh, 0, nodes, |n| {
            let p = mesh.positions()[n as usize];
            direction.dot(p - through) + rng.range(-0.5, 0.5) * edge
        });
        if let Some(crack) = crack {
            let cracks = vec![crack];
            let fragment = id;
            fragments
                .apply(&Fracture { fragment, cracks })
                .expect("a level set is sound");
            return;
        }
    }
}

/// Surfaces of all living fragments, each checked; and their masses against the whole's.
fn check_surfaces(name: &str, fragments: &Fragments, whole: &MassProperties) {
    let mut scratch = SurfaceScratch::default();
    let mut masses = Vec::new();
    for id in fragments.living() {
        let surface = FragmentSurface::extract(fragments, id, &mut scratch);
        surface
            .validate()
            .unwrap_or_else(|e| panic!("{name}, {id}: {e}"));
        let mass = *surface.mass_properties();
        assert!(mass.volume > 0.0, "{name}, {id} has volume {}", mass.volume);
        let (low, high) = surface.bounds();
        let slack = 1e-5 * (high - low).max_element();
        let centre = mass.centre.as_vec3();
        assert!(centre.cmpge(low - slack).all() && centre.cmple(high + slack).all());
        masses.push(mass);
    }
    let sum = MassProperties::sum(&masses);
    let off = (sum.volume - whole.volume).abs() / whole.volume;
    assert!(off < 1e-6, "{name}: volumes are off by {off:e}");
    let size = whole.volume.cbrt();
    assert!(
        (sum.centre - whole.centre).length() < 1e-6 * size,
        "{name}: centre"
    );
    let inertia = (sum.inertia - whole.inertia).to_cols_array();
    let scale = whole
        .inertia
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    let worst = inertia.iter().fold(0.0_f64, |m, x| m.max(x.abs())) / scale;
    assert!(worst < 1e-6, "{name}: inertia is off by {worst:e}");
    println!(
        "{name}: {} fragments, volume off by {off:.1e}, inertia by {worst:.1e}",
        masses.len()
    );
}

fn whole_mass(fragments: &Fragments) -> MassProperties {
    let surface =
        FragmentSurface::extract(fragments, FragmentId(0), &mut SurfaceScratch::default());
    *surface.mass_properties()
}

#[test]
fn pieces_are_closed_and_masses_add_up() {
    check_pieces(&procedural::tet_meshes());
}

#[test]
fn point_lies_in_exactly_one_fragment() {
    check_points(&procedural::tet_meshes());
}

#[test]
fn disconnected_labels_become_fragments() {
    check_stripes(&procedural::tet_meshes());
}

#[test]
fn public_meshes_break_soundly() {
    let meshes = data::breakable();
    check_pieces(&meshes);
    check_points(&meshes);
    check_stripes(&meshes);
}

fn check_pieces(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let volume = mesh.volume();
        for pieces in [2, 8, 64, 500] {
            let mut fragments = Fragments::new(mesh.clone());
            let whole = whole_mass(&fragments);
            assert!((whole.volume - volume).abs() < 1e-9 * volume);
            shatter(&mut fragments, pieces, 7 + u64::from(pieces));
            fragments.validate().expect(file);
            let name = format!("{file} in {pieces}");
            check_surfaces(&name, &fragments, &whole);
            let mut rng = Rng(u64::from(pieces));
            for _ in 0..4 {
                for _ in 0..3 {
                    break_largest(&mut fragments, &mut rng);
                }
            }
            fragments.validate().expect(file);
            check_surfaces(&format!("{name}, broken again"), &fragments, &whole);
        }
    }
}

/// A point of the parent lies in exactly one fragment.
fn check_points(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let mut fragments = Fragments::new(mesh.clone());
        let mut field =
            FragmentField::build(&fragments, &FieldOptions::default()).expect("a field");
        let options = VoronoiOptions {
            pieces: 64,
            seed: 3,
            ..VoronoiOptions::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).expect("it breaks");
        let split = fragments.apply(&fracture).expect("it is sound");
        field.apply(&fragments, &split);
        field.validate(&fragments).expect(file);
        let mut scratch = SurfaceScratch::default();
        let surfaces: Vec<(FragmentId, FragmentSurface)> = fragments
            .living()
            .map(|id| (id, FragmentSurface::extract(&fragments, id, &mut scratch)))
            .collect();
        let mut rng = Rng(40);
        let (mut on_crack, mut samples) = (0, 0);
        let size = (mesh.bounds().1 - mesh.bounds().0).max_element();
        while samples < 300 {
            let tet = rng.below(mesh.tets().len()) as u32;
            let corners = mesh.corners(tet);
            let weights = [0.0; 4].map(|_: f32| rng.range(0.01, 1.0));
            let sum: f32 = weights.iter().sum();
            let p: Vec3 = (0..4).map(|i| corners[i] * (weights[i] / sum)).sum();
            samples += 1;
            let near = surfaces
                .iter()
                .filter(|(_, s)| s.bounds().0.cmple(p).all() && s.bounds().1.cmpge(p).all());
            let winding: Vec<FragmentId> = near
                .clone()
                .filter(|(_, s)| brute_force::inside(s, p))
                .map(|(id, _)| *id)
                .collect();
            let field_says: Vec<FragmentId> = fragments
                .living()
                .filter(|&id| field.of(&fragments, id).inside(p).is_some())
                .collect();
            assert_eq!(field_says.len(), 1, "{file}: {p}");
            if winding != field_says {
                let distance = near
                    .filter_map(|(_, s)| brute_force::closest(s, p))
                    .map(|c| c.distance)
                    .fold(f64::INFINITY, f64::min);
                assert!(
                    distance < 1e-6 * f64::from(size),
                    "{file}: {p} is in {winding:?} and in {field_says:?}, {distance} from a crack"
                );
                on_crack += 1;
            }
        }
        println!("{file}: {on_crack} of {samples} points within rounding of a crack");
        assert!(on_crack <= 3);
    }
}

/// Disconnected parts of one label become fragments of their own.
fn check_stripes(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let mut fragments = Fragments::new(mesh.clone());
        let (low, high) = mesh.bounds();
        let axis = (0..3)
            .max_by(|&a, &b| (high - low)[a].total_cmp(&(high - low)[b]))
            .unwrap_or(0);
        // Four stripes across the longest side: two labels, four pieces at least.
        let width = (high - low)[axis] / 4.0;
        let nodes = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let crack = Crack::from_level(mesh, 0, &nodes, |n| {
            let x = (mesh.positions()[n as usize][axis] - low[axis]) / width;
            let from_line = (x - (x + 0.5).floor()) * width;
            if (x + 0.5).floor() as i32 % 2 == 0 {
                from_line
            } else {
                -from_line
            }
        });
        let cracks = vec![crack.expect("stripes part it")];
        let fragment = FragmentId(0);
        let whole = whole_mass(&fragments);
        let split = fragments
            .apply(&Fracture { fragment, cracks })
            .expect("sound");
        assert!(
            split.children.len() >= 4,
            "{file}: {}",
            split.children.len()
        );
        fragments.validate().expect(file);
        check_surfaces(file, &fragments, &whole);
    }
}
