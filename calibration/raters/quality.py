"""Report of worker quality: agreement, consistency and position bias.

It covers all that the tables show of care and consent. None of it is a parameter of a user model: it stands beside the model, in
quality.json. Excluding workers for inconsistent answers raises what is measured on the rest, so each number is also said with the excluded
workers in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.attempts import FitFailure, catch_unidentified, try_fit
from calibration.inference.formatting import round_significant
from calibration.inference.results import LEVEL, CalibrationResult, SkippedParameters, info, warning
from calibration.inference.uncertainty import finite_or_none
from calibration.raters.consistency import NAMES as CONSISTENCY
from calibration.raters.consistency import fit_consistency
from calibration.raters.importance import ALPHA, KAPPA, fit_importance, fit_importance_alpha
from calibration.raters.position_bias import NAME as LEFT_SHARE
from calibration.raters.position_bias import fit_position_bias
from calibration.raters.preferences import FLEISS, KRIPPENDORFF, fit_rater_agreement
from calibration.tables.preferences import counted_tables
from calibration.user_model.model import ParameterEntry, parameter_frame
from metrics.results import HasSummary

FORMAT = "prefcal-quality/1"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QualityReport(HasSummary):
    """Measures of agreement, consistency and position bias.

    Attributes
    ----------
    results : tuple of CalibrationResult
        In the order: agreement on preferences (three categories, four options), consistency, position bias,
        agreement on importance (numbers, order). No name stands in two of them.
    skipped : tuple of SkippedParameters
        What the tables cannot tell, and why.
    data : tuple of DataFrame
        The rows that each was fitted to, for its checks.
    """

    results: tuple[CalibrationResult, ...]
    skipped: tuple[SkippedParameters, ...]
    data: tuple[object, ...] = ()

    def entries(self, level: float = LEVEL) -> dict[str, ParameterEntry]:
        """Return entries by name, as for parameters.

        An entry has estimate, interval, unit, method, counts and diagnostics.
        """
        return dict(chain.from_iterable(result.entries(level).items() for result in self.results))

    def frame(self, level: float = LEVEL) -> pd.DataFrame:
        """Return one row per number, with the columns of `CalibrationResult.frame`."""
        return parameter_frame(self.entries(level))

    def summary(self, level: float = LEVEL) -> str:
        """Return every measure with its interval as text."""
        shown = self.frame(level)[["estimate", "low", "high"]]
        return shown.to_string(float_format="{:.3f}".format) if len(shown) else "no worker quality"

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the content of quality.json."""
        measures = {name: entry.model_dump(mode="json") for name, entry in self.entries(level).items()}
        details = {
            ", ".join(result.parameters): {
                name: finite_or_none(round_significant(value)) for name, value in result.details.items()
            }
            for result in self.results
        }
        skipped = [
            {"names": list(parameters.names), "reason": parameters.reason} for parameters in self.skipped
        ]
        return {"format": FORMAT, "measures": measures, "details": details, "skipped": skipped}


class _Measure(NamedTuple):
    names: tuple[str, ...]
    table: str
    fit: Callable[[pd.DataFrame, np.random.Generator, float], CalibrationResult]


_MEASURES = (
    _Measure(
        (FLEISS, KRIPPENDORFF), "preferences", lambda table, rng, _: fit_rater_agreement(table, rng=rng)
    ),
    _Measure(
        (f"{FLEISS}_4", f"{KRIPPENDORFF}_4"),
        "preferences",
        lambda table, rng, _: fit_rater_agreement(table, rng=rng, options=4),
    ),
    _Measure(CONSISTENCY, "preferences", lambda table, rng, _: fit_consistency(table, rng=rng)),
    _Measure((LEFT_SHARE,), "preferences", lambda table, _, level: fit_position_bias(table, level=level)),
    _Measure((KAPPA, ALPHA), "importance", lambda table, rng, _: fit_importance(table, rng=rng)),
    _Measure(
        (f"{ALPHA}_ordinal",),
        "importance",
        lambda table, rng, _: fit_importance_alpha(table, metric="ordinal", rng=rng),
    ),
)


def quality_report(
    tables: Mapping[str, pd.DataFrame], *, seed: int, level: float = LEVEL, exclude: bool = True
) -> QualityReport:
    """Estimate agreement among raters, consistency and position bias.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them, excluded workers included.
    seed : int
        Of every resampling.
    level : float
        Confidence level of the intervals in diagnostics.
    exclude : bool
        Leave excluded workers out (withdrawn ones always are). Where there are any, a diagnostic
        ``with_excluded_workers`` says what the numbers are with them.
    """
    counted, everyone = (counted_tables(tables, exclude=each) for each in (exclude, False))
    results: list[CalibrationResult] = []
    data: list[object] = []
    skipped: list[SkippedParameters] = []
    for index, measure in enumerate(_MEASURES):
        table = counted.get(measure.table)
        if table is None:
            skipped.append(
                SkippedParameters(names=measure.names, reason=f"there is no table {measure.table}")
            )
            continue
        rng, others = np.random.default_rng([seed, 100 + index]), everyone[measure.table]
        found = try_fit(measure.names, lambda: measure.fit(table, rng, level), table)  # noqa: B023 - called at once
        skipped += found.skipped
        data += found.data
        results += [
            _compared(result, measure, others, seed, level) if len(others) > len(table) else result
            for result in found.results
        ]
    return QualityReport(results=tuple(results), skipped=tuple(skipped), data=tuple(data))


def _compared(
    result: CalibrationResult, measure: _Measure, everyone: pd.DataFrame, seed: int, level: float
) -> CalibrationResult:
    """Return the numbers with the excluded workers included, as a sentence."""
    whole = catch_unidentified(lambda: measure.fit(everyone, np.random.default_rng(seed), level))
    if isinstance(whole, FitFailure):
        return result.with_diagnostics(
            warning("with_excluded_workers", f"Not known with the excluded workers: {whole.reason}.")
        )
    said = ", ".join(f"{name} {value:.3f}" for name, value in whole.parameters.items())
    return result.with_diagnostics(info("with_excluded_workers", f"With the excluded workers: {said}."))
