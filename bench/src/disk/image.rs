//! What is on a disk: bytes in memory, of which only those written take room.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// The whole disk. What was never written is zeros.
pub struct Image {
    memory: File,
    bytes: u64,
}

impl Image {
    pub fn new(bytes: u64) -> io::Result<Self> {
        let memory = File::from(memfd_create("lanesum-bench-disk", MFdFlags::MFD_CLOEXEC)?);
        memory.set_len(bytes)?;
        Ok(Self { memory, bytes })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads into `buffer`; returns how many bytes there were before the end.
    pub fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let there = usize::try_from(self.bytes.saturating_sub(at)).unwrap_or(usize::MAX);
        let part = there.min(buffer.len());
        self.memory.read_exact_at(&mut buffer[..part], at)?;
        Ok(part)
    }

    /// # Errors
    ///
    /// Also if `data` does not lie on the disk entirely; then nothing is written.
    pub fn write(&self, at: u64, data: &[u8]) -> io::Result<()> {
        let fits = at.checked_add(data.len() as u64).is_some_and(|end| end <= self.bytes);
        if !fits {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.memory.write_all_at(data, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_read_and_others_are_zero() {
        let image = Image::new(1 << 40).unwrap();
        let at = (1 << 39) + 5;
        image.write(at, b"content").unwrap();
        let mut buffer = [1; 11];
        assert_eq!(image.read(at - 2, &mut buffer).unwrap(), 11);
        assert_eq!(&buffer, b"\0\0content\0\0");
    }

    #[test]
    fn nothing_lies_beyond_the_end() {
        let image = Image::new(10).unwrap();
        assert!(image.write(8, b"abc").is_err());
        image.write(8, b"ab").unwrap();
        let mut buffer = [1; 4];
        assert_eq!(image.read(7, &mut buffer).unwrap(), 3);
        assert_eq!(&buffer, b"\0ab\x01");
        assert_eq!(image.read(10, &mut buffer).unwrap(), 0);
        assert_eq!(image.read(u64::MAX, &mut buffer).unwrap(), 0);
        assert_eq!(image.bytes(), 10);
    }
}
