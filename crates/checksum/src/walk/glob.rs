//! Matches names and paths, as bytes, against patterns of `.gitignore` and `--exclude`.
//!
//! # How it matches
//!
//! A pattern is a list of tokens, matched from the left. Tokens for any number of bytes first match
//! as few bytes as possible. When a token fails, the last `*` takes one more byte, or the last `**`
//! if the `*` is at a `/`. Earlier ones need not be tried again: a `*` ends at the next `/` in any
//! case, and the last `**` can take all bytes that an earlier one could. So the time is at most the
//! product of both lengths.

/// A pattern without a `/` at its start or end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Glob(Box<[Token]>);

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// Literal bytes.
    Literal(Vec<u8>),
    /// One byte of a set without `/`.
    One(Set),
    /// Any bytes except `/`.
    Name,
    /// Any bytes.
    Anything,
    /// Nothing, or any bytes followed by a `/`.
    Folders,
}

impl Glob {
    /// Parses a pattern. Returns `None` for an unclosed set, an unknown class or a trailing `\`.
    /// Such a pattern matches nothing.
    pub(super) fn new(pattern: &[u8]) -> Option<Self> {
        parse(pattern).map(|tokens| Self(tokens.into_boxed_slice()))
    }

    /// Returns whether the pattern matches a whole text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        // Most texts differ at one of their ends.
        let can_begin = match self.0.first() {
            Some(Token::Literal(literal)) => text.starts_with(literal),
            _ => true,
        };
        let can_end = match self.0.last() {
            Some(Token::Literal(literal)) => text.ends_with(literal),
            _ => true,
        };
        can_begin && can_end && matches(&self.0, text)
    }
}

fn parse(pattern: &[u8]) -> Option<Vec<Token>> {
    let is_special = |byte: &u8| b"*?[\\".contains(byte);
    let prefix = pattern.iter().position(is_special).unwrap_or(pattern.len());
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        let literal = match byte {
            b'*' => {
                let first = at - 1;
                at += pattern[at..].iter().take_while(|&&byte| byte == b'*').count();
                let is_deep = at - first > 1 && (first == prefix || pattern[first - 1] == b'/');
                let (token, more) = match &pattern[at..] {
                    [b'/', ..] if is_deep => (Token::Folders, 1),
                    [] | [b'\\', b'/', ..] if is_deep => (Token::Anything, 0),
                    _ => (Token::Name, 0),
                };
                at += more;
                tokens.push(token);
                continue;
            }
            b'?' => {
                tokens.push(Token::One(Set::default().inverted()));
                continue;
            }
            b'[' => {
                let (set, end) = Set::parse(pattern, at)?;
                tokens.push(Token::One(set));
                at = end;
                continue;
            }
            b'\\' => {
                at += 1;
                *pattern.get(at - 1)?
            }
            other => other,
        };
        match tokens.last_mut() {
            Some(Token::Literal(bytes)) => bytes.push(literal),
            _ => tokens.push(Token::Literal(vec![literal])),
        }
    }
    Some(tokens)
}

/// Returns whether tokens match a whole text.
fn matches(tokens: &[Token], text: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    // The token after the last one of each kind, and the end of the bytes that it took.
    let mut name: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        let rest = &text[at..];
        let taken = match tokens.get(token) {
            None if rest.is_empty() => return true,
            None => None,
            Some(Token::Literal(bytes)) => rest.starts_with(bytes).then(|| {
                if bytes.contains(&b'/') {
                    name = None;
                }
                bytes.len()
            }),
            Some(Token::One(set)) => {
                rest.first().is_some_and(|&byte| set.contains(byte)).then_some(1)
            }
            Some(Token::Name) => {
                name = Some((token + 1, at));
                Some(0)
            }
            Some(Token::Anything | Token::Folders) => {
                (name, deep) = (None, Some((token + 1, at)));
                Some(0)
            }
        };
        if let Some(count) = taken {
            (token, at) = (token + 1, at + count);
        } else if let Some((behind, end)) = name
            && text.get(end).is_some_and(|&byte| byte != b'/')
        {
            (token, at, name) = (behind, end + 1, Some((behind, end + 1)));
        } else if let Some((behind, end)) = deep
            && let Some(more) = match tokens[behind - 1] {
                Token::Folders => text[end..].iter().position(|&byte| byte == b'/'),
                _ => (end < text.len()).then_some(0),
            }
        {
            (token, at, name) = (behind, end + more + 1, None);
            deep = Some((token, at));
        } else {
            return false;
        }
    }
}

/// Returns the position after the set whose first element is at `at`, or `None` if [`Glob::new`]
/// fails as well.
pub(super) fn behind_set(pattern: &[u8], at: usize) -> Option<usize> {
    Set::parse(pattern, at).map(|(_, end)| end)
}

/// A set of bytes, without `/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set([u64; 4]);

impl Set {
    /// Parses the set whose first element is at `at`. Returns it with the position after it, or
    /// `None` if it is not closed or has an unknown class.
    fn parse(pattern: &[u8], mut at: usize) -> Option<(Self, usize)> {
        let byte_at = |at: usize| pattern.get(at).copied();
        let is_inverted = matches!(byte_at(at)?, b'!' | b'^');
        at += usize::from(is_inverted);
        let begin = at;
        let mut set = Self::default();
        // The start of a possible range.
        let mut previous = None;
        while at == begin || byte_at(at)? != b']' {
            let mut byte = byte_at(at)?;
            let escaped = |at: usize| match byte_at(at)? {
                b'\\' => Some((at + 1, byte_at(at + 1)?)),
                byte => Some((at, byte)),
            };
            let class = match (byte, byte_at(at + 1)) {
                (b'[', Some(b':')) => {
                    let length = pattern[at + 2..].iter().position(|&byte| byte == b']')?;
                    pattern[at + 2..][..length].strip_suffix(b":")
                }
                _ => None,
            };
            if let Some(class) = class {
                (0..=u8::MAX).filter(class_of(class)?).for_each(|byte| set.insert(byte));
                at += class.len() + 3;
                previous = None;
            } else if let (b'-', Some(from), Some(_)) =
                (byte, previous, byte_at(at + 1).filter(|&next| next != b']'))
            {
                let to;
                (at, to) = escaped(at + 1)?;
                (from..=to).for_each(|byte| set.insert(byte));
                previous = None;
            } else {
                (at, byte) = escaped(at)?;
                set.insert(byte);
                previous = Some(byte);
            }
            at += 1;
        }
        let mut set = if is_inverted { set.inverted() } else { set };
        set.remove(b'/');
        Some((set, at + 1))
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & 1 << (byte % 64) != 0
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] &= !(1 << (byte % 64));
    }

    /// Returns all other bytes except `/`.
    fn inverted(self) -> Self {
        let mut inverted = Self(self.0.map(|bits| !bits));
        inverted.remove(b'/');
        inverted
    }
}

/// Returns whether a byte is in a class, as in `[[:alpha:]]`, or `None` for an unknown class.
fn class_of(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| b" \t".contains(byte),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| (b' '..=b'~').contains(byte),
        b"punct" => u8::is_ascii_punctuation,
        // Without the vertical tab and the form feed.
        b"space" => |byte| b" \t\r\n".contains(byte),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
