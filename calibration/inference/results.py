"""Results of fits: estimates, intervals and diagnostics.

Users choose intervals after the fit. A result never holds raw answers. An infinite estimate is `inf` in Python and null in JSON; an open
end of an interval is None, and null in JSON.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibration.inference.formatting import format_interval, format_number, round_significant
from calibration.inference.uncertainty import Interval, Uncertainty, finite_or_none, scale_of_each
from calibration.user_model.model import Diagnostic, OtherLaw, ParameterEntry, parameter_frame, plain_name
from metrics.arrays import Floats
from metrics.errors import PrefcalError, percent
from metrics.results import HasSummary, Overview

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


class NotIdentifiedError(PrefcalError):
    """Parameter not identified by the data; the message is a clause that says why.

    Examples
    --------
    >>> try:
    ...     raise NotIdentifiedError("every visit ends with the study")
    ... except NotIdentifiedError as error:
    ...     print(error)
    every visit ends with the study
    """


def warning(name: str, sentence: str) -> Diagnostic:
    """Return a diagnostic that questions the use of a number."""
    return Diagnostic(name=name, severity="warning", sentence=sentence)


def info(name: str, sentence: str) -> Diagnostic:
    """Return a diagnostic that explains a number."""
    return Diagnostic(name=name, severity="info", sentence=sentence)


def on_single(what: str, number: int, differences: str = "") -> tuple[Diagnostic, ...]:
    """Return a warning where there is a single worker or topic, and so no interval."""
    unknown = differences or f"differences between {what}s"
    sentence = f"With a single {what} nothing is known about {unknown}: there is no interval."
    return (warning(f"one_{what}", sentence),) if number < 2 else ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CalibrationResult(HasSummary):
    """Fit of one model, printed as the first lines of its `summary`.

    A family of models may subclass it (a frozen dataclass again, with ``repr=False``) to offer its own plots and simulator.
    Such a class reads its numbers by place (``estimates``), because a name gets its language in brackets where the
    tables have several.

    Attributes
    ----------
    parameters : mapping of str to float
        Name -> estimate; `inf` where it is infinite.
    unit, method : str
        What they are measured in, and how they were fitted.
    units : mapping of str to str
        Plain names of those parameters that are measured in something else than ``unit``.
    uncertainty : mapping of str to Uncertainty
        Interval method -> its ingredients; the first is the default. Empty when the data allow no interval.
    loglik : float or None
        Log-likelihood at the estimates; None for a fit without one.
    n_workers : int or None
        How many workers entered the fit; None where who judged is not known.
    n_rows, n_censored : int
        How many rows entered it, and how many of them are only known to exceed what was seen.
    n_free : int or None
        How many numbers were fitted, for `aic`; None: as many as there are parameters.
    details : mapping of str to float
        Other numbers that describe the fit, by name.
    diagnostics : tuple of Diagnostic
        What to know before using the estimates.
    sensitivity : mapping of str to tuple of OtherLaw
        Plain name -> what the parameter is under other laws that the data leave open.

    Examples
    --------
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {"worker": list("abcdef"), "topic": "t1", "intent": ["i1"] * 4 + ["i2"] * 2}
    ... )
    >>> fitted = prefcal.fit({"intent_votes": votes})
    >>> result = fitted.intents.result
    >>> isinstance(result, CalibrationResult), result.n_workers
    (True, 6)
    >>> result.params.round(2).tolist()
    [0.62, 0.38]
    """

    parameters: Mapping[str, float]
    unit: str
    method: str
    uncertainty: Mapping[str, Uncertainty]
    n_workers: int | None
    n_rows: int
    n_censored: int = 0
    loglik: float | None = None
    n_free: int | None = None
    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    details: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    diagnostics: tuple[Diagnostic, ...] = ()
    sensitivity: Mapping[str, tuple[OtherLaw, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def params(self) -> "pd.Series[float]":
        """Estimates by name, as a series; `inf` where infinite."""
        import pandas as pd  # noqa: PLC0415 - half a second that the command line does not pay

        return pd.Series(self.parameters, dtype="float64", name="estimate").rename_axis("name")

    def frame(self, level: float = LEVEL) -> "pd.DataFrame":
        """Return one row per parameter, with numbers to ten digits.

        `calibration.user_model.model.parameter_frame` has the columns.
        """
        return parameter_frame(self.entries(level))

    @property
    def cov(self) -> Floats:
        """Covariance on the working scales, (k, k), by the default method.

        Raises
        ------
        ValueError
            If the data allow no interval.
        """
        return self._by(None).cov

    @property
    def estimates(self) -> Floats:
        """Estimates in the order of ``parameters``, (k,)."""
        return np.array(list(self.parameters.values()), dtype=np.float64)

    @property
    def se(self) -> dict[str, float]:
        """Standard errors on the natural scale by name; nan for infinite estimates.

        They follow from `cov` by the delta method.

        Raises
        ------
        ValueError
            If the data allow no interval.
        """
        slopes = self._slopes()
        errors = np.abs(slopes) * np.sqrt(np.diag(self.cov))
        return {
            name: float(error) if np.isfinite(slope) else math.nan
            for name, error, slope in zip(self.parameters, errors, slopes, strict=True)
        }

    @property
    def natural_cov(self) -> Floats:
        """Covariance on the natural scales, (k, k), by the delta method from `cov`.

        Raises
        ------
        ValueError
            If the data allow no interval.
        """
        slopes = self._slopes()
        return np.asarray(slopes[:, None] * self.cov * slopes, dtype=np.float64)

    def _slopes(self) -> Floats:
        """Return d natural / d working at the estimates, (k,)."""
        scales = scale_of_each(self._by(None).scale, len(self.parameters))
        return np.array([scale.slope(value) for scale, value in zip(scales, self.estimates, strict=True)])

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, 2 k - 2 log-likelihood; None without a likelihood.

        k is the number of fitted parameters.
        """
        free = len(self.parameters) if self.n_free is None else self.n_free
        return None if self.loglik is None else 2 * free - 2 * self.loglik

    def unit_of(self, name: str) -> str:
        """Return the unit of a parameter, named with or without a language."""
        return self.units.get(plain_name(name), self.unit)

    def for_language(self, language: str) -> Self:
        """Return the fit with the language in brackets behind every parameter's name."""
        named = {f"{name}[{language}]": value for name, value in self.parameters.items()}
        return replace(self, parameters=MappingProxyType(named))

    def preferring(self, method: str) -> Self:
        """Return the fit with ``method`` as its default interval, if available."""
        if method not in self.uncertainty:
            return self
        first = {method: self.uncertainty[method]}
        return replace(self, uncertainty=MappingProxyType(first | dict(self.uncertainty)))

    def with_diagnostics(self, *notes: Diagnostic) -> Self:
        """Return the fit with more diagnostics."""
        return replace(self, diagnostics=(*self.diagnostics, *notes))

    def with_sensitivity(self, sensitivity: Mapping[str, tuple[OtherLaw, ...]]) -> Self:
        """Return the fit with more values under other laws, by plain parameter name."""
        names = {*self.sensitivity, *sensitivity}
        merged = {
            name: (*self.sensitivity.get(name, ()), *sensitivity.get(name, ())) for name in sorted(names)
        }
        return replace(self, sensitivity=MappingProxyType(merged))

    def conf_int(self, level: float = LEVEL, method: str | None = None) -> dict[str, Interval]:
        """Return a confidence interval of every parameter that holds the estimate.

        `holding` widens it where needed.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level.
        method : str, optional
            A key of ``uncertainty``; the first by default.

        Returns
        -------
        dict of str to (float or None, float or None)
            None: that end is open. Both are open when the data allow no interval.

        Raises
        ------
        ValueError
            If ``level`` is out of range, or the fit has no such method.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie in (0, 1), got {level!r}")
        if not self.uncertainty and method is None:
            return dict.fromkeys(self.parameters, (None, None))
        intervals = self._by(method).intervals(level)
        return {
            name: holding(estimate, interval)
            for (name, estimate), interval in zip(self.parameters.items(), intervals, strict=True)
        }

    def draw_parameters(
        self, n: int, rng: np.random.Generator, method: str | None = None
    ) -> dict[str, Floats]:
        """Draw parameters from their sampling distribution.

        A metric can then carry their uncertainty.

        Returns
        -------
        dict of str to (n,) ndarray of float
            `inf` is possible where infinity is.

        Raises
        ------
        ValueError
            If the data allow no interval, or the fit has no such method.
        """
        return dict(zip(self.parameters, self._by(method).draws(n, rng).T, strict=True))

    def entries(self, level: float = LEVEL) -> dict[str, ParameterEntry]:
        """Return entries of a user model by name, with numbers to ten digits."""
        return {
            name: ParameterEntry(
                estimate=finite_or_none(round_significant(self.parameters[name])),
                interval=(low and round_significant(low), high and round_significant(high)),
                level=level,
                unit=self.unit_of(name),
                method=self.method,
                workers=self.n_workers,
                rows=self.n_rows,
                diagnostics=self.diagnostics,
                sensitivity=self.sensitivity.get(plain_name(name), ()),
            )
            for name, (low, high) in self.conf_int(level).items()
        }

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the fit as JSON: ``parameters`` as in user-model.json, and the rest.

        The rest belongs to all parameters.
        """
        return {
            "parameters": {
                name: entry.model_dump(mode="json") for name, entry in self.entries(level).items()
            },
            "method": self.method,
            "interval_methods": list(self.uncertainty),
            "workers": self.n_workers,
            "rows": self.n_rows,
            "censored": self.n_censored,
            "loglik": self.loglik and round_significant(self.loglik),
            "aic": self.aic and round_significant(self.aic),
            "details": {
                name: finite_or_none(round_significant(value)) for name, value in self.details.items()
            },
            "diagnostics": [note.model_dump(mode="json") for note in self.diagnostics],
        }

    def summary(self, level: float = LEVEL) -> str:
        """Return the fit as text: estimates, intervals, method, data, diagnostics."""
        lines = [
            f"{name}: {format_number(estimate)} {format_interval(interval)} {self.unit_of(name)}"
            for (name, estimate), interval in zip(
                self.parameters.items(), self.conf_int(level).values(), strict=True
            )
        ]
        how = next(iter(self.uncertainty), "no interval")
        lines.append(f"{self.method}; {percent(level)} intervals: {how}")
        censored = f" ({self.n_censored} censored)" if self.n_censored else ""
        fit = "" if self.loglik is None else f", log-likelihood {self.loglik:.2f}, AIC {self.aic:.2f}"
        workers = "workers not known" if self.n_workers is None else f"{self.n_workers} workers"
        lines.append(f"{workers}, {self.n_rows} rows{censored}{fit}")
        lines += [f"{name} = {value:.5g}" for name, value in self.details.items()]
        lines += [f"{d.severity}: {d.sentence}" for d in self.diagnostics]
        return "\n".join(lines)

    def overview(self) -> Overview:
        """Return the table of parameters, with method, data and diagnostics below it."""
        shown = self.frame()[["estimate", "low", "high", "unit"]].reset_index()
        return Overview(shown, ".4g", self.summary().splitlines()[len(self.parameters) :])

    def _by(self, method: str | None) -> Uncertainty:
        if not self.uncertainty:
            raise ValueError("the data allow no interval; see .diagnostics")
        name = next(iter(self.uncertainty)) if method is None else method
        if name not in self.uncertainty:
            raise ValueError(f"no interval method {name!r}; this fit has {', '.join(self.uncertainty)}")
        return self.uncertainty[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedParameters:
    """Parameters that the tables cannot identify, with the reason.

    Attributes
    ----------
    names : tuple of str
        The parameters.
    reason : str
        Why, as a clause.
    unexpected : bool
        The tables may be fine: an error that is a fault of prefcal came between.
    """

    names: tuple[str, ...]
    reason: str
    unexpected: bool = False

    def __str__(self) -> str:
        """Format as `patience_chars_stops: there is no table stops`."""
        return f"{', '.join(self.names)}: {self.reason}"


def holding(estimate: float, interval: Interval) -> Interval:
    """Return an interval widened to hold its estimate.

    Its nearer end moves where the estimate lies to one side.

    Percentiles of replicates promise to hold the centre of the replicates, not the estimate; with a bias, or at a low level, they
    may lie beside it. Nothing else moves, and an infinite estimate opens the end.
    """
    low, high = interval
    if low is not None and low > estimate:
        low = estimate
    if high is not None and high < estimate:
        high = finite_or_none(estimate)
    return low, high
