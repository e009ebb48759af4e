"""What the report says about streams: their measures against each other, and who is best for whom."""

import dataclasses
import json

import numpy as np
import pytest

from calibration.agree import stream_scores
from calibration.agree.folder import TRIED, UPDATES, of_task
from calibration.user_model.model import write_user_model
from metrics.agreement.correlation import kendall_tau_b
from metrics.files import digest_of
from study_app.report.build import build_report
from study_app.report.folder import read_material
from study_app.report.page import decimal
from study_app.report.parts.streams import _short, best_figure
from tests.study_app.report.agreement_folder import write_folder
from tests.study_app.report.stream_folder import NO_PROMPTS, SYSTEMS, write_stream_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_stream_folder(tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def scores(folder):
    return of_task(read_material(folder).streams, "news", UPDATES)


@pytest.fixture(scope="module")
def report(folder):
    return build_report(read_material(folder))


@pytest.mark.parametrize(
    ("elsewhere", "title"),
    [
        (0, "System alpha scores highest for all 252 populations tried"),
        (1, "System alpha scores highest for all 42 populations tried at L = "),
    ],
)
def test_who_is_best_is_claimed_of_the_levels_of_lateness_that_show_it(scores, elsewhere, title):
    """The map is at one of six; at another one another system may be the best."""
    sweep = scores.sweep("MSU")
    number = int(np.argmin(np.abs(sweep.lateness - scores.people()["lateness"])))
    msu = np.zeros_like(sweep.utility)
    msu[..., 0] = 2.0
    msu[0, 0, (number + 1) % len(sweep.lateness), elsewhere] = 3.0
    rows = scores.scores.copy()
    rows.loc[(rows["metric"] == "MSU") & (rows["people"] == TRIED), "value"] = msu.ravel()

    figure = best_figure(dataclasses.replace(scores, scores=rows), "streams")

    assert figure.title.startswith(title.replace("alpha", scores.systems[0]))
    assert f"at L = {sweep.lateness[number]:g}" in figure.alt


def test_a_task_that_is_called_streams_is_named_once():
    """The list of sections said "Streams, streams"."""
    assert [_short(task) for task in ("streams", "news")] == ["Streams", "Streams, news"]


NOT_ALIKE = ("alpha", "news-best")
"""Figures that hang on the user model, and the one that the first screen has where no agreement was measured."""


def section(report, key):
    return next(one for one in report.sections if one.key == key)


def test_pairs_of_streams_have_the_figures_of_both_papers(report):
    """Tan and others Fig. 1 to 4, Baruah and others Fig. 2 to 5, and the table with the best people."""
    news = section(report, "streams-news")
    names = [figure.name.removeprefix("streams-news-") for figure in news.figures]

    assert names == [
        "elg-msu",
        "lc-msu",
        "msu-closest",
        "msu-farthest",
        "msu-s-closest",
        "elg-1-ncg-1",
        "elg-1-elg-0",
        "ncg-1-ncg-0",
        "silence-precision-elg-1",
        "silence-recall-elg-1",
        "silence-precision-silence-recall",
        "elg-1-t11u",
        "alpha",
    ]
    assert [table.name for table in news.tables] == ["streams-news-systems", "streams-news-push"]


def test_visits_have_no_push_measures(report):
    """Nobody pushed anything there."""
    visits = section(report, "streams-visits")

    assert [table.name for table in visits.tables] == ["streams-visits-systems"]
    assert not any("alpha" in figure.name for figure in visits.figures)


def test_what_was_converted_says_so(report):
    """Judgments for events are no judgments for pushes."""
    for figure in section(report, "streams-news").figures:
        is_push = any(word in figure.name for word in ("elg-1", "ncg", "silence", "alpha"))
        assert ("Converted" in figure.caption) == is_push, figure.name


def test_a_title_says_the_tau_of_its_two_measures(report, scores):
    """The number in the sentence is the correlation of what is drawn."""
    figure = next(one for one in report.figures if one.name == "streams-news-elg-msu")
    tau = kendall_tau_b(scores.overall("ELG"), scores.overall("MSU"))

    assert figure.title.endswith(f"τ = {decimal(tau)}, too few to say")
    drawn = figure.draw.keywords
    assert kendall_tau_b(drawn["x"], drawn["y"]) == tau


def test_the_closest_people_are_closest(report, scores):
    """No population that was tried ranks more like ELG than the one in the title."""
    elg = scores.overall("ELG")
    every = [kendall_tau_b(elg, row) for row in scores.sweep("MSU").utility.reshape(-1, len(SYSTEMS))]
    titles = {figure.name: figure.title for figure in report.figures}

    few = "(4 systems, too few to say)"
    assert titles["streams-news-msu-closest"].endswith(f"τ = {decimal(np.nanmax(every))} {few}")
    assert titles["streams-news-msu-farthest"].endswith(f"τ = {decimal(np.nanmin(every))} {few}")


def test_the_section_names_the_people_it_is_for(report):
    """Fitted: six hours away, a minute there, and how much lateness costs them."""
    words = section(report, "streams-news").paragraphs[0]

    assert "the people who were fitted" in words
    assert "away for 6 hours and there for 60 seconds" in words
    assert "worth 0.40" in words


def test_files_that_are_gone_are_a_sentence(folder, tmp_path):
    """And the rest of the report is as it was."""
    record = json.loads((folder / "tables" / "study.json").read_text())
    record["tasks"] = {"news": record["tasks"]["news"]}
    record["tasks"]["news"]["systems"]["prompt"]["path"] = "../gone.run"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "study.json").write_text(json.dumps(record))
    (tmp_path / "tables" / "prompts.csv").write_text(NO_PROMPTS)
    write_user_model(read_material(folder).model, tmp_path / "user-model.json")

    news = section(build_report(read_material(tmp_path)), "streams-news")

    assert "gone.run is not there" in news.paragraphs[0]
    assert not news.figures


def test_what_agree_stored_is_shown_and_not_scored_again(folder, report, tmp_path, monkeypatch):
    """The files of `prefcal agree` are enough, without collection and runs."""
    write_folder(tmp_path)
    streams = read_material(folder).streams
    record = json.loads((tmp_path / "agree.json").read_text()) | {"streams_not_scored": {}}
    for name, table in (
        ("stream_scores.csv", streams.scores),
        ("stream_correlations.csv", streams.correlations),
    ):
        table.to_csv(tmp_path / name, index=False)
        record["files"][name] = digest_of((tmp_path / name).read_bytes())
    (tmp_path / "agree.json").write_text(json.dumps(record))
    (tmp_path / "tables" / "study.json").write_text((folder / "tables" / "study.json").read_text())
    monkeypatch.delattr(stream_scores, "score_streams")

    stored = build_report(read_material(tmp_path))

    for key in ("streams-news", "streams-visits"):
        assert section(stored, key).tables == section(report, key).tables
        assert [
            figure.title for figure in section(stored, key).figures if not figure.name.endswith(NOT_ALIKE)
        ] == [figure.title for figure in section(report, key).figures if not figure.name.endswith(NOT_ALIKE)]


def test_what_agree_could_not_score_is_a_sentence(folder, tmp_path):
    """Its reason stands in agree.json."""
    write_folder(tmp_path)
    record = json.loads((tmp_path / "agree.json").read_text())
    record |= {"streams_not_scored": {"news": "news.run is not there"}}
    (tmp_path / "agree.json").write_text(json.dumps(record))
    (tmp_path / "tables" / "study.json").write_text((folder / "tables" / "study.json").read_text())

    news = section(build_report(read_material(tmp_path)), "streams-news")

    assert "news.run is not there" in news.paragraphs[0]


def test_without_agreement_the_first_screen_asks_who_is_best_for_whom(report):
    """It answers with the map, says what is missing, and the section does not draw the map again."""
    assert report.front.question == "Which system is best for whom?"
    assert report.front.points["Answer"].startswith("Streams of ")
    assert report.front.points["Against it"].startswith("There is no agreement.csv")
    assert report.front.figure.name.endswith("-best")
    names = [figure.name for figure in report.figures]
    assert len(names) == len(set(names))
