//! Bytes in and out of a section: little-endian, lengths checked before memory is taken.
//!
//! ```
//! use fracas_bake::asset::{Decoder, Encoder};
//!
//! let mut out = Encoder::new();
//! out.u32(7);
//! out.f32s(&[1.0, 2.5]);
//! let bytes = out.finish();
//! let mut input = Decoder::new(&bytes);
//! assert_eq!(input.u32()?, 7);
//! assert_eq!(input.f32s()?, [1.0, 2.5]);
//! input.finish()?;
//! # Ok::<(), fracas_bake::asset::DecodeError>(())
//! ```

use std::borrow::Cow;

use thiserror::Error;

/// Why bytes are not what a section's reader expects.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// It ends too early.
    #[error("{needed} bytes are needed at offset {offset}, but only {left} are left")]
    TooShort {
        /// Where.
        offset: usize,
        /// How many bytes the next item needs.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// Something follows after the end.
    #[error("{left} bytes are left over at offset {offset}")]
    TooLong {
        /// Where.
        offset: usize,
        /// How many.
        left: usize,
    },
    /// A string is not UTF-8.
    #[error("the text at offset {offset} is not UTF-8")]
    NotText {
        /// Where.
        offset: usize,
    },
}

/// Writes numbers, lists and text.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

macro_rules! number {
    ($one:ident, $many:ident, $rows:ident, $borrowed:ident, $type:ty) => {
        impl Encoder {
            #[doc = concat!("One `", stringify!($type), "`.")]
            pub fn $one(&mut self, value: $type) {
                self.bytes.extend(value.to_le_bytes());
            }

            #[doc = concat!("A list of `", stringify!($type), "`, with its length.")]
            pub fn $many(&mut self, values: &[$type]) {
                self.length(values.len());
                self.bytes.reserve(size_of_val(values));
                for value in values {
                    self.$one(*value);
                }
            }
        }

        impl<'a> Decoder<'a> {
            #[doc = concat!("One `", stringify!($type), "`.")]
            ///
            /// # Errors
            /// When the bytes end.
            pub fn $one(&mut self) -> Result<$type, DecodeError> {
                self.take(size_of::<$type>() as u64)
                    .map(|b| <$type>::from_le_bytes(b.try_into().expect("so many were taken")))
            }

            #[doc = concat!("A list of `", stringify!($type), "`.")]
            ///
            /// # Errors
            /// When the bytes end before the list does.
            pub fn $many(&mut self) -> Result<Vec<$type>, DecodeError> {
                Ok(self.$rows::<1>()?.into_flattened())
            }

            #[doc = concat!("A list of `", stringify!($type), "` in rows of `N`.")]
            ///
            /// # Errors
            /// When the bytes end before the list does, or its last row is not whole.
            pub fn $rows<const N: usize>(&mut self) -> Result<Vec<[$type; N]>, DecodeError> {
                let (items, _) = self.list(size_of::<[$type; N]>(), N)?.as_chunks();
                let number = |item: &[u8; _]| <$type>::from_le_bytes(*item);
                let (rows, _) = items.as_chunks::<N>();
                Ok(rows.iter().map(|row| row.each_ref().map(number)).collect())
            }

            #[doc = concat!("A list of `", stringify!($type), "` in rows of `N`, where it lies \
                             if it can be read there.")]
            ///
            /// # Errors
            /// When the bytes end before the list does, or its last row is not whole.
            pub fn $borrowed<const N: usize>(
                &mut self,
            ) -> Result<Cow<'a, [[$type; N]]>, DecodeError> {
                let mut here = self.clone();
                let bytes = here.list(size_of::<[$type; N]>(), N)?;
                match bytemuck::try_cast_slice::<u8, $type>(bytes) {
                    Ok(items) if cfg!(target_endian = "little") => {
                        *self = here;
                        Ok(Cow::Borrowed(items.as_chunks().0))
                    }
                    _ => self.$rows().map(Cow::Owned),
                }
            }
        }
    };
}

number!(u8, u8s, u8_rows, borrowed_u8s, u8);
number!(u32, u32s, u32_rows, borrowed_u32s, u32);
number!(u64, u64s, u64_rows, borrowed_u64s, u64);
number!(f32, f32s, f32_rows, borrowed_f32s, f32);
number!(f64, f64s, f64_rows, borrowed_f64s, f64);

impl Encoder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Text, with its length.
    pub fn text(&mut self, text: &str) {
        self.u8s(text.as_bytes());
    }

    /// What was written.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn length(&mut self, length: usize) {
        self.u64(length as u64);
    }
}

/// Reads what an [`Encoder`] wrote; never takes more memory than the bytes have.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Decoder<'a> {
    /// Reads from the start.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Text.
    ///
    /// # Errors
    /// When the bytes end, or are not UTF-8.
    pub fn text(&mut self) -> Result<String, DecodeError> {
        let offset = self.offset;
        String::from_utf8(self.u8s()?).map_err(|_| DecodeError::NotText { offset })
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// When something is.
    pub fn finish(self) -> Result<(), DecodeError> {
        let left = self.bytes.len() - self.offset;
        if left == 0 {
            return Ok(());
        }
        Err(DecodeError::TooLong {
            offset: self.offset,
            left,
        })
    }

    /// The bytes of a list of which so many numbers, that take so many bytes, are a row.
    fn list(&mut self, row: usize, numbers: usize) -> Result<&'a [u8], DecodeError> {
        let size = row / numbers;
        let count = self.u64()?;
        let bytes = self.take(count.saturating_mul(size as u64))?;
        match bytes.len() % row {
            0 => Ok(bytes),
            left => Err(DecodeError::TooLong {
                offset: self.offset,
                left,
            }),
        }
    }

    fn take(&mut self, needed: u64) -> Result<&'a [u8], DecodeError> {
        let left = self.bytes.len() - self.offset;
        if needed > left as u64 {
            return Err(DecodeError::TooShort {
                offset: self.offset,
                needed,
                left,
            });
        }
        let start = self.offset;
        self.offset += needed as usize;
        Ok(&self.bytes[start..self.offset])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_back_and_nothing_more() {
        let mut out = Encoder::new();
        out.u8(9);
        out.u64(1 << 40);
        out.f64s(&[0.1, f64::MAX]);
        out.u32s(&[]);
        out.text("gr\u{fc}n");
        let bytes = out.finish();
        let mut input = Decoder::new(&bytes);
        assert_eq!((input.u8(), input.u64()), (Ok(9), Ok(1 << 40)));
        assert!(matches!(
            input.clone().f64_rows::<3>(),
            Err(DecodeError::TooLong { left: 16, .. })
        ));
        assert_eq!(input.f64_rows::<2>().unwrap(), [[0.1, f64::MAX]]);
        assert!(input.u32s().unwrap().is_empty());
        assert!(matches!(
            input.clone().finish(),
            Err(DecodeError::TooLong { .. })
        ));
        assert_eq!(input.text().unwrap(), "gr\u{fc}n");
        input.finish().unwrap();
    }

    #[test]
    fn a_length_that_lies_takes_no_memory() {
        let bytes = u64::MAX.to_le_bytes();
        let error = Decoder::new(&bytes).f64s().unwrap_err();
        assert!(matches!(error, DecodeError::TooShort { left: 0, .. }));
    }
}
