"""Section on methods: workers, exclusions, computations and limits."""

import shlex
from collections.abc import Iterator
from importlib.metadata import version

import pandas as pd
from pydantic import JsonValue

from calibration.tables.criteria import criterion_names
from calibration.tables.study_json import StudyRecord
from metrics.errors import join_names
from study_app.report.folder import MODEL, TABLES, ReportInputs
from study_app.report.page import DASH, Section, pluralise, quantity, to_table
from study_app.report.parts.agreement import detectable
from study_app.report.parts.assisted import METHOD
from study_app.report.parts.judges import NO_ESTIMATE, how_judged
from study_app.report.results import PLACES, TaskResult
from study_app.tasks.kinds import KINDS
from study_app.tasks.task_kind import FinishedTask

COMPUTED = (
    (
        "Each judgment is a vote; equally good and equally bad are half a vote for either side. Repeats of a pair,"
        " workers left out by the study’s rule and workers who withdrew do not count. Agreement is the share of pairs"
        " in which the measure scores the system higher that got more than half of the votes (Kato and others, Two-layered"
        " Summaries for Mobile Search, EVIA 2016)."
    ),
    (
        "Pairs of one query share its systems, and answers of one person share that person, so every interval and test is"
        " over queries and people at once: two-way clustered variance (Cameron, Gelbach and Miller 2011) and Student’s t with"
        " Satterthwaite’s degrees of freedom, never a binomial interval over pairs. Where nobody judged several queries, two"
        " measures are also compared by exchanging them within queries; p values are corrected by Holm’s method over the family of comparisons. The band"
        " of a curve holds all of its points at once."
    ),
    ("What was fitted to these preferences is fitted anew without each query before that query is judged."),
)
CEILING = (
    "The ceiling comes from all ways to split each pair’s votes into two halves. To the agreement of their majorities"
    " is added what the full size gains by a mixture of vote probabilities fitted to the same votes. Its intervals are those"
    " of a jackknife of the whole estimate, over queries, and over people too where they judged several queries."
)
CEILING_LIMIT = (
    "Votes hardly tell pairs in which neither side is preferred from pairs in which one is by little, so the interval of a"
    " perfect measure reaches down to what it would be if half of the pairs were such."
)
PLANNED = {
    "study_file": "named in the study file, so planned: its p needs no correction",
    "analysis": "named at analysis, when the answers were there: it was not planned, and its p is corrected with the family",
}
"""Description of a primary comparison, by its column ``named``."""

LIMITS = (
    (
        "What was fitted is taken as known: the intervals of agreement do not hold the uncertainty of the fit, unless draws"
        " are given beside them."
    ),
    "The intervals speak of other queries like these, judged by as many other people like these.",
    "Agreement says how often a measure and the majority name the same system, not by how much they differ.",
)
GRADED = (
    "Worths are by a cumulative-link model of the signed strength of each answer (McCullagh 1980), with cut points alike on both sides"
    " (Agresti 1992) and an effect of the side; their intervals are over topics and people at once, and ranks are by worths."
)
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")


def methods_section(material: ReportInputs, results: list[TaskResult], key: str = "methods") -> Section:
    """Return the section on methods, with its numbers."""
    done = [*_people(material), *_tasks(material), *_exclusion(material)]
    first, *paragraphs = done or ["What the workers did is not on record here."]
    paragraphs += material.about
    if material.ranking is not None and material.ranking.ordinal:
        paragraphs.append(GRADED)
    if results:
        paragraphs += COMPUTED
    for result in results:
        for row in result.named_comparisons:
            named_in = str(row["named"])
            how = PLANNED[named_in] if row["standing"] == "primary" else f"named {PLACES[named_in]}"
            what = f"the comparison of {row['measure']} with {row['against']}"
            paragraphs.append(f"Task {result.task}: {what} was {how}.")
    paragraphs += how_judged(material.judges)
    if len(material.judges.assisted) or (material.ranking is not None and len(material.ranking.assisted)):
        paragraphs.append(METHOD)
    missing = {result.task: result.row(result.main)["no_ceiling"] for result in results}
    if not all(missing.values()):
        paragraphs.append(CEILING)
    paragraphs += [f"Task {task} has no ceiling: {reason}." for task, reason in missing.items() if reason]
    study = material.study
    remarks = [study.people_twice, *study.history] if study else []
    paragraphs += dict.fromkeys([*material.record.get("notes", ()), *filter(None, remarks)])
    for task, known in material.record.get("diagnostics", {}).items():
        paragraphs += [f"Task {task}: {diagnostic['sentence']}" for diagnostic in known]
    return Section(key=key, title=first.removesuffix("."), short="Methods", paragraphs=tuple(paragraphs))


def limits_section(
    material: ReportInputs, results: list[TaskResult], key: str = "limits"
) -> Iterator[Section]:
    """Yield the limits of a study by its size, crowd and methods.

    It yields nothing where nothing was measured.
    """
    limits = []
    if material.simulated:
        limits.append(
            "The workers were simulated: the numbers say what the method finds, not what people prefer."
        )
    limits += [f"{missed}." for missed in map(detectable, results) if missed]
    if any(not result.row(result.main)["no_ceiling"] for result in results):
        limits.append(CEILING_LIMIT)
    if results:
        limits += LIMITS
    if len(material.judges.numbers):
        limits.append(NO_ESTIMATE)
    if limits:
        first, *rest = limits
        yield Section(key=key, title=first.removesuffix("."), short="Limits", paragraphs=tuple(rest))


def _people(material: ReportInputs) -> Iterator[str]:
    workers = material.tables.get("workers")
    if workers is None:
        return
    crowd = "simulated worker" if material.simulated else "worker"
    seen = pd.concat([workers[name] for name in ("consented_at", "completed_at")]).dropna()
    first, last = (f"{end:%Y-%m-%d}" if len(seen) else "" for end in (seen.min(), seen.max()))
    when = f" between {first} and {last}" if first != last else f" on {first}" if first else ""
    finished = int(workers["completed_at"].notna().sum())
    yield f"{pluralise(len(workers), crowd)} took part{when}; {finished} finished."


def _tasks(material: ReportInputs) -> Iterator[str]:
    """Yield a description of each task, its criteria and its repeats."""
    for name, task in material.study.tasks.items() if material.study else ():
        if task.kind not in KINDS:
            continue
        numbers = task.protocol
        finished = FinishedTask(
            systems=pluralise(len(task.systems), "system"),
            protocol=numbers,
            files=frozenset(task.collection),
            number=quantity,
            amount=_amount,
        )
        sentences = [KINDS[task.kind].methods(finished)]
        asked, criteria = _asked(material, name), numbers.get("criteria")
        listed = criteria if isinstance(criteria, list) else []
        if shown := [each for each in listed if isinstance(each, str) and each not in asked]:
            sentences.append(f"Above the two stood: {' '.join(shown)}")
        if asked:
            texts = {
                each["name"]: f" ({each['text']})"
                for each in listed
                if isinstance(each, dict) and "text" in each
            }
            named = [f"{criterion}{texts.get(criterion, '')}" for criterion in asked]
            sentences.append(f"On the same page and scale people answered about {join_names(named, most=9)}.")
        repeats = numbers.get("validation_pairs")
        if isinstance(repeats, int) and repeats >= 1:
            sides = "sides swapped" if numbers.get("validation_swapped", True) else "as before"
            sentences.append(
                f"{pluralise(repeats, 'pair')} {'was' if repeats == 1 else 'were'} shown again, {sides}."
            )
        yield f"Task {name}: {' '.join(sentences)}"


def _asked(material: ReportInputs, task: str) -> list[str]:
    """Return the criteria that people of a task were asked about."""
    if not {"criteria", "preferences"} <= set(material.tables):
        return []
    judged, criteria = material.tables["preferences"], material.tables["criteria"]
    of_task = criteria["judgment"].isin(judged.loc[judged["task"] == task, "judgment"])
    return criterion_names({"criteria": criteria[of_task]})


def _exclusion(material: ReportInputs) -> Iterator[str]:
    """Yield the study's exclusion rule, as far as the protocol has it."""
    rules = []
    for task in material.study.tasks.values() if material.study else ():
        if (seconds := task.protocol.get("min_search_seconds")) is not None:
            rules.append(f"a mean search under {_amount(seconds, 'second')}")
        if (share := task.protocol.get("min_consistency")) is not None:
            rules.append(f"less than {_shown(share)} of at least 3 repeats answered alike")
        if len(material.gold) and (share := task.protocol.get("min_gold")) is not None:
            rules.append(f"less than {_shown(share)} of at least 3 gold pairs answered right")
    if rules:
        yield f"Left out by rule, at analysis and never deleted: workers with {' or '.join(dict.fromkeys(rules))}."


def _shown(number: JsonValue) -> str:
    return quantity(float(number)) if isinstance(number, (int, float)) else str(number)


def _amount(number: JsonValue, word: str) -> str:
    """Return `1 day`, `200 seconds`; a protocol's number may have a fraction."""
    shown = _shown(number)
    return f"{shown} {word if shown == '1' else f'{word}s'}"


def provenance_section(material: ReportInputs, key: str = "again") -> Section:
    """Return hashes, versions, seeds and command lines."""
    return Section(
        key=key,
        title="How these numbers were made, and how to make them again",
        short="Make it again",
        paragraphs=tuple(_warnings(material)),
        tables=(
            to_table(
                "provenance",
                "Inputs, versions and seeds",
                _rows(material),
                (("What", lambda row: row[0]), ("Value", lambda row: row[1])),
            ),
        ),
        commands=tuple(_commands(material)),
    )


def _warnings(material: ReportInputs) -> Iterator[str]:
    """Yield a sentence for each input that is not what the results were made from."""
    now = material.tables_sha256
    for name, then in (
        ("the agreement", material.record.get("tables_sha256")),
        ("the user model", material.model.tables_sha256 if material.model else None),
    ):
        if now is not None and then is not None and now != then:
            yield f"Warning: {name} was made from other tables than the ones in this folder."


def _rows(material: ReportInputs) -> Iterator[tuple[str, str]]:
    record, study, model = material.record, material.study, material.model
    if study is not None:
        yield from _study_rows(study)
    if material.tables_sha256 is not None:
        yield "Tables, sha256", material.tables_sha256
    if model is not None:
        yield "prefcal, fit", model.prefcal_version or DASH
        yield "Seed, fit", DASH if model.seed is None else str(model.seed)
    if record:
        yield "prefcal, agreement", str(record.get("prefcal_version", DASH))
        yield "Seed, agreement", str(record.get("seed", DASH))
        yield "Only complete workers", "yes" if record.get("complete_only") else "no"
    yield "prefcal, report", version("prefcal")
    yield "Drawn and computed with", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    for name, label in (("model", "User model"), ("scores", "Scores")):
        if record.get(name):
            yield f"{label}, sha256", str(record[name]["sha256"])


def _study_rows(study: StudyRecord) -> Iterator[tuple[str, str]]:
    yield "Study", study.study
    yield "Study file, sha256", study.study_sha256 or DASH
    if study.started_at and study.ended_at:
        yield "Ran", f"{study.started_at:%Y-%m-%d %H:%M} to {study.ended_at:%Y-%m-%d %H:%M} UTC"
    yield "prefcal, tables", study.prefcal_version or DASH
    for task, entry in study.tasks.items():
        for kind, files in (("collection", entry.collection), ("run", entry.systems)):
            for name, file in files.items():
                if file.sha256:
                    yield f"{task}, {kind} {name}, sha256", file.sha256


def _commands(material: ReportInputs) -> Iterator[str]:
    """Yield the commands that reproduce the results.

    A fit with unknown options becomes a remark.
    """
    record = material.record
    if record.get("command"):
        yield "# made by"
        yield shlex.join(record["command"])
        yield ""
    yield "# again, from this folder"
    again = record.get("again") or []
    if material.tables and material.model is not None:
        tables = again[2] if again else TABLES
        model = again[again.index("--model") + 1] if "--model" in again else MODEL
        seed = "" if material.model.seed is None else f" --seed {material.model.seed}"
        fit = f"prefcal fit {shlex.quote(tables)} -o {shlex.quote(model)}{seed}"
        if material.plots is None:
            yield f"# {fit}, and the options of that time"
        else:
            yield shlex.join([*shlex.split(fit), *material.plots.options])
    if again:
        yield shlex.join(again)
    elif record:
        yield "# agree.json names no command: the agreement was computed in Python"
    yield "prefcal report ."
