//! Things to break, generated in code: no files, no licences, the same everywhere.
//!
//! | name | what | counts after Glondu 2013 |
//! | --- | --- | --- |
//! | `brick` | a standard brick | Table 1 |
//! | `plate` | a dinner plate with well, rim and foot | Table 1 |
//! | `shelf` | a wall shelf for plates | Table 1 |
//! | `piggy-bank` | hollow, with legs, ears, snout, tail and coin slot | Table 1 |
//! | `rabbit` | sitting, with long thin ears: the bunny without a licence | Table 1 |
//! | `bowl` | to drop plates into | |
//! | `ball`, `ball-fine`, `ball-sparse` | three samplings of a sphere | section 7.2 |
//!
//! Sizes are metres, y is up, things stand on y = 0 (balls lie about the origin).
//!
//! ```
//! let brick = fracas_bake::shapes::by_name("brick").unwrap().build();
//! assert!((brick.volume() - 0.215 * 0.1025 * 0.065).abs() < 1e-9);
//! ```
//!
//! **Deviations** from Table 1: its brick cannot be closed (468 triangles need 236
//! vertices, more than its 224 points); all other counts are met within 20%, see
//! `conformance/tests/shapes.rs`.

mod blocks;
mod coarsen;
mod densify;
mod fine_skin;
mod organic;
mod piggy_bank;
mod rabbit;
mod revolved;
mod sdf;

use fracas_core::TetMesh;
use fracas_core::dressing::FineBoundary;

#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use organic::ball;
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use piggy_bank::{WALL as PIGGY_BANK_WALL, piggy_bank};
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) use rabbit::rabbit;

/// The size of a mesh, as the papers give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "research", visibility::make(pub))]
pub(crate) struct Counts {
    /// Triangles of the surface.
    pub triangles: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Points: vertices of the surface and points below it.
    pub points: usize,
}

impl Counts {
    /// Counts a mesh.
    #[must_use]
    pub fn of(mesh: &TetMesh) -> Self {
        Self {
            triangles: mesh.boundary().count(),
            tets: mesh.tets().len(),
            points: mesh.positions().len(),
        }
    }
}

/// One thing of the set.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    name: &'static str,
    about: &'static str,
    paper: Option<Counts>,
    colour: [u8; 3],
    material: Option<&'static str>,
    make: fn(f64) -> TetMesh,
}

impl Shape {
    /// Its name, for [`by_name`] and the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Its counts in Table 1 of Glondu 2013, if it is there.
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn paper(&self) -> Option<Counts> {
        self.paper
    }

    /// A colour that suits it (sRGB).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn colour(&self) -> [u8; 3] {
        self.colour
    }

    /// What it is made of, by the name that [`fracas_fracture::Material::by_name`]
    /// knows; none for what does not break (the shelf is of wood).
    #[must_use]
    pub fn material(&self) -> Option<&'static str> {
        self.material
    }

    /// What is to be seen of it: the boundary of `mesh` (one of its own, at any
    /// resolution, larger by `scale`) finer and as round as it really is. None for
    /// things whose tetrahedra have their surface exactly.
    #[must_use]
    pub fn fine_boundary(&self, mesh: &TetMesh, scale: f64) -> Option<FineBoundary> {
        organic::fine_boundary(self.name, mesh, scale)
            .or_else(|| revolved::fine_boundary(self.name, mesh, scale))
    }

    /// Generates it at its own resolution.
    #[must_use]
    pub fn build(&self) -> TetMesh {
        (self.make)(1.0)
    }

    /// Generates it with edges shorter by this factor (clamped to 0.25 to 8).
    #[must_use]
    #[cfg_attr(feature = "research", visibility::make(pub))]
    pub(crate) fn build_refined(&self, factor: f64) -> TetMesh {
        (self.make)(if factor.is_nan() {
            1.0
        } else {
            factor.clamp(0.25, 8.0)
        })
    }

    /// Generates it with about so many tetrahedra: the nearest that its structure
    /// allows, which for the coarsest things may be well off: a piggy bank has at least
    /// as many as keep its tail on and its wall closed.
    #[must_use]
    pub fn build_with_tets(&self, tets: usize) -> TetMesh {
        let wanted = tets.max(1) as f64;
        let miss = |mesh: &TetMesh| libm::log(mesh.tets().len() as f64 / wanted).abs();
        let mut best = self.build();
        let mut factor = 1.0;
        let mut got = best.tets().len() as f64;
        for _ in 0..5 {
            if miss(&best) < 0.05 {
                break;
            }
            factor *= libm::pow(wanted / got, 0.42);
            let mesh = self.build_refined(factor);
            let before = got;
            got = mesh.tets().len() as f64;
            // As coarse (or fine) as it gets.
            if got == before {
                break;
            }
            if miss(&mesh) < miss(&best) {
                best = mesh;
            }
        }
        best
    }
}

const fn counts(triangles: usize, tets: usize, points: usize) -> Option<Counts> {
    Some(Counts {
        triangles,
        tets,
        points,
    })
}

/// The whole set.
pub const ALL: [Shape; 9] = [
    Shape {
        name: "piggy-bank",
        about: "a hollow earthenware pig with a coin slot, 0.2 m long and a curly tail",
        paper: counts(9_722, 20_807, 5_870),
        colour: [222, 150, 146],
        material: Some("earthenware"),
        make: organic::build_piggy_bank,
    },
    Shape {
        name: "rabbit",
        about: "a sitting rabbit with long thin ears, 0.23 m tall",
        paper: counts(7_940, 18_767, 5_089),
        colour: [205, 180, 150],
        material: Some("plaster"),
        make: organic::build_rabbit,
    },
    Shape {
        name: "brick",
        about: "a standard brick, 215 x 102.5 x 65 mm",
        paper: counts(468, 594, 224),
        colour: [172, 84, 62],
        material: Some("brick"),
        make: blocks::brick,
    },
    Shape {
        name: "plate",
        about: "a dinner plate with well, rim and foot, 0.26 m across",
        paper: counts(5_392, 8_617, 2_711),
        colour: [232, 232, 226],
        material: Some("porcelain"),
        make: revolved::plate,
    },
    Shape {
        name: "shelf",
        about: "a wall shelf with three boards, 0.64 x 0.6 x 0.28 m",
        paper: counts(4_652, 10_200, 2_989),
        colour: [186, 148, 104],
        material: None,
        make: blocks::shelf,
    },
    Shape {
        name: "bowl",
        about: "a bowl with a foot, 0.16 m across",
        paper: None,
        colour: [120, 158, 170],
        material: Some("porcelain"),
        make: revolved::bowl,
    },
    Shape {
        name: "ball",
        about: "a ball, 0.1 m across: 2,500 triangles, 4,000 points inside",
        paper: None,
        colour: [150, 150, 190],
        material: Some("glass"),
        make: |refine| ball(square(2_500, refine), cube(4_000, refine)),
    },
    Shape {
        name: "ball-fine",
        about: "the ball with a finer surface: 10,000 triangles, 4,000 points inside",
        paper: None,
        colour: [150, 170, 190],
        material: Some("glass"),
        make: |refine| ball(square(10_000, refine), cube(4_000, refine)),
    },
    Shape {
        name: "ball-sparse",
        about: "the ball with a coarser inside: 2,500 triangles, 435 points inside",
        paper: None,
        colour: [170, 150, 190],
        material: Some("glass"),
        make: |refine| ball(square(2_500, refine), cube(435, refine)),
    },
];

fn square(count: usize, refine: f64) -> usize {
    (count as f64 * refine * refine) as usize
}

fn cube(count: usize, refine: f64) -> usize {
    (count as f64 * refine * refine * refine) as usize
}

/// The thing of this name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Shape> {
    static SHAPES: [Shape; 9] = ALL;
    SHAPES.iter().find(|shape| shape.name == name)
}

/// All names, in the order of [`ALL`].
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|shape| shape.name)
}
