//! Values to bytes.

use serde::Serialize;
use serde::ser::{self, Error as _};

use super::CodecError;

/// Writes a value.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    let mut writer = Writer { out: Vec::new() };
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
}

impl Writer {
    fn length(&mut self, length: Option<usize>) -> Result<(), CodecError> {
        let length = length.ok_or_else(|| CodecError::custom("a list of unknown length"))?;
        self.out.extend((length as u64).to_le_bytes());
        Ok(())
    }
}

/// A struct being written; the engine's colliders need care.
struct Fields<'a> {
    writer: &'a mut Writer,
    is_collider: bool,
}

macro_rules! numbers {
    ($($name:ident: $kind:ty),*) => {$(
        fn $name(self, v: $kind) -> Result<(), CodecError> {
            self.out.extend(v.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'a> ser::Serializer for &'a mut Writer {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Self;

    numbers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    );

    fn serialize_bool(self, v: bool) -> Result<(), CodecError> {
        self.serialize_u8(u8::from(v))
    }

    fn serialize_char(self, v: char) -> Result<(), CodecError> {
        self.serialize_u32(v.into())
    }

    fn serialize_str(self, v: &str) -> Result<(), CodecError> {
        self.serialize_bytes(v.as_bytes())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), CodecError> {
        self.length(Some(v.len()))?;
        self.out.extend(v);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), CodecError> {
        self.serialize_u8(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        self.out.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CodecError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CodecError> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), CodecError> {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.out.extend(index.to_le_bytes());
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, CodecError> {
        self.length(length)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.out.extend(index.to_le_bytes());
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, CodecError> {
        self.length(length)?;
        Ok(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>, CodecError> {
        Ok(Fields {
            writer: self,
            is_collider: name == "Collider",
        })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self, CodecError> {
        self.serialize_tuple_variant(name, index, variant, length)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Parry's first kind of shape with a radius of one: stands for what cannot be written.
fn placeholder(out: &mut Vec<u8>) {
    out.extend(0_u32.to_le_bytes());
    out.extend(1.0_f32.to_le_bytes());
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        let before = self.writer.out.len();
        let written = value.serialize(&mut *self.writer);
        if written.is_err() && self.is_collider && key == "shape" {
            self.writer.out.truncate(before);
            placeholder(&mut self.writer.out);
            return Ok(());
        }
        written
    }

    fn end(self) -> Result<(), CodecError> {
        Ok(())
    }
}

macro_rules! sequences {
    ($($kind:ident :: $method:ident),*) => {$(
        impl ser::$kind for &mut Writer {
            type Ok = ();
            type Error = CodecError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )*};
}

sequences!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl ser::SerializeMap for &mut Writer {
    type Ok = ();
    type Error = CodecError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CodecError> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), CodecError> {
        Ok(())
    }
}

impl ser::SerializeStructVariant for &mut Writer {
    type Ok = ();
    type Error = CodecError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), CodecError> {
        Ok(())
    }
}
