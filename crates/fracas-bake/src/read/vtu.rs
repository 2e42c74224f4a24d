//! VTK XML unstructured grids (`.vtu`): text, and base64 without compression.
//!
//! Only what a mesh needs is looked at: points, and cells by connectivity, offsets and
//! types; attributes and fields are passed over. Several pieces are read one after the
//! other. Appended and compressed arrays are named and refused.

use glam::DVec3;

use super::Cells;
use super::binary::Scalar;
use super::gltf::base64;
use super::scanner::{Result, parse, show};
use crate::error::{Place, ReadError, ReadErrorKind};

const DAMAGED: &str = "the file is damaged: export it again";

pub(super) fn read(bytes: &[u8]) -> Result<Cells> {
    let mut xml = Xml { bytes, at: 0 };
    let mut reader = Reader::default();
    let mut seen = false;
    while let Some(tag) = xml.next_tag()? {
        match tag.name {
            b"VTKFile" => {
                seen = true;
                reader.header(&xml, &tag)?;
            }
            b"/Piece" => reader.end_piece(&xml)?,
            b"Points" | b"Cells" | b"PointData" | b"CellData" | b"FieldData" => {
                reader.section = tag.name;
            }
            b"DataArray" if reader.wanted(&tag) => reader.array(&mut xml, &tag)?,
            _ => {}
        }
    }
    if !seen {
        return Err(xml.error(
            ReadErrorKind::Syntax,
            "there is no <VTKFile> in it",
            "this is no VTK file: check its name",
        ));
    }
    if !reader.piece.is_empty() {
        return Err(xml.error(
            ReadErrorKind::Truncated,
            "the file ends before </Piece>",
            "it is incomplete: export or download it again",
        ));
    }
    Ok(reader.cells)
}

/// Tags in order; nothing of XML beyond that is needed.
struct Xml<'a> {
    bytes: &'a [u8],
    at: usize,
}

struct Tag<'a> {
    name: &'a [u8],
    attributes: &'a [u8],
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    fn get(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        loop {
            let equals = rest.iter().position(|&b| b == b'=')?;
            let key = rest[..equals].trim_ascii();
            let value = rest[equals + 1..].trim_ascii_start();
            let (&quote, value) = value.split_first()?;
            let end = value.iter().position(|&b| b == quote)?;
            if key == name.as_bytes() {
                return Some(&value[..end]);
            }
            rest = &value[end + 1..];
        }
    }
}

impl<'a> Xml<'a> {
    fn error(
        &self,
        kind: ReadErrorKind,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> ReadError {
        let before = &self.bytes[..self.at.min(self.bytes.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        ReadError::new(kind, Place::Line(line), reason, help)
    }

    fn next_tag(&mut self) -> Result<Option<Tag<'a>>> {
        loop {
            let rest = &self.bytes[self.at..];
            let Some(open) = rest.iter().position(|&b| b == b'<') else {
                return Ok(None);
            };
            self.at += open;
            let rest = &rest[open..];
            let mark: &[u8] = if rest.starts_with(b"<!--") {
                b"-->"
            } else {
                b">"
            };
            let end = rest.windows(mark.len()).position(|w| w == mark);
            let Some(end) = end else {
                return Err(self.error(
                    ReadErrorKind::Truncated,
                    "a tag does not end",
                    "it is incomplete: export or download it again",
                ));
            };
            self.at += end + mark.len();
            let inner = &rest[1..end];
            if inner.starts_with(b"!") || inner.starts_with(b"?") {
                continue;
            }
            let name = inner
                .iter()
                .position(|b| b.is_ascii_whitespace())
                .unwrap_or(inner.len());
            return Ok(Some(Tag {
                name: inner[..name].strip_suffix(b"/").unwrap_or(&inner[..name]),
                attributes: &inner[name..],
            }));
        }
    }

    /// Text up to the next tag.
    fn text(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'<').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

/// The arrays of a piece.
#[derive(Default)]
struct Piece {
    points: Vec<f64>,
    connectivity: Vec<f64>,
    offsets: Vec<f64>,
    types: Vec<f64>,
}

impl Piece {
    fn is_empty(&self) -> bool {
        self.points.is_empty() && self.types.is_empty()
    }
}

#[derive(Default)]
struct Reader<'a> {
    section: &'a [u8],
    big: bool,
    wide_header: bool,
    compressed: bool,
    piece: Piece,
    cells: Cells,
}

impl Reader<'_> {
    fn header(&mut self, xml: &Xml<'_>, tag: &Tag<'_>) -> Result<()> {
        let kind = tag.get("type").unwrap_or_default();
        if kind != b"UnstructuredGrid" {
            return Err(xml.error(
                ReadErrorKind::Unsupported,
                format!("a VTK file of type `{}` is not read", show(kind)),
                "export an unstructured grid of tetrahedra",
            ));
        }
        self.big = tag.get("byte_order") == Some(b"BigEndian");
        self.wide_header = tag.get("header_type") == Some(b"UInt64");
        self.compressed = tag.get("compressor").is_some_and(|c| !c.is_empty());
        Ok(())
    }

    fn wanted(&self, tag: &Tag<'_>) -> bool {
        match self.section {
            b"Points" => true,
            b"Cells" => tag
                .get("Name")
                .is_some_and(|n| [&b"connectivity"[..], b"offsets", b"types"].contains(&n)),
            _ => false,
        }
    }

    fn array(&mut self, xml: &mut Xml<'_>, tag: &Tag<'_>) -> Result<()> {
        let scalar = scalar(xml, tag.get("type").unwrap_or_default())?;
        if self.section == b"Points" && tag.get("NumberOfComponents").is_some_and(|n| n != b"3") {
            return Err(xml.error(
                ReadErrorKind::Unsupported,
                "points do not have three coordinates",
                "export points in space",
            ));
        }
        let format = tag.get("format").unwrap_or(b"ascii");
        let text = xml.text();
        let numbers = match format {
            b"ascii" => {
                let mut numbers = Vec::new();
                for word in text.split(u8::is_ascii_whitespace) {
                    if word.is_empty() {
                        continue;
                    }
                    numbers.push(parse(word).ok_or_else(|| {
                        xml.error(
                            ReadErrorKind::Syntax,
                            format!("`{}` is not a number", show(word)),
                            DAMAGED,
                        )
                    })?);
                }
                numbers
            }
            b"binary" if !self.compressed => self.binary(xml, text, scalar)?,
            other => {
                let how = if other == b"binary" {
                    "compressed".into()
                } else {
                    show(other)
                };
                return Err(xml.error(
                    ReadErrorKind::Unsupported,
                    format!("arrays written `{how}` are not read"),
                    "export as ascii, or as binary without compression",
                ));
            }
        };
        match (self.section, tag.get("Name").unwrap_or_default()) {
            (b"Points", _) => self.piece.points = numbers,
            (_, b"connectivity") => self.piece.connectivity = numbers,
            (_, b"offsets") => self.piece.offsets = numbers,
            _ => self.piece.types = numbers,
        }
        Ok(())
    }

    /// Base64 of a length in bytes and the numbers.
    fn binary(&self, xml: &Xml<'_>, text: &[u8], scalar: Scalar) -> Result<Vec<f64>> {
        let bad = |why: &str| xml.error(ReadErrorKind::Syntax, why, DAMAGED);
        let text: Vec<u8> = text
            .iter()
            .copied()
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        let text = std::str::from_utf8(&text).map_err(|_| bad("an array is not base64"))?;
        // Some writers end the length by itself, padding and all.
        let head = if self.wide_header { 12 } else { 8 };
        let (length, body) = match text.split_at_checked(head) {
            Some((length, body)) if length.ends_with('=') => (base64(length), base64(body)),
            _ => {
                let whole = base64(text).ok_or_else(|| bad("an array is not base64"))?;
                let size = if self.wide_header { 8 } else { 4 };
                match whole.split_at_checked(size) {
                    Some((l, b)) => (Some(l.to_vec()), Some(b.to_vec())),
                    None => (None, None),
                }
            }
        };
        let (Some(length), Some(body)) = (length, body) else {
            return Err(bad("an array is too short, or not base64"));
        };
        let kind = if self.wide_header {
            Scalar::U64
        } else {
            Scalar::U32
        };
        if length.len() != kind.size() || kind.decode(&length, self.big) != body.len() as f64 {
            return Err(bad("the length of an array is not that of its data"));
        }
        let (numbers, rest) = body.split_at(body.len() / scalar.size() * scalar.size());
        if !rest.is_empty() {
            return Err(bad("an array does not hold whole numbers of its type"));
        }
        Ok(numbers
            .chunks_exact(scalar.size())
            .map(|raw| scalar.decode(raw, self.big))
            .collect())
    }

    fn end_piece(&mut self, xml: &Xml<'_>) -> Result<()> {
        let piece = std::mem::take(&mut self.piece);
        let syntax = |why: String| xml.error(ReadErrorKind::Syntax, why, DAMAGED);
        let (points, rest) = piece.points.as_chunks::<3>();
        if !rest.is_empty() {
            return Err(syntax("a point has fewer than three coordinates".into()));
        }
        if piece.types.len() != piece.offsets.len() {
            return Err(syntax(format!(
                "{} cell types for {} cells",
                piece.types.len(),
                piece.offsets.len()
            )));
        }
        let base = self.cells.positions.len();
        if base + points.len() > u32::MAX as usize {
            return Err(xml.error(
                ReadErrorKind::TooLarge,
                "there are more points than 32 bits can number",
                "split the mesh",
            ));
        }
        let positions = points.iter().map(|&p| DVec3::from_array(p));
        self.cells.positions.extend(positions);
        let mut start = 0;
        let mut corners = Vec::new();
        for (i, (&kind, &end)) in piece.types.iter().zip(&piece.offsets).enumerate() {
            let cell = |kind, why: String| {
                let place = Place::Element {
                    what: "cell",
                    index: i,
                };
                ReadError::new(kind, place, why, DAMAGED)
            };
            let end_at = end as usize;
            let own = piece.connectivity.get(start..end_at);
            let Some(own) = own.filter(|_| end_at as f64 == end) else {
                return Err(cell(
                    ReadErrorKind::Syntax,
                    "its offset does not follow the one before, or lies beyond the list".into(),
                ));
            };
            start = end_at;
            corners.clear();
            for &n in own {
                let index = n as usize;
                if index as f64 != n || index >= points.len() {
                    return Err(cell(
                        ReadErrorKind::IndexOutOfRange,
                        format!("it names point {n}, but there are {}", points.len()),
                    ));
                }
                corners.push((base + index) as u32);
            }
            self.add(kind as u32, &corners)
                .map_err(|(kind, why)| cell(kind, why))?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        kind: u32,
        corners: &[u32],
    ) -> std::result::Result<(), (ReadErrorKind, String)> {
        let first = |wanted: usize| {
            corners.get(..wanted).ok_or_else(|| {
                let found = corners.len();
                let why = format!("it has {found} points, its type needs {wanted}");
                (ReadErrorKind::Syntax, why)
            })
        };
        match kind {
            10 | 24 => {
                let mut tet = [0; 4];
                tet.copy_from_slice(first(4)?);
                self.cells.tets.push(tet);
            }
            5 | 22 => self.cells.faces.push_face(first(3)?),
            9 | 23 => self.cells.faces.push_face(first(4)?),
            7 => self.cells.faces.push_face(corners),
            1..=4 | 21 => self.cells.ignored += 1,
            _ => {
                return Err((
                    ReadErrorKind::Unsupported,
                    format!("cells of VTK type {kind} are not read, only tetrahedra and polygons"),
                ));
            }
        }
        Ok(())
    }
}

fn scalar(xml: &Xml<'_>, name: &[u8]) -> Result<Scalar> {
    Ok(match name {
        b"Int8" => Scalar::I8,
        b"UInt8" => Scalar::U8,
        b"Int16" => Scalar::I16,
        b"UInt16" => Scalar::U16,
        b"Int32" => Scalar::I32,
        b"UInt32" => Scalar::U32,
        b"Int64" => Scalar::I64,
        b"UInt64" => Scalar::U64,
        b"Float32" => Scalar::F32,
        b"Float64" => Scalar::F64,
        _ => {
            return Err(xml.error(
                ReadErrorKind::Unsupported,
                format!("the data type `{}` is not read", show(name)),
                "export as Float32 or Float64",
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(points: &str, connectivity: &str, offsets: &str, types: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<!-- > -->\n<VTKFile type=\"UnstructuredGrid\" byte_order='LittleEndian'>\n<UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n<PointData><DataArray type=\"String\" Name=\"x\">junk</DataArray></PointData>\n<Points>{points}</Points>\n<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">{connectivity}</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">{offsets}</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">{types}</DataArray>\n</Cells></Piece></UnstructuredGrid></VTKFile>"
        )
    }

    const POINTS: &str = r#"<DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1</DataArray>"#;

    #[test]
    fn text_and_base64_agree() {
        let text = read(file(POINTS, "0 1 2 3 0 1", "4 6", "10 3").as_bytes()).unwrap();
        assert_eq!((text.tets.len(), text.ignored), (1, 1));
        // 48 bytes of floats: 0 0 0 1 0 0 0 1 0 0 0 1, with a 32-bit length before them.
        let coded = "MAAAAAAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAACAPw==";
        let points = format!(
            r#"<DataArray type="Float32" NumberOfComponents="3" format="binary">{coded}</DataArray>"#
        );
        let binary = read(file(&points, "0 1 2 3", "4", "10").as_bytes()).unwrap();
        assert_eq!(binary.positions, text.positions);
        assert_eq!(binary.tets, text.tets);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = file(POINTS, "0 1 2 3", "4", "10");
        assert!(read(good.as_bytes()).is_ok());
        for (from, to, kind) in [
            ("0 1 2 3<", "0 1 2 4<", ReadErrorKind::IndexOutOfRange),
            ("0 1 2 3<", "0 1 2 -1<", ReadErrorKind::IndexOutOfRange),
            ("0 1 2 3<", "0 1 2<", ReadErrorKind::Syntax),
            (">4<", ">3<", ReadErrorKind::Syntax),
            (">10<", ">12<", ReadErrorKind::Unsupported),
            (">10<", ">10 10<", ReadErrorKind::Syntax),
            ("0 0 0 1 0 0", "0 0 0 1 0 x", ReadErrorKind::Syntax),
            (" 0 0 1</", " 0 0</", ReadErrorKind::Syntax),
            (
                "UnstructuredGrid\" b",
                "PolyData\" b",
                ReadErrorKind::Unsupported,
            ),
            (
                "format=\"ascii\">0 0",
                "format=\"appended\">0 0",
                ReadErrorKind::Unsupported,
            ),
            ("</Piece>", "", ReadErrorKind::Truncated),
            ("<VTKFile", "<File", ReadErrorKind::Syntax),
        ] {
            let error = read(good.replacen(from, to, 1).as_bytes()).err().unwrap();
            assert_eq!(error.kind(), kind, "{from} -> {to}: {error}");
        }
        for end in 0..good.len() {
            let _ = read(&good.as_bytes()[..end]);
        }
    }
}
