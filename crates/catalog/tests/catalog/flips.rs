//! Bits that flip in the catalog's own file: the check finds each that changes a stored value, and
//! none is taken for a damaged file.

use std::fs;

use lanesum_catalog::{Control, Outcome};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::disk::Random;
use super::*;

const FLIPS: u32 = 1500;
const TABLES: [&str; 13] = [
    "sqlite_schema",
    "meta",
    "root",
    "total",
    "setting",
    "directory",
    "file",
    "state",
    "found",
    "pending",
    "deleted",
    "run",
    "event",
];

/// Every value in every table, and every word of the schema; an error where they cannot be read.
fn values(path: &Path) -> rusqlite::Result<Vec<Vec<Value>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = Connection::open_with_flags(path, flags)?;
    let mut all = Vec::new();
    for table in TABLES {
        let columns = if table == "sqlite_schema" { "type,name,tbl_name,sql" } else { "*" };
        let mut statement = db.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let count = statement.column_count();
        let rows =
            statement.query_map([], |row| (0..count).map(|place| row.get(place)).collect())?;
        for row in rows {
            all.push(row?);
        }
    }
    Ok(all)
}

fn is_of_catalog(error: &CatalogError) -> bool {
    matches!(error, CatalogError::Damaged(_) | CatalogError::NotACatalog(_))
        || matches!(error, CatalogError::Newer { .. } | CatalogError::Sqlite(_))
}

/// Writes a catalog that is to be broken, without what an earlier one left.
fn put(path: &Path, bytes: &[u8]) {
    for end in ["-wal", "-shm", "-lock"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // As a rule there is none.
        let _ = fs::remove_file(name);
    }
    fs::write(path, bytes).unwrap();
}

/// A copy of a catalog in one file, and its size of a page.
fn whole(archive: &Archive) -> (Vec<u8>, usize) {
    let whole = archive.state.path().join("whole.db");
    archive.look().backup(&whole).unwrap();
    let bytes = fs::read(&whole).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    (bytes, page)
}

/// Runs a task over all roots of a catalog; what it reported, and how it ended.
fn run(path: &Path, task: &Task) -> (Vec<Finding>, Result<(), CatalogError>) {
    let mut findings = Vec::new();
    let mut take = |_: &Root, finding: &Finding| {
        findings.push(finding.clone());
        Ok(())
    };
    let ended = Catalog::open_existing(path, "test").and_then(|mut catalog| {
        let targets: Vec<_> = catalog.roots()?.into_iter().map(Target::whole).collect();
        catalog.run(&targets, task, &options(), &mut take)
    });
    (findings, ended.map(|_| ()))
}

#[test]
fn flipped_bit_in_the_catalog_is_found_and_no_file_is_called_damaged() {
    let names: Vec<_> = (0..200).map(|number| format!("d{}/f{number}", number % 5)).collect();
    let mut archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.settings.profile = Profile::Working;
    archive.add();
    archive.write("d0/f0", "edited");
    archive.remove("d1/f1");
    archive.update();
    archive.write("new", "new");
    archive.scrub();
    let (bytes, _) = whole(&archive);
    let right = values(&archive.state.path().join("whole.db")).unwrap();
    let flipped = archive.state.path().join("flipped.db");

    let (mut changed, mut random) = (0, Random(7));
    for _ in 0..FLIPS {
        let bit = random.below(8 * bytes.len());
        let mut with_flip = bytes.clone();
        with_flip[bit / 8] ^= 1 << (bit % 8);
        put(&flipped, &with_flip);
        let is_changed = values(&flipped).map_or(true, |values| values != right);
        let found = Catalog::look(&flipped).and_then(|catalog| catalog.check());
        let is_found = !matches!(&found, Ok(wrong) if wrong.is_empty());
        assert!(is_found || !is_changed, "bit {bit} changes a value, and the check finds nothing");
        changed += u32::from(is_changed);
        if is_changed && changed % 8 == 0 {
            let (findings, ended) = run(&flipped, &Task::Scrub(everything()));
            let is_accused = findings.iter().any(|it| it.class == Class::Damaged);
            assert!(!is_accused, "bit {bit}: {findings:?}, {ended:?}");
        }
    }
    assert!(changed > FLIPS / 5, "{changed} of {FLIPS} flips change a value");
}

/// A record that its index does not lead to must not be recorded again, as its file is now.
#[test]
fn file_whose_record_an_index_hides_is_not_new() {
    let archive = Archive::recorded(&["a", "name of a file", "z"]);
    archive.damage("name of a file");
    // Only a file that would be new makes `update` look at the indices.
    archive.write("new", "new");
    let path = archive.catalog_path();
    let bytes = fs::read(&path).unwrap();
    let name = b"name of a file";
    let places = (0..bytes.len() - name.len()).filter(|&place| bytes[place..].starts_with(name));
    let mut hidden = 0;
    for place in places {
        let mut with_flip = bytes.clone();
        with_flip[place] ^= 1;
        for task in [Task::Update, Task::Add] {
            put(&path, &with_flip);
            let error = run(&path, &task).1.unwrap_err();
            assert!(matches!(error, CatalogError::Damaged(_)), "{error}");
            hidden += u32::from(error.to_string().contains("index"));
        }
        put(&path, &with_flip);
        let paths = [archive.path("name of a file")];
        let accepted = archive.open().accept(&paths, &options(), &mut |_, _| Ok(()));
        let is_refused = match &accepted {
            Ok(accepted) => accepted.files == 0,
            Err(error) => is_of_catalog(error),
        };
        assert!(is_refused, "{accepted:?}");
    }
    assert!(hidden >= 2, "{hidden}");
}

#[test]
fn other_tables_than_those_that_were_made_are_damage() {
    for sql in [
        "ALTER TABLE file DROP COLUMN seal",
        "ALTER TABLE state RENAME COLUMN verified TO unverified",
        "ALTER TABLE root ADD COLUMN more INTEGER DEFAULT 1 CHECK (more = 1 AND inode < 0)",
        "DROP TABLE directory",
        "DROP TABLE run",
        "DROP TABLE meta",
        "DROP TABLE pending",
        "CREATE TRIGGER no BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no'); END",
    ] {
        let archive = Archive::recorded(&["a", "b"]);
        let db = Connection::open(archive.catalog_path()).unwrap();
        db.execute_batch("PRAGMA ignore_check_constraints = 1").unwrap();
        let changed = db.execute_batch(sql);
        drop(db);
        if changed.is_err() {
            continue;
        }
        let error = run(&archive.catalog_path(), &Task::Update).1.unwrap_err();
        assert!(matches!(error, CatalogError::Damaged(_)), "{sql}: {error:?}");
    }
}

/// The pages of the tables that are leaves.
fn pages(archive: &Archive) -> Vec<(String, usize)> {
    let db = Connection::open(archive.state.path().join("whole.db")).unwrap();
    let sql = "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'";
    let mut statement = db.prepare(sql).unwrap();
    let pages = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)));
    pages.unwrap().map(Result::unwrap).collect()
}

/// A changed count of rows in a page, or a changed place of one, hides rows whose seals are right.
#[test]
fn rows_that_a_page_hides_are_damage() {
    let archive = Archive::recorded(&["a", "b", "d/c", "d/e"]);
    archive.damage("b");
    assert_eq!(archive.scrub().lines(), ["damaged b"]);
    Control::open(&archive.catalog_path()).unwrap().pause(&archive.root(), clock()).unwrap();
    let (bytes, size) = whole(&archive);
    let flipped = archive.state.path().join("flipped.db");
    for (table, page) in pages(&archive) {
        if !["root", "directory", "file", "state", "run", "setting"].contains(&&*table) {
            continue;
        }
        let begin = (page - 1) * size;
        assert_eq!(bytes[begin], 13, "{table} is a leaf");
        let mut hidden = vec![bytes.clone(), bytes.clone()];
        hidden[0][begin + 4] = 0;
        // Of two rows the second is there twice, and the first not at all.
        let second = bytes[begin + 10..begin + 12].to_vec();
        hidden[1][begin + 8..begin + 10].copy_from_slice(&second);
        if table != "state" && table != "run" {
            hidden.pop();
        }
        // The newest run.
        if table == "run" {
            hidden.push(bytes.clone());
            hidden[2][begin + 4] -= 1;
        }
        for with_flip in hidden {
            put(&flipped, &with_flip);
            let catalog = Catalog::open_existing(&flipped, "test").unwrap();
            // It reads neither directories nor files.
            let is_found = catalog.status(clock()).is_err_and(|it| is_of_catalog(&it));
            let is_read = !["directory", "file"].contains(&&*table);
            assert!(is_found || !is_read, "status, {table}");
            let listed = catalog.files(&FileFilter::default(), &mut |_| Ok(()));
            assert!(listed.is_err_and(|it| is_of_catalog(&it)), "files, {table}");
            drop(catalog);
            for task in [Task::Update, Task::Verify, Task::Scan, Task::Scrub(everything())] {
                let ended = run(&flipped, &task).1;
                assert!(ended.is_err_and(|it| is_of_catalog(&it)), "{task:?}, {table}");
            }
            // From now on the status knows, even if it reads nothing damaged.
            let status = Catalog::look(&flipped).unwrap().status(clock());
            let is_noted = |all: Vec<RootStatus>| {
                all[0].last.as_ref().is_some_and(|run| run.outcome == Outcome::CatalogDamaged)
            };
            assert!(status.map_or_else(|it| is_of_catalog(&it), is_noted), "noted, {table}");
        }
    }
}

/// A place in a page that is another leads a search past rows that a count finds.
#[test]
fn rows_that_a_search_does_not_find_are_damage() {
    let names: Vec<_> = (0..40).map(|number| format!("d{}/f{number:02}", number % 4)).collect();
    let archive = Archive::recorded(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| archive.damage(name));
    let (bytes, size) = whole(&archive);
    let flipped = archive.state.path().join("flipped.db");
    let mut lost = 0;
    for (page, content) in bytes.chunks(size).enumerate().skip(1) {
        // Leaves of tables and of indices.
        let cells = usize::from(u16::from_be_bytes([content[3], content[4]]));
        if !matches!(content[0], 10 | 13) || !(4..=40).contains(&cells) {
            continue;
        }
        let flips = (0..cells).step_by(7).flat_map(|cell| (0..3).map(move |bit| (cell, bit)));
        for (cell, bit) in flips {
            let mut with_flip = bytes.clone();
            with_flip[page * size + 8 + 2 * cell + 1] ^= 1 << bit;
            put(&flipped, &with_flip);
            match run(&flipped, &Task::Scrub(everything())) {
                (findings, Ok(())) => {
                    assert_eq!(findings.len(), 40, "page {page}, cell {cell}, bit {bit}");
                }
                (_, Err(error)) => {
                    assert!(is_of_catalog(&error), "{error}");
                    lost += 1;
                }
            }
            put(&flipped, &with_flip);
            let exported = Catalog::look(&flipped).and_then(|catalog| {
                let mut records = 0;
                for root in catalog.roots()? {
                    catalog.records(&root, &mut |_| {
                        records += 1;
                        Ok(())
                    })?;
                }
                Ok(records)
            });
            assert!(!matches!(exported, Ok(records) if records != 40), "page {page}: {exported:?}");
        }
    }
    assert!(lost > 20, "{lost}");
}

/// A pause that is another root's by a flipped bit is missed.
#[test]
fn pause_whose_key_is_flipped_is_damage() {
    let archive = Archive::recorded(&["a"]);
    Control::open(&archive.catalog_path()).unwrap().pause(&archive.root(), clock()).unwrap();
    assert!(archive.root().steering.paused.is_some());
    let db = Connection::open(archive.catalog_path()).unwrap();
    assert_eq!(db.execute("UPDATE setting SET root = root + 2", []).unwrap(), 1);
    drop(db);
    let ended = run(&archive.catalog_path(), &Task::Scrub(everything())).1;
    assert!(matches!(ended, Err(CatalogError::Damaged(_))), "{ended:?}");
    let status = archive.look().status(clock()).map(|_| ());
    assert!(matches!(status, Err(CatalogError::Damaged(_))), "{status:?}");
}

/// The backup has what the check calls right, or is refused.
#[test]
fn damaged_catalog_is_not_copied() {
    let names: Vec<_> = (0..300).map(|number| format!("f{number}")).collect();
    let archive = Archive::recorded(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let other = archive.beside("other", &["a"]);
    other.add();
    Control::open(&archive.catalog_path()).unwrap().pause(&other.root(), clock()).unwrap();
    let (bytes, size) = whole(&archive);
    let [damaged, copy] = ["damaged.db", "copy.db"].map(|name| archive.state.path().join(name));
    let expect_refusal = |what: &str| {
        let Ok(catalog) = Catalog::look(&damaged) else { return 0 };
        assert!(!catalog.check().is_ok_and(|wrong| wrong.is_empty()), "{what}");
        let refused = catalog.backup(&copy).unwrap_err();
        assert!(matches!(refused, CatalogError::Damaged(_)), "{what}: {refused}");
        assert!(!copy.exists(), "{what}");
        1
    };
    for sql in ["DELETE FROM state WHERE id = 7", "DELETE FROM root WHERE id = 2"] {
        put(&damaged, &bytes);
        Connection::open(&damaged).unwrap().execute(sql, []).unwrap();
        assert_eq!(expect_refusal(sql), 1);
    }
    let mut refused = 0;
    for page in 1..bytes.len() / size {
        let mut with_flip = bytes.clone();
        // What kind of page it is.
        with_flip[page * size] ^= 2;
        put(&damaged, &with_flip);
        refused += expect_refusal(&format!("page {page}"));
    }
    assert!(refused > 10, "{refused}");
}
