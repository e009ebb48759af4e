"""From the browser to the tables, through the server's own routes."""

import pytest
from sqlalchemy import select

from calibration.tables.files import read_tables
from study_app.export import export_study
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from tests.study_app.small_study import INTENTS, IUNITS


@pytest.fixture
def served(campaign, tmp_path):
    """A served study, and a way to export it as it is."""
    study = campaign()

    def export():
        with transaction(study.database, write=False) as session:
            summary = export_study(
                session,
                session.scalars(select(LoadedStudy)).one(),
                tmp_path / "tables",
                now=study.clock(),
                exact_times=True,
            )
        return read_tables(tmp_path / "tables"), summary

    return study, export


def log(visitor, *happenings):
    """Send a page's events: (milliseconds, kind, detail)."""
    events = [
        {"n": number, "kind": kind, "ms": ms, "wall": 1_772_366_400_000 + ms, **(detail[0] if detail else {})}
        for number, (ms, kind, *detail) in enumerate(happenings, start=1)
    ]
    batch = {"page": visitor.page_token, "sent_ms": 0, "sent_wall_ms": 0, "events": events}
    assert visitor.client.post(f"/e/{visitor.token}", json=batch).status_code == 200


def test_what_was_clicked_is_what_is_exported(served):
    """Search time by the server's clock, answers as sent, the changed one as changed, repeats named."""
    study, export = served
    visitor = study.at_pairs()
    first = visitor.path
    study.judge_all(visitor, "left")
    visitor.open(first).send(choice="equally_bad")
    study.clock.forward(5)
    visitor.open(visitor.home).send()

    tables, summary = export()

    preferences, (worker,) = tables["preferences"], tables["workers"].to_dict("records")
    assert preferences["choice"].tolist() == ["equally_bad", "left", "left", "left"]
    assert preferences["revision"].tolist() == [2, 1, 1, 1]
    assert preferences["position"].tolist() == [1, 2, 3, 4]
    assert preferences["validation_of"].notna().sum() == 1
    assert tables["searches"]["seconds"].tolist() == [100]
    assert worker["completed_at"] == study.clock()
    assert (summary.completed, summary.gaps.unlogged_answers) == (1, 4)


def test_what_a_page_logged_is_read_of_the_systems_it_showed(served):
    """Keys of the page become iUnits of whichever system stood there."""
    study, export = served
    visitor = study.at_pairs()
    log(
        visitor,
        (0, "open", {"layout": "stacked", "width": 390, "height": 844, "restored": False}),
        (0, "see", {"side": "left", "item": "f0", "share": 1}),
        (3000, "submit", {"choice": "left"}),
    )
    visitor.send(choice="left")

    tables, summary = export()

    (read,) = tables["reads"].to_dict("records")
    (judgment,) = tables["preferences"].to_dict("records")
    iunits, links = list(IUNITS[read["topic"]]), list(INTENTS[read["topic"]])
    first_item = {"sysalpha": iunits[0], "sysbeta": links[0], "sysgamma": iunits[3]}
    assert (read["judgment"], read["system"]) == (judgment["judgment"], judgment["system_left"])
    assert (read["item"], read["dwell_seconds"]) == (first_item[read["system"]], 3)
    assert (summary.gaps.pages, summary.gaps.unlogged_answers) == (1, 0)
