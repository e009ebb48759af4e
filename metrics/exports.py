"""What a package hands out, imported only when it is asked for: `from metrics.summaries import MMeasure`."""

import importlib
from collections.abc import Callable, Collection
from typing import Any


def lazily(
    package: str, names: Collection[str], *modules: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names stand in other modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : collection of str
        Its ``__all__``.
    *modules : str
        Where they stand: `.score` is in the package. The first that has a name in its ``__all__``, or at all where it has none, is
        taken; what comes first is imported first.
    """

    def get(name: str) -> Any:
        if name in names:
            for module in modules:
                found = importlib.import_module(module, package)
                if name in getattr(found, "__all__", vars(found)):
                    return getattr(found, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(names)
