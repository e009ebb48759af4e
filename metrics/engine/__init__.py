"""Where long work is done: in this process, in several on this machine, or on a Dask cluster; the results are the same."""

from typing import TYPE_CHECKING

from metrics import lazily

__all__ = ["Engine", "open_engine"]

if TYPE_CHECKING:
    from metrics.engine.engines import Engine, open_engine
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".engines")
