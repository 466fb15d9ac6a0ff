//! Bits that flip in the catalog's own file: each that alters a stored value is found by its check,
//! and none is taken for a file that rotted.

use std::fs;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::*;

/// Every value in every table, and every word of the schema; an error where they cannot be read.
fn values(path: &Path) -> rusqlite::Result<Vec<Vec<Value>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = Connection::open_with_flags(path, flags)?;
    let mut all = Vec::new();
    for (table, columns) in [
        ("sqlite_schema", 4),
        ("meta", 3),
        ("root", 11),
        ("folder", 4),
        ("file", 11),
        ("state", 5),
        ("run", 10),
        ("event", 11),
        ("old_digest", 8),
    ] {
        let columns_of = if table == "sqlite_schema" { "type,name,tbl_name,sql" } else { "*" };
        let mut statement = db.prepare(&format!("SELECT {columns_of} FROM {table}"))?;
        let rows =
            statement.query_map([], |row| (0..columns).map(|place| row.get(place)).collect())?;
        for row in rows {
            all.push(row?);
        }
    }
    Ok(all)
}

#[test]
fn a_bit_that_flips_in_the_catalog_is_found_and_is_no_rot() {
    let names: Vec<_> = (0..600).map(|number| format!("d{}/f{number}", number % 5)).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    archive.write("d0/f0", "edited");
    archive.run(Verb::Update);
    archive.scrub(everything());
    let whole = archive.state.path().join("whole.db");
    Catalog::look(&archive.catalog_path()).unwrap().backup(&whole).unwrap();
    let (bytes, right) = (fs::read(&whole).unwrap(), values(&whole).unwrap());
    let flipped = archive.state.path().join("flipped.db");

    let (mut altered, mut state) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..1500 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (state >> 20) as usize % (8 * bytes.len());
        let mut with_flip = bytes.clone();
        with_flip[bit / 8] ^= 1 << (bit % 8);
        for end in ["", "-wal", "-shm", "-lock"] {
            let _ = fs::remove_file(archive.state.path().join(format!("flipped.db{end}")));
        }
        fs::write(&flipped, &with_flip).unwrap();
        let is_altered = values(&flipped).map_or(true, |values| values != right);
        let found = Catalog::look(&flipped).and_then(|catalog| catalog.check());
        let is_found = !matches!(&found, Ok(wrong) if wrong.is_empty());
        assert!(is_found || !is_altered, "bit {bit} alters a value, and the check finds nothing");
        altered += u32::from(is_altered);
        // Whoever reads the files with it says nothing of rot.
        if is_altered && altered % 8 == 0 {
            let mut told = Vec::new();
            let scrubbed = scrub(&flipped, &mut told);
            assert!(
                told.iter().all(|it: &Finding| !it.class.is_damage()),
                "bit {bit}: {told:?}, {scrubbed:?}"
            );
        }
    }
    assert!(altered > 300, "{altered} of 1,500 flips alter a value");
}

fn scrub(path: &Path, told: &mut Vec<Finding>) -> Result<(), CatalogError> {
    let mut catalog = Catalog::open(path, "test")?;
    for root in catalog.roots()? {
        let mut tell = |finding: &Finding| {
            told.push(finding.clone());
            Ok(())
        };
        catalog.scrub(&root, &everything(), &options(), &mut tell)?;
    }
    Ok(())
}

/// A row that its index does not lead to must not be taken up anew, as it is now.
#[test]
fn what_an_index_hides_is_not_new() {
    let archive = Archive::of(&["a", "name of a file", "z"]);
    archive.run(Verb::Add);
    archive.rot("name of a file");
    // Only what would be taken for new makes anybody look at the indices.
    archive.write("new", "new");
    let path = archive.catalog_path();
    let mut bytes = std::fs::read(&path).unwrap();
    let name = b"name of a file";
    let places: Vec<_> =
        (0..bytes.len() - name.len()).filter(|&place| bytes[place..].starts_with(name)).collect();
    let mut hidden = 0;
    for place in places {
        // In the index, not in the row: whose seal would tell.
        bytes[place] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        for verb in [Verb::Update, Verb::Add] {
            let mut catalog = archive.open();
            let run = catalog.roots().and_then(|roots| {
                let root = roots[0].clone();
                catalog.run(&root, verb, &options(), &mut |_| Ok(()))
            });
            let error = run.unwrap_err();
            assert!(error.is_of_catalog(), "{error}");
            hidden += u32::from(error.to_string().contains("index"));
        }
        let error =
            archive.open().accept(&archive.path(std::str::from_utf8(name).unwrap()), &options());
        assert!(error.unwrap_err().is_of_catalog());
        bytes = std::fs::read(&path).unwrap();
        bytes[place] ^= 1;
    }
    assert!(hidden >= 2, "{hidden}");
}

/// Tables that are not those that were made are damage, whatever SQLite calls it.
#[test]
fn a_schema_that_is_another_is_damage() {
    for sql in [
        "ALTER TABLE file DROP COLUMN seal",
        "ALTER TABLE state RENAME COLUMN checked TO unchecked",
        "ALTER TABLE root ADD COLUMN more INTEGER NOT NULL DEFAULT 1 CHECK (more = 1 AND bytes < 0)",
        "DROP TABLE folder",
        "DROP TABLE run",
        "DROP TABLE meta",
        "CREATE TRIGGER no BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no'); END",
    ] {
        let archive = Archive::of(&["a", "b"]);
        archive.run(Verb::Add);
        let db = Connection::open(archive.catalog_path()).unwrap();
        db.execute_batch("PRAGMA ignore_check_constraints = 1").unwrap();
        let altered = db.execute_batch(sql);
        drop(db);
        if altered.is_err() {
            continue;
        }
        let run = || {
            let mut catalog = Catalog::open_existing(&archive.catalog_path(), "test")?;
            let root = catalog.roots()?.remove(0);
            catalog.run(&root, Verb::Update, &options(), &mut |_| Ok(()))
        };
        let error = run().map(|_| ()).unwrap_err();
        assert!(matches!(error, CatalogError::Damaged(_)), "{sql}: {error:?}");
    }
}

/// A count of rows, or the place of one, that is another hides rows whose seals are right.
#[test]
fn rows_that_a_page_hides_are_damage_to_whoever_would_stand_on_them() {
    let archive = Archive::of(&["a", "b", "d/c", "d/e"]);
    archive.run(Verb::Add);
    archive.rot("b");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted b"]);
    let root = archive.root(&mut archive.open());
    let mut control = lanesum_catalog::Control::open(&archive.catalog_path()).unwrap();
    control.pause(&root, clock()).unwrap();
    let whole = archive.state.path().join("whole.db");
    Catalog::look(&archive.catalog_path()).unwrap().backup(&whole).unwrap();
    let bytes = fs::read(&whole).unwrap();
    let pages: Vec<(String, usize)> = {
        let db = Connection::open(&whole).unwrap();
        let mut statement =
            db.prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'").unwrap();
        let pages =
            statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)));
        pages.unwrap().map(Result::unwrap).collect()
    };
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let flipped = archive.state.path().join("flipped.db");
    for (table, page) in pages {
        if !["root", "folder", "file", "state", "run", "manner"].contains(&&*table) {
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
        // The newest, with which a pause or what a run left undone would go.
        if table == "run" {
            hidden.push(bytes.clone());
            hidden[2][begin + 4] -= 1;
        }
        for with_flip in hidden {
            for end in ["", "-wal", "-shm", "-lock"] {
                let _ = fs::remove_file(archive.state.path().join(format!("flipped.db{end}")));
            }
            fs::write(&flipped, with_flip).unwrap();
            let mut catalog = Catalog::open_existing(&flipped, "test").unwrap();
            let is_of_catalog = |error: CatalogError| error.is_of_catalog();
            assert!(catalog.overviews(clock()).is_err_and(is_of_catalog), "status, {table}");
            assert!(catalog.not_well().is_err_and(is_of_catalog), "report, {table}");
            let Ok(roots) = catalog.roots() else { continue };
            let Some(root) = roots.first() else { continue };
            for verb in [Verb::Update, Verb::Audit, Verb::Scrub] {
                let ended = catalog.run(root, verb, &options(), &mut |_| Ok(()));
                assert!(ended.is_err_and(is_of_catalog), "{verb:?}, {table}");
            }
        }
    }
}

/// A place in a page that is another leads a search past rows which a count finds.
#[test]
fn rows_that_a_search_does_not_find_are_damage() {
    let names: Vec<_> = (0..40).map(|number| format!("d{}/f{number:02}", number % 4)).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    names.iter().for_each(|name| archive.rot(name));
    let whole = archive.state.path().join("whole.db");
    Catalog::look(&archive.catalog_path()).unwrap().backup(&whole).unwrap();
    let bytes = fs::read(&whole).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let flipped = archive.state.path().join("flipped.db");
    let mut lost = 0;
    for (page, content) in bytes.chunks(size).enumerate().skip(1) {
        // Leaves of tables and of indices.
        let cells = usize::from(u16::from_be_bytes([content[3], content[4]]));
        if !matches!(content[0], 10 | 13) || !(4..=40).contains(&cells) {
            continue;
        }
        for (cell, bit) in (0..cells).step_by(7).flat_map(|cell| (0..3).map(move |bit| (cell, bit)))
        {
            let mut with_flip = bytes.clone();
            with_flip[page * size + 8 + 2 * cell + 1] ^= 1 << bit;
            for end in ["", "-wal", "-shm", "-lock"] {
                let _ = fs::remove_file(archive.state.path().join(format!("flipped.db{end}")));
            }
            fs::write(&flipped, with_flip).unwrap();
            let mut told = Vec::new();
            match scrub(&flipped, &mut told) {
                Ok(()) => assert_eq!(told.len(), 40, "page {page}, cell {cell}, bit {bit}"),
                Err(error) => {
                    assert!(error.is_of_catalog(), "{error}");
                    lost += 1;
                }
            }
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
fn a_pause_is_not_lost_with_its_key() {
    let archive = Archive::of(&["a"]);
    archive.run(Verb::Add);
    let root = archive.root(&mut archive.open());
    let mut control = lanesum_catalog::Control::open(&archive.catalog_path()).unwrap();
    control.pause(&root, clock()).unwrap();
    drop(control);
    assert!(archive.open().manners(&root).unwrap().paused.is_some());
    let db = Connection::open(archive.catalog_path()).unwrap();
    assert_eq!(db.execute("UPDATE manner SET root = root + 2", []).unwrap(), 1);
    drop(db);
    let mut catalog = archive.open();
    let scrubbed = catalog.scrub(&root, &everything(), &options(), &mut |_| Ok(()));
    assert!(matches!(scrubbed, Err(CatalogError::Damaged(_))), "{scrubbed:?}");
    let standing = catalog.overviews(clock()).err();
    assert!(matches!(standing, Some(CatalogError::Damaged(_))), "{standing:?}");
}

/// A copy that is said to be checked is one that the check calls right.
#[test]
fn a_damaged_catalog_is_not_copied() {
    let names: Vec<_> = (0..300).map(|number| format!("f{number}")).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    let empty = tempfile::tempdir().unwrap();
    let root = archive.open().add_root(empty.path(), Policy::default()).unwrap();
    let mut control = lanesum_catalog::Control::open(&archive.catalog_path()).unwrap();
    control.pause(&root, clock()).unwrap();
    drop(control);
    let bytes = fs::read(archive.catalog_path()).unwrap();
    let (damaged, copy) = (archive.state.path().join("damaged.db"), empty.path().join("copy.db"));
    let expect_refusal = |what: &str| {
        let Ok(catalog) = Catalog::look(&damaged) else { return 0 };
        assert!(!catalog.check().is_ok_and(|wrong| wrong.is_empty()), "{what}");
        let refused = catalog.backup(&copy).unwrap_err();
        assert!(matches!(refused, CatalogError::Damaged(_)), "{what}: {refused}");
        assert!(!copy.exists(), "{what}");
        1
    };
    for sql in ["DELETE FROM state WHERE id = 7", "DELETE FROM root WHERE id = 2"] {
        fs::write(&damaged, &bytes).unwrap();
        Connection::open(&damaged).unwrap().execute(sql, []).unwrap();
        assert_eq!(expect_refusal(sql), 1);
    }
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let mut refused = 0;
    for page in 1..bytes.len() / size {
        let mut with_flip = bytes.clone();
        // What kind of page it is.
        with_flip[page * size] ^= 2;
        fs::write(&damaged, with_flip).unwrap();
        refused += expect_refusal(&format!("page {page}"));
    }
    assert!(refused > 10, "{refused}");
}
