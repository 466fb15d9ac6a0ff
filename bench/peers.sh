#!/bin/sh
# Usage: bench/peers.sh
#
# Installs what the bench measures lanesum against, and says what it does: Debian packages, with
# root's rights or sudo, Bouncy Castle from Maven Central and programs from PyPI into bench/cache/,
# which git ignores, and Go modules. What is there already stays as it is. The crates among the
# peers come with the bench itself.
set -eu

# Checksum programs; what keeps checksums, and what chkbit and bitrot run in; what simulated disks
# need (losetup, mount, mkfs.ext4); then what the tables of the documents need: Haskell, Perl, Java
# and Maven; then Go.
packages='findutils md5deep rhash b3sum xxhash openssl rclone
    aide python3-venv
    mount e2fsprogs
    ghc libghc-puremd5-dev libghc-cryptohash-md5-dev
    perl libfile-map-perl
    default-jdk-headless maven
    golang-go'
bouncy_castle=org.bouncycastle:bcprov-jdk18on:1.86
# Of chkbit the last in Python.
from_pypi='chkbit==4.2.2 bitrot==1.0.1'
maven_copy=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy

cd "$(dirname "$0")"

fail() {
    echo "bench-peers: $*" >&2
    exit 1
}

# The program that a package is wanted for, where another package may have brought it.
program_of() {
    case $1 in
    xxhash) echo xxhsum ;;
    findutils) echo xargs ;;
    default-jdk-headless) echo javac ;;
    maven) echo mvn ;;
    golang-go) echo go ;;
    python3-venv) echo ;;
    e2fsprogs) echo ;; # its programs may not be in PATH
    perl | lib*) echo ;; # perl-base has the program, but not Digest::MD5
    *) echo "$1" ;;
    esac
}

is_there() {
    # Pythons that are not Debian's bring it along.
    [ "$1" = python3-venv ] && python3 -c 'import ensurepip, venv' 2>/dev/null && return
    program=$(program_of "$1")
    if [ -n "$program" ]; then
        command -v "$program" >/dev/null
    else
        dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
    fi
}

missing=
for package in $packages; do
    is_there "$package" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null ||
        fail "no apt-get here; install what these Debian packages hold by hand:$missing"
    if [ "$(id -u)" -eq 0 ]; then
        root=env
    elif command -v sudo >/dev/null; then
        root=sudo
    else
        fail "root's rights or sudo are needed to install:$missing"
    fi
    echo "bench-peers: installs by apt-get:$missing"
    $root apt-get update
    wanted=
    for package in $missing; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            wanted="$wanted $package"
        else
            echo "bench-peers: $package is not in this distribution; its rows stay skipped" >&2
        fi
    done
    # shellcheck disable=SC2086 # names of packages hold no blanks
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted
fi

if [ -f cache/bcprov-jdk18on.jar ]; then
    echo 'bench-peers: bench/cache/bcprov-jdk18on.jar is there'
elif command -v mvn >/dev/null; then
    echo "bench-peers: fetches $bouncy_castle into bench/cache/"
    mkdir -p cache
    mvn --batch-mode --quiet "$maven_copy" \
        -Dartifact="$bouncy_castle" -DoutputDirectory="$PWD/cache" -Dmdep.stripVersion=true
else
    echo 'bench-peers: no Maven, so no Bouncy Castle; its rows stay skipped' >&2
fi

if [ -x cache/python/bin/chkbit ] && [ -x cache/python/bin/bitrot ]; then
    echo 'bench-peers: bench/cache/python is there'
elif python3 -c 'import ensurepip, venv' 2>/dev/null; then
    echo "bench-peers: installs into bench/cache/python by pip: $from_pypi"
    # shellcheck disable=SC2086 # requirements hold no blanks
    if ! python3 -m venv cache/python || ! cache/python/bin/pip install --quiet $from_pypi; then
        echo 'bench-peers: without them their rows stay skipped' >&2
    fi
else
    echo 'bench-peers: no Python with venv, so no chkbit and no bitrot; their rows stay skipped' >&2
fi

if command -v go >/dev/null; then
    echo 'bench-peers: fetches the Go modules of bench/go'
    (cd go && go mod download) || echo 'bench-peers: without them its row stays skipped' >&2
fi

echo 'bench-peers: done; `make bench` names what is still skipped'
