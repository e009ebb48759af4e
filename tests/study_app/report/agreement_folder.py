"""A folder as `prefcal demo` leaves it, made from simulated tables."""

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from calibration.agree.agree_tables import agree
from calibration.agree.folder import write_agreement
from calibration.agree.score_sources import ScoreSources
from calibration.raters.quality import quality_report
from calibration.tables.files import tables_sha256, write_tables
from calibration.user_model.json_files import write_json
from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel, write_user_model
from tests.calibration.judged_summaries import study, table


def workers():
    """Eight workers; one searched too briefly, one has two flags."""
    return table(
        "workers",
        [
            {
                "worker": f"w{number:02d}",
                "completed_at": "2026-03-01T10:00:00.000Z",
                "mean_search_seconds": 190.0 + 10 * number,
                "consistency": 1.0 if number % 3 else 0.5,
                "excluded": number == 0,
                "reason": "search" if number == 0 else None,
                "flags": "dwell, odd" if number == 1 else None,
            }
            for number in range(8)
        ],
    )


def write_folder(folder, **changes):
    """Write tables, study.json, user model, truth and agreement; return the folder. ``changes``: another title, scores."""
    if changes:
        return _computed(folder, **changes)
    return shutil.copytree(_made().name, folder, dirs_exist_ok=True)


@cache
def _made():
    """What has no changes, made once in each test process."""
    temporary = TemporaryDirectory()
    _computed(Path(temporary.name))
    return temporary


def _computed(folder, *, title="Which summary helps?", scores=None):
    tables = study() | {"workers": workers()}
    write_tables(tables, folder / "tables")
    protocol = {"min_search_seconds": 200, "min_consistency": 0.4}
    record = {
        "study": "small",
        "title": title,
        "prefcal_version": "0.1.0",
        "tasks": {"summaries": {"kind": "summary_pairs", "language": "en", "protocol": protocol}},
    }
    (folder / "tables" / "study.json").write_text(json.dumps(record))
    digest = tables_sha256(folder / "tables")
    model = UserModel(
        tables_sha256=digest,
        seed=3,
        parameters={
            "patience_chars_preferences": ParameterEntry(
                estimate=850.0, interval=(600.0, None), unit="counted characters", method="by hand"
            ),
            "patience_chars_stops": ParameterEntry(estimate=500.0, interval=(400.0, 650.0)),
        },
        intents={"q0": {"i1": IntentEntry(estimate=0.7, interval=(0.6, 0.8))}},
    )
    truth = UserModel(
        parameters={"patience_chars": ParameterEntry(estimate=800.0)},
        intents={"q0": {"i1": IntentEntry(estimate=0.75)}},
    )
    write_user_model(model, folder / "user-model.json")
    write_user_model(truth, folder / "truth.json")
    write_json(folder / "quality.json", quality_report(tables, seed=3).to_dict())
    found = agree(ScoreSources(tables=tables, model=model, scores=scores))
    record = {
        "tables_sha256": digest,
        "seed": 1,
        "command": ["prefcal", "agree", "tables"],
        "model": {"path": "user-model.json", "sha256": "0" * 64},
    }
    write_agreement(found, folder, record)
    return folder
