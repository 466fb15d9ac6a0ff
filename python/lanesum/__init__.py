"""Checksums of many inputs at once, side by side in the SIMD registers of a CPU core."""

from __future__ import annotations

__all__: list[str] = []

# What is imported when it is first asked for: where a name stands.
_LAZY: dict[str, str] = {
    "hash_files": ".files",
    "hash_tree": ".files",
    "etag": ".files",
    "etags": ".files",
    "check": ".lists",
    "compare": ".lists",
    "read_list": ".lists",
    "write_list": ".lists",
    "FailuresError": ".table",
    "Table": ".table",
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        from importlib import import_module

        value = getattr(import_module(_LAZY[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))
