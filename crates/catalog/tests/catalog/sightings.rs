//! A file that was found to be damaged stays known by its number, wherever it is and whatever its
//! row was restored to.

use super::*;

/// These files, cataloged, of which the first was cut short, and that was told.
fn damaged(paths: &[&str]) -> Option<Archive> {
    let archive = cataloged(paths)?;
    cut(&archive, paths[0]);
    assert_eq!(archive.run(Verb::Audit).lines(), [format!("altered {}", paths[0])]);
    Some(archive)
}

/// Puts a good copy in the place of a file, which holds its name.
fn restore(archive: &Archive, name: &str, from: &str) {
    let time = fs::metadata(archive.path(from)).unwrap().modified().unwrap();
    archive.write(name, name);
    set_time(&archive.path(name), time);
}

fn touch(archive: &Archive, name: &str) {
    set_time(&archive.path(name), UNIX_EPOCH + Duration::from_secs(2_000_000_000));
}

/// A scrub looks for no names, and finds the row well.
#[test]
fn what_was_put_aside_before_a_scrub_is_not_new() {
    for is_touched in [false, true] {
        let Some(archive) = damaged(&["file", "other"]) else { return };
        rename(&archive, "file", "file.bad");
        restore(&archive, "file", "file.bad");
        if is_touched {
            touch(&archive, "file.bad");
        }
        assert_eq!(archive.scrub(everything()).lines(), ["touched file"]);
        // Nor is it the row, if that has another name by then.
        rename(&archive, "file", "file 2");
        let expected = ["altered file.bad", "moved file -> file 2"];
        assert_eq!(archive.run(Verb::Update).lines(), expected, "{is_touched}");
        assert_eq!(audit_all(&archive).lines(), ["altered file.bad"], "{is_touched}");
        // And on: its row, which nobody looked at before it was damaged, goes along.
        rename(&archive, "file.bad", "worse");
        touch(&archive, "worse");
        assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad -> worse"]);
    }
}

#[test]
fn what_takes_another_name_after_its_row_is_well_is_no_edit() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    touch(&archive, "file");
    rename(&archive, "file", "second");
    archive.write("file", "file");
    archive.scrub({
        let mut due = Due::default();
        due.bad = true;
        due
    });
    assert_eq!(archive.run(Verb::Update).lines(), ["altered second"]);
    // It is known by what it should be: put aside, it is as damaged.
    rename(&archive, "second", "second.bad");
    archive.write("second", "second");
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["altered second.bad", "touched second"]);
    assert_eq!(audit_all(&archive).lines(), ["altered second.bad"]);
}

#[test]
fn what_could_not_be_read_there_is_not_new_later() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(archive) = damaged(&["file", "other"]) else { return };
    rename(&archive, "file", "file.bad");
    restore(&archive, "file", "file.bad");
    let mode = |mode| {
        let path = archive.path("file.bad");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0);
    let lines = archive.limited(|archive| archive.run(Verb::Audit).lines());
    mode(0o644);
    assert_eq!(lines, ["touched file", "unreadable file.bad"]);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad"]);
}

/// What was put aside has a row by `accept` of what is in its place, and is forgotten by its name.
#[test]
fn what_is_forgotten_where_it_lies_is_new() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    rename(&archive, "file", "file.bad");
    archive.write("file", "edited");
    archive.open().accept(&archive.path("file"), &options()).unwrap();
    archive.open().forget(&archive.path("file.bad"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["new file.bad"]);
}

/// `accept` says that what is in its place is right, and no more.
#[test]
fn what_is_accepted_is_one_file() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    rename(&archive, "file", "second");
    archive.write("file", "edited");
    archive.open().accept(&archive.path("file"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered second"]);
    archive.open().accept(&archive.path("second"), &options()).unwrap();
    // Wherever it goes from then on.
    rename(&archive, "second", "third");
    touch(&archive, "third");
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.iter().all(|line| !line.starts_with("altered")), "{lines:?}");
}

#[test]
fn what_has_no_digest_in_common_is_no_better() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let mut policy = archive.policy;
    policy.algorithms = lanesum_list::Algorithm::Sha256.into();
    let archive = Archive { policy, ..archive };
    archive.run(Verb::Add);
    rename(&archive, "file", "file.bad");
    restore(&archive, "file", "file.bad");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad", "touched file"]);
}

/// Of one file with several names, whichever is read first.
#[test]
fn a_link_to_it_is_as_damaged() {
    for names in [["one", "two", "zero"], ["zero", "two", "one"]] {
        let archive = Archive::of(&["one", "two", "zero", "other"]);
        archive.run(Verb::Add);
        let [kept, link, third] = names;
        fs::remove_file(archive.path(link)).unwrap();
        fs::hard_link(archive.path(kept), archive.path(link)).unwrap();
        archive.rot(kept);
        let lines = archive.run(Verb::Update).lines();
        let told = |name: &str| {
            let is_it = |line: &&String| line.ends_with(&format!(" {name}"));
            lines.iter().find(is_it).map(|line| line.split(' ').next().unwrap().to_owned())
        };
        assert_eq!(told(link).as_deref(), Some("altered"), "{lines:?}");
        assert!(told(kept).is_some_and(|class| class == "altered" || class == "rotted"));
        fs::remove_file(archive.path(third)).unwrap();
        fs::hard_link(archive.path(kept), archive.path(third)).unwrap();
        assert!(archive.run(Verb::Update).lines().contains(&format!("altered {third}")));
    }
}

#[test]
fn what_is_right_again_is_known_no_more() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    archive.write("file", "file");
    assert_eq!(archive.run(Verb::Update).lines(), ["touched file"]);
    touch(&archive, "file");
    archive.write("file", "an edit");
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["changed file"]);
}

/// What came in the place of a damaged file, and went back, was never damaged.
#[test]
fn what_was_in_its_place_for_a_while_is_not_damaged() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    rename(&archive, "file", "aside");
    rename(&archive, "second", "file");
    archive.run(Verb::Audit);
    rename(&archive, "file", "second");
    restore(&archive, "file", "second");
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.iter().any(|line| line.contains("aside")), "{lines:?}");
    archive.write("second", "an edit of it");
    assert!(archive.run(Verb::Update).lines().contains(&"changed second".to_owned()));
}

/// What was seen there last, and cannot be seen now, may be there still.
#[test]
fn forget_knows_where_it_was_seen_last() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(archive) = damaged(&["file", "dark/other", "other"]) else { return };
    rename(&archive, "file", "dark/file.bad");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered file -> dark/file.bad"]);
    let mode = |mode| {
        let path = archive.path("dark");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0);
    archive.limited(|archive| {
        archive.run(Verb::Audit);
        assert!(refusal(archive, "file").contains("cannot be seen"));
    });
    mode(0o755);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file -> dark/file.bad"]);
}

/// A catalog of before knows where damage is by its rows.
#[test]
fn what_was_found_before_there_were_sightings_is_one() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let db = rusqlite::Connection::open(archive.catalog_path()).unwrap();
    db.execute_batch("DROP TABLE sighting; PRAGMA user_version = 3").unwrap();
    drop(db);
    rename(&archive, "file", "file.bad");
    restore(&archive, "file", "file.bad");
    archive.scrub(everything());
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad"]);
}

/// What is forgotten is a row: the file is another's by then.
#[test]
fn to_forget_the_old_name_is_not_to_forget_the_file() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    rename(&archive, "file", "second");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered second", "missing file"]);
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    rename(&archive, "second", "second.bad");
    archive.write("second", "second");
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.contains(&"altered second.bad".to_owned()), "{lines:?}");
    // In its place it is what is meant, and new from then on.
    archive.open().forget(&archive.path("second.bad"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["new second.bad"]);
}

/// Nor is what a link to it has, which nobody read since.
#[test]
fn to_forget_a_link_leaves_the_file_known() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    fs::hard_link(archive.path("file"), archive.path("link")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file", "altered link"]);
    for name in ["file", "link"] {
        let other = if name == "file" { "link" } else { "file" };
        let to = format!("{other} 2");
        fs::remove_file(archive.path(name)).unwrap();
        archive.open().forget(&archive.path(name), &options()).unwrap();
        rename(&archive, other, &to);
        touch(&archive, &to);
        assert_eq!(archive.run(Verb::Update).lines(), [format!("altered {other} -> {to}")]);
        fs::hard_link(archive.path(&to), archive.path("file")).unwrap();
        fs::hard_link(archive.path(&to), archive.path("link")).unwrap();
        archive.run(Verb::Update);
        fs::remove_file(archive.path(&to)).unwrap();
        archive.open().forget(&archive.path(&to), &options()).unwrap();
    }
}

/// Whatever stands of the row that it once was.
#[test]
fn what_is_accepted_stays_so() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    rename(&archive, "file", "file.bad");
    restore(&archive, "file", "file.bad");
    archive.open().accept(&archive.path("file.bad"), &options()).unwrap();
    archive.run(Verb::Update);
    archive.write("file.bad", "an edit of it");
    assert_eq!(archive.run(Verb::Update).lines(), ["changed file.bad"]);
}

#[test]
fn all_names_of_a_file_are_accepted_at_once() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    for name in ["link", "third"] {
        fs::hard_link(archive.path("file"), archive.path(name)).unwrap();
    }
    archive.run(Verb::Update);
    let accepted = archive.open().accept(&archive.path("link"), &options()).unwrap();
    assert_eq!(accepted.files, 3);
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
    assert!(archive.open().not_well().unwrap().is_empty());
}

/// A file that is as it should be, and lay in the place of one that is not.
#[test]
fn what_lay_in_the_place_of_a_damaged_file_has_links_that_are_well() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    touch(&archive, "second");
    archive.run(Verb::Update);
    rename(&archive, "file", "aside");
    rename(&archive, "second", "file");
    archive.run(Verb::Update);
    rename(&archive, "file", "second");
    rename(&archive, "aside", "file");
    fs::hard_link(archive.path("second"), archive.path("link")).unwrap();
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.contains(&"copied second -> link".to_owned()), "{lines:?}");
}

/// What the catalog has of it may be damaged, too.
#[test]
fn a_sighting_that_is_not_as_written_ends_a_run_and_can_be_forgotten() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let db = rusqlite::Connection::open(archive.catalog_path()).unwrap();
    assert_eq!(db.execute("UPDATE sighting SET size = size + 1", []).unwrap(), 1);
    drop(db);
    let mut catalog = archive.open();
    let root = archive.root(&mut catalog);
    let ended = catalog.run(&root, Verb::Update, &options(), &mut |_| Ok(()));
    assert!(matches!(ended, Err(CatalogError::Damaged(_))));
    assert_eq!(catalog.check().unwrap().len(), 1);
    catalog.forget(&archive.path("file"), &options()).unwrap();
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    drop(catalog);
    assert_eq!(archive.run(Verb::Update).lines(), ["new file"]);
}
