//! Numbers of either byte order from raw bytes. Each takes a slice of exactly its size.

macro_rules! readers {
    ($($name:ident: $bytes:literal),*) => {$(
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

readers!(i32: 4, u64: 8, f64: 8);
