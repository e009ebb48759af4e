"""Command `prefcal demographics`: columns of a platform's export of people beside the tables of a study."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import Fault, InputError, input_fault, join_names, pluralise
from study_app.cli.database import database_option, study_session
from study_app.cli.options import output_folder
from study_app.cli.output import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from study_app.services.researcher.demographics import Demographics


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("file", metavar="PLATFORM.csv", type=click.Path())
@output_folder("Folder that prefcal export wrote; its table workers gets the columns.", metavar="TABLES")
@click.option("--id-column", metavar="NAME", help="The column with the workers' ids.")
@database_option
def demographics(study: str, file: str, output: Path, id_column: str | None, database: str | None) -> None:
    """Add what the platform knows of people to table workers, by pseudonym.

    PLATFORM.csv is the platform's export of people, Prolific's demographic data for one. Only the columns are read that the study file names
    as demographics, and only of workers who agreed to a consent text that named them. No platform id is written. Export anew, and
    they are gone: run this again.
    """
    from study_app.services.researcher.demographics import agreed_demographics
    from study_app.study.entries import read_study_entry
    from study_app.study.platform_list import read_people_list
    from study_app.study.platforms import platform_of
    from study_app.tasks.kinds import KINDS

    _check_there(
        {Path(file): "name the platform's export of people", output: "name what prefcal export wrote"}
    )
    with study_session(database, study, write=True) as opened:
        chosen = opened.row
        entry = read_study_entry(chosen.config, KINDS)
        if not entry.demographics:
            raise input_fault(
                f"{chosen.name} may keep nothing that the platform knows of people, since no consent text named any of it",
                cure="for the next people write demographics: [Age, Sex] into the study file, and load it",
            )
        workers = _workers(output, chosen.name)
        named = {} if id_column is None else {"id": id_column}
        listed = read_people_list(file, platform_of(entry), named=named, columns=entry.demographics)
        _check_no_ids(file, listed, entry.demographics)
        found = agreed_demographics(opened.session, chosen, entry.demographics, listed)
        people = {name for values in found.by_column.values() for name in values} & set(workers["worker"])
        if not people:
            raise input_fault(
                "no worker of these tables is in the list and agreed to a text that names its columns",
                path=file,
                cure="see whether it is the list of this study, and when demographics came into the study file",
            )
        written = _write(workers, output, found)
        detail = f"{pluralise(len(people), 'person', 'people')}, {join_names(entry.demographics, most=50)}"
        opened.note("join demographics", detail)
    click.echo(f"{join_names(written)}: {pluralise(len(people), 'worker')} of {len(workers):,} in {output}")
    for note in _notes(found, workers, written):
        click.echo(wrapped(f"note: {note}", indent="  "), err=True)


def _check_there(cures: "Mapping[Path, str]") -> None:
    missing = [path for path in cures if not path.exists()]
    if missing:
        raise InputError(
            [Fault(problem="nothing is there", path=str(path), cure=cures[path]) for path in missing]
        )


def _workers(tables: Path, study: str) -> "pd.DataFrame":
    """Return table workers of a folder of a study's tables, without earlier demographics."""
    from calibration.tables.files import read_table, table_paths
    from calibration.tables.study_json import read_study
    from calibration.tables.tables import DEMOGRAPHIC, TABLES

    record, paths = read_study(tables), table_paths(tables)
    if record is None or record.study != study or record.joined:
        owner = f"the tables of {record.study}" if record else "tables of no study"
        raise input_fault(
            f"this folder has {owner}, and not of {study}",
            path=tables,
            cure=f"name the folder that prefcal export --study {study} wrote; join folders afterwards",
        )
    if "workers" not in paths:
        raise input_fault("no table workers in this folder", path=tables, cure="export the study again")
    frame = read_table(paths["workers"], TABLES["workers"])
    return frame[[name for name in frame.columns if not name.startswith(DEMOGRAPHIC)]]


def _check_no_ids(
    file: str, listed: "Mapping[str, Sequence[Mapping[str, str]]]", columns: "Sequence[str]"
) -> None:
    """Refuse a column that has the id of its own line: it would lead from the tables to people."""
    for column in columns:
        if any(name == line[column] for name, lines in listed.items() for line in lines):
            raise input_fault(
                f"column {column} has platform ids",
                path=file,
                cure="take it out of demographics in the study file",
            )


def _write(workers: "pd.DataFrame", tables: Path, found: "Demographics") -> list[str]:
    """Write table workers with the columns; return their names."""
    from calibration.tables.files import check_frame, write_table
    from calibration.tables.study_json import renew_records
    from calibration.tables.tables import DEMOGRAPHIC, TABLES

    added = {
        f"{DEMOGRAPHIC}{name}": workers["worker"].map(values) for name, values in found.by_column.items()
    }
    frame = check_frame(workers.assign(**added), TABLES["workers"])
    write_table(frame, TABLES["workers"], tables, parquet=(tables / "workers.parquet").exists())
    for path in tables.glob("workers.*"):
        path.chmod(0o600)
    renew_records(tables, {"workers": len(frame)})
    return list(added)


def _notes(found: "Demographics", workers: "pd.DataFrame", written: "Sequence[str]") -> "list[str]":
    notes = []
    for count, words in (
        (
            found.not_agreed,
            "agreed to a consent text that does not name all of these columns: nothing else of theirs is kept",
        ),
        (found.unlisted, "with consent: no line of the list"),
        (
            found.nameless,
            "with consent, whose platform ids were deleted: the list cannot be compared with them",
        ),
        (found.contradictory, "of whom the list says two things: the last line counts"),
    ):
        if count:
            notes.append(f"{pluralise(count, 'worker')} {words}")
    if found.strangers:
        notes.append(f"{pluralise(found.strangers, 'person', 'people')} of the list never came: left out")
    own = list(found.by_column.values())
    combined = Counter(
        tuple(values.get(worker) for values in own)
        for worker in workers["worker"]
        if any(worker in values for values in own)
    )
    alone = sum(count == 1 for count in combined.values())
    if alone:
        notes.append(
            f"{pluralise(alone, 'worker has', 'workers have')} a combination of {join_names(written)} that no other has: whoever knows them"
            " finds their answers in tables that you publish"
        )
    return notes
