"""Agreement of the measures of updates about events with preferences between streams."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.tables.sources import NamedFile, TaskSources
from calibration.user_model.model import ParameterEntry, UserModel
from metrics.errors import InputError
from metrics.msu.measures import MSU
from metrics.msu.score import score_msu
from metrics.msu.trails import Population, SimulatedUsers
from metrics.push.conversion import push_from_events, push_run_from_updates
from metrics.push.measures import ELG
from metrics.push.score import score_push
from metrics.readers.tempsum import read_events, read_update_run
from tests.calibration.judged_streams import (
    TASK,
    by_hand,
    choices,
    differences,
    measures,
)
from tests.metrics.event_files import FILES, RUN, write_events, write_updates

PAPER = Population(
    away_mean_seconds=10_800, away_sd_seconds=5400, session_mean_seconds=120, session_sd_seconds=60
)


def as_posted(text):
    """Give documents ids that begin with the time at which they were posted, as the track's do."""
    for name, seconds in (("d1", 1_000_000), ("d2", 1_015_000), ("d3", 2_000_000), ("d9", 1_030_000)):
        text = text.replace(name, f"{seconds}-{name}")
    return text


@pytest.fixture
def events_study(tmp_path):
    """Two events and three runs of updates."""
    paths = write_events(tmp_path, **{kind: as_posted(FILES[kind]) for kind in ("matches", "updates")})
    lines = as_posted(RUN).splitlines()
    texts = {"a": as_posted(RUN), "b": lines[1] + "\n", "c": lines[2] + "\n"}
    runs = {name: write_updates(tmp_path, text, name=name) for name, text in texts.items()}
    sources = TaskSources(
        kind="stream_pairs",
        collection={kind: NamedFile(path=path) for kind, path in paths.items()},
        systems={name: NamedFile(path=path) for name, path in runs.items()},
    )
    preferences = choices(tuple(runs), ("TS14.1", "TS14.2"), np.random.default_rng(1))
    return sources, preferences, paths, runs


def entry(estimate):
    return ParameterEntry(estimate=estimate)


def test_events_are_scored_by_msu_first_and_by_converted_push_measures(events_study):
    """For updates about events MSU is at home, and the push family is converted."""
    sources, preferences, paths, runs = events_study

    found = agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}))

    names = list(measures(found).index)
    assert names[:4] == ["MSU@0.5", "ELG", "LC", "HM"]
    assert names[4:] == [f"{one} (converted)" for one in ("ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U")]
    events = read_events(**paths)
    updates = [read_update_run(path, name=name) for name, path in runs.items()]
    users = SimulatedUsers(population=PAPER, count=1000, seed=1)
    msu = score_msu(events, updates, [MSU()], users)
    elg = score_push(push_from_events(events), map(push_run_from_updates, updates), [ELG()])
    for measure, scores, metric in (("MSU@0.5", msu, "MSU@0.5"), ("ELG-1 (converted)", elg, "ELG-1")):
        actual = differences(found, measure)
        assert actual == pytest.approx(by_hand(scores, metric, actual))
        assert any(actual.values())


@pytest.mark.filterwarnings("ignore::metrics.unused_input.LeftOutWarning")
def test_days_cut_events_too(events_study):
    """What was not shown is not scored: the first event begins in the afternoon and goes on the next day."""
    sources, preferences, paths, runs = events_study
    first = preferences[preferences["topic"] == "TS14.1"]
    one_day = replace(sources, protocol={"days": ["19700112", "19700112"]})

    found = agree(ScoreSources(tables={"preferences": first}, sources={TASK: one_day}))

    events = read_events(**paths)
    cut = replace(events.topics["TS14.1"], end=12 * 86_400.0)
    users = SimulatedUsers(population=PAPER, count=1000, seed=1)
    updates = [read_update_run(path, name=name) for name, path in runs.items()]
    scores = score_msu(replace(events, topics={"TS14.1": cut}), updates, [MSU()], users)
    actual = differences(found, "MSU@0.5")
    assert actual == pytest.approx(by_hand(scores, "MSU@0.5", actual))


def test_updates_that_do_not_say_when_they_were_posted_are_no_pushes(events_study, tmp_path):
    """A collection of one's own may have other ids: MSU all the same, and a sentence."""
    sources, preferences, *_ = events_study
    other = {kind: NamedFile(path=path) for kind, path in write_events(tmp_path).items()}

    found = agree(
        ScoreSources(tables={"preferences": preferences}, sources={TASK: replace(sources, collection=other)})
    )

    assert list(measures(found).index) == ["MSU@0.5", "ELG", "LC", "HM"]
    assert "no push measures" in found.notes[0]


def test_the_fitted_population_reads_and_what_it_lacks_is_the_papers(events_study):
    """Away and lateness are the model's; half a law of speed is none; the sentence names the rest."""
    sources, preferences, paths, runs = events_study
    fitted = {"away_mean_seconds": 40_000.0, "away_sd_seconds": 9_000.0, "lateness_decay": 0.25}
    model = UserModel(
        parameters={name: entry(value) for name, value in (fitted | {"reading_speed_mu": 0.1}).items()}
    )

    found = agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: sources}, model=model))

    people = replace(PAPER, away_mean_seconds=40_000.0, away_sd_seconds=9_000.0)
    scores = score_msu(
        read_events(**paths),
        [read_update_run(path, name=name) for name, path in runs.items()],
        [MSU(lateness=0.25)],
        SimulatedUsers(population=people, count=1000, seed=1),
    )
    actual = differences(found, "MSU@fitted")
    assert actual == pytest.approx(by_hand(scores, "MSU@0.25", actual))
    row = measures(found).loc["MSU@fitted"]
    assert (row["role"], row["fit"], row["lateness"]) == ("fitted", "other_data", 0.25)
    assert "MSU@fitted takes session_mean_seconds, session_sd_seconds" in found.notes[0]


def test_a_topic_that_is_not_on_the_days_of_the_task_is_named(events_study):
    """Its streams would all be worth the same."""
    sources, preferences, *_ = events_study
    away = replace(sources, protocol={"days": ["19700112", "19700113"]})

    with pytest.raises(
        InputError, match=r"judged, but without cells: a on TS14\.2, b on TS14\.2, c on TS14\.2"
    ):
        agree(ScoreSources(tables={"preferences": preferences}, sources={TASK: away}))
