//! Everyday drops: do default materials break as people know them?
//!
//! Things of every household, each with a height that nearly everybody would say it
//! survives on a stone floor and one at which it breaks. Nobody has measured these heights;
//! they are far apart (a factor of ten and more), so that few would disagree. No number of
//! the fracture model was chosen by them, but for the section of a crushed corner, see
//! `docs/decisions/0019-everyday-drops.md`.
//!
//! A thing falls without turning and meets the floor with its lowest point.

use std::sync::Arc;

use fracas_bake::shapes;
use fracas_core::testing::box_grid;
use fracas_core::{FragmentId, Fragments, TetMesh};
use fracas_fracture::{
    Decision, FractureEvent, FractureSettings, Impact, Material, Modes, ModesOptions,
};
use glam::{DMat3, DVec2, DVec3, Vec3};

/// What a thing falls on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// Granite.
    Stone,
    /// Oak boards, across the grain: E/(1 - nu²) = 1.5 GPa.
    Wood,
    /// A carpet on its underlay: 2 MPa.
    Carpet,
}

impl Floor {
    fn modulus(self) -> f64 {
        match self {
            Self::Stone => Material::GRANITE.contact_modulus(),
            Self::Wood => 1.5e9,
            Self::Carpet => 2e6,
        }
    }
}

/// A thing and what everybody knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is.
    pub name: &'static str,
    /// Its material.
    pub material: &'static str,
    /// What it falls on.
    pub floor: Floor,
    /// A height that it survives (m).
    pub survives: f64,
    /// A height that breaks it (m).
    pub breaks: f64,
    make: fn() -> TetMesh,
}

/// Things, floors and heights.
pub const CASES: [Case; 13] = [
    case("mug", "porcelain", Floor::Stone, 0.05, 1.5, || {
        cup(0.041, 0.095, 0.0045)
    }),
    case(
        "mug on a carpet",
        "porcelain",
        Floor::Carpet,
        0.5,
        30.0,
        || cup(0.041, 0.095, 0.0045),
    ),
    case("dinner plate", "porcelain", Floor::Stone, 0.03, 1.2, || {
        of_set("plate", 0.8)
    }),
    case("drinking glass", "glass", Floor::Stone, 0.03, 1.2, || {
        cup(0.036, 0.11, 0.003)
    }),
    case(
        "window pane, 300x300x4 mm",
        "glass",
        Floor::Stone,
        0.03,
        1.5,
        || box_grid([28, 28, 2], Vec3::new(0.3, 0.3, 0.004)),
    ),
    case(
        "tile, 200x200x8 mm",
        "porcelain",
        Floor::Stone,
        0.03,
        1.5,
        || box_grid([20, 20, 2], Vec3::new(0.2, 0.2, 0.008)),
    ),
    case("flower pot", "earthenware", Floor::Stone, 0.05, 1.5, || {
        cup(0.08, 0.15, 0.008)
    }),
    case("piggy bank", "earthenware", Floor::Stone, 0.05, 2.0, || {
        of_set("piggy-bank", 0.7)
    }),
    case("brick", "brick", Floor::Stone, 0.2, 5.0, || {
        of_set("brick", 1.5)
    }),
    case(
        "paving slab, 400x400x40 mm",
        "concrete",
        Floor::Stone,
        0.05,
        2.0,
        || box_grid([20, 20, 3], Vec3::new(0.4, 0.4, 0.04)),
    ),
    case("block of ice, 5 kg", "ice", Floor::Stone, 0.05, 2.0, || {
        box_grid([12, 8, 8], Vec3::new(0.27, 0.14, 0.14))
    }),
    case("plaster figure", "plaster", Floor::Stone, 0.05, 1.5, || {
        of_set("rabbit", 0.7)
    }),
    case("stone figure", "granite", Floor::Stone, 0.1, 5.0, || {
        of_set("rabbit", 0.7)
    }),
];

const fn case(
    name: &'static str,
    material: &'static str,
    floor: Floor,
    survives: f64,
    breaks: f64,
    make: fn() -> TetMesh,
) -> Case {
    Case {
        name,
        material,
        floor,
        survives,
        breaks,
        make,
    }
}

/// Ways in which a thing is dropped.
pub const ORIENTATIONS: usize = 8;

/// Whether most orientations survive the lesser height and most break at the larger one,
/// by how many broke at each.
#[must_use]
pub fn agrees(broken_low: usize, broken_high: usize) -> bool {
    2 * broken_low < ORIENTATIONS && 2 * broken_high > ORIENTATIONS
}

/// The figure of the cases, of any material: to compare materials.
///
/// # Panics
/// Never: it is one of the cases.
#[must_use]
pub fn figure(material: &Material) -> Thing {
    let case = CASES.iter().find(|c| c.name == "stone figure");
    case.expect("one of the cases").thing_of(material)
}

/// Upwards in the frame of the thing: spread evenly over the sphere.
#[must_use]
pub fn up(orientation: usize) -> Vec3 {
    let y = 1.0 - (2 * orientation + 1) as f32 / ORIENTATIONS as f32;
    let angle = 2.399_963_2 * orientation as f32 + 0.3;
    let (sin, cos) = libm::sincosf(angle);
    let across = (1.0 - y * y).sqrt();
    Vec3::new(across * cos, y, across * sin)
}

/// A thing, ready to be dropped many times.
#[derive(Debug)]
pub struct Thing {
    fragments: Fragments,
    modes: Modes,
    floor: Floor,
    centre: DVec3,
    inverse_inertia: DMat3,
    memory: FractureEvent,
}

impl Case {
    /// The thing of its material.
    ///
    /// # Panics
    /// Never: its mesh has modes, and its material a name.
    #[must_use]
    pub fn thing(&self) -> Thing {
        self.thing_of(&Material::by_name(self.material).expect("a known material"))
    }

    /// The thing of another material.
    ///
    /// # Panics
    /// Never: its mesh has modes.
    #[must_use]
    pub fn thing_of(&self, material: &Material) -> Thing {
        let fragments = Fragments::new(Arc::new((self.make)()));
        let options = ModesOptions::default();
        let modes = Modes::compute(&fragments, FragmentId(0), material, &options, &mut |_| ())
            .expect("a sound body has modes");
        let mesh = fragments.mesh();
        let density = material.density;
        let points: Vec<(DVec3, f64)> = (0..mesh.tets().len() as u32)
            .flat_map(|t| {
                let corners = mesh.corners(t).map(|p| p.as_dvec3());
                let [a, b, c, d] = corners;
                let mass = density * (b - a).cross(c - a).dot(d - a).abs() / 24.0;
                corners.map(|p| (p, mass))
            })
            .collect();
        let mass: f64 = points.iter().map(|(_, m)| m).sum();
        let centre = points.iter().map(|&(p, m)| m * p).sum::<DVec3>() / mass;
        let inertia = points.iter().fold(DMat3::ZERO, |sum, &(p, m)| {
            let r = p - centre;
            let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
            sum + m * (r.length_squared() * DMat3::IDENTITY - outer)
        });
        Thing {
            fragments,
            modes,
            floor: self.floor,
            centre,
            inverse_inertia: inertia.inverse(),
            memory: FractureEvent::new(),
        }
    }
}

impl Thing {
    /// Its mass (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.modes.mass()
    }

    /// What becomes of it when it falls from a height (m) and lands the given way up.
    pub fn drop(&mut self, up: Vec3, height: f64, settings: &FractureSettings) -> Decision {
        let positions = self.fragments.mesh().positions().iter().copied();
        let lowest = positions
            .min_by(|a, b| a.dot(up).total_cmp(&b.dot(up)))
            .expect("a mesh has nodes");
        let speed = (2.0 * 9.81 * height).sqrt();
        let arm = (lowest.as_dvec3() - self.centre).cross(up.as_dvec3());
        let inverse = 1.0 / self.mass() + arm.dot(self.inverse_inertia * arm);
        let impact = Impact {
            point: lowest,
            impulse: (1.2 * speed / inverse) as f32 * up,
            speed: speed as f32,
            effective_mass: (1.0 / inverse) as f32,
            radius: 0.0,
            other_modulus: self.floor.modulus(),
        };
        let whole = FragmentId(0);
        let (fragments, modes) = (&self.fragments, &self.modes);
        self.memory.decide(
            (fragments, whole),
            modes,
            &[impact],
            1.0 / 60.0,
            0,
            settings,
        )
    }

    /// In how many orientations it breaks when it falls from a height.
    pub fn broken(&mut self, height: f64) -> usize {
        let settings = FractureSettings::default();
        (0..ORIENTATIONS)
            .filter(|&i| self.drop(up(i), height, &settings).fracture.is_some())
            .count()
    }

    /// The least height that breaks it, for an orientation (m); between 1 mm and 100 m.
    pub fn least_height(&mut self, orientation: usize) -> f64 {
        let settings = FractureSettings::default();
        let (mut low, mut high) = (1e-3_f64, 100.0_f64);
        for _ in 0..12 {
            let middle = (low * high).sqrt();
            if self
                .drop(up(orientation), middle, &settings)
                .fracture
                .is_some()
            {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

fn of_set(name: &str, detail: f64) -> TetMesh {
    let shape = shapes::by_name(name).expect("one of the set");
    shape.build_refined(detail)
}

/// A round vessel with an even wall, open at the top: a web of rings over bottom and wall,
/// each of its triangles two prisms through the wall.
fn cup(radius: f64, height: f64, wall: f64) -> TetMesh {
    const BOTTOM: u32 = 7;
    const AROUND: u32 = 6 * BOTTOM;
    const LAYERS: u32 = 2;
    let side = std::f64::consts::TAU * radius / f64::from(AROUND);
    let rows = (height / side).round() as u32;
    let count = |ring: u32| if ring == 0 { 1 } else { 6 * ring.min(BOTTOM) };
    // The middle of the wall (distance from the axis, height), and which way is inside.
    let middle = |ring: u32| -> [DVec2; 2] {
        let (out, rise) = (radius - 0.5 * wall, height - 0.5 * wall);
        if ring < BOTTOM {
            let way = out * f64::from(ring) / f64::from(BOTTOM);
            return [DVec2::new(way, 0.5 * wall), DVec2::Y];
        }
        let way = rise * f64::from(ring - BOTTOM) / f64::from(rows);
        let inside = if ring == BOTTOM { 1.0 } else { 0.0 };
        [DVec2::new(out, 0.5 * wall + way), DVec2::new(-1.0, inside)]
    };
    let mut positions = Vec::new();
    let mut starts = Vec::new();
    for ring in 0..=BOTTOM + rows {
        starts.push(positions.len() as u32 / (LAYERS + 1));
        let [at, inside] = middle(ring);
        for i in 0..count(ring) {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count(ring));
            let (sin, cos) = libm::sincos(angle);
            for layer in 0..=LAYERS {
                let p = at + wall * (f64::from(layer) / f64::from(LAYERS) - 0.5) * inside;
                positions.push(DVec3::new(p.x * cos, p.y, p.x * sin).as_vec3());
            }
        }
    }
    let vertex = |ring: u32, i: u32| starts[ring as usize] + i % count(ring);
    let mut web = Vec::new();
    for ring in 0..BOTTOM + rows {
        let (inner, outer) = (count(ring), count(ring + 1));
        if inner == outer {
            for i in 0..outer {
                let [a, b] = [i, i + 1].map(|i| vertex(ring, i));
                let [c, d] = [i, i + 1].map(|i| vertex(ring + 1, i));
                web.extend([[a, b, d], [a, d, c]]);
            }
            continue;
        }
        // Six sectors, each with one vertex more outside than inside.
        for i in 0..outer {
            let (sector, step) = (i / (ring + 1), i % (ring + 1));
            let below = sector * ring + step;
            let [c, d] = [i, i + 1].map(|i| vertex(ring + 1, i));
            web.push([vertex(ring, below), c, d]);
            if step < ring {
                web.push([vertex(ring, below), vertex(ring, below + 1), d]);
            }
        }
    }
    let mut tets = Vec::new();
    for mut corners in web {
        // By the order of the vertices, so that neighbours cut their common side alike.
        corners.sort_unstable();
        for layer in 0..LAYERS {
            let [a, b, c] = corners.map(|v| v * (LAYERS + 1) + layer);
            for tet in [
                [a, b, c, a + 1],
                [b, c, a + 1, b + 1],
                [c, a + 1, b + 1, c + 1],
            ] {
                tets.push(positive(tet, &positions));
            }
        }
    }
    TetMesh::build(positions, tets).expect("prisms of a web make a mesh")
}

/// The tetrahedron with its corners in the order of a positive volume.
fn positive(tet: [u32; 4], positions: &[Vec3]) -> [u32; 4] {
    let [a, b, c, d] = tet.map(|n| positions[n as usize]);
    if (b - a).cross(c - a).dot(d - a) > 0.0 {
        return tet;
    }
    [tet[0], tet[2], tet[1], tet[3]]
}
