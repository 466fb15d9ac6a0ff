//! Judges a file that was read against its record.
//!
//! ```text
//! content    time        record                               verdict
//! same       any         any                                  ok; update the record
//! different  any         damaged                              damaged
//! different  different   not damaged                          edited, or older
//! different  same        not settled                          edited
//! different  same        a renamed file replaced the file     edited
//! different  same        different inode, in a working root   edited
//! different  same        any other                            read again, bypassing the cache:
//!   second read has the recorded content                      ok, with a hardware warning
//!   second read has the content of the first                  damaged
//!   second read has a third content                           damaged, unstable
//! ```

use super::{Profile, Reason, Stat};

/// The facts of the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) stat: Stat,
    /// Whether any write after the recorded read would have changed the modification time.
    pub(crate) is_settled: bool,
    pub(crate) is_damaged: bool,
    pub(crate) profile: Profile,
    /// Whether inode numbers are stable, so that a different number means a different file.
    pub(crate) has_stable_inodes: bool,
}

/// The facts of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) stat: Stat,
    pub(crate) has_recorded_content: bool,
    /// Whether another recorded file was renamed over this path.
    pub(crate) is_renamed_over: bool,
    /// Whether the file was created after the recorded change time. Then it is a different file,
    /// even if it has the recorded inode number.
    pub(crate) is_made_later: bool,
}

/// The result of a second read, which bypasses the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Second {
    Recorded,
    LikeFirst,
    Third,
}

/// The verdict about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    /// The first read was wrong: memory, cable or controller.
    Hardware,
    /// The reason is `Older` if the modification time went back.
    Edited(Option<Reason>),
    Damaged(Reason),
    /// Only a second read can decide.
    ReadAgain,
}

/// Judges a file. `second` is `None` before a second read.
pub(crate) fn judge(known: &Known, read: &Read, second: Option<Second>) -> Verdict {
    if read.has_recorded_content {
        return Verdict::Ok;
    }
    if known.is_damaged {
        return Verdict::Damaged(reason(known, read));
    }
    let (before, now) = (known.stat.modified, read.stat.modified);
    if now != before {
        return Verdict::Edited((now < before).then_some(Reason::Older));
    }
    let is_replaced = is_replaced(known, read);
    if !known.is_settled || read.is_renamed_over || is_replaced && known.profile == Profile::Working
    {
        return Verdict::Edited(None);
    }
    match second {
        None => Verdict::ReadAgain,
        Some(Second::Recorded) => Verdict::Hardware,
        Some(Second::Third) => Verdict::Damaged(Reason::Unstable),
        Some(Second::LikeFirst) => Verdict::Damaged(reason(known, read)),
    }
}

fn is_replaced(known: &Known, read: &Read) -> bool {
    known.has_stable_inodes && (known.stat.inode != read.stat.inode || read.is_made_later)
}

fn reason(known: &Known, read: &Read) -> Reason {
    if is_replaced(known, read) {
        Reason::Replaced
    } else if read.stat.size < known.stat.size {
        Reason::Truncated
    } else if read.stat.size > known.stat.size {
        Reason::Size
    } else if read.stat.changed != known.stat.changed {
        Reason::Rewritten
    } else {
        Reason::Content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: Stat = Stat { size: 10, modified: 100, changed: 100, inode: 7 };
    const KNOWN: Known = Known {
        stat: STAT,
        is_settled: true,
        is_damaged: false,
        profile: Profile::Archive,
        has_stable_inodes: true,
    };
    const READ: Read = Read {
        stat: STAT,
        has_recorded_content: false,
        is_renamed_over: false,
        is_made_later: false,
    };

    fn stat(change: impl Fn(&mut Stat)) -> Read {
        let mut read = READ;
        change(&mut read.stat);
        read
    }

    /// Every read with the recorded content is ok, regardless of all other facts.
    #[test]
    fn recorded_content_is_ok_whatever_the_metadata() {
        for read in [
            READ,
            stat(|it| it.modified = 1),
            stat(|it| it.changed = 1),
            stat(|it| it.inode = 1),
            Read { is_renamed_over: true, ..READ },
        ] {
            let read = Read { has_recorded_content: true, ..read };
            for is_damaged in [false, true] {
                let known = Known { is_damaged, ..KNOWN };
                assert_eq!(judge(&known, &read, None), Verdict::Ok, "{read:?}");
            }
        }
    }

    #[test]
    fn new_time_and_new_content_is_an_edit() {
        assert_eq!(judge(&KNOWN, &stat(|it| it.modified = 101), None), Verdict::Edited(None));
        let older = judge(&KNOWN, &stat(|it| it.modified = 99), None);
        assert_eq!(older, Verdict::Edited(Some(Reason::Older)));
        let size = stat(|it| (it.modified, it.size) = (101, 3));
        assert_eq!(judge(&KNOWN, &size, None), Verdict::Edited(None));
    }

    #[test]
    fn damage_stays_until_the_recorded_content_is_back() {
        let known = Known { is_damaged: true, is_settled: false, ..KNOWN };
        let edited = stat(|it| it.modified = 500);
        assert_eq!(judge(&known, &edited, None), Verdict::Damaged(Reason::Content));
    }

    #[test]
    fn a_record_that_is_not_settled_was_edited() {
        let known = Known { is_settled: false, ..KNOWN };
        assert_eq!(judge(&known, &READ, None), Verdict::Edited(None));
    }

    #[test]
    fn a_replaced_file_is_edited_in_a_working_root_and_damaged_in_an_archive() {
        let replaced = stat(|it| it.inode = 8);
        let working = Known { profile: Profile::Working, ..KNOWN };
        assert_eq!(judge(&working, &replaced, None), Verdict::Edited(None));
        assert_eq!(judge(&KNOWN, &replaced, None), Verdict::ReadAgain);
        let second = Some(Second::LikeFirst);
        assert_eq!(judge(&KNOWN, &replaced, second), Verdict::Damaged(Reason::Replaced));
        let same_inode = Read { is_made_later: true, ..READ };
        assert_eq!(judge(&working, &same_inode, None), Verdict::Edited(None));
        assert_eq!(judge(&KNOWN, &same_inode, second), Verdict::Damaged(Reason::Replaced));
        let renamed = Read { is_renamed_over: true, ..replaced };
        assert_eq!(judge(&KNOWN, &renamed, None), Verdict::Edited(None));
        let volatile = Known { has_stable_inodes: false, ..KNOWN };
        assert_eq!(judge(&volatile, &replaced, second), Verdict::Damaged(Reason::Content));
    }

    #[test]
    fn a_second_read_decides_between_damage_and_hardware() {
        assert_eq!(judge(&KNOWN, &READ, None), Verdict::ReadAgain);
        assert_eq!(judge(&KNOWN, &READ, Some(Second::Recorded)), Verdict::Hardware);
        let third = judge(&KNOWN, &READ, Some(Second::Third));
        assert_eq!(third, Verdict::Damaged(Reason::Unstable));
        for (read, reason) in [
            (READ, Reason::Content),
            (stat(|it| it.changed = 101), Reason::Rewritten),
            (stat(|it| it.size = 11), Reason::Size),
            (stat(|it| it.size = 9), Reason::Truncated),
            (stat(|it| it.size = 0), Reason::Truncated),
        ] {
            let verdict = judge(&KNOWN, &read, Some(Second::LikeFirst));
            assert_eq!(verdict, Verdict::Damaged(reason), "{read:?}");
        }
    }
}
