//! Scanned and computed volumes: NRRD files, and raw arrays of given size.
//!
//! Steps: read the header -> hold the claimed sizes against the bytes that follow ->
//! inflate where gzipped -> numbers -> on request, voxels of how full they are.
//!
//! NRRD as far as volumes go: attached data, encodings `raw` and `gzip`, three axes,
//! all number types but `block`, `spacings` or axis-aligned `space directions`.
//! Detached data, text and other compressions are named in the error.
//!
//! Values are not occupancies: somebody has to say which value is empty and which is
//! full ([`Volume::voxels`]); between them occupancy grows linearly. Axes of unequal
//! spacing are resampled to cubes by exact averaging, which keeps the volume, and
//! leaves no cube empty that something reaches into.
//!
//! **Guarantee**: as the other readers: no panic, no memory beyond what the bytes
//! hold. Gzipped data may inflate to what the header claims, at most 1032 times its
//! size (more than that deflate cannot do) and 2^27 values.

use std::io::Read as _;
use std::path::Path;

use fracas_voxel::{VolumeError, VoxelGrid};
use glam::Vec3;

use super::binary::Scalar;
use super::scanner::{Result, Scanner, parse, show};
use crate::error::{Place, ReadError, ReadErrorKind};

/// More values than this are refused: as floats they take half a gigabyte.
const MOST_VALUES: u64 = 1 << 27;

/// An array of numbers on a box of cells, x running fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    counts: [u32; 3],
    spacing: [f32; 3],
    origin: [f32; 3],
    kind: &'static str,
    values: Vec<f32>,
}

/// How a raw file is laid out: nothing in it says so.
#[derive(Clone, Debug, PartialEq)]
pub struct RawLayout {
    /// Values along x (fastest), y and z.
    pub counts: [u32; 3],
    /// The type of a value, by its name in NRRD: `uint8`, `short`, `float` …
    pub kind: String,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
    /// Bytes before the first value.
    pub skip: usize,
    /// Distances between values.
    pub spacing: [f32; 3],
}

/// Why a volume does not make voxels.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum VolumeToVoxelsError {
    /// Both ends of the range are one value, or not numbers.
    #[error("values from {empty} (empty) to {full} (full) are no range")]
    NoRange {
        /// The value that means empty.
        empty: f32,
        /// The value that means full.
        full: f32,
    },
    /// Axes so different that cubes of the finest spacing would be too many.
    #[error("spacings {0:?} are too unequal to be made cubes of; resample the volume first")]
    TooUnequal([f32; 3]),
    /// What came out is no volume.
    #[error(transparent)]
    Volume(#[from] VolumeError),
}

impl Volume {
    /// Values along x, y and z.
    #[must_use]
    pub fn counts(&self) -> [u32; 3] {
        self.counts
    }

    /// Distances between values.
    #[must_use]
    pub fn spacing(&self) -> [f32; 3] {
        self.spacing
    }

    /// The centre of the first cell.
    #[must_use]
    pub fn origin(&self) -> [f32; 3] {
        self.origin
    }

    /// The type of the values in the file, by its name in NRRD.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The values, x running fastest.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Least and greatest finite value; `None` where there is none.
    #[must_use]
    pub fn range(&self) -> Option<(f32, f32)> {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        finite.fold(None, |range, v| {
            let (low, high) = range.unwrap_or((v, v));
            Some((v.min(low), v.max(high)))
        })
    }

    /// Voxels: a value of `empty` (or beyond) is empty, `full` (or beyond) is full,
    /// linear between. Values that are not numbers count as empty.
    ///
    /// # Errors
    /// See [`VolumeToVoxelsError`].
    pub fn voxels(
        &self,
        empty: f32,
        full: f32,
    ) -> std::result::Result<VoxelGrid, VolumeToVoxelsError> {
        let scale = f64::from(full) - f64::from(empty);
        if scale == 0.0 || !scale.is_finite() {
            return Err(VolumeToVoxelsError::NoRange { empty, full });
        }
        let mut occupancy: Vec<f32> = self
            .values
            .iter()
            .map(|&v| {
                let share = ((f64::from(v) - f64::from(empty)) / scale).clamp(0.0, 1.0);
                if share.is_nan() { 0.0 } else { share as f32 }
            })
            .collect();
        let cell = self.spacing.iter().copied().fold(f32::INFINITY, f32::min);
        let mut counts = self.counts;
        for axis in 0..3 {
            let ratio = f64::from(self.spacing[axis]) / f64::from(cell);
            if (ratio - 1.0).abs() < 1e-4 {
                continue;
            }
            let wanted = (f64::from(counts[axis]) * ratio - 1e-6).ceil();
            let others: f64 = (0..3)
                .filter(|&a| a != axis)
                .map(|a| f64::from(counts[a]))
                .product();
            if wanted * others > MOST_VALUES as f64 {
                return Err(VolumeToVoxelsError::TooUnequal(self.spacing));
            }
            occupancy = resample(&occupancy, counts, axis, ratio, wanted as u32);
            counts[axis] = wanted as u32;
        }
        let half = Vec3::from(self.spacing) * 0.5;
        let origin = Vec3::from(self.origin) - half;
        Ok(VoxelGrid::from_volume(origin, cell, counts, occupancy)?)
    }
}

/// Cells of length `ratio` along one axis as `wanted` cells of length 1, averaged.
fn resample(values: &[f32], counts: [u32; 3], axis: usize, ratio: f64, wanted: u32) -> Vec<f32> {
    let [nx, ny, nz] = counts.map(|c| c as usize);
    let strides = [1, nx, nx * ny];
    let mut new = counts.map(|c| c as usize);
    new[axis] = wanted as usize;
    let mut out = Vec::with_capacity(new.iter().product());
    let last = [nx, ny, nz][axis];
    for z in 0..new[2] {
        for y in 0..new[1] {
            for x in 0..new[0] {
                let at = [x, y, z];
                let base: usize = (0..3)
                    .filter(|&a| a != axis)
                    .map(|a| at[a] * strides[a])
                    .sum();
                let (low, high) = (at[axis] as f64, at[axis] as f64 + 1.0);
                let first = (low / ratio) as usize;
                let mut sum = 0.0;
                for k in first..last {
                    let (a, b) = (k as f64 * ratio, (k + 1) as f64 * ratio);
                    if a >= high {
                        break;
                    }
                    let overlap = (b.min(high) - a.max(low)).max(0.0);
                    sum += overlap * f64::from(values[base + k * strides[axis]]);
                }
                out.push((sum as f32).clamp(0.0, 1.0));
            }
        }
    }
    out
}

/// Whether a file is a volume by its first bytes.
#[must_use]
pub fn is_volume(bytes: &[u8]) -> bool {
    bytes.starts_with(b"NRRD")
}

/// Reads an NRRD file.
///
/// # Errors
/// With file, place, reason and remedy, see [`ReadError`].
pub fn read_volume(path: impl AsRef<Path>) -> Result<Volume> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let bytes = super::read_file(path).map_err(|e| e.in_file(&name))?;
    read_volume_bytes(&name, &bytes)
}

/// Reads an NRRD file that is already in memory; its name appears in errors.
///
/// # Errors
/// As [`read_volume`].
pub fn read_volume_bytes(name: &str, bytes: &[u8]) -> Result<Volume> {
    nrrd(bytes).map_err(|e| e.in_file(name))
}

/// Reads a file of numbers and nothing else.
///
/// # Errors
/// As [`read_volume`].
pub fn read_raw_volume(path: impl AsRef<Path>, layout: &RawLayout) -> Result<Volume> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let bytes = super::read_file(path).map_err(|e| e.in_file(&name))?;
    read_raw_volume_bytes(&name, &bytes, layout)
}

/// Reads raw numbers that are already in memory.
///
/// # Errors
/// As [`read_volume`].
pub fn read_raw_volume_bytes(name: &str, bytes: &[u8], layout: &RawLayout) -> Result<Volume> {
    raw(bytes, layout).map_err(|e| e.in_file(name))
}

fn raw(bytes: &[u8], layout: &RawLayout) -> Result<Volume> {
    let scanner = Scanner::new(bytes);
    let (scalar, kind) = scalar(layout.kind.as_bytes())
        .ok_or_else(|| unknown_type(&scanner, layout.kind.as_bytes()))?;
    let count = value_count(&scanner, layout.counts.map(u64::from))?;
    check_spacing(&scanner, layout.spacing)?;
    let data = bytes.get(layout.skip..).unwrap_or_default();
    let values = numbers(data, count, scalar, layout.big_endian)?;
    Ok(Volume {
        counts: layout.counts,
        spacing: layout.spacing,
        origin: [0.0; 3],
        kind,
        values,
    })
}

/// What a header has said so far.
#[derive(Default)]
struct Header {
    kind: Option<(Scalar, &'static str)>,
    dimension: Option<u32>,
    sizes: Option<[u64; 3]>,
    gzip: Option<bool>,
    big_endian: Option<bool>,
    spacing: Option<[f32; 3]>,
    origin: [f32; 3],
    line_skip: u64,
    byte_skip: i64,
}

fn nrrd(bytes: &[u8]) -> Result<Volume> {
    let mut scanner = Scanner::new(bytes);
    let magic = scanner.line().unwrap_or_default();
    if !magic.starts_with(b"NRRD000") {
        return Err(scanner.error(
            ReadErrorKind::UnknownFormat,
            "it does not begin with NRRD000 and a version",
            "use an NRRD file, or say how the numbers of a raw one are laid out",
        ));
    }
    let mut header = Header::default();
    loop {
        let at = scanner.place();
        let Some(line) = scanner.line() else {
            return Err(scanner.error(
                ReadErrorKind::Truncated,
                "it ends within the header",
                "an empty line must part header and numbers; detached numbers are not read",
            ));
        };
        if line.is_empty() {
            break;
        }
        field(line, &mut header)
            .map_err(|(kind, reason, help)| ReadError::new(kind, at, reason, help))?;
    }
    finish(&mut scanner, &header)
}

type Complaint = (ReadErrorKind, String, &'static str);

/// One line of the header.
fn field(line: &[u8], header: &mut Header) -> std::result::Result<(), Complaint> {
    let syntax = |what: &str, value: &[u8]| {
        (
            ReadErrorKind::Syntax,
            format!("`{}` where {what} should be", show(value)),
            "correct this line of the header",
        )
    };
    // Comments, and keys of the user's own.
    if line.starts_with(b"#") || line.windows(2).any(|w| w == b":=") {
        return Ok(());
    }
    let Some(colon) = line.iter().position(|&b| b == b':') else {
        return Err(syntax("a field and a colon", line));
    };
    let name = line[..colon].trim_ascii().to_ascii_lowercase();
    let value = line[colon + 1..].trim_ascii();
    match &name[..] {
        b"type" => {
            header.kind = Some(scalar(value).ok_or_else(|| {
                (
                    ReadErrorKind::Unsupported,
                    format!("values of type `{}` are not read", show(value)),
                    "convert them to one of int8 … uint64, float, double",
                )
            })?);
        }
        b"dimension" => {
            header.dimension = Some(parse(value).ok_or_else(|| syntax("a number", value))?);
        }
        b"sizes" => {
            header.sizes = Some(triple(value).ok_or_else(|| {
                (
                    ReadErrorKind::Unsupported,
                    format!("sizes `{}` are not three", show(value)),
                    "cut out one volume of three axes",
                )
            })?);
        }
        b"encoding" => {
            header.gzip = Some(match &value.to_ascii_lowercase()[..] {
                b"raw" => false,
                b"gzip" | b"gz" => true,
                _ => {
                    return Err((
                        ReadErrorKind::Unsupported,
                        format!("encoding `{}` is not read", show(value)),
                        "save it with encoding raw or gzip",
                    ));
                }
            });
        }
        b"endian" => {
            header.big_endian = Some(match &value.to_ascii_lowercase()[..] {
                b"little" => false,
                b"big" => true,
                _ => return Err(syntax("little or big", value)),
            });
        }
        b"spacings" => {
            header.spacing = Some(triple(value).ok_or_else(|| syntax("three spacings", value))?);
        }
        b"space directions" => {
            header.spacing = Some(directions(value).ok_or_else(|| {
                (
                    ReadErrorKind::Unsupported,
                    format!("directions `{}` are not three along the axes", show(value)),
                    "resample the volume to axes of its own",
                )
            })?);
        }
        b"space origin" => {
            let vectors = vectors(value).filter(|v| v.len() == 1);
            header.origin = vectors
                .map(|v| v[0])
                .ok_or_else(|| syntax("a point (x,y,z)", value))?;
        }
        b"line skip" | b"lineskip" => {
            header.line_skip = parse(value).ok_or_else(|| syntax("a number", value))?;
        }
        b"byte skip" | b"byteskip" => {
            header.byte_skip = parse(value).ok_or_else(|| syntax("a number", value))?;
        }
        b"data file" | b"datafile" => {
            return Err((
                ReadErrorKind::Unsupported,
                "its numbers are in another file".into(),
                "save header and numbers as one file (.nrrd)",
            ));
        }
        // Names, units, kinds and centres of axes change nothing here.
        _ => {}
    }
    Ok(())
}

fn finish(scanner: &mut Scanner<'_>, header: &Header) -> Result<Volume> {
    let missing = |what: &str| {
        ReadError::new(
            ReadErrorKind::Syntax,
            Place::File,
            format!("the header does not give its {what}"),
            "add the field",
        )
    };
    let (scalar, kind) = header.kind.ok_or_else(|| missing("type"))?;
    let sizes = header.sizes.ok_or_else(|| missing("sizes"))?;
    if header.dimension.ok_or_else(|| missing("dimension"))? != 3 {
        return Err(ReadError::new(
            ReadErrorKind::Unsupported,
            Place::File,
            "it has not three axes",
            "cut out one volume of three axes",
        ));
    }
    let gzip = header.gzip.ok_or_else(|| missing("encoding"))?;
    if scalar.size() > 1 && header.big_endian.is_none() {
        return Err(missing("endian"));
    }
    let spacing = header.spacing.unwrap_or([1.0; 3]);
    check_spacing(scanner, spacing)?;
    if header.origin.iter().any(|x| !x.is_finite()) {
        return Err(ReadError::new(
            ReadErrorKind::NotFinite,
            Place::File,
            "its origin is not finite",
            "correct `space origin`",
        ));
    }
    let count = value_count(scanner, sizes)?;
    for _ in 0..header.line_skip {
        if scanner.line().is_none() {
            break;
        }
    }
    let rest = scanner.raw(scanner.remaining(), "its numbers")?;
    let wanted = count * scalar.size();
    let data;
    let data = if gzip {
        data = inflate(rest, wanted, header.byte_skip)?;
        &data[..]
    } else {
        skip(rest, wanted, header.byte_skip)
    };
    let values = numbers(data, count, scalar, header.big_endian == Some(true))?;
    Ok(Volume {
        counts: sizes.map(|s| s as u32),
        spacing,
        origin: header.origin,
        kind,
        values,
    })
}

/// Leaves out bytes before the numbers; -1: all but the last that are needed.
fn skip(data: &[u8], wanted: usize, byte_skip: i64) -> &[u8] {
    let from = match usize::try_from(byte_skip) {
        Ok(bytes) => bytes,
        Err(_) => data.len().saturating_sub(wanted),
    };
    data.get(from..).unwrap_or_default()
}

fn inflate(data: &[u8], wanted: usize, byte_skip: i64) -> Result<Vec<u8>> {
    let before = usize::try_from(byte_skip).unwrap_or(0);
    let mut inflated = Vec::new();
    flate2::read::MultiGzDecoder::new(data)
        .take(wanted.saturating_add(before) as u64)
        .read_to_end(&mut inflated)
        .map_err(|error| {
            ReadError::new(
                ReadErrorKind::Truncated,
                Place::File,
                format!("its numbers do not inflate: {error}"),
                "it is damaged or incomplete: compress or download it again",
            )
        })?;
    inflated.drain(..before.min(inflated.len()));
    Ok(inflated)
}

fn numbers(data: &[u8], count: usize, scalar: Scalar, big_endian: bool) -> Result<Vec<f32>> {
    let size = scalar.size();
    if data.len() / size < count {
        return Err(ReadError::new(
            ReadErrorKind::Truncated,
            Place::File,
            format!(
                "{count} values of {size} bytes are promised, {} bytes are there",
                data.len()
            ),
            "correct the sizes or the type, or export the file again if it was cut short",
        ));
    }
    let raw = data.chunks_exact(size).take(count);
    Ok(raw
        .map(|raw| scalar.decode(raw, big_endian) as f32)
        .collect())
}

fn value_count(scanner: &Scanner<'_>, sizes: [u64; 3]) -> Result<usize> {
    let count = sizes.iter().try_fold(1_u64, |n, &s| n.checked_mul(s));
    match count {
        Some(0) => Err(scanner.error(
            ReadErrorKind::Empty,
            format!("sizes {sizes:?} hold nothing"),
            "every axis needs at least one value",
        )),
        Some(count) if count <= MOST_VALUES => Ok(count as usize),
        _ => Err(scanner.error(
            ReadErrorKind::TooLarge,
            format!("{sizes:?} are more than {MOST_VALUES} values"),
            "cut or resample the volume",
        )),
    }
}

fn check_spacing(scanner: &Scanner<'_>, spacing: [f32; 3]) -> Result<()> {
    if spacing.iter().all(|s| *s > 0.0 && s.is_finite()) {
        return Ok(());
    }
    Err(scanner.error(
        ReadErrorKind::NotFinite,
        format!("spacings {spacing:?} are not positive lengths"),
        "correct the spacings, or leave them out for 1",
    ))
}

fn unknown_type(scanner: &Scanner<'_>, name: &[u8]) -> ReadError {
    scanner.error(
        ReadErrorKind::Unsupported,
        format!("values of type `{}` are not read", show(name)),
        "use one of int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double",
    )
}

/// A type by any of its names in NRRD.
fn scalar(name: &[u8]) -> Option<(Scalar, &'static str)> {
    let name = std::str::from_utf8(name).ok()?.trim().to_ascii_lowercase();
    Some(match &name[..] {
        "signed char" | "int8" | "int8_t" => (Scalar::I8, "int8"),
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => (Scalar::U8, "uint8"),
        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => {
            (Scalar::I16, "int16")
        }
        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => {
            (Scalar::U16, "uint16")
        }
        "int" | "signed int" | "int32" | "int32_t" => (Scalar::I32, "int32"),
        "uint" | "unsigned int" | "uint32" | "uint32_t" => (Scalar::U32, "uint32"),
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int"
        | "int64"
        | "int64_t" => (Scalar::I64, "int64"),
        "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => {
            (Scalar::U64, "uint64")
        }
        "float" => (Scalar::F32, "float"),
        "double" => (Scalar::F64, "double"),
        _ => return None,
    })
}

/// Three numbers.
fn triple<T: std::str::FromStr>(value: &[u8]) -> Option<[T; 3]> {
    let mut words = value
        .split(u8::is_ascii_whitespace)
        .filter(|w| !w.is_empty())
        .map(parse);
    let found = [words.next()??, words.next()??, words.next()??];
    words.next().is_none().then_some(found)
}

/// Vectors of three numbers, `(x,y,z) (x,y,z)`.
fn vectors(value: &[u8]) -> Option<Vec<[f32; 3]>> {
    let text = std::str::from_utf8(value).ok()?;
    let mut found = Vec::new();
    for part in text.split(')').map(str::trim).filter(|p| !p.is_empty()) {
        let mut numbers = part
            .strip_prefix('(')?
            .split(',')
            .map(|n| n.trim().parse().ok());
        found.push([numbers.next()??, numbers.next()??, numbers.next()??]);
        if numbers.next().is_some() || found.len() > 3 {
            return None;
        }
    }
    Some(found)
}

/// The spacings of three directions that run along the axes, in either sense.
fn directions(value: &[u8]) -> Option<[f32; 3]> {
    let vectors = vectors(value).filter(|v| v.len() == 3)?;
    let mut spacing = [0.0; 3];
    for (axis, v) in vectors.iter().enumerate() {
        let across = (0..3)
            .filter(|&a| a != axis)
            .map(|a| v[a].abs())
            .fold(0.0, f32::max);
        if across > 1e-5 * v[axis].abs() {
            return None;
        }
        spacing[axis] = v[axis].abs();
    }
    Some(spacing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn nrrd_of(fields: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = format!("NRRD0004\n# a comment\n{fields}\nkey:=value\n\n").into_bytes();
        bytes.extend_from_slice(data);
        bytes
    }

    const PLAIN: &str = "type: uint8\ndimension: 3\nsizes: 3 2 1\nencoding: raw";

    #[test]
    fn raw_and_gzipped_numbers_are_the_same() {
        let data = [0, 51, 102, 153, 204, 255];
        let plain = read_volume_bytes("a.nrrd", &nrrd_of(PLAIN, &data)).unwrap();
        assert_eq!(plain.counts(), [3, 2, 1]);
        assert_eq!(plain.values(), [0.0, 51.0, 102.0, 153.0, 204.0, 255.0]);
        assert_eq!((plain.range(), plain.kind()), (Some((0.0, 255.0)), "uint8"));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&data).unwrap();
        let packed = nrrd_of(&PLAIN.replace("raw", "gzip"), &packed.finish().unwrap());
        assert_eq!(read_volume_bytes("a.nrrd", &packed).unwrap(), plain);
        let layout = RawLayout {
            counts: [3, 2, 1],
            kind: "uchar".into(),
            big_endian: false,
            skip: 2,
            spacing: [1.0; 3],
        };
        let mut with_head = vec![9, 9];
        with_head.extend_from_slice(&data);
        assert_eq!(
            read_raw_volume_bytes("a.raw", &with_head, &layout).unwrap(),
            plain
        );
    }

    #[test]
    fn byte_order_skips_spacings_and_origin_are_heeded() {
        let fields = "type: short\ndimension: 3\nsizes: 2 1 1\nencoding: raw\nendian: big\nbyte skip: -1\nspace directions: (0.5,0,0) (0,-2,0) (0,0,1)\nspace origin: (1,2,3)";
        let volume = read_volume_bytes(
            "a.nrrd",
            &nrrd_of(fields, &[7, 7, 7, 0x01, 0x02, 0xff, 0xff]),
        );
        let volume = volume.unwrap();
        assert_eq!(volume.values(), [258.0, -1.0]);
        assert_eq!(
            (volume.spacing(), volume.origin()),
            ([0.5, 2.0, 1.0], [1.0, 2.0, 3.0])
        );
    }

    #[test]
    fn voxels_keep_the_volume_even_of_unequal_axes() {
        let mut values = vec![0_u8; 4 * 3 * 2];
        (values[5], values[6], values[18]) = (255, 128, 255);
        let layout = |spacing| RawLayout {
            counts: [4, 3, 2],
            kind: "uint8".into(),
            big_endian: false,
            skip: 0,
            spacing,
        };
        for spacing in [[1.0; 3], [0.5, 0.5, 1.25], [0.3, 0.4, 0.3], [0.2, 0.5, 0.9]] {
            let volume = read_raw_volume_bytes("v", &values, &layout(spacing)).unwrap();
            let grid = volume.voxels(0.0, 255.0).unwrap();
            let each: f64 = spacing.iter().map(|&s| f64::from(s)).product();
            let expected = (2.0 + 128.0 / 255.0) * each;
            assert!(
                (grid.volume() - expected).abs() < 1e-5 * expected,
                "{spacing:?}"
            );
        }
        let volume = read_raw_volume_bytes("v", &values, &layout([1.0; 3])).unwrap();
        assert!(volume.voxels(1.0, 1.0).is_err());
        assert!(volume.voxels(f32::NAN, 1.0).is_err());
        // Upside down: dark is full.
        assert!((volume.voxels(255.0, 0.0).unwrap().volume() - 21.498).abs() < 1e-2);
    }

    #[test]
    fn bad_headers_are_told_apart() {
        let kind = |fields: &str, data: &[u8]| {
            read_volume_bytes("a.nrrd", &nrrd_of(fields, data))
                .unwrap_err()
                .kind()
        };
        assert_eq!(kind(PLAIN, &[1, 2, 3]), ReadErrorKind::Truncated);
        assert_eq!(
            kind(&PLAIN.replace("3 2 1", "3 2"), &[]),
            ReadErrorKind::Unsupported
        );
        assert_eq!(
            kind(&PLAIN.replace("3 2 1", "3 0 1"), &[]),
            ReadErrorKind::Empty
        );
        let huge = PLAIN.replace("3 2 1", "4294967295 4294967295 4294967295");
        assert_eq!(kind(&huge, &[]), ReadErrorKind::TooLarge);
        assert_eq!(
            kind(&PLAIN.replace("raw", "bzip2"), &[]),
            ReadErrorKind::Unsupported
        );
        assert_eq!(
            kind(&PLAIN.replace("uint8", "block"), &[]),
            ReadErrorKind::Unsupported
        );
        assert_eq!(
            kind(&PLAIN.replace("uint8", "float"), &[0; 24]),
            ReadErrorKind::Syntax
        );
        let apart = format!("{PLAIN}\ndata file: other.raw");
        assert_eq!(kind(&apart, &[]), ReadErrorKind::Unsupported);
        let bad = format!("{PLAIN}\nspacings: 1 nan 1");
        assert_eq!(kind(&bad, &[0; 6]), ReadErrorKind::NotFinite);
        assert_eq!(
            kind(&PLAIN.replace("raw", "gzip"), &[0; 6]),
            ReadErrorKind::Truncated
        );
        let unknown = read_volume_bytes("a", b"not a volume").unwrap_err();
        assert_eq!(unknown.kind(), ReadErrorKind::UnknownFormat);
        let cut = read_volume_bytes("a", b"NRRD0004\ntype: uint8\n").unwrap_err();
        assert_eq!(cut.kind(), ReadErrorKind::Truncated);
    }

    #[test]
    fn damaged_files_never_panic() {
        let whole = nrrd_of(&format!("{PLAIN}\nspacings: 1 2 3"), &[1, 2, 3, 4, 5, 6]);
        let mut rng = fracas_core::testing::Rng(8);
        for i in 0..3000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + i % 4 {
                let at = rng.below(bytes.len());
                match rng.below(3) {
                    0 => bytes[at] = rng.bits() as u8,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, rng.bits() as u8),
                }
            }
            if let Ok(volume) = read_volume_bytes("a.nrrd", &bytes) {
                let _ = volume.voxels(0.0, 6.0);
            }
        }
    }
}
