//! Which surface the pieces of `shatter` have: the model's own triangles, or the
//! tetrahedra's.
//!
//! The model's own are cut at the cracks (`fracas::dressing`). Where that leaves a piece
//! open, as it may at thin walls and open models, the model is draped over the
//! tetrahedra's surface instead (`fracas_bake::model::drape`): with its textures and
//! nearly its shape, and always closed.

use std::collections::BTreeMap;

use clap::ValueEnum;
use fracas::fragment_surface::FragmentSurface;
use fracas_bake::model::pieces::Buffers;
use glam::Vec3;

/// Which surface the pieces have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SkinChoice {
    /// The model's own triangles where all pieces are closed in them, else draped.
    #[default]
    Auto,
    /// The model's own triangles, whether the pieces are closed or not.
    Model,
    /// New triangles on the model, with its textures: always closed.
    Draped,
    /// The surface of the tetrahedra: always closed.
    Tets,
}

/// Sides of triangles that have no neighbour the other way round, by the places of their
/// ends: none where a piece is closed.
pub fn open_sides(surfaces: &[Buffers]) -> usize {
    let mut balance: BTreeMap<[[u32; 3]; 2], i32> = BTreeMap::new();
    let place = |p: Vec3| (p + Vec3::ZERO).to_array().map(f32::to_bits);
    for surface in surfaces {
        for triangle in &surface.triangles {
            let at = triangle.map(|v| place(surface.positions[v as usize]));
            for (a, b) in [(at[0], at[1]), (at[1], at[2]), (at[2], at[0])] {
                if a < b {
                    *balance.entry([a, b]).or_default() += 1;
                } else if b < a {
                    *balance.entry([b, a]).or_default() -= 1;
                }
            }
        }
    }
    balance.values().filter(|sum| **sum != 0).count()
}

/// The surface of a fragment's tetrahedra: what was outside, then its cracks.
pub fn surface_of_tets(surface: &FragmentSurface) -> Vec<Buffers> {
    let (old, cracks) = surface.triangles().split_at(surface.old_triangles());
    [(old, false), (cracks, true)]
        .into_iter()
        .filter(|(triangles, _)| !triangles.is_empty())
        .map(|(triangles, is_crack)| Buffers {
            material: (!is_crack).then_some(0),
            is_crack,
            positions: surface.positions().to_vec(),
            attributes: Vec::new(),
            triangles: triangles.to_vec(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tetrahedron_is_closed_and_open_without_a_face() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mut surface = Buffers {
            positions,
            triangles,
            ..Buffers::default()
        };
        assert_eq!(open_sides(std::slice::from_ref(&surface)), 0);
        surface.triangles.pop();
        assert_eq!(open_sides(&[surface]), 3);
    }
}
