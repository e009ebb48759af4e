"""What the fit of a family of parameters starts from."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from calibration.inference.results import LEVEL, NotIdentifiedError
from calibration.tables.study import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Choices of a fit; the defaults are those of `prefcal fit`.

    Attributes
    ----------
    level : float
        Confidence level of the intervals in the model.
    exclude : bool
        Leave excluded workers out of every table.
    complete_only : bool
        Leave out workers who did not complete the study, too.
    inclusion : {'all_enrolled', 'at_least_one_visit'}
        Whom the log of visits holds: everyone who enrolled, or only those who came at least once.
    dropout : {'study_end', 'last_seen'}
        Where the wait for the next visit is cut: at the end of the follow, or at its last sign of life.
    unit : {'worker', 'follow'}
        Who has a mean away time and a mean session of their own.
    idle_threshold_seconds : float or None
        Cut visits anew from table activity, at silences longer than that.
    resamples : int or None
        Samples of every bootstrap; None for each family's own number. Given, away times, sessions and reading speeds get
        intervals from a bootstrap over workers.
    simulations : int
        Simulated data sets behind each test of a model; 0: no tests.
    compare : bool
        Compute the naive estimates too.

    Examples
    --------
    Fast, without tests of the models:

    >>> FitOptions(simulations=0).level
    0.95
    """

    level: float = LEVEL
    exclude: bool = True
    complete_only: bool = False
    inclusion: Literal["all_enrolled", "at_least_one_visit"] = "all_enrolled"
    dropout: Literal["study_end", "last_seen"] = "study_end"
    unit: Literal["worker", "follow"] = "worker"
    idle_threshold_seconds: float | None = None
    resamples: int | None = None
    simulations: int = 99
    compare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FitMaterial:
    """What can be fitted to.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Only rows that count.
    record : StudyRecord or None
        What study.json says.
    options : FitOptions
        What the researcher chose.
    seed : int
        Of every resampling.
    """

    tables: Mapping[str, pd.DataFrame]
    record: StudyRecord | None
    options: FitOptions
    seed: int

    def rng(self, name: str) -> np.random.Generator:
        """Return the random numbers of one fit; they do not depend on which others are made."""
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def table(self, name: str) -> pd.DataFrame:
        """Return a table that a fit cannot do without.

        Raises
        ------
        NotIdentifiedError
            If there is none.
        """
        if name not in self.tables:
            raise NotIdentifiedError(f"there is no table {name}")
        return self.tables[name]

    def with_tables(self, **tables: pd.DataFrame) -> "FitMaterial":
        """Return the same with some tables replaced."""
        return replace(self, tables={**self.tables, **tables})


def by_language(frame: pd.DataFrame) -> Iterator[tuple[str | None, str, pd.DataFrame]]:
    """Yield language, what it appends to names, and rows; once with all rows where there are not several.

    Rows without a language are left out where there are several.
    """
    languages = sorted(set(frame["language"].dropna().astype(str)))
    if len(languages) < 2:
        yield next(iter(languages), None), "", frame
    else:
        for language in languages:
            yield language, f"[{language}]", frame[frame["language"] == language]
