//! An object to pieces without a simulation: what `fracas shatter` and the Python
//! `shatter` do.
//!
//! Steps of [`plan`]: a pattern is laid, or an impact is computed on the modes -> a
//! [`Fracture`], which the caller applies. [`dress`] then gives the pieces their visible
//! surfaces, and [`shared_areas`] tells which of them were neighbours.

use std::collections::BTreeMap;
use std::sync::Arc;

use fracas::dressing::{FineBoundary, SkinMap, SkinMapError};
use fracas::fragment_surface::{FragmentSurface, SurfaceScratch};
use fracas::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_fracture::material::STEEL_CONTACT_MODULUS;
use fracas_fracture::modes::ModesError;
use fracas_fracture::patterns::{
    self, ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
use fracas_fracture::{
    FractureEvent, FractureSettings, FractureStats, Impact, Material, Modes, ModesOptions, Outcome,
};
use glam::{DVec2, DVec3, Vec3};
use thiserror::Error;

use crate::SurfaceMesh;
use crate::limits::Cost;
use crate::model::drape::Drape;
use crate::model::pieces::{Buffers, plain_surfaces, surfaces as surfaces_of};
use crate::model::{Attribute, Model};

/// How it breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// Cells round random seeds; smaller near `at`, if given.
    #[default]
    Voronoi,
    /// Flat cuts; parallel ones across `direction`, if given.
    Slices,
    /// Spokes (and rings) round an axis through `at` along `direction`.
    Radial,
    /// Shells chipped off at `at`, inwards along `direction`.
    Conchoidal,
    /// Physics: a steel ball hits `at` along `direction` with `speed`; or, with `drop`,
    /// it falls on stone with `direction` pointing down.
    Impact,
}

/// What breaks it, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ShatterOptions {
    /// How it breaks.
    pub pattern: Pattern,
    /// How many pieces (spokes, for radial; at most, for the others).
    pub pieces: u32,
    /// Where it is hit; by default its middle (impact and conchoidal: its top).
    pub at: Option<Vec3>,
    /// Direction of the blow, or the axis of slices and spokes.
    pub direction: Option<Vec3>,
    /// How many rings of a radial pattern.
    pub rings: u32,
    /// Roughness of the cracks, as a share of the object's size.
    pub roughness: f32,
    /// Seed of all chance.
    pub seed: u64,
    /// Material of an impact.
    pub material: Material,
    /// Speed of the ball of an impact (m/s).
    pub speed: f32,
    /// Mass of the ball of an impact (kg).
    pub mass: f32,
    /// Height from which it falls on stone, instead of the ball (m).
    pub drop: Option<f32>,
}

impl Default for ShatterOptions {
    fn default() -> Self {
        Self {
            pattern: Pattern::Voronoi,
            pieces: 16,
            at: None,
            direction: None,
            rings: 1,
            roughness: 0.004,
            seed: 0,
            material: Material::GLASS,
            speed: 8.0,
            mass: 0.1,
            drop: None,
        }
    }
}

/// Why it does not break.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Every piece holds a node.
    #[error(
        "{pieces} pieces cannot be cut from {nodes} nodes, of which each needs one; use more --tets, or ask for fewer"
    )]
    TooManyPieces {
        /// As asked for.
        pieces: f64,
        /// What there is.
        nodes: usize,
    },
    /// No modes, hence no stress.
    #[error("an impact needs vibration modes: {0}")]
    Modes(#[from] ModesError),
    /// Nothing came apart.
    #[error("nothing breaks: {0}")]
    Whole(String),
}

/// A fracture to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What to apply to the fragments.
    pub fracture: Fracture,
    /// What the impact did, where there was one.
    pub stats: Option<FractureStats>,
}

/// How many pieces are asked for, and what making them takes.
///
/// # Errors
/// When there are fewer nodes than pieces.
pub fn cost(mesh: &TetMesh, options: &ShatterOptions) -> Result<(f64, Cost), PlanError> {
    let rings = match options.pattern {
        Pattern::Radial => f64::from(options.rings) + 1.0,
        _ => 1.0,
    };
    let pieces = f64::from(options.pieces) * rings;
    let nodes = mesh.positions().len();
    if pieces > nodes as f64 {
        return Err(PlanError::TooManyPieces { pieces, nodes });
    }
    Ok((pieces, Cost::of_pieces(pieces, mesh.tets().len() as f64)))
}

/// Decides how a living fragment breaks; fragment 0 is the unbroken object. `baked` are its
/// modes, used where they are of the impact's material; `tell` is told of what takes long.
///
/// # Errors
/// See [`PlanError`].
///
/// # Panics
/// When there is no such fragment.
pub fn plan(
    fragments: &Fragments,
    id: FragmentId,
    baked: Option<Arc<Modes>>,
    options: &ShatterOptions,
    tell: &mut dyn FnMut(&str),
) -> Result<Plan, PlanError> {
    if options.pattern == Pattern::Impact {
        return plan_impact(fragments, id, baked, options, tell);
    }
    lay_pattern(fragments, id, options)
        .map(|fracture| Plan {
            fracture,
            stats: None,
        })
        .ok_or_else(|| {
            PlanError::Whole(
                "the pattern leaves all of it on one side; use more --tets or --pieces, or \
                 another --at or --direction"
                    .into(),
            )
        })
}

/// Lowest and highest coordinates of a fragment's nodes.
fn bounds(fragments: &Fragments, id: FragmentId) -> (Vec3, Vec3) {
    let at = |&node: &u32| fragments.mesh().positions()[node as usize];
    let nodes = fragments.fragment(id).nodes();
    nodes
        .iter()
        .map(at)
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| {
            (lo.min(p), hi.max(p))
        })
}

fn lay_pattern(
    fragments: &Fragments,
    id: FragmentId,
    options: &ShatterOptions,
) -> Option<Fracture> {
    let (lo, hi) = bounds(fragments, id);
    let size = (hi - lo).length();
    let middle = 0.5 * (lo + hi);
    let top = Vec3::new(middle.x, hi.y, middle.z);
    let roughness = options.roughness * size;
    match options.pattern {
        Pattern::Voronoi => patterns::voronoi(
            fragments,
            id,
            &VoronoiOptions {
                pieces: options.pieces,
                impact: options.at,
                spread: 0.2 * size,
                roughness,
                seed: options.seed,
                ..Default::default()
            },
        ),
        Pattern::Slices => patterns::slices(
            fragments,
            id,
            &SlicesOptions {
                pieces: options.pieces,
                axis: options.direction,
                roughness,
                seed: options.seed,
                ..Default::default()
            },
        ),
        Pattern::Radial => patterns::radial(
            fragments,
            id,
            &RadialOptions {
                spokes: options.pieces,
                rings: (1..=options.rings)
                    .map(|i| 0.5 * size * i as f32 / (options.rings + 1) as f32)
                    .collect(),
                roughness,
                seed: options.seed,
                ..RadialOptions::at(
                    options.at.unwrap_or(middle),
                    options.direction.unwrap_or_else(|| thinnest(hi - lo)),
                )
            },
        ),
        Pattern::Conchoidal => patterns::conchoidal(
            fragments,
            id,
            &ConchoidalOptions {
                chips: options.pieces.saturating_sub(1).max(1),
                roughness,
                seed: options.seed,
                ..ConchoidalOptions::at(
                    options.at.unwrap_or(top),
                    options.direction.unwrap_or(Vec3::NEG_Y),
                )
            },
        ),
        Pattern::Impact => None,
    }
}

/// The axis along which a box is thinnest.
fn thinnest(size: Vec3) -> Vec3 {
    if size.y <= size.x && size.y <= size.z {
        Vec3::Y
    } else if size.x <= size.z {
        Vec3::X
    } else {
        Vec3::Z
    }
}

/// The modes of the asset, where they are of this material, or new ones.
fn modes_of(
    fragments: &Fragments,
    id: FragmentId,
    baked: Option<Arc<Modes>>,
    material: &Material,
    tell: &mut dyn FnMut(&str),
) -> Result<Arc<Modes>, ModesError> {
    if let Some(modes) = baked.filter(|m| m.material() == material) {
        return Ok(modes);
    }
    tell("computing vibration modes …");
    let options = ModesOptions::default();
    let modes = Modes::compute(fragments, id, material, &options, &mut |_| ())?;
    Ok(Arc::new(modes))
}

fn plan_impact(
    fragments: &Fragments,
    id: FragmentId,
    baked: Option<Arc<Modes>>,
    options: &ShatterOptions,
    tell: &mut dyn FnMut(&str),
) -> Result<Plan, PlanError> {
    let material = options.material;
    let (lo, hi) = bounds(fragments, id);
    let top = Vec3::new(0.5 * (lo.x + hi.x), hi.y, 0.5 * (lo.z + hi.z));
    let modes = modes_of(fragments, id, baked, &material, tell)?;
    let impact = match options.drop {
        Some(height) => fall(fragments, id, &modes, options, height),
        None => ball(&modes, options, options.at.unwrap_or(top)),
    };
    let settings = FractureSettings {
        max_cracks: options.pieces as usize,
        max_fragments: options.pieces as usize,
        seed: options.seed,
        ..Default::default()
    };
    let decision =
        FractureEvent::new().decide(fragments, id, &modes, &[impact], 0.01, 0, &settings);
    let stats = decision.stats;
    let harder = match options.drop {
        Some(_) => "let it fall from higher with --drop",
        None => "hit harder with --speed or --mass",
    };
    let whole = || {
        PlanError::Whole(match stats.outcome {
            Outcome::NoImpact => "the blow has no force; turn it with --direction".into(),
            Outcome::Harmless | Outcome::Held => format!(
                "the stress stays below the strength ({:.0}% of it); {harder}",
                (100.0 * stats.overload).min(99.0)
            ),
            Outcome::NoCrack => format!(
                "the stress exceeds the strength, but no crack that the energy can pay for \
                 parts it; {harder}, or use more --tets or --pieces"
            ),
            Outcome::Unbreakable => "it is too small to break; use more --tets".into(),
            _ => "no crack parts it".into(),
        })
    };
    let fracture = decision.fracture.ok_or_else(whole)?;
    Ok(Plan {
        fracture,
        stats: Some(stats),
    })
}

fn blow(options: &ShatterOptions) -> Vec3 {
    options
        .direction
        .and_then(Vec3::try_normalize)
        .unwrap_or(Vec3::NEG_Y)
}

/// A steel ball against the body, at rest and free.
fn ball(modes: &Modes, options: &ShatterOptions, point: Vec3) -> Impact {
    let mass = options.mass.max(1e-6);
    let effective = mass * modes.mass() as f32 / (mass + modes.mass() as f32);
    let volume = f64::from(mass) / 7850.0;
    Impact {
        point,
        impulse: 1.5 * effective * options.speed * blow(options),
        speed: options.speed,
        effective_mass: effective,
        radius: (3.0 * volume / (4.0 * std::f64::consts::PI)).cbrt() as f32,
        other_modulus: STEEL_CONTACT_MODULUS,
    }
}

/// The body against a stone floor.
fn fall(
    fragments: &Fragments,
    id: FragmentId,
    modes: &Modes,
    options: &ShatterOptions,
    height: f32,
) -> Impact {
    let up = -blow(options);
    let whole = FragmentSurface::extract(fragments, id, &mut SurfaceScratch::default());
    let properties = whole.mass_properties();
    let density = modes.material().density;
    let lowest = whole
        .positions()
        .iter()
        .copied()
        .min_by(|a, b| a.dot(up).total_cmp(&b.dot(up)))
        .unwrap_or(Vec3::ZERO);
    let normal = up.as_dvec3();
    let arm = (lowest.as_dvec3() - properties.centre).cross(normal);
    let turning = arm.dot((properties.inertia * density).inverse() * arm);
    let effective = 1.0 / (1.0 / (properties.volume * density) + turning);
    let speed = (2.0 * 9.81 * height.max(0.0)).sqrt();
    Impact {
        point: lowest,
        impulse: 1.2 * effective as f32 * speed * up,
        speed,
        effective_mass: effective as f32,
        radius: 0.0,
        other_modulus: Material::GRANITE.contact_modulus(),
    }
}

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
/// The model's own is cut at the cracks (`fracas::dressing`). Where that leaves a piece
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

/// What the pieces look like, and what the user should know of it.
///
/// # Errors
/// When the model's surface is no skin.
pub fn dress(
    &Look { model, fine }: &Look<'_>,
    fragments: &Fragments,
    pieces: &[FragmentId],
    surfaces: &[FragmentSurface],
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
    let draped = || {
        let drape = Drape::build(model, fragments.mesh());
        let pieces = pieces.iter();
        pieces
            .map(|&id| drape.surfaces(model, fragments, id, crack_scale))
            .collect()
    };
    if choice == SkinChoice::Draped {
        return Ok((draped(), None));
    }
    let (positions, triangles) = model.surface();
    let map = SkinMap::build(fragments.mesh(), &positions, &triangles)?;
    let dressed: Vec<Vec<Buffers>> = pieces
        .iter()
        .map(|&id| surfaces_of(model, &map.dress(fragments, id), crack_scale))
        .collect();
    let open = dressed.iter().filter(|s| open_sides(s) > 0).count();
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

/// Sides of triangles that have no neighbour the other way round, by the places of their
/// ends: none where a piece is closed.
#[must_use]
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

/// Two pieces that were one at a crack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedArea {
    /// The pieces, the lower first.
    pub pieces: [FragmentId; 2],
    /// Area of the crack between them, one side.
    pub area: f64,
}

/// Which pieces were neighbours, and how large the crack between them is: in each cut
/// tetrahedron the crack faces of one piece are laid over those of the others on the same
/// plane. In order of the pieces.
#[must_use]
pub fn shared_areas(pieces: &[(FragmentId, &FragmentSurface)]) -> Vec<SharedArea> {
    type Face = (FragmentId, [DVec3; 3]);
    let mut faces: BTreeMap<(u32, u8), Vec<Face>> = BTreeMap::new();
    for &(id, surface) in pieces {
        for t in surface.old_triangles()..surface.triangles().len() {
            let corners = surface.corners(t).map(Vec3::as_dvec3);
            let plane = (surface.tet(t), surface.side(t));
            faces.entry(plane).or_default().push((id, corners));
        }
    }
    let mut areas: BTreeMap<[FragmentId; 2], f64> = BTreeMap::new();
    for group in faces.values() {
        for (i, (a, first)) in group.iter().enumerate() {
            for (b, second) in &group[i + 1..] {
                // The two sides of a crack look at each other.
                if a == b || normal(first).dot(normal(second)) > 0.0 {
                    continue;
                }
                let area = overlap(first, second);
                if area > 0.0 {
                    *areas.entry([*a.min(b), *a.max(b)]).or_default() += area;
                }
            }
        }
    }
    areas
        .into_iter()
        .map(|(pieces, area)| SharedArea { pieces, area })
        .collect()
}

fn normal(triangle: &[DVec3; 3]) -> DVec3 {
    let [a, b, c] = *triangle;
    (b - a).cross(c - a)
}

/// The area that two triangles of one plane have in common: the second is clipped by the
/// sides of the first, seen along the axis that the plane faces most.
fn overlap(first: &[DVec3; 3], second: &[DVec3; 3]) -> f64 {
    let across = normal(first);
    let size = across.abs();
    let (drop, along) = if size.x >= size.y && size.x >= size.z {
        (0, size.x)
    } else if size.y >= size.z {
        (1, size.y)
    } else {
        (2, size.z)
    };
    if along == 0.0 {
        return 0.0;
    }
    let flat = |p: DVec3| match drop {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    };
    let mut clip = first.map(flat);
    if (clip[1] - clip[0]).perp_dot(clip[2] - clip[0]) < 0.0 {
        clip.swap(1, 2);
    }
    let mut polygon: Vec<DVec2> = second.iter().map(|&p| flat(p)).collect();
    for side in 0..3 {
        let (from, to) = (clip[side], clip[(side + 1) % 3]);
        let inside = |p: DVec2| (to - from).perp_dot(p - from);
        let before = std::mem::take(&mut polygon);
        for (i, &p) in before.iter().enumerate() {
            let q = before[(i + 1) % before.len()];
            let (at_p, at_q) = (inside(p), inside(q));
            if at_p >= 0.0 {
                polygon.push(p);
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                polygon.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
        if polygon.len() < 3 {
            return 0.0;
        }
    }
    let origin = polygon[0];
    let twice: f64 = polygon
        .windows(2)
        .map(|pair| (pair[0] - origin).perp_dot(pair[1] - origin))
        .sum();
    // Back from the shadow to the plane.
    0.5 * twice.abs() * across.length() / along
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

    #[test]
    fn cracks_between_neighbours_add_up_to_all_cracks() {
        let mesh = Arc::new(crate::shapes::by_name("bowl").unwrap().build());
        let mut fragments = Fragments::new(mesh);
        let options = ShatterOptions::default();
        let plan = plan(&fragments, FragmentId(0), None, &options, &mut |_| ()).unwrap();
        let split = fragments.apply(&plan.fracture).unwrap();
        let mut scratch = SurfaceScratch::default();
        let surfaces: Vec<FragmentSurface> = split
            .children
            .iter()
            .map(|&id| FragmentSurface::extract(&fragments, id, &mut scratch))
            .collect();
        let pieces: Vec<_> = split.children.iter().copied().zip(&surfaces).collect();
        let shared = shared_areas(&pieces);
        assert!(shared.is_sorted_by_key(|s| s.pieces));
        for (id, surface) in pieces {
            let cracks: f64 = (surface.old_triangles()..surface.triangles().len())
                .map(|t| 0.5 * normal(&surface.corners(t).map(Vec3::as_dvec3)).length())
                .sum();
            let told = shared.iter().filter(|s| s.pieces.contains(&id));
            let told: f64 = told.map(|s| s.area).sum();
            assert!(
                (told / cracks - 1.0).abs() < 1e-3,
                "{id}: {told} of {cracks}"
            );
        }
    }
}
