"""Inputs of a report: the contents of a folder; missing ones are None."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from calibration.agree.folder import (
    AGREEMENT,
    COMPARISONS,
    CURVE,
    DISAGREEMENTS,
    PAIRS,
    RECORD,
    RESULTS,
    StreamTables,
    read_judges,
    read_result,
    read_streams,
)
from calibration.agree.reading import READING
from calibration.fit.fit_files import FitPlots, read_fit_plots, read_quality
from calibration.judges.numbers import JudgeTables
from calibration.rank.folder import RANKING, Ranking, read_ranking
from calibration.rank.folder import RECORD as RANK_RECORD
from calibration.tables.criteria import about_criterion
from calibration.tables.files import read_tables, tables_sha256
from calibration.tables.people import is_gold, judge_names, of_judges, people_tables
from calibration.tables.study_json import StudyRecord, read_study
from calibration.tables.tables import TABLES as TABLE_DEFINITIONS
from calibration.user_model.model import ParameterEntry, UserModel, read_user_model
from metrics.errors import InputError, input_fault
from metrics.file_limits import MAX_DOCUMENT_BYTES, check_bytes
from metrics.files import check_unchanged
from metrics.sweep.parts import MANIFEST
from metrics.sweep.result import MSUSweep, read_sweep
from study_app.report.pictures import with_pictures
from study_app.report.reasons import with_reasons

TABLES, MODEL, TRUTH = "tables", "user-model.json", "truth.json"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportInputs:
    """Everything that a folder holds.

    Attributes
    ----------
    folder : Path
        Where it lies.
    agreement, comparisons, curve, pairs, disagreements : DataFrame or None
        As `prefcal agree` wrote them; docs/agreement.md lists the columns.
    ranking : Ranking or None
        Which systems people prefer, as `prefcal rank` or `prefcal agree` wrote it.
    judges : JudgeTables
        Judges that are no people, as `prefcal agree` wrote them.
    reading : DataFrame or None
        How long sides were read and what was opened, as `prefcal agree` wrote it.
    record : mapping
        How the agreement was made, from agree.json; empty without one.
    tables : mapping of str to DataFrame
        The tidy tables; empty without a folder of tables.
    gold : DataFrame
        Judgments of gold pairs by people, which no table above has.
    tables_sha256 : str or None
        Hash of the tables as they are now.
    study : StudyRecord or None
        study.json.
    model, truth : UserModel or None
        The fitted people, and the people of a simulated crowd.
    streams : StreamTables
        As `prefcal agree` wrote them; scored now where it was never run, as for a study without pairs.
    plots : FitPlots or None
        What `prefcal fit` kept of its drawings; None without, or where they are of another model.
    sweep : MSUSweep or None
        A sweep of MSU, as `prefcal sweep msu` wrote it.
    quality : mapping of str to ParameterEntry
        Agreement among raters, consistency and position bias, from quality.json; empty without one.
    """

    folder: Path
    agreement: pd.DataFrame | None
    comparisons: pd.DataFrame | None
    curve: pd.DataFrame | None
    pairs: pd.DataFrame | None
    disagreements: pd.DataFrame | None
    ranking: Ranking | None
    judges: JudgeTables
    reading: pd.DataFrame | None
    record: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    gold: pd.DataFrame
    tables_sha256: str | None
    study: StudyRecord | None
    model: UserModel | None
    truth: UserModel | None
    streams: StreamTables
    plots: FitPlots | None
    sweep: MSUSweep | None
    quality: Mapping[str, ParameterEntry]

    @property
    def has_study(self) -> bool:
        """True if the folder has results of a study, besides a sweep."""
        results = (self.agreement, self.ranking, self.model)
        has_judges = len(self.judges.numbers) > 0
        return bool(self.tables) or has_judges or any(result is not None for result in results)

    @property
    def about(self) -> tuple[str, ...]:
        """The sentences that the agreement or the ranking is of answers about a criterion, if it is."""
        counted = {"Agreement": self.record.get("by")} if self.agreement is not None else {}
        counted |= {"Ranks": self.ranking.by} if self.ranking is not None else {}
        names = set(counted.values())
        if len(names) > 1:  # of one folder, but not of one command
            return tuple(f"{what}: {about_criterion(name)}" for what, name in counted.items() if name)
        return tuple(about_criterion(name) for name in names if name)

    @property
    def simulated(self) -> bool:
        """True if the workers were simulated, by study.json or the truth in the folder."""
        return self.truth is not None or (self.study is not None and self.study.simulated)


_WHOSE = "name the folder that prefcal agree, prefcal rank, prefcal sweep or prefcal demo wrote"


def read_material(folder: str | Path) -> ReportInputs:
    """Read a folder as `prefcal demo` writes it.

    Raises
    ------
    InputError
        If there is no such folder, nothing in it can be reported, or a file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise input_fault("there is no such folder", path=folder, cure=_WHOSE)
    record = _record(folder / RECORD)
    check_unchanged(folder / RECORD, record.get("files"), RESULTS, command="prefcal agree")
    ranked = _record(folder / RANK_RECORD)
    tables = _first_there(folder / TABLES, record.get("tables", ranked.get("tables")))
    model_file = _first_there(folder / MODEL, (record.get("model") or {}).get("path"))
    model = read_user_model(model_file) if model_file.is_file() else None
    study = read_study(tables)
    all_tables = read_tables(tables) if tables.is_dir() else {}
    tables_there = people_tables(all_tables)
    material = ReportInputs(
        folder=folder,
        agreement=read_result(folder, AGREEMENT),
        comparisons=read_result(folder, COMPARISONS),
        curve=read_result(folder, CURVE),
        pairs=read_result(folder, PAIRS),
        disagreements=with_reasons(
            with_pictures(read_result(folder, DISAGREEMENTS), tables_there.get("media"), study, tables),
            tables_there.get("preferences"),
            tables_there.get("workers"),
        ),
        ranking=read_ranking(folder),
        judges=read_judges(folder),
        reading=read_result(folder, READING),
        record=record,
        tables=tables_there,
        gold=_gold(all_tables),
        tables_sha256=tables_sha256(tables) if tables.is_dir() else None,
        study=study,
        model=model,
        truth=read_user_model(folder / TRUTH) if (folder / TRUTH).is_file() else None,
        streams=read_streams(folder, record.get("streams_not_scored")) or _scored(tables, study, model),
        plots=read_fit_plots(model_file),
        sweep=read_sweep(folder) if (folder / MANIFEST).is_file() else None,
        quality=read_quality(model_file),
    )
    if not material.has_study and material.sweep is None:
        raise input_fault(
            f"nothing to report: no {AGREEMENT}, no {RANKING}, no {TABLES}, no {MODEL}, no {MANIFEST}",
            path=folder,
            cure=_WHOSE,
        )
    return material


def _gold(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    preferences = tables.get("preferences", TABLE_DEFINITIONS["preferences"].empty())
    return preferences[is_gold(preferences) & ~of_judges(preferences, judge_names(tables))]


def _scored(tables: Path, study: StudyRecord | None, model: UserModel | None) -> StreamTables:
    from calibration.agree.stream_scores import score_streams  # noqa: PLC0415 - slow, and `prefcal agree` did it, if it was run
    from calibration.tables.sources import study_sources  # noqa: PLC0415 - as above

    return score_streams(study_sources(tables, study.tasks if study else ()), model)


def _first_there(beside: Path, recorded: object) -> Path:
    """Return the file in the folder, else the file that the agreement was made from.

    The latter counts if it still exists, as seen from the folder.
    """
    used = beside.parent / recorded if isinstance(recorded, str) else beside
    return beside if beside.exists() or not used.exists() else used


def _record(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        check_bytes(path, path.stat().st_size, most=MAX_DOCUMENT_BYTES)
        content = json.loads(path.read_text(encoding="utf-8"))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise input_fault(f"not JSON ({error})", path=path, cure="run prefcal agree again") from None
    return content if isinstance(content, dict) else {}
