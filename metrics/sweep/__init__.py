"""Modeled Stream Utility for many populations of users: sweeps and their tables."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = ["MSUSweep", "SweepGrid", "read_sweep", "sweep_msu"]

if TYPE_CHECKING:
    from metrics.sweep.parts import SweepGrid
    from metrics.sweep.result import MSUSweep, read_sweep
    from metrics.sweep.sweep import sweep_msu
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".parts", ".result", ".sweep")
