"""`prefcal study new`: a first study file from a collection and runs."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import input_fault
from study_app.study.platforms import PLATFORMS

if TYPE_CHECKING:
    from study_app.study_new.collections import CollectionSearch
    from study_app.study_new.compose import PossibleTask, StartingFiles

MAX_LISTED_FILES = 8


@click.command(name="new")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("places", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--study", metavar="NAME", help="Short name, used in addresses. Default: like the folder.")
@click.option("--title", metavar="TEXT", help="Title that workers see first. Default: by the tasks.")
@click.option(
    "--language",
    type=click.Choice(["en", "ja"]),
    help="Language of texts and pages. Default: that of the texts.",
)
@click.option(
    "--platform",
    type=click.Choice(list(PLATFORMS)),
    help="Platform that sends the workers. Default: generic.",
)
@click.option(
    "--device",
    type=click.Choice(["any", "phone", "desktop"]),
    help="Device that workers must use. Default: any.",
)
@click.option(
    "--return-url", metavar="URL", help="Address to which the last page leads workers; SONA needs it."
)
@click.option(
    "--contact", metavar="TEXT", help="For the consent: who asks, and whom to write to with questions."
)
@click.option("--keep", metavar="TEXT", help="For the consent: how long data are kept, such as 'until 2030'.")
@click.option(
    "--reward",
    type=click.FloatRange(min=0, min_open=True),
    metavar="AMOUNT",
    help="For the study and its consent: what each worker is paid, such as 3.00.",
)
@click.option("--currency", default="USD", show_default=True, metavar="CODE", help="Currency of the reward.")
@click.option(
    "--task",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Kind of a task, such as summary_pairs; once for each task, in order. Default: the usual ones for what was found.",
)
def new(folder: Path, places: tuple[Path, ...], kinds: tuple[str, ...], **given: Any) -> None:
    """Write DIR/study.yaml about the collections and runs in PATHs.

    PATHs are files or folders; by default DIR itself. Files are recognised by what is in them: NTCIR MobileClick, TREC Temporal Summarization, Microblog and Real-Time
    Summarization, ranked lists (also BEIR's), answers (also those of TREC RAG and its like), and pictures
    (TOPIC.png in a folder for each system is enough: the files that name them are written beside the folders). On a terminal
    you are asked for what no option says; elsewhere the defaults are taken. The file passes `prefcal study check` once its consent says what only you know (--contact, --keep). A study.yaml that
    is there already is never touched.
    """
    from study_app.study.standard_texts import UNWRITTEN
    from study_app.study_new.compose import drafts, find_material, possible_tasks, study_place, write_study

    study_place(folder)
    material = find_material(places or (folder,))
    _show(material)
    possible = possible_tasks(material.whole)
    tasks = _chosen_tasks(possible, kinds)
    answers = _answers(folder, material, given)
    path = write_study(folder, answers, tasks)
    click.echo(f"\nwrote {path} with {', '.join(task.kind.name for task in tasks)}")
    for file in drafts(tasks):
        click.echo(
            f"wrote {file.path}: each picture's topic, by its name; add to each line an alt, what there is to see in words"
        )
    left = [task.kind.name for task in possible if task not in tasks]
    if left:
        click.echo(f"possible too: {', '.join(f'--task {kind}' for kind in left)}")
    click.echo(f"\nNext:\n  prefcal study preview {path}   every page as workers will see it")
    click.echo(f"  prefcal study check {path}     minutes, workers, answers and cost")
    if answers.contact is None or answers.keep is None:
        words = " or ".join(UNWRITTEN)
        click.echo(f"The check waits for your consent text: say what only you know where it has {words}.")


def _show(material: "StartingFiles") -> None:
    """Print the recognised files."""
    from study_app.study_new.collections import system_names

    for collection in material.whole:
        click.echo(f"{collection.family}:")
        for key, file in collection.files.items():
            click.echo(f"  {key:<12} {file.path}")
        click.echo(f"  {'runs':<12} {', '.join(system_names(collection.runs))}")
    for search in material.partial:
        click.echo(f"{search.family}: left out, {_lacking(search)}")
    if material.unused:
        click.echo("not used:")
        for path in material.unused[:MAX_LISTED_FILES]:
            click.echo(f"  {path}: {material.reasons[path]}")
        if len(material.unused) > MAX_LISTED_FILES:
            click.echo(f"  and {len(material.unused) - MAX_LISTED_FILES} more")


def _lacking(search: "CollectionSearch") -> str:
    if search.doubtful:
        return f"since several files could be {', '.join(search.doubtful)}"
    if search.missing:
        return f"since there is no file that could be {', '.join(search.missing)}"
    return "since there is no run"


def _chosen_tasks(possible: list["PossibleTask"], kinds: tuple[str, ...]) -> list["PossibleTask"]:
    from study_app.study_new.compose import usual_tasks

    usual = usual_tasks(possible)
    if not kinds and sys.stdin.isatty() and len(possible) > 1:
        named = dict.fromkeys(task.kind.name for task in possible)
        click.echo(f"\ntasks that are possible: {', '.join(named)}")
        typed = click.prompt(
            "tasks, in order", default=", ".join(dict.fromkeys(task.kind.name for task in usual))
        )
        kinds = tuple(re.split(r"[,\s]+", typed.strip()))
    wanted = [task for kind in kinds for task in possible if task.kind.name == kind]
    chosen = wanted if kinds else usual
    unknown = sorted(set(kinds) - {task.kind.name for task in possible})
    if unknown or not chosen:
        known = ", ".join(dict.fromkeys(task.kind.name for task in possible)) or "nothing yet: add runs"
        what = (
            f"no task {unknown[0]!r} can be made of these files"
            if unknown
            else "there are too few runs for a task"
        )
        raise input_fault(what, cure=f"possible is {known}")
    return chosen


def _answers(folder: Path, material: "StartingFiles", given: dict[str, Any]) -> Any:
    from study_app.study_new.compose import Answers, language_of

    name = re.sub(r"[^a-z0-9]+", "-", folder.absolute().name.lower()).strip("-")[:40].strip("-") or "study"
    language = _answer(given["language"], "language", language_of(material.whole), click.Choice(["en", "ja"]))
    platform = _answer(given["platform"], "platform", "generic", click.Choice(list(PLATFORMS)))
    return_url = given["return_url"]
    form = PLATFORMS[platform].return_form
    if form is not None and return_url is None:
        if not sys.stdin.isatty():
            raise input_fault(
                f"platform {platform} needs an address to return to",
                cure=f"--return-url '{form}'",
            )
        return_url = click.prompt(f"return_url, such as {form}")
    return Answers(
        study=_answer(given["study"], "study (short name)", name, None),
        title=given["title"],
        language=language,
        platform=platform,
        device=_answer(given["device"], "device", "any", click.Choice(["any", "phone", "desktop"])),
        return_url=return_url,
        contact=_line_of(
            _answer(given["contact"], "who asks, and whom to write to (Enter: later)", "", None)
        ),
        reward=given["reward"],
        currency=given["currency"],
        keep=_line_of(
            _answer(given["keep"], "how long data are kept, such as 'until 2030' (Enter: later)", "", None)
        ),
    )


def _line_of(text: str) -> str | None:
    """Return a text on one line; None for nothing."""
    return " ".join(text.split()) or None


def _answer(given: str | None, question: str, default: str, kind: click.Choice[str] | None) -> str:
    """Return the option, else what is typed on a terminal, else the default."""
    if given is not None or not sys.stdin.isatty():
        return given or default
    return str(click.prompt(question, default=default, type=kind))
