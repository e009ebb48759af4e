"""Attempts at fits: one family of parameters that fails takes no other with it.

Here is the only place that catches every error. An error of a kind that prefcal knows says why in its own words; any other
is a fault of prefcal, is called so, and leaves its traceback in the log of this module at level DEBUG.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from calibration.inference.results import CalibrationResult, SkippedParameters
from metrics.errors import PrefcalError

T = TypeVar("T")

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitFailure:
    """Family of parameters that could not be fitted, with its reason.

    Attributes
    ----------
    reason : str
        Why, as a clause.
    error : Exception
        The error behind it.
    """

    reason: str
    error: Exception

    def skipped(self, names: Iterable[str]) -> SkippedParameters:
        """Return the skipped parameters of the family, with the reason."""
        unexpected = not isinstance(self.error, PrefcalError)
        return SkippedParameters(names=tuple(names), reason=self.reason, unexpected=unexpected)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyResult:
    """Fits of one family with their data, and the parameters that were skipped.

    Attributes
    ----------
    results : tuple of CalibrationResult
        The fits.
    data : tuple of object
        What each was fitted to, for its checks; None for a fit that has none.
    skipped : tuple of SkippedParameters
        What could not be told, and why.
    """

    results: tuple[CalibrationResult, ...] = ()
    data: tuple[object, ...] = ()
    skipped: tuple[SkippedParameters, ...] = ()

    def __add__(self, other: "FamilyResult") -> "FamilyResult":
        """Merge the results of two families."""
        return FamilyResult(
            results=self.results + other.results,
            data=self.data + other.data,
            skipped=self.skipped + other.skipped,
        )

    def for_language(self, language: str) -> "FamilyResult":
        """Return the result with the language in brackets behind each parameter's name."""
        skipped = (
            replace(parameters, names=tuple(f"{name}[{language}]" for name in parameters.names))
            for parameters in self.skipped
        )
        results = (fit.for_language(language) for fit in self.results)
        return replace(self, results=tuple(results), skipped=tuple(skipped))


def catch_unidentified(make: Callable[[], T]) -> T | FitFailure:
    """Return the value of ``make``, or a `FitFailure` for any error."""
    try:
        return make()
    except PrefcalError as error:
        return FitFailure(reason=str(error), error=error)
    except Exception as error:
        LOG.debug("an unexpected error", exc_info=True)
        return FitFailure(reason=_unexpected(error), error=error)


def try_fit(names: Iterable[str], make: Callable[[], CalibrationResult], data: object = None) -> FamilyResult:
    """Return the fit of ``make``, or why it failed.

    A fit whose intervals cannot be computed has failed.

    ``data`` is what it is fitted to, for its checks: a value, or a function without arguments that returns it.
    """
    made = catch_unidentified(lambda: _with_intervals(make()))
    if isinstance(made, FitFailure):
        return FamilyResult(skipped=(made.skipped(names),))
    return FamilyResult(results=(made,), data=(data() if callable(data) else data,))


def _with_intervals(fit: CalibrationResult) -> CalibrationResult:
    fit.conf_int()
    return fit


def _unexpected(error: Exception) -> str:
    """Return a clause that calls an error a fault of prefcal."""
    kind, words = type(error).__name__, " ".join(str(error).split())
    named = f"{words} ({kind})" if words else kind
    return (
        f"an error that prefcal did not expect stopped this: {named}; please report it with the traceback that "
        "prefcal fit --debug shows"
    )
