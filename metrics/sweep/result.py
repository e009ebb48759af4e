"""A sweep that is done, and for whom MSU ranks as another measure does.

For whom MSU ranks as another measure: the points of the sweep under which it does, with intervals.

Intervals are percentiles over resampled topics (`metrics.agreement.correlation.bootstrap_interval` does the same for one pair of
measures); the same topics are drawn for every point, so that points can be compared with each other. Users are as they are:
their error is `MSU-se`, made small by more of them.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrics.agreement.correlation import kendall_tau_b, tau_ap
from metrics.arrays import Floats
from metrics.errors import counted, input_fault
from metrics.results import Summarised
from metrics.sweep.parts import SweepFolder, SweepPoint, read_manifest
from metrics.sweep.tables import (
    BEST,
    CORRELATION,
    OTHERS,
    POPULATION,
    SWEEP,
    SYSTEM,
    ReferenceMeasure,
    as_printed,
)

if TYPE_CHECKING:
    import pandas as pd

ROUNDED = 1e-9
"""The other tables are rounded to 13 digits."""
UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


class MSUSweep(Summarised):
    """The tables of a sweep. It prints as the first lines of its `summary`.

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
        """Return the rows of `frame` at one point, which is given by a row of another table."""
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
            raise input_fault(
                "this table of the sweep is damaged",
                path=self.folder / SWEEP,
                cure="run the same prefcal sweep again: it writes its tables anew",
            ) from None

    def best(self) -> "pd.DataFrame":
        """Return the best system of each point, then the best point of each system; column ``of`` tells which."""
        import pandas as pd  # noqa: PLC0415

        return pd.read_csv(self.folder / BEST, dtype={"run": "str"}, keep_default_na=False)

    def correlation(self) -> "pd.DataFrame":
        """Return a row per point, metric (MSU, MSU/s) and other measure: tau-b and tau-AP."""
        import pandas as pd  # noqa: PLC0415

        return pd.read_csv(self.folder / CORRELATION, dtype={"metric": "str", "against": "str"})

    def others(self) -> "pd.DataFrame":
        """Return what MSU is held against: a row per run, a column per measure."""
        import pandas as pd  # noqa: PLC0415

        return pd.read_csv(self.folder / OTHERS, dtype={"run": "str"}, keep_default_na=False)

    def summary(self) -> str:
        """Return how large the sweep is, who leads for how many points, and where MSU is closest to other measures."""
        best, taus = self.best(), self.correlation()
        led = best[best["of"] == POPULATION]["run"].value_counts()
        lines = [
            ", ".join(
                [
                    counted(len(self.parts.grid), "point"),
                    counted(len(self.runs), "run"),
                    counted(len(self.topics), "topic"),
                    f"{counted(self.users, 'user')} of each population",
                ]
            ),
            *(f"{run} leads for {counted(int(count), 'point')}" for run, count in led.head(3).items()),
        ]
        if len(led) > 3:
            lines.append(
                f"{counted(len(led) - 3, 'other run')} lead for some; {SYSTEM}s' best points: {BEST}"
            )
        for (metric, against), rows in taus.dropna(subset="tau-b").groupby(["metric", "against"], sort=False):
            closest = rows.loc[rows["tau-b"].idxmax()]
            lines.append(
                f"{metric} ranks most like {against} for {in_words(closest)}: tau-b {closest['tau-b']:.3f}"
            )
        return "\n".join(lines)


def read_sweep(folder: str | Path) -> MSUSweep:
    """Read the folder of a sweep that is done.

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


def in_words(point: "pd.Series[float]") -> str:
    """Name a point: ``away 3 h (sd 90 min), there 2 min (sd 1 min), L = 0.5``."""
    away, session = (
        f"{_brief(point[f'{what}_mean_seconds'])} (sd {_brief(point[f'{what}_sd_seconds'])})"
        for what in ("away", "session")
    )
    return f"away {away}, there {session}, L = {point['lateness']:g}"


def _brief(seconds: float) -> str:
    """Return a time in the largest unit of which it is a whole or a half number."""
    size, name = next(
        (unit for unit in UNITS if seconds >= unit[0] and 2 * seconds % unit[0] == 0), UNITS[-1]
    )
    return f"{seconds / size:g} {name}"


Signs: TypeAlias = NDArray[np.int8]
LIKE_COLUMNS = (
    *SweepPoint._fields,
    "systems",
    "tau-b",
    "low",
    "high",
    "tau-AP",
    "below",
    "below_low",
    "below_high",
)
TAILS = (0.025, 0.975)
FEWEST_TOPICS = 5
"""Topics from which an interval over topics is worth showing."""
NOISE = 1e-13
"""Of the largest sum: sums that differ by no more are equal."""


def points_like(
    sweep: MSUSweep, reference: ReferenceMeasure, *, resamples: int = 1000, seed: int = 1
) -> "pd.DataFrame":
    """Return every point of a sweep, the one where MSU ranks the runs most like another measure first.

    Parameters
    ----------
    sweep : MSUSweep
        The points.
    reference : ReferenceMeasure
        The other measure of the sweep's runs on its topics.
    resamples : int
        How often as many topics are drawn with replacement.
    seed : int
        Of these draws.

    Returns
    -------
    DataFrame
        The point; tau-b of both rankings with low and high (95 %); tau-AP, the other measure being the reference; ``below``, by
        how much its tau-b is below that of the closest point, with an interval of its own: where that reaches 0, these
        topics cannot tell the two points apart. Intervals are NaN without scores by topic, or with fewer than five topics.
    """
    import pandas as pd  # noqa: PLC0415 - slow to load

    points = [(point, part[0], part[1]) for point, *part in _points(sweep)]
    taus = np.array([kendall_tau_b(reference.overall, overall) for _, overall, _ in points])
    order = np.argsort(-taus, kind="stable")  # undefined ones stand last
    counts = _resamples(reference, resamples, seed)
    other = None if counts is None else _signs(np.asarray(reference.by_topic), counts)
    closest: Floats | None = None
    rows = []
    for place in order.tolist():
        point, overall, by_topic = points[place]
        drawn = None if counts is None or other is None else _taus(_signs(by_topic, counts), other)
        closest = drawn if closest is None else closest
        below = None if drawn is None or closest is None else closest - drawn
        rows.append(
            (
                *point,
                overall.size,
                taus[place],
                *_interval(drawn),
                tau_ap(reference.overall, overall),
                taus[order[0]] - taus[place],
                *_interval(below),
            )
        )
    return pd.DataFrame(rows, columns=pd.Index(LIKE_COLUMNS))


def as_close(found: "pd.DataFrame") -> "pd.DataFrame":
    """Return the points that these topics cannot tell from the closest one, itself included; none without intervals."""
    return found[found["below_low"] <= 0]


def _points(sweep: MSUSweep) -> Iterator[tuple[SweepPoint, Floats, Floats]]:
    """Yield each point with MSU of every run, over all topics and on each."""
    for place, part in enumerate(sweep.parts.parts()):
        for decay, point in enumerate(sweep.parts.grid.points(place)):
            yield point, as_printed(part.utility[:, decay]), part.gain[:, :-1, decay]


def _resamples(reference: ReferenceMeasure, resamples: int, seed: int) -> Floats | None:
    """Return how often each topic is drawn, (resamples, topics); None where no interval is possible."""
    if reference.by_topic is None or reference.by_topic.shape[1] < FEWEST_TOPICS:
        return None
    topics = reference.by_topic.shape[1]
    rng = np.random.default_rng(seed)
    return rng.multinomial(topics, np.full(topics, 1 / topics), size=resamples).astype(np.float64)


def _taus(own: Signs, other: Signs) -> Floats:
    """Return tau-b of two measures in each resample; NaN where one of them ranks nothing."""
    untied = np.abs(own).sum(axis=0, dtype=np.float64) * np.abs(other).sum(axis=0, dtype=np.float64)
    agreeing = (own * other).sum(axis=0, dtype=np.float64)
    taus = np.full(untied.shape, math.nan)
    np.divide(agreeing, np.sqrt(untied), out=taus, where=untied > 0)
    return taus


def _signs(by_topic: Floats, counts: Floats) -> Signs:
    """Return for every pair of runs which scores more in each resample, (pairs, resamples)."""
    sums = np.zeros((len(by_topic), len(counts)))
    for topic in range(by_topic.shape[1]):
        sums += by_topic[:, topic, None] * counts[None, :, topic]
    first, second = np.triu_indices(len(sums), 1)
    more = sums[first] - sums[second]
    more[np.abs(more) <= NOISE * np.abs(sums).max(axis=0)] = 0.0
    return np.sign(more).astype(np.int8)


def _interval(values: Floats | None) -> tuple[float, float]:
    known = np.zeros(0) if values is None else values[~np.isnan(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, TAILS)
    return float(low), float(high)
