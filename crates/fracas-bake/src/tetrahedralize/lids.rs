//! Lids over holes that nobody sees.
//!
//! Models are often put together of parts that run into one another and are left open
//! where another part hides it: the stone of a fruit, an eye, a handle. Such a hole may be
//! so large that winding numbers do not tell inside from outside near it; a lid does no
//! harm there. A hole that can be seen (a jar of one sheet) is another matter: whether the
//! thing is solid or thin is the user's to say.
//!
//! Steps: sides of one triangle alone -> loops by shared vertices -> a fan around the
//! middle of each -> a lid is hidden if the solid, lids included, is on its outer side,
//! too.

use glam::DVec3;

use super::surface_domain::SurfaceDomain;
use super::winding::winding_number;
use crate::SurfaceMesh;
use crate::topology::{Edges, Sets};

/// Lids count as hidden when so much of their area is.
const HIDDEN: f64 = 0.9;
/// More holes than this are no model's, but a soup's.
const MOST_LIDS: usize = 256;

/// A surface without holes.
pub(super) struct Lidded {
    pub surface: SurfaceMesh,
    pub lids: usize,
}

/// Closes all holes of a surface, if that makes it closed and nothing of it will be seen.
pub(super) fn close_hidden(surface: &SurfaceMesh) -> Option<Lidded> {
    let lidded = close(surface)?;
    let own = surface.triangles().len();
    let domain = SurfaceDomain::new(lidded.surface.positions(), lidded.surface.triangles());
    let (mut hidden, mut total) = (0.0, 0.0);
    for lid in own..lidded.surface.triangles().len() {
        let [a, b, c] = lidded.surface.corners(lid as u32);
        let normal = (b - a).cross(c - a);
        let area = normal.length();
        // A surface that is inside out is turned round, its lids with it.
        let outward = normal.normalize_or_zero() * domain.turned();
        let outside = (a + b + c) / 3.0 + outward * (1e-3 * domain.size());
        total += area;
        if winding_number(&domain.tree, outside) > 0.5 {
            hidden += area;
        }
    }
    (hidden >= HIDDEN * total).then_some(lidded)
}

/// Closes all holes of a surface; `None` where that is not enough to make it closed.
fn close(surface: &SurfaceMesh) -> Option<Lidded> {
    let mut triangles = surface.triangles().to_vec();
    let edges = Edges::of(&triangles);
    if edges.boundary == 0 || edges.nonmanifold > 0 || edges.inconsistent > 0 {
        return None;
    }
    // As their triangles have them: a lid's sides run the other way.
    let sides: Vec<[u32; 2]> = edges
        .groups()
        .filter(|group| group.len() == 1)
        .map(|group| group[0].ends(&triangles))
        .collect();
    let mut positions = surface.positions().to_vec();
    let mut loops = Sets::new(positions.len());
    for [a, b] in &sides {
        loops.join(*a as usize, *b as usize);
    }
    // Of each loop the sum of its vertices, and how many; of each side its loop.
    let mut sums: Vec<(DVec3, f64)> = Vec::new();
    let mut of_side = Vec::with_capacity(sides.len());
    let mut loop_of = vec![None; positions.len()];
    for [a, _] in &sides {
        let at = *loop_of[loops.root(*a as usize)].get_or_insert_with(|| {
            sums.push((DVec3::ZERO, 0.0));
            sums.len() - 1
        });
        sums[at].0 += positions[*a as usize];
        sums[at].1 += 1.0;
        of_side.push(at);
    }
    let lids = sums.len();
    if lids > MOST_LIDS {
        return None;
    }
    let first = positions.len();
    positions.extend(sums.iter().map(|(sum, count)| *sum / *count));
    let fan = sides.iter().zip(of_side);
    triangles.extend(fan.map(|([a, b], lid)| [*b, *a, (first + lid) as u32]));
    let closed = Edges::of(&triangles);
    if closed.boundary + closed.nonmanifold + closed.inconsistent > 0 {
        return None;
    }
    let surface = SurfaceMesh::build(positions, triangles).ok()?;
    Some(Lidded { surface, lids })
}

#[cfg(test)]
mod tests {
    use super::super::{Options, TetrahedralizeError, Thicken, surface};
    use super::*;

    /// A ball of rings and sectors around a place, open at the top beyond an angle.
    fn ball(middle: DVec3, radius: f64, open: f64, into: &mut (Vec<DVec3>, Vec<[u32; 3]>)) {
        const RINGS: u32 = 12;
        const SECTORS: u32 = 24;
        let first = into.0.len() as u32;
        for ring in 0..=RINGS {
            let polar = open + (std::f64::consts::PI - open) * f64::from(ring) / f64::from(RINGS);
            for sector in 0..SECTORS {
                let turn = std::f64::consts::TAU * f64::from(sector) / f64::from(SECTORS);
                let way = DVec3::new(
                    polar.sin() * turn.cos(),
                    polar.cos(),
                    -polar.sin() * turn.sin(),
                );
                into.0.push(middle + radius * way);
            }
        }
        let at = |ring: u32, sector: u32| first + ring * SECTORS + sector % SECTORS;
        for ring in 0..RINGS {
            for sector in 0..SECTORS {
                let (a, b) = (at(ring, sector), at(ring, sector + 1));
                let (c, d) = (at(ring + 1, sector), at(ring + 1, sector + 1));
                if ring + 1 < RINGS {
                    into.1.extend([[a, c, d], [a, d, b]]);
                } else {
                    // The last ring is a point: one of its copies will do.
                    into.1.push([a, at(RINGS, 0), b]);
                }
            }
        }
    }

    fn closed_ball(middle: DVec3, radius: f64, into: &mut (Vec<DVec3>, Vec<[u32; 3]>)) {
        let before = into.1.len();
        ball(middle, radius, 0.4, into);
        let first = into.1[before][0];
        into.0.push(middle + DVec3::Y * radius);
        let top = into.0.len() as u32 - 1;
        into.1
            .extend((0..24).map(|k| [first + k, first + (k + 1) % 24, top]));
    }

    #[test]
    fn a_part_that_is_open_where_another_hides_it_is_closed() {
        let mut parts = (Vec::new(), Vec::new());
        closed_ball(DVec3::ZERO, 1.0, &mut parts);
        // Half a ball that is stuck into the other upside down: its opening is inside.
        let mut stone = (Vec::new(), Vec::new());
        ball(DVec3::ZERO, 0.5, 1.4, &mut stone);
        let first = parts.0.len() as u32;
        let stuck = |p: &DVec3| DVec3::new(p.x, p.y - 0.75, p.z);
        parts.0.extend(stone.0.iter().map(stuck));
        parts.1.extend(stone.1.iter().map(|t| t.map(|v| v + first)));
        let fruit = SurfaceMesh::build(parts.0, parts.1).unwrap();
        let lidded = close_hidden(&fruit).expect("its hole is inside");
        assert_eq!(lidded.lids, 1);
        assert_eq!(Edges::of(lidded.surface.triangles()).boundary, 0);
        // Turned inside out, it is the same thing.
        let turned = fruit.triangles().iter().map(|&[a, b, c]| [a, c, b]);
        let turned = SurfaceMesh::build(fruit.positions().to_vec(), turned.collect()).unwrap();
        assert!(close_hidden(&turned).is_some());
    }

    #[test]
    fn a_hole_that_is_seen_stays_the_users_to_close() {
        let mut jar = (Vec::new(), Vec::new());
        ball(DVec3::ZERO, 1.0, 1.7, &mut jar);
        let jar = SurfaceMesh::build(jar.0, jar.1).unwrap();
        assert!(close(&jar).is_some(), "it could be closed");
        assert!(close_hidden(&jar).is_none());
        let options = Options {
            thicken: Thicken::Refuse,
            ..Options::tets(2_000)
        };
        assert!(matches!(
            surface(&jar, &options),
            Err(TetrahedralizeError::NoInside { open_edges: 24 })
        ));
        // Three triangles at an edge: nothing that a lid could close.
        let fin = vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]];
        let at = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_Y];
        let fin = SurfaceMesh::build(at.to_vec(), fin).unwrap();
        assert!(close(&fin).is_none());
    }
}
