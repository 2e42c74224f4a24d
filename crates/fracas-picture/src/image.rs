//! Pixels, text on them, and the way to a PNG file.

use std::io;
use std::path::Path;

use thiserror::Error;

use crate::colour::Colour;
use crate::font;

/// Why a picture could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file cannot be written.
    #[error("cannot write the picture {path}: {source}")]
    Write {
        /// Where it should have gone.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The PNG encoder refused.
    #[error("cannot encode the picture as PNG: {0}")]
    Encode(#[from] png::EncodingError),
}

/// A picture: rows of sRGB pixels from the upper left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn new(width: usize, height: usize, colour: Colour) -> Self {
        Self {
            width,
            height,
            pixels: vec![colour.to_srgb(); width * height],
        }
    }

    /// Pixels across.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    pub(crate) fn pixels_mut(&mut self) -> &mut [[u8; 3]] {
        &mut self.pixels
    }

    /// Sets one pixel; outside the picture: nothing.
    pub fn set(&mut self, x: usize, y: usize, colour: Colour) {
        if x < self.width && y < self.height {
            self.pixels[y * self.width + x] = colour.to_srgb();
        }
    }

    /// Fills a rectangle, cut to the picture.
    pub fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Colour) {
        let bytes = colour.to_srgb();
        let right = x.saturating_add(width).min(self.width);
        for row in y..y.saturating_add(height).min(self.height) {
            if x < right {
                self.pixels[row * self.width + x..row * self.width + right].fill(bytes);
            }
        }
    }

    /// Copies another picture into this one, cut to it.
    pub fn paste(&mut self, other: &Self, x: usize, y: usize) {
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let width = other.width.min(self.width.saturating_sub(x));
            let (from, to) = (row * other.width, (y + row) * self.width + x);
            self.pixels[to..to + width].copy_from_slice(&other.pixels[from..from + width]);
        }
    }

    /// Writes one line of text with its upper left corner here; each pixel of the
    /// built-in font becomes `scale` x `scale`. Returns the width written.
    pub fn text(&mut self, x: usize, y: usize, scale: usize, colour: Colour, text: &str) -> usize {
        let mut left = x;
        for character in text.chars() {
            for (row, bits) in font::glyph(character).into_iter().enumerate() {
                for column in (0..font::WIDTH).filter(|c| bits >> (font::WIDTH - 1 - c) & 1 == 1) {
                    self.fill(left + column * scale, y + row * scale, scale, scale, colour);
                }
            }
            left += font::ADVANCE * scale;
        }
        left - x
    }

    /// The width that [`Image::text`] would write.
    #[must_use]
    pub fn text_width(scale: usize, text: &str) -> usize {
        text.chars().count() * font::ADVANCE * scale
    }

    /// The height of a line of text, descenders included.
    #[must_use]
    pub fn text_height(scale: usize) -> usize {
        font::HEIGHT * scale
    }

    /// The bytes of a PNG file.
    ///
    /// # Errors
    /// When the picture has no pixels, or more than PNG can hold.
    pub fn to_png(&self) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// As [`Image::to_png`], and when the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ImageError> {
        let path = path.as_ref();
        std::fs::write(path, self.to_png()?).map_err(|source| ImageError::Write {
            path: path.display().to_string(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_reads_back_to_the_same_pixels() {
        let mut image = Image::new(9, 5, Colour::from_srgb(10, 20, 30));
        image.set(3, 2, Colour::WHITE);
        image.set(99, 2, Colour::WHITE);
        let bytes = image.to_png().unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, image.pixels().as_flattened());
    }

    #[test]
    fn an_empty_picture_is_an_error_and_not_a_panic() {
        assert!(Image::new(0, 4, Colour::WHITE).to_png().is_err());
    }

    #[test]
    fn text_stays_inside_the_picture() {
        let mut image = Image::new(20, 10, Colour::WHITE);
        assert_eq!(image.text(2, 1, 1, Colour::BLACK, "g|\u{e9}"), 18);
        image.text(15, 5, 3, Colour::BLACK, "cut off");
        assert!(image.pixels().contains(&[0, 0, 0]));
    }

    #[test]
    fn a_pasted_picture_is_cut_to_the_frame() {
        let mut image = Image::new(4, 4, Colour::BLACK);
        image.paste(&Image::new(3, 3, Colour::WHITE), 2, 3);
        image.paste(&Image::new(3, 3, Colour::WHITE), 9, 9);
        let white = image.pixels().iter().filter(|p| p[0] == 255).count();
        assert_eq!(white, 2);
    }
}
