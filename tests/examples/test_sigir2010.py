"""The example of public crowd data: the converter on a file of the same form, and what the real data say."""

import importlib.util
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.checks.durations.regular_visits import greenwood_z
from calibration.checks.registry import run_checks
from calibration.checks.uneven_sides import check_position_bias
from calibration.models.durations.fit import fit_exposure
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.raters.preferences import fit_rater_agreement
from calibration.raters.quality import quality_report
from calibration.tables.files import read_tables
from calibration.tables.study_json import read_study
from study_app.cli import cli
from tests.study_app.prefcal_command import run_here

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "sigir2010"
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
    spec = importlib.util.spec_from_file_location("sigir2010_scores", FOLDER / "scores.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCORES = load()


def shown(data: Path, into: Path) -> list[list[str]]:
    """Return the prefcal commands of the README as lists of words, with folders of ours."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8").split("## Commands")[1].split("\n## ")[0]
    lines = text.replace("\\\n", " ").splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("    prefcal ")]
    places = {"tables": str(into / "tables"), "DATA/judgments.csv": str(data / "judgments.csv")}
    return [[places.get(word, word) for word in command[1:]] for command in commands]


def written(folder: Path, rows=ROWS) -> Path:
    day = "Wed Apr 14 {} GMT 2010"
    lines = [
        f'{hit},{worker},"{day.format(start)}","{day.format(end)}",1,{query},{a},{b},"so, nice",{answer}'
        for hit, worker, start, end, query, a, b, answer in rows
    ]
    (folder / "judgments.csv").write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    return folder


@pytest.fixture
def run(monkeypatch, capsys):
    """Run prefcal with words, or fail on what it says."""

    def run(words):
        ended = run_here(monkeypatch, capsys, *words)
        assert ended.code == 0, ended.err
        return ended

    return run


@pytest.fixture
def tables(tmp_path, run) -> Path:
    """What the README's first command makes of a few rows."""
    ended = run(shown(written(tmp_path), tmp_path)[0])
    assert "4 preferences, 2 follows, 3 visits, 1 without an answer" in ended.out
    return tmp_path / "tables"


def test_answers_become_preferences(tables):
    """a is the left one, s is equal; an assignment without an answer is no judgment."""
    rows = read_tables(tables)["preferences"]

    assert rows["choice"].tolist() == ["left", "equally_good", "right", "right"]
    assert rows["pair"].tolist() == ["1", "2", "3", "1"]
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


def test_a_longer_gap_unites_visits(tmp_path, run):
    """The option of the command."""
    words = shown(written(tmp_path), tmp_path)[0]
    run(["600" if word == "304" else word for word in words])

    assert len(read_tables(tmp_path / "tables")["visits"]) == 2
    assert read_study(tmp_path / "tables").visit_gap_seconds == 600


def test_everybody_is_followed_to_the_end_of_the_study(tables):
    """Not to their own last visit: that would cut the times away of those who never came back."""
    rows = read_tables(tables)["follows"]

    assert rows["started_at"].dt.strftime("%H:%M").tolist() == ["18:00", "19:00"]
    assert set(rows["ended_at"].dt.strftime("%H:%M:%S")) == {"19:00:20"}


def test_the_published_groups_become_scores(tmp_path):
    """The first group is the most similar."""
    (tmp_path / "MTurk.qrel").write_text("MTurk\tq\tx\t1\nMTurk\tq\ty\t2\n")

    assert SCORES.main([str(tmp_path / "MTurk.qrel"), "-o", str(tmp_path / "scores.csv")]) == 0
    rows = pd.read_csv(tmp_path / "scores.csv")
    assert rows.to_numpy().tolist() == [["x", "q", "group", -1], ["y", "q", "group", -2]]


def test_a_file_that_is_no_qrel_is_named(tmp_path, capsys):
    """Lines of three fields, or without a group."""
    (tmp_path / "MTurk.qrel").write_text("MTurk q x 1\nMTurk\tq\tx\tfirst\n")

    assert SCORES.main([str(tmp_path / "MTurk.qrel"), "-o", str(tmp_path / "scores.csv")]) == 1
    said = capsys.readouterr().err
    assert "MTurk.qrel:1: expected tabs between the fields" in said
    assert "MTurk.qrel:2: the group is 'first'" in said
    assert not (tmp_path / "scores.csv").exists()


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory):
    """The tables of the real data, by the README's command."""
    folder = tmp_path_factory.mktemp("sigir2010")
    words = shown(shared / "data" / "sigir2010-crowdsourcing", folder)[0]
    cli.main(words, standalone_mode=False)
    return read_tables(folder / "tables"), read_study(folder / "tables")


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
    assert "position_bias" in names(sides)
    assert check_position_bias(sides, real[0]["preferences"]).name == "sides_not_drawn"


def test_sessions_of_the_real_data_are_consistent_with_an_exponential_law(real):
    """M_D 596 s, S_D 640 s, as another implementation found."""
    tables, _ = real
    fit = fit_exposure(session_exposure(tables))
    z = greenwood_z(session_exposure(tables))

    assert fit.estimates[:2] == pytest.approx([596, 640], rel=0.01)
    assert fit.conf_int(method="profile")["session_mean_seconds"] == pytest.approx((444, 855), rel=0.02)
    assert abs(z) < 1.28


def test_times_away_of_the_real_data_are_neither_exponential_nor_seen_to_their_end(real):
    """M_A 152 h, more than twice the study: the law is rejected and the extrapolation is warned of."""
    tables, study = real
    exposure = away_exposure(tables, gap_seconds=study.visit_gap_seconds)
    fit = fit_exposure(exposure)
    findings = {finding.name: finding for finding in run_checks(fit, exposure)}
    low, high = fit.conf_int(method="profile")["away_mean_seconds"]

    assert fit.params["away_mean_seconds"] / 3600 == pytest.approx(152, rel=0.01)
    assert (low / 3600, high / 3600) == pytest.approx((72, 557), rel=0.05)
    assert greenwood_z(exposure) == pytest.approx(4.9, abs=0.2)
    assert findings["uneven_visits"].p_value < 1e-5
    assert {findings[name].severity for name in ("extrapolated", "uneven_visits")} == {"warning"}
