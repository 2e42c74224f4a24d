//! Skins of a few large triangles on many small tetrahedra: the work to dress the pieces is
//! bounded by the size of skin and mesh.

use std::sync::Arc;

use fracas_bake::SurfaceMesh;
use fracas_bake::fill::{FillOptions, fill};
use fracas_bake::tetrahedralize::Size;
use fracas_core::dressing::SkinMap;
use fracas_core::testing::{Rng, break_at_random};
use fracas_core::{Fragments, TetMesh};
use glam::{DVec3, Vec3};

/// Maximum number of comparisons for each tetrahedron and triangle, of the map and of all
/// pieces together.
const MAX_OF_MAP: u64 = 330;
const MAX_OF_DRESS: u64 = 200;

struct Skin {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Skin {
    fn tetrahedron() -> Self {
        Self {
            positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    /// Three times as long as it is wide.
    fn extrusion() -> Self {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        Self {
            positions: vec![
                at(0.0, 0.0, 0.0),
                at(1.0, 0.0, 0.0),
                at(0.0, 1.0, 0.0),
                at(0.0, 0.0, 3.0),
                at(1.0, 0.0, 3.0),
                at(0.0, 1.0, 3.0),
            ],
            triangles: vec![
                [0, 2, 1],
                [3, 4, 5],
                [0, 1, 4],
                [0, 4, 3],
                [1, 2, 5],
                [1, 5, 4],
                [2, 0, 3],
                [2, 3, 5],
            ],
        }
    }

    /// A tetrahedron with random triangles raised or dented, stretched by random factors.
    fn random(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let mut skin = Self::tetrahedron();
        let faces = 4 + 2 * (rng.unit() * 99.0) as usize;
        while skin.triangles.len() < faces {
            let t = (rng.unit() * skin.triangles.len() as f32) as usize;
            let [a, b, c] = skin.triangles[t];
            let [p, q, r] = [a, b, c].map(|v| skin.positions[v as usize]);
            let doubled = (q - p).cross(r - p);
            let by = f64::from(rng.unit() - 0.3) * 0.3 * doubled.length().sqrt();
            let v = skin.positions.len() as u32;
            let middle = (p + q + r) / 3.0;
            skin.positions.push(middle + by * doubled.normalize());
            skin.triangles[t] = [a, b, v];
            skin.triangles.extend([[b, c, v], [c, a, v]]);
        }
        let by = rng.in_box(Vec3::splat(0.3), Vec3::ONE).as_dvec3();
        skin.positions.iter_mut().for_each(|p| *p *= by);
        skin
    }

    fn tets(&self, size: Option<Size>) -> Option<Arc<TetMesh>> {
        let surface = SurfaceMesh::build(self.positions.clone(), self.triangles.clone()).ok()?;
        let options = FillOptions {
            size,
            ..FillOptions::default()
        };
        let filled = fill(&surface, &options).ok()?;
        Some(Arc::new(filled.made.into_mesh()))
    }

    /// Comparisons for each tetrahedron and triangle: of the map, and of all pieces.
    fn work(&self, mesh: &Arc<TetMesh>) -> (u64, u64) {
        let map = SkinMap::build(mesh, &self.positions, &self.triangles).unwrap();
        let mut fragments = Fragments::new(Arc::clone(mesh));
        break_at_random(&mut fragments, &mut Rng(1), 12, 0.02);
        let living: Vec<_> = fragments.living().collect();
        assert!(living.len() > 8);
        let dressed = living
            .iter()
            .map(|&id| map.dress(&fragments, id).comparisons);
        let size = (mesh.tets().len() + self.triangles.len()) as u64;
        (map.fit().comparisons / size, dressed.sum::<u64>() / size)
    }

    fn check(&self, what: &str, size: Option<Size>) {
        let mesh = self
            .tets(size)
            .unwrap_or_else(|| panic!("{what} is closed"));
        let (map, dress) = self.work(&mesh);
        println!(
            "{what}: {} triangles, {} tetrahedra, {map} and {dress} comparisons each",
            self.triangles.len(),
            mesh.tets().len()
        );
        assert!(map <= MAX_OF_MAP, "{what}: {map} comparisons in the map");
        assert!(
            dress <= MAX_OF_DRESS,
            "{what}: {dress} comparisons in pieces"
        );
    }
}

#[test]
fn work_for_few_large_triangles_is_bounded() {
    Skin::tetrahedron().check("tetrahedron", None);
    Skin::extrusion().check("extrusion", None);
}

#[test]
fn work_for_random_closed_skins_is_bounded() {
    for seed in 0..5 {
        Skin::random(seed).check(&format!("seed {seed}"), Some(Size::Tets(8000)));
    }
}
