//! Names that end with NUL, as `find -print0` writes them.

use std::fs::File;
use std::io::{self, BufRead};

use crate::list::Ending;
use crate::stream::{self, Watch};

/// The names in a file, or those that come through a pipe.
///
/// A pipe may let wait for its next name, and whoever writes it may wait for what becomes of the last. So the names
/// end where reading on would block; [`resume`](Self::resume) goes on once those given out are done with.
///
/// ```
/// use lanesum_checksum::names::Names;
///
/// let (reader, mut writer) = std::io::pipe()?;
/// let mut names = Names::new(std::os::fd::OwnedFd::from(reader).into());
/// std::io::Write::write_all(&mut writer, b"a\0b\0")?;
/// let now: Vec<_> = names.by_ref().map(Result::unwrap).collect();
/// assert_eq!(now, [b"a", b"b"]);
/// // Nothing is lost when it goes on.
/// std::io::Write::write_all(&mut writer, b"c")?;
/// drop(writer);
/// assert!(names.resume());
/// assert_eq!(names.next().unwrap()?, b"c");
/// assert!(names.next().is_none() && !names.resume());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Names {
    text: Box<dyn BufRead + Send>,
    /// Tells whether the next name is there; none for a regular file, where it always is.
    watch: Option<Watch>,
    /// Whether a name was given out since the last `resume`.
    in_flight: bool,
    /// There is nothing more, or it cannot be read.
    at_end: bool,
}

impl Names {
    /// Names from a file of any kind. The first one is waited for.
    #[must_use]
    pub fn new(file: File) -> Self {
        let (text, watch) = stream::read(file, Ending::Nul);
        Self { text, watch, in_flight: false, at_end: false }
    }

    /// Whether there may be more names, now that nothing is to be done about those given out. The next one is
    /// waited for.
    pub fn resume(&mut self) -> bool {
        self.in_flight = false;
        !self.at_end
    }
}

impl Iterator for Names {
    type Item = io::Result<Vec<u8>>;

    /// The next name without its NUL, which the last one may lack. After an error there is none: it would be the
    /// same error again.
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        if self.at_end || (self.in_flight && self.watch.as_ref().is_some_and(Watch::would_block)) {
            return None;
        }
        self.in_flight = true;
        let mut name = Vec::new();
        let read = self.text.read_until(Ending::Nul.byte(), &mut name);
        self.at_end = !matches!(read, Ok(1..));
        match read {
            Ok(0) => None,
            Ok(_) => {
                name.pop_if(|byte| *byte == Ending::Nul.byte());
                Some(Ok(name))
            }
            Err(error) => Some(Err(error)),
        }
    }
}
