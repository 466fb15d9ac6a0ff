//! The units that `make install` installs for systemd, and the recipes of the documentation.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lets systemd itself verify units, where it is installed.
#[track_caller]
fn verify_units(folder: &Folder, names: &[String]) {
    let units = folder.path("units");
    let mut verify = folder.command("systemd-analyze");
    verify.args(["verify", "--man=no"]).current_dir(&units);
    verify.args(names.iter().map(|name| format!("./{name}")));
    verify.env("SYSTEMD_UNIT_PATH", format!("{}:", units.display()));
    match verify.output() {
        Ok(verified) => {
            assert!(verified.status.success() && verified.stderr.is_empty(), "{verified:?}");
        }
        Err(error) => skip(&format!("units are not verified: systemd-analyze: {error}")),
    }
}

#[test]
fn systemd_accepts_the_units() {
    let folder = Folder::new();
    folder.write("bin/lanesum", "#!/bin/sh\n");
    fs::set_permissions(folder.path("bin/lanesum"), fs::Permissions::from_mode(0o755)).unwrap();
    let makefile = fs::read_to_string(repository().join("Makefile")).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(repository().join("systemd")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let unit = fs::read_to_string(entry.path()).unwrap();
        let is_started = unit.lines().any(|it| it.starts_with("ExecStart=@BIN@/lanesum "));
        assert_eq!(is_started, name.ends_with(".service"), "{name}");
        assert!(makefile.contains(&format!(" {name}")), "{name} is not installed");
        let bin = folder.path("bin");
        folder.write(format!("units/{name}"), unit.replace("@BIN@", bin.to_str().unwrap()));
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["lanesum-nightly.service", "lanesum-nightly.timer", "lanesum.service"]);
    verify_units(&folder, &names);
}

/// The fenced text of the recipes that contains this.
#[track_caller]
fn recipe(words: &str) -> String {
    let document = fs::read_to_string(repository().join("docs/recipes.md")).unwrap();
    let mut fenced = document.split("```\n").skip(1).step_by(2);
    fenced.find(|text| text.contains(words)).unwrap_or_else(|| panic!("{words}")).to_owned()
}

/// A folder in which the recipes run: with a catalog, and a `mail` that writes into a file.
struct Machine {
    folder: Folder,
    catalog: PathBuf,
    path: String,
}

impl Machine {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("bin/mail", "#!/bin/sh\n(echo \"$2 for $3\"; cat) > mailed\n");
        fs::set_permissions(folder.path("bin/mail"), fs::Permissions::from_mode(0o755)).unwrap();
        let lanesum = Path::new(PROGRAM).parent().unwrap();
        let path = format!("{}:{}:/usr/bin:/bin", folder.path("bin").display(), lanesum.display());
        let catalog = folder.path("state/catalog.db");
        fs::create_dir(folder.path("state")).unwrap();
        Self { folder, catalog, path }
    }

    /// Runs a script; its exit code, and all that it prints.
    #[track_caller]
    fn shell(&self, script: &str) -> (Option<i32>, String) {
        let mut command = self.folder.command("sh");
        command.args(["-c", script]).env("PATH", &self.path);
        command.env("LANESUM_CATALOG", &self.catalog);
        let ran = output(command.env("LC_ALL", "C.UTF-8"));
        (ran.status.code(), text(&ran.stdout) + &text(&ran.stderr))
    }
}

/// Changes a file's content and keeps its time.
fn damage(path: &Path) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut content = fs::read(path).unwrap();
    content[0] ^= 1;
    fs::write(path, content).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_crontab_prints_problems_only() {
    let machine = Machine::new();
    machine.folder.write("tree/a", "a");
    assert_eq!(machine.shell("lanesum add tree").0, Some(0));
    let crontab = recipe("* * * lanesum nightly");
    assert!(crontab.lines().any(|line| line == "LANG=C.UTF-8"), "{crontab}");
    let nightly = crontab.lines().last().unwrap().splitn(6, ' ').last().unwrap();
    machine.folder.write("tree/b", "b");
    assert_eq!(machine.shell(nightly), (Some(0), String::new()));
    fs::remove_file(machine.folder.path("tree/a")).unwrap();
    let (code, mail) = machine.shell(nightly);
    assert_eq!(code, Some(1), "{mail}");
    let listed = mail.lines().filter(|line| line.starts_with("missing ")).count();
    assert!(listed == 1 && mail.contains("/tree/a"), "{mail}");
    assert!(!mail.contains("/tree/b"), "{mail}");
}

#[test]
fn the_mail_unit_sends_a_report_also_without_a_catalog() {
    let machine = Machine::new();
    ["a", "b"].iter().for_each(|name| machine.folder.write(format!("tree/{name}"), name));
    assert_eq!(machine.shell("lanesum add tree").0, Some(0));
    fs::remove_file(machine.folder.path("tree/a")).unwrap();
    let unit = recipe("# /etc/systemd/system/lanesum-mail.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=sh -c '")).unwrap();
    let start = start.strip_suffix('\'').unwrap().replace("%H", "nas");
    assert_eq!(machine.shell("lanesum scan").0, Some(1));
    assert_eq!(machine.shell(&start).1, "");
    let mailed = machine.folder.read("mailed");
    assert!(mailed.starts_with("lanesum: nas for root\n"), "{mailed}");
    assert!(mailed.contains("missing") && mailed.contains("/tree/a"), "{mailed}");
    fs::remove_file(&machine.catalog).unwrap();
    assert_eq!(machine.shell(&start).1, "");
    assert!(machine.folder.read("mailed").contains("No such file or directory"));
    machine.folder.write("units/lanesum-mail.service", unit);
    verify_units(&machine.folder, &["lanesum-mail.service".to_owned()]);
}

#[test]
fn the_catalog_moves_to_another_machine_and_damage_on_the_way_is_found() {
    let machine = Machine::new();
    for name in 0..20 {
        machine.folder.write(format!("tree/{name}"), format!("content of {name}"));
    }
    let script = |script: &str| {
        let tree = machine.folder.path("tree").display().to_string();
        let script = script.replace("/mnt/usb/", "usb/").replace("/srv/photos", &tree);
        let catalog = machine.catalog.display().to_string();
        script.replace("~/.local/state/lanesum/catalog.db", &catalog)
    };
    // A change in the moment of the first read would be an edit.
    assert_eq!(machine.shell("touch -d '1 hour ago' tree/*").0, Some(0));
    let limits = "--every 9d --between 1:00-6:00";
    assert_eq!(machine.shell(&format!("lanesum add tree {limits} && mkdir usb")).0, Some(0));
    assert_eq!(machine.shell(&script(&recipe("catalog backup /mnt/usb"))).0, Some(0));
    // The copy is another directory.
    assert_eq!(machine.shell("rm state/* && mv tree old && cp -a old tree").0, Some(0));
    damage(&machine.folder.path("tree/7"));
    let (code, printed) = machine.shell(&script(&recipe("install -D -m 600 /mnt/usb")));
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("damaged ") && printed.contains("/tree/7"), "{printed}");
    let (_, limits) = machine.shell("lanesum limit");
    assert!(limits.contains("9") && limits.contains("1:00-6:00"), "{limits}");
}

#[test]
fn a_renamed_root_is_relocated_and_other_files_are_refused() {
    for is_other in [false, true] {
        let machine = Machine::new();
        ["a", "d/b c", "d/\u{e4}"].iter().for_each(|name| {
            machine.folder.write(format!("photos/{name}"), format!("content of {name}"));
        });
        assert_eq!(machine.shell("lanesum add photos").0, Some(0));
        if is_other {
            assert_eq!(
                machine.shell("mkdir x && echo x > x/x && rm -r photos && mv x photos").0,
                Some(0)
            );
        }
        let script = recipe("mv ~/photos ~/pictures");
        let directory = machine.folder.path("").display().to_string();
        let script = script.replace("~/", &directory);
        let (code, printed) = machine.shell(&script);
        assert_eq!(code == Some(0), !is_other, "{printed}");
        let (_, status) = machine.shell("lanesum status");
        assert_eq!(status.contains("pictures"), !is_other, "{status}");
    }
}
