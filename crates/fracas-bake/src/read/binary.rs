//! Numbers from raw bytes of either byte order, by the types that headers name.

use super::scanner::{Result, Scanner};

macro_rules! readers {
    ($($name:ident: $bytes:literal),*) => {$(
        /// Takes a slice of exactly its size.
        pub(super) fn $name(raw: &[u8], big_endian: bool) -> $name {
            let mut bytes = [0; $bytes];
            bytes.copy_from_slice(raw);
            if big_endian {
                $name::from_be_bytes(bytes)
            } else {
                $name::from_le_bytes(bytes)
            }
        }
    )*};
}

readers!(i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8, f32: 4, f64: 8);

/// A scalar type of a PLY or VTK header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number in `raw`, of exactly [`Scalar::size`] bytes. Integers beyond 2^53
    /// are rounded; as indices they are out of range anyway.
    pub(super) fn decode(self, raw: &[u8], big: bool) -> f64 {
        match self {
            Self::I8 => i8(raw, big).into(),
            Self::U8 => u8(raw, big).into(),
            Self::I16 => i16(raw, big).into(),
            Self::U16 => u16(raw, big).into(),
            Self::I32 => i32(raw, big).into(),
            Self::U32 => u32(raw, big).into(),
            Self::I64 => i64(raw, big) as f64,
            Self::U64 => u64(raw, big) as f64,
            Self::F32 => f32(raw, big).into(),
            Self::F64 => f64(raw, big),
        }
    }
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

impl Encoding {
    /// The next number.
    pub(super) fn number(self, s: &mut Scanner<'_>, scalar: Scalar, what: &str) -> Result<f64> {
        match self {
            Self::Text => s.number(what),
            _ => Ok(scalar.decode(s.raw(scalar.size(), what)?, self == Self::Big)),
        }
    }

    /// The next number as an index or count; `None` when it is not one below 2^32.
    pub(super) fn index(
        self,
        s: &mut Scanner<'_>,
        scalar: Scalar,
        what: &str,
    ) -> Result<Option<u32>> {
        let number = self.number(s, scalar, what)?;
        let whole = number as u32;
        Ok((f64::from(whole) == number).then_some(whole))
    }

    /// The least bytes that a number takes.
    pub(super) fn least(self, scalar: Scalar) -> usize {
        match self {
            Self::Text => 2,
            _ => scalar.size(),
        }
    }
}
