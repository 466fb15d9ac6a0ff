//! The table of other machines: what `lanesum speed --json` printed there.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::svg::escape;

/// The folder of these files, in that of the report.
pub const FOLDER: &str = "hardware";

/// The functions of the table, and the number of messages that are hashed together.
const FUNCTIONS: [&str; 4] = ["MD5", "SHA-1", "SHA-256", "SHA-512"];
const MESSAGES: u64 = 64;

/// Makes a section with a row for each file of the folder, by name, or nothing without files.
///
/// # Errors
///
/// If a file cannot be read, or is none of `lanesum speed --json`.
pub fn section(folder: &Path) -> Result<String> {
    let Ok(files) = fs::read_dir(folder.join(FOLDER)) else { return Ok(String::new()) };
    let mut paths: Vec<_> = files.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    let rows = paths.iter().map(|path| row(path).with_context(|| path.display().to_string()));
    let rows = rows.collect::<Result<Vec<_>>>()?.concat();
    if rows.is_empty() {
        return Ok(rows);
    }
    let heads = FUNCTIONS.map(|name| format!("<th>{name}</th><th>one</th>")).concat();
    Ok(format!(
        "<section id=\"{FOLDER}\">\n<h2>{FOLDER}</h2>\n<p>Other CPUs: GB/s of one core by \
         <code>lanesum speed --json</code>, {MESSAGES} messages of 16 KiB together, and one.</p>\n\
         <table>\n<thead><tr><th>CPU</th><th>instructions</th>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n\
         </section>\n"
    ))
}

fn row(path: &Path) -> Result<String> {
    let figures: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let text = |value: &Value| value.as_str().map(escape);
    let best = figures["best"].as_str().context("no \"best\"")?;
    let cpu = &figures["cpu"];
    let cpu = text(&cpu["model name"]).or_else(|| text(&cpu["CPU part"])).context("no CPU")?;
    let lanes = &figures["many_messages"];
    let counts = lanes["messages"].as_array().context("no numbers of messages")?;
    let at = counts.iter().position(|count| count.as_u64() == Some(MESSAGES));
    let at = at.with_context(|| format!("not measured with {MESSAGES} messages"))?;
    let mut cells = format!("<td>{cpu}</td><td>{}</td>", escape(best));
    for name in FUNCTIONS {
        let function = &lanes["functions"][name];
        let rates = [&function["backends"][best][at], &function["without_lanes"]];
        for rate in rates {
            let rate = rate.as_f64().with_context(|| format!("no speed of {name}"))?;
            cells += &format!("<td>{rate:.2}</td>");
        }
    }
    Ok(format!("<tr>{cells}</tr>\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_speed_become_rows_by_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(section(folder.path()).unwrap(), "");
        let hardware = folder.path().join(FOLDER);
        fs::create_dir(&hardware).unwrap();
        let function = serde_json::json!({"backends": {"avx2": [0.5, 4.0]}, "without_lanes": 0.7});
        let file = serde_json::json!({
            "best": "avx2", "cpu": {"model name": "A <CPU>"},
            "many_messages": {"messages": [1, 64], "functions": {
                "MD5": function, "SHA-1": function, "SHA-256": function, "SHA-512": function,
            }},
        });
        fs::write(hardware.join("b.json"), file.to_string()).unwrap();
        fs::write(hardware.join("a.json"), file.to_string().replace("A <CPU>", "first")).unwrap();
        fs::write(hardware.join("notes.txt"), "no figures").unwrap();
        let html = section(folder.path()).unwrap();
        let rows: Vec<_> =
            html.lines().filter(|line| line.contains("<td>4.00</td><td>0.70</td>")).collect();
        assert_eq!(rows.len(), 2, "{html}");
        assert!(rows[0].contains("first") && rows[1].contains("A &lt;CPU&gt;"), "{html}");

        fs::write(hardware.join("c.json"), "{}").unwrap();
        let error = section(folder.path()).unwrap_err();
        assert!(
            error.to_string().ends_with("c.json")
                && error.root_cause().to_string().contains("best")
        );
    }

    #[test]
    fn the_files_of_the_documents_can_be_read() {
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        assert!(section(&documents).unwrap().contains("<td>"));
    }
}
