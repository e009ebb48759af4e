"""Times away and session lengths by the silence that ends a visit.

Tables of docs/evidence.md.

    python benchmarks/visit_thresholds.py [--replications 20]

100 workers for 7 days; the true visits are known, and so is what the fits make of them. Printed is the median
relative error against the fit of the true visits, once with the threshold taken off the times away and once
without.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from tqdm import tqdm

from calibration.models.durations.fit import fit_exposure
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.visits.cut import visits_from_activity
from calibration.visits.simulate import ActivityLog, simulate_activity
from calibration.visits.threshold import idle_threshold
from metrics.msu.trails import Population

HOURS_3 = Population(
    away_mean_seconds=3 * 3600, away_sd_seconds=1.5 * 3600, session_mean_seconds=120, session_sd_seconds=60
)
HOURS_24 = Population(
    away_mean_seconds=24 * 3600, away_sd_seconds=12 * 3600, session_mean_seconds=300, session_sd_seconds=150
)
REGIMES = (
    ("3 h, 120 s, heartbeat 5 s", HOURS_3, ActivityLog()),
    ("3 h, 120 s, events 10 s apart", HOURS_3, ActivityLog(heartbeat_seconds=None)),
    ("24 h, 300 s, events 20 s apart", HOURS_24, ActivityLog(heartbeat_seconds=None, event_gap_seconds=20)),
    ("3 h, 120 s, events 60 s apart", HOURS_3, ActivityLog(heartbeat_seconds=None, event_gap_seconds=60)),
)
THRESHOLDS = (60.0, 300.0, 1800.0)


def errors(
    tables: dict[str, pd.DataFrame], log: pd.DataFrame, beat: float | None
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield threshold -> relative errors of M_A raw, M_A, M_D, S_D, and the threshold in seconds."""
    true = np.array(
        [fit_exposure(away_exposure(tables)).estimates[0], *fit_exposure(session_exposure(tables)).estimates]
    )
    found = idle_threshold(log)
    named = {f"{seconds:g} s": seconds for seconds in THRESHOLDS}
    if found.source == "mixture":
        named["mixture"] = found.seconds
    for name, seconds in named.items():
        cut = visits_from_activity(
            log, idle_seconds=seconds, heartbeat_seconds=beat, follows=tables["follows"]
        )
        anew = {**tables, "visits": cut}
        raw = fit_exposure(away_exposure(anew)).estimates[0]
        fitted = np.array(
            [
                fit_exposure(away_exposure(anew, gap_seconds=seconds)).estimates[0],
                *fit_exposure(session_exposure(anew)).estimates,
            ]
        )
        yield name, np.array([raw / true[0] - 1, *(fitted / true - 1), seconds])


def main(replications: int) -> None:
    print("| away, session, log | threshold | M_A raw | M_A | M_D | S_D |\n|---|---|---|---|---|---|")
    for label, population, how in REGIMES:
        found: dict[str, list[np.ndarray]] = {}
        for seed in tqdm(range(replications), leave=False, disable=None):
            rng = np.random.default_rng(seed)
            tables = simulate_visits(population, ObservationDesign(workers=100), rng)
            log = simulate_activity(tables["visits"], rng, how)
            for name, values in errors(tables, log, how.heartbeat_seconds):
                found.setdefault(name, []).append(values)
        for name, values in found.items():
            *shown, seconds = np.median(values, axis=0)
            threshold = f"mixture ({seconds:.0f} s)" if name == "mixture" else name
            print(f"| {label} | {threshold} | " + " | ".join(f"{x:+.3f}" for x in shown) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=20)
    main(parser.parse_args().replications)
