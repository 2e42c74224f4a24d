//! A folder of baked assets, so that a model is baked once on each machine.
//!
//! The name of a file contains a digest of the model's content, of all options and of the
//! version of this crate; the file itself repeats them, and they are compared when it is
//! read. A file that is damaged, foreign or of another version is ignored and replaced. A
//! folder that cannot be read or written is no error: the model is baked.
//!
//! ```
//! use std::ops::ControlFlow;
//! use fracas_bake::bake::{BakeOptions, Source};
//! use fracas_bake::cache::{BakeCache, bake_cached};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! # let options = BakeOptions { size: Some(fracas_bake::tetrahedralize::Size::Tets(500)), ..BakeOptions::default() };
//! let cache = BakeCache::at(folder);
//! for _ in 0..2 {
//!     // The second time, the result is loaded.
//!     bake_cached(Source::open("brick")?, &options, &cache, &mut |progress| {
//!         println!("{}", progress.stage.text());
//!         ControlFlow::Continue(())
//!     })?;
//! }
//! # Ok::<(), fracas_bake::bake::BakeError>(())
//! ```

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fracas_core::{Digest, TetMesh};
use glam::DVec3;
use serde_json::{Value, json};

use crate::asset::{Asset, SectionTag};
use crate::bake::{BakeError, BakeOptions, Baked, Progress, Source, Stage, Watch, bake_while};
use crate::fill::FillNote;
use crate::surface_mesh::SurfaceMesh;
use crate::tetrahedralize::quality::angles;
use crate::write::write_file;

/// Raise this when the same input and options give another result.
const METHOD: u32 = 1;

/// What was baked, and what was noted on the way.
const RECIPE: SectionTag = SectionTag(*b"RCPE");

/// Ending of the files; others in the folder are never touched.
const ENDING: &str = "fracas-cache";

/// Maximum size of the folder, in bytes, unless it is set: 1 GiB.
const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// Environment variable that names the folder of [`BakeCache::user`], or turns it off.
const VARIABLE: &str = "FRACAS_CACHE";

/// Where baked assets are kept, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BakeCache {
    folder: Option<PathBuf>,
    max_bytes: u64,
}

impl Default for BakeCache {
    fn default() -> Self {
        Self::user()
    }
}

impl BakeCache {
    /// The user's cache folder (the default): `fracas` in `$XDG_CACHE_HOME` or `~/.cache`, on
    /// macOS in `~/Library/Caches`, on Windows in `%LOCALAPPDATA%`.
    ///
    /// The environment variable `FRACAS_CACHE` names another folder; empty or `off`, it
    /// turns the cache off. Where there is no such folder (in a browser), it is off.
    #[must_use]
    pub fn user() -> Self {
        Self::of_variables(&|name| std::env::var_os(name).map(PathBuf::from))
    }

    fn of_variables(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        if let Some(folder) = variable(VARIABLE) {
            let off = folder.as_os_str().is_empty() || folder.as_os_str() == "off";
            return if off { Self::off() } else { Self::at(folder) };
        }
        // A relative path in these variables is invalid and to be ignored.
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let folder = if cfg!(windows) {
            absolute("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            absolute("HOME").map(|home| home.join("Library/Caches"))
        } else {
            let home = || absolute("HOME").map(|home| home.join(".cache"));
            absolute("XDG_CACHE_HOME").or_else(home)
        };
        folder.map_or_else(Self::off, |folder| Self::at(folder.join("fracas")))
    }

    /// This folder. It is made when it is first written.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }

    /// No cache: everything is baked each time.
    #[must_use]
    pub fn off() -> Self {
        Self {
            folder: None,
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }

    /// The same with another maximum size, in bytes (default: 1 GiB). What was not used for
    /// longest is removed first.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The folder; `None` where the cache is off.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    fn load(&self, key: &Key) -> Option<Baked> {
        let path = self.folder()?.join(&key.file);
        let asset = Asset::from_bytes(&fs::read(&path).ok()?).ok()?;
        let recipe: Value = serde_json::from_slice(asset.section(RECIPE)?).ok()?;
        let is_same = recipe["options"] == key.options.as_str()
            && asset.name() == key.name
            && match &key.content {
                Content::Surface(skin) => asset.skin() == Some(skin),
                Content::Tets(mesh) => asset.mesh() == mesh,
                Content::Shape => true,
            };
        if !is_same {
            return None;
        }
        let notes = recipe["notes"].as_array()?;
        let notes = notes.iter().map(note_of).collect::<Option<_>>()?;
        // Marks it as used; if that fails, it is removed earlier than others.
        let file = fs::File::options().write(true).open(&path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        let positions: Vec<DVec3> = asset
            .mesh()
            .positions()
            .iter()
            .map(|p| p.as_dvec3())
            .collect();
        Some(Baked {
            angles: angles(&positions, asset.mesh().tets()),
            surface_volume: recipe["surface_volume"].as_f64(),
            notes,
            asset,
        })
    }

    /// Adds the object's structures to what was baked, and writes it.
    fn store(&self, key: &Key, baked: &mut Baked) {
        let Some(folder) = self.folder() else {
            return;
        };
        let recipe = json!({
            "options": key.options,
            "surface_volume": baked.surface_volume,
            "notes": baked.notes.iter().map(value_of).collect::<Vec<_>>(),
        });
        // What makes no distance field is refused later, with the reason.
        if baked.asset.add_object().is_err() {
            return;
        }
        let mut asset = baked.asset.clone();
        if asset
            .put_section(RECIPE, recipe.to_string().into_bytes())
            .is_err()
        {
            return;
        }
        let bytes = asset.to_bytes();
        if bytes.len() as u64 > self.max_bytes || fs::create_dir_all(folder).is_err() {
            return;
        }
        self.make_room(folder, bytes.len() as u64);
        // A cache that cannot be written is none.
        let _ = write_file(folder.join(&key.file), &bytes);
    }

    /// Removes what was not used for longest until `needed` more bytes fit.
    fn make_room(&self, folder: &Path, needed: u64) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, PathBuf, u64)> = entries
            .flatten()
            .filter(|entry| entry.path().extension() == Some(OsStr::new(ENDING)))
            .filter_map(|entry| {
                let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((data.modified().ok()?, entry.path(), data.len()))
            })
            .collect();
        files.sort_unstable();
        let mut total: u64 = files.iter().map(|file| file.2).sum();
        for (_, path, bytes) in files {
            if total + needed <= self.max_bytes {
                return;
            }
            if fs::remove_file(path).is_ok() {
                total -= bytes;
            }
        }
    }
}

/// What was given, for comparison.
enum Content {
    Surface(SurfaceMesh),
    Tets(TetMesh),
    /// The name says it.
    Shape,
}

/// What a result depends on.
struct Key {
    /// Name of the file.
    file: String,
    /// Name of the asset.
    name: String,
    /// Options and versions.
    options: String,
    content: Content,
}

impl Key {
    /// `None` for an asset: its author keeps it already.
    fn of(source: &Source, options: &BakeOptions) -> Option<Self> {
        let mut digest = Digest::default();
        let (name, content) = match source {
            Source::Shape(shape) => (shape.name(), Content::Shape),
            Source::Surface(name, skin) => {
                skin.positions()
                    .iter()
                    .for_each(|p| add_place(&mut digest, *p));
                skin.triangles()
                    .iter()
                    .flatten()
                    .for_each(|&v| digest.add(v));
                let uvs = skin.uvs().into_iter().flatten().flatten();
                uvs.for_each(|uv| {
                    uv.to_array()
                        .into_iter()
                        .for_each(|x| digest.add(x.to_bits()))
                });
                (name.as_str(), Content::Surface(skin.clone()))
            }
            Source::Tets(name, mesh) => (name.as_str(), tets(mesh, &mut digest)),
            Source::Asset(_) => return None,
        };
        let version = env!("CARGO_PKG_VERSION");
        let options = format!("{version} {METHOD} {options:?}");
        let text = name.bytes().chain([0]).chain(options.bytes());
        text.for_each(|byte| digest.add(byte));
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let stem: String = name.chars().take(40).map(plain).collect();
        Some(Self {
            file: format!("{stem}-{:016x}.{ENDING}", digest.value()),
            name: name.to_owned(),
            options,
            content,
        })
    }
}

fn add_place(digest: &mut Digest, p: DVec3) {
    p.to_array()
        .into_iter()
        .for_each(|x| digest.add(x.to_bits()));
}

fn tets(mesh: &TetMesh, digest: &mut Digest) -> Content {
    mesh.positions()
        .iter()
        .for_each(|p| add_place(digest, p.as_dvec3()));
    mesh.tets().iter().flatten().for_each(|&n| digest.add(n));
    Content::Tets(mesh.clone())
}

/// As [`bake_while`], with a cache: what was baked before with the same options is loaded
/// instead ([`Stage::Load`] is then the only stage). What is new is written to the cache, with
/// everything that a world needs of it (see [`Asset::add_object`]). Assets are not cached.
///
/// # Errors
/// See [`BakeError`]; never because of the cache.
pub fn bake_cached(
    source: Source,
    options: &BakeOptions,
    cache: &BakeCache,
    progress: &mut Watch<'_>,
) -> Result<Baked, BakeError> {
    let key = cache.folder().and_then(|_| Key::of(&source, options));
    let Some(key) = key else {
        return bake_while(source, options, progress);
    };
    if let Some(baked) = cache.load(&key) {
        let loaded = Progress {
            stage: Stage::Load,
            share: 1.0,
        };
        return match progress(loaded).is_continue() {
            true => Ok(baked),
            false => Err(BakeError::Cancelled),
        };
    }
    let mut baked = bake_while(source, options, progress)?;
    cache.store(&key, &mut baked);
    Ok(baked)
}

fn value_of(note: &FillNote) -> Value {
    match *note {
        FillNote::Finer { tets } => json!(["finer", tets]),
        FillNote::FinerForHandles { tets } => json!(["finer-for-handles", tets]),
        FillNote::Open { edges } => json!(["open", edges]),
        FillNote::Lids { count } => json!(["lids", count]),
        FillNote::Thickened { thickness } => json!(["thickened", thickness]),
        FillNote::Crossing => json!(["crossing"]),
        FillNote::Topology {
            input,
            made,
            place,
            distance,
        } => json!(["topology", input, made, place.to_array(), distance]),
    }
}

fn note_of(value: &Value) -> Option<FillNote> {
    let count = || value[1].as_u64().map(|n| n as usize);
    let pair = |v: &Value| Some([v[0].as_i64()?, v[1].as_i64()?]);
    Some(match value[0].as_str()? {
        "finer" => FillNote::Finer { tets: count()? },
        "finer-for-handles" => FillNote::FinerForHandles { tets: count()? },
        "open" => FillNote::Open { edges: count()? },
        "lids" => FillNote::Lids { count: count()? },
        "thickened" => FillNote::Thickened {
            thickness: value[1].as_f64()?,
        },
        "crossing" => FillNote::Crossing,
        "topology" => FillNote::Topology {
            input: pair(&value[1])?,
            made: pair(&value[2])?,
            place: DVec3::new(
                value[3][0].as_f64()?,
                value[3][1].as_f64()?,
                value[3][2].as_f64()?,
            ),
            distance: value[4].as_f64()?,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use fracas_fracture::Material;

    use super::*;
    use crate::bake::BakeModes;
    use crate::boundary_surface;
    use crate::shapes;
    use crate::tetrahedralize::Size;

    /// A brick as a surface; its size tells it from others.
    fn source(scale: f64) -> Source {
        let skin = boundary_surface(&shapes::by_name("brick").unwrap().build());
        let positions = skin.positions().iter().map(|p| *p * scale).collect();
        let skin = SurfaceMesh::build(positions, skin.triangles().to_vec()).unwrap();
        Source::Surface("brick".into(), skin)
    }

    fn options() -> BakeOptions {
        BakeOptions {
            size: Some(Size::Tets(1500)),
            modes: Some(BakeModes {
                count: 8,
                material: Material::BRICK,
            }),
            ..BakeOptions::default()
        }
    }

    /// The result, and whether it was loaded: by the stages that were reported.
    fn bake_at(cache: &BakeCache, scale: f64, options: &BakeOptions) -> (Baked, bool) {
        let mut stages = Vec::new();
        let baked = bake_cached(source(scale), options, cache, &mut |told| {
            stages.push(told.stage);
            ControlFlow::Continue(())
        })
        .unwrap();
        let is_loaded = stages == [Stage::Load];
        assert!(is_loaded || stages.contains(&Stage::Fill));
        (baked, is_loaded)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn second_bake_is_loaded_with_equal_bits() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BakeCache::at(folder.path().join("made/on/demand"));
        let (first, loaded) = bake_at(&cache, 1.0, &options());
        assert!(!loaded);
        let (second, loaded) = bake_at(&cache, 1.0, &options());
        assert!(loaded);
        assert_eq!(first.asset.mesh(), second.asset.mesh());
        assert_eq!(first.asset.modes(), second.asset.modes());
        assert_eq!(first.asset.skin(), second.asset.skin());
        let object = crate::asset::OBJECT;
        assert_eq!(first.asset.section(object), second.asset.section(object));
        assert_eq!(first.notes, second.notes);
        assert_eq!(first.surface_volume, second.surface_volume);
        let (off, loaded) = bake_at(&BakeCache::off(), 1.0, &options());
        assert!(!loaded && off.asset.mesh() == first.asset.mesh());
    }

    #[test]
    fn other_content_or_options_are_baked() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BakeCache::at(folder.path());
        let finer = BakeOptions {
            size: Some(Size::Tets(1600)),
            ..options()
        };
        let glass = BakeOptions {
            modes: Some(BakeModes {
                count: 8,
                material: Material::GLASS,
            }),
            ..options()
        };
        for _ in 0..2 {
            let all = [
                (1.0, options()),
                (1.001, options()),
                (1.0, finer),
                (1.0, glass),
            ];
            let loaded = all.map(|(scale, options)| bake_at(&cache, scale, &options).1);
            assert!(loaded == [files(folder.path()).len() == 4 && loaded[0]; 4]);
        }
        assert_eq!(files(folder.path()).len(), 4);
    }

    #[test]
    fn damaged_and_foreign_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BakeCache::at(folder.path());
        bake_at(&cache, 1.0, &options());
        let file = files(folder.path()).remove(0);
        let whole = fs::read(&file).unwrap();
        bake_at(&cache, 1.001, &options());
        let other = files(folder.path())
            .into_iter()
            .find(|f| *f != file)
            .unwrap();
        let foreign = fs::read(other).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for bad in [
            &whole[..whole.len() / 2],
            b"",
            b"something else",
            &flipped,
            &foreign,
        ] {
            fs::write(&file, bad).unwrap();
            assert!(!bake_at(&cache, 1.0, &options()).1);
            assert!(fs::read(&file).unwrap() == whole);
        }
        assert!(bake_at(&cache, 1.0, &options()).1);
    }

    #[test]
    fn unwritable_folder_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file");
        fs::write(&file, b"").unwrap();
        let cache = BakeCache::at(file.join("below"));
        assert!(!bake_at(&cache, 1.0, &options()).1);
        assert!(!bake_at(&cache, 1.0, &options()).1);
    }

    #[test]
    fn size_is_bounded_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join("mine.fracas");
        fs::write(&mine, vec![0; 1 << 20]).unwrap();
        let cache = BakeCache::at(folder.path());
        bake_at(&cache, 1.0, &options());
        let one = fs::metadata(&files(folder.path())[0]).unwrap().len();
        let cache = cache.with_max_bytes(2 * one + one / 2);
        let past = |age: u64| SystemTime::now() - std::time::Duration::from_secs(age);
        bake_at(&cache, 1.001, &options());
        for (age, path) in [200, 100].into_iter().zip(files(folder.path())) {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(past(age)).unwrap();
        }
        // Both are in; the one that is used now stays when a third comes.
        assert!(bake_at(&cache, 1.001, &options()).1);
        bake_at(&cache, 1.002, &options());
        assert_eq!(files(folder.path()).len(), 3);
        assert!(bake_at(&cache, 1.001, &options()).1 && bake_at(&cache, 1.002, &options()).1);
        assert!(mine.exists());
        // What is larger than all of the cache is not written.
        let small = BakeCache::at(folder.path().join("small")).with_max_bytes(100);
        assert!(!bake_at(&small, 1.0, &options()).1 && !folder.path().join("small").exists());
    }

    #[test]
    fn variables_choose_the_folder() {
        let cache = |set: &[(&str, &str)]| {
            BakeCache::of_variables(&|name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| PathBuf::from(value))
            })
        };
        assert_eq!(cache(&[("FRACAS_CACHE", "/x")]), BakeCache::at("/x"));
        for off in ["", "off"] {
            assert_eq!(
                cache(&[("FRACAS_CACHE", off), ("HOME", "/h")]),
                BakeCache::off()
            );
        }
        assert_eq!(cache(&[]), BakeCache::off());
        if cfg!(all(unix, not(target_os = "macos"))) {
            let of_home = BakeCache::at("/h/.cache/fracas");
            assert_eq!(cache(&[("HOME", "/h")]), of_home);
            assert_eq!(cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "c")]), of_home);
            let of_xdg = BakeCache::at("/c/fracas");
            assert_eq!(cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), of_xdg);
        }
    }

    #[test]
    fn notes_are_written_and_read() {
        let notes = [
            FillNote::Finer { tets: 83_120 },
            FillNote::FinerForHandles { tets: 7 },
            FillNote::Open { edges: 3 },
            FillNote::Lids { count: 2 },
            FillNote::Thickened { thickness: 0.1 },
            FillNote::Crossing,
            FillNote::Topology {
                input: [1, 1],
                made: [2, -3],
                place: DVec3::new(0.1, -2.0, 1e-9),
                distance: 0.3,
            },
        ];
        for note in notes {
            let text = value_of(&note).to_string();
            let again: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(note_of(&again), Some(note));
        }
    }
}
