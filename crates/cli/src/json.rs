//! JSON objects, one a line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

/// Inserts a name or path. If it is not UTF-8, it is in base64, and the key is `KEY_base64`.
pub fn insert_name(object: &mut Map<String, Value>, key: &str, name: &[u8]) {
    match str::from_utf8(name) {
        Ok(name) => object.insert(key.to_owned(), name.into()),
        Err(_) => object.insert(format!("{key}_base64"), BASE64.encode(name).into()),
    };
}

/// Returns the object as a line.
pub fn line(object: Map<String, Value>) -> Vec<u8> {
    let mut line = Value::Object(object).to_string().into_bytes();
    line.push(b'\n');
    line
}
