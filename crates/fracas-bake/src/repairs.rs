//! What was changed while reading, named and counted.

use std::fmt;

use crate::surface_mesh::CornerUvs;

/// Something that was changed while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Repair {
    /// Vertices at exactly the same place became one.
    VerticesWelded,
    /// Faces with more than three corners were cut into triangles.
    PolygonsTriangulated,
    /// Polygons that cross themselves or have no plane were fanned from a corner.
    CrossedPolygonsFanned,
    /// Faces with fewer than three corners were left out.
    ShortFacesRemoved,
    /// Triangles that name a vertex twice were left out.
    DegenerateFacesRemoved,
    /// Of triangles given several times, one was kept.
    DuplicateFacesRemoved,
    /// A surface given twice, facing both ways, was kept once.
    BackFacesRemoved,
    /// Triangles were turned to face the way of their neighbours.
    TrianglesTurned,
    /// Triangles of closed surfaces that were inside out were turned.
    InsideOutTurned,
    /// Vertices or nodes that nothing uses were left out.
    UnusedVerticesRemoved,
    /// Negatively oriented tetrahedra were turned round.
    TetsFlipped,
    /// Elements of other kinds (points, lines, triangles beside tetrahedra …) were left out.
    OtherElementsIgnored,
    /// Bytes after the end of the mesh were left out.
    TrailingBytesIgnored,
}

impl Repair {
    const ALL: [Self; 13] = [
        Self::VerticesWelded,
        Self::PolygonsTriangulated,
        Self::CrossedPolygonsFanned,
        Self::ShortFacesRemoved,
        Self::DegenerateFacesRemoved,
        Self::DuplicateFacesRemoved,
        Self::BackFacesRemoved,
        Self::TrianglesTurned,
        Self::InsideOutTurned,
        Self::UnusedVerticesRemoved,
        Self::TetsFlipped,
        Self::OtherElementsIgnored,
        Self::TrailingBytesIgnored,
    ];

    /// What was done, to be read after a count.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::VerticesWelded => "vertices welded to another at exactly the same place",
            Self::PolygonsTriangulated => "polygons cut into triangles",
            Self::CrossedPolygonsFanned => {
                "polygons that cross themselves, cut as a fan from their first corner"
            }
            Self::ShortFacesRemoved => "faces with fewer than three corners removed",
            Self::DegenerateFacesRemoved => "triangles with a repeated corner removed",
            Self::DuplicateFacesRemoved => "repeated triangles removed",
            Self::BackFacesRemoved => "back faces of a surface given twice removed",
            Self::TrianglesTurned => "triangles turned to face the way of their neighbours",
            Self::InsideOutTurned => "triangles of inside-out closed surfaces turned",
            Self::UnusedVerticesRemoved => "unused vertices removed",
            Self::TetsFlipped => "negatively oriented tetrahedra flipped",
            Self::OtherElementsIgnored => "elements of other kinds ignored",
            Self::TrailingBytesIgnored => "bytes after the end of the mesh ignored",
        }
    }
}

/// What was changed while reading, and how often. Displays one line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    counts: [usize; Repair::ALL.len()],
}

impl Repairs {
    /// How often this was done.
    #[must_use]
    pub fn count(&self, repair: Repair) -> usize {
        self.counts[repair as usize]
    }

    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|&c| c == 0)
    }

    /// All that was done, in the order of [`Repair`].
    pub fn iter(&self) -> impl Iterator<Item = (Repair, usize)> + '_ {
        Repair::ALL
            .iter()
            .map(|&r| (r, self.count(r)))
            .filter(|&(_, count)| count > 0)
    }

    /// Notes that `repair` was done `count` times more.
    pub fn add(&mut self, repair: Repair, count: usize) {
        self.counts[repair as usize] += count;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }
}

impl fmt::Display for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (repair, count)) in self.iter().enumerate() {
            let gap = if i == 0 { "" } else { "\n" };
            write!(f, "{gap}{count} {}", repair.describe())?;
        }
        Ok(())
    }
}

/// Keeps the triangles, and their texture coordinates, for which `keep` is true.
pub(crate) fn retain(
    triangles: &mut Vec<[u32; 3]>,
    uvs: &mut Option<Vec<CornerUvs>>,
    keep: impl Fn(usize, &[u32; 3]) -> bool,
) -> usize {
    let before = triangles.len();
    let kept: Vec<bool> = triangles
        .iter()
        .enumerate()
        .map(|(t, corners)| keep(t, corners))
        .collect();
    let mut flags = kept.iter();
    triangles.retain(|_| *flags.next().expect("one flag each"));
    if let Some(uvs) = uvs {
        let mut flags = kept.iter();
        uvs.retain(|_| *flags.next().expect("one flag each"));
    }
    before - triangles.len()
}
