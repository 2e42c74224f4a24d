//! A user's own scene, from TOML text: `fracas run my-scene.toml`.
//!
//! ```toml
//! duration = 3.0                # seconds
//! step = 0.01                   # seconds
//! floor = { height = 0.0, friction = 0.6 }
//!
//! [material.biscuit]            # beside the named ones
//! like = "plaster"
//! strength = 1.0e6
//!
//! [[body]]
//! mesh = "rabbit"               # a shape of the set, or a file beside this one
//! material = "biscuit"
//! position = [0.0, 1.0, 0.0]    # metres
//! rotation = [0.0, 45.0, 0.0]   # degrees about x, then y, then z
//! velocity = [0.0, -3.0, 0.0]   # metres per second
//! contacts = "voxel-tree"       # for this body only
//!
//! [[ball]]
//! radius = 0.05
//! position = [0.0, 2.0, 0.0]
//! ```
//!
//! Every mistake is told with its line and key. Reading files is the caller's: the
//! text comes as text, and meshes come from a function.

use std::ops::Range;

use fracas_bake::model::Model;
use fracas_bake::shapes;
use fracas_core::TetMesh;
use fracas_fracture::{FractureSettings, Material, RefractureRule};
use fracas_rapier::{Breakable, FrameBudget, VoxelSettings};
use glam::{Quat, Vec3};
use parry3d::math::Pose;
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use super::template::{ONCE, scaled};
use super::{
    Progress, Scene, SceneError, SceneOptions, Template, TemplateOptions, contacts_by_name, within,
};

/// Most bodies of a file, so that a slip of the finger does not fill the memory.
const MOST_BODIES: usize = 10_000;

/// Why a text is no scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UserSceneError {
    /// It is not TOML, or a key is unknown or of the wrong kind.
    #[error("{file}: {message}")]
    Syntax {
        /// The file's name.
        file: String,
        /// Where and what, with the line shown.
        message: String,
    },
    /// A value makes no sense.
    #[error("{file}, line {line}: `{key}`: {why}")]
    Value {
        /// The file's name.
        file: String,
        /// Which line.
        line: usize,
        /// Which key.
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// Everything is well said, but a body cannot be made.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// A mesh that is not of the set.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its tetrahedra.
    pub mesh: TetMesh,
    /// What it looks like, where it has more than them.
    pub model: Option<Model>,
}

impl From<TetMesh> for Loaded {
    fn from(mesh: TetMesh) -> Self {
        Self { mesh, model: None }
    }
}

/// Gets a mesh that is not of the set: its name as written, and about how many tetrahedra
/// are wanted.
pub type Loader<'a> = &'a mut dyn FnMut(&str, Option<usize>) -> Result<Loaded, String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    seed: Option<u64>,
    step: Option<Spanned<f32>>,
    duration: Option<Spanned<f32>>,
    gravity: Option<Spanned<[f32; 3]>>,
    contacts: Option<Spanned<String>>,
    /// Milliseconds for contacts in a step.
    budget_ms: Option<Spanned<f32>>,
    /// Milliseconds of work for a whole step.
    step_budget_ms: Option<Spanned<f32>>,
    /// The size of the smallest thing that matters (m).
    length_unit: Option<Spanned<f32>>,
    /// Whether a step in which something breaks is made again with the pieces.
    gives_way: Option<bool>,
    floor: Option<Floor>,
    #[serde(default)]
    material: std::collections::BTreeMap<String, Spanned<OwnMaterial>>,
    #[serde(default)]
    body: Vec<Spanned<Body>>,
    #[serde(default)]
    ball: Vec<Spanned<Ball>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Floor {
    #[serde(default)]
    height: f32,
    friction: Option<Spanned<f32>>,
}

/// Numbers that differ from a named material's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnMaterial {
    like: Option<Spanned<String>>,
    young: Option<f64>,
    poisson: Option<f64>,
    density: Option<f64>,
    strength: Option<f64>,
    toughness: Option<f64>,
    weibull_modulus: Option<f64>,
    fatigue_exponent: Option<f64>,
    crushing: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    mesh: Spanned<String>,
    material: Option<Spanned<String>>,
    tets: Option<Spanned<usize>>,
    scale: Option<Spanned<f32>>,
    position: Option<Spanned<[f32; 3]>>,
    rotation: Option<Spanned<[f32; 3]>>,
    velocity: Option<Spanned<[f32; 3]>>,
    spin: Option<Spanned<[f32; 3]>>,
    #[serde(default)]
    fixed: bool,
    breakable: Option<bool>,
    /// Whether its pieces break again.
    #[serde(default)]
    again: bool,
    max_fragments: Option<Spanned<usize>>,
    friction: Option<Spanned<f32>>,
    restitution: Option<Spanned<f32>>,
    colour: Option<[u8; 3]>,
    /// `voxel-tree`: for pairs with this body, where the scene has sphere trees.
    contacts: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ball {
    radius: Spanned<f32>,
    position: Option<Spanned<[f32; 3]>>,
    velocity: Option<Spanned<[f32; 3]>>,
    /// Seconds after which it comes.
    after: Option<Spanned<f32>>,
}

/// A scene that was read and makes sense so far; its bodies are not made yet.
#[derive(Debug)]
pub struct UserScene {
    file: File,
    text: String,
    name: String,
}

impl UserScene {
    /// Reads a scene; `name` is the file's, for messages.
    ///
    /// # Errors
    /// See [`UserSceneError`].
    pub fn parse(text: &str, name: &str) -> Result<Self, UserSceneError> {
        let file: File = toml::from_str(text).map_err(|e| UserSceneError::Syntax {
            file: name.into(),
            message: e.to_string().trim_end().into(),
        })?;
        let scene = Self {
            file,
            text: text.into(),
            name: name.into(),
        };
        if let Some(contacts) = &scene.file.contacts {
            contacts_by_name(contacts.get_ref())
                .map_err(|why| scene.wrong(contacts.span(), "contacts", why))?;
        }
        scene.check()?;
        Ok(scene)
    }

    /// The contact method that the file asks for, by name.
    #[must_use]
    pub fn contacts(&self) -> Option<&str> {
        self.file.contacts.as_ref().map(|c| c.get_ref().as_str())
    }

    /// Milliseconds for contacts in a step that the file asks for.
    #[must_use]
    pub fn budget_ms(&self) -> Option<f32> {
        self.file.budget_ms.as_ref().map(|b| *b.get_ref())
    }

    /// Milliseconds of work for a whole step that the file asks for.
    #[must_use]
    pub fn step_budget_ms(&self) -> Option<f32> {
        self.file.step_budget_ms.as_ref().map(|b| *b.get_ref())
    }

    /// Whether some bodies have voxel contacts of their own.
    #[must_use]
    pub fn has_voxel_bodies(&self) -> bool {
        let mut bodies = self.file.body.iter();
        bodies.any(|body| body.get_ref().contacts.is_some())
    }

    /// The seed that the file asks for.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.file.seed
    }

    fn wrong(&self, at: Range<usize>, key: &str, why: impl Into<String>) -> UserSceneError {
        let before = self.text.as_bytes().iter().take(at.start);
        UserSceneError::Value {
            file: self.name.clone(),
            line: 1 + before.filter(|b| **b == b'\n').count(),
            key: key.into(),
            why: why.into(),
        }
    }

    fn in_range(
        &self,
        value: Option<&Spanned<f32>>,
        key: &str,
        range: Range<f32>,
    ) -> Result<(), UserSceneError> {
        let Some(value) = value else {
            return Ok(());
        };
        let number = *value.get_ref();
        if range.contains(&number) {
            return Ok(());
        }
        let why = format!(
            "must be at least {} and below {}, not {number}",
            range.start, range.end
        );
        Err(self.wrong(value.span(), key, why))
    }

    fn vector(
        &self,
        value: Option<&Spanned<[f32; 3]>>,
        key: &str,
        most: f32,
    ) -> Result<Vec3, UserSceneError> {
        let Some(value) = value else {
            return Ok(Vec3::ZERO);
        };
        let vector = Vec3::from_array(*value.get_ref());
        if vector.is_finite() && vector.abs().max_element() <= most {
            return Ok(vector);
        }
        let why = format!("must be three numbers between -{most} and {most}");
        Err(self.wrong(value.span(), key, why))
    }

    /// All that can be checked without making anything.
    fn check(&self) -> Result<(), UserSceneError> {
        let file = &self.file;
        self.in_range(file.step.as_ref(), "step", 1e-5..0.2)?;
        self.in_range(file.duration.as_ref(), "duration", 0.0..3600.0)?;
        self.in_range(file.length_unit.as_ref(), "length_unit", 1e-4..100.0)?;
        self.in_range(file.budget_ms.as_ref(), "budget_ms", 1e-3..1e3)?;
        self.in_range(file.step_budget_ms.as_ref(), "step_budget_ms", 1e-3..1e3)?;
        if let Some(budget) = &file.budget_ms
            && !self.has_voxel_bodies()
            && !self.contacts().is_some_and(can_stop_early)
        {
            let why = "needs contacts = \"voxel-tree\" or \"budgeted\", here or for a body";
            return Err(self.wrong(budget.span(), "budget_ms", why));
        }
        self.vector(file.gravity.as_ref(), "gravity", 1e3)?;
        if let Some(floor) = &file.floor {
            self.in_range(floor.friction.as_ref(), "floor.friction", 0.0..10.0)?;
        }
        for (name, own) in &file.material {
            self.own_material(name, own)?;
        }
        if file.body.len() + file.ball.len() > MOST_BODIES {
            let last = file.body.last().map_or(0..0, Spanned::span);
            let why = format!("at most {MOST_BODIES} bodies");
            return Err(self.wrong(last, "body", why));
        }
        if file.body.is_empty() {
            let why = "there is none: a scene needs at least one [[body]]";
            return Err(self.wrong(0..0, "body", why));
        }
        for body in file.body.iter().map(Spanned::get_ref) {
            self.material_of(body)?;
            self.placed(body)?;
            self.in_range(body.scale.as_ref(), "scale", 1e-3..1e3)?;
            self.in_range(body.friction.as_ref(), "friction", 0.0..10.0)?;
            self.in_range(body.restitution.as_ref(), "restitution", 0.0..1.0)?;
            if let Some(contacts) = body.contacts.as_ref()
                && contacts.get_ref() != "voxel-tree"
            {
                let why = "one body can have voxel-tree, or else the scene's own method";
                return Err(self.wrong(contacts.span(), "contacts", why));
            }
            let scene = self.contacts().unwrap_or("adaptive");
            if let Some(contacts) = body.contacts.as_ref()
                && (scene == "budgeted" || scene.starts_with("parry-"))
            {
                let why = format!("cannot be chosen for one body where the scene has {scene}");
                return Err(self.wrong(contacts.span(), "contacts", why));
            }
            if let Some(most) = body.max_fragments.as_ref().filter(|m| *m.get_ref() < 2) {
                return Err(self.wrong(most.span(), "max_fragments", "must be at least 2"));
            }
            if let Some(tets) = body.tets.as_ref()
                && !(10..=2_000_000).contains(tets.get_ref())
            {
                let why = "must be between 10 and 2,000,000";
                return Err(self.wrong(tets.span(), "tets", why));
            }
        }
        for ball in file.ball.iter().map(Spanned::get_ref) {
            self.in_range(Some(&ball.radius), "radius", 1e-4..100.0)?;
            self.vector(ball.position.as_ref(), "position", 1e4)?;
            self.vector(ball.velocity.as_ref(), "velocity", 1e3)?;
            self.in_range(ball.after.as_ref(), "after", 0.0..3600.0)?;
        }
        Ok(())
    }

    fn own_material(
        &self,
        name: &str,
        own: &Spanned<OwnMaterial>,
    ) -> Result<Material, UserSceneError> {
        let key = format!("material.{name}");
        let numbers = own.get_ref();
        let base = match &numbers.like {
            None => Material::CONCRETE,
            Some(like) => Material::by_name(like.get_ref())
                .map_err(|e| self.wrong(like.span(), "like", e.to_string()))?,
        };
        let material = Material {
            young: numbers.young.unwrap_or(base.young),
            poisson: numbers.poisson.unwrap_or(base.poisson),
            density: numbers.density.unwrap_or(base.density),
            strength: numbers.strength.unwrap_or(base.strength),
            toughness: numbers.toughness.unwrap_or(base.toughness),
            weibull_modulus: numbers.weibull_modulus.unwrap_or(base.weibull_modulus),
            fatigue_exponent: numbers.fatigue_exponent.unwrap_or(base.fatigue_exponent),
            crushing: numbers.crushing.unwrap_or(base.crushing),
            ..base
        };
        material
            .validate()
            .map_err(|e| self.wrong(own.span(), &key, e.to_string()))?;
        Ok(material)
    }

    fn material_of(&self, body: &Body) -> Result<Material, UserSceneError> {
        let Some(name) = &body.material else {
            return Ok(Material::CONCRETE);
        };
        if let Some(own) = self.file.material.get(name.get_ref()) {
            return self.own_material(name.get_ref(), own);
        }
        Material::by_name(name.get_ref())
            .map_err(|e| self.wrong(name.span(), "material", e.to_string()))
    }

    fn placed(&self, body: &Body) -> Result<(Pose, Vec3, Vec3), UserSceneError> {
        let position = self.vector(body.position.as_ref(), "position", 1e4)?;
        let angles = self.vector(body.rotation.as_ref(), "rotation", 3600.0)?;
        let velocity = self.vector(body.velocity.as_ref(), "velocity", 1e3)?;
        let spin = self.vector(body.spin.as_ref(), "spin", 1e3)?;
        let about = |axis: Vec3, degrees: f32| {
            Quat::from_scaled_axis(axis * (degrees * std::f32::consts::PI / 180.0))
        };
        let turn = about(Vec3::Z, angles.z) * about(Vec3::Y, angles.y) * about(Vec3::X, angles.x);
        Ok((Pose::from_parts(position, turn), velocity, spin))
    }

    /// Makes the bodies. `options` come before what the file says where they are the
    /// caller's to choose: seed and contacts.
    ///
    /// # Errors
    /// See [`UserSceneError`].
    pub fn build(
        &self,
        options: &SceneOptions,
        load: Loader<'_>,
        progress: Progress<'_>,
    ) -> Result<Scene, UserSceneError> {
        let file = &self.file;
        let number = |value: &Option<Spanned<f32>>, otherwise: f32| {
            value.as_ref().map_or(otherwise, |v| *v.get_ref())
        };
        let step = number(&file.step, 1.0 / 60.0);
        let mut settings = options.world(step, number(&file.length_unit, 0.05));
        settings.world.gives_way = file.gives_way.unwrap_or(settings.world.gives_way);
        if let Some(gravity) = &file.gravity {
            settings.world.gravity = Vec3::from_array(*gravity.get_ref());
        }
        let steps = options.steps(number(&file.duration, 4.0), step);
        let name = file.name.as_deref().unwrap_or("user scene");
        let mut made: Vec<(String, Template)> = Vec::new();
        let mut bodies = Vec::new();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for (i, body) in file.body.iter().map(Spanned::get_ref).enumerate() {
            let template = self.template(body, options, load, &mut made, progress)?;
            let (pose, velocity, spin) = self.placed(body)?;
            let reach = template.bounds();
            let half = 0.5 * (reach.1 - reach.0).length();
            let centre = pose * (0.5 * (reach.0 + reach.1));
            (low, high) = (low.min(centre - half), high.max(centre + half));
            let options = if body.fixed {
                template.fixed(pose)
            } else {
                template.body(pose, i as u64)
            };
            let made = Breakable {
                velocity,
                spin,
                friction: number(&body.friction, options.friction),
                restitution: number(&body.restitution, options.restitution),
                ..options
            };
            let colour = body.colour.unwrap_or(template.colour());
            bodies.push((made, colour, body.contacts.is_some()));
        }
        let floor = file.floor.as_ref().map(|f| f.height);
        if let Some(height) = floor {
            low.y = height;
        }
        let mut scene = Scene::new(name, settings, steps, (low, high));
        if let Some(floor) = &file.floor {
            scene.floor(floor.height, number(&floor.friction, 0.6));
        }
        for (_, template) in &made {
            scene.wear(template);
        }
        for (body, colour, voxels) in bodies {
            let object = scene.add(body, colour);
            if voxels {
                let settings = VoxelSettings::within(options.body_budget);
                scene.world_mut().set_voxel_contacts(object, Some(settings));
            }
        }
        for ball in file.ball.iter().map(Spanned::get_ref) {
            let at = self.vector(ball.position.as_ref(), "position", 1e4)?;
            let velocity = self.vector(ball.velocity.as_ref(), "velocity", 1e3)?;
            let radius = *ball.radius.get_ref();
            let when = options.steps(number(&ball.after, 0.0), step);
            scene.at(when, move |scene| scene.add_ball(radius, at, velocity));
        }
        Ok(scene)
    }

    /// The kind of a body, made once for all bodies that are alike.
    fn template(
        &self,
        body: &Body,
        options: &SceneOptions,
        load: Loader<'_>,
        made: &mut Vec<(String, Template)>,
        progress: Progress<'_>,
    ) -> Result<Template, UserSceneError> {
        let material = self.material_of(body)?;
        let breakable = body.breakable.unwrap_or(!body.fixed);
        let most = body.max_fragments.as_ref().map_or(24, |m| *m.get_ref());
        let scale = body.scale.as_ref().map_or(1.0, |s| *s.get_ref());
        let tets = body.tets.as_ref().map(|t| *t.get_ref());
        let again = body.again;
        let mesh_name = body.mesh.get_ref();
        let key = format!("{mesh_name} {material:?} {breakable} {again} {most} {scale} {tets:?}");
        if let Some((_, template)) = made.iter().find(|(k, _)| *k == key) {
            return Ok(template.clone());
        }
        progress("tetrahedra");
        let shape = shapes::by_name(mesh_name);
        let Loaded { mesh, model } = match (shape, tets) {
            (Some(shape), None) => shape.build().into(),
            (Some(shape), Some(tets)) => shape.build_with_tets(tets).into(),
            (None, _) => {
                load(mesh_name, tets).map_err(|why| self.wrong(body.mesh.span(), "mesh", why))?
            }
        };
        let kinds = TemplateOptions {
            material,
            fracture: breakable.then(|| FractureSettings {
                max_fragments: most,
                max_cracks: 2 * most,
                seed: options.seed,
                ..FractureSettings::default()
            }),
            rule: if again {
                RefractureRule::default()
            } else {
                ONCE
            },
            modes_later: false,
        };
        let colour = shape.map_or([178, 172, 160], |s| s.colour());
        let template = Template::of_mesh(mesh_name, scaled(mesh, scale), colour, kinds, progress)
            .map_err(|e| self.wrong(body.mesh.span(), "mesh", e.to_string()))?;
        let template = match (shape, model) {
            (Some(shape), _) => template.looks_like(shape, scale),
            (None, Some(model)) => template.looks_like_model(model, scale),
            (None, None) => template,
        };
        made.push((key, template.clone()));
        Ok(template)
    }
}

/// Whether a contact method can have a budget.
fn can_stop_early(method: &str) -> bool {
    contacts_by_name(method).is_ok_and(|mode| within(mode, FrameBudget::Unlimited).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        UserScene::parse(text, "t.toml").unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_line_and_key() {
        let body = "[[body]]\nmesh = \"brick\"\n";
        for (text, parts) in [
            ("duration = 3.0\nstep = \n", vec!["t.toml", "line 2"]),
            ("durration = 3.0\n", vec!["line 1", "durration"]),
            ("step = 0.01\n", vec!["`body`", "at least one"]),
            (&format!("step = -1.0\n{body}"), vec!["line 1", "`step`"]),
            (
                &format!("{body}material = \"chese\"\n"),
                vec!["line 3", "`material`", "chese", "porcelain"],
            ),
            (
                &format!("{body}position = [0, 1]\n"),
                vec!["line 3", "position"],
            ),
            (
                &format!("{body}position = [0, 1, nan]\n"),
                vec!["line 3", "`position`"],
            ),
            (
                &format!("contacts = \"magic\"\n{body}"),
                vec!["line 1", "`contacts`", "adaptive"],
            ),
            (
                &format!("{body}[material.soft]\nstrength = -1.0\n"),
                vec!["material.soft", "strength"],
            ),
            (
                &format!("{body}[[ball]]\nradius = 0.0\n"),
                vec!["line 4", "`radius`"],
            ),
            (
                &format!("{body}\nmax_fragments = 1\n"),
                vec!["line 4", "`max_fragments`"],
            ),
            (
                &format!("{body}contacts = \"full\"\n"),
                vec!["line 3", "`contacts`", "voxel-tree"],
            ),
            (
                &format!("budget_ms = 2.0\n{body}"),
                vec!["line 1", "`budget_ms`", "voxel-tree"],
            ),
            (
                &format!("step_budget_ms = 0.0\n{body}"),
                vec!["line 1", "`step_budget_ms`"],
            ),
            (
                &format!("budget_ms = 0.0\ncontacts = \"budgeted\"\n{body}"),
                vec!["line 1", "`budget_ms`"],
            ),
        ] {
            let error = error(text);
            for part in parts {
                assert!(error.contains(part), "{text:?}: {error}");
            }
        }
    }

    #[test]
    fn the_example_is_a_scene() {
        let text = include_str!("../../../../examples/china-shop.toml");
        let user = UserScene::parse(text, "china-shop.toml").unwrap();
        assert_eq!(user.seed(), Some(3));
        assert_eq!(user.file.body.len(), 4);
    }

    #[test]
    fn one_body_of_a_scene_can_have_voxel_contacts() {
        let brick = "[[body]]\nmesh = \"brick\"\nbreakable = false\n";
        let text = format!(
            "step = 0.01\nbudget_ms = 2.0\nstep_budget_ms = 4.0\nfloor = {{ height = 0.0 }}\n\
             {brick}position = [0.0, 0.2, 0.0]\n\
             {brick}position = [1.0, 0.2, 0.0]\ncontacts = \"voxel-tree\"\n"
        );
        let user = UserScene::parse(&text, "t.toml").unwrap();
        assert!(user.has_voxel_bodies() && user.budget_ms() == Some(2.0));
        assert_eq!(user.step_budget_ms(), Some(4.0));
        let options = SceneOptions {
            body_budget: FrameBudget::Work(10_000),
            ..SceneOptions::default()
        };
        let mut none = |_: &str, _: Option<usize>| Err("none".to_string());
        let mut scene = user.build(&options, &mut none, &mut |_| ()).unwrap();
        let mut asked = 0;
        for _ in 0..80 {
            scene.step();
            asked += scene.world().stats().visited_points;
        }
        let stats = scene.world().stats();
        assert_eq!(stats.voxel.pairs, 1, "one body and the floor");
        assert!(asked > 0, "the other is asked by its points");
        for piece in scene.world().pieces() {
            let body = scene.world().body(piece).unwrap();
            assert!(body.linvel().length() < 0.1 && body.center_of_mass().y > 0.0);
        }
    }

    #[test]
    fn a_file_becomes_a_scene_and_missing_meshes_are_told() {
        let text = "seed = 7\nduration = 1.0\nstep = 0.01\ncontacts = \"fixed:8\"\n\
            floor = { height = 0.5 }\n[[body]]\nmesh = \"brick\"\nmaterial = \"brick\"\n\
            position = [0.0, 2.0, 0.0]\n[[body]]\nmesh = \"box.obj\"\nfixed = true\n\
            [[ball]]\nradius = 0.05\nafter = 0.5\n";
        let user = UserScene::parse(text, "t.toml").unwrap();
        assert_eq!(user.seed(), Some(7));
        assert_eq!(user.contacts(), Some("fixed:8"));
        let options = SceneOptions::default();
        let mut none = |name: &str, _: Option<usize>| Err(format!("there is no {name}"));
        let error = user.build(&options, &mut none, &mut |_| ()).err().unwrap();
        let error = error.to_string();
        assert!(
            error.contains("line 11") && error.contains("box.obj"),
            "{error}"
        );
        let mut cube = |_: &str, _: Option<usize>| {
            let mesh = fracas_core::testing::box_grid([2, 2, 2], Vec3::splat(0.2));
            Ok(Loaded::from(mesh))
        };
        let mut scene = user.build(&options, &mut cube, &mut |_| ()).unwrap();
        assert_eq!(scene.steps(), 100);
        for _ in 0..60 {
            scene.step();
        }
        // The brick may have broken.
        let mut objects: Vec<u32> = scene.world().pieces().map(|p| p.object.0).collect();
        objects.dedup();
        assert_eq!(objects, [0, 1]);
        assert_eq!(scene.props().len(), 1);
    }
}
