//! The fracas world as wasm, for the page in `apps/web`.
//!
//! | what | module |
//! | --- | --- |
//! | what the page's worker calls | [`simulation`] |
//! | a scene, or the user's own mesh | [`stage`], [`own`] |
//! | three small games and their rules | [`challenges`] |
//! | the pieces, or all that happened, as a file | [`take_home`] |
//! | what can be heard of a step | [`impacts`] |
//! | which bodies there are, and which are new | [`actors`] |
//! | a recording, played back | [`playback`] |
//! | a soft scene | [`soft`] |
//! | triangles with normals | [`geometry`] |
//! | contacts, trees, fields, tetrahedra to be shown | [`look`] |
//! | material and strength while it runs | [`tuning`] |
//! | patterns and cuts | [`by_hand`] |
//!
//! Numbers cross to JavaScript as flat arrays, names and errors as text. Everything
//! runs on one thread, the worker's.

pub mod actors;
pub mod by_hand;
pub mod challenges;
pub mod geometry;
pub mod impacts;
pub mod look;
pub mod own;
pub mod own_look;
pub mod playback;
pub mod simulation;
pub mod soft;
pub mod stage;
pub mod take_home;
pub mod tuning;

use wasm_bindgen::prelude::wasm_bindgen;

/// All scenes as JSON: `[{ "name", "about", "game" }]`.
#[wasm_bindgen]
#[must_use]
pub fn scenes() -> String {
    let rigid = fracas_scenes::rigid::SCENES.iter();
    let soft = fracas_scenes::soft::SoftScene::ALL.iter();
    let list: Vec<_> = [stage::YOURS]
        .into_iter()
        .chain(rigid.map(|s| (s.name, s.about)))
        .chain(soft.map(|s| (s.name, s.about)))
        .map(|(name, about)| (name, stage::about_small(name).unwrap_or(about)))
        .map(|scene| (scene, false))
        .chain(challenges::CHALLENGES.map(|game| (game, true)))
        .map(|((name, about), game)| serde_json::json!({ "name": name, "about": about, "game": game }))
        .collect();
    serde_json::Value::from(list).to_string()
}

/// The names of all patterns that a piece can be broken by, as JSON.
#[wasm_bindgen]
#[must_use]
pub fn patterns() -> String {
    serde_json::json!(by_hand::PATTERNS.map(|(name, _)| name)).to_string()
}

/// The names of all materials as JSON.
#[wasm_bindgen]
#[must_use]
pub fn materials() -> String {
    let names: Vec<&str> = fracas_fracture::Material::names().collect();
    serde_json::json!(names).to_string()
}
