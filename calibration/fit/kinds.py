"""Kinds of study that tables come from, and parameters never asked about.

Users get no notes on such parameters. A kind of task was run that study.json names, or that has a row in a table which only it fills.
Preferences alone, without a study.json, may be of summaries or of push streams.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from calibration.inference.results import SkippedParameters
from calibration.models.patience.stops import text_stops
from calibration.models.persistence import list_stops
from calibration.tables.study_json import StudyRecord
from calibration.user_model.model import PERSISTENCE, plain_name


class _AskedParameters(NamedTuple):
    """Tables that show what people were asked, with the parameters they inform.

    Attributes
    ----------
    of : str
        How it is called.
    tasks : tuple of str
        Kinds of task that ask it.
    tables : tuple of str
        What holds the answers, and nothing else.
    parameters : tuple of str
        How the names of its parameters begin.
    """

    of: str
    tasks: tuple[str, ...]
    tables: tuple[str, ...]
    parameters: tuple[str, ...]


_LISTS = "stops of ranked lists"
"""Rows of table stops in ranked lists; beside them, only others are called stops."""
_SUMMARIES = _AskedParameters(
    "judged summaries (summary_pairs)",
    ("summary_pairs",),
    ("positions",),
    ("patience_chars_preferences", "patience_chars_grid"),
)
_PUSHES = _AskedParameters(
    "judged push streams (stream_pairs)", ("stream_pairs",), ("push_cells",), ("push_",)
)
_ALL = (
    _AskedParameters(
        "visits to streams (stream_visits)",
        ("stream_visits",),
        ("visits", "follows", "activity", "lateness"),
        ("away_", "session_", "lateness_"),
    ),
    _AskedParameters(
        "reading times (table reads)",
        ("summary_pairs", "stream_pairs", "stream_visits", "ranked_pairs", "answer_pairs"),
        ("reads",),
        ("reading_",),
    ),
    _SUMMARIES,
    _AskedParameters(
        "places in a text where readers stopped (table stops)",
        ("summary_pairs",),
        ("stops",),
        ("patience_chars_stops",),
    ),
    _AskedParameters(
        "ranked lists that somebody read (table stops)",
        ("ranked_pairs",),
        (_LISTS,),
        (PERSISTENCE,),
    ),
    _PUSHES,
    _AskedParameters("votes on intents (intent_votes)", ("intent_votes",), ("intent_votes",), ("intents",)),
)


def about_what_was_asked(
    skipped: Iterable[SkippedParameters], tables: Mapping[str, pd.DataFrame], record: StudyRecord | None
) -> list[str]:
    """Return a sentence for each skipped parameter that the study asked about.

    One more sentence covers all that the study never asked about.

    Parameters
    ----------
    skipped : iterable of SkippedParameters
        Of a fit of these tables.
    tables : mapping of str to DataFrame
        As they were read.
    record : StudyRecord or None
        study.json.
    """
    absent = _absent(tables, record)
    unasked = _unasked(skipped := list(skipped), absent)
    lines = [str(parameters) for parameters in skipped if parameters not in unasked]
    return [*lines, _not_asked(absent)] if unasked else lines


def never_asked(
    skipped: Iterable[SkippedParameters], tables: Mapping[str, pd.DataFrame], record: StudyRecord | None
) -> list[str]:
    """Return the name prefixes of skipped parameters that the study never asked about.

    They belong to kinds of study that were not run.
    """
    absent = _absent(tables, record)
    unasked = [plain_name(name) for one in _unasked(skipped, absent) for name in one.names]
    beginnings = [beginning for one in absent for beginning in one.parameters]
    return [beginning for beginning in beginnings if any(name.startswith(beginning) for name in unasked)]


def _absent(tables: Mapping[str, pd.DataFrame], record: StudyRecord | None) -> list[_AskedParameters]:
    """Return the kinds of questions that nobody was asked."""
    if "stops" in tables:
        stops = tables["stops"]
        tables = {**tables, "stops": text_stops(stops), _LISTS: list_stops(stops)}
    return [asked for asked in _ALL if not _was_asked(asked, tables, record)]


def _unasked(
    skipped: Iterable[SkippedParameters], absent: Iterable[_AskedParameters]
) -> list[SkippedParameters]:
    """Return the skipped parameters that nobody was asked about."""
    names = tuple(name for one in absent for name in one.parameters)
    return [
        one
        for one in skipped
        if not one.unexpected and all(plain_name(name).startswith(names) for name in one.names)
    ]


def _was_asked(
    asked: _AskedParameters, tables: Mapping[str, pd.DataFrame], record: StudyRecord | None
) -> bool:
    if any(_has_rows(tables, name) for name in asked.tables):
        return True
    if record and record.tasks:
        return any(task.kind in asked.tasks for task in record.tasks.values())
    decided = any(_has_rows(tables, name) for name in (*_SUMMARIES.tables, *_PUSHES.tables))
    return asked in (_SUMMARIES, _PUSHES) and not decided and _has_rows(tables, "preferences")


def _has_rows(tables: Mapping[str, pd.DataFrame], name: str) -> bool:
    return name in tables and not tables[name].empty


def _not_asked(absent: Sequence[_AskedParameters]) -> str:
    names = [name if not name.endswith("_") else f"{name}*" for asked in absent for name in asked.parameters]
    return f"{', '.join(names)}: nothing to fit them from: these tables have no {', no '.join(asked.of for asked in absent)}"
