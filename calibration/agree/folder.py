"""The folder of an agreement: what `prefcal agree` writes into it and the report reads from it."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from calibration.agree.stream_results import CORRELATION_COLUMNS, SCORE_COLUMNS, StreamTables
from calibration.agree.study import AgreementTables
from metrics.errors import input_fault
from metrics.files import shown_from, write_whole

AGREEMENT, COMPARISONS, CURVE, PAIRS = "agreement.csv", "comparisons.csv", "curve.csv", "pairs.csv"
DISAGREEMENTS = "disagreements.csv"
STREAM_SCORES, STREAM_CORRELATIONS = "stream_scores.csv", "stream_correlations.csv"
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
        write_whole(folder / name, text)


def file_record(path: str | Path | None, folder: str | Path) -> dict[str, str] | None:
    """Return {path as seen from ``folder``, sha256} of an input file, None for none."""
    if path is None:
        return None
    return {"path": shown_from(path, folder), "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}


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
