//! Which findings were called for, in the one number that the catalog keeps of that: all events up
//! to one of them, or, as long as the first calls are being made, these up to a place.

/// What was called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Of what stood when the last event was this one, all up to a place; of later events none.
    First { last: i64, place: Place },
    /// All events up to this one.
    Event(i64),
}

/// A place in the order of what stands: files by their ids, then folders by theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

/// Bits of an id, above which stands whether it is a folder's.
const ID: u32 = 32;
/// Bits of a place.
const PLACE: u32 = ID + 1;
/// Bits of the last event: with those of a place, all of a number but its sign.
const LAST: u32 = 63 - PLACE;

impl Place {
    /// Before all.
    pub const BEGIN: Self = Self(0);

    /// The place of a file.
    pub fn of_file(id: i64) -> Self {
        Self(id.clamp(0, (1 << ID) - 1).cast_unsigned())
    }

    /// The place of a folder.
    pub fn of_folder(id: i64) -> Self {
        Self(1 << ID | Self::of_file(id).0)
    }

    /// The id of the last file up to here.
    pub fn file(self) -> i64 {
        self.0.min((1 << ID) - 1).cast_signed()
    }
}

impl Told {
    /// The number in the catalog: of an event its own, else one below zero. There is none where the
    /// last event has too great a number, which is not noted then.
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Event(id) => Some(id),
            Self::First { last, place } => {
                (0..1 << LAST).contains(&last).then(|| -1 - (last << PLACE | place.0.cast_signed()))
            }
        }
    }

    /// What a number in the catalog says.
    pub fn from_number(number: i64) -> Self {
        if number >= 0 {
            return Self::Event(number);
        }
        let both = -1 - number;
        let place = Place((both & ((1 << PLACE) - 1)).cast_unsigned());
        Self::First { last: both >> PLACE, place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_what_was_told() {
        let greatest = (1 << LAST) - 1;
        for last in [0, 1, 4711, greatest] {
            for place in [
                Place::BEGIN,
                Place::of_file(1),
                Place::of_file(u32::MAX.into()),
                Place::of_folder(1),
                Place::of_folder(u32::MAX.into()),
            ] {
                let told = Told::First { last, place };
                let number = told.number().unwrap();
                assert!(number < 0, "{told:?}");
                assert_eq!(Told::from_number(number), told);
            }
        }
        for id in [0, 1, i64::MAX] {
            assert_eq!(Told::from_number(Told::Event(id).number().unwrap()), Told::Event(id));
        }
        let place = Place::BEGIN;
        assert_eq!(Told::First { last: greatest + 1, place }.number(), None);
        assert_eq!(
            Told::from_number(i64::MIN),
            Told::First { last: greatest, place: Place::of_folder(u32::MAX.into()) }
        );
    }

    #[test]
    fn files_come_before_folders() {
        let order = [
            Place::BEGIN,
            Place::of_file(1),
            Place::of_file(2),
            Place::of_folder(1),
            Place::of_folder(2),
        ];
        assert!(order.is_sorted_by(|one, other| one < other));
        assert_eq!(order.map(Place::file), [0, 1, 2, i64::from(u32::MAX), i64::from(u32::MAX)]);
    }
}
