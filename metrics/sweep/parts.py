"""The work of a sweep, population by population, and the files that keep what is done of it.

A folder has ``sweep.json``, which says which sweep it is of, and ``parts/``, a file a population. Each is there whole or not at
all, so a sweep that was stopped in any way goes on where it was.
"""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from metrics.arrays import Floats
from metrics.errors import InputError, input_fault
from metrics.files import write_whole
from metrics.msu.measures import MSUStandardError, rate
from metrics.msu.meetings import PreparedRuns
from metrics.msu.trails import SimulatedUsers
from metrics.sweep.grid import SweepGrid
from metrics.wording import listed

MANIFEST, PARTS = "sweep.json", "parts"
FORMAT = "prefcal-sweep/1"
STREAM_ARRAYS = ("emitted", "words", "first_nugget", "nugget", "known")


class SweepWork(NamedTuple):
    """What every part needs: the runs as they are read, and who reads them.

    Attributes
    ----------
    prepared : PreparedRuns
        In one setting, with the decays of the grid in their order.
    grid : SweepGrid
        The points.
    users : int
        How many of each population.
    seed : int
        Of the users of every population alike, as in `metrics.msu.trails.SimulatedUsers`.
    """

    prepared: PreparedRuns
    grid: SweepGrid
    users: int
    seed: int

    def manifest(self) -> dict[str, Any]:
        """Return what tells this sweep from every other."""
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
    """What the users of one population gained and spent; the last row of topics is all of them together.

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
        """(runs, decays): MSU over all topics."""
        return self.gain[:, -1]

    @property
    def per_second(self) -> Floats:
        """(runs, decays): MSU per second over all topics."""
        return rate(self.utility, self.seconds[:, -1:])


def population_totals(work: SweepWork, place: int, users: int | None = None) -> PopulationTotals:
    """Let the users of one population, by its place in the grid, read every run; all decays at once."""
    crowd = SimulatedUsers(population=work.grid.population(place), count=users or work.users, seed=work.seed)
    totals = [of_run[work.prepared.settings[0]] for of_run in work.prepared.totals(crowd)]
    error = MSUStandardError()
    decays = range(len(work.grid.lateness))
    return PopulationTotals(
        gain=np.array([one.mean_gain for one in totals]),
        error=np.array([[error.values(one, decay)[-1] for decay in decays] for one in totals]),
        seconds=np.array([one.mean_seconds for one in totals]),
    )


class SweepFolder:
    """The parts of one sweep in a folder.

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
        self.grid = SweepGrid(**{name: tuple(manifest[name]) for name in SweepGrid.__dataclass_fields__})
        if (self.folder / MANIFEST).exists():
            there = read_manifest(self.folder)
            other = [name for name in manifest if there.get(name) != manifest[name]]
            if other:
                raise _another(self.folder, f"other {listed(other)}")
        elif any((self.folder / PARTS).glob("*")):
            raise _another(self.folder, f"{MANIFEST} is missing")
        self._manifest = manifest

    def begin(self) -> None:
        """Write which sweep this is."""
        if not (self.folder / MANIFEST).exists():
            write_whole(self.folder / MANIFEST, json.dumps(self._manifest, indent=1) + "\n")

    def missing(self) -> list[int]:
        """Return the places of the populations that are still to be computed."""
        there = {path.name for path in (self.folder / PARTS).glob("*.npz")}
        return [place for place in range(self.grid.population_count) if _name(place) not in there]

    def write(self, place: int, totals: PopulationTotals) -> None:
        """Keep a part."""
        content = io.BytesIO()
        np.savez(content, **totals._asdict())
        write_whole(self.folder / PARTS / _name(place), content.getvalue())

    def read(self, place: int) -> PopulationTotals:
        """Return a part.

        Raises
        ------
        InputError
            If it is not there, or not what was written.
        """
        path = self.folder / PARTS / _name(place)
        try:
            with np.load(path, allow_pickle=False) as part:
                return PopulationTotals(**{name: part[name] for name in PopulationTotals._fields})
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise input_fault(
                "this part of the sweep is missing or damaged",
                path=path,
                cure="delete it if it is there, and run the same prefcal sweep again",
            ) from None

    def parts(self) -> Iterator[PopulationTotals]:
        """Yield every part, in the order of the grid's populations."""
        return map(self.read, range(self.grid.population_count))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what sweep.json says.

    Raises
    ------
    InputError
        If it cannot be read or is no such file.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise input_fault(
            "this does not say which sweep the folder has",
            path=path,
            cure="name a folder that prefcal sweep wrote, or an empty one",
        )
    return manifest


def _another(folder: Path, why: str) -> InputError:
    return input_fault(
        f"the folder has parts of another sweep ({why})",
        path=folder,
        cure="name another folder with -o, or delete this one",
    )


def _name(place: int) -> str:
    return f"{place + 1:06d}.npz"


def _digest(prepared: PreparedRuns) -> str:
    """Return a hash of all that users read: names stand in the manifest."""
    found = hashlib.sha256()
    for of_run in prepared.streams:
        for streams in of_run.values():
            for stream in streams:
                found.update(np.float64(stream.end).tobytes())
                for name in STREAM_ARRAYS:
                    values = getattr(stream, name)
                    found.update(f"{name} {values.dtype.str} {values.size} ".encode())
                    found.update(values.tobytes())
    return found.hexdigest()
