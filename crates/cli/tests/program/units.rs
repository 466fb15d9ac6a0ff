//! The units that `make install` puts where systemd finds them.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// What is wrong in a unit is told by systemd itself, where it is installed.
#[test]
fn systemd_takes_the_units() {
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systemd");
    let folder = Folder::new();
    folder.write("bin/lanesum", "#!/bin/sh\n");
    fs::set_permissions(folder.path("bin/lanesum"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(units).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let unit = fs::read_to_string(entry.path()).unwrap();
        let start = unit.lines().find(|line| line.starts_with("ExecStart="));
        let is_service = name.ends_with(".service");
        assert_eq!(start.is_some_and(|it| it.contains("@BIN@/lanesum ")), is_service, "{name}");
        // Two that scrub at once would fail: the catalog is one's alone.
        let is_template = is_service && name.contains('@');
        assert_eq!(start.is_some_and(|it| it.contains("=flock ")), is_template, "{name}");
        let unit = unit.replace("@BIN@", folder.path("bin").to_str().unwrap());
        // Of a template an instance is verified.
        folder.write(format!("units/{name}"), &unit);
        if name.contains('@') {
            let instance = name.replace('@', "@srv-photos");
            folder.write(format!("units/{instance}"), unit);
            names.push(instance);
        } else {
            names.push(name);
        }
    }
    assert_eq!(names.len(), 3, "{names:?}");
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Makefile");
    let makefile = fs::read_to_string(makefile).unwrap();
    for name in &names {
        assert!(makefile.contains(&name.replace("srv-photos", "")), "{name} is installed");
    }
    let mut verify = folder.command("systemd-analyze");
    verify.args(["verify", "--man=no"]).current_dir(folder.path("units"));
    verify.args(names.iter().map(|name| format!("./{name}")));
    verify.env("SYSTEMD_UNIT_PATH", format!("{}:", folder.path("units").display()));
    match verify.output() {
        Ok(verified) => {
            assert!(verified.status.success() && verified.stderr.is_empty(), "{verified:?}");
        }
        Err(error) => println!("units not verified: systemd-analyze: {error}"),
    }
}
