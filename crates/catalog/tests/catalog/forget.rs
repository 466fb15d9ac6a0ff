//! What is not well is forgotten only where it is, or where it is seen to be gone.

use rusqlite::Connection;

use super::*;

/// Whether anybody looked since it has another name or not, and whatever else was found since.
#[test]
fn what_was_renamed_is_looked_for() {
    let archive = Archive::of(&["rotted", "altered", "emptied", "other"]);
    archive.run(Verb::Add);
    archive.rot("rotted");
    alter(&archive, "altered");
    let time = fs::metadata(archive.path("emptied")).unwrap().modified().unwrap();
    fs::write(archive.path("emptied"), "").unwrap();
    set_time(&archive.path("emptied"), time);
    archive.scrub(everything());
    for name in ["rotted", "altered", "emptied"] {
        let to = format!("{name} 2");
        rename(&archive, name, &to);
        let expected = format!("lies at {} now", archive.path(&to).display());
        assert!(refusal(&archive, name).contains(&expected), "{name}: {}", refusal(&archive, name));
        // Where a good one is put in its place it is as bad.
        archive.write(name, "good");
        assert!(refusal(&archive, name).contains(&expected), "{name}");
        fs::remove_file(archive.path(name)).unwrap();
        fs::remove_file(archive.path(&to)).unwrap();
        archive.open().forget(&archive.path(name), &options()).unwrap();
    }
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
}

/// Of times after 2262 a rename looks like an edit.
#[test]
fn what_has_a_time_without_a_number_is_told_where_it_is() {
    let archive = Archive::of(&["other"]);
    archive.write_at("f", "f", 10_413_792_000);
    if fs::metadata(archive.path("f")).unwrap().mtime() != 10_413_792_000 {
        return eprintln!("skipped: files have no times after 2262 here");
    }
    archive.run(Verb::Add);
    archive.rot("f");
    archive.run_with(Verb::Audit, |options| options.reread = lanesum_catalog::Reread::All);
    rename(&archive, "f", "g");
    assert_eq!(archive.run(Verb::Audit).lines(), ["rotted f -> g"]);
    let known = archive.open().not_well_after(0, 10).unwrap().remove(0);
    assert_eq!(known.place(), archive.path("g"));
    assert!(refusal(&archive, "f").contains("lies at"));
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted f -> g"]);
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted g"]);
}

#[test]
fn what_may_be_where_it_cannot_be_seen_is_not_gone() {
    let archive = Archive::of(&["d/f", "e/other"]);
    archive.run(Verb::Add);
    alter(&archive, "d/f");
    archive.run(Verb::Audit);
    rename(&archive, "d/f", "e/g");
    archive.run(Verb::Audit);
    let mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(archive.path("e"), mode).unwrap();
    };
    mode(0);
    let refused = archive.limited(|archive| refusal(archive, "d/f"));
    mode(0o700);
    assert!(refused.contains("cannot be seen"), "{refused}");
    // Nor is it where all of it is another folder.
    let aside = archive.state.path().join("aside");
    if fs::rename(archive.path("e"), &aside).is_ok() {
        let whole = archive.state.path().join("whole");
        fs::rename(archive.tree.path(), &whole).unwrap();
        fs::create_dir(archive.tree.path()).unwrap();
        let refused = refusal(&archive, "d/f");
        assert!(refused.contains("put back what was there"), "{refused}");
    }
}

/// A second absence is told as the first was, whatever was told between.
#[test]
fn what_is_gone_again_is_told_to_be() {
    let archive = Archive::of(&["f", "other"]);
    archive.run(Verb::Add);
    alter(&archive, "f");
    archive.run(Verb::Audit);
    let aside = archive.state.path().join("aside");
    for to in ["g", "h"] {
        rename(&archive, "f", to);
        assert_eq!(archive.run(Verb::Audit).lines(), [format!("altered f -> {to}")]);
        if fs::rename(archive.path(to), &aside).is_err() {
            return eprintln!("skipped: the tree is on another file system than its catalog");
        }
        assert_eq!(archive.run(Verb::Audit).lines(), ["missing f"]);
        assert!(archive.open().not_well_after(0, 10).unwrap()[0].is_gone, "{to}");
        fs::rename(&aside, archive.path("f")).unwrap();
    }
}

/// A row whose size is another may be missing from the index of long files, and the sum of its root
/// does not have that size.
#[test]
fn a_row_with_a_damaged_size_goes_without_a_trace() {
    const SIZE: u32 = 0x0123_4567;
    let archive = Archive::of(&["other"]);
    archive.write("f", "");
    File::options().write(true).open(archive.path("f")).unwrap().set_len(SIZE.into()).unwrap();
    archive.run(Verb::Add);
    let whole = fs::read(archive.catalog_path()).unwrap();
    // Another size that is as long, and one of a long file.
    for bit in [1, 0x40] {
        let places = whole.windows(4).enumerate();
        let mut places = places.filter(|(_, bytes)| *bytes == SIZE.to_be_bytes());
        let is_flipped = places.any(|(place, _)| {
            let mut bytes = whole.clone();
            bytes[place] ^= bit;
            fs::write(archive.catalog_path(), bytes).unwrap();
            let db = Connection::open(archive.catalog_path()).unwrap();
            let sql = "SELECT size FROM file ORDER BY size DESC LIMIT 1";
            db.query_row(sql, [], |row| row.get(0)) == Ok(SIZE ^ u32::from(bit) << 24)
        });
        assert!(is_flipped, "{bit}");
        let forgotten = archive.open().forget(&archive.path("f"), &options()).unwrap();
        assert_eq!(forgotten.after.as_deref(), Some("1 row was not as written"), "{bit}");
        let catalog = archive.open();
        assert_eq!(catalog.check().unwrap(), [""; 0], "{bit}");
        assert_eq!(catalog.roots().unwrap()[0].bytes, "other".len() as i64, "{bit}");
    }
}
