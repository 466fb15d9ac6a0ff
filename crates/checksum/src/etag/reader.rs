//! The ETags of readers, which are read once and sequentially: pipes and standard input.

use std::fs::File;
use std::io::{self, Read};

use lanesum_list::Etag;
use lanesum_md5::Md5;

use super::seen::{Seen, Since};
use super::{EtagsOfFile, PartSize, TooManyParts, Upload};
use crate::{Algorithm, Digest, Error};

/// The size of a read in bytes.
const CAPACITY: usize = 128 << 10;

/// Returns the ETags of the contents of a reader, one for each part size.
///
/// The size is unknown at first, so the initial part size of a client is used. If the parts become
/// too many, the ETag is [`TooManyParts`], even if the client would use larger parts for a known
/// size.
///
/// ```
/// use lanesum_checksum::etag::etags_of_reader;
///
/// let etags = etags_of_reader(&b"abc"[..], &["8MiB".parse()?, "2B".parse()?])?;
/// assert_eq!(etags.size, 3);
/// let etags: Vec<_> = etags.etags.into_iter().map(|etag| etag.unwrap().to_string()).collect();
/// assert_eq!(etags, ["900150983cd24fb0d6963f7d28e17f72", "d833159094d1d7ad96ffcc78414e3682-2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with the error of the reader.
pub fn etags_of_reader(mut reader: impl Read, part_sizes: &[PartSize]) -> io::Result<EtagsOfFile> {
    let mut whole = Md5::new();
    let mut cuts: Vec<_> =
        part_sizes.iter().map(|size| OneAfterAnother::new(size.bytes())).collect();
    let (mut buffer, mut size) = (vec![0; CAPACITY], 0);
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        size += read as u64;
        whole.update(&buffer[..read]);
        cuts.iter_mut().for_each(|cut| cut.update(&buffer[..read]));
    }
    let whole = whole.finalize();
    let etag = |(part_size, cut): (&PartSize, OneAfterAnother)| match part_size.of(size)? {
        Upload::Whole => Ok(Etag { digest: digest(whole), parts: None }),
        Upload::Parts(bytes) if bytes.get() == part_size.bytes() => Ok(cut.etag()),
        Upload::Parts(_) => {
            let part_size = part_size.bytes();
            Err(TooManyParts { size, part_size, parts: size.div_ceil(part_size) })
        }
    };
    Ok(EtagsOfFile { size, etags: part_sizes.iter().zip(cuts).map(etag).collect() })
}

/// Returns the ETags of an open file. A regular file must not change during the read if
/// `detects_changes`.
pub(super) fn etags_of_open(
    file: &File,
    part_sizes: &[PartSize],
    detects_changes: bool,
) -> Result<EtagsOfFile, Error> {
    let before = Seen::of_file(file)?;
    let etags = etags_of_reader(file, part_sizes)?;
    match before {
        Some(before) if detects_changes => match before.compare(Seen::of_file(file)?) {
            Since::Same => Ok(etags),
            Since::Touched | Since::Changed => Err(Error::Changed),
        },
        _ => Ok(etags),
    }
}

fn digest(md5: lanesum_md5::Md5Digest) -> Digest {
    Digest::new(Algorithm::Md5, md5.as_ref()).expect("as long as the table says")
}

/// The parts of one cut, hashed one after the other.
struct OneAfterAnother {
    part_size: u64,
    part: Md5,
    /// The number of bytes of the current part so far.
    bytes: u64,
    parts: u32,
    digests: Md5,
}

impl OneAfterAnother {
    fn new(part_size: u64) -> Self {
        Self { part_size, part: Md5::new(), bytes: 0, parts: 0, digests: Md5::new() }
    }

    fn update(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let left = usize::try_from(self.part_size - self.bytes).unwrap_or(usize::MAX);
            let (now, later) = piece.split_at(piece.len().min(left));
            self.part.update(now);
            self.bytes += now.len() as u64;
            piece = later;
            if self.bytes == self.part_size {
                self.end_part();
            }
        }
    }

    fn end_part(&mut self) {
        self.digests.update(self.part.finalize_reset());
        (self.bytes, self.parts) = (0, self.parts.saturating_add(1));
    }

    fn etag(mut self) -> Etag {
        // An empty input has one part.
        if self.bytes > 0 || self.parts == 0 {
            self.end_part();
        }
        Etag { digest: digest(self.digests.finalize()), parts: self.parts.try_into().ok() }
    }
}
