//! What the pieces look like: the model's own triangles, cut at the cracks, or others.

use std::sync::OnceLock;

use fracas_core::dressing::{FineBoundary, SkinMap, SkinMapError};
use fracas_core::fragment_surface::FragmentSurface;
use fracas_core::{FragmentId, Fragments, TetMesh};

use crate::SurfaceMesh;
use crate::model::drape::Drape;
use crate::model::mend::{balance_of_sides, close_gaps};
use crate::model::pieces::{Buffers, plain_surfaces, surfaces as surfaces_of};
use crate::model::{Attribute, Model};

const PLAIN: [f32; 4] = [0.6, 0.58, 0.55, 1.0];

/// A surface without materials, with its texture coordinates where it has some.
#[must_use]
pub fn model_of_surface(name: &str, surface: &SurfaceMesh) -> Model {
    let Some(uvs) = surface.uvs() else {
        return Model::plain(
            name,
            surface.positions().to_vec(),
            surface.triangles().to_vec(),
            PLAIN,
        );
    };
    // Each corner has its own coordinates.
    let positions = surface
        .triangles()
        .iter()
        .flatten()
        .map(|&v| surface.positions()[v as usize])
        .collect();
    let triangles = (0..surface.triangles().len() as u32)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    Model::plain(name, positions, triangles, PLAIN).with_attribute(Attribute {
        name: "TEXCOORD_0".into(),
        width: 2,
        values: uvs.iter().flatten().flat_map(|uv| uv.to_array()).collect(),
    })
}

/// The boundary of tetrahedra as the skin.
#[must_use]
pub fn model_of_boundary(name: &str, mesh: &TetMesh) -> Model {
    let positions = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let triangles = mesh.boundary().map(|face| face.nodes).collect();
    Model::plain(name, positions, triangles, PLAIN)
}

/// Which surface the pieces have.
///
/// The model's own is cut at the cracks (`fracas_core::dressing`). Where that leaves a piece
/// open, as it may at thin walls and open models, the model is draped over the tetrahedra's
/// surface ([`crate::model::drape`]): with its textures and nearly its shape, and always
/// closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// What the whole looks like.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Its triangles, materials and textures.
    pub model: &'a Model,
    /// The fine surface of a shape of the set, which is drawn instead.
    pub fine: Option<&'a FineBoundary>,
}

/// What the pieces look like, each given with the surface of its tetrahedra, and what the
/// user should know of it. Skins are taken from the wardrobe, and kept there.
///
/// # Errors
/// When the model's surface is no skin.
pub fn dress(
    wardrobe: &Wardrobe,
    &Look { model, fine }: &Look<'_>,
    fragments: &Fragments,
    (pieces, surfaces): (&[FragmentId], &[FragmentSurface]),
    choice: SkinChoice,
    crack_scale: f32,
) -> Result<(Vec<Vec<Buffers>>, Option<String>), SkinMapError> {
    let of_tets = || surfaces.iter().map(surface_of_tets).collect();
    if choice == SkinChoice::Tets {
        return Ok((of_tets(), None));
    }
    if let Some(fine) = fine {
        let dressed = pieces.iter().map(|&id| fine.dress(fragments, id));
        let dressed = dressed.map(|d| plain_surfaces(&d, crack_scale));
        return Ok((dressed.collect(), None));
    }
    wardrobe.dress(model, fragments, pieces, choice, crack_scale)
}

/// The skins of one model on its tetrahedra, each made when it is first needed and kept:
/// for pieces that come a few at a time.
#[derive(Clone, Debug, Default)]
pub struct Wardrobe {
    map: OnceLock<Result<SkinMap, SkinMapError>>,
    drape: OnceLock<Drape>,
}

impl Wardrobe {
    /// What pieces look like that came from one break, and what the user should know of it.
    /// Always of the same model and the same tetrahedra. Of [`SkinChoice::Tets`] it knows
    /// nothing: that is [`SkinChoice::Draped`] here.
    ///
    /// # Errors
    /// When the model's surface is no skin.
    pub fn dress(
        &self,
        model: &Model,
        fragments: &Fragments,
        pieces: &[FragmentId],
        choice: SkinChoice,
        crack_scale: f32,
    ) -> Result<(Vec<Vec<Buffers>>, Option<String>), SkinMapError> {
        let draped = || {
            let built = || Drape::build(model, fragments.mesh());
            let drape = self.drape.get_or_init(built);
            let pieces = pieces.iter();
            pieces
                .map(|&id| drape.surfaces(model, fragments, id, crack_scale))
                .collect()
        };
        if matches!(choice, SkinChoice::Draped | SkinChoice::Tets) {
            return Ok((draped(), None));
        }
        let map = self.map.get_or_init(|| {
            let (positions, triangles) = model.surface();
            SkinMap::build(fragments.mesh(), &positions, &triangles)
        });
        let map = map.as_ref().map_err(Clone::clone)?;
        let mut dressed: Vec<Vec<Buffers>> = pieces
            .iter()
            .map(|&id| surfaces_of(model, &map.dress(fragments, id), crack_scale))
            .collect();
        let widest = fragments.mesh().mean_edge_length();
        let closed = dressed
            .iter_mut()
            .map(|parts| close_gaps(parts, widest, crack_scale));
        let open = closed.filter(|is_closed| !is_closed).count();
        if open == 0 {
            return Ok((dressed, None));
        }
        let gape = format!("{open} of {} pieces are not closed", dressed.len());
        if choice == SkinChoice::Model {
            return Ok((dressed, Some(gape)));
        }
        let warning = format!(
            "in the model's own triangles {gape}: the model is draped over its \
             tetrahedra instead (more --tets may help; --skin model keeps its triangles)"
        );
        Ok((draped(), Some(warning)))
    }
}

/// Sides of triangles that have no neighbour the other way round, by the places of their
/// ends: none where a piece is closed.
#[must_use]
pub fn open_sides(surfaces: &[Buffers]) -> usize {
    let balance = balance_of_sides(surfaces);
    balance.values().filter(|sum| **sum != 0).count()
}

/// The surface of a fragment's tetrahedra: what was outside, then its cracks.
#[must_use]
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
    use glam::Vec3;

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
