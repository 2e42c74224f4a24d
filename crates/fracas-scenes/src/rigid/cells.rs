//! Exact Voronoi cells of a cube, joined into concave groups: the break of
//! `fresh-fracture`, and what its convex competitor is made of.
//!
//! Steps: draw sites -> each cell is the cube, clipped by the bisectors to the other
//! sites, nearest first, until the rest is too far to matter -> 64 groups start at
//! sites far from one another -> again and again the smallest group takes the free
//! cell with which it shares the largest face.
//!
//! **Guarantee**: groups are connected by whole faces, every cell is in one, and the
//! same seed gives the same bits everywhere.

use fracas_core::testing::Rng;
use glam::DVec3;

/// A convex cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The point that all of it is nearest to.
    pub site: DVec3,
    /// Its corners, each once for every face it is on.
    pub corners: Vec<DVec3>,
    /// In the cube's unit.
    pub volume: f64,
    /// Neighbours with the area of the common face.
    neighbours: Vec<(usize, f64)>,
}

/// Cells and which group each belongs to.
#[derive(Clone, Debug)]
pub struct Cells {
    /// All cells.
    pub cells: Vec<Cell>,
    /// The group of each cell.
    pub group: Vec<usize>,
    /// How many groups.
    pub groups: usize,
}

/// A face of a cell under construction.
#[derive(Clone, Debug)]
struct Face {
    across: Option<usize>,
    corners: Vec<DVec3>,
}

impl Cells {
    /// Breaks the unit cube (corners at 0 and 1) into cells and joins them.
    #[must_use]
    pub fn build(cells: usize, groups: usize, seed: u64) -> Self {
        let mut rng = Rng(seed ^ 0x00f2_e54c);
        let mut draw = || f64::from(rng.range(0.0, 1.0));
        let sites: Vec<DVec3> = (0..cells)
            .map(|_| DVec3::new(draw(), draw(), draw()))
            .collect();
        let cells: Vec<Cell> = (0..sites.len()).map(|i| cell(&sites, i)).collect();
        let groups = groups.min(cells.len());
        let group = join(&cells, groups);
        Self {
            cells,
            group,
            groups,
        }
    }

    /// The cells of a group.
    pub fn of(&self, group: usize) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .zip(&self.group)
            .filter_map(move |(cell, &g)| (g == group).then_some(cell))
    }

    /// The centre of a group's mass, about: the mean of its sites by volume.
    #[must_use]
    pub fn centre(&self, group: usize) -> DVec3 {
        let (mut sum, mut volume) = (DVec3::ZERO, 0.0);
        for cell in self.of(group) {
            sum += cell.site * cell.volume;
            volume += cell.volume;
        }
        sum / volume.max(f64::MIN_POSITIVE)
    }
}

fn cell(sites: &[DVec3], i: usize) -> Cell {
    let site = sites[i];
    let mut others: Vec<usize> = (0..sites.len()).filter(|&j| j != i).collect();
    let apart = |j: usize| sites[j].distance_squared(site);
    others.sort_by(|&a, &b| apart(a).total_cmp(&apart(b)).then(a.cmp(&b)));
    let mut faces = cube();
    for j in others {
        let reach = faces
            .iter()
            .flat_map(|f| &f.corners)
            .map(|c| c.distance_squared(site))
            .fold(0.0, f64::max);
        // A bisector farther away than the farthest corner cuts nothing.
        if apart(j) > 4.0 * reach {
            break;
        }
        let normal = (sites[j] - site).normalize_or_zero();
        let offset = normal.dot(0.5 * (sites[j] + site));
        clip(&mut faces, normal, offset, j);
    }
    let mut volume = 0.0;
    let mut neighbours = Vec::new();
    for face in &faces {
        let area = area_vector(&face.corners);
        volume += area.dot(face.corners[0] - site) / 3.0;
        if let Some(across) = face.across {
            neighbours.push((across, area.length()));
        }
    }
    Cell {
        site,
        corners: faces.into_iter().flat_map(|f| f.corners).collect(),
        volume,
        neighbours,
    }
}

fn cube() -> Vec<Face> {
    let corner = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
    [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ]
    .into_iter()
    .map(|face| Face {
        across: None,
        corners: face.map(corner).to_vec(),
    })
    .collect()
}

/// Keeps what is on the low side of a plane; closes the cut with a new face.
fn clip(faces: &mut Vec<Face>, normal: DVec3, offset: f64, across: usize) {
    let height = |p: DVec3| normal.dot(p) - offset;
    if !faces
        .iter()
        .any(|f| f.corners.iter().any(|&c| height(c) > 0.0))
    {
        return;
    }
    let mut rim: Vec<DVec3> = Vec::new();
    for face in faces.iter_mut() {
        let mut kept = Vec::with_capacity(face.corners.len() + 1);
        for (k, &a) in face.corners.iter().enumerate() {
            let b = face.corners[(k + 1) % face.corners.len()];
            let (ha, hb) = (height(a), height(b));
            if ha <= 0.0 {
                kept.push(a);
            }
            if (ha <= 0.0) != (hb <= 0.0) {
                let cut = a + (b - a) * (ha / (ha - hb));
                kept.push(cut);
                rim.push(cut);
            }
        }
        face.corners = kept;
    }
    faces.retain(|f| f.corners.len() >= 3);
    if rim.len() < 3 {
        return;
    }
    // Around the middle of the rim, counter-clockwise seen from outside.
    let middle = rim.iter().sum::<DVec3>() / rim.len() as f64;
    let u = normal.any_orthonormal_vector();
    let v = normal.cross(u);
    rim.sort_by(|a, b| {
        let angle = |p: &DVec3| libm::atan2((*p - middle).dot(v), (*p - middle).dot(u));
        angle(a).total_cmp(&angle(b))
    });
    rim.dedup_by(|a, b| a.distance_squared(*b) < 1e-24);
    if rim.len() >= 3 {
        faces.push(Face {
            across: Some(across),
            corners: rim,
        });
    }
}

fn area_vector(corners: &[DVec3]) -> DVec3 {
    let first = corners[0];
    let fan = corners.windows(2).skip(1);
    fan.map(|p| 0.5 * (p[0] - first).cross(p[1] - first)).sum()
}

fn join(cells: &[Cell], groups: usize) -> Vec<usize> {
    const FREE: usize = usize::MAX;
    let mut group = vec![FREE; cells.len()];
    // Starts far from one another.
    let mut far = vec![f64::INFINITY; cells.len()];
    let mut next = 0;
    let mut volumes = Vec::new();
    for g in 0..groups {
        group[next] = g;
        volumes.push(cells[next].volume);
        let site = cells[next].site;
        for (d, cell) in far.iter_mut().zip(cells) {
            *d = d.min(cell.site.distance_squared(site));
        }
        let farthest = (0..cells.len()).max_by(|&a, &b| far[a].total_cmp(&far[b]));
        next = farthest.unwrap_or(0);
    }
    loop {
        // The smallest group that touches a free cell takes the one it shares most with.
        let mut best: Option<(f64, f64, usize, usize)> = None;
        for (i, cell) in cells.iter().enumerate().filter(|(i, _)| group[*i] != FREE) {
            for &(j, area) in cell.neighbours.iter().filter(|n| group[n.0] == FREE) {
                let volume = volumes[group[i]];
                let better = best.is_none_or(|(v, a, ..)| volume < v || (volume == v && area > a));
                if better {
                    best = Some((volume, area, i, j));
                }
            }
        }
        let Some((_, _, i, j)) = best else {
            break;
        };
        group[j] = group[i];
        volumes[group[i]] += cells[j].volume;
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_cube_and_groups_are_connected() {
        for seed in 0..3 {
            let cells = Cells::build(256, 64, seed);
            let volume: f64 = cells.cells.iter().map(|c| c.volume).sum();
            assert!((volume - 1.0).abs() < 1e-9, "seed {seed}: {volume}");
            // Faces are seen from both sides with the same area.
            for (i, cell) in cells.cells.iter().enumerate() {
                for &(j, area) in cell.neighbours.iter().filter(|n| n.1 > 1e-9) {
                    let back = cells.cells[j].neighbours.iter().find(|n| n.0 == i);
                    assert!(back.is_some_and(|b| (b.1 - area).abs() < 1e-9));
                }
            }
            for g in 0..64 {
                let mine: Vec<usize> = (0..256).filter(|&i| cells.group[i] == g).collect();
                assert!(!mine.is_empty());
                let mut seen = vec![mine[0]];
                let mut at = 0;
                while at < seen.len() {
                    for &(j, _) in &cells.cells[seen[at]].neighbours {
                        if cells.group[j] == g && !seen.contains(&j) {
                            seen.push(j);
                        }
                    }
                    at += 1;
                }
                assert_eq!(seen.len(), mine.len(), "seed {seed}, group {g}");
            }
        }
    }
}
