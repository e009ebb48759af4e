"""Compiled loops work wherever prefcal is installed."""

import numba
import pytest

from metrics.msu.kernels import compiled


def double(number: float) -> float:
    return 2 * number


def test_machine_code_is_kept_between_processes():
    """Nobody should wait for the compiler twice."""
    one = compiled(double)
    assert one(21.0) == 42.0
    assert one.stats.cache_path


def test_where_nothing_can_be_written_it_is_made_anew(monkeypatch):
    """A package in a read-only folder, run by somebody without a home, still works."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(double)
    assert compiled(double)(21.0) == 42.0
