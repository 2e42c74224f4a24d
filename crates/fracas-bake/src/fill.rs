//! A surface to tetrahedra as a user means it: as fine as its walls and handles need,
//! and with a word where that could not be had.
//!
//! Steps: fill at the size asked for, or with [`DEFAULT_TETS`] -> where nobody asked for
//! a size and walls would be lost, again at the size that holds them, up to
//! [`MOST_AUTOMATIC`] -> compare handles and pieces with the input; where they differ and
//! nobody asked for a size, again with twice and four times as many -> note what was
//! chosen, and what still differs, with the place. A surface that runs through itself is
//! not compared: no number of tetrahedra gives the solid the surface's own handles.

use std::fmt;

use glam::DVec3;

use crate::SurfaceMesh;
use crate::tetrahedralize::{
    BoundaryTopology, Grading, Options, Size, Tetrahedralization, TetrahedralizeError, Thicken,
    boundary_topology, farthest_apart, surface_while,
};
use crate::topology::Edges;

/// Tetrahedra where nothing is asked for.
pub const DEFAULT_TETS: usize = 20_000;
/// As many are made without being asked for, where walls need them: half a minute.
pub const MOST_AUTOMATIC: usize = 400_000;
/// As many are made for handles.
const MOST_FOR_HANDLES: usize = 4 * DEFAULT_TETS;

/// What to fill with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FillOptions {
    /// By count or by edge length; by default as fine as needed.
    pub size: Option<Size>,
    /// Where finer.
    pub grading: Grading,
    /// What becomes of a surface without inside.
    pub thicken: Thicken,
    /// Half the time, for a boundary that is up to twice as far from the surface
    /// ([`Options::approach`] is off).
    pub quick: bool,
}

/// Tetrahedra, and what is worth saying about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The tetrahedra.
    pub made: Tetrahedralization,
    /// What the user should know.
    pub notes: Vec<FillNote>,
}

/// Something that the user did not ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FillNote {
    /// More tetrahedra than usual, for thin walls.
    Finer {
        /// How many were made.
        tets: usize,
    },
    /// More tetrahedra than usual, to keep handles.
    FinerForHandles {
        /// How many were made.
        tets: usize,
    },
    /// The surface has holes, which were filled over.
    Open {
        /// Edges of one triangle only.
        edges: usize,
    },
    /// The surface has large holes which other parts of it hide: they were closed.
    Lids {
        /// How many.
        count: usize,
    },
    /// The surface has no inside and was given a thickness.
    Thickened {
        /// In the units of the input.
        thickness: f64,
    },
    /// The surface runs through itself: its handles are not those of the solid, and are
    /// not compared.
    Crossing,
    /// Handles or pieces came or went.
    Topology {
        /// Pieces and handles of the input.
        input: [i64; 2],
        /// Of the tetrahedra.
        made: [i64; 2],
        /// Where surface and tetrahedra are farthest apart.
        place: DVec3,
        /// How far.
        distance: f64,
    },
}

impl fmt::Display for FillNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Finer { tets } => write!(f, "{tets} tetrahedra were chosen to hold thin walls"),
            Self::FinerForHandles { tets } => {
                write!(f, "{tets} tetrahedra were chosen to keep handles and gaps")
            }
            Self::Open { edges } => {
                write!(
                    f,
                    "the surface has {edges} open edges; its holes are filled over"
                )
            }
            Self::Lids { count } => write!(
                f,
                "{} that other parts hide {} closed",
                plural(count as i64, "hole"),
                if count == 1 { "was" } else { "were" }
            ),
            Self::Thickened { thickness } => {
                write!(
                    f,
                    "the surface has no inside; it was made {thickness:.3e} thick"
                )
            }
            Self::Crossing => write!(
                f,
                "the surface runs through itself; what it winds round is filled, and its \
                 handles are not compared"
            ),
            Self::Topology {
                input,
                made,
                place,
                distance,
            } => write!(
                f,
                "the tetrahedra have {} and {} where the surface has {} and {}; most astray \
                 near {:.4},{:.4},{:.4}, by {distance:.2e}; more tetrahedra may help",
                plural(made[0], "piece"),
                plural(made[1], "handle"),
                plural(input[0], "piece"),
                plural(input[1], "handle"),
                place.x,
                place.y,
                place.z
            ),
        }
    }
}

fn plural(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Fills a surface.
///
/// # Errors
/// See [`TetrahedralizeError`].
pub fn fill(mesh: &SurfaceMesh, options: &FillOptions) -> Result<Filled, TetrahedralizeError> {
    fill_while(mesh, options, &|| true)
}

/// As [`fill`], but stops with [`TetrahedralizeError::Cancelled`] soon after `keep_going`
/// returns `false`.
pub(crate) fn fill_while(
    mesh: &SurfaceMesh,
    options: &FillOptions,
    keep_going: &dyn Fn() -> bool,
) -> Result<Filled, TetrahedralizeError> {
    let at = |size: Size| {
        let thicken = options.thicken;
        let with = Options {
            size,
            thicken,
            approach: !options.quick,
            ..Options::tets(DEFAULT_TETS).with_grading(options.grading)
        };
        surface_while(mesh, &with, keep_going)
    };
    let mut notes = Vec::new();
    let mut made = match options.size {
        Some(size) => at(size)?,
        None => {
            let (made, finer) = as_fine_as_walls_need(&at)?;
            if finer {
                let tets = made.mesh().tets().len();
                notes.push(FillNote::Finer { tets });
            }
            made
        }
    };
    let edges = Edges::of(mesh.triangles());
    match made.report().thickened {
        Some(thickness) => notes.push(FillNote::Thickened { thickness }),
        None if made.report().lids > 0 => notes.push(FillNote::Lids {
            count: made.report().lids,
        }),
        None if edges.boundary > 0 => notes.push(FillNote::Open {
            edges: edges.boundary,
        }),
        None if made.report().crosses_itself => notes.push(FillNote::Crossing),
        None => {
            let note = compare_topology(mesh, options.size, &mut made, &at);
            if !keep_going() {
                return Err(TetrahedralizeError::Cancelled);
            }
            if let Some(note) = note {
                notes.push(note);
            }
        }
    }
    Ok(Filled { made, notes })
}

type Fill<'a> = dyn Fn(Size) -> Result<Tetrahedralization, TetrahedralizeError> + 'a;

/// With the usual number, or with what the walls need.
fn as_fine_as_walls_need(at: &Fill) -> Result<(Tetrahedralization, bool), TetrahedralizeError> {
    let mut size = Size::Tets(DEFAULT_TETS);
    let mut finer = false;
    // Estimates may fall short once or twice: walls are not equally thin everywhere.
    for _ in 0..4 {
        let error = match at(size) {
            Ok(made) => return Ok((made, finer)),
            Err(error) => error,
        };
        let before = match size {
            Size::Tets(tets) => tets,
            Size::EdgeLength(_) => DEFAULT_TETS,
        };
        let wanted = match &error {
            TetrahedralizeError::WallsTooThin { tets, .. } => (*tets).max(2 * before),
            TetrahedralizeError::TooFew { needed, .. } => needed + needed / 5,
            TetrahedralizeError::WrongVolume { .. } => 4 * before,
            _ => return Err(error),
        };
        if wanted > MOST_AUTOMATIC {
            return Err(error);
        }
        size = Size::Tets(wanted);
        finer = true;
    }
    at(size).map(|made| (made, true))
}

/// Pieces and handles of both, where the input is a closed manifold.
fn compare_topology(
    mesh: &SurfaceMesh,
    asked: Option<Size>,
    made: &mut Tetrahedralization,
    at: &Fill,
) -> Option<FillNote> {
    let input = numbers(&boundary_topology(mesh.positions().len(), mesh.triangles()))?;
    let miss = |made: &Tetrahedralization| {
        numbers(&made.report().boundary).map_or(i64::MAX, |own| {
            (own[0] - input[0]).abs() + (own[1] - input[1]).abs()
        })
    };
    if miss(made) == 0 {
        return None;
    }
    if asked.is_none() {
        let mut tets = 2 * made.mesh().tets().len().max(DEFAULT_TETS);
        while tets <= MOST_FOR_HANDLES + MOST_FOR_HANDLES / 10 && miss(made) > 0 {
            match at(Size::Tets(tets)) {
                Ok(finer) if miss(&finer) < miss(made) => *made = finer,
                _ => {}
            }
            tets *= 2;
        }
        if miss(made) == 0 {
            let tets = made.mesh().tets().len();
            return Some(FillNote::FinerForHandles { tets });
        }
    }
    let own = numbers(&made.report().boundary).unwrap_or_default();
    let (place, distance) = farthest_apart(mesh, made.mesh());
    Some(FillNote::Topology {
        input,
        made: own,
        place,
        distance,
    })
}

fn numbers(topology: &BoundaryTopology) -> Option<[i64; 2]> {
    Some([topology.components as i64, topology.genus()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tetrahedralize::surface;

    fn torus(tube: f64, sides: u32) -> SurfaceMesh {
        let around = 96;
        let at = |i: u32, j: u32| {
            let (a, b) = (
                std::f64::consts::TAU * f64::from(i) / f64::from(around),
                std::f64::consts::TAU * f64::from(j) / f64::from(sides),
            );
            let r = 1.0 + tube * libm::cos(b);
            DVec3::new(r * libm::cos(a), tube * libm::sin(b), r * libm::sin(a))
        };
        let number = |i: u32, j: u32| (i % around) * sides + j % sides;
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..around {
            for j in 0..sides {
                positions.push(at(i, j));
                let [a, b] = [number(i, j), number(i, j + 1)];
                let [c, d] = [number(i + 1, j), number(i + 1, j + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        SurfaceMesh::build(positions, triangles).unwrap()
    }

    #[test]
    fn a_thin_ring_keeps_its_handle_without_being_asked() {
        let ring = torus(0.012, 12);
        let filled = fill(&ring, &FillOptions::default()).unwrap();
        assert_eq!(filled.made.report().boundary.genus(), Some(1));
        let volume = filled.made.report().volume / ring.volume();
        assert!((volume - 1.0).abs() < 0.05, "{volume}");
    }

    /// Two inputs took half a minute: their handles were looked for with twice and four
    /// times the tetrahedra, and where sheets cross was taken for thin walls.
    #[test]
    fn a_surface_through_itself_is_filled_once() {
        let ring = torus(0.3, 24);
        let shift = ring.positions().len() as u32;
        let moved = ring
            .positions()
            .iter()
            .map(|p| DVec3::new(p.y, p.x, p.z + 0.1));
        let positions = ring.positions().iter().copied().chain(moved).collect();
        // Turned over by the swap of axes: the other way round.
        let others = ring
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b].map(|v| v + shift));
        let triangles = ring.triangles().iter().copied().chain(others).collect();
        let crossed = SurfaceMesh::build(positions, triangles).unwrap();
        let filled = fill(&crossed, &FillOptions::default()).unwrap();
        assert_eq!(filled.notes, [FillNote::Crossing]);
        let tets = filled.made.mesh().tets().len();
        assert!((15_000..25_000).contains(&tets), "{tets}");
        // One alone does not.
        assert!(
            !surface(&ring, &Options::tets(3_000))
                .unwrap()
                .report()
                .crosses_itself
        );
    }

    /// Two cubes of twelve triangles each, of which no middle is inside the other one.
    #[test]
    fn few_large_triangles_through_one_another_are_seen_too() {
        let corners =
            (0..8).map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)));
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let corners: Vec<DVec3> = corners.collect();
        let shifted = corners.iter().map(|p| *p + DVec3::splat(0.5));
        let positions: Vec<DVec3> = corners.iter().copied().chain(shifted).collect();
        let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        let one: Vec<[u32; 3]> = faces.into_iter().flat_map(halves).collect();
        let other = one.iter().map(|t| t.map(|v| v + 8));
        let both = one.iter().copied().chain(other).collect();
        let two = SurfaceMesh::build(positions.clone(), both).unwrap();
        let options = FillOptions {
            size: Some(Size::Tets(3_000)),
            ..FillOptions::default()
        };
        let filled = fill(&two, &options).unwrap();
        assert_eq!(filled.notes, [FillNote::Crossing]);
        let volume = filled.made.mesh().volume();
        assert!((volume - 1.875).abs() < 0.04, "{volume}");
        // One alone does not run through itself.
        let alone = SurfaceMesh::build(positions[..8].to_vec(), one).unwrap();
        assert_eq!(fill(&alone, &options).unwrap().notes, []);
    }

    #[test]
    fn what_encloses_nothing_is_refused_or_thickened() {
        let triangle = SurfaceMesh::build(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]);
        let triangle = triangle.unwrap();
        let options = FillOptions {
            thicken: Thicken::Refuse,
            ..FillOptions::default()
        };
        let error = fill(&triangle, &options).unwrap_err();
        assert!(matches!(
            error,
            TetrahedralizeError::NoInside { open_edges: 3 }
        ));
        let options = FillOptions {
            thicken: Thicken::By(0.1),
            size: Some(Size::Tets(2_000)),
            ..FillOptions::default()
        };
        let filled = fill(&triangle, &options).unwrap();
        let thick = FillNote::Thickened { thickness: 0.1 };
        assert_eq!(filled.notes, [thick]);
        let volume = filled.made.report().volume;
        assert!((0.04..0.1).contains(&volume), "{volume}");
    }
}
