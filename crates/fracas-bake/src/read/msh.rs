//! Gmsh `.msh`, formats 2.2 and 4.1, text and binary (either byte order): nodes,
//! tetrahedra, and triangles and quadrangles for files that hold a surface only.
//! Elements of second and third order give their corners.
//!
//! By hand, because `mshio` (0.4) reads 4.1 only, and half of the files in use are
//! 2.2 (fTetWild writes nothing else).
//!
//! A count that does not match is an error and not repaired: a tetrahedron or node
//! missing from the list would leave a hole inside the solid that nobody sees.

use std::collections::HashMap;

use glam::DVec3;

use super::scanner::{Result, Scanner, show};
use super::{Cells, binary};
use crate::error::ReadErrorKind;

pub(super) fn read(bytes: &[u8]) -> Result<Cells> {
    let mut scanner = Scanner::new(bytes);
    scanner.expect("$MeshFormat")?;
    let format = Format::read(&mut scanner)?;
    let mut nodes = Nodes::default();
    let mut cells = Cells::default();
    let (mut has_nodes, mut has_elements) = (false, false);
    while let Some(section) = scanner.word() {
        match section {
            b"$Nodes" => {
                has_nodes = true;
                nodes.read(&mut scanner, &format)?;
                scanner.expect("$EndNodes")?;
            }
            b"$Elements" if has_nodes => {
                has_elements = true;
                read_elements(&mut scanner, &format, &nodes, &mut cells)?;
                scanner.expect("$EndElements")?;
            }
            b"$Elements" => {
                return Err(scanner.error(
                    ReadErrorKind::Unsupported,
                    "$Elements stands before $Nodes",
                    "export the file with Gmsh",
                ));
            }
            _ => skip_section(&mut scanner, section)?,
        }
    }
    for (there, name) in [(has_nodes, "$Nodes"), (has_elements, "$Elements")] {
        if !there {
            return Err(scanner.error(
                ReadErrorKind::Truncated,
                format!("the file has no section {name}"),
                "it is incomplete: export or download it again",
            ));
        }
    }
    cells.positions = nodes.positions;
    Ok(cells)
}

/// Sections that are not needed, found by their end mark.
fn skip_section(scanner: &mut Scanner<'_>, section: &[u8]) -> Result<()> {
    let Some(name) = section.strip_prefix(b"$") else {
        return Err(scanner.error(
            ReadErrorKind::Syntax,
            format!("`{}` where a section should begin", show(section)),
            "an earlier count may be wrong, or the file is damaged: export it again",
        ));
    };
    let end = [b"$End", name].concat();
    if scanner.skip_past(&end) {
        return Ok(());
    }
    Err(scanner.error(
        ReadErrorKind::Truncated,
        format!("section `{}` has no end", show(section)),
        "the file is incomplete: export or download it again",
    ))
}

struct Format {
    version_4: bool,
    binary: bool,
    big_endian: bool,
}

impl Format {
    fn read(scanner: &mut Scanner<'_>) -> Result<Self> {
        let version = scanner.expect_word("the format version")?;
        let version_4 = match version {
            b"4.1" => true,
            b"2.2" | b"2" | b"2.0" | b"2.1" => false,
            _ => {
                return Err(scanner.error(
                    ReadErrorKind::Unsupported,
                    format!("Gmsh format {} is not read", show(version)),
                    "export as 4.1 or 2.2 (Gmsh: `gmsh in.msh -save -format msh41 -o out.msh`)",
                ));
            }
        };
        let binary = scanner.number::<u8>("the file type (0 or 1)")? == 1;
        let data_size: u8 = scanner.number("the data size")?;
        if data_size != 8 {
            return Err(scanner.error(
                ReadErrorKind::Unsupported,
                format!("numbers of {data_size} bytes are not read"),
                "export with a data size of 8",
            ));
        }
        let mut big_endian = false;
        if binary {
            scanner.line();
            let one = scanner.raw(4, "the byte order mark")?;
            big_endian = one == [0, 0, 0, 1];
            if !big_endian && one != [1, 0, 0, 0] {
                return Err(scanner.error(
                    ReadErrorKind::Syntax,
                    "the byte order mark is not 1 in either byte order",
                    "the file is damaged (sent as text?): export or download it again",
                ));
            }
        }
        scanner.expect("$EndMeshFormat")?;
        Ok(Self {
            version_4,
            binary,
            big_endian,
        })
    }

    /// An `int` of the format.
    fn int(&self, scanner: &mut Scanner<'_>, what: &str) -> Result<i64> {
        if self.binary {
            let raw = scanner.raw(4, what)?;
            Ok(i64::from(binary::i32(raw, self.big_endian)))
        } else {
            scanner.number(what)
        }
    }

    /// A `size_t` of format 4.1; plain `int` in 2.2.
    fn size(&self, scanner: &mut Scanner<'_>, what: &str) -> Result<u64> {
        if self.binary && self.version_4 {
            return Ok(binary::u64(scanner.raw(8, what)?, self.big_endian));
        }
        if !self.binary {
            return scanner.number(what);
        }
        let number = self.int(scanner, what)?;
        u64::try_from(number).map_err(|_| {
            scanner.error(
                ReadErrorKind::Syntax,
                format!("{number} where {what} should be"),
                "the file is damaged: export it again",
            )
        })
    }

    fn double(&self, scanner: &mut Scanner<'_>) -> Result<f64> {
        if self.binary {
            let raw = scanner.raw(8, "a coordinate")?;
            Ok(binary::f64(raw, self.big_endian))
        } else {
            scanner.number("a coordinate")
        }
    }

    fn point(&self, scanner: &mut Scanner<'_>) -> Result<DVec3> {
        let mut number = || self.double(scanner);
        Ok(DVec3::new(number()?, number()?, number()?))
    }

    /// The count that opens a section: text in 2.2 even where the data are binary.
    fn count_2(&self, scanner: &mut Scanner<'_>, what: &str) -> Result<u64> {
        let count = scanner.number(what)?;
        if self.binary {
            scanner.line();
        }
        Ok(count)
    }

    fn begin_section(&self, scanner: &mut Scanner<'_>) {
        if self.binary {
            scanner.line();
        }
    }

    /// The least bytes that `text` numbers, or `binary` bytes, take.
    fn least(&self, text: usize, binary: usize) -> usize {
        if self.binary { binary } else { 2 * text }
    }
}

#[derive(Default)]
struct Nodes {
    positions: Vec<DVec3>,
    /// Tag of each node; looked up by `index_of`.
    tags: Vec<u64>,
    /// Only where tags are not 1, 2, 3 …; looked up, never iterated.
    by_tag: HashMap<u64, u32>,
}

impl Nodes {
    fn read(&mut self, scanner: &mut Scanner<'_>, format: &Format) -> Result<()> {
        if format.version_4 {
            self.read_4(scanner, format)?;
        } else {
            let count = format.count_2(scanner, "the number of nodes")?;
            let count = scanner.claim(count, format.least(4, 28), "nodes")?;
            for _ in 0..count {
                let tag = format.size(scanner, "a node number")?;
                self.tags.push(tag);
                self.positions.push(format.point(scanner)?);
            }
        }
        self.index(scanner)
    }

    fn read_4(&mut self, scanner: &mut Scanner<'_>, format: &Format) -> Result<()> {
        format.begin_section(scanner);
        let blocks = format.size(scanner, "the number of node blocks")?;
        let total = format.size(scanner, "the number of nodes")?;
        for what in ["the least node number", "the greatest node number"] {
            format.size(scanner, what)?;
        }
        scanner.claim(blocks, format.least(4, 20), "node blocks")?;
        scanner.claim(total, format.least(4, 32), "nodes")?;
        for _ in 0..blocks {
            let dimension = format.int(scanner, "the dimension of an entity")?;
            format.int(scanner, "the number of an entity")?;
            let parametric = format.int(scanner, "0 or 1")? != 0;
            let count = format.size(scanner, "the number of nodes of a block")?;
            let count = scanner.claim(count, format.least(4, 32), "nodes")?;
            for _ in 0..count {
                self.tags.push(format.size(scanner, "a node number")?);
            }
            for _ in 0..count {
                self.positions.push(format.point(scanner)?);
                let parameters = if parametric { dimension.clamp(0, 3) } else { 0 };
                for _ in 0..parameters {
                    format.double(scanner)?;
                }
            }
        }
        if self.positions.len() as u64 != total {
            return Err(scanner.error(
                ReadErrorKind::Truncated,
                format!(
                    "the section claims {total} nodes, its blocks hold {}",
                    self.positions.len()
                ),
                "export the file again",
            ));
        }
        Ok(())
    }

    /// Prepares the search by tag.
    fn index(&mut self, scanner: &Scanner<'_>) -> Result<()> {
        if self.tags.len() > u32::MAX as usize {
            return Err(scanner.error(
                ReadErrorKind::TooLarge,
                format!(
                    "{} nodes are more than 32-bit indices can name",
                    self.tags.len()
                ),
                "mesh it coarser",
            ));
        }
        let in_order = |(i, &tag): (usize, &u64)| tag == i as u64 + 1;
        if self.tags.iter().enumerate().all(in_order) {
            self.by_tag.clear();
            return Ok(());
        }
        self.by_tag.reserve(self.tags.len());
        for (i, &tag) in self.tags.iter().enumerate() {
            if self.by_tag.insert(tag, i as u32).is_some() {
                return Err(scanner.error(
                    ReadErrorKind::Syntax,
                    format!("two nodes have the number {tag}"),
                    "renumber the nodes (Gmsh: `RenumberMeshNodes`)",
                ));
            }
        }
        Ok(())
    }

    fn index_of(&self, tag: u64, scanner: &Scanner<'_>) -> Result<u32> {
        let index = if self.by_tag.is_empty() {
            tag.checked_sub(1)
                .filter(|&i| i < self.tags.len() as u64)
                .map(|i| i as u32)
        } else {
            self.by_tag.get(&tag).copied()
        };
        index.ok_or_else(|| {
            scanner.error(
                ReadErrorKind::IndexOutOfRange,
                format!(
                    "an element names node {tag}, which is not among the {} nodes",
                    self.tags.len()
                ),
                "correct the element or add the node",
            )
        })
    }
}

fn read_elements(
    scanner: &mut Scanner<'_>,
    format: &Format,
    nodes: &Nodes,
    cells: &mut Cells,
) -> Result<()> {
    if format.version_4 {
        return read_elements_4(scanner, format, nodes, cells);
    }
    let total = format.count_2(scanner, "the number of elements")?;
    scanner.claim(total, format.least(4, 8), "elements")?;
    let mut done = 0;
    while done < total {
        if !format.binary {
            format.size(scanner, "an element number")?;
            let kind = format.int(scanner, "an element type")?;
            let tags = format.size(scanner, "the number of tags")?;
            let tags = scanner.claim(tags, 2, "tags")?;
            read_group(scanner, format, nodes, cells, kind, 1, Some(tags))?;
            done += 1;
            continue;
        }
        let kind = format.int(scanner, "an element type")?;
        let count = format.size(scanner, "the number of elements of a group")?;
        let tags = format.size(scanner, "the number of tags")?;
        let tags = scanner.claim(tags, 4, "tags")?;
        if count == 0 || count > total - done {
            return Err(scanner.error(
                ReadErrorKind::Syntax,
                format!(
                    "a group of {count} elements where {} are left",
                    total - done
                ),
                "the file is damaged: export it again",
            ));
        }
        read_group(scanner, format, nodes, cells, kind, count, Some(tags))?;
        done += count;
    }
    Ok(())
}

fn read_elements_4(
    scanner: &mut Scanner<'_>,
    format: &Format,
    nodes: &Nodes,
    cells: &mut Cells,
) -> Result<()> {
    format.begin_section(scanner);
    let blocks = format.size(scanner, "the number of element blocks")?;
    let total = format.size(scanner, "the number of elements")?;
    for what in ["the least element number", "the greatest element number"] {
        format.size(scanner, what)?;
    }
    scanner.claim(blocks, format.least(4, 20), "element blocks")?;
    scanner.claim(total, format.least(2, 16), "elements")?;
    let mut done = 0;
    for _ in 0..blocks {
        format.int(scanner, "the dimension of an entity")?;
        format.int(scanner, "the number of an entity")?;
        let kind = format.int(scanner, "an element type")?;
        let count = format.size(scanner, "the number of elements of a block")?;
        if count > total - done {
            return Err(scanner.error(
                ReadErrorKind::Syntax,
                format!(
                    "a block of {count} elements where {} are left",
                    total - done
                ),
                "the file is damaged: export it again",
            ));
        }
        read_group(scanner, format, nodes, cells, kind, count, None)?;
        done += count;
    }
    if done == total {
        return Ok(());
    }
    Err(scanner.error(
        ReadErrorKind::Truncated,
        format!("the section claims {total} elements, its blocks hold {done}"),
        "export the file again",
    ))
}

/// `count` elements of one kind; `tags` before the nodes of each in format 2.2.
fn read_group(
    scanner: &mut Scanner<'_>,
    format: &Format,
    nodes: &Nodes,
    cells: &mut Cells,
    kind: i64,
    count: u64,
    tags: Option<usize>,
) -> Result<()> {
    let Some((corners, all)) = element_nodes(kind) else {
        return Err(scanner.error(
            ReadErrorKind::Unsupported,
            format!("elements of Gmsh type {kind} are not read"),
            "mesh with tetrahedra (type 4) only; hexahedra, prisms and pyramids have to be split first",
        ));
    };
    let mut found = [0; 4];
    for _ in 0..count {
        match tags {
            Some(tags) => {
                if format.binary {
                    format.int(scanner, "an element number")?;
                }
                for _ in 0..tags {
                    format.int(scanner, "a tag")?;
                }
            }
            None => {
                format.size(scanner, "an element number")?;
            }
        }
        for k in 0..all {
            let tag = format.size(scanner, "the number of a node")?;
            if k < corners {
                found[k] = nodes.index_of(tag, scanner)?;
            }
        }
        match (kind, corners) {
            (4 | 11 | 29, _) => cells.tets.push(found),
            (_, 3) => cells.faces.push_face(&found[..3]),
            (3 | 10 | 16, _) => cells.faces.push_face(&found),
            _ => cells.ignored += 1,
        }
    }
    Ok(())
}

/// Corners that are kept, and nodes, of an element type.
fn element_nodes(kind: i64) -> Option<(usize, usize)> {
    Some(match kind {
        1 => (0, 2),   // line
        2 => (3, 3),   // triangle
        3 => (4, 4),   // quadrangle
        4 => (4, 4),   // tetrahedron
        8 => (0, 3),   // line of second order
        9 => (3, 6),   // triangle of second order
        10 => (4, 9),  // quadrangle of second order
        11 => (4, 10), // tetrahedron of second order
        15 => (0, 1),  // point
        16 => (4, 8),  // quadrangle of second order, no middle
        20 => (3, 9),  // triangle of third order, no middle
        21 => (3, 10), // triangle of third order
        26 => (0, 4),  // line of third order
        29 => (4, 20), // tetrahedron of third order
        _ => return None,
    })
}
