//! Lists themselves: where they come from, what is wrong with them, their forms.

use crate::{ABC, EMPTY, expect, folder, from_file, md5sum, run, write};

#[test]
fn bad_list_does_not_stop_the_next() {
    let folder = folder();
    write(&folder, "good", format!("{ABC}  abc\n"));
    write(&folder, "bad list", "nonsense\n");
    let args = ["-c", "gone", "good", "bad list", "dir", "good"];
    expect(
        &md5sum(&folder).args(args).output().unwrap(),
        1,
        "abc: OK\nabc: OK\n",
        "md5sum: gone: No such file or directory\n\
         md5sum: 'bad list': no properly formatted checksum lines found\n\
         md5sum: dir: read error\n",
    );
    let unformatted = "md5sum: 'bad list': no properly formatted checksum lines found\n";
    let output = md5sum(&folder).args(["-c", "--status", "bad list"]).output().unwrap();
    expect(&output, 1, "", unformatted);
}

#[test]
fn a_list_on_standard_input_cannot_name_it() {
    let folder = folder();
    write(&folder, "list", format!("{EMPTY}  -\n{ABC}  abc\n"));
    for args in [&["-cw"][..], &["-cw", "-"]] {
        let output = md5sum(&folder).args(args).stdin(from_file(&folder, "list")).output().unwrap();
        expect(
            &output,
            0,
            "abc: OK\n",
            "md5sum: 'standard input': 1: improperly formatted MD5 checksum line\n\
             md5sum: WARNING: 1 line is improperly formatted\n",
        );
    }
}

#[test]
fn a_list_may_name_standard_input_and_takes_it_from_the_next() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  -\n"));
    write(&folder, "other", format!("{ABC}  abc\n"));
    let with = |input: &str, lists: &[&str]| {
        md5sum(&folder).arg("-c").args(lists).stdin(from_file(&folder, input)).output().unwrap()
    };
    expect(&with("abc", &["list"]), 0, "-: OK\n", "");
    expect(
        &with("other", &["list", "-"]),
        1,
        "-: FAILED\n",
        "md5sum: WARNING: 1 computed checksum did NOT match\n\
         md5sum: 'standard input': no properly formatted checksum lines found\n",
    );
    expect(
        &with("other", &["-", "list"]),
        1,
        "abc: OK\n-: FAILED\n",
        "md5sum: WARNING: 1 computed checksum did NOT match\n",
    );
}

#[test]
fn the_reversed_form_is_read_when_it_comes_first() {
    let folder = folder();
    write(&folder, " a", "");
    write(&folder, "reversed", format!("{ABC} abc\n{EMPTY}  a\n"));
    write(&folder, "standard", format!("{ABC}  abc\n{EMPTY}   a\n"));
    let good = "abc: OK\n' a': OK\n";
    expect(&run(&folder, "-c --strict reversed"), 0, good, "");
    expect(&run(&folder, "-c --strict standard"), 0, good, "");
    // The form is the run's, not the list's.
    expect(
        &run(&folder, "-c standard reversed"),
        1,
        "abc: OK\n' a': OK\na: FAILED open or read\n",
        "md5sum: a: No such file or directory\n\
         md5sum: WARNING: 1 line is improperly formatted\n\
         md5sum: WARNING: 1 listed file could not be read\n",
    );
}

#[test]
fn a_nul_among_the_digits_opens_no_file() {
    let folder = folder();
    write(&folder, "list", [&[0; 32][..], b"  gone\n"].concat());
    let unformatted = "md5sum: list: no properly formatted checksum lines found\n";
    expect(&run(&folder, "-c list"), 1, "", unformatted);
}

/// What follows a NUL is none of C's business, and so none of GNU's.
#[test]
fn a_nul_ends_the_name() {
    let folder = folder();
    let list = format!(
        "{ABC}  abc\0 and more\n{ABC}\0 abc\nMD5 (abc\0x) = {ABC}\n\\{ABC}  abc\0x\n{ABC}  \0abc\n"
    );
    write(&folder, "list", list);
    expect(
        &run(&folder, "-cw list"),
        1,
        "abc: OK\nabc: OK\nabc: OK\n'': FAILED open or read\n",
        "md5sum: list: 4: improperly formatted MD5 checksum line\n\
         md5sum: '': No such file or directory\n\
         md5sum: WARNING: 1 line is improperly formatted\n\
         md5sum: WARNING: 1 listed file could not be read\n",
    );
    // It is a name like any other, but not in a list that comes from there.
    write(&folder, "stdin", format!("{ABC}  -\0x\n{ABC}  abc\n"));
    let output = md5sum(&folder).arg("-c").stdin(from_file(&folder, "stdin")).output().unwrap();
    let warning = "md5sum: WARNING: 1 line is improperly formatted\n";
    expect(&output, 0, "abc: OK\n", warning);
}
