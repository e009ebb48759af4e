"""The pairs that a researcher wants to read: where score and votes are far apart in opposite directions."""

import numpy as np
import pytest

from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import COLUMNS, ShownTexts, disagreement, disagreement_rows, shown_texts
from calibration.tables.sources import NamedFile, TaskSources
from tests.calibration.judged_summaries import study
from tests.metrics.two_layered_files import RUN, write_collection, write_run


def test_it_grows_with_the_lead_in_votes_and_in_score_and_is_nothing_where_both_agree():
    """The formula on five pairs; a tie on either side is no disagreement."""
    difference = np.array([2.0, -1.0, 2.0, 0.0, 1.0])
    share = np.array([0.0, 0.75, 1.0, 0.9, 0.5])

    assert disagreement(difference, share).tolist() == [1.0, 0.25, 0.0, 0.0, 0.0]
    assert disagreement(np.zeros(2), np.ones(2)).tolist() == [0.0, 0.0]


def test_the_strongest_come_first_and_only_so_many():
    """Ranks from 1, every column that the documentation names."""
    (task,) = judged_tasks(study(topics=3))
    difference = np.linspace(-1, 1, len(task.pairs))
    texts = ShownTexts(topics={"q0": "the query"}, sides={"q0": {"alpha": "what alpha says"}})

    rows = disagreement_rows(task, "mine", difference, texts, most=4)

    strength = [row["disagreement"] for row in rows]
    assert strength == sorted(disagreement(difference, task.share).tolist(), reverse=True)[:4]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert tuple(rows[0]) == COLUMNS
    for row in rows:
        assert row["topic_text"] == ("the query" if row["topic"] == "q0" else "")
        assert row["text_a"] == (
            "what alpha says" if (row["topic"], row["system_a"]) == ("q0", "alpha") else ""
        )


def test_a_summary_reads_as_it_was_shown_with_its_second_layers_indented(tmp_path):
    """First layer in order; each link's own layer below it."""
    write_collection(tmp_path)
    write_run(tmp_path, RUN, name="one.xml")
    (task,) = judged_tasks(study(topics=2))
    task.pairs["topic"] = "Q1"
    files = {kind: NamedFile(path=tmp_path / f"{kind}.tsv") for kind in ("queries", "iunits", "intents")}
    sources = TaskSources(
        kind="summary_pairs", collection=files, systems={"one": NamedFile(path=tmp_path / "one.xml")}
    )

    texts = shown_texts(task, sources)

    lines = texts.side("Q1", "one").splitlines()
    links = [place for place, line in enumerate(lines) if line.startswith("[")]
    assert links
    assert lines[links[0] + 1].startswith("    ")
    assert not lines[0].startswith("    ")
    assert texts.topic("Q1")


@pytest.mark.parametrize("sources", [None, TaskSources(kind="questions"), TaskSources(kind="summary_pairs")])
def test_without_files_texts_are_empty(sources):
    """The pairs are listed all the same."""
    (task,) = judged_tasks(study(topics=2))

    assert shown_texts(task, sources).side("q0", "alpha") == ""
