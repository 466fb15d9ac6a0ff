#!/bin/sh
# Usage: fuzz/run-target.sh PROGRAMS SECONDS TARGET
#
# Runs a target that run.sh has built into the folder PROGRAMS; exits with 1 when it found
# something.
set -eu
programs=$1 seconds=$2 target=$3
program=$programs/$target
mkdir -p "corpus/$target" "artifacts/$target"
# A compiler that ignores the flags would leave us throwing dice.
"$program" -runs=0 2>&1 | grep -q 'inline 8-bit counters' || {
    echo "fuzz: $target was built without coverage; see RUSTFLAGS in run.sh" >&2
    exit 1
}
echo "fuzz: $target for $seconds s"
"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="artifacts/$target/" \
    "corpus/$target" "seeds/$target" || {
    echo "fuzz: $target found something; see fuzz/artifacts/$target/" >&2
    exit 1
}
