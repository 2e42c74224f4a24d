//! Legacy VTK, text and binary (big-endian), versions up to 5.1: unstructured grids
//! and polygonal data; attributes are passed over.
//!
//! By hand, because `vtkio` (0.7) names no line in its errors and is still a release
//! candidate.

use glam::DVec3;

use super::Cells;
use super::binary::{Encoding, Scalar};
use super::scanner::{Result, Scanner, show};
use crate::error::{Place, ReadError, ReadErrorKind};

pub(super) fn read(bytes: &[u8]) -> Result<Cells> {
    let mut s = Scanner::new(bytes);
    s.line(); // "# vtk DataFile Version x.y", seen by whoever called
    s.line(); // title
    let encoding = match s.expect_word("`ASCII` or `BINARY`")? {
        b"ASCII" => Encoding::Text,
        b"BINARY" => Encoding::Big,
        other => {
            return Err(s.error(
                ReadErrorKind::Syntax,
                format!("`{}` where `ASCII` or `BINARY` should be", show(other)),
                "the header is damaged: export the file again",
            ));
        }
    };
    s.expect("DATASET")?;
    let dataset = s.expect_word("the kind of dataset")?;
    if dataset != b"UNSTRUCTURED_GRID" && dataset != b"POLYDATA" {
        return Err(s.error(
            ReadErrorKind::Unsupported,
            format!("a dataset `{}` is not read", show(dataset)),
            "export an unstructured grid of tetrahedra, or polygonal data",
        ));
    }

    let mut reader = Reader {
        encoding,
        cells: Cells::default(),
    };
    let mut grid = None;
    while let Some(keyword) = s.word() {
        match keyword {
            b"POINTS" => reader.points(&mut s)?,
            b"CELLS" => grid = Some(reader.lists(&mut s)?),
            b"CELL_TYPES" => {
                let lists = grid.take().ok_or_else(|| {
                    s.error(
                        ReadErrorKind::Syntax,
                        "CELL_TYPES stands before CELLS",
                        "export the file again",
                    )
                })?;
                reader.types(&mut s, &lists)?;
            }
            b"POLYGONS" => {
                let lists = reader.lists(&mut s)?;
                for i in 0..lists.len() {
                    let corners = reader.checked(&lists, i, usize::MAX)?;
                    reader.cells.faces.push_face(corners);
                }
            }
            b"VERTICES" | b"LINES" => reader.cells.ignored += reader.lists(&mut s)?.len(),
            b"TRIANGLE_STRIPS" => {
                return Err(s.error(
                    ReadErrorKind::Unsupported,
                    "triangle strips are not read",
                    "convert the file to plain polygons",
                ));
            }
            b"METADATA" => skip_metadata(&mut s),
            b"FIELD" => reader.skip_field(&mut s)?,
            b"POINT_DATA" | b"CELL_DATA" => break, // attributes end the mesh
            _ => {
                return Err(s.error(
                    ReadErrorKind::Syntax,
                    format!("`{}` where a keyword should be", show(keyword)),
                    "an earlier count is wrong, or the file is damaged: export it again",
                ));
            }
        }
    }
    if grid.is_some() {
        return Err(s.error(
            ReadErrorKind::Truncated,
            "the file has CELLS but no CELL_TYPES",
            "it is incomplete: export or download it again",
        ));
    }
    Ok(reader.cells)
}

/// Lists of point numbers in one array.
struct Lists {
    ends: Vec<usize>,
    points: Vec<u32>,
}

impl Lists {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn list(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.points[start..self.ends[i]]
    }
}

struct Reader {
    encoding: Encoding,
    cells: Cells,
}

impl Reader {
    fn points(&mut self, s: &mut Scanner<'_>) -> Result<()> {
        let count = s.number("the number of points")?;
        let scalar = scalar(s)?;
        self.begin_data(s);
        let count = s.claim(count, 3 * self.encoding.least(scalar), "points")?;
        for _ in 0..count {
            let mut number = || self.encoding.number(s, scalar, "a coordinate");
            let position = DVec3::new(number()?, number()?, number()?);
            self.cells.positions.push(position);
        }
        Ok(())
    }

    /// Binary data begin on the line after their keyword.
    fn begin_data(&self, s: &mut Scanner<'_>) {
        if self.encoding != Encoding::Text {
            s.line();
        }
    }

    /// The lists of CELLS or POLYGONS: `n size` and then each with its length before
    /// it, or, since version 5.1, offsets and connectivity apart.
    fn lists(&self, s: &mut Scanner<'_>) -> Result<Lists> {
        let first = s.number("a number of cells")?;
        let second = s.number("a size")?;
        let mut look_ahead = s.clone();
        if look_ahead.word() == Some(b"OFFSETS") {
            return self.lists_with_offsets(s, first, second);
        }
        self.begin_data(s);
        let scalar = Scalar::I32;
        let least = self.encoding.least(scalar);
        let count = s.claim(first, least, "cells")?;
        s.claim(second, least, "numbers of cells")?;
        let mut lists = Lists {
            ends: Vec::with_capacity(count),
            points: Vec::new(),
        };
        for _ in 0..count {
            let length = self.encoding.index(s, scalar, "the length of a cell")?;
            let length = s.claim(
                length.map_or(u64::MAX, u64::from),
                least,
                "points of a cell",
            )?;
            for _ in 0..length {
                lists.points.push(self.point(s, scalar)?);
            }
            lists.ends.push(lists.points.len());
        }
        Ok(lists)
    }

    fn lists_with_offsets(&self, s: &mut Scanner<'_>, offsets: u64, points: u64) -> Result<Lists> {
        s.expect("OFFSETS")?;
        let kind = scalar(s)?;
        self.begin_data(s);
        let count = s.claim(offsets, self.encoding.least(kind), "offsets")?;
        let mut ends = Vec::with_capacity(count);
        for i in 0..count {
            let end = self.encoding.index(s, kind, "an offset")?;
            let end = end.map(|e| e as usize).filter(|&e| {
                e as u64 <= points && e >= ends.last().copied().unwrap_or(0) && (i > 0 || e == 0)
            });
            ends.push(end.ok_or_else(|| {
                s.error(
                    ReadErrorKind::Syntax,
                    "offsets do not rise from 0 to the number of points",
                    "the file is damaged: export it again",
                )
            })?);
        }
        s.expect("CONNECTIVITY")?;
        let kind = scalar(s)?;
        self.begin_data(s);
        let count = s.claim(points, self.encoding.least(kind), "points of cells")?;
        let mut points = Vec::with_capacity(count);
        for _ in 0..count {
            points.push(self.point(s, kind)?);
        }
        if !ends.is_empty() {
            ends.remove(0);
        }
        Ok(Lists { ends, points })
    }

    /// A point number; whether it exists is seen when its cell is used.
    fn point(&self, s: &mut Scanner<'_>, scalar: Scalar) -> Result<u32> {
        let index = self.encoding.index(s, scalar, "the number of a point")?;
        let points = self.cells.positions.len();
        index.filter(|&p| (p as usize) < points).ok_or_else(|| {
            s.error(
                ReadErrorKind::IndexOutOfRange,
                format!("a cell names a point that is not among the {points} above it"),
                "correct the index (they count from 0), or put POINTS first",
            )
        })
    }

    /// The corners of a cell; at most `wanted` of them, and no fewer.
    fn checked<'a>(&self, lists: &'a Lists, i: usize, wanted: usize) -> Result<&'a [u32]> {
        let list = lists.list(i);
        if wanted == usize::MAX {
            return Ok(list);
        }
        list.get(..wanted).ok_or_else(|| {
            ReadError::new(
                ReadErrorKind::Syntax,
                Place::Element {
                    what: "cell",
                    index: i,
                },
                format!(
                    "the cell has {} points, its type needs {wanted}",
                    list.len()
                ),
                "the file is damaged: export it again",
            )
        })
    }

    fn types(&mut self, s: &mut Scanner<'_>, lists: &Lists) -> Result<()> {
        let count: u64 = s.number("the number of cell types")?;
        if count != lists.len() as u64 {
            return Err(s.error(
                ReadErrorKind::Syntax,
                format!("{count} cell types for {} cells", lists.len()),
                "the file is damaged: export it again",
            ));
        }
        self.begin_data(s);
        for i in 0..lists.len() {
            let kind = self.encoding.index(s, Scalar::I32, "a cell type")?;
            match kind {
                Some(10 | 24) => {
                    let mut tet = [0; 4];
                    tet.copy_from_slice(self.checked(lists, i, 4)?);
                    self.cells.tets.push(tet);
                }
                Some(5 | 22) => {
                    let corners = self.checked(lists, i, 3)?;
                    self.cells.faces.push_face(corners);
                }
                Some(9 | 23) => {
                    let corners = self.checked(lists, i, 4)?;
                    self.cells.faces.push_face(corners);
                }
                Some(7) => self.cells.faces.push_face(lists.list(i)),
                Some(1..=4 | 21) => self.cells.ignored += 1,
                _ => {
                    return Err(s.error(
                        ReadErrorKind::Unsupported,
                        match kind {
                            Some(kind) => format!("cells of VTK type {kind} are not read"),
                            None => "a cell type is no whole number".into(),
                        },
                        "mesh with tetrahedra (type 10) only, or split the others first",
                    ));
                }
            }
        }
        Ok(())
    }

    /// `FIELD name n`, then n arrays: `name components tuples type` and the data.
    fn skip_field(&self, s: &mut Scanner<'_>) -> Result<()> {
        s.expect_word("the name of a field")?;
        let arrays: u64 = s.number("the number of arrays")?;
        for _ in 0..s.claim(arrays, 8, "arrays")? {
            s.expect_word("the name of an array")?;
            let components: u64 = s.number("a number of components")?;
            let tuples: u64 = s.number("a number of tuples")?;
            let kind = scalar(s)?;
            self.begin_data(s);
            let numbers = components.saturating_mul(tuples);
            for _ in 0..s.claim(numbers, self.encoding.least(kind), "numbers")? {
                self.encoding.number(s, kind, "a number")?;
            }
        }
        Ok(())
    }
}

/// Up to the next blank line.
fn skip_metadata(s: &mut Scanner<'_>) {
    s.line();
    while s.line().is_some_and(|line| !line.trim_ascii().is_empty()) {}
}

fn scalar(s: &mut Scanner<'_>) -> Result<Scalar> {
    let name = s.expect_word("a data type")?;
    Ok(match name {
        b"char" => Scalar::I8,
        b"unsigned_char" => Scalar::U8,
        b"short" => Scalar::I16,
        b"unsigned_short" => Scalar::U16,
        b"int" => Scalar::I32,
        b"unsigned_int" => Scalar::U32,
        b"long" | b"vtktypeint64" | b"vtkIdType" => Scalar::I64,
        b"unsigned_long" => Scalar::U64,
        b"float" => Scalar::F32,
        b"double" => Scalar::F64,
        _ => {
            return Err(s.error(
                ReadErrorKind::Unsupported,
                format!("the data type `{}` is not read", show(name)),
                "export as float or double",
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# vtk DataFile Version 2.0\ntitle with POINTS in it\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1\nMETADATA\nINFORMATION 0\n\nCELLS 3 11\n4 0 1 2 3\n3 0 1 2\n1 0\nCELL_TYPES 3\n10\n5\n1\nPOINT_DATA 4\nrubbish\n";

    fn binary(offsets: bool) -> Vec<u8> {
        let mut file =
            b"# vtk DataFile Version 5.1\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
                .to_vec();
        for number in [0.0_f64, 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.] {
            file.extend_from_slice(&number.to_be_bytes());
        }
        if offsets {
            file.extend_from_slice(b"\nCELLS 4 8\nOFFSETS vtktypeint64\n");
            for n in [0_i64, 4, 7, 8] {
                file.extend_from_slice(&n.to_be_bytes());
            }
            file.extend_from_slice(b"\nCONNECTIVITY vtktypeint64\n");
            for n in [0_i64, 1, 2, 3, 0, 1, 2, 0] {
                file.extend_from_slice(&n.to_be_bytes());
            }
        } else {
            file.extend_from_slice(b"\nCELLS 3 11\n");
            for n in [4_i32, 0, 1, 2, 3, 3, 0, 1, 2, 1, 0] {
                file.extend_from_slice(&n.to_be_bytes());
            }
        }
        file.extend_from_slice(b"\nCELL_TYPES 3\n");
        for n in [10_i32, 5, 1] {
            file.extend_from_slice(&n.to_be_bytes());
        }
        file
    }

    #[test]
    fn text_binary_and_offsets_agree() {
        for file in [TEXT.as_bytes().to_vec(), binary(false), binary(true)] {
            let cells = read(&file).unwrap();
            assert_eq!(cells.tets, [[0, 1, 2, 3]]);
            assert_eq!(cells.positions[3], DVec3::Z);
            assert_eq!((cells.faces.face_count(), cells.ignored), (1, 1));
        }
    }

    #[test]
    fn polygonal_data_is_a_surface() {
        let text = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nT 1 2 int\n1 2\nPOINTS 4 int\n0 0 0 1 0 0 1 1 0 0 1 0\nPOLYGONS 1 5\n4 0 1 2 3\n";
        let cells = read(text.as_bytes()).unwrap();
        assert_eq!((cells.tets.len(), cells.faces.face_count()), (0, 1));
    }

    #[test]
    fn errors_name_their_line() {
        for (from, to, kind, line) in [
            ("4 0 1 2 3", "4 0 1 2 4", ReadErrorKind::IndexOutOfRange, 12),
            ("\n10\n", "\n12\n", ReadErrorKind::Unsupported, 16),
            (
                "POINTS 4 f",
                "POINTS 4000000000 f",
                ReadErrorKind::Truncated,
                6,
            ),
            ("CELL_TYPES 3", "CELL_TYPES 4", ReadErrorKind::Syntax, 15),
            (
                "UNSTRUCTURED_GRID",
                "RECTILINEAR_GRID",
                ReadErrorKind::Unsupported,
                4,
            ),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = read(text.as_bytes()).err().unwrap();
            assert_eq!(error.kind(), kind, "{error}");
            let Place::Line(found) = error.place() else {
                panic!("{error}");
            };
            assert!(found.abs_diff(line) <= 1, "{error}");
        }
    }
}
