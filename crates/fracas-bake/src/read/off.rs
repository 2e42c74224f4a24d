//! OFF and its variants COFF, NOFF, STOFF …: positions and polygons; normals,
//! colours and texture coordinates are passed over.
//!
//! By hand: no well-kept crate reads it.

use glam::DVec3;

use super::scanner::{Result, Scanner, parse};
use crate::error::ReadErrorKind;
use crate::repair::PolygonSoup;

pub(super) fn read(bytes: &[u8]) -> Result<PolygonSoup> {
    let mut scanner = Scanner::with_comments(bytes, b'#');
    let first = scanner.expect_word("`OFF`")?;
    // The keyword is optional; what follows it counts vertices.
    let vertices: u64 = if first.ends_with(b"OFF") {
        check_keyword(first, &scanner)?;
        if scanner.clone().word() == Some(b"BINARY") {
            return Err(scanner.error(
                ReadErrorKind::Unsupported,
                "binary OFF is not read",
                "convert it to text, or to PLY",
            ));
        }
        scanner.number("the number of vertices")?
    } else {
        parse(first).ok_or_else(|| scanner.not_a_number(first, "`OFF`"))?
    };
    let faces: u64 = scanner.number("the number of faces")?;
    // The number of edges is not used, and some writers leave it out.
    let _edges = scanner.word_on_line();

    let vertices = scanner.claim(vertices, 6, "vertices")?;
    let faces = scanner.claim(faces, 2, "faces")?;
    let mut positions = Vec::with_capacity(vertices);
    for _ in 0..vertices {
        let x = scanner.number("a coordinate")?;
        let y = scanner.number_on_line("a coordinate")?;
        let z = scanner.number_on_line("a coordinate")?;
        positions.push(DVec3::new(x, y, z));
        skip_line(&mut scanner); // normals, colours
    }

    let mut soup = PolygonSoup::new(positions);
    let mut corners = Vec::new();
    for _ in 0..faces {
        let count: u64 = scanner.number("the number of corners of a face")?;
        let count = scanner.claim(count, 2, "corners of a face")?;
        corners.clear();
        for _ in 0..count {
            let vertex: u32 = scanner.number("the number of a vertex")?;
            if vertex as usize >= vertices {
                return Err(scanner.error(
                    ReadErrorKind::IndexOutOfRange,
                    format!("the face names vertex {vertex}, but there are only {vertices}"),
                    "correct the index: they count from 0",
                ));
            }
            corners.push(vertex);
        }
        soup.push_face(&corners);
        skip_line(&mut scanner); // colours
    }
    Ok(soup)
}

/// Dimensions other than three change what a vertex is.
fn check_keyword(keyword: &[u8], scanner: &Scanner<'_>) -> Result<()> {
    let prefix = &keyword[..keyword.len() - 3];
    if prefix.iter().all(|b| b"STCN".contains(b)) {
        return Ok(());
    }
    Err(scanner.error(
        ReadErrorKind::Unsupported,
        format!(
            "`{}` is not three-dimensional OFF",
            super::scanner::show(keyword)
        ),
        "write it as OFF, COFF, NOFF or STOFF",
    ))
}

fn skip_line(scanner: &mut Scanner<'_>) {
    while scanner.word_on_line().is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    #[test]
    fn with_and_without_keyword_edges_and_extras() {
        for text in [
            "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
            "OFF 3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2",
            "# shape\n3 1 3 # counts\n\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 255 0 0\n",
            "CNOFF\n3 1 0\n0 0 0 0 0 1 9 9 9 9\n1 0 0 0 0 1 9 9 9 9\n0 1 0 0 0 1 9 9 9 9\n3 0 1 2\n",
        ] {
            let (mesh, repairs) = read(text.as_bytes()).unwrap().into_surface().unwrap();
            assert_eq!(mesh.triangles(), [[0, 1, 2]], "{text}");
            assert!(repairs.is_empty());
        }
    }

    #[test]
    fn errors_name_their_line() {
        for (text, kind, line) in [
            ("", ReadErrorKind::Truncated, 1),
            ("PNG\n", ReadErrorKind::Syntax, 1),
            ("4OFF\n", ReadErrorKind::Unsupported, 1),
            ("OFF BINARY\n", ReadErrorKind::Unsupported, 1),
            ("OFF\n3535352353 6 0\n0 0 0\n", ReadErrorKind::Truncated, 2),
            (
                "OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n",
                ReadErrorKind::Syntax,
                4,
            ),
            (
                "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
                ReadErrorKind::IndexOutOfRange,
                6,
            ),
            (
                "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n9 0 1 2\n",
                ReadErrorKind::Truncated,
                6,
            ),
            (
                "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n",
                ReadErrorKind::Truncated,
                7,
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.kind(), error.place()),
                (kind, Place::Line(line)),
                "{text}: {error}"
            );
        }
    }
}
