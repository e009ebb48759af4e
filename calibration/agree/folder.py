"""The folder of an agreement, as `prefcal agree` writes it and the report reads it.

Of the streams of a study there are two tables. stream_scores.csv has every system by every measure, overall and by topic, and MSU for
many populations; stream_correlations.csv has Kendall's tau-b of measures with each other. docs/agreement.md lists their columns.
`calibration.agree.stream_scores` makes them; `TaskStreamScores` reads the rows of one task.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calibration.agree.result import AgreementTables
from metrics.arrays import Floats
from metrics.errors import input_fault
from metrics.files import digest_of, relative_path, write_atomically
from metrics.results import ALL

PAIRS_KIND = "stream_pairs"
STREAM_KINDS = (PAIRS_KIND, "stream_visits")
"""Kinds of tasks whose systems are streams."""
PUSH, UPDATES = "push", "updates"
"""Column ``form``: what the streams are scored as."""
FITTED, PAPER, TRIED = "fitted", "paper", "tried"
"""Column ``people``: those of the user model, the paper's reasonable ones, those of one of many populations."""
PEOPLE = ("away_mean_seconds", "away_sd_seconds", "session_mean_seconds", "session_sd_seconds")
SCORE_COLUMNS = (
    "task",
    "form",
    "converted",
    "run",
    "topic",
    "metric",
    "value",
    "people",
    *PEOPLE,
    "lateness",
)
CORRELATION_COLUMNS = (
    "task",
    "form",
    "metric",
    "against",
    "alpha",
    "people",
    *PEOPLE,
    "lateness",
    "systems",
    "tau",
    "low",
    "high",
)
PUSH_COUPLES = (
    ("ELG-1", "nCG-1"),
    ("ELG-1", "ELG-0"),
    ("nCG-1", "nCG-0"),
    ("silence-precision", "ELG-1"),
    ("silence-recall", "ELG-1"),
    ("silence-precision", "silence-recall"),
    ("ELG-1", "T11U"),
)
UPDATE_COUPLES = (("ELG", "MSU"), ("LC", "MSU"))
"""Measures that are held against each other, as in Fig. 1 to 3 of Tan and others (SIGIR 2016) and in Fig. 2 of Baruah
and others (SIGIR 2015)."""
DEFAULT_ALPHA = 0.66
SPREAD = 0.5
"""Standard deviation over mean of the populations that are tried, as in the paper's reasonable setting."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamTables:
    """What `prefcal agree` writes about streams.

    Attributes
    ----------
    scores : DataFrame
        One row per task, system, topic (``all``: over all of them) and measure; `SCORE_COLUMNS`.
    correlations : DataFrame
        One row per task and couple of measures, along alpha and over populations too; `CORRELATION_COLUMNS`.
    unscored : mapping of str to str
        Task whose streams cannot be scored -> why.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame
    unscored: Mapping[str, str]


class PopulationSweep(NamedTuple):
    """A measure for many populations, all of them combined.

    Attributes
    ----------
    away, session, lateness : (n,) ndarray of float
        Mean seconds away and in a session; worth of a nugget one visit late.
    utility : (away, session, lateness, systems) ndarray of float
        The measure.
    tau : (away, session, lateness) ndarray of float
        Its Kendall's tau-b with ELG.
    """

    away: Floats
    session: Floats
    lateness: Floats
    utility: Floats
    tau: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskStreamScores:
    """What the two tables hold about the streams of one task, scored as pushes or as updates.

    Attributes
    ----------
    scores, correlations : DataFrame
        Rows of `StreamTables` of one task and form.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Their names, in the order of the study file."""
        return tuple(dict.fromkeys(self.scores["run"].dropna().astype(str)))

    @property
    def converted(self) -> bool:
        """Whether the judgments were made for the other form."""
        return bool(self.scores["converted"].iloc[0])

    def overall(self, metric: str) -> Floats:
        """Return the value of a measure for each system."""
        rows = self._overall(metric).dropna(subset="run")
        return np.asarray(rows["value"], dtype=np.float64)

    def empty(self, metric: str) -> float | None:
        """Return what a system that pushes nothing scores; None for a measure without such a value."""
        rows = self._overall(metric)
        values = rows[rows["run"].isna()]["value"]
        return float(values.iloc[0]) if len(values) else None

    def people(self) -> "pd.Series[Any]":
        """Return a row of MSU of the fitted people, or of the paper's: who they are, and their lateness."""
        return self._overall("MSU").iloc[0]

    def tau(self, metric: str, against: str) -> tuple[float, float, float]:
        """Return Kendall's tau-b of two measures with the ends of its interval; NaN where there is none."""
        rows = self.correlations
        row = rows[
            (rows["metric"] == metric)
            & (rows["against"] == against)
            & rows["alpha"].isna()
            & (rows["people"] != TRIED)
        ].iloc[0]
        return float(row["tau"]), float(row["low"]), float(row["high"])

    def along_alpha(self) -> pd.DataFrame:
        """Return alpha, tau, low and high of T11U and ELG-1."""
        return self.correlations[self.correlations["alpha"].notna()][["alpha", "tau", "low", "high"]]

    def sweep(self, metric: str) -> PopulationSweep:
        """Return MSU or MSU/s for every population that was tried."""
        scores, correlations = (
            rows[(rows["metric"] == metric) & (rows["people"] == TRIED)]
            for rows in (self.scores, self.correlations)
        )
        away, session, lateness = (
            np.asarray(correlations[name].unique(), dtype=np.float64)
            for name in ("away_mean_seconds", "session_mean_seconds", "lateness")
        )
        shape = len(away), len(session), len(lateness)
        values = np.asarray(scores["value"], dtype=np.float64).reshape(*shape, len(self.systems))
        tau = np.asarray(correlations["tau"], dtype=np.float64).reshape(shape)
        return PopulationSweep(away, session, lateness, values, tau)

    def best(self, system: int) -> tuple[int, tuple[float, float, float]]:
        """Return a system's best rank by MSU, and away, session and lateness where it has it: of several that of highest MSU."""
        sweep = self.sweep("MSU")
        ranks = 1 + (sweep.utility > sweep.utility[..., system][..., None]).sum(axis=-1)
        own = np.where(ranks == ranks.min(), sweep.utility[..., system], -np.inf)
        i, j, number = np.unravel_index(int(own.argmax()), own.shape)
        return int(ranks.min()), (
            float(sweep.away[i]),
            float(sweep.session[j]),
            float(sweep.lateness[number]),
        )

    def _overall(self, metric: str) -> pd.DataFrame:
        rows = self.scores
        return rows[(rows["metric"] == metric) & (rows["topic"] == ALL) & (rows["people"] != TRIED)]


def of_task(tables: StreamTables, task: str, form: str) -> TaskStreamScores | None:
    """Return what the tables hold about the streams of a task in one form, None where they were not scored so."""
    scores, correlations = (
        rows[(rows["task"] == task) & (rows["form"] == form)] for rows in (tables.scores, tables.correlations)
    )
    return TaskStreamScores(scores=scores, correlations=correlations) if len(scores) else None


AGREEMENT, COMPARISONS, CURVE, PAIRS = "agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv"
DISAGREEMENTS = "disagreements.csv"
STREAM_SCORES, STREAM_CORRELATIONS = "stream_scores.csv", "stream_correlations.csv"
RESULTS = (AGREEMENT, COMPARISONS, CURVE, PAIRS, DISAGREEMENTS, STREAM_SCORES, STREAM_CORRELATIONS)
RECORD = "agree.json"
NAMES = {"task": str, "run": str, "topic": str}
"""Columns that are names, even where they look like numbers."""


def write_agreement(
    found: AgreementTables,
    folder: str | Path,
    record: Mapping[str, Any] = MappingProxyType({}),
    streams: StreamTables | None = None,
) -> None:
    """Write the tables and, as agree.json, how they were made; each file appears whole or not at all.

    Parameters
    ----------
    found : AgreementTables
        The result.
    folder : str or Path
        Made where it does not exist.
    record : mapping, optional
        What the result was made from: paths, hashes, seed, command.
    streams : StreamTables, optional
        How the streams of the study were scored; without any, their files are not written, and older ones deleted.

    Raises
    ------
    InputError
        If the folder or a file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "w2", "w3"] * 2,
    ...         "task": "lists",
    ...         "topic": ["t1"] * 3 + ["t2"] * 3,
    ...         "pair": "A-B",
    ...         "system_left": "A",
    ...         "system_right": "B",
    ...         "choice": ["left", "left", "right", "left", "right", "left"],
    ...     }
    ... )
    >>> scores = pd.DataFrame(
    ...     {
    ...         "run": ["A", "B"] * 2,
    ...         "topic": ["t1"] * 2 + ["t2"] * 2,
    ...         "metric": "nDCG",
    ...         "value": [0.6, 0.4, 0.3, 0.5],
    ...     }
    ... )
    >>> folder = Path(mkdtemp())
    >>> write_agreement(prefcal.agree({"preferences": votes}, scores=scores), folder)
    >>> (folder / "agreement.csv").is_file()
    True
    """
    folder = Path(folder)
    frames = {
        AGREEMENT: found.agreement,
        COMPARISONS: found.comparisons,
        CURVE: found.curve,
        PAIRS: found.pairs,
        DISAGREEMENTS: found.disagreements,
    }
    if streams is not None and len(streams.scores):
        frames |= {STREAM_SCORES: streams.scores, STREAM_CORRELATIONS: streams.correlations}
    texts = {
        name: frame.to_csv(index=False, lineterminator="\n", float_format="%.13g")
        for name, frame in frames.items()
    }
    named = {
        task: {"primary": one.primary, "compare": one.compare, "at_analysis": one.at_analysis}
        for task, one in found.wanted.items()
    }
    content = {
        "prefcal_version": version("prefcal"),
        **record,
        "files": {name: digest_of(text.encode()) for name, text in texts.items()},
        "named": named,
        "notes": list(found.notes),
        "diagnostics": {
            task: [one.model_dump() for one in known] for task, known in found.diagnostics.items()
        },
    }
    if streams is not None:
        content["streams_not_scored"] = dict(streams.unscored)
    texts[RECORD] = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise input_fault(
            f"the folder cannot be made ({error.strerror})", path=folder, cure="choose another place"
        ) from None
    for name in {STREAM_SCORES, STREAM_CORRELATIONS} - set(texts):
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)


def file_record(path: str | Path | None, folder: str | Path) -> dict[str, str] | None:
    """Return {path as seen from ``folder``, sha256} of an input file, None for none."""
    if path is None:
        return None
    return {
        "path": relative_path(path, folder),
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
    }


def read_result(folder: Path, name: str) -> pd.DataFrame | None:
    """Return one of the tables, None where the folder lacks it or it has no row; a reason that is empty is "".

    Raises
    ------
    InputError
        If the file is no CSV.
    """
    path = folder / name
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=NAMES)
    except (UnicodeDecodeError, pd.errors.ParserError) as error:
        raise input_fault(
            f"not a CSV file ({error})", path=path, cure="write it anew with prefcal agree"
        ) from None
    for reason in frame.columns.intersection(["no_ceiling", "warnings", "no_ceiling_interval"]):
        frame[reason] = frame[reason].astype(object).fillna("")
    return frame if len(frame) else None


def read_streams(folder: Path, unscored: Mapping[str, str] | None) -> StreamTables | None:
    """Return how the streams of a study were scored, None where nobody has scored them.

    Parameters
    ----------
    folder : Path
        Of `write_agreement`.
    unscored : mapping of str to str or None
        What agree.json says of tasks that could not be scored; None where it says nothing.

    Raises
    ------
    InputError
        If a file is no CSV.
    """
    if unscored is None:
        return None
    scores, correlations = (read_result(folder, name) for name in (STREAM_SCORES, STREAM_CORRELATIONS))
    return StreamTables(
        scores=_or_empty(scores, SCORE_COLUMNS),
        correlations=_or_empty(correlations, CORRELATION_COLUMNS),
        unscored=unscored,
    )


def _or_empty(frame: pd.DataFrame | None, columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(columns=pd.Index(columns)) if frame is None else frame
