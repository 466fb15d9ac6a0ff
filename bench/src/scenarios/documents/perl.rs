//! The Perl document's four ways to read a file.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::Program;
use crate::peers;

const SOURCE: &str = include_str!("programs/ways.pl");

/// Row, the script's word for it, and the module it needs beside Perl's own.
const WAYS: [(&str, &str, &str); 4] = [
    ("perl-addfile", "addfile", "Digest::MD5"),
    ("perl-blksize", "blksize", "Digest::MD5"),
    ("perl-map", "map", "File::Map"),
    ("perl-system", "system", "Digest::MD5"),
];

/// Writes the script into `folder`.
pub fn programs(folder: &Path) -> Vec<Program> {
    let script = folder.join("ways.pl");
    let written = fs::write(&script, SOURCE).map_err(|error| error.to_string());
    let program = |(implementation, way, module)| {
        let found = written.clone().and_then(|()| module_is_there(module));
        let command = found
            .map(|()| vec!["perl".into(), script.clone().into_os_string(), OsString::from(way)]);
        Program { implementation, needs: "perl", command, times_itself: false }
    };
    WAYS.into_iter().map(program).collect()
}

fn module_is_there(module: &str) -> Result<(), String> {
    peers::version("perl", "-v").map_err(|why| format!("perl: {why}"))?;
    let output = Command::new("perl").arg(format!("-M{module}")).args(["-e", "1"]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err(format!("the module {module} is not installed: {}", peers::REMEDY)),
        Err(error) => Err(format!("perl: {error}")),
    }
}
