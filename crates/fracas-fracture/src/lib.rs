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
//! | contact and response | [`hertz`], `blow`, [`oscillator`], [`impact`] | [`Impact`], [`impact::Shake`] |
//! | stress to cracks | [`principal`], [`event`], `contact_crack` | [`FractureEvent`], [`FractureSettings`] |
//! | cracks without physics | [`patterns`], [`strength`], [`crumbs`] | [`patterns::voronoi`] and others |
//! | breaking again | [`refracture`] | [`Breaker`], [`FragmentModes`] |
//! | chance, writing a fracture down | [`random`], [`sequence`] | |
//!
//! ```
//! use std::sync::Arc;
//! use fracas_core::{FragmentId, Fragments, testing::box_grid};
//! use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions};
//! use glam::Vec3;
//!
//! let brick = box_grid([8, 4, 3], Vec3::new(0.215, 0.1025, 0.065));
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
//!     FractureEvent::new().decide(&fragments, whole, &modes, &[impact], 0.01, 0, &settings);
//! let split = fragments.apply(&decision.fracture.expect("that breaks a brick"))?;
//! assert!(split.children.len() >= 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is measured, what is assumed and what is left out: `docs/fracture.md`.

mod blow;
mod contact_crack;
mod crack_growth;
pub mod crumbs;
pub mod event;
pub mod hertz;
pub mod impact;
pub mod material;
pub mod modes;
pub mod oscillator;
pub mod patterns;
mod piece_volume;
pub mod principal;
pub mod random;
pub mod refracture;
pub mod sequence;
mod settings;
pub mod stiffness;
pub mod strength;
pub mod stress_modes;

pub use crack_growth::GrowthOptions;
pub use event::{Decision, FractureEvent, FractureStats, Outcome};
pub use impact::Impact;
pub use material::Material;
pub use modes::{Modes, ModesOptions};
pub use refracture::{Breaker, BreakerState, BreakerStats, FragmentModes, RefractureRule};
pub use settings::FractureSettings;
pub use strength::Strength;
