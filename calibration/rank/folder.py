"""A ranking as a value, and as files: what `prefcal rank` and `prefcal agree` write, and the report reads."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from calibration.judges.assist import WIN_RATES
from calibration.rank.best_system import BestSystem
from calibration.tables.criteria import about_criterion
from metrics.errors import input_fault, pluralise
from metrics.files import check_folder_place, check_unchanged, digest_of, write_atomically
from metrics.results import HasSummary, Overview

RANKING, DUELS, RECORD = "ranking.csv", "duels.csv", "rank.json"
ASSISTED = "assisted_win_rates.csv"
_NAMES = {
    "task": str,
    "judge": str,
    "against": str,
    "topic": str,
    "system": str,
    "system_a": str,
    "system_b": str,
}
GRADED = (
    "Worths are by a cumulative-link model of how much better people found one side, and ranks are by worths."
)
"""What to know of a ranking by graded answers."""
NO_GRADED_WORTHS = "Graded answers give no worths here, so that all ranks are open; choices alone, without ordinal, give ranks"
"""The answer where a ranking by graded answers has no worths."""
_CURE = "write it anew with prefcal rank"
RANKING_COLUMNS = (
    "task",
    "system",
    "topics",
    "judgments",
    "win_rate",
    "win_low",
    "win_high",
    "win_rate_raw",
    "worth",
    "worth_low",
    "worth_high",
    "rank_low",
    "rank_high",
)
DUEL_COLUMNS = ("task", "system_a", "system_b", "judgments", "share_a", "low", "high", "p", "p_holm")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ranking(HasSummary):
    """Which systems people prefer. It prints as the first lines of its `summary`.

    Attributes
    ----------
    ranking : DataFrame
        One row per task and system, the best first; columns `RANKING_COLUMNS`.
    duels : DataFrame
        One row per task and couple of systems; columns `DUEL_COLUMNS`.
    level : float
        Of all intervals, and of all ranks of a task at once.
    notes : tuple of str
        What to know of a task before using its numbers, one sentence each.
    too_few : mapping of str to str
        Task -> the sentence that people or topics are too few to say who is ahead; only tasks of which this holds.
    knows_workers : bool
        Whether it is known who judged. If not, intervals are over topics alone.
    raters : str or None
        The judge that is no person whose verdicts these are; None where people judged.
    by : str or None
        The criterion whose answers were counted; None where the overall choices were.
    ordinal : bool
        Worths are by graded answers, and ranks by worths.
    within : 'topic' or None
        Each topic was ranked for itself; both frames then have the column ``topic`` after ``task``, and ``too_few`` says `TASK, TOPIC`.
    assisted : DataFrame
        Win rates, and differences of the best from the others, assisted by a judge that is no person; columns
        `calibration.judges.assist.WIN_RATES`, no row without such a judge.
    best_systems : mapping of str to BestSystem
        By task, as in ``too_few``: the best system where pairs were chosen to find it.

    Examples
    --------
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
    >>> prefcal.rank({"preferences": votes}).duels[["judgments", "share_a"]].round(2).to_dict("list")
    {'judgments': [6], 'share_a': [0.67]}
    """

    ranking: pd.DataFrame
    duels: pd.DataFrame
    level: float
    notes: tuple[str, ...]
    too_few: Mapping[str, str] = field(default_factory=dict)
    knows_workers: bool = True
    raters: str | None = None
    by: str | None = None
    ordinal: bool = False
    within: Literal["topic"] | None = None
    assisted: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(WIN_RATES)))
    best_systems: Mapping[str, BestSystem] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The columns that say which ranking a row belongs to."""
        return ["task"] if self.within is None else ["task", "topic"]

    @property
    def is_of_topics(self) -> bool:
        """Whether several topics were ranked, each for itself."""
        return self.within is not None and len(self.ranking[self.keys].drop_duplicates()) > 1

    @property
    def samples(self) -> str:
        """Samples that intervals are over: people, topics or both."""
        if self.within is not None:
            return "people"
        return "topics and people" if self.knows_workers else "topics"

    @property
    def whose(self) -> str | None:
        """The sentence that these are the verdicts of a judge; None where people judged."""
        if self.raters is None:
            return None
        return f"By {self.raters} alone, a judge that is no person: this does not say what people prefer."

    @property
    def about(self) -> str | None:
        """The sentence that these are answers about a criterion; None for overall choices."""
        return None if self.by is None else about_criterion(self.by)

    def frame(self) -> pd.DataFrame:
        """Return the ranking by task, topic if each was ranked for itself, and system, the best first."""
        return self.ranking.set_index([*self.keys, "system"])

    def best(self) -> pd.DataFrame:
        """Return the best system of every ranking, its win rate, and how many may be the first.

        Returns
        -------
        DataFrame
            One row per task, or per topic where each was ranked for itself: the columns of ``ranking`` for the best system, and

            systems, may_be_first : int
                How many there are, and how many the judgments leave as the first.
            first : str
                The names of these, the best first, separated by commas.
        """
        rows = self.ranking.assign(is_first=self.ranking["rank_low"] == 1)
        groups = rows.groupby(self.keys, sort=False)
        first = rows[rows["is_first"]].groupby(self.keys, sort=False)["system"]
        best = rows[rows.groupby(self.keys, sort=False).cumcount() == 0].drop(columns="is_first")
        counts = pd.DataFrame(
            {
                "systems": groups.size(),
                "may_be_first": groups["is_first"].sum(),
                "first": first.agg(", ".join),
            }
        )
        return best.merge(counts, left_on=self.keys, right_index=True).reset_index(drop=True)

    def overview(self) -> Overview:
        """Return win rate, worth and rank range of every system, with notes."""
        notes = (*filter(None, (self.whose, self.about, GRADED if self.ordinal else None)), *self.notes)
        if self.is_of_topics:
            best = self.best()[
                [*self.keys, "system", "win_rate", "win_low", "win_high", "may_be_first", "systems"]
            ]
            return Overview(best, ".3f", notes)
        shown = self.ranking[["task", "system", "win_rate", "win_low", "win_high", "worth"]].assign(
            ranks=[
                ranks_in_words(low, high)
                for low, high in zip(self.ranking["rank_low"], self.ranking["rank_high"], strict=True)
            ]
        )
        return Overview(shown, ".3f", notes)

    def summary(self) -> str:
        """Return the overview as text."""
        return self.overview().as_text()


def best_in_words(best: pd.DataFrame) -> str:
    """Say in how many topics the best system is known, from the rows of `Ranking.best`."""
    alone = int((best["may_be_first"] == 1).sum())
    all_open = int((best["may_be_first"] == best["systems"]).sum())
    some = len(best) - alone - all_open
    said = [
        f"in {some:,} several may be the best" if some else "",
        f"in {all_open:,} any may be the best" if all_open else "",
    ]
    return (
        "; ".join([f"The best is known in {alone:,} of {pluralise(len(best), 'topic')}", *filter(None, said)])
        + "."
    )


def shared_notes(notes: Sequence[tuple[str, str]], within: Literal["topic"] | None) -> list[str]:
    """Return `LABEL: NOTE` of each note; where topics were ranked, each kind of note once, with how many topics have it.

    Parameters
    ----------
    notes : sequence of (str, str)
        Label of the ranking, and a sentence on it. Sentences with the same name in brackets at the end, or without a name and with
        the same words but for numbers, are of one kind.
    within : 'topic' or None
        Whether topics were ranked, each for itself.
    """
    if within is None:
        return [f"{label}: {note}" for label, note in notes]
    kinds: dict[str, list[tuple[str, str]]] = {}
    for label, note in notes:
        name = re.search(r"\((\w+)\)[^()]*$", note)
        kinds.setdefault(name[1] if name else re.sub(r"[\d.,]+", "", note), []).append((label, note))
    return [
        f"{label}: {note}" if len(alike) == 1 else f"{len(alike)} topics, such as {label}: {note}"
        for alike in kinds.values()
        for label, note in alike[:1]
    ]


def ranks_in_words(low: int, high: int) -> str:
    """Write the ranks that are left open: `2`, or `2 to 5`."""
    return str(low) if low == high else f"{low} to {high}"


def write_ranking(
    ranking: Ranking, folder: str | Path, record: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Write ranking.csv, duels.csv and, as rank.json, level, notes and how they were made; each appears whole or not at all.

    Parameters
    ----------
    ranking : Ranking
        The result.
    folder : str or Path
        Made where it does not exist.
    record : mapping, optional
        What the result was made from: paths, hashes, seed, command.

    Raises
    ------
    InputError
        If the folder or a file cannot be written, or the ranking is by a judge that is no person: reports are about people.

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
    >>> folder = Path(mkdtemp())
    >>> write_ranking(prefcal.rank({"preferences": votes}), folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['duels.csv', 'rank.json', 'ranking.csv']
    """
    if ranking.whose is not None:
        raise input_fault(ranking.whose.removesuffix("."), cure="write a ranking by people; print this one")
    folder = Path(folder)
    check_folder_place(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        name: frame.to_csv(index=False, lineterminator="\n", float_format="%.13g")
        for name, frame in ((RANKING, ranking.ranking), (DUELS, ranking.duels), (ASSISTED, ranking.assisted))
        if name != ASSISTED or len(frame)
    }
    content = {
        "prefcal_version": version("prefcal"),
        **record,
        "files": {name: digest_of(text.encode()) for name, text in texts.items()},
        "level": ranking.level,
        "notes": list(ranking.notes),
        "too_few": dict(ranking.too_few),
        "knows_workers": ranking.knows_workers,
        "by": ranking.by,
        "ordinal": ranking.ordinal,
        "within": ranking.within,
        "best_systems": {label: _finite(best) for label, best in ranking.best_systems.items()},
    }
    if ASSISTED not in texts:
        (folder / ASSISTED).unlink(missing_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / RECORD, f"{text}\n")


def remove_ranking(folder: str | Path) -> None:
    """Delete the files of an earlier ranking."""
    for name in (RANKING, DUELS, ASSISTED, RECORD):
        (Path(folder) / name).unlink(missing_ok=True)


def read_ranking(folder: str | Path) -> Ranking | None:
    """Return the ranking that `write_ranking` wrote, None where there is none.

    Raises
    ------
    InputError
        If a file is damaged, changed or missing.
    """
    folder = Path(folder)
    if not (folder / RANKING).exists():
        return None
    record = _record(folder / RECORD)
    check_unchanged(folder / RECORD, record.get("files"), (RANKING, DUELS), command="prefcal rank")
    within = record.get("within")
    columns, of_duels = (_with_topic(each, within) for each in (RANKING_COLUMNS, DUEL_COLUMNS))
    return Ranking(
        ranking=_frame(folder / RANKING, columns),
        duels=_frame(folder / DUELS, of_duels),
        level=record["level"],
        notes=tuple(record["notes"]),
        too_few=dict(record.get("too_few", {})),
        knows_workers=bool(record.get("knows_workers", True)),
        by=record.get("by"),
        ordinal=bool(record.get("ordinal", False)),
        within=within,
        **({"assisted": _frame(folder / ASSISTED, WIN_RATES)} if (folder / ASSISTED).exists() else {}),
        best_systems={
            label: BestSystem(**{**best, **{key: np.nan for key, value in best.items() if value is None}})
            for label, best in record.get("best_systems", {}).items()
        },
    )


def _finite(best: BestSystem) -> dict[str, Any]:
    """Return the fields for JSON, which has no NaN."""
    return {key: None if value != value else value for key, value in asdict(best).items()}  # noqa: PLR0124 - NaN


def _with_topic(columns: tuple[str, ...], within: str | None) -> tuple[str, ...]:
    return columns if within is None else (columns[0], within, *columns[1:])


def _record(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        content["level"], content["notes"] = float(content["level"]), list(content["notes"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise input_fault(
            f"level and notes of the ranking cannot be read ({error})", path=path, cure=_CURE
        ) from None
    return content


def _frame(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=["", "nan"], dtype=_NAMES)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise input_fault(f"cannot be read as CSV ({error})", path=path, cure=_CURE) from None
    if tuple(frame.columns) != columns:
        raise input_fault(f"columns {', '.join(columns)} expected", path=path, cure=_CURE)
    return frame
