//! Help, man page and completions: made from the one definition, so none lacks an option.

use super::*;

/// The long options that a help text explains.
fn long_options(help: &str) -> Vec<&str> {
    let options = |line: &&str| line.starts_with("  ") && line.trim_start().starts_with('-');
    let words = help.lines().filter(options);
    let words = words.flat_map(|line| line.split([' ', ',', '<', '=']));
    let mut options: Vec<_> = words.filter(|word| word.starts_with("--")).collect();
    options.sort_unstable();
    options.dedup();
    options
}

fn stdout(args: &str) -> String {
    let run = Folder::new().run(args);
    assert_eq!((run.status.code(), text(&run.stderr).as_str()), (Some(0), ""), "{args}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn generated_files_name_every_option() {
    let help = [
        "sum --help",
        "check --help",
        "convert --help",
        "bag create --help",
        "bag validate --help",
        "bag update --help",
    ]
    .map(stdout);
    let options = help.each_ref().map(|help| long_options(help)).concat();
    for known in ["--algorithm", "--files0-from", "--ignore-missing", "--root", "--help"] {
        assert!(options.contains(&known), "{known} is not in {options:?}");
    }
    for kind in ["man", "bash", "zsh", "fish"] {
        let generated = stdout(&format!("--generate {kind}"));
        for option in &options {
            // As roff and as fish write it.
            let forms =
                [(*option).to_owned(), option.replace('-', "\\-"), format!("-l {}", &option[2..])];
            assert!(forms.iter().any(|form| generated.contains(form)), "{kind} lacks {option}");
        }
        for command in ["check", "convert", "validate", "speed", "md5sum"] {
            assert!(generated.contains(command), "{kind} lacks {command}");
        }
    }
}

#[test]
fn bash_can_read_its_completions() {
    let folder = Folder::new();
    folder.write("completions", stdout("--generate bash"));
    let script = ". ./completions && complete -p lanesum";
    let run = output(folder.command("bash").args(["--norc", "-c", script]));
    assert_eq!((run.status.code(), text(&run.stderr).as_str()), (Some(0), ""));
    assert!(text(&run.stdout).contains("lanesum"), "{}", text(&run.stdout));
}

#[test]
fn help_names_the_exit_codes() {
    let man = stdout("--generate man").replace('\n', " ");
    for help in [stdout("--help"), stdout("-h"), stdout("sum --help"), stdout("check --help"), man]
    {
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in ["0 success", "2 wrong usage", "a shell shows the exit code 130"] {
            let code = if words.starts_with("Check") {
                code.replace("success", "all files match")
            } else {
                code.into()
            };
            assert!(words.contains(&code), "{code}: {words}");
        }
    }
}

/// Those of the commands on the catalog, in the man page as well.
#[test]
fn help_of_the_catalog_names_the_exit_codes() {
    let man = stdout("--generate man").replace('\n', " ");
    let verbs = ["scan", "nightly", "catalog check", "catalog import", "help catalog"];
    let helps = verbs.map(|verb| match verb.strip_prefix("help ") {
        Some(_) => stdout(verb),
        None => stdout(&format!("{verb} --help")),
    });
    for words in helps.iter().chain([&man]) {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("3 incomplete: some files that should be checked"), "{words}");
        assert!(words.contains("4 the catalog itself is damaged"), "{words}");
    }
}

#[test]
fn help_of_the_catalog_explains_the_classes() {
    let help = stdout("help catalog");
    for class in lanesum_catalog::Class::ALL {
        let line = help.lines().find(|line| line.trim_start().starts_with(class.name()));
        assert!(line.is_some(), "{class}: {help}");
    }
}

#[test]
fn help_says_what_md5_is_not_for() {
    let words = stdout("sum --help").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("MD5 finds accidental damage. To find deliberate changes, use"),
        "{words}"
    );
    assert!(words.contains("-a blake3 or -a sha256"), "{words}");
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(stdout("--version"), format!("lanesum {}\n", env!("CARGO_PKG_VERSION")));
}
