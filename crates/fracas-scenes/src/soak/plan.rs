//! What happens in a random scene, drawn from a seed; and the same as a TOML scene.

use std::fmt::Write as _;

use fracas_fracture::random::Random;
use glam::Vec3;

/// Everything about a scene and what is done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Of all chance inside the scene.
    pub seed: u64,
    /// The contact method's name, as in a TOML scene.
    pub contacts: &'static str,
    /// As a game runs (sleeping, contacts kept), or as the papers measured.
    pub game: bool,
    /// What is there at the start.
    pub bodies: Vec<BodyPlan>,
    /// What is done before which step, in order.
    pub edits: Vec<(u64, Edit)>,
    /// How long.
    pub steps: u64,
}

/// A body of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyPlan {
    /// Which kind, by its place in [`KINDS`].
    pub kind: usize,
    /// Metres.
    pub position: Vec3,
    /// Degrees about x, then y, then z.
    pub rotation: Vec3,
    /// In m/s.
    pub velocity: Vec3,
    /// In rad/s.
    pub spin: Vec3,
    /// Never moves.
    pub fixed: bool,
    /// Voxel contacts for this body.
    pub voxels: bool,
}

/// A kind of body: shape, tetrahedra, material, most fragments of a break, whether
/// pieces break again.
pub type Kind = (&'static str, usize, &'static str, usize, bool);

/// The wardrobe: brittle and tough, coarse so that scenes are quick.
pub const KINDS: [Kind; 7] = [
    ("brick", 600, "brick", 6, true),
    ("brick", 600, "ice", 12, true),
    ("plate", 900, "porcelain", 12, true),
    ("bowl", 900, "glass", 16, false),
    ("ball", 900, "plaster", 10, true),
    ("shelf", 500, "granite", 4, false),
    ("piggy-bank", 2_000, "earthenware", 12, true),
];

/// Something done to a world between two steps. A `pick` names a body by its place
/// among those that live then, from the front, round and round.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A body comes.
    Add(BodyPlan),
    /// A steel ball comes: radius, position, velocity.
    Ball(f32, Vec3, Vec3),
    /// A body breaks into cells.
    Break(u32, u32),
    /// A body is taken away.
    Remove(u32),
    /// A hand takes hold of a body, and lets go of what it held.
    Hold(u32),
    /// The hand moves by this much.
    Move(Vec3),
    /// The hand lets go.
    Release,
    /// A body is pushed.
    Push(u32, Vec3),
    /// A body is pushed beyond all measure.
    Spoil(u32, f32),
    /// An object's contacts are found by voxels from now on, or no longer.
    Voxels(u32, bool),
    /// The world is saved.
    Snapshot,
    /// The world goes back to where it was saved, and plays on from there.
    Restore,
}

const CONTACTS: [&str; 6] = [
    "adaptive",
    "full",
    "fixed:4",
    "fixed:16",
    "voxel-tree",
    "parry-hull",
];

impl Plan {
    /// Draws a scene.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut r = Random::new(seed).fork(24);
        // Mostly what most use.
        let contacts = CONTACTS[[0, 0, 0, 1, 2, 3, 4, 5][r.below(8)]];
        let steps = 60 + r.below(240) as u64;
        let bodies = (0..1 + r.below(7))
            .map(|i| BodyPlan::draw(&mut r, i, contacts))
            .collect();
        let mut edits: Vec<(u64, Edit)> = (0..r.below(24))
            .map(|_| {
                let step = r.below(steps as usize) as u64;
                (step, Edit::draw(&mut r, contacts))
            })
            .collect();
        edits.sort_by_key(|e| e.0);
        Self {
            seed,
            contacts,
            game: r.below(2) == 0,
            bodies,
            edits,
            steps,
        }
    }

    /// The scene as a TOML file; what a file cannot say stands in comments.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "# fracas soak, seed {}, {}\nname = \"soak {}\"\nseed = {}\ncontacts = \"{}\"\nduration = {:.4}\nfloor = {{ height = 0.0, friction = 0.6 }}\n",
            self.seed,
            if self.game {
                "run with --game"
            } else {
                "as measured"
            },
            self.seed,
            self.seed,
            self.contacts,
            self.steps as f32 / 60.0
        );
        for body in &self.bodies {
            text += &body.to_toml();
        }
        for (step, edit) in &self.edits {
            let when = *step as f32 / 60.0;
            // Writing to a string cannot fail.
            let _ = match edit {
                Edit::Ball(radius, position, velocity) => writeln!(
                    text,
                    "\n[[ball]]\nradius = {radius}\nposition = {}\nvelocity = {}\nafter = {when:.4}",
                    list(*position),
                    list(*velocity)
                ),
                other => writeln!(text, "# before step {step}: {other:?}"),
            };
        }
        text
    }
}

fn list(v: Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

impl BodyPlan {
    fn draw(r: &mut Random, place: usize, contacts: &str) -> Self {
        let kind = r.below(KINDS.len());
        let column = |r: &mut Random| r.range(-0.25, 0.25);
        let position = Vec3::new(column(r), 0.25 + 0.3 * place as f32, column(r));
        let fast = r.below(3) == 0;
        let velocity = if fast { 12.0 } else { 1.0 } * r.direction();
        Self {
            kind,
            position,
            rotation: Vec3::new(r.range(-180.0, 180.0), r.range(-180.0, 180.0), 0.0),
            velocity,
            spin: r.range(0.0, 8.0) * r.direction(),
            fixed: r.below(12) == 0,
            voxels: r.below(6) == 0 && can_mix(contacts),
        }
    }

    fn to_toml(&self) -> String {
        let (mesh, tets, material, most, again) = KINDS[self.kind];
        let mut text = format!(
            "\n[[body]]\nmesh = \"{mesh}\"\ntets = {tets}\nmaterial = \"{material}\"\nmax_fragments = {most}\nagain = {again}\nposition = {}\nrotation = {}\nvelocity = {}\nspin = {}\n",
            list(self.position),
            list(self.rotation),
            list(self.velocity),
            list(self.spin)
        );
        if self.fixed {
            text += "fixed = true\n";
        }
        if self.voxels {
            text += "contacts = \"voxel-tree\"\n";
        }
        text
    }
}

/// Whether single objects may have voxel contacts.
fn can_mix(contacts: &str) -> bool {
    contacts == "adaptive" || contacts == "full" || contacts.starts_with("fixed")
}

impl Edit {
    fn draw(r: &mut Random, contacts: &str) -> Self {
        let pick = |r: &mut Random| r.below(1_000) as u32;
        match r.below(22) {
            0..=2 => {
                let height = r.below(5);
                Self::Add(BodyPlan::draw(r, 2 + height, contacts))
            }
            3..=5 => {
                let at = Vec3::new(r.range(-0.2, 0.2), r.range(0.5, 2.0), r.range(-0.2, 0.2));
                let velocity = Vec3::new(r.range(-2.0, 2.0), r.range(-15.0, 0.0), 0.0);
                Self::Ball(r.range(0.02, 0.08), at, velocity)
            }
            6..=9 => Self::Break(pick(r), 2 + r.below(10) as u32),
            10..=11 => Self::Remove(pick(r)),
            12 => Self::Hold(pick(r)),
            13..=14 => Self::Move(r.range(0.0, 0.3) * r.direction()),
            15 => Self::Release,
            16..=17 => Self::Push(pick(r), r.range(0.0, 3.0) * r.direction()),
            18 if r.below(4) == 0 => {
                let most = [1e30, f32::INFINITY, f32::NAN, -1e25];
                Self::Spoil(pick(r), most[r.below(4)])
            }
            18 if can_mix(contacts) => Self::Voxels(pick(r), r.below(2) == 0),
            19..=20 => Self::Snapshot,
            _ => Self::Restore,
        }
    }
}
