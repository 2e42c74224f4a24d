//! Textures: PNG and JPEG files, made small, looked up with bilinear weights.

use glam::{Vec2, Vec3};
use thiserror::Error;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

use crate::colour::Colour;

/// Why bytes are no texture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextureError {
    /// Neither PNG nor JPEG.
    #[error("the picture is neither PNG nor JPEG")]
    Unknown,
    /// The decoder refused.
    #[error("the picture is damaged: {0}")]
    Damaged(String),
    /// More pixels than a texture of ours has.
    #[error("the picture has {width} x {height} pixels, more than {limit}")]
    TooLarge {
        /// Pixels across.
        width: usize,
        /// Pixels down.
        height: usize,
        /// The most.
        limit: usize,
    },
}

/// A picture to put on triangles.
#[derive(Clone, Debug)]
pub struct Texture {
    width: usize,
    height: usize,
    /// Linear light.
    pixels: Vec<Vec3>,
}

/// The most pixels of a file.
const LIMIT: usize = 1 << 27;
/// Larger pictures are made smaller: those drawn here are small.
const LARGEST: usize = 1024;

impl Texture {
    /// Decodes a PNG or JPEG file.
    ///
    /// # Errors
    /// See [`TextureError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, TextureError> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Self::png(bytes),
            [0xff, 0xd8, ..] => Self::jpeg(bytes),
            _ => Err(TextureError::Unknown),
        }
    }

    fn png(bytes: &[u8]) -> Result<Self, TextureError> {
        let damaged = |e: png::DecodingError| TextureError::Damaged(e.to_string());
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(damaged)?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        check(width, height)?;
        let size = reader
            .output_buffer_size()
            .ok_or_else(|| TextureError::Damaged("its size is not known".into()))?;
        let mut data = vec![0; size];
        let info = reader.next_frame(&mut data).map_err(damaged)?;
        let channels = info.color_type.samples();
        Ok(Self::build(width, height, channels, &data))
    }

    fn jpeg(bytes: &[u8]) -> Result<Self, TextureError> {
        let mut decoder = JpegDecoder::new(ZCursor::new(bytes));
        let damaged = |e: zune_jpeg::errors::DecodeErrors| TextureError::Damaged(e.to_string());
        decoder.decode_headers().map_err(damaged)?;
        let (width, height) = decoder.dimensions().ok_or(TextureError::Unknown)?;
        check(width, height)?;
        let data = decoder.decode().map_err(damaged)?;
        let channels = data.len() / (width * height).max(1);
        Ok(Self::build(width, height, channels, &data))
    }

    /// From bytes of one (grey), two (and opacity), three or four channels; the mean of
    /// blocks, where it is too large.
    fn build(width: usize, height: usize, channels: usize, data: &[u8]) -> Self {
        let by = width.max(height).div_ceil(LARGEST).max(1);
        let (small_width, small_height) = (width.div_ceil(by), height.div_ceil(by));
        let linear: Vec<f32> = (0..=255).map(|v| Colour::from_srgb(v, v, v).0.x).collect();
        let mut pixels = Vec::with_capacity(small_width * small_height);
        for y in 0..small_height {
            for x in 0..small_width {
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for v in y * by..((y + 1) * by).min(height) {
                    for u in x * by..((x + 1) * by).min(width) {
                        let at = (v * width + u) * channels;
                        let channel = |k: usize| {
                            let k = if channels < 3 { 0 } else { k };
                            data.get(at + k).map_or(0.0, |&b| linear[b as usize])
                        };
                        sum += Vec3::new(channel(0), channel(1), channel(2));
                        count += 1.0;
                    }
                }
                pixels.push(sum / count);
            }
        }
        Self {
            width: small_width,
            height: small_height,
            pixels,
        }
    }

    /// The linear colour at texture coordinates (glTF's: from the upper left); it repeats.
    #[must_use]
    pub fn at(&self, uv: Vec2) -> Vec3 {
        if !uv.is_finite() || self.pixels.is_empty() {
            return Vec3::ONE;
        }
        let place = |t: f32, n: usize| {
            let x = (t - t.floor()) * n as f32 - 0.5;
            let first = x.floor();
            let index = |i: f32| (i as i64).rem_euclid(n as i64) as usize;
            (index(first), index(first + 1.0), x - first)
        };
        let (x0, x1, fx) = place(uv.x, self.width);
        let (y0, y1, fy) = place(uv.y, self.height);
        let pixel = |x: usize, y: usize| self.pixels[y * self.width + x];
        let top = pixel(x0, y0).lerp(pixel(x1, y0), fx);
        let bottom = pixel(x0, y1).lerp(pixel(x1, y1), fx);
        top.lerp(bottom, fy)
    }
}

fn check(width: usize, height: usize) -> Result<(), TextureError> {
    if width == 0 || height == 0 || width.saturating_mul(height) > LIMIT {
        return Err(TextureError::TooLarge {
            width,
            height,
            limit: LIMIT,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    #[test]
    fn a_png_gives_its_colours_back_and_repeats() {
        let mut image = Image::new(4, 4, Colour::BLACK);
        image.fill(0, 0, 2, 4, Colour::from_srgb(255, 0, 0));
        let texture = Texture::decode(&image.to_png().unwrap()).unwrap();
        for whole in [-2.0, 0.0, 5.0] {
            let red = texture.at(Vec2::new(0.25 + whole, 0.5));
            assert!(red.x > 0.99 && red.y < 0.01, "{red}");
            let black = texture.at(Vec2::new(0.75, 0.5 - whole));
            assert!(black.length() < 0.01, "{black}");
        }
        assert_eq!(texture.at(Vec2::NAN), Vec3::ONE);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(
            Texture::decode(b"GIF89a"),
            Err(TextureError::Unknown)
        ));
        let mut png = Image::new(4, 4, Colour::BLACK).to_png().unwrap();
        png.truncate(40);
        assert!(matches!(
            Texture::decode(&png),
            Err(TextureError::Damaged(_))
        ));
        assert!(Texture::decode(&[0xff, 0xd8, 0xff, 0x00, 0x01]).is_err());
    }
}
