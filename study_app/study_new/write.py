"""Finding what a researcher points at, and writing the first study file: whole, checked, and never over another."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from metrics.errors import Fault, InputError, input_fault
from study_app.estimate.content import read_whole_study
from study_app.study_new.collections import Found, Search, collections, faults_of
from study_app.study_new.compose import Answers, TaskPlan, study_text
from study_app.study_new.recognise import files_in, recognise

FILE = "study.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What was found: whole collections, parts of others, and the files that play no part."""

    whole: list[Found]
    partial: list[Search]
    unused: list[Path]


def find_material(places: Sequence[Path]) -> Material:
    """Recognise what is in files and folders.

    Raises
    ------
    InputError
        If a place is not there, or nothing in them is a whole collection with runs: then with what is missing.
    """
    missing = [place for place in places if not place.exists()]
    if missing:
        raise InputError(
            [
                fault
                for place in missing
                for fault in input_fault(
                    "there is no such file or folder",
                    path=place,
                    cure="name where your collection and runs are",
                ).faults
            ]
        )
    paths = files_in(places)
    whole, partial = collections([found for path in paths if (found := recognise(path)) is not None])
    if whole:
        used = {file.path for found in whole for file in (*found.files.values(), *found.runs)}
        return Material(whole=whole, partial=partial, unused=[path for path in paths if path not in used])
    if partial:
        raise InputError([fault for search in partial for fault in faults_of(search, places[0], paths)])
    raise input_fault(
        f"nothing of a collection among {len(paths)} files",
        path=places[0],
        cure="name the folder with a MobileClick, Temporal Summarization, Microblog or ranked collection and its runs",
    )


def study_place(folder: Path) -> Path:
    """Return where the study file is to stand; raises `InputError` when there is one already."""
    path = folder / FILE
    if path.exists():
        raise input_fault(
            "there is a study already", path=path, cure="name another folder; nothing was changed"
        )
    if folder.exists() and not folder.is_dir():
        raise input_fault("this is a file", path=folder, cure="name the folder that the study is to stand in")
    return path


def write_study(folder: Path, answers: Answers, tasks: list[TaskPlan]) -> Path:
    """Write the study file, which then has no fault; where there is one, nothing is left behind.

    Raises
    ------
    InputError
        If there is a study file already, the folder cannot be written to, or a file of the collections has faults.
    """
    path = study_place(folder)
    was_there = folder.exists()
    part = folder / f".{FILE}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(study_text(answers, tasks, folder), encoding="utf-8")
        read_whole_study(part)
        os.link(part, path)
    except InputError as error:
        raise InputError([_in_place(fault, part, path) for fault in error.faults]) from None
    except FileExistsError:
        raise input_fault("there is a study already", path=path, cure="name another folder") from None
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})", path=path, cure="choose another place"
        ) from None
    finally:
        part.unlink(missing_ok=True)
        if not was_there and folder.is_dir() and not path.exists():
            folder.rmdir()
    return path


def _in_place(fault: Fault, part: Path, path: Path) -> Fault:
    """Return a fault under the name that its file has or was to have, without the way through the study's folder."""
    if fault.path is None:
        return fault
    return replace(fault, path=str(path) if fault.path == str(part) else os.path.normpath(fault.path))
