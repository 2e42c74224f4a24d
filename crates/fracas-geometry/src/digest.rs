//! A number that is equal for equal runs.

/// FNV-1a (Fowler, Noll, Vo) over bytes or words: the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes up a byte, or a word in one piece.
    #[inline]
    pub fn add(&mut self, value: impl Into<u64>) {
        self.0 = (self.0 ^ value.into()).wrapping_mul(0x0100_0000_01b3);
    }

    /// Of all that was added.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0
    }
}

impl<T: Into<u64>> FromIterator<T> for Digest {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut digest = Self::default();
        values.into_iter().for_each(|value| digest.add(value));
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_published_digests() {
        let of = |text: &str| text.bytes().collect::<Digest>().value();
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
