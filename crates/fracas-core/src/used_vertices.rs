//! Part of a mesh with only the vertices it uses.

use glam::Vec3;

/// The vertices that `elements` (triangles, tetrahedra) use, in the order of their first
/// use, and the elements by their new numbers.
///
/// # Panics
/// When an element names a vertex that does not exist.
#[must_use]
pub fn used_vertices<const N: usize>(
    positions: &[Vec3],
    elements: &[[u32; N]],
) -> (Vec<Vec3>, Vec<[u32; N]>) {
    const NOT_YET: u32 = u32::MAX;
    let mut name = vec![NOT_YET; positions.len()];
    let mut used = Vec::new();
    let elements = elements
        .iter()
        .map(|element| {
            element.map(|v| {
                let name = &mut name[v as usize];
                if *name == NOT_YET {
                    *name = used.len() as u32;
                    used.push(positions[v as usize]);
                }
                *name
            })
        })
        .collect();
    (used, elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_corners_and_nothing_else_is_kept() {
        let positions: Vec<Vec3> = (0..6).map(|i| Vec3::splat(i as f32)).collect();
        let elements = [[4, 1, 2], [1, 4, 5]];
        let (used, renamed) = used_vertices(&positions, &elements);
        assert_eq!(used.len(), 4);
        for (before, after) in elements.iter().zip(&renamed) {
            assert_eq!(
                before.map(|v| positions[v as usize]),
                after.map(|v| used[v as usize])
            );
        }
        assert_eq!(used_vertices::<3>(&positions, &[]), (vec![], vec![]));
    }
}
