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

/// The fenced text of the catalog's document that has this in it.
fn in_document(words: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/catalog.md");
    let document = fs::read_to_string(path).unwrap();
    let mut fenced = document.split("```\n").skip(1).step_by(2);
    fenced.find(|text| text.contains(words)).unwrap().to_owned()
}

/// What is to be copied from the document mails what is wrong, and nothing where all is well.
#[test]
fn the_documents_crontab_and_unit_mail_what_is_wrong_once() {
    let folder = Folder::new();
    folder.write("tree/\u{e4}", "a");
    let catalog = folder.path("state/catalog.db");
    let run = |args: &str| {
        output(folder.lanesum(args.split(' ')).env("LANESUM_CATALOG", &catalog)).status.code()
    };
    assert_eq!(run("add tree"), Some(0));
    folder.write("bin/mail", "#!/bin/sh\n(echo \"$2 for $3\"; cat) > mailed\n");
    fs::set_permissions(folder.path("bin/mail"), fs::Permissions::from_mode(0o755)).unwrap();
    let lanesum = Path::new(env!("CARGO_BIN_EXE_lanesum")).parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", folder.path("bin").display(), lanesum.display());
    let crontab = in_document("* * * lanesum scrub");
    let unit = in_document("lanesum-mail.service");
    // Else what is no ASCII is mailed as numbers.
    let lang = "LANG=C.UTF-8";
    assert!(crontab.lines().any(|line| line == lang), "{crontab}");
    assert!(unit.contains(&format!("Environment={lang} ")), "{unit}");
    let shell = |script: &str| {
        let mut command = folder.command("sh");
        command.args(["-c", script]).env("PATH", &path).env("LANESUM_CATALOG", &catalog);
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", "C.UTF-8");
        let ran = output(&mut command);
        text(&ran.stderr) + &text(&ran.stdout)
    };
    let cron = crontab.lines().last().unwrap().splitn(6, ' ').last().unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=sh -c '")).unwrap();
    let start = start.strip_suffix('\'').unwrap().replace("$$", "$");
    assert_eq!((shell(cron), shell(&start)), (String::new(), String::new()));
    assert!(!folder.path("mailed").exists());
    fs::remove_file(folder.path("tree/\u{e4}")).unwrap();
    folder.write("tree/b", "b");
    let mail = shell(cron);
    assert!(mail.contains("audit complete: 1 new, 1 missing"), "{mail}");
    // As `text` shows the bytes of the name.
    assert!(mail.contains("/tree/\\xc3\\xa4, last good"), "{mail}");
    let listed = mail.lines().filter(|line| line.starts_with("missing ")).count();
    assert_eq!(
        (listed, mail.matches("\nlanesum: 1 missing, 1 new - tree\n").count()),
        (1, 1),
        "{mail}"
    );
    assert_eq!(shell(&start), "");
    let mailed = fs::read_to_string(folder.path("mailed")).unwrap();
    assert!(mailed.starts_with("lanesum: 1 missing, 1 new - tree for root\n"), "{mailed}");
    assert!(mailed.contains("\nmissing "), "{mailed}");
    // That there is no report is not that all is well.
    fs::remove_file(&catalog).unwrap();
    assert_eq!(shell(&start), "");
    let mailed = fs::read_to_string(folder.path("mailed")).unwrap();
    assert!(mailed.starts_with("lanesum: no catalog at "), "{mailed}");
    folder.write("units/lanesum-mail.service", unit);
    let mut verify = folder.command("systemd-analyze");
    verify.args(["verify", "--man=no", "./lanesum-mail.service"]);
    match verify.current_dir(folder.path("units")).output() {
        Ok(verified) => {
            assert!(verified.status.success() && verified.stderr.is_empty(), "{verified:?}");
        }
        Err(error) => println!("unit not verified: systemd-analyze: {error}"),
    }
}

/// What is known comes along to another machine, and damage on the way is told.
#[test]
fn the_documents_way_brings_the_catalog_to_another_machine() {
    let recipe = in_document("catalog backup /mnt/usb");
    let folder = Folder::of(&["tree/a", "tree/b", "usb/"]);
    let lanesum = Path::new(env!("CARGO_BIN_EXE_lanesum")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", lanesum.display());
    let shell = |script: &str, catalog: &Path| {
        let script = script.replace("/mnt/usb/", "usb/").replace("/srv/photos", "tree");
        let script = script.replace("~/.local/state", "new");
        let mut command = folder.command("sh");
        command.args(["-c", &script]).env("PATH", &path).env("LANESUM_CATALOG", catalog);
        output(&mut command)
    };
    let (before, now) = (folder.path("catalog.db"), folder.path("new/lanesum/catalog.db"));
    let limits = "--every 9d --between 1:00-6:00";
    assert_eq!(shell(&format!("lanesum add tree {limits}"), &before).status.code(), Some(0));
    let (first, others) = recipe.split_once('\n').unwrap();
    assert_eq!(shell(first, &before).status.code(), Some(0));
    assert_eq!(shell("mv tree old && cp -a old tree", &before).status.code(), Some(0));
    let file = folder.path("tree/a");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "A").unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(shell("lanesum audit --catalog usb/catalog.db", &now).status.code(), Some(4));
    let ran = shell(others, &now);
    let told = text(&ran.stdout) + &text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(told.contains("altered ") && told.contains("1 touched"), "{told}");
    let limits = text(&shell("lanesum limit", &now).stdout);
    assert!(limits.contains("every 9 days") && limits.contains("1:00-6:00"), "{limits}");
}

/// What is known of a folder comes along to another path, and the old one goes only if all is well.
#[test]
fn the_documents_way_brings_a_folder_to_another_path() {
    let recipe = in_document("catalog export --relative");
    let lanesum = Path::new(env!("CARGO_BIN_EXE_lanesum")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", lanesum.display());
    for (what, code, is_forgotten) in
        [("nothing", 0, true), ("edit", 3, false), ("rot", 1, false), ("loss", 4, false)]
    {
        let folder = Folder::of(&["old/a", "old/d/b c", "old/d/\u{e4}"]);
        let run = |args: &str| {
            let catalog = folder.path("catalog.db");
            output(folder.lanesum(args.split(' ')).env("LANESUM_CATALOG", catalog))
        };
        assert_eq!(run("add old -a sha256").status.code(), Some(0));
        let new = folder.path("new & | place");
        fs::rename(folder.path("old"), &new).unwrap();
        let file = new.join("a");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        match what {
            "edit" => {
                fs::write(&file, "edited").unwrap();
                let later = time + Duration::from_secs(100);
                File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
            }
            "rot" => {
                fs::write(&file, "A").unwrap();
                File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
            }
            "loss" => fs::remove_file(&file).unwrap(),
            _ => {}
        }
        // The document's paths have no blanks.
        let old = folder.path("old").display().to_string();
        let script = recipe.replace("/old/photos", &old);
        let script = script.replace("/new/photos", &format!("'{}'", new.display()));
        let mut command = folder.command("sh");
        command.args(["-c", &script]).env("PATH", &path);
        command.env("LANESUM_CATALOG", folder.path("catalog.db"));
        let ran = output(&mut command);
        let told = text(&ran.stdout) + &text(&ran.stderr);
        let told_code = if what == "loss" { Some(1) } else { Some(code) };
        assert_eq!(ran.status.code(), told_code, "{what}: {told}");
        assert_eq!(
            told.contains("the folder is cataloged no more"),
            is_forgotten,
            "{what}: {told}"
        );
        let word = match what {
            "edit" => "changed ",
            "rot" => "altered ",
            "loss" => "MISSING: there is no such file",
            _ => "update complete: 3 ok",
        };
        assert!(told.contains(word), "{what}: {told}");
        let status = text(&run("status").stdout);
        assert_eq!(status.contains("/old: "), !is_forgotten, "{status}");
    }
    let folder = Folder::new();
    let help = text(&folder.run("help catalog").stdout);
    for line in recipe.lines() {
        assert!(help.contains(&format!("  {line}\n")), "{line}: {help}");
    }
}
