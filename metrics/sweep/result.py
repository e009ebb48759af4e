"""Result of a sweep: its tables and a summary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.errors import InputError, input_fault, pluralise
from metrics.results import HasSummary
from metrics.sweep.parts import SweepFolder, SweepPoint, read_manifest
from metrics.sweep.tables import (
    BEST,
    BEST_COLUMNS,
    CORRELATION,
    CORRELATION_COLUMNS,
    LIKE,
    LIKE_COLUMNS,
    MEASURES,
    OTHERS,
    POPULATION,
    SWEEP,
    SYSTEM,
)

if TYPE_CHECKING:
    import pandas as pd

ROUNDED = 1e-9
"""Relative tolerance of equal values: tables are rounded to 13 digits."""
UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
TEXTS = ("of", "run", "metric", "against")
"""Columns of names in its tables; all others are numbers, `nan` where missing."""


class MSUSweep(HasSummary):
    """Tables of a sweep, printed as the first lines of its `summary`.

    Parameters
    ----------
    folder : Path
        Where they lie.

    Attributes
    ----------
    runs, topics : tuple of str
        The names of both, in order.
    parts : SweepFolder
        What every population gained.

    Raises
    ------
    InputError
        If there is no sweep in the folder, or it is not done.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> grid = prefcal.SweepGrid(
    ...     away_seconds=(3600,), session_seconds=(90,), spread=(0.5,), lateness=(0.5,)
    ... )
    >>> other = prefcal.read_update_run(f"{folder}/runs/late.txt")
    >>> found = prefcal.sweep_msu(events, [run, other], mkdtemp(), grid=grid, users=20)
    >>> len(found.frame()), found.runs
    (2, ('prompt', 'late'))
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        self.folder = folder
        self.runs = tuple(manifest["runs"])
        self.topics = tuple(manifest["topics"])
        self.users = int(manifest["users"])
        self.parts = SweepFolder(folder, manifest)
        missing = next(
            (name for name in (SWEEP, BEST, CORRELATION, OTHERS) if not (folder / name).exists()), None
        )
        if missing is not None:
            raise input_fault(
                "the sweep is not done",
                path=folder / missing,
                cure="run the same prefcal sweep again: it goes on",
            )

    def frame(self) -> "pd.DataFrame":
        """Return a row per point and run: MSU, its standard error, MSU per second."""
        return self._points()

    def at(self, point: "pd.Series[float]") -> "pd.DataFrame":
        """Return the rows of `frame` at the point of a row of another table."""
        near = [(name, float(point[name])) for name in SweepPoint._fields]
        bounds = [
            bound
            for name, value in near
            for bound in ((name, ">=", value * (1 - ROUNDED)), (name, "<=", value * (1 + ROUNDED)))
        ]
        return self._points(bounds)

    def _points(self, bounds: "list[tuple[str, str, float]] | None" = None) -> "pd.DataFrame":
        import pandas as pd  # noqa: PLC0415 - slow to load
        from pyarrow import ArrowException  # noqa: PLC0415

        try:
            return pd.read_parquet(self.folder / SWEEP, filters=bounds)
        except (ArrowException, OSError):
            raise self._damaged(SWEEP) from None

    def best(self) -> "pd.DataFrame":
        """Return the best system of each point, then the best point of each system.

        Column ``of`` says which of the two a row is.
        """
        return self._table(BEST, BEST_COLUMNS, len(self.parts.grid) + len(self.runs))

    def correlation(self) -> "pd.DataFrame":
        """Return a row per point, metric (MSU, MSU/s) and other measure: tau-b and tau-AP."""
        others = len(self.others().columns) - 1
        return self._table(CORRELATION, CORRELATION_COLUMNS, len(self.parts.grid) * len(MEASURES) * others)

    def others(self) -> "pd.DataFrame":
        """Return the reference measures: a row per run, a column per measure."""
        scores = self._table(OTHERS, ("run",), len(self.runs))
        if scores["run"].tolist() != list(self.runs):
            raise self._damaged(OTHERS)
        return scores

    def like(self) -> "pd.DataFrame | None":
        """Return every point, those most like the measure of ``--like`` first.

        The result is None without ``--like``.
        """
        if not (self.folder / LIKE).exists():
            return None
        return self._table(LIKE, LIKE_COLUMNS, len(self.parts.grid))

    def _table(self, name: str, columns: Sequence[str], rows: int) -> "pd.DataFrame":
        """Read a table, and check its first columns and its number of rows."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        try:
            cells = pd.read_csv(self.folder / name, dtype="str", keep_default_na=False)
            numbers = [of for of in cells.columns if of not in TEXTS or of not in columns]
            table = cells.assign(**{of: _numbers(cells[of]) for of in numbers})
        except (ValueError, OSError):
            raise self._damaged(name) from None
        if tuple(table.columns[: len(columns)]) != tuple(columns) or len(table) != rows:
            raise self._damaged(name)
        return table

    def _damaged(self, name: str) -> InputError:
        return input_fault(
            "this table of the sweep is damaged",
            path=self.folder / name,
            cure="run the same prefcal sweep again: it writes its tables anew",
        )

    def summary(self) -> str:
        """Return size of the sweep, leading systems, and closeness to other measures."""
        best, taus = self.best(), self.correlation()
        led = best[best["of"] == POPULATION]["run"].value_counts()
        lines = [
            ", ".join(
                [
                    pluralise(len(self.parts.grid), "point"),
                    pluralise(len(self.runs), "run"),
                    pluralise(len(self.topics), "topic"),
                    f"{pluralise(self.users, 'user')} of each population",
                ]
            ),
            *(f"{run} leads for {pluralise(int(count), 'point')}" for run, count in led.head(3).items()),
        ]
        if len(led) > 3:
            lines.append(
                f"{pluralise(len(led) - 3, 'other run')} lead for some; {SYSTEM}s' best points: {BEST}"
            )
        for (metric, against), rows in taus.dropna(subset="tau-b").groupby(["metric", "against"], sort=False):
            closest = rows.loc[rows["tau-b"].idxmax()]
            if 1 < len(self.parts.grid) == points_equal(rows, closest):
                said = f"{metric} and {against} rank equally alike at every point"
            elif closest["tau-b"] < 0:
                said = (
                    f"{metric} ranks rather opposite to {against} at every point, least so for {in_words(closest)}"
                    f"{and_more(rows, closest)}"
                )
            else:
                said = f"{metric} ranks most like {against} for {in_words(closest)}{and_more(rows, closest)}"
            lines.append(f"{said}: tau-b {closest['tau-b']:.3f}")
        return "\n".join(lines)


def _numbers(cells: "pd.Series[str]") -> "pd.Series[float] | pd.Series[int]":
    """Convert to whole numbers if all of them are whole."""
    numbers = cells.astype("float64")
    return numbers.astype("int64") if (numbers % 1 == 0).all() else numbers


def read_sweep(folder: str | Path) -> MSUSweep:
    """Read the folder of a finished sweep.

    Parameters
    ----------
    folder : str or Path
        Where `sweep_msu` or `prefcal sweep msu` wrote.

    Returns
    -------
    MSUSweep
        Its tables, read when they are asked for.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> grid = prefcal.SweepGrid(
    ...     away_seconds=(3600,), session_seconds=(90,), spread=(0.5,), lateness=(0.5,)
    ... )
    >>> other = prefcal.read_update_run(f"{folder}/runs/late.txt")
    >>> found = prefcal.sweep_msu(events, [run, other], mkdtemp(), grid=grid, users=20)
    >>> read_sweep(found.folder).topics == found.topics
    True
    """
    return MSUSweep(Path(folder))


def points_equal(rows: "pd.DataFrame", point: "pd.Series[float]") -> int:
    """Return the number of points with the same tau-b as this one, itself included."""
    return int((rows["tau-b"] == point["tau-b"]).sum())


def and_more(rows: "pd.DataFrame", point: "pd.Series[float]") -> str:
    """Return the words for the other points with this tau-b: ``, and 3 more points``.

    The text is empty without other points.
    """
    more = points_equal(rows, point) - 1
    return f", and {pluralise(more, 'more point')}" if more else ""


def in_words(point: "pd.Series[float]") -> str:
    """Format a point: ``away 3 h (sd 1.5 h), there 2 min (sd 1 min), L = 0.5``."""
    away, session = (
        f"{in_units(point[f'{what}_mean_seconds'])} (sd {in_units(point[f'{what}_sd_seconds'])})"
        for what in ("away", "session")
    )
    return f"away {away}, there {session}, L = {point['lateness']:g}"


def in_units(seconds: float) -> str:
    """Format a time in the largest unit that gives a whole or half number."""
    size, name = next(
        (unit for unit in UNITS if seconds >= unit[0] and 2 * seconds % unit[0] == 0), UNITS[-1]
    )
    return f"{seconds / size:g} {name}"
