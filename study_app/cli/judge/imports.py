"""`prefcal judge import`: answers of a judge, or verdicts that others made, beside the rows of people."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import input_fault, join_names, pluralise
from study_app.cli.options import option, output_folder, with_options
from study_app.cli.tables.imports import meanings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from calibration.tables.study_json import StudyRecord


NOTHING = "no_answer", None
"""Choice and strength of a judge that gave no usable answer."""


def _verdicts() -> tuple[str, ...]:
    from calibration.interchange.verdicts import VERDICTS

    return VERDICTS


@dataclass(frozen=True, kw_only=True)
class JudgeFile:
    """What FILE holds, where it does not say so itself."""

    requests: Path | None = option(
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Requests that the answers are to. Default: requests.jsonl in the folder of the answers.",
    )
    model: str | None = option(metavar="NAME", help="Model that judged. Default: what FILE says.")
    task: str | None = option(
        metavar="TASK", help="Task of verdicts that others made; needed where TABLES has several."
    )
    columns: str | None = option(
        metavar="NAMES",
        help="Names of the fields of verdicts that others made, in the order of the file: topic,left,right,verdict and any of order,"
        " repeat, model and strength; - for a field that is not read. Default: told by values and headers; where these cannot, you are asked.",
    )
    answers: dict[str, str] = option(
        "--answer",
        metavar="SAID=CHOICE",
        callback=meanings_of(_verdicts),
        multiple=True,
        help="Meaning of a verdict: left, right, equally_good, equally_bad, no_answer, or contradicts where both orders were asked and"
        " contradict each other. Give it once for each. These words, the names of the two systems, a and b, first and second, and tie"
        " (equally_good) are understood without it.",
    )
    sides: str | None = option(
        type=click.Choice(["shown", "fixed"]),
        help="The two systems stand in their columns as they were shown in each row, or the same way in both orders. Without a column"
        " order, shown says that the order follows from them.",
    )
    verdict_is: str | None = option(
        type=click.Choice(["system", "column", "side"]),
        help="A verdict is the name of a system, or says a column of FILE, or the side on which a system stood.",
    )


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--tables",
    type=click.Path(path_type=Path),
    metavar="TABLES",
    required=True,
    help="Folder of tables with people's preferences; it stays as it is.",
)
@click.option("--name", metavar="NAME", required=True, help="Name of the judge in the tables.")
@output_folder("Folder to write.")
@with_options(said=JudgeFile)
def import_verdicts(file: Path, tables: Path, name: str, output: Path, *, said: JudgeFile) -> None:
    """Write into DIR the tables of TABLES and beside people's rows those of a judge that is no person.

    FILE is what prefcal judge run wrote, or verdicts that others made: a row each with the topic, two systems, the verdict, and, where there
    are any, the order, the repeat, the model and the strength. DIR appears whole or not at all. A judge's tie is equally_good. What the judge said is
    compared with people's answers and never counted with them. docs/interoperability.md goes through an example.
    """
    from calibration.judges.imported import with_judge
    from calibration.tables.files import read_tables

    if not name.strip() or not name.isprintable():
        raise click.UsageError(
            f"--name is {'not one line of text' if name.strip() else 'empty'}; name the judge as tables shall"
        )
    read = read_tables(tables)
    is_answers = _is_answers(file)
    _check_options(file, said, is_answers=is_answers)
    rows, judge, notes = (_answers if is_answers else _others)(file, tables, read, said)
    added, more = with_judge(read, rows, name, **judge)
    _write(tables, output, added)
    for note in (*notes, *more):
        click.echo(f"note: {file}: {note}", err=True)
    unusable = int((rows["choice"] == "no_answer").sum())
    pairs = rows[["task", "topic"]].assign(pair=[frozenset(each) for each in _sides(rows)]).drop_duplicates()
    about = sum(map(len, rows["criteria"])) if "criteria" in rows else 0
    click.echo(
        f"{output}: {pluralise(len(rows), 'verdict')} of {name} on {pluralise(len(pairs), 'pair')}"
        + (f", {unusable:,} without a usable answer" if unusable else "")
        + (f", and {pluralise(about, 'answer')} about criteria" if about else "")
    )


def _check_options(file: Path, said: JudgeFile, *, is_answers: bool) -> None:
    """Refuse options that say something of the other kind of file."""
    of_verdicts = {
        "--task": said.task,
        "--columns": said.columns,
        "--answer": said.answers,
        "--sides": said.sides,
        "--verdict-is": said.verdict_is,
    }
    wrong = [
        name
        for name, value in (of_verdicts if is_answers else {"--requests": said.requests}).items()
        if value
    ]
    if wrong:
        this, other = ("answers to requests", "verdicts that others made")[:: 1 if is_answers else -1]
        raise click.UsageError(f"{wrong[0]} is for {other}, and {file} holds {this}; leave it out")


def _sides(rows: "pd.DataFrame") -> list[tuple[str, str]]:
    return list(zip(rows["system_left"], rows["system_right"], strict=True))


def _is_answers(file: Path) -> bool:
    """Say whether a file is one of answers to requests: JSON, an object a line."""
    from metrics.readers.lines import read_bytes

    return read_bytes(file).lstrip()[:1] == b"{"


def _answers(
    file: Path, tables: Path, read: "Mapping[str, pd.DataFrame]", said: JudgeFile
) -> "tuple[pd.DataFrame, dict[str, Any], list[str]]":
    """Read answers to requests, and find the systems that the requests are about."""
    import pandas as pd

    from calibration.judges.imported import ROWS
    from calibration.tables.definition import ColumnType, converted
    from calibration.tables.study_json import read_study
    from study_app.judges.answers import read_answers
    from study_app.judges.requests import meanings, read_requests

    place = said.requests or file.parent / "requests.jsonl"
    if not place.is_file():
        cure = "name the requests that the answers are to, with --requests FILE"
        raise input_fault("there is no such file", path=place, cure=cure)
    requests = read_requests(place).requests
    answers = read_answers(file, requests)
    if not answers:
        raise input_fault(
            "no answer", path=file, cure="see whether prefcal judge run has answered any request"
        )
    study = read_study(tables)
    asked_of = {request.study_sha256 for request in requests.values() if request.study_sha256}
    joined = () if study is None else study.joined
    tables_of = {study and study.study_sha256, *(part.study_sha256 for part in joined)} - {None}
    if tables_of and asked_of - tables_of:
        raise input_fault(
            f"{pluralise(len(requests), 'request')} of another study file than the tables are of",
            path=place,
            cure="write requests of this study (prefcal judge requests), and let the judge answer those",
        )
    asked = [requests[answer["id"]] for answer in answers]
    couples = _couples(read, study, {(request.task, request.topic) for request in asked})
    unknown = sum((each.task, each.topic, each.pair) not in couples for each in asked)
    if unknown:
        raise input_fault(
            f"{pluralise(unknown, 'answer')} of {len(asked):,} about pairs whose systems are not in these tables",
            path=place,
            cure="name the tables of the study that the requests are of",
        )
    rows = []
    for request, answer in zip(asked, answers, strict=True):
        sides = couples[request.task, request.topic, request.pair]
        left, right = sides if request.order == 1 else sides[::-1]
        known, stated = meanings(request.choices), answer.get("criteria", {})
        choice, strength = known.get(str(answer.get("choice")), NOTHING)
        about = {name: known.get(str(stated.get(name)), NOTHING) for name in request.criteria}
        rows.append(
            (request.task, request.topic, left, right, choice, strength, request.order, request.sample, about)
        )
    frame = pd.DataFrame(rows, columns=[*ROWS[:5], "strength", *ROWS[5:], "criteria"])
    frame["strength"] = frame["strength"].astype("Int64")
    times = pd.Series([answer.get("decided_at") for answer in answers], dtype="str")
    frame["decided_at"] = converted(times, ColumnType.TIME)[0]
    model, notes = _model(
        tuple(dict.fromkeys(each["model"] for each in answers if "model" in each)), said.model
    )
    prompts = sorted({request.prompt_sha256 for request in asked})
    if len(prompts) > 1:
        notes.append(f"{len(prompts)} prompts, one a task or language: prompt_sha256 has all of them")
    if missing := len(requests) - len(answers):
        notes.append(
            f"{pluralise(missing, 'request')} without an answer: prefcal judge run goes on with them"
        )
    return frame, {"model": model, "prompt_sha256": ", ".join(prompts) or None}, notes


def _couples(
    read: "Mapping[str, pd.DataFrame]", study: "StudyRecord | None", topics: set[tuple[str, str]]
) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return (task, topic, digest of the pair) -> its systems in the order of their names."""
    from study_app.judges.requests import pair_digest

    judged: dict[tuple[str, str], set[str]] = {}
    if "preferences" in read:
        columns = ["task", "topic", "system_left", "system_right"]
        for task, topic, *sides in (
            read["preferences"][columns].astype("str").itertuples(index=False, name=None)
        ):
            judged.setdefault((task, topic), set()).update(sides)
    found = {}
    for task, topic in topics:
        named = set(study.tasks[task].systems) if study is not None and task in study.tasks else set()
        for couple in combinations(sorted(judged.get((task, topic), set()) | named), 2):
            found[task, topic, pair_digest(task, topic, *couple)] = couple
    return found


def _others(
    file: Path, tables: Path, read: "Mapping[str, pd.DataFrame]", said: JudgeFile
) -> "tuple[pd.DataFrame, dict[str, Any], list[str]]":
    """Read verdicts that others made."""
    from calibration.interchange.verdicts import VerdictRules, read_foreign_verdicts
    from calibration.tables.people import people_tables
    from study_app.cli.tables.folder import preferences_of_task

    judged = preferences_of_task(people_tables(read).get("preferences"), said.task, tables)
    systems = {
        str(topic): {*rows["system_left"], *rows["system_right"]} for topic, rows in judged.groupby("topic")
    }
    rules = VerdictRules(
        columns=None if said.columns is None else tuple(said.columns.split(",")),
        answers=said.answers,
        sides=said.sides,  # type: ignore[arg-type]
        verdict_is=said.verdict_is,  # type: ignore[arg-type]
    )
    found = read_foreign_verdicts(file, systems, rules)
    model, notes = _model(found.models, said.model)
    return found.rows.assign(task=judged["task"].iloc[0]), {"model": model}, [*found.notes, *notes]


def _model(models: "tuple[str, ...]", given: str | None) -> tuple[str | None, list[str]]:
    """Return what table workers is to say of the model, and a note where there were several."""
    if given is not None or not models:
        return given, []
    several = [f"{len(models)} models answered as one judge: {join_names(models)}"] if len(models) > 1 else []
    return ", ".join(models), several


def _write(tables: Path, folder: Path, added: "Mapping[str, pd.DataFrame]") -> None:
    """Write a folder that is TABLES with other tables workers and preferences; it appears whole or not at all."""
    import shutil

    from calibration.tables.files import record_people, tables_sha256, write_tables
    from calibration.tables.fresh_folder import fresh_folder
    from calibration.tables.study_json import moved_study, renew_records

    here, there = tables.resolve(), folder.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise input_fault("one of TABLES and DIR lies in the other", path=folder, cure="name another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise input_fault(
            "the folder is not empty, and may hold another judge's rows",
            path=folder,
            cure="name another folder, or delete this one first",
        )
    people = tables_sha256(tables)
    with fresh_folder(folder, is_ours=lambda _name: False) as new:
        shutil.copytree(tables, new, dirs_exist_ok=True)
        write_tables(added, new, parquet=any((tables / f"{name}.parquet").is_file() for name in added))
        moved_study(tables, new, folder)
        renew_records(new, {name: len(frame) for name, frame in added.items()})
        record_people(new, people)
