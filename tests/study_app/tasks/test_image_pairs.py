"""`image_pairs` goes all the way: a crowd judges pictures by known worths through the real pages, and every command reads what it did."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sqlalchemy import select

from calibration.tables.files import read_tables
from metrics.errors import InputError
from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.simulate.browser import PageError
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from study_app.tasks.content import drawn_worth
from tests.study_app.small_pictures import SYSTEMS, drawn, write_large_study, write_picture_study

WORKERS, TOPICS = 16, 8


def run(*args):
    """Run a command."""
    return CliRunner().invoke(cli, [*map(str, args)], catch_exceptions=False)


@pytest.fixture(scope="module")
def done(tmp_path_factory, database_in):
    """A crowd went through a study of pictures over HTTP, and its tables were written."""
    folder = tmp_path_factory.mktemp("pictures")
    path, url = write_large_study(folder, TOPICS, task={"validation_pairs": 3}), database_in(folder)
    content = read_whole_study(path)
    report, clock = run_trial(content, url, workers=WORKERS, truth=CrowdParameters(), seed=1)
    assert report.finished == WORKERS
    database = open_database(url)
    assert check_database(database) == []
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), folder / "tables", now=clock())
    database.engine.dispose()
    worths = drawn_worth(content.tasks[0])
    rows = [(system, topic, "worth", worth) for (topic, system), worth in worths.items()]
    rows += [(system, topic, "against", -worth) for (topic, system), worth in worths.items()]
    frame = pd.DataFrame(rows, columns=["run", "topic", "metric", "value"])
    frame.to_csv(folder / "scores.csv", index=False)
    frame[frame["metric"] == "against"].to_csv(folder / "against.csv", index=False)
    return folder


def test_a_crowd_prefers_what_is_worth_more(done):
    """So a measure that knows the worths agrees with it, and one that is against them does not."""
    run("agree", done / "tables", "--scores", done / "scores.csv", "-o", done / "agree")
    agreement = pd.read_csv(done / "agree" / "agreement.csv").query("ties == 'against'").set_index("measure")
    assert agreement.loc["worth", "agreement"] > 0.8
    assert agreement.loc["against", "agreement"] < 0.2


def test_who_is_preferred_is_ranked_as_the_worths_are(done):
    """By win rates."""
    run("rank", done / "tables", "-o", done / "rank")
    ranking = pd.read_csv(done / "rank" / "ranking.csv")
    worths = drawn_worth(read_whole_study(done / "study.yaml").tasks[0])
    means = {
        name: np.mean([worth for (_, system), worth in worths.items() if system == name]) for name in SYSTEMS
    }
    assert list(ranking["system"]) == sorted(SYSTEMS, key=means.get, reverse=True)


def test_reads_have_looks_at_pictures_without_words(done):
    """A row a picture that was seen, by the hash that table media has, with its time; no stops."""
    tables = read_tables(done / "tables")
    reads, media = tables["reads"], tables["media"]
    assert set(reads["kind"]) == {"media"}
    assert reads[["words", "chars", "end_offset_chars"]].isna().all(axis=None)
    assert (reads["dwell_seconds"] > 0).mean() > 0.9
    assert reads["fully_seen"].all()
    named = reads.merge(media, left_on=["topic", "system", "item"], right_on=["topic", "system", "media"])
    assert len(named) == len(reads)
    assert "stops" not in tables
    assert run("check", done / "tables").exit_code == 0


def test_a_row_of_text_without_words_is_still_a_fault(done, tmp_path):
    """Only a picture has none."""
    reads = pd.read_csv(done / "tables" / "reads.csv")
    reads.loc[2, "kind"] = "iunit"
    reads.to_csv(tmp_path / "reads.csv", index=False)
    with pytest.raises(
        InputError,
        match=r"reads\.csv:4: .*words is empty, and the item is no picture or sound; write how many words",
    ):
        run("check", tmp_path)


def test_pictures_take_no_part_in_reading_speed_and_are_counted(done, tmp_path):
    """They have no length."""
    result = run("fit", done / "tables", "-o", tmp_path / "model.json")
    assert re.search(r"reading_speed_mu.*rows not used: \d+ pictures or sounds\)", result.output)
    assert json.loads((tmp_path / "model.json").read_text())["parameters"] == {}


def test_disagreements_tell_the_pictures_in_words_and_show_them(done):
    """The report has them small; where a file has changed since, its words alone."""
    run("agree", done / "tables", "--scores", done / "against.csv", "-o", done)
    rows = pd.read_csv(done / "disagreements.csv")
    assert len(rows) == 10
    assert rows["text_a"].str.fullmatch(r"bars for PT-\d by hand \d \[[0-9a-f]{12}\]").all()
    assert rows["topic_text"].str.startswith("wish ").all()
    run("report", done)
    page = (done / "report.html").read_text(encoding="utf-8")
    shown = len(re.findall(r'<img src="data:image/jpeg;base64,', page))
    assert shown == 2 * len(rows)
    assert "a worker looked at two pictures of a topic, of 3 systems" in page
    words = " ".join(
        path.read_text(encoding="utf-8") for path in (done / "report-tables").glob("*disagreements*")
    )
    assert "bars for PT-" in words
    assert "base64" not in words
    first = rows.iloc[0]
    picture = done / first["system_a"] / f"{first['topic']}.png"
    kept = picture.read_bytes()
    picture.write_bytes(b"another")
    run("report", done)
    picture.write_bytes(kept)
    fewer = len(
        re.findall(r'<img src="data:image/jpeg;base64,', (done / "report.html").read_text(encoding="utf-8"))
    )
    assert 0 < fewer < shown


def test_equal_pictures_are_worth_the_same_to_a_crowd(tmp_path):
    """A pair of them that was named on purpose, so that nobody votes for a name that they cannot see."""
    plain = io.BytesIO()
    drawn(SYSTEMS["picalpha"], bars=1).save(plain, "PNG")
    files = {
        "picbeta/PT-1.png": plain.getvalue(),
        "pairs.txt": b"PT-1 picalpha picbeta\nPT-1 picalpha picgamma\n",
    }
    path = write_picture_study(tmp_path, task={"pairs": "pairs.txt"}, files=files)
    worths = drawn_worth(read_whole_study(path).tasks[0])
    assert worths["PT-1", "picalpha"] == worths["PT-1", "picbeta"] != worths["PT-1", "picgamma"]


def test_a_crowd_notices_a_picture_that_is_not_what_its_address_says(tmp_path, database_in):
    """Each is loaded once and held against its hash."""
    content, url = read_whole_study(write_picture_study(tmp_path)), database_in(tmp_path)
    (task,) = content.tasks
    others = replace(task, media=dict.fromkeys(task.media, lambda: b"something else"))
    with pytest.raises(PageError, match=r"/m/[0-9a-f]{64}: the picture is not there, or another \(200\)"):
        run_trial(replace(content, tasks=(others,)), url, workers=1, truth=CrowdParameters(), seed=1)
