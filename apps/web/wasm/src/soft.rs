//! A soft scene, live: the same questions as to a recording.
//!
//! Bodies are numbered from 1, in the order of the scene's surfaces. They deform, so
//! after every step all that move are new to the page: it is told their triangles
//! again, under their old numbers.

use fracas_scenes::soft::{self, SoftFilming, SoftScene, SoftSurface};
use glam::Vec3;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use web_time::Instant;

use crate::geometry::Geometry;
use crate::look;

/// A soft scene and what the page has not yet been told.
#[wasm_bindgen]
pub struct SoftSimulation {
    scene: SoftScene,
    surfaces: Vec<SoftSurface>,
    /// Milliseconds of the last step.
    total: f64,
    /// Nothing has been told yet.
    fresh: bool,
    moved: bool,
    filming: Option<SoftFilming>,
}

/// Seconds since the first time it was asked.
fn now() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[wasm_bindgen]
impl SoftSimulation {
    /// A scene by its name, `small` as the page shows it or as large as the paper's.
    ///
    /// # Errors
    /// When there is no such scene.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, small: bool) -> Result<SoftSimulation, JsError> {
        let scene = if small {
            SoftScene::small(name)
        } else {
            SoftScene::new(name)
        };
        let mut scene = scene.map_err(|e| JsError::new(&e.to_string()))?;
        scene.world_mut().set_clock(now);
        Ok(Self {
            surfaces: scene.surfaces(),
            scene,
            total: 0.0,
            fresh: true,
            moved: false,
            filming: None,
        })
    }

    /// Whether there is a soft scene of that name.
    #[must_use]
    pub fn knows(name: &str) -> bool {
        SoftScene::NAMES.contains(&name)
    }

    /// Name, camera box and step as JSON.
    #[must_use]
    pub fn info(&self) -> String {
        let (low, high) = self.scene.view();
        serde_json::json!({
            "name": self.scene.name(),
            "low": low.to_array(),
            "high": high.to_array(),
            "step": SoftScene::DT,
        })
        .to_string()
    }

    /// One step.
    pub fn step(&mut self) {
        let from = now();
        self.scene.step();
        self.total = 1e3 * (now() - from);
        self.surfaces = self.scene.surfaces();
        self.moved = true;
        if let Some(filming) = &mut self.filming {
            filming.frame(&self.scene, self.total);
        }
    }

    /// Films what happens from now on.
    pub fn film(&mut self) {
        self.filming = Some(SoftFilming::new(&self.scene));
    }

    /// The film so far as a recording that this page and `fracas view` play.
    pub fn film_bytes(&mut self) -> Vec<u8> {
        let film = self.filming.take().map(SoftFilming::finish);
        film.map_or_else(Vec::new, |film| film.to_bytes())
    }

    /// See [`SoftScene::digest`], as sixteen digits.
    #[must_use]
    pub fn digest(&self) -> String {
        format!("{:016x}", self.scene.digest())
    }

    /// The numbers of the bodies that came or changed since the last look.
    pub fn look(&mut self) -> Vec<u32> {
        let (fresh, moved) = (self.fresh, self.moved);
        (self.fresh, self.moved) = (false, false);
        let all = self.surfaces.iter().zip(1..);
        all.filter(|(surface, _)| fresh || (moved && !surface.is_fixed))
            .map(|(_, number)| number)
            .collect()
    }

    /// Nobody ever goes.
    #[must_use]
    pub fn gone(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Number and pose of all bodies, eight numbers each: vertices are in the world's
    /// frame.
    #[must_use]
    pub fn poses(&self) -> Vec<f32> {
        (1..=self.surfaces.len())
            .flat_map(|number| [number as f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
            .collect()
    }

    /// What a body is, as JSON; `null` where there is none.
    #[must_use]
    pub fn describe(&self, number: u32) -> String {
        let told = self
            .surface(number)
            .map_or(serde_json::Value::Null, |surface| {
                describe(number - 1, surface.colour)
            });
        told.to_string()
    }

    /// The triangles of a body.
    #[must_use]
    pub fn geometry(&self, number: u32) -> Geometry {
        self.surface(number).map_or_else(Geometry::default, |s| {
            shade(&s.positions, &s.drawn_triangles())
        })
    }

    /// The numbers of the last step, see [`soft::numbers`].
    #[must_use]
    pub fn stats(&self) -> Vec<f64> {
        soft::numbers(&self.scene, self.total).to_vec()
    }

    /// See [`soft::contacts`].
    #[must_use]
    pub fn contacts(&self) -> Vec<f32> {
        soft::contacts(self.scene.world())
    }

    /// Soft bodies have no sphere trees.
    #[must_use]
    pub fn spheres(&self, _number: u32, _level: u8) -> Vec<f32> {
        Vec::new()
    }

    /// See [`look::tets`].
    #[must_use]
    pub fn tets(&self, number: u32) -> Vec<f32> {
        let bodies = self.scene.world().bodies();
        let body = bodies.get((number as usize).wrapping_sub(1));
        body.map_or_else(Vec::new, |b| look::tets(b.positions(), b.tets()))
    }

    /// Soft bodies have no voxel trees.
    #[must_use]
    pub fn voxels(&self, _number: u32, _level: u8) -> Vec<f32> {
        Vec::new()
    }
}

impl SoftSimulation {
    fn surface(&self, number: u32) -> Option<&SoftSurface> {
        self.surfaces.get((number as usize).checked_sub(1)?)
    }
}

/// A soft body, told as a piece is.
#[must_use]
pub fn describe(object: u32, colour: [u8; 3]) -> serde_json::Value {
    serde_json::json!({
        "kind": "piece", "object": object, "fragment": 0, "colour": colour, "levels": 0,
    })
}

/// The triangles of a soft body.
#[must_use]
pub fn shade(positions: &[Vec3], triangles: &[[u32; 3]]) -> Geometry {
    Geometry::shade(positions, triangles, triangles.len())
}
