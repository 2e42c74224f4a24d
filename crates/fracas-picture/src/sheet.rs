//! A contact sheet: several pictures in a grid, each with a caption.

use crate::colour::Colour;
use crate::image::Image;

const PAPER: [u8; 3] = [250, 249, 246];
const INK: [u8; 3] = [44, 46, 50];
const QUIET: [u8; 3] = [120, 122, 126];
const GAP: usize = 14;
const SCALE: usize = 2;

/// Pictures with captions, laid out in rows.
#[derive(Clone, Debug)]
pub struct Sheet {
    title: String,
    columns: usize,
    cells: Vec<(Image, String)>,
}

impl Sheet {
    /// An empty sheet with this many pictures in a row (at least one).
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            title: String::new(),
            columns: columns.max(1),
            cells: Vec::new(),
        }
    }

    /// A line above all.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a picture; a `\n` in the caption starts a second, quieter line.
    pub fn add(&mut self, image: Image, caption: impl Into<String>) {
        self.cells.push((image, caption.into()));
    }

    /// Lays everything out; cells are as large as the largest picture.
    #[must_use]
    pub fn image(&self) -> Image {
        let size = |f: fn(&Image) -> usize| self.cells.iter().map(|c| f(&c.0)).max().unwrap_or(1);
        let (width, height) = (size(Image::width), size(Image::height));
        let lines = self.cells.iter().map(|c| c.1.lines().count()).max();
        let line = Image::text_height(SCALE) + 4;
        let caption = lines.unwrap_or(0) * line;
        let columns = self.columns.min(self.cells.len().max(1));
        let rows = self.cells.len().div_ceil(columns);
        let top = GAP
            + if self.title.is_empty() {
                0
            } else {
                Image::text_height(3) + GAP
            };
        let [paper, ink, quiet] = [PAPER, INK, QUIET].map(|[r, g, b]| Colour::from_srgb(r, g, b));
        let mut sheet = Image::new(
            (GAP + columns * (width + GAP)).max(GAP * 2 + Image::text_width(3, &self.title)),
            top + rows * (height + caption + GAP),
            paper,
        );
        sheet.text(GAP, GAP, 3, ink, &self.title);
        for (i, (image, text)) in self.cells.iter().enumerate() {
            let x = GAP + i % columns * (width + GAP);
            let y = top + i / columns * (height + caption + GAP);
            sheet.paste(image, x, y);
            let fits = width / Image::text_width(SCALE, "m");
            for (l, words) in text.lines().enumerate() {
                let words: String = words.chars().take(fits).collect();
                let colour = if l == 0 { ink } else { quiet };
                sheet.text(x, y + height + 5 + l * line, SCALE, colour, &words);
            }
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_overlap_and_all_are_there() {
        let mut sheet = Sheet::new(2).title("five");
        for i in 0..5_u8 {
            sheet.add(
                Image::new(60, 30, Colour::from_srgb(i * 40, 0, 200)),
                "a\nb",
            );
        }
        let image = sheet.image();
        for i in 0..5_u8 {
            let count = image
                .pixels()
                .iter()
                .filter(|p| **p == [i * 40, 0, 200])
                .count();
            assert_eq!(count, 60 * 30);
        }
    }

    #[test]
    fn an_empty_sheet_is_a_picture() {
        assert!(Sheet::new(0).image().to_png().is_ok());
    }
}
