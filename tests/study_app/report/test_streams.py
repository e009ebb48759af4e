"""What the report says about streams: their measures against each other, and who is best for whom."""

import dataclasses
import json

import numpy as np
import pytest

from calibration.agree.measures.stream_files import read_stream_files
from calibration.tables.sources import study_sources
from calibration.user_model.model import write_user_model
from metrics.agreement.correlation import kendall_tau_b
from metrics.push.score import T11U, push_scores
from study_app.report.build import build_report
from study_app.report.folder import read_material
from study_app.report.parts.msu import best_figure
from study_app.report.stream_scores import (
    ALPHAS,
    AWAY_SECONDS,
    LATENESSES,
    SESSION_SECONDS,
    stream_scores,
)
from study_app.report.wording import decimal
from tests.study_app.report.stream_folder import NO_PROMPTS, SYSTEMS, write_stream_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_stream_folder(tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def scores(folder):
    material = read_material(folder)
    return stream_scores(study_sources(folder / "tables", ["news"])["news"], material.model)


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
    msu = np.zeros_like(scores.sweep.msu)
    msu[..., 0] = 2.0
    number = int(np.argmin(np.abs(np.array(LATENESSES) - scores.lateness)))
    msu[0, 0, (number + 1) % len(LATENESSES), elsewhere] = 3.0
    changed = dataclasses.replace(scores, sweep=dataclasses.replace(scores.sweep, msu=msu))

    (figure,) = best_figure(changed, "streams")

    assert figure.title.startswith(title.replace("alpha", scores.updates.systems[0]))
    assert f"at L = {LATENESSES[number]:g}" in figure.alt


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
        "best",
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
    tau = kendall_tau_b(scores.updates.overall["ELG"], scores.updates.overall["MSU"])

    assert figure.title.endswith(f"τ = {decimal(tau)}")
    drawn = figure.draw.keywords["against"]
    assert kendall_tau_b(drawn.x, drawn.y) == tau


def test_tau_over_alpha_is_that_of_t11u_at_every_alpha(folder, scores):
    """The curve mixes the two ends of T11U; the measure itself says the same."""
    files = read_stream_files(study_sources(folder / "tables", ["news"])["news"])
    elg = scores.pushes.scored.overall["ELG-1"]

    measures = {str(alpha): T11U(alpha=alpha) for alpha in ALPHAS.tolist()}
    direct = push_scores(files.pushes, files.push_runs, measures)
    taus = [
        kendall_tau_b(elg, [one.value for one in direct if (one.topic, one.metric) == ("all", name)])
        for name in measures
    ]

    np.testing.assert_allclose(scores.pushes.tau_over_alpha, taus)
    assert len(set(np.round(taus, 3))) > 1


def test_the_closest_people_are_closest(report, scores):
    """No population that was tried ranks more like ELG than the one in the title."""
    elg = scores.updates.overall["ELG"]
    every = [kendall_tau_b(elg, row) for row in scores.sweep.msu.reshape(-1, len(SYSTEMS))]
    titles = {figure.name: figure.title for figure in report.figures}

    few = "(4 systems, too few to say)"
    assert titles["streams-news-msu-closest"].endswith(f"τ = {decimal(np.nanmax(every))} {few}")
    assert titles["streams-news-msu-farthest"].endswith(f"τ = {decimal(np.nanmin(every))} {few}")


def test_the_best_rank_of_a_system_is_found_by_looking_at_every_population(scores):
    """Against a loop over all of them."""
    shape = (len(AWAY_SECONDS), len(SESSION_SECONDS), len(LATENESSES))
    for system in range(len(SYSTEMS)):
        found = []
        for place in np.ndindex(shape):
            row = scores.sweep.msu[place]
            found.append((1 + int((row > row[system]).sum()), -row[system], place))
        rank, utility, _ = min(found)

        best, where = scores.sweep.best(system)
        assert (best, -scores.sweep.msu[where][system]) == (rank, utility)


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
