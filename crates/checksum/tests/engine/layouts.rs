//! Files of any layout: data and holes anywhere, of lengths around what is read at a time.

use std::os::unix::fs::FileExt as _;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A length, and where data lie in it: from there on so many bytes.
type Layout = (usize, Vec<(prop::sample::Index, usize)>);

fn layout() -> impl Strategy<Value = Layout> {
    let edges = prop::sample::select(vec![0, 1, 4096, 32 << 10, 128 << 10, 256 << 10, 1 << 20]);
    let length = prop_oneof![
        (edges, 0_usize..3).prop_map(|(edge, more)| (edge + more).saturating_sub(1)),
        0_usize..10_000,
        0_usize..300_000,
    ];
    let data = vec((any::<prop::sample::Index>(), 1_usize..70_000), 0..4);
    (length, data)
}

/// Writes such a file. Returns its content.
fn write(path: &std::path::Path, (length, data): &Layout) -> Vec<u8> {
    let mut content = vec![0; *length];
    let file = File::create(path).unwrap();
    file.set_len(*length as u64).unwrap();
    for (start, count) in data.iter().filter(|_| *length > 0) {
        let start = start.index(*length);
        let end = (start + count).min(*length);
        content[start..end].copy_from_slice(&bytes(end - start));
        file.write_all_at(&content[start..end], start as u64).unwrap();
    }
    content
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn files_of_any_layout(layouts in vec(layout(), 1..40), threads in 1_usize..4) {
        let folder = Folder::new();
        let (mut jobs, mut expected) = (Vec::new(), Vec::new());
        for (index, layout) in layouts.iter().enumerate() {
            let name = format!("{index}");
            expected.push(format!("{name}: {}", md5(&write(&folder.path(&name), layout))));
            jobs.push(folder.job_of(&name));
        }
        // Once while the clock that files are stamped with may stand still, and then when it has
        // gone on.
        for pause in [0, 30] {
            std::thread::sleep(Duration::from_millis(pause));
            for io in Io::ALL {
                for detect_changes in [true, false] {
                    let mut options = on(io, threads);
                    options.detect_changes = detect_changes;
                    let outcomes = run(&options, jobs.iter().cloned());
                    if !outcomes.contains(&format!("0: {}", Error::NoDirect)) {
                        prop_assert_eq!(&outcomes, &expected, "{} {}", io, detect_changes);
                    }
                }
            }
        }
    }
}
