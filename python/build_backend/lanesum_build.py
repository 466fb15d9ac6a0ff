"""Build the wheel. maturin packs either a library or a program, and this package has both.

maturin builds the wheel of the library, and this module adds the program as a script. pyproject.toml names it as its
`build-backend`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import maturin

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable

_CHECKOUT = Path(__file__).resolve().parent.parent.parent

# Crates of the program that do not process file contents. They are optimised for size.
_SMALL = (
    *("axum", "axum-core", "clap", "clap_builder", "clap_complete", "clap_mangen", "console", "futures-util"),
    *("http", "hyper", "hyper-util", "indicatif", "jiff", "lanesum", "lanesum-bag", "lanesum-catalog", "lanesum-events"),
    *("rusqlite", "serde_json", "tempfile", "tinyvec", "tokio", "unicode-normalization"),
)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel with the program."""
    program = _build_program(config_settings)
    name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    _add(Path(wheel_directory) / name, program)
    return name


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Builds an editable wheel with the program."""
    program = _build_program(config_settings)
    name = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    _add(Path(wheel_directory) / name, program)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Refuses: the sources of the program are outside of this directory."""
    raise RuntimeError("lanesum has no source distribution; run pip install python/ in a checkout")


def _build_program(config_settings: Any) -> Path:
    manifest = _CHECKOUT / "crates" / "cli" / "Cargo.toml"
    if not manifest.exists():
        raise RuntimeError(f"{manifest} is missing, so the program cannot be built; use a complete checkout")
    profile = _profile(maturin.get_maturin_pep517_args(config_settings))
    # Other profiles inherit from release.
    settings = [f'profile.release.package.{name}.opt-level="s"' for name in _SMALL]
    # The general settings do not apply to a package with its own settings.
    settings.append("profile.release.package.lanesum.strip=true")
    command = [
        os.environ.get("CARGO", "cargo"),
        *("build", "--profile", profile, "--locked", "--package", "lanesum", "--bin", "lanesum"),
        *("--manifest-path", str(manifest), "--message-format", "json-render-diagnostics"),
        *(word for setting in settings for word in ("--config", setting)),
    ]
    built = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    messages = map(json.loads, built.stdout.splitlines())
    return [Path(message["executable"]) for message in messages if message.get("executable")][-1]


def _profile(arguments: list[str]) -> str:
    """Returns the Cargo profile in maturin's arguments, from `pip install -C build-args='--profile NAME'`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", default="release")
    known, _ = parser.parse_known_args(arguments)
    return str(known.profile)


def _add(wheel: Path, program: Path) -> None:
    """Adds the program to a wheel's scripts and to its RECORD (PEP 427)."""
    content = program.read_bytes()
    whole = wheel.with_suffix(".whole")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        (record,) = [it for it in old.infolist() if it.filename.endswith(".dist-info/RECORD")]
        script = record.filename.replace(".dist-info/RECORD", ".data/scripts/lanesum")
        for entry in old.infolist():
            if entry is not record:
                new.writestr(entry, old.read(entry), compresslevel=9)
        entry = zipfile.ZipInfo(script, record.date_time)
        entry.external_attr = 0o100755 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(entry, content, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        line = f"{script},sha256={digest},{len(content)}\n"
        new.writestr(record, old.read(record).decode() + line)
    os.replace(whole, wheel)
