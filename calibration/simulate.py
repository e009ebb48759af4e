"""Simulator of all tables of a study, from known parameters of every model."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness
from calibration.models.patience.simulate import (
    SimulatedJudges,
    simulate_preferences,
    simulate_stops,
    simulate_summaries,
    simulate_votes,
)
from calibration.models.persistence import ListReaders, simulate_list_stops
from calibration.models.push.simulate import PushJudges, simulate_push_cells, simulate_push_preferences
from calibration.models.reading.law import SimulatedReaders, simulate_reads
from calibration.raters.simulate import Assessors, simulate_importance
from calibration.tables.definition import Tables
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.msu.trails import Population

VOTERS = 10
"""Most voters on the intents of a topic."""
BEAT_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedStudy:
    """Sizes of a simulated study, and its people.

    Attributes
    ----------
    workers : int
        Number of workers, the same in every task.
    topics : int
        Number of queries of summaries, and of interest profiles of pushes.
    diary : ObservationDesign
        How visits are observed; its workers are the study's.
    population : Population
        Laws of times away and session lengths: M_A, S_A, M_D, S_D.
    readers : SimulatedReaders
        Law of reading speed.
    items : int
        Number of reads of each worker.
    raters : LatenessRaters
        Answers about late updates; their workers are the study's.
    patience_chars : float
        Patience of judges and readers.
    rbp_p : float
        Persistence of readers of ranked lists.
    pushes : PushJudges
        Worth of pushes to judges; their workers are the study's.

    Examples
    --------
    >>> SimulatedStudy(workers=30, topics=5).items
    20
    """

    workers: int = 60
    topics: int = 8
    diary: ObservationDesign = field(default_factory=lambda: ObservationDesign(days=7))
    population: Population = field(
        default_factory=lambda: Population(
            away_mean_seconds=86_400, away_sd_seconds=86_400, session_mean_seconds=180, session_sd_seconds=90
        )
    )
    readers: SimulatedReaders = field(default_factory=SimulatedReaders)
    items: int = 20
    raters: LatenessRaters = field(default_factory=lambda: LatenessRaters(decay=0.6))
    patience_chars: float = 840.0
    rbp_p: float = 0.8
    pushes: PushJudges = field(default_factory=PushJudges)


def simulate_study(study: SimulatedStudy, rng: np.random.Generator, *, activity: bool = True) -> Tables:
    """Draw every table of a study.

    Parameters
    ----------
    study : Study
        Size and truth.
    rng : Generator
        Source of the draws.
    activity : bool
        Draw table activity too, the largest of all.

    Returns
    -------
    dict of str to DataFrame
        Name -> table; a worker has the same name in all of them.
    """
    tables, probabilities = simulate_summaries(study.topics, rng)
    voters = min(VOTERS, study.workers)  # nobody votes twice on a topic
    tables |= {"intent_votes": simulate_votes(probabilities, rng, voters=voters)["intent_votes"]}
    tables |= simulate_visits(study.population, replace(study.diary, workers=study.workers), rng)
    if activity:
        tables["activity"] = simulate_activity(tables["visits"], rng)
    tables["push_cells"] = simulate_push_cells(study.topics, rng)
    judges = SimulatedJudges(
        patience_chars=study.patience_chars,
        per_topic=max(2, study.workers // study.topics),
        effect=2.0,
        unexplained_sd=0.4,
    )
    pushes = replace(study.pushes, workers=study.workers)
    judged = [
        simulate_preferences(tables["positions"], probabilities, judges, rng),
        simulate_push_preferences(tables["push_cells"], pushes, rng),
    ]
    tables |= {
        "preferences": _together(judged),
        "stops": simulate_stops(study.patience_chars, rng, workers=study.workers),
        "reads": simulate_reads(study.readers, rng, workers=study.workers, items=study.items),
        "lateness": simulate_lateness(replace(study.raters, workers=study.workers), rng),
        "importance": simulate_importance(study.topics, 20, Assessors(), rng),
    }
    lists = simulate_list_stops(study.rbp_p, rng, ListReaders(workers=study.workers))
    tables["stops"] = pd.concat([tables["stops"], lists], ignore_index=True)
    named = {name: _named(table, study.workers) for name, table in tables.items()}
    return named | {"workers": _workers(study.workers)}


def simulate_activity(visits: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table activity of visits: one page each, with heartbeats.

    A page opens, beats every 15 seconds and closes.

    Parameters
    ----------
    visits : DataFrame
        Table visits.
    rng : Generator
        Source of the first beat's delay.
    """
    seconds = (visits["end"] - visits["start"]).dt.total_seconds().to_numpy(np.float64)
    delay = rng.uniform(0, BEAT_SECONDS, len(visits))
    beats = np.maximum(0, np.ceil((seconds - delay) / BEAT_SECONDS)).astype(np.int64)
    row = np.repeat(np.arange(len(visits)), beats)
    number = np.arange(len(row)) - np.repeat(np.cumsum(beats) - beats, beats)
    offset = np.concatenate([np.zeros(len(visits)), delay[row] + BEAT_SECONDS * number, seconds])
    row = np.concatenate([np.arange(len(visits)), row, np.arange(len(visits))])
    kind = np.repeat(["open", "beat", "close"], [len(visits), int(beats.sum()), len(visits)])
    of_visit = visits.iloc[row]
    rows = pd.DataFrame(
        {
            "worker": of_visit["worker"].to_numpy(),
            "topic": of_visit["topic"].to_numpy(),
            "page": of_visit["worker"].to_numpy()
            + "/"
            + of_visit["topic"].to_numpy()
            + "/"
            + of_visit["visit"].astype(str).to_numpy(),
            "at": (of_visit["start"] + pd.to_timedelta(offset, unit="s").floor("ms")).to_numpy(),
            "kind": kind,
        }
    )
    rows["at"] = rows["at"].dt.tz_localize("UTC") if rows["at"].dt.tz is None else rows["at"]
    return check_frame(
        rows.sort_values(["worker", "topic", "at"], kind="stable", ignore_index=True), TABLES["activity"]
    )


def _together(judged: list[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the judgments of several tasks, each with an id of its own."""
    rows = pd.concat(judged, ignore_index=True)
    return check_frame(
        rows.assign(judgment=[f"J{number}" for number in range(len(rows))]), TABLES["preferences"]
    )


def _named(table: pd.DataFrame, workers: int) -> pd.DataFrame:
    """Name workers alike in all tables: the n-th of each generator is one person."""
    if "worker" not in table.columns:
        return table
    number = pd.factorize(table["worker"])[0] % workers
    return table.assign(worker=pd.Series([f"W{n:05d}" for n in number], index=table.index, dtype="str"))


def _workers(count: int) -> pd.DataFrame:
    """Return table workers: everybody completed the study but every tenth."""
    rows = [
        {"worker": f"W{n:05d}", "completed_at": None if n % 10 == 9 else "2026-03-09T12:00:00Z"}
        for n in range(count)
    ]
    return check_frame(pd.DataFrame(rows), TABLES["workers"])
