"""The example of public crowd data: the converter on a file of the same form, and what the real data say."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.durations import fit_away, fit_session
from calibration.preference_raters import fit_rater_agreement
from calibration.quality import quality_report
from calibration.study_json import read_study
from calibration.table_files import read_tables

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "sigir2010" / "convert.py"
HEADER = "HITId,WorkerId,AcceptTime,SubmitTime,WorkTimeInSeconds,Input.query,Input.docA,Input.docB,Answer.comment,Answer.radio"
ROWS = (
    # worker 1: two overlapping assignments, one that lies within the second, a new visit 10 minutes later
    ("1", "1", "18:00:00", "18:01:00", "q", "x", "y", "a"),
    ("2", "1", "18:00:30", "18:09:00", "q", "x", "z", "s"),
    ("3", "1", "18:02:00", "18:03:00", "r", "u", "v", "b"),
    ("4", "1", "18:19:00", "18:20:00", "r", "u", "w", ""),
    ("1", "2", "19:00:00", "19:00:20", "q", "x", "y", "b"),
)


def load():
    spec = importlib.util.spec_from_file_location("sigir2010_convert", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONVERT = load()


def written(folder: Path, rows=ROWS, qrel="MTurk\tq\tx\t1\nMTurk\tq\ty\t2\n") -> Path:
    day = "Wed Apr 14 {} GMT 2010"
    lines = [
        f'{hit},{worker},"{day.format(start)}","{day.format(end)}",1,{query},{a},{b},"so, nice",{answer}'
        for hit, worker, start, end, query, a, b, answer in rows
    ]
    (folder / "judgments.csv").write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    (folder / "MTurk.qrel").write_text(qrel, encoding="utf-8")
    return folder


@pytest.fixture
def tables(tmp_path) -> Path:
    CONVERT.convert(written(tmp_path), tmp_path / "tables")
    return tmp_path / "tables"


def test_answers_become_preferences(tables):
    """a is the left one, s is equal; an assignment without an answer is no judgment."""
    rows = read_tables(tables)["preferences"]

    assert rows["choice"].tolist() == ["left", "equally_good", "right", "right"]
    assert rows["pair"].tolist() == ["H1", "H2", "H3", "H1"]
    assert rows["decision_seconds"].tolist() == [60, 510, 60, 20]


def test_overlapping_assignments_are_one_visit_until_the_last_is_submitted(tables):
    """The pause counts from 18:09, when the long one ends, not from 18:03; the unanswered one is work too."""
    rows = read_tables(tables)["visits"]
    clock = rows[["start", "end"]].apply(lambda times: times.dt.strftime("%H:%M:%S"))

    assert clock.to_numpy().tolist() == [
        ["18:00:00", "18:09:00"],
        ["18:19:00", "18:20:00"],
        ["19:00:00", "19:00:20"],
    ]
    assert rows["visit"].tolist() == [1, 2, 1]


def test_a_longer_gap_unites_visits(tmp_path):
    """The option of the command."""
    written(tmp_path)

    assert CONVERT.main([str(tmp_path), "-o", str(tmp_path / "t"), "--visit-gap-seconds", "600"]) == 0
    assert len(read_tables(tmp_path / "t")["visits"]) == 2
    assert read_study(tmp_path / "t").visit_gap_seconds == 600


def test_everybody_is_followed_to_the_end_of_the_study(tables):
    """Not to their own last visit: that would cut the times away of those who never came back."""
    rows = read_tables(tables)["follows"]

    assert rows["started_at"].dt.strftime("%H:%M").tolist() == ["18:00", "19:00"]
    assert set(rows["ended_at"].dt.strftime("%H:%M:%S")) == {"19:00:20"}


def test_the_published_groups_become_scores(tables):
    """The first group is the most similar."""
    rows = pd.read_csv(tables / "scores.csv")

    assert rows.to_numpy().tolist() == [["x", "q", "group", -1], ["y", "q", "group", -2]]


def test_faults_are_named_with_line_and_cure_and_nothing_is_written(tmp_path, capsys):
    """As prefcal's own commands do."""
    rows = [list(row) for row in ROWS]
    rows[1][7], rows[2][2] = "c", "noon"
    written(tmp_path, rows)

    assert CONVERT.main([str(tmp_path), "-o", str(tmp_path / "tables")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in said] == ["4", "3"]
    assert not (tmp_path / "tables").exists()


def test_a_file_that_is_no_qrel_is_named(tmp_path, capsys):
    """Lines of three fields, for example."""
    written(tmp_path, qrel="MTurk q x 1\n")

    assert CONVERT.main([str(tmp_path), "-o", str(tmp_path / "tables")]) == 1
    assert "MTurk.qrel:1: not a judgment" in capsys.readouterr().err


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory):
    """The tables of the real data."""
    folder = tmp_path_factory.mktemp("sigir2010")
    CONVERT.convert(shared / "data" / "sigir2010-crowdsourcing", folder)
    return read_tables(folder), read_study(folder)


def names(fit) -> list[str]:
    return [note.name for note in fit.diagnostics]


def test_fleiss_kappa_of_the_real_data(real):
    """.2323 on all pairs, .2346 on the 276 with ten answers."""
    preferences = real[0]["preferences"]
    answers = preferences.groupby("pair")["pair"].transform("size")

    def kappa(rows: pd.DataFrame) -> float:
        fit = fit_rater_agreement(rows, rng=np.random.default_rng(1), resamples=2)
        return fit.details["fleiss_kappa_as_shown"]

    complete = preferences[answers == 10]
    assert kappa(preferences) == pytest.approx(0.2323, abs=5e-5)
    assert kappa(complete) == pytest.approx(0.2346, abs=5e-5)
    assert complete["pair"].nunique() == 276


def test_quality_of_the_real_data(real):
    """The kappa of the paper is said, the lean to the right is found, and what cannot be told from it."""
    report = quality_report(real[0], seed=1)
    agreement, sides = report.results
    said = {note.name: note.sentence for note in agreement.diagnostics}

    assert "0.2323, and 0.2346 on the 276 of 281 pairs" in said["kappa_as_shown"]
    assert agreement.conf_int(method="topic_bootstrap")["preference_fleiss_kappa"] == pytest.approx(
        (0.2, 0.295), abs=0.01
    )
    assert sides.details["log_odds"] == pytest.approx(-0.355, abs=5e-4)
    assert sides.details["log_odds_se"] == pytest.approx(0.128, abs=5e-4)
    assert {"position_bias", "sides_not_drawn"} <= set(names(sides))


def test_sessions_of_the_real_data_are_consistent_with_an_exponential_law(real):
    """M_D 596 s, S_D 640 s, as another implementation found."""
    tables, _ = real
    fit = fit_session(tables)
    within = next(test for test in fit.goodness_of_fit(n_boot=9) if test.test == "within_worker")

    assert fit.params == pytest.approx({"session_mean_seconds": 596, "session_sd_seconds": 640}, rel=0.01)
    assert fit.conf_int(method="profile")["session_mean_seconds"] == pytest.approx((444, 855), rel=0.02)
    assert within.p_value > 0.2


def test_times_away_of_the_real_data_are_neither_exponential_nor_seen_to_their_end(real):
    """M_A 152 h, more than twice the study: the law is rejected and the extrapolation is warned of."""
    tables, study = real
    fit = fit_away(tables, gap_seconds=study.visit_gap_seconds)
    within = next(test for test in fit.goodness_of_fit(n_boot=9) if test.test == "within_worker")
    low, high = fit.conf_int(method="profile")["away_mean_seconds"]

    assert fit.params["away_mean_seconds"] / 3600 == pytest.approx(152, rel=0.01)
    assert (low / 3600, high / 3600) == pytest.approx((72, 557), rel=0.05)
    assert within.statistic == pytest.approx(4.9, abs=0.2)
    assert within.p_value < 1e-5
    assert "extrapolated" in names(fit)
