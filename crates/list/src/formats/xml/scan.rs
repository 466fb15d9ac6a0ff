//! Finds the ends of records in XML that arrives in pieces.
//!
//! Only tags are recognized here. The text of a record is parsed by [quick_xml]. A document type
//! with declarations is refused, because these can define entities that expand without bound.

/// The root elements of known lists, and the element of a file in each.
pub(super) const SHAPES: [(&[u8], &[u8]); 4] =
    [(b"files", b"file"), (b"hashlist", b"hash"), (b"FCIV", b"FILE_ENTRY"), (b"datafile", b"rom")];

/// Deeper elements than in any list.
const DEEPEST: u32 = 64;

/// Longer than the name of any element of [`SHAPES`], with its prefix.
const LONGEST: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// In the name of a tag.
    Name,
    Tag,
    Quoted(u8),
    /// In something that ends with these bytes, of which so many were read.
    Until(&'static [u8], usize),
    DocumentType,
    Broken,
}

/// The element that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Record,
    /// The root element.
    Root,
}

#[derive(Clone, Debug)]
pub(super) struct Scan {
    state: State,
    name: [u8; LONGEST],
    length: usize,
    /// The last byte of the tag so far.
    last: u8,
    depth: u32,
    /// The depth of the record around, or 0.
    in_record: u32,
    /// The index of the list in [`SHAPES`], once the root was read.
    shape: Option<usize>,
    is_ended: bool,
    piece: Option<Piece>,
}

impl Scan {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Text,
            name: [0; LONGEST],
            length: 0,
            last: 0,
            depth: 0,
            in_record: 0,
            shape: None,
            is_ended: false,
            piece: None,
        }
    }

    /// Returns what ended at the last [`find_end`](Self::find_end), if anything did.
    pub(super) fn piece(&mut self) -> Option<Piece> {
        self.piece.take()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.state == State::Broken
    }

    pub(super) fn may_end(&self) -> bool {
        self.is_broken() || (self.state == State::Text && (self.is_ended || self.shape.is_none()))
    }

    pub(super) const fn shape(&self) -> Option<usize> {
        self.shape
    }

    /// Returns the position of the `>` that ends the next record or the root.
    pub(super) fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.piece = None;
        let mut at = 0;
        while at < bytes.len() && self.piece.is_none() {
            at += match self.state {
                State::Text => self.text(&bytes[at..]),
                State::Quoted(mark) => self.until(mark, &bytes[at..]),
                State::Broken => return None,
                _ => {
                    self.state = self.byte(bytes[at]);
                    1
                }
            };
        }
        self.piece.map(|_| at - 1)
    }

    fn text(&mut self, bytes: &[u8]) -> usize {
        let Some(at) = memchr::memchr(b'<', bytes) else { return bytes.len() };
        (self.state, self.length, self.last) = (State::Name, 0, 0);
        at + 1
    }

    fn until(&mut self, mark: u8, bytes: &[u8]) -> usize {
        let Some(at) = memchr::memchr(mark, bytes) else { return bytes.len() };
        (self.state, self.last) = (State::Tag, mark);
        at + 1
    }

    fn byte(&mut self, byte: u8) -> State {
        match self.state {
            State::Name => self.name_byte(byte),
            State::Tag => match byte {
                b'"' | b'\'' => State::Quoted(byte),
                b'<' => State::Broken,
                b'>' => self.end_tag(),
                byte => {
                    self.last = byte;
                    State::Tag
                }
            },
            State::Until(end, matched) => {
                let matched = match end {
                    _ if byte == end[matched] => matched + 1,
                    // Any number of dashes or brackets may stand before the end.
                    [first, ..] if byte == *first => matched.min(end.len() - 1),
                    _ => 0,
                };
                if matched == end.len() { State::Text } else { State::Until(end, matched) }
            }
            // Declarations of entities are in brackets.
            State::DocumentType => match byte {
                b'[' | b'<' => State::Broken,
                b'>' => State::Text,
                _ => State::DocumentType,
            },
            state => state,
        }
    }

    fn name_byte(&mut self, byte: u8) -> State {
        if byte == b'>' || (byte.is_ascii_whitespace() && self.length > 0) {
            return if byte == b'>' { self.end_tag() } else { self.after_name() };
        }
        if self.length < LONGEST {
            self.name[self.length] = byte;
            self.length += 1;
        }
        self.last = byte;
        match &self.name[..self.length] {
            b"?" => State::Until(b"?>", 0),
            b"!--" => State::Until(b"-->", 0),
            b"![CDATA[" => State::Until(b"]]>", 0),
            _ => State::Name,
        }
    }

    fn after_name(&self) -> State {
        match &self.name[..self.length] {
            b"!DOCTYPE" => State::DocumentType,
            [b'!', ..] => State::Broken,
            _ => State::Tag,
        }
    }

    /// Ends a tag.
    fn end_tag(&mut self) -> State {
        let name = &self.name[..self.length];
        if name.is_empty() || name.starts_with(b"!") {
            return State::Broken;
        }
        let is_end = name.starts_with(b"/");
        let is_empty = self.last == b'/' && !is_end;
        if is_end {
            let Some(depth) = self.depth.checked_sub(1) else { return State::Broken };
            self.close(depth + 1);
            self.depth = depth;
        } else {
            let name = local(name.strip_suffix(b"/").unwrap_or(name));
            if self.is_ended || self.depth >= DEEPEST {
                return State::Broken;
            }
            if self.depth == 0 {
                let Some(shape) = SHAPES.iter().position(|(root, _)| *root == name) else {
                    return State::Broken;
                };
                self.shape = Some(shape);
            }
            let is_record = self.shape.is_some_and(|shape| SHAPES[shape].1 == name);
            if self.depth > 0 && self.in_record == 0 && is_record {
                self.in_record = self.depth + 1;
            }
            if is_empty {
                self.close(self.depth + 1);
            } else {
                self.depth += 1;
            }
        }
        State::Text
    }

    /// Closes the element at a depth.
    fn close(&mut self, depth: u32) {
        if self.in_record == depth {
            self.in_record = 0;
            self.piece = Some(Piece::Record);
        } else if depth == 1 {
            self.is_ended = true;
            self.piece = Some(Piece::Root);
        }
    }
}

/// Returns a name without its prefix.
fn local(name: &[u8]) -> &[u8] {
    memchr::memrchr(b':', name).map_or(name, |at| &name[at + 1..])
}
