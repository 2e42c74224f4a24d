//! STL, text and binary. Triangles as they are; their normals are not used.
//!
//! By hand, because `stl_io` (0.11) reads the first solid of a text file only, wants
//! a blank after `solid`, names no line, and takes a binary file whose header begins
//! with "solid" for text.

use glam::DVec3;

use super::binary;
use super::scanner::{Result, Scanner, show};
use crate::error::{Place, ReadError, ReadErrorKind};
use crate::repair::{PolygonSoup, Repair};

const HEADER: usize = 84;
const FACET: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<PolygonSoup> {
    let claimed = bytes
        .get(80..HEADER)
        .map(|raw| u64::from(binary::u32(raw, false)));
    let exact = claimed.map(|n| HEADER as u64 + n * FACET as u64);
    let says_solid = bytes
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    match claimed {
        // A length that fits to the byte outweighs a header that says "solid".
        Some(count) if exact == Some(bytes.len() as u64) || !says_solid => {
            read_binary(bytes, count)
        }
        _ if says_solid => read_text(bytes),
        _ => Err(ReadError::new(
            ReadErrorKind::Truncated,
            Place::Byte(bytes.len()),
            "the file ends inside the header, and is no text that begins with `solid`",
            "it is incomplete or no STL: export or download it again",
        )),
    }
}

fn read_binary(bytes: &[u8], count: u64) -> Result<PolygonSoup> {
    let mut scanner = Scanner::new(bytes);
    scanner.raw(HEADER, "the header")?;
    let held = scanner.remaining() / FACET;
    if count > held as u64 {
        return Err(ReadError::new(
            ReadErrorKind::Truncated,
            Place::Byte(bytes.len()),
            format!("the header claims {count} triangles, the file holds {held}"),
            "it is incomplete or no STL: export or download it again",
        ));
    }
    let mut soup = PolygonSoup::unshared();
    for _ in 0..count {
        let facet = scanner.raw(FACET, "a triangle")?;
        let number = |at: usize| f64::from(binary::f32(&facet[at..at + 4], false));
        let first = soup.positions().len() as u32;
        for corner in 1..4 {
            let at = 12 * corner;
            let position = DVec3::new(number(at), number(at + 4), number(at + 8));
            soup.positions_mut().push(position);
        }
        soup.push_face(&[first, first + 1, first + 2]);
    }
    let trailing = scanner.remaining();
    soup.repairs_mut()
        .add(Repair::TrailingBytesIgnored, trailing);
    Ok(soup)
}

fn read_text(bytes: &[u8]) -> Result<PolygonSoup> {
    let mut scanner = Scanner::new(bytes);
    let mut soup = PolygonSoup::unshared();
    while let Some(word) = scanner.word() {
        if !word.eq_ignore_ascii_case(b"solid") {
            return Err(unexpected(&scanner, word, "solid"));
        }
        skip_name(&mut scanner);
        loop {
            let word = scanner.expect_word("`facet` or `endsolid`")?;
            if word.eq_ignore_ascii_case(b"endsolid") {
                skip_name(&mut scanner);
                break;
            }
            if !word.eq_ignore_ascii_case(b"facet") {
                return Err(unexpected(&scanner, word, "facet` or `endsolid"));
            }
            read_facet(&mut scanner, &mut soup)?;
        }
    }
    Ok(soup)
}

fn read_facet(scanner: &mut Scanner<'_>, soup: &mut PolygonSoup) -> Result<()> {
    keyword(scanner, "normal")?;
    for _ in 0..3 {
        scanner.expect_word("a normal")?; // some writers put `nan` or `-1.#IND` here
    }
    keyword(scanner, "outer")?;
    keyword(scanner, "loop")?;
    let first = soup.positions().len() as u32;
    loop {
        let word = scanner.expect_word("`vertex` or `endloop`")?;
        if word.eq_ignore_ascii_case(b"endloop") {
            break;
        }
        if !word.eq_ignore_ascii_case(b"vertex") {
            return Err(unexpected(scanner, word, "vertex` or `endloop"));
        }
        let mut coordinate = || scanner.number::<f64>("a coordinate");
        let position = DVec3::new(coordinate()?, coordinate()?, coordinate()?);
        soup.positions_mut().push(position);
    }
    let corners: Vec<u32> = (first..soup.positions().len() as u32).collect();
    soup.push_face(&corners);
    keyword(scanner, "endfacet")
}

fn keyword(scanner: &mut Scanner<'_>, wanted: &str) -> Result<()> {
    let word = scanner.expect_word(&format!("`{wanted}`"))?;
    if word.eq_ignore_ascii_case(wanted.as_bytes()) {
        return Ok(());
    }
    Err(unexpected(scanner, word, wanted))
}

fn unexpected(scanner: &Scanner<'_>, word: &[u8], wanted: &str) -> ReadError {
    scanner.error(
        ReadErrorKind::Syntax,
        format!("`{}` where `{wanted}` should be", show(word)),
        "correct this line or export the file again",
    )
}

/// The name of a solid is the rest of its line.
fn skip_name(scanner: &mut Scanner<'_>) {
    while scanner.word_on_line().is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACET_TEXT: &str = "facet normal nan 0 -1.#IND\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 1 0\n endloop\n endfacet\n";

    fn triangles(file: &[u8]) -> Vec<[u32; 3]> {
        let (mesh, repairs) = read(file).unwrap().into_surface().unwrap();
        assert_eq!(
            repairs.count(Repair::VerticesWelded),
            0,
            "sharing is no repair"
        );
        mesh.triangles().to_vec()
    }

    pub(super) fn binary_file(header: &[u8]) -> Vec<u8> {
        let mut file = header.to_vec();
        file.resize(80, b' ');
        file.extend_from_slice(&2_u32.to_le_bytes());
        for corners in [
            [[0.0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        ] {
            file.extend_from_slice(&[0; 12]);
            for number in corners.iter().flatten() {
                file.extend_from_slice(&number.to_le_bytes());
            }
            file.extend_from_slice(&[0; 2]);
        }
        file
    }

    #[test]
    fn binary_even_when_the_header_says_solid() {
        for header in ["solid but binary", "plain"] {
            let file = binary_file(header.as_bytes());
            assert_eq!(triangles(&file), [[0, 1, 2], [1, 3, 2]]);
        }
        let mut file = binary_file(b"plain");
        file.extend_from_slice(b"tail");
        let (_, repairs) = read(&file).unwrap().into_surface().unwrap();
        assert_eq!(repairs.count(Repair::TrailingBytesIgnored), 4);
    }

    #[test]
    fn several_solids_any_case_and_no_name() {
        let other = FACET_TEXT.replace("0 0 0", "1 1 0").to_uppercase();
        let text = format!("solid\n{FACET_TEXT}endsolid\nSOLID b c\n{other}ENDSOLID b c\n")
            .replace("NAN", "0");
        assert_eq!(triangles(text.as_bytes()).len(), 2);
    }

    #[test]
    fn truncation_is_an_error() {
        let file = binary_file(b"plain");
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "{length} bytes");
        }
        let text = format!("solid x\n{FACET_TEXT}");
        let error = read(text.as_bytes()).err().unwrap();
        assert_eq!(error.kind(), ReadErrorKind::Truncated);
        assert_eq!(error.place(), Place::Line(9));
    }
}
