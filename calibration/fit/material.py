"""What the fit of a family of parameters starts from."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.fit.options import FitOptions
from calibration.inference.results import NotIdentifiedError
from calibration.tables.study import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
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

    def with_tables(self, **tables: pd.DataFrame) -> "Material":
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
