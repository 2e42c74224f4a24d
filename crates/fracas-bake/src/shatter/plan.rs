//! How it breaks: a pattern that is laid, or an impact that is computed on the modes.

use std::sync::Arc;

use fracas_core::fragment_surface::{FragmentSurface, SurfaceScratch};
use fracas_core::{Fracture, FragmentId, Fragments, TetMesh};
use fracas_fracture::material::STEEL_CONTACT_MODULUS;
use fracas_fracture::modes::ModesError;
use fracas_fracture::patterns::{
    self, ConchoidalOptions, RadialOptions, SlicesOptions, VoronoiOptions,
};
use fracas_fracture::{
    FractureEvent, FractureSettings, FractureStats, Impact, Material, Modes, ModesOptions, Outcome,
};
use glam::Vec3;
use thiserror::Error;

use crate::limits::Cost;

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
    /// Direction of the impact, or the axis of slices and spokes.
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
                "the pattern leaves all of it on one side; use more --tets or --pieces, less \
                 --roughness, or another --at or --direction"
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
        FractureEvent::new().decide((fragments, id), &modes, &[impact], 0.01, 0, &settings);
    let stats = decision.stats;
    let harder = match options.drop {
        Some(_) => "let it fall from higher with --drop",
        None => "hit harder with --speed or --mass",
    };
    let whole = || {
        PlanError::Whole(match stats.outcome {
            Outcome::NoImpact => "the impact has no force; turn it with --direction".into(),
            // How far below is not known: what stays below is not summed up.
            Outcome::Harmless | Outcome::Held => {
                format!("the stress stays below the strength; {harder}")
            }
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

fn push_direction(options: &ShatterOptions) -> Vec3 {
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
        impulse: 1.5 * effective * options.speed * push_direction(options),
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
    let up = -push_direction(options);
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
