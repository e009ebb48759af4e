"""Folder of an agreement: written by `prefcal agree`, read by the report.

Two of its tables are about streams. stream_scores.csv has the score of every system by every measure, overall and by topic, and MSU for
many populations; stream_correlations.csv has Kendall's tau-b of pairs of measures. docs/agreement.md lists their columns.
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

from calibration.agree.reading import READING
from calibration.agree.result import AgreementTables
from calibration.judges.numbers import JudgeTables
from metrics.arrays import Floats
from metrics.errors import input_fault
from metrics.files import digest_of, relative_path, write_atomically
from metrics.results import ALL

PAIRS_KIND = "stream_pairs"
STREAM_KINDS = (PAIRS_KIND, "stream_visits")
"""Kinds of tasks whose systems are streams."""
PUSH, UPDATES = "push", "updates"
"""Values of column ``form``: whether streams are scored as pushes or as updates."""
FITTED, PAPER, TRIED = "fitted", "paper", "tried"
"""Values of column ``people``: fitted, the paper's setting, or one of a sweep.

The user model gives the first, the paper's reasonable setting the second, a sweep's population the third.
"""
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
PUSH_MEASURE_PAIRS = (
    ("ELG-1", "nCG-1"),
    ("ELG-1", "ELG-0"),
    ("nCG-1", "nCG-0"),
    ("silence-precision", "ELG-1"),
    ("silence-recall", "ELG-1"),
    ("silence-precision", "silence-recall"),
    ("ELG-1", "T11U"),
)
UPDATE_COUPLES = (("ELG", "MSU"), ("LC", "MSU"))
"""Pairs of measures to correlate, as in the papers' figures.

The figures are Fig. 1 to 3 of Tan and others (SIGIR 2016) and Fig. 2 of Baruah and others (SIGIR 2015).
"""
DEFAULT_ALPHA = 0.66
SPREAD = 0.5
"""Standard deviation over mean of a sweep's populations: the paper's setting."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamTables:
    """Scores of streams and correlations of measures, as written by `prefcal agree`.

    Attributes
    ----------
    scores : DataFrame
        One row per task, system, topic (``all``: over all of them) and measure; `SCORE_COLUMNS`.
    correlations : DataFrame
        One row per task, pair of measures, and alpha or population of a sweep; `CORRELATION_COLUMNS`.
    unscored : mapping of str to str
        Reason by task, for tasks whose streams cannot be scored.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame
    unscored: Mapping[str, str]


class PopulationSweep(NamedTuple):
    """Scores of a measure over a grid of populations.

    Attributes
    ----------
    away, session, lateness : (n,) ndarray of float
        Axes of the grid: mean seconds away, mean seconds of a session, lateness decay L.
    utility : (away, session, lateness, systems) ndarray of float
        The measure.
    tau : (away, session, lateness) ndarray of float
        Kendall's tau-b of the measure with ELG.
    """

    away: Floats
    session: Floats
    lateness: Floats
    utility: Floats
    tau: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskStreamScores:
    """Scores and correlations of the streams of one task in one form.

    Attributes
    ----------
    scores, correlations : DataFrame
        Rows of `StreamTables` of one task and form.
    """

    scores: pd.DataFrame
    correlations: pd.DataFrame

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order of the study file."""
        return tuple(dict.fromkeys(self.scores["run"].dropna().astype(str)))

    @property
    def converted(self) -> bool:
        """True if the judgments were made for the other form."""
        return bool(self.scores["converted"].iloc[0])

    def overall(self, metric: str) -> Floats:
        """Return the value of a measure for each system."""
        rows = self._overall(metric).dropna(subset="run")
        return np.asarray(rows["value"], dtype=np.float64)

    def empty(self, metric: str) -> float | None:
        """Return the score of a system that pushes nothing, None if undefined."""
        rows = self._overall(metric)
        values = rows[rows["run"].isna()]["value"]
        return float(values.iloc[0]) if len(values) else None

    def people(self) -> "pd.Series[Any]":
        """Return a row of MSU with the population, fitted or the paper's, and lateness."""
        return self._overall("MSU").iloc[0]

    def tau(self, metric: str, against: str) -> tuple[float, float, float]:
        """Return Kendall's tau-b of two measures and its interval, NaN if undefined."""
        rows = self.correlations
        row = rows[
            (rows["metric"] == metric)
            & (rows["against"] == against)
            & rows["alpha"].isna()
            & (rows["people"] != TRIED)
        ].iloc[0]
        return float(row["tau"]), float(row["low"]), float(row["high"])

    def along_alpha(self) -> pd.DataFrame:
        """Return Kendall's tau-b of T11U and ELG-1, with its interval, by alpha."""
        return self.correlations[self.correlations["alpha"].notna()][["alpha", "tau", "low", "high"]]

    def sweep(self, metric: str) -> PopulationSweep:
        """Return the sweep of MSU or MSU/s over populations."""
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
        """Return a system's best rank by MSU, and the population that gives it.

        The population is (away, session, lateness); among several, that of the system's highest MSU.
        """
        sweep = self.sweep("MSU")
        ranks = 1 + (sweep.utility > sweep.utility[..., system][..., None]).sum(axis=-1)
        own = np.where(ranks == ranks.min(), sweep.utility[..., system], -np.inf)
        away, session, lateness = np.unravel_index(int(own.argmax()), own.shape)
        return int(ranks.min()), (
            float(sweep.away[away]),
            float(sweep.session[session]),
            float(sweep.lateness[lateness]),
        )

    def _overall(self, metric: str) -> pd.DataFrame:
        rows = self.scores
        return rows[(rows["metric"] == metric) & (rows["topic"] == ALL) & (rows["people"] != TRIED)]


def of_task(tables: StreamTables, task: str, form: str) -> TaskStreamScores | None:
    """Return the stream scores of a task in one form, None if it has none."""
    scores, correlations = (
        rows[(rows["task"] == task) & (rows["form"] == form)] for rows in (tables.scores, tables.correlations)
    )
    return TaskStreamScores(scores=scores, correlations=correlations) if len(scores) else None


AGREEMENT, COMPARISONS, CURVE, PAIRS = "agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv"
DISAGREEMENTS = "disagreements.csv"
STREAM_SCORES, STREAM_CORRELATIONS = "stream_scores.csv", "stream_correlations.csv"
JUDGES = MappingProxyType(
    {
        "numbers": "judge.csv",
        "topics": "judge_topics.csv",
        "people": "judge_people.csv",
        "axis": "judge_axis.csv",
        "assisted": "assisted_agreement.csv",
    }
)
"""Frame of `JudgeTables` -> its file."""
OPTIONAL = (READING, STREAM_SCORES, STREAM_CORRELATIONS, *JUDGES.values())
"""Files that are deleted where there is nothing to write."""
RESULTS = (AGREEMENT, COMPARISONS, CURVE, PAIRS, DISAGREEMENTS, *OPTIONAL)
RECORD = "agree.json"
NAMES = dict.fromkeys(
    (
        "task",
        "run",
        "system",
        "topic",
        "judge",
        "worker",
        "name",
        "model",
        "prompt_sha256",
        "orders",
        "against",
    ),
    str,
)
"""Columns read as text, even where their cells look like numbers."""


def write_agreement(
    found: AgreementTables,
    folder: str | Path,
    record: Mapping[str, Any] = MappingProxyType({}),
    streams: StreamTables | None = None,
) -> None:
    """Write the tables, and their origin as agree.json; no file is left half written.

    Parameters
    ----------
    found : AgreementTables
        The result.
    folder : str or Path
        Created if missing.
    record : mapping, optional
        Origin of the result: paths, hashes, seed, command.
    streams : StreamTables, optional
        Scores of the study's streams; without any, older files of streams are deleted.

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
    frames |= {name: frame for field, name in JUDGES.items() if len(frame := getattr(found.judges, field))}
    if len(found.reading):
        frames[READING] = found.reading
    if streams is not None and len(streams.scores):
        frames |= {STREAM_SCORES: streams.scores, STREAM_CORRELATIONS: streams.correlations}
    texts = {
        name: frame.to_csv(index=False, lineterminator="\n", float_format="%.13g")
        for name, frame in frames.items()
    }
    named = {
        task: {
            "primary": comparisons.primary,
            "compare": comparisons.compare,
            "at_analysis": comparisons.at_analysis,
        }
        for task, comparisons in found.wanted.items()
    }
    content = {
        "prefcal_version": version("prefcal"),
        **record,
        "files": {name: digest_of(text.encode()) for name, text in texts.items()},
        "named": named,
        "by": found.by,
        "notes": list(found.notes),
        "diagnostics": {
            task: [diagnostic.model_dump() for diagnostic in diagnostics]
            for task, diagnostics in found.diagnostics.items()
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
    for name in set(OPTIONAL) - set(texts):
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)


def file_record(path: str | Path | None, folder: str | Path) -> dict[str, str] | None:
    """Return the path relative to ``folder`` and the SHA-256 of an input file, if any."""
    if path is None:
        return None
    return {
        "path": relative_path(path, folder),
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(),
    }


def read_result(folder: Path, name: str) -> pd.DataFrame | None:
    """Read one of the tables; None if the file is missing or has no row.

    Empty cells are "" in columns of reasons, NaN in all others.

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


def read_judges(folder: Path) -> JudgeTables:
    """Read the tables of judges; frames without a row where there is none.

    Raises
    ------
    InputError
        If a file is no CSV.
    """
    frames = {field: read_result(folder, name) for field, name in JUDGES.items()}
    return JudgeTables(**{field: frame for field, frame in frames.items() if frame is not None})


def read_streams(folder: Path, unscored: Mapping[str, str] | None) -> StreamTables | None:
    """Read the tables of streams; None if agree.json says nothing of streams.

    Parameters
    ----------
    folder : Path
        Folder written by `write_agreement`.
    unscored : mapping of str to str or None
        Reason by task that could not be scored, from agree.json; None if it lacks the entry.

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
