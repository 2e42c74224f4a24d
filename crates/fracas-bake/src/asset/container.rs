//! The file around the sections.
//!
//! All numbers are little-endian; every part begins at a multiple of eight bytes.
//!
//! | offset | bytes | what |
//! | --- | --- | --- |
//! | 0 | 8 | `\x93FRACAS\n` |
//! | 8 | 4 | version of the container, 1 |
//! | 12 | 4 | number of sections |
//! | 16 | 8 | length of the whole file |
//! | 24 | 4 | CRC-32 of the 24 bytes before |
//! | 28 | 4 | zero |
//! | 32 | | the sections |
//!
//! A section:
//!
//! | offset | bytes | what |
//! | --- | --- | --- |
//! | 0 | 4 | tag |
//! | 4 | 4 | flags: 1 if a reader that does not know the tag must refuse the file |
//! | 8 | 8 | length of the content |
//! | 16 | 4 | CRC-32 of the 16 bytes before and of the content |
//! | 20 | 4 | zero |
//! | 24 | | the content, then zeros to a multiple of eight |
//!
//! **Guarantee**: every byte is under a checksum or must be zero, so no altered
//! byte goes unnoticed (CRC-32 finds all errors within 32 bits, and all but one in
//! four thousand millions of the others); nothing is allocated by a length that the
//! bytes at hand do not bear out.

use super::{AssetError, SectionTag};

const MAGIC: [u8; 8] = *b"\x93FRACAS\n";
const VERSION: u32 = 1;
const FILE_HEADER: usize = 32;
const SECTION_HEADER: usize = 24;
const REQUIRED: u32 = 1;

/// A section as it lies in a file.
pub(super) struct Section<'a> {
    pub tag: SectionTag,
    pub required: bool,
    pub content: &'a [u8],
}

/// The bytes of a file with these sections.
pub(super) fn write(sections: &[Section<'_>]) -> Vec<u8> {
    let padded = |s: &Section<'_>| SECTION_HEADER + s.content.len().next_multiple_of(8);
    let total = FILE_HEADER + sections.iter().map(padded).sum::<usize>();
    let mut bytes = Vec::with_capacity(total);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    bytes.extend((total as u64).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend([0; 4]);
    for section in sections {
        let start = bytes.len();
        bytes.extend(section.tag.0);
        bytes.extend(if section.required { REQUIRED } else { 0 }.to_le_bytes());
        bytes.extend((section.content.len() as u64).to_le_bytes());
        let checksum = checksum(&bytes[start..], section.content);
        bytes.extend(checksum.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(section.content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes
}

fn checksum(header: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(content);
    hasher.finalize()
}

/// The sections of a file, all checked.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Section<'_>>, AssetError> {
    if bytes.len() < MAGIC.len() || bytes[..8] != MAGIC {
        return Err(AssetError::NotAnAsset);
    }
    if bytes.len() < FILE_HEADER {
        return Err(AssetError::Truncated {
            expected: FILE_HEADER as u64,
            found: bytes.len() as u64,
        });
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let broken_header = AssetError::Damaged {
        part: "the file header".into(),
    };
    if word(24) != crc32fast::hash(&bytes[..24]) || word(28) != 0 {
        return Err(broken_header);
    }
    if word(8) != VERSION {
        return Err(AssetError::Version {
            found: word(8),
            supported: VERSION,
        });
    }
    if long(16) != bytes.len() as u64 {
        return Err(AssetError::Truncated {
            expected: long(16),
            found: bytes.len() as u64,
        });
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = FILE_HEADER;
    for _ in 0..word(12) {
        let damaged = |tag: SectionTag| AssetError::Damaged {
            part: format!("section {tag}"),
        };
        if bytes.len() - at < SECTION_HEADER {
            return Err(broken_header);
        }
        let tag = SectionTag(bytes[at..at + 4].try_into().expect("four bytes"));
        let start = at + SECTION_HEADER;
        let length = usize::try_from(long(at + 8)).ok();
        let end = length.and_then(|l| start.checked_add(l));
        let padded = end.and_then(|e| e.checked_next_multiple_of(8));
        let (Some(end), Some(padded)) = (end, padded.filter(|&p| p <= bytes.len())) else {
            return Err(damaged(tag));
        };
        let content = &bytes[start..end];
        let zeros = word(at + 20) == 0 && bytes[end..padded].iter().all(|&b| b == 0);
        if !zeros || word(at + 16) != checksum(&bytes[at..at + 16], content) {
            return Err(damaged(tag));
        }
        if sections.iter().any(|s| s.tag == tag) {
            return Err(AssetError::Twice { tag });
        }
        sections.push(Section {
            tag,
            required: word(at + 4) & REQUIRED != 0,
            content,
        });
        at = padded;
    }
    if at != bytes.len() {
        return Err(broken_header);
    }
    Ok(sections)
}
