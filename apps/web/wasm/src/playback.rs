//! A recording, played back: the same questions as to a live world.

use std::collections::BTreeSet;

use fracas_scenes::film::{Film, FilmPiece, FilmShape};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::geometry::Geometry;
use crate::{look, soft, take_home};

/// A film and the frame it shows. Bodies are numbered from 1, in the film's order.
#[wasm_bindgen]
pub struct Playback {
    film: Film,
    frame: u32,
    shown: BTreeSet<u32>,
    /// The frame that was looked at last.
    seen: u32,
    gone: Vec<u32>,
}

#[wasm_bindgen]
impl Playback {
    /// A recording, at its start.
    ///
    /// # Errors
    /// When the bytes are no recording, in a sentence.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Playback, JsError> {
        Ok(Self {
            film: Film::from_bytes(bytes).map_err(|e| JsError::new(&e.to_string()))?,
            frame: 0,
            shown: BTreeSet::new(),
            seen: 0,
            gone: Vec::new(),
        })
    }

    /// Name, camera box, step and length as JSON.
    #[must_use]
    pub fn info(&self) -> String {
        let (low, high) = self.film.view;
        serde_json::json!({
            "name": self.film.name,
            "low": low.to_array(),
            "high": high.to_array(),
            "step": self.film.step,
            "length": self.film.steps(),
        })
        .to_string()
    }

    /// All of it as animated binary glTF.
    ///
    /// # Errors
    /// When nothing in it moves as a whole: soft bodies.
    pub fn glb(&self) -> Result<Vec<u8>, JsError> {
        take_home::film_glb(&self.film).map_err(|e| JsError::new(&e.to_string()))
    }

    /// How many steps it has.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.film.steps()
    }

    /// The step after which it stands.
    #[must_use]
    pub fn at(&self) -> u32 {
        self.frame
    }

    /// Goes to after a step.
    pub fn seek(&mut self, step: u32) {
        self.frame = step.min(self.film.steps());
    }

    /// Looks who is there; returns the numbers of those that came, or look different.
    pub fn look(&mut self) -> Vec<u32> {
        let there = self.film.at(self.frame);
        let now: BTreeSet<u32> = there.map(|b| b.0 as u32 + 1).collect();
        let elsewhere = std::mem::replace(&mut self.seen, self.frame) != self.frame;
        let deforms = |number: &u32| match &self.film.bodies[*number as usize - 1].shape {
            FilmShape::Soft(soft) => soft.frames.len() > 1,
            _ => false,
        };
        let born = now
            .iter()
            .copied()
            .filter(|n| !self.shown.contains(n) || (elsewhere && deforms(n)))
            .collect();
        self.gone = self.shown.difference(&now).copied().collect();
        self.shown = now;
        born
    }

    /// The numbers of those that went, by the last look.
    #[must_use]
    pub fn gone(&self) -> Vec<u32> {
        self.gone.clone()
    }

    /// Number and pose of all bodies, eight numbers each.
    #[must_use]
    pub fn poses(&self) -> Vec<f32> {
        let there = self.film.at(self.frame);
        there
            .flat_map(|(i, _, pose)| std::iter::once(i as f32 + 1.0).chain(pose.iter().copied()))
            .collect()
    }

    /// What a body is, as JSON; `null` where there is none.
    #[must_use]
    pub fn describe(&self, number: u32) -> String {
        let body = self.film.bodies.get((number as usize).wrapping_sub(1));
        let told = match body.map(|b| &b.shape) {
            None => serde_json::Value::Null,
            Some(FilmShape::Ball(radius)) => {
                serde_json::json!({ "kind": "ball", "radius": radius })
            }
            Some(FilmShape::Block(half)) => {
                serde_json::json!({ "kind": "box", "half": half.to_array() })
            }
            Some(FilmShape::Piece(piece)) => serde_json::json!({
                "kind": "piece",
                "object": piece.object,
                "fragment": piece.fragment,
                "colour": piece.colour,
                "levels": piece.spheres.iter().map(|s| s.2).max(),
            }),
            Some(FilmShape::Soft(soft)) => soft::describe(soft.object, soft.colour),
        };
        told.to_string()
    }

    /// The triangles of a piece.
    #[must_use]
    pub fn geometry(&self, number: u32) -> Geometry {
        let body = self.film.bodies.get((number as usize).wrapping_sub(1));
        if let Some(FilmShape::Soft(soft)) = body.map(|b| &b.shape) {
            let now = soft.at(self.frame);
            return now.map_or_else(Geometry::default, |(p, t)| soft::shade(p, t));
        }
        self.piece(number).map_or_else(Geometry::default, |p| {
            let outer = p.outer_triangles as usize;
            if p.normals.is_empty() {
                Geometry::shade(&p.positions, &p.triangles, outer)
            } else {
                Geometry::with_normals(&p.positions, &p.normals, &p.triangles, outer)
            }
        })
    }

    /// The numbers of the step, see [`fracas_scenes::film::numbers`].
    #[must_use]
    pub fn stats(&self) -> Vec<f64> {
        self.film.numbers[self.frame as usize].to_vec()
    }

    /// See [`fracas_scenes::film::contacts`].
    #[must_use]
    pub fn contacts(&self) -> Vec<f32> {
        self.film.contacts[self.frame as usize].clone()
    }

    /// See [`look::spheres`].
    #[must_use]
    pub fn spheres(&self, number: u32, level: u8) -> Vec<f32> {
        self.piece(number).map_or_else(Vec::new, |p| {
            look::spheres(p.spheres.iter().copied(), level)
        })
    }

    /// See [`look::tets`].
    #[must_use]
    pub fn tets(&self, number: u32) -> Vec<f32> {
        let Some(piece) = self.piece(number) else {
            return Vec::new();
        };
        let nodes = self.film.meshes.get(piece.mesh as usize);
        nodes.map_or_else(Vec::new, |nodes| look::tets(nodes, &piece.tets))
    }

    /// See [`look::voxels`].
    #[must_use]
    pub fn voxels(&self, number: u32, level: u8) -> Vec<f32> {
        self.piece(number).map_or_else(Vec::new, |p| {
            look::voxels(&p.positions, &p.triangles, level.into())
        })
    }
}

impl Playback {
    fn piece(&self, number: u32) -> Option<&FilmPiece> {
        match &self
            .film
            .bodies
            .get((number as usize).checked_sub(1)?)?
            .shape
        {
            FilmShape::Piece(piece) => Some(piece),
            _ => None,
        }
    }
}
