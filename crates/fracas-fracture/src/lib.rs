//! From an impact to cracks: modal analysis, stress, crack growth and fracture patterns.
//!
//! ```text
//!  impulses --> Shake (how it rings) --> when and where too much --> cracks --> Fracture
//!                 ^                                                    ^
//!               Modes (baked, or computed for a fragment)    patterns (no physics)
//! ```
//!
//! | step | module | main items |
//! | --- | --- | --- |
//! | what it is made of | [`material`] | [`Material`] |
//! | stiffness, mass, vibration | [`stiffness`], [`modes`], [`stress_modes`] | [`Modes`] |
//! | contact and response | [`hertz`], `combined_impact`, [`oscillator`], [`impact`] | [`Impact`], [`impact::Shake`] |
//! | stress to cracks | [`principal`], [`event`], `contact_crack` | [`FractureEvent`], [`FractureSettings`] |
//! | cracks without physics | [`patterns`], [`strength`], [`crumbs`] | [`patterns::voronoi`] and others |
//! | breaking again | [`refracture`] | [`Breaker`], [`FragmentModes`] |
//! | chance, writing a fracture down | [`random`], [`sequence`] | [`random::Noise`] |
//!
//! ```
//! use std::sync::Arc;
//! use fracas_core::{FragmentId, Fragments, grid::bent_grid};
//! use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions};
//! use glam::Vec3;
//!
//! let size = Vec3::new(0.215, 0.1025, 0.065);
//! let brick = bent_grid([8, 4, 3], false, |p| p * size / Vec3::new(8.0, 4.0, 3.0))?;
//! let mut fragments = Fragments::new(Arc::new(brick));
//! let whole = FragmentId(0);
//! let modes = Modes::compute(
//!     &fragments, whole, &Material::BRICK, &ModesOptions::default(), &mut |_| (),
//! )?;
//! // It falls on its corner from 10 m.
//! let impact = Impact {
//!     point: Vec3::ZERO,
//!     impulse: Vec3::new(0.8, 0.4, 0.45) * 11.8,
//!     speed: 14.0,
//!     effective_mass: 0.7,
//!     radius: 0.0,
//!     other_modulus: Material::GRANITE.contact_modulus(),
//! };
//! let settings = FractureSettings::default();
//! let decision =
//!     FractureEvent::new().decide((&fragments, whole), &modes, &[impact], 0.01, 0, &settings);
//! let split = fragments.apply(&decision.fracture.expect("that breaks a brick"))?;
//! assert!(split.children.len() >= 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A whole program: `examples/drop_height.rs`, from what height a brick breaks, by material.
//! What is measured, what is assumed and what is left out: `docs/fracture.md`.
//!
//! The feature `research` shows the steps in between (`impact`, `principal`, `stiffness` and
//! others of the table), for report, scenes and tests. What it shows may change in any version.

// What only `research` shows is compiled without it, too, where the library uses a part of it.
// With the feature, which the workspace's lints have on, nothing is allowed to be unused.
#![cfg_attr(not(feature = "research"), allow(dead_code, unused_imports))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod combined_impact;
mod contact_crack;
mod crack_growth;
#[cfg(not(feature = "research"))]
mod crumbs;
#[cfg(feature = "research")]
pub mod crumbs;
#[cfg(not(feature = "research"))]
mod event;
#[cfg(feature = "research")]
pub mod event;
#[cfg(not(feature = "research"))]
mod hertz;
#[cfg(feature = "research")]
pub mod hertz;
#[cfg(not(feature = "research"))]
mod impact;
#[cfg(feature = "research")]
pub mod impact;
pub mod material;
pub mod modes;
#[cfg(not(feature = "research"))]
mod oscillator;
#[cfg(feature = "research")]
pub mod oscillator;
pub mod patterns;
mod piece_volume;
#[cfg(not(feature = "research"))]
mod principal;
#[cfg(feature = "research")]
pub mod principal;
pub mod random;
#[cfg(not(feature = "research"))]
mod refracture;
#[cfg(feature = "research")]
pub mod refracture;
#[cfg(not(feature = "research"))]
mod sequence;
#[cfg(feature = "research")]
pub mod sequence;
mod settings;
#[cfg(not(feature = "research"))]
mod stiffness;
#[cfg(feature = "research")]
pub mod stiffness;
#[cfg(not(feature = "research"))]
mod strength;
#[cfg(feature = "research")]
pub mod strength;
#[cfg(not(feature = "research"))]
mod stress_modes;
#[cfg(feature = "research")]
pub mod stress_modes;

pub use crack_growth::GrowthOptions;
pub use event::{Decision, FractureEvent, FractureStats, Outcome};
pub use impact::Impact;
pub use material::Material;
pub use modes::{Modes, ModesOptions};
pub use patterns::BreakPattern;
pub use refracture::{Breaker, BreakerState, BreakerStats, FragmentModes, RefractureRule};
pub use settings::FractureSettings;
pub use strength::Strength;
