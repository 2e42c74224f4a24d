//! PLY: text and binary of either byte order. Vertices, polygons, and the texture
//! coordinates of vertices; other elements and properties are passed over.
//!
//! By hand, because `ply-rs-bw` (4.0) keeps an allocation for every face (several
//! times the size of a binary file), refuses a header comment that is not UTF-8, and
//! names no vertex or face where binary data go wrong.

use glam::{DVec3, Vec2};

use super::binary::{Encoding, Scalar};
use super::scanner::{Result, Scanner, parse, show};
use crate::error::{Place, ReadError, ReadErrorKind};
use crate::repair::PolygonSoup;

pub(super) fn read(bytes: &[u8]) -> Result<PolygonSoup> {
    let mut scanner = Scanner::new(bytes);
    let header = Header::read(&mut scanner)?;
    let mut reader = Reader {
        encoding: header.encoding,
        soup: PolygonSoup::default(),
        uvs: Vec::new(),
        has_vertices: false,
    };
    for element in &header.elements {
        let least: usize = element
            .properties
            .iter()
            .map(|p| header.encoding.least(p.list_count.unwrap_or(p.scalar)))
            .sum();
        if least == 0 {
            continue; // no properties, no data
        }
        let count = scanner.claim(element.count, least, "elements")?;
        match element.name.as_slice() {
            b"vertex" => reader.vertices(&mut scanner, element, count)?,
            b"face" => reader.faces(&mut scanner, element, count)?,
            b"tristrips" => {
                return Err(scanner.error(
                    ReadErrorKind::Unsupported,
                    "triangle strips are not read",
                    "convert the file to plain faces",
                ));
            }
            _ => {
                for _ in 0..count {
                    for property in &element.properties {
                        reader.skip(&mut scanner, property)?;
                    }
                }
            }
        }
    }
    Ok(reader.soup)
}

struct Property {
    name: Vec<u8>,
    scalar: Scalar,
    /// The type of its length, for a list.
    list_count: Option<Scalar>,
}

struct Element {
    name: Vec<u8>,
    count: u64,
    properties: Vec<Property>,
}

struct Header {
    encoding: Encoding,
    elements: Vec<Element>,
}

impl Header {
    fn read(scanner: &mut Scanner<'_>) -> Result<Self> {
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut first = true;
        loop {
            let number = scanner.line_number();
            let fault = |reason: String| {
                ReadError::new(
                    ReadErrorKind::Syntax,
                    Place::Line(number),
                    reason,
                    "the header is damaged: correct this line or export the file again",
                )
            };
            let Some(line) = scanner.line() else {
                return Err(ReadError::new(
                    ReadErrorKind::Truncated,
                    Place::Line(number),
                    "the file ends inside the header (no `end_header`)",
                    "it is incomplete: export or download it again",
                ));
            };
            let words: Vec<&[u8]> = line
                .split(u8::is_ascii_whitespace)
                .filter(|w| !w.is_empty())
                .collect();
            if std::mem::take(&mut first) {
                if words != [b"ply"] {
                    return Err(fault(format!("`{}` where `ply` should be", show(line))));
                }
                continue;
            }
            match words[..] {
                [] | [b"comment" | b"obj_info", ..] => {}
                [b"format", name, ..] => {
                    encoding = Some(match name {
                        b"ascii" => Encoding::Text,
                        b"binary_little_endian" => Encoding::Little,
                        b"binary_big_endian" => Encoding::Big,
                        _ => return Err(fault(format!("unknown format `{}`", show(name)))),
                    });
                }
                [b"element", name, count] => {
                    let count = parse(count)
                        .ok_or_else(|| fault(format!("`{}` is no count", show(count))))?;
                    elements.push(Element {
                        name: name.to_vec(),
                        count,
                        properties: Vec::new(),
                    });
                }
                [b"property", ref rest @ ..] => {
                    let property = property(rest)
                        .ok_or_else(|| fault(format!("unknown property `{}`", show(line))))?;
                    elements
                        .last_mut()
                        .ok_or_else(|| fault("a property before any element".into()))?
                        .properties
                        .push(property);
                }
                [b"end_header"] => break,
                _ => return Err(fault(format!("unknown header line `{}`", show(line)))),
            }
        }
        let encoding = encoding.ok_or_else(|| {
            scanner.error(
                ReadErrorKind::Syntax,
                "the header names no format",
                "add `format ascii 1.0` (or the binary one)",
            )
        })?;
        Ok(Self { encoding, elements })
    }
}

fn property(words: &[&[u8]]) -> Option<Property> {
    let (scalar, list_count, name) = match *words {
        [b"list", count, item, name] => (scalar(item)?, Some(scalar(count)?), name),
        [kind, name] => (scalar(kind)?, None, name),
        _ => return None,
    };
    Some(Property {
        name: name.to_vec(),
        scalar,
        list_count,
    })
}

fn scalar(name: &[u8]) -> Option<Scalar> {
    Some(match name {
        b"char" | b"int8" => Scalar::I8,
        b"uchar" | b"uint8" => Scalar::U8,
        b"short" | b"int16" => Scalar::I16,
        b"ushort" | b"uint16" => Scalar::U16,
        b"int" | b"int32" => Scalar::I32,
        b"uint" | b"uint32" => Scalar::U32,
        b"float" | b"float32" => Scalar::F32,
        b"double" | b"float64" => Scalar::F64,
        _ => return None,
    })
}

struct Reader {
    encoding: Encoding,
    soup: PolygonSoup,
    uvs: Vec<Vec2>,
    has_vertices: bool,
}

impl Reader {
    fn vertices(&mut self, s: &mut Scanner<'_>, element: &Element, count: usize) -> Result<()> {
        let find = |names: &[&[u8]]| {
            let wanted = |p: &Property| p.list_count.is_none() && names.contains(&&p.name[..]);
            element.properties.iter().position(wanted)
        };
        let (Some(x), Some(y), Some(z)) = (find(&[b"x"]), find(&[b"y"]), find(&[b"z"])) else {
            return Err(s.error(
                ReadErrorKind::Syntax,
                "the vertices have no x, y and z",
                "export the file with positions",
            ));
        };
        let u = find(&[b"u", b"s", b"texture_u", b"texture_s"]);
        let v = find(&[b"v", b"t", b"texture_v", b"texture_t"]);
        let mut values = vec![0.0; element.properties.len()];
        self.soup.positions_mut().reserve(count);
        for _ in 0..count {
            for (property, value) in element.properties.iter().zip(&mut values) {
                if property.list_count.is_some() {
                    self.skip(s, property)?;
                } else {
                    *value = self.encoding.number(s, property.scalar, "a vertex")?;
                }
            }
            let position = DVec3::new(values[x], values[y], values[z]);
            self.soup.positions_mut().push(position);
            if let (Some(u), Some(v)) = (u, v) {
                self.uvs.push(Vec2::new(values[u] as f32, values[v] as f32));
            }
        }
        self.has_vertices = true;
        Ok(())
    }

    fn faces(&mut self, s: &mut Scanner<'_>, element: &Element, count: usize) -> Result<()> {
        let is_corners = |p: &Property| {
            p.list_count.is_some() && matches!(&p.name[..], b"vertex_indices" | b"vertex_index")
        };
        if !self.has_vertices || !element.properties.iter().any(is_corners) {
            return Err(s.error(
                ReadErrorKind::Syntax,
                "the faces have no list `vertex_indices`, or stand before the vertices",
                "export the file again, vertices first",
            ));
        }
        let (mut corners, mut corner_uvs) = (Vec::new(), Vec::new());
        for face in 0..count {
            for property in &element.properties {
                if !is_corners(property) {
                    self.skip(s, property)?;
                    continue;
                }
                corners.clear();
                for _ in 0..self.list_length(s, property)? {
                    corners.push(self.corner(s, property, face)?);
                }
                self.soup.push_face(&corners);
                if !self.uvs.is_empty() {
                    corner_uvs.clear();
                    corner_uvs.extend(corners.iter().map(|&v| self.uvs[v as usize]));
                    self.soup.push_uvs(&corner_uvs);
                }
            }
        }
        Ok(())
    }

    fn corner(&self, s: &mut Scanner<'_>, property: &Property, face: usize) -> Result<u32> {
        let vertices = self.soup.positions().len();
        let index = self.encoding.index(s, property.scalar, "a vertex number")?;
        index.filter(|&v| (v as usize) < vertices).ok_or_else(|| {
            let place = match self.encoding {
                Encoding::Text => s.place(),
                _ => Place::Element {
                    what: "face",
                    index: face,
                },
            };
            ReadError::new(
                ReadErrorKind::IndexOutOfRange,
                place,
                format!("the face names a vertex that is not among the {vertices}"),
                "correct the index: they count from 0",
            )
        })
    }

    fn list_length(&self, s: &mut Scanner<'_>, property: &Property) -> Result<usize> {
        let kind = property.list_count.unwrap_or(Scalar::U8);
        match self.encoding.index(s, kind, "the length of a list")? {
            Some(length) => {
                let least = self.encoding.least(property.scalar);
                s.claim(u64::from(length), least, "list entries")
            }
            None => Err(s.error(
                ReadErrorKind::Syntax,
                "the length of a list is negative or no whole number",
                "the file is damaged: export it again",
            )),
        }
    }

    fn skip(&self, s: &mut Scanner<'_>, property: &Property) -> Result<()> {
        let length = match property.list_count {
            Some(_) => self.list_length(s, property)?,
            None => 1,
        };
        for _ in 0..length {
            self.encoding.number(s, property.scalar, "a property")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "element vertex 3\nproperty float x\nproperty double y\nproperty short z\nproperty list uchar int extra\nelement nothing 4000000000\nelement face 1\nproperty uchar red\nproperty list uchar uint vertex_indices\nend_header\n";

    fn binary(format: &str, big: bool) -> Vec<u8> {
        let mut file = format!("ply\nformat {format} 1.0\ncomment caf").into_bytes();
        file.extend_from_slice(b"\xe9\n");
        file.extend_from_slice(HEADER.as_bytes());
        macro_rules! put {
            ($n:expr) => {
                file.extend_from_slice(&if big {
                    $n.to_be_bytes()
                } else {
                    $n.to_le_bytes()
                })
            };
        }
        for (x, y, z) in [(0_f32, 0_f64, -1_i16), (1.0, 0.0, 2), (0.5, 3.0, 300)] {
            put!(x);
            put!(y);
            put!(z);
            file.push(1);
            put!(7_i32);
        }
        file.extend_from_slice(&[9, 3]);
        for v in [2_u32, 0, 1] {
            put!(v);
        }
        file
    }

    #[test]
    fn both_byte_orders_and_text_agree() {
        let text = format!(
            "ply\r\nformat ascii 1.0\r\n{}0 0 -1 0\n1 0 2 1 7\n0.5 3 300\n0\n9 3 2 0 1",
            HEADER
        );
        for file in [
            binary("binary_little_endian", false),
            binary("binary_big_endian", true),
            text.into_bytes(),
        ] {
            let (mesh, repairs) = read(&file).unwrap().into_surface().unwrap();
            assert!(repairs.is_empty());
            assert_eq!(mesh.triangles(), [[2, 0, 1]]);
            assert_eq!(mesh.positions()[2], DVec3::new(0.5, 3.0, 300.0));
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        let file = binary("binary_big_endian", true);
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn texture_coordinates_of_vertices_reach_the_corners() {
        let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float s\nproperty float t\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0 .1 .2\n1 0 0 .3 .4\n0 1 0 .5 .6\n3 0 1 2\n";
        let (mesh, _) = read(text.as_bytes()).unwrap().into_surface().unwrap();
        assert_eq!(mesh.uvs().unwrap()[0][2], Vec2::new(0.5, 0.6));
    }

    #[test]
    fn a_bad_index_names_its_face_or_line() {
        let mut file = binary("binary_little_endian", false);
        let last = file.len() - 1;
        file[last] = 0x7f;
        let error = read(&file).err().unwrap();
        assert_eq!(error.kind(), ReadErrorKind::IndexOutOfRange);
        assert!(matches!(
            error.place(),
            Place::Element {
                what: "face",
                index: 0
            }
        ));
    }
}
