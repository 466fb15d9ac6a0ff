"""Fixtures of the tests: every instruction set, and keys and messages of all kinds."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from lanesum import _lanesum

# A machine with other work must not fail a test.
settings.register_profile(
    "lanesum", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("lanesum")

KEY = bytes(range(16))


def backends() -> list[str]:
    """The backends of this CPU, or the one that LANESUM_BACKEND names."""
    chosen = os.environ.get("LANESUM_BACKEND")
    return [chosen] if chosen else _lanesum._backends()


@pytest.fixture(params=backends())
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Sets each backend."""
    _lanesum._set_backend(request.param)
    yield request.param
    _lanesum._set_backend(None)


@pytest.fixture
def key() -> bytes:
    return KEY
