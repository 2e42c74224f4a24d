//! Plain bytes for serde: what snapshots are written in.
//!
//! Little-endian, fixed width, nothing but the values in their order: integers and
//! floats as they are, lengths as eight bytes, variants as four, options and booleans
//! as one. The same values give the same bytes on every machine.
//!
//! **Deviation** from what serde does with the engine's types: a collider whose shape
//! is none of parry's cannot be written by parry; a ball stands in its place, and
//! whoever reads puts the true shape back.
//!
//! **Guarantee**: reading never panics, and asks for no more memory than the bytes
//! read could fill.

mod read;
mod write;

use std::fmt;

pub(crate) use read::{read, read_start};
pub(crate) use write::write;

/// Why bytes are not what they should be, or a value cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodecError(pub(crate) String);

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CodecError {}

impl serde::ser::Error for CodecError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl serde::de::Error for CodecError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    enum Kind {
        Unit,
        One(f32),
        Two(u8, i64),
        Named { text: String, wide: u128 },
    }

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct All {
        kinds: Vec<Kind>,
        maybe: Option<Box<All>>,
        map: BTreeMap<u32, (bool, char)>,
        exact: [f64; 3],
        unit: (),
        small: (i8, i16, i32, u16, u64),
    }

    fn sample(depth: u32) -> All {
        All {
            kinds: vec![
                Kind::Unit,
                Kind::One(f32::from_bits(0x7fc0_1234)),
                Kind::Two(7, i64::MIN),
                Kind::Named {
                    text: "ε".into(),
                    wide: u128::MAX - 5,
                },
            ],
            maybe: (depth > 0).then(|| Box::new(sample(depth - 1))),
            map: BTreeMap::from([(3, (true, 'ß')), (9, (false, '0'))]),
            exact: [0.1, -0.0, f64::INFINITY],
            unit: (),
            small: (-1, -300, i32::MIN, u16::MAX, u64::MAX),
        }
    }

    #[test]
    fn what_is_written_is_read_back_with_the_same_bits() {
        let bytes = write(&sample(2)).unwrap();
        let back: All = read(&bytes).unwrap();
        assert_eq!(write(&back).unwrap(), bytes);
        let Kind::One(nan) = back.kinds[1] else {
            panic!("{back:?}")
        };
        assert_eq!(nan.to_bits(), 0x7fc0_1234);
        assert_eq!(back.map, sample(0).map);
    }

    #[test]
    fn bytes_cut_short_changed_or_too_many_are_errors_or_other_values_never_panics() {
        let bytes = write(&sample(1)).unwrap();
        for cut in 0..bytes.len() {
            assert!(read::<All>(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = read::<All>(&changed);
            }
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(read::<All>(&longer).is_err());
        // A length that no memory could hold.
        assert!(read::<Vec<u64>>(&u64::MAX.to_le_bytes()).is_err());
        assert!(read::<Vec<()>>(&u64::MAX.to_le_bytes()).is_err());
    }
}
