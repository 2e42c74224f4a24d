//! `.fracas` files as assets of Bevy.

use std::sync::Arc;

use bevy::asset::io::Reader;
use bevy::asset::{AssetLoader, LoadContext};
use bevy::prelude::*;
use fracas_bake::{Asset as Baked, AssetError};
use fracas_rapier::{Blueprint, ObjectError};
use thiserror::Error;

/// Everything computed ahead about one object.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct FracasAsset {
    baked: Arc<Baked>,
    blueprint: Arc<Blueprint>,
}

/// Why bytes are no asset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    File(#[from] std::io::Error),
    /// It is no asset, or a damaged one.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// What is in it makes no object.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl FracasAsset {
    /// Of what was baked.
    ///
    /// # Errors
    /// Where its tetrahedra make no object.
    pub fn new(baked: Baked) -> Result<Self, ObjectError> {
        Ok(Self {
            blueprint: Arc::new(Blueprint::of_asset(&baked)?),
            baked: Arc::new(baked),
        })
    }

    /// Of the bytes of a file.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Ok(Self::new(Baked::from_bytes(bytes)?)?)
    }

    /// What is in the file.
    #[must_use]
    pub fn baked(&self) -> &Arc<Baked> {
        &self.baked
    }

    /// Tetrahedra, field and tree.
    #[must_use]
    pub fn blueprint(&self) -> &Arc<Blueprint> {
        &self.blueprint
    }
}

/// Reads `.fracas` files.
#[derive(Default, TypePath)]
pub struct FracasLoader;

impl AssetLoader for FracasLoader {
    type Asset = FracasAsset;
    type Settings = ();
    type Error = LoadError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        _: &mut LoadContext<'_>,
    ) -> Result<FracasAsset, LoadError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        FracasAsset::from_bytes(&bytes)
    }

    fn extensions(&self) -> &[&str] {
        &["fracas"]
    }
}
