"""`pairs: FILE` in a task whose workers choose a query: exactly its pairs are judged, however many each query has."""

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.database import open_database, transaction
from study_app.store.models import Judgment, LoadedStudy, Pair, Showing
from study_app.tasks.reading.couples import COLUMNS
from tests.study_app.small_ranked import write_ranked_study

PAIRS = "SYH-1 sysbeta sysalpha\nSYH-1 sysalpha sysgamma\nSYH-2 sysbeta sysgamma\n"


@pytest.fixture
def study(tmp_path):
    """Two queries, one with two pairs and one with a single one; neither judgments nor windows."""
    collection = {"topics": "topics.tsv", "texts": "texts.tsv"}
    task = {"pairs": "pairs.txt", "queries_per_worker": 2, "judgments_per_pair": 2, "collection": collection}
    return write_ranked_study(
        tmp_path,
        task=task,
        files={"pairs.txt": f"{' '.join(COLUMNS)}\n{PAIRS}", "topics.tsv": "SYH-1\tmoon\nSYH-2\tcanal\n"},
    )


def test_exactly_these_pairs_are_judged(study, database_in):
    """By everybody who takes their query."""
    url = database_in(study.parent)
    run_trial(read_whole_study(study), url, workers=2, truth=CrowdParameters(), seed=1)
    database = open_database(url)
    with transaction(database, write=False) as session:
        judged = list(session.scalars(select(Pair.name).select_from(Judgment).join(Showing).join(Pair)))
        [task] = session.scalars(select(LoadedStudy)).one().tasks
        assert task.files["pairs"]["path"] == "pairs.txt"
    database.engine.dispose()
    assert sorted(judged) == sorted(
        2 * ["SYH-1:sysalpha~sysbeta", "SYH-1:sysalpha~sysgamma", "SYH-2:sysbeta~sysgamma"]
    )


def test_check_counts_them(study):
    """Pairs of a query, pairs of all, and the places that they take."""
    output = CliRunner().invoke(cli, ["study", "check", str(study)], catch_exceptions=False).output
    assert "chooses 2 of 2 queries and judges 1 to 2 pairs of 3 systems, 10 entries a list" in output
    assert "2 workers; 2 judgments of each of 3 pairs" in output


def test_other_pairs_would_corrupt_answers(study, database_in):
    """What the file holds is part of the study, as the runs are."""
    url = database_in(study.parent)
    run_trial(read_whole_study(study), url, workers=1, truth=CrowdParameters(), seed=1)
    (study.parent / "pairs.txt").write_text("SYH-1 sysalpha sysbeta\n")
    ended = CliRunner().invoke(cli, ["study", "load", str(study), "--database", url])
    assert "topic SYH-2 vanishes, which would corrupt answers already given" in str(ended.exception)
    assert "would corrupt answers already given" in str(ended.exception)
