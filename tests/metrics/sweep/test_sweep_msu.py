"""A sweep of MSU: its numbers are those of `score msu`, it goes on where it was, and says so where it cannot."""

import json
import os
import signal
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from metrics.agreement import bootstrap_interval, kendall_tau_b, tau_ap
from metrics.errors import InputError
from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError
from metrics.msu.score import msu_scores
from metrics.msu.trails import Population, SimulatedUsers
from metrics.readers.tempsum import read_events, read_update_run
from metrics.results import ALL, Score
from metrics.sweep import SweepGrid, read_sweep, sweep_msu
from metrics.sweep.equivalent_populations import as_close, points_like, told_apart
from metrics.sweep.tables import references

STREAMS = Path(__file__).resolve().parents[3] / "examples" / "two_layered" / "streams"
GRID = SweepGrid(away_seconds=(3600, 28_800), session_seconds=(45,), spread=(0.5, 2), lateness=(0, 0.1, 1))
USERS, SEED = 8, 3
TABLES = ("sweep.parquet", "best.csv", "correlation.csv", "measures.csv")


@pytest.fixture(scope="module")
def judged():
    files = {name: STREAMS / f"{name}.tsv" for name in ("nuggets", "matches", "updates")}
    return read_events(topics=STREAMS / "topics.xml", **files)


@pytest.fixture(scope="module")
def runs():
    return [read_update_run(path, name=path.stem) for path in sorted((STREAMS / "runs").glob("*.txt"))]


@pytest.fixture(scope="module")
def sweep(judged, runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    return sweep_msu(judged, runs, folder, grid=GRID, users=USERS, seed=SEED)


def swept(judged, runs, folder, **options):
    return sweep_msu(judged, runs, folder, **{"grid": GRID, "users": USERS, "seed": SEED, **options})


def content(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


def test_every_point_equals_score_msu_to_the_last_digit(sweep, judged, runs):
    """The same seed draws the same users; all decays come from one pass."""
    kinds = {"MSU": MSU, "MSU-se": MSUStandardError, "MSU/s": MSUPerSecond}
    frame = sweep.frame()
    assert len(frame) == len(GRID) * len(runs)
    for key, rows in frame.groupby(list(frame)[:5]):
        people = Population(**dict(zip(list(frame)[:4], key[:4], strict=True)))
        measures = {name: kind(lateness=key[4]) for name, kind in kinds.items()}
        users = SimulatedUsers(population=people, count=USERS, seed=SEED)
        scores = msu_scores(judged, runs, measures, users)
        expected = {(one.run, one.metric): one.value for one in scores if one.topic == ALL}
        assert {(row["run"], name): row[name] for _, row in rows.iterrows() for name in kinds} == expected


def test_a_stopped_sweep_goes_on_and_ends_in_the_same_bytes(sweep, judged, runs, tmp_path):
    """Only what is missing is computed again, and nothing shows that it was stopped."""

    def stop(plan, parts):
        for number, part in enumerate(parts):
            if number == 3:
                raise KeyboardInterrupt
            yield part

    with pytest.raises(KeyboardInterrupt):
        swept(judged, runs, tmp_path, watch=stop)
    (tmp_path / "parts" / ".000004.npz.1234.part").write_bytes(b"half")  # as kill -9 leaves it
    plans = []
    swept(judged, runs, tmp_path, watch=lambda plan, parts: plans.append(plan) or parts)

    assert [plan.missing for plan in plans] == [GRID.population_count - 3]
    assert "8 populations x 3 lateness decays; 3 populations are there already; 4 runs on" in str(plans[0])
    assert content(tmp_path) == content(sweep.folder)


def test_parts_of_another_sweep_are_refused_in_one_line(sweep, judged, runs):
    """Numbers of two sweeps in one table would be wrong without a word."""
    with pytest.raises(InputError, match="parts of another sweep \\(other users, seed\\)"):
        swept(judged, runs, sweep.folder, users=USERS + 1, seed=SEED + 1)
    with pytest.raises(InputError, match="parts of another sweep \\(other runs, updates or judgments\\)"):
        swept(judged, runs[:2], sweep.folder)


def test_a_damaged_part_is_named_with_its_cure_before_a_plan_counts_it(judged, runs, tmp_path):
    """Others are computed for hours, and only the tables would miss it."""
    swept(judged, runs, tmp_path)
    (tmp_path / "parts" / "000002.npz").write_bytes(b"PK")
    (tmp_path / "parts" / "000003.npz").unlink()
    plans = []

    with pytest.raises(InputError, match=r"000002\.npz.*delete it"):
        swept(judged, runs, tmp_path, watch=lambda plan, parts: plans.append(plan) or parts)
    assert not plans


def test_a_copy_of_another_part_is_no_part(judged, runs, tmp_path):
    """The tables would be wrong without a word."""
    swept(judged, runs, tmp_path)
    parts = tmp_path / "parts"
    (parts / "000002.npz").write_bytes((parts / "000001.npz").read_bytes())

    with pytest.raises(InputError, match=r"000002\.npz.*damaged; delete it"):
        swept(judged, runs, tmp_path)


def test_a_damaged_table_is_written_anew_by_the_same_sweep(sweep, judged, runs, tmp_path):
    found = swept(judged, runs, tmp_path)
    table = tmp_path / "sweep.parquet"
    table.write_bytes(table.read_bytes()[:100])

    with pytest.raises(InputError, match=r"sweep\.parquet:1: .*damaged; run the same prefcal sweep again"):
        found.frame()
    swept(judged, runs, tmp_path)
    assert content(tmp_path) == content(sweep.folder)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "{}",
        "[1]",
        '{"format": "prefcal-sweep/1"}',
        "[" * 100_000,
        *(f'"{name}": null' for name in ("users", "runs", "topics", "lateness")),
    ],
)
def test_a_folder_that_does_not_say_which_sweep_it_has_is_refused(sweep, tmp_path, content):
    copytree(sweep.folder, tmp_path, dirs_exist_ok=True)
    whole = json.loads((tmp_path / "sweep.json").read_text(encoding="utf-8"))
    if content.startswith('"'):
        content = json.dumps(whole | json.loads(f"{{{content}}}"))
    (tmp_path / "sweep.json").write_text(content, encoding="utf-8")

    with pytest.raises(InputError, match=r"sweep\.json:1: the settings of the sweep"):
        read_sweep(tmp_path)


@pytest.mark.parametrize("name", ["best", "correlation", "others"])
def test_a_table_that_was_cut_changed_or_lost_a_row_is_damaged(sweep, tmp_path, name):
    """No figure may quietly lack a point, or a measure."""
    copytree(sweep.folder, tmp_path, dirs_exist_ok=True)
    table = tmp_path / {"others": "measures.csv"}.get(name, f"{name}.csv")
    whole = table.read_text(encoding="utf-8")
    getattr(read_sweep(tmp_path), name)()
    rows = whole.splitlines(keepends=True)
    for spoilt in (
        "",
        "no table\n",
        whole[: len(whole) // 2],
        "".join(rows[:-1]),
        whole.replace("0.", "x.", 1),
    ):
        table.write_text(spoilt, encoding="utf-8")
        with pytest.raises(InputError, match=rf"{table.name}:1: .*damaged; run the same prefcal sweep again"):
            getattr(read_sweep(tmp_path), name)()


def test_a_run_that_says_nothing_of_a_judged_topic_is_refused(judged, runs, tmp_path):
    strange = read_update_run(STREAMS / "runs" / "late.txt", name="strange")
    object.__setattr__(strange, "topics", ("none",) * len(strange.topics))

    with pytest.raises(InputError, match="strange:1: no update about a judged topic: strange"):
        swept(judged, [*runs, strange], tmp_path)
    with pytest.raises(ValueError, match="at least one user"):
        swept(judged, runs, tmp_path, users=0)


def test_best_csv_has_the_leader_of_each_point_and_the_best_point_of_each_run(sweep):
    """Of several points of its best rank the one of highest MSU, as in the paper's Table 3."""
    frame, best = sweep.frame(), sweep.best()
    point = list(frame)[:5]
    frame["MSU"] = [float(f"{value:.13g}") for value in frame["MSU"]]
    frame["rank"] = frame.groupby(point)["MSU"].rank(ascending=False, method="min")
    leaders = best[best["of"] == "population"]
    assert (frame[frame["rank"] == 1].drop_duplicates(point)["run"].to_numpy() == leaders["run"]).all()
    for _, row in best[best["of"] == "system"].iterrows():
        own = frame[frame["run"] == row["run"]].sort_values(["rank", "MSU"], ascending=[True, False])
        assert int(row["rank"]) == own["rank"].iloc[0]
        assert float(row["MSU"]) == pytest.approx(own["MSU"].iloc[0], rel=1e-12)


def test_the_summary_says_how_many_points_share_the_highest_tau(sweep, tmp_path):
    """One of several with no word of the others would be an answer that the numbers do not give."""
    copytree(sweep.folder, tmp_path, dirs_exist_ok=True)
    taus = sweep.correlation()
    taus.loc[taus["metric"] == "MSU", "tau-b"] = [0.5, 0.9] * 3 + [-0.1, 0.2] * (len(GRID) - 3)
    taus.loc[(taus["metric"] == "MSU/s") & (taus["against"] == "ELG"), "tau-b"] = 0.25
    taus.loc[(taus["metric"] == "MSU/s") & (taus["against"] == "LC"), "tau-b"] = [0.8, 0.8, *[0.3] * 22]
    taus.to_csv(tmp_path / "correlation.csv", index=False, na_rep="nan")

    first = "away 1 h (sd 30 min), there 45 s (sd 22.5 s)"
    assert read_sweep(tmp_path).summary().splitlines()[-4:] == [
        f"MSU ranks most like ELG for {first}, L = 0, and 2 more points: tau-b 0.500",
        f"MSU ranks most like LC for {first}, L = 0, and 2 more points: tau-b 0.900",
        "MSU/s and ELG rank equally alike at every point: tau-b 0.250",
        f"MSU/s ranks most like LC for {first}, L = 0, and 1 more point: tau-b 0.800",
    ]


def test_correlations_are_those_of_prefcal_correlate(sweep):
    """Of values as they are printed, so that no noise of arithmetic breaks a tie; the other measure is the reference of tau-AP."""
    frame, others, taus = sweep.frame(), sweep.others(), sweep.correlation()
    assert set(taus["against"]) == {"ELG", "LC"}
    for (metric, against), rows in taus.groupby(["metric", "against"]):
        last = [float(f"{value:.13g}") for value in frame[metric].iloc[-len(sweep.runs) :]]
        assert rows["tau-b"].iloc[-1] == pytest.approx(kendall_tau_b(others[against], last))
        assert rows["tau-AP"].iloc[-1] == pytest.approx(tau_ap(others[against], last), nan_ok=True)


def test_points_like_a_measure_come_with_intervals_over_topics(sweep, monkeypatch):
    """The first point is the closest, and cannot be told from itself; intervals are the percentile bootstrap's."""
    monkeypatch.setattr("metrics.sweep.equivalent_populations.MIN_TOPICS", 2)
    rng = np.random.default_rng(5)
    values = rng.random((len(sweep.runs), len(sweep.topics)))
    scores = [
        Score(run, topic, "mine", value)
        for run, of_run in zip(sweep.runs, values.tolist(), strict=True)
        for topic, value in zip(sweep.topics, of_run, strict=True)
    ]
    [mine] = references(scores, sweep.runs, sweep.topics)
    found = points_like(sweep, mine, resamples=200, seed=1)

    assert found["tau-b"].is_monotonic_decreasing
    assert (found.iloc[0][["below", "below_low", "below_high"]] == 0).all()
    assert found.index[0] in as_close(found).index
    row = found.iloc[-1]
    place = next(
        (number, decay)
        for number in range(GRID.population_count)
        for decay, point in enumerate(GRID.points(number))
        if list(point) == row.iloc[:5].tolist()
    )
    by_topic = sweep.parts.read(place[0]).gain[:, :-1, place[1]]
    expected = bootstrap_interval(by_topic, values, resamples=200, rng=np.random.default_rng(1))
    assert (row["low"], row["high"]) == pytest.approx(expected)


def test_a_measure_without_topics_has_no_interval(sweep):
    [mine] = references([Score(run, ALL, "mine", len(run)) for run in sweep.runs], sweep.runs, sweep.topics)

    found = points_like(sweep, mine)
    assert found[["low", "high", "below_low", "below_high"]].isna().all(axis=None)
    highest = (found["tau-b"] == found["tau-b"].max()).sum()
    assert f"{highest} of {len(GRID)} points share the highest tau-b" in told_apart(found)


def test_runs_that_a_measure_cannot_tell_apart_are_no_answer(sweep):
    [flat] = references([Score(run, ALL, "flat", 1.0) for run in sweep.runs], sweep.runs, sweep.topics)

    assert told_apart(points_like(sweep, flat)).startswith("tau-b is undefined at every point")


def test_a_sweep_that_is_not_done_is_not_read(sweep, tmp_path):
    (tmp_path / "sweep.json").write_bytes((sweep.folder / "sweep.json").read_bytes())

    with pytest.raises(InputError, match="the sweep is not done; run the same prefcal sweep again"):
        read_sweep(tmp_path)


def test_a_single_number_of_a_grid_is_a_list_of_one():
    """As somebody writes it who wants one population."""
    assert SweepGrid(away_seconds=3600, session_seconds=90) == SweepGrid(
        away_seconds=(3600,), session_seconds=(90,)
    )


def test_the_papers_grid_has_its_2646_points():
    """Section 4: 7 x 3 times away, 6 x 3 sessions, 7 decays."""
    assert (len(SweepGrid()), SweepGrid().population_count) == (2646, 378)
    assert SweepGrid().points(377)[-1] == (86_400, 172_800, 1800, 3600, 1)


@pytest.mark.soak
def test_a_cluster_whose_worker_is_killed_gives_the_same_bytes(sweep, judged, runs, tmp_path):
    """Two worker processes, one of them killed in the middle: its populations go to the other."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:

        def kill_one(plan, parts):
            for number, part in enumerate(parts):
                if number == 2:
                    worker = next(iter(cluster.workers.values()))
                    os.kill(worker.process.process.pid, signal.SIGKILL)
                yield part

        swept(judged, runs, tmp_path, scheduler=cluster.scheduler_address, watch=kill_one)

    assert content(tmp_path) == content(sweep.folder)
