//! Medit `.mesh` (text): vertices and tetrahedra, or triangles and quadrilaterals
//! where there are no tetrahedra.
//!
//! By hand: no well-kept crate reads it.

use glam::DVec3;

use super::Cells;
use super::scanner::{Result, Scanner, show};
use crate::error::ReadErrorKind;

pub(super) fn read(bytes: &[u8]) -> Result<Cells> {
    let mut scanner = Scanner::with_comments(bytes, b'#');
    scanner.expect("MeshVersionFormatted")?;
    scanner.number::<u8>("the version")?;
    let mut cells = Cells::default();
    let mut pending = None;
    while let Some(keyword) = pending.take().or_else(|| scanner.word()) {
        match keyword {
            b"Dimension" => {
                let dimension: u8 = scanner.number("the dimension")?;
                if dimension != 3 {
                    return Err(scanner.error(
                        ReadErrorKind::Unsupported,
                        format!("a mesh of dimension {dimension} is not read"),
                        "export it in three dimensions",
                    ));
                }
            }
            b"Vertices" => {
                let count = scanner.number("the number of vertices")?;
                let count = scanner.claim(count, 8, "vertices")?;
                cells.positions.reserve(count);
                for _ in 0..count {
                    let mut number = || scanner.number::<f64>("a coordinate");
                    let position = DVec3::new(number()?, number()?, number()?);
                    cells.positions.push(position);
                    scanner.expect_word("a reference")?;
                }
            }
            b"Tetrahedra" => section(&mut scanner, &mut cells, |cells, corners: [u32; 4]| {
                cells.tets.push(corners);
            })?,
            b"Triangles" => section(&mut scanner, &mut cells, |cells, corners: [u32; 3]| {
                cells.faces.push_face(&corners);
            })?,
            b"Quadrilaterals" => section(&mut scanner, &mut cells, |cells, corners: [u32; 4]| {
                cells.faces.push_face(&corners);
            })?,
            b"Hexahedra" | b"Hexaedra" | b"Prisms" | b"Pyramids" => {
                return Err(scanner.error(
                    ReadErrorKind::Unsupported,
                    format!("{} are not read", show(keyword)),
                    "mesh with tetrahedra only, or split them first",
                ));
            }
            b"End" => return Ok(cells),
            _ if keyword[0].is_ascii_alphabetic() => {
                // Corners, ridges, edges, normals …: numbers up to the next keyword.
                while let Some(word) = scanner.word() {
                    if word[0].is_ascii_alphabetic() {
                        pending = Some(word);
                        break;
                    }
                }
            }
            _ => {
                return Err(scanner.error(
                    ReadErrorKind::Syntax,
                    format!("`{}` where a keyword should be", show(keyword)),
                    "an earlier count is wrong, or the file is damaged: export it again",
                ));
            }
        }
    }
    Err(scanner.error(
        ReadErrorKind::Truncated,
        "the file has no `End`",
        "it is incomplete: export or download it again, or add `End` if it is whole",
    ))
}

/// A count, then elements of `N` vertices and a reference each.
fn section<const N: usize>(
    scanner: &mut Scanner<'_>,
    cells: &mut Cells,
    mut push: impl FnMut(&mut Cells, [u32; N]),
) -> Result<()> {
    let count = scanner.number("the number of elements")?;
    let count = scanner.claim(count, 2 * (N + 1), "elements")?;
    let vertices = cells.positions.len();
    for _ in 0..count {
        let mut corners = [0; N];
        for corner in &mut corners {
            let number: u64 = scanner.number("the number of a vertex")?;
            *corner = number
                .checked_sub(1)
                .filter(|&v| v < vertices as u64)
                .and_then(|v| u32::try_from(v).ok())
                .ok_or_else(|| {
                    scanner.error(
                        ReadErrorKind::IndexOutOfRange,
                        format!(
                            "the element names vertex {number}, but there are {vertices} above it"
                        ),
                        "correct the index (they count from 1), or put the vertices first",
                    )
                })?;
        }
        scanner.expect_word("a reference")?;
        push(cells, corners);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    const MESH: &str = "MeshVersionFormatted 2\nDimension\n3\nVertices 4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\nCorners 2\n1\n2\nTriangles 1\n1 2 3 7\nTetrahedra\n1\n1 2 3 4 0\nEnd\n";

    #[test]
    fn tets_and_triangles() {
        let cells = read(MESH.as_bytes()).unwrap();
        assert_eq!(cells.tets, [[0, 1, 2, 3]]);
        assert_eq!((cells.positions.len(), cells.faces.face_count()), (4, 1));
    }

    #[test]
    fn errors_name_their_line() {
        for (from, to, kind, line) in [
            (
                "3 4 0\nEnd",
                "3 5 0\nEnd",
                ReadErrorKind::IndexOutOfRange,
                16,
            ),
            (
                "3 4 0\nEnd",
                "3 0 0\nEnd",
                ReadErrorKind::IndexOutOfRange,
                16,
            ),
            ("\n3\nV", "\n2\nV", ReadErrorKind::Unsupported, 3),
            (
                "Vertices 4",
                "Vertices 99999999999",
                ReadErrorKind::Truncated,
                4,
            ),
            ("Vertices 4", "Vertices 3", ReadErrorKind::Syntax, 8),
            ("Corners", "Hexahedra", ReadErrorKind::Unsupported, 9),
            ("End\n", "", ReadErrorKind::Truncated, 17),
        ] {
            let text = MESH.replacen(from, to, 1);
            let error = read(text.as_bytes()).err().unwrap();
            assert_eq!(
                (error.kind(), error.place()),
                (kind, Place::Line(line)),
                "{error}"
            );
        }
    }
}
