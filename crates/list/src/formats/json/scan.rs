//! Finds the ends of file objects in JSON that arrives in pieces.
//!
//! There are three layouts: consecutive objects (JSON Lines), one array of objects, and one object
//! with such an array as its member, as `Contents` of S3 and others of [`ARRAYS`]. The text around
//! the objects is split at the brackets of the array.

/// The kind of the text that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Piece {
    /// The object of a file, including the separator before it.
    Object,
    /// Text before, between and after the objects.
    Between,
    /// Invalid JSON, or JSON of another layout.
    Broken,
    /// A text that the end of the list cuts off.
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Outside of arrays and objects.
    Outside,
    /// In the array of objects.
    InArray,
    /// In an object, or in the text around the array, at this depth. The members have depth 1.
    InObject(u32),
    /// After an object.
    Behind,
    /// In invalid JSON, up to the end of the line.
    Broken,
}

/// The previous token between the objects of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Bracket,
    Comma,
    Object,
}

/// The members whose arrays hold the objects, each with the members that it is in.
const ARRAYS: [&[&[u8]]; 8] = [
    &[b"Contents"],
    // Google Cloud Storage, Zenodo and figshare, Zenodo, Dataverse, Hugging Face.
    &[b"items"],
    &[b"files"],
    &[b"entries"],
    &[b"data"],
    &[b"data", b"files"],
    &[b"data", b"latestVersion", b"files"],
    &[b"siblings"],
];

/// The number of members in the longest of these, and the length of the longest name.
const DEEPEST: usize = 3;
const LONGEST: usize = 16;

/// The start of the last string at some depth, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    text: [u8; LONGEST],
    len: usize,
}

impl Word {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if let Some(place) = self.text.get_mut(self.len) {
                *place = byte;
            }
            self.len = self.len.saturating_add(1);
        }
    }

    fn is(&self, name: &[u8]) -> bool {
        self.text.get(..self.len) == Some(name)
    }
}

/// Finds the ends of texts.
#[derive(Clone, Debug)]
pub(in super::super) struct Scanner {
    state: State,
    has_array: bool,
    /// In the array.
    before: Before,
    /// Whether the array is a member of an object, and whether it is closed.
    is_in_member: bool,
    is_in_tail: bool,
    is_in_string: bool,
    is_escaped: bool,
    /// The last string at each depth outside of arrays, which is the name of the member whose value
    /// comes next.
    words: [Word; DEEPEST],
    /// The number of open arrays around, and the depth of the array of objects.
    arrays: u32,
    depth_of_array: u32,
    piece: Option<Piece>,
}

impl Scanner {
    pub(in super::super) const fn new() -> Self {
        Self {
            state: State::Outside,
            has_array: false,
            before: Before::Bracket,
            is_in_member: false,
            is_in_tail: false,
            is_in_string: false,
            is_escaped: false,
            words: [Word { text: [0; LONGEST], len: 0 }; DEEPEST],
            arrays: 0,
            depth_of_array: 1,
            piece: None,
        }
    }

    /// Returns the kind of the text that ends at the last [`find_end`](Self::find_end), or with the
    /// list.
    pub(in super::super) fn piece(&mut self) -> Piece {
        self.piece.take().unwrap_or(match self.state {
            State::Behind => Piece::Object,
            State::Outside | State::InArray => Piece::Between,
            State::Broken => Piece::Broken,
            State::InObject(_) => Piece::Cut,
        })
    }

    pub(in super::super) fn may_end(&self) -> bool {
        !self.has_array && matches!(self.state, State::Outside | State::Behind | State::Broken)
    }

    pub(in super::super) fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.piece = None;
        let mut at = 0;
        while at < bytes.len() {
            if self.is_in_string {
                at += self.skip_string(&bytes[at..]);
                continue;
            }
            let byte = bytes[at];
            self.piece = match self.state {
                State::InObject(depth) => self.in_object(byte, depth),
                State::Behind => self.behind(byte),
                State::Outside | State::InArray => self.between(byte),
                State::Broken => {
                    let is_end = byte == b'\n';
                    if is_end {
                        self.state = State::Outside;
                    }
                    is_end.then_some(Piece::Broken)
                }
            };
            if self.piece.is_some() {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Skips to the end of a string or of the bytes. Returns the number of bytes skipped.
    fn skip_string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.is_escaped) {
            return 1;
        }
        let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        if let Some(word) = self.word() {
            // No name has a backslash.
            let end = bytes.len().min(end + usize::from(bytes.get(end) == Some(&b'\\')));
            word.push(&bytes[..end]);
        }
        match bytes.get(end) {
            None => return end,
            Some(b'"') => self.is_in_string = false,
            Some(_) => self.is_escaped = true,
        }
        end + 1
    }

    fn in_object(&mut self, byte: u8, depth: u32) -> Option<Piece> {
        match byte {
            b'"' => {
                self.is_in_string = true;
                if let Some(word) = self.word() {
                    *word = Word::default();
                }
            }
            b'[' if self.is_array_of_objects(depth) => {
                (self.is_in_member, self.depth_of_array) = (true, depth);
                self.open_array();
                return Some(Piece::Between);
            }
            b'{' | b'[' => {
                self.arrays = self.arrays.saturating_add(u32::from(byte == b'['));
                self.state = State::InObject(depth.saturating_add(1));
            }
            b'}' | b']' if depth > 1 => {
                self.arrays = self.arrays.saturating_sub(u32::from(byte == b']'));
                self.state = State::InObject(depth - 1);
            }
            b'}' | b']' if self.is_in_tail => {
                (self.state, self.is_in_tail) = (State::Outside, false);
                return Some(Piece::Between);
            }
            b'}' | b']' => self.state = State::Behind,
            _ => {}
        }
        None
    }

    /// Returns the string to keep at the current depth. In the objects of an array, none is.
    fn word(&mut self) -> Option<&mut Word> {
        let State::InObject(depth) = self.state else { return None };
        let is_kept = !self.has_array && !self.is_in_tail && self.arrays == 0;
        self.words.get_mut(depth as usize - 1).filter(|_| is_kept)
    }

    /// Returns whether an array that begins at this depth holds the objects.
    fn is_array_of_objects(&self, depth: u32) -> bool {
        let words = self.words.get(..depth as usize);
        let is_path = |path: &&[&[u8]]| {
            let mut both = words.into_iter().flatten().zip(path.iter());
            path.len() == depth as usize && both.all(|(word, name)| word.is(name))
        };
        !self.has_array && !self.is_in_tail && self.arrays == 0 && ARRAYS.iter().any(is_path)
    }

    /// Returns the number of objects that the array of objects is in.
    pub(in super::super) const fn depth_of_array(&self) -> u32 {
        self.depth_of_array
    }

    fn behind(&mut self, byte: u8) -> Option<Piece> {
        match byte {
            b']' if self.has_array => self.close_array(),
            b',' if self.has_array => (self.state, self.before) = (State::InArray, Before::Comma),
            b' ' | b'\t' | b'\r' | b'\n' if self.has_array => {
                (self.state, self.before) = (State::InArray, Before::Object);
            }
            b' ' | b'\t' | b'\r' | b'\n' => self.state = State::Outside,
            _ => {
                self.state = State::Broken;
                return None;
            }
        }
        Some(Piece::Object)
    }

    fn between(&mut self, byte: u8) -> Option<Piece> {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' if !self.has_array || self.before != Before::Object => {
                self.state = State::InObject(1);
            }
            b',' if self.has_array && self.before == Before::Object => self.before = Before::Comma,
            b'[' if !self.has_array => {
                self.open_array();
                return Some(Piece::Between);
            }
            b']' if self.has_array && self.before != Before::Comma => {
                self.close_array();
                return Some(Piece::Between);
            }
            _ => self.state = State::Broken,
        }
        None
    }

    fn open_array(&mut self) {
        (self.state, self.has_array, self.before) = (State::InArray, true, Before::Bracket);
    }

    fn close_array(&mut self) {
        self.has_array = false;
        self.is_in_tail = std::mem::take(&mut self.is_in_member);
        self.state =
            if self.is_in_tail { State::InObject(self.depth_of_array) } else { State::Outside };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of a list that arrives in pieces of a given size, and whether the list may
    /// end there.
    fn texts(list: &str, piece: usize) -> (Vec<(Piece, String)>, bool) {
        let mut scanner = Scanner::new();
        let (mut texts, mut text) = (Vec::new(), Vec::new());
        for mut bytes in list.as_bytes().chunks(piece.max(1)) {
            while let Some(end) = scanner.find_end(bytes) {
                text.extend_from_slice(&bytes[..end]);
                let text = String::from_utf8(std::mem::take(&mut text)).unwrap();
                texts.push((scanner.piece(), text));
                bytes = &bytes[end + 1..];
            }
            text.extend_from_slice(bytes);
        }
        if !text.is_empty() {
            texts.push((scanner.piece(), String::from_utf8(text).unwrap()));
        }
        (texts, scanner.may_end())
    }

    fn objects(list: &str) -> (Vec<String>, bool) {
        let (whole, may_end) = texts(list, list.len());
        for piece in 1..list.len() {
            assert_eq!(texts(list, piece), (whole.clone(), may_end), "{list} {piece}");
        }
        let mut objects = Vec::new();
        for (piece, text) in whole {
            match piece {
                Piece::Object => objects.push(text.trim_start_matches([',', '\n', ' ']).to_owned()),
                Piece::Between => {}
                Piece::Broken => objects.push(format!("broken {text}")),
                Piece::Cut => objects.push(format!("cut {text}")),
            }
        }
        (objects, may_end)
    }

    #[test]
    fn objects_end_at_their_brace_in_each_layout() {
        let a = r#"{"path":"a}]\"[{\\","x":[{"y":[]}]}"#;
        let (b, empty) = (r#"{"Contents":1}"#, "{}");
        let expected = [a, b, empty].map(str::to_owned).to_vec();
        for list in [
            format!("{a}\n{b}\r\n{empty}"),
            format!("{a}\n\n {b}\n{empty}\n"),
            format!("[{a},{b},{empty}]"),
            format!("[\n  {a},\n  {b} ,\n  {empty}\n]\n"),
            format!("{{\"Contents\": [{a}, {b},{empty}], \"x\": [{{\"Contents\": [1]}}]}}\n"),
            format!("{{\n\"K\":{{\"Contents\":[]}},\"Contents\":[\n{a},\n{b},\n{empty}\n]}}"),
        ] {
            assert_eq!(objects(&list), (expected.clone(), true), "{list}");
        }
        for list in ["[]", "[\n]\n", "", "\n", "{\"Contents\":[]}\n"] {
            assert_eq!(objects(list), (Vec::new(), true), "{list}");
        }
    }

    #[test]
    fn misplaced_commas_are_errors() {
        let a = r#"{"path":"a"}"#;
        for list in
            [format!("[{a},]"), format!("[{a} {a}]"), format!("[{a},,{a}]"), format!("[,{a}]")]
        {
            let (objects, may_end) = objects(&list);
            assert!(objects.last().unwrap().starts_with("broken "), "{objects:?}");
            assert!(!may_end, "{list}");
        }
    }

    #[test]
    fn truncated_or_broken_json_is_detected() {
        let (a, cut) = (r#"{"path":"a"}"#, r#"{"path":"b"#);
        let known = vec![a.to_owned(), format!("cut {cut}")];
        assert_eq!(objects(&format!("{a}\n{cut}")), (known.clone(), false));
        assert_eq!(objects(&format!("[{a},{cut}")), (known, false));
        for list in [format!("[{a},"), format!("[{a}"), format!("{{\"Contents\":[{a}\n")] {
            assert_eq!(objects(&list), (vec![a.to_owned()], false), "{list}");
        }
        for list in
            [format!("x\n{a}"), format!("{a}{a}\n{a}"), format!("{a},\n{a}"), format!("]\n{a}")]
        {
            let (objects, _) = objects(&list);
            let [broken, whole] = &*objects else { panic!("{objects:?}") };
            assert!(broken.starts_with("broken ") && whole == a, "{objects:?}");
        }
    }
}
