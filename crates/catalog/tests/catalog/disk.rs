//! Two directories and what people and programs do to the files in them, at random.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::rc::Rc;

use super::*;

/// Numbers that look random, and are the same for a seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn choose<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[self.below(all.len())].clone()) }
    }
}

/// A root, 0 or 1, and a path below it.
pub(crate) type Place = (usize, String);

/// A file as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) digest: String,
    pub(crate) size: i64,
    /// In nanoseconds since 1970.
    pub(crate) modified: i64,
    pub(crate) inode: Inode,
}

/// The number of an inode and when it was made: a number alone may be given again.
pub(crate) type Inode = (u64, u128);

/// What was done, to be printed with a failure.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub(crate) fn push(&self, what: String) {
        self.0.borrow_mut().push(what);
    }

    /// The last lines.
    pub(crate) fn last(&self, most: usize) -> String {
        let all = self.0.borrow();
        all[all.len().saturating_sub(most)..].join("\n")
    }
}

/// Two roots that are never left without a file.
pub(crate) struct Disk {
    pub(crate) roots: [Archive; 2],
    pub(crate) random: Random,
    /// All contents that there ever were, by their digests.
    contents: HashMap<String, Vec<u8>>,
    number: u64,
    /// What was done.
    pub(crate) log: Log,
}

/// What ordinary users and programs do.
const ORDINARY: [fn(&mut Disk); 24] = [
    Disk::create,
    Disk::create,
    Disk::append,
    Disk::append,
    Disk::rewrite,
    Disk::save,
    Disk::save,
    Disk::rename,
    Disk::rename,
    Disk::rename_directory,
    Disk::rename_and_edit,
    Disk::move_to_other_root,
    Disk::move_directory_to_other_root,
    Disk::rename_over,
    Disk::delete,
    Disk::copy,
    Disk::copy,
    Disk::copy_and_delete,
    Disk::touch,
    Disk::chmod,
    Disk::hard_link,
    Disk::put_aside,
    Disk::swap,
    Disk::download,
];

fn born(metadata: &fs::Metadata) -> u128 {
    let born = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    born.map_or(0, |it| it.as_nanos())
}

impl Disk {
    pub(crate) fn new(seed: u64, profile: Profile) -> Self {
        // Half of them where new files get the inodes of deleted ones.
        let mut first = if seed.is_multiple_of(2) { Archive::new() } else { Archive::on_disk(&[]) };
        first.settings.profile = profile;
        let second = first.beside("second", &[]);
        let (contents, log) = (HashMap::new(), Log::default());
        let (roots, random) = ([first, second], Random(seed));
        let mut disk = Self { roots, random, contents, number: 0, log };
        for root in 0..2 {
            disk.write(&(root, "anchor".to_owned()), b"anchor");
            for number in 0..5 {
                let content = disk.new_content();
                disk.write(&(root, format!("d{}/f{number}", number % 3)), &content);
            }
        }
        disk
    }

    pub(crate) fn path(&self, (root, name): &Place) -> PathBuf {
        self.roots[*root].path(name)
    }

    /// All files that are not excluded.
    pub(crate) fn files(&self) -> BTreeMap<Place, Seen> {
        let mut files = BTreeMap::new();
        for (root, archive) in self.roots.iter().enumerate() {
            let mut directories = vec![archive.tree()];
            while let Some(directory) = directories.pop() {
                for entry in directory.read_dir().into_iter().flatten() {
                    let path = entry.unwrap().path();
                    let metadata = fs::symlink_metadata(&path).unwrap();
                    if metadata.is_dir() {
                        directories.push(path);
                    } else if path.extension().is_none_or(|it| it != "part") {
                        let below = path.strip_prefix(archive.tree()).unwrap();
                        let seen = Seen {
                            digest: md5(fs::read(&path).unwrap()),
                            size: metadata.size().cast_signed(),
                            modified: metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(),
                            inode: (metadata.ino(), born(&metadata)),
                        };
                        files.insert((root, below.to_str().unwrap().to_owned()), seen);
                    }
                }
            }
        }
        files
    }

    /// Files that may go, as `delete` may leave no root empty.
    fn free(&self) -> Vec<Place> {
        self.files().into_keys().filter(|(_, name)| name != "anchor").collect()
    }

    fn pick(&mut self) -> Option<Place> {
        let free = self.free();
        self.random.choose(&free)
    }

    fn pick_two(&mut self) -> Option<[Place; 2]> {
        let two = [self.pick()?, self.pick()?];
        (two[0] != two[1]).then_some(two)
    }

    fn pick_directory(&mut self) -> Option<Place> {
        let of = |(root, name): Place| Some((root, name.split_once('/')?.0.to_owned()));
        let all: BTreeSet<Place> = self.free().into_iter().filter_map(of).collect();
        self.random.choose(&all.into_iter().collect::<Vec<_>>())
    }

    /// A path that no file ever had.
    fn new_place(&mut self, root: usize) -> Place {
        self.number += 1;
        let directory = ["", "d0/", "d1/", "d2/", "d3/e/"][self.random.below(5)];
        (root, format!("{directory}n{}", self.number))
    }

    /// A content that no file ever had; or none.
    fn new_content(&mut self) -> Vec<u8> {
        self.number += 1;
        if self.random.once_in(20) {
            return Vec::new();
        }
        let length = self.random.below(30);
        [format!("{} ", self.number).into_bytes(), vec![b'x'; length]].concat()
    }

    fn write(&mut self, place: &Place, content: &[u8]) {
        self.contents.insert(md5(content), content.to_vec());
        self.roots[place.0].write(&place.1, content);
    }

    fn note(&self, what: String) {
        self.log.push(what);
    }

    fn rename_file(&mut self, from: &Place, to: &Place) {
        let [from, to] = [from, to].map(|place| self.path(place));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
    }
}

/// Ordinary operations.
impl Disk {
    pub(crate) fn do_something(&mut self) {
        let operation = ORDINARY[self.random.below(ORDINARY.len())];
        operation(self);
    }

    fn create(&mut self) {
        let root = self.random.below(2);
        let (place, content) = (self.new_place(root), self.new_content());
        self.write(&place, &content);
        self.note(format!("create {place:?}"));
    }

    fn append(&mut self) {
        let Some(place) = self.pick() else { return };
        let more = self.new_content();
        let content = [fs::read(self.path(&place)).unwrap(), more].concat();
        self.write(&place, &content);
        self.note(format!("append {place:?}"));
    }

    fn rewrite(&mut self) {
        let (Some(place), content) = (self.pick(), self.new_content()) else { return };
        self.write(&place, &content);
        self.note(format!("rewrite {place:?}"));
    }

    fn save(&mut self) {
        let (Some(place), content) = (self.pick(), self.new_content()) else { return };
        self.contents.insert(md5(&content), content.clone());
        self.roots[place.0].replace_at(&place.1, &content, next_time());
        self.note(format!("save {place:?}"));
    }

    fn rename(&mut self) {
        let Some(from) = self.pick() else { return };
        let to = self.new_place(from.0);
        self.rename_file(&from, &to);
        self.note(format!("rename {from:?} {to:?}"));
    }

    fn rename_directory(&mut self) {
        let Some(from) = self.pick_directory() else { return };
        self.number += 1;
        let to = (from.0, format!("r{}", self.number));
        self.rename_file(&from, &to);
        self.note(format!("rename {from:?}/ {to:?}/"));
    }

    fn rename_and_edit(&mut self) {
        let Some(from) = self.pick() else { return };
        let (to, content) = (self.new_place(from.0), self.new_content());
        self.rename_file(&from, &to);
        self.write(&to, &content);
        self.note(format!("rename {from:?} {to:?} and edit"));
    }

    fn move_to_other_root(&mut self) {
        let Some(from) = self.pick() else { return };
        let to = self.new_place(1 - from.0);
        self.rename_file(&from, &to);
        self.note(format!("move {from:?} {to:?}"));
    }

    fn move_directory_to_other_root(&mut self) {
        let Some(from) = self.pick_directory() else { return };
        self.number += 1;
        let to = (1 - from.0, format!("m{}", self.number));
        self.rename_file(&from, &to);
        self.note(format!("move {from:?}/ {to:?}/"));
    }

    fn rename_over(&mut self) {
        let Some([from, to]) = self.pick_two() else { return };
        self.rename_file(&from, &to);
        self.note(format!("rename {from:?} over {to:?}"));
    }

    fn delete(&mut self) {
        let Some(place) = self.pick() else { return };
        fs::remove_file(self.path(&place)).unwrap();
        self.note(format!("delete {place:?}"));
    }

    fn copy(&mut self) {
        let Some(from) = self.pick() else { return };
        let root = self.random.below(2);
        let to = self.new_place(root);
        let content = fs::read(self.path(&from)).unwrap();
        let time = self.roots[from.0].time(&from.1);
        let keeps_time = self.random.once_in(2);
        self.write(&to, &content);
        if keeps_time {
            set_time(&self.path(&to), time);
        }
        self.note(format!("copy {from:?} {to:?}, keeps time: {keeps_time}"));
    }

    fn copy_and_delete(&mut self) {
        let Some(from) = self.pick() else { return };
        let to = self.new_place(from.0);
        let content = fs::read(self.path(&from)).unwrap();
        self.write(&to, &content);
        fs::remove_file(self.path(&from)).unwrap();
        self.note(format!("copy {from:?} {to:?} and delete"));
    }

    fn touch(&mut self) {
        let Some(place) = self.pick() else { return };
        set_time(&self.path(&place), next_time());
        self.note(format!("touch {place:?}"));
    }

    fn chmod(&mut self) {
        let Some(place) = self.pick() else { return };
        set_mode(&self.path(&place), [0o600, 0o640, 0o755][self.random.below(3)]);
        self.note(format!("chmod {place:?}"));
    }

    fn hard_link(&mut self) {
        let Some(from) = self.pick() else { return };
        let to = self.new_place(from.0);
        let path = self.path(&to);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::hard_link(self.path(&from), path).unwrap();
        self.note(format!("link {from:?} {to:?}"));
    }

    fn put_aside(&mut self) {
        let (Some(place), content) = (self.pick(), self.new_content()) else { return };
        let aside = self.new_place(place.0);
        self.rename_file(&place, &aside);
        self.write(&place, &content);
        self.note(format!("put {place:?} aside as {aside:?} and write a new one"));
    }

    fn swap(&mut self) {
        let Some([one, other]) = self.pick_two() else { return };
        let aside = (one.0, "aside".to_owned());
        for (from, to) in [(&one, &aside), (&other, &one), (&aside, &other)] {
            self.rename_file(from, to);
        }
        self.note(format!("swap {one:?} {other:?}"));
    }

    /// A download has another name until it is whole, perhaps for some days.
    fn download(&mut self) {
        let root = self.random.below(2);
        let part = (root, "download.part".to_owned());
        if self.path(&part).exists() {
            let to = self.new_place(root);
            self.rename_file(&part, &to);
            self.note(format!("download {to:?}"));
            return;
        }
        let content = self.new_content();
        self.write(&part, &content);
    }

    /// Brings the recorded content of a file back, as from a backup.
    pub(crate) fn restore(&mut self, place: &Place, digest: &str, modified: i64) {
        let content = self.contents[digest].clone();
        let path = self.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let keeps_time = self.random.once_in(2);
        let recorded = UNIX_EPOCH + Duration::from_nanos(modified.cast_unsigned());
        let time = if keeps_time { recorded } else { next_time() };
        if self.random.once_in(2) {
            self.roots[place.0].replace_at(&place.1, &content, time);
        } else {
            self.roots[place.0].write_at(&place.1, &content, time);
        }
        self.note(format!("restore {place:?}, keeps time: {keeps_time}"));
    }

    /// A package is upgraded whose files all have the same time.
    pub(crate) fn upgrade(&mut self) {
        let Some(place) = self.pick() else { return };
        let time = self.roots[place.0].time(&place.1);
        let old = fs::read(self.path(&place)).unwrap();
        let content = [self.new_content(), old, b"of another size".to_vec()].concat();
        self.contents.insert(md5(&content), content.clone());
        if self.random.once_in(2) {
            self.roots[place.0].replace_at(&place.1, &content, time);
        } else {
            self.roots[place.0].make_again(&place.1, &content, time);
        }
        self.note(format!("upgrade {place:?}"));
    }

    /// Bytes change, or the end is lost, and the time stays.
    pub(crate) fn damage(&mut self) {
        let Some(place) = self.pick() else { return };
        let path = self.path(&place);
        let mut bytes = fs::read(&path).unwrap();
        if bytes.is_empty() {
            return;
        }
        match self.random.below(4) {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes.clear(),
            _ => bytes[0] ^= 0x80,
        }
        self.contents.insert(md5(&bytes), bytes.clone());
        write_keeping_time(&path, bytes);
        self.note(format!("damage {place:?}"));
    }
}
