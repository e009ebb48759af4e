"""Names of a package that are imported on use, so that importing it costs nothing."""

import importlib
from collections.abc import Callable, Collection
from typing import Any


def lazily(
    package: str, names: Collection[str], *modules: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__` that import its names on use.

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
                imported = importlib.import_module(module, package)
                if name in getattr(imported, "__all__", vars(imported)):
                    return getattr(imported, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(names)
