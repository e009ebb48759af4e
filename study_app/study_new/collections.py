"""Collections among recognised files: their parts, runs and missing files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from metrics.answers.judged import JUDGMENT_KINDS
from metrics.errors import Fault, join_names
from metrics.readers.lines import run_name, system_name
from study_app.study_new.recognise import HEAD_BYTES, SHARE_THAT_FITS, RecognisedFile, Row

ENOUGH = 0.5
"""Share of ids that two files have in common when the one speaks of the other."""
ID_LIKE = 0.95
"""Share of entries without a space that make a column one of ids."""

MIN_ANSWER_TEXTS = 3
"""Fewest files ``id TAB text`` that are taken for questions and answers.

They are one of questions and two of systems, where no other form identifies answers.
"""

Choice = Callable[[RecognisedFile], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCollection:
    """Whole collection: family, files by key of the study file, and runs.

    ``family`` is summaries, events, pushes, ranked, images or answers.

    A file of the pairs to judge is among the files as ``pairs``.
    """

    family: str
    files: Mapping[str, RecognisedFile]
    runs: tuple[RecognisedFile, ...]


@dataclass(slots=True)
class CollectionSearch:
    """Files of one family during the search.

    ``missing`` describes the file for each missing key.
    """

    family: str
    pool: Sequence[RecognisedFile]
    files: dict[str, RecognisedFile] = field(default_factory=dict)
    runs: Sequence[RecognisedFile] = ()
    missing: dict[str, str] = field(default_factory=dict)
    doubtful: dict[str, list[Path]] = field(default_factory=dict)

    def of(self, *forms: str) -> list[RecognisedFile]:
        """Return the files of these forms that play no part yet."""
        taken = {file.path for file in self.files.values()}
        return [file for file in self.pool if file.form in forms and file.path not in taken]

    def take(
        self,
        key: str,
        candidates: Iterable[RecognisedFile],
        *,
        by: Choice = lambda _file: 1.0,
        looks: str | None = None,
    ) -> RecognisedFile | None:
        """Give the part ``key`` to the best candidate; ``looks`` None: it may be missing."""
        scored = [(score, file) for file in candidates if (score := by(file)) > ENOUGH]
        best = max((score for score, _ in scored), default=0.0)
        equal = [file for score, file in scored if score == best]
        if len(equal) > 1:
            self.doubtful[key] = [file.path for file in equal]
        elif equal:
            self.files[key] = equal[0]
            return equal[0]
        elif looks is not None:
            self.missing[key] = looks
        return None


def collections(pool: Sequence[RecognisedFile]) -> tuple[list[FoundCollection], list[CollectionSearch]]:
    """Return the whole collections, and the searches for partial ones."""
    whole: list[FoundCollection] = []
    partial: list[CollectionSearch] = []
    named = [file for file in pool if _are_pairs(file, system_names(pool))]
    left = [file for file in pool if file not in named]
    for find in (_pushes, _summaries, _ranked, _events, _images, _answers):
        search, runs = find(left)
        if not search.files and not search.doubtful and not runs:
            continue
        search.runs = runs
        if search.missing or search.doubtful or not runs:
            partial.append(search)
        else:
            chosen = [file for file in named if _are_pairs(file, system_names(runs))]
            files = {**search.files, **({"pairs": chosen[0]} if len(chosen) == 1 else {})}
            whole.append(FoundCollection(family=search.family, files=files, runs=tuple(runs)))
            used = {file.path for file in (*search.files.values(), *runs)}
            left = [file for file in left if file.path not in used]
    return whole, partial


def faults_of(search: CollectionSearch, place: Path, strangers: Sequence[Path] = ()) -> list[Fault]:
    """Return the missing and ambiguous parts of a collection.

    While the latter is open nothing is missing for sure: files are told by whose ids they have. ``strangers`` are the files that
    are nothing known, of which some may be called like what is missing.
    """
    faults = [
        Fault(
            problem=f"{search.family}: no file that could be {key}{_named_so(key, strangers)}",
            cure=f"add one, {form}, or name its folder",
            path=str(place),
        )
        for key, form in search.missing.items()
        if not search.doubtful
    ]
    for key, paths in search.doubtful.items():
        named = " and ".join(str(path) for path in paths)
        faults.append(
            Fault(
                problem=f"{search.family}: {named} could both be {key}",
                cure="name only one of them",
                path=str(place),
            )
        )
    if not faults:
        faults.append(
            Fault(
                problem=f"{search.family}: there is no run",
                cure="name the files of your systems too",
                path=str(place),
            )
        )
    return faults


def _named_so(key: str, strangers: Sequence[Path]) -> str:
    """Name the files that are called like a part, and cannot be it."""
    alike = [str(path) for path in strangers if path.name.partition(".")[0].lower() == key]
    return (
        f" ({join_names(alike)} is called so, but does not fit; where TAB stands, one tab is meant)"
        if alike
        else ""
    )


def system_names(runs: Sequence[RecognisedFile]) -> dict[str, Path]:
    """Name each system after its run's file.

    Names are unique and have only characters that a study file allows.
    """
    named: dict[str, Path] = {}
    for run in runs:
        plain = "".join(
            one if one.isascii() and (one.isalnum() or one in "._-") else "-"
            for one in system_name(run_name(run.path))
        )
        base = plain.lstrip("._-")[:60] or "system"
        name, number = base, 2
        while name in named:
            name, number = f"{base}-{number}", number + 1
        named[name] = run.path
    return named


def _events(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    search = CollectionSearch("events", pool)
    forms = {"events": "topics", "nuggets": "nuggets", "matches": "matches", "updates": "updates"}
    looks = {
        "events": "XML with <events>",
        "nuggets": "6 columns",
        "matches": "6 columns",
        "updates": "7 columns",
    }
    for form, key in forms.items():
        search.take(key, search.of(form), looks=f"{looks[form]} as TREC Temporal Summarization has it")
    return search, search.of("event run")


def _pushes(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    search = CollectionSearch("pushes", pool)
    search.take("topics", search.of("profiles"), looks="profiles as <top> or as JSON with topid")
    search.take("qrels", search.of("push qrels"), looks="lines `topic Q0 tweet grade`")
    search.take("clusters", search.of("clusters"), looks="JSON with topics and their clusters")
    epochs = search.take("epochs", search.of("epochs"), looks="lines `tweet day epoch`")
    tweets = epochs.ids(0) if epochs is not None else frozenset()
    search.take(
        "texts",
        search.of("id text", "id word"),
        by=_sharing(tweets),
        looks="lines `tweet_id TAB text` of the tweets that were pushed (the tracks give out ids only)",
    )
    return search, search.of("push run")


def _summaries(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    search = CollectionSearch("summaries", pool)
    runs = search.of("summary run")
    named = [file for file in search.of("id id text") if _has_ids(file, 1)]
    if not runs and len(named) < 2:
        return CollectionSearch("summaries", ()), []
    rated = [
        (file, iunits, intents)
        for file in search.of("id id id number")
        for iunits in named
        for intents in named
        if iunits is not intents
        and _shared(file.ids(0, 2), iunits.ids(0, 1)) > ENOUGH
        and _shared(file.ids(0, 1), intents.ids(0, 1)) > ENOUGH
    ]
    if rated:
        search.files["importance"] = rated[0][0]
        named = [rated[0][1], rated[0][2]]
    else:
        named.sort(key=lambda file: -len(file.rows))
    search.take("iunits", named[:1], looks="lines `query TAB iunit TAB text`")
    search.take("intents", named[1:2], looks="lines `query TAB intent TAB text`")
    topics = search.files["iunits"].ids(0) if "iunits" in search.files else frozenset()
    search.take(
        "queries", search.of("id text", "id word"), by=_sharing(topics), looks="lines `query TAB text`"
    )
    intents = search.files["intents"].ids(0, 1) if "intents" in search.files else frozenset()
    search.take("probability", search.of("id id number"), by=_sharing(intents, 0, 1))
    return search, runs


def _ranked(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    search = CollectionSearch("ranked", pool)
    runs = search.of("ranked run")
    if not runs and not search.of("windows"):
        return search, []
    listed = frozenset().union(*(run.ids(2) for run in runs))
    qrels = search.take("qrels", search.of("id id id number", "push qrels"), by=_sharing(listed, 2))
    asked = frozenset().union(*(run.ids(0) for run in runs))
    topics, documents = (qrels.ids(0), qrels.ids(2)) if qrels is not None else (asked, listed)
    search.take("windows", search.of("windows", "id word"), by=_sharing(documents))
    search.take(
        "texts",
        search.of("id id text", "id text"),
        by=_sharing(documents),
        looks="lines `docid TAB title TAB text` or `docid TAB text`",
    )
    search.take(
        "topics",
        search.of("id text", "id word", "id id text", "profiles"),
        by=_sharing(topics),
        looks="lines `topic TAB text`",
    )
    parts = qrels.ids(0, 1) if qrels is not None else frozenset()
    search.take("intents", search.of("id id number"), by=_sharing(parts, 0, 1))
    return search, runs


def _images(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    """Find files that name pictures, and the topics of these."""
    search = CollectionSearch("images", pool)
    runs = search.of("images")
    if runs:
        shown = frozenset().union(*(run.ids(0) for run in runs))
        texts = search.of("id text", "id word", "windows")
        search.take("topics", texts, by=_sharing(shown), looks="lines `topic TAB what was asked for`")
    return search, runs


def _answers(pool: Sequence[RecognisedFile]) -> tuple[CollectionSearch, list[RecognisedFile]]:
    """Find questions and their answers.

    They are JSON lines, or longer files with the ids of the questions.
    """
    search = CollectionSearch("answers", pool)
    runs = search.of("answers")
    texts = search.of("id text", *(("id id text", "id word", "windows", "profiles") if runs else ()))
    if not runs and len(texts) < MIN_ANSWER_TEXTS:
        return search, []
    answered = frozenset().union(*(file.ids(0) for file in runs or texts))
    about = [file for file in texts if _shared(file.ids(0), answered) > ENOUGH]
    questions = min(about, key=_mean_chars, default=None)
    search.take("topics", [] if questions is None else [questions], looks="lines `topic TAB question`")
    asked = frozenset() if questions is None else questions.ids(0)
    cited = frozenset((name,) for file in runs for row in file.rows for name in row[2:])
    corpora = [file for file in search.of("id id text", "id text") if file not in about]
    search.take("texts", corpora, by=lambda file: _holds(file, cited))
    for key in JUDGMENT_KINDS:
        judgments = search.of(f"{key} of answers")
        search.take(key, judgments, by=_sharing(asked))
    return search, runs + [file for file in about if file is not questions]


def _holds(file: RecognisedFile, cited: frozenset[Row]) -> float:
    """Return how surely a file has the texts of cited documents.

    One such text is enough. The beginning of a large file, which is all that was read, may have none.
    """
    share = len(file.ids(0) & cited) / len(cited) if cited else 0.0
    is_large = bool(cited) and file.path.is_file() and file.path.stat().st_size > HEAD_BYTES
    return max((1 + share) * (share > 0), 0.6 * is_large)


def _are_pairs(file: RecognisedFile, systems: Collection[str]) -> bool:
    """Return whether the lines are ``topic a b`` with names of two systems.

    The names are those of the study file.
    """
    fitting = sum(row[1] in systems and row[2] in systems for row in file.rows if len(row) > 2)
    return fitting > 0 and fitting >= SHARE_THAT_FITS * len(file.rows)


def _mean_chars(file: RecognisedFile) -> float:
    return sum(len(row[1]) for row in file.rows) / len(file.rows)


def _sharing(ids: frozenset[Row], *columns: int) -> Choice:
    """Return a score of files: the share of ids that their columns have in common, by default the first."""
    return lambda file: _shared(file.ids(*(columns or (0,))), ids)


def _shared(some: frozenset[tuple[str, ...]], others: frozenset[tuple[str, ...]]) -> float:
    """Return which share of the smaller set is in the other too, 0 for an empty one."""
    smaller = min(len(some), len(others))
    return len(some & others) / smaller if smaller else 0.0


def _has_ids(file: RecognisedFile, column: int) -> bool:
    entries = [row[column] for row in file.rows]
    return sum(" " not in entry for entry in entries) >= ID_LIKE * len(entries)
