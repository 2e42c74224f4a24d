//! Wavefront OBJ: positions, texture coordinates and faces; groups, materials,
//! normals, points, lines and curves are passed over.
//!
//! By hand, because `tobj` (4.0) names no line in its errors, refuses a file with
//! one byte of Latin-1 in a comment, knows no line continuation, and gives polygons
//! back as fans or in separate meshes per group. The syntax is small.

use glam::{DVec3, Vec2};

use super::scanner::{Result, Scanner, parse, show};
use crate::error::{Place, ReadError, ReadErrorKind};
use crate::repair::PolygonSoup;

/// Two passes, so that a face may stand above its vertices: first the vertices, then
/// the faces, with the vertices counted again for relative (negative) indices.
pub(super) fn read(bytes: &[u8]) -> Result<PolygonSoup> {
    let (mut positions, mut uvs) = (Vec::new(), Vec::new());
    each_line(bytes, |keyword, mut words, line| {
        match keyword {
            b"v" => {
                let mut coordinate = || number_at(words.next(), line, "a coordinate");
                positions.push(DVec3::new(coordinate()?, coordinate()?, coordinate()?));
            }
            b"vt" => {
                let u = number_at(words.next(), line, "a texture coordinate")?;
                let v = words.next().map_or(Ok(0.0), |w| {
                    number_at(Some(w), line, "a texture coordinate")
                })?;
                uvs.push(Vec2::new(u as f32, v as f32));
            }
            _ => {}
        }
        Ok(())
    })?;

    let mut vertices = Counter::new("vertex", positions.len());
    let mut coordinates = Counter::new("texture coordinate", uvs.len());
    let mut soup = PolygonSoup::new(positions);
    let (mut corners, mut corner_uvs) = (Vec::new(), Vec::new());
    each_line(bytes, |keyword, words, line| {
        match keyword {
            b"v" => vertices.so_far += 1,
            b"vt" => coordinates.so_far += 1,
            b"f" => {
                corners.clear();
                corner_uvs.clear();
                for word in words {
                    let mut parts = word.split(|&b| b == b'/');
                    corners.push(vertices.index(parts.next().unwrap_or_default(), line)?);
                    if let Some(uv) = parts.next().filter(|uv| !uv.is_empty()) {
                        corner_uvs.push(uvs[coordinates.index(uv, line)? as usize]);
                    }
                }
                soup.push_face(&corners);
                if !corners.is_empty() && corner_uvs.len() == corners.len() {
                    soup.push_uvs(&corner_uvs);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(soup)
}

/// The words of a line after its keyword.
pub(super) type Words<'a> = Box<dyn Iterator<Item = &'a [u8]> + 'a>;

/// Calls back with keyword, other words and number of each line; comments are gone
/// and continued lines joined.
pub(super) fn each_line(
    bytes: &[u8],
    mut callback: impl FnMut(&[u8], Words<'_>, usize) -> Result<()>,
) -> Result<()> {
    let mut scanner = Scanner::new(bytes);
    let mut joined = Vec::new();
    loop {
        let number = scanner.line_number();
        let Some(mut line) = scanner.line() else {
            return Ok(());
        };
        joined.clear();
        while let Some((b'\\', head)) = line.split_last() {
            joined.extend_from_slice(head);
            joined.push(b' ');
            line = scanner.line().unwrap_or_default();
        }
        if !joined.is_empty() {
            joined.extend_from_slice(line);
            line = &joined;
        }
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty());
        if let Some(keyword) = words.next() {
            callback(keyword, Box::new(words), number)?;
        }
    }
}

pub(super) fn number_at(word: Option<&[u8]>, line: usize, what: &str) -> Result<f64> {
    let fault = |reason| {
        Err(ReadError::new(
            ReadErrorKind::Syntax,
            Place::Line(line),
            reason,
            "correct this line, or export the file again",
        ))
    };
    match word {
        None => fault(format!("the line ends where {what} should be")),
        Some(word) => match parse(word) {
            Some(number) => Ok(number),
            None => fault(format!("`{}` where {what} should be", show(word))),
        },
    }
}

/// Resolves the numbers by which faces name vertices.
pub(super) struct Counter {
    what: &'static str,
    total: usize,
    pub(super) so_far: usize,
}

impl Counter {
    pub(super) fn new(what: &'static str, total: usize) -> Self {
        Self {
            what,
            total,
            so_far: 0,
        }
    }

    /// Counted from 1, or backwards from -1 for the latest so far.
    pub(super) fn index(&self, word: &[u8], line: usize) -> Result<u32> {
        let what = self.what;
        let Some(number) = parse::<i64>(word) else {
            return Err(ReadError::new(
                ReadErrorKind::Syntax,
                Place::Line(line),
                format!("`{}` where the number of a {what} should be", show(word)),
                "write faces as `f 1 2 3` or `f 1/1/1 2/2/2 3/3/3`",
            ));
        };
        let absolute = match number {
            1.. => number - 1,
            0 => -1,
            _ => (self.so_far as i64).saturating_add(number),
        };
        match usize::try_from(absolute) {
            Ok(index) if index < self.total && index < u32::MAX as usize => Ok(index as u32),
            _ => Err(ReadError::new(
                ReadErrorKind::IndexOutOfRange,
                Place::Line(line),
                format!(
                    "the face names {what} {number}, but there are {} ({} above this line)",
                    self.total, self.so_far
                ),
                "correct the index: they count from 1, or backwards from -1",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::Repair;

    fn surface(text: &str) -> (crate::SurfaceMesh, crate::Repairs) {
        read(text.as_bytes()).unwrap().into_surface().unwrap()
    }

    #[test]
    fn relative_indices_comments_and_continued_lines() {
        let text = "# caf\u{e9}\nv 0 0 0\nv 1 0 0 # x\nv 1 1 0 1 0 0\nf -3 -2 \\\n -1\r\nv 0 1 0\nf 1// 3// -1//\n";
        let (mesh, repairs) = surface(text);
        assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
        assert!(repairs.is_empty());
        assert!(mesh.uvs().is_none());
    }

    #[test]
    fn texture_coordinates_and_faces_above_their_vertices() {
        let text = "f 1/2 2/1 3/-1\nvt 0.5\nvt 0.25 0.75\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 3/1 2/2 4/-1";
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.place(), Place::Line(1));
        let (mesh, _) = surface(&text.replace("3/-1", "3/1"));
        let (a, b) = (Vec2::new(0.5, 0.0), Vec2::new(0.25, 0.75));
        assert_eq!(mesh.uvs(), Some(&[[b, a, a], [a, b, b]][..]));
    }

    #[test]
    fn empty_faces_and_quads_are_named() {
        let (_, repairs) = surface("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf\nf 1 2 3 4\nf 1 2\n");
        assert_eq!(repairs.count(Repair::ShortFacesRemoved), 2);
        assert_eq!(repairs.count(Repair::PolygonsTriangulated), 1);
    }

    #[test]
    fn errors_name_their_line() {
        for (text, kind, line) in [
            ("v 0 0\n", ReadErrorKind::Syntax, 1),
            ("v 0 0 0\nv 1 x 0\n", ReadErrorKind::Syntax, 2),
            ("v 0 0 0\n\nf 1 2 3\n", ReadErrorKind::IndexOutOfRange, 3),
            ("v 0 0 0\nf 0 1 1\n", ReadErrorKind::IndexOutOfRange, 2),
            ("v 0 0 0\nf -2 1 1\n", ReadErrorKind::IndexOutOfRange, 2),
            ("v 0 0 0\nf a b c\n", ReadErrorKind::Syntax, 2),
            (
                "v 0 0 0\nf -9223372036854775808 1 1\n",
                ReadErrorKind::IndexOutOfRange,
                2,
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(
                (error.kind(), error.place()),
                (kind, Place::Line(line)),
                "{text}"
            );
        }
    }
}
