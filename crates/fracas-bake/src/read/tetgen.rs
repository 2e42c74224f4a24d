//! TetGen `.node` and `.ele`, counted from 0 or from 1 as the first node says.
//!
//! By hand: no well-kept crate reads it.

use glam::DVec3;

use super::Cells;
use super::scanner::{Result, Scanner};
use crate::error::ReadErrorKind;

/// Positions of the nodes, and the number of the first.
pub(super) struct Nodes {
    positions: Vec<DVec3>,
    first: u64,
}

pub(super) fn read_nodes(bytes: &[u8]) -> Result<Nodes> {
    let mut scanner = Scanner::with_comments(bytes, b'#');
    let count = scanner.number("the number of nodes")?;
    let dimension = scanner.number::<u8>("the dimension")?;
    if dimension != 3 {
        return Err(scanner.error(
            ReadErrorKind::Unsupported,
            format!("nodes of dimension {dimension} are not read"),
            "export it in three dimensions",
        ));
    }
    skip_line(&mut scanner);
    let count = scanner.claim(count, 8, "nodes")?;
    let mut nodes = Nodes {
        positions: Vec::with_capacity(count),
        first: 0,
    };
    for i in 0..count as u64 {
        let number: u64 = scanner.number("the number of a node")?;
        if i == 0 && number <= 1 {
            nodes.first = number;
        }
        if number != nodes.first + i {
            return Err(scanner.error(
                ReadErrorKind::Syntax,
                format!("node {number} where node {} should be", nodes.first + i),
                "number the nodes without gaps from 0 or from 1",
            ));
        }
        let mut coordinate = || scanner.number_on_line("a coordinate");
        let position = DVec3::new(coordinate()?, coordinate()?, coordinate()?);
        nodes.positions.push(position);
        skip_line(&mut scanner); // attributes, boundary marker
    }
    Ok(nodes)
}

pub(super) fn read_elements(bytes: &[u8], nodes: Nodes) -> Result<Cells> {
    let mut scanner = Scanner::with_comments(bytes, b'#');
    let count = scanner.number("the number of tetrahedra")?;
    let per_tet = scanner.number::<u8>("the nodes of a tetrahedron")?;
    if per_tet != 4 && per_tet != 10 {
        return Err(scanner.error(
            ReadErrorKind::Unsupported,
            format!("elements of {per_tet} nodes are not read"),
            "export tetrahedra of 4 or 10 nodes",
        ));
    }
    skip_line(&mut scanner);
    let count = scanner.claim(count, 10, "tetrahedra")?;
    let Nodes { positions, first } = nodes;
    let mut tets = Vec::with_capacity(count);
    for _ in 0..count {
        scanner.number::<u64>("the number of a tetrahedron")?;
        let mut tet = [0; 4];
        for corner in &mut tet {
            let number: u64 = scanner.number("the number of a node")?;
            *corner = number
                .checked_sub(first)
                .filter(|&n| n < positions.len() as u64)
                .and_then(|n| u32::try_from(n).ok())
                .ok_or_else(|| {
                    scanner.error(
                        ReadErrorKind::IndexOutOfRange,
                        format!(
                            "the tetrahedron names node {number}; the .node file holds {} from {first}",
                            positions.len()
                        ),
                        "check that both files belong together",
                    )
                })?;
        }
        tets.push(tet);
        skip_line(&mut scanner); // middle nodes, attributes
    }
    Ok(Cells {
        positions,
        tets,
        ..Cells::default()
    })
}

fn skip_line(scanner: &mut Scanner<'_>) {
    while scanner.word_on_line().is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    fn read(nodes: &str, elements: &str) -> Result<Cells> {
        read_elements(elements.as_bytes(), read_nodes(nodes.as_bytes())?)
    }

    #[test]
    fn counted_from_zero_and_from_one() {
        let zero = read(
            "# nodes\n4 3 1 1\n0 0 0 0 5 1\n1 1 0 0 5 1\n2 0 1 0 5 1\n3 0 0 1 5 1\n",
            "1 4 1\n0 0 1 2 3 9\n",
        );
        let one = read(
            "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1",
            "1 10 0\n1 1 2 3 4 1 1 1 1 1 1",
        );
        for cells in [zero.unwrap(), one.unwrap()] {
            assert_eq!(cells.tets, [[0, 1, 2, 3]]);
            assert_eq!(cells.positions[3], DVec3::Z);
        }
    }

    #[test]
    fn errors_name_their_line() {
        let nodes = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
        for (node, ele, kind, line) in [
            (
                nodes,
                "1 4 0\n1 0 1 2 3\n",
                ReadErrorKind::IndexOutOfRange,
                2,
            ),
            (
                nodes,
                "1 4 0\n1 1 2 3 5\n",
                ReadErrorKind::IndexOutOfRange,
                2,
            ),
            (nodes, "9 4 0\n1 1 2 3 4\n", ReadErrorKind::Truncated, 1),
            (nodes, "1 8 0\n1 1 2 3 4\n", ReadErrorKind::Unsupported, 1),
            ("2 3\n1 0 0 0\n3 0 0 0\n", "", ReadErrorKind::Syntax, 3),
            ("2 2\n1 0 0\n2 0 0\n", "", ReadErrorKind::Unsupported, 1),
        ] {
            let error = read(node, ele).err().unwrap();
            assert_eq!(
                (error.kind(), error.place()),
                (kind, Place::Line(line)),
                "{error}"
            );
        }
    }
}
