//! The vectors of the reference implementation and of Project Wycheproof; data/README.md says
//! where they come from.

use std::fs;
use std::path::{Path, PathBuf};

use lanesum_siphash::{SipHash, SipHash24};
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

/// The key and the longest input of the reference's vectors: 00 01 02 ...
fn counting<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| i as u8)
}

#[test]
fn the_reference() {
    let sip = SipHash24::new(&counting());
    let input: [u8; 64] = counting();
    let lines = |name| {
        let text = fs::read_to_string(data(name)).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 64, "{name}");
        lines
    };
    for (length, expected) in lines("reference-64.txt").iter().enumerate() {
        assert_eq!(hex(&sip.hash(&input[..length]).to_le_bytes()), *expected, "{length} bytes");
    }
    for (length, expected) in lines("reference-128.txt").iter().enumerate() {
        assert_eq!(hex(&sip.hash128(&input[..length]).to_le_bytes()), *expected, "{length} bytes");
    }
}

/// A tag as hexadecimal of a key and a message.
type Tag = fn(&[u8; 16], &[u8]) -> String;

fn tag64<const C: usize, const D: usize>(key: &[u8; 16], message: &[u8]) -> String {
    hex(&SipHash::<C, D>::new(key).hash(message).to_le_bytes())
}

fn tag128<const C: usize, const D: usize>(key: &[u8; 16], message: &[u8]) -> String {
    hex(&SipHash::<C, D>::new(key).hash128(message).to_le_bytes())
}

#[test]
fn wycheproof() {
    let files: [(&str, Tag); 5] = [
        ("siphash_1_3", tag64::<1, 3>),
        ("siphash_2_4", tag64::<2, 4>),
        ("siphash_4_8", tag64::<4, 8>),
        ("siphashx_2_4", tag128::<2, 4>),
        ("siphashx_4_8", tag128::<4, 8>),
    ];
    for (name, tag) in files {
        let text = fs::read_to_string(data(&format!("wycheproof/{name}_test.json"))).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let groups = file["testGroups"].as_array().unwrap();
        let cases: Vec<&Value> =
            groups.iter().flat_map(|group| group["tests"].as_array().unwrap()).collect();
        assert_eq!(cases.len(), file["numberOfTests"].as_u64().unwrap() as usize, "{name}");
        for case in cases {
            let text = |field: &str| case[field].as_str().unwrap();
            let key = unhex(text("key")).try_into().expect("keys have 16 bytes");
            let is_tag = tag(&key, &unhex(text("msg"))) == text("tag");
            assert_eq!(is_tag, text("result") == "valid", "{name}, case {}", case["tcId"]);
        }
    }
}
