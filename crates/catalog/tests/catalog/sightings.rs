//! A file that was found to be damaged stays known by its number, wherever it is and whatever its
//! row was restored to.

use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use lanesum_catalog::{Severity, Status};

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

/// Writes a file as an editor does that saves by renaming: it is another one then.
fn save(archive: &Archive, name: &str, content: impl AsRef<[u8]>) {
    archive.write("saved", content);
    rename(archive, "saved", name);
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

/// A row is forgotten, and no damage: to take it as it is there is `accept`.
#[test]
fn what_is_forgotten_where_it_lies_is_no_better() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file"]);
    // What was put aside has a row by `accept` of what is in its place, and is forgotten by its
    // name.
    rename(&archive, "file", "file.bad");
    archive.write("file", "edited");
    archive.open().accept(&archive.path("file"), &options()).unwrap();
    archive.open().forget(&archive.path("file.bad"), &options()).unwrap();
    rename(&archive, "file.bad", "worse");
    touch(&archive, "worse");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered worse"]);
    archive.open().accept(&archive.path("worse"), &options()).unwrap();
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
}

/// Forgotten, it is counted as long as it is there: by whatever looks at no names, too.
#[test]
fn what_is_forgotten_and_there_is_known_not_to_be_well() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let not_well = || {
        let catalog = archive.open();
        let overview = catalog.overviews(clock()).unwrap().remove(0);
        let known = catalog.not_well_after(0, 10).unwrap();
        let paths: Vec<_> = known.iter().map(|file| file.path.clone()).collect();
        let all = catalog.not_well().unwrap();
        assert_eq!(paths, all.iter().map(|file| file.path.clone()).collect::<Vec<_>>());
        for file in &known {
            let same = catalog.known_file(file.id).unwrap().unwrap();
            assert_eq!((&same.path, same.status), (&file.path, file.status));
        }
        assert_eq!(
            overview.not_well.get(&Status::Altered).copied(),
            (!all.is_empty()).then_some(1)
        );
        paths
    };
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    assert_eq!(not_well(), [archive.path("file")]);
    let told = archive.scrub(everything());
    assert_eq!(told.summary.severity(), Severity::Damage);
    assert_eq!(told.summary.known[&Status::Altered], 1);
    // It is gone where it was: whoever looks finds it.
    rename(&archive, "file", "aside");
    assert!(not_well().is_empty());
    assert_eq!(archive.run(Verb::Update).lines(), ["altered aside"]);
    assert_eq!(not_well(), [archive.path("aside")]);
    archive.open().accept(&archive.path("aside"), &options()).unwrap();
    assert!(not_well().is_empty());
}

/// A list that was made of it does not make it well, forgotten or not.
#[test]
fn a_list_of_what_was_forgotten_makes_it_no_better() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    let content = fs::read(archive.path("file")).unwrap();
    let mut import = lanesum_catalog::Import::default();
    import.add(archive.path("file"), &record("file", content));
    let mut came = Vec::new();
    let mut tell = |_: &Path, imported| {
        came.push(imported);
        Ok(())
    };
    archive.open().import(import, &options(), &mut tell).unwrap();
    assert_eq!(came, [lanesum_catalog::Imported::Differs]);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file"]);
    assert_eq!(audit_all(&archive).lines(), ["altered file"]);
}

/// What lay in a damaged file's place for a scrub is its own row's file.
#[test]
fn a_good_file_in_a_bad_place_is_moved_on() {
    let Some(archive) = damaged(&["file", "well", "other"]) else { return };
    rename(&archive, "file", "file.bad");
    rename(&archive, "well", "file");
    assert_eq!(archive.scrub(everything()).lines(), ["altered file", "missing well"]);
    rename(&archive, "file", "elsewhere");
    let lines = archive.run(Verb::Update).lines();
    let found = "touched well -> elsewhere";
    assert_eq!(lines, ["altered file -> file.bad", "moved well -> elsewhere", found]);
}

/// What is damaged is what was seen so, and not what had the row's number before.
#[test]
fn an_edit_is_none_of_what_rotted_in_its_old_place() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    rename(&archive, "file", "edited");
    restore(&archive, "file", "edited");
    archive.write("edited", "by somebody");
    touch(&archive, "edited");
    cut(&archive, "file");
    assert_eq!(archive.scrub(everything()).lines(), ["altered file"]);
    for _ in 0..2 {
        assert_eq!(archive.run(Verb::Audit).lines(), ["altered file", "new edited"]);
    }
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file", "new edited"]);
    assert_eq!(audit_all(&archive).lines(), ["altered file"]);
}

/// Names of one file are accepted with it, also those that are not known to be damaged.
#[test]
fn a_link_is_accepted_before_it_was_looked_at() {
    let archive = Archive::of(&["file", "other"]);
    fs::hard_link(archive.path("file"), archive.path("link")).unwrap();
    archive.run(Verb::Add);
    days_pass(1);
    cut(&archive, "file");
    let accepted = archive.open().accept(&archive.path("file"), &options()).unwrap();
    assert_eq!(accepted.files, 2);
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
}

/// A link that leads to where it is now is no file.
#[test]
fn what_left_a_link_in_its_place_is_accepted_with_its_row() {
    let Some(archive) = damaged(&["file", "folder/other"]) else { return };
    rename(&archive, "file", "folder/file");
    std::os::unix::fs::symlink("folder/file", archive.path("file")).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered file -> folder/file"]);
    archive.open().accept(&archive.path("folder/file"), &options()).unwrap();
    assert!(archive.open().not_well().unwrap().is_empty());
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
}

/// A second name that nobody looked at before the first was forgotten.
#[test]
fn a_link_to_what_is_forgotten_is_as_damaged() {
    for is_over in [false, true] {
        let Some(archive) = cataloged(&["file", "second", "other"]) else { return };
        alter(&archive, "file");
        archive.run(Verb::Audit);
        fs::remove_file(archive.path("second")).unwrap();
        if !is_over {
            archive.open().forget(&archive.path("second"), &options()).unwrap();
        }
        fs::hard_link(archive.path("file"), archive.path("second")).unwrap();
        archive.open().forget(&archive.path("file"), &options()).unwrap();
        fs::remove_file(archive.path("file")).unwrap();
        assert_eq!(archive.run(Verb::Update).lines(), ["altered second"], "{is_over}");
        assert_eq!(audit_all(&archive).lines(), ["altered second"], "{is_over}");
    }
}

/// Whatever was known of the name that it has now.
#[test]
fn what_took_a_name_that_was_not_well_is_not_gone() {
    type Make<'a> = &'a dyn Fn(&Archive);
    let makes: [(&str, Make<'_>); 2] = [
        ("changed", &|archive| archive.write("second", "an edit")),
        ("missing", &|archive| fs::remove_file(archive.path("second")).unwrap()),
    ];
    for (class, make) in makes {
        let Some(archive) = damaged(&["file", "second", "other"]) else { return };
        make(&archive);
        assert!(archive.run(Verb::Audit).lines().contains(&format!("{class} second")));
        rename(&archive, "file", "second");
        let words = refusal(&archive, "file");
        assert!(words.contains("lies at"), "{class}: {words}");
        assert_eq!(archive.run(Verb::Update).lines(), ["altered second", "missing file"]);
        archive.open().forget(&archive.path("file"), &options()).unwrap();
        assert_eq!(audit_all(&archive).lines(), ["altered second"], "{class}");
    }
}

/// Another file that was put in its place and is no better, as from a bad backup.
#[test]
fn what_came_as_another_file_and_is_damaged_is_not_gone() {
    let Some(archive) = cataloged(&["file", "second", "other"]) else { return };
    let time = fs::metadata(archive.path("file")).unwrap().modified().unwrap();
    archive.write("bad", "eliF");
    set_time(&archive.path("bad"), time);
    rename(&archive, "bad", "file");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered file"]);
    rename(&archive, "file", "second");
    assert!(refusal(&archive, "file").contains("lies at"));
    assert_eq!(archive.run(Verb::Update).lines(), ["altered second", "missing file"]);
}

/// That the other name has a row of the same content says nothing of what is there now.
#[test]
fn what_took_the_name_of_a_copy_is_not_gone() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    archive.write_at("copy", "file", 1);
    assert_eq!(archive.run(Verb::Update).lines(), ["copied file -> copy"]);
    cut(&archive, "file");
    archive.run(Verb::Audit);
    rename(&archive, "file", "copy");
    assert!(refusal(&archive, "file").contains("lies at"));
    assert_eq!(archive.run(Verb::Update).lines(), ["altered copy", "missing file"]);
}

/// An editor that saves by renaming makes another file of it, which is as damaged.
#[test]
fn what_was_made_of_a_damaged_file_is_known() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    save(&archive, "file", "edit of a damaged file");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered file"]);
    rename(&archive, "file", "file.bad");
    archive.write("file", "file");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad", "touched file"]);
    assert_eq!(audit_all(&archive).lines(), ["altered file.bad"]);
}

/// Whatever the policy computes by then.
#[test]
fn a_new_name_is_held_against_the_digests_that_its_file_has() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    let mut policy = archive.policy;
    policy.algorithms = lanesum_list::Algorithm::Sha256.into();
    let archive = Archive { policy, ..archive };
    alter(&archive, "file");
    fs::hard_link(archive.path("file"), archive.path("link")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file", "altered link"]);
    // Put right by one name, it is so by both.
    let mut bytes = fs::read(archive.path("file")).unwrap();
    bytes[0] ^= 1;
    archive.write("file", bytes);
    fs::hard_link(archive.path("file"), archive.path("third")).unwrap();
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.iter().all(|line| !line.starts_with("altered")), "{lines:?}");
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
}

/// Two files whose numbers alone tell them apart, as tools make them that write many in a moment.
fn twins(archive: &Archive) -> bool {
    let names = ["one/f", "two/f"];
    for name in names {
        fs::create_dir_all(archive.path(name).parent().unwrap()).unwrap();
    }
    (0..1000).any(|_| {
        let files = names.map(|name| File::create(archive.path(name)).unwrap());
        let time = FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(7));
        for (mut file, content) in files.iter().zip(["one", "two"]) {
            file.write_all(content.as_bytes()).unwrap();
        }
        files.iter().for_each(|file| file.set_times(time).unwrap());
        let [one, two] = names.map(|name| fs::metadata(archive.path(name)).unwrap());
        (one.ctime(), one.ctime_nsec()) == (two.ctime(), two.ctime_nsec())
    })
}

/// Renames of their folders are no rot, and nothing is known of files by less from then on.
#[test]
fn files_that_differ_by_their_numbers_are_told_apart() {
    let swap = |archive: &Archive| {
        rename(archive, "one", "three");
        rename(archive, "two", "one");
        rename(archive, "three", "two");
    };
    let Some(archive) = cataloged(&["file", "second", "other", "more"]) else { return };
    if !twins(&archive) {
        return skip("no two files have the same time");
    }
    archive.run(Verb::Update);
    swap(&archive);
    let lines = archive.run(Verb::Audit).lines();
    assert_eq!(lines, ["altered one/f", "altered two/f"]);
    swap(&archive);
    assert_eq!(archive.run(Verb::Audit).lines(), ["ok one/f", "ok two/f"]);

    // Also where they are all that looks as it was.
    for name in ["file", "second", "other", "more"] {
        fs::remove_file(archive.path(name)).unwrap();
        archive.open().forget(&archive.path(name), &options()).unwrap();
    }
    swap(&archive);
    archive.run(Verb::Audit);
    swap(&archive);
    archive.write("file", "file");
    archive.run(Verb::Update);
    cut(&archive, "file");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered file"]);
    rename(&archive, "file", "file 2");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file -> file 2"]);
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

/// One of them may be gone by then.
#[test]
fn a_link_that_is_gone_is_accepted_with_the_file() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    fs::hard_link(archive.path("file"), archive.path("link")).unwrap();
    archive.run(Verb::Update);
    alter(&archive, "file");
    archive.run(Verb::Audit);
    fs::remove_file(archive.path("link")).unwrap();
    archive.run(Verb::Audit);
    archive.open().accept(&archive.path("file"), &options()).unwrap();
    assert!(archive.open().not_well().unwrap().is_empty());
    assert_eq!(audit_all(&archive).lines(), [""; 0]);
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
    // By what its row was, which is as written.
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file"]);
}

/// To forget beside it a file of which all is as written takes nothing from that.
#[test]
fn a_sighting_that_is_not_as_written_takes_no_other_along() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    cut(&archive, "second");
    assert!(archive.run(Verb::Audit).lines().contains(&"altered second".to_owned()));
    let db = rusqlite::Connection::open(archive.catalog_path()).unwrap();
    let sql = "UPDATE sighting SET size = size + 1 WHERE CAST(place AS TEXT) = 'file'";
    assert_eq!(db.execute(sql, []).unwrap(), 1);
    drop(db);
    for name in ["second", "file"] {
        let forgotten = archive.open().forget(&archive.path(name), &options()).unwrap();
        let words = "what it knows of damaged files is not as written";
        assert_eq!(forgotten.after.as_deref(), Some(words), "{name}");
    }
    assert_eq!(archive.open().check().unwrap(), [""; 0]);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file", "altered second"]);
}

/// Whatever bit of one flips: also in what tells whose it is.
#[test]
fn a_sighting_that_is_hidden_is_missed() {
    for column in ["id", "root", "inode", "file", "checked", "status", "good_size"] {
        let Some(archive) = damaged(&["file", "other"]) else { return };
        archive.open().forget(&archive.path("file"), &options()).unwrap();
        let db = rusqlite::Connection::open(archive.catalog_path()).unwrap();
        let sql = format!("UPDATE sighting SET {column} = {column} + 2");
        assert_eq!(db.execute(&sql, []).unwrap(), 1);
        drop(db);
        is_damaged(&archive, column);
    }
    for table in ["sighting", "event"] {
        let Some(archive) = damaged(&["file", "other"]) else { return };
        archive.open().forget(&archive.path("file"), &options()).unwrap();
        let db = rusqlite::Connection::open(archive.catalog_path()).unwrap();
        let page = "SELECT (SELECT page_size FROM pragma_page_size) * (rootpage - 1) \
                    FROM sqlite_schema WHERE name = ?1";
        let page: i64 = db.query_row(page, [table], |row| row.get(0)).unwrap();
        drop(db);
        // How many rows are in its page.
        let page = page.cast_unsigned();
        let file = fs::File::options().read(true).write(true).open(archive.catalog_path()).unwrap();
        let mut count = [0; 2];
        file.read_exact_at(&mut count, page + 3).unwrap();
        assert!(count[1] > 0);
        file.write_all_at(&[count[0], count[1] - 1], page + 3).unwrap();
        is_damaged(&archive, table);
    }
}

#[track_caller]
fn is_damaged(archive: &Archive, what: &str) {
    let is_so = |came: Option<CatalogError>| matches!(came, Some(CatalogError::Damaged(_)));
    let mut catalog = archive.open();
    assert!(is_so(catalog.overviews(clock()).err()), "{what}: status");
    assert!(is_so(catalog.not_well().err()), "{what}: report");
    for verb in [Verb::Audit, Verb::Update] {
        let root = catalog.roots().unwrap().remove(0);
        let ended = catalog.run(&root, verb, &options(), &mut |_| Ok(()));
        assert!(is_so(ended.err()), "{what}: {verb:?}");
    }
    assert!(!catalog.check().unwrap().is_empty(), "{what}");
}

/// Nor by the number that another file had, which was given again: what saves each file of a
/// folder anew makes one of the number that the file before left.
#[test]
fn what_was_made_of_a_damaged_file_is_known_by_any_number() {
    let Some(archive) = damaged(&["file", "second", "other"]) else { return };
    let time = fs::metadata(archive.path("second")).unwrap().modified().unwrap();
    for from in ["second", "file"] {
        // A row's number may be given again where files have been read since, too.
        let content = fs::read(archive.path(from)).unwrap();
        save(&archive, from, [content, b", edited".to_vec()].concat());
        set_time(&archive.path(from), time + Duration::from_secs(100));
    }
    assert!(archive.run(Verb::Audit).lines().contains(&"altered file".to_owned()));
    rename(&archive, "file", "file.bad");
    archive.write("file", "file");
    let lines = archive.run(Verb::Update).lines();
    assert!(lines.contains(&"altered file.bad".to_owned()), "{lines:?}");
}

/// Also where nothing but scrubs looked.
#[test]
fn what_a_scrub_alone_saw_is_known() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    alter(&archive, "file");
    archive.scrub(everything());
    save(&archive, "file", "edit of a damaged file");
    assert_eq!(archive.scrub(everything()).lines(), ["altered file"]);
    rename(&archive, "file", "file.bad");
    archive.write("file", "file");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file.bad", "touched file"]);
}

/// Links to what came in the place of a damaged file are judged behind that.
#[test]
fn links_to_what_came_in_its_place_are_as_damaged() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    save(&archive, "file", "edit of a damaged file");
    let names = ["a", "b", "c", "x", "y", "z"];
    for name in names {
        fs::hard_link(archive.path("file"), archive.path(name)).unwrap();
    }
    let lines = archive.run(Verb::Update).lines();
    let told = lines.iter().filter(|line| line.starts_with("altered ")).count();
    assert_eq!(told, names.len() + 1, "{lines:?}");
}

/// What is in its place is damaged although nobody read it there, and is not when it is read.
#[test]
fn what_is_forgotten_before_it_is_read_is_known() {
    for is_good in [false, true] {
        let Some(archive) = damaged(&["file", "other"]) else { return };
        save(&archive, "file", if is_good { "file" } else { "edit of a damaged file" });
        archive.open().forget(&archive.path("file"), &options()).unwrap();
        let class = if is_good { "new" } else { "altered" };
        assert_eq!(archive.run(Verb::Update).lines(), [format!("{class} file")]);
    }
}

/// Another row's file in its place for a while, as it should be.
#[test]
fn what_looked_like_it_in_its_place_goes_its_way() {
    let Some(archive) = cataloged(&["one", "two", "other"]) else { return };
    for name in ["one", "two"] {
        archive.write_at(name, name, 7);
    }
    archive.run(Verb::Update);
    rename(&archive, "two", "one");
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered one", "missing two"]);
    rename(&archive, "one", "three");
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["missing one", "moved two -> three", "touched two -> three"]);
}

/// Folders of one device have the numbers of one another's files.
#[test]
fn what_goes_to_another_folder_of_the_catalog_is_as_damaged() {
    for is_forgotten in [false, true] {
        let Some(archive) = damaged(&["file", "other"]) else { return };
        let there = Archive::of(&["well"]);
        let run = |verb| run_there(&archive, &there, verb);
        run(Verb::Add);
        fs::rename(archive.path("file"), there.path("came")).unwrap();
        if is_forgotten {
            archive.open().forget(&archive.path("file"), &options()).unwrap();
        }
        assert_eq!(run(Verb::Audit), ["altered came"], "{is_forgotten}");
        assert_eq!(run(Verb::Update), ["altered came"], "{is_forgotten}");
        // Back again, and there once more.
        fs::rename(there.path("came"), archive.path("back")).unwrap();
        let at = if is_forgotten { "altered back" } else { "altered file -> back" };
        assert_eq!(archive.run(Verb::Update).lines(), [at]);
        fs::rename(archive.path("back"), there.path("came")).unwrap();
        assert_eq!(run(Verb::Update), ["altered came"], "{is_forgotten}");
        // Until somebody says that it is right: then an edit is one.
        archive.open().accept(&there.path("came"), &options()).unwrap();
        assert_eq!(run(Verb::Update), [""; 0]);
        there.write("came", "edited");
        assert_eq!(run(Verb::Update), ["changed came"]);
    }
}

/// What a run of a verb says of another folder than the archive's own, in the same catalog.
fn run_there(archive: &Archive, there: &Archive, verb: Verb) -> Vec<String> {
    let mut catalog = archive.open();
    let root = there.root(&mut catalog);
    Told::of(|tell| catalog.run(&root, verb, &options(), tell)).lines()
}

#[test]
fn what_was_damaged_in_another_folder_is_read_before_it_is_called_moved() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    let there = Archive::of(&["well"]);
    fs::rename(archive.path("file"), there.path("file")).unwrap();
    run_there(&archive, &there, Verb::Add);
    cut(&there, "file");
    assert_eq!(run_there(&archive, &there, Verb::Audit), ["altered file"]);
    fs::rename(there.path("file"), archive.path("back")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered back", "missing file"]);
}

/// Who looked at it elsewhere, and is forgotten, takes nothing along.
#[test]
fn a_folder_that_is_forgotten_takes_nothing_from_others() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let there = Archive::of(&["well"]);
    run_there(&archive, &there, Verb::Add);
    fs::rename(archive.path("file"), there.path("came")).unwrap();
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    assert_eq!(run_there(&archive, &there, Verb::Audit), ["altered came"]);
    archive.open().forget(there.tree.path(), &options()).unwrap();
    fs::rename(there.path("came"), archive.path("back")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered back"]);
}

/// Where a disk is to be mounted, or a new one is.
#[test]
fn an_empty_folder_in_the_place_of_one_is_not_accepted() {
    let Some(archive) = cataloged(&["tree/file"]) else { return };
    let whole = archive.tree.path();
    let away = tempfile::tempdir_in(whole.parent().unwrap()).unwrap();
    let aside = away.path().join("aside");
    fs::rename(whole, &aside).unwrap();
    fs::create_dir(whole).unwrap();
    let refused = archive.open().accept(whole, &options());
    assert!(matches!(refused, Err(CatalogError::NotThere { .. })), "{refused:?}");
    let repairs = whole.join("lost+found");
    fs::create_dir(&repairs).unwrap();
    let mode = |mode| fs::set_permissions(&repairs, fs::Permissions::from_mode(mode)).unwrap();
    let is_refused = |archive: &Archive| {
        let refused = archive.open().accept(whole, &options());
        assert!(matches!(refused, Err(CatalogError::NotThere { .. })), "{refused:?}");
    };
    is_refused(&archive);
    mode(0);
    archive.limited(is_refused);
    mode(0o700);
    fs::write(repairs.join("#12"), "").unwrap();
    archive.open().accept(whole, &options()).unwrap();
    fs::remove_dir_all(whole).unwrap();
    fs::rename(&aside, whole).unwrap();
    archive.open().accept(whole, &options()).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

/// Where its files went, the folder being the same: also as a user who may not look into
/// `lost+found`.
#[test]
fn a_folder_of_which_nothing_is_left_but_that_of_repairs_is_suspended() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    fs::create_dir(archive.path("lost+found")).unwrap();
    ["file", "other"].iter().for_each(|name| fs::remove_file(archive.path(name)).unwrap());
    let is_suspended = |archive: &Archive| {
        let told = archive.run(Verb::Audit);
        assert_eq!(told.summary.suspended.as_deref(), Some("nothing is in it"));
    };
    is_suspended(&archive);
    let mode = fs::Permissions::from_mode(0o0);
    fs::set_permissions(archive.path("lost+found"), mode).unwrap();
    archive.limited(is_suspended);
}

/// Its folder is away for a moment: put into another one that is cataloged, or taken up under
/// another name.
#[test]
fn what_comes_with_a_folder_that_was_cataloged_is_as_damaged() {
    let Some(archive) = damaged(&["file", "other"]) else { return };
    let whole = archive.tree.path().to_owned();
    let there = Archive::of(&["another"]);
    run_there(&archive, &there, Verb::Add);
    fs::rename(&whole, there.path("old")).unwrap();
    let told = run_there(&archive, &there, Verb::Update);
    assert_eq!(told, ["altered old/file", "new old/other"]);
    // Its backup is accepted in its place, and that changes nothing.
    fs::create_dir(&whole).unwrap();
    ["file", "other"].iter().for_each(|name| archive.write(name, name));
    archive.open().accept(&whole, &options()).unwrap();
    assert_eq!(run_there(&archive, &there, Verb::Audit), ["altered old/file"]);
    // What is accepted there is right, and so is what is made of it.
    archive.open().accept(&there.path("old/file"), &options()).unwrap();
    save(&there, "old/other", "edited");
    fs::write(there.path("old/file"), "edited as well").unwrap();
    rename(&there, "old/file", "old/renamed");
    let mut told = run_there(&archive, &there, Verb::Update);
    told.sort();
    assert!(told.iter().all(|line| !line.contains("altered")), "{told:?}");
}

/// What may have rotted stays so, whatever it stood as since, or is called.
#[test]
fn what_may_have_rotted_is_known_by_its_number() {
    if cataloged(&["file"]).is_none() {
        return;
    }
    let archive = Archive::of(&["d/back", "d/renamed", "other"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    days_pass(1);
    ["d/back", "d/renamed"].iter().for_each(|name| archive.rot(name));
    assert_eq!(audit_all(&archive).lines(), ["changed d/back", "changed d/renamed"]);
    let away = archive.tree.path().with_extension("away");
    fs::rename(archive.path("d/back"), &away).unwrap();
    rename(&archive, "d/renamed", "e");
    set_time(&archive.path("e"), SystemTime::now());
    let told = archive.run(Verb::Update).lines();
    assert_eq!(told, ["changed d/renamed -> e", "missing d/back"]);
    fs::rename(&away, archive.path("d/back")).unwrap();
    set_time(&archive.path("d/back"), SystemTime::now());
    for verb in [Verb::Update, Verb::Audit] {
        assert_eq!(archive.run(verb).lines(), ["changed d/back", "changed e"]);
    }
    assert_eq!(archive.open().overviews(clock()).unwrap()[0].may_be_rot, 2);
    // Nor is it an edit for that its row is forgotten.
    archive.open().forget(&archive.path("d/back"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["changed d/back", "changed e"]);
    for name in ["d/back", "e"] {
        archive.open().accept(&archive.path(name), &options()).unwrap();
    }
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
    archive.write("e", "an edit");
    assert_eq!(archive.run(Verb::Update).lines(), ["changed e"]);
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
}

/// A copy of it takes no row away from a file that only moved.
#[test]
fn to_accept_a_copy_leaves_the_row_of_what_moved() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    fs::copy(archive.path("file"), archive.path("copy")).unwrap();
    rename(&archive, "file", "moved");
    archive.rot("moved");
    let accepted = archive.open().accept(&archive.path("copy"), &options()).unwrap();
    assert_eq!(accepted.other, None);
    assert_eq!(archive.run(Verb::Update).lines(), ["moved file -> moved"]);
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered moved"]);
}

/// What is well as another root has it is no better for the one that knows its damage.
#[test]
fn what_is_well_elsewhere_is_as_damaged_here() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    let there = Archive::of(&["well"]);
    archive.rot("file");
    fs::hard_link(archive.path("file"), there.path("link")).unwrap();
    run_there(&archive, &there, Verb::Add);
    assert_eq!(audit_all(&archive).lines(), ["altered file"]);
    let mut catalog = archive.open();
    let root = there.root(&mut catalog);
    let mut options = options();
    options.reread = lanesum_catalog::Reread::All;
    let told = Told::of(|tell| catalog.run(&root, Verb::Audit, &options, tell));
    assert_eq!(told.lines(), [""; 0]);
    drop(catalog);
    let away = archive.tree.path().with_extension("away");
    fs::rename(archive.path("file"), &away).unwrap();
    archive.write("file", "file");
    archive.run(Verb::Update);
    fs::rename(&away, archive.path("again")).unwrap();
    let told = archive.run(Verb::Update).lines();
    assert!(told.contains(&"altered again".to_owned()), "{told:?}");
}

/// Nor does what is seen of it between, another mode, or a good file in its place change what is
/// known of either.
#[test]
fn a_doubt_outlasts_what_is_seen_between() {
    if cataloged(&["file"]).is_none() {
        return;
    }
    let archive = Archive::of(&["anew", "mode", "place", "good"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    days_pass(1);
    ["anew", "mode", "place"].iter().for_each(|name| archive.rot(name));
    let all = ["changed anew", "changed mode", "changed place"];
    assert_eq!(audit_all(&archive).lines(), all);
    fs::remove_file(archive.path("anew")).unwrap();
    assert!(archive.run(Verb::Audit).lines().contains(&"missing anew".to_owned()));
    save(&archive, "anew", "an edit");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(archive.path("mode"), mode).unwrap();
    for verb in [Verb::Update, Verb::Audit, Verb::Update] {
        assert_eq!(archive.run(verb).lines(), all);
    }
    // It is another's, and well.
    fs::remove_file(archive.path("place")).unwrap();
    fs::hard_link(archive.path("good"), archive.path("place")).unwrap();
    archive.run(Verb::Audit);
    archive.run(Verb::Audit);
    fs::remove_file(archive.path("place")).unwrap();
    archive.write("good", "an edit");
    assert!(archive.run(Verb::Update).lines().contains(&"changed good".to_owned()));
    assert!(!archive.run(Verb::Update).lines().contains(&"changed good".to_owned()));
}
