//! Sections in the report's folder, and the page that is drawn from them.

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::section::{Block, Section};
use crate::sections::{CHAPTERS, SECTIONS};
use crate::store::{Store, StoreError, read_folder, write, write_json};
use crate::{html, svg};

impl Store {
    /// Keeps a section, and draws the page anew.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn keep(&self, section: &Section) -> Result<(), StoreError> {
        let path = self
            .root
            .join("sections")
            .join(format!("{}.json", section.id));
        write_json(&path, section)?;
        for (number, figure) in figures(section).iter().enumerate() {
            let name = format!("{}-{}.{}", section.id, number + 1, figure.ending);
            write(&self.root.join("figures").join(name), &figure.bytes)?;
        }
        self.draw()
    }

    /// All sections that were measured, in the report's order.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn sections(&self) -> Result<Vec<Section>, StoreError> {
        let mut sections: Vec<Section> = read_folder(&self.root.join("sections"))?;
        let place = |id: &str| SECTIONS.iter().position(|s| s.id == id);
        sections.retain(|s| place(&s.id).is_some());
        sections.sort_by_key(|s| place(&s.id));
        Ok(sections)
    }

    /// Draws the page and the one JSON file from what is there.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn draw(&self) -> Result<(), StoreError> {
        let sections = self.sections()?;
        write(
            &self.page_path(),
            html::page(&sections, CHAPTERS).as_bytes(),
        )?;
        write_json(
            &self.json_path(),
            &serde_json::json!({ "format": "fracas report 1", "sections": sections }),
        )
    }
}

/// A plot or picture of a section, as a file.
pub(crate) struct Figure {
    /// `svg` or `png`.
    pub ending: &'static str,
    /// What the file holds.
    pub bytes: Vec<u8>,
}

/// The plots and pictures of a section, in its order.
pub(crate) fn figures(section: &Section) -> Vec<Figure> {
    let file = |block: &Block| match block {
        Block::Plot(plot) => Some(Figure {
            ending: "svg",
            bytes: svg::file(plot).into_bytes(),
        }),
        Block::Picture { png, .. } => Some(Figure {
            ending: "png",
            bytes: BASE64_STANDARD.decode(png).ok()?,
        }),
        _ => None,
    };
    section.blocks.iter().filter_map(file).collect()
}
