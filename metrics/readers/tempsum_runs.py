"""Runs of updates, and lengths of updates, in the files of the TREC Temporal Summarization track.

| file | content |
|---|---|
| run | ``qid team run doc sentence time confidence`` a line, separated by white space; the update is ``doc-sentence`` |
| lengths | query_id, update_id, words: a table separated by tabs |

Files are UTF-8, plain or gzip. Topics are written in their long form (``TS14.11``) or their short one (``11``).
Confidence may be ``inf``, but not NaN; a time is a finite number of seconds since 1970-01-01 UTC.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from metrics.errors import FaultLog, raise_all
from metrics.events import UpdateRun
from metrics.readers.columns import read_columns
from metrics.readers.lines import number, rows
from metrics.readers.run_files import run_name
from metrics.topics import TopicNames

RUN = ("qid", "team", "run", "doc", "sentence", "time", "confidence")
LENGTHS = ("query_id", "update_id", "words")

Lengths: TypeAlias = dict[str, dict[str, float]]
"""Topic -> update -> words."""


def read_update_run(path: str | Path, *, name: str | None = None) -> UpdateRun:
    """Read and check a run; an empty file is a run that never gave anything out.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        What the run is called; by default like the file, see `metrics.readers.run_files.run_name`.

    Raises
    ------
    InputError
        With every fault: a line has another number of fields or is not UTF-8; a time or confidence is no number.
    """
    log = FaultLog(path)
    columns = read_columns(RUN, log)
    topics, _, _, documents, sentences, times, confidences = columns.fields
    lines = columns.lines.tolist()
    seconds = [number(text, "time", line, log) for text, line in zip(times, lines, strict=True)]
    confidence = [
        number(text, "confidence", line, log, infinite=True)
        for text, line in zip(confidences, lines, strict=True)
    ]
    raise_all([log])
    return UpdateRun(
        name=name or run_name(path),
        topics=tuple(topics),
        updates=tuple(map("-".join, zip(documents, sentences, strict=True))),
        seconds=np.array(seconds, dtype=np.float64),
        confidence=np.array(confidence, dtype=np.float64),
    )


def read_lengths(path: str | Path, judged: Iterable[str]) -> Lengths:
    """Read how many words updates have.

    Parameters
    ----------
    path : str or Path
        The file.
    judged : iterable of str
        Topics as the judgments name them; rows of other topics are checked and left out.

    Raises
    ------
    InputError
        With every fault: a row has another number of fields or is not UTF-8; words is no number or negative; an
        update stands twice with different lengths.
    """
    log = FaultLog(path)
    names = TopicNames(judged)
    lengths: Lengths = {}
    for line, (written, update, text) in rows(path, LENGTHS, log):
        words = number(text, "words", line, log)
        if words < 0:
            log.add(f"words is negative: {text}", line=line, cure="write 0 or more")
        topic = names.find(written)
        if topic is not None and _differs(lengths.setdefault(topic, {}).setdefault(update, words), words):
            log.add(f"update {update} has another length above", line=line, cure="delete one of the two rows")
    raise_all([log])
    return lengths


def _differs(known: float, words: float) -> bool:
    """Say whether two lengths differ; NaN stands for one that has been noted as a fault already."""
    return known < words or known > words
