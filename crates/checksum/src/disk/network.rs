//! Detects network file systems, on which processes of different machines cannot share memory, for
//! example for the log of a database.

use std::io;
use std::path::Path;

/// Network file systems by their type number in statfs(2).
const NETWORKS: [(u64, &str); 12] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x7375_7245, "Coda"),
    (0x7461_636f, "OCFS2"),
    (0x0116_1970, "GFS2"),
];

/// Returns the kind of network file system that a path is on, if any.
///
/// # Errors
/// Fails with the error of the system.
pub fn network_of(path: &Path) -> io::Result<Option<&'static str>> {
    // Only 32 bits are significant, in any type of the field.
    let kind = rustix::fs::statfs(path)?.f_type as u64 & 0xffff_ffff;
    Ok(name(kind))
}

fn name(kind: u64) -> Option<&'static str> {
    NETWORKS.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_file_systems_are_not_network_ones() {
        assert_eq!(network_of(Path::new("/")).unwrap().filter(|kind| *kind != "9P"), None);
        assert_eq!(network_of(Path::new("/proc")).unwrap(), None);
        assert_eq!([0x6969, 0xff53_4d42, 0xef53].map(name), [Some("NFS"), Some("CIFS"), None]);
        assert!(network_of(Path::new("/no such path")).is_err());
    }
}
