"""The files of a ranking: what `prefcal rank` and `prefcal agree` write, and the report reads."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from calibration.rank.ranking import DUEL_COLUMNS, RANKING_COLUMNS, Ranking
from metrics.errors import input_fault
from metrics.files import check_folder_place, write_whole

RANKING, DUELS, RECORD = "ranking.csv", "duels.csv", "rank.json"
_NAMES = {"task": str, "system": str, "system_a": str, "system_b": str}
_CURE = "write it anew with prefcal rank"


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
    >>> folder = Path(mkdtemp())
    >>> write_ranking(prefcal.rank({"preferences": votes}), folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['duels.csv', 'rank.json', 'ranking.csv']
    """
    folder = Path(folder)
    check_folder_place(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "prefcal_version": version("prefcal"),
        **record,
        "level": ranking.level,
        "notes": list(ranking.notes),
    }
    for name, frame in ((RANKING, ranking.ranking), (DUELS, ranking.duels)):
        write_whole(folder / name, frame.to_csv(index=False, lineterminator="\n", float_format="%.13g"))
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / RECORD, f"{text}\n")


def remove_ranking(folder: str | Path) -> None:
    """Delete the files of an earlier ranking."""
    for name in (RANKING, DUELS, RECORD):
        (Path(folder) / name).unlink(missing_ok=True)


def read_ranking(folder: str | Path) -> Ranking | None:
    """Return the ranking that `write_ranking` wrote, None where there is none.

    Raises
    ------
    InputError
        If a file is damaged or missing.
    """
    folder = Path(folder)
    if not (folder / RANKING).is_file():
        return None
    record = _record(folder / RECORD)
    return Ranking(
        ranking=_frame(folder / RANKING, RANKING_COLUMNS),
        duels=_frame(folder / DUELS, DUEL_COLUMNS),
        level=record["level"],
        notes=tuple(record["notes"]),
    )


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
