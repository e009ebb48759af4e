"""Grid of a sweep, and the file of each population in its folder.

A sweep crosses every mean time away with every mean session, every spread of both, and every lateness decay. Source: Baruah, Smucker,
Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), section 4, whose 2,646 points are the default.

A folder has ``sweep.json``, the settings of its sweep, and ``parts/``, a file per population. Files are written whole or not at
all, so a stopped sweep goes on where it was.
"""

import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from metrics.arrays import Floats
from metrics.errors import InputError, input_fault, join_names
from metrics.files import write_atomically
from metrics.msu.measures import MSUStandardError, rate
from metrics.msu.simulation import PreparedRuns
from metrics.msu.trails import Population, SimulatedUsers

MINUTE, HOUR = 60.0, 3600.0
PAPER_AWAY = (5 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR)
PAPER_SESSION = (0.5 * MINUTE, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE)
PAPER_SPREAD = (0.5, 1.0, 2.0)
PAPER_LATENESS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_IN_WORDS = {
    "away_seconds": "times away",
    "session_seconds": "sessions",
    "streams_sha256": "updates or judgments",
}
"""Words of messages for entries of the manifest without a name of their own."""


class SweepPoint(NamedTuple):
    """One population and its lateness decay; its fields are columns of tables."""

    away_mean_seconds: float
    away_sd_seconds: float
    session_mean_seconds: float
    session_sd_seconds: float
    lateness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepGrid:
    """Parameter values whose product is the grid.

    Attributes
    ----------
    away_seconds : tuple of float
        Mean times away, M_A.
    session_seconds : tuple of float
        Mean session lengths, M_D.
    spread : tuple of float
        Standard deviations over users, as multiples of the mean: of times away and of sessions, each with each.
    lateness : tuple of float
        L in [0, 1]: what a nugget is worth one visit late.

    Examples
    --------
    Two habits of coming back, one of staying:

    >>> grid = SweepGrid(
    ...     away_seconds=(3600, 28_800), session_seconds=(90,), spread=(0.5,), lateness=(0.5,)
    ... )
    >>> len(grid.away_seconds)
    2
    """

    away_seconds: tuple[float, ...] = PAPER_AWAY
    session_seconds: tuple[float, ...] = PAPER_SESSION
    spread: tuple[float, ...] = PAPER_SPREAD
    lateness: tuple[float, ...] = PAPER_LATENESS

    def __post_init__(self) -> None:
        """Check that no list is empty or has duplicates, and that populations are valid.

        Raises
        ------
        ValueError
            If one of these checks fails.
        """
        for name in ("away_seconds", "session_seconds", "spread", "lateness"):
            values = tuple(map(float, np.atleast_1d(getattr(self, name))))
            object.__setattr__(self, name, values)
            if not values:
                raise ValueError(f"{name} names no value")
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names a value twice")
        if not all(0 <= decay <= 1 for decay in self.lateness):
            raise ValueError("lateness must lie in [0, 1]")
        for population_index in range(self.population_count):
            self.population(population_index)

    def __len__(self) -> int:
        """Return the number of points."""
        return self.population_count * len(self.lateness)

    @property
    def population_count(self) -> int:
        """Number of populations."""
        return len(self.away_seconds) * len(self.session_seconds) * len(self.spread) ** 2

    def population(self, population_index: int) -> Population:
        """Return one population by its index.

        The index runs over time away, its deviation, session length and its deviation.
        """
        rest, session_spread = divmod(population_index, len(self.spread))
        rest, session = divmod(rest, len(self.session_seconds))
        away, away_spread = divmod(rest, len(self.spread))
        return Population(
            away_mean_seconds=self.away_seconds[away],
            away_sd_seconds=self.away_seconds[away] * self.spread[away_spread],
            session_mean_seconds=self.session_seconds[session],
            session_sd_seconds=self.session_seconds[session] * self.spread[session_spread],
        )

    def points(self, population_index: int) -> list[SweepPoint]:
        """Return the points of one population by its index, one a lateness decay."""
        people = self.population(population_index)
        return [
            SweepPoint(
                people.away_mean_seconds,
                people.away_sd_seconds,
                people.session_mean_seconds,
                people.session_sd_seconds,
                decay,
            )
            for decay in self.lateness
        ]


MANIFEST, PARTS = "sweep.json", "parts"
FORMAT = "prefcal-sweep/1"
STREAM_ARRAYS = ("emitted", "words", "first_nugget", "nugget", "known")


class SweepWork(NamedTuple):
    """Runs, judgments and settings that every part of a sweep needs.

    Attributes
    ----------
    prepared : PreparedRuns
        In one setting, with the decays of the grid in their order.
    grid : SweepGrid
        The points.
    users : int
        How many of each population.
    seed : int
        Seed of the users, the same for every population, as in `metrics.msu.trails.SimulatedUsers`.
    """

    prepared: PreparedRuns
    grid: SweepGrid
    users: int
    seed: int

    def manifest(self) -> dict[str, Any]:
        """Return the settings that identify this sweep."""
        return {
            "format": FORMAT,
            "users": self.users,
            "seed": self.seed,
            **{name: list(values) for name, values in asdict(self.grid).items()},
            "topics": list(self.prepared.topics),
            "runs": list(self.prepared.runs),
            "streams_sha256": _digest(self.prepared),
        }


class PopulationTotals(NamedTuple):
    """Gains and seconds of one population's users, by run and topic.

    The last row of topics holds all of them together.

    Attributes
    ----------
    gain : (runs, topics + 1, decays) ndarray of float64
        MSU.
    error : (runs, decays) ndarray of float64
        Standard error of MSU over all topics.
    seconds : (runs, topics + 1) ndarray of float64
        Mean time that a user spent on fully read updates.
    """

    gain: Floats
    error: Floats
    seconds: Floats

    @property
    def utility(self) -> Floats:
        """Return MSU over all topics, (runs, decays)."""
        return self.gain[:, -1]

    @property
    def per_second(self) -> Floats:
        """Return MSU per second over all topics, (runs, decays)."""
        return rate(self.utility, self.seconds[:, -1:])


def population_totals(work: SweepWork, population_index: int, users: int | None = None) -> PopulationTotals:
    """Simulate one population's users on every run, with all decays at once.

    Its index in the grid names the population.
    """
    crowd = SimulatedUsers(
        population=work.grid.population(population_index), count=users or work.users, seed=work.seed
    )
    totals = [of_run[work.prepared.settings[0]] for of_run in work.prepared.totals(crowd)]
    error = MSUStandardError()
    decays = range(len(work.grid.lateness))
    return PopulationTotals(
        gain=np.array([total.mean_gain for total in totals]),
        error=np.array([[error.values(total, decay)[-1] for decay in decays] for total in totals]),
        seconds=np.array([total.mean_seconds for total in totals]),
    )


class SweepFolder:
    """Folder with the parts of one sweep.

    Parameters
    ----------
    folder : str or Path
        Made when the first file is written.
    manifest : dict
        As `SweepWork.manifest` gives it.

    Raises
    ------
    InputError
        If the folder has parts of another sweep.
    """

    def __init__(self, folder: str | Path, manifest: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.grid = grid_of(manifest)
        if (self.folder / MANIFEST).exists():
            there = read_manifest(self.folder)
            other = [_IN_WORDS.get(name, name) for name in manifest if there.get(name) != manifest[name]]
            if other:
                raise _another(self.folder, f"other {join_names(other)}")
        elif any((self.folder / PARTS).glob("*")):
            raise _another(self.folder, f"{MANIFEST} is missing")
        self._manifest = manifest

    def begin(self) -> None:
        """Write the manifest of this sweep."""
        if not (self.folder / MANIFEST).exists():
            write_atomically(self.folder / MANIFEST, json.dumps(self._manifest, indent=1) + "\n")

    def missing(self) -> list[int]:
        """Return the indices of the populations still to be computed.

        Raises
        ------
        InputError
            If an existing part is damaged, which would otherwise show only after hours of work.
        """
        there = {path.name for path in (self.folder / PARTS).glob("*.npz")}
        missing = [
            population_index
            for population_index in range(self.grid.population_count)
            if _name(population_index) not in there
        ]
        for population_index in sorted({*range(self.grid.population_count)}.difference(missing)):
            self.read(population_index)
        return missing

    def write(self, population_index: int, totals: PopulationTotals) -> None:
        """Write the part of one population."""
        content = io.BytesIO()
        np.savez(content, place=population_index, **totals._asdict())
        write_atomically(self.folder / PARTS / _name(population_index), content.getvalue())

    def read(self, population_index: int) -> PopulationTotals:
        """Read the part of one population.

        Raises
        ------
        InputError
            If it is not there, or not what was written.
        """
        path = self.folder / PARTS / _name(population_index)
        damages = (OSError, ValueError, KeyError, EOFError, BadZipFile)
        with suppress(*damages), np.load(path, allow_pickle=False) as part:
            if part["place"] == population_index:  # and it is no copy of another one
                return PopulationTotals(**{name: part[name] for name in PopulationTotals._fields})
        raise input_fault(
            "this part of the sweep is missing or damaged",
            path=path,
            cure="delete it if it is there, and run the same prefcal sweep again",
        )

    def parts(self) -> Iterator[PopulationTotals]:
        """Yield every part, in the order of the grid's populations."""
        return map(self.read, range(self.grid.population_count))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest, sweep.json.

    Raises
    ------
    InputError
        If it cannot be read or is no such file.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        grid_of(manifest)
        is_one = manifest["format"] == FORMAT and manifest["users"] > 0
        is_one &= all(isinstance(name, str) for names in ("runs", "topics") for name in manifest[names])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        is_one = False
    if not is_one:
        raise input_fault(
            "the settings of the sweep are missing or damaged",
            path=path,
            cure="name a folder that prefcal sweep wrote, or an empty one",
        )
    return manifest


def grid_of(manifest: dict[str, Any]) -> SweepGrid:
    """Return the grid that a manifest names."""
    return SweepGrid(**{name: tuple(manifest[name]) for name in SweepGrid.__dataclass_fields__})


def _another(folder: Path, why: str) -> InputError:
    return input_fault(
        f"the folder has parts of another sweep ({why})",
        path=folder,
        cure="name another folder with -o, or delete this one",
    )


def _name(population_index: int) -> str:
    return f"{population_index + 1:06d}.npz"


def _digest(prepared: PreparedRuns) -> str:
    """Return a hash of runs and judgments, whose names the manifest holds."""
    digest = hashlib.sha256()
    for of_run in prepared.streams:
        for streams in of_run.values():
            for stream in streams:
                digest.update(np.float64(stream.end).tobytes())
                for name in STREAM_ARRAYS:
                    values = getattr(stream, name)
                    digest.update(f"{name} {values.dtype.str} {values.size} ".encode())
                    digest.update(values.tobytes())
    return digest.hexdigest()
