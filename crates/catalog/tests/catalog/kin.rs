//! A file whose number a row has is that row's file, whatever became of it and whatever it is
//! called: what is damaged is not taken up as new under another name.

use super::*;

/// Leaves 0 bytes of a file and its time as it was.
fn empty(archive: &Archive, name: &str) {
    let time = fs::metadata(archive.path(name)).unwrap().modified().unwrap();
    fs::write(archive.path(name), "").unwrap();
    set_time(&archive.path(name), time);
}

/// Rots, and is found.
fn rot(archive: &Archive, name: &str) {
    archive.rot(name);
    archive.scrub(everything());
}

/// What cannot be told from another file looks as a row does; what is damaged does not have to.
#[test]
fn what_is_damaged_takes_its_row_along_in_any_shape() {
    let Some(archive) = cataloged(&["d/altered", "d/emptied", "d/rotted", "d/well", "other"])
    else {
        return;
    };
    alter(&archive, "d/altered");
    empty(&archive, "d/emptied");
    rot(&archive, "d/rotted");
    archive.run(Verb::Update);
    // Since it was found, it was written to: by a tool that repairs, say.
    archive.write("d/rotted", "repaired?");
    archive.write("d/altered", "");
    rename(&archive, "d", "e");
    let lines = archive.run(Verb::Audit).lines();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let lines = archive.run(Verb::Update).lines();
    let expected = [
        "altered d/altered -> e/altered",
        "emptied d/emptied -> e/emptied",
        "moved d/well -> e/well",
        "rotted d/rotted -> e/rotted",
    ];
    assert_eq!(lines, expected);
    let expected = ["altered e/altered", "emptied e/emptied", "rotted e/rotted"];
    assert_eq!(archive.run(Verb::Update).lines(), expected);
}

/// Also where nobody looked between the damage and the new name.
#[test]
fn what_was_cut_short_and_renamed_is_altered() {
    let Some(archive) = cataloged(&["cut", "emptied", "edited", "other"]) else { return };
    let time = fs::metadata(archive.path("cut")).unwrap().modified().unwrap();
    fs::write(archive.path("cut"), "c").unwrap();
    set_time(&archive.path("cut"), time);
    empty(&archive, "emptied");
    archive.write("edited", "an edit moves the time");
    set_time(&archive.path("edited"), time + Duration::from_secs(5));
    ["cut", "emptied", "edited"]
        .iter()
        .for_each(|name| rename(&archive, name, &format!("{name} 2")));
    let lines = archive.run(Verb::Update).lines();
    let expected =
        ["altered cut -> cut 2", "emptied emptied -> emptied 2", "missing edited", "new edited 2"];
    assert_eq!(lines, expected);
}

#[test]
fn accept_takes_the_row_along_in_any_shape() {
    let Some(archive) = cataloged(&["f", "other"]) else { return };
    empty(&archive, "f");
    archive.run(Verb::Audit);
    rename(&archive, "f", "g");
    assert!(refusal(&archive, "f").contains("lies at"));
    archive.open().accept(&archive.path("g"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
    assert!(archive.open().not_well().unwrap().is_empty());
}

/// What another name of a damaged file has is as damaged; where it rotted first, too.
#[test]
fn another_name_of_a_damaged_file_is_not_new() {
    let Some(archive) = cataloged(&["f", "unseen", "well", "other"]) else { return };
    rot(&archive, "f");
    archive.rot("unseen");
    let link = |from: &str, to: &str| {
        fs::hard_link(archive.path(from), archive.path(to)).unwrap();
    };
    link("f", "f 2");
    link("unseen", "unseen 2");
    link("well", "well 2");
    let lines = archive.run(Verb::Update).lines();
    let expected =
        ["altered f", "altered unseen", "altered unseen 2", "copied well -> well 2", "rotted f 2"];
    assert_eq!(lines, expected);
    // Of the two any may go, and the other stays known.
    fs::remove_file(archive.path("f")).unwrap();
    archive.open().forget(&archive.path("f"), &options()).unwrap();
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["altered f 2", "altered unseen", "altered unseen 2"]);
}

/// As programs do that keep what they write over.
#[test]
fn what_is_put_aside_is_held_against_the_row_of_its_name() {
    let Some(archive) = cataloged(&["log", "good", "known", "other"]) else { return };
    rot(&archive, "known");
    archive.rot("log");
    for name in ["log", "good", "known"] {
        rename(&archive, name, &format!("{name}.1"));
        archive.write_at(name, "a new one", 2_000_000_000);
    }
    let lines = archive.run(Verb::Update).lines();
    let expected = [
        "altered log.1",
        "changed good",
        "changed log",
        "new good.1",
        "rotted known",
        "rotted known.1",
    ];
    assert_eq!(lines, expected);
}

/// What came out of a folder that cannot be seen is what was in it.
#[test]
fn what_comes_out_of_the_dark_is_no_copy() {
    let Some(archive) = cataloged(&["dark/rotted", "dark/well", "dark/stays", "other"]) else {
        return;
    };
    rot(&archive, "dark/rotted");
    rename(&archive, "dark/rotted", "rotted");
    rename(&archive, "dark/well", "well");
    let mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(archive.path("dark"), mode).unwrap();
    };
    mode(0);
    let lines = archive.limited(|archive| archive.run(Verb::Update).lines());
    mode(0o700);
    let expected = ["altered dark/rotted -> rotted", "moved dark/well -> well", "unreadable dark"];
    assert_eq!(lines, expected);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered rotted"]);
}

/// Where its name is another's, which was cataloged, that is as damaged from then on.
#[test]
fn what_took_another_name_is_damaged_there() {
    let Some(archive) = cataloged(&["first", "second", "other"]) else { return };
    rot(&archive, "first");
    set_time(&archive.path("second"), UNIX_EPOCH + Duration::from_secs(1));
    archive.run(Verb::Update);
    rename(&archive, "first", "second");
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["altered second", "missing first"]);
    archive.open().forget(&archive.path("first"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered second"]);
    archive.open().accept(&archive.path("second"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

/// A list that tells of its new name what it has now makes it no better; and whoever accepts that
/// lets the row go, too.
#[test]
fn what_a_list_tells_of_its_new_name_does_not_let_it_go() {
    let Some(archive) = cataloged(&["first", "other"]) else { return };
    rot(&archive, "first");
    rename(&archive, "first", "second");
    let content = fs::read(archive.path("second")).unwrap();
    let mut import = lanesum_catalog::Import::default();
    import.add(archive.path("second"), &record("second", content));
    archive.open().import(import, &options(), &mut |_, _| Ok(())).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["altered second", "missing first"]);
    archive.open().accept(&archive.path("second"), &options()).unwrap();
    assert!(archive.open().not_well().unwrap().is_empty());
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

/// A number is given again: what was made since is another file.
#[test]
fn what_was_made_since_is_new() {
    let Some(archive) = cataloged(&["f", "other"]) else { return };
    rot(&archive, "f");
    fs::remove_file(archive.path("f")).unwrap();
    archive.write("g", "g");
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["missing f", "new g"]);
    archive.open().forget(&archive.path("f"), &options()).unwrap();
}

/// Whoever looks first, and whatever time the good copy has that is in its place.
#[test]
fn what_looks_first_does_not_lose_what_was_put_aside() {
    type Look<'a> = &'a dyn Fn(&Archive) -> Told;
    let looks: [(&str, Look<'_>); 3] = [
        ("audit", &|archive| archive.run(Verb::Audit)),
        ("audit --all", &audit_all),
        ("scrub", &|archive| archive.scrub(everything())),
    ];
    for (name, look) in looks {
        for (was_told, keeps_time) in [(true, true), (true, false), (false, true), (false, false)] {
            let Some(archive) = cataloged(&["file", "other"]) else { return };
            let time = fs::metadata(archive.path("file")).unwrap().modified().unwrap();
            archive.rot("file");
            if was_told {
                archive.scrub(everything());
            }
            rename(&archive, "file", "file.bad");
            archive.write("file", "file");
            if keeps_time {
                set_time(&archive.path("file"), time);
            }
            let told = look(&archive).lines();
            let lines = archive.run(Verb::Update).lines();
            let case = format!("{name} {was_told} {keeps_time}: {told:?} {lines:?}");
            let is_told = |line: &String| line == "altered file.bad" || line == "rotted file.bad";
            assert!(lines.iter().any(is_told), "{case}");
            assert!(lines.iter().all(|line| !line.starts_with("new")), "{case}");
        }
    }
}

/// The row goes to one of them; the other has a row of its own.
#[test]
fn of_two_new_names_none_is_new() {
    for was_told in [true, false] {
        let Some(archive) = cataloged(&["file", "other"]) else { return };
        archive.rot("file");
        if was_told {
            archive.scrub(everything());
        }
        rename(&archive, "file", "one");
        fs::hard_link(archive.path("one"), archive.path("two")).unwrap();
        archive.run(Verb::Update);
        let lines = audit_all(&archive).lines();
        assert_eq!(lines, ["altered one", "altered two"], "{was_told}");
    }
}

/// To accept what is in its place says nothing of what was, wherever that is.
#[test]
fn accept_keeps_what_was_put_aside_in_mind() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    rot(&archive, "file");
    rename(&archive, "file", "file~");
    archive.write("file", "edited");
    // As a program does that has it open still.
    archive.write("file~", "file and more");
    archive.open().accept(&archive.path("file"), &options()).unwrap();
    let known = archive.open().not_well().unwrap();
    assert!(known.len() == 1 && known[0].last_good > 0, "{known:?}");
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted file~"]);
    assert_eq!(archive.run(Verb::Audit).lines(), ["rotted file~"]);
}

/// A number that is given again, with the same size and time, is no other name.
#[test]
fn what_looks_like_it_and_was_made_since_keeps_nothing() {
    let Some(archive) = cataloged(&["file", "other"]) else { return };
    let before = fs::metadata(archive.path("file")).unwrap();
    rot(&archive, "file");
    fs::remove_file(archive.path("file")).unwrap();
    // Until one of them has its number, where numbers are given again at all.
    for number in 0..50 {
        let name = format!("new {number}");
        archive.write(&name, "elif");
        set_time(&archive.path(&name), before.modified().unwrap());
        if fs::metadata(archive.path(&name)).unwrap().ino() == before.ino() {
            break;
        }
    }
    archive.run(Verb::Update);
    archive.open().forget(&archive.path("file"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

/// Of a snapshot whose name goes to the next one, say.
#[test]
fn a_damaged_file_in_the_place_of_another_is_no_edit() {
    let Some(archive) = cataloged(&["file", "older", "other"]) else { return };
    set_time(&archive.path("older"), UNIX_EPOCH + Duration::from_secs(1));
    archive.run(Verb::Update);
    rot(&archive, "file");
    fs::remove_file(archive.path("older")).unwrap();
    fs::hard_link(archive.path("file"), archive.path("older")).unwrap();
    let lines = archive.run(Verb::Update).lines();
    assert_eq!(lines, ["altered file", "altered older"]);
    // What is right there is an edit; and accepted, it is by all names of the file.
    let time = fs::metadata(archive.path("file")).unwrap().modified().unwrap();
    archive.write("file", "file");
    set_time(&archive.path("file"), time);
    archive.open().accept(&archive.path("older"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
}
