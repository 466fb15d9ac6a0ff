//! Memory to read files into that begins with a page: `O_DIRECT` wants one that begins where a
//! block of the medium could, of which none has larger ones; and a Zen 3 reads a quarter as fast to
//! 16 bytes behind the beginning of a page, which is where `malloc` puts what is large.

const PAGE_BYTES: usize = 4096;

pub struct Buffer {
    room: Vec<u8>,
    bytes: usize,
}

impl Buffer {
    pub fn new(bytes: usize) -> Self {
        Self { room: vec![0; bytes + PAGE_BYTES], bytes }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        let begin = self.room.as_ptr().align_offset(PAGE_BYTES);
        &mut self.room[begin..][..self.bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_with_a_page() {
        for bytes in [1, 5000, 1 << 20] {
            let mut buffer = Buffer::new(bytes);
            assert_eq!(buffer.bytes().as_ptr().addr() % PAGE_BYTES, 0);
            assert_eq!(buffer.bytes().len(), bytes);
        }
    }
}
