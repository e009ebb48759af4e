"""Scores of streams that `prefcal agree` stores: tau along alpha, and for whom a system is best."""

import numpy as np
import pytest

from calibration.agree.folder import CORRELATION_COLUMNS, PUSH, SCORE_COLUMNS, UPDATES, of_task
from calibration.agree.measures.stream_files import read_stream_files
from calibration.agree.stream_scores import ALPHAS, AWAY_SECONDS, LATENESSES, SESSION_SECONDS, score_streams
from calibration.tables.sources import study_sources
from metrics.agreement.correlation import kendall_tau_b
from metrics.push.measures import T11U
from metrics.push.score import push_scores
from tests.study_app.report.stream_folder import SYSTEMS, write_stream_folder


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = write_stream_folder(tmp_path_factory.mktemp("streams"))
    return study_sources(folder / "tables", ["news"])


@pytest.fixture(scope="module")
def tables(sources):
    return score_streams(sources)


def test_tau_over_alpha_is_that_of_t11u_at_every_alpha(sources, tables):
    """The curve mixes the two ends of T11U; the measure itself says the same."""
    files = read_stream_files(sources["news"])
    pushes = of_task(tables, "news", PUSH)

    measures = {str(alpha): T11U(alpha=alpha) for alpha in ALPHAS.tolist()}
    direct = push_scores(files.pushes, files.push_runs, measures)
    taus = [
        kendall_tau_b(
            pushes.overall("ELG-1"),
            [score.value for score in direct if (score.topic, score.metric) == ("all", name)],
        )
        for name in measures
    ]

    np.testing.assert_allclose(pushes.along_alpha()["tau"], taus)
    assert len(set(np.round(taus, 3))) > 1


def test_the_best_rank_of_a_system_is_found_by_looking_at_every_population(tables):
    """Against a loop over all of them."""
    updates = of_task(tables, "news", UPDATES)
    sweep = updates.sweep("MSU")
    grids = (AWAY_SECONDS, SESSION_SECONDS, LATENESSES)
    for system in range(len(SYSTEMS)):
        places = []
        for place in np.ndindex(tuple(map(len, grids))):
            row = sweep.utility[place]
            where = tuple(grid[number] for grid, number in zip(grids, place, strict=True))
            places.append((1 + int((row > row[system]).sum()), -row[system], where))
        rank, _, where = min(places)

        assert updates.best(system) == (rank, where)


def test_the_tables_have_the_documented_columns(tables):
    """Every row is of a task; the system that never pushes has no name."""
    assert tuple(tables.scores.columns) == SCORE_COLUMNS
    assert tuple(tables.correlations.columns) == CORRELATION_COLUMNS
    assert set(tables.scores[tables.scores["run"].isna()]["metric"]) == {"ELG-1", "ELG-0", "nCG-1", "nCG-0"}
