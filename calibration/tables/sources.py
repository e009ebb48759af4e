"""Collections and runs behind a folder of tables, from study.json or by hand.

Fits need tables alone. Most measures also need the layers of summaries, the pushes of every day, or ranked
lists.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from pydantic import JsonValue

from calibration.tables.study_json import FileRecord, TaskRecord, read_study
from metrics.errors import Fault, InputError, closest_name, join_names
from metrics.files import file_sha256
from metrics.readers.mobileclick import COLUMNS, read_collection_files
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import summary_positions
from metrics.summaries.trailtext import Layers

DEFAULT_DEPTH = 10
LAYERS: tuple[Layers, ...] = ("both", "first", "second")
PUSH_FILES = ("qrels", "clusters", "epochs")
EVENT_FILES = ("topics", "nuggets", "matches", "updates")


class CollectionFiles(NamedTuple):
    """Files of a collection for one kind of task.

    Attributes
    ----------
    forms : tuple of tuple of str
        What its measures need; of several forms of collections one is enough.
    optional : tuple of str
        What may be there besides.
    """

    forms: tuple[tuple[str, ...], ...] = ((),)
    optional: tuple[str, ...] = ()

    @property
    def kinds(self) -> set[str]:
        """Every kind of file of the collection."""
        return {kind for form in self.forms for kind in form} | set(self.optional)


NO_FILES = CollectionFiles()
COLLECTIONS: Mapping[str, CollectionFiles] = MappingProxyType(
    {
        "summary_pairs": CollectionFiles((("queries", "iunits", "intents"),), ("importance", "probability")),
        "stream_pairs": CollectionFiles((PUSH_FILES, EVENT_FILES), ("texts",)),
        "ranked_pairs": CollectionFiles((("qrels",),), ("windows", "topics", "intents", "texts")),
        "answer_pairs": CollectionFiles((("topics",),), ("texts", "nuggets", "support")),
    }
)
"""Collection files that measures need, by kind of task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """File that a study was made from.

    Attributes
    ----------
    path : Path
        Where it should be.
    sha256 : str or None
        What it held when the tables were written; None for a file named by hand.
    """

    path: Path
    sha256: str | None = None

    @property
    def problem(self) -> str | None:
        """Reason why the file cannot be used, or None."""
        if not self.path.is_file():
            return f"{self.path.name} is not there"
        if self.sha256 and file_sha256(self.path) != self.sha256:
            return f"{self.path.name} is not the file that the study used"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSources:
    """Collection and runs of one task.

    Attributes
    ----------
    kind : str
        ``summary_pairs``, ...
    language : str or None
        Language of the texts.
    collection : mapping of str to SourceFile
        Kind of file (``queries``, ``iunits``, ...) -> file.
    systems : mapping of str to SourceFile
        Name of the system -> its run.
    protocol : mapping of str to value
        What the study file says of the task: days, compare, primary, ...
    """

    kind: str
    language: str | None = None
    collection: Mapping[str, NamedFile] = field(default_factory=dict)
    systems: Mapping[str, NamedFile] = field(default_factory=dict)
    protocol: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def form(self) -> tuple[str, ...]:
        """Files that its kind of collection needs, in the most complete form.

        Of several forms it is the one with the fewest missing files.
        """
        forms = COLLECTIONS.get(self.kind, NO_FILES).forms
        return min(forms, key=lambda form: len(set(form) - set(self.collection)))

    @property
    def problems(self) -> list[str]:
        """Reasons why the files cannot be used; empty if they can."""
        missing = [kind for kind in self.form if kind not in self.collection]
        nothing = [f"no file of {join_names(missing)} is named"] if missing else []
        nothing += [] if self.systems else ["no run is named"]
        problems = (source.problem for source in (*self.collection.values(), *self.systems.values()))
        return nothing + [problem for problem in problems if problem]

    @property
    def depth(self) -> int:
        """Number of entries shown of each ranked list, at which it is scored."""
        depth = self.protocol.get("depth")
        return depth if isinstance(depth, int) else DEFAULT_DEPTH

    def path(self, kind: str) -> Path:
        """Return the path of a file of the collection."""
        return self.collection[kind].path

    def summary_positions(self) -> dict[Layers, pd.DataFrame]:
        """Return the rows of table positions, for M and each ablation, from the files.

        Raises
        ------
        InputError
            If a file is faulty.
        """
        collection = read_collection_files(
            {kind: source.path for kind, source in self.collection.items() if kind in COLUMNS},
            name=str(self.collection["queries"].path.parent),
        )
        runs = [read_summary_run(source.path, collection, name=name) for name, source in self.systems.items()]
        return {
            layers: pd.concat(
                [summary_positions(collection, run, layers=layers) for run in runs], ignore_index=True
            )
            for layers in LAYERS
        }


def study_sources(
    folder: str | Path | None,
    tasks: Iterable[str],
    *,
    collection: Mapping[str, Path] | None = None,
    runs: Mapping[str, Path] | None = None,
) -> dict[str, TaskSources]:
    """Return the sources of each task of a folder of tables.

    Parameters
    ----------
    folder : str, Path or None
        Holds the tables and, where the study was run here, study.json. None: the tables are in no folder.
    tasks : iterable of str
        Tasks to look for. Without study.json each has the files named by hand.
    collection : mapping of str to Path, optional
        Kind of file -> the file to use instead, in every task.
    runs : mapping of str to Path, optional
        System -> the run to use instead.

    Returns
    -------
    dict of str to TaskSources
        By task; tasks that nothing is known of are absent.

    Raises
    ------
    InputError
        If study.json is damaged, or a file named by hand is missing or of a kind or system unknown to the study.
    """
    study = None if folder is None else read_study(folder)
    collection, runs = dict(collection or {}), dict(runs or {})
    if study is None:
        given = {name: FileRecord(path=str(path.resolve())) for name, path in runs.items()}
        kind = _kind_of(collection)
        records = {name: TaskRecord(kind=kind, systems=given) for name in tasks if collection or runs}
    else:
        records = {name: study.tasks[name] for name in tasks if name in study.tasks}
    systems = {name for task in records.values() for name in task.systems}
    kinds = {kind for task in records.values() for kind in COLLECTIONS.get(task.kind, NO_FILES).kinds}
    faults = [
        Fault(problem="there is no such file", cure="check the path", path=str(path))
        for path in (*collection.values(), *runs.values())
        if not path.is_file()
    ]
    faults += _unknown_names(
        "collection", collection, kinds or set().union(*(files.kinds for files in COLLECTIONS.values()))
    )
    faults += _unknown_names("run", runs, systems)
    if faults:
        raise InputError(faults)
    return {name: _sources(task, folder or "", collection, runs) for name, task in records.items()}


def _sources(
    task: TaskRecord, folder: str | Path, collection: Mapping[str, Path], runs: Mapping[str, Path]
) -> TaskSources:
    """Return the files of one task; those named by hand replace others."""
    own = {
        kind: path for kind, path in collection.items() if kind in COLLECTIONS.get(task.kind, NO_FILES).kinds
    }
    return TaskSources(
        kind=task.kind,
        language=task.language,
        collection=_files(task.collection, folder) | _by_hand(own),
        systems=_files(task.systems, folder)
        | _by_hand({system: path for system, path in runs.items() if system in task.systems}),
        protocol=task.protocol,
    )


def _kind_of(collection: Iterable[str]) -> str:
    """Return the kind of task that knows most of the named kinds of files.

    Of equal ones the one that has all that it needs.
    """
    named = set(collection)

    def fit(kind: str) -> tuple[int, bool]:
        files = COLLECTIONS[kind]
        return len(named & files.kinds), any(set(form) <= named for form in files.forms)

    return max(COLLECTIONS, key=fit)


def _files(records: Mapping[str, FileRecord], folder: str | Path) -> dict[str, NamedFile]:
    return {
        name: NamedFile(path=Path(normpath(Path(folder) / record.path)), sha256=record.sha256)
        for name, record in records.items()
    }


def _by_hand(paths: Mapping[str, Path]) -> dict[str, NamedFile]:
    return {name: NamedFile(path=path) for name, path in paths.items()}


def _unknown_names(option: str, given: Mapping[str, Path], known: set[str]) -> list[Fault]:
    faults = []
    for name in given:
        if name not in known:
            near = closest_name(name, known)
            cure = f"did you mean {near!r}?" if near else f"known are {join_names(sorted(known)) or 'none'}"
            faults.append(Fault(problem=f"--{option}: there is no {name!r} in this study", cure=cure))
    return faults
