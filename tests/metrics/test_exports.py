"""A family hands out what notebooks use of it, and imports it only when it is asked for."""

import importlib
import subprocess
import sys

import pytest

PACKAGES = [
    "metrics.agreement",
    "metrics.summaries",
    "metrics.push",
    "metrics.updates",
    "metrics.msu",
    "metrics.ranked",
    "calibration.user_model",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_that_a_package_lists_is_there(name):
    """Each is the object of the module that defines it, and tab completion shows it."""
    package = importlib.import_module(name)

    assert package.__all__
    assert set(package.__all__) <= set(dir(package))
    for one in package.__all__:
        assert getattr(package, one) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    """As in any other package; names of modules that its modules use are not handed out."""
    package = importlib.import_module("metrics.summaries")
    for name in ("MMeasures", "np"):
        with pytest.raises(AttributeError, match=f"module 'metrics.summaries' has no attribute '{name}'"):
            getattr(package, name)


def test_a_family_costs_nothing_until_it_is_used():
    """The web imports the texts of summaries without numpy, and populations without numba."""
    code = f"import sys, {', '.join(PACKAGES)}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "pandas", "numba", "scipy", "pydantic"} & set(ended.stdout.split())
