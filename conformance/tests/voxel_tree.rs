//! Voxels of tet meshes: volumes, and fragments that share what the whole held.

use fracas_conformance::data::{self, NamedMesh};
use fracas_conformance::procedural;
use fracas_core::{FragmentId, FragmentSurface, Fragments, SurfaceScratch, TetMesh};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_voxel::{LEAST_OCCUPANCY, ObjectVoxels, SplitScratch, VoxTree, VoxelGrid};

/// An edge of which `across` make the longest side.
fn cell(mesh: &TetMesh, across: f32) -> f32 {
    let (low, high) = mesh.bounds();
    (high - low).max_element() / across
}

#[test]
fn occupancies_add_up_to_the_volume() {
    check_occupancies(&procedural::tet_meshes());
}

#[test]
fn fragments_share_the_voxels_of_the_whole() {
    check_fragments(&procedural::tet_meshes());
}

#[test]
fn public_meshes_fill_their_voxels() {
    let meshes = data::breakable();
    check_occupancies(&meshes);
    check_fragments(&meshes);
}

fn check_occupancies(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let whole = Fragments::new(mesh.clone());
        let surface =
            FragmentSurface::extract(&whole, FragmentId(0), &mut SurfaceScratch::default());
        let volume = surface.mass_properties().volume;
        for across in [9.0, 24.0] {
            let grid = VoxelGrid::from_tets(mesh, cell(mesh, across)).expect(file);
            let error = (grid.volume() - volume).abs() / volume;
            assert!(error < 1e-3, "{file}, {across} across: off by {error}");
            VoxTree::build(&grid, 2).validate().expect(file);
        }
    }
}

/// Fragments share what the whole held, and leave no voxel empty that they touch.
fn check_fragments(meshes: &[NamedMesh]) {
    for (file, mesh) in meshes {
        let cell = cell(mesh, 20.0);
        let voxels = ObjectVoxels::build(mesh, cell).expect(file);
        let mut fragments = Fragments::new(mesh.clone());
        let options = VoronoiOptions {
            pieces: 12,
            seed: 9,
            ..VoronoiOptions::default()
        };
        let fracture = voronoi(&fragments, FragmentId(0), &options).expect("it breaks");
        let split = fragments.apply(&fracture).expect("it is sound");
        let mut scratch = SplitScratch::default();
        let parts = voxels.split(&fragments, voxels.whole(), &split.children, &mut scratch);
        let (mut sum, mut touched) = (0.0, 0);
        for (&id, part) in split.children.iter().zip(&parts) {
            let grid = voxels.grid(part);
            sum += grid.volume();
            touched += part.len();
            let surface = FragmentSurface::extract(&fragments, id, &mut SurfaceScratch::default());
            let volume = surface.mass_properties().volume;
            // Least occupancies count where a fragment is as thin as a voxel.
            let slack = f64::from(LEAST_OCCUPANCY) * part.len() as f64 * f64::from(cell).powi(3);
            assert!(
                (grid.volume() - volume).abs() < 1e-3 * volume + slack,
                "{file}, {id}: {} of {volume}",
                grid.volume()
            );
            for p in surface.positions() {
                let at = ((*p - grid.origin()) / cell).floor();
                let at = [at.x as i64, at.y as i64, at.z as i64];
                assert!(
                    grid.occupancy(at) > 0.0,
                    "{file}, {id}: {p} in an empty voxel"
                );
            }
            VoxTree::build(&grid, 2).validate().expect(file);
        }
        let before = voxels.grid(voxels.whole()).volume();
        let slack = f64::from(LEAST_OCCUPANCY) * touched as f64 * f64::from(cell).powi(3);
        assert!(
            (sum - before).abs() <= 1e-6 * before + slack,
            "{file}: {sum} of {before}"
        );
    }
}
