//! Base64, as pages embed pictures (RFC 4648, with padding).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..4 {
            if letter <= group.len() {
                let index = bits >> (18 - 6 * letter) & 63;
                text.push(LETTERS[index as usize] as char);
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Decodes what [`encode`] made; `None` for anything else.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.chunks(4) {
        let padding = group.iter().rev().take_while(|c| **c == b'=').count();
        if group.len() != 4 || padding > 2 {
            return None;
        }
        let mut bits = 0_u32;
        for &letter in &group[..4 - padding] {
            let value = LETTERS.iter().position(|l| *l == letter)?;
            bits = bits << 6 | value as u32;
        }
        bits <<= 6 * padding;
        bytes.extend(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn known_vectors() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::encode(plain.as_bytes()), coded);
            assert_eq!(super::decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        for bad in ["Zg=", "Z===", "Zm8!", "Zg==Z"] {
            assert_eq!(super::decode(bad), None, "{bad}");
        }
    }
}
