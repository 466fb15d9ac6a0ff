#!/bin/sh
# Usage: fuzz/run.sh SECONDS [TARGET...]
#
# Builds the fuzz targets with the compiler that is installed, stable or not, and runs each of them,
# or those that are named, for so many seconds, as many at once as there are processors, from the
# inputs in seeds/ and what earlier runs left in corpus/. Exits with 1 when a target crashed, hung
# or ate the memory; the input that did it is then in artifacts/TARGET/, and the target, given that
# file, repeats it.
#
# The flags are cargo-fuzz's with `--sanitizer none`: none of them needs a nightly compiler. The
# target is named so that build scripts and macros, which run here, are built without them.
# libFuzzer itself comes as source with libfuzzer-sys and needs a C++ compiler.
set -eu

case ${1-} in
'' | *[!0-9]*)
    echo "usage: $0 SECONDS [TARGET...]" >&2
    exit 2
    ;;
esac
seconds=$1
shift
cd "$(dirname "$0")"
if [ $# -eq 0 ]; then
    for source in fuzz_targets/*.rs; do
        set -- "$@" "$(basename "$source" .rs)"
    done
fi

host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS='-Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Ccodegen-units=1
    --cfg fuzzing'
RUSTFLAGS=$(echo "$RUSTFLAGS" | tr -s '\n ' ' ')
export RUSTFLAGS

# All at once, so that no processor waits for the last of one.
bins=$(printf -- '--bin %s ' "$@")
# shellcheck disable=SC2086 # One word for each.
cargo build --quiet --release --target "$host" --target-dir target $bins

# xargs ends with 123 when one of them does with 1 to 125.
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" ./run-target.sh "target/$host/release" "$seconds" || exit 1
